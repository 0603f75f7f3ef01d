// Every scalar operation on every type it takes, compiled, against evaluate(): the emitter and constant folding mean the same.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>
#include <set>

#include "catch.h"
#include "unit/compiler/codegen_support.h"

using namespace gasell;
using namespace gasell::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

std::string text(const Scalar& s) { return ir::print(ir::constant(s)); }

/// Values at which things go wrong, and a few random ones.
std::vector<Scalar> edge_values(DType type, size_t random_count) {
  std::mt19937_64 random(7);
  std::vector<Scalar> values;
  if (type == DType::boolean) return {Scalar::of_bool(false), Scalar::of_bool(true)};
  if (is_integer(type)) {
    const int bits = gasell::size_of(type) * 8;
    const uint64_t top = uint64_t{1} << (bits - 1);
    for (const uint64_t v : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{10}, static_cast<uint64_t>(bits) - 1,
                             static_cast<uint64_t>(bits), uint64_t{100}, top - 1, top, top + 1, ~uint64_t{0}, ~uint64_t{1}, ~uint64_t{6}})
      values.push_back(Scalar::of_int(static_cast<int64_t>(v)).cast(type));
    for (size_t k = 0; k < random_count; ++k)
      values.push_back(Scalar::of_int(static_cast<int64_t>(random() >> (random() % 64))).cast(type));
    return values;
  }
  std::vector<double> reals;
  if (is_complex(type)) {
    reals = {0.0, -0.0, 1.0, -1.0, 0.5, -2.75, 1e-30, 1e30, kInf, -kInf, kNan};
  } else {
    const double max = type == DType::f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
    const double tiny = type == DType::f32 ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
    const double least = type == DType::f32 ? std::numeric_limits<float>::denorm_min() : std::numeric_limits<double>::denorm_min();
    reals = {0.0,       1.0,    0.5, 1.5,  2.0,   2.5,         3.0, 10.0, 0.1, 100.25, 709.5, 88.5, 1e10, 4503599627370497.5,
             8388609.0, 9.2e18, max, tiny, least, tiny * 0.75, kInf};
    for (size_t k = reals.size(); k-- > 0;) reals.push_back(-reals[k]);
    reals.push_back(kNan);
    for (size_t k = 0; k < random_count; ++k)
      reals.push_back(std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 - 0.5, static_cast<int>(random() % 40) - 20));
  }
  if (!is_complex(type)) {
    for (const double v : reals) values.push_back(Scalar::of_float(v).cast(type));
    return values;
  }
  for (const double re : reals)
    for (const double im : reals) values.push_back(Scalar::of_complex({re, im}).cast(type));
  for (size_t k = 0; k < random_count; ++k)
    values.push_back(
        Scalar::of_complex({static_cast<double>(random() >> 11) * 0x1p-51 - 2, static_cast<double>(random() >> 11) * 0x1p-51 - 2})
            .cast(type));
  return values;
}

/// All pairs (triples from pairs and a shifted third) of a few values: operands in columns.
std::vector<std::vector<Scalar>> combinations(const std::vector<std::vector<Scalar>>& each) {
  std::vector<std::vector<Scalar>> columns(each.size());
  if (each.size() == 1) return {each[0]};
  size_t turn = 0;
  for (const Scalar& a : each[each.size() - 2])
    for (const Scalar& b : each.back()) {
      if (each.size() == 3) columns[0].push_back(each[0][turn++ % each[0].size()]);
      columns[each.size() - 2].push_back(a);
      columns.back().push_back(b);
    }
  return columns;
}

