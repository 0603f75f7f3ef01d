// What the texts of prelude/ are made of and scripts do not have: `gasell.…`.
#include <limits>
#include "compiler/functions/library.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

// ---- types ----
/// gasell.kind(x): "scalar", "array", "tuple", "list", "range", "none", "text", "function", ….
Value kind_of(Lowering&, const CallSite& site) {
  static constexpr const char* kKinds[] = {"none",     "scalar",   "array", "tuple",    "text", "function", "slice",
                                           "ellipsis", "optional", "range", "iterator", "list", "table",    "generator"};
  return text_value(kKinds[static_cast<int>(site.args.at(0).type.kind)]);
}
/// gasell.items(x): the kind of a list's items.
Value kind_of_items(Lowering& l, const CallSite& site) {
  Value item;
  item.type = l.item_type(site.args.at(0), site.span);
  return kind_of(l, {site.span, "", {item}, {}});
}

DType numbers_in(Lowering& l, const Value& v) {
  if (const auto dtype = dtype_argument(v)) return *dtype;
  const Type& t = v.type.is_list() && !v.type.items.empty() ? v.type.items[0] : v.type;
  if (t.is_tuple() && !t.items.empty()) {
    DType common = numbers_in(l, v.items.empty() ? v : v.items[0]);
    for (const Value& item : v.items) common = promote(common, numbers_in(l, item));
    return common;
  }
  if (!t.is_scalar() && !t.is_array()) l.fail(v.span, "numbers are needed, and this is " + describe(v.type));
  return t.dtype;
}
/// gasell.code(x): 'b', 'i', 'u', 'f' or 'c', of the numbers in it.
Value code_of(Lowering& l, const CallSite& site) { return text_value(std::string(1, kind(numbers_in(l, site.args.at(0))))); }
/// gasell.size(x): the bytes of such a number.
Value size_of_number(Lowering& l, const CallSite& site) { return scalar_value(constant_i64(size_of(numbers_in(l, site.args.at(0))))); }
/// gasell.common(x, y, …): the dtype that holds all their numbers.
Value common_dtype(Lowering& l, const CallSite& site) {
  std::optional<DType> common;
  for (const Value& v : site.args) common = common ? promote(*common, numbers_in(l, v)) : numbers_in(l, v);
  return dtype_value(common.value_or(DType::f64));
}
/// gasell.like(x, number): as the dtype of x has it; gasell.largest(x): the largest finite number of that dtype.
Value like(Lowering& l, const CallSite& site) {
  return scalar_value(ir::cast(l.scalar(site.args.at(1), "a number"), numbers_in(l, site.args.at(0))));
}
Value largest(Lowering& l, const CallSite& site) {
  const DType d = numbers_in(l, site.args.at(0));
  return scalar_value(
      ir::constant(Scalar::of_float(d == DType::f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max(), d)));
}

// ---- refusals ----
/// gasell.refuse("message"): what is called so is not there.
Value refuse(Lowering& l, const CallSite& site) {
  l.unsupported(site.span, site.args.at(0).type.text, site.args.size() > 1 ? site.args[1].type.text : "");
}
/// gasell.fail("message"): a TypingError.
Value fail(Lowering& l, const CallSite& site) { l.fail(site.span, site.args.at(0).type.text); }

