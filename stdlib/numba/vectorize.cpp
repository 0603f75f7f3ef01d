// vectorize: functions of numbers as ufuncs.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "compiler/functions/as_graph.h"
#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/numba/generated.h"
#include "stdlib/numba/module.h"
#include "stdlib/numba/vectorize.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;
using functions::Leaf;

constexpr std::string_view kUfuncMethods = "numpy.ufunc";

/// np.can_cast(from, to, 'safe').
bool safe(DType from, DType to) { return promote(from, to) == to; }

/// NumPy's letter of a dtype in the texts of loops: "dd->d".
char letter(DType d) { return "?bhilBHILfdFDe"[static_cast<int>(d)]; }

/// The loop over all elements: for i0 in range(…): … out[i0, i1] = f(a0[i0, i1], a1). Parameters are `out` and one an operand, those in
/// `scalars` numbers.
std::string loop_text(size_t operands, const std::vector<bool>& scalars, int rank, bool parallel, bool masked) {
  std::string text = masked ? "def vectorized(out, where" : "def vectorized(out", index, indent = "    ";
  for (size_t k = 0; k < operands; ++k) text += ", a" + std::to_string(k);
  text += "):\n";
  for (int r = 0; r < rank; ++r) {
    text += indent + fmt::format("for i{} in {}(out.shape[{}]):\n", r, r == 0 && parallel ? "prange" : "range", r);
    indent += "    ";
    index += fmt::format("{}i{}", r ? ", " : "", r);
  }
  if (masked) {
    text += indent + "if where[" + index + "]:\n";
    indent += "    ";
  }
  text += indent + "out[" + index + "] = f(";
  for (size_t k = 0; k < operands; ++k) text += fmt::format("{}a{}{}", k ? ", " : "", k, scalars[k] ? "" : "[" + index + "]");
  return text + ")\n";
}

}  // namespace

const gasell::Type& vectorized_type() {
  static const gasell::Type t{"DUFunc", "numba.np.ufunc.dufunc", &object_type()};
  return t;
}

Vectorized::Vectorized(Interpreter& in, Value function, functions::Options options, Value identity)
    : function_(std::move(function)),
      identity_(std::move(identity)),
      options_(options),
      compilation_(std::make_unique<Compilation>(Compilation{in})) {
  // Ufuncs follow NumPy where Python raises: x // 0 is 0, x / 0.0 is inf.
  options_.python_errors = false;
  functions::Options inner = options_;
  inner.parallel = false;
  scalar_ = to_function(*compilation_, function_, inner);
  inputs_ = scalar_->defaults.size();
}

const gasell::Type& Vectorized::type() const { return vectorized_type(); }
std::string Vectorized::repr(Interpreter&) { return "<numba._DUFunc '" + scalar_->name + "'>"; }

std::optional<Value> Vectorized::get_attribute(Interpreter& in, std::string_view name) {
  if (name == "nin") return Value::of(static_cast<int64_t>(inputs_));
  if (name == "nout") return Value::of(1);
  if (name == "nargs") return Value::of(static_cast<int64_t>(inputs_ + 1));
  if (name == "ntypes") return Value::of(static_cast<int64_t>(loops_.size()));
  if (name == "identity") return identity_;
  if (name == "signature") return Value();
  if (name == "types") {
    std::vector<Value> texts;
    for (const Loop& loop : loops_) {
      std::string text;
      for (const DType d : loop.inputs) text += letter(d);
      texts.push_back(make_str(text + "->" + letter(loop.result)));
    }
    return make_list(std::move(texts));
  }
  if (name == "py_func" || name == "__wrapped__") return function_;
  if (name == "__name__" || name == "__doc__" || name == "__qualname__") return function_.object()->get_attribute(in, name);
  if (name == "__call__") return Value::of(this);
  return library_method(in, *this, kUfuncMethods, name, Object::get_attribute(in, name));
}