/// Distance in representable numbers; 0 between NaNs and between infinities of one sign.
double ulps(double a, double b, bool single) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : kInf;
  if (std::isinf(a) || std::isinf(b)) {
    const double max = single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
    return a == b ? 0 : std::fabs(a) >= max && std::fabs(b) >= max && std::signbit(a) == std::signbit(b) ? 1 : kInf;
  }
  if (single) {
    auto order = [](double v) {
      const auto bits = std::bit_cast<int32_t>(static_cast<float>(v));
      return bits < 0 ? static_cast<int64_t>(std::numeric_limits<int32_t>::min()) - bits : static_cast<int64_t>(bits);
    };
    return std::fabs(static_cast<double>(order(a) - order(b)));
  }
  auto order = [](double v) {
    const auto bits = std::bit_cast<int64_t>(v);
    return bits < 0 ? -static_cast<double>(bits & std::numeric_limits<int64_t>::max()) : static_cast<double>(bits);
  };
  // As integers where they are near: as doubles the difference of large ones would be rounded.
  if (std::signbit(a) == std::signbit(b)) return std::fabs(static_cast<double>(std::bit_cast<int64_t>(a) - std::bit_cast<int64_t>(b)));
  return std::fabs(order(a) - order(b));
}

/// Functions of the math library: vector and scalar versions may differ in the last digits. All else is exact.
bool is_library(ScalarOp op, DType type) {
  static const std::set<ScalarOp> kLibrary = {
      ScalarOp::cbrt, ScalarOp::exp,  ScalarOp::exp2,  ScalarOp::expm1, ScalarOp::log,   ScalarOp::log2, ScalarOp::log10, ScalarOp::log1p,
      ScalarOp::sin,  ScalarOp::cos,  ScalarOp::tan,   ScalarOp::asin,  ScalarOp::acos,  ScalarOp::atan, ScalarOp::atan2, ScalarOp::sinh,
      ScalarOp::cosh, ScalarOp::tanh, ScalarOp::asinh, ScalarOp::acosh, ScalarOp::atanh, ScalarOp::pow,  ScalarOp::hypot};
  return (kLibrary.contains(op) && is_float(type)) || (op == ScalarOp::abs && is_complex(type));
}

/// What differs between a compiled result and the expected one; "" when nothing that matters.
std::string difference(const Scalar& got, const Scalar& expected, double allowed_ulps) {
  if (got.is_integral()) return got.i == expected.i ? "" : text(got) + " instead of " + text(expected);
  const bool single = real_of(got.type) == DType::f32;
  for (const auto& [g, e] : {std::pair{got.c.real(), expected.c.real()}, std::pair{got.c.imag(), expected.c.imag()}}) {
    const double distance = ulps(g, e, single);
    const bool zero_sign = g == 0 && e == 0 && std::signbit(g) != std::signbit(e);
    if (distance > allowed_ulps || zero_sign) return text(got) + " instead of " + text(expected);
  }
  return "";
}

