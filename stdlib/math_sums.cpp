// math: fsum, prod, hypot, dist.
#include <algorithm>
#include <cmath>

#include "runtime/session/objects.h"
#include "stdlib/math.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

/// The exact sum, rounded once (J. Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997): partials hold what each addition lost.
Value fsum(Interpreter& in, Args args) {
  std::vector<double> partials;  // not overlapping, of growing magnitude
  double specials = 0, infinities = 0;
  const Value items = iterate(in, args[0]);
  while (const auto v = next(in, items)) {
    double x = to_double(in, *v);
    const double given = x;
    size_t kept = 0;
    for (double y : partials) {
      if (std::abs(x) < std::abs(y)) std::swap(x, y);
      const double high = x + y, low = y - (high - x);
      if (low != 0) partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    if (x == 0) continue;
    if (std::isfinite(x)) {
      partials.push_back(x);
      continue;
    }
    if (std::isfinite(given)) raise("OverflowError", "intermediate overflow in fsum");
    if (std::isinf(given)) infinities += given;
    specials += given;
    partials.clear();
  }
  if (specials != 0) {
    if (std::isnan(infinities)) raise("ValueError", "-inf + inf in fsum");
    return Value::of(specials);
  }
  if (partials.empty()) return Value::of(0.0);
  size_t n = partials.size();
  double high = partials[--n], low = 0;
  while (n > 0) {
    const double x = high, y = partials[--n];
    high = x + y;
    low = y - (high - x);
    if (low != 0) break;
  }
  // A tie that the remaining partials decide.
  if (n > 0 && ((low < 0 && partials[n - 1] < 0) || (low > 0 && partials[n - 1] > 0))) {
    const double doubled = low * 2, x = high + doubled;
    if (doubled == x - high) high = x;
  }
  return Value::of(high);
}

Value prod(Interpreter& in, Args args) {
  Value r = args[1];
  const Value items = iterate(in, args[0]);
  while (const auto v = next(in, items)) r = binary(in, ast::BinaryOp::mul, r, *v);
  return r;
}

/// sqrt of the sum of squares, scaled against overflow, in a wider format so that it rounds as if exact.
double norm(std::vector<double> x) {
  double largest = 0;
  bool nan = false;
  for (double& v : x) {
    v = std::abs(v);
    if (std::isinf(v)) return HUGE_VAL;
    nan |= std::isnan(v);
    largest = std::max(largest, v);
  }
  if (nan) return std::nan("");
  if (largest == 0) return 0;
  int exponent = 0;
  std::frexp(largest, &exponent);
  long double total = 0;
  for (const double v : x) {
    const long double scaled = std::ldexp(static_cast<long double>(v), -exponent);
    total += scaled * scaled;
  }
  return static_cast<double>(std::ldexp(std::sqrt(total), exponent));
}

Value hypot(Interpreter& in, Args args) {
  std::vector<double> x;
  for (const Value& v : args[0].as<Tuple>()->items) x.push_back(to_double(in, v));
  return Value::of(norm(std::move(x)));
}

Value dist(Interpreter& in, Args args) {
  const std::vector<Value> p = to_vector(in, args[0]), q = to_vector(in, args[1]);
  if (p.size() != q.size()) raise("ValueError", "both points must have the same number of dimensions");
  std::vector<double> x;
  for (size_t i = 0; i < p.size(); ++i) x.push_back(to_double(in, p[i]) - to_double(in, q[i]));
  return Value::of(norm(std::move(x)));
}

}  // namespace

std::vector<NativeFunction> math_sum_functions() {
  return {
      {"fsum", "seq, /", fsum, "The exact sum of floats, rounded once."},
      {"prod", "iterable, /, *, start=1", prod, "The product of the items."},
      {"hypot", "*coordinates", hypot, "The length of a vector."},
      {"dist", "p, q, /", dist, "The distance of two points."},
  };
}

}  // namespace gasell
