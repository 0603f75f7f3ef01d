// Arrays in compiled functions: memory, elements, and expressions of whole arrays, which are computed element by element where they are
// stored.
#include "compiler/functions/lowering.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

Value tuple_value(std::vector<Value> items) {
  Value v;
  v.type.kind = Kind::tuple;
  for (const Value& item : items) v.type.items.push_back(item.type);
  v.items = std::move(items);
  return v;
}
Value array_value(DType dtype, Layout layout, ArrayValue array, bool read_only) {
  Value v;
  v.type = Type::array_of(dtype, static_cast<int>(array.extents.size()), layout, read_only);
  v.array = std::make_shared<ArrayValue>(std::move(array));
  return v;
}
Value lazy_value(DType dtype, LazyArray array) {
  Value v;
  v.type = Type::array_of(dtype, static_cast<int>(array.extents.size()));
  v.lazy = std::make_shared<LazyArray>(std::move(array));
  return v;
}
std::vector<ExprRef> c_strides(const std::vector<ExprRef>& extents) {
  std::vector<ExprRef> strides(extents.size());
  ExprRef stride = constant_i64(1);
  for (size_t k = extents.size(); k-- > 0;) {
    strides[k] = stride;
    stride = stride * extents[k];
  }
  return strides;
}

ExprRef Lowering::count_of(const std::vector<ExprRef>& extents) {
  ExprRef count = constant_i64(1);
  for (const ExprRef& e : extents) count = count * e;
  return code().bind(count, "count");
}

/// The product is taken in floats, whose error is far smaller than what lies between the largest memory there is and the largest number of
/// bytes that int64 holds.
ExprRef Lowering::too_big(const std::vector<ExprRef>& extents, DType dtype) {
  constexpr double kMost = 9.2e18;  // a little less than 2**63
  double known = size_of(dtype);
  ExprRef bytes;
  for (const ExprRef& e : extents) {
    if (is_constant(e)) {
      known *= static_cast<double>(e->value.i);
      continue;
    }
    const ExprRef extent = ir::cast(e, DType::f64);
    bytes = bytes ? both(ScalarOp::mul, bytes, extent) : extent;
  }
  if (!bytes) return boolean(known > kMost);
  return both(ScalarOp::gt, both(ScalarOp::mul, bytes, ir::constant(Scalar::of_float(known))), ir::constant(Scalar::of_float(kMost)));
}

bool Lowering::may_overlap(const ArrayValue& a, const ArrayValue& b) {
  return a.root == ArrayValue::kAnywhere || b.root == ArrayValue::kAnywhere || a.root == b.root;
}

// ---- memory ----
Value Lowering::allocate(DType dtype, std::vector<ExprRef> extents, Span at, bool clear) {
  if (program_.options.cuda)
    unsupported(at, "an array that is made in a kernel", "use cuda.local.array or cuda.shared.array, or compute element by element");
  for (ExprRef& e : extents) {
    e = code().bind(e, "n");
    if (e->kind == ir::ExprKind::constant ? e->value.i < 0 : true)
      raise_if(both(ScalarOp::lt, e, constant_i64(0)), "ValueError", "negative dimensions are not allowed", at);
  }
  raise_if(too_big(extents, dtype), "ValueError",
           "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.", at);
  ArrayValue a;
  a.memory = code().fresh("array");
  a.offset = constant_i64(0);
  a.strides = c_strides(extents);
  for (ExprRef& stride : a.strides) stride = code().bind(stride, "stride");
  a.root = ++program_.roots;
  const ExprRef count = count_of(extents);
  a.extents = std::move(extents);
  a.is_whole();
  code().emit(ir::allocate(a.memory, dtype, count, site("MemoryError", "unable to allocate {0} bytes", at)));
  code().own(a.memory);
  if (clear) {
    const std::string i = code().fresh("i");
    code().emit(ir::loop(i, constant_i64(0), count, ir::LoopKind::simd,
                         {ir::store(a.memory, ir::variable(i, DType::i64), ir::constant(Scalar::of_int(0).cast(dtype)))}));
  }
  return array_value(dtype, Layout::c, std::move(a));
}

ExprRef Lowering::element(const Value& v, const std::vector<ExprRef>& index) {
  if (v.lazy) return v.lazy->at(index);
  const ArrayValue& a = *v.array;
  note_access(a, index, false, here_);
  ExprRef at = a.offset;
  for (size_t k = 0; k < index.size(); ++k) at = at + index[k] * a.strides[k];
  return code().bind(ir::load(a.memory, v.type.dtype, at), "x");
}

