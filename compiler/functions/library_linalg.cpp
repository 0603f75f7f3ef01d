// Products of matrices and np.linalg in compiled functions: the runtime's functions (runtime/functions/linalg.h), around them Numba's
// checks and messages. Products of integers, and those in kernels, are loops.
#include <limits>
#include "compiler/functions/library.h"
#include "compiler/functions/linalg_status.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

bool has_library_type(DType d) { return is_float(d) || is_complex(d); }

/// Which elements the runtime's function uses is not known: any.
void note_use(Lowering& l, const Value& v, bool writes, Span at) {
  l.note_access(*v.array, std::vector<ExprRef>(v.array->extents.size()), writes, at);
}

/// The arguments of a call under construction.
class Call {
 public:
  Call(Lowering& l, const CallSite& site, std::string function, DType dtype) : l_(l), site_(site), function_(std::move(function)) {
    args_ = {ir::address("context"), constant_i64(static_cast<int64_t>(dtype))};
  }
  /// A matrix that is read: address, offset, row step, column step. A vector is a column, or a row.
  Call& matrix(const Value& v, bool row = false) {
    note_use(l_, v, false, site_.span);
    return layout(v, row);
  }
  Call& written_matrix(const Value& v, bool row = false) {
    written(v);
    return layout(v, row);
  }
  Call& no_matrix() {
    for (int k = 0; k < 4; ++k) number(constant_i64(0));
    return *this;
  }
  /// A new array in C order.
  Call& result(const Value& v) {
    written(v);
    return number(ir::address(v.array->memory));
  }
  Call& number(const ExprRef& e) {
    args_.push_back(e);
    return *this;
  }
  /// Emits the call, and raises what it says went wrong. Where somebody interrupts it, it ends early.
  void run(std::initializer_list<std::pair<LinalgStatus, std::pair<const char*, const char*>>> failures) {
    const std::string name = l_.code().fresh("status");
    l_.code().emit(ir::call(name, DType::i64, function_, args_));
    const ExprRef status = ir::variable(name, DType::i64);
    const auto raise = [&](LinalgStatus failure, const char* exception, const char* message) {
      l_.raise_if(both(ScalarOp::eq, status, constant_i64(static_cast<int64_t>(failure))), exception, message, site_.span);
    };
    l_.code().open();
    for (const auto& [failure, what] : failures) raise(failure, what.first, what.second);
    raise(LinalgStatus::no_memory, "MemoryError", "unable to allocate work space of the linear algebra library");
    raise(LinalgStatus::no_library, "RuntimeError", "the linear algebra library OpenBLAS (libopenblas64.so.0) cannot be opened");
    ir::Body failed = l_.code().close();
    l_.code().emit(ir::if_(both(ScalarOp::ne, status, constant_i64(0)), std::move(failed), {}));
    l_.code().emit(ir::poll());
  }

 private:
  void written(const Value& v) {
    note_use(l_, v, true, site_.span);
    l_.program().stored.insert(v.array->memory);
  }
  Call& layout(const Value& v, bool row) {
    const ArrayValue& a = *v.array;
    number(ir::address(a.memory)).number(a.offset);
    if (a.extents.size() == 2) return number(a.strides[0]).number(a.strides[1]);
    return row ? number(a.extents[0]).number(a.strides[0]) : number(a.strides[0]).number(constant_i64(1));
  }

  Lowering& l_;
  const CallSite& site_;
  std::string function_;
  std::vector<ExprRef> args_;
};

using Failure = std::pair<LinalgStatus, std::pair<const char*, const char*>>;
const Failure kNotFinite{LinalgStatus::not_finite, {"LinAlgError", "Array must not contain infs or NaNs."}};
const Failure kSingular{LinalgStatus::not_possible, {"LinAlgError", "Matrix is singular to machine precision."}};
const Failure kNotConverged{LinalgStatus::not_converged, {"ValueError", "Internal algorithm failed to converge."}};

Value call_library(Lowering& l, const std::string& path, const CallSite& site, std::vector<Value> args) {
  return library_function(path)(l, {site.span, path, std::move(args), {}});
}

