// Numbers taken apart by products are what division makes of them.
#include "compiler/plan/extents.h"

#include <random>

#include "catch.h"
#include "codegen_support.h"

using namespace gasell;
using namespace gasell::plan;

namespace {

constexpr int64_t kBelow = int64_t{1} << 31;

/// Quotients and remainders, in turn, and whether a division made them.
struct Divided {
  std::vector<int64_t> parts;
  bool by_division;
};
Divided divide(Jit& jit, std::vector<int64_t> numbers, int64_t divisor, int64_t below) {
  KernelBuilder builder("divide", true);
  const std::string from = builder.input(nullptr, DType::i64, 0), to = builder.output(nullptr, DType::i64, 0);
  const ir::ExprRef i = ir::variable("i", DType::i64), u = ir::variable("u", DType::i64),
                    n = builder.scalar("n", static_cast<int64_t>(numbers.size()));
  ir::Body each, unit;
  const Parts parts = Divisor(builder, divisor, below).divide(each, define(builder, each, "number", ir::load(from, DType::i64, i)));
  each.push_back(ir::store(to, i * ir::constant_i64(2), parts.quotient));
  each.push_back(ir::store(to, i * ir::constant_i64(2) + ir::constant_i64(1), parts.remainder));
  unit.push_back(ir::loop("i", ir::constant_i64(0), n, ir::LoopKind::simd, std::move(each)));
  const Step step = builder.finish({ir::loop("u", ir::constant_i64(0), ir::constant_i64(1), ir::LoopKind::unit, std::move(unit))}, 1);
  Divided result{std::vector<int64_t>(2 * numbers.size(), -1), ir::print(*step.kernel).find("//") != std::string::npos};
  void* arrays[] = {numbers.data(), result.parts.data()};
  jit.compile(*step.kernel).function(arrays, step.scalars.data(), 0, 1);
  return result;
}

}  // namespace

TEST_CASE("a product divides as a division does") {
  Jit jit(test::without_disk());
  std::mt19937_64 random(7);
  std::vector<int64_t> divisors{
      1, 2, 3, 5, 7, 9, 10, 641, 65535, 65536, 65537, 6700417, (1 << 30) - 1, 1 << 30, (1 << 30) + 1, kBelow - 2, kBelow - 1};
  for (int k = 0; k < 40; ++k) divisors.push_back(static_cast<int64_t>(random() % kBelow >> random() % 30) + 1);
  for (const int64_t divisor : divisors) {
    if (divisor >= kBelow) continue;
    std::vector<int64_t> numbers{0, 1, kBelow - 1, kBelow - 2, divisor, divisor - 1, std::min(kBelow - 1, divisor + 1)};
    for (int k = 0; k < 50; ++k) {
      const int64_t multiple = static_cast<int64_t>(random() % static_cast<uint64_t>(kBelow / divisor)) * divisor;
      for (const int64_t near : {multiple - 1, multiple, multiple + divisor - 1})
        if (near >= 0 && near < kBelow) numbers.push_back(near);
      numbers.push_back(static_cast<int64_t>(random() % kBelow));
    }
    const Divided divided = divide(jit, numbers, divisor, kBelow);
    CHECK(!divided.by_division);
    for (size_t k = 0; k < numbers.size(); ++k) {
      INFO(numbers[k] << " over " << divisor);
      CHECK(divided.parts[2 * k] == numbers[k] / divisor);
      CHECK(divided.parts[2 * k + 1] == numbers[k] % divisor);
    }
  }
}

TEST_CASE("numbers that a product does not divide are divided") {
  Jit jit(test::without_disk());
  const Divided divided = divide(jit, {(int64_t{1} << 40) + 5, 12}, 1000, int64_t{1} << 41);
  CHECK(divided.by_division);
  CHECK(divided.parts == std::vector<int64_t>{1099511627, 781, 0, 12});
}
