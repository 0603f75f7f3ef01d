// Arrays made in compiled functions: np.empty, np.zeros, np.arange, … and what gives an array another form.
#include <unordered_map>

#include "compiler/functions/as_graph.h"
#include "compiler/functions/library.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

std::vector<ExprRef> shape_argument(Lowering& l, const Value& v) {
  std::vector<ExprRef> extents;
  if (v.type.is_tuple()) {
    for (const Value& item : v.items) extents.push_back(l.index_number(item, "a shape"));
  } else {
    extents.push_back(l.index_number(v, "a shape"));
  }
  return extents;
}

DType dtype_or(Lowering& l, const Value* v, DType otherwise) {
  if (!v || v->type.is_none()) return otherwise;
  const auto dtype = dtype_argument(*v);
  if (!dtype) l.fail(v->span, "this is no dtype: " + describe(v->type));
  return *dtype;
}

Value filled(Lowering& l, const CallSite& site, std::vector<ExprRef> extents, DType dtype, const ExprRef& number) {
  const Value v = l.allocate(dtype, std::move(extents), site.span);
  l.assign_elements(v, scalar_value(number), site.span);
  return v;
}

Value empty(Lowering& l, const CallSite& site) {
  return l.allocate(dtype_or(l, site.argument(1, "dtype"), DType::f64), shape_argument(l, site.args[0]), site.span);
}
Value zeros(Lowering& l, const CallSite& site) {
  return l.allocate(dtype_or(l, site.argument(1, "dtype"), DType::f64), shape_argument(l, site.args[0]), site.span, true);
}
Value ones(Lowering& l, const CallSite& site) {
  const DType dtype = dtype_or(l, site.argument(1, "dtype"), DType::f64);
  return filled(l, site, shape_argument(l, site.args[0]), dtype, ir::constant(Scalar::of_int(1).cast(dtype)));
}
Value full(Lowering& l, const CallSite& site) {
  const ExprRef number = l.scalar(site.args[1], "np.full");
  return filled(l, site, shape_argument(l, site.args[0]), dtype_or(l, site.argument(2, "dtype"), number->type), number);
}

/// A number as an array without axes.
Value point(Lowering& l, const Value& v, DType dtype, Span at) {
  const Value array = l.allocate(dtype, {}, at);
  l.store_element(*array.array, dtype, {}, v.scalar);
  return array;
}

Value array_argument(Lowering& l, const CallSite& site) {
  Value v = site.args[0];
  if (v.type.is_tuple() || v.type.is_list()) v = library_function("numpy.array")(l, {site.span, "np.array", {v}, {}});
  if (v.type.is_scalar()) v = point(l, v, v.type.dtype, site.span);
  return v;
}
std::vector<ExprRef> like_extents(Lowering& l, const Value& v, const Value* shape) {
  if (shape && !shape->type.is_none()) return shape_argument(l, *shape);
  return v.extents();
}
Value empty_like(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  return l.allocate(dtype_or(l, site.argument(1, "dtype"), v.type.dtype), like_extents(l, v, site.keyword("shape")), site.span);
}
Value zeros_like(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  return l.allocate(dtype_or(l, site.argument(1, "dtype"), v.type.dtype), like_extents(l, v, site.keyword("shape")), site.span, true);
}
Value ones_like(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  const DType dtype = dtype_or(l, site.argument(1, "dtype"), v.type.dtype);
  return filled(l, site, like_extents(l, v, site.keyword("shape")), dtype, ir::constant(Scalar::of_int(1).cast(dtype)));
}
Value full_like(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  const DType dtype = dtype_or(l, site.argument(2, "dtype"), v.type.dtype);
  return filled(l, site, like_extents(l, v, site.keyword("shape")), dtype, l.scalar(site.args[1], "np.full_like"));
}

