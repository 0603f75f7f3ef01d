// Frames, calls of script functions, and what surrounds them.
#include "runtime/session/evaluator.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "lang/render.h"
#include "runtime/device/device.h"
#include "runtime/device/sandbox.h"
#include "runtime/session/builtins.h"
#include "runtime/session/class.h"
#include "runtime/session/generator.h"
#include "runtime/session/range.h"
#include "runtime/session/script_call.h"
#include "runtime/session/script_threads.h"
#include "runtime/session/task_pool.h"
#include "runtime/session/type_objects.h"

namespace gasell {

// ---- global variables ----

Value& GlobalScope::slot(const std::string& name) {
  if (auto found = index_.find(name); found != index_.end()) return slots_[found->second];
  names_.push_back(name);
  index_.emplace(names_.back(), slots_.size());
  return slots_.emplace_back(Value::absent());
}

Value* GlobalScope::find(std::string_view name) {
  auto found = index_.find(name);
  return found == index_.end() || slots_[found->second].is_absent() ? nullptr : &slots_[found->second];
}

std::vector<std::string> GlobalScope::names() const {
  std::vector<std::string> bound;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].is_absent()) bound.push_back(names_[i]);
  }
  return bound;
}

void GlobalScope::clear() {
  for (Value& v : slots_) v = Value::absent();
}

// ---- the value stack ----

ValueStack::Chunk ValueStack::make_chunk(size_t size) {
  Chunk chunk{std::make_unique<Value[]>(size), size, 0};
  for (size_t i = 0; i < size; ++i) chunk.values[i] = Value::absent();
  return chunk;
}

ValueStack::ValueStack() { chunks_.push_back(make_chunk(size_t{1} << 13)); }

Value* ValueStack::take_further(size_t count) {
  while (chunks_[current_].size - chunks_[current_].used < count) {
    if (current_ + 1 == chunks_.size()) chunks_.push_back(make_chunk(std::max(size_t{1} << 16, count)));
    takers_.push_back(current_);
    ++current_;
  }
  return take(count);
}

void ValueStack::leave_chunks() {
  while (current_ > 0 && chunks_[current_].used == 0) {
    current_ = takers_.back();
    takers_.pop_back();
  }
}

// ---- the session ----

Session::Session(Interpreter& interpreter, Engine& e, ModuleTable table)
    : in(interpreter), engine(e), interrupt(e.interrupt_flag()), modules(std::move(table)), memory(e.device().properties().memory) {
  scopes.push_back(std::make_unique<GlobalScope>());
  main = scopes.back().get();
}

Session::~Session() {
  if (threads) threads->close();
  if (tasks && tasks->is_home(*this)) tasks->close();
  tasks.reset();
  carrier.reset();
  // Functions hold globals and globals hold functions: the variables go first.
  uncaught = Value();
  for (auto& scope : scopes) scope->clear();
  Cell::clear(cells);
}

void Session::stop() {
  if (switch_wanted.load(std::memory_order_relaxed)) threads->pause();
  memory.check();
  if (!engine.interrupted()) return;  // the memory is free again
  if (threads && !threads->is_main()) return threads->wake_main();
  engine.clear_interrupt();
  if (sandbox) sandbox->check_end();
  throw Interrupted();
}

Value* Session::alias(std::string_view name) {
  if (auto found = aliases.find(name); found != aliases.end()) return &found->second;
  const auto is_it = [name](const std::string& alias) { return alias == name; };
  for (const ModuleDefinition& definition : modules.modules) {
    const bool whole = std::any_of(definition.aliases.begin(), definition.aliases.end(), is_it);
    if (!whole && std::none_of(definition.members.begin(), definition.members.end(), is_it)) continue;
    const Value module = in.import_module(definition.name, nullptr);
    return &aliases.emplace(name, whole ? module : get_attribute(in, module, name)).first->second;
  }
  return nullptr;
}

// ---- frames ----

bool Node::test(Frame& f) const {
  Value v = evaluate(f);
  if (v.is_bool()) return v.as_int() != 0;
  f.at = span;
  return truth(f.in, v);
}

void fill_cells(Frame& f, std::span<const Value> captured) {
  int own = f.code.own_cells;
  for (int i = 0; i < own; ++i) f.cells[i] = Value::make<Cell>(f.session.cells);
  for (size_t i = 0; i < captured.size(); ++i) f.cells[static_cast<size_t>(own) + i] = captured[i];
  for (auto [local, cell] : f.code.captured_parameters) static_cast<Cell*>(f.cells[cell].object())->value = f.locals[local];
}

std::vector<Value> captured_cells(const Frame& f, const FunctionCode& inner) {
  std::vector<Value> cells;
  cells.reserve(inner.captures.size());
  for (int cell : inner.captures) cells.push_back(f.cells[cell]);
  return cells;
}

