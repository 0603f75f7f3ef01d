// a[…]: basic indices are views; what integer arrays and masks choose, advanced_index.h says.
#include <algorithm>
#include <optional>
#include <span>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "stdlib/numpy/advanced_index.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

bool is_integer_array(const Value& v) { return v.as<List>() || (v.as<NdArray>() && v.as<NdArray>()->array.rank() > 0 && !is_mask(v)); }

struct BasicIndex {
  Shape shape;
  Array::Axes axes;
  bool scalar = false;  // integers for every axis: an element, not an array
};

/// The items of an index with `...` filled in: one for each axis of the array, None's and truth values, which are of no axis. Where `...`
/// stands for no axis it stays, since it keeps arrays of places apart.
std::vector<Value> expand(const Array& array, const Value& index) {
  std::vector<Value> items;
  if (const auto* t = index.as<Tuple>())
    items = t->items;
  else
    items = {index};
  int64_t consumed = 0;
  size_t dots = items.size();
  for (size_t k = 0; k < items.size(); ++k) {
    if (items[k].same(ellipsis())) {
      if (dots != items.size()) raise("IndexError", "an index can only have a single ellipsis ('...')");
      dots = k;
    } else if (is_mask(items[k])) {
      consumed += items[k].as<NdArray>()->array.rank();
    } else if (!items[k].is_none() && !is_truth_value(items[k])) {
      ++consumed;
    }
  }
  if (consumed > array.rank())
    raise("IndexError", "too many indices for array: array is " + std::to_string(array.rank()) + "-dimensional, but " +
                            std::to_string(consumed) + " were indexed");
  const std::vector<Value> fill(static_cast<size_t>(array.rank() - consumed), Value::make<SliceObject>(Value(), Value(), Value()));
  if (dots == items.size()) {
    items.insert(items.end(), fill.begin(), fill.end());
  } else if (!fill.empty()) {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(dots));
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(dots), fill.begin(), fill.end());
  }
  return items;
}

/// The place of one element: an index of whole numbers alone, one an axis, within the extents. The longer way knows what else there is, and
/// what is wrong.
class ElementIndex {
 public:
  ElementIndex(const Array& array, const Value& index) {
    const auto* tuple = index.as<Tuple>();
    const std::span<const Value> items = tuple ? std::span<const Value>(tuple->items) : std::span<const Value>(&index, 1);
    const Shape& shape = array.shape();
    if (items.size() != shape.size() || items.size() > at_.size()) return;
    for (size_t k = 0; k < items.size(); ++k) {
      if (!items[k].is_int() || items[k].is_bool()) return;
      const int64_t i = items[k].as_int();
      at_[k] = i < 0 ? i + shape[k] : i;
      if (at_[k] < 0 || at_[k] >= shape[k]) return;
    }
    rank_ = items.size();
  }
  explicit operator bool() const { return rank_ > 0; }
  operator std::span<const int64_t>() const { return {at_.data(), rank_}; }

 private:
  std::array<int64_t, 4> at_;
  size_t rank_ = 0;
};

/// A number as an element of the array, where nothing need be asked about its type.
std::optional<Scalar> as_element(const Value& value, DType type) {
  if (value.is_bool()) return {};
  if (type == DType::f64 && value.is_float()) return Scalar::of_float(value.as_float());
  if (type == DType::f64 && value.is_int()) return Scalar::of_float(static_cast<double>(value.as_int()));
  if (type == DType::i64 && value.is_int()) return Scalar::of_int(value.as_int());
  const auto* number = value.as<NumpyScalar>();
  return number && number->known() && number->dtype() == type ? std::optional<Scalar>(*number->known()) : std::nullopt;
}

