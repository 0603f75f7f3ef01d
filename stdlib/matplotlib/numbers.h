// Sequences of numbers that the texts give to natives.
#pragma once

#include <vector>

#include "runtime/session/interpreter.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::matplotlib {

/// An array of float64, a list or a tuple of numbers as doubles in a row; None as nothing.
class Numbers {
 public:
  Numbers(Interpreter& in, const Value& v);
  const double* data() const { return data_; }
  int64_t size() const { return size_; }
  double operator[](int64_t i) const { return data_[i]; }

 private:
  std::vector<double> own_;
  Array::Elements elements_{};
  const double* data_ = nullptr;
  int64_t size_ = 0;
};

/// Numbers as an array of one axis.
Value number_array(Interpreter& in, const std::vector<double>& numbers);

}  // namespace gasell::matplotlib