// ---- other dtypes of the same bytes ----
/// x.view(dtype).
Value view_as(Lowering& l, const CallSite& site) {
  const Value& given = site.args.at(0);
  const auto to = site.args.size() == 2 ? dtype_argument(site.args[1]) : std::nullopt;
  if (!to) l.fail(site.span, "view takes a dtype, as np.int64");
  const DType from = given.type.dtype;
  const int64_t before = size_of(from), after = size_of(*to);
  if (given.type.is_scalar()) {
    if (before != after || is_complex(from) || is_complex(*to)) l.fail(site.span, "a number is viewed as another of its size");
    return scalar_value(from == *to ? given.scalar : ir::bitcast(given.scalar, *to));
  }
  // Threads of a grid know their memories by name, not by address.
  if (l.program().options.cuda) l.unsupported(site.span, ".view of an array in a kernel", "pass array.view(...) to the kernel");
  const Value v = l.materialise(given, site.span);
  ArrayValue a = *v.array;
  const std::string memory = l.code().fresh("view");
  const std::string begin = l.code().fresh("begin");
  l.code().emit(ir::call(begin, DType::i64, "gasell_address", {ir::address(a.memory)}));
  l.code().emit(ir::pointer_at(memory, *to, l.code().bind(ir::variable(begin, DType::i64) + a.offset * constant_i64(before), "address")));
  l.program().points.emplace(memory, a.memory);
  l.note_addresses(v);
  a.memory = memory;
  a.offset = constant_i64(0);
  a.root = ArrayValue::kAnywhere;
  if (before != after) {
    const size_t last = a.extents.size() - 1;
    if (a.extents.empty()) l.fail(site.span, "an array without axes is viewed as numbers of its size");
    l.raise_if(both(ScalarOp::ne, a.strides[last], constant_i64(1)), "ValueError",
               "To change to a dtype of a different size, the last axis must be contiguous", site.span);
    const ExprRef bytes = l.code().bind(a.extents[last] * constant_i64(before), "bytes");
    l.raise_if(both(ScalarOp::ne, bytes % constant_i64(after), constant_i64(0)), "ValueError",
               "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.",
               site.span);
    a.extents[last] = l.code().bind(bytes / constant_i64(after), "extent");
    for (size_t k = 0; k < last; ++k) {
      const ExprRef step = l.code().bind(a.strides[k] * constant_i64(before), "bytes");
      l.raise_if(both(ScalarOp::ne, step % constant_i64(after), constant_i64(0)), "ValueError", "rows do not begin where an element may",
                 site.span);
      a.strides[k] = l.code().bind(step / constant_i64(after), "stride");
    }
  }
  a.axes.clear(), a.fixed.clear();
  return array_value(*to, v.type.layout, std::move(a), v.type.read_only);
}

/// np.lib.stride_tricks.sliding_window_view(x, window).
Value sliding_windows(Lowering& l, const CallSite& site) {
  const Value *given = site.argument(0, "x"), *window = site.argument(1, "window_shape");
  const Value v = l.materialise(*given, site.span);
  const std::vector<Value> sizes = window->type.is_tuple() ? window->items : std::vector<Value>{*window};
  ArrayValue a = *v.array;
  if (sizes.size() != a.extents.size()) l.fail(site.span, "a window has as many axes as its array");
  const size_t rank = sizes.size();
  for (size_t k = 0; k < rank; ++k) {
    const ExprRef size = l.code().bind(l.index_number(sizes[k], "a window"), "window");
    l.raise_if(both(ScalarOp::lt, size, constant_i64(0)), "ValueError", "`window_shape` cannot contain negative values", site.span);
    l.raise_if(both(ScalarOp::lt, a.extents[k], size), "ValueError", "window shape cannot be larger than input array shape", site.span);
    a.extents.push_back(size);
    a.strides.push_back(a.strides[k]);
    a.extents[k] = l.code().bind(a.extents[k] - size + constant_i64(1), "extent");
  }
  a.axes.clear(), a.fixed.clear();
  return array_value(v.type.dtype, Layout::any, std::move(a), true);
}

// ---- types of values ----
/// isinstance(x, int), isinstance(x, (float, np.ndarray)).
Value is_instance(Lowering& l, const CallSite& site) {
  const Type& t = site.args[0].type;
  bool is = false;
  for (const Value& wanted : site.args[1].type.is_tuple() ? site.args[1].items : std::vector<Value>{site.args[1]}) {
    const std::string& name = wanted.outside.text;
    if (wanted.outside.kind != Outside::Kind::path) l.fail(site.span, "isinstance takes types, as int or np.ndarray");
    const DType d = t.dtype;
    if (name == "int")
      is = is || (t.is_scalar() && is_whole(d));
    else if (name == "float")
      is = is || (t.is_scalar() && is_float(d));
    else if (name == "complex")
      is = is || (t.is_scalar() && is_complex(d));
    else if (name == "bool")
      is = is || (t.is_scalar() && d == DType::boolean);
    else if (name == "numpy.ndarray")
      is = is || t.is_array();
    else if (name == "tuple")
      is = is || t.is_tuple();
    else if (name == "list" || name == "numba.typed.List")
      is = is || t.is_list();
    else if (name == "dict" || name == "numba.typed.Dict")
      is = is || (t.is_table() && t.text == "dict");
    else if (name == "set")
      is = is || (t.is_table() && t.text == "set");
    else if (name == "str")
      is = is || t.kind == Kind::text;
    else if (const auto dtype = dtype_of_path(name))
      is = is || (t.is_scalar() && d == *dtype);
    else
      l.unsupported(site.span, "isinstance with " + name, "use int, float, complex, bool, np.ndarray, tuple, list, dict, set or a dtype");
  }
  return scalar_value(boolean(is));
}