/// A matrix of floats or complex numbers.
Value matrix_argument(Lowering& l, const CallSite& site, size_t place, const char* name, int least_rank = 2) {
  const Value* v = site.argument(place, name);
  const std::string what = "np" + site.name.substr(site.name.find('.')) + "() ";
  if (!v->type.is_array()) l.fail(v->span, what + "is for arrays, and this is " + describe(v->type));
  if (v->type.rank > 2 || v->type.rank < least_rank)
    l.fail(v->span, what + (least_rank == 2 ? "is for 2-d arrays" : "is for 1-d and 2-d arrays") + ", and this is " + describe(v->type));
  if (!has_library_type(v->type.dtype))
    l.fail(v->span, what + "is for arrays of floats and complex numbers, and this is " + describe(v->type),
           "convert it: .astype(np.float64)");
  return l.materialise(*v, site.span);
}

void require_same(Lowering& l, const CallSite& site, const Value& a, const Value& b) {
  if (a.type.dtype != b.type.dtype)
    l.fail(site.span,
           "np" + site.name.substr(site.name.find('.')) + "() takes arrays of one dtype: " + describe(a.type) + " and " + describe(b.type),
           "convert one of them: .astype(…)");
}

ExprRef square(Lowering& l, const CallSite& site, const Value& a) {
  l.raise_if(both(ScalarOp::ne, a.extents()[0], a.extents()[1]), "LinAlgError", "Last 2 dimensions of the array must be square.",
             site.span);
  return a.extents()[0];
}

void not_empty(Lowering& l, const CallSite& site, const std::vector<ExprRef>& extents) {
  ExprRef empty = boolean(false);
  for (const ExprRef& e : extents) empty = both(ScalarOp::logical_or, empty, both(ScalarOp::eq, e, constant_i64(0)));
  l.raise_if(empty, "LinAlgError", "Arrays cannot be empty", site.span);
}

ExprRef smaller(Lowering& l, const Value& a) { return l.code().bind(both(ScalarOp::min, a.extents()[0], a.extents()[1]), "least"); }

// ---- products ----
ExprRef product_of(const ExprRef& x, const ExprRef& y, DType t) { return both(ScalarOp::mul, ir::cast(x, t), ir::cast(y, t)); }

/// The sum of products of two vectors, in a loop.
ExprRef vector_product(Lowering& l, DType t, const ExprRef& count, const std::function<ExprRef(const ExprRef&)>& left,
                       const std::function<ExprRef(const ExprRef&)>& right) {
  const std::string name = l.code().fresh("sum");
  const ExprRef sum = ir::variable(name, t);
  l.code().emit(ir::var(name, number_of(0, t)));
  l.for_each({count}, false, [&](const std::vector<ExprRef>& k) {
    l.code().emit(ir::assign(name, both(ScalarOp::add, sum, product_of(left(k[0]), right(k[0]), t))));
  });
  return l.code().snapshot(name, t, "sum");
}

/// Products of integers, and in kernels: loops in the order that walks rows, into c, which is clear where b is a matrix.
void multiply_in_loops(Lowering& l, DType t, const Value& a, const Value& b, const Value& c) {
  const ExprRef inner = a.extents().back();
  if (b.type.rank == 1) {
    l.for_each({a.extents()[0]}, false, [&](const std::vector<ExprRef>& i) {
      const ExprRef s = vector_product(
          l, t, inner, [&](const ExprRef& k) { return l.element(a, {i[0], k}); }, [&](const ExprRef& k) { return l.element(b, {k}); });
      l.store_element(*c.array, t, i, s);
    });
    return;
  }
  // Row i of the result grows by a[i, k] times row k of b.
  const std::vector<ExprRef> rows = a.type.rank == 2 ? std::vector<ExprRef>{a.extents()[0], inner} : std::vector<ExprRef>{inner};
  l.for_each(rows, false, [&](const std::vector<ExprRef>& ik) {
    const ExprRef factor = l.element(a, ik);
    l.for_each({b.extents()[1]}, true, [&](const std::vector<ExprRef>& j) {
      const std::vector<ExprRef> place = a.type.rank == 2 ? std::vector<ExprRef>{ik[0], j[0]} : std::vector<ExprRef>{j[0]};
      l.store_element(*c.array, t, place, both(ScalarOp::add, l.element(c, place), product_of(factor, l.element(b, {ik.back(), j[0]}), t)));
    });
  });
}

