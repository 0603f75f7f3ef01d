#include "tools/libgasell/marshal.h"

#include <algorithm>

#include "runtime/session/objects.h"
#include "tools/array_values.h"

namespace gasell::c_abi {

std::vector<int64_t> strides_of(int rank, const int64_t* shape, const int64_t* strides) {
  if (strides) return {strides, strides + rank};
  return graph::contiguous_strides(graph::Shape(shape, shape + rank));
}

std::pair<int64_t, int64_t> reach_of(const graph::Shape& shape, const std::vector<int64_t>& strides) {
  int64_t low = 0, high = 0;
  for (size_t k = 0; k < shape.size(); ++k) (strides[k] < 0 ? low : high) += (shape[k] - 1) * strides[k];
  return {low, high + 1};
}

namespace {

using Kind = ParameterType::Kind;

/// Calls f(offset) for the elements in C order.
template <class F>
void for_each_element(const graph::Shape& shape, const std::vector<int64_t>& strides, const F& f) {
  if (graph::size_of(shape) == 0) return;
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  for (;;) {
    f(offset);
    size_t k = shape.size();
    for (; k > 0; --k) {
      offset += strides[k - 1];
      if (++index[k - 1] < shape[k - 1]) break;
      offset -= shape[k - 1] * strides[k - 1];
      index[k - 1] = 0;
    }
    if (k == 0) return;
  }
}

/// An array's elements to memory with these strides.
void write_elements(Engine& engine, const Array& array, void* data, const std::vector<int64_t>& strides) {
  const Array::Elements elements = array.elements(engine);
  const auto width = static_cast<size_t>(size_of(elements.dtype));
  const char* from = elements.data;
  if (strides == graph::contiguous_strides(array.shape())) {
    std::memmove(data, from, width * static_cast<size_t>(elements.count));
    return;
  }
  for_each_element(array.shape(), strides, [&](int64_t offset) {
    std::memcpy(static_cast<char*>(data) + offset * static_cast<int64_t>(width), from, width);
    from += width;
  });
}

Value number_value(const Scalar& s) {
  switch (kind(s.type)) {
    case 'b': return Value::of(s.i != 0);
    case 'i': return Value::of(s.i);
    case 'u':
      if (s.type != DType::u64 || s.i >= 0) return Value::of(s.i);
      break;
    case 'f': return Value::of(s.c.real());
    default: break;
  }
  return value_of(Array(graph::constant(s)));
}

[[noreturn]] void wrong_result(const Value& value, const ParameterType& type) {
  const std::string wanted = type.kind == Kind::nothing ? "nothing" : type.kind == Kind::text ? "a text" : functions::describe(type.type);
  throw Error("TypeError", "the function returned a value of type '" + type_of(value).name + "', its signature says " + wanted);
}

}  // namespace

void require_memory(const void* data, DType dtype, int rank, const int64_t* shape, const int64_t* strides) {
  require(rank >= 0 && rank <= 64, "the rank must be 0 to 64");
  require(rank == 0 || shape, "an array with axes wants a shape");
  const int64_t width = size_of(dtype);
  int64_t bytes = width, low = 0, high = 0;
  for (int k = 0; k < rank; ++k) {
    require(shape[k] >= 0 && !__builtin_mul_overflow(bytes, shape[k], &bytes), "an extent is negative, or the shape too large");
    if (!strides || shape[k] == 0) continue;
    int64_t reach = 0;
    require(!__builtin_mul_overflow(shape[k] - 1, strides[k], &reach) && !__builtin_mul_overflow(reach, width, &reach) &&
                !__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high),
            "the strides are too large");
  }
  require(data || bytes == 0, "the data pointer is NULL");
  const int64_t alignment = kind(dtype) == 'c' ? width / 2 : width;
  require(reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment) == 0, "the data pointer is not aligned to the element");
}

