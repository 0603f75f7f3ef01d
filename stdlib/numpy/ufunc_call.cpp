// Calls of ufuncs: out=, dtype=, where= and casting=.
#include <algorithm>

#include "lang/diagnostic.h"
#include "stdlib/numpy/floating_point_errors.h"
#include "stdlib/numpy/memory_order.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

constexpr std::string_view kCastings[] = {"no", "equiv", "safe", "same_kind", "unsafe"};

std::string dtype_repr(DType t) { return "dtype('" + std::string(name_of(t)) + "')"; }

/// `what` is "input", "output 1" or the like.
[[noreturn]] void refuse_cast(std::string_view name, const std::string& what, DType from, DType to, Casting casting) {
  raise("UFuncTypeError", "Cannot cast ufunc '" + std::string(name) + "' " + what + " from " + dtype_repr(from) + " to " + dtype_repr(to) +
                              " with casting rule '" + std::string(kCastings[static_cast<size_t>(casting)]) + "'");
}

bool is_weak(const Operand& o) { return o.weak && o.weak != 'b'; }

/// Whether a dtype is of the kind of a number of Python's, or of a further one: all that NumPy asks of them.
bool takes_kind(const Operand& o, DType to) {
  return to != DType::boolean && (o.weak == 'i' || is_complex(to) || (o.weak == 'f' && is_float(to)));
}

/// Python's numbers have no dtype to lose anything of but their kind; only 'equiv' holds them to the dtypes that they are alone.
void check_python_number(const Ufunc& f, const Operand& o, DType to, Casting casting) {
  const bool compared = f.loops == LoopClass::comparison && o.weak == 'i' && is_integer(to);  // by its value
  if (compared || !takes_kind(o, to)) return;
  if (casting == Casting::equiv && o.node->dtype != to)
    raise("TypeError", std::string("cannot cast Python ") +
                           (o.weak == 'i'   ? "int"
                            : o.weak == 'f' ? "float"
                                            : "complex") +
                           " to " + std::string(name_of(to)) + " under the casting rule 'equiv'");
  if (o.weak == 'i') cast_weak(o.node, to);
}

/// The casts of operands to the dtypes of a loop. NumPy looks at Python's numbers before all others.
void check_casts(const Ufunc& f, const Loop& loop, std::span<const Operand> operands, Casting casting) {
  if (f.loops == LoopClass::logic || f.loops == LoopClass::negated) return;
  for (size_t k = 0; k < operands.size(); ++k)
    if (is_weak(operands[k])) check_python_number(f, operands[k], loop.in[k], casting);
  for (size_t k = 0; k < operands.size(); ++k) {
    const DType to = loop.in[k];
    // A complex number of Python's is called complex64 beside float32.
    const DType from = operands[k].weak == 'c' && arithmetic_type(to) == DType::f32 ? DType::c64 : operands[k].node->dtype;
    if ((is_weak(operands[k]) && takes_kind(operands[k], to)) || can_cast(from, to, casting)) continue;
    refuse_cast(f.name, operands.size() == 1 ? "input" : "input " + std::to_string(k), from, to, casting);
  }
}

/// The arguments of a call behind the operands.
struct Options {
  std::array<Value, 2> out;  // None or missing: a new array
  std::optional<DType> dtype;
  Value where;
  Casting casting = Casting::same_kind;
  char order = 'K';      // of new arrays
  bool checked = false;  // dtype= or casting= may forbid what promotion allows
};

/// out= of a ufunc of two results is a tuple; of one it may be one.
void set_outputs(Options& options, const Value& out, std::span<const Value> positional, size_t outputs) {
  std::copy(positional.begin(), positional.end(), options.out.begin());
  if (out.is_none() || is_missing(out)) return;
  if (std::ranges::any_of(positional, [](const Value& v) { return !v.is_none(); }))
    raise("TypeError", "cannot specify 'out' as both a positional and keyword argument");
  const auto* tuple = out.as<Tuple>();
  if (tuple && tuple->items.size() != outputs) raise("ValueError", "The 'out' tuple must have exactly one entry per ufunc output");
  if (!tuple && outputs != 1) raise("TypeError", "'out' must be a tuple of arrays");
  for (size_t k = 0; k < outputs; ++k) options.out[k] = tuple ? tuple->items[k] : out;
}

bool is_given(const Value& out) { return !out.is_none() && !is_missing(out); }