Value converted(Lowering& l, const Value& v, DType to, Span at) {
  if (v.type.dtype == to) return l.materialise(v, at);
  return l.materialise(l.elementwise({v}, to, [](const std::vector<ExprRef>& p) { return p[0]; }, at), at);
}

/// c = a b by the runtime; c is in memory and overlaps neither.
void multiply_by_library(Lowering& l, const CallSite& site, DType t, const Value& a, const Value& b, const Value& c) {
  const ExprRef one = constant_i64(1);
  const ExprRef n = a.type.rank == 2 ? a.extents()[0] : one, m = b.type.rank == 2 ? b.extents()[1] : one;
  Call(l, site, "gasell_multiply", t)
      .matrix(a, true)
      .matrix(b)
      .written_matrix(c, a.type.rank == 1)
      .number(n)
      .number(m)
      .number(a.extents().back())
      .run({});
}

/// dot and @ of vectors and matrices.
Value matmul(Lowering& l, const CallSite& site) {
  const Value* out = site.argument(2, "out");
  if (out && out->type.is_none()) out = nullptr;
  if (!site.args[0].type.is_array() || !site.args[1].type.is_array()) {
    if (site.name == "@") l.fail(site.span, "@ multiplies arrays: " + describe(site.args[0].type) + " and " + describe(site.args[1].type));
    return l.binary(ast::BinaryOp::mul, site.args[0], site.args[1], site.span);
  }
  const Type &left = site.args[0].type, &right = site.args[1].type;
  if (left.rank == 0 || right.rank == 0 || left.rank > 2 || right.rank > 2)
    l.unsupported(site.span, "a product of arrays of more than two axes", "multiply matrices in a loop over the other axes");
  const DType d = promote(left.dtype, right.dtype), t = d == DType::boolean ? DType::i8 : d;
  const bool library = has_library_type(t) && !l.program().options.cuda;
  const Value a = library ? converted(l, site.args[0], t, site.span) : l.materialise(site.args[0], site.span);
  const Value b = library ? converted(l, site.args[1], t, site.span) : l.materialise(site.args[1], site.span);
  const ExprRef inner = a.extents().back(), other = b.extents()[0];
  const auto kind = [](const Type& type) { return type.rank == 1 ? "vector" : "matrix"; };
  l.raise_if(both(ScalarOp::ne, inner, other), "ValueError",
             std::string("incompatible array sizes for np.dot(a, b) (") + kind(left) + " * " + kind(right) + "): {0} and {1}", site.span,
             {inner, other});
  if (left.rank == 1 && right.rank == 1) {
    if (!library || is_complex(t))
      return scalar_value(vector_product(
          l, t, inner, [&](const ExprRef& k) { return l.element(a, {k}); }, [&](const ExprRef& k) { return l.element(b, {k}); }));
    const std::string name = l.code().fresh("dot");
    note_use(l, a, false, site.span);
    note_use(l, b, false, site.span);
    l.code().emit(ir::call(name, t, "gasell_dot",
                           {constant_i64(static_cast<int64_t>(t)), ir::address(a.array->memory), a.array->offset, a.array->strides[0],
                            ir::address(b.array->memory), b.array->offset, b.array->strides[0], inner}));
    return scalar_value(ir::variable(name, t));
  }
  std::vector<ExprRef> extents;
  if (left.rank == 2) extents.push_back(a.extents()[0]);
  if (right.rank == 2) extents.push_back(b.extents()[1]);
  if (out) {
    if (!out->type.is_array() || out->type.rank != static_cast<int>(extents.size()))
      l.fail(out->span, "the output of this product is " + std::string(extents.size() == 1 ? "a vector" : "a matrix") + ", and this is " +
                            describe(out->type));
    for (size_t k = 0; k < extents.size(); ++k)
      l.raise_if(
          both(ScalarOp::ne, out->extents()[k], extents[k]), "ValueError",
          std::string("incompatible output array size for np.dot(a, b, out) (") + kind(left) + " * " + kind(right) + "): {0} and {1}",
          site.span, {out->extents()[k], extents[k]});
    if (library && out->type.dtype == t && !out->type.read_only && !Lowering::may_overlap(*out->array, *a.array) &&
        !Lowering::may_overlap(*out->array, *b.array)) {
      multiply_by_library(l, site, t, a, b, *out);
      return *out;
    }
  }
  const Value c = l.allocate(t, extents, site.span, !library && right.rank == 2);
  if (library)
    multiply_by_library(l, site, t, a, b, c);
  else
    multiply_in_loops(l, t, a, b, c);
  if (!out) return c;
  l.assign_elements(*out, c, site.span);
  return *out;
}

