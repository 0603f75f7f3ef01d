#include "runtime/io/csv/scan.h"

#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace gasell::csv {
namespace {

inline uint64_t prefix_xor(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

inline uint32_t* put_positions(uint64_t bits, uint32_t base, uint32_t* to) {
  for (; bits; bits &= bits - 1) *to++ = base + static_cast<uint32_t>(std::countr_zero(bits));
  return to;
}

#if defined(__SSE2__)
struct Word {
  explicit Word(const char* p) {
    for (int i = 0; i < 4; ++i) part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p) + i);
  }
  template <class F>
  uint64_t mask(const F& f) const {
    uint64_t bits = 0;
    for (int i = 0; i < 4; ++i) bits |= static_cast<uint64_t>(static_cast<uint16_t>(_mm_movemask_epi8(f(part[i])))) << (16 * i);
    return bits;
  }
  uint64_t equal(char c) const {
    const __m128i all = _mm_set1_epi8(c);
    return mask([&](__m128i x) { return _mm_cmpeq_epi8(x, all); });
  }
  uint64_t high() const {
    return mask([](__m128i x) { return x; });
  }
  __m128i part[4];
};
#elif defined(__ARM_NEON)
struct Word {
  explicit Word(const char* p) {
    for (int i = 0; i < 4; ++i) part[i] = vld1q_u8(reinterpret_cast<const uint8_t*>(p) + 16 * i);
  }
  /// Bytes of all ones or zeros as bits: each byte keeps the bit of its place in eight, and three rounds of pairwise sums collect them.
  static uint64_t bits(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t place = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t ab = vpaddq_u8(vandq_u8(a, place), vandq_u8(b, place));
    const uint8x16_t cd = vpaddq_u8(vandq_u8(c, place), vandq_u8(d, place));
    const uint8x16_t all = vpaddq_u8(ab, cd);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
  }
  uint64_t equal(char c) const {
    const uint8x16_t x = vdupq_n_u8(static_cast<uint8_t>(c));
    return bits(vceqq_u8(part[0], x), vceqq_u8(part[1], x), vceqq_u8(part[2], x), vceqq_u8(part[3], x));
  }
  uint64_t high() const {
    const uint8x16_t x = vdupq_n_u8(127);
    return bits(vcgtq_u8(part[0], x), vcgtq_u8(part[1], x), vcgtq_u8(part[2], x), vcgtq_u8(part[3], x));
  }
  uint8x16_t part[4];
};
#else
struct Word {
  explicit Word(const char* p) : bytes(p) {}
  template <class F>
  uint64_t mask(const F& f) const {
    uint64_t bits = 0;
    for (int i = 0; i < 64; ++i) bits |= static_cast<uint64_t>(f(bytes[i])) << i;
    return bits;
  }
  uint64_t equal(char c) const {
    return mask([&](char x) { return x == c; });
  }
  uint64_t high() const {
    return mask([](char x) { return (x & 0x80) != 0; });
  }
  const char* bytes;
};
#endif

}  // namespace
}  // namespace gasell::csv

#include "runtime/io/csv/scan_kernel.h"

namespace gasell::csv {

const ScanFunctions isa::baseline = {facts_of, fields_of, "baseline"};

namespace {

const ScanFunctions* const* available() {
  static const ScanFunctions* list[4] = {};
  int count = 0;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("pclmul"))
    list[count++] = &isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul")) list[count++] = &isa::avx2;
#endif
  list[count++] = &isa::baseline;
  return list;
}

}  // namespace

const ScanFunctions* const* all_scan_functions() {
  static const ScanFunctions* const* const list = available();
  return list;
}
const ScanFunctions& scan_functions() { return *all_scan_functions()[0]; }

}  // namespace gasell::csv
