#include "compiler/ir/polynomial.h"

#include <algorithm>

#include "compiler/ir/text.h"

namespace gasell::ir {
namespace {

constexpr size_t kMostTerms = 16;  // of an index that is worth comparing
constexpr size_t kMostNames = 255;

uint64_t bits(int64_t v) { return static_cast<uint64_t>(v); }
int64_t times(int64_t a, int64_t b) { return static_cast<int64_t>(bits(a) * bits(b)); }

/// Puts terms into order, and those of one product together.
Polynomial sorted(Polynomial p) {
  std::sort(p.begin(), p.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Polynomial result;
  for (const auto& [product, factor] : p) {
    if (!result.empty() && result.back().first == product)
      result.back().second = static_cast<int64_t>(bits(result.back().second) + bits(factor));
    else
      result.emplace_back(product, factor);
    if (result.back().second == 0) result.pop_back();
  }
  return result;
}

Polynomial sum(Polynomial a, const Polynomial& b, int64_t sign) {
  for (const auto& [product, factor] : b) a.emplace_back(product, times(factor, sign));
  return sorted(std::move(a));
}

/// 0 where there are more names than a product has room for, and neither is empty.
Product multiplied(Product a, Product b) {
  std::vector<int> names;
  for (Product p : {a, b})
    for (; p; p >>= 8) names.push_back(static_cast<int>(p & 255));
  if (names.size() > sizeof(Product)) return 0;
  std::sort(names.begin(), names.end());
  Product result = 0;
  for (const int name : names) result = result << 8 | static_cast<Product>(name);
  return result;
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [left, x] : a)
    for (const auto& [right, y] : b) {
      const Product both = multiplied(left, right);
      if (both == 0 && (left || right)) return std::nullopt;
      result.emplace_back(both, times(x, y));
    }
  return sorted(std::move(result));
}

}  // namespace

Polynomial difference(const Polynomial& a, const Polynomial& b) { return sum(a, b, -1); }

int times_in(Product product, int name) {
  int count = 0;
  for (; product; product >>= 8) count += static_cast<int>(product & 255) == name;
  return count;
}

std::optional<Polynomial> shifted(const Polynomial& p, int name, int64_t by) {
  Polynomial result = p;
  for (const auto& [product, factor] : p) {
    const int count = times_in(product, name);
    if (count == 0) continue;
    if (count > 1) return std::nullopt;
    Product others = 0;
    for (int k = sizeof(Product) - 1; k >= 0; --k)
      if (const auto each = static_cast<int>(product >> 8 * k & 255); each && each != name)
        others = others << 8 | static_cast<Product>(each);
    result.emplace_back(others, times(factor, by));
  }
  return sorted(std::move(result));
}

int Polynomials::add_counter(const std::string& name) {
  names_.push_back(variable(name, DType::i64));
  numbers_.emplace(name, static_cast<int>(names_.size()));
  return static_cast<int>(++counters_);
}

void Polynomials::define(const std::string& name, const ExprRef& value) {
  defined_[name] = value->type == DType::i64 ? of(value) : std::nullopt;
}

bool Polynomials::stays(const ExprRef& e) const {
  if (e->kind == ExprKind::load || e->kind == ExprKind::address) return false;
  if (e->kind == ExprKind::variable) {
    if (defined_.count(e->name)) return false;
    const auto number = numbers_.find(e->name);
    return number == numbers_.end() || static_cast<size_t>(number->second) > counters_;
  }
  return std::all_of(e->args.begin(), e->args.end(), [this](const ExprRef& a) { return stays(a); });
}

std::optional<Polynomial> Polynomials::name(const ExprRef& e) {
  const auto [at, fresh] = numbers_.try_emplace(e->kind == ExprKind::variable ? e->name : print(e), static_cast<int>(names_.size() + 1));
  if (fresh) {
    if (names_.size() == kMostNames) return std::nullopt;
    names_.push_back(e);
  }
  return Polynomial{{static_cast<Product>(at->second), 1}};
}

std::optional<Polynomial> Polynomials::of(const ExprRef& e) {
  if (e->type != DType::i64) return std::nullopt;
  if (e->kind == ExprKind::constant) return e->value.i ? Polynomial{{0, e->value.i}} : Polynomial{};
  if (e->kind == ExprKind::variable) {
    if (const auto known = defined_.find(e->name); known != defined_.end()) return known->second;
    return name(e);
  }
  if (e->kind == ExprKind::op && (e->op == ScalarOp::add || e->op == ScalarOp::sub || e->op == ScalarOp::mul)) {
    const auto a = of(e->args[0]), b = of(e->args[1]);
    if (!a || !b) return std::nullopt;
    std::optional<Polynomial> result = e->op == ScalarOp::mul ? product(*a, *b) : sum(*a, *b, e->op == ScalarOp::add ? 1 : -1);
    if (result && result->size() > kMostTerms) result.reset();
    return result;
  }
  return stays(e) ? name(e) : std::nullopt;
}

ExprRef Polynomials::expression(const Polynomial& p, const std::vector<ExprRef>& counters) const {
  ExprRef total;
  for (const auto& [product, factor] : p) {
    ExprRef term;
    for (int k = sizeof(Product) - 1; k >= 0; --k) {
      const auto number = static_cast<size_t>(product >> 8 * k & 255);
      if (number == 0) continue;
      const ExprRef& part = number <= counters.size() ? counters[number - 1] : names_[number - 1];
      term = term ? term * part : part;
    }
    if (total && term && factor == -1)
      total = total - term;
    else {
      term = term ? term * constant_i64(factor) : constant_i64(factor);
      total = total ? total + term : term;
    }
  }
  return total ? total : constant_i64(0);
}

}  // namespace gasell::ir
