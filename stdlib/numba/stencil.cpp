#include "stdlib/numba/stencil.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/ast_visit.h"
#include "runtime/session/arguments.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"
#include "stdlib/numba/dispatcher.h"
#include "stdlib/numba/generated.h"
#include "stdlib/numba/module.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;
using functions::Leaf;

std::string index_name(size_t axis) { return fmt::format("stencil index {}", axis); }  // no name of a script

/// Makes of a kernel's tree one whose relative arrays are indexed absolutely: a[-1, 0] becomes a[i0 + -1, i1 + 0]. Notes how far indices
/// reach.
class Rewriter {
 public:
  Rewriter(SourceRef source, std::map<std::string, int> relative, bool reach_is_known)
      : source_(std::move(source)), relative_(std::move(relative)), known_(reach_is_known) {}

  ast::ExprRef expression(const ast::ExprRef& e) {
    auto copy = std::make_shared<ast::Expr>(*e);
    const auto* subscript = std::get_if<ast::Subscript>(&e->node);
    const auto* array = subscript ? std::get_if<ast::Name>(&subscript->value->node) : nullptr;
    const auto found = array ? relative_.find(array->id) : relative_.end();
    ast::visit_children(*copy, [this](ast::ExprRef& child) { child = expression(child); });
    if (found != relative_.end()) make_absolute(std::get<ast::Subscript>(copy->node), found->second, e->span);
    return copy;
  }

  ast::StmtRef statement(const ast::StmtRef& s) {
    auto copy = std::make_shared<ast::Stmt>(*s);
    ast::visit_children(*copy, [this](ast::ExprRef& child) { child = expression(child); }, [this](ast::Body& body) { rewrite(body); });
    return copy;
  }

  void rewrite(ast::Body& body) {
    for (ast::StmtRef& s : body) s = statement(s);
  }

  std::map<size_t, std::pair<int64_t, int64_t>> reach;

 private:
  void make_absolute(ast::Subscript& s, int rank, Span at) {
    std::vector<ast::ExprRef> items;
    if (const auto* several = std::get_if<ast::Tuple>(&s.index->node))
      items = several->items;
    else
      items.push_back(s.index);
    if (items.size() != static_cast<size_t>(rank))
      fail(at, fmt::format("{} dimensional stencil index used for {} dimensional array", items.size(), rank));
    for (size_t k = 0; k < items.size(); ++k) {
      const std::optional<int64_t> offset = constant(items[k]);
      if (!offset && !known_) fail(items[k]->span, "stencil kernel index is not constant, 'neighborhood' option required");
      if (offset) {
        auto [entry, fresh] = reach.try_emplace(k, *offset, *offset);
        entry->second.first = std::min(entry->second.first, *offset);
        entry->second.second = std::max(entry->second.second, *offset);
      }
      auto name = std::make_shared<ast::Expr>(ast::Expr{items[k]->span, ast::Name{index_name(k), {}}});
      items[k] = std::make_shared<ast::Expr>(
          ast::Expr{items[k]->span, ast::Binary{ast::BinaryOp::add, std::move(name), items[k], items[k]->span}});
    }
    s.index = items.size() == 1 ? items[0] : std::make_shared<ast::Expr>(ast::Expr{s.index->span, ast::Tuple{std::move(items)}});
  }

  static std::optional<int64_t> constant(const ast::ExprRef& e) {
    if (const auto* i = std::get_if<ast::IntLiteral>(&e->node)) return i->value;
    const auto* unary = std::get_if<ast::Unary>(&e->node);
    if (!unary || (unary->op != ast::UnaryOp::neg && unary->op != ast::UnaryOp::pos)) return {};
    const auto inner = constant(unary->operand);
    return !inner ? inner : unary->op == ast::UnaryOp::neg ? -*inner : *inner;
  }

  [[noreturn]] void fail(Span at, std::string message) const {
    register_numba_errors();
    throw Error(Diagnostic{Blame::user, "NumbaValueError", std::move(message), Label{source_, at, ""}, {}, ""});
  }

  SourceRef source_;
  std::map<std::string, int> relative_;  // by name: how many axes
  bool known_;
};

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

