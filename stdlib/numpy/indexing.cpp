// a[…]: basic indices are views; integer arrays and masks read and write element by element on the host.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <span>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/trues.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

bool is_mask(const Value& v) {
  const auto* a = v.as<NdArray>();
  return a && a->array.dtype() == DType::boolean;
}
bool is_integer_array(const Value& v) { return v.as<List>() || (v.as<NdArray>() && v.as<NdArray>()->array.rank() > 0 && !is_mask(v)); }

struct BasicIndex {
  Shape shape;
  Array::Axes axes;
  bool scalar = false;  // integers for every axis: an element, not an array
};

/// The items of an index with `...` filled in: one for each axis of the array, and None's.
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
    } else if (!items[k].is_none()) {
      ++consumed;
    }
  }
  if (consumed > array.rank())
    raise("IndexError", "too many indices for array: array is " + std::to_string(array.rank()) + "-dimensional, but " +
                            std::to_string(consumed) + " were indexed");
  const std::vector<Value> fill(static_cast<size_t>(array.rank() - consumed), Value::make<SliceObject>(Value(), Value(), Value()));
  if (dots == items.size()) {
    items.insert(items.end(), fill.begin(), fill.end());
  } else {
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

/// An advanced index as element positions in the array, in C order of the result. Each stands for a run of elements.
struct Gather {
  Shape shape;
  std::vector<int64_t> positions;
  int64_t run = 1;
};

/// A boolean mask as one integer array an axis it covers.
std::vector<std::vector<int64_t>> nonzero(Interpreter& in, const Array& mask) {
  const Array::Elements e = mask.elements(in.engine());
  std::vector<int64_t> places = Trues(e.data, e.count).places();
  const size_t rank = static_cast<size_t>(mask.rank());
  if (rank == 1) return {std::move(places)};
  std::vector<std::vector<int64_t>> indices(rank, std::vector<int64_t>(places.size()));
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t k = rank; k-- > 0;) {
      indices[k][i] = places[i] % mask.shape()[k];
      places[i] /= mask.shape()[k];
    }
  return indices;
}

/// Whole numbers as places along an axis: negative ones count from its end.
std::vector<int64_t> places_along(Interpreter& in, const NodeRef& index, int axis, int64_t extent) {
  const Array::Elements e = Array(index).elements(in.engine());
  std::vector<int64_t> places(static_cast<size_t>(e.count));
  std::atomic<bool> all_fit = true;
  with_element_type(e.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      const T* const values = reinterpret_cast<const T*>(e.data);
      for_each_share(e.count, [&](int64_t begin, int64_t end) {
        bool fit = true;
        for (int64_t i = begin; i < end; ++i) {
          const auto v = static_cast<int64_t>(values[i]);
          fit = fit && v >= -extent && v < extent;
          places[static_cast<size_t>(i)] = v < 0 ? v + extent : v;
        }
        if (!fit) all_fit = false;
      });
    }
  });
  for (int64_t i = 0; i < e.count && !all_fit; ++i)
    if (const int64_t v = e[i].i; v < -extent || v >= extent)
      raise("IndexError",
            "index " + std::to_string(v) + " is out of bounds for axis " + std::to_string(axis) + " with size " + std::to_string(extent));
  return places;
}

/// work(width) with the bytes of an element, which the compiler knows where that makes copying one a single move.
template <class Work>
void with_width(int64_t bytes, const Work& work) {
  switch (bytes) {
    case 1: return work(std::integral_constant<int64_t, 1>());
    case 2: return work(std::integral_constant<int64_t, 2>());
    case 4: return work(std::integral_constant<int64_t, 4>());
    case 8: return work(std::integral_constant<int64_t, 8>());
    default: return work(bytes);
  }
}

/// Moves runs of elements: the one at from(i) becomes the one at to(i), in runs of the result.
template <class To, class From>
void move_runs(int64_t count, int64_t bytes, const To& to, const From& from) {
  for_each_share(count, [&](int64_t begin, int64_t end) {
    with_width(bytes, [&](auto width) {
      for (int64_t i = begin; i < end; ++i) std::memcpy(to(i), from(i), static_cast<size_t>(width));
    });
  });
}