Options options_of(Interpreter& in, std::span<Value> args, size_t inputs, size_t outputs) {
  Options options;
  const std::span<Value> positional = args.subspan(inputs, outputs), named = args.subspan(inputs + outputs);
  const Value &out = named[0], &dtype = named[1], &where = named[2], &casting = named[3];
  set_outputs(options, out, positional, outputs);
  for (const Value& given : options.out)
    if (is_given(given) && !given.as<NdArray>()) raise("TypeError", "return arrays must be of ArrayType");
  options.dtype = to_dtype(in, dtype);
  if (!is_missing(where) && !(where.is_bool() && where.as_int())) options.where = where;
  if (!is_missing(casting)) options.casting = casting_of(in, casting);
  options.order = order_letter(in, named[4], 'K');
  options.checked = options.dtype || !is_missing(casting);
  return options;
}

void check_output(const Ufunc& f, DType result, const Value& out, Casting casting, size_t k, size_t inputs, size_t outputs) {
  const auto* array = out.as<NdArray>();
  if (!can_cast(result, array->array.dtype(), casting))
    refuse_cast(f.name, outputs == 1 ? "output" : "output " + std::to_string(inputs + k), result, array->array.dtype(), casting);
}

/// One result as the script sees it.
Value result_of(Interpreter& in, const Ufunc& f, NodeRef result, const Options& options, size_t k, std::span<const Value> given) {
  const Value& out = options.out[k];
  if (!is_given(out)) {
    if (!options.where.is_none())
      raise("NotImplementedError", std::string("np.") + f.name + "(…, where=…) without out leaves elements undefined and is refused",
            "give out=, or use np.where(condition, a, b)");
    if (options.order == 'K') return wrap_kept(std::move(result), given);
    const bool fortran = options.order == 'F' || (options.order == 'A' && std::ranges::all_of(given, lies_in_fortran_order));
    AxisOrder order = fortran ? reversed_axes(result->rank()) : AxisOrder{};
    return wrap_ordered(std::move(result), std::move(order));
  }
  if (!options.where.is_none()) {
    const NodeRef old = out.as<NdArray>()->node();
    result = graph::map(ScalarOp::select, {graph::cast(as_node(in, options.where), DType::boolean), graph::cast(result, old->dtype), old});
  }
  return give(in, f.name, result, out, Casting::unsafe);
}

/// Several results have one shape: what the operands and the given arrays broadcast to.
void broadcast_to_outputs(std::array<NodeRef, 2>& results, const Options& options) {
  std::vector<Shape> shapes{results[0]->shape};
  for (const Value& out : options.out)
    if (is_given(out)) shapes.push_back(out.as<NdArray>()->array.shape());
  const Shape shape = graph::broadcast_shapes(shapes);
  for (NodeRef& result : results) result = graph::broadcast_to(result, shape);
}

Value call_ufunc(Interpreter& in, const Ufunc& f, std::span<Value> args) {
  const LoopTable& table = f.table();
  const auto inputs = static_cast<size_t>(table.inputs), outputs = static_cast<size_t>(table.outputs);
  std::array<Operand, 2> storage;
  for (size_t k = 0; k < inputs; ++k) {
    if (args[k].is_none() && (f.loops == LoopClass::logic || f.loops == LoopClass::negated || f.loops == LoopClass::comparison))
      raise("NotImplementedError", std::string("np.") + f.name + " of None is not in Gasell: it has no arrays of objects");
    storage[k] = operand(in, args[k]);
  }
  const std::span<const Operand> operands(storage.data(), inputs);
  const Options options = options_of(in, args, inputs, outputs);
  const Loop& loop = resolve(f.name, f.loops, operands, options.dtype);
  if (options.checked) check_casts(f, loop, operands, options.casting);
  for (size_t k = 0; k < outputs; ++k)
    if (is_given(options.out[k])) check_output(f, loop.out[k], options.out[k], options.casting, k, inputs, outputs);
  std::array<NodeRef, 2> results;
  apply(in, f, loop, operands, std::span(results).first(outputs));
  const std::span<const Value> given = args.first(inputs);
  if (outputs > 1) broadcast_to_outputs(results, options);
  Value result = result_of(in, f, std::move(results[0]), options, 0, given);
  if (outputs == 2) result = make_tuple({std::move(result), result_of(in, f, std::move(results[1]), options, 1, given)});
  check_numbers(in, f, false, given, result);
  return result;
}

/// NativeFunction has a plain function pointer: one instantiation a line of the table.
template <size_t index>
Value entry(Interpreter& in, std::span<Value> args) {
  return call_ufunc(in, ufuncs()[index], args);
}

