// The interpreter's inside. A syntax tree is lowered once to a tree of small evaluating nodes (names resolved to slots, constants made,
// operators specialised), which then runs against frames.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/ast.h"
#include "runtime/session/arguments.h"
#include "runtime/session/call_profile.h"
#include "runtime/session/function.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/memory_watch.h"
#include "runtime/session/warnings.h"

namespace gasell {

/// The variables of one module. Slots stay where they are, so nodes hold pointers to them; absent marks a name that is not bound.
struct GlobalScope {
  Value& slot(const std::string& name);
  Value* find(std::string_view name);  // null when not bound
  std::vector<std::string> names() const;
  void clear();

  bool library = false;  // of the standard library: tracebacks leave its frames out

 private:
  std::deque<Value> slots_;
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, size_t> index_;
};

/// Room for the locals of running functions and for arguments. Values in it are absent while they are not in use.
class ValueStack {
 public:
  ValueStack();
  Value* take(size_t count) {
    Chunk& chunk = chunks_[current_];
    if (chunk.size - chunk.used < count) [[unlikely]]
      return take_further(count);
    chunk.used += count;
    return chunk.values.get() + (chunk.used - count);
  }
  void give_back(size_t count) {
    // Destructors of the values may run anything that takes from the stack, so the run stays taken until they are done.
    Value* const end = chunks_[current_].values.get() + chunks_[current_].used;
    for (Value* value = end - count; value != end; ++value) *value = Value::absent();
    chunks_[current_].used -= count;
    if (current_ > 0) [[unlikely]]
      leave_chunks();
  }

 private:
  struct Chunk {
    std::unique_ptr<Value[]> values;
    size_t size = 0, used = 0;
  };
  static Chunk make_chunk(size_t size);
  Value* take_further(size_t count);
  void leave_chunks();
  std::vector<Chunk> chunks_;
  std::vector<size_t> takers_;  // chunk of every take that did not fit the first chunk
  size_t current_ = 0;
};

/// A run of values on the stack, for a scope.
class StackValues {
 public:
  StackValues(ValueStack& stack, size_t count) : stack_(stack), count_(count), values_(stack.take(count)) {}
  ~StackValues() { stack_.give_back(count_); }
  StackValues(const StackValues&) = delete;
  StackValues& operator=(const StackValues&) = delete;
  Value* begin() { return values_; }
  Value& operator[](size_t i) { return values_[i]; }
  std::span<Value> span() { return {values_, count_}; }

 private:
  ValueStack& stack_;
  size_t count_;
  Value* values_;
};

struct Frame;
struct Suspension;  // generator.h
class TaskPool;
class Carrier;
class ScriptThreads;

/// What all frames of an interpreter share.
struct Session {
  Session(Interpreter& interpreter, Engine& engine, ModuleTable modules);
  ~Session();

  /// Called at calls and at the end of loop bodies: throws Interrupted when the user asked for it, MemoryError beyond the limit; lets other
  /// threads of the script run.
  void poll() {
    if (interrupt.load(std::memory_order_relaxed) || memory.over() || switch_wanted.load(std::memory_order_relaxed)) [[unlikely]]
      stop();
  }
  void stop();

  /// The module behind an alias that is known without import (made on first use), or null. The address stays.
  Value* alias(std::string_view name);

