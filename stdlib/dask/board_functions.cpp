// What tasks share by name, for library texts: what dask.distributed's locks, semaphores, events, variables and queues are written with.
#include "runtime/session/number.h"
#include "runtime/session/task_pool.h"
#include "stdlib/carried.h"
#include "stdlib/dask/module.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

struct Board {
  Board(Interpreter& i, const Value& n) : in(i), session(Evaluator::session(i)), pool(*TaskPool::of(session)), name(str(i, n)) {}

  /// Tries until it is so, for so many seconds (None: for ever).
  bool tried(const Value& seconds, const std::function<bool()>& attempt) const {
    pool.note_waits(session);
    return pool.wait_until(session, attempt, seconds.is_none() ? -1 : std::max(0.0, to_double(in, seconds)));
  }
  TaskBoard::ParcelRef parcel(const Value& value) const {
    try {
      return std::make_shared<const Parcel>(carrier_of(session).pack(value));
    } catch (const NotCarried& refused) {
      raise("TypeError", "'" + refused.what + "' objects do not leave their interpreter: what tasks share is copied");
    }
  }
  /// (value,), or None where there is no parcel.
  Value value(const TaskBoard::ParcelRef& parcel) const { return parcel ? make_tuple({carrier_of(session).unpack(*parcel)}) : Value(); }

  Interpreter& in;
  Session& session;
  TaskPool& pool;
  const std::string name;
};

Value board_limit(Interpreter& in, Args args) {
  const Board board(in, args[0]);
  if (!args[1].is_none()) return Value::of(board.pool.board.limit(board.name, to_index(in, args[1])));
  const std::optional<int64_t> known = board.pool.board.limit(board.name);
  return known ? Value::of(*known) : Value();
}

Value board_count(Interpreter& in, Args args) {
  const Board board(in, args[0]);
  if (!args[1].is_none()) {
    board.pool.board.set_count(board.name, to_index(in, args[1]));
    board.pool.wake();
  }
  return Value::of(board.pool.board.count(board.name));
}

Value board_add(Interpreter& in, Args args) {
  const Board board(in, args[0]);
  const int64_t change = to_index(in, args[1]);
  const bool done = board.tried(args[2], [&] { return board.pool.board.add(board.name, change); });
  if (done) board.pool.wake();
  return Value::of(done);
}

Value board_await(Interpreter& in, Args args) {
  const Board board(in, args[0]);
  return Value::of(board.tried(args[1], [&] { return board.pool.board.count(board.name) > 0; }));
}

Value board_push(Interpreter& in, Args args) {
  const Board board(in, args[0]);
  const TaskBoard::ParcelRef parcel = board.parcel(args[1]);
  const bool done = board.tried(args[2], [&] { return board.pool.board.push(board.name, parcel); });
  if (done) board.pool.wake();
  return Value::of(done);
}

Value board_pop(Interpreter& in, Args args) {
  const Board board(in, args[0]);
  TaskBoard::ParcelRef parcel;
  board.tried(args[1], [&] { return (parcel = board.pool.board.pop(board.name)) != nullptr; });
  if (parcel) board.pool.wake();
  return board.value(parcel);
}

Value board_put(Interpreter& in, Args args) {
  const Board board(in, args[0]);
  board.pool.board.put(board.name, board.parcel(args[1]));
  board.pool.wake();
  return {};
}

Value board_first(Interpreter& in, Args args) {
  const Board board(in, args[0]);
  TaskBoard::ParcelRef parcel;
  board.tried(args[1], [&] { return (parcel = board.pool.board.first(board.name)) != nullptr; });
  return board.value(parcel);
}

Value board_size(Interpreter& in, Args args) {
  const Board board(in, args[0]);
  return Value::of(static_cast<int64_t>(board.pool.board.size(board.name)));
}

Value board_remove(Interpreter& in, Args args) {
  const Board board(in, args[0]);
  board.pool.board.remove(board.name);
  return {};
}

}  // namespace

const std::vector<NativeFunction>& board_functions() {
  static const std::vector<NativeFunction> functions = {
      {"board_limit", "name, limit=None", board_limit,
       "The limit of a name, which is this one where there was none; None where there is none."},
      {"board_count", "name, count=None", board_count, "The count of a name; sets another one."},
      {"board_add", "name, change, seconds", board_add,
       "Changes a count as soon as that leaves it between 0 and the limit; whether it did in so many seconds (None: whenever)."},
      {"board_await", "name, seconds", board_await, "Waits until a count is not 0; whether it is."},
      {"board_push", "name, value, seconds", board_push,
       "Adds a copy of a value behind the others, as soon as there is room; whether it did."},
      {"board_pop", "name, seconds", board_pop, "Takes the first value, as soon as there is one: (value,), or None."},
      {"board_put", "name, value", board_put, "Has a copy of a value in the place of all others."},
      {"board_first", "name, seconds", board_first, "The first value, as soon as there is one: (value,), or None."},
      {"board_size", "name", board_size, "How many values there are."},
      {"board_remove", "name", board_remove, "Forgets a name."},
  };
  return functions;
}

}  // namespace gasell