void Vectorized::declare(Interpreter& in, const Signature& signature) {
  std::vector<DType> inputs;
  for (const functions::Type& t : signature.arguments) {
    if (!t.is_scalar()) raise("TypeError", "the arguments of a vectorized function are numbers, not " + functions::to_string(t));
    inputs.push_back(t.dtype);
  }
  if (inputs.size() != inputs_)
    raise("TypeError", fmt::format("Signature mismatch: {} argument types given, but function takes {} arguments", inputs.size(), inputs_));
  declared_ = true;
  Loop& loop = add_loop(in, std::move(inputs));
  if (signature.result && signature.result->is_scalar()) loop.result = signature.result->dtype;
}

Vectorized::Loop& Vectorized::add_loop(Interpreter&, std::vector<DType> inputs) {
  std::vector<functions::Type> types;
  for (const DType d : inputs) types.push_back(functions::Type::of(d));
  const functions::Type result = result_of(*scalar_, types);
  if (!result.is_scalar()) {
    register_numba_errors();
    gasell::raise("NotImplementedError", functions::to_string(result) + " cannot be represented as a NumPy dtype");
  }
  loops_.push_back({std::move(inputs), result.dtype, std::nullopt});
  return loops_.back();
}

/// As NumPy chooses: the first loop that takes all operands without loss; Python's numbers take the type of the others where there are
/// some.
Vectorized::Loop& Vectorized::choose(Interpreter& in, const std::vector<numpy::Operand>& operands) {
  const bool all_weak = std::all_of(operands.begin(), operands.end(), [](const numpy::Operand& o) { return o.weak != 0; });
  for (Loop& loop : loops_) {
    bool fits = true;
    for (size_t k = 0; k < operands.size(); ++k) {
      const numpy::Operand& o = operands[k];
      fits = fits && (o.weak && !all_weak ? promote_weak(loop.inputs[k], o.weak) == loop.inputs[k] : safe(o.node->dtype, loop.inputs[k]));
    }
    if (fits) return loop;
  }
  if (declared_)
    raise("TypeError",
          fmt::format("ufunc '{}' not supported for the input types, and the inputs could not be safely coerced to any supported types "
                      "according to the casting rule ''safe''",
                      scalar_->name));
  std::vector<DType> inputs;
  for (const numpy::Operand& o : operands) inputs.push_back(o.node->dtype);
  return add_loop(in, std::move(inputs));
}

graph::NodeRef Vectorized::expression(Loop& loop, const std::vector<graph::NodeRef>& operands) const {
  if (!loop.is_expression) return nullptr;
  if (!loop.compiled) {
    std::vector<functions::Type> types;
    for (const DType d : loop.inputs) types.push_back(functions::Type::of(d));
    loop.compiled = functions::compile(*scalar_, types, false);
  }
  std::map<std::string, graph::NodeRef> arguments;
  for (size_t k = 0; k < operands.size(); ++k) arguments.emplace(loop.compiled->kernel.params[k].name, operands[k]);
  const auto result = functions::as_graph(*loop.compiled, arguments);
  if (!result) {
    loop.is_expression = false;
    loop.compiled.reset();
    return nullptr;
  }
  return graph::cast(*result, loop.result);
}

