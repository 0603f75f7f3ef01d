// Reductions of arrays in compiled functions.
#include <limits>
#include "compiler/functions/library.h"
#include "compiler/graph/scan_blocks.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

/// np.sum and np.prod of small integers are computed in 64 bits.
DType wide(DType d) { return is_whole(d) ? (kind(d) == 'u' ? DType::u64 : DType::i64) : d; }

/// A reduction: where it begins, how an element is taken in, what comes out.
struct Reduction {
  DType type;
  ExprRef initial;  // null: the first element
  std::function<ExprRef(const ExprRef& accumulator, const ExprRef& element)> step;
  std::function<ExprRef(const ExprRef& accumulator, const ExprRef& count)> finish;  // null: the accumulator
};

/// The one axis a reduction goes over; nullopt: all.
std::optional<int> axis_of(Lowering& l, const CallSite& site, const Value& v, size_t place = 1) {
  const Value* axis = site.argument(place, "axis");
  if (!axis || axis->type.is_none()) return {};
  if (!axis->is_constant() || !is_integer(axis->scalar->type))
    l.fail(axis->span, "the axis of a reduction must be a constant number, and this is " + describe(axis->type),
           axis->type.is_tuple() ? "reduce along one axis, then along the other" : "write it as a literal");
  const int64_t k = axis->scalar->value.i;
  if (k < -v.type.rank || k >= v.type.rank)
    l.fail_as("ValueError", axis->span,
              "axis " + std::to_string(k) + " is out of bounds for array of dimension " + std::to_string(v.type.rank));
  return static_cast<int>(k < 0 ? k + v.type.rank : k);
}

Value array_of(Lowering& l, const CallSite& site) {
  Value v = site.args[0];
  if (v.type.is_tuple() || v.type.is_list()) v = library_function("numpy.array")(l, {site.span, "np.array", {v}, {}});
  return v;
}

using ElementAt = std::function<ExprRef(const std::vector<ExprRef>&)>;

/// The accumulator over all indices of `extents`, elements by `at`, in order.
ExprRef accumulate(Lowering& l, const Reduction& r, const std::vector<ExprRef>& extents, const ElementAt& at) {
  const std::string name = l.code().fresh("sum");
  const ExprRef variable = ir::variable(name, r.type);
  l.code().emit(ir::var(name, r.initial ? r.initial : at(std::vector<ExprRef>(extents.size(), constant_i64(0)))));
  l.for_each(extents, false, [&](const std::vector<ExprRef>& index) { l.code().emit(ir::assign(name, r.step(variable, at(index)))); });
  return l.code().snapshot(name, r.type, "sum");
}

/// The same of pieces of the outermost axis, in parallel, combined in a fixed tree.
ExprRef accumulate_in_pieces(Lowering& l, const CallSite& site, const Reduction& r, const std::vector<ExprRef>& extents,
                             const ElementAt& at) {
  Code& code = l.code();
  const std::string unit = code.fresh("u"), counter = code.fresh("i"), own = code.fresh("sum");
  const ExprRef u = ir::variable(unit, DType::i64), i = ir::variable(counter, DType::i64), variable = ir::variable(own, r.type);
  const auto [piece, units] = l.pieces_of(extents[0], Lowering::kPieces, true);
  const Lowering::Parts parts{code.fresh("partial"), r.type, r.step};
  l.allocate_parts(parts.memory, r.type, units, site.span);
  code.open();
  {
    const Meanwhile in_region(l.program().in_region, true);
    const ExprRef low = code.bind(u * piece, "low"), high = code.bind(both(ScalarOp::min, low + piece, extents[0]), "high");
    code.emit(ir::var(own, r.initial ? r.initial : at(std::vector<ExprRef>(extents.size(), constant_i64(0)))));
    code.open();
    l.for_each({extents.begin() + 1, extents.end()}, false, [&](const std::vector<ExprRef>& inner) {
      std::vector<ExprRef> index = inner;
      index.insert(index.begin(), i);
      code.emit(ir::assign(own, r.step(variable, at(index))));
    });
    ir::Body iteration = code.close();
    code.emit(ir::loop(counter, low, high, ir::LoopKind::serial, std::move(iteration)));
    l.program().parallel.regions[unit] = {counter, high->name, extents[0]};
    l.program().parallel.regions[unit].partial[parts.memory] = r.step;
    code.emit(ir::store(parts.memory, u, variable));
    l.program().stored.insert(parts.memory);
  }
  ir::Body unit_body = code.close();
  code.emit(ir::loop(unit, constant_i64(0), units, ir::LoopKind::unit, std::move(unit_body)));
  return l.combine_parts(parts, units, r.initial ? r.initial : ir::load(parts.memory, r.type, constant_i64(0)), "sum");
}

