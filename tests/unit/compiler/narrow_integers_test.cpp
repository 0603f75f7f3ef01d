// Integer arithmetic in narrower types gives the same numbers.
#include "compiler/ir/narrow_integers.h"

#include <map>
#include <random>

#include "catch.h"
#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"
#include "unit/compiler/ir_values.h"

using namespace gasell;
using namespace gasell::ir;

namespace {

/// Random integer expressions over a: i8, b: u8, c: i16, d: bool, e: i32.
class Expressions {
 public:
  explicit Expressions(unsigned seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  ExprRef integer(DType type, int depth) {
    if (depth == 0 || below(6) == 0) {
      static const std::pair<const char*, DType> kNames[] = {
          {"a", DType::i8}, {"b", DType::u8}, {"c", DType::i16}, {"d", DType::boolean}, {"e", DType::i32}};
      if (below(4) == 0) return constant(Scalar::of_int(below(200) - (is_signed(type) ? 60 : 0)).cast(type));
      const auto& [name, narrow] = kNames[below(8) ? below(4) : 4];
      return cast(variable(name, narrow), type);
    }
    const auto one = [&] { return integer(type, depth - 1); };
    const auto positive = [&](int most) { return constant(Scalar::of_int(1 + below(most)).cast(type)); };
    switch (below(18)) {
      case 0:
      case 1:
      case 2: return op(ScalarOp::add, {one(), one()});
      case 3: return op(ScalarOp::sub, {one(), one()});
      case 4: return op(ScalarOp::mul, {one(), one()});
      case 5: return op(ScalarOp::floordiv, {one(), positive(100)});
      case 6: return op(ScalarOp::mod, {one(), positive(300)});
      case 7: return op(ScalarOp::shl, {one(), positive(8)});
      case 8: return op(ScalarOp::shr, {one(), positive(40)});
      case 9: return op(ScalarOp::min, {one(), one()});
      case 10: return op(ScalarOp::max, {one(), one()});
      case 11: return op(ScalarOp::neg, {one()});
      case 12: return op(ScalarOp::abs, {one()});
      case 13: return op(ScalarOp::bit_and, {one(), one()});
      case 14: return op(ScalarOp::bit_or, {one(), one()});
      case 15: return op(ScalarOp::bit_xor, {one(), one()});
      case 16: return op(ScalarOp::select, {boolean(depth - 1), one(), one()});
      default: {
        static constexpr DType kTypes[] = {DType::i8, DType::u8, DType::i16, DType::i32, DType::i64, DType::u64};
        return cast(integer(kTypes[below(6)], depth - 1), type);
      }
    }
  }
  ExprRef boolean(int depth) {
    static constexpr ScalarOp kComparisons[] = {ScalarOp::eq, ScalarOp::ne, ScalarOp::lt, ScalarOp::le, ScalarOp::gt, ScalarOp::ge};
    const DType type = below(2) ? DType::i64 : DType::u64;
    return op(kComparisons[below(6)], {integer(type, depth), integer(type, depth)});
  }
  Scalar value(DType type) {
    static constexpr int64_t kEnds[] = {INT64_MIN, INT64_MAX, 0, -1, 127, -128, 255, 32767, -32768, INT32_MAX, INT32_MIN};
    return Scalar::of_int(below(3) ? below(70000) - 35000 : kEnds[below(11)]).cast(type);
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("narrow arithmetic gives the same numbers") {
  Expressions make(20);
  const std::pair<const char*, DType> names[] = {
      {"a", DType::i8}, {"b", DType::u8}, {"c", DType::i16}, {"d", DType::boolean}, {"e", DType::i32}};
  int narrowed = 0;
  for (int round = 0; round < 20000; ++round) {
    static constexpr DType kTypes[] = {DType::i64, DType::u64, DType::i32};
    const DType type = kTypes[make.below(3)];
    // t is used in what is stored: its range is known there.
    const ExprRef first = make.integer(type, 2), second = op(ScalarOp::add, {variable("t", type), make.integer(type, 3)});
    Kernel kernel{"k", {}, {let("t", first), let("r", cast(second, make.below(2) ? DType::f64 : DType::i8)), let("s", make.boolean(2))}};
    for (const auto& [name, t] : names) kernel.params.push_back({Parameter::Kind::scalar, name, t});
    verify(kernel);
    const Kernel narrow = narrow_integers(kernel, make.below(2) ? DType::i16 : DType::i32);
    verify(narrow);
    narrowed += print(narrow) != print(kernel);
    for (int k = 0; k < 4; ++k) {
      Values values;
      for (const auto& [name, t] : names) values[name] = make.value(t);
      Values changed = values;
      for (size_t i = 0; i < kernel.body.size(); ++i) {
        const Stmt &before = *kernel.body[i], &after = *narrow.body[i];
        values[before.name] = evaluate(before.value, values);
        changed[after.name] = evaluate(after.value, changed);
        INFO(print(kernel) << print(narrow));
        REQUIRE(values[before.name].same_bits(changed[after.name]));
      }
    }
  }
  CHECK(narrowed > 5000);
}
