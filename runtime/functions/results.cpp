#include "runtime/functions/results.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include "compiler/functions/slots.h"
#include "runtime/functions/context.h"
#include "runtime/functions/views.h"

namespace gasell::functions {
namespace {

bool same_strides(const ElementLayout& layout, const Array::Memory& memory) {
  for (size_t k = 0; k < layout.extents.size(); ++k)
    if (layout.extents[k] > 1 && layout.strides[k] != memory.strides[k]) return false;
  return true;
}

Error no_view() {
  return Error("NotImplementedError",
               "a compiled function returned an array whose elements lie in a way that no view of the array it came from has",
               "return a copy: x.copy()", Blame::limitation);
}

/// The shape of a contiguous array of up to `count` elements that has axes with the layout's strides: of (2, 3) with strides (1, 2),
/// (count / 2, 2).
graph::Shape shape_for(const ElementLayout& layout, int64_t count) {
  std::vector<int64_t> strides;
  for (size_t k = 0; k < layout.extents.size(); ++k)
    if (layout.extents[k] > 1 && layout.strides[k] != 0) strides.push_back(std::abs(layout.strides[k]));
  std::sort(strides.begin(), strides.end(), std::greater<>());
  graph::Shape shape;
  int64_t around = count;
  for (const int64_t stride : strides) {
    if (!shape.empty() && around % stride != 0) return {count};
    if (around / stride > 0) shape.push_back(around / stride);
    around = stride;
  }
  if (around > 1 || shape.empty()) shape.push_back(around);
  return shape;
}

constexpr size_t kFewBases = 8;

}  // namespace

Results::Results(const FunctionContext& context, std::span<const Base> bases, const GivenMemory& given)
    : context_(context), bases_(bases), given_(given) {
  if (bases_.size() <= kFewBases) return;
  for (size_t k = 0; k < bases_.size(); ++k) bases_at_.emplace(bases_[k].memory->data, k);
}

Returned Results::take(const Type& type, const int64_t*& slot) {
  slot_ = slot;
  Returned r;
  r.type = &type;
  switch (type.kind) {
    case Type::Kind::scalar: r.scalar = scalar(type.dtype); break;
    case Type::Kind::array: array(r); break;
    case Type::Kind::tuple:
      for (const Type& item : type.items) r.items.push_back(take(item, slot_));
      break;
    case Type::Kind::list:
    case Type::Kind::table: object(r); break;
    case Type::Kind::generator: r.object = given_.number_of(reinterpret_cast<const void*>(*slot_++)); break;
    case Type::Kind::optional:
      r.there = *slot_++ != 0;
      if (r.there)
        r.items.push_back(take(type.items[0], slot_));
      else
        skip(type.items[0]);
      break;
    default: break;  // None, texts and functions are their types
  }
  slot = slot_;
  return r;
}

Scalar Results::scalar(DType dtype) {
  if (kind(dtype) == 'b' || is_integer(dtype)) return Scalar::of_int(*slot_++).cast(dtype);
  const double re = std::bit_cast<double>(*slot_++);
  return is_complex(dtype) ? Scalar::of_complex({re, std::bit_cast<double>(*slot_++)}, dtype) : Scalar::of_float(re, dtype);
}

void Results::skip(const Type& type) { slot_ += slots_of(type); }

void Results::object(Returned& r) {
  const auto* header = reinterpret_cast<const ListHeader*>(*slot_++);
  r.object = given_.number_of(header);
  if (r.object >= 0 || header->length == 0) return;
  const int64_t* const after = slot_;
  for (int64_t k = 0; k < header->length; ++k) {
    const int64_t* item = header->data + k * header->slots;
    if (r.type->is_table() && *item++ == 0) continue;  // it was removed
    r.items.push_back(take(r.type->items.at(0), item));
  }
  slot_ = after;
}

void Results::array(Returned& r) {
  auto* const address = reinterpret_cast<char*>(*slot_++);
  ElementLayout layout;
  layout.offset = *slot_++;
  layout.extents.assign(slot_, slot_ + r.type->rank);
  layout.strides.assign(slot_ + r.type->rank, slot_ + 2 * r.type->rank);
  slot_ += 2 * r.type->rank;
  const DType dtype = r.type->dtype;
  if (HostStorageRef storage = context_.storage(address)) {
    r.array = std::make_shared<Array>(of_new_memory(address, std::move(storage), dtype, layout));
    return;
  }
  std::optional<Array> view;
  const auto matches = [&](const Base& base) {
    if (base.memory->data != address || base.array->dtype() != dtype) return false;
    if (base.argument >= 0 && layout.offset == 0 && layout.extents == base.array->shape() && same_strides(layout, *base.memory)) {
      r.argument = base.argument;
      r.array = std::make_shared<Array>(*base.array);
      return true;
    }
    if (!view) view = view_of(*base.array, base.memory->strides, layout, r.type->read_only);
    return false;
  };
  if (bases_at_.empty()) {
    if (std::any_of(bases_.begin(), bases_.end(), matches)) return;
  } else {
    const auto [first, last] = bases_at_.equal_range(address);
    if (std::any_of(first, last, [&](const auto& at) { return matches(bases_[at.second]); })) return;
  }
  if (!view && graph::size_of(layout.extents) == 0) view = Array(graph::constant(Scalar::of_int(0).cast(dtype), layout.extents));
  if (!view) throw no_view();
  r.array = std::make_shared<Array>(*std::move(view));
}

/// Results in one allocation are views of one array, as they were inside.
Array Results::of_new_memory(char* address, HostStorageRef storage, DType dtype, const ElementLayout& layout) {
  const int64_t count = storage->bytes() / gasell::size_of(dtype);
  const bool whole = layout.offset == 0 && layout.strides == graph::contiguous_strides(layout.extents);
  if (whole && !fresh_.contains(address))  // as nearly all are: an array like others
    return fresh_.emplace(address, Array(graph::buffer(storage, dtype, layout.extents, layout.strides, 0)))->second;
  const Array* base = nullptr;
  const auto [first, last] = fresh_.equal_range(address);
  for (auto at = first; at != last; ++at)
    if (at->second.dtype() == dtype) base = &at->second;
  if (!base) {
    const graph::Shape shape = shape_for(layout, count);
    base = &fresh_.emplace(address, Array(graph::buffer(storage, dtype, shape, graph::contiguous_strides(shape), 0)))->second;
  }
  std::optional<Array> view = view_of(*base, graph::contiguous_strides(base->shape()), layout);
  if (!view) throw no_view();
  return *std::move(view);
}

}  // namespace gasell::functions