namespace {

/// What the names of a function's frame stand for; those that are not bound are left out.
std::vector<std::pair<std::string, Value>> variables_of(const Frame& f) {
  std::vector<std::pair<std::string, Value>> variables;
  for (size_t i = 0; f.locals && i < f.code.local_names.size(); ++i)
    if (!f.locals[i].is_absent()) variables.emplace_back(f.code.local_names[i], f.locals[i]);
  for (size_t i = 0; f.cells && i < f.code.cell_names.size(); ++i) {
    const auto* cell = f.cells[i].as<Cell>();
    if (!cell || cell->value.is_absent()) continue;
    const auto same = std::find_if(variables.begin(), variables.end(), [&](const auto& v) { return v.first == f.code.cell_names[i]; });
    if (same != variables.end()) {
      same->second = cell->value;
    } else {
      variables.emplace_back(f.code.cell_names[i], cell->value);
    }
  }
  return variables;
}

}  // namespace

void note_place(const Frame& f, Exception& exception) {
  if (f.code.globals->library) return;  // the caller's line is the place
  if (!exception.traceback.empty() && exception.traceback.back().activation == f.activation) return;
  exception.traceback.push_back({f.code.source, f.at, f.code.name, f.activation, {}});
  if (f.session.keeps_variables) exception.traceback.back().variables = variables_of(f);
}

void set_context(Exception& exception, const Value& handled) {
  if (handled.is_none() || handled.object() == &exception) return;
  for (auto* link = static_cast<Exception*>(handled.object()); !link->context.is_none();) {
    if (link->context.object() == &exception) {
      link->context = Value();
      break;
    }
    link = static_cast<Exception*>(link->context.object());
  }
  exception.context = handled;
}

Value caught_exception(Frame& f) {
  Value value;
  try {
    throw;
  } catch (const Raised& raised) {
    value = raised.value;
  } catch (const Error& error) {
    value = exception_from_error(error);
  } catch (const Interrupted&) {
    f.session.engine.clear_interrupt();  // who waited for a GPU has not
    if (f.session.sandbox) f.session.sandbox->check_end();
    value = Value::make<Exception>(*exception_type("KeyboardInterrupt"), std::vector<Value>{});
  } catch (const std::bad_alloc&) {
    value = Value::make<Exception>(*exception_type("MemoryError"), std::vector<Value>{});
  }
  return caught_exception(f, std::move(value));
}

Value caught_exception(Frame& f, Value value) {
  auto& exception = static_cast<Exception&>(*value.object());
  note_place(f, exception);
  if (exception.context.is_none()) set_context(exception, f.session.handling);
  return value;
}

