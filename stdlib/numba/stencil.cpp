#include "stdlib/numba/stencil.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/functions/as_graph.h"
#include "runtime/session/arguments.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"
#include "stdlib/numba/dispatcher.h"
#include "stdlib/numba/generated.h"
#include "stdlib/numba/module.h"
#include "stdlib/numba/stencil_expression.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;
using functions::Leaf;

/// What an array is computed by: of a call, what the function does last.
graph::NodeRef behind(const Array& array) {
  graph::NodeRef node = array.node();
  const auto* call = node->as<graph::CallNode>();
  return call ? call->function->result : node;
}

}  // namespace

Stencil::Stencil(Interpreter& in, Value function, Options options)
    : function_(std::move(function)), options_(std::move(options)), compilation_(std::make_unique<Compilation>(Compilation{in})) {
  if (!function_.as<Function>()->definition()) raise("TypeError", "a stencil is made of a function that `def` defines");
}

const gasell::Type& Stencil::type() const {
  static const gasell::Type t{"StencilFunc", "numba.stencils.stencil", &object_type()};
  return t;
}
std::string Stencil::repr(Interpreter&) {
  return fmt::format("<numba.stencils.stencil.StencilFunc object at {}>", static_cast<const void*>(this));
}
std::optional<Value> Stencil::get_attribute(Interpreter& in, std::string_view name) {
  if (name == "py_func" || name == "__wrapped__") return function_;
  if (name == "__call__") return Value::of(this);
  if (name == "__name__" || name == "__doc__") return function_.object()->get_attribute(in, name);
  return Object::get_attribute(in, name);
}

namespace {

[[noreturn]] void refuse(const std::string& message) {
  register_numba_errors();
  raise("NumbaValueError", message);
}

/// `for i0 in range(…): … out[i0, i1] = kernel(a0, a1, i0, i1)`, over the elements that the kernel is for.
std::string loops_text(size_t arrays, const Reach& reach, BorderMode mode) {
  std::string text, arguments, index, indent = "    ";
  for (size_t k = 0; k < arrays; ++k) arguments += fmt::format("a{}, ", k);
  for (size_t r = 0; r < reach.size(); ++r) {
    const int64_t low = reads_beyond(mode) ? 0 : std::max<int64_t>(0, -reach[r].first);
    const int64_t high = reads_beyond(mode) ? 0 : std::max<int64_t>(0, reach[r].second);
    text += indent + fmt::format("for i{0} in range({1}, a0.shape[{0}] - {2}):\n", r, low, high);
    indent += "    ";
    index += fmt::format("{}i{} - {}", r ? ", " : "", r, mode == BorderMode::valid ? low : 0);
    arguments += fmt::format("{}i{}", r ? ", " : "", r);
  }
  return text + indent + "out[" + index + "] = kernel(" + arguments + ")\n";
}

std::string parameters_text(size_t count) {
  std::string text;
  for (size_t k = 0; k < count; ++k) text += fmt::format("{}a{}", k ? ", " : "", k);
  return text;
}

graph::Shape extents_of(const Box& box) {
  graph::Shape shape;
  for (size_t k = 0; k < box.begin.size(); ++k) shape.push_back(box.end[k] - box.begin[k]);
  return shape;
}

}  // namespace