/// The sum of products of two vectors, the first one conjugated.
Value vdot(Lowering& l, const CallSite& site) {
  Value a = site.args[0];
  if (is_complex(a.type.dtype)) a = call_library(l, "numpy.conj", site, {a});
  return matmul(l, {site.span, site.name, {a, site.args[1]}, {}});
}

Value outer(Lowering& l, const CallSite& site) {
  const auto flat = [&](const Value& v) {
    return l.materialise(library_method("ravel")(l, {site.span, "ravel", {call_library(l, "numpy.asarray", site, {v})}, {}}), site.span);
  };
  const Value a = flat(site.args[0]), b = flat(site.args[1]);
  const Value column = library_function("numpy.expand_dims")(l, {site.span, "", {a, scalar_value(constant_i64(1))}, {}});
  const Value product = l.binary(ast::BinaryOp::mul, column, b, site.span);
  const Value* out = site.argument(2, "out");
  if (!out || out->type.is_none()) return product;
  l.assign_elements(*out, product, site.span);
  return *out;
}

/// Every element of one times the whole other one.
Value kron(Lowering& l, const CallSite& site) {
  const auto as_matrix = [&](const Value& v) {
    Value x = v.type.is_array() ? l.materialise(v, site.span) : v;
    if (x.type.is_array() && x.type.rank > 2) l.unsupported(site.span, "np.kron of more than two axes");
    return x;
  };
  const Value a = as_matrix(site.args[0]), b = as_matrix(site.args[1]);
  if (a.type.is_scalar() || b.type.is_scalar()) return l.binary(ast::BinaryOp::mul, a, b, site.span);
  const DType d = promote(a.type.dtype, b.type.dtype);
  const int rank = std::max(a.type.rank, b.type.rank);
  const auto padded = [&](const Value& v) {
    std::vector<ExprRef> extents = v.extents();
    while (static_cast<int>(extents.size()) < rank) extents.insert(extents.begin(), constant_i64(1));
    return extents;
  };
  const std::vector<ExprRef> ea = padded(a), eb = padded(b);
  std::vector<ExprRef> extents, loops = ea;
  for (int k = 0; k < rank; ++k) extents.push_back(ea[static_cast<size_t>(k)] * eb[static_cast<size_t>(k)]);
  loops.insert(loops.end(), eb.begin(), eb.end());
  const Value c = l.allocate(d, extents, site.span);
  l.for_each(loops, true, [&](const std::vector<ExprRef>& index) {
    const auto n = static_cast<size_t>(rank);
    const std::vector<ExprRef> ia(index.begin() + (rank - a.type.rank), index.begin() + rank), ib(index.end() - b.type.rank, index.end());
    std::vector<ExprRef> place;
    for (size_t k = 0; k < n; ++k) place.push_back(index[k] * eb[k] + index[n + k]);
    l.store_element(*c.array, d, place, product_of(l.element(a, ia), l.element(b, ib), d));
  });
  return c;
}

// ---- equations ----
Value solve(Lowering& l, const CallSite& site) {
  const Value a = matrix_argument(l, site, 0, "a"), b = matrix_argument(l, site, 1, "b", 1);
  require_same(l, site, a, b);
  const ExprRef n = square(l, site, a);
  l.raise_if(both(ScalarOp::ne, n, b.extents()[0]), "LinAlgError", "Incompatible array sizes, system is not dimensionally valid.",
             site.span);
  const Value x = l.allocate(a.type.dtype, b.extents(), site.span);
  Call(l, site, "gasell_solve", a.type.dtype)
      .matrix(a)
      .matrix(b)
      .result(x)
      .number(n)
      .number(b.type.rank == 2 ? b.extents()[1] : constant_i64(1))
      .run({kNotFinite, kSingular});
  return x;
}

