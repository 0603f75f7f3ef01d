// len, sorted, any, all, iter, next.
#include "runtime/session/builtins.h"
#include "runtime/session/generator.h"
#include "runtime/session/iterators.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/objects.h"
#include "runtime/session/range.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

Value sorted(Interpreter& in, Args args) {
  const bool down = to_index(in, args[2]) != 0;
  std::vector<Value> items = to_vector(in, args[0]);
  sort_values(in, items, args[1], down);
  return make_list(std::move(items));
}

Value any(Interpreter& in, Args args) {
  const Value items = iterate(in, args[0]);
  while (const auto v = next(in, items)) {
    if (truth(in, *v)) return Value::of(true);
  }
  return Value::of(false);
}

Value all(Interpreter& in, Args args) {
  if (auto* range = args[0].as<Range>()) return Value::of(!range->contains(in, Value::of(int64_t{0})));
  const Value items = iterate(in, args[0]);
  while (const auto v = next(in, items)) {
    if (!truth(in, *v)) return Value::of(false);
  }
  return Value::of(true);
}

Value make_iter(Interpreter& in, Args args) {
  if (is_missing(args[1])) return iterate(in, args[0]);
  static const Type type = iterator_type_of("callable_iterator");
  if (!is_callable(in, args[0])) raise("TypeError", "iter(v, w): v must be callable");
  return make_iterator(type, [function = args[0], sentinel = args[1], ended = false](Interpreter& in) mutable -> std::optional<Value> {
    if (ended) return std::nullopt;
    Value v = call(in, function, {});
    ended = equal(in, v, sentinel);
    if (ended) return std::nullopt;
    return v;
  });
}

Value take_next(Interpreter& in, Args args) {
  if (auto v = next(in, args[0])) return *v;
  if (!is_missing(args[1])) return args[1];
  raise_stop_iteration(args[0]);
}

}  // namespace

std::vector<NativeFunction> sequence_functions() {
  return {
      {"len", "obj, /", [](Interpreter& in, Args a) { return Value::of(length(in, a[0])); }, "The number of items."},
      {"sorted", "iterable, /, *, key=None, reverse=False", sorted, "A list of the items in ascending order, equal ones keeping theirs."},
      {"any", "iterable, /", any, "Whether some item is true."},
      {"all", "iterable, /", all, "Whether no item is false."},
      {"iter", "object, sentinel=missing, /", make_iter,
       "An iterator over an iterable, or over the results of a function until it returns sentinel."},
      {"next", "iterator, default=missing, /", take_next, "The next item; at the end the default, or StopIteration."},
  };
}

}  // namespace gasell
