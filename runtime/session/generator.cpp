#include "runtime/session/generator.h"

#include <fmt/format.h>

#include "lang/large_stack.h"
#include "runtime/device/sandbox.h"
#include "runtime/session/iterators.h"
#include "runtime/session/types.h"

namespace gasell {

Generator::Generator(Session& session, std::shared_ptr<const FunctionCode> code)
    : session_(session), code_(std::move(code)), values_(static_cast<size_t>(code_->local_count + code_->cell_count), Value::absent()) {
  suspension_.points.resize(static_cast<size_t>(code_->resume_points));
}

const Type& Generator::type() const { return generator_type(); }

std::string Generator::repr(Interpreter&) {
  return fmt::format("<generator object {} at {}>", code_->qualified_name, static_cast<const void*>(this));
}

std::optional<Value> Generator::get_attribute(Interpreter& in, std::string_view name) {
  if (name == "__name__") return make_str(code_->name);
  if (name == "__qualname__") return make_str(code_->qualified_name);
  if (name == "gi_running") return Value::of(running_);
  return Object::get_attribute(in, name);
}

std::optional<Value> Generator::resume(Interpreter& in, Value sent, Value thrown) {
  if (running_) raise("ValueError", "generator already executing");
  const bool begins = !started_;
  started_ = true;
  if (ended_ || (begins && !thrown.is_absent())) {
    ended_ = true;
    if (!thrown.is_absent()) throw Raised(std::move(thrown));
    return {};
  }
  const CallDepth depth(session_);
  if (Generator* delegate = std::exchange(suspension_.delegate, nullptr); delegate && thrown.is_absent()) {
    // The statement that waits has nothing to do but to pass on: it sees the end alone.
    running_ = true;
    try {
      std::optional<Value> item = delegate->resume(in, std::move(sent), Value::absent());
      running_ = false;
      if (item) {
        suspension_.delegate = delegate;
        return item;
      }
      sent = Value();
    } catch (const Raised& raised) {
      running_ = false;
      suspension_.failed = raised.value;
    } catch (...) {
      running_ = false;
      throw;
    }
  }
  const ProfiledCall profiled(session_, *code_);
  session_.poll();
  if (!sent.is_none()) suspension_.sent = std::move(sent);
  if (!thrown.is_absent()) suspension_.thrown = std::move(thrown);
  Frame f{session_, in, *code_, values_.data(), values_.data() + code_->local_count, {}, {}, ++session_.activations};
  f.suspension = &suspension_;
  const RunningFrame running(f);
  if (begins) fill_cells(f, captured_);

  struct Running {
    explicit Running(Generator& g) : generator(g) { g.running_ = true; }
    ~Running() {
      generator.running_ = false;
      if (yielded) return;
      generator.ended_ = true;
      for (Value& v : generator.values_) v = Value::absent();
      generator.suspension_.points.clear();
    }
    Generator& generator;
    bool yielded = false;
  } state(*this);

  Flow flow = Flow::next;
  try {
    flow = step(f);
    if (flow == Flow::raised) throw_raised(session_);
  } catch (const Raised& raised) {
    auto& exception = static_cast<Exception&>(*raised.value.object());
    note_place(f, exception);
    if (!is_instance(raised.value, *exception_type("StopIteration"))) throw;
    Value wrong = Value::make<Exception>(*exception_type("RuntimeError"), std::vector<Value>{make_str("generator raised StopIteration")});
    auto& error = static_cast<Exception&>(*wrong.object());
    error.cause = error.context = raised.value;
    error.suppress_context = true;
    note_place(f, error);
    throw Raised(std::move(wrong));
  } catch (const Error& error) {
    Value value = exception_from_error(error);
    note_place(f, static_cast<Exception&>(*value.object()));
    throw Raised(std::move(value));
  }
  if (flow == Flow::yield_value) {
    state.yielded = true;
    return std::move(f.result);
  }
  if (flow == Flow::return_value) returned_ = std::move(f.result);
  return {};
}

void Generator::close(Interpreter& in) {
  if (running_) raise("ValueError", "generator already executing");
  if (!started_ || ended_) {
    started_ = ended_ = true;
    for (Value& v : values_) v = Value::absent();
    return;
  }
  try {
    if (!resume(in, Value(), Value::make<Exception>(*exception_type("GeneratorExit"), std::vector<Value>{}))) return;
  } catch (const Raised& raised) {
    if (is_instance(raised.value, *exception_type("GeneratorExit")) || is_instance(raised.value, *exception_type("StopIteration"))) return;
    throw;
  }
  raise("RuntimeError", "generator ignored GeneratorExit");
}

void Generator::abandon() noexcept {
  if (!started_ || ended_ || running_ || !code_->cleans_up) return;
  const Value raised = std::exchange(session_.raised, Value());  // in whose way this happens
  try {
    const InSandbox confined(session_.sandbox);  // the host may be who lets go of it
    run_on_large_stack([&] { close(session_.in); });
  } catch (...) {  // nobody is there to take it
  }
  session_.raised = raised;
}

namespace {

class FunctionGenerator final : public Generator {
 public:
  FunctionGenerator(Session& session, const Function& function, std::span<Value> locals) : Generator(session, function.code) {
    for (size_t i = 0; i < locals.size(); ++i) values_[i] = std::move(locals[i]);
    captured_ = function.captured;
  }
  ~FunctionGenerator() override { abandon(); }

