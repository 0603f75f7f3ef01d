// Arrays put together, turned, cut and ordered in compiled functions.
#include "compiler/functions/library.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

Value array_argument(Lowering& l, const CallSite& site, size_t place = 0) {
  Value v = site.args[place];
  if (v.type.is_tuple() || v.type.is_list()) v = library_function("numpy.array")(l, {site.span, "np.array", {v}, {}});
  if (!v.type.is_array()) l.fail(v.span, site.name + " needs an array, and this is " + describe(v.type));
  return l.materialise(v, site.span);
}

int64_t constant_argument(Lowering& l, const CallSite& site, size_t place, const char* name, int64_t otherwise) {
  const Value* v = site.argument(place, name);
  if (!v || v->type.is_none()) return otherwise;
  if (!v->is_constant() || !is_integer(v->scalar->type))
    l.fail(v->span, std::string(name) + " must be a constant number here, and this is " + describe(v->type),
           v->type.is_array() ? "several arrays are given as one tuple: " + site.name + "((a, b))" : "write it as a literal");
  return v->scalar->value.i;
}

size_t axis_in(Lowering& l, const CallSite& site, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    l.fail_as("ValueError", site.span, "axis " + std::to_string(axis) + " is out of bounds for array of dimension " + std::to_string(rank));
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

// ---- putting together ----
Value joined(Lowering& l, const CallSite& site, std::vector<Value> parts, int64_t axis_given) {
  if (parts.empty()) l.fail_as("ValueError", site.span, "need at least one array to concatenate");
  DType dtype = parts[0].type.dtype;
  for (Value& v : parts) {
    if (!v.type.is_array()) l.fail(v.span, site.name + " joins arrays, and this is " + describe(v.type));
    if (v.type.rank != parts[0].type.rank)
      l.fail(v.span, "all arrays must have the same number of dimensions: " + describe(parts[0].type) + " and " + describe(v.type));
    dtype = promote(dtype, v.type.dtype);
    v = l.materialise(v, site.span);
  }
  const size_t axis = axis_in(l, site, axis_given, parts[0].type.rank);
  std::vector<ExprRef> extents = parts[0].array->extents;
  extents[axis] = constant_i64(0);
  for (const Value& v : parts) {
    for (size_t k = 0; k < extents.size(); ++k)
      if (k != axis)
        l.raise_if(both(ScalarOp::ne, v.array->extents[k], extents[k]), "ValueError",
                   "all the input array dimensions except for the concatenation axis must match exactly: {0} and {1}", site.span,
                   {extents[k], v.array->extents[k]});
    extents[axis] = extents[axis] + v.array->extents[axis];
  }
  const Value result = l.allocate(dtype, extents, site.span);
  ExprRef start = constant_i64(0);
  for (const Value& v : parts) {
    ArrayValue place = *result.array;
    place.offset = l.code().bind(place.offset + start * place.strides[axis], "offset");
    place.extents[axis] = v.array->extents[axis];
    start = l.code().bind(start + v.array->extents[axis], "start");
    l.assign_elements(array_value(dtype, Layout::any, std::move(place)), v, site.span);
  }
  return result;
}

Value with_axes(Lowering& l, const CallSite& site, const Value& v, int rank) {
  Value result =
      v.type.is_array()
          ? l.materialise(v, site.span)
          : l.materialise(l.elementwise({v}, v.type.dtype, [](const std::vector<ExprRef>& p) { return p[0]; }, site.span), site.span);
  if (result.type.is_scalar())
    result = library_function("numpy.full")(l, {site.span, "numpy.full", {scalar_value(constant_i64(1)), result}, {}});
  ArrayValue a = *result.array;
  while (static_cast<int>(a.extents.size()) < rank) {
    a.extents.insert(a.extents.begin(), constant_i64(1));
    a.strides.insert(a.strides.begin(), constant_i64(0));
  }
  if (a.extents.size() == result.array->extents.size()) return result;
  a.axes.clear(), a.fixed.clear();
  return array_value(result.type.dtype, Layout::any, std::move(a), result.type.read_only);
}

Value concatenate(Lowering& l, const CallSite& site) {
  return joined(l, site, site.args[0].items, constant_argument(l, site, 1, "axis", 0));
}
Value hstack(Lowering& l, const CallSite& site) {
  std::vector<Value> parts = site.args[0].items;
  for (Value& v : parts) v = with_axes(l, site, v, 1);
  return joined(l, site, parts, parts.empty() || parts[0].type.rank == 1 ? 0 : 1);
}
Value vstack(Lowering& l, const CallSite& site) {
  std::vector<Value> parts = site.args[0].items;
  for (Value& v : parts) v = with_axes(l, site, v, 2);
  return joined(l, site, parts, 0);
}
Value dstack(Lowering& l, const CallSite& site) {
  std::vector<Value> parts = site.args[0].items;
  for (Value& v : parts) v = library_function("numpy.atleast_3d")(l, {site.span, site.name, {v}, {}});
  return joined(l, site, parts, 2);
}
Value stack(Lowering& l, const CallSite& site) {
  std::vector<Value> parts = site.args[0].items;
  const int64_t axis = constant_argument(l, site, 1, "axis", 0);
  for (Value& v : parts) v = library_function("numpy.expand_dims")(l, {site.span, site.name, {v, scalar_value(constant_i64(axis))}, {}});
  return joined(l, site, parts, axis);
}
Value column_stack(Lowering& l, const CallSite& site) {
  std::vector<Value> parts = site.args[0].items;
  for (Value& v : parts)
    if (v.type.rank == 1) v = library_function("numpy.expand_dims")(l, {site.span, site.name, {v, scalar_value(constant_i64(1))}, {}});
  return joined(l, site, parts, 1);
}
Value append(Lowering& l, const CallSite& site) {
  if (const Value* axis = site.argument(2, "axis"); axis && !axis->type.is_none())
    return joined(l, site, {array_argument(l, site, 0), array_argument(l, site, 1)}, constant_argument(l, site, 2, "axis", 0));
  std::vector<Value> parts;
  for (size_t k = 0; k < 2; ++k)
    parts.push_back(with_axes(
        l, site, site.args[k].type.is_array() ? library_method("ravel")(l, {site.span, "ravel", {site.args[k]}, {}}) : site.args[k], 1));
  return joined(l, site, parts, 0);
}

// ---- turning ----
/// A view whose axes in `turned` run backwards.
Value backwards(Lowering& l, const Value& v, const std::vector<size_t>& turned) {
  ArrayValue a = *v.array;
  ExprRef offset = a.offset;
  for (const size_t k : turned) {
    offset = offset + (a.extents[k] - constant_i64(1)) * a.strides[k];
    a.strides[k] = l.code().bind(constant_i64(0) - a.strides[k], "stride");
    if (!a.axes.empty()) a.axes[k] = ArrayValue::kPart;
  }
  a.offset = l.code().bind(offset, "offset");
  return array_value(v.type.dtype, Layout::any, std::move(a), v.type.read_only);
}
Value flip(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  std::vector<size_t> turned;
  if (site.name == "numpy.fliplr")
    turned = {axis_in(l, site, 1, v.type.rank)};
  else if (site.name == "numpy.flipud")
    turned = {0};
  else if (site.argument(1, "axis"))
    turned = {axis_in(l, site, constant_argument(l, site, 1, "axis", 0), v.type.rank)};
  else
    for (size_t k = 0; k < v.array->extents.size(); ++k) turned.push_back(k);
  return backwards(l, v, turned);
}

Value roll(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  const Value flat = v.type.rank == 1 ? v : library_method("ravel")(l, {site.span, "ravel", {v}, {}});
  if (site.argument(2, "axis") && v.type.rank != 1) l.unsupported(site.span, "np.roll along an axis");
  const ExprRef n = l.count_of(flat.array->extents);
  const ExprRef shift = l.code().bind(l.index_number(site.args[1], "np.roll") % both(ScalarOp::max, n, constant_i64(1)), "shift");
  const Value result = l.allocate(v.type.dtype, v.array->extents, site.span);
  l.for_each({n}, false, [&](const std::vector<ExprRef>& i) {
    const ExprRef to = l.code().bind(ir::op(ScalarOp::select, {both(ScalarOp::ge, i[0] + shift, n), i[0] + shift - n, i[0] + shift}), "to");
    l.code().emit(ir::store(result.array->memory, to, l.element(flat, i)));
  });
  return result;
}

Value triangle(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  if (v.type.rank != 2) l.unsupported(site.span, site.name + " of other than two axes");
  const Value* diagonal = site.argument(1, "k");
  const ExprRef k = diagonal ? l.code().bind(l.index_number(*diagonal, "a diagonal")) : constant_i64(0);
  const bool lower = site.name == "numpy.tril";
  LazyArray lazy;
  lazy.extents = v.array->extents;
  lazy.sources = {{*v.array, true}};
  lazy.at = [&l, v, k, lower](const std::vector<ExprRef>& i) {
    const ExprRef keep = both(lower ? ScalarOp::le : ScalarOp::ge, i[1], i[0] + k);
    return l.code().bind(ir::op(ScalarOp::select, {keep, l.element(v, i), ir::constant(Scalar::of_int(0).cast(v.type.dtype))}));
  };
  return lazy_value(v.type.dtype, std::move(lazy));
}

Value diagonal_view(Lowering& l, const Value& v) {
  ArrayValue a = *v.array;
  a.extents = {l.code().bind(both(ScalarOp::min, a.extents[0], a.extents[1]), "n")};
  a.strides = {l.code().bind(a.strides[0] + a.strides[1], "stride")};
  a.axes.clear(), a.fixed.clear();
  return array_value(v.type.dtype, Layout::any, std::move(a), v.type.read_only);
}
Value diag(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  if (const Value* k = site.argument(1, "k"); k && !(k->is_constant() && k->scalar->value.i == 0))
    return library_function(v.type.rank == 2 ? "numpy.diagonal_copy" : "numpy.diagflat")(l, {site.span, site.name, {v, *k}, {}});
  if (v.type.rank == 2) return library_function("numpy.copy")(l, {site.span, "numpy.copy", {diagonal_view(l, v)}, {}});
  const ExprRef n = v.array->extents[0];
  const Value result = l.allocate(v.type.dtype, {n, n}, site.span, true);
  l.assign_elements(diagonal_view(l, result), v, site.span);
  return result;
}
Value trace(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  if (v.type.rank != 2) l.unsupported(site.span, "np.trace of other than two axes");
  return library_function("numpy.sum")(l, {site.span, "numpy.sum", {diagonal_view(l, v)}, {}});
}

Value diff(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  const int64_t times = constant_argument(l, site, 1, "n", 1);
  if (times < 0) l.fail_as("ValueError", site.span, "order must be non-negative");
  if (times == 0) return v;
  if (times > 1) {
    const Value less = diff(l, {site.span, site.name, {v, scalar_value(constant_i64(times - 1))}, {}});
    return diff(l, {site.span, site.name, {less}, {}});
  }
  if (v.type.rank != 1) {  // along the last axis
    const auto last = static_cast<size_t>(v.type.rank - 1);
    ArrayValue a = *v.array, b = *v.array;
    a.extents[last] = b.extents[last] = l.code().bind(both(ScalarOp::max, a.extents[last] - constant_i64(1), constant_i64(0)), "n");
    b.offset = l.code().bind(b.offset + b.strides[last], "offset");
    return l.binary(ast::BinaryOp::sub, array_value(v.type.dtype, Layout::any, b), array_value(v.type.dtype, Layout::any, a), site.span);
  }
  ArrayValue a = *v.array, b = *v.array;
  a.extents[0] = b.extents[0] = l.code().bind(both(ScalarOp::max, a.extents[0] - constant_i64(1), constant_i64(0)), "n");
  b.offset = l.code().bind(b.offset + b.strides[0], "offset");
  return l.binary(ast::BinaryOp::sub, array_value(v.type.dtype, v.type.layout, b), array_value(v.type.dtype, v.type.layout, a), site.span);
}

Value repeat(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  if (v.type.rank != 1 || !site.args[1].type.is_scalar())
    return library_function("numpy.repeat_each")(l, {site.span, site.name, {v, site.args[1]}, {}});
  const ExprRef times = l.code().bind(l.index_number(site.args[1], "np.repeat"));
  LazyArray lazy;
  lazy.extents = {l.code().bind(v.array->extents[0] * times, "n")};
  lazy.sources = {{*v.array, false}};
  lazy.at = [&l, v, times](const std::vector<ExprRef>& i) { return l.element(v, {l.code().bind(i[0] / times)}); };
  return lazy_value(v.type.dtype, std::move(lazy));
}

// ---- ordering and counting ----
void require_same_shape(Lowering& l, const CallSite& site, const Value& a, const Value& b, const char* message) {
  if (a.type.rank != b.type.rank) l.fail_as("ValueError", site.span, message);
  for (size_t k = 0; k < a.extents().size(); ++k)
    l.raise_if(both(ScalarOp::ne, a.extents()[k], b.extents()[k]), "ValueError", message, site.span);
}

Value bincount(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  if (v.type.rank != 1 || !(is_integer(v.type.dtype) || v.type.dtype == DType::boolean))
    l.fail(v.span, "np.bincount counts integers in a 1-d array, and this is " + describe(v.type));
  const Value* weights = site.argument(1, "weights");
  const Value* least = site.argument(2, "minlength");
  const bool weighted = weights && !weights->type.is_none();
  const Value w = weighted ? array_argument(l, {site.span, site.name, {*weights}, {}}) : Value{};
  if (weighted) require_same_shape(l, site, v, w, "bincount(): weights and list don't have the same length");
  const std::string top = l.code().fresh("top");
  const ExprRef highest = ir::variable(top, DType::i64);
  l.code().emit(ir::var(top, constant_i64(-1)));
  l.for_each(v.array->extents, false, [&](const std::vector<ExprRef>& i) {
    const ExprRef x = ir::cast(l.element(v, i), DType::i64);
    l.raise_if(both(ScalarOp::lt, x, constant_i64(0)), "ValueError", "'list' argument must have no negative elements", site.span);
    l.code().emit(ir::assign(top, both(ScalarOp::max, highest, x)));
  });
  ExprRef n = l.code().snapshot(top, DType::i64, "top") + constant_i64(1);
  if (least) n = both(ScalarOp::max, n, l.index_number(*least, "minlength"));
  const DType dtype = weighted ? DType::f64 : DType::i64;
  const Value result = l.allocate(dtype, {n}, site.span, true);
  l.for_each(v.array->extents, false, [&](const std::vector<ExprRef>& i) {
    const ExprRef x = l.code().bind(ir::cast(l.element(v, i), DType::i64), "bin");
    const ExprRef one = weighted ? ir::cast(l.element(w, i), dtype) : constant_i64(1);
    l.code().emit(ir::store(result.array->memory, x, both(ScalarOp::add, l.code().bind(ir::load(result.array->memory, dtype, x)), one)));
  });
  return result;
}

/// The first place of a sorted array at which `x` (right: what is greater than x) could stand.
ExprRef bisect(Lowering& l, const Value& sorted, const ExprRef& x, bool right) {
  const std::string low = l.code().fresh("low"), high = l.code().fresh("high");
  const ExprRef a = ir::variable(low, DType::i64), b = ir::variable(high, DType::i64);
  l.code().emit(ir::var(low, constant_i64(0)));
  l.code().emit(ir::var(high, sorted.array->extents[0]));
  l.code().open();
  const ExprRef middle = l.code().bind((a + b) / constant_i64(2), "middle");
  const ExprRef e = l.element(sorted, {middle});
  const ExprRef before =
      right ? ir::op(ScalarOp::logical_not, {l.compare_numbers(ast::CompareOp::lt, x, e)}) : l.compare_numbers(ast::CompareOp::lt, e, x);
  l.code().emit(ir::if_(before, {ir::assign(low, middle + constant_i64(1))}, {ir::assign(high, middle)}));
  ir::Body body = l.code().close();
  l.code().emit(ir::while_(both(ScalarOp::lt, a, b), std::move(body)));
  return l.code().snapshot(low, DType::i64, "place");
}

Value searchsorted(Lowering& l, const CallSite& site) {
  const Value sorted = array_argument(l, site);
  if (sorted.type.rank != 1) l.fail(site.span, "np.searchsorted takes a 1-d array and values");
  const Value* side = site.argument(2, "side");
  const bool right = side && side->type.text == "right";
  const Value v = site.args[1].type.is_list() || site.args[1].type.is_tuple() ? array_argument(l, site, 1) : site.args[1];
  if (!v.type.is_array()) return scalar_value(bisect(l, sorted, l.code().bind(l.scalar(v, "np.searchsorted")), right));
  const Value values = l.materialise(v, site.span);
  const Value result = l.allocate(DType::i64, values.array->extents, site.span);
  l.for_each(values.array->extents, false, [&](const std::vector<ExprRef>& i) {
    l.store_element(*result.array, DType::i64, i, bisect(l, sorted, l.element(values, i), right));
  });
  return result;
}

/// np.histogram of equal bins: counts, and the edges.
Value histogram(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  const Value* bins = site.argument(1, "bins");
  const Value* range = site.argument(2, "range");
  const Value* weights = site.keyword("weights");
  if (bins && !bins->type.is_scalar()) return library_function("numpy.histogram_of_bins")(l, {site.span, site.name, {v, *bins}, {}});
  const ExprRef n = bins ? l.code().bind(l.index_number(*bins, "bins"), "bins") : constant_i64(10);
  l.raise_if(both(ScalarOp::lt, n, constant_i64(1)), "ValueError", "`bins` must be positive, when an integer", site.span);
  ExprRef low, high;
  if (range && range->type.is_tuple()) {
    if (range->items.size() != 2)
      l.fail(range->span, "the range of " + site.name + " is two numbers, and this is " + describe(range->type));
    low = l.number(range->items[0], DType::f64), high = l.number(range->items[1], DType::f64);
  } else {
    low = ir::cast(library_method("min")(l, {site.span, "min", {v}, {}}).scalar, DType::f64);
    high = ir::cast(library_method("max")(l, {site.span, "max", {v}, {}}).scalar, DType::f64);
  }
  low = l.code().bind(low, "low"), high = l.code().bind(high, "high");
  l.raise_if(both(ScalarOp::lt, high, low), "ValueError", "max must be larger than min in range parameter.", site.span);
  l.raise_if(negation(ir::op(ScalarOp::isfinite, {both(ScalarOp::sub, high, low)})), "ValueError", "the range of the bins is not finite",
             site.span);
  const ExprRef half = ir::constant(Scalar::of_float(0.5)), flat = l.code().bind(both(ScalarOp::eq, low, high));
  low = l.code().bind(select(flat, both(ScalarOp::sub, low, half), low), "low");
  high = l.code().bind(select(flat, both(ScalarOp::add, high, half), high), "high");
  const bool weighted = weights && !weights->type.is_none();
  const Value w = weighted ? array_argument(l, {site.span, site.name, {*weights}, {}}) : Value{};
  if (weighted) require_same_shape(l, site, v, w, "weights should have the same shape as a.");
  const DType dtype = weighted ? DType::f64 : DType::i64;
  const Value counts = l.allocate(dtype, {n}, site.span, true);
  const ExprRef scale = l.code().bind(both(ScalarOp::div, ir::cast(n, DType::f64), both(ScalarOp::sub, high, low)), "scale");
  l.for_each(v.array->extents, false, [&](const std::vector<ExprRef>& i) {
    const ExprRef x = l.code().bind(ir::cast(l.element(v, i), DType::f64), "x");
    l.code().open();
    const ExprRef bin = l.code().bind(
        both(ScalarOp::min, ir::cast(both(ScalarOp::mul, both(ScalarOp::sub, x, low), scale), DType::i64), n - constant_i64(1)), "bin");
    const ExprRef one = weighted ? ir::cast(l.element(w, i), dtype) : constant_i64(1);
    l.code().emit(
        ir::store(counts.array->memory, bin, both(ScalarOp::add, l.code().bind(ir::load(counts.array->memory, dtype, bin)), one)));
    ir::Body inside = l.code().close();
    l.code().emit(ir::if_(both(ScalarOp::logical_and, both(ScalarOp::ge, x, low), both(ScalarOp::le, x, high)), std::move(inside), {}));
  });
  const Value edges = library_function("numpy.linspace")(
      l, {site.span, "numpy.linspace", {scalar_value(low), scalar_value(high), scalar_value(n + constant_i64(1))}, {}});
  return tuple_value({counts, l.materialise(edges, site.span)});
}

/// Sorted copies and orders, by functions of the runtime: gasell_sort(context, dtype, address, count), gasell_argsort(context, dtype,
/// address, count, order). Where they have no room they give 1, and where somebody interrupts them they end early.
void emit_sort(Lowering& l, const CallSite& site, const char* function, std::vector<ExprRef> arguments) {
  arguments.insert(arguments.begin(), ir::address("context"));
  const std::string name = l.code().fresh("status");
  l.code().emit(ir::call(name, DType::i64, function, std::move(arguments)));
  l.raise_if(both(ScalarOp::ne, ir::variable(name, DType::i64), constant_i64(0)), "MemoryError", "unable to allocate memory to sort in",
             site.span);
  l.code().emit(ir::poll());
}
Value sorted(Lowering& l, const CallSite& site) {
  Value v = array_argument(l, site);
  const bool in_place = site.name == "sort";
  if (v.type.rank > 1 && !in_place) return library_function("numpy.sort_rows")(l, {site.span, site.name, {v}, {}});
  if (v.type.rank > 1) {
    l.assign_elements(v, library_function("numpy.sort_rows")(l, {site.span, site.name, {v}, {}}), site.span);
    return none_value();
  }
  const Value work = library_function("numpy.copy")(l, {site.span, "numpy.copy", {v}, {}});
  emit_sort(l, site, "gasell_sort",
            {constant_i64(static_cast<int64_t>(v.type.dtype)), ir::address(work.array->memory), work.array->extents[0]});
  l.program().stored.insert(work.array->memory);
  if (!in_place) return work;
  l.assign_elements(v, work, site.span);
  return none_value();
}
Value argsort(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  if (v.type.rank > 1) return library_function("numpy.argsort_rows")(l, {site.span, site.name, {v}, {}});
  const Value work = library_function("numpy.copy")(l, {site.span, "numpy.copy", {v}, {}});
  const Value order = l.allocate(DType::i64, {work.array->extents[0]}, site.span);
  emit_sort(l, site, "gasell_argsort",
            {constant_i64(static_cast<int64_t>(v.type.dtype)), ir::address(work.array->memory), work.array->extents[0],
             ir::address(order.array->memory)});
  l.program().stored.insert(order.array->memory);
  return order;
}
Value median(Lowering& l, const CallSite& site) {
  const Value flat = library_method("ravel")(l, {site.span, "ravel", {array_argument(l, site)}, {}});
  const Value s = sorted(l, {site.span, "numpy.sort", {flat}, {}});
  const ExprRef n = s.array->extents[0];
  l.raise_if(both(ScalarOp::eq, n, constant_i64(0)), "ValueError", "cannot compute median of empty array", site.span);
  auto at = [&](const ExprRef& i) { return ir::cast(l.element(s, {i}), DType::f64); };
  const ExprRef a = at((n - constant_i64(1)) / constant_i64(2)), b = at(n / constant_i64(2));
  return scalar_value(l.code().bind(both(ScalarOp::mul, both(ScalarOp::add, a, b), ir::constant(Scalar::of_float(0.5)))));
}

Value unique(Lowering& l, const CallSite& site) {
  if (site.args.size() != 1 || !site.keywords.empty())
    l.unsupported(site.span, "np.unique with what it gives beside the elements", "np.unique(x)");
  const Value s =
      sorted(l, {site.span, "numpy.sort", {library_method("ravel")(l, {site.span, "ravel", {array_argument(l, site)}, {}})}, {}});
  const ExprRef n = s.array->extents[0];
  // A mask of those that differ from the one before.
  LazyArray lazy;
  lazy.extents = {n};
  lazy.sources = {{*s.array, false}};
  lazy.at = [&l, s](const std::vector<ExprRef>& i) {
    const ExprRef first = both(ScalarOp::eq, i[0], constant_i64(0));
    const ExprRef before = l.element(s, {both(ScalarOp::max, i[0] - constant_i64(1), constant_i64(0))});
    return l.code().bind(both(ScalarOp::logical_or, first, both(ScalarOp::ne, l.element(s, i), before)));
  };
  return l.masked(s, lazy_value(DType::boolean, std::move(lazy)), site.span);
}

Value nonzero(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  const Value truth =
      l.materialise(l.elementwise(
                        {v}, DType::boolean, [](const std::vector<ExprRef>& p) { return ir::cast(p[0], DType::boolean); }, site.span),
                    site.span);
  const ExprRef count = l.code().bind(library_method("sum")(l, {site.span, "sum", {truth}, {}}).scalar, "count");
  std::vector<Value> places;
  for (int k = 0; k < v.type.rank; ++k) places.push_back(l.allocate(DType::i64, {count}, site.span));
  const std::string next = l.code().fresh("next");
  const ExprRef n = ir::variable(next, DType::i64);
  l.code().emit(ir::var(next, constant_i64(0)));
  l.for_each(truth.array->extents, false, [&](const std::vector<ExprRef>& index) {
    const ExprRef keep = l.element(truth, index);
    ir::Body body;
    for (size_t k = 0; k < index.size(); ++k) body.push_back(ir::store(places[k].array->memory, n, index[k]));
    body.push_back(ir::assign(next, n + constant_i64(1)));
    l.code().emit(ir::if_(keep, std::move(body), {}));
  });
  return tuple_value(std::move(places));
}

}  // namespace