  Interpreter& in;
  Engine& engine;
  const std::atomic<bool>& interrupt;  // the engine's
  ModuleTable modules;
  MemoryWatch memory;
  ValueStack stack;
  int depth = 0, recursion_limit = 1000;
  std::shared_ptr<Sandbox> sandbox;  // null: what the process may do, scripts may
  const Frame* running = nullptr;    // the innermost
  uint64_t activations = 0;
  Cell* cells = nullptr;           // the list of all
  Value handling;                  // the exception whose handler runs; None: no such
  Value raised;                    // the exception on its way where it is told by Flow::raised or an absent value; None: no such
  bool keeps_variables = false;    // exceptions keep the variables of the frames they leave
  Value uncaught;                  // the last exception that nobody caught, while they do; None: no such
  CallProfile* profile = nullptr;  // of the calls that run, while it is wanted
  Warnings warnings;
  GlobalScope* main = nullptr;
  std::deque<std::unique_ptr<GlobalScope>> scopes;
  std::map<std::string, Value, std::less<>> loaded;   // known modules by name, scripts by path
  std::map<std::string, Value, std::less<>> aliases;  // of known modules, once used
  std::unique_ptr<Carrier> carrier;                   // made when the first value crosses
  std::shared_ptr<TaskPool> tasks;                    // of this session, or the one that it works for; made for the first task
  std::optional<Engine::Turn> turn;                   // at the GPUs, where there are tasks beside it
  std::shared_ptr<ScriptThreads> threads;             // of the script; made with the first look at them
  std::atomic<bool> switch_wanted{false};             // another of them waits for the interpreter
};

/// Tells the profile of a call, for its scope.
class ProfiledCall {
 public:
  ProfiledCall(Session& session, const FunctionCode& code) : profile_(session.profile) {
    if (profile_) [[unlikely]]
      profile_->enter(code);
  }
  ~ProfiledCall() {
    if (profile_) [[unlikely]]
      profile_->leave();
  }
  ProfiledCall(const ProfiledCall&) = delete;
  ProfiledCall& operator=(const ProfiledCall&) = delete;

 private:
  CallProfile* const profile_;
};

/// Counts nested calls of script functions; RecursionError beyond the limit.
class CallDepth {
 public:
  explicit CallDepth(Session& session) : session_(session) {
    if (session.depth >= session.recursion_limit) raise("RecursionError", "maximum recursion depth exceeded");
    ++session.depth;
  }
  ~CallDepth() { --session_.depth; }
  CallDepth(const CallDepth&) = delete;
  CallDepth& operator=(const CallDepth&) = delete;

 private:
  Session& session_;
};

struct Evaluator {
  static Session& session(Interpreter& in);
  /// Runs `work` as a call from outside of scripts does: on a large stack, confined, its memory watched. What scripts raise comes as
  /// Raised.
  static void enter(Session& session, const std::function<void()>& work);
};

/// One running function (or module, or comprehension).
struct Frame {
  Session& session;
  Interpreter& in;
  const FunctionCode& code;
  Value* locals;
  Value* cells;  // Cell objects
  Span at = {};  // what is being evaluated: the place of an exception
  Value result = {};
  uint64_t activation = 0;
  const Frame* outer = nullptr;      // the one that ran before (RunningFrame)
  Suspension* suspension = nullptr;  // of a generator
};

/// Says that a frame runs, for its scope.
class RunningFrame {
 public:
  explicit RunningFrame(Frame& f) : session_(f.session) {
    f.outer = session_.running;
    session_.running = &f;
  }
  ~RunningFrame() { session_.running = session_.running->outer; }
  RunningFrame(const RunningFrame&) = delete;
  RunningFrame& operator=(const RunningFrame&) = delete;