/// Of all elements of an array, `count` of them.
ExprRef accumulate_all(Lowering& l, const CallSite& site, const Reduction& r, const Value& v, const ExprRef& count) {
  Code& code = l.code();
  const std::string total = code.fresh("sum");
  const ElementAt at = [&](const std::vector<ExprRef>& index) { return ir::cast(l.element(v, index), r.type); };
  code.emit(ir::var(total, number_of(0, r.type)));
  const auto emitted = [&](const auto& sum) {
    code.open();
    code.emit(ir::assign(total, sum()));
    return code.close();
  };
  const auto sum = [&] {
    ir::Body in_order = emitted([&] { return accumulate(l, r, v.extents(), at); });
    if (!l.shares_loops() || v.extents().empty()) {
      for (ir::StmtRef& s : in_order) code.emit(std::move(s));
      return;
    }
    ir::Body in_pieces = emitted([&] { return accumulate_in_pieces(l, site, r, v.extents(), at); });
    code.emit(ir::if_(both(ScalarOp::ge, count, constant_i64(Lowering::kWorthSharing)), std::move(in_pieces), std::move(in_order)));
  };
  l.versions(v.lazy ? v.lazy->exact : nullptr, sum, false);
  return code.snapshot(total, r.type, "sum");
}

/// Along the last axis: each result for itself. Along another one: rows of the result grow by rows of the array, as vectors; each number
/// adds up in the order of the axis either way.
Value accumulate_along(Lowering& l, const CallSite& site, const Reduction& r, const Value& v, size_t axis) {
  constexpr int64_t kStrip = 256;  // of a row that stays in the nearest cache
  Code& code = l.code();
  const std::vector<ExprRef>& extents = v.extents();
  const ExprRef& count = extents[axis];
  std::vector<ExprRef> kept = extents;
  kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(axis));
  const Value target = l.allocate(r.type, kept, site.span);
  const auto element = [&](std::vector<ExprRef> index, const ExprRef& k) {
    index.insert(index.begin() + static_cast<std::ptrdiff_t>(axis), k);
    return ir::cast(l.element(v, index), r.type);
  };
  const auto give = [&](const std::vector<ExprRef>& index, const ExprRef& value) { l.store_element(*target.array, r.type, index, value); };
  const auto over = [&](const std::vector<ExprRef>& loops, const std::function<void(const std::vector<ExprRef>&)>& body) {
    l.for_apart({.count = loops[0], .elements = extents, .on_host = true}, [&](const ExprRef& first) {
      l.for_each({loops.begin() + 1, loops.end()}, false, [&](std::vector<ExprRef> index) {
        index.insert(index.begin(), first);
        body(index);
      });
    });
  };
  const auto along_last = [&] {
    over(kept, [&](const std::vector<ExprRef>& index) {
      const ExprRef a = accumulate(l, r, {count}, [&](const std::vector<ExprRef>& k) { return element(index, k[0]); });
      give(index, r.finish ? r.finish(a, count) : a);
    });
  };
  const auto in_rows = [&] {
    const ExprRef width = kept.back();
    std::vector<ExprRef> loops = kept;
    loops.back() = code.bind((width + constant_i64(kStrip - 1)) / constant_i64(kStrip), "strips");
    over(loops, [&](std::vector<ExprRef> index) {
      const ExprRef low = code.bind(index.back() * constant_i64(kStrip), "low");
      const ExprRef high = code.bind(both(ScalarOp::min, low + constant_i64(kStrip), width), "high");
      const auto row = [&](const std::function<ExprRef(const std::vector<ExprRef>&)>& value) {
        const std::string j = code.fresh("j");
        index.back() = ir::variable(j, DType::i64);
        code.open();
        give(index, value(index));
        ir::Body body = code.close();
        code.emit(ir::loop(j, low, high, ir::LoopKind::simd, std::move(body)));
      };
      row([&](const std::vector<ExprRef>& at) { return r.initial ? r.initial : element(at, constant_i64(0)); });
      const std::string k = code.fresh("k");
      code.open();
      row([&](const std::vector<ExprRef>& at) { return r.step(l.element(target, at), element(at, ir::variable(k, DType::i64))); });
      ir::Body rows = code.close();
      code.emit(ir::loop(k, constant_i64(r.initial ? 0 : 1), count, ir::LoopKind::serial, std::move(rows)));
      if (r.finish) row([&](const std::vector<ExprRef>& at) { return r.finish(l.element(target, at), count); });
    });
  };
  l.versions(v.lazy ? v.lazy->exact : nullptr, [&] {
    if (axis == kept.size())
      along_last();
    else
      in_rows();
  });
  return target;
}