Stencil::Kernel& Stencil::kernel(Interpreter& in, const std::vector<functions::Type>& types) {
  std::vector<int> key;
  for (const functions::Type& t : types) key.push_back(t.is_array() ? t.rank : -1);
  Kernel& made = kernels_[key];
  if (made.loops) return made;
  const auto& f = *function_.as<Function>();
  const auto rank = static_cast<size_t>(types[0].rank);
  if (!options_.neighborhood.empty() && options_.neighborhood.size() != rank)
    refuse(fmt::format("{} dimensional neighborhood specified for {} dimensional input array", options_.neighborhood.size(), rank));
  std::map<std::string, int> relative;
  const auto& parameters = std::get<ast::FunctionDef>(f.code->definition->node).params;
  for (size_t k = 0; k < types.size(); ++k) {
    const std::string& name = parameters[k].name;
    const bool standard =
        std::find(options_.standard_indexing.begin(), options_.standard_indexing.end(), name) != options_.standard_indexing.end();
    if (types[k].is_array() && !standard) relative.emplace(name, types[k].rank);
  }
  const StencilTrees trees = stencil_trees(f.code->definition, f.source(), relative, rank, options_.neighborhood, options_.mode);
  made.reach = trees.reach;
  std::map<std::string, functions::Outside> names{{kElementName, outside_path(functions::kRelative)}};
  if (reads_beyond(options_.mode))
    for (size_t k = 0; k < rank; ++k)
      names.emplace(beyond_name(k), outside_function(function_of_text("beyond", text_of_beyond(options_.mode, k), {}, {})));
  const auto function_of = [&](const std::shared_ptr<const ast::Stmt>& tree) {
    auto function = std::make_shared<functions::Function>(*to_function(*compilation_, function_, {}));
    function->definition = tree;
    function->identity = tree.get();
    function->defaults.resize(std::get<ast::FunctionDef>(tree->node).params.size());
    function->outside = [names, others = function->outside](const std::string& name) {
      const auto found = names.find(name);
      return found == names.end() ? others(name) : found->second;
    };
    return function;
  };
  made.function = function_of(trees.absolute);
  made.relative = function_of(trees.relative);
  functions::Options options = made.function->options;
  options.parallel = options.unchecked_parallel = true;  // each iteration writes a row of its own
  const std::string text =
      "def stencil(out, " + parameters_text(types.size()) + "):\n" + loops_text(types.size(), made.reach, options_.mode);
  made.loops = std::make_unique<functions::Dispatch>(
      in.engine(), function_of_text("stencil", text, {{"kernel", outside_function(made.function)}}, options));
  return made;
}

Stencil::Kernel::Typed& Stencil::typed(Kernel& kernel, const std::vector<functions::Type>& types) {
  for (Kernel::Typed& each : kernel.typed)
    if (each.types == types) return each;
  std::vector<functions::Type> kernel_types = types;
  kernel_types.insert(kernel_types.end(), kernel.reach.size(), functions::Type::of(DType::i64));
  const functions::Type result = result_of(*kernel.function, kernel_types);
  if (!result.is_scalar()) refuse("Stencil kernel must return a scalar and not a numpy array.");
  Kernel::Typed made{types, options_.dtype.value_or(result.dtype), std::nullopt};
  if (!options_.border_is_number || (options_.border && is_complex(options_.border->type) && !is_complex(made.result)))
    refuse("cval type does not match stencil return type.");
  try {
    made.relative = functions::compile(*kernel.relative, types, false);
  } catch (const Error&) {
    // It uses its arrays in other ways too: the loops know them.
  }
  return kernel.typed.emplace_back(std::move(made));
}