Value inverse(Lowering& l, const CallSite& site) {
  const Value a = matrix_argument(l, site, 0, "a");
  const ExprRef n = square(l, site, a);
  const Value x = l.allocate(a.type.dtype, a.extents(), site.span);
  Call(l, site, "gasell_solve", a.type.dtype).matrix(a).no_matrix().result(x).number(n).number(n).run({kNotFinite, kSingular});
  return x;
}

Value slogdet(Lowering& l, const CallSite& site) {
  const Value a = matrix_argument(l, site, 0, "a");
  const ExprRef n = square(l, site, a);
  const DType d = a.type.dtype, real = real_of(d);
  const std::string sign = l.code().fresh("sign"), logarithm = l.code().fresh("logarithm");
  l.code().emit(ir::local_array(sign, d, 1));
  l.code().emit(ir::local_array(logarithm, real, 1));
  Call(l, site, "gasell_determinant", d).matrix(a).number(n).number(ir::address(sign)).number(ir::address(logarithm)).run({kNotFinite});
  const auto first = [&](const std::string& array, DType type) {
    return scalar_value(l.code().bind(ir::load(array, type, constant_i64(0)), "x"));
  };
  return tuple_value({first(sign, d), first(logarithm, real)});
}

Value det(Lowering& l, const CallSite& site) {
  const Value parts = slogdet(l, site);
  return l.binary(ast::BinaryOp::mul, parts.items[0], call_library(l, "numpy.exp", site, {parts.items[1]}), site.span);
}

Value lstsq(Lowering& l, const CallSite& site) {
  const Value a = matrix_argument(l, site, 0, "a"), b = matrix_argument(l, site, 1, "b", 1);
  require_same(l, site, a, b);
  const Value* rcond = site.argument(2, "rcond");
  const ExprRef m = a.extents()[0], n = a.extents()[1], columns = b.type.rank == 2 ? b.extents()[1] : constant_i64(1);
  not_empty(l, site, {m, n, columns});
  l.raise_if(both(ScalarOp::ne, m, b.extents()[0]), "LinAlgError", "Incompatible array sizes, system is not dimensionally valid.",
             site.span);
  const DType d = a.type.dtype, real = real_of(d);
  const ExprRef limit =
      rcond && !rcond->type.is_none() ? ir::cast(l.scalar(*rcond, "rcond"), DType::f64) : ir::constant(Scalar::of_float(-1));
  std::vector<ExprRef> extents{n};
  if (b.type.rank == 2) extents.push_back(columns);
  const Value x = l.allocate(d, extents, site.span), s = l.allocate(real, {smaller(l, a)}, site.span);
  const Value residuals = l.allocate(real, {columns}, site.span);
  const std::string rank = l.code().fresh("rank");
  l.code().emit(ir::local_array(rank, DType::i64, 1));
  Call(l, site, "gasell_lstsq", d)
      .matrix(a)
      .matrix(b)
      .number(m)
      .number(n)
      .number(columns)
      .number(limit)
      .result(x)
      .result(residuals)
      .result(s)
      .number(ir::address(rank))
      .run({kNotFinite, kNotConverged});
  const ExprRef found = l.code().bind(ir::load(rank, DType::i64, constant_i64(0)), "rank");
  ArrayValue kept = *residuals.array;
  kept.extents[0] = l.code().bind(
      select(both(ScalarOp::logical_or, both(ScalarOp::lt, found, n), both(ScalarOp::le, m, n)), constant_i64(0), columns), "kept");
  return tuple_value({x, array_value(real, Layout::c, std::move(kept)), scalar_value(found), s});
}

Value pinv(Lowering& l, const CallSite& site) {
  const Value a = matrix_argument(l, site, 0, "a");
  const Value* rcond = site.argument(1, "rcond");
  const ExprRef limit = rcond ? ir::cast(l.scalar(*rcond, "rcond"), DType::f64) : ir::constant(Scalar::of_float(1e-15));
  const Value result = l.allocate(a.type.dtype, {a.extents()[1], a.extents()[0]}, site.span);
  Call(l, site, "gasell_pinv", a.type.dtype)
      .matrix(a)
      .number(a.extents()[0])
      .number(a.extents()[1])
      .number(limit)
      .result(result)
      .run({kNotFinite, kNotConverged});
  return result;
}