void Lowering::store_element(const ArrayValue& a, DType dtype, const std::vector<ExprRef>& index, ExprRef value) {
  note_access(a, index, true, here_);
  ExprRef at = a.offset;
  for (size_t k = 0; k < index.size(); ++k) at = at + index[k] * a.strides[k];
  code().emit(ir::store(a.memory, at, ir::cast(std::move(value), dtype)));
  program_.stored.insert(a.memory);
}

void Lowering::for_each(const std::vector<ExprRef>& extents, bool simd, const std::function<void(const std::vector<ExprRef>&)>& body) {
  std::vector<ExprRef> index;
  std::vector<std::string> names;
  for (size_t k = 0; k < extents.size(); ++k) {
    names.push_back(code().fresh("i"));
    index.push_back(ir::variable(names.back(), DType::i64));
    code().open();
  }
  body(index);
  for (size_t k = extents.size(); k-- > 0;) {
    ir::Body inner = code().close();
    code().emit(ir::loop(names[k], constant_i64(0), extents[k], simd && k + 1 == extents.size() ? ir::LoopKind::simd : ir::LoopKind::serial,
                         std::move(inner)));
  }
}

void Lowering::for_apart(const Apart& shared, const std::function<void(const ExprRef&)>& body) {
  const std::string name = code().fresh("i");
  const auto lowered = [&] {
    code().open();
    body(ir::variable(name, DType::i64));
    return code().close();
  };
  if (!shares_loops()) {
    ir::Body iteration = lowered();
    code().emit(ir::loop(name, constant_i64(0), shared.count, shared.kind, std::move(iteration)));
    return;
  }
  const ExprRef& count = shared.count;
  const auto [piece, units] = pieces_of(count, kPieces, false);
  const std::string unit = code().fresh("u");
  ir::Body iteration;
  {
    const Meanwhile in_region(program_.in_region, true);
    iteration = lowered();
  }
  code().open();
  const ExprRef low = code().bind(ir::variable(unit, DType::i64) * piece, "low");
  const ExprRef high = code().bind(both(ScalarOp::min, low + piece, count), "high");
  code().emit(ir::loop(name, low, high, shared.kind, iteration));
  ir::Body unit_body = code().close();
  if (!shared.on_host) program_.parallel.regions[unit] = {name, high->name, count};
  const ir::StmtRef in_parallel = ir::loop(unit, constant_i64(0), units, ir::LoopKind::unit, std::move(unit_body));
  if (program_.seldom) return code().emit(in_parallel);
  code().emit(ir::if_(both(ScalarOp::ge, count_of(shared.elements), constant_i64(kWorthSharing)), {in_parallel},
                      {ir::loop(name, constant_i64(0), count, shared.kind, std::move(iteration))}));
}

void Lowering::for_each_apart(const std::vector<ExprRef>& extents, const std::function<void(const std::vector<ExprRef>&)>& body) {
  if (!shares_loops() || extents.empty()) return for_each(extents, true, body);
  const auto kind = [&](size_t k) { return k + 1 == extents.size() ? ir::LoopKind::simd : ir::LoopKind::serial; };
  for_apart({extents[0], extents, kind(0)}, [&](const ExprRef& first) {
    std::vector<ExprRef> index{first};
    for (size_t k = 1; k < extents.size(); ++k) {
      index.push_back(ir::variable(code().fresh("i"), DType::i64));
      code().open();
    }
    body(index);
    for (size_t k = extents.size(); k-- > 1;) {
      ir::Body inner = code().close();
      program_.parallel.independent.insert(index[k]->name);
      code().emit(ir::loop(index[k]->name, constant_i64(0), extents[k], kind(k), std::move(inner)));
    }
  });
}

void Lowering::versions(const ExprRef& exact, const std::function<void()>& loops, bool in_memory) {
  if (!exact || program_.exact) return loops();
  code().open();
  {
    const Meanwhile all_have_their_extents(program_.exact, true);
    loops();
  }
  ir::Body straight = code().close();
  // Axes are seldom stretched where the text does not say so: a region of its own is compiled when that happens.
  const bool apart = in_memory && !program_.options.parallel && !program_.in_region && !program_.in_instance && !program_.options.cuda;
  ir::Body stretched;
  {
    const Meanwhile in_region(program_.in_region, program_.in_region || apart), seldom(program_.seldom, true);
    code().open();
    loops();
    stretched = code().close();
  }
  if (apart) stretched = {ir::loop(code().fresh("u"), constant_i64(0), constant_i64(1), ir::LoopKind::unit, std::move(stretched))};
  code().emit(ir::if_(exact, std::move(straight), std::move(stretched)));
}