Value reduce(Lowering& l, const CallSite& site, const Reduction& r, size_t axis_place = 1) {
  const Value v = array_of(l, site);
  if (v.type.is_scalar()) {
    const ExprRef first = ir::cast(v.scalar, r.type);
    const ExprRef a = r.initial ? r.step(r.initial, first) : first;
    return scalar_value(r.finish ? r.finish(a, constant_i64(1)) : a);
  }
  const std::optional<int> axis = axis_of(l, site, v, axis_place);
  const bool nothing_ok = r.initial != nullptr;
  auto need_elements = [&](const ExprRef& count) {
    if (!nothing_ok)
      l.raise_if(both(ScalarOp::eq, count, constant_i64(0)), "ValueError",
                 "zero-size array to reduction operation " + site.name.substr(site.name.rfind('.') + 1) + " which has no identity",
                 site.span);
  };
  if (!axis || v.type.rank == 1) {
    const ExprRef count = l.count_of(v.extents());
    need_elements(count);
    const ExprRef a = accumulate_all(l, site, r, v, count);
    return scalar_value(r.finish ? l.code().bind(r.finish(a, count)) : a);
  }
  need_elements(v.extents()[static_cast<size_t>(*axis)]);
  return accumulate_along(l, site, r, v, static_cast<size_t>(*axis));
}

DType dtype_of(Lowering& l, const CallSite& site) {
  const Value v = array_of(l, site);
  return v.type.dtype;
}

Value sum(Lowering& l, const CallSite& site) {
  DType d = wide(dtype_of(l, site));
  if (const Value* dtype = site.argument(2, "dtype")) d = dtype_argument(*dtype).value_or(d);
  return reduce(
      l, site,
      {d, ir::constant(Scalar::of_int(0).cast(d)), [](const ExprRef& a, const ExprRef& e) { return both(ScalarOp::add, a, e); }, nullptr});
}
Value prod(Lowering& l, const CallSite& site) {
  const DType d = wide(dtype_of(l, site));
  return reduce(
      l, site,
      {d, ir::constant(Scalar::of_int(1).cast(d)), [](const ExprRef& a, const ExprRef& e) { return both(ScalarOp::mul, a, e); }, nullptr});
}
Value mean(Lowering& l, const CallSite& site) {
  const DType in = dtype_of(l, site), d = is_whole(in) ? DType::f64 : in;
  return reduce(l, site,
                {d, ir::constant(Scalar::of_int(0).cast(d)), [](const ExprRef& a, const ExprRef& e) { return both(ScalarOp::add, a, e); },
                 [d](const ExprRef& a, const ExprRef& n) { return both(ScalarOp::div, a, ir::cast(n, d)); }});
}
template <ScalarOp op>
Value extreme(Lowering& l, const CallSite& site) {
  const DType d = dtype_of(l, site);
  if (!accepts(op, d)) l.fail(site.span, site.name + " is not defined for " + std::string(name_of(d)));
  return reduce(l, site, {d, nullptr, [](const ExprRef& a, const ExprRef& e) { return both(op, a, e); }, nullptr});
}
template <bool all>
Value logical(Lowering& l, const CallSite& site) {
  return reduce(
      l, site,
      {DType::boolean, ir::constant(Scalar::of_bool(all)),
       [](const ExprRef& a, const ExprRef& e) { return both(all ? ScalarOp::logical_and : ScalarOp::logical_or, a, e); }, nullptr});
}
Value count_nonzero(Lowering& l, const CallSite& site) {
  const Value v = array_of(l, site);
  const Value truth =
      l.elementwise({v}, DType::boolean, [](const std::vector<ExprRef>& p) { return ir::cast(p[0], DType::boolean); }, site.span);
  return sum(l, {site.span, "count_nonzero", {truth}, site.keywords, nullptr, site.asked});
}

