#include "compiler/ir/share_sums.h"

#include <algorithm>
#include <bitset>
#include <functional>
#include <map>
#include <unordered_map>

#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

constexpr size_t kMostSums = 64, kMostTerms = 256;  // of one type, in statements beside each other
constexpr size_t kFewestTerms = 3;

using Terms = std::bitset<kMostTerms>;

/// Of adding n numbers, with instructions that add three.
size_t additions(size_t n) { return n / 2; }

bool adds(const ExprRef& e) { return e->kind == ExprKind::op && e->op == ScalarOp::add && is_integer(e->type); }

/// What a cast to a wider type and back leaves as it was.
const ExprRef& peeled(const ExprRef& e) {
  if (e->kind != ExprKind::cast || e->args[0]->kind != ExprKind::cast) return e;
  const ExprRef &wide = e->args[0], &inner = wide->args[0];
  const bool same = inner->type == e->type && is_integer(wide->type) && gasell::size_of(wide->type) > gasell::size_of(e->type);
  return same ? inner : e;
}

/// The sums of one type in lets beside each other.
class Sums {
 public:
  struct Sum {
    size_t statement;
    const Expr* expression;
    Terms terms;
  };
  /// Terms that are added before `statement`, as the term `number`.
  struct Shared {
    size_t statement, number;
    Terms terms;
  };

  /// False: there are too many.
  bool take(size_t statement, const Expr* expression, const std::vector<ExprRef>& terms) {
    if (sums_.size() == kMostSums) return false;
    Sum sum{statement, expression, {}};
    for (const ExprRef& term : terms) {
      // What comes twice, or reads memory, counts as something else each time.
      bool reads = false;
      visit(term, [&](const Expr& e) { reads = reads || e.kind == ExprKind::load; });
      const auto [known, fresh] = numbers_.emplace(print(term), terms_.size());
      size_t number = known->second;
      if (!fresh && (reads || sum.terms[number])) number = terms_.size();
      if (number == terms_.size()) {
        if (number == kMostTerms) return false;
        terms_.push_back(term);
      }
      sum.terms.set(number);
    }
    sums_.push_back(sum);
    return true;
  }

  void share() {
    while (terms_.size() < kMostTerms && share_best()) {
    }
  }

  const std::vector<Sum>& sums() const { return sums_; }
  const std::vector<Shared>& shared() const { return shared_; }
  /// The terms added up, those that are sums themselves first: they are ready first.
  ExprRef total(const Terms& terms) const {
    ExprRef result;
    for (size_t k = terms_.size(); k-- > 0;)
      if (terms[k] && k >= plain_) result = result ? op(ScalarOp::add, {result, terms_[k]}) : terms_[k];
    for (size_t k = 0; k < plain_; ++k)
      if (terms[k]) result = result ? op(ScalarOp::add, {result, terms_[k]}) : terms_[k];
    return result;
  }
  void name_shared(const std::function<std::string()>& fresh, DType type) {
    for (const Shared& each : shared_) terms_[each.number] = variable(fresh(), type);
  }
  const ExprRef& term(size_t number) const { return terms_[number]; }

 private:
  bool share_best() {
    if (shared_.empty()) plain_ = terms_.size();
    Terms best;
    size_t most = 0;
    const auto consider = [&](const Terms& terms) {
      const size_t count = terms.count();
      if (count < 2) return;
      size_t before = 0, after = additions(count);
      for (const Sum& sum : sums_) {
        if ((sum.terms & terms) != terms) continue;
        before += additions(sum.terms.count());
        after += additions(sum.terms.count() - count + 1);
      }
      if (before > after && before - after > most) {
        most = before - after;
        best = terms;
      }
    };
    Terms plain;
    for (size_t k = 0; k < plain_; ++k) plain.set(k);
    for (size_t a = 0; a < sums_.size(); ++a)
      for (size_t b = a + 1; b < sums_.size(); ++b) {
        const Terms both = sums_[a].terms & sums_[b].terms;
        consider(both);
        consider(both & plain);  // a column beside those that were found before
      }
    if (most == 0) return false;
    const size_t number = terms_.size();
    terms_.push_back(nullptr);
    size_t first = sums_.size();
    for (size_t k = 0; k < sums_.size(); ++k) {
      if ((sums_[k].terms & best) != best) continue;
      first = std::min(first, k);
      sums_[k].terms &= ~best;
      sums_[k].terms.set(number);
    }
    shared_.push_back({sums_[first].statement, number, best});
    return true;
  }

  std::vector<ExprRef> terms_;
  std::unordered_map<std::string, size_t> numbers_;  // a term's text → its number
  std::vector<Sum> sums_;                            // in the statements' order
  std::vector<Shared> shared_;
  size_t plain_ = 0;  // terms that are no sums of others
};

class Sharing {
 public:
  explicit Sharing(const Kernel& kernel) { count(kernel.body); }

  Body body(const Body& statements) {
    Body result;
    for (size_t k = 0; k < statements.size();) {
      size_t end = k;
      while (end < statements.size() && statements[end]->kind == StmtKind::let) ++end;
      if (end > k) {
        const Body shared =
            lets({statements.begin() + static_cast<std::ptrdiff_t>(k), statements.begin() + static_cast<std::ptrdiff_t>(end)});
        result.insert(result.end(), shared.begin(), shared.end());
        k = end;
        continue;
      }
      Stmt changed = *statements[k++];
      changed.body = body(changed.body);
      changed.orelse = body(changed.orelse);
      result.push_back(make_statement(std::move(changed)));
    }
    return result;
  }