Array array_over(Engine& engine, void* data, DType dtype, int rank, const int64_t* shape, const int64_t* strides, bool writable,
                 std::function<void()> release) {
  const graph::Shape extents(shape, shape + rank);
  const std::vector<int64_t> steps = strides_of(rank, shape, strides);
  const int64_t width = size_of(dtype), size = graph::size_of(extents);
  if (size == 0 || steps == graph::contiguous_strides(extents))
    return Array::over(external(data, size * width, writable, std::move(release)), dtype, extents);
  const auto [low, high] = reach_of(extents, steps);
  Array array(graph::buffer(external(static_cast<char*>(data) + low * width, (high - low) * width, writable, std::move(release)), dtype,
                            extents, steps, -low));
  if (writable)
    array.keep_place(engine);
  else
    array.set_writable(false);
  return array;
}

Value to_value(gasell_session& session, const ParameterType& type, const void* address) {
  require(address, "an argument's address is NULL");
  switch (type.kind) {
    case Kind::number: return number_value(Scalar::load(address, type.type.dtype));
    case Kind::text: {
      const char* text = *static_cast<const char* const*>(address);
      require(text, "a text is NULL");
      return make_str(text);
    }
    case Kind::object: {
      const auto* value = *static_cast<const gasell_value* const*>(address);
      require(value, "a value is NULL");
      require(value->session == &session, "the value belongs to another session");
      return value->value;
    }
    case Kind::nothing:
    case Kind::automatic: return {};
    case Kind::array: break;
  }
  const auto& view = *static_cast<const gasell_view*>(address);
  const functions::Type& t = type.type;
  require_memory(view.data, t.dtype, t.rank, view.shape, view.strides);
  return value_of(array_over(session.engine, view.data, t.dtype, t.rank, view.shape, view.strides, !t.read_only, {}));
}

void from_value(gasell_session& session, const Value& value, const ParameterType& type, void* address) {
  Interpreter& in = session.interpreter;
  switch (type.kind) {
    case Kind::number: {
      Scalar s;
      const std::optional<Array> array = array_of(value);
      if (array) {
        if (array->size() != 1) wrong_result(value, type);
        s = array->elements(session.engine)[0];
      } else if (value.is_bool()) {
        s = Scalar::of_bool(value.as_int() != 0);
      } else if (value.is_int()) {
        s = Scalar::of_int(value.as_int());
      } else if (value.is_float()) {
        s = Scalar::of_float(value.as_float());
      } else if (const auto* complex = value.as<Complex>()) {
        s = Scalar::of_complex(complex->value);
      } else {
        wrong_result(value, type);
      }
      // What a conversion would lose is no number of the signature's.
      const bool loses = (is_complex(s.type) && !is_complex(type.type.dtype)) ||
                         (is_float(s.type) && !is_float(type.type.dtype) && !is_complex(type.type.dtype));
      if (loses) wrong_result(value, type);
      const Scalar result = s.cast(type.type.dtype);
      if (s.is_integral() && result.is_integral() && result.cast(s.type).i != s.i)
        throw Error("OverflowError",
                    "the function returned " + str(in, value) + ", which " + std::string(name_of(type.type.dtype)) + " does not hold");
      result.store(address);
      return;
    }
    case Kind::array: {
      const auto& view = *static_cast<const gasell_view*>(address);
      const std::optional<Array> array = array_of(value);
      if (!array || array->dtype() != type.type.dtype || array->rank() != type.type.rank) wrong_result(value, type);
      require_memory(view.data, type.type.dtype, type.type.rank, view.shape, view.strides);
      if (!std::equal(array->shape().begin(), array->shape().end(), view.shape))
        throw Error("ValueError", "the function returned an array of shape " + shape_text(array->shape()) + ", the place for it has " +
                                      shape_text(graph::Shape(view.shape, view.shape + array->rank())));
      write_elements(session.engine, *array, view.data, strides_of(array->rank(), view.shape, view.strides));
      return;
    }
    case Kind::nothing: return;
    case Kind::text:
    case Kind::object:
    case Kind::automatic: break;
  }
  throw std::logic_error("a text or an object is written by who owns it");
}

}  // namespace gasell::c_abi
