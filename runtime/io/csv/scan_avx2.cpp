#include "runtime/io/csv/scan.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>

#include <cstring>

// After the headers, so that no inline function of theirs is compiled for these instructions and then shared with the rest of the program.
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt,pclmul")

namespace gasell::csv {
namespace {

struct Word {
  explicit Word(const char* p)
      : low(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), upper(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p) + 1)) {}
  static uint64_t bits(__m256i a, __m256i b) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(a)) | static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(b))) << 32;
  }
  uint64_t equal(char c) const {
    const __m256i all = _mm256_set1_epi8(c);
    return bits(_mm256_cmpeq_epi8(low, all), _mm256_cmpeq_epi8(upper, all));
  }
  uint64_t high() const { return bits(low, upper); }
  __m256i low, upper;
};

inline uint64_t prefix_xor(uint64_t bits) {
  return static_cast<uint64_t>(
      _mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<int64_t>(bits)), _mm_set1_epi8('\xff'), 0)));
}

/// Eight at a time, whether there are so many or not.
inline uint32_t* put_positions(uint64_t bits, uint32_t base, uint32_t* to) {
  uint32_t* const end = to + __builtin_popcountll(bits);
  while (bits) {
    for (int i = 0; i < 8; ++i) {
      to[i] = base + static_cast<uint32_t>(_tzcnt_u64(bits));
      bits &= bits - 1;
    }
    to += 8;
  }
  return end;
}

}  // namespace
}  // namespace gasell::csv

#include "runtime/io/csv/scan_kernel.h"

const gasell::csv::ScanFunctions gasell::csv::isa::avx2 = {facts_of, fields_of, "avx2"};
#endif
