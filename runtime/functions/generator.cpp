#include "runtime/functions/generator.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "compiler/codegen/externals.h"
#include "runtime/functions/ziggurat_tables.h"

namespace gasell::functions {
namespace {

/// NumPy's SeedSequence (after O'Neill's seed_seq): words of entropy are mixed into a pool, of which any number of words is made.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t seed) {
    const std::array<uint32_t, 2> entropy{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    uint32_t constant = 0x43b0d7e5;
    const auto hashed = [&](uint32_t value) {
      value ^= constant;
      constant *= 0x931e8875;
      value *= constant;
      return value ^ value >> 16;
    };
    for (size_t k = 0; k < pool_.size(); ++k) pool_[k] = hashed(k < entropy.size() ? entropy[k] : 0);
    for (size_t from = 0; from < pool_.size(); ++from)
      for (size_t to = 0; to < pool_.size(); ++to) {
        if (from == to) continue;
        const uint32_t mixed = 0xca01f9dd * pool_[to] - 0x4973f715 * hashed(pool_[from]);
        pool_[to] = mixed ^ mixed >> 16;
      }
  }

  std::array<uint64_t, 4> words() const {
    std::array<uint64_t, 4> result{};
    uint32_t constant = 0x8b51f9dd;
    for (size_t k = 0; k < 8; ++k) {
      uint32_t value = pool_[k % pool_.size()] ^ constant;
      constant *= 0x58f38ded;
      value *= constant;
      value ^= value >> 16;
      result[k / 2] |= uint64_t{value} << (k % 2 * 32);
    }
    return result;
  }

 private:
  std::array<uint32_t, 4> pool_{};
};

}  // namespace

Pcg64::Pcg64(uint64_t seed) {
  const std::array<uint64_t, 4> words = SeedSequence(seed).words();
  increment_ = (Wide{words[2]} << 64 | words[3]) << 1 | 1;
  state_ = 0;
  step();
  state_ += Wide{words[0]} << 64 | words[1];
  step();
}

void Pcg64::step() {
  constexpr Wide kFactor = Wide{2549297995355413924U} << 64 | 4865540595714422341U;
  state_ = state_ * kFactor + increment_;
}

uint64_t Pcg64::bits64() {
  step();
  const auto high = static_cast<uint64_t>(state_ >> 64), low = static_cast<uint64_t>(state_);
  return std::rotr(high ^ low, static_cast<int>(high >> 58));
}

uint32_t Pcg64::bits32() {
  if (waiting_) {
    waiting_ = false;
    return second_;
  }
  const uint64_t both = bits64();
  second_ = static_cast<uint32_t>(both >> 32);
  waiting_ = true;
  return static_cast<uint32_t>(both);
}

// Ziggurats (Marsaglia and Tsang, 2000). The edge of the lowest layer of either density, beyond which the tail lies.
constexpr double kNormalEdge = 3.6541528853610087963519472518, kInverseNormalEdge = 0.27366123732975827203338247596;
constexpr double kExponentialEdge = 7.6971174701310497140446280481;

double Pcg64::normal() {
  using namespace ziggurat;
  for (;;) {
    const uint64_t bits = bits64();
    const size_t layer = bits & 0xff;
    const bool negative = bits >> 8 & 1;
    const uint64_t place = bits >> 9 & 0x000fffffffffffff;
    double x = static_cast<double>(place) * kNormalWidth[layer];
    if (negative) x = -x;
    if (place < kNormalBelow[layer]) return x;
    if (layer == 0) {
      for (;;) {
        const double beyond = -kInverseNormalEdge * std::log1p(-uniform()), y = -std::log1p(-uniform());
        if (y + y > beyond * beyond) return place >> 8 & 1 ? -(kNormalEdge + beyond) : kNormalEdge + beyond;
      }
    }
    if ((kNormalDensity[layer - 1] - kNormalDensity[layer]) * uniform() + kNormalDensity[layer] < std::exp(-0.5 * x * x)) return x;
  }
}

float Pcg64::normal32() {
  using namespace ziggurat;
  constexpr auto kEdge = static_cast<float>(kNormalEdge), kInverseEdge = static_cast<float>(kInverseNormalEdge);
  for (;;) {
    const uint32_t bits = bits32();
    const size_t layer = bits & 0xff;
    const bool negative = bits >> 8 & 1;
    const uint32_t place = bits >> 9 & 0x0007fffff;
    float x = static_cast<float>(place) * kNormalWidth32[layer];
    if (negative) x = -x;
    if (place < kNormalBelow32[layer]) return x;
    if (layer == 0) {
      for (;;) {
        const float beyond = -kInverseEdge * std::log1p(-uniform32()), y = -std::log1p(-uniform32());
        if (y + y > beyond * beyond) return place >> 8 & 1 ? -(kEdge + beyond) : kEdge + beyond;
      }
    }
    if ((kNormalDensity32[layer - 1] - kNormalDensity32[layer]) * uniform32() + kNormalDensity32[layer] <
        static_cast<float>(std::exp(-0.5 * x * x)))
      return x;
  }
}

double Pcg64::exponential() {
  using namespace ziggurat;
  for (;;) {
    const uint64_t bits = bits64() >> 3;
    const size_t layer = bits & 0xff;
    const uint64_t place = bits >> 8;
    const double x = static_cast<double>(place) * kExponentialWidth[layer];
    if (place < kExponentialBelow[layer]) return x;
    if (layer == 0) return kExponentialEdge - std::log1p(-uniform());
    if ((kExponentialDensity[layer - 1] - kExponentialDensity[layer]) * uniform() + kExponentialDensity[layer] < std::exp(-x)) return x;
  }
}