 private:
  /// How often names are used.
  void count(const Body& statements) {
    for (const StmtRef& s : statements) {
      for (const ExprRef& e : expressions_of(*s))
        visit(e, [this](const Expr& part) {
          if (part.kind == ExprKind::variable) ++uses_[part.name];
        });
      count(s->body);
      count(s->orelse);
    }
  }
  /// How often they are terms here.
  void count_terms(const ExprRef& e) {
    if (e->kind == ExprKind::load) return;
    for (const ExprRef& a : e->args) {
      if (const std::string* name = adds(e) ? named(peeled(a)) : nullptr) ++uses_as_term_[*name];
      count_terms(a);
    }
  }
  /// The name that a term is, perhaps in another type.
  static const std::string* named(const ExprRef& e) {
    const ExprRef& inner = e->kind == ExprKind::cast ? e->args[0] : e;
    return inner->kind == ExprKind::variable ? &inner->name : nullptr;
  }

  Body lets(const Body& statements) {
    values_.clear();
    uses_as_term_.clear();
    for (const StmtRef& s : statements) {
      values_[s->name] = s->value;
      count_terms(s->value);
    }
    std::map<DType, Sums> of_type;
    for (size_t k = 0; k < statements.size(); ++k)
      if (!only_in_sums(*statements[k]) && !find_sums(statements[k]->value, k, of_type)) return statements;
    std::unordered_map<const Expr*, ExprRef> totals;
    std::vector<Body> before(statements.size());
    for (auto& [type, sums] : of_type) {
      sums.share();
      sums.name_shared([this] { return "sum" + std::to_string(names_++) + "_shared"; }, type);
      for (const Sums::Shared& each : sums.shared())
        before[each.statement].push_back(let(sums.term(each.number)->name, sums.total(each.terms)));
      if (sums.shared().empty()) continue;
      for (const Sums::Sum& sum : sums.sums()) totals[sum.expression] = sums.total(sum.terms);
    }
    if (totals.empty()) return statements;
    Body result;
    for (size_t k = 0; k < statements.size(); ++k) {
      result.insert(result.end(), before[k].begin(), before[k].end());
      result.push_back(let(statements[k]->name, replaced(statements[k]->value, totals)));
    }
    return result;
  }

  bool only_a_term(const std::string& name) const {
    const auto as_term = uses_as_term_.find(name);
    return as_term != uses_as_term_.end() && uses_.at(name) == as_term->second;
  }
  /// Whether a let is part of other sums and of nothing else.
  bool only_in_sums(const Stmt& s) const {
    return only_a_term(s.name) && (adds(s.value) || (s.value->kind == ExprKind::cast && adds(s.value->args[0])));
  }

  bool find_sums(const ExprRef& e, size_t statement, std::map<DType, Sums>& found) {
    if (adds(e)) {
      std::vector<ExprRef> terms;
      flatten(e, terms);
      if (terms.size() >= kFewestTerms) return found[e->type].take(statement, e.get(), terms);
    }
    if (e->kind == ExprKind::load) return true;  // where elements are is told by names and distances from them
    return std::all_of(e->args.begin(), e->args.end(), [&](const ExprRef& a) { return find_sums(a, statement, found); });
  }

  void flatten(const ExprRef& given, std::vector<ExprRef>& terms) const {
    const ExprRef& e = peeled(given);
    if (terms.size() > kMostTerms) return;
    if (adds(e)) {
      for (const ExprRef& a : e->args) flatten(a, terms);
      return;
    }
    if (const std::string* name = named(e)) {
      const auto value = values_.find(*name);
      if (value != values_.end()) {
        const ExprRef inner = e->kind == ExprKind::cast ? cast(value->second, e->type) : value->second;
        const ExprRef& sum = peeled(inner);
        if (adds(sum) && sum->type == e->type && only_a_term(*name)) return flatten(sum, terms);
      }
    }
    terms.push_back(origin(e));
  }

  /// The same number without names between: one that is read from a var has many, which stays what it is while lets follow each other.
  ExprRef origin(ExprRef e) const {
    while (const std::string* name = named(e)) {
      const auto value = values_.find(*name);
      if (value == values_.end()) break;
      const ExprRef& inner = value->second;
      const bool widens = inner->kind == ExprKind::cast && is_integer(inner->type) && is_integer(inner->args[0]->type) &&
                          gasell::size_of(inner->type) >= gasell::size_of(e->type);
      const ExprRef& from = widens ? inner->args[0] : inner;
      if (from->kind != ExprKind::variable) break;
      e = cast(from, e->type);
    }
    return e;
  }

  static ExprRef replaced(const ExprRef& e, const std::unordered_map<const Expr*, ExprRef>& totals) {
    if (const auto total = totals.find(e.get()); total != totals.end()) return total->second;
    if (e->kind == ExprKind::load || e->args.empty()) return e;
    std::vector<ExprRef> args;
    for (const ExprRef& a : e->args) args.push_back(replaced(a, totals));
    if (args == e->args) return e;
    switch (e->kind) {
      case ExprKind::cast: return cast(args[0], e->type);
      case ExprKind::bitcast: return bitcast(args[0], e->type);
      default: return op(e->op, std::move(args));
    }
  }

  std::unordered_map<std::string, size_t> uses_, uses_as_term_;
  std::unordered_map<std::string, ExprRef> values_;  // of the lets at hand
  size_t names_ = 0;
};

}  // namespace

Kernel share_sums(const Kernel& kernel) { return with_body(kernel, Sharing(kernel).body(kernel.body)); }

}  // namespace gasell::ir
