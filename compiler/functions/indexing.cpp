// x[i], x[a:b, ...], x[mask], x[indices]: reading and writing.
#include "compiler/functions/lowering.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

ExprRef Lowering::checked_index(ExprRef index, ExprRef extent, Span at, int axis) {
  index = ir::cast(index, DType::i64);
  const std::string name = code().fresh("at");
  if (!program_.options.bounds_check) {
    if (is_constant(index)) return index->value.i < 0 ? code().bind(extent + index, "at") : index;
    index = code().bind(index, "i");
    const ExprRef place = code().bind(select(both(ScalarOp::lt, index, constant_i64(0)), index + extent, index), "at");
    if (place->kind == ir::ExprKind::variable) code().define(place->name, index);
    return place;
  }
  code().define(name, index);
  code().emit(ir::check(name, std::move(index), std::move(extent),
                        site("IndexError", "index {0} is out of bounds for axis " + std::to_string(axis) + " with size {1}", at)));
  return ir::variable(name, DType::i64);
}

std::vector<Value> Lowering::index_items(const ast::ExprRef& index) {
  std::vector<Value> items;
  if (const auto* tuple = std::get_if<ast::Tuple>(&index->node))
    for (const ast::ExprRef& item : tuple->items) items.push_back(expression(item));
  else
    items.push_back(expression(index));
  std::vector<Value> flat;
  for (Value& v : items) {
    if (v.type.is_tuple())
      flat.insert(flat.end(), v.items.begin(), v.items.end());
    else
      flat.push_back(v);
  }
  for (Value& v : flat)
    if (v.type.is_list()) v = array_of_list(v, {}, v.span);
  for (Value& v : flat)
    if (v.type.is_array() && v.type.rank == 0) v = scalar_value(element(v, {}));
  return flat;
}

bool Lowering::is_fancy(const std::vector<Value>& indices) {
  return std::any_of(indices.begin(), indices.end(), [](const Value& v) { return v.type.is_array(); });
}

/// The elements of a slice: first, count, step.
std::tuple<ExprRef, ExprRef, ExprRef> slice_range(Lowering& l, const Value& slice, const ExprRef& extent, Span at) {
  const ExprRef zero = constant_i64(0);
  const Value &lower = slice.items[0], &upper = slice.items[1], &step = slice.items[2];
  const ExprRef by = step.type.is_none() ? constant_i64(1) : l.code().bind(l.index_number(step, "a slice"), "step");
  const bool known = is_constant(by);
  if (known && by->value.i == 0) l.fail_as("ValueError", at, "slice step cannot be zero");
  if (!known) l.raise_if(both(ScalarOp::eq, by, zero), "ValueError", "slice step cannot be zero", at);
  // Python's slice.indices: both ends counted from the end where negative, then clipped to what the direction allows.
  const ExprRef backward = known ? ir::constant(Scalar::of_bool(by->value.i < 0)) : both(ScalarOp::lt, by, zero);
  auto choose = [&](ExprRef yes, ExprRef no) { return known ? (by->value.i < 0 ? yes : no) : select(backward, yes, no); };
  const ExprRef lowest = choose(constant_i64(-1), zero), highest = choose(extent - constant_i64(1), extent);
  auto end = [&](const Value& v, const ExprRef& left_out) {
    if (v.type.is_none()) return left_out;
    ExprRef e = l.code().bind(l.index_number(v, "a slice"), "bound");
    if (is_constant(e))
      e = e->value.i < 0 ? extent + e : e;
    else
      e = select(both(ScalarOp::lt, e, zero), e + extent, e);
    return l.code().bind(both(ScalarOp::max, lowest, both(ScalarOp::min, highest, e)), "bound");
  };
  const ExprRef first = l.code().bind(end(lower, choose(highest, lowest)), "first"),
                last = l.code().bind(end(upper, choose(lowest, highest)), "last");
  ExprRef count;
  if (known && by->value.i == 1)
    count = last - first;
  else
    count = choose((first - last - by - constant_i64(1)) / (constant_i64(0) - by), (last - first + by - constant_i64(1)) / by);
  if (!(is_constant(first) && first->value.i == 0 && last == extent && known && by->value.i == 1)) count = both(ScalarOp::max, count, zero);
  return {first, l.code().bind(count, "count"), by};
}