 private:
  Flow step(Frame& f) override { return run_block(f.code.body, f); }
};

Generator& generator_of(const Value& v) { return *static_cast<Generator*>(v.object()); }

Value yielded(Interpreter& in, const Value& self, Value sent, Value thrown) {
  if (auto value = generator_of(self).resume(in, std::move(sent), std::move(thrown))) return *std::move(value);
  raise_stop_iteration(self);
}

Value generator_next(Interpreter& in, std::span<Value> args) { return yielded(in, args[0], Value(), Value::absent()); }
Value generator_iter(Interpreter&, std::span<Value> args) { return args[0]; }
Value generator_send(Interpreter& in, std::span<Value> args) {
  if (!generator_of(args[0]).started() && !args[1].is_none()) raise("TypeError", "can't send non-None value to a just-started generator");
  return yielded(in, args[0], args[1], Value::absent());
}
Value generator_throw(Interpreter& in, std::span<Value> args) {
  Value thrown = args[1];
  if (const auto* type = thrown.as<TypeObject>(); type && type->described.derives_from(*exception_type("BaseException"))) {
    if (args[2].as<Exception>()) {
      thrown = args[2];
    } else {
      thrown = call(in, thrown, {args[2].is_none() ? std::vector<Value>{} : std::vector<Value>{args[2]}, {}});
    }
  } else if (thrown.as<Exception>()) {
    if (!args[2].is_none()) raise("TypeError", "instance exception may not have a separate value");
  } else {
    raise("TypeError", "exceptions must be classes or instances deriving from BaseException, not " + type_of(thrown).name);
  }
  return yielded(in, args[0], Value(), std::move(thrown));
}
Value generator_close(Interpreter& in, std::span<Value> args) {
  generator_of(args[0]).close(in);
  return {};
}

}  // namespace

Value make_generator(Session& session, const Function& function, std::span<Value> locals) {
  return Value::make<FunctionGenerator>(session, function, locals);
}

void raise_stop_iteration(const Value& iterator) {
  std::vector<Value> args;
  if (auto* generator = iterator.as<Generator>())
    if (Value returned = generator->take_returned(); !returned.is_none()) args.push_back(std::move(returned));
  throw Raised(Value::make<Exception>(*exception_type("StopIteration"), std::move(args)));
}

const Type& generator_type() {
  static const Type type{"generator",
                         "builtins",
                         &object_type(),
                         {{"send", "value, /", generator_send, "goes on; the yield that waits gives the value"},
                          {"throw", "typ, val=None, tb=None, /", generator_throw, "raises the exception where the generator waits"},
                          {"close", "", generator_close, "raises GeneratorExit where the generator waits"},
                          {"__next__", "", generator_next, "the next value, or StopIteration"},
                          {"__iter__", "", generator_iter, "the generator itself"}}};
  return type;
}

}  // namespace gasell