Gather gather_index(Interpreter& in, const Array& array, const std::vector<Value>& items) {
  if (items.size() == 1 && is_mask(items[0]) && items[0].as<NdArray>()->array.shape() == array.shape()) {
    const Array::Elements mask = items[0].as<NdArray>()->array.elements(in.engine());
    std::vector<int64_t> places = Trues(mask.data, mask.count).places();
    return {{static_cast<int64_t>(places.size())}, std::move(places)};
  }
  // Each axis of the array: a slice's range, or positions along the common shape of the advanced indices.
  struct AxisIndex {
    bool advanced = false;
    SliceObject::Range range{};
    std::vector<int64_t> values;  // advanced: broadcast to the common shape, in C order
    Shape shape;
  };
  std::vector<AxisIndex> axes;
  std::vector<int> layout;  // result axes: -1 the advanced block, -2 a new axis, else an axis of the array
  int first_advanced = -1;
  bool apart = false, in_block = false;
  Shape common;
  for (const Value& item : items) {
    const auto axis = static_cast<int>(axes.size());
    if (item.is_none()) {
      layout.push_back(-2);
      in_block = false;
      continue;
    }
    if (const auto* slice = item.as<SliceObject>()) {
      AxisIndex a;
      a.range = slice->indices(in, array.shape()[static_cast<size_t>(axis)]);
      axes.push_back(std::move(a));
      layout.push_back(axis);
      in_block = false;
      continue;
    }
    if (first_advanced < 0) {
      first_advanced = static_cast<int>(layout.size());
      layout.push_back(-1);
    } else if (!in_block) {
      apart = true;
    }
    in_block = true;
    if (is_mask(item)) {
      const Array mask = item.as<NdArray>()->array;
      for (int k = 0; k < mask.rank(); ++k)
        if (mask.shape()[static_cast<size_t>(k)] != array.shape()[static_cast<size_t>(axis + k)])
          raise("IndexError", "boolean index did not match indexed array along axis " + std::to_string(axis + k) + "; size of axis is " +
                                  std::to_string(array.shape()[static_cast<size_t>(axis + k)]) +
                                  " but size of corresponding boolean axis is " + std::to_string(mask.shape()[static_cast<size_t>(k)]));
      for (auto& values : nonzero(in, mask)) {
        AxisIndex a;
        a.advanced = true;
        a.shape = {static_cast<int64_t>(values.size())};
        a.values = std::move(values);
        axes.push_back(std::move(a));
      }
      continue;
    }
    const NodeRef node = as_node(in, item);
    const bool empty_list = item.as<List>() && node->size() == 0;
    if (kind(node->dtype) == 'b') {  // a list of bools
      const int64_t extent = array.shape()[static_cast<size_t>(axis)];
      if (node->rank() != 1) raise("NotImplementedError", "a nested list as a mask is not implemented", "make it an array: np.array(mask)");
      if (node->shape[0] != extent)
        raise("IndexError", "boolean index did not match indexed array along axis " + std::to_string(axis) + "; size of axis is " +
                                std::to_string(extent) + " but size of corresponding boolean axis is " + std::to_string(node->shape[0]));
      axes.emplace_back();
      const auto values = nonzero(in, Array(node));
      axes.back().advanced = true;
      axes.back().values = values.at(0);
      axes.back().shape = {static_cast<int64_t>(values[0].size())};
      continue;
    }
    if (!is_integer(node->dtype) && !empty_list) raise("IndexError", "arrays used as indices must be of integer (or boolean) type");
    AxisIndex a;
    a.advanced = true;
    a.shape = node->shape;
    const int64_t extent = array.shape()[static_cast<size_t>(axis)];
    a.values = places_along(in, node, axis, extent);
    axes.push_back(std::move(a));
  }
  std::vector<Shape> shapes;
  for (const AxisIndex& a : axes)
    if (a.advanced) shapes.push_back(a.shape);
  try {
    common = graph::broadcast_shapes(shapes);
  } catch (const Error&) {
    std::string text = "shape mismatch: indexing arrays could not be broadcast together with shapes";
    for (const Shape& s : shapes) text += " " + graph::to_string(s);
    raise("IndexError", text);
  }
  if (apart) {  // separated advanced indices: their block comes first
    layout.erase(layout.begin() + first_advanced);
    layout.insert(layout.begin(), -1);
  }

  Gather result;
  const std::vector<int64_t> strides = graph::contiguous_strides(array.shape());
  // Whole axes at the end make runs.
  int whole = static_cast<int>(axes.size());
  while (whole > 0 && !axes[static_cast<size_t>(whole - 1)].advanced && !layout.empty() && layout.back() == whole - 1) {
    const SliceObject::Range& r = axes[static_cast<size_t>(whole - 1)].range;
    if (r.start != 0 || r.step != 1 || r.count != array.shape()[static_cast<size_t>(whole - 1)]) break;
    result.run *= r.count;
    layout.pop_back();
    --whole;
  }
  if (layout.size() == 1 && whole == 1) {  // rows
    for (int64_t& place : axes[0].values) place *= result.run;
    result.positions = std::move(axes[0].values);
    result.shape = std::move(common);
    result.shape.insert(result.shape.end(), array.shape().begin() + 1, array.shape().end());
    return result;
  }
  const int64_t block = graph::size_of(common);
  std::vector<int64_t> block_positions(static_cast<size_t>(block), 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    if (!axes[k].advanced) continue;
    const Shape& s = axes[k].shape;
    const std::vector<int64_t> own = graph::contiguous_strides(s);
    const std::vector<int64_t> all = graph::contiguous_strides(common);
    if (s == common) {
      for (size_t i = 0; i < block_positions.size(); ++i) block_positions[i] += axes[k].values[i] * strides[k];
      continue;
    }
    for (int64_t i = 0; i < block; ++i) {
      int64_t at = 0;
      for (size_t d = 0; d < s.size(); ++d) {
        const size_t c = d + common.size() - s.size();
        if (s[d] != 1) at += (i / all[c]) % common[c] * own[d];
      }
      block_positions[static_cast<size_t>(i)] += axes[k].values[static_cast<size_t>(at)] * strides[k];
    }
  }
  std::vector<int64_t> positions{0};
  for (int which : layout) {
    std::vector<int64_t> offsets;
    if (which == -2) {
      result.shape.push_back(1);
      continue;
    }
    if (which == -1) {
      offsets = block_positions;
      result.shape.insert(result.shape.end(), common.begin(), common.end());
    } else {
      const SliceObject::Range& r = axes[static_cast<size_t>(which)].range;
      for (int64_t i = 0; i < r.count; ++i) offsets.push_back((r.start + i * r.step) * strides[static_cast<size_t>(which)]);
      result.shape.push_back(r.count);
    }
    std::vector<int64_t> next;
    next.reserve(positions.size() * offsets.size());
    for (int64_t p : positions)
      for (int64_t o : offsets) next.push_back(p + o);
    positions = std::move(next);
  }
  result.positions = std::move(positions);
  result.shape.insert(result.shape.end(), array.shape().begin() + whole, array.shape().end());
  return result;
}