// ---- tuples and axes ----
/// gasell.axes(x): (0, 1, …), one number an axis.
Value axes(Lowering&, const CallSite& site) {
  std::vector<Value> items;
  for (int k = 0; k < site.args.at(0).type.rank; ++k) items.push_back(scalar_value(constant_i64(k)));
  return tuple_value(std::move(items));
}
size_t constant_place(Lowering& l, const Value& v, size_t count) {
  if (!v.is_constant() || v.scalar->value.i < 0 || v.scalar->value.i >= static_cast<int64_t>(count))
    l.fail(v.span, "the axis must be a constant number, and one that there is");
  return static_cast<size_t>(v.scalar->value.i);
}
/// gasell.with_item(t, k, x): the tuple with another item k.
Value with_item(Lowering& l, const CallSite& site) {
  std::vector<Value> items = site.args.at(0).items;
  items[constant_place(l, site.args.at(1), items.size())] = site.args.at(2);
  return tuple_value(std::move(items));
}
/// gasell.slice_of(x, axis, start, stop): a view.
Value slice_of(Lowering& l, const CallSite& site) {
  const Value v = l.materialise(site.args.at(0), site.span);
  const size_t axis = constant_place(l, site.args.at(1), v.extents().size());
  const Value whole = [] {
    Value s;
    s.type = Type{.kind = Kind::slice, .items = {Type{}, Type{}, Type{}}};
    s.items = {none_value(), none_value(), none_value()};
    return s;
  }();
  std::vector<Value> indices(axis, whole);
  Value part = whole;
  part.items = {site.args.at(2), site.args.at(3), none_value()};
  for (size_t k = 0; k < 3; ++k) part.type.items[k] = part.items[k].type;
  indices.push_back(std::move(part));
  Value result = l.view(v, indices, site.span);
  // Parts of one array are of one type, whichever they are.
  result.type.layout = Layout::any;
  return result;
}
Value is_contiguous(Lowering&, const CallSite& site) { return scalar_value(boolean(site.args.at(0).type.layout == Layout::c)); }
/// gasell.diagonal_step(x): how far elements of the diagonal lie apart, in C order.
Value diagonal_step(Lowering& l, const CallSite& site) {
  ExprRef step = constant_i64(0);
  for (const ExprRef& stride : c_strides(site.args.at(0).extents())) step = step + stride;
  return scalar_value(l.code().bind(step, "step"));
}
/// gasell.point(x): the first element as an array without axes.
Value point(Lowering& l, const CallSite& site) {
  ArrayValue a = *l.materialise(site.args.at(0), site.span).array;
  a.extents.clear(), a.strides.clear(), a.axes.clear(), a.fixed.clear();
  return array_value(site.args[0].type.dtype, Layout::c, std::move(a));
}
/// gasell.fill_columns(x, arrays): column k of x is array k.
Value fill_columns(Lowering& l, const CallSite& site) {
  const Value& target = site.args.at(0);
  const auto& columns = site.args.at(1).items;
  l.for_each({target.extents()[0]}, false, [&](const std::vector<ExprRef>& i) {
    for (size_t k = 0; k < columns.size(); ++k)
      l.store_element(*target.array, target.type.dtype, {i[0], constant_i64(static_cast<int64_t>(k))}, l.element(columns[k], i));
  });
  return none_value();
}

// ---- broadcasting ----
Value stretched_to(Lowering& l, const Value& given, const std::vector<ExprRef>& shape, Span at) {
  Value v = given.type.is_array()
                ? l.materialise(given, at)
                : l.materialise(l.elementwise({given}, given.type.dtype, [](const std::vector<ExprRef>& p) { return p[0]; }, at), at);
  if (!v.type.is_array()) v = library_function("numpy.full")(l, {at, "numpy.full", {tuple_value({}), v}, {}});
  const ArrayValue& from = *v.array;
  if (from.extents.size() > shape.size())
    l.fail_as("ValueError", at, "input operand has more dimensions than allowed by the axis remapping");
  ArrayValue a = from;
  a.extents = shape;
  a.strides.assign(shape.size(), constant_i64(0));
  const size_t skipped = shape.size() - from.extents.size();
  for (size_t k = 0; k < from.extents.size(); ++k) {
    const ExprRef &own = from.extents[k], &wanted = shape[k + skipped];
    if (same(own, wanted)) {
      a.strides[k + skipped] = from.strides[k];
      continue;
    }
    l.raise_if(both(ScalarOp::logical_and, both(ScalarOp::ne, own, wanted), both(ScalarOp::ne, own, constant_i64(1))), "ValueError",
               "cannot broadcast: an axis has {0} elements, and {1} are wanted", at, {own, wanted});
    a.strides[k + skipped] = l.code().bind(select(both(ScalarOp::eq, own, wanted), from.strides[k], constant_i64(0)), "stride");
  }
  a.axes.clear(), a.fixed.clear();
  return array_value(v.type.dtype, Layout::any, std::move(a), true);
}