Value Lowering::materialise(const Value& v, Span at) {
  if (!v.lazy) return v;
  const Value target = allocate(v.type.dtype, v.lazy->extents, at);
  for_each_apart(target.array->extents,
                 [&](const std::vector<ExprRef>& index) { store_element(*target.array, v.type.dtype, index, v.lazy->at(index)); });
  return target;
}

// ---- expressions ----
/// The index of an operand: `factor` is 0 where its axis has one element for all, null where it has them all.
ExprRef Lowering::stretched(const ExprRef& index, const ExprRef& factor) const {
  if (!factor) return index;
  const bool one_for_all = factor->kind == ir::ExprKind::constant;
  return program_.exact && !one_for_all ? index : index * factor;
}

Value Lowering::elementwise(const std::vector<Value>& operands, DType result, const ElementFunction& f, Span at) {
  int rank = -1;
  for (const Value& v : operands) {
    if (v.type.is_array())
      rank = std::max(rank, v.type.rank);
    else if (!v.type.is_scalar())
      fail(v.span, "an array or a number is needed, and this is " + describe(v.type));
  }
  if (rank < 0) {
    std::vector<ExprRef> parts;
    for (const Value& v : operands) parts.push_back(v.scalar);
    return scalar_value(ir::cast(f(parts), result));
  }
  LazyArray lazy;
  lazy.extents.resize(static_cast<size_t>(rank));
  // An axis of several extents: all that are not 1 must be the same.
  for (int axis = 0; axis < rank; ++axis) {
    std::vector<ExprRef> seen;
    for (const Value& v : operands) {
      if (!v.type.is_array() || v.type.rank < rank - axis) continue;
      const ExprRef& e = v.extents()[static_cast<size_t>(axis - (rank - v.type.rank))];
      if (is_one(e) || std::any_of(seen.begin(), seen.end(), [&](const ExprRef& s) { return same(s, e); })) continue;
      seen.push_back(e);
    }
    ExprRef extent = seen.empty() ? constant_i64(1) : seen[0];
    for (size_t k = 1; k < seen.size(); ++k) {
      const ExprRef& e = seen[k];
      const ExprRef one = constant_i64(1);
      const ExprRef differ = both(ScalarOp::logical_and, both(ScalarOp::ne, extent, e),
                                  both(ScalarOp::logical_and, both(ScalarOp::ne, extent, one), both(ScalarOp::ne, e, one)));
      raise_if(differ, "ValueError", "operands could not be broadcast together: an axis has {0} and {1} elements", at, {extent, e});
      extent = code().bind(ir::op(ScalarOp::select, {both(ScalarOp::eq, extent, one), e, extent}), "extent");
    }
    lazy.extents[static_cast<size_t>(axis)] = extent;
  }
  // Where an operand's axis has one element, that is taken at every index.
  std::vector<std::function<ExprRef(const std::vector<ExprRef>&)>> readers;
  auto require = [&](const ExprRef& e) {
    if (e) lazy.exact = lazy.exact ? both(ScalarOp::logical_and, lazy.exact, e) : e;
  };
  for (const Value& v : operands) {
    if (!v.type.is_array()) {
      const ExprRef number = code().bind(v.scalar);
      readers.push_back([number](const std::vector<ExprRef>&) { return number; });
      continue;
    }
    const size_t skipped = static_cast<size_t>(rank - v.type.rank);
    bool straight = skipped == 0;
    std::vector<ExprRef> factors;  // null: the index itself
    for (size_t axis = 0; axis < static_cast<size_t>(v.type.rank); ++axis) {
      const ExprRef& own = v.extents()[axis];
      const ExprRef& whole = lazy.extents[axis + skipped];
      if (same(own, whole)) {
        factors.push_back(nullptr);
      } else {
        straight = straight && !is_one(own);
        factors.push_back(is_one(own) ? constant_i64(0)
                                      : code().bind(ir::cast(both(ScalarOp::ne, own, constant_i64(1)), DType::i64), "spread"));
        if (!is_one(own)) require(both(ScalarOp::eq, own, whole));
      }
    }
    if (v.lazy) require(v.lazy->exact);
    if (v.array)
      lazy.sources.push_back({*v.array, straight});
    else
      for (LazyArray::Source s : v.lazy->sources) lazy.sources.push_back({s.array, s.straight && straight});
    readers.push_back([this, v, skipped, factors](const std::vector<ExprRef>& index) {
      std::vector<ExprRef> own;
      for (size_t axis = 0; axis < factors.size(); ++axis) own.push_back(stretched(index[axis + skipped], factors[axis]));
      return element(v, own);
    });
  }
  if (lazy.exact) lazy.exact = code().bind(lazy.exact, "exact");
  lazy.at = [this, readers, f, result](const std::vector<ExprRef>& index) {
    std::vector<ExprRef> parts;
    for (const auto& reader : readers) parts.push_back(reader(index));
    return code().bind(ir::cast(f(parts), result), "e");
  };
  return lazy_value(result, std::move(lazy));
}