Value variance(Lowering& l, const CallSite& site) {
  const Value v = l.materialise(array_of(l, site), site.span);
  const DType in = v.type.dtype, d = is_whole(in) ? DType::f64 : in;
  const std::optional<int> axis = axis_of(l, site, v);
  CallSite inner{site.span, site.name, {v}, {}};
  if (axis) inner.keywords.emplace_back("axis", scalar_value(constant_i64(*axis)));
  Value average = mean(l, inner);
  if (average.type.is_array())
    average = l.materialise(library_function("numpy.expand_dims")(l, {site.span, "", {average, scalar_value(constant_i64(*axis))}, {}}),
                            site.span);
  const Value differences = l.elementwise(
      {v, average}, d,
      [&l, d](const std::vector<ExprRef>& p) {
        const ExprRef x = l.code().bind(both(ScalarOp::sub, ir::cast(p[0], d), ir::cast(p[1], d)));
        if (!is_complex(d)) return both(ScalarOp::mul, x, x);
        return both(ScalarOp::mul, x, ir::op(ScalarOp::conj, {x}));
      },
      site.span);
  const Value* ddof = site.keyword("ddof");
  CallSite total{site.span, site.name, {differences}, inner.keywords};
  const Value squares = sum(l, total);
  const ExprRef count = axis ? v.extents()[static_cast<size_t>(*axis)] : l.count_of(v.extents());
  const DType real = real_of(d);
  ExprRef n = ir::cast(count, real);
  if (ddof) n = both(ScalarOp::sub, n, ir::cast(l.scalar(*ddof, "ddof"), real));
  const bool root = site.name.find("std") != std::string::npos;
  return l.elementwise(
      {squares}, real,
      [n, root, d](const std::vector<ExprRef>& p) {
        const ExprRef q = both(ScalarOp::div, is_complex(d) ? ir::op(ScalarOp::real, {p[0]}) : p[0], n);
        return root ? ir::op(ScalarOp::sqrt, {q}) : q;
      },
      site.span);
}

