#include "stdlib/numpy/memory_order.h"

#include <algorithm>
#include <numeric>

#include "lang/diagnostic.h"
#include "runtime/session/list_sequence.h"
#include "stdlib/numpy/chunks.h"
#include "stdlib/numpy/methods.h"

namespace gasell::numpy {
namespace {

/// Strides of an operand along the axes of the result; 0: along this one it stays where it is.
using Strides = std::vector<int64_t>;

Strides broadcast_strides(const Array& a, int rank) {
  Strides strides(static_cast<size_t>(rank), 0);
  const Strides own = a.strides();
  const size_t extra = strides.size() - own.size();
  for (size_t k = 0; k < own.size(); ++k) strides[extra + k] = a.shape()[k] == 1 ? 0 : own[k];
  return strides;
}

bool is_c_order(const AxisOrder& order) { return std::is_sorted(order.begin(), order.end()); }

/// Axes are sorted into the order of memory, from the quickest, one after the other: each goes before those along which some operand moves
/// faster, unless another operand says otherwise; where nobody says anything, C order stays.
AxisOrder sorted_axes(const std::vector<Strides>& operands, int rank) {
  AxisOrder quickest;
  for (int axis = rank; axis-- > 0;) {
    size_t place = quickest.size();
    for (size_t k = quickest.size(); k-- > 0;) {
      bool known = false, before = false;
      for (const Strides& strides : operands) {
        const int64_t mine = std::abs(strides[static_cast<size_t>(axis)]), other = std::abs(strides[static_cast<size_t>(quickest[k])]);
        if (mine == 0 || other == 0) continue;
        if (other <= mine)
          before = false;
        else if (!known)
          before = true;
        known = true;
      }
      if (!known) continue;
      if (!before) break;
      place = k;
    }
    quickest.insert(quickest.begin() + static_cast<std::ptrdiff_t>(place), axis);
  }
  std::reverse(quickest.begin(), quickest.end());
  return is_c_order(quickest) ? AxisOrder{} : quickest;
}

/// An array that is no view and was not asked to be otherwise lies in C order.
bool may_be_turned(const Value& v) {
  const auto* a = v.as<NdArray>();
  return a && a->array.rank() > 1 && !is_contiguous(a->array, false);
}

}  // namespace

bool is_contiguous(const Array& a, bool fortran) {
  const Shape& shape = a.shape();
  if (a.size() == 0) return true;
  const Strides strides = a.strides();
  int64_t next = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t k = fortran ? i : shape.size() - 1 - i;
    if (shape[k] == 1) continue;
    if (strides[k] != next) return false;
    next *= shape[k];
  }
  return true;
}

AxisOrder kept_order(std::span<const Value> operands, int rank) {
  if (rank < 2 || !std::ranges::any_of(operands, may_be_turned)) return {};
  std::vector<Strides> strides;
  for (const Value& v : operands) {
    if (const auto* a = v.as<NdArray>())
      strides.push_back(broadcast_strides(a->array, rank));
    else if (const auto* list = v.as<List>(); list && !list->items.empty() && (list->items[0].as<List>() || list->items[0].as<Tuple>()))
      return {};  // becomes an array in C order, which decides where others disagree
  }
  return sorted_axes(strides, rank);
}
AxisOrder kept_order(const Array& a) {
  return a.rank() < 2 || is_contiguous(a, false) ? AxisOrder{} : sorted_axes({broadcast_strides(a, a.rank())}, a.rank());
}

AxisOrder reversed_axes(int rank) {
  AxisOrder order(static_cast<size_t>(rank));
  std::iota(order.rbegin(), order.rend(), 0);
  return rank < 2 ? AxisOrder{} : order;
}

bool lies_in_fortran_order(const Value& v) {
  const auto* a = v.as<NdArray>();
  return !a || (is_contiguous(a->array, true) && !(a->array.rank() > 1 && is_contiguous(a->array, false)));
}

char order_letter(Interpreter& in, const Value& order, char otherwise) {
  if (order.is_none() || is_missing(order)) return otherwise;
  if (!order.as<Str>()) raise("TypeError", "order must be str, not " + type_of(order).name);
  const std::string name = str(in, order);
  const char letter = name.size() == 1 ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[0]))) : '?';
  if (std::string_view("CFAK").find(letter) == std::string_view::npos)
    raise("ValueError", "order must be one of 'C', 'F', 'A', or 'K' (got '" + name + "')");
  return letter;
}

AxisOrder to_axis_order(Interpreter& in, const Value& order, int rank, const Array* like, char otherwise) {
  const char letter = order_letter(in, order, otherwise);
  if (!like && (letter == 'A' || letter == 'K')) raise("ValueError", "only 'C' or 'F' order is permitted");
  if (letter == 'K') return kept_order(*like);
  const bool fortran = letter == 'F' || (letter == 'A' && is_contiguous(*like, true) && !is_contiguous(*like, false));
  return fortran ? reversed_axes(rank) : AxisOrder{};
}

Array ordered(NodeRef node, AxisOrder order) {
  if (order.empty()) {
    // A value that lies in memory already may do so in another order.
    const auto* buffer = node->as<graph::BufferNode>();
    if (!buffer || buffer->strides == graph::contiguous_strides(node->shape)) return Array(std::move(node));
    order.resize(static_cast<size_t>(node->rank()));
    std::iota(order.begin(), order.end(), 0);
  }
  return Array::in_order(std::move(node), std::move(order));
}
Value wrap_ordered(NodeRef node, AxisOrder order) {
  if (order.empty() && !node->as<graph::BufferNode>()) return wrap(std::move(node));
  return node->shape.empty() ? wrap(std::move(node)) : Value::make<NdArray>(ordered(std::move(node), std::move(order)));
}
Value wrap_kept(NodeRef node, std::span<const Value> operands) {
  AxisOrder order = kept_order(operands, node->rank());
  Value result = order.empty() ? wrap(std::move(node)) : Value::make<NdArray>(Array::in_order(std::move(node), std::move(order)));
  return with_common_chunks(std::move(result), operands);
}

}  // namespace gasell::numpy