namespace {

/// Whose function it is, by the text it stands in: "pandas.Series" of <pandas/Series/values.gsl>.
std::string library_name(const FunctionCode& code) {
  const std::string& path = code.source->name();
  const size_t end = path.rfind('/');
  if (end == path.npos || path.front() != '<') return "";
  std::string name = path.substr(1, end - 1);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

}  // namespace

void throw_raised(Session& session) { throw Raised(std::exchange(session.raised, Value())); }

namespace {

/// Runs a function over its room, in which the parameters are bound. Who calls counts the depth.
Value run_function(Session& session, const Function& function, std::span<Value> room) {
  const FunctionCode& code = *function.code;
  if (code.generator) [[unlikely]]
    return make_generator(session, function, room.first(code.signature.parameters.size()));
  Frame f{session, session.in, code, room.data(), room.data() + code.local_count, {}, {}, ++session.activations};
  RunningFrame running(f);
  if (code.cell_count > 0) fill_cells(f, function.captured);
  try {
    if (code.expression) {
      Value value = code.expression->attempt(f);
      if (!has_raised(f, value)) [[likely]]
        return value;
    } else {
      const Flow flow = run_block(code.body, f);
      if (flow == Flow::return_value) return std::move(f.result);
      if (flow != Flow::raised) return {};
    }
  } catch (const Raised& raised) {
    session.raised = raised.value;
  } catch (const Error& error) {
    session.raised = exception_from_error(error);
  }
  note_place(f, static_cast<Exception&>(*session.raised.object()));
  return Value::absent();
}

}  // namespace

Value attempt_in_place(Session& session, const Function& function, std::span<Value> room, size_t given) {
  const FunctionCode& code = *function.code;
  CallDepth depth(session);
  const ProfiledCall profiled(session, code);
  session.poll();
  for (size_t i = given; i < code.signature.parameters.size(); ++i) room[i] = function.defaults[i];
  return run_function(session, function, room);
}

Value attempt_function(Session& session, const Function& function, std::span<Value> positional,
                       std::span<const std::pair<std::string, Value>> keywords) {
  const FunctionCode& code = *function.code;
  StackValues room(session.stack, static_cast<size_t>(code.local_count + code.cell_count));
  if (code.simple && keywords.empty() && code.signature.fills_by_place(positional.size())) {
    for (size_t i = 0; i < positional.size(); ++i) std::swap(room[i], positional[i]);
    return attempt_in_place(session, function, room.span(), positional.size());
  }
  CallDepth depth(session);
  const ProfiledCall profiled(session, code);
  session.poll();
  const size_t parameters = code.signature.parameters.size();
  bind_arguments(session.in, code.signature, code.qualified_name, positional, keywords, room.span().first(parameters));
  if (code.signature.ruled)
    check_rules(session.in, code.signature, library_name(code), code.name, room.span().first(parameters), function.defaults);
  for (size_t i = 0; i < parameters; ++i) {
    if (room[i].is_absent()) room[i] = function.defaults[i];
  }
  return run_function(session, function, room.span());
}

Value call_function(Session& session, const Function& function, std::span<Value> positional,
                    std::span<const std::pair<std::string, Value>> keywords) {
  Value value = attempt_function(session, function, positional, keywords);
  if (value.is_absent() && !session.raised.is_none()) [[unlikely]]
    throw_raised(session);
  return value;
}

Value attempt_positional(Session& session, const Value& callee, std::span<Value> positional) {
  if (const auto* function = callee.exactly<Function>()) return attempt_function(session, *function, positional);
  if (const auto* builtin = callee.exactly<Builtin>())
    return attempt_native(session, builtin->function, builtin->self ? &*builtin->self : nullptr, positional);
  if (const NativeFunction* constructor = callee.is_object() ? plain_constructor(*callee.object()) : nullptr)
    return attempt_native(session, *constructor, nullptr, positional);
  return call_positional(session, callee, positional);
}

Value call_positional(Session& session, const Value& callee, std::span<Value> positional) {
  if (callee.is_object()) {
    Object* object = callee.object();
    if (is_exactly<Function>(*object)) return call_function(session, *static_cast<Function*>(object), positional);
    if (is_exactly<Builtin>(*object)) {
      auto* builtin = static_cast<Builtin*>(object);
      return call_native(session.in, builtin->function, builtin->self ? &*builtin->self : nullptr, positional);
    }
    if (is_exactly<Class>(*object)) return static_cast<Class*>(object)->construct(session, positional);
    if (const NativeFunction* constructor = plain_constructor(*object)) return call_native(session.in, *constructor, nullptr, positional);
    Arguments arguments;
    arguments.positional.assign(std::make_move_iterator(positional.begin()), std::make_move_iterator(positional.end()));
    return object->call(session.in, std::move(arguments));
  }
  return call(session.in, callee, {});
}

// ---- iteration ----

Cursor::Cursor(Interpreter& in, Value iterable) {
  if (iterable.is_object()) {
    if (const auto* range = iterable.exactly<Range>()) {
      kind_ = Kind::range;
      value_ = range->start;
      step_ = range->step;
      left_ = range->count;
      return;
    }
    const bool is_list = iterable.exactly<List>();
    if (is_list || iterable.exactly<Tuple>()) {
      kind_ = is_list ? Kind::list : Kind::tuple;
      iterable_ = std::move(iterable);
      return;
    }
  }
  kind_ = Kind::object;
  iterable_ = iterate(in, iterable);
}

bool Cursor::next_object(Interpreter& in, Value& out) {
  std::optional<Value> v = gasell::next(in, iterable_);
  if (!v) return false;
  out = *std::move(v);
  return true;
}

// ---- names that are not there ----

namespace {

struct KnownName {
  std::string_view name, remark;
};

/// What to write in place of builtins of Python that Gasell has not, and of names that LANGUAGE promises.
std::string_view in_place_of(std::string_view name) {
  static constexpr std::string_view kNoText = "text is not run as a script";
  static constexpr KnownName kNames[] = {
      {"eval", kNoText},
      {"exec", kNoText},
      {"compile", kNoText},
      {"memoryview", "bytes and bytearray are indexed and sliced themselves"},
      {"locals", "dir() lists names"},
      {"__import__", "write import"},
      {"breakpoint", "print what you want to see, or run lines in the session"},
      {"plt", "np.save writes an array for another program to plot"},
  };
  for (const KnownName& known : kNames) {
    if (known.name == name) return known.remark;
  }
  return {};
}

}  // namespace

void raise_name_error(const Frame& f, const std::string& name) {
  const PeerNames& peers = f.session.modules.peers;
  if (peers.has("builtins", name)) refuse_name("NameError", name + " is not in Gasell", std::string(in_place_of(name)));
  std::vector<std::string> candidates = f.code.local_names;
  candidates.insert(candidates.end(), f.code.cell_names.begin(), f.code.cell_names.end());
  for (std::string& global : f.code.globals->names()) candidates.push_back(std::move(global));
  for (const auto& [builtin, value] : builtins()) candidates.push_back(builtin);
  for (const ModuleDefinition& module : f.session.modules.modules) {
    candidates.insert(candidates.end(), module.aliases.begin(), module.aliases.end());
    candidates.insert(candidates.end(), module.members.begin(), module.members.end());
  }
  std::string hint = near_hint(name, candidates);
  if (const std::string_view successor = peers.successor("builtins", name); !successor.empty()) hint = successor;
  // Other languages' spellings of the constants.
  if (name == "true" || name == "TRUE") hint = "did you mean 'True'?";
  if (name == "false" || name == "FALSE") hint = "did you mean 'False'?";
  if (name == "null" || name == "nil" || name == "none" || name == "NULL") hint = "did you mean 'None'?";
  raise("NameError", fmt::format("name '{}' is not defined", name), hint);
}

}  // namespace gasell
