// Indices as polynomials of names, in which equal ones look equal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// A product of names: their numbers, from 1, a byte each, the largest in the lowest byte; 0: none.
using Product = uint64_t;
/// The sum of factor * product, by ascending products; factors are not 0. Arithmetic wraps, as that of i64 does.
using Polynomial = std::vector<std::pair<Product, int64_t>>;

Polynomial difference(const Polynomial& a, const Polynomial& b);
/// How often a name stands in a product.
int times_in(Product product, int name);
/// The polynomial with name + by in place of name; none where the name is squared.
std::optional<Polynomial> shifted(const Polynomial& p, int name, int64_t by);

/// Polynomials of the expressions in a straight piece of code.
class Polynomials {
 public:
  /// A name that changes from iteration to iteration; its number. Other names that are not defined here stay the same.
  int add_counter(const std::string& name);

  /// A let of the code.
  void define(const std::string& name, const ExprRef& value);
  bool defines(const std::string& name) const { return defined_.count(name) > 0; }

  /// Of an i64; none where it is computed otherwise than by + - * from counters. What is made of names that stay the same alone counts as a
  /// name itself.
  std::optional<Polynomial> of(const ExprRef& e);
  /// The other way, with the expressions that the counters have now.
  ExprRef expression(const Polynomial& p, const std::vector<ExprRef>& counters) const;

 private:
  std::optional<Polynomial> name(const ExprRef& e);
  bool stays(const ExprRef& e) const;

  size_t counters_ = 0;         // names 1 …
  std::vector<ExprRef> names_;  // by number - 1
  std::unordered_map<std::string, int> numbers_;
  std::unordered_map<std::string, std::optional<Polynomial>> defined_;
};

}  // namespace gasell::ir