// ---- decompositions ----
Value cholesky(Lowering& l, const CallSite& site) {
  const Value a = matrix_argument(l, site, 0, "a");
  const ExprRef n = square(l, site, a);
  const Value factor = l.allocate(a.type.dtype, a.extents(), site.span);
  Call(l, site, "gasell_cholesky", a.type.dtype)
      .matrix(a)
      .result(factor)
      .number(n)
      .run({{LinalgStatus::not_possible, {"LinAlgError", "Matrix is not positive definite."}}});
  return factor;
}

Value qr(Lowering& l, const CallSite& site) {
  if (!site.keywords.empty()) l.unsupported(site.span, "np.linalg.qr with a mode");
  const Value a = matrix_argument(l, site, 0, "a");
  not_empty(l, site, a.extents());
  const ExprRef m = a.extents()[0], n = a.extents()[1], least = smaller(l, a);
  const Value q = l.allocate(a.type.dtype, {m, least}, site.span), r = l.allocate(a.type.dtype, {least, n}, site.span);
  Call(l, site, "gasell_qr", a.type.dtype).matrix(a).result(q).result(r).number(m).number(n).run({kNotFinite, kNotConverged});
  return tuple_value({q, r});
}

Value svd(Lowering& l, const CallSite& site) {
  const Value a = matrix_argument(l, site, 0, "a");
  not_empty(l, site, a.extents());
  const Value* full = site.argument(1, "full_matrices");
  if (full && !full->is_constant()) l.fail(full->span, "full_matrices must be a constant here", "write True or False");
  const bool all = !full || full->scalar->value.i != 0;
  const ExprRef m = a.extents()[0], n = a.extents()[1], least = smaller(l, a);
  const Value u = l.allocate(a.type.dtype, {m, all ? m : least}, site.span), s = l.allocate(real_of(a.type.dtype), {least}, site.span);
  const Value vh = l.allocate(a.type.dtype, {all ? n : least, n}, site.span);
  Call(l, site, "gasell_svd", a.type.dtype)
      .matrix(a)
      .result(u)
      .result(s)
      .result(vh)
      .number(m)
      .number(n)
      .number(constant_i64(all))
      .run({kNotFinite, kNotConverged});
  return tuple_value({u, s, vh});
}

Value singular_values(Lowering& l, const CallSite& site, const Value& a) {
  not_empty(l, site, a.extents());
  const Value s = l.allocate(real_of(a.type.dtype), {smaller(l, a)}, site.span);
  Call(l, site, "gasell_svd", a.type.dtype)
      .matrix(a)
      .number(constant_i64(0))
      .result(s)
      .number(constant_i64(0))
      .number(a.extents()[0])
      .number(a.extents()[1])
      .number(constant_i64(0))
      .run({kNotFinite, kNotConverged});
  return s;
}

/// eig, eigvals, eigh, eigvalsh.
template <bool hermitian, bool with_vectors>
Value eigen(Lowering& l, const CallSite& site) {
  if (!site.keywords.empty()) l.unsupported(site.span, site.name + " with more than a matrix");
  const Value a = matrix_argument(l, site, 0, "a");
  const ExprRef n = square(l, site, a);
  const DType d = a.type.dtype;
  const Value values = l.allocate(hermitian ? real_of(d) : d, {n}, site.span);
  const Value vectors = with_vectors ? l.allocate(d, {n, n}, site.span) : none_value();
  Call call(l, site, hermitian ? "gasell_eigh" : "gasell_eig", d);
  call.matrix(a).result(values);
  if (with_vectors)
    call.result(vectors);
  else
    call.number(constant_i64(0));
  const char* const changed =
      with_vectors ? "eig() argument must not cause a domain change." : "eigvals() argument must not cause a domain change.";
  call.number(n).run({kNotFinite, kNotConverged, {LinalgStatus::not_real, {"ValueError", changed}}});
  return with_vectors ? tuple_value({values, vectors}) : values;
}

// ---- norms, ranks, powers ----
/// The order of a norm: nullopt where it was left out.
std::optional<double> order_of(Lowering& l, const CallSite& site, size_t place, const char* name) {
  const Value* order = site.argument(place, name);
  if (!order || order->type.is_none() || order->type.text == "fro") return {};
  if (!order->is_constant()) l.unsupported(order->span, "an order that is not a constant", "write the order as a literal");
  return order->scalar->value.as_double();
}