LibraryFunction arranging_function(const std::string& path) {
  static const LibraryTable kFunctions = {
      {"numpy.concatenate", "arrays: arrays, axis=0", concatenate},
      {"numpy.hstack", "tup: arrays", hstack},
      {"numpy.vstack", "tup: arrays", vstack},
      {"numpy.row_stack", "tup: arrays", vstack},
      {"numpy.dstack", "tup: arrays", dstack},
      {"numpy.stack", "arrays: arrays, axis=0", stack},
      {"numpy.column_stack", "tup: arrays", column_stack},
      {"numpy.append", "arr: values, values: values, axis=None", append},
      {"numpy.flip", "m: array_like, axis=None", flip},
      {"numpy.fliplr", "m: array_like", flip},
      {"numpy.flipud", "m: array_like", flip},
      {"numpy.roll", "a: array_like, shift: int, axis=None", roll},
      {"numpy.triu", "m: array_like, k: int = 0", triangle},
      {"numpy.tril", "m: array_like, k: int = 0", triangle},
      {"numpy.diag", "v: array_like, k: int = 0", diag},
      {"numpy.trace", "a: array_like", trace},
      {"numpy.diff", "a: array_like, n=1", diff},
      {"numpy.repeat", "a: array_like | point, repeats: int | array_like[int]", repeat},
      {"numpy.bincount", "list: array_like, weights: array_like[real] = None, minlength: int = 0", bincount},
      {"numpy.searchsorted", "a: array_like, v: values, side: text = 'left'", searchsorted},
      {"numpy.histogram",
       "a: array_like[real] | point[real], bins: int | array_like[real] = 10, range: tuple[real] = None, *, weights: array_like[real] = "
       "None",
       histogram},
      {"numpy.sort", "a: array_like", sorted},
      {".sort", "a: array", sorted},
      {"numpy.argsort", "a: array_like", argsort},
      {".argsort", "a: array_like", argsort},
      {"numpy.median", "a: array_like[real] | point[real]", median},
      {"numpy.unique", "ar: array_like | point", unique},
      {"numpy.nonzero", "a: array_like", nonzero},
      {".nonzero", "a: array_like", nonzero},
      {"numpy.trace", "a: array_like", trace},
      {".trace", "a: array_like", trace},
  };
  return kFunctions.find(path);
}

}  // namespace gasell::functions