graph::NodeRef Stencil::expression(Kernel::Typed& typed, const CallArguments& arguments, const Reach& reach, bool bordered) const {
  constexpr size_t kMostExpressions = 16;
  if (!typed.relative) return nullptr;
  using Expression = Kernel::Typed::Expression;
  std::vector<graph::NodeRef> arrays;
  Expression wanted{.bordered = bordered};
  for (const Leaf& leaf : arguments.leaves) {
    if (leaf.array) {
      arrays.push_back(leaf.array->node());
      wanted.shapes.push_back(leaf.array->shape());
    } else {
      wanted.numbers.push_back(leaf.scalar);
    }
  }
  const auto found = std::find_if(typed.expressions.begin(), typed.expressions.end(), [&](const Expression& known) {
    return known.bordered == bordered && known.shapes == wanted.shapes &&
           std::equal(known.numbers.begin(), known.numbers.end(), wanted.numbers.begin(), wanted.numbers.end(),
                      [](const Scalar& a, const Scalar& b) { return a.same_bits(b); });
  });
  if (found != typed.expressions.end()) return found->function ? graph::call(found->function, std::move(arrays)) : nullptr;
  if (auto made = stencil_expression(*typed.relative, arguments.types, arguments.leaves, reach, options_.mode)) {
    made->result = graph::cast(made->result, typed.result);
    if (bordered) {
      const Scalar border = options_.border.value_or(Scalar::of_int(0)).cast(typed.result);
      const graph::Shape& shape = wanted.shapes[0];
      made->result = graph::pad(made->result, shape, inner_box(shape, reach).begin, border);
    }
    wanted.function = std::make_shared<const graph::Function>(std::move(*made));
  }
  if (typed.expressions.size() == kMostExpressions) typed.expressions.pop_front();
  const auto& function = typed.expressions.emplace_back(std::move(wanted)).function;
  return function ? graph::call(function, std::move(arrays)) : nullptr;
}

std::shared_ptr<const functions::Function> Stencil::wrapper(std::vector<functions::Type> types, bool out) {
  if (out) types.pop_back();
  if (types.empty() || !types[0].is_array() || types[0].rank == 0) return nullptr;
  Kernel& made = kernel(compilation_->in, types);
  typed(made, types);  // refuses a border of another kind
  const std::string arguments = parameters_text(types.size());
  std::string shape, zeros;
  for (size_t r = 0; r < made.reach.size(); ++r) {
    const int64_t less = std::max<int64_t>(0, -made.reach[r].first) + std::max<int64_t>(0, made.reach[r].second);
    shape += fmt::format("max(a0.shape[{}] - {}, 0), ", r, options_.mode == BorderMode::valid ? less : 0);
    zeros += ", 0";
  }
  std::map<std::string, functions::Outside> names{{"kernel", outside_function(made.function)},
                                                  {"empty_result", outside_path("numba.empty_result")},
                                                  {"empty", outside_path("numpy.empty")}};
  names["border"] = {.kind = functions::Outside::Kind::number, .value = options_.border.value_or(Scalar::of_int(0))};
  std::string text = "def stencil(" + arguments + (out ? ", out" : "") + "):\n";
  if (out) {
    std::string wanted;
    for (size_t r = 0; r < made.reach.size(); ++r) wanted += fmt::format("{}out.shape[{}] != ({})[{}]", r ? " or " : "", r, shape, r);
    text += "    if " + wanted + ":\n        raise ValueError('out has another shape than the result')\n";
  } else if (options_.dtype) {
    names["dtype"] = outside_path("numpy." + std::string(name_of(*options_.dtype)));
    text += "    out = empty((" + shape + "), dtype)\n";
  } else {
    text += "    out = empty_result(kernel, (" + shape + "), " + arguments + zeros + ")\n";
  }
  if (options_.mode == BorderMode::constant && (!out || options_.border)) text += "    out[:] = border\n";
  text += loops_text(types.size(), made.reach, options_.mode) + "    return out\n";
  return function_of_text("stencil", text, std::move(names), made.function->options);
}

functions::Outside Stencil::outside() {
  auto function = std::make_shared<functions::Function>();
  function->name = function_.as<Function>()->name();
  function->identity = this;
  function->for_types = [this, keep = Value::of(this)](const std::vector<functions::Type>& types, bool out) { return wrapper(types, out); };
  return outside_function(std::move(function));
}