std::vector<ExprRef> common_shape(Lowering& l, const std::vector<std::vector<ExprRef>>& shapes, Span at) {
  size_t rank = 0;
  for (const auto& s : shapes) rank = std::max(rank, s.size());
  std::vector<ExprRef> result(rank, constant_i64(1));
  for (const auto& s : shapes) {
    for (size_t k = 0; k < s.size(); ++k) {
      ExprRef& extent = result[k + rank - s.size()];
      const ExprRef one = constant_i64(1);
      if (same(extent, s[k]) || is_one(s[k])) continue;
      if (is_one(extent)) {
        extent = s[k];
        continue;
      }
      l.raise_if(both(ScalarOp::logical_and, both(ScalarOp::ne, extent, s[k]),
                      both(ScalarOp::logical_and, both(ScalarOp::ne, extent, one), both(ScalarOp::ne, s[k], one))),
                 "ValueError", "shape mismatch: objects cannot be broadcast to a single shape: an axis has {0} and {1} elements", at,
                 {extent, s[k]});
      extent = l.code().bind(select(both(ScalarOp::eq, extent, one), s[k], extent), "extent");
    }
  }
  return result;
}
std::vector<ExprRef> extents_in(Lowering& l, const Value& v) {
  std::vector<ExprRef> shape;
  for (const Value& item : v.type.is_tuple() ? v.items : std::vector<Value>{v}) shape.push_back(l.index_number(item, "a shape"));
  return shape;
}

Value broadcast_to(Lowering& l, const CallSite& site) {
  std::vector<ExprRef> shape = extents_in(l, site.args[1]);
  for (ExprRef& e : shape) {
    e = l.code().bind(e, "extent");
    l.raise_if(both(ScalarOp::lt, e, constant_i64(0)), "ValueError", "all elements of broadcast shape must be non-negative", site.span);
  }
  return stretched_to(l, site.args[0], shape, site.span);
}
Value broadcast_all(Lowering& l, const CallSite& site) {
  std::vector<std::vector<ExprRef>> shapes;
  for (const Value& v : site.args.at(0).items) shapes.push_back(v.type.is_array() ? v.extents() : std::vector<ExprRef>{});
  const std::vector<ExprRef> shape = common_shape(l, shapes, site.span);
  std::vector<Value> parts;
  for (const Value& v : site.args[0].items) parts.push_back(stretched_to(l, v, shape, site.span));
  return tuple_value(std::move(parts));
}
Value broadcast_shapes(Lowering& l, const CallSite& site) {
  std::vector<std::vector<ExprRef>> shapes;
  for (const Value& v : site.args.at(0).items) shapes.push_back(extents_in(l, v));
  std::vector<Value> extents;
  for (const ExprRef& e : common_shape(l, shapes, site.span)) extents.push_back(scalar_value(e));
  return tuple_value(std::move(extents));
}

/// np.select: of the first condition that holds.
Value choose_first(Lowering& l, const CallSite& site) {
  const Value *conditions = site.argument(0, "condlist"), *choices = site.argument(1, "choicelist"),
              *otherwise = site.argument(2, "default");
  const size_t n = conditions->items.size();
  if (n == 0 || n != choices->items.size())
    l.fail_as("ValueError", site.span, "list of cases must be same length as list of conditions, and not empty");
  std::vector<Value> operands = conditions->items;
  operands.insert(operands.end(), choices->items.begin(), choices->items.end());
  operands.push_back(otherwise ? *otherwise : scalar_value(constant_i64(0)));
  DType type = choices->items[0].type.dtype;
  for (const Value& v : choices->items) type = promote(type, v.type.dtype);
  if (otherwise) type = promote(type, l.scalar(*otherwise, "np.select")->type);
  return l.elementwise(
      operands, type,
      [n, type](const std::vector<ExprRef>& p) {
        ExprRef result = ir::cast(p[2 * n], type);
        for (size_t k = n; k-- > 0;) result = select(ir::cast(p[k], DType::boolean), ir::cast(p[n + k], type), result);
        return result;
      },
      site.span);
}

