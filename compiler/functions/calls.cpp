// Calls and attributes: functions of the library, of the language (which are written in place) and methods.
#include <fmt/ranges.h>

#include "compiler/functions/lowering.h"
#include "compiler/functions/prelude.h"
#include "lang/ast_visit.h"
#include "lang/class_definition.h"
#include "lang/render.h"

namespace gasell::functions {

using ir::constant_i64;
using Kind = Type::Kind;

const Value* CallSite::keyword(std::string_view wanted) const {
  asked->emplace(wanted);
  for (const auto& [name, value] : keywords)
    if (name == wanted) return &value;
  return nullptr;
}
const Value* CallSite::argument(size_t place, std::string_view wanted) const {
  return place < args.size() ? &args[place] : keyword(wanted);
}

// ---- errors ----
void Lowering::fail(Span at, std::string message, std::string hint) const {
  fail_as("TypingError", at, std::move(message), std::move(hint));
}
void Lowering::fail_as(std::string exception, Span at, std::string message, std::string hint) const {
  const auto [function, place] = users_place(at);
  Diagnostic d{Blame::user, std::move(exception), std::move(message), Label{function->source, place, ""}, {}, std::move(hint)};
  throw Error(std::move(d));
}
void Lowering::unsupported(Span at, std::string what, std::string hint) const {
  const auto [function, place] = users_place(at);
  Diagnostic d{
      Blame::limitation, "UnsupportedError", what + " is not supported in compiled functions", Label{function->source, place, ""}, {},
      std::move(hint)};
  throw Error(std::move(d));
}

std::pair<const Function*, Span> Lowering::users_place(Span at) const {
  const Lowering* l = this;
  for (; l->function_.internal && l->caller_; l = l->caller_) at = l->called_at_;
  return {&l->function_, at};
}

const std::vector<ast::Parameter>& parameters_of(const Function& function) {
  return function.definition ? std::get<ast::FunctionDef>(function.definition->node).params
                             : std::get<ast::Lambda>(function.lambda->node).params;
}

// ---- attributes ----
namespace {

/// What the library's names of an object's methods begin with.
std::string class_of(const Type& type) { return type.is_list() ? "list" : type.is_table() ? type.text : "generator"; }

}  // namespace

Value Lowering::attribute(const Value& given, const std::string& name, Span at) {
  const Value base = there(given, at);
  switch (base.type.kind) {
    case Kind::function: {
      if (base.outside.kind == Outside::Kind::module) {
        const Outside member = base.outside.member(name);
        if (member.kind == Outside::Kind::unknown)
          fail_as("AttributeError", at, "module '" + base.outside.text + "' has no attribute '" + name + "'");
        return from_outside(member, name, at);
      }
      if (base.outside.kind != Outside::Kind::path) break;
      Outside member{.kind = Outside::Kind::path, .text = base.outside.text + "." + name};
      return from_outside(member, name, at);
    }
    case Kind::array: {
      const int rank = base.type.rank;
      if (name == "shape") {
        std::vector<Value> items;
        for (const ExprRef& e : base.extents()) items.push_back(scalar_value(e));
        return tuple_value(std::move(items));
      }
      if (name == "ndim") return scalar_value(constant_i64(rank));
      if (name == "size") return scalar_value(count_of(base.extents()));
      if (name == "itemsize") return scalar_value(constant_i64(size_of(base.type.dtype)));
      if (name == "nbytes") return scalar_value(count_of(base.extents()) * constant_i64(size_of(base.type.dtype)));
      if (name == "strides") {
        const Value array = materialise(base, at);
        std::vector<Value> items;
        for (const ExprRef& e : array.array->strides) items.push_back(scalar_value(e * constant_i64(size_of(base.type.dtype))));
        return tuple_value(std::move(items));
      }
      if (name == "dtype") return dtype_value(base.type.dtype);
      if (name == "T") {
        const Value array = materialise(base, at);
        ArrayValue a = *array.array;
        std::reverse(a.extents.begin(), a.extents.end());
        std::reverse(a.strides.begin(), a.strides.end());
        std::reverse(a.axes.begin(), a.axes.end());
        return array_value(base.type.dtype, rank <= 1 ? base.type.layout : Layout::any, std::move(a), base.type.read_only);
      }
      if (name == "flat") return iterator_value(*this, "numpy.flat", {base}, at);
      if (name == "real" || name == "imag") {
        if (!is_complex(base.type.dtype)) {
          if (name == "real") return base;
          return elementwise(
              {base}, base.type.dtype, [](const std::vector<ExprRef>& p) { return ir::constant(Scalar::of_int(0).cast(p[0]->type)); }, at);
        }
        const ScalarOp op = name == "real" ? ScalarOp::real : ScalarOp::imag;
        return elementwise({base}, real_of(base.type.dtype), [op](const std::vector<ExprRef>& p) { return ir::op(op, {p[0]}); }, at);
      }
      break;
    }
    case Kind::scalar:
      if (name == "real" || name == "imag") {
        if (is_complex(base.type.dtype)) return scalar_value(ir::op(name == "real" ? ScalarOp::real : ScalarOp::imag, {base.scalar}));
        return name == "real" ? base : scalar_value(ir::constant(Scalar::of_int(0).cast(base.type.dtype)));
      }
      if (name == "dtype") return dtype_value(base.type.dtype);
      break;
    case Kind::tuple:
      if (!base.type.named) break;
      for (size_t k = 0; k < base.items.size(); ++k)
        if (base.type.named->fields[k] == name) return base.items[k];
      fail(at, "a " + base.type.named->name + " has no field '" + name + "'",
           name == "_replace" || name == "_asdict" ? "make a new one: " + base.type.named->name + "(...)" : "");
    default: break;
  }
  const bool known = base.type.is_object()
                         ? library_function(class_of(base.type) + "." + name) != nullptr
                         : (base.type.is_array() || base.type.is_scalar() || base.type.is_tuple()) && library_method(name);
  if (known) {
    Value v;
    v.type.kind = Kind::function;
    v.type.text = name;
    v.outside = {.kind = Outside::Kind::other, .text = name};
    v.self = std::make_shared<Value>(base);
    return v;
  }
  std::string hint;
  if (base.type.is_object()) {
    const std::vector<std::string> names = prelude_names(class_of(base.type));
    if (const std::string near = did_you_mean(name, names); !near.empty())
      hint = "did you mean '" + near + "'?";
    else if (base.type.kind == Kind::generator)
      hint = fmt::format("it has {}", fmt::join(names, ", "));
  }
  fail(at, describe(base.type) + " has no attribute '" + name + "' in compiled functions", hint);
}

Value Lowering::typed_subscript(const Value& base, const ast::ExprRef&, Span at) {
  fail(at, base.type.text + " cannot be indexed in a compiled function");
}

// ---- calls ----
Value Lowering::call(const ast::Expr& e) {
  const auto& n = std::get<ast::Call>(e.node);
  const Value callee = expression(n.callee);
  CallSite site{e.span, callee.type.text, {}, {}, &e};
  for (const ast::ExprRef& a : n.args) {
    if (const auto* star = std::get_if<ast::Starred>(&a->node)) {
      const Value items = expression(star->value);
      if (!items.type.is_tuple()) fail(a->span, "* needs a tuple here, and this is " + describe(items.type));
      site.args.insert(site.args.end(), items.items.begin(), items.items.end());
      continue;
    }
    // Functions of NumPy only read what stands there.
    const auto* display = callee.outside.kind == Outside::Kind::path && callee.outside.text.starts_with("numpy.")
                              ? std::get_if<ast::List>(&a->node)
                              : nullptr;
    site.args.push_back(display ? display_as_tuple(*display) : expression(a));
    site.args.back().span = a->span;
  }
  for (const ast::Keyword& k : n.keywords) {
    if (k.name.empty()) unsupported(k.span, "** in a call");
    site.keywords.emplace_back(k.name, expression(k.value));
    site.keywords.back().second.span = k.value->span;
  }
  return call_value(callee, site);
}

Value Lowering::call_value(const Value& callee, CallSite& site) {
  if (callee.type.kind != Kind::function) fail(site.span, describe(callee.type) + " cannot be called");
  if (callee.outside.kind == Outside::Kind::function) return call_function(*callee.outside.function, site);
  if (callee.outside.kind == Outside::Kind::named) return make_named(callee.outside, site);
  if (callee.self) {
    site.args.insert(site.args.begin(), *callee.self);
    if (callee.self->type.is_object()) return call_library(library_function(class_of(callee.self->type) + "." + callee.outside.text), site);
    return call_library(library_method(callee.outside.text), site);
  }
  if (const auto dtype = dtype_of_path(callee.outside.text)) {
    if (site.args.size() != 1) fail(site.span, callee.type.text + "(…) converts one value");
    const Value& v = site.args[0];
    if (v.type.is_array() && v.type.rank > 0) {
      if (callee.outside.text.find('.') == std::string::npos)
        fail(v.span, "only a number can be converted by " + callee.type.text + "(…), and this is " + describe(v.type), "use .astype(…)");
      return elementwise({v}, *dtype, [d = *dtype](const std::vector<ExprRef>& p) { return ir::cast(p[0], d); }, site.span);
    }
    if (callee.outside.text == "bool") return scalar_value(truth(v));
    const ExprRef e = scalar(v, callee.type.text.c_str());
    if (is_complex(e->type) && !is_complex(*dtype))
      fail(v.span, "a complex number cannot be converted to " + callee.type.text, "take .real or abs(…)");
    return scalar_value(ir::cast(e, *dtype));
  }
  const LibraryFunction f = library_function(callee.outside.text);
  if (!f) unsupported(site.span, "'" + callee.outside.text + "'", "call it outside of the function, and pass what it gives");
  return call_library(f, site);
}

Value Lowering::make_named(const Outside& made, const CallSite& site) {
  const std::vector<std::string>& fields = made.named->fields;
  if (site.args.size() > fields.size())
    fail_as("TypeError", site.span,
            made.named->name + "() has " + std::to_string(fields.size()) + (fields.size() == 1 ? " field, and " : " fields, and ") +
                std::to_string(site.args.size()) + (site.args.size() == 1 ? " was" : " were") + " given");
  std::vector<Value> items = site.args;
  items.resize(fields.size());
  std::vector<bool> given(fields.size());
  std::fill_n(given.begin(), site.args.size(), true);
  for (const auto& [name, value] : site.keywords) {
    const auto at = static_cast<size_t>(std::find(fields.begin(), fields.end(), name) - fields.begin());
    if (at == fields.size()) fail_as("TypeError", site.span, made.named->name + "() has no field '" + name + "'");
    if (given[at]) fail_as("TypeError", site.span, made.named->name + "() got multiple values for the field '" + name + "'");
    items[at] = value;
    given[at] = true;
  }
  for (size_t k = 0; k < fields.size(); ++k) {
    const size_t first = fields.size() - made.items.size();
    if (!given[k] && k < first) fail_as("TypeError", site.span, made.named->name + "() misses the field '" + fields[k] + "'");
    if (!given[k]) items[k] = from_outside(made.items[k - first], fields[k], site.span);
    if (items[k].lazy) items[k] = materialise(items[k], site.span);
    if (items[k].scalar) items[k].scalar = code().bind(items[k].scalar);
  }
  Value v = tuple_value(std::move(items));
  v.type.named = made.named;
  return v;
}

Value Lowering::call_library(const LibraryFunction& function, const CallSite& site) {
  const Value result = function(*this, site);
  for (const auto& [name, value] : site.keywords)
    if (!site.asked->contains(name))
      unsupported(value.span, "the argument '" + name + "' of " + site.name, "leave it out, or do what it does in a statement of its own");
  return result;
}

std::vector<Value> Lowering::bind_arguments(const Function& function, const CallSite& site) {
  const auto& params = parameters_of(function);
  std::vector<Value> arguments;
  std::vector<bool> used(site.keywords.size());
  size_t place = 0;
  for (size_t k = 0; k < params.size(); ++k) {
    const ast::Parameter& p = params[k];
    using PK = ast::Parameter::Kind;
    if (p.kind == PK::var_positional) {
      std::vector<Value> rest(site.args.begin() + static_cast<std::ptrdiff_t>(std::min(place, site.args.size())), site.args.end());
      place = site.args.size();
      arguments.push_back(tuple_value(std::move(rest)));
      continue;
    }
    if (p.kind == PK::var_keyword) unsupported(site.span, "**" + p.name);
    if (p.kind != PK::keyword_only && place < site.args.size()) {
      arguments.push_back(site.args[place++]);
      continue;
    }
    bool found = false;
    for (size_t w = 0; w < site.keywords.size() && !found; ++w) {
      if (site.keywords[w].first != p.name) continue;
      arguments.push_back(site.keywords[w].second);
      used[w] = found = true;
    }
    if (found) continue;
    if (k < function.defaults.size() && function.defaults[k].kind != Outside::Kind::unknown) {
      arguments.push_back(from_outside(function.defaults[k], p.name, site.span));
      continue;
    }
    fail_as("TypeError", site.span, function.name + "() misses the argument '" + p.name + "'");
  }
  if (place < site.args.size())
    fail_as("TypeError", site.span,
            function.name + "() takes " + std::to_string(params.size()) + (params.size() == 1 ? " argument, and " : " arguments, and ") +
                std::to_string(site.args.size()) + " were given");
  for (size_t w = 0; w < used.size(); ++w)
    if (!used[w]) fail_as("TypeError", site.span, function.name + "() has no parameter '" + site.keywords[w].first + "'");
  return arguments;
}

Value Lowering::call_function(const Function& function, CallSite& site) {
  if (function.for_types && function.definition) {  // its parameters are those of whatever is chosen
    CallSite own{site.span, site.name, bind_arguments(function, site), {}, site.key};
    std::vector<Type> types;
    for (Value& v : own.args) {
      if (v.lazy) v = materialise(v, site.span);
      types.push_back(v.type);
    }
    const std::shared_ptr<const Function> chosen = function.for_types(types, false);
    if (!chosen) {
      std::string text;
      for (const Type& t : types) text += (text.empty() ? "" : ", ") + describe(t);
      fail(site.span, "no overload of '" + function.name + "' takes " + text);
    }
    program_.kept.push_back(chosen);
    return call_function(*chosen, own);
  }
  if (function.for_types) {
    std::vector<Type> types;
    for (Value& v : site.args) {
      if (v.lazy) v = materialise(v, site.span);
      types.push_back(v.type);
    }
    const Value* out = nullptr;
    for (const auto& [keyword, value] : site.keywords) {
      if (keyword != "out")
        unsupported(value.span, "the keyword '" + keyword + "' in the call of a stencil", "give arguments by their places");
      out = &value;
    }
    if (out) types.push_back(out->type);
    const std::shared_ptr<const Function> chosen = function.for_types(types, out != nullptr);
    if (!chosen) fail(site.span, function.name + " cannot take these arguments: a stencil's first is an array");
    program_.kept.push_back(chosen);
    CallSite own{site.span, site.name, site.args, {}, site.key};
    if (out) own.args.push_back(*out);
    return call_function(*chosen, own);
  }
  const bool recursive = program_.lasting->recursive.count(function.identity) > 0;
  if (!recursive && std::count(program_.active.begin(), program_.active.end(), function.identity)) {
    // It cannot be written in place where it is written in place already: from now on it is called.
    program_.lasting->recursive.insert(function.identity);
    throw Restart{};
  }
  std::vector<Value> arguments = bind_arguments(function, site);
  if (recursive) return call_instance(function, std::move(arguments), site.span);
  // Each place of a call is an instance of its own: its types depend on the arguments'.
  std::string types;
  for (const Value& v : arguments) types += to_string(v.type) + ";";
  Lowering inner(program_, function, instance_ + "/" + std::to_string(site.span.begin) + ":" + types);
  inner.caller_ = this;
  inner.called_at_ = site.span;
  if (const auto around = program_.nested.find(&function); around != program_.nested.end()) inner.enclosing_ = around->second;
  for (size_t k = 0; k < arguments.size(); ++k) arguments[k].span = site.span;
  struct Active {
    Active(std::vector<const void*>& functions, const void* identity) : functions(functions) { functions.push_back(identity); }
    ~Active() { functions.pop_back(); }
    std::vector<const void*>& functions;
  } active(program_.active, function.identity);  // also where the rest of the statement turns out not to be reached
  Value result = inner.run(std::move(arguments));
  again_ = again_ || inner.again_;
  return result;
}

// ---- functions inside functions ----
/// What stands above a function inside a compiled one may be jit alone, which changes nothing.
void Lowering::need_jit(const ast::ExprRef& decorator) {
  const auto* called = std::get_if<ast::Call>(&decorator->node);
  const Value v = expression(called ? called->callee : decorator);
  const std::string& path = v.outside.text;
  if (v.outside.kind == Outside::Kind::path && (path == "numba.njit" || path == "numba.jit")) return;
  unsupported(decorator->span, "the decorator '" + (v.type.text.empty() ? describe(v.type) : v.type.text) + "' of an inner function",
              "define the function outside, where the decorator is applied once");
}

void Lowering::nested_function(const ast::FunctionDef& s, const ast::StmtRef& definition) {
  if (ast::class_call(s)) unsupported(s.name_span, "a class statement", "define the class outside");
  for (const ast::ExprRef& decorator : s.decorators) need_jit(decorator);
  auto inner = std::make_shared<Function>();
  inner->definition = definition;
  inner->name = s.name;
  for (const ast::Parameter& p : s.params)
    if (p.default_value) unsupported(p.default_value->span, "a default value of an inner function");
  inner->source = function_.source;
  inner->options = function_.options;
  inner->options.locals.clear();
  inner->outside = function_.outside;
  inner->identity = definition.get();
  program_.nested[inner.get()] = this;
  Value v;
  v.type.kind = Kind::function;
  v.type.text = s.name;
  v.outside = {.kind = Outside::Kind::function, .text = s.name, .function = inner};
  program_.kept.push_back(std::move(inner));
  bind_name(s.name, std::move(v), s.name_span);
}

Value Lowering::nested_lambda(const ast::Lambda& n, const ast::ExprRef& e) {
  for (const ast::Parameter& p : n.params)
    if (p.default_value) unsupported(p.default_value->span, "a default value of a lambda");
  auto inner = std::make_shared<Function>();
  inner->lambda = e;
  inner->name = "<lambda>";
  inner->source = function_.source;
  inner->options = function_.options;
  inner->options.locals.clear();
  inner->outside = function_.outside;
  inner->identity = e.get();
  program_.nested[inner.get()] = this;
  Value v;
  v.type.kind = Kind::function;
  v.type.text = "<lambda>";
  v.outside = {.kind = Outside::Kind::function, .text = "<lambda>", .function = inner};
  program_.kept.push_back(std::move(inner));
  return v;
}

}  // namespace gasell::functions