Value Stencil::call(Interpreter& in, Arguments args) {
  const Value keep = Value::of(this);
  Value out;
  std::erase_if(args.keywords, [&](auto& keyword) {
    if (keyword.first != "out") return false;
    out = keyword.second;
    return true;
  });
  const auto& signature = function_.as<Function>()->code->signature;
  std::vector<Value> values(signature.parameters.size());
  bind_arguments(in, signature, function_.as<Function>()->name(), args.positional, args.keywords, values);
  CallArguments arguments;
  for (size_t k = 0; k < values.size(); ++k)
    add_argument(*compilation_, values[k].is_absent() ? function_.as<Function>()->defaults[k] : values[k], arguments);
  if (arguments.types.empty() || !arguments.types[0].is_array() || arguments.types[0].rank == 0) {
    register_numba_errors();
    raise("NumbaValueError", "The first argument to a stencil kernel must be the primary input array.");
  }
  Kernel& made = kernel(in, arguments.types);
  const Array& first = *arguments.leaves[0].array;
  Kernel::Typed& typed_kernel = typed(made, arguments.types);
  const DType result = typed_kernel.result;
  const Box inner = inner_box(first.shape(), made.reach);
  const graph::Shape shape = options_.mode == BorderMode::valid ? extents_of(inner) : first.shape();

  const auto* target = out.as<numpy::NdArray>();
  if (!out.is_none() && !target) raise("TypeError", "out must be an array");
  if (target && target->array.shape() != shape) {
    if (options_.mode == BorderMode::valid)
      raise("ValueError", "the shape of out is not that of the elements which have all their neighbours: " + graph::to_string(shape));
    raise("ValueError", "the shape of out is not that of the stencil's first array");
  }
  const bool direct = target && target->array.dtype() == result;
  // Without cval, what stands at the border of `out` stays there.
  const bool keeps_border = direct && options_.mode == BorderMode::constant && !options_.border;
  // A step of an iteration is computed when the next one asks: expressions of expressions would be computed again and again.
  for (const Leaf& leaf : arguments.leaves)
    if (leaf.array && ((behind(*leaf.array)->as<graph::PadNode>() && !(chained_ && typed_kernel.relative)) ||
                       behind(*leaf.array)->as<graph::ConcatenateNode>()))
      leaf.array->force(in.engine());
  graph::NodeRef whole = expression(typed_kernel, arguments, made.reach, options_.mode == BorderMode::constant && !keeps_border);
  if (whole) {
    if (keeps_border) {
      std::vector<graph::ViewAxis> axes;
      for (size_t k = 0; k < inner.begin.size(); ++k) axes.push_back({static_cast<int>(k), inner.begin[k], 1});
      if (whole->size() > 0) target->array.view(whole->shape, std::move(axes)).assign(in.engine(), std::move(whole));
      return out;
    }
  } else {
    const Scalar border = options_.border.value_or(Scalar::of_int(0)).cast(result);
    for (const Leaf& leaf : arguments.leaves)
      if (leaf.array && chained_) leaf.array->force(in.engine());
    Array written = direct ? target->array : Array(graph::constant(border, shape));
    if (direct && options_.border) written.assign(in.engine(), graph::constant(border));
    std::vector<functions::Type> types{type_of_array(written)};
    std::vector<Leaf> leaves{{{}, &written}};
    types.insert(types.end(), arguments.types.begin(), arguments.types.end());
    leaves.insert(leaves.end(), arguments.leaves.begin(), arguments.leaves.end());
    if (first.size() > 0) call_generated(*made.loops, types, leaves);
    if (direct) return out;
    whole = written.node();
  }
  if (target) return numpy::give(in, "stencil", std::move(whole), out, numpy::Casting::unsafe);
  return Value::make<numpy::NdArray>(Array(std::move(whole)));
}