// ---- numbers of dtypes ----
Value limits(Lowering& l, const CallSite& site) {
  const DType d = numbers_in(l, site.args.at(0));
  const bool whole = site.name == "numpy.iinfo";
  if (whole != is_integer(d)) l.fail(site.span, site.name + " is not defined for " + std::string(name_of(d)));
  return path_value(site.name + "(" + std::string(name_of(real_of(d))) + ")");
}

}  // namespace

LibraryFunction inner_function(const std::string& path) {
  static const LibraryTable kFunctions = {
      {".view", "a: operand, dtype: dtype", view_as},
      {"numpy.lib.stride_tricks.sliding_window_view", "x: array, window_shape: shape", sliding_windows},
      {"isinstance", "obj, classinfo", is_instance},
      {"gasell.kind", kInner, kind_of},
      {"gasell.items", kInner, kind_of_items},
      {"gasell.code", kInner, code_of},
      {"gasell.size", kInner, size_of_number},
      {"gasell.common", kInner, common_dtype},
      {"gasell.like", kInner, like},
      {"gasell.largest", kInner, largest},
      {"gasell.refuse", kInner, refuse},
      {"gasell.fail", kInner, fail},
      {"gasell.axes", kInner, axes},
      {"gasell.with_item", kInner, with_item},
      {"gasell.slice_of", kInner, slice_of},
      {"gasell.is_contiguous", kInner, is_contiguous},
      {"gasell.diagonal_step", kInner, diagonal_step},
      {"gasell.point", kInner, point},
      {"gasell.fill_columns", kInner, fill_columns},
      {"gasell.broadcast_all", kInner, broadcast_all},
      {"gasell.broadcast_shapes", kInner, broadcast_shapes},
      {"numpy.broadcast_to", "array: operand, shape: shape", broadcast_to},
      {"numpy.select", "condlist: tuple, choicelist: tuple, default: number = 0", choose_first},
      {"numpy.finfo", "dtype", limits},
      {"numpy.iinfo", "dtype", limits},
  };
  return kFunctions.find(path);
}

std::optional<Scalar> limit_of_dtype(const std::string& path) {
  const bool whole = path.starts_with("numpy.iinfo("), real = path.starts_with("numpy.finfo(");
  const auto open = path.find('('), close = path.find(").");
  if ((!whole && !real) || close == std::string::npos) return {};
  const auto dtype = dtype_from_name(path.substr(open + 1, close - open - 1));
  const std::string name = path.substr(close + 2);
  if (!dtype) return {};
  const DType d = *dtype;
  const int bits = 8 * size_of(d);
  if (name == "bits") return Scalar::of_int(bits);
  if (whole) {
    const bool is_signed = kind(d) == 'i';
    if (name == "min") return Scalar::of_int(is_signed ? -(int64_t{1} << (bits - 2)) * 2 : 0);
    if (name == "max") {
      if (is_signed) return Scalar::of_int((int64_t{1} << (bits - 2)) - 1 + (int64_t{1} << (bits - 2)));
      if (bits == 64) return Scalar::of_int(-1, DType::u64);
      return Scalar::of_int((int64_t{1} << bits) - 1);
    }
    return {};
  }
  const auto number = [&](float single, double twice) { return Scalar::of_float(d == DType::f32 ? single : twice, d); };
  using F = std::numeric_limits<float>;
  using D = std::numeric_limits<double>;
  if (name == "eps") return number(F::epsilon(), D::epsilon());
  if (name == "max") return number(F::max(), D::max());
  if (name == "min") return number(F::lowest(), D::lowest());
  if (name == "tiny" || name == "smallest_normal") return number(F::min(), D::min());
  if (name == "smallest_subnormal") return number(F::denorm_min(), D::denorm_min());
  if (name == "epsneg") return number(F::epsilon() / 2, D::epsilon() / 2);
  if (name == "resolution") return number(1e-6f, 1e-15);
  if (name == "precision") return Scalar::of_int(d == DType::f32 ? 6 : 15);
  return {};
}

}  // namespace gasell::functions