const char* parameters(const LoopTable& table) {
  if (table.outputs == 1)
    return table.inputs == 1 ? "x, out1=None, /, *, out=None, dtype=None, where=True, casting=missing, order='K', subok: Unused=True, "
                               "signature: Refused=None, sig: Refused=None"
                             : "x1, x2, out1=None, /, *, out=None, dtype=None, where=True, casting=missing, order='K', subok: Unused=True, "
                               "signature: Refused=None, sig: Refused=None";
  return table.inputs == 1 ? "x, out1=None, out2=None, /, *, out=None, dtype=None, where=True, casting=missing, order='K', subok: "
                             "Unused=True, signature: Refused=None, sig: Refused=None"
                           : "x1, x2, out1=None, out2=None, /, *, out=None, dtype=None, where=True, casting=missing, order='K', "
                             "subok: Unused=True, signature: Refused=None, sig: Refused=None";
}

constexpr size_t kUfuncs = 128;

template <size_t... index>
std::vector<NativeFunction> entries(std::index_sequence<index...>) {
  std::vector<NativeFunction> functions;
  ((index < ufuncs().size() ? functions.push_back({ufuncs()[index].name, parameters(ufuncs()[index].table()), &entry<index>,
                                                   "Element-wise; operands are broadcast and promoted as NumPy 2 does."})
                            : void()),
   ...);
  return functions;
}

}  // namespace

Casting casting_of(Interpreter& in, const Value& name) {
  const std::string given = str(in, name);
  const auto* found = std::find(std::begin(kCastings), std::end(kCastings), given);
  if (found == std::end(kCastings))
    raise("ValueError", "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got '" + given + "')");
  return static_cast<Casting>(found - std::begin(kCastings));
}

bool can_cast(DType from, DType to, Casting casting) {
  static constexpr std::string_view kOrder = "buifc";
  switch (casting) {
    case Casting::no:
    case Casting::equiv: return from == to;
    case Casting::safe: return promote(from, to) == to;
    case Casting::same_kind: return kOrder.find(kind(from)) <= kOrder.find(kind(to));
    case Casting::unsafe: break;
  }
  return true;
}

void check_output_cast(std::string_view name, DType from, DType to, Casting casting) {
  if (!can_cast(from, to, casting)) refuse_cast(name, "output", from, to, casting);
}

Value operate(Interpreter& in, const Ufunc& f, std::span<const Value> given) {
  std::array<Operand, 2> storage;
  for (size_t k = 0; k < given.size(); ++k) storage[k] = operand(in, given[k]);
  const std::span<const Operand> operands(storage.data(), given.size());
  const Loop& loop = resolve(f.name, f.loops, operands);
  std::array<NodeRef, 2> results;
  const auto outputs = static_cast<size_t>(f.table().outputs);
  apply(in, f, loop, operands, std::span(results).first(outputs));
  Value result = wrap_kept(std::move(results[0]), given);
  if (outputs == 2) result = make_tuple({std::move(result), wrap_kept(std::move(results[1]), given)});
  check_numbers(in, f, true, given, result);
  return result;
}

Value give(Interpreter& in, std::string_view name, const NodeRef& result, const Value& out, Casting casting) {
  const auto* tuple = out.as<Tuple>();
  const Value target = tuple && tuple->items.size() == 1 ? tuple->items[0] : out;
  if (!is_given(target)) return wrap_reduced(in, result);
  auto* array = target.as<NdArray>();
  if (!array) raise("TypeError", "return arrays must be of ArrayType");
  if (!array->array.writable()) raise("ValueError", "output array is read-only");
  check_output_cast(name, result->dtype, array->array.dtype(), casting);
  const Shape shape = graph::broadcast_shapes({result->shape, array->array.shape()});
  if (shape != array->array.shape())
    raise("ValueError", "non-broadcastable output operand with shape " + graph::to_string(array->array.shape()) +
                            " doesn't match the broadcast shape " + graph::to_string(shape));
  array->array.assign(in.engine(), result);
  return target;
}

Value give_reduced(Interpreter& in, std::string_view name, const NodeRef& result, const Value& out, Casting casting) {
  const auto* tuple = out.as<Tuple>();
  const Value& target = tuple && tuple->items.size() == 1 ? tuple->items[0] : out;
  if (const auto* array = target.as<NdArray>()) {
    const Array& a = array->array;
    if (a.rank() != result->rank())
      raise("ValueError", "output parameter for reduction operation " + std::string(name) + " has the wrong number of dimensions: Found " +
                              std::to_string(a.rank()) + " but expected " + std::to_string(result->rank()));
    if (a.shape() != result->shape) raise("ValueError", "output array does not match result of np." + std::string(name) + ".");
  }
  return give(in, name, result, out, casting);
}

std::vector<NativeFunction> ufunc_functions() {
  if (ufuncs().size() > kUfuncs) throw Error("SystemError", "more ufuncs than kUfuncs", "", Blame::internal);
  return entries(std::make_index_sequence<kUfuncs>());
}

}  // namespace gasell::numpy