Value arange(Lowering& l, const CallSite& site) {
  std::vector<Value> numbers = site.args;
  const Value* dtype = site.keyword("dtype");
  if (numbers.size() == 4) dtype = &site.args[3], numbers.pop_back();
  const Value zero = scalar_value(constant_i64(0)), one = scalar_value(constant_i64(1));
  const Value start = numbers.size() > 1 ? numbers[0] : zero, stop = numbers[numbers.size() > 1 ? 1 : 0],
              step = numbers.size() > 2 ? numbers[2] : one;
  DType type = DType::i64;
  for (const Value* v : {&start, &stop, &step}) type = common_number(type, l.scalar(*v, "np.arange")->type);
  const ExprRef a = l.code().bind(ir::cast(start.scalar, type)), b = l.code().bind(ir::cast(stop.scalar, type)),
                by = l.code().bind(ir::cast(step.scalar, type));
  ExprRef count;
  if (is_integer(type)) {
    l.raise_if(both(ScalarOp::eq, by, ir::constant(Scalar::of_int(0).cast(type))), "ZeroDivisionError", "division by zero", site.span);
    const ExprRef up =
        (ir::cast(b, DType::i64) - ir::cast(a, DType::i64) + ir::cast(by, DType::i64) - constant_i64(1)) / ir::cast(by, DType::i64);
    const ExprRef down =
        (ir::cast(b, DType::i64) - ir::cast(a, DType::i64) + ir::cast(by, DType::i64) + constant_i64(1)) / ir::cast(by, DType::i64);
    count = ir::op(ScalarOp::select, {both(ScalarOp::gt, ir::cast(by, DType::i64), constant_i64(0)), up, down});
  } else {
    count = ir::cast(ir::op(ScalarOp::ceil, {both(ScalarOp::div, both(ScalarOp::sub, b, a), by)}), DType::i64);
  }
  count = both(ScalarOp::max, count, constant_i64(0));
  LazyArray lazy;
  lazy.extents = {l.code().bind(count, "count")};
  const DType result = dtype_or(l, dtype, type);
  lazy.at = [&l, a, by, type, result](const std::vector<ExprRef>& index) {
    return l.code().bind(ir::cast(both(ScalarOp::add, a, both(ScalarOp::mul, ir::cast(index[0], type), by)), result));
  };
  return lazy_value(result, std::move(lazy));
}

Value linspace(Lowering& l, const CallSite& site) {
  const DType type = is_complex(site.args[0].type.dtype) || is_complex(site.args[1].type.dtype) ? DType::c128 : DType::f64;
  const ExprRef a = l.code().bind(l.number(site.args[0], type)), b = l.code().bind(l.number(site.args[1], type));
  const Value* number = site.argument(2, "num");
  const ExprRef n = number ? l.code().bind(l.index_number(*number, "np.linspace")) : constant_i64(50);
  const ExprRef last = l.code().bind(n - constant_i64(1), "last");
  const ExprRef step =
      l.code().bind(both(ScalarOp::div, both(ScalarOp::sub, b, a), ir::cast(both(ScalarOp::max, last, constant_i64(1)), type)), "step");
  LazyArray lazy;
  lazy.extents = {n};
  lazy.at = [&l, a, b, last, step, type](const std::vector<ExprRef>& index) {
    const ExprRef x = both(ScalarOp::add, a, both(ScalarOp::mul, ir::cast(index[0], type), step));
    // The last one is the stop itself.
    return l.code().bind(
        ir::op(ScalarOp::select,
               {both(ScalarOp::logical_and, both(ScalarOp::eq, index[0], last), both(ScalarOp::gt, last, constant_i64(0))), b, x}));
  };
  return lazy_value(type, std::move(lazy));
}