Value absolute(Lowering& l, const CallSite& site, const Value& v) { return call_library(l, "numpy.abs", site, {v}); }
Value constant_float(double x, DType type) { return scalar_value(ir::constant(Scalar::of_float(x, type))); }
Value as_real(Lowering& l, const Value& v, DType real) { return scalar_value(l.code().bind(ir::cast(v.scalar, real), "norm")); }

/// sqrt of the sum of squares.
Value euclidean(Lowering& l, const CallSite& site, const Value& v, DType real) {
  const Value squares = l.elementwise(
      {v}, real,
      [&l, real](const std::vector<ExprRef>& p) {
        if (is_complex(p[0]->type)) {
          const ExprRef re = l.code().bind(ir::op(ScalarOp::real, {p[0]})), im = l.code().bind(ir::op(ScalarOp::imag, {p[0]}));
          return both(ScalarOp::add, both(ScalarOp::mul, re, re), both(ScalarOp::mul, im, im));
        }
        const ExprRef x = l.code().bind(ir::cast(p[0], real));
        return both(ScalarOp::mul, x, x);
      },
      site.span);
  return scalar_value(l.code().bind(ir::op(ScalarOp::sqrt, {call_library(l, "numpy.sum", site, {squares}).scalar})));
}

Value norm_of(Lowering& l, const CallSite& site, const Value& v, std::optional<double> order) {
  const DType real = is_whole(v.type.dtype) ? DType::f64 : real_of(v.type.dtype);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!order) return euclidean(l, site, v, real);
  if (v.type.rank == 1) {
    if (*order == 2) return euclidean(l, site, v, real);
    const Value sizes = absolute(l, site, v);
    if (*order == kInfinity) return as_real(l, call_library(l, "numpy.max", site, {sizes}), real);
    if (*order == -kInfinity) return as_real(l, call_library(l, "numpy.min", site, {sizes}), real);
    if (*order == 0) return as_real(l, call_library(l, "numpy.count_nonzero", site, {v}), real);
    if (*order == 1) return as_real(l, call_library(l, "numpy.sum", site, {sizes}), real);
    const Value powers = l.binary(ast::BinaryOp::pow, sizes, constant_float(*order, real), site.span);
    return as_real(
        l, l.binary(ast::BinaryOp::pow, call_library(l, "numpy.sum", site, {powers}), constant_float(1 / *order, real), site.span), real);
  }
  if (*order == 2 || *order == -2) {
    const Value matrix = l.materialise(v, site.span);
    const Value s = singular_values(l, site, matrix);
    return scalar_value(l.element(s, {*order == 2 ? constant_i64(0) : s.extents()[0] - constant_i64(1)}));
  }
  const bool largest = *order > 0, columns = std::abs(*order) == 1;
  if (!columns && std::abs(*order) != kInfinity) l.fail_as("ValueError", site.span, "Invalid norm order for matrices.");
  const Value totals = call_library(l, "numpy.sum", site, {absolute(l, site, v), scalar_value(constant_i64(columns ? 0 : 1))});
  return as_real(l, call_library(l, largest ? "numpy.max" : "numpy.min", site, {totals}), real);
}

Value norm(Lowering& l, const CallSite& site) {
  if (site.keyword("axis") || site.keyword("keepdims")) l.unsupported(site.span, "np.linalg.norm along axes");
  const std::optional<double> order = order_of(l, site, 1, "ord");
  if (order && site.args[0].type.rank > 2) l.fail(site.span, "np.linalg.norm() with an order is for 1-d and 2-d arrays");
  return norm_of(l, site, site.args[0], order);
}

Value cond(Lowering& l, const CallSite& site) {
  const Value x = matrix_argument(l, site, 0, "x");
  const std::optional<double> p = order_of(l, site, 1, "p");
  Value r;
  if (!p || *p == 2 || *p == -2) {
    const Value s = singular_values(l, site, x);
    const ExprRef first = l.element(s, {constant_i64(0)}), last = l.element(s, {s.extents()[0] - constant_i64(1)});
    r = scalar_value(p && *p == -2 ? both(ScalarOp::div, last, first) : both(ScalarOp::div, first, last));
  } else {
    const Value inverted = inverse(l, {site.span, "numpy.linalg.inv", {x}, {}});
    r = scalar_value(both(ScalarOp::mul, norm_of(l, site, x, p).scalar, norm_of(l, site, inverted, p).scalar));
  }
  const ExprRef value = l.code().bind(r.scalar, "cond");
  const ExprRef infinite = ir::constant(Scalar::of_float(std::numeric_limits<double>::infinity(), value->type));
  return scalar_value(l.code().bind(select(ir::op(ScalarOp::isnan, {value}), infinite, value), "cond"));
}

