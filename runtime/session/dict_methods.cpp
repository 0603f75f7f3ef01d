// The type dict: its constructor and methods.
#include <fmt/format.h>

#include "runtime/session/dict_views.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

Dict& self_of(std::span<Value> args) { return static_cast<Dict&>(*args[0].object()); }

Value new_dict(Interpreter& in, std::span<Value> args) {
  Value made = make_dict();
  auto& d = static_cast<Dict&>(*made.object());
  if (!is_missing(args[0])) d.update(in, args[0]);
  d.update(in, args[1]);
  return made;
}

Value get(Interpreter& in, std::span<Value> args) {
  const Value* found = self_of(args).find(in, args[1]);
  return found ? *found : args[2];
}

Value keys(Interpreter&, std::span<Value> args) { return make_dict_view(args[0], DictPart::keys); }
Value values(Interpreter&, std::span<Value> args) { return make_dict_view(args[0], DictPart::values); }
Value items(Interpreter&, std::span<Value> args) { return make_dict_view(args[0], DictPart::items); }

Value pop(Interpreter& in, std::span<Value> args) {
  Value taken = self_of(args).take(in, args[1]);
  if (!taken.is_absent()) return taken;
  if (is_missing(args[2])) throw Raised(Value::make<Exception>(*exception_type("KeyError"), std::vector<Value>{args[1]}));
  return args[2];
}

Value popitem(Interpreter& in, std::span<Value> args) {
  Dict& d = self_of(args);
  if (d.size() == 0) raise("KeyError", "popitem(): dictionary is empty");
  const auto& entries = d.entries();
  size_t last = entries.size() - 1;
  while (entries[last].key.is_absent()) --last;
  Value key = entries[last].key, value = entries[last].value;
  d.take(in, key);
  return make_tuple({std::move(key), std::move(value)});
}

Value setdefault(Interpreter& in, std::span<Value> args) {
  Dict& d = self_of(args);
  if (const Value* found = d.find(in, args[1])) return *found;
  d.insert(in, args[1], args[2]);
  return args[2];
}

Value update(Interpreter& in, std::span<Value> args) {
  Dict& d = self_of(args);
  if (!is_missing(args[1])) d.update(in, args[1]);
  d.update(in, args[2]);
  return {};
}

Value clear(Interpreter&, std::span<Value> args) {
  self_of(args).clear();
  return {};
}

Value copy(Interpreter& in, std::span<Value> args) {
  Value made = make_dict();
  static_cast<Dict&>(*made.object()).update(in, args[0]);
  return made;
}

Value fromkeys(Interpreter& in, std::span<Value> args) {
  Value made = make_dict();
  Value iterator = iterate(in, args[0]);
  require_keys(in, iterator, 0, sizeof(Dict::Entry));
  while (std::optional<Value> key = next(in, iterator)) static_cast<Dict&>(*made.object()).insert(in, *key, args[1]);
  return made;
}

}  // namespace

const Type& dict_type() {
  static const NativeFunction constructor{"dict", "iterable=missing, /, **kwargs", new_dict, "dict(mapping_or_pairs, name=value, …)"};
  static const Type type{"dict",
                         "builtins",
                         &object_type(),
                         {{"get", "key, default=None, /", get, "the value of a key, or the default"},
                          {"keys", "", keys, "a view of the keys"},
                          {"values", "", values, "a view of the values"},
                          {"items", "", items, "a view of the (key, value) pairs"},
                          {"pop", "key, default=missing, /", pop, "removes a key and returns its value; KeyError without default"},
                          {"popitem", "", popitem, "removes and returns the last (key, value); KeyError when empty"},
                          {"setdefault", "key, default=None, /", setdefault, "the value of a key, which is inserted when missing"},
                          {"update", "other=missing, /, **kwargs", update, "inserts the items of a mapping, of pairs, of keywords"},
                          {"clear", "", clear, "removes all keys"},
                          {"copy", "", copy, "a shallow copy"}},
                         {},
                         &constructor,
                         {{"fromkeys", "iterable, value=None, /", fromkeys, "a dict with these keys and one value"}}};
  return type;
}

}  // namespace gasell