Value eye(Lowering& l, const CallSite& site) {
  const ExprRef n = l.code().bind(l.index_number(site.args[0], "np.eye"));
  const Value* columns = site.argument(1, "M");
  const Value* diagonal = site.argument(2, "k");
  const bool identity = site.name == "numpy.identity";
  const DType dtype = dtype_or(l, identity ? site.argument(1, "dtype") : site.argument(3, "dtype"), DType::f64);
  const ExprRef m = !identity && columns && !columns->type.is_none() ? l.code().bind(l.index_number(*columns, "np.eye")) : n;
  const ExprRef k = !identity && diagonal ? l.code().bind(l.index_number(*diagonal, "np.eye")) : constant_i64(0);
  LazyArray lazy;
  lazy.extents = {n, m};
  lazy.at = [&l, dtype, k](const std::vector<ExprRef>& index) {
    return l.code().bind(ir::cast(both(ScalarOp::eq, index[1], index[0] + k), dtype));
  };
  return lazy_value(dtype, std::move(lazy));
}

/// np.array and np.asarray of arrays and nested tuples.
Value array(Lowering& l, const CallSite& site) {
  const Value v = site.args[0];
  const Value* dtype = site.argument(1, "dtype");
  if (v.type.is_array()) {
    const DType d = dtype_or(l, dtype, v.type.dtype);
    if (site.name == "numpy.asarray" && d == v.type.dtype) return v;
    return l.materialise(l.elementwise({v}, d, [d](const std::vector<ExprRef>& p) { return ir::cast(p[0], d); }, site.span), site.span);
  }
  if (v.type.is_scalar()) return point(l, v, dtype_or(l, dtype, v.type.dtype), site.span);
  if (v.type.is_list())
    return l.array_of_list(v, dtype && !dtype->type.is_none() ? std::optional(dtype_or(l, dtype, DType::f64)) : std::nullopt, site.span);
  if (!v.type.is_tuple()) l.fail(v.span, "an array cannot be made of " + describe(v.type));
  std::vector<int64_t> extents;
  for (const Value* t = &v; t->type.is_tuple(); t = &t->items[0]) {
    extents.push_back(static_cast<int64_t>(t->items.size()));
    if (t->items.empty()) break;
  }
  std::vector<ExprRef> numbers;
  std::function<void(const Value&, size_t)> flatten = [&](const Value& t, size_t depth) {
    if (depth == extents.size()) {
      numbers.push_back(l.scalar(t, "np.array"));
      return;
    }
    if (!t.type.is_tuple() || static_cast<int64_t>(t.items.size()) != extents[depth]) l.fail(v.span, "an array needs rows of one length");
    for (const Value& item : t.items) flatten(item, depth + 1);
  };
  flatten(v, 0);
  DType type = numbers.empty() ? DType::f64 : numbers[0]->type;
  for (const ExprRef& n : numbers) type = promote(type, n->type);
  type = dtype_or(l, dtype, type);
  std::vector<ExprRef> shape;
  for (const int64_t e : extents) shape.push_back(constant_i64(e));
  const Value result = l.allocate(type, std::move(shape), site.span);
  for (size_t k = 0; k < numbers.size(); ++k)
    l.code().emit(ir::store(result.array->memory, constant_i64(static_cast<int64_t>(k)), ir::cast(numbers[k], type)));
  return result;
}

/// relative(a, -1, 0): the element of a stencil's array that is so far from the one at hand. Only as_graph() knows where that is.
Value relative(Lowering& l, const CallSite& site) {
  const Value& array = site.args[0];
  if (array.lazy) l.fail(site.span, "only an argument has elements relative to another");
  std::vector<ExprRef> args{ir::address(array.array->memory)};
  for (size_t k = 1; k < site.args.size(); ++k) args.push_back(l.index_number(site.args[k], "an offset"));
  const std::string name = l.code().fresh("element");
  l.code().emit(ir::call(name, array.type.dtype, kRelative, std::move(args)));
  return scalar_value(ir::variable(name, array.type.dtype));
}
/// empty_result(f, shape, *arguments): an array for what f returns of the arguments, which is not called. What stencils allocate with.
Value empty_result(Lowering& l, const CallSite& site) {
  const size_t sites = l.program().sites.size();
  l.code().open();
  CallSite call{site.span, "", {site.args.begin() + 2, site.args.end()}, {}};
  const Type type = l.call_value(site.args[0], call).type;
  l.code().discard();
  l.program().sites.resize(sites);
  if (!type.is_scalar()) l.fail(site.span, "the kernel of a stencil returns a number, and this one " + describe(type));
  return l.allocate(type.dtype, shape_argument(l, site.args[1]), site.span);
}

