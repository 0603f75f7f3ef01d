#include "runtime/functions/host_function.h"
#include "runtime/session/dict.h"
#include "runtime/session/function.h"
#include "runtime/session/objects.h"
#include "tools/array_values.h"
#include "tools/libgasell/handles.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

/// Runs `work` on a value and a place for the result.
template <class Work>
gasell_status reading(const gasell_value* value, const void* result, gasell_error** error, Work&& work) noexcept {
  return guarded(error, value ? value->session : nullptr, [&] {
    require(value && result, "reading wants a value and a place for the result");
    work(value->session->interpreter);
  });
}

[[noreturn]] void not_convertible(const Value& value, const char* to) {
  throw Error("TypeError", "a value of type '" + type_of(value).name + "' cannot be converted to " + to);
}

const std::vector<Value>& items_of(const gasell_value& value) {
  if (const auto* tuple = value.value.as<Tuple>()) return tuple->items;
  if (const auto* list = value.value.as<List>()) return list->items;
  throw Error("TypeError", "a value of type '" + type_of(value.value).name + "' is neither a tuple nor a list");
}

const Array& array_in(gasell_value& value) {
  if (!value.array) value.array = array_of(value.value);
  if (value.array) return *value.array;
  throw Error("TypeError", "a value of type '" + type_of(value.value).name + "' is not an array");
}

/// What the result of a conversion slot holds: an immediate number, or a complex object.
std::complex<double> number_in(const Value& value) {
  if (value.is_float()) return value.as_float();
  if (value.is_int() || value.is_bool()) return static_cast<double>(value.as_int());
  if (const auto* complex = value.as<Complex>()) return complex->value;
  not_convertible(value, "a number");
}

}  // namespace

gasell_kind gasell_value_kind(const gasell_value* value) noexcept {
  if (!value) return GASELL_KIND_NONE;
  switch (value->value.tag()) {
    case Value::Tag::absent:
    case Value::Tag::none: return GASELL_KIND_NONE;
    case Value::Tag::boolean: return GASELL_KIND_BOOLEAN;
    case Value::Tag::integer: return GASELL_KIND_INTEGER;
    case Value::Tag::floating: return GASELL_KIND_FLOAT;
    case Value::Tag::object: break;
  }
  const Value& v = value->value;
  if (const std::optional<DType> dtype = scalar_dtype_of(v)) {
    switch (kind(*dtype)) {
      case 'b': return GASELL_KIND_BOOLEAN;
      case 'f': return GASELL_KIND_FLOAT;
      case 'c': return GASELL_KIND_COMPLEX;
      default: return GASELL_KIND_INTEGER;
    }
  }
  if (array_of(v)) return GASELL_KIND_ARRAY;
  if (v.as<Str>()) return GASELL_KIND_STRING;
  if (v.as<Complex>()) return GASELL_KIND_COMPLEX;
  if (v.as<Tuple>()) return GASELL_KIND_TUPLE;
  if (v.as<List>()) return GASELL_KIND_LIST;
  if (v.as<Dict>()) return GASELL_KIND_DICT;
  if (is_handle(v)) return GASELL_KIND_HANDLE;
  const std::string& name = type_of(v).name;
  if (name == "DataFrame") return GASELL_KIND_FRAME;
  if (name == "Series") return GASELL_KIND_SERIES;
  if (v.as<Function>() || v.as<Builtin>() || name == "CPUDispatcher" || v.as<functions::HostFunction>()) return GASELL_KIND_FUNCTION;
  return GASELL_KIND_OTHER;
}

gasell_status gasell_value_boolean(const gasell_value* value, int* result, gasell_error** error) noexcept {
  return reading(value, result, error, [&](Interpreter& in) { *result = truth(in, value->value) ? 1 : 0; });
}

