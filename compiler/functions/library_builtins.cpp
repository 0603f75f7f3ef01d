// Python's built-in functions of numbers and sequences in compiled functions.
#include <unordered_map>

#include "compiler/functions/elementwise.h"
#include "compiler/functions/library.h"
#include "lang/characters.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

Value len(Lowering& l, const CallSite& site) {
  const Value& v = site.args[0];
  if (v.type.is_tuple()) return scalar_value(constant_i64(static_cast<int64_t>(v.items.size())));
  if (v.type.is_list()) return scalar_value(l.list_length(v));
  if (v.type.is_table()) return scalar_value(l.table_length(v));
  if (v.type.kind == Kind::iterator && v.type.text.starts_with("table.")) return scalar_value(l.table_length(v.items[0]));
  if (v.type.kind == Kind::range) return scalar_value(range_count(l, v, site.span));
  if (v.type.kind == Kind::text) return scalar_value(constant_i64(code_point_count(v.type.text)));
  if (!v.type.is_array() || v.type.rank == 0) l.fail(v.span, describe(v.type) + " has no length");
  return scalar_value(v.extents()[0]);
}

Value absolute(Lowering& l, const CallSite& site) {
  Value v = site.args[0];
  if (v.type.is_scalar() && is_whole(v.type.dtype))
    v = scalar_value(ir::cast(v.scalar, kind(v.type.dtype) == 'u' ? DType::u64 : DType::i64));
  CallSite inner{site.span, "abs", {v}, {}};
  return apply_elementwise(l, inner, {ScalarOp::abs, Rule::same}, true);
}

Value extreme(Lowering& l, const CallSite& site, ast::CompareOp op, const char* name) {
  std::vector<Value> items = site.args;
  if (items.size() == 1 && items[0].type.is_tuple())
    items = items[0].items;
  else if (items.size() == 1 && items[0].type.is_array())
    return library_method(name)(l, site);
  else if (items.size() == 1 && (items[0].type.is_list() || items[0].type.kind == Kind::range))
    return library_function(std::string("list.") + (op == ast::CompareOp::lt ? "least" : "largest"))(l, site);
  else if (items.size() == 1 &&
           (items[0].type.is_table() || items[0].type.kind == Kind::iterator))  // these have no first item to begin with
    return extreme(l, {site.span, name, {library_function("list")(l, site)}, {}}, op, name);
  if (items.empty()) l.fail(site.span, std::string(name) + " of nothing");
  DType type = DType::boolean;
  for (size_t k = 0; k < items.size(); ++k) {
    const DType d = l.scalar(items[k], name)->type;
    type = k ? unify(Type::of(type), Type::of(d))->dtype : d;
  }
  if (is_complex(type) && items.size() > 1) l.fail(site.span, "complex numbers have no order");
  ExprRef best = l.code().bind(ir::cast(l.scalar(items[0], name), type));
  // As Python's: a later item wins only where it is strictly better, so NaN stays where it stands.
  for (size_t k = 1; k < items.size(); ++k) {
    const ExprRef e = l.code().bind(ir::cast(l.scalar(items[k], name), type));
    best = l.code().bind(ir::op(ScalarOp::select, {l.compare_numbers(op, e, best), e, best}));
  }
  return scalar_value(best);
}
Value minimum(Lowering& l, const CallSite& site) { return extreme(l, site, ast::CompareOp::lt, "min"); }
Value maximum(Lowering& l, const CallSite& site) { return extreme(l, site, ast::CompareOp::gt, "max"); }

Value round_number(Lowering& l, const CallSite& site) {
  const ExprRef x = l.code().bind(l.scalar(site.args[0], "round"));
  if (site.args.size() == 1)
    return scalar_value(is_whole(x->type) ? ir::cast(x, DType::i64) : ir::cast(ir::op(ScalarOp::rint, {x}), DType::i64));
  const ExprRef digits = l.index_number(site.args[1], "round");
  if (is_whole(x->type)) return scalar_value(ir::cast(x, DType::i64));
  return scalar_value(ir::cast(round_to(l, x, decimals_of(l, digits)), x->type));
}

Value divmod(Lowering& l, const CallSite& site) {
  return tuple_value({l.binary(ast::BinaryOp::floordiv, site.args[0], site.args[1], site.span),
                      l.binary(ast::BinaryOp::mod, site.args[0], site.args[1], site.span)});
}

Value power(Lowering& l, const CallSite& site) { return l.binary(ast::BinaryOp::pow, site.args[0], site.args[1], site.span); }

Value complex_number(Lowering& l, const CallSite& site) {
  const ExprRef re = l.scalar(site.args[0], "complex");
  if (site.args.size() == 1) return scalar_value(ir::cast(re, DType::c128));
  if (is_complex(re->type)) l.fail(site.args[0].span, "complex of two numbers takes real ones, and this is " + describe(site.args[0].type));
  return scalar_value(both(ScalarOp::make_complex, ir::cast(re, DType::f64), ir::cast(l.scalar(site.args[1], "complex"), DType::f64)));
}

Value range(Lowering& l, const CallSite& site) {
  if (!site.keywords.empty()) l.fail(site.span, "range takes no keywords");
  return range_value(l, site.args, site.span);
}

/// numba.literal_unroll: loops over tuples of several types are written out anyway.
Value unrolled(Lowering&, const CallSite& site) { return site.args[0]; }

Value iterator(Lowering& l, const CallSite& site) {
  std::vector<Value> items = site.args;
  if (site.name == "enumerate") {
    const Value* start = site.argument(1, "start");
    const Value first = start ? *start : scalar_value(constant_i64(0));
    items.resize(1);
    items.push_back(scalar_value(l.index_number(first, "enumerate")));
  } else {
    if (!site.keywords.empty()) l.unsupported(site.span, "a keyword of " + site.name);
    if (site.name == "numpy.ndindex" && items.size() != 1) items = {tuple_value(std::move(items))};
  }
  return iterator_value(l, site.name, std::move(items), site.span);
}

}  // namespace

LibraryFunction builtin_function(const std::string& path) {
  static const LibraryTable kFunctions = {
      {"range", "*numbers", range},
      {"enumerate", "iterable: iterable, start: int = 0", iterator},
      {"zip", "*iterables: iterable", iterator},
      {"reversed", "sequence: iterable", iterator},
      {"numpy.ndenumerate", "arr: array | point", iterator},
      {"numpy.ndindex", "*shape: shape", iterator},
      {"numpy.nditer", "op: array | point", iterator},
      {"numba.prange", "*numbers", range},
      {"numba.literal_unroll", "container: tuple", unrolled},
      {"len", "obj", len},
      {"abs", "x: operand", absolute},
      {"min", "*items", minimum},
      {"max", "*items", maximum},
      {"round", "number: real, ndigits: int = None", round_number},
      {"divmod", "a: operand, b: operand", divmod},
      {"pow", "base: operand, exp: operand", power},
      {"complex", "real: number, imag: real = 0", complex_number},
  };
  return kFunctions.find(path);
}

}  // namespace gasell::functions