Value Lowering::view(const Value& v, const std::vector<Value>& indices, Span at) {
  const ArrayValue& a = *v.array;
  int used = 0;
  for (const Value& i : indices) used += i.type.kind != Kind::ellipsis && !i.type.is_none();
  const int rank = v.type.rank;
  if (used > rank) fail_as("IndexError", at, "too many indices: " + describe(v.type) + " is indexed with " + std::to_string(used));
  ArrayValue r;
  r.memory = a.memory;
  r.root = a.root;
  ExprRef offset = a.offset;
  size_t axis = 0;
  bool contiguous = v.type.layout == Layout::c, whole_so_far = true;
  // Views of views know their root's axes as long as each step was one of whole axes and single indices.
  bool traced = a.axes.size() == a.extents.size();
  r.fixed = a.fixed;
  auto keep = [&] {
    r.extents.push_back(a.extents[axis]);
    r.strides.push_back(a.strides[axis]);
    if (traced) r.axes.push_back(a.axes[axis]);
    ++axis;
    whole_so_far = false;
  };
  for (const Value& i : indices) {
    switch (i.type.kind) {
      case Kind::ellipsis:
        for (int k = 0; k < rank - used; ++k) keep();
        break;
      case Kind::none:
        r.extents.push_back(constant_i64(1));
        r.strides.push_back(constant_i64(0));
        r.axes.push_back(ArrayValue::kPart);
        contiguous = false;
        break;
      case Kind::slice: {
        const bool everything = std::all_of(i.items.begin(), i.items.end(), [](const Value& x) { return x.type.is_none(); });
        if (everything) {
          keep();
          break;
        }
        auto [first, count, step] = slice_range(*this, i, a.extents[axis], at);
        offset = offset + first * a.strides[axis];
        r.extents.push_back(count);
        r.strides.push_back(code().bind(a.strides[axis] * step, "stride"));
        // Rows next to each other stay contiguous; so does a part of the last axis alone.
        contiguous = contiguous && whole_so_far && is_constant(step) && step->value.i == 1;
        whole_so_far = false;
        r.axes.push_back(ArrayValue::kPart);
        ++axis;
        break;
      }
      default: {
        const ExprRef k = checked_index(index_number(i, "an index"), a.extents[axis], i.span.end ? i.span : at, static_cast<int>(axis));
        offset = offset + k * a.strides[axis];
        if (traced && a.axes[axis] >= 0) r.fixed[static_cast<size_t>(a.axes[axis])] = k;
        contiguous = contiguous && whole_so_far;
        ++axis;
      }
    }
  }
  while (axis < static_cast<size_t>(rank)) keep();
  r.offset = code().bind(offset, "offset");
  if (!traced) r.axes.clear(), r.fixed.clear();
  return array_value(v.type.dtype, contiguous ? Layout::c : Layout::any, std::move(r), v.type.read_only);
}

Value Lowering::item_of(const Value& v, const ExprRef& k, Span) {
  ArrayValue r = *v.array;
  r.offset = code().bind(r.offset + k * r.strides[0], "offset");
  r.extents.erase(r.extents.begin());
  r.strides.erase(r.strides.begin());
  if (!r.axes.empty()) {
    if (r.axes[0] >= 0) r.fixed[static_cast<size_t>(r.axes[0])] = k;
    r.axes.erase(r.axes.begin());
  }
  const Value item = array_value(v.type.dtype, v.type.layout, std::move(r), v.type.read_only);
  return item.type.rank ? item : scalar_value(element(item, {}));
}

Value Lowering::tuple_item(const Value& tuple, const ExprRef& index, Span at) {
  const auto n = static_cast<int64_t>(tuple.items.size());
  if (is_constant(index)) {
    const int64_t k = index->value.i < 0 ? index->value.i + n : index->value.i;
    if (k < 0 || k >= n) fail_as("IndexError", at, "tuple index out of range: the tuple has " + std::to_string(n) + " items");
    return tuple.items[static_cast<size_t>(k)];
  }
  if (n == 0) fail_as("IndexError", at, "tuple index out of range: the tuple has no items");
  for (const Value& item : tuple.items)
    if (item.type != tuple.items[0].type)
      fail(at, "an index into " + describe(tuple.type) + " must be a constant, because its items are of several types");
  // Of numbers, and of tuples of numbers: chosen one by one.
  std::function<Value(const std::vector<Value>&)> choose_among = [&](const std::vector<Value>& items) -> Value {
    if (items[0].type.is_tuple()) {
      std::vector<Value> parts;
      for (size_t part = 0; part < items[0].items.size(); ++part) {
        std::vector<Value> column;
        for (const Value& item : items) column.push_back(item.items[part]);
        parts.push_back(choose_among(column));
      }
      return tuple_value(std::move(parts));
    }
    if (!items[0].type.is_scalar())
      fail(at, "an index into " + describe(tuple.type) + " must be a constant: only numbers can be chosen when it runs");
    ExprRef result = items[0].scalar;
    for (size_t k = 1; k < items.size(); ++k)
      result = select(both(ScalarOp::eq, index, constant_i64(static_cast<int64_t>(k))), items[k].scalar, result);
    return scalar_value(code().bind(result));
  };
  return choose_among(tuple.items);
}