Value matrix_rank(Lowering& l, const CallSite& site) {
  const Value a = matrix_argument(l, site, 0, "A", 1);
  if (a.type.rank == 1) {
    const Value nonzero = call_library(l, "numpy.any", site, {a});
    return scalar_value(l.code().bind(ir::cast(nonzero.scalar, DType::i64), "rank"));
  }
  const Value* tol = site.argument(1, "tol");
  const Value s = singular_values(l, site, a);
  const DType real = s.type.dtype;
  ExprRef limit;
  if (tol && !tol->type.is_none()) {
    limit = ir::cast(l.scalar(*tol, "tol"), real);
  } else {
    const double epsilon = real == DType::f32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
    const ExprRef most = ir::cast(both(ScalarOp::max, a.extents()[0], a.extents()[1]), real);
    limit = both(ScalarOp::mul, both(ScalarOp::mul, l.element(s, {constant_i64(0)}), most), ir::constant(Scalar::of_float(epsilon, real)));
  }
  const ExprRef bound = l.code().bind(limit, "limit");
  const Value above =
      l.elementwise({s}, DType::boolean, [bound](const std::vector<ExprRef>& p) { return both(ScalarOp::gt, p[0], bound); }, site.span);
  return call_library(l, "numpy.count_nonzero", site, {above});
}

Value matrix_power(Lowering& l, const CallSite& site) {
  const Value a = matrix_argument(l, site, 0, "a");
  const Value* power = site.argument(1, "n");
  if (!is_integer(power->type.dtype)) l.fail(site.span, "Exponent must be an integer.");
  const ExprRef n = a.extents()[0];
  l.raise_if(both(ScalarOp::ne, n, a.extents()[1]), "ValueError", "input must be a square array", site.span);
  const Value result = l.allocate(a.type.dtype, a.extents(), site.span);
  Call(l, site, "gasell_matrix_power", a.type.dtype)
      .matrix(a)
      .number(n)
      .number(ir::cast(power->scalar, DType::i64))
      .result(result)
      .run({kNotFinite, kSingular});
  return result;
}

}  // namespace

LibraryFunction linalg_function(const std::string& path) {
  static const LibraryTable kFunctions = {
      {"numpy.dot", "a: operand, b: operand, out: out = None", matmul},
      {".dot", "a: operand, b: operand, out: out = None", matmul},
      {"numpy.matmul", "a: operand, b: operand, out: out = None", matmul},
      {"numpy.vdot", "a: vector, b: vector", vdot},
      {"numpy.outer", "a: values, b: values, out: out = None", outer},
      {"numpy.kron", "a: operand, b: operand", kron},
      {"numpy.linalg.solve", "a, b", solve},
      {"numpy.linalg.inv", "a", inverse},
      {"numpy.linalg.det", "a", det},
      {"numpy.linalg.slogdet", "a", slogdet},
      {"numpy.linalg.lstsq", "a, b, rcond: real = None", lstsq},
      {"numpy.linalg.pinv", "a, rcond: real = 1e-15", pinv},
      {"numpy.linalg.cholesky", "a", cholesky},
      {"numpy.linalg.qr", "a", qr},
      {"numpy.linalg.svd", "a, full_matrices: number = True", svd},
      {"numpy.linalg.eig", "a", eigen<false, true>},
      {"numpy.linalg.eigvals", "a", eigen<false, false>},
      {"numpy.linalg.eigh", "a", eigen<true, true>},
      {"numpy.linalg.eigvalsh", "a", eigen<true, false>},
      {"numpy.linalg.norm", "x: array, ord: real | text = None", norm},
      {"numpy.linalg.cond", "x, p: real | text = None", cond},
      {"numpy.linalg.matrix_rank", "A, tol: real = None", matrix_rank},
      {"numpy.linalg.matrix_power", "a, n: int", matrix_power},
  };
  return kFunctions.find(path);
}

}  // namespace gasell::functions