Value Vectorized::call(Interpreter& in, Arguments args) {
  const Value keep = Value::of(this);
  if (args.positional.size() < inputs_ || args.positional.size() > inputs_ + 1)
    raise("TypeError", fmt::format("{}() takes from {} to {} positional arguments but {} {} given", scalar_->name, inputs_, inputs_ + 1,
                                   args.positional.size(), args.positional.size() == 1 ? "was" : "were"));
  Value out = args.positional.size() > inputs_ ? args.positional[inputs_] : Value();
  std::optional<DType> dtype;
  graph::NodeRef mask;  // where the result is wanted; null: everywhere
  for (const auto& [name, value] : args.keywords) {
    if (name == "out") {
      out = value;
      if (const auto* t = out.as<Tuple>(); t && t->items.size() == 1) out = t->items[0];
    } else if (name == "dtype") {
      dtype = numpy::to_dtype(in, value);
    } else if (name == "where") {
      if (!value.is_bool() || value.as_int() == 0) mask = graph::cast(numpy::as_node(in, value), DType::boolean);
    } else if (name != "casting" && name != "order" && name != "subok") {
      raise("TypeError", fmt::format("{}() got an unexpected keyword argument '{}'", scalar_->name, name));
    }
  }
  std::vector<numpy::Operand> operands;
  std::vector<graph::Shape> shapes;
  for (size_t k = 0; k < inputs_; ++k) {
    operands.push_back(numpy::operand(in, args.positional[k]));
    shapes.push_back(operands.back().node->shape);
  }
  if (mask) {
    if (out.is_none())
      raise("NotImplementedError", scalar_->name + "(…, where=…) without out leaves elements undefined and is refused",
            "give out=, or use np.where(condition, a, b)");
    if (!out.as<numpy::NdArray>()) raise("TypeError", "return arrays must be of ArrayType");
    shapes.push_back(mask->shape);
  }
  /// Puts a result into `out`, where it is wanted.
  const auto give = [&](graph::NodeRef result) {
    if (mask) {
      const graph::NodeRef old = out.as<numpy::NdArray>()->array.node();
      if (!numpy::can_cast(result->dtype, old->dtype, numpy::Casting::same_kind)) numpy::give(in, scalar_->name, result, out);  // raises
      result = graph::map(ScalarOp::select, {mask, graph::cast(result, old->dtype), old});
    }
    return numpy::give(in, scalar_->name, std::move(result), out);
  };
  Loop* loop = nullptr;
  if (dtype) {
    for (Loop& each : loops_)
      if (each.result == *dtype) loop = &each;
  }
  if (!loop) loop = &choose(in, operands);
  const graph::Shape shape = graph::broadcast_shapes(shapes);

  // Operands in the loop's types: numbers, or arrays of the common shape.
  std::vector<Array> arrays;
  arrays.reserve(inputs_ + 1);
  std::vector<bool> scalars;
  bool flat = true;
  for (size_t k = 0; k < inputs_; ++k) {
    const numpy::Operand& o = operands[k];
    const graph::NodeRef converted = o.weak ? numpy::cast_weak(o.node, loop->inputs[k]) : graph::cast(o.node, loop->inputs[k]);
    const auto* given = args.positional[k].as<numpy::NdArray>();
    scalars.push_back(o.node->rank() == 0);
    arrays.push_back(given && given->array.dtype() == loop->inputs[k] ? given->array : Array(converted));
    if (!scalars.back()) flat = flat && arrays.back().shape() == shape && type_of_array(arrays.back()).layout == functions::Layout::c;
  }
  if (shape.empty()) {
    std::vector<functions::Type> types;
    std::vector<Leaf> leaves;
    for (size_t k = 0; k < inputs_; ++k) {
      types.push_back(functions::Type::of(loop->inputs[k]));
      leaves.push_back({arrays[k].elements(in.engine())[0], nullptr});
    }
    if (!scalar_dispatch_) scalar_dispatch_ = std::make_unique<functions::Dispatch>(in.engine(), scalar_);
    const Scalar result = call_generated(*scalar_dispatch_, types, leaves).scalar.cast(loop->result);
    if (out.is_none()) return numpy::wrap_scalar(result);
    return give(graph::constant(result));
  }

  std::vector<graph::NodeRef> nodes;
  for (const Array& a : arrays) nodes.push_back(a.node());
  if (graph::NodeRef whole = expression(*loop, nodes)) {
    whole = graph::broadcast_to(whole, shape);
    if (out.is_none()) return Value::make<numpy::NdArray>(Array(std::move(whole)));
    return give(std::move(whole));
  }

  // The result goes straight into `out` where that is an array like it.
  const auto* target = out.as<numpy::NdArray>();
  const bool direct = target && target->array.dtype() == loop->result && target->array.shape() == shape && target->array.writable();
  const Array result = direct ? target->array : new_array(in, loop->result, shape);
  flat = flat && type_of_array(result).layout == functions::Layout::c && !mask;
  const graph::Shape walked = flat ? graph::Shape{result.size()} : shape;
  std::vector<Array> walking;
  walking.reserve(inputs_ + 2);
  walking.push_back(flat ? result.reshape(walked) : result);
  if (mask) walking.push_back(broadcast(Array(mask), shape));
  std::vector<functions::Type> types;
  std::vector<Leaf> leaves;
  for (const Array& a : walking) {
    types.push_back(type_of_array(a));
    leaves.push_back({{}, &a});
  }
  std::vector<bool> key = scalars;
  for (size_t k = 0; k < inputs_; ++k) {
    if (scalars[k]) {
      types.push_back(functions::Type::of(loop->inputs[k]));
      leaves.push_back({arrays[k].elements(in.engine())[0], nullptr});
    } else {
      walking.push_back(flat ? arrays[k].reshape(walked) : broadcast(arrays[k], shape));
      types.push_back(type_of_array(walking.back()));
      leaves.push_back({{}, &walking.back()});
    }
  }
  if (result.size() > 0) call_generated(dispatch(in, static_cast<int>(walked.size()), scalars, mask != nullptr), types, leaves);
  if (direct) return out;
  if (out.is_none()) return Value::make<numpy::NdArray>(result);
  return give(result.node());
}