BasicIndex basic_index(Interpreter& in, const Array& array, const std::vector<Value>& items, bool any_slice) {
  BasicIndex result;
  int axis = 0;
  for (const Value& item : items) {
    if (item.is_none()) {
      result.shape.push_back(1);
      continue;
    }
    if (item.same(ellipsis())) continue;
    const int64_t extent = array.shape()[static_cast<size_t>(axis)];
    if (const auto* slice = item.as<SliceObject>()) {
      const SliceObject::Range r = slice->indices(in, extent);
      result.axes.push_back({static_cast<int>(result.shape.size()), r.count ? r.start : 0, r.step});
      result.shape.push_back(r.count);
    } else {
      std::optional<int64_t> i;
      if (item.is_int())
        i = item.as_int();
      else if (item.is_object() && !item.as<Str>())
        i = item.object()->to_index(in);
      if (!i)
        raise("IndexError",
              "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices");
      if (*i < -extent || *i >= extent)
        raise("IndexError", "index " + std::to_string(*i) + " is out of bounds for axis " + std::to_string(axis) + " with size " +
                                std::to_string(extent));
      result.axes.push_back({-1, *i < 0 ? *i + extent : *i, 0});
    }
    ++axis;
  }
  result.scalar = !any_slice && result.shape.empty();
  return result;
}

bool mentions_ellipsis(const Value& index) {
  if (index.same(ellipsis())) return true;
  const auto* t = index.as<Tuple>();
  return t && std::any_of(t->items.begin(), t->items.end(), [](const Value& v) { return v.same(ellipsis()); });
}

/// Whether a reduction is behind it, which takes longer than what is done with its results.
bool is_reduced(const graph::Node& node, int depth = 0) {
  constexpr int kDeepest = 3;
  if (node.as<graph::ReduceNode>()) return true;
  return depth < kDeepest &&
         std::any_of(node.inputs.begin(), node.inputs.end(), [depth](const NodeRef& input) { return is_reduced(*input, depth + 1); });
}

bool is_advanced(const std::vector<Value>& items) {
  return std::any_of(items.begin(), items.end(), [](const Value& v) { return is_mask(v) || is_truth_value(v) || is_integer_array(v); });
}

/// What an element that is given several ones says, as each of NumPy's types does.
[[noreturn]] void refuse_sequence(DType type, const Value& value) {
  const std::string name = value.as<List>() ? "list" : value.as<Tuple>() ? "tuple" : "";
  if (is_complex(type))
    raise("TypeError", name.empty() ? "only 0-dimensional arrays can be converted to Python scalars" : "must be real number, not " + name);
  if (is_integer(type) && kind(type) != 'b' && !name.empty())
    raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not '" + name + "'");
  raise("ValueError", "setting an array element with a sequence.");
}

/// Whether an index is a mask of the whole array and nothing else.
bool is_mask_alone(Interpreter& in, const Array& array, const std::vector<Value>& items) {
  if (items.size() != 1) return false;
  if (is_mask(items[0])) return items[0].as<NdArray>()->array.rank() == array.rank();
  if (is_truth_value(items[0])) return array.rank() == 0;
  return array.rank() == 1 && items[0].as<List>() && kind(as_node(in, items[0])->dtype) == 'b';
}

/// A value that is written where a mask alone chooses: a number or a vector, of as many elements as the mask has, or of one.
void check_masked(const graph::Node& value, int64_t chosen) {
  if (value.rank() > 1)
    raise("TypeError", "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has " +
                           std::to_string(value.rank()) + " dimensions");
  if (value.rank() == 1 && value.size() != chosen && value.size() != 1)
    raise("ValueError", "NumPy boolean array indexing assignment cannot assign " + std::to_string(value.size()) + " input values to the " +
                            std::to_string(chosen) + " output values where the mask is true");
}

}  // namespace

Value array_get(Interpreter& in, const Array& array, const Value& index) {
  if (const ElementIndex at(array, index); at)
    if (const std::optional<Scalar> element = array.element(at)) return wrap_scalar(*element);
  const std::vector<Value> items = expand(array, index);
  if (!is_advanced(items)) {
    BasicIndex b = basic_index(in, array, items, mentions_ellipsis(index));
    if (b.scalar) {
      std::vector<int64_t> at;
      for (const graph::ViewAxis& a : b.axes) at.push_back(a.start);
      return wrap_scalar(array.item(in.engine(), at));
    }
    return Value::make<NdArray>(array.view(std::move(b.shape), std::move(b.axes)));
  }
  return elements_at(in, array, items);
}