/// argmin and argmax: the first place; NaN wins.
template <ScalarOp better>
Value place(Lowering& l, const CallSite& site) {
  const Value v = l.materialise(array_of(l, site), site.span);
  const std::optional<int> axis = axis_of(l, site, v);
  const DType d = v.type.dtype;
  auto find = [&](const ExprRef& count, const std::function<ExprRef(const ExprRef&)>& at) {
    l.raise_if(both(ScalarOp::eq, count, constant_i64(0)), "ValueError",
               "attempt to get " + site.name.substr(site.name.rfind('.') + 1) + " of an empty sequence", site.span);
    const std::string best = l.code().fresh("best"), where = l.code().fresh("where"), k = l.code().fresh("k");
    l.code().emit(ir::var(best, at(constant_i64(0))));
    l.code().emit(ir::var(where, constant_i64(0)));
    l.code().open();
    const ExprRef index = ir::variable(k, DType::i64), now = ir::variable(best, d), e = at(index);
    ExprRef wins = both(better, e, now);
    if (is_float(d))
      wins = both(ScalarOp::logical_and, ir::op(ScalarOp::logical_not, {ir::op(ScalarOp::isnan, {now})}),
                  both(ScalarOp::logical_or, wins, ir::op(ScalarOp::isnan, {e})));
    l.code().emit(ir::if_(wins, {ir::assign(best, e), ir::assign(where, index)}, {}));
    ir::Body body = l.code().close();
    l.code().emit(ir::loop(k, constant_i64(1), count, ir::LoopKind::serial, std::move(body)));
    return l.code().snapshot(where, DType::i64, "where");
  };
  if (!axis || v.type.rank == 1) {
    const ExprRef count = l.count_of(v.extents());
    const std::vector<ExprRef> strides = c_strides(v.extents());
    return scalar_value(find(count, [&](const ExprRef& k) {
      std::vector<ExprRef> index;
      for (size_t a = 0; a < strides.size(); ++a)
        index.push_back(strides.size() == 1 ? k
                                            : (k / both(ScalarOp::max, strides[a], constant_i64(1))) %
                                                  both(ScalarOp::max, v.extents()[a], constant_i64(1)));
      return l.element(v, index);
    }));
  }
  std::vector<ExprRef> kept;
  for (int k = 0; k < v.type.rank; ++k)
    if (k != *axis) kept.push_back(v.extents()[static_cast<size_t>(k)]);
  const Value target = l.allocate(DType::i64, kept, site.span);
  l.for_each(kept, false, [&](const std::vector<ExprRef>& index) {
    const ExprRef w = find(v.extents()[static_cast<size_t>(*axis)], [&](const ExprRef& k) {
      std::vector<ExprRef> full = index;
      full.insert(full.begin() + *axis, k);
      return l.element(v, full);
    });
    l.store_element(*target.array, DType::i64, index, w);
  });
  return target;
}

/// Running sums and products; sums of floats in the order of compiler/graph/scan_blocks.h.
Value cumulative(Lowering& l, const CallSite& site) {
  Value v = array_of(l, site);
  if (const Value* axis = site.argument(1, "axis"); axis && !axis->type.is_none() && v.type.rank != 1)
    l.unsupported(site.span, site.name + " along an axis", "write a loop over the other axes");
  if (v.type.rank != 1) v = library_method("ravel")(l, {site.span, "ravel", {v}, {}});
  const DType d = wide(v.type.dtype);
  const bool product = site.name.find("prod") != std::string::npos, in_blocks = !product && !is_whole(d);
  const Value target = l.allocate(d, v.extents(), site.span);
  const auto new_variable = [&](const char* name) {
    const std::string fresh = l.code().fresh(name);
    l.code().emit(ir::var(fresh, ir::constant(Scalar::of_int(product).cast(d))));
    return fresh;
  };
  // What this block came to so far, this run of blocks, the runs before; and what stands before this block.
  const std::string total = new_variable("total"), blocks = in_blocks ? new_variable("blocks") : "",
                    runs = in_blocks ? new_variable("runs") : "", before = in_blocks ? new_variable("before") : "";
  const auto read = [&](const std::string& name) { return ir::variable(name, d); };
  const auto add = [&](const std::string& a, const ExprRef& b) { return both(ScalarOp::add, read(a), b); };
  l.for_each(v.extents(), false, [&](const std::vector<ExprRef>& index) {
    const ExprRef x = ir::cast(l.element(v, index), d), k = index[0], block = constant_i64(kScanBlock),
                  run = constant_i64(kScanBlock * kScanBlocks);
    if (!in_blocks) {
      l.code().emit(ir::assign(total, both(product ? ScalarOp::mul : ScalarOp::add, read(total), x)));
      return l.store_element(*target.array, d, index, read(total));
    }
    const auto rest = [&](const ExprRef& of) { return ir::op(ScalarOp::bit_and, {k, of - constant_i64(1)}); };
    const ExprRef is_later = both(ScalarOp::gt, k, constant_i64(0)), begins_run = both(ScalarOp::eq, rest(run), constant_i64(0));
    l.code().emit(ir::if_(
        both(ScalarOp::logical_and, is_later, both(ScalarOp::eq, rest(block), constant_i64(0))),
        {ir::assign(blocks, select(both(ScalarOp::eq, rest(run), block), read(total), add(blocks, read(total)))),
         ir::assign(runs, select(begins_run, select(both(ScalarOp::eq, k, run), read(blocks), add(runs, read(blocks))), read(runs))),
         ir::assign(before, select(begins_run, read(runs), select(both(ScalarOp::lt, k, run), read(blocks), add(runs, read(blocks))))),
         ir::assign(total, x)},
        {ir::assign(total, add(total, x))}));
    l.store_element(*target.array, d, index, select(both(ScalarOp::lt, k, block), read(total), add(before, read(total))));
  });
  return target;
}

