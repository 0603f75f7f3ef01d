// x[indices] and x[indices] = … where arrays are among the indices: masks, index arrays, both beside slices and integers.
#include "compiler/functions/library.h"
#include "compiler/functions/lowering.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

/// Whether indices are one boolean array of the array's rank.
bool is_mask(const Value& array, const std::vector<Value>& indices) {
  return indices.size() == 1 && indices[0].type.is_array() && indices[0].type.dtype == DType::boolean &&
         indices[0].type.rank == array.type.rank;
}

Value whole_axis() {
  Value v;
  v.type = Type{.kind = Kind::slice, .items = {Type{}, Type{}, Type{}}};
  v.items = {none_value(), none_value(), none_value()};
  return v;
}

}  // namespace

void Lowering::check_mask(const Value& array, const Value& mask, size_t first_axis, Span at) {
  for (size_t axis = 0; axis < mask.extents().size(); ++axis)
    raise_if(both(ScalarOp::ne, mask.extents()[axis], array.extents()[first_axis + axis]), "IndexError",
             "boolean index did not match indexed array along axis " + std::to_string(first_axis + axis) +
                 "; size of axis is {0} but size of corresponding boolean axis is {1}",
             at, {array.extents()[first_axis + axis], mask.extents()[axis]});
}

/// As NumPy has it: index arrays are broadcast, integers among them; the axes of their shape stand where the indices stood, or in front
/// where slices separate them.
Lowering::Places Lowering::places_of(const Value& array, const std::vector<Value>& given, Span at) {
  // Every axis gets an index; masks become the places that they hold.
  size_t used = 0;
  for (const Value& v : given)
    if (v.type.kind != Kind::ellipsis && !v.type.is_none())
      used += v.type.is_array() && v.type.dtype == DType::boolean ? static_cast<size_t>(v.type.rank) : 1;
  const auto rank = static_cast<size_t>(array.type.rank);
  if (used > rank) fail_as("IndexError", at, "too many indices: " + describe(array.type) + " is indexed with " + std::to_string(used));
  std::vector<Value> indices;
  size_t axis = 0;
  bool filled = false;
  for (const Value& v : given) {
    if (v.type.kind == Kind::ellipsis) {
      for (size_t k = used; k < rank; ++k, ++axis) indices.push_back(whole_axis());
      filled = true;
    } else if (v.type.is_array() && v.type.dtype == DType::boolean) {
      const Value mask = materialise(v, at);
      check_mask(array, mask, axis, at);
      const Value found = library_function("numpy.nonzero")(*this, {at, "numpy.nonzero", {mask}, {}});
      indices.insert(indices.end(), found.items.begin(), found.items.end());
      axis += static_cast<size_t>(v.type.rank);
    } else {
      if (v.type.is_array() && !is_integer(v.type.dtype))
        fail(at, "an index array has integers or booleans, and this is " + describe(v.type));
      indices.push_back(v.type.is_array() ? materialise(v, at) : v);
      axis += !v.type.is_none();
    }
  }
  if (!filled)
    for (size_t k = used; k < rank; ++k) indices.push_back(whole_axis());
  // The slices first; the other axes stay whole.
  const auto chooses = [](const Value& v) { return v.type.kind != Kind::slice && !v.type.is_none(); };
  std::vector<Value> slices = indices;
  for (Value& v : slices)
    if (chooses(v)) v = whole_axis();
  Places p;
  p.rest = view(array, slices, at);
  const auto first = std::find_if(indices.begin(), indices.end(), chooses);
  const auto last = std::find_if(indices.rbegin(), indices.rend(), chooses).base();
  const bool together = std::all_of(first, last, chooses);
  const size_t place = together ? static_cast<size_t>(first - indices.begin()) : 0;
  // The shape of the index arrays together.
  size_t inner = 0;
  for (const Value& v : indices)
    if (v.type.is_array()) inner = std::max(inner, v.extents().size());
  std::vector<ExprRef> chosen(inner, constant_i64(1));
  for (const Value& v : indices) {
    if (!v.type.is_array()) continue;
    for (size_t k = 0; k < v.extents().size(); ++k) {
      ExprRef& extent = chosen[k + inner - v.extents().size()];
      const ExprRef &own = v.extents()[k], one = constant_i64(1);
      if (same(extent, own) || is_one(own)) continue;
      if (!is_one(extent)) {
        raise_if(both(ScalarOp::logical_and, both(ScalarOp::ne, extent, own),
                      both(ScalarOp::logical_and, both(ScalarOp::ne, extent, one), both(ScalarOp::ne, own, one))),
                 "IndexError", "shape mismatch: indexing arrays could not be broadcast together: an axis has {0} and {1} elements", at,
                 {extent, own});
        extent = code().bind(select(both(ScalarOp::eq, extent, one), own, extent), "extent");
      } else {
        extent = own;
      }
    }
  }
  for (size_t k = 0, kept = 0; k <= indices.size(); ++k) {
    if (kept == place && p.extents.size() == place) p.extents.insert(p.extents.end(), chosen.begin(), chosen.end());
    if (k == indices.size()) break;
    if (chooses(indices[k])) continue;
    p.extents.push_back(p.rest.array->extents[k]);
    ++kept;
  }
  p.index = [this, indices, chosen, inner, place, chooses, at, rest = p.rest](const std::vector<ExprRef>& index) {
    std::vector<ExprRef> full;
    size_t next = 0;  // of the axes of slices
    for (size_t k = 0, axis = 0; k < indices.size(); ++k) {
      const Value& v = indices[k];
      if (!chooses(v)) {
        full.push_back(index[next < place ? next : next + inner]);
        ++next;
      } else if (v.type.is_array()) {
        std::vector<ExprRef> own;
        const size_t skipped = inner - v.extents().size();
        for (size_t j = 0; j < v.extents().size(); ++j)
          own.push_back(same(v.extents()[j], chosen[j + skipped])
                            ? index[place + j + skipped]
                            : select(both(ScalarOp::eq, v.extents()[j], constant_i64(1)), constant_i64(0), index[place + j + skipped]));
        full.push_back(checked_index(element(v, own), rest.array->extents[k], at, static_cast<int>(axis)));
      } else {
        full.push_back(checked_index(index_number(v, "an index"), rest.array->extents[k], at, static_cast<int>(axis)));
      }
      axis += !v.type.is_none();
    }
    return full;
  };
  return p;
}

