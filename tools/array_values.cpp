#include "tools/array_values.h"

#include "stdlib/numpy/ndarray.h"

namespace gasell {

std::optional<Array> array_of(const Value& value) {
  if (const auto* array = value.as<numpy::NdArray>()) return array->array;
  if (const auto* scalar = value.as<numpy::NumpyScalar>()) return Array(scalar->node());
  return std::nullopt;
}

Value value_of(Array array) { return Value::make<numpy::NdArray>(std::move(array)); }

void force(Interpreter& interpreter, const Value& value) {
  if (const auto* array = value.as<numpy::NdArray>()) array->array.force(interpreter.engine());
  if (auto* scalar = value.as<numpy::NumpyScalar>()) scalar->value(interpreter);
}

std::optional<DType> scalar_dtype_of(const Value& value) {
  const auto* scalar = value.as<numpy::NumpyScalar>();
  return scalar ? std::optional(scalar->dtype()) : std::nullopt;
}

std::string shape_text(const graph::Shape& shape) {
  std::string text = "(";
  for (size_t k = 0; k < shape.size(); ++k) text += (k ? ", " : "") + std::to_string(shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace gasell
