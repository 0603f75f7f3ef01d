// What can be iterated over in compiled functions: how many items there are, and each by its place.
#include "compiler/functions/lowering.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

/// Whether a step is one that a kernel's threads give, the extent of a block or of the grid, or some of these together.
bool is_positive(Lowering& l, ExprRef step) {
  while (step->kind == ir::ExprKind::cast) step = step->args[0];
  if (step->kind == ir::ExprKind::constant) return step->type == DType::i64 && step->value.i > 0;
  if (step->kind == ir::ExprKind::op && step->op == ScalarOp::mul && step->type == DType::i64)
    return is_positive(l, step->args[0]) && is_positive(l, step->args[1]);
  return step->kind == ir::ExprKind::variable && l.program().positive.count(step->name) > 0;
}

Value range_value(Lowering& l, const std::vector<Value>& args, Span at) {
  if (args.empty() || args.size() > 3) l.fail(at, "range takes 1 to 3 numbers: range(stop), range(start, stop), range(start, stop, step)");
  Value v;
  v.type.kind = Kind::range;
  const Value zero = scalar_value(constant_i64(0)), one = scalar_value(constant_i64(1));
  v.items = {args.size() > 1 ? args[0] : zero, args[args.size() > 1 ? 1 : 0], args.size() > 2 ? args[2] : one};
  for (Value& item : v.items) {
    const ExprRef given = l.scalar(item, "range");
    const ExprRef bound =
        l.code().bind(ir::cast(l.index_number(item, "range"), given->type == DType::u64 ? given->type : DType::i64), "range");
    if (is_positive(l, given) && bound->kind == ir::ExprKind::variable) l.program().positive.insert(bound->name);
    item = scalar_value(bound);
    v.type.items.push_back(item.type);
  }
  if (!is_positive(l, v.items[2].scalar))
    l.raise_if(both(ScalarOp::eq, ir::cast(v.items[2].scalar, DType::i64), constant_i64(0)), "ValueError", "range() arg 3 must not be zero",
               at);
  return v;
}

ExprRef range_count(Lowering& l, const Value& v, Span) {
  const ExprRef first = ir::cast(v.items[0].scalar, DType::i64), last = ir::cast(v.items[1].scalar, DType::i64),
                by = ir::cast(v.items[2].scalar, DType::i64);
  const ExprRef up = (last - first + by - constant_i64(1)) / by, down = (first - last - by - constant_i64(1)) / (constant_i64(0) - by);
  ExprRef count = is_constant(by) ? (by->value.i > 0 ? up : down) : select(both(ScalarOp::gt, by, constant_i64(0)), up, down);
  if (is_one(by)) count = last - first;
  return l.code().bind(both(ScalarOp::max, count, constant_i64(0)), "count");
}

Value iterator_value(Lowering& l, const std::string& how, std::vector<Value> items, Span at) {
  Value v;
  v.type.kind = Kind::iterator;
  v.type.text = how;
  for (Value& item : items) {
    if (item.lazy) item = l.materialise(item, at);
    if (item.scalar) item.scalar = l.code().bind(item.scalar);
    v.type.items.push_back(item.type);
  }
  v.items = std::move(items);
  return v;
}

bool walks_list(const Value& v) {
  if (v.type.kind == Kind::iterator && v.type.text == "reversed") return false;
  return v.type.is_list() || v.type.is_table() ||
         (v.type.kind == Kind::iterator && std::any_of(v.items.begin(), v.items.end(), walks_list));
}

namespace {

/// The index of the k-th element in C order.
std::vector<Value> index_of(Lowering& l, const std::vector<ExprRef>& extents, const ExprRef& k) {
  std::vector<Value> index;
  const std::vector<ExprRef> strides = c_strides(extents);
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    const ExprRef outer = axis + 1 == extents.size() ? k : k / both(ScalarOp::max, strides[axis], constant_i64(1));
    index.push_back(scalar_value(l.code().bind(axis == 0 ? outer : outer % both(ScalarOp::max, extents[axis], constant_i64(1)), "i")));
  }
  return index;
}