// ---- another form ----
Value copy(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  return l.materialise(l.elementwise({v}, v.type.dtype, [](const std::vector<ExprRef>& p) { return p[0]; }, site.span), site.span);
}
Value ascontiguous(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  return v.array && v.type.layout == Layout::c ? v : copy(l, site);
}
Value astype(Lowering& l, const CallSite& site) {
  const Value v = array_argument(l, site);
  const DType d = dtype_or(l, site.argument(1, "dtype"), v.type.dtype);
  return l.elementwise({v}, d, [d](const std::vector<ExprRef>& p) { return ir::cast(p[0], d); }, site.span);
}
Value fill(Lowering& l, const CallSite& site) {
  l.assign_elements(site.args[0], site.args[1], site.span);
  return none_value();
}

Value reshape(Lowering& l, const CallSite& site) {
  Value v = l.materialise(array_argument(l, site), site.span);
  std::vector<ExprRef> extents;
  if (site.args.size() == 2)
    extents = shape_argument(l, site.args[1]);
  else
    for (size_t k = 1; k < site.args.size(); ++k) extents.push_back(l.index_number(site.args[k], "a shape"));
  if (v.type.layout != Layout::c)
    v = l.materialise(l.elementwise({v}, v.type.dtype, [](const std::vector<ExprRef>& p) { return p[0]; }, site.span), site.span);
  const ExprRef count = l.count_of(v.array->extents);
  // One extent may be left to be found.
  for (size_t k = 0; k < extents.size(); ++k) {
    if (extents[k]->kind != ir::ExprKind::constant || extents[k]->value.i != -1) continue;
    ExprRef others = constant_i64(1);
    for (size_t j = 0; j < extents.size(); ++j)
      if (j != k) others = others * extents[j];
    extents[k] = l.code().bind(count / both(ScalarOp::max, others, constant_i64(1)), "extent");
    break;
  }
  for (ExprRef& e : extents) {
    e = l.code().bind(e, "extent");
    if (!is_constant(e) || e->value.i < 0)
      l.raise_if(both(ScalarOp::lt, e, constant_i64(0)), "ValueError", "negative dimensions not allowed", site.span);
  }
  const ExprRef total = l.count_of(extents);
  const ExprRef wrong = both(ScalarOp::logical_or, l.too_big(extents, v.type.dtype), both(ScalarOp::ne, total, count));
  l.raise_if(wrong, "ValueError", "cannot reshape array of size {0} into a shape of size {1}", site.span, {count, total});
  ArrayValue a = *v.array;
  a.extents = extents;
  a.strides = c_strides(extents);
  a.axes.clear(), a.fixed.clear();
  return array_value(v.type.dtype, Layout::c, std::move(a), v.type.read_only);
}
Value ravel(Lowering& l, const CallSite& site) {
  return reshape(l, {site.span, site.name, {site.args[0], scalar_value(constant_i64(-1))}, {}});
}
Value flatten(Lowering& l, const CallSite& site) { return copy(l, {site.span, site.name, {ravel(l, site)}, {}}); }