Stencil::Kernel& Stencil::kernel(Interpreter& in, const std::vector<functions::Type>& types) {
  std::vector<int> key;
  for (const functions::Type& t : types) key.push_back(t.is_array() ? t.rank : -1);
  Kernel& made = kernels_[key];
  if (made.loops) return made;
  const auto& f = *function_.as<Function>();
  const auto rank = static_cast<size_t>(types[0].rank);
  if (!options_.neighborhood.empty() && options_.neighborhood.size() != rank) {
    register_numba_errors();
    raise("NumbaValueError",
          fmt::format("{} dimensional neighborhood specified for {} dimensional input array", options_.neighborhood.size(), rank));
  }
  auto tree = std::make_shared<ast::Stmt>(*f.code->definition);
  auto& definition = std::get<ast::FunctionDef>(tree->node);
  std::map<std::string, int> relative;
  for (size_t k = 0; k < types.size(); ++k) {
    const std::string& name = definition.params[k].name;
    const bool standard =
        std::find(options_.standard_indexing.begin(), options_.standard_indexing.end(), name) != options_.standard_indexing.end();
    if (types[k].is_array() && !standard) relative.emplace(name, types[k].rank);
  }
  Rewriter rewriter(f.source(), std::move(relative), !options_.neighborhood.empty());
  rewriter.rewrite(definition.body);
  definition.decorators.clear();
  for (size_t k = 0; k < rank; ++k) {
    ast::Parameter p;
    p.name = index_name(k);
    p.span = definition.name_span;
    definition.params.push_back(std::move(p));
  }
  auto function = std::make_shared<functions::Function>(*to_function(*compilation_, function_, {}));
  function->definition = tree;
  function->identity = tree.get();
  function->defaults.resize(definition.params.size());
  function->options.bounds_check = true;
  made.function = function;
  for (size_t k = 0; k < rank; ++k) {
    if (options_.neighborhood.empty())
      made.reach.push_back(rewriter.reach.contains(k) ? rewriter.reach[k] : std::pair<int64_t, int64_t>{0, 0});
    else
      made.reach.push_back(options_.neighborhood[k]);
  }

  std::string text = "def stencil(out", call = "kernel(", index, indent = "    ";
  for (size_t k = 0; k < types.size(); ++k) {
    text += fmt::format(", a{}", k);
    call += fmt::format("a{}, ", k);
  }
  text += "):\n";
  for (size_t r = 0; r < rank; ++r) {
    const auto [low, high] = made.reach[r];
    text +=
        indent + fmt::format("for i{} in range({}, a0.shape[{}] - {}):\n", r, std::max<int64_t>(0, -low), r, std::max<int64_t>(0, high));
    indent += "    ";
    index += fmt::format("{}i{}", r ? ", " : "", r);
  }
  text += indent + "out[" + index + "] = " + call + index + ")\n";
  functions::Options options = function->options;
  options.parallel = options.unchecked_parallel = true;  // each iteration writes a row of its own
  made.loops = std::make_unique<functions::Dispatch>(
      in.engine(),
      function_of_text("stencil", text, {{"kernel", outside_function(function)}, {"prange", outside_path("numba.prange")}}, options));
  return made;
}

std::shared_ptr<const functions::Function> Stencil::wrapper(const std::vector<functions::Type>& types) {
  if (types.empty() || !types[0].is_array() || types[0].rank == 0) return nullptr;
  Kernel& made = kernel(compilation_->in, types);
  std::string text = "def stencil(", arguments, index, indent = "    ", zeros;
  for (size_t k = 0; k < types.size(); ++k) arguments += fmt::format("{}a{}", k ? ", " : "", k);
  for (size_t r = 0; r < made.reach.size(); ++r) zeros += ", 0";
  text += arguments + "):\n    out = empty_result(kernel, a0.shape, " + arguments + zeros + ")\n    out[:] = border\n";
  for (size_t r = 0; r < made.reach.size(); ++r) {
    const auto [low, high] = made.reach[r];
    text +=
        indent + fmt::format("for i{} in range({}, a0.shape[{}] - {}):\n", r, std::max<int64_t>(0, -low), r, std::max<int64_t>(0, high));
    indent += "    ";
    index += fmt::format("{}i{}", r ? ", " : "", r);
  }
  text += indent + "out[" + index + "] = kernel(" + arguments + ", " + index + ")\n    return out\n";
  functions::Outside border{.kind = functions::Outside::Kind::number, .value = options_.border.value_or(Scalar::of_int(0))};
  return function_of_text(
      "stencil", text,
      {{"kernel", outside_function(made.function)}, {"empty_result", outside_path("numba.empty_result")}, {"border", border}},
      made.function->options);
}

