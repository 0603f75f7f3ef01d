// What values the integers in a loop nest take, as expressions of what does not change in it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// constant + the sum of coefficient * atom. Constant and coefficients do not change in the nest; a constant without atoms may have another
/// type than i64.
struct Affine {
  ExprRef constant;
  std::map<int, ExprRef> terms;  // by number of atom
};
using MaybeAffine = std::optional<Affine>;

/// Knows the values in one nest, statement by statement: what a name stands for changes as the nest is walked through.
///
/// Atoms are what affine forms are made of beside constants: loop variables, and results of operations that are not affine. Each has lower
/// and upper bounds, affine in atoms that were there before it, all of which hold (inclusive). Arithmetic is that of mathematics;
/// magnitude() tells when the kernel's, which wraps, is the same.
class IndexRanges {
 public:
  /// Begins with what holds where the statement (a loop) begins.
  explicit IndexRanges(const Stmt& nest);

  MaybeAffine value(const ExprRef& e);
  /// The name has this value from here on; unknown without one.
  void set(const std::string& name, MaybeAffine value) { values_[name] = std::move(value); }
  MaybeAffine known(const std::string& name) const;
  /// Nothing is known of the vars that these statements assign.
  void forget(const std::unordered_set<std::string>& names);

  /// A value of which only bounds are known.
  Affine atom(std::vector<Affine> lower, std::vector<Affine> upper);

  /// Least and largest that the value may be, in terms of what does not change; none where that would be too long.
  std::optional<ExprRef> least(const Affine& a) { return extreme(a, false); }
  std::optional<ExprRef> largest(const Affine& a) { return extreme(a, true); }

  /// A bound on |a| and on all values that it is computed from, when no leaf is larger than `leaf`. Leaves are what affine constants are
  /// made of: names and operations other than + - * min max.
  double magnitude(const Affine& a, double leaf) const;
  /// The leaves of a's constants and those of its atoms' bounds, and the conditions that its atoms ask for; by their texts.
  void collect(const Affine& a, std::map<std::string, ExprRef>& leaves, std::map<std::string, ExprRef>& conditions) const;

 private:
  struct Atom {
    std::vector<Affine> lower, upper, other;  // other: what it is computed from beside its bounds
    ExprRef condition;                        // the bounds hold only then; null: always
  };

  MaybeAffine any_of(DType type);
  MaybeAffine operation(const Expr& e, const std::vector<Affine>& args);
  std::optional<ExprRef> extreme(const Affine& a, bool up);
  std::optional<ExprRef> extreme(const Affine& a, bool up, int& budget) const;
  double atom_magnitude(int number, double leaf) const;

  std::vector<Atom> atoms_;
  std::unordered_set<std::string> changing_;  // declared or assigned in the nest
  std::unordered_map<std::string, MaybeAffine> values_;
};

/// The names that statements (and those in their blocks) assign.
std::unordered_set<std::string> assigned_in(const Stmt& s);

}  // namespace gasell::ir
