#include "stdlib/numpy/advanced_index.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/primitives/distant_rows.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/trues.h"

namespace gasell::numpy {
namespace {

/// work(i) for each of the places, on all cores.
template <class Work>
void for_each_place(Interpreter& in, const BudgetVector<int64_t>& places, const Work& work) {
  over_rows(in.engine(), static_cast<int64_t>(places.size()), [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) work(i);
  });
}

/// A boolean mask as one integer array an axis it covers.
std::vector<BudgetVector<int64_t>> places_of(Interpreter& in, const Array& mask) {
  const Array::Elements e = mask.elements(in.engine());
  BudgetVector<int64_t> places = Trues(in.engine(), e.data, e.count).places();
  const size_t rank = static_cast<size_t>(mask.rank());
  std::vector<BudgetVector<int64_t>> indices;
  if (rank == 1) {
    indices.push_back(std::move(places));
    return indices;
  }
  for (size_t k = 0; k < rank; ++k) indices.emplace_back(places.size(), BudgetAllocator<int64_t>(in.engine()));
  for_each_place(in, places, [&](size_t i) {
    for (size_t k = rank; k-- > 0;) {
      indices[k][i] = places[i] % mask.shape()[k];
      places[i] /= mask.shape()[k];
    }
  });
  return indices;
}

/// Whole numbers as places along an axis: negative ones count from its end. `wrong` becomes what is said of the first that is not there.
BudgetVector<int64_t> places_along(Interpreter& in, const NodeRef& index, int axis, int64_t extent, std::string& wrong) {
  const Array::Elements e = Array(index).elements(in.engine());
  BudgetVector<int64_t> places(static_cast<size_t>(e.count), BudgetAllocator<int64_t>(in.engine()));
  std::atomic<bool> all_fit = true;
  with_element_type(e.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      const T* const values = reinterpret_cast<const T*>(e.data);
      over_rows(in.engine(), e.count, [&](int64_t begin, int64_t end) {
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
  for (int64_t i = 0; i < e.count && !all_fit && wrong.empty(); ++i)
    if (const int64_t v = e[i].i; v < -extent || v >= extent)
      wrong = "index " + std::to_string(v) + " is out of bounds for axis " + std::to_string(axis) + " with size " + std::to_string(extent);
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
void move_runs(Interpreter& in, int64_t count, int64_t bytes, const To& to, const From& from) {
  constexpr int64_t kBytesATask = 1 << 20;
  over_rows(
      in.engine(), count,
      [&](int64_t begin, int64_t end) {
        with_width(bytes, [&](auto width) {
          for (int64_t i = begin; i < end; ++i) std::memcpy(to(i), from(i), static_cast<size_t>(width));
        });
      },
      std::clamp<int64_t>(kBytesATask / std::max<int64_t>(1, bytes), 1, kRowsATask));
}

/// Elements of a vector that is on disk and more than is used at random, to `to`, by way of buckets; false where it is not, or where a
/// place is negative or too large.
bool distant_rows(Interpreter& in, const Array::Elements& from, const Array::Elements& at, int64_t bytes, char* to) {
  auto& storage = static_cast<HostStorage&>(*from.keep_alive);
  if (!is_distant(in.engine(), storage, from.data, from.count * bytes)) return false;
  const auto* const places = reinterpret_cast<const int64_t*>(at.data);
  std::atomic<bool> all_fit = true;
  over_rows(in.engine(), at.count, [&](int64_t begin, int64_t end) {
    if (!std::all_of(places + begin, places + end, [&](int64_t place) { return place >= 0 && place < from.count; })) all_fit = false;
  });
  if (all_fit)
    DistantRows<int64_t>(in.engine(), places, at.count, from.count, static_cast<int>(bytes)).gather(from.data, to, static_cast<int>(bytes));
  return all_fit;
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
  if (mask) trues.emplace(in.engine(), at.data, at.count);
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
    if (at.dtype == DType::i64 && distant_rows(in, from, at, width, to)) return;
    with_element_type(at.dtype, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>) {
        const T* const places = reinterpret_cast<const T*>(at.data);
        over_rows(in.engine(), at.count, [&](int64_t begin, int64_t end) {
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

}  // namespace

bool is_mask(const Value& v) {
  const auto* a = v.as<NdArray>();
  return a && a->array.dtype() == DType::boolean;
}

bool is_truth_value(const Value& v) {
  const auto* number = v.as<NumpyScalar>();
  return v.is_bool() || (number && number->dtype() == DType::boolean);
}

Gather gather_index(Interpreter& in, const Array& array, const std::vector<Value>& items) {
  if (items.size() == 1 && is_mask(items[0]) && items[0].as<NdArray>()->array.shape() == array.shape()) {
    const Array::Elements mask = items[0].as<NdArray>()->array.elements(in.engine());
    BudgetVector<int64_t> places = Trues(in.engine(), mask.data, mask.count).places();
    return {{static_cast<int64_t>(places.size())}, std::move(places)};
  }
  // Each axis of the array: a slice's range, or positions along the common shape of the advanced indices.
  struct AxisIndex {
    bool advanced = false;
    SliceObject::Range range{};
    BudgetVector<int64_t> values;  // advanced: in C order
    Shape shape;
  };
  std::vector<AxisIndex> axes;
  std::vector<Shape> shapes;  // of the advanced indices
  std::string out_of_bounds;
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
    if (item.same(ellipsis())) {
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
    if (item.as<Str>())
      raise("IndexError",
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices");
    if (is_truth_value(item) || (is_mask(item) && item.as<NdArray>()->array.rank() == 0)) {
      shapes.push_back({truth(in, item) ? 1 : 0});
      continue;
    }
    if (is_mask(item)) {
      const Array mask = item.as<NdArray>()->array;
      for (int k = 0; k < mask.rank(); ++k)
        if (mask.shape()[static_cast<size_t>(k)] != array.shape()[static_cast<size_t>(axis + k)])
          raise("IndexError", "boolean index did not match indexed array along axis " + std::to_string(axis + k) + "; size of axis is " +
                                  std::to_string(array.shape()[static_cast<size_t>(axis + k)]) +
                                  " but size of corresponding boolean axis is " + std::to_string(mask.shape()[static_cast<size_t>(k)]));
      for (auto& values : places_of(in, mask)) {
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
      axes.back().advanced = true;
      axes.back().values = std::move(places_of(in, Array(node)).at(0));
      axes.back().shape = {static_cast<int64_t>(axes.back().values.size())};
      continue;
    }
    if (!is_integer(node->dtype) && !empty_list) raise("IndexError", "arrays used as indices must be of integer (or boolean) type");
    AxisIndex a;
    a.advanced = true;
    a.shape = node->shape;
    const int64_t extent = array.shape()[static_cast<size_t>(axis)];
    std::string wrong;
    a.values = places_along(in, node, axis, extent, wrong);
    if (!wrong.empty() && node->rank() == 0) raise("IndexError", wrong);
    if (out_of_bounds.empty()) out_of_bounds = wrong;
    axes.push_back(std::move(a));
  }
  for (const AxisIndex& a : axes)
    if (a.advanced) shapes.push_back(a.shape);
  try {
    common = graph::broadcast_shapes(shapes);
  } catch (const Error&) {
    std::string text = "shape mismatch: indexing arrays could not be broadcast together with shapes";
    for (const Shape& s : shapes) text += " " + graph::to_string(s);
    raise("IndexError", text);
  }
  if (!out_of_bounds.empty() && graph::size_of(common) > 0) raise("IndexError", out_of_bounds);
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
  if (layout.size() == 1 && whole == 1 && axes[0].shape == common) {  // rows
    for_each_place(in, axes[0].values, [&](size_t i) { axes[0].values[i] *= result.run; });
    result.positions = std::move(axes[0].values);
    result.shape = std::move(common);
    result.shape.insert(result.shape.end(), array.shape().begin() + 1, array.shape().end());
    return result;
  }
  const BudgetAllocator<int64_t> memory(in.engine());
  // The first index of the common shape becomes the positions; the others are added.
  BudgetVector<int64_t> block_positions(memory);
  const auto whole_block = std::find_if(axes.begin(), axes.end(), [&](const AxisIndex& a) { return a.advanced && a.shape == common; });
  if (whole_block != axes.end()) {
    block_positions = std::move(whole_block->values);
    const int64_t stride = strides[static_cast<size_t>(whole_block - axes.begin())];
    for_each_place(in, block_positions, [&](size_t i) { block_positions[i] *= stride; });
  } else {
    block_positions.resize(static_cast<size_t>(graph::size_of(common)), 0);
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    if (!axes[k].advanced || axes.begin() + static_cast<std::ptrdiff_t>(k) == whole_block) continue;
    const Shape& s = axes[k].shape;
    const std::vector<int64_t> own = graph::contiguous_strides(s);
    const std::vector<int64_t> all = graph::contiguous_strides(common);
    if (s == common) {
      for_each_place(in, block_positions, [&](size_t i) { block_positions[i] += axes[k].values[i] * strides[k]; });
      continue;
    }
    for_each_place(in, block_positions, [&](size_t i) {
      int64_t at = 0;
      for (size_t d = 0; d < s.size(); ++d) {
        const size_t c = d + common.size() - s.size();
        if (s[d] != 1) at += (static_cast<int64_t>(i) / all[c]) % common[c] * own[d];
      }
      block_positions[i] += axes[k].values[static_cast<size_t>(at)] * strides[k];
    });
  }
  BudgetVector<int64_t> positions(1, 0, memory);
  for (int which : layout) {
    BudgetVector<int64_t> offsets(memory);
    if (which == -2) {
      result.shape.push_back(1);
      continue;
    }
    if (which == -1) {
      offsets = std::move(block_positions);
      result.shape.insert(result.shape.end(), common.begin(), common.end());
    } else {
      const SliceObject::Range& r = axes[static_cast<size_t>(which)].range;
      for (int64_t i = 0; i < r.count; ++i) offsets.push_back((r.start + i * r.step) * strides[static_cast<size_t>(which)]);
      result.shape.push_back(r.count);
    }
    if (positions.size() == 1 && positions[0] == 0) {
      positions = std::move(offsets);
      continue;
    }
    BudgetVector<int64_t> next(positions.size() * offsets.size(), memory);
    for_each_place(in, next, [&](size_t i) { next[i] = positions[i / offsets.size()] + offsets[i % offsets.size()]; });
    positions = std::move(next);
  }
  result.positions = std::move(positions);
  result.shape.insert(result.shape.end(), array.shape().begin() + whole, array.shape().end());
  return result;
}

Value elements_at(Interpreter& in, const Array& array, const std::vector<Value>& items) {
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
      in, count, run, [&](int64_t i) { return to + i * run; },
      [&](int64_t i) { return from.data + g.positions[static_cast<size_t>(i)] * width; });
  return wrap_array(graph::buffer(storage, array.dtype(), g.shape, graph::contiguous_strides(g.shape), 0));
}

}  // namespace gasell::numpy
