// Generators: functions with `yield` and generator expressions under way. Each keeps its variables, and where its statements stopped, so
// that it goes on there when it is resumed: no stack of its own is needed.
#pragma once

#include "runtime/session/loop_target.h"

namespace gasell {

/// Where one statement of a generator stopped. `at` is 0 while the statement is not under way; the others are the statement's own.
struct ResumePoint {
  int32_t at = 0;
  Flow flow = Flow::next;
  LoopItems items;
  Value value, result;
};

/// What a generator's frame finds of its past.
struct Suspension {
  std::vector<ResumePoint> points;
  Value sent;                           // by send(), for the yield that goes on
  class Generator* delegate = nullptr;  // that `yield from` waits for; the point of that statement holds it
  Value failed = Value::absent();       // what the delegate raised when it was resumed without its statement
  Value thrown = Value::absent();       // by throw(): raised where the yield stands
};

class Generator : public Object {
 public:
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter& in) override { return resume(in, Value(), Value::absent()); }
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;

  /// Runs to the next yield; nullopt at the end. `thrown`: an exception to raise there, or absent.
  std::optional<Value> resume(Interpreter& in, Value sent, Value thrown);
  /// Raises GeneratorExit where it stopped; RuntimeError when it yields instead of ending.
  void close(Interpreter& in);
  /// What `return` gave, once; None after that.
  Value take_returned() { return std::exchange(returned_, Value()); }
  bool started() const { return started_; }

 protected:
  Generator(Session& session, std::shared_ptr<const FunctionCode> code);
  /// The frame's f.result is what it yields or returns.
  virtual Flow step(Frame& f) = 0;
  /// For destructors of what derives from this: runs the `finally` of a generator that nobody can resume any more.
  void abandon() noexcept;

  Session& session_;
  const std::shared_ptr<const FunctionCode> code_;
  std::vector<Value> values_;    // locals, then cells
  std::vector<Value> captured_;  // until the start
  Suspension suspension_;

 private:
  Value returned_;
  bool started_ = false, running_ = false, ended_ = false;
};

/// What a call of a generator function gives; moves from the arguments, which are bound.
Value make_generator(Session& session, const Function& function, std::span<Value> locals);
/// StopIteration with what the iterator returned.
[[noreturn]] void raise_stop_iteration(const Value& iterator);

// ---- lowering of what yields ----

/// A statement that yields, with a resume point for each statement on the way.
StatementPtr lower_resumable(Lowering& l, const ast::StmtRef& s);
/// A block that goes on where it stopped, when something in it yields.
Block lower_block(Lowering& l, const ast::Body& body);
/// The expression without its yields: those become statements of `before`, with what must be evaluated before them.
ast::ExprRef without_yields(Lowering& l, const ast::ExprRef& e, Block& before);
/// `before`, then the statement.
StatementPtr sequence(Lowering& l, Block before, StatementPtr last);
StatementPtr lower_resumable_try(Lowering& l, const ast::Stmt& s);  // Try, With
StatementPtr lower_match(Lowering& l, const ast::Call& subject, const ast::Body& cases);
inline int new_resume_point(Lowering& l) { return l.code.resume_points++; }
inline ResumePoint& point_of(Frame& f, int point) { return f.suspension->points[static_cast<size_t>(point)]; }

}  // namespace gasell
