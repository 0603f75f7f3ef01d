#include "stdlib/numba/dispatcher.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compiler/ir/text.h"
#include "runtime/functions/output.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"
#include "stdlib/named_tuple.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;
using functions::Layout;

Value tuple_of_types(const std::vector<functions::Type>& types) {
  std::vector<Value> items;
  for (const functions::Type& t : types) items.push_back(Value::make<NumbaType>(t));
  return make_tuple(std::move(items));
}

/// The texts of a signature, shown as they are: "omitted(default=2)" is no type.
class TypeText final : public Object {
 public:
  explicit TypeText(std::string text) : text_(std::move(text)) {}
  const gasell::Type& type() const override {
    static const gasell::Type t{"Omitted", "numba.types", &object_type()};
    return t;
  }
  std::string repr(Interpreter&) override { return text_; }

 private:
  std::string text_;
};

std::string join(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& t : texts) all += (all.empty() ? "" : ", ") + t;
  return all;
}

Dispatcher& self(Args args) { return *args[0].as<Dispatcher>(); }

Value signature_value(Interpreter& in, const Dispatcher& d, const Dispatcher::Known& known) {
  std::vector<Value> items;
  const std::vector<std::string> texts = d.signature_texts(in, known);
  for (size_t k = 0; k < texts.size(); ++k)
    items.push_back(known.omitted >> k & 1 ? Value::make<TypeText>(texts[k]) : Value::make<NumbaType>(known.types[k]));
  return make_tuple(std::move(items));
}

Value signatures(Interpreter& in, const Value& v) {
  std::vector<Value> all;
  for (const auto& known : v.as<Dispatcher>()->known()) all.push_back(signature_value(in, *v.as<Dispatcher>(), known));
  return make_list(std::move(all));
}

Value overloads(Interpreter& in, const Value& v) {
  Value all = make_dict();
  for (const auto& known : v.as<Dispatcher>()->known()) {
    const Value signature = signature_value(in, *v.as<Dispatcher>(), known);
    all.as<Dict>()->insert(in, signature, Value::make<TypeText>("CompileResult(" + repr(in, signature) + ")"));
  }
  return all;
}

Value target_options(Interpreter& in, const Value& v) {
  const functions::Options& o = v.as<Dispatcher>()->options();
  Value all = make_dict();
  const auto put = [&](const char* name, Value value) { all.as<Dict>()->insert(in, make_str(name), value); };
  put("nopython", Value::of(true));
  put("boundscheck", Value::of(o.bounds_check));
  put("parallel", Value::of(o.parallel));
  put("fastmath", Value::of(o.fast_math));
  put("error_model", make_str(o.python_errors ? "python" : "numpy"));
  return all;
}

/// As Numba's of functions without cache=True.
Value statistics(Interpreter&, const Value&) {
  return make_named_result("numba.core.dispatcher", "_CompileStats", {"cache_path", "cache_hits", "cache_misses"},
                           {Value(), make_dict(), make_dict()});
}

Value disable_compile(Interpreter& in, Args args) {
  self(args).declare_all(truth(in, args[1]));
  return {};
}

Value nopython_signatures(Interpreter& in, const Value& v) {
  std::vector<Value> all;
  const auto& d = *v.as<Dispatcher>();
  for (const auto& known : d.known()) {
    const functions::Type result = known.result ? *known.result : known.entry->apart->compiled().result;
    all.push_back(Value::make<TypeText>("(" + join(d.signature_texts(in, known)) + (known.types.size() == 1 ? ",)" : ")") + " -> " +
                                        functions::to_string(result)));
  }
  return make_list(std::move(all));
}

/// Applies `show` to one kernel or, without a signature, to all of them: a dict by signature.
template <class F>
Value inspect(Interpreter& in, Args args, const F& show) {
  const Dispatcher& d = self(args);
  if (!args[1].is_none()) {
    const Signature wanted = to_signature(in, args[1]);
    for (const auto& known : d.known())
      if (known.types == wanted.arguments) return show(known);
    raise("KeyError", repr(in, tuple_of_types(wanted.arguments)));
  }
  Value all = make_dict();
  for (const auto& known : d.known()) all.as<Dict>()->insert(in, make_str("(" + join(d.signature_texts(in, known)) + ")"), show(known));
  return all;
}