float Pcg64::exponential32() {
  using namespace ziggurat;
  for (;;) {
    const uint32_t bits = bits32() >> 1;
    const size_t layer = bits & 0xff;
    const uint32_t place = bits >> 8;
    const float x = static_cast<float>(place) * kExponentialWidth32[layer];
    if (place < kExponentialBelow32[layer]) return x;
    if (layer == 0) return static_cast<float>(kExponentialEdge) - std::log1p(-uniform32());
    if ((kExponentialDensity32[layer - 1] - kExponentialDensity32[layer]) * uniform32() + kExponentialDensity32[layer] < std::exp(-x))
      return x;
  }
}

uint64_t Pcg64::up_to(uint64_t last) {
  if (last == 0) return 0;
  if (last == UINT32_MAX) return bits32();
  if (last == UINT64_MAX) return bits64();
  if (last < UINT32_MAX) {
    const auto count = static_cast<uint32_t>(last + 1);
    uint64_t product = uint64_t{bits32()} * count;
    if (static_cast<uint32_t>(product) < count) {
      const uint32_t least = (UINT32_MAX - static_cast<uint32_t>(last)) % count;
      while (static_cast<uint32_t>(product) < least) product = uint64_t{bits32()} * count;
    }
    return product >> 32;
  }
  const uint64_t count = last + 1;
  Wide product = Wide{bits64()} * count;
  if (static_cast<uint64_t>(product) < count) {
    const uint64_t least = (UINT64_MAX - last) % count;
    while (static_cast<uint64_t>(product) < least) product = Wide{bits64()} * count;
  }
  return static_cast<uint64_t>(product >> 64);
}

uint64_t Pcg64::small_up_to(uint64_t last, int bits, uint64_t& rest) {
  const auto next = [&] {
    uint64_t times = rest >> 32, drawn = rest & UINT32_MAX;
    if (times == 0) {
      drawn = bits32();
      times = static_cast<uint64_t>(32 / bits - 1);
    } else {
      drawn >>= bits;
      --times;
    }
    rest = times << 32 | drawn;
    return drawn & ((uint64_t{1} << bits) - 1);
  };
  const uint64_t most = (uint64_t{1} << bits) - 1;
  if (last == 0) return 0;
  if (last == most) return next();
  const uint64_t count = last + 1;
  uint64_t product = next() * count;
  if ((product & most) < count) {
    const uint64_t least = (most - last) % count;
    while ((product & most) < least) product = next() * count;
  }
  return product >> bits;
}

uint64_t Pcg64::masked_up_to(uint64_t last) {
  if (last == 0) return 0;
  const uint64_t mask = ~uint64_t{0} >> std::countl_zero(last);
  for (;;) {
    const uint64_t value = (last <= UINT32_MAX ? bits32() : bits64()) & mask;
    if (value <= last) return value;
  }
}

namespace {

extern "C" {
double gasell_generator_uniform(Pcg64* g) { return g->uniform(); }
double gasell_generator_uniform32(Pcg64* g) { return static_cast<double>(g->uniform32()); }
double gasell_generator_normal(Pcg64* g) { return g->normal(); }
double gasell_generator_normal32(Pcg64* g) { return static_cast<double>(g->normal32()); }
double gasell_generator_exponential(Pcg64* g) { return g->exponential(); }
double gasell_generator_exponential32(Pcg64* g) { return static_cast<double>(g->exponential32()); }
int64_t gasell_generator_up_to(Pcg64* g, int64_t last) { return static_cast<int64_t>(g->up_to(static_cast<uint64_t>(last))); }
int64_t gasell_generator_masked_up_to(Pcg64* g, int64_t last) { return static_cast<int64_t>(g->masked_up_to(static_cast<uint64_t>(last))); }
/// `rest`: an element that is the caller's.
int64_t gasell_generator_small_up_to(Pcg64* g, int64_t last, int64_t bits, uint64_t* rest) {
  return static_cast<int64_t>(g->small_up_to(static_cast<uint64_t>(last), static_cast<int>(bits), *rest));
}
}

}  // namespace

void register_generator_functions() {
  register_external("gasell_generator_uniform", reinterpret_cast<void*>(&gasell_generator_uniform));
  register_external("gasell_generator_uniform32", reinterpret_cast<void*>(&gasell_generator_uniform32));
  register_external("gasell_generator_normal", reinterpret_cast<void*>(&gasell_generator_normal));
  register_external("gasell_generator_normal32", reinterpret_cast<void*>(&gasell_generator_normal32));
  register_external("gasell_generator_exponential", reinterpret_cast<void*>(&gasell_generator_exponential));
  register_external("gasell_generator_exponential32", reinterpret_cast<void*>(&gasell_generator_exponential32));
  register_external("gasell_generator_up_to", reinterpret_cast<void*>(&gasell_generator_up_to));
  register_external("gasell_generator_masked_up_to", reinterpret_cast<void*>(&gasell_generator_masked_up_to));
  register_external("gasell_generator_small_up_to", reinterpret_cast<void*>(&gasell_generator_small_up_to));
}

}  // namespace gasell::functions
