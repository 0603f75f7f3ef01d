#include "stdlib/numpy/host.h"

#include <cstring>

#include "lang/diagnostic.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/numpy/module.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::numpy {

Int64Elements::Int64Elements(Interpreter& in, const Value& v) : array_(as_array(in, v)), elements_(array_.elements(in.engine())) {}
int64_t Int64Elements::operator[](int64_t k) const {
  int64_t element = 0;
  std::memcpy(&element, static_cast<const char*>(elements_.data) + k * static_cast<int64_t>(sizeof element), sizeof element);
  return element;
}

HostArray::HostArray(Interpreter& in, DType dtype, Shape shape)
    : dtype_(dtype),
      shape_(std::move(shape)),
      storage_(
          std::dynamic_pointer_cast<HostStorage>(in.engine().device().allocate(std::max<int64_t>(1, graph::bytes_of(shape_, dtype))))) {}

Value HostArray::value() const { return wrap_array(graph::buffer(storage_, dtype_, shape_, graph::contiguous_strides(shape_), 0)); }

std::optional<Value> on_gpus(Interpreter& in, std::string_view function, std::vector<Value> arguments) {
  if (!in.engine().gpus()) return std::nullopt;
  for (const Value& argument : arguments)  // they are compiled functions, which have no float16
    if (const auto* array = argument.as<NdArray>(); array && array->array.dtype() == DType::f16) return std::nullopt;
  Arguments given;
  given.positional = std::move(arguments);
  Value result = call(in, *library_member(in, "_gpu", function), std::move(given));
  if (result.is_none()) return std::nullopt;
  return result;
}

void check_interrupt(Interpreter& in) { gasell::check_interrupt(in.engine()); }

}  // namespace gasell::numpy

namespace gasell {

Value make_numpy_host(Interpreter&) {
  register_numpy_exceptions();
  static const std::vector<NativeFunction> kFunctions = [] {
    std::vector<NativeFunction> all;
    for (auto part : {numpy::sorting_functions(), numpy::scan_functions(), numpy::scatter_functions(), numpy::variance_functions(),
                      numpy::view_functions(), numpy::object_functions()})
      for (NativeFunction& f : part) all.push_back(std::move(f));
    return all;
  }();
  const Value module = Value::make<LibraryModule>("_numpy");
  for (const NativeFunction& f : kFunctions) set_member(module, f.name, numpy::make_array_function(f, "_numpy."));
  static const std::vector<NativeFunction> kTyped = [] {
    std::vector<NativeFunction> all = numpy::time_functions();
    for (NativeFunction& f : numpy::text_functions()) all.push_back(std::move(f));
    return all;
  }();
  for (const NativeFunction& f : kTyped) set_member(module, f.name, Value::make<Builtin>(f));
  pandas::register_time_exceptions();
  set_member(module, "OutOfBoundsDatetime", type_object(*exception_type("OutOfBoundsDatetime")));
  for (const char* name : {"UFuncTypeError", "DTypePromotionError"}) set_member(module, name, type_object(*exception_type(name)));
  return module;
}

Value make_linalg_host(Interpreter&) {
  static const std::vector<NativeFunction> kFunctions = numpy::linalg_functions();
  const Value module = Value::make<LibraryModule>("_linalg");
  for (const NativeFunction& f : kFunctions) set_member(module, f.name, Value::make<Builtin>(f));
  return module;
}

Value make_transforms_host(Interpreter&) {
  static const std::vector<NativeFunction> kFunctions = numpy::transform_functions();
  return make_module("_fft", kFunctions);
}

}  // namespace gasell