Value inspect_llvm(Interpreter& in, Args args) {
  return inspect(in, args,
                 [&](const Dispatcher::Known& k) { return make_str(in.engine().jit().emit_llvm(k.entry->apart->compiled().kernel)); });
}
Value inspect_asm(Interpreter& in, Args args) {
  return inspect(in, args,
                 [&](const Dispatcher::Known& k) { return make_str(in.engine().jit().emit_asm(k.entry->apart->compiled().kernel)); });
}
Value inspect_loops(Interpreter& in, Args args) {
  return inspect(in, args, [&](const Dispatcher::Known& k) {
    const functions::Compiled& compiled = k.entry->apart->compiled();
    std::string text = ir::print(compiled.kernel);
    for (const auto* kernels : {&compiled.regions, &compiled.grids})
      for (const ir::Kernel& kernel : *kernels)
        if (!kernel.name.empty()) text += "\n" + ir::print(kernel);
    return make_str(text);
  });
}

/// The lines of the function, each after the types of what it binds.
Value inspect_types(Interpreter& in, Args args) {
  const Dispatcher& d = self(args);
  const auto& function = *d.function().as<Function>();
  for (const auto& known : d.known()) {
    std::string text = function.name() + " (" + join(d.signature_texts(in, known)) + ")\n" + std::string(80, '-') + "\n";
    const auto& typed = known.entry->apart->compiled().typed;
    std::optional<Span> whole;
    if (function.code->definition) whole = function.code->definition->span;
    if (function.code->lambda) whole = function.code->lambda->span;
    if (whole) {
      const Source& source = *function.source();
      const int first = source.position(whole->begin).line, last = source.position(std::max(whole->begin, whole->end - 1)).line;
      for (int line = first; line <= last; ++line) {
        for (const auto& [span, types] : typed)
          if (source.position(span.begin).line == line) text += "#   " + types + "\n";
        text += std::string(source.line(line)) + "\n";
      }
    }
    in.write_out(text + "\n");
  }
  return {};
}

/// What became of each prange, signature by signature.
Value parallel_diagnostics(Interpreter& in, Args args) {
  const Dispatcher& d = self(args);
  std::optional<Signature> wanted;
  if (!args[1].is_none()) wanted = to_signature(in, args[1]);
  for (const auto& known : d.known()) {
    if (wanted && known.types != wanted->arguments) continue;
    std::string text = "Parallel loops of " + d.function().as<Function>()->name() + " (" + join(d.signature_texts(in, known)) + "):\n";
    const auto& loops = known.entry->apart->compiled().loops;
    for (const auto& loop : loops) {
      const int line = loop.source ? loop.source->position(loop.span.begin).line : 0;
      text += fmt::format("  {}:{}: {}\n", loop.source ? loop.source->name() : "?", line, loop.fate);
    }
    if (loops.empty()) text += d.options().parallel ? "  there is no prange in it\n" : "  it was compiled without parallel=True\n";
    in.write_out(text);
  }
  return {};
}

Value recompile(Interpreter& in, Args args) {
  self(args).recompile(in);
  return {};
}

Value compile(Interpreter& in, Args args) {
  const Signature s = to_signature(in, args[1]);
  self(args).compile(in, s.arguments);
  return {};
}

}  // namespace

void rethrow_typing(const Error& error, const functions::Function& function, const std::vector<functions::Type>& types) {
  register_numba_errors();
  Diagnostic d = error.diagnostic();
  if (d.kind == "TypeError") d.kind = "TypingError";
  Value value = exception_from_error(Error(std::move(d)));
  auto& exception = static_cast<Exception&>(*value.object());
  if (exception.primary) {  // the place is one of a function that is called: who called it is told as of others
    const Label place = *exception.primary;
    exception.primary.reset();
    exception.traceback.push_back({place.source, place.span, function.name, 0});
  }
  const auto* definition = function.definition ? std::get_if<ast::FunctionDef>(&function.definition->node) : nullptr;
  if (definition && function.source && definition->params.size() == types.size() && !types.empty()) {
    std::string text = "compiled for ";
    for (size_t k = 0; k < types.size(); ++k) text += (k ? ", " : "") + definition->params[k].name + ": " + functions::describe(types[k]);
    exception.labels.push_back({function.source, definition->name_span, std::move(text)});
  }
  throw Raised(std::move(value));
}

void rethrow(const functions::SiteRaised& raised) {
  const functions::Site& site = raised.site;
  const gasell::Type* type = exception_type(site.exception);
  std::vector<Value> args;
  if (!raised.message.empty() || !site.more.empty()) args.push_back(make_str(raised.message));
  for (const std::string& argument : site.more) {
    if (argument.starts_with("'")) {
      args.push_back(make_str(argument.substr(1)));
      continue;
    }
    const int64_t number = raised.numbers[argument.at(1) - '0'];
    if (argument.ends_with(":f}"))
      args.push_back(numpy::python_value(Scalar::of_float(std::bit_cast<double>(number))));
    else if (argument.ends_with(":b}"))
      args.push_back(numpy::python_value(Scalar::of_bool(number != 0)));
    else
      args.push_back(numpy::python_value(Scalar::of_int(number)));
  }
  Value value = Value::make<Exception>(type ? *type : *exception_type("RuntimeError"), std::move(args));
  if (site.source) static_cast<Exception*>(value.object())->traceback.push_back({site.source, site.span, site.function, 0});
  throw Raised(std::move(value));
}

