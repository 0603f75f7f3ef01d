// Functions of scripts as functions of the program.
#include <algorithm>

#include "compiler/ir/text.h"
#include "lang/large_stack.h"
#include "lang/parser.h"
#include "runtime/functions/direct_call.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/objects.h"
#include "stdlib/numba/dispatcher.h"
#include "stdlib/numba/vectorize.h"
#include "tools/array_values.h"
#include "tools/libgasell/marshal.h"

using namespace gasell;
using namespace gasell::c_abi;

struct gasell_function {
  gasell_session* session;
  std::unique_ptr<gasell_session> own_session;  // of gasell_compile
  Value callee;
  CallSignature signature;
  functions::FunctionOutput output;  // of print in a direct call
  std::unique_ptr<functions::DirectCall> direct = {};
};

namespace {

using Kind = ParameterType::Kind;

/// A function of the module numba: it is asked for by name, which scripts may have bound otherwise.
Value jitted(Interpreter& in, const Value& function) {
  const Value numba = in.import_module("numba", nullptr);
  return in.call(get_attribute(in, numba, "njit"), {function});
}

void require_parameters(const Value& callee, const CallSignature& signature) {
  const auto* function = callee.as<Function>();
  if (const auto* dispatcher = callee.as<numba::Dispatcher>()) function = dispatcher->function().as<Function>();
  if (const auto* vectorized = callee.as<numba::Vectorized>()) function = vectorized->function().as<Function>();
  if (!function) return;
  const auto& s = function->code->signature;
  const size_t given = signature.parameters.size();
  const auto most = static_cast<size_t>(s.positional);
  if (given < static_cast<size_t>(s.required_positional) || (given > most && s.var_positional < 0))
    throw Error("TypeError",
                function->name() + "() takes " + std::to_string(most) + " arguments, its signature has " + std::to_string(given));
}

/// Whether the function draws from np.random, whose generator is the session's: several threads cannot share it.
bool draws_numbers(const functions::Compiled& compiled) {
  const auto draws = [](const ir::Kernel& kernel) { return ir::print(kernel).find("gasell_random") != std::string::npos; };
  return draws(compiled.kernel) || std::any_of(compiled.regions.begin(), compiled.regions.end(), draws) ||
         std::any_of(compiled.instances.begin(), compiled.instances.end(), draws);
}

/// Compiles a dispatcher for the signature, and makes the direct call where there is one.
void compile_for(gasell_function& f) {
  auto* dispatcher = f.callee.as<numba::Dispatcher>();
  if (!dispatcher || !f.signature.is_plain()) return;
  std::vector<functions::Type> types;
  for (const ParameterType& p : f.signature.parameters) types.push_back(p.type);
  const auto& code = dispatcher->function().as<Function>()->code;
  if (!code->simple || types.size() != code->signature.parameters.size()) return;
  Interpreter& in = f.session->interpreter;
  functions::Dispatch::Entry& entry = dispatcher->entry(in, types);
  const functions::Compiled& compiled = entry.apart->compiled();
  ParameterType& result = f.signature.result;
  if (f.signature.is_open() && functions::DirectCall::takes(compiled))
    result = compiled.result.is_scalar() ? ParameterType{Kind::number, compiled.result} : ParameterType{};
  if (result.kind == Kind::number) {
    const functions::Type& given = compiled.result;
    const std::string name = dispatcher->function().as<Function>()->name();
    if (!given.is_scalar())
      throw Error("TypeError",
                  name + "() returns " + functions::describe(given) + ", its signature says " + functions::describe(result.type));
    const bool loses = promote(given.dtype, result.type.dtype) != result.type.dtype &&
                       !(is_integer(given.dtype) && (is_float(result.type.dtype) || is_integer(result.type.dtype))) &&
                       !(is_float(given.dtype) && is_float(result.type.dtype));
    if (loses)
      throw Error("TypeError",
                  name + "() returns " + functions::describe(given) + ", which " + functions::describe(result.type) + " does not hold");
  }
  if (f.signature.is_open() || !functions::DirectCall::takes(compiled) || draws_numbers(compiled)) return;
  const auto arrays = std::count_if(types.begin(), types.end(), [](const functions::Type& t) { return t.is_array(); });
  const bool writes = std::find(compiled.writes.begin(), compiled.writes.end(), true) != compiled.writes.end();
  const functions::Specialisation* overlapping = arrays > 1 && writes ? &dispatcher->overlapping(entry) : nullptr;
  f.direct = std::make_unique<functions::DirectCall>(f.session->engine, *entry.apart, overlapping);
}

std::unique_ptr<gasell_function> make_function(gasell_session& session, Value callee, CallSignature signature) {
  require_parameters(callee, signature);
  auto f = std::make_unique<gasell_function>(gasell_function{&session, nullptr, std::move(callee), std::move(signature), {}});
  Interpreter& in = session.interpreter;
  f->output = {[&session](std::string_view text) { session.write(text); }, [&in](const Array& array) { return str(in, value_of(array)); }};
  run_on_large_stack([&] {  // as calls of scripts run: compiling recurses as deep as the function's text
    try {
      compile_for(*f);
      if (f->signature.is_open()) f->signature.result = {Kind::object};
    } catch (const Raised& raised) {
      throw error_from_exception(in, raised.value);
    }
  });
  return f;
}

void write_result(const gasell_function& f, Value value, void* result) {
  if (!result || f.signature.result.kind == Kind::nothing) return;
  gasell_session& session = *f.session;
  if (f.signature.result.kind == Kind::object || f.signature.result.kind == Kind::text) {
    *static_cast<gasell_value**>(result) = new gasell_value{&session, std::move(value), {}};
    return;
  }
  from_value(session, value, f.signature.result, result);
}

void call_in_session(const gasell_function& f, void* result, void* const* arguments) {
  gasell_session& session = *f.session;
  std::vector<Value> values;
  for (size_t k = 0; k < f.signature.parameters.size(); ++k) values.push_back(to_value(session, f.signature.parameters[k], arguments[k]));
  write_result(f, session.interpreter.call(f.callee, std::move(values)), result);
}

void call_directly(const gasell_function& f, void* result, void* const* arguments) {
  // What was interrupted before is forgotten, unless it is a call in the session that has not ended yet.
  Engine& engine = f.session->engine;
  gasell_session& session = *f.session;
  if (engine.interrupted() && session.user.load() == std::thread::id()) [[unlikely]]
    engine.clear_interrupt();
  if (session.cancelled) throw Sandbox::Ended{Sandbox::End::asked};
  struct Printing {
    explicit Printing(const functions::FunctionOutput* output) : before(std::exchange(functions::function_output(), output)) {}
    ~Printing() { functions::function_output() = before; }
    const functions::FunctionOutput* before;
  };
  const InSandbox confined(session.sandbox);
  const DType wanted = f.signature.result.type.dtype;
  if (session.most_output == 0 && session.seconds == 0) [[likely]] {
    const Printing printing(&f.output);
    return (*f.direct)(result, wanted, arguments, engine.interrupt_flag());
  }
  const DirectCallLimits limits(session, f.output.text_of);
  const Printing printing(&limits.output());
  try {
    (*f.direct)(result, wanted, arguments, limits.interrupt());
  } catch (const Interrupted&) {
    if (limits.why() != Sandbox::End::none) throw Sandbox::Ended{limits.why()};
    throw;
  }
}

/// The name that the last def at the top of a text binds.
std::string last_definition(const ast::ModuleRef& module) {
  for (auto statement = module->body.rbegin(); statement != module->body.rend(); ++statement)
    if (const auto* definition = std::get_if<ast::FunctionDef>(&(*statement)->node)) return definition->name;
  throw InvalidArgument{"gasell_compile wants a text with a def in it"};
}

}  // namespace