void check(Jit& jit, const std::string& what, const std::vector<DType>& types, DType result,
           const std::vector<std::vector<Scalar>>& columns, const ir::Kernel& kernel, const std::function<Scalar(const Scalar*)>& expected,
           double allowed_ulps) {
  std::vector<Memory> memories;
  for (size_t k = 0; k < types.size(); ++k) memories.emplace_back(types[k], columns[k]);
  const size_t count = columns[0].size();
  const Memory output = run_elementwise(jit, kernel, std::move(memories), result, count);
  size_t wrong = 0;
  std::string report;
  for (size_t k = 0; k < count; ++k) {
    std::vector<Scalar> operands;
    for (const auto& column : columns) operands.push_back(column[k]);
    const std::string bad = difference(output[k], expected(operands.data()), allowed_ulps);
    if (bad.empty() || ++wrong > 5) continue;
    report += "\n  " + what + "(";
    for (size_t c = 0; c < operands.size(); ++c) report += (c ? ", " : "") + text(operands[c]);
    report += ") gives " + bad;
  }
  INFO(what << " of " << name_of(types.back()) << ": " << wrong << " of " << count << " are wrong" << report);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("operations mean the same compiled as in constant folding") {
  Jit jit(without_disk());
  int tested = 0;
  for (int o = 0; o < static_cast<int>(ScalarOp::count_); ++o) {
    const auto op = static_cast<ScalarOp>(o);
    for (int t = 0; t < kDTypeCount; ++t) {
      const auto type = static_cast<DType>(t);
      if (!accepts(op, type)) continue;
      std::vector<DType> types(static_cast<size_t>(info(op).arity), type);
      if (op == ScalarOp::select) types[0] = DType::boolean;
      std::vector<std::vector<Scalar>> values;
      for (const DType each : types) values.push_back(edge_values(each, types.size() == 1 ? 500 : 5));
      if (is_complex(type) && types.size() > 1)  // pairs of 126 are too many
        for (auto& column : values)
          if (column.size() > 40) {
            std::shuffle(column.begin(), column.end(), std::mt19937_64(static_cast<uint64_t>(t)));
            column.resize(60);
          }
      const DType result = result_type(op, type);
      const ir::Kernel kernel = elementwise(types, result, [op](std::vector<ir::ExprRef> args) { return ir::op(op, std::move(args)); });
      check(
          jit, std::string(info(op).name), types, result, combinations(values), kernel,
          [op](const Scalar* operands) { return evaluate(op, operands); }, is_library(op, type) ? 4 : 0);
      ++tested;
    }
  }
  CHECK(tested > 400);
}

TEST_CASE("division by constants rounds as division by variables") {
  Jit jit(without_disk());
  for (const DType type : {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u64})
    for (const ScalarOp op : {ScalarOp::floordiv, ScalarOp::mod, ScalarOp::fmod})
      for (const int64_t divisor : {1, 2, 3, 7, 9, 10, 64, 100, 127, 0, -1, -2, -9}) {
        const Scalar by = Scalar::of_int(divisor).cast(type);
        const ir::Kernel kernel =
            elementwise({type}, type, [&](std::vector<ir::ExprRef> args) { return ir::op(op, {args[0], ir::constant(by)}); });
        const auto expected = [&](const Scalar* x) {
          const Scalar operands[] = {*x, by};
          return evaluate(op, operands);
        };
        check(jit, std::string(info(op).name) + " by " + std::to_string(divisor), {type}, type, {edge_values(type, 500)}, kernel, expected,
              0);
      }
}

TEST_CASE("conversions mean the same compiled as in constant folding") {
  Jit jit(without_disk());
  for (int f = 0; f < kDTypeCount; ++f)
    for (int t = 0; t < kDTypeCount; ++t) {
      const auto from = static_cast<DType>(f), to = static_cast<DType>(t);
      const ir::Kernel kernel = elementwise({from}, to, [to](std::vector<ir::ExprRef> args) { return ir::cast(args[0], to); });
      check(
          jit, "cast to " + std::string(name_of(to)), {from}, to, {edge_values(from, 500)}, kernel,
          [to](const Scalar* x) { return x->cast(to); }, 0);
    }
}

TEST_CASE("the bits of one type as another") {
  Jit jit(without_disk());
  for (const auto& [from, to] : {std::pair{DType::f64, DType::i64}, std::pair{DType::u64, DType::f64}, std::pair{DType::f32, DType::u32},
                                 std::pair{DType::i32, DType::f32}}) {
    const DType type = to;
    const ir::Kernel kernel = elementwise({from}, to, [type](std::vector<ir::ExprRef> args) { return ir::bitcast(args[0], type); });
    auto bits = [type](const Scalar* x) {
      char memory[16];
      x->store(memory);
      return Scalar::load(memory, type);
    };
    check(jit, "bitcast", {from}, to, {edge_values(from, 100)}, kernel, bits, 0);
  }
}

TEST_CASE("what an operation takes is checked when it is made") {
  using namespace ir;
  const ExprRef b = variable("b", DType::boolean), i = variable("i", DType::i64), c = variable("c", DType::c128);
  CHECK_THROWS(op(ScalarOp::add, {b, b}));
  CHECK_THROWS(op(ScalarOp::sqrt, {i}));
  CHECK_THROWS(op(ScalarOp::lt, {c, c}));
  CHECK_NOTHROW(op(ScalarOp::logical_or, {b, b}));
}