/// Elements of a vector by a mask of its length or by whole numbers, in one go; nothing where the index is another one, or wrong.
std::optional<Value> of_vector(Interpreter& in, const Array& array, const Value& index) {
  const auto* given = index.as<NdArray>();
  if (!given) return std::nullopt;
  const bool mask = kind(given->array.dtype()) == 'b';
  if (mask ? given->array.shape() != array.shape() : !is_integer(given->array.dtype())) return std::nullopt;
  if (std::optional<Value> made = on_gpus(in, "gpu_taken", {wrap_array(array.node()), wrap_array(given->array.node())})) return made;
  const Array::Elements at = given->array.elements(in.engine()), from = array.elements(in.engine());
  std::optional<Trues> trues;
  if (mask) trues.emplace(at.data, at.count);
  const Shape shape = mask ? Shape{trues->count()} : given->array.shape();
  const NodeRef result = graph::buffer(in.engine().device().allocate(std::max<int64_t>(1, graph::bytes_of(shape, array.dtype()))),
                                       array.dtype(), shape, graph::contiguous_strides(shape), 0);
  char* const to = static_cast<char*>(std::static_pointer_cast<HostStorage>(result->as<graph::BufferNode>()->storage)->write());
  std::atomic<bool> all_fit = true;
  with_width(gasell::size_of(array.dtype()), [&](auto width) {
    const auto copy = [&](int64_t number, int64_t place) {
      std::memcpy(to + number * width, from.data + place * width, static_cast<size_t>(width));
    };
    if (mask) return trues->for_each(copy);
    with_element_type(at.dtype, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>) {
        const T* const places = reinterpret_cast<const T*>(at.data);
        for_each_share(at.count, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const auto place = static_cast<int64_t>(places[i]);
            if (place < -from.count || place >= from.count) {
              all_fit = false;
              return;
            }
            copy(i, place < 0 ? place + from.count : place);
          }
        });
      }
    });
  });
  if (!all_fit) return std::nullopt;
  return wrap_array(result);
}