functions::Dispatch& Vectorized::dispatch(Interpreter& in, int rank, const std::vector<bool>& scalars, bool masked) {
  auto& made = dispatches_[{rank, scalars, masked}];
  if (!made) {
    functions::Options options = options_;
    options.unchecked_parallel = true;  // each iteration writes elements of its own
    made = std::make_unique<functions::Dispatch>(
        in.engine(), function_of_text("vectorize", loop_text(inputs_, scalars, rank, options.parallel, masked),
                                      {{"f", outside_function(scalar_)}, {"prange", outside_path("numba.prange")}}, options));
  }
  return *made;
}

namespace {

Value vectorized(Interpreter& in, const Value& function, const functions::Options& options, const Value& identity,
                 const std::vector<Value>& signatures) {
  Value made = Value::make<Vectorized>(in, need_function(function, "vectorize"), options, identity);
  for (const Value& s : signatures) made.as<Vectorized>()->declare(in, to_signature(in, s));
  return made;
}

Value vectorize(Interpreter& in, Args args) {
  const Value keywords = args[1];
  auto& given = *keywords.as<Dict>();
  if (given.find("writable_args")) raise("NotImplementedError", "writable_args of vectorize is not in Gasell");
  functions::Options options = take_options(in, keywords, {"target", "identity"});
  Value identity;
  if (const Value* v = given.find("identity")) identity = *v;
  if (const Value* v = given.find("target")) {
    const std::string target = str(in, *v);
    if (target != "cpu" && target != "parallel" && target != "cuda") raise("ValueError", "Unsupported target: " + target);
    options.parallel = target == "parallel";
  }
  Value first = args[0];
  std::vector<Value> signatures;
  if (const auto* list = first.as<List>()) {
    signatures = list->items;
    first = Value();
  } else if (is_signature(first)) {
    signatures.push_back(first);
    first = Value();
  }
  if (!first.is_none()) return vectorized(in, first, options, identity, signatures);
  return make_decorator("vectorize", [options, identity, signatures](Interpreter& in, const Value& f) {
    return vectorized(in, f, options, identity, signatures);
  });
}

}  // namespace

std::vector<NativeFunction> vectorize_functions() {
  return {{"vectorize", "ftylist_or_function=None, **kws", vectorize, "Makes a ufunc of a function of numbers."}};
}

}  // namespace gasell::numba
