#include "runtime/session/interpreter.h"

#include <cstdio>
#include <iostream>
#include <utility>

#include "lang/large_stack.h"
#include "runtime/device/sandbox.h"
#include "runtime/session/error_output.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/script_threads.h"

namespace gasell {

struct Interpreter::State {
  State(Interpreter& in, Engine& engine, ModuleTable modules) : session(in, engine, std::move(modules)) {}
  Session session;
};

Session& Evaluator::session(Interpreter& in) { return in.state_->session; }

Interpreter::Interpreter(Engine& engine, ModuleTable modules) : state_(std::make_unique<State>(*this, engine, std::move(modules))) {
  write_out = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  read_line = [](const std::string& prompt) -> std::optional<std::string> {
    std::fwrite(prompt.data(), 1, prompt.size(), stdout);
    std::fflush(stdout);
    std::string line;
    if (!std::getline(std::cin, line)) return {};
    return line;
  };
  state_->session.main->slot("__name__") = make_str("__main__");
}

Interpreter::~Interpreter() = default;
Engine& Interpreter::engine() { return state_->session.engine; }

std::shared_ptr<FunctionCode> lower_module(Session& session, const ast::ModuleRef& module, GlobalScope& globals, const std::string& name,
                                           bool last_value) {
  auto code = std::make_shared<FunctionCode>();
  code->name = name;
  code->source = module->source;
  code->globals = &globals;
  Lowering l{session, *code};
  ast::Body body = module->body;
  if (last_value && !body.empty()) {
    if (const auto* last = std::get_if<ast::ExprStmt>(&body.back()->node)) {
      code->expression = lower(l, last->value);
      body.pop_back();
    }
  }
  code->body = lower(l, body);
  return code;
}

Value run_module(Session& session, const FunctionCode& code) {
  Frame f{session, session.in, code, nullptr, nullptr};
  f.activation = ++session.activations;
  RunningFrame running(f);
  Value result;
  Flow flow = Flow::next;
  Value exception = catching(f, flow, [&] {
    const Flow ended = run_block(code.body, f);
    if (ended != Flow::raised && code.expression) result = code.expression->evaluate(f);
    return ended;
  });
  if (!exception.is_absent()) throw Raised(std::move(exception));
  return result;
}

namespace {

/// What an uncaught exception of a script is for the host.
[[noreturn]] void leave(Interpreter& in, const Value& exception) {
  if (is_instance(exception, *exception_type("KeyboardInterrupt"))) throw Interrupted();
  if (is_instance(exception, *exception_type("SystemExit"))) {
    const auto& args = static_cast<Exception&>(*exception.object()).args;
    if (args.empty() || args[0].is_none()) throw Interpreter::Exit{0};
    if (args[0].is_int() || args[0].is_bool()) throw Interpreter::Exit{static_cast<int>(args[0].as_int())};
    write_error(str(in, args[0]) + "\n");
    throw Interpreter::Exit{1};
  }
  throw error_from_exception(in, exception);
}

}  // namespace

void Evaluator::enter(Session& session, const std::function<void()>& work) {
  struct Watched {
    explicit Watched(MemoryWatch& m) : memory(m) { memory.begin(); }
    ~Watched() { memory.end(); }
    MemoryWatch& memory;
  } watched(session.memory);
  if (!session.running) {  // else a function of the program, which a script called, calls scripts
    session.depth = 0;
    session.handling = Value();
  }
  const InSandbox confined(session.sandbox);
  run_on_large_stack(work);
}

namespace {

/// Evaluator::enter() where script errors leave as C++ ones.
template <class Work>
void at_top(Session& session, Work&& work) {
  const bool outermost = !session.running;
  Evaluator::enter(session, [&] {
    Value exception = Value::absent();
    try {
      work();
    } catch (const Raised& raised) {
      exception = raised.value;
    }
    const bool interrupted = !exception.is_absent() && is_instance(exception, *exception_type("KeyboardInterrupt"));
    if (outermost && session.threads && !interrupted) session.threads->finish();
    if (!exception.is_absent()) leave(session.in, exception);
  });
}

/// work(code) with the module's code, at the top.
template <class Work>
void run_at_top(Session& session, const ast::ModuleRef& module, bool last_value, Work&& work) {
  at_top(session, [&] {
    try {
      std::shared_ptr<FunctionCode> code = lower_module(session, module, *session.main, "", last_value);
      work(*code);
    } catch (const Raised& raised) {
      if (session.keeps_variables) session.uncaught = raised.value;
      throw;
    }
  });
}

}  // namespace

void Interpreter::run(const ast::ModuleRef& module) {
  run_at_top(state_->session, module, false, [&](const FunctionCode& code) { run_module(state_->session, code); });
}
Value Interpreter::evaluate(const ast::ModuleRef& module) {
  Value result;
  run_at_top(state_->session, module, true, [&](const FunctionCode& code) { result = run_module(state_->session, code); });
  return result;
}
Value Interpreter::call(const Value& callee, std::vector<Value> arguments) {
  Value result;
  at_top(state_->session, [&] { result = call_positional(state_->session, callee, arguments); });
  return result;
}
void Interpreter::repeat(const ast::ModuleRef& module, int64_t times, const std::function<void(const Value&)>& each) {
  run_at_top(state_->session, module, true, [&](const FunctionCode& code) {
    for (int64_t i = 0; i < times; ++i) each(run_module(state_->session, code));
  });
}

Interpreter::Place Interpreter::place() const noexcept {
  for (const Frame* f = state_->session.running; f; f = f->outer)
    if (f->code.source && !(f->code.globals && f->code.globals->library))
      return {f->code.source->name().c_str(), f->code.source->position(f->at.begin).line};
  return {nullptr, 0};
}

void Interpreter::keep_variables() { state_->session.keeps_variables = true; }
const Value& Interpreter::uncaught() const { return state_->session.uncaught; }
void Interpreter::forget_exception() { state_->session.uncaught = Value(); }

CallProfile Interpreter::profile(const std::function<void()>& work) {
  CallProfile profile;
  struct Profiled {
    Session& session;
    CallProfile* before;
    ~Profiled() { session.profile = before; }
  } profiled{state_->session, std::exchange(state_->session.profile, &profile)};
  work();
  return profile;
}

void Interpreter::confine(std::shared_ptr<Sandbox> sandbox) {
  state_->session.memory.confine(sandbox.get());
  state_->session.sandbox = std::move(sandbox);
}
const std::shared_ptr<Sandbox>& Interpreter::sandbox() const { return state_->session.sandbox; }
void Interpreter::set_recursion_limit(int calls) { state_->session.recursion_limit = calls; }

void Interpreter::own_process() { state_->session.memory.own_process(); }

Value* Interpreter::global(std::string_view name) { return state_->session.main->find(name); }
void Interpreter::set_global(const std::string& name, Value value) { state_->session.main->slot(name) = std::move(value); }

std::vector<std::string> Interpreter::global_names() {
  std::vector<std::string> names = state_->session.main->names();
  std::erase_if(names, [](const std::string& n) { return n.starts_with("__"); });
  return names;
}

}  // namespace gasell
