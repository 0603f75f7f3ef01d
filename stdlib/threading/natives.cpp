// _threading: what threading and queue are written with.
#include "lang/render.h"
#include "runtime/session/number.h"
#include "runtime/session/script_threads.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

/// A count that threads take from and wait for.
class Gate final : public Object {
 public:
  explicit Gate(int64_t n) : count(n) {}
  const Type& type() const override {
    static const Type type{"gate", "_threading", &object_type()};
    return type;
  }
  int64_t count;
};

Gate& gate_of(const Value& v) {
  auto* gate = v.as<Gate>();
  if (!gate) raise("TypeError", "a gate is expected, not '" + type_of(v).name + "'");
  return *gate;
}

ScriptThreads& threads_of(Interpreter& in) { return ScriptThreads::of(Evaluator::session(in)); }

double seconds_of(Interpreter& in, const Value& v) { return v.is_none() ? -1 : std::max(0.0, to_double(in, v)); }

Value gate_take(Interpreter& in, Args args) {
  Gate& gate = gate_of(args[0]);
  const ScriptThreads::Attempt attempt = [&gate] { return gate.count > 0 && gate.count-- > 0; };
  return Value::of(threads_of(in).wait(attempt, seconds_of(in, args[1])));
}

Value gate_await(Interpreter& in, Args args) {
  const Gate& gate = gate_of(args[0]);
  const ScriptThreads::Attempt attempt = [&gate] { return gate.count > 0; };
  return Value::of(threads_of(in).wait(attempt, seconds_of(in, args[1])));
}

Value gate_add(Interpreter& in, Args args) { return Value::of(gate_of(args[0]).count += to_index(in, args[1])); }

Value gate_set(Interpreter& in, Args args) { return Value::of(gate_of(args[0]).count = to_index(in, args[1])); }

Value start_thread(Interpreter& in, Args args) { return Value::of(threads_of(in).start(args[0], truth(in, args[1]))); }

Value thread_number(Interpreter& in, Args) { return Value::of(threads_of(in).current()); }

Value error_text(Interpreter& in, Args args) { return make_str(render(error_from_exception(in, args[0]).diagnostic())); }

}  // namespace

Value make_threading_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"gate", "count, /", [](Interpreter& in, Args a) { return Value::make<Gate>(to_index(in, a[0])); }, "A count to wait for."},
      {"gate_take", "gate, seconds, /", gate_take,
       "Waits until the count is above 0, and takes 1 of it; whether it did in so many seconds (None: whenever)."},
      {"gate_await", "gate, seconds, /", gate_await, "Waits until the count is above 0; whether it is."},
      {"gate_add", "gate, change, /", gate_add, "Changes the count, and gives it."},
      {"gate_set", "gate, count, /", gate_set, "Another count."},
      {"start_thread", "target, daemon, /", start_thread, "Calls target() in a thread of the script; its number."},
      {"thread_number", "", thread_number, "The number of the thread that runs: 1 is the main one."},
      {"ident_of", "number, /", [](Interpreter& in, Args a) { return Value::of(140000000000000 + to_index(in, a[0])); },
       "What get_ident() says of a thread."},
      {"error_text", "exception, /", error_text, "What is said of an exception that nobody caught."},
  };
  return make_module("_threading", table);
}

}  // namespace gasell
