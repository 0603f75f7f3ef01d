// Natives of attributes.
#include "runtime/device/device.h"
#include "runtime/session/types.h"
#include "stdlib/h5py/handles.h"
#include "stdlib/h5py/module.h"

namespace gasell {
namespace {

using namespace h5py;
using Args = std::span<Value>;

const char* name_of(const Value& v) { return v.as<Str>()->value.c_str(); }

Value names(Interpreter&, Args args) {
  Texts texts;
  hdf5::call(hdf5::plugin().attribute_names, id_of(args[0]), texts.collect());
  return text_list(texts.found);
}

Value exists(Interpreter&, Args args) {
  int found = 0;
  hdf5::call(hdf5::plugin().attribute_exists, id_of(args[0]), name_of(args[1]), &found);
  return Value::of(found != 0);
}

Value remove(Interpreter&, Args args) {
  hdf5::call(hdf5::plugin().attribute_remove, id_of(args[0]), name_of(args[1]));
  return {};
}

/// describe_attribute(object, name): the type as describe() has it, and the shape.
Value describe(Interpreter&, Args args) {
  Hdf5Type type{};
  Hdf5Shape shape{};
  hdf5::call(hdf5::plugin().attribute_describe, id_of(args[0]), name_of(args[1]), &type, &shape);
  return make_tuple({type_value(type), shape_value(shape)});
}

/// read_attribute(object, name, dtype, shape)
Value read(Interpreter& in, Args args) {
  const DType dtype = dtype_of(in, args[2]);
  const graph::Shape shape = numpy::to_shape(in, args[3]);
  const HostStorageRef memory = new_memory(in.engine().device().budget(), shape, dtype);
  const Hdf5Type type = type_of_dtype(dtype);
  if (graph::size_of(shape) > 0) hdf5::call(hdf5::plugin().attribute_read, id_of(args[0]), name_of(args[1]), &type, memory->write());
  return array_over(memory, dtype, shape);
}

Value read_texts(Interpreter&, Args args) {
  Texts texts;
  hdf5::call(hdf5::plugin().attribute_read_texts, id_of(args[0]), name_of(args[1]), texts.collect());
  return text_list(texts.found);
}

Value write(Interpreter& in, Args args) {
  const Array array = numpy::as_array(in, args[2]);
  const Array::Elements elements = array.elements(in.engine());
  const Hdf5Type type = type_of_dtype(elements.dtype);
  const Hdf5Shape shape = to_hdf5_shape(in, numpy::from_shape(array.shape()));
  hdf5::call(hdf5::plugin().attribute_write, id_of(args[0]), name_of(args[1]), &type, &shape, static_cast<const void*>(elements.data));
  return {};
}

/// write_text_attribute(object, name, texts, shape)
Value write_texts(Interpreter& in, Args args) {
  std::vector<std::string> texts;
  const std::vector<const char*> pointers = text_pointers(in, args[2], texts);
  const Hdf5Shape shape = to_hdf5_shape(in, args[3]);
  hdf5::call(hdf5::plugin().attribute_write_texts, id_of(args[0]), name_of(args[1]), &shape, pointers.data());
  return {};
}

}  // namespace

std::vector<NativeFunction> h5py_attribute_functions() {
  return {
      {"attribute_names", "object, /", names, "The names of an object's attributes."},
      {"attribute_exists", "object, name, /", exists, "Whether an object has an attribute."},
      {"remove_attribute", "object, name, /", remove, "Takes an attribute away."},
      {"describe_attribute", "object, name, /", describe, "The type and the shape of an attribute."},
      {"read_attribute", "object, name, dtype, shape, /", read, "The numbers of an attribute."},
      {"read_text_attribute", "object, name, /", read_texts, "The texts of an attribute as a list."},
      {"write_attribute", "object, name, array, /", write, "Makes or replaces an attribute of numbers."},
      {"write_text_attribute", "object, name, texts, shape, /", write_texts, "Makes or replaces an attribute of texts."},
  };
}

}  // namespace gasell