 private:
  Session& session_;
};

struct Node {
  Span span;
  virtual ~Node() = default;
  virtual Value evaluate(Frame& f) const = 0;
  /// The same for who looks whether it is absent: then an exception is on its way as session.raised, which costs less than to throw it.
  /// Exceptions may be thrown nevertheless.
  virtual Value attempt(Frame& f) const { return evaluate(f); }
  virtual bool test(Frame& f) const;
};
using NodePtr = std::unique_ptr<Node>;

/// How a statement ends. Those after continue_loop leave loops as well; with `raised` the exception is session.raised.
enum class Flow : uint8_t { next, break_loop, continue_loop, return_value, yield_value, raised };

/// Sets an exception on its way without a throw: what a statement returns then.
inline Flow raise_quietly(Frame& f, Value exception) {
  f.session.raised = std::move(exception);
  return Flow::raised;
}
/// Throws the exception that is on its way.
[[noreturn]] void throw_raised(Session& session);
/// Whether Node::attempt() gave no value because an exception is on its way.
inline bool has_raised(const Frame& f, const Value& given) { return given.is_absent() && !f.session.raised.is_none(); }

struct StatementNode {
  Span span;
  virtual ~StatementNode() = default;
  virtual Flow run(Frame& f) const = 0;
};
using StatementPtr = std::unique_ptr<StatementNode>;
using Block = std::vector<StatementPtr>;

inline Flow run_block(const Block& block, Frame& f) {
  for (const StatementPtr& s : block) {
    Flow flow = s->run(f);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

/// in_place of one operator, with a short way for numbers.
using UpdateOp = Value (*)(Interpreter&, const Value& old, const Value& operand);
UpdateOp update_op(ast::BinaryOp op);

/// A write into an object that only this expression refers to changes nothing that lasts: warns where the object's class says so. `name`:
/// as in Object::lost_write.
void warn_if_lost(Frame& f, const Value& object, std::string_view name);
/// Whether what an expression gives may be a temporary: anything but a variable.
bool may_be_temporary(const ast::Expr& e);

/// What can be assigned to, deleted and updated in place.
struct Target {
  Span span;
  virtual ~Target() = default;
  virtual void assign(Frame& f, Value value) const = 0;
  virtual void remove(Frame& f) const = 0;
  /// target op= value; `place` is the whole statement. Flow::next or raised.
  virtual Flow update(Frame& f, UpdateOp op, const Node& value, Span place) const = 0;
};
using TargetPtr = std::unique_ptr<Target>;

/// A lowered module, function, lambda or comprehension.
struct FunctionCode {
  std::string name, qualified_name;  // __name__, __qualname__
  SourceRef source;
  GlobalScope* globals = nullptr;  // owned by the session
  Signature signature;
  bool generator = false;  // a call makes a generator
  bool cleans_up = false;  // a generator that yields inside try or with
  int resume_points = 0;   // of a generator: how many statements keep where they stopped
  bool simple = false;     // positional parameters alone, without names needed to bind: the fast way of calling
  int local_count = 0, own_cells = 0, cell_count = 0;
  std::vector<std::string> local_names, cell_names;
  std::vector<std::pair<int, int>> captured_parameters;  // local slot → own cell
  std::vector<int> captures;                             // cells of the enclosing function that this one takes
  Block body;
  NodePtr expression;                           // of a lambda: instead of the body
  std::shared_ptr<const ast::Stmt> definition;  // of a `def`
  std::shared_ptr<const ast::Expr> lambda;      // of a lambda
};

/// What a function is made of, whatever session it runs in.
struct FunctionText {
  std::string name, qualified_name;
  SourceRef source;
  std::shared_ptr<const ast::Stmt> definition;  // of a `def`
  std::shared_ptr<const ast::Expr> lambda;      // of a lambda
};
/// A function of another session for this one.
std::shared_ptr<FunctionCode> lower_again(Session& session, const FunctionText& text, GlobalScope& globals);

/// Calls a script function with positional arguments, which are moved from.
Value call_function(Session& session, const Function& function, std::span<Value> positional,
                    std::span<const std::pair<std::string, Value>> keywords = {});
/// The same as Node::attempt() does.
Value attempt_function(Session& session, const Function& function, std::span<Value> positional,
                       std::span<const std::pair<std::string, Value>> keywords = {});
Value attempt_positional(Session& session, const Value& callee, std::span<Value> positional);
/// Calls anything with positional arguments, which are moved from.
Value call_positional(Session& session, const Value& callee, std::span<Value> positional);

/// Makes the exception that is being handled the context of another, without closing a circle of contexts.
void set_context(Exception& exception, const Value& handled);

/// Notes in the exception where this frame was, once for each activation.
void note_place(const Frame& f, Exception& exception);

/// Runs `work`; what it throws comes back as an exception object with its place noted, absent when it throws nothing.
/// Interrupted becomes a KeyboardInterrupt.
Value catching(Frame& f, const auto& work);
/// The same of work that tells by `flow` how it ended; next where it raised.
Value catching(Frame& f, Flow& flow, const auto& work);

/// Steps through an iterable; ranges, lists and tuples without iterator objects.
class Cursor {
 public:
  Cursor() = default;
  Cursor(Interpreter& in, Value iterable);
  bool next(Interpreter& in, Value& out) {
    switch (kind_) {
      case Kind::range:
        if (left_ == 0) return false;
        --left_;
        out = Value::of(value_);
        value_ = static_cast<int64_t>(static_cast<uint64_t>(value_) + static_cast<uint64_t>(step_));
        return true;
      case Kind::list: {
        const auto& items = static_cast<const List*>(iterable_.object())->items;
        if (static_cast<size_t>(value_) >= items.size()) return false;
        out = items[static_cast<size_t>(value_++)];
        return true;
      }
      case Kind::tuple: {
        const auto& items = static_cast<const Tuple*>(iterable_.object())->items;
        if (static_cast<size_t>(value_) >= items.size()) return false;
        out = items[static_cast<size_t>(value_++)];
        return true;
      }
      default: return next_object(in, out);
    }
  }

 private:
  bool next_object(Interpreter& in, Value& out);

  enum class Kind : uint8_t { range, list, tuple, object } kind_ = Kind::tuple;
  Value iterable_;
  int64_t value_ = 0, step_ = 0, left_ = 0;
};

// ---- lowering ----

/// The function whose body is being lowered.
struct Lowering {
  Session& session;
  FunctionCode& code;
};

NodePtr lower(Lowering& l, const ast::ExprRef& e);
NodePtr lower_optional(Lowering& l, const ast::ExprRef& e);  // null for null
StatementPtr lower(Lowering& l, const ast::StmtRef& s);
Block lower(Lowering& l, const ast::Body& body);
TargetPtr lower_target(Lowering& l, const ast::ExprRef& e);
TargetPtr lower_name_target(Lowering& l, const std::string& name, ast::Binding binding, Span span);
NodePtr lower_name(Lowering& l, const std::string& name, ast::Binding binding, Span span);
/// The slot of the local variable that it reads; -1: it is something else.
int local_slot(const Node& node);
/// The number that it stands for; null: it is no literal number.
const Value* constant_number(const Node& node);
NodePtr lower_operator(Lowering& l, const ast::Expr& e);  // Unary, Binary, BoolChain, Compare, Conditional
NodePtr lower_display(Lowering& l, const ast::Expr& e);   // literals, f-strings, tuples, lists, sets, dicts, slices
NodePtr lower_access(Lowering& l, const ast::Expr& e);    // Attribute, Subscript
NodePtr lower_call(Lowering& l, const ast::Expr& e);
NodePtr lower_function(Lowering& l, const ast::ExprRef& lambda);
NodePtr lower_comprehension(Lowering& l, const ast::Expr& e);
StatementPtr lower_definition(Lowering& l, const ast::StmtRef& s);
StatementPtr lower_try(Lowering& l, const ast::Stmt& s);     // Try, Raise, With
StatementPtr lower_import(Lowering& l, const ast::Stmt& s);  // Import, ImportFrom

/// Lowers a module's statements; with `last_value`, the last expression statement becomes the code's expression.
std::shared_ptr<FunctionCode> lower_module(Session& session, const ast::ModuleRef& module, GlobalScope& globals, const std::string& name,
                                           bool last_value);
/// Runs lowered module code; returns the value of its expression, or None.
Value run_module(Session& session, const FunctionCode& code);

/// Whether it is the body of a class statement.
bool is_class_body(const FunctionCode& code);
/// Sets up the slots and cells that an ast scope describes.
void fill_scope(FunctionCode& code, const ast::FunctionScope& scope, size_t parameters);
/// Makes the cells of a frame: new ones of its own, then those it took.
void fill_cells(Frame& f, std::span<const Value> captured);
/// The cells that a function made here takes from this frame.
std::vector<Value> captured_cells(const Frame& f, const FunctionCode& inner);

/// NameError with what may have been meant.
[[noreturn]] void raise_name_error(const Frame& f, const std::string& name);

// ---- what templates need ----

Value caught_exception(Frame& f);  // inside a catch clause
Value caught_exception(Frame& f, Value raised);

Value catching(Frame& f, const auto& work) {
  try {
    work();
  } catch (const Interpreter::Exit&) {
    throw;
  } catch (const Raised& raised) {
    return caught_exception(f, raised.value);
  } catch (...) {
    return caught_exception(f);
  }
  return Value::absent();
}

Value catching(Frame& f, Flow& flow, const auto& work) {
  Value exception = catching(f, [&] { flow = work(); });
  if (flow != Flow::raised) return exception;
  flow = Flow::next;
  return caught_exception(f, std::exchange(f.session.raised, Value()));
}

}  // namespace gasell