const gasell::Type& dispatcher_type() {
  static const gasell::Type t = [] {
    gasell::Type made{"CPUDispatcher", "numba.core.registry", &object_type()};
    made.methods = {
        {"inspect_llvm", "signature=None", inspect_llvm, "LLVM IR of one signature's code; without: a dict of all."},
        {"inspect_asm", "signature=None", inspect_asm, "Assembly of one signature's code; without: a dict of all."},
        {"inspect_loops", "signature=None", inspect_loops, "Loop IR of one signature's code; without: a dict of all."},
        {"inspect_types", "file=None, pretty=False, **kwargs", inspect_types,
         "Prints the function with the types of what each line binds."},
        {"parallel_diagnostics", "signature=None, level=1", parallel_diagnostics, "Prints what became of each prange."},
        {"recompile", "", recompile, "Compiles again, with the globals of now."},
        {"compile", "sig", compile, "Compiles for these types."},
        {"disable_compile", "val=True", disable_compile, "Calls with types that it was not compiled for are errors from now on."},
    };
    made.properties = {
        {"py_func", [](Interpreter&, const Value& v) { return v.as<Dispatcher>()->function(); }, nullptr, "the function, interpreted"},
        {"signatures", signatures, nullptr, "the types it was compiled for"},
        {"overloads", overloads, nullptr, "the types it was compiled for, and their kernels"},
        {"targetoptions", target_options, nullptr, "how it is compiled"},
        {"stats", statistics, nullptr, "which signatures were compiled"},
        {"nopython_signatures", nopython_signatures, nullptr, "the same with the types of results"},
        {"__call__", [](Interpreter&, const Value& v) { return v; }, nullptr, ""},
        {"__wrapped__", [](Interpreter&, const Value& v) { return v.as<Dispatcher>()->function(); }, nullptr, ""},
    };
    return made;
  }();
  return t;
}

Dispatcher::Dispatcher(Interpreter& in, Value function, functions::Options options)
    : function_(std::move(function)),
      options_(std::move(options)),
      compilation_(std::make_unique<Compilation>(Compilation{in, this})),
      output_{[&in](std::string_view text) { in.write_out(std::string(text)); },
              [&in](const Array& array) { return gasell::str(in, Value::make<numpy::NdArray>(array)); }} {}

const gasell::Type& Dispatcher::type() const { return dispatcher_type(); }
std::string Dispatcher::repr(Interpreter& in) { return "CPUDispatcher(" + gasell::repr(in, function_) + ")"; }

std::optional<Value> Dispatcher::get_attribute(Interpreter& in, std::string_view name) {
  if (auto own = Object::get_attribute(in, name)) return own;
  return function_.object()->get_attribute(in, name);
}

std::vector<std::string> Dispatcher::signature_texts(Interpreter& in, const Known& known) const {
  std::vector<std::string> texts;
  const auto& defaults = function_.as<Function>()->defaults;
  for (size_t k = 0; k < known.types.size(); ++k)
    texts.push_back(known.omitted >> k & 1 ? "omitted(default=" + gasell::repr(in, defaults[k]) + ")"
                                           : functions::to_string(known.types[k]));
  return texts;
}