namespace {

Value make_stencil(Interpreter& in, const Value& function, const Stencil::Options& options) {
  return Value::make<Stencil>(in, need_function(function, "stencil"), options);
}

BorderMode to_mode(Interpreter& in, const Value& v) {
  static const std::map<std::string, BorderMode> kModes = {
      {"constant", BorderMode::constant}, {"nearest", BorderMode::nearest}, {"reflect", BorderMode::reflect},
      {"mirror", BorderMode::mirror},     {"wrap", BorderMode::wrap},       {"valid", BorderMode::valid},
  };
  const std::string name = str(in, v);
  const auto found = kModes.find(name);
  if (found == kModes.end())
    throw Error("ValueError", "Unsupported mode style " + name, "the modes are constant, nearest, reflect, mirror, wrap and valid");
  return found->second;
}

/// While it lives, results of the stencil that go into it again are not computed for themselves.
class Chain {
 public:
  explicit Chain(Stencil* stencil) : stencil_(stencil) {
    if (stencil_) stencil_->set_chained(true);
  }
  ~Chain() {
    if (stencil_) stencil_->set_chained(false);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

 private:
  Stencil* stencil_;
};

/// Applies a stencil again and again: x = f(x).
Value stencil_iterate(Interpreter& in, Args args) {
  Value x = args[1];
  const int64_t steps = to_index(in, args[2]);
  if (steps < 0) raise("ValueError", "steps must not be negative");
  // Nobody sees what is between: some steps are one plan, at whose end alone the GPUs are waited for.
  constexpr int64_t kStepsAPlan = 8;
  auto* repeated = args[0].as<Stencil>();
  if (const auto* first = x.as<numpy::NdArray>(); first && steps > 0 && behind(first->array)->as<graph::PadNode>())
    first->array.force(in.engine());
  const Chain chain(repeated);
  for (int64_t k = 0; k < steps; ++k) {
    if (const auto* before = x.as<numpy::NdArray>(); before && k > 0 && k % kStepsAPlan == 0) before->array.force(in.engine());
    if (in.engine().interrupted()) {
      in.engine().clear_interrupt();
      throw Interrupted();
    }
    x = gasell::call(in, args[0], {{std::move(x)}, {}});
  }
  return x;
}

Value stencil(Interpreter& in, Args args) {
  const Value keywords = args[1];
  Stencil::Options options;
  for (const Dict::Entry& e : keywords.as<Dict>()->entries()) {
    if (e.key.is_absent()) continue;
    const std::string name = str(in, e.key);
    if (name == "mode" || name == "func_or_mode") {
      if (e.value.as<Str>()) options.mode = to_mode(in, e.value);
    } else if (name == "dtype") {
      options.dtype = numpy::to_dtype(in, e.value);
    } else if (name == "cval") {
      options.border = scalar_of(in, e.value).value_or(Scalar::of_int(0));
      options.border_is_number = scalar_of(in, e.value).has_value();
    } else if (name == "neighborhood") {
      for (const Value& axis : to_vector(in, e.value)) {
        const std::vector<Value> ends = to_vector(in, axis);
        if (ends.size() != 2) raise("ValueError", "a neighborhood has two ends for each axis: ((-1, 1),)");
        options.neighborhood.emplace_back(to_index(in, ends[0]), to_index(in, ends[1]));
      }
    } else if (name == "standard_indexing") {
      for (const Value& v : to_vector(in, e.value)) options.standard_indexing.push_back(str(in, v));
    } else {
      raise("ValueError", "Unknown stencil option " + name);
    }
  }
  const Value& first = args[0];
  if (first.as<Str>() && !keywords.as<Dict>()->find("mode")) options.mode = to_mode(in, first);
  if (options.border && options.mode != BorderMode::constant)
    raise("ValueError", "cval is what stands at the border where the mode is 'constant'");
  if (first.as<Function>()) return make_stencil(in, first, options);
  return make_decorator("stencil", [options](Interpreter& in, const Value& f) { return make_stencil(in, f, options); });
}

}  // namespace

std::vector<NativeFunction> stencil_functions() {
  return {{"stencil", "func_or_mode='constant', **options", stencil, "Makes a function of arrays of a kernel with relative indices."},
          {"stencil_iterate", "f, x, steps", stencil_iterate, "Applies a stencil `steps` times, each time to what it gave before."}};
}

}  // namespace gasell::numba