Value peak_to_peak(Lowering& l, const CallSite& site) {
  return l.binary(ast::BinaryOp::sub, extreme<ScalarOp::max>(l, site), extreme<ScalarOp::min>(l, site), site.span);
}

Value sum_of_items(Lowering& l, const CallSite& site) {
  const Value* start = site.argument(1, "start");
  const Value zero = start ? *start : scalar_value(constant_i64(0));
  if (site.args[0].type.is_tuple()) {
    Value total = zero;
    for (const Value& item : site.args[0].items) total = l.binary(ast::BinaryOp::add, total, item, site.span);
    return total;
  }
  if (!site.args[0].type.is_array()) return library_function("list.total")(l, {site.span, site.name, {site.args[0], zero}, {}});
  // Items of an array are its rows.
  const Value total = sum(l, {site.span, site.name, {site.args[0], scalar_value(constant_i64(0))}, {}});
  return start ? l.binary(ast::BinaryOp::add, zero, total, site.span) : total;
}

}  // namespace

LibraryFunction reduction_function(const std::string& path) {
  constexpr const char* kOfAll = "a: values, axis=None";
  static const LibraryTable kFunctions = {
      {"numpy.sum", "a: values, axis=None, dtype: dtype = None", sum},
      {".sum", "a: values, axis=None, dtype: dtype = None", sum},
      {"sum", "iterable: iterable, start=0", sum_of_items},
      {"numpy.prod", kOfAll, prod},
      {".prod", kOfAll, prod},
      {"numpy.mean", kOfAll, mean},
      {".mean", kOfAll, mean},
      {"numpy.var", "a: array_like | point, axis=None, *, ddof: real = 0", variance},
      {".var", "a: array_like | point, axis=None, *, ddof: real = 0", variance},
      {"numpy.std", "a: array_like | point, axis=None, *, ddof: real = 0", variance},
      {".std", "a: array_like | point, axis=None, *, ddof: real = 0", variance},
      {"numpy.min", kOfAll, extreme<ScalarOp::min>},
      {".min", kOfAll, extreme<ScalarOp::min>},
      {"numpy.max", kOfAll, extreme<ScalarOp::max>},
      {".max", kOfAll, extreme<ScalarOp::max>},
      {"numpy.amin", kOfAll, extreme<ScalarOp::min>},
      {"numpy.amax", kOfAll, extreme<ScalarOp::max>},
      {"numpy.nanmin", kOfAll, extreme<ScalarOp::fmin>},
      {"numpy.nanmax", kOfAll, extreme<ScalarOp::fmax>},
      {"numpy.ptp", kOfAll, peak_to_peak},
      {".ptp", kOfAll, peak_to_peak},
      {"numpy.any", kOfAll, logical<false>},
      {".any", kOfAll, logical<false>},
      {"numpy.all", kOfAll, logical<true>},
      {".all", kOfAll, logical<true>},
      {"numpy.count_nonzero", kOfAll, count_nonzero},
      {"numpy.argmin", "a: array_like[real] | point[real], axis=None", place<ScalarOp::lt>},
      {".argmin", "a: array_like[real] | point[real], axis=None", place<ScalarOp::lt>},
      {"numpy.argmax", "a: array_like[real] | point[real], axis=None", place<ScalarOp::gt>},
      {".argmax", "a: array_like[real] | point[real], axis=None", place<ScalarOp::gt>},
      {"numpy.cumsum", "a: array_like | point, axis=None", cumulative},
      {".cumsum", "a: array_like | point, axis=None", cumulative},
      {"numpy.cumprod", "a: array_like | point, axis=None", cumulative},
      {".cumprod", "a: array_like | point, axis=None", cumulative},
  };
  return kFunctions.find(path);
}

}  // namespace gasell::functions