/// One value a parameter; errors in Numba's words.
std::vector<Value> Dispatcher::bind(Interpreter&, Arguments& args, uint64_t& omitted) const {
  const auto& f = *function_.as<Function>();
  const auto& parameters = f.code->signature.parameters;
  const size_t given = args.positional.size();
  std::vector<Value> values = std::move(args.positional);
  const auto& s = f.code->signature;
  if (s.var_keyword >= 0)
    raise_typing_error("compiled functions take no **" + parameters[static_cast<size_t>(s.var_keyword)].name,
                       "give each argument a name and a default");
  const auto positional = static_cast<size_t>(s.positional);
  if (s.var_positional >= 0) {
    std::vector<Value> rest;
    while (values.size() > positional) {
      rest.insert(rest.begin(), std::move(values.back()));
      values.pop_back();
    }
    values.resize(parameters.size(), Value::absent());
    values[static_cast<size_t>(s.var_positional)] = make_tuple(std::move(rest));
  } else if (given > parameters.size()) {
    raise("TypeError", fmt::format("too many arguments: expected {}, got {}", parameters.size(), given));
  }
  values.resize(parameters.size(), Value::absent());
  for (auto& [name, value] : args.keywords) {
    const auto at = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
    if (at == parameters.end() || !values[static_cast<size_t>(at - parameters.begin())].is_absent())
      raise("TypeError", "some keyword arguments unexpected");
    values[static_cast<size_t>(at - parameters.begin())] = std::move(value);
  }
  for (size_t k = 0; k < values.size(); ++k) {
    if (!values[k].is_absent()) continue;
    if (f.defaults[k].is_absent()) {
      if (!args.keywords.empty()) raise("TypeError", fmt::format("missing argument '{}'", parameters[k].name));
      const bool some = s.required_positional < s.positional;
      raise("TypeError", fmt::format("not enough arguments: expected {}{}, got {}", some ? "at least " : "", s.required_positional, given));
    }
    values[k] = f.defaults[k];
    if (k < 64) omitted |= uint64_t{1} << k;
  }
  return values;
}

functions::Dispatch::Entry& Dispatcher::entry_for(std::vector<functions::Type> types, uint64_t omitted) {
  for (size_t k = 0; k < types.size() && k < 64; ++k) {
    if (!(omitted >> k & 1) || !types[k].is_scalar()) continue;
    auto& number = defaults_[k];
    if (!number) number = std::make_shared<const functions::Outside>(to_outside(*compilation_, function_.as<Function>()->defaults[k]));
    types[k].constant = number;
  }
  if (!dispatch_)
    dispatch_ = std::make_unique<functions::Dispatch>(compilation_->in.engine(), to_function(*compilation_, function_, options_));
  try {
    return dispatch_->entry(types);
  } catch (const Error& error) {
    rethrow_typing(error, dispatch_->function(), types);
  }
}

bool can_convert(const functions::Type& from, const functions::Type& to, int& cost) {
  using Kind = functions::Type::Kind;
  if (from == to) return true;
  if (to.kind == Kind::optional) return ++cost, from.is_none() || can_convert(from, to.items[0], cost);
  if (from.kind != to.kind) return false;
  if (from.kind == Kind::array) {
    if (from.dtype != to.dtype || from.rank != to.rank || (from.read_only && !to.read_only)) return false;
    if (from.layout == Layout::any && to.layout == Layout::c) return false;
    ++cost;
    return true;
  }
  if (from.kind == Kind::tuple) {
    if (from.items.size() != to.items.size()) return false;
    for (size_t k = 0; k < from.items.size(); ++k)
      if (!can_convert(from.items[k], to.items[k], cost)) return false;
    return true;
  }
  if (from.kind != Kind::scalar) return from.kind == Kind::text;
  // Numba: a promotion keeps the kind, a safe conversion keeps the value, an unsafe one (int64 to float64, float64 to float32) need not.
  const char a = kind(from.dtype), b = kind(to.dtype);
  if (a == 'c' && b != 'c') return false;
  const bool wider = gasell::size_of(to.dtype) >= gasell::size_of(from.dtype);
  if (promote(from.dtype, to.dtype) != to.dtype)
    cost += 10000;
  else if (a == b && wider)
    cost += 1;
  else
    cost += a == 'i' && b == 'f' ? 200 : 100;
  return true;
}

Dispatcher::Known* Dispatcher::match_declared(CallArguments& arguments) {
  Known* best = nullptr;
  int least = 0;
  for (Known& candidate : known_) {
    int cost = 0;
    bool fits = candidate.types.size() == arguments.types.size();
    for (size_t k = 0; fits && k < arguments.types.size(); ++k) fits = can_convert(arguments.types[k], candidate.types[k], cost);
    if (fits && (!best || cost < least)) best = &candidate, least = cost;
  }
  return best;
}

functions::Type with_texts(functions::Type type, const functions::Type& given) {
  if (type.kind == functions::Type::Kind::text) return given;
  for (size_t k = 0; k < type.items.size() && k < given.items.size(); ++k)
    type.items[k] = with_texts(std::move(type.items[k]), given.items[k]);
  return type;
}