functions::Outside Stencil::outside() {
  auto function = std::make_shared<functions::Function>();
  function->name = function_.as<Function>()->name();
  function->identity = this;
  function->for_types = [this, keep = Value::of(this)](const std::vector<functions::Type>& types) { return wrapper(types); };
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
  std::vector<functions::Type> kernel_types = arguments.types;
  for (int k = 0; k < first.rank(); ++k) kernel_types.push_back(functions::Type::of(DType::i64));
  const functions::Type result = result_of(*made.function, kernel_types);
  if (!result.is_scalar()) {
    register_numba_errors();
    raise("NumbaValueError", "Stencil kernel must return a scalar and not a numpy array.");
  }

  const auto* target = out.as<numpy::NdArray>();
  if (!out.is_none() && !target) raise("TypeError", "out must be an array");
  if (target && target->array.shape() != first.shape()) raise("ValueError", "the shape of out is not that of the stencil's first array");
  const bool direct = target && target->array.dtype() == result.dtype;
  const Scalar border = options_.border.value_or(Scalar::of_int(0)).cast(result.dtype);
  Array written = direct ? target->array : Array(graph::constant(border, first.shape()));
  if (direct && options_.border) written.assign(in.engine(), graph::constant(border));
  std::vector<functions::Type> types{type_of_array(written)};
  std::vector<Leaf> leaves{{{}, &written}};
  types.insert(types.end(), arguments.types.begin(), arguments.types.end());
  leaves.insert(leaves.end(), arguments.leaves.begin(), arguments.leaves.end());
  if (first.size() > 0) call_generated(*made.loops, types, leaves);
  if (direct) return out;
  if (target) return numpy::give(in, "stencil", written.node(), out, true);
  return Value::make<numpy::NdArray>(written);
}

namespace {

Value make_stencil(Interpreter& in, const Value& function, const Stencil::Options& options) {
  return Value::make<Stencil>(in, need_function(function, "stencil"), options);
}

Value stencil(Interpreter& in, Args args) {
  const Value keywords = args[1];
  Stencil::Options options;
  for (const Dict::Entry& e : keywords.as<Dict>()->entries()) {
    if (e.key.is_absent()) continue;
    const std::string name = str(in, e.key);
    if (name == "cval") {
      options.border = Array(numpy::as_node(in, e.value)).elements(in.engine())[0];
    } else if (name == "neighborhood") {
      for (const Value& axis : to_vector(in, e.value)) {
        const std::vector<Value> ends = to_vector(in, axis);
        if (ends.size() != 2) raise("ValueError", "a neighborhood has two ends for each axis: ((-1, 1),)");
        options.neighborhood.emplace_back(to_index(in, ends[0]), to_index(in, ends[1]));
      }
    } else if (name == "standard_indexing") {
      for (const Value& v : to_vector(in, e.value)) options.standard_indexing.push_back(str(in, v));
    } else if (name != "mode" && name != "func_or_mode") {
      raise("ValueError", "Unknown stencil option " + name);
    }
  }
  const Value& first = args[0];
  if (const auto* mode = first.as<Str>(); mode && mode->value != "constant") raise("ValueError", "Unsupported mode style " + mode->value);
  if (first.as<Function>()) return make_stencil(in, first, options);
  return make_decorator("stencil", [options](Interpreter& in, const Value& f) { return make_stencil(in, f, options); });
}

}  // namespace

std::vector<NativeFunction> stencil_functions() {
  return {{"stencil", "func_or_mode='constant', **options", stencil, "Makes a function of arrays of a kernel with relative indices."}};
}

}  // namespace gasell::numba
