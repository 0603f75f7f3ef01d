#include "runtime/io/csv/scan.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>

#include <cstring>

// g++ 12 sees uninitialised values in its own intrinsics.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
// After the headers: see scan_avx2.cpp.
#pragma GCC target("avx512f,avx512bw,avx512vbmi2,avx2,bmi,bmi2,lzcnt,popcnt,pclmul")

namespace gasell::csv {
namespace {

struct Word {
  explicit Word(const char* p) : bytes(_mm512_loadu_si512(p)) {}
  uint64_t equal(char c) const { return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(c)); }
  uint64_t high() const { return _mm512_movepi8_mask(bytes); }
  __m512i bytes;
};

inline uint64_t prefix_xor(uint64_t bits) {
  return static_cast<uint64_t>(
      _mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<int64_t>(bits)), _mm_set1_epi8('\xff'), 0)));
}

alignas(64) constexpr uint8_t kPlaces[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                             22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
                                             44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

/// The places of the set bits, packed by one instruction, then widened sixteen at a time.
inline uint32_t* put_positions(uint64_t bits, uint32_t base, uint32_t* to) {
  const int count = __builtin_popcountll(bits);
  const __m512i packed = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(kPlaces));
  const __m512i bases = _mm512_set1_epi32(static_cast<int>(base));
  const auto put = [&](__m128i sixteen, int at) { _mm512_storeu_si512(to + at, _mm512_add_epi32(_mm512_cvtepu8_epi32(sixteen), bases)); };
  put(_mm512_castsi512_si128(packed), 0);
  if (count > 16) [[unlikely]] {
    put(_mm512_extracti32x4_epi32(packed, 1), 16);
    if (count > 32) {
      put(_mm512_extracti32x4_epi32(packed, 2), 32);
      put(_mm512_extracti32x4_epi32(packed, 3), 48);
    }
  }
  return to + count;
}

}  // namespace
}  // namespace gasell::csv

#include "runtime/io/csv/scan_kernel.h"

const gasell::csv::ScanFunctions gasell::csv::isa::avx512 = {facts_of, fields_of, "avx512"};
#endif
