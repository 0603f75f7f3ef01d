// The random numbers against an independent implementation: Philox4x32-10 with Random123's published answers, Box and Muller in long
// double.
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "catch.h"
#include "runtime/array/array.h"
#include "runtime/engine.h"

using namespace gasell;
using namespace gasell::graph;

namespace {

using Block = std::array<uint32_t, 4>;

Block philox(Block c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1), static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1],
         static_cast<uint32_t>(p0)};
    k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
  }
  return c;
}

/// The 128 bits behind element `i`, as random.h states: two words, and which of them is the element's.
struct Bits {
  uint64_t first, second;
  bool is_second;
};
Bits bits_of(uint64_t i, uint64_t seed, uint64_t stream) {
  auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  auto high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
  const uint64_t counter = (i >> 6) * 32 + (i & 31);
  const Block b = philox({low(counter), high(counter), low(stream), high(stream)}, {low(seed), high(seed)});
  return {b[1] | uint64_t{b[0]} << 32, b[3] | uint64_t{b[2]} << 32, ((i >> 5) & 1) != 0};
}

Array::Elements elements(Distribution d, int64_t n, uint64_t seed, uint64_t stream) {
  static Engine engine([] {
    EngineOptions options = EngineOptions::from_environment();
    options.cache = false;
    return options;
  }());
  return Array(random(d, DType::f64, {n}, seed, stream)).elements(engine);
}

}  // namespace

TEST_CASE("the reference is Random123's philox4x32-10", "[random]") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const uint32_t ones = 0xffffffff;
  CHECK(philox({ones, ones, ones, ones}, {ones, ones}) == Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("uniform numbers are Philox's bits", "[random]") {
  const uint64_t seed = 0x123456789abcdef0, stream = 0x1000000002;
  const auto x = elements(Distribution::uniform, 5000, seed, stream);
  for (uint64_t i = 0; i < 5000; ++i) {
    const Bits b = bits_of(i, seed, stream);
    REQUIRE(x[static_cast<int64_t>(i)].c.real() == std::ldexp(static_cast<double>((b.is_second ? b.second : b.first) >> 11), -53));
  }
}

TEST_CASE("normal numbers are Box and Muller's of Philox's bits", "[random]") {
  const uint64_t seed = 99, stream = 1;
  const auto x = elements(Distribution::standard_normal, 200000, seed, stream);
  long double worst = 0;
  for (uint64_t i = 0; i < 200000; ++i) {
    const Bits b = bits_of(i, seed, stream);
    const long double u = (static_cast<long double>(b.first >> 12) + 0.5L) * 0x1p-52L, radius = std::sqrt(-2 * std::log(u));
    // A quarter turn's signed fraction; the two low bits exchange sine and cosine, and turn the sign.
    const long double angle = static_cast<long double>(static_cast<int64_t>(b.second)) * 0x1p-64L * (std::numbers::pi_v<long double> / 2);
    const bool swap = b.second & 1, negate = b.second & 2;
    const long double exact = radius * (b.is_second != swap ? std::sin(angle) : std::cos(angle)) * (negate ? -1 : 1);
    const auto got = static_cast<long double>(x[static_cast<int64_t>(i)].c.real());
    worst =
        std::max(worst, std::abs(got - exact) / static_cast<long double>(std::nexttoward(std::abs(static_cast<double>(exact)), INFINITY) -
                                                                         std::abs(static_cast<double>(exact))));
  }
  CHECK(worst < 6);  // in units of the last place
}