Value Lowering::subscript(const Value& given, const ast::ExprRef& index, Span at) {
  const Value base = there(given, at);
  if (base.type.is_tuple()) {
    const Value i = expression(index);
    if (i.type.kind == Kind::slice) {
      std::optional<int64_t> parts[3];
      for (size_t k = 0; k < 3; ++k) {
        if (i.items[k].type.is_none()) continue;
        if (!i.items[k].is_constant()) fail(at, "a slice of a tuple needs constant bounds");
        parts[k] = i.items[k].scalar->value.i;
      }
      const auto n = static_cast<int64_t>(base.items.size());
      const int64_t step = parts[2].value_or(1);
      if (step == 0) fail_as("ValueError", at, "slice step cannot be zero");
      auto clip = [&](std::optional<int64_t> p, int64_t left_out) {
        if (!p) return left_out;
        const int64_t k = *p < 0 ? *p + n : *p;
        return step > 0 ? std::clamp<int64_t>(k, 0, n) : std::clamp<int64_t>(k, -1, n - 1);
      };
      std::vector<Value> items;
      const int64_t stop = clip(parts[1], step > 0 ? n : -1);
      for (int64_t k = clip(parts[0], step > 0 ? 0 : n - 1); step > 0 ? k < stop : k > stop; k += step)
        items.push_back(base.items[static_cast<size_t>(k)]);
      return tuple_value(std::move(items));
    }
    ExprRef k = index_number(i, "an index");
    if (!is_constant(k)) k = checked_index(k, constant_i64(static_cast<int64_t>(base.items.size())), at, 0);
    return tuple_item(base, k, at);
  }
  if (base.type.is_list()) {
    const Value i = expression(index);
    if (i.type.kind == Kind::slice) return list_slice(base, i, at);
    item_type(base, at);
    return list_item(base, list_place(base, index_number(i, "an index"), at), at);
  }
  if (base.type.is_table() && base.type.text == "dict") {
    item_type(base, at);
    return table_part(base, table_place(base, expression(index), at), 1, at);
  }
  if (base.type.kind == Kind::range) {
    const ExprRef n = range_count(*this, base, at);
    const std::string place = code().fresh("at");
    code().emit(
        ir::check(place, index_number(expression(index), "an index"), n, site("IndexError", "range object index out of range", at)));
    return item_at(base, ir::variable(place, DType::i64), at);
  }
  if (base.type.kind == Kind::iterator && base.type.text == "numpy.flat")
    return subscript(library_method("ravel")(*this, {at, "ravel", {base.items[0]}, {}}), index, at);
  if (base.type.kind == Kind::function) return typed_subscript(base, index, at);
  if (!base.type.is_array()) fail(at, describe(base.type) + " has no items: it cannot be indexed");
  const std::vector<Value> indices = index_items(index);
  const Value array = materialise(base, at);
  here_ = at;
  if (is_fancy(indices)) return fancy(array, indices, at);
  const Value result = view(array, indices, at);
  const bool basic = std::none_of(indices.begin(), indices.end(), [](const Value& v) { return v.type.kind == Kind::ellipsis; });
  return result.type.rank == 0 && basic ? scalar_value(element(result, {})) : result;
}

Value Lowering::place_of(const Value& array, const std::vector<Value>& indices, Span at) { return view(array, indices, at); }

void Lowering::store_subscript(const Value& given, const ast::ExprRef& index, const Value& value, Span at) {
  const Value base = there(given, at);
  if (base.type.kind == Kind::iterator && base.type.text == "numpy.flat" && base.items[0].type.layout == Layout::c)
    return store_subscript(library_method("ravel")(*this, {at, "ravel", {base.items[0]}, {}}), index, value, at);
  if (base.type.is_list()) {
    const Value i = expression(index);
    if (i.type.kind == Kind::slice) {
      if (!i.items[2].type.is_none()) unsupported(at, "assignment to a slice of a list with a step", "assign items one by one");
      CallSite site{at, "list", {base, i.items[0], i.items[1], value}, {}};
      library_function("list.put_slice")(*this, site);
      return;
    }
    list_set(base, list_place(base, index_number(i, "an index"), at), value, at);
    return;
  }
  if (base.type.is_table() && base.type.text == "dict") {
    table_put(base, {expression(index), value}, at);
    return;
  }
  if (!base.type.is_array())
    fail(at, base.type.is_tuple() ? "a tuple cannot be changed" : describe(base.type) + " has no items that could be assigned");
  if (base.lazy) fail(at, "the result of an expression cannot be assigned to");
  const std::vector<Value> indices = index_items(index);
  here_ = at;
  if (is_fancy(indices))
    store_fancy(base, indices, value, at);
  else
    assign_elements(view(base, indices, at), value, at);
}

}  // namespace gasell::functions
