// What np.random.Generator is to compiled functions: PCG64 as np.random.default_rng(seed) makes it, and the draws that its methods
// (compiler/functions/prelude/generator.gsl) are made of, to NumPy's bits.
#pragma once

#include <cstdint>

namespace gasell::functions {

/// PCG XSL RR 128/64 (O'Neill, 2014), seeded as NumPy's SeedSequence seeds it from a number.
class Pcg64 {
 public:
  explicit Pcg64(uint64_t seed);

  uint64_t bits64();
  /// Half of 64 bits, whose other half waits for the next call.
  uint32_t bits32();
  /// In [0, 1), of 53 bits, and of 24.
  double uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }
  float uniform32() { return static_cast<float>(bits32() >> 8) * 0x1p-24F; }
  double normal();
  float normal32();
  double exponential();
  float exponential32();

  /// In [0, last]: by multiplication (Lemire, 2019), of 32 bits where they suffice.
  uint64_t up_to(uint64_t last);
  /// The same for integers of 16, 8 and 1 bits (`bits` of the dtype), of which several are taken from one draw: `rest` has what is left of
  /// it, with how many times that will do in its upper half.
  uint64_t small_up_to(uint64_t last, int bits, uint64_t& rest);
  /// In [0, last]: as many bits as hold it, again until they are not beyond.
  uint64_t masked_up_to(uint64_t last);

 private:
  __extension__ typedef unsigned __int128 Wide;
  void step();
  Wide state_, increment_;
  bool waiting_ = false;
  uint32_t second_ = 0;
};

/// Makes gasell_generator_… known to compiled code.
void register_generator_functions();

}  // namespace gasell::functions