Value Lowering::fancy(const Value& array, const std::vector<Value>& indices, Span at) {
  const DType dtype = array.type.dtype;
  if (is_mask(array, indices)) {
    const Value mask = materialise(indices[0], at);
    check_mask(array, mask, 0, at);
    const std::string count = code().fresh("kept"), next = code().fresh("next");
    code().emit(ir::var(count, constant_i64(0)));
    const ExprRef n = ir::variable(count, DType::i64), k = ir::variable(next, DType::i64);
    for_each(mask.array->extents, false,
             [&](const std::vector<ExprRef>& index) { code().emit(ir::assign(count, n + ir::cast(element(mask, index), DType::i64))); });
    const Value result = allocate(dtype, {code().snapshot(count, DType::i64, "count")}, at);
    code().emit(ir::var(next, constant_i64(0)));
    for_each(mask.array->extents, false, [&](const std::vector<ExprRef>& index) {
      const ExprRef keep = element(mask, index);
      code().open();
      store_element(*result.array, dtype, {k}, element(array, index));
      code().emit(ir::assign(next, k + constant_i64(1)));
      ir::Body body = code().close();
      code().emit(ir::if_(keep, std::move(body), {}));
    });
    return result;
  }
  const Places p = places_of(array, indices, at);
  // Stored at once: its checks stand in loops that are not vectors.
  const Value result = allocate(dtype, p.extents, at);
  for_each(result.array->extents, false,
           [&](const std::vector<ExprRef>& index) { store_element(*result.array, dtype, index, element(p.rest, p.index(index))); });
  return result;
}

void Lowering::store_fancy(const Value& array, const std::vector<Value>& indices, const Value& value, Span at) {
  if (array.type.read_only) fail(at, "the array is read-only: it comes from outside of the function, or was given read-only");
  const DType dtype = array.type.dtype;
  if (is_mask(array, indices)) {
    const Value mask = materialise(indices[0], at);
    check_mask(array, mask, 0, at);
    const bool one = !value.type.is_array();
    const Value values = one ? value : materialise(value, at);
    if (!one && values.type.rank != 1) fail(at, "what is assigned to masked elements is a number or a 1-d array");
    const std::string next = code().fresh("next");
    const ExprRef number = one ? code().bind(ir::cast(scalar(value, "an element"), dtype)) : nullptr, k = ir::variable(next, DType::i64);
    code().emit(ir::var(next, constant_i64(0)));
    for_each(array.array->extents, false, [&](const std::vector<ExprRef>& index) {
      const ExprRef keep = element(mask, index);
      code().open();
      if (one) {
        store_element(*array.array, dtype, index, number);
      } else {
        raise_if(both(ScalarOp::ge, k, values.array->extents[0]), "ValueError",
                 "NumPy boolean array indexing assignment cannot assign {0} input values: there are more places", at,
                 {values.array->extents[0]});
        store_element(*array.array, dtype, index, element(values, {k}));
        code().emit(ir::assign(next, k + constant_i64(1)));
      }
      ir::Body body = code().close();
      code().emit(ir::if_(keep, std::move(body), {}));
    });
    return;
  }
  const Places p = places_of(array, indices, at);
  if (!value.type.is_array()) {
    const ExprRef number = code().bind(ir::cast(scalar(value, "an element"), dtype));
    for_each(p.extents, false, [&](const std::vector<ExprRef>& index) { store_element(*p.rest.array, dtype, p.index(index), number); });
    return;
  }
  Value values = materialise(value, at);
  if (may_overlap(*values.array, *array.array)) values = library_function("numpy.copy")(*this, {at, "numpy.copy", {values}, {}});
  if (values.extents().size() > p.extents.size())
    fail(at, "cannot assign " + describe(values.type) + " to " + std::to_string(p.extents.size()) + "-d places");
  // The value is broadcast to the places.
  const size_t skipped = p.extents.size() - values.extents().size();
  for (size_t k = 0; k < values.extents().size(); ++k) {
    const ExprRef &own = values.extents()[k], &wanted = p.extents[k + skipped];
    if (!same(own, wanted))
      raise_if(both(ScalarOp::logical_and, both(ScalarOp::ne, own, wanted), both(ScalarOp::ne, own, constant_i64(1))), "ValueError",
               "could not broadcast: an axis of the value has {0} elements, that of the places {1}", at, {own, wanted});
  }
  for_each(p.extents, false, [&](const std::vector<ExprRef>& index) {
    std::vector<ExprRef> own;
    for (size_t k = 0; k < values.extents().size(); ++k)
      own.push_back(same(values.extents()[k], p.extents[k + skipped])
                        ? index[k + skipped]
                        : select(both(ScalarOp::eq, values.extents()[k], constant_i64(1)), constant_i64(0), index[k + skipped]));
    store_element(*p.rest.array, dtype, p.index(index), element(values, own));
  });
}

}  // namespace gasell::functions
