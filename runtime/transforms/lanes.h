// What the instruction sets' own builds of ducc (ducc/) offer: transforms of the vectors along one axis, on the calling thread. C++'s
// library stays out of these types, for no inline function of it may be compiled for an instruction set that a machine lacks.
#pragma once

#include <cstdint>

namespace gasell::transforms {

/// complex: to complex of the same extent. real_to_complex: n real numbers to n / 2 + 1 complex ones. complex_to_real: back. The
/// others: real to real, of types 1 to 4.
enum class Kind : uint8_t { complex, real_to_complex, complex_to_real, cosine, sine };

/// One-dimensional transforms of all vectors along `axis` of `in` into those of `out`; where both are the same memory, of the same steps.
struct Job {
  Kind kind;
  bool single;              // float, else double
  bool forward;             // exponents below 0; of the first three kinds
  bool orthogonal = false;  // scales the ends of cosine and sine transforms so that they are orthogonal
  int type = 0;             // of these
  double factor;            // of every result
  int rank, axis;
  const int64_t *in_shape, *in_steps, *out_shape, *out_steps;  // in elements
  const void* in;
  void* out;
};

/// Rows of complex numbers: element k of row r times bases[r] * steps[r * width + k], or its conjugate.
struct RowFactors {
  bool single, conjugate;
  void* data;
  int64_t rows, columns, row_step;
  const double *bases, *steps;  // complex numbers
  int64_t width;                // columns at least
};

struct Routines {
  void (*transform)(const Job& job);  // may throw std::bad_alloc
  void (*multiply_rows)(const RowFactors& factors);
};

}  // namespace gasell::transforms

/// For any x86-64, and for those with AVX2 and FMA.
extern "C" const gasell::transforms::Routines gasell_transforms_baseline, gasell_transforms_v3;