gasell_status gasell_get_function(gasell_session* session, const char* name, const char* signature, gasell_function** function,
                                  gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && name && signature && function,
            "gasell_get_function wants a session, a name, a signature and a place for the function");
    *function = nullptr;
    CallSignature parsed = parse_signature(signature);
    const Value* value = session->interpreter.global(name);
    if (!value) throw Error("NameError", std::string("name '") + name + "' is not defined");
    *function = make_function(*session, *value, std::move(parsed)).release();
  });
}

gasell_status gasell_value_function(const gasell_value* callee, const char* signature, gasell_function** function,
                                    gasell_error** error) noexcept {
  return guarded(error, callee ? callee->session : nullptr, [&] {
    require(callee && signature && function, "gasell_value_function wants a function, a signature and a place for the function");
    *function = nullptr;
    *function = make_function(*callee->session, callee->value, parse_signature(signature)).release();
  });
}

gasell_status gasell_function_result(const gasell_function* function, gasell_kind* kind, gasell_dtype* dtype,
                                     gasell_error** error) noexcept {
  return guarded(error, nullptr, [&] {
    require(function && kind, "gasell_function_result wants a function and a place for the kind");
    const ParameterType& result = function->signature.result;
    switch (result.kind) {
      case Kind::nothing: *kind = GASELL_KIND_NONE; return;
      case Kind::text: *kind = GASELL_KIND_STRING; return;
      case Kind::object:
      case Kind::automatic: *kind = GASELL_KIND_OTHER; return;
      case Kind::array: *kind = GASELL_KIND_ARRAY; break;
      case Kind::number: {
        const char k = gasell::kind(result.type.dtype);
        *kind = k == 'b' ? GASELL_KIND_BOOLEAN : k == 'f' ? GASELL_KIND_FLOAT : k == 'c' ? GASELL_KIND_COMPLEX : GASELL_KIND_INTEGER;
      }
    }
    if (dtype) *dtype = static_cast<gasell_dtype>(result.type.dtype);
  });
}

