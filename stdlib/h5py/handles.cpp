#include "stdlib/h5py/handles.h"

#include "runtime/device/device.h"
#include "runtime/io/csv/utf8.h"
#include "runtime/session/types.h"

namespace gasell::h5py {

Value text_list(const std::vector<std::string>& texts) {
  std::vector<Value> values;
  values.reserve(texts.size());
  for (const std::string& text : texts) {
    csv::check_utf8(text.data(), text.data() + text.size(), text.data(), "the file");
    values.push_back(make_str(text));
  }
  return make_list(std::move(values));
}

std::vector<const char*> text_pointers(Interpreter& in, const Value& list, std::vector<std::string>& texts) {
  for (const Value& v : to_vector(in, list)) {
    const auto* text = v.as<Str>();
    if (!text) raise("TypeError", "Can't implicitly convert non-string objects to strings");
    if (text->value.find('\0') != std::string::npos) raise("ValueError", "VLEN strings do not support embedded NULLs");
    texts.push_back(text->value);
  }
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

Hdf5Type type_of_dtype(DType dtype) {
  Hdf5Type type{};
  type.bytes = size_of(dtype);
  switch (kind(dtype)) {
    case 'b': type.kind = kHdf5Boolean; break;
    case 'i': type.kind = kHdf5Signed; break;
    case 'u': type.kind = kHdf5Unsigned; break;
    case 'f': type.kind = kHdf5Float; break;
    default: type.kind = kHdf5Complex; break;
  }
  return type;
}

Value type_value(const Hdf5Type& type) {
  if (type.kind == kHdf5Text)
    return make_tuple(
        {Value(), make_str(type.bytes == 0 ? "text" : "text of " + std::to_string(type.bytes) + " bytes"), Value::of(type.bytes)});
  if (type.kind == kHdf5Foreign) return make_tuple({Value(), make_str(type.name), Value::of(int64_t{-1})});
  const char letter = "biufc"[type.kind];
  const auto dtype = type.kind == kHdf5Boolean ? DType::boolean : *dtype_from_name(letter + std::to_string(type.bytes));
  return make_tuple({numpy::dtype_object(dtype), make_str(type.is_big_endian ? ">" : "<"), Value::of(type.bytes)});
}

DType dtype_of(Interpreter& in, const Value& v) {
  const auto dtype = numpy::to_dtype(in, v);
  if (!dtype) raise("TypeError", "a dtype is expected");
  return *dtype;
}

Value shape_value(const Hdf5Shape& shape) {
  if (shape.rank < 0) return {};
  return numpy::from_shape(graph::Shape(shape.extents, shape.extents + shape.rank));
}

Hdf5Shape to_hdf5_shape(Interpreter& in, const Value& v) {
  Hdf5Shape shape{};
  if (v.is_none()) {
    shape.rank = -1;
    return shape;
  }
  const graph::Shape extents = numpy::to_shape(in, v);
  if (extents.size() > GASELL_HDF5_MOST_AXES)
    raise("ValueError", "HDF5 has " + std::to_string(GASELL_HDF5_MOST_AXES) + " axes at most, not " + std::to_string(extents.size()));
  shape.rank = static_cast<int>(extents.size());
  std::copy(extents.begin(), extents.end(), shape.extents);
  return shape;
}

HostStorageRef new_memory(MemoryBudget& budget, const graph::Shape& shape, DType dtype) {
  return allocate(budget, std::max<int64_t>(1, graph::bytes_of(shape, dtype)));
}

Value array_over(const HostStorageRef& memory, DType dtype, const graph::Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return numpy::wrap_array(graph::buffer(memory, dtype, shape, strides, 0));
}

}  // namespace gasell::h5py