gasell_status gasell_value_integer(const gasell_value* value, int64_t* result, gasell_error** error) noexcept {
  return reading(value, result, error, [&](Interpreter& in) {
    const Value& v = value->value;
    if (v.is_int() || v.is_bool()) {
      *result = v.as_int();
    } else if (v.is_float()) {
      const double x = v.as_float();
      if (!(x >= -0x1p63 && x < 0x1p63)) throw Error("OverflowError", "cannot convert " + repr(in, v) + " to a 64-bit integer");
      *result = static_cast<int64_t>(x);
    } else {
      const std::optional<Value> converted = v.is_object() ? v.object()->to_int(in) : std::nullopt;
      if (!converted || !converted->is_int()) not_convertible(v, "an integer");
      *result = converted->as_int();
    }
  });
}

gasell_status gasell_value_float(const gasell_value* value, double* result, gasell_error** error) noexcept {
  return reading(value, result, error, [&](Interpreter& in) {
    const Value& v = value->value;
    const std::optional<Value> converted = v.is_object() ? v.object()->to_float(in) : v;
    if (!converted || converted->is_object()) not_convertible(v, "a float");
    *result = number_in(*converted).real();
  });
}

gasell_status gasell_value_complex(const gasell_value* value, double* real, double* imaginary, gasell_error** error) noexcept {
  return reading(value, real && imaginary ? real : nullptr, error, [&](Interpreter& in) {
    const Value& v = value->value;
    std::optional<Value> converted = v.is_object() ? v.object()->to_complex(in) : v;
    if (!converted && v.is_object()) converted = v.object()->to_float(in);
    if (!converted) not_convertible(v, "a complex number");
    const std::complex<double> number = number_in(*converted);
    *real = number.real();
    *imaginary = number.imag();
  });
}

gasell_status gasell_value_text(gasell_value* value, const char** text, size_t* length, gasell_error** error) noexcept {
  return reading(value, text, error, [&](Interpreter& in) {
    value->text = str(in, value->value);
    *text = value->text.c_str();
    if (length) *length = value->text.size();
  });
}

gasell_status gasell_value_length(const gasell_value* value, size_t* length, gasell_error** error) noexcept {
  return reading(value, length, error, [&](Interpreter&) { *length = items_of(*value).size(); });
}

gasell_status gasell_value_item(const gasell_value* value, size_t index, gasell_value** item, gasell_error** error) noexcept {
  return reading(value, item, error, [&](Interpreter&) {
    *item = nullptr;
    const std::vector<Value>& items = items_of(*value);
    if (index >= items.size()) throw Error("IndexError", "item " + std::to_string(index) + " of " + std::to_string(items.size()));
    *item = new gasell_value{value->session, items[index], {}};
  });
}

namespace {

gasell_array description(const Array& array, const int64_t* shape) {
  gasell_array out{};
  out.dtype = static_cast<gasell_dtype>(array.dtype());
  out.rank = array.rank();
  out.shape = shape;
  out.size = array.size();
  return out;
}

}  // namespace

gasell_status gasell_value_describe(gasell_value* value, gasell_array* array, gasell_error** error) noexcept {
  return reading(value, array, error, [&](Interpreter&) {
    const Array& a = array_in(*value);
    write_struct(*array, description(a, a.shape().data()));
  });
}

gasell_status gasell_value_array(gasell_value* value, gasell_array* array, gasell_error** error) noexcept {
  return reading(value, array, error, [&](Interpreter&) {
    const Array& a = array_in(*value);
    value->elements = a.elements(value->session->engine);
    gasell_array out = description(a, a.shape().data());
    out.data = value->elements.data;
    write_struct(*array, out);
  });
}

gasell_status gasell_value_view(gasell_value* value, gasell_dtype* dtype, int* rank, gasell_view* view, gasell_error** error) noexcept {
  return reading(value, dtype && rank ? view : nullptr, error, [&](Interpreter&) {
    const Array& a = array_in(*value);
    const Array* const one[] = {&a};
    settle(value->session->engine, one, {false});
    value->memory = a.memory(false);
    *dtype = static_cast<gasell_dtype>(a.dtype());
    *rank = a.rank();
    *view = {value->memory.data, a.shape().data(), value->memory.strides.data()};
  });
}

void gasell_value_free(gasell_value* value) noexcept {
  if (value) release_in(*value->session, std::shared_ptr<gasell_value>(value));
}