std::vector<ExprRef> shape_of(Lowering& l, const Value& v) {
  if (v.type.is_array()) return v.extents();
  std::vector<ExprRef> shape;
  for (const Value& extent : v.type.is_tuple() ? v.items : std::vector<Value>{v}) shape.push_back(l.index_number(extent, "np.ndindex"));
  return shape;
}

}  // namespace

ExprRef Lowering::count_of_items(const Value& v, Span at) {
  switch (v.type.kind) {
    case Kind::tuple: {
      const auto& all = v.items;
      if (!std::all_of(all.begin(), all.end(), [&](const Value& item) { return item.type == all[0].type; }))
        fail(at, "a loop over " + describe(v.type) + " needs items of one type");
      return constant_i64(static_cast<int64_t>(all.size()));
    }
    case Kind::range: return range_count(*this, v, at);
    case Kind::list: item_type(v, at); return list_length(v);
    case Kind::table: item_type(v, at); return table_length(v);
    case Kind::array:
      if (v.type.rank == 0) fail(at, "a 0-d array cannot be iterated over");
      return v.extents()[0];
    case Kind::iterator: {
      const std::string& how = v.type.text;
      if (how.starts_with("table.")) return count_of_entries(v, at);
      if (how.starts_with("numpy.")) return count_of(shape_of(*this, v.items[0]));
      if (how != "zip") return count_of_items(v.items[0], at);
      ExprRef n;
      for (const Value& item : v.items) n = n ? both(ScalarOp::min, n, count_of_items(item, at)) : count_of_items(item, at);
      return n ? n : constant_i64(0);
    }
    default: fail(at, describe(v.type) + " cannot be iterated over");
  }
}

Value Lowering::item_at(const Value& v, const ExprRef& k, Span at) {
  switch (v.type.kind) {
    case Kind::tuple: return tuple_item(v, k, at);
    case Kind::range: {
      const DType type = v.type.items[0].dtype == DType::u64 && v.type.items[1].dtype == DType::u64 ? DType::u64 : DType::i64;
      return scalar_value(
          code().bind(ir::cast(ir::cast(v.items[0].scalar, DType::i64) + k * ir::cast(v.items[2].scalar, DType::i64), type), "i"));
    }
    case Kind::list: return list_item(v, k, at);
    case Kind::iterator: {
      const std::string& how = v.type.text;
      if (how == "table.keys") return table_part(v.items[0], k, 0, at);
      if (how == "table.values") return table_part(v.items[0], k, 1, at);
      if (how == "table.items") return tuple_value({table_part(v.items[0], k, 0, at), table_part(v.items[0], k, 1, at)});
      if (how == "enumerate") return tuple_value({scalar_value(v.items[1].scalar + k), item_at(v.items[0], k, at)});
      if (how == "reversed") {
        const ExprRef place =
            code().bind((v.items.size() > 1 ? v.items[1].scalar : count_of_items(v.items[0], at)) - constant_i64(1) - k, "back");
        return item_at(v.items[0], v.items[0].type.is_list() ? list_place(v.items[0], place, at) : place, at);
      }
      if (how == "zip") {
        std::vector<Value> parts;
        for (const Value& item : v.items) parts.push_back(item_at(item, k, at));
        return tuple_value(std::move(parts));
      }
      if ((how == "numpy.flat" || how == "numpy.nditer") && v.items[0].array && v.items[0].type.layout == Layout::c) {
        // In C order without gaps, elements follow each other.
        ArrayValue a = *v.items[0].array;
        a.extents = {count_of(a.extents)};
        a.strides = {constant_i64(1)};
        a.axes.clear(), a.fixed.clear();
        const Value row = array_value(v.items[0].type.dtype, Layout::c, std::move(a), v.items[0].type.read_only);
        const Value place = view(row, {scalar_value(k)}, at);
        return how == "numpy.nditer" ? place : scalar_value(element(place, {}));
      }
      std::vector<Value> index = index_of(*this, shape_of(*this, v.items[0]), k);
      if (how == "numpy.ndindex") return tuple_value(std::move(index));
      const Value place = view(v.items[0], index, at);
      if (how == "numpy.nditer") return place;
      const Value there = scalar_value(element(place, {}));
      return how == "numpy.ndenumerate" ? tuple_value({tuple_value(std::move(index)), there}) : there;
    }
    default: return item_of(v, k, at);
  }
}

}  // namespace gasell::functions
