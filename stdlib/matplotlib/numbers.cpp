#include "stdlib/matplotlib/numbers.h"

#include <algorithm>

#include "lang/diagnostic.h"
#include "runtime/session/types.h"
#include "stdlib/numpy/host.h"

namespace gasell::matplotlib {

Numbers::Numbers(Interpreter& in, const Value& v) {
  if (v.is_none()) return;
  if (v.as<numpy::NdArray>()) {
    elements_ = numpy::as_array(in, v).elements(in.engine());
    if (elements_.dtype != DType::f64) raise("TypeError", "places in a picture are arrays of float64");
    data_ = reinterpret_cast<const double*>(elements_.data);
    size_ = elements_.count;
    return;
  }
  for (const Value& item : to_vector(in, v)) own_.push_back(to_double(in, item));
  data_ = own_.data();
  size_ = static_cast<int64_t>(own_.size());
}

Value number_array(Interpreter& in, const std::vector<double>& numbers) {
  numpy::HostArray made(in, DType::f64, {static_cast<int64_t>(numbers.size())});
  std::ranges::copy(numbers, made.data<double>());
  return made.value();
}

}  // namespace gasell::matplotlib