void Lowering::assign_elements(const Value& target, const Value& source, Span at) {
  if (target.type.read_only) fail(at, "the array is read-only: it comes from outside of the function, or was given read-only");
  const DType dtype = target.type.dtype;
  const ArrayValue& to = *target.array;
  if (source.type.is_array() && source.type.rank > target.type.rank)
    fail(at, "cannot assign " + describe(source.type) + " to " +
                 (target.type.rank ? "a " + std::to_string(target.type.rank) + "-d place" : "an element"));
  if (!source.type.is_array() && !source.type.is_scalar() && source.type.kind != Kind::optional)
    fail(at, "cannot assign " + describe(source.type) + " to elements of type " + std::string(name_of(dtype)));
  if (is_complex(source.type.dtype) && !is_complex(dtype) && (source.type.is_scalar() || source.type.is_array()))
    fail(at, "cannot assign complex numbers to elements of type " + std::string(name_of(dtype)), "take .real or .imag");
  if (target.type.rank == 0) {
    store_element(to, dtype, {}, scalar(source, "an element"));
    return;
  }
  if (!source.type.is_array()) {
    const ExprRef number = code().bind(ir::cast(scalar(source, "an element"), dtype));
    for_each_apart(to.extents, [&](const std::vector<ExprRef>& index) { store_element(to, dtype, index, number); });
    return;
  }
  // The source is broadcast to the target, whose shape stands.
  Value from = source;
  const auto sources = source.lazy ? source.lazy->sources : std::vector<LazyArray::Source>{{*source.array, true}};
  auto identical = [&](const ArrayValue& a) { return a.memory == to.memory && same(a.offset, to.offset) && same(a.strides, to.strides); };
  bool apart = true, safe = true;
  for (const LazyArray::Source& s : sources) {
    if (!may_overlap(s.array, to)) continue;
    apart = false;
    safe = safe && s.straight && identical(s.array);
  }
  if (!apart && !safe) {
    if (!source.lazy) from = elementwise({source}, source.type.dtype, [](const std::vector<ExprRef>& parts) { return parts[0]; }, at);
    from = materialise(from, at);
  }
  const size_t skipped = static_cast<size_t>(target.type.rank - from.type.rank);
  std::vector<ExprRef> factors;
  ExprRef exact = from.lazy ? from.lazy->exact : nullptr;
  for (size_t axis = 0; axis < static_cast<size_t>(from.type.rank); ++axis) {
    const ExprRef &own = from.extents()[axis], &whole = to.extents[axis + skipped];
    if (same(own, whole)) {
      factors.push_back(nullptr);
      continue;
    }
    const ExprRef one = constant_i64(1);
    raise_if(both(ScalarOp::logical_and, both(ScalarOp::ne, own, whole), both(ScalarOp::ne, own, one)), "ValueError",
             "could not broadcast: an axis of the value has {0} elements, that of the target {1}", at, {own, whole});
    factors.push_back(is_one(own) ? constant_i64(0) : code().bind(ir::cast(both(ScalarOp::ne, own, one), DType::i64), "spread"));
    if (is_one(own)) continue;
    const ExprRef fits = both(ScalarOp::eq, own, whole);
    exact = exact ? both(ScalarOp::logical_and, exact, fits) : fits;
  }
  if (exact) exact = code().bind(exact, "exact");
  versions(exact, [&] {
    for_each_apart(to.extents, [&](const std::vector<ExprRef>& index) {
      std::vector<ExprRef> own;
      for (size_t axis = 0; axis < factors.size(); ++axis) own.push_back(stretched(index[axis + skipped], factors[axis]));
      store_element(to, dtype, index, element(from, own));
    });
  });
}

}  // namespace gasell::functions