Dispatcher::Known& Dispatcher::find(std::span<const Value> values, CallArguments& arguments, uint64_t omitted) {
  for (Known& k : known_)
    if (k.omitted == omitted && k.types == arguments.types) return k;
  if (declared_) {
    Known* matched = match_declared(arguments);
    if (!matched) {
      std::vector<std::string> texts;
      for (const functions::Type& t : arguments.types) texts.push_back(functions::to_string(t));
      raise("TypeError", "No matching definition for argument type(s) " + join(texts));
    }
    std::vector<functions::Type> types = matched->types;
    for (size_t k = 0; k < types.size(); ++k) types[k] = with_texts(std::move(types[k]), arguments.types[k]);
    arguments.clear();
    for (size_t k = 0; k < types.size(); ++k) add_as(*compilation_, values[k], types[k], arguments);
    for (Known& k : known_)
      if (k.types == types && k.omitted == matched->omitted) return k;
    const std::optional<functions::Type> result = matched->result;
    functions::Dispatch::Entry& entry = entry_for(types, 0);
    return known_.emplace_back(Known{std::move(types), 0, &entry, result});
  }
  functions::Dispatch::Entry& entry = entry_for(arguments.types, omitted);
  return known_.emplace_back(Known{arguments.types, omitted, &entry, {}});
}

Dispatcher::Known* Dispatcher::find_again(std::span<const Value> values, uint64_t omitted, CallArguments& arguments) {
  if (last_ >= known_.size()) return nullptr;
  Known& known = known_[last_];
  if (known.omitted != omitted || known.types.size() != values.size()) return nullptr;
  for (size_t k = 0; k < values.size(); ++k)
    if (!add_leaves(*compilation_, values[k], known.types[k], arguments)) return nullptr;
  return &known;
}

Value Dispatcher::call(Interpreter& in, Arguments args) {
  uint64_t omitted = 0;
  const auto& s = function_.as<Function>()->code->signature;
  std::vector<Value> values;
  if (args.keywords.empty() && function_.as<Function>()->code->simple && args.positional.size() == s.parameters.size())
    values = std::move(args.positional);
  else
    values = bind(in, args, omitted);
  const Value keep = Value::of(this);
  CallArguments arguments = std::move(scratch_);
  arguments.clear();
  Known* chosen = find_again(values, omitted, arguments);
  if (!chosen) {
    arguments.clear();
    for (const Value& v : values) add_argument(*compilation_, v, arguments);
    chosen = &find(values, arguments, omitted);
    last_ = static_cast<size_t>(chosen - known_.data());
  }
  const bool convert = chosen->result && chosen->result->is_scalar();
  const DType declared = convert ? chosen->result->dtype : DType::f64;
  functions::Returned returned;
  struct Printing {
    explicit Printing(const functions::FunctionOutput* output) : before(std::exchange(functions::function_output(), output)) {}
    ~Printing() { functions::function_output() = before; }
    const functions::FunctionOutput* before;
  } printing(&output_);
  try {
    returned = dispatch_->call(*chosen->entry, arguments.leaves, arguments.given());
  } catch (const functions::SiteRaised& raised) {
    reflect(in, arguments);
    rethrow(raised);
  }
  functions::Returned& item = returned.type->kind == functions::Type::Kind::optional && returned.there ? returned.items[0] : returned;
  if (convert && item.type->is_scalar()) item.scalar = item.scalar.cast(declared);
  reflect(in, arguments);
  Value value = to_value(in, returned, arguments);
  arguments.clear();  // holds nothing between calls
  scratch_ = std::move(arguments);
  return value;
}

void Dispatcher::compile(Interpreter&, const std::vector<functions::Type>& types) {
  for (const Known& k : known_)
    if (k.types == types) return;
  functions::Dispatch::Entry& entry = entry_for(types, 0);
  known_.push_back({types, 0, &entry, {}});
}

functions::Dispatch::Entry& Dispatcher::entry(Interpreter& in, const std::vector<functions::Type>& types) {
  compile(in, types);
  return *std::find_if(known_.begin(), known_.end(), [&](const Known& k) { return k.types == types; })->entry;
}

const functions::Specialisation& Dispatcher::overlapping(functions::Dispatch::Entry& entry) {
  try {
    return dispatch_->overlapping(entry);
  } catch (const Error& error) {
    rethrow_typing(error, dispatch_->function(), entry.types);
  }
}

void Dispatcher::declare(Interpreter& in, const Signature& signature) {
  compile(in, signature.arguments);
  declared_ = true;
  for (Known& k : known_)
    if (k.types == signature.arguments) k.result = signature.result;
}

void Dispatcher::recompile(Interpreter& in) {
  std::vector<Known> before = std::move(known_);
  known_.clear();
  dispatch_.reset();
  compilation_ = std::make_unique<Compilation>(Compilation{in, this});
  for (Known& k : before) {
    functions::Dispatch::Entry& entry = entry_for(k.types, k.omitted);
    known_.push_back({std::move(k.types), k.omitted, &entry, k.result});
  }
}

}  // namespace gasell::numba