gasell_status gasell_compile(gasell_engine* engine, const char* text, const char* signature, gasell_function** function,
                             gasell_error** error) noexcept {
  return guarded(error, nullptr, [&] {
    require(engine && text && signature && function, "gasell_compile wants an engine, a text, a signature and a place for the function");
    *function = nullptr;
    CallSignature parsed = parse_signature(signature);
    auto session = std::make_unique<gasell_session>(*engine, Sandbox::Rules{});
    const Use use(session.get());
    const ast::ModuleRef module = parse_module(std::make_shared<Source>("<host>", text));
    const std::string name = last_definition(module);
    Interpreter& in = session->interpreter;
    in.run(module);
    Value callee = *in.global(name);
    const bool plain = std::all_of(parsed.parameters.begin(), parsed.parameters.end(),
                                   [](const ParameterType& p) { return p.kind == Kind::number || p.kind == Kind::array; });
    const bool as_object = parsed.result.kind == Kind::object || parsed.result.kind == Kind::text;
    if (callee.as<Function>() && plain && !as_object) callee = jitted(in, callee);
    auto made = make_function(*session, std::move(callee), std::move(parsed));
    made->own_session = std::move(session);
    *function = made.release();
  });
}

gasell_status gasell_function_call(const gasell_function* function, void* result, void* const* arguments, gasell_error** error) noexcept {
  if (function && function->direct && (arguments || function->signature.parameters.empty())) [[likely]] {
    if (error) *error = nullptr;
    try {
      call_directly(*function, result, arguments);
      return GASELL_OK;
    } catch (...) {
      return report(error, nullptr);
    }
  }
  return guarded(error, function ? function->session : nullptr, [&] {
    require(function && (arguments || function->signature.parameters.empty()), "gasell_function_call wants a function and its arguments");
    call_in_session(*function, result, arguments);
  });
}

int gasell_function_is_direct(const gasell_function* function) noexcept { return function && function->direct ? 1 : 0; }

void gasell_function_free(gasell_function* function) noexcept {
  if (!function) return;
  if (function->own_session) {
    const std::unique_ptr<gasell_session> session = std::move(function->own_session);
    delete function;
    return;
  }
  release_in(*function->session, std::shared_ptr<gasell_function>(function));
}