Value transpose(Lowering& l, const CallSite& site) {
  const Value v = l.materialise(array_argument(l, site), site.span);
  const Value* given = site.argument(1, "axes");
  if (!given || given->type.is_none()) return l.attribute(v, "T", site.span);
  std::vector<Value> axes = given->type.is_tuple() ? given->items : std::vector<Value>(site.args.begin() + 1, site.args.end());
  if (static_cast<int>(axes.size()) != v.type.rank) l.fail(site.span, "transpose needs one number an axis");
  ArrayValue a = *v.array;
  std::vector<bool> seen(axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    if (!axes[k].is_constant()) l.fail(site.span, "the axes of transpose must be constants");
    const int64_t from = axes[k].scalar->value.i + (axes[k].scalar->value.i < 0 ? v.type.rank : 0);
    if (from < 0 || from >= v.type.rank || seen[static_cast<size_t>(from)]) l.fail_as("ValueError", site.span, "axes don't match array");
    seen[static_cast<size_t>(from)] = true;
    a.extents[k] = v.array->extents[static_cast<size_t>(from)];
    a.strides[k] = v.array->strides[static_cast<size_t>(from)];
    if (!a.axes.empty()) a.axes[k] = v.array->axes[static_cast<size_t>(from)];
  }
  return array_value(v.type.dtype, Layout::any, std::move(a), v.type.read_only);
}

Value expand_dims(Lowering& l, const CallSite& site) {
  const Value v = l.materialise(array_argument(l, site), site.span);
  const Value axis = site.args[1];
  if (!axis.is_constant()) l.fail(axis.span, "the axis must be a constant");
  const int64_t at = axis.scalar->value.i + (axis.scalar->value.i < 0 ? v.type.rank + 1 : 0);
  if (at < 0 || at > v.type.rank) l.fail_as("ValueError", axis.span, "axis is out of bounds");
  ArrayValue a = *v.array;
  a.extents.insert(a.extents.begin() + at, constant_i64(1));
  a.strides.insert(a.strides.begin() + at, constant_i64(0));
  if (!a.axes.empty()) a.axes.insert(a.axes.begin() + at, ArrayValue::kPart);
  return array_value(v.type.dtype, Layout::any, std::move(a), v.type.read_only);
}

}  // namespace

LibraryFunction creation_function(const std::string& path) {
  static const LibraryTable kFunctions = {
      {"numba.empty_result", "f: function, shape: shape, *arguments", empty_result},
      {kRelative, "array: array, *offsets: int", relative},
      {"numpy.empty", "shape: shape, dtype: dtype = None", empty},
      {"numpy.zeros", "shape: shape, dtype: dtype = None", zeros},
      {"numpy.ones", "shape: shape, dtype: dtype = None", ones},
      {"numpy.full", "shape: shape, fill_value: number, dtype: dtype = None", full},
      {"numpy.empty_like", "prototype: values, dtype: dtype = None, *, shape: shape = None", empty_like},
      {"numpy.zeros_like", "a: values, dtype: dtype = None, *, shape: shape = None", zeros_like},
      {"numpy.ones_like", "a: values, dtype: dtype = None, *, shape: shape = None", ones_like},
      {"numpy.full_like", "a: values, fill_value: number, dtype: dtype = None, *, shape: shape = None", full_like},
      {"numpy.arange", "start: real, stop: real = None, step: real = None, dtype: dtype = None", arange},
      {"numpy.linspace", "start: number, stop: number, num: int = 50", linspace},
      {"numpy.eye", "N: int, M: int = None, k: int = 0, dtype: dtype = None", eye},
      {"numpy.identity", "n: int, dtype: dtype = None", eye},
      {"numpy.array", "object: values, dtype: dtype = None", array},
      {"numpy.asarray", "a: values, dtype: dtype = None", array},
      {"numpy.copy", "a: values", copy},
      {"numpy.ascontiguousarray", "a: values", ascontiguous},
      {"numpy.reshape", "a: values, shape: shape", reshape},
      {"numpy.ravel", "a: values", ravel},
      {"numpy.transpose", "a: values, axes: tuple = None", transpose},
      {"numpy.expand_dims", "a: values, axis: int", expand_dims},
      {".copy", "a: array | point", copy},
      {".astype", "a: operand, dtype: dtype", astype},
      {".fill", "a: out, value: number", fill},
      {".reshape", "a: array | point, *shape: shape", reshape},
      {".ravel", "a: array | point", ravel},
      {".flatten", "a: array | point", flatten},
      {".transpose", "a: array | point, *axes: axis | None", transpose},
  };
  return kFunctions.find(path);
}

}  // namespace gasell::functions