/// Whether a reduction is behind it, which takes longer than what is done with its results.
bool is_reduced(const graph::Node& node, int depth = 0) {
  constexpr int kDeepest = 3;
  if (node.as<graph::ReduceNode>()) return true;
  return depth < kDeepest &&
         std::any_of(node.inputs.begin(), node.inputs.end(), [depth](const NodeRef& input) { return is_reduced(*input, depth + 1); });
}

bool is_advanced(const std::vector<Value>& items) {
  return std::any_of(items.begin(), items.end(), [](const Value& v) { return is_mask(v) || is_integer_array(v); });
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
  if (items.size() == 1 && array.rank() == 1) {
    if (std::optional<Value> taken = of_vector(in, array, items[0])) return *std::move(taken);
  }
  const Gather g = gather_index(in, array, items);
  const Array::Elements from = array.elements(in.engine());
  const auto width = static_cast<int64_t>(gasell::size_of(array.dtype())), run = g.run * width,
             count = static_cast<int64_t>(g.positions.size());
  auto storage =
      std::dynamic_pointer_cast<HostStorage>(in.engine().device().allocate(std::max<int64_t>(1, graph::bytes_of(g.shape, array.dtype()))));
  char* const to = static_cast<char*>(storage->write());
  move_runs(
      count, run, [&](int64_t i) { return to + i * run; },
      [&](int64_t i) { return from.data + g.positions[static_cast<size_t>(i)] * width; });
  return wrap_array(graph::buffer(storage, array.dtype(), g.shape, graph::contiguous_strides(g.shape), 0));
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
    if (b.scalar && array.rank() > 0 && (sequence || (from_array && from_array->array.rank() > 0)))
      raise("ValueError", "setting an array element with a sequence.");
    // A number is computed first: it then holds on to nothing that the write would have to copy.
    if (auto* number = value.as<NumpyScalar>(); number && target.is_view()) number->value(in);
    Operand o = sequence ? Operand{as_node(in, value, array.dtype()), 0} : operand(in, value);
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
    const Operand o = operand(in, value);
    if (o.node->shape.empty()) {  // a[mask] = number stays lazy
      const NodeRef number = o.weak ? assigned_number(o, array.dtype()) : graph::cast(o.node, array.dtype());
      return array.assign(in.engine(), graph::map(ScalarOp::select, {items[0].as<NdArray>()->node(), number, array.node()}));
    }
  }
  const Gather g = gather_index(in, array, items);
  // What is computed holds on to nothing that the write would have to copy.
  if (const auto* from = value.as<NdArray>()) from->array.force(in.engine());
  if (auto* number = value.as<NumpyScalar>()) number->value(in);
  const Operand o = operand(in, value);
  NodeRef node = o.weak ? assigned_number(o, array.dtype()) : graph::cast(o.node, array.dtype());
  if (graph::broadcast_shapes({g.shape, node->shape}) != g.shape)
    raise("ValueError", "shape mismatch: value array of shape " + graph::to_string(node->shape) +
                            " could not be broadcast to indexing result of shape " + graph::to_string(g.shape));
  array.put(in.engine(), g.positions, g.run, Array(graph::broadcast_to(node, g.shape)).elements(in.engine()));
}

}  // namespace gasell::numpy