void array_set(Interpreter& in, Array& array, const Value& index, const Value& value) {
  if (const ElementIndex at(array, index); at)
    if (const std::optional<Scalar> element = as_element(value, array.dtype()); element && array.set_element(in.engine(), at, *element))
      return;
  const std::vector<Value> items = expand(array, index);
  if (!is_advanced(items)) {
    BasicIndex b = basic_index(in, array, items, mentions_ellipsis(index));
    Array target = array.view(std::move(b.shape), std::move(b.axes));
    const bool sequence = value.as<List>() || value.as<Tuple>();
    const auto* from_array = value.as<NdArray>();
    if (b.scalar && (sequence || (from_array && from_array->array.rank() > 0))) refuse_sequence(array.dtype(), value);
    // A number is computed first: it then holds on to nothing that the write would have to copy.
    if (auto* number = value.as<NumpyScalar>(); number && target.is_view()) number->value(in);
    Operand o = sequence ? Operand{as_node(in, value, array.dtype()), 0} : assigned_operand(in, value, array.dtype());
    if (is_complex(o.node->dtype) && !is_complex(array.dtype()) && sequence)
      raise("TypeError", "float() argument must be a string or a real number, not 'complex'");
    // NumPy drops leading axes of extent 1 of what is assigned.
    NodeRef node = o.weak ? assigned_number(o, array.dtype()) : std::move(o.node);
    o.node.reset();
    while (node->rank() > target.rank() && node->shape[0] == 1)
      node = graph::reshape(node, Shape(node->shape.begin() + 1, node->shape.end()));
    if (const auto* from = value.as<NdArray>(); from && from->array.rank() <= target.rank()) {
      // Whoever reads it again (a[i, j:] = a[j:, i] = x @ y) does not compute it again.
      if (is_reduced(*node)) from->array.force(in.engine());
      node.reset();
      return target.assign(in.engine(), from->array);
    }
    return target.assign(in.engine(), std::move(node));
  }
  if (items.size() == 1 && is_mask(items[0]) && items[0].as<NdArray>()->array.shape() == array.shape()) {
    const Operand o = assigned_operand(in, value, array.dtype());
    if (o.node->shape.empty()) {  // a[mask] = number stays lazy
      const NodeRef number = o.weak ? assigned_number(o, array.dtype()) : graph::cast(o.node, array.dtype());
      return array.assign(in.engine(), graph::map(ScalarOp::select, {items[0].as<NdArray>()->node(), number, array.node()}));
    }
  }
  const Gather g = gather_index(in, array, items);
  // What is computed holds on to nothing that the write would have to copy.
  if (const auto* from = value.as<NdArray>()) from->array.force(in.engine());
  if (auto* number = value.as<NumpyScalar>()) number->value(in);
  const Operand o = assigned_operand(in, value, array.dtype());
  NodeRef node = o.weak ? assigned_number(o, array.dtype()) : graph::cast(o.node, array.dtype());
  if (is_mask_alone(in, array, items)) check_masked(*node, graph::size_of(g.shape));
  while (node->rank() > static_cast<int>(g.shape.size()) && node->shape[0] == 1)
    node = graph::reshape(node, Shape(node->shape.begin() + 1, node->shape.end()));
  if (graph::broadcast_shapes({g.shape, node->shape}) != g.shape)
    raise("ValueError", "shape mismatch: value array of shape " + graph::to_string(node->shape) +
                            " could not be broadcast to indexing result of shape " + graph::to_string(g.shape));
  array.put(in.engine(), g.positions, g.run, Array(graph::broadcast_to(node, g.shape)).elements(in.engine()));
}

}  // namespace gasell::numpy
