// functools: reduce, partial, lru_cache, total_ordering, wraps, cmp_to_key.
#include <algorithm>
#include <array>

#include "runtime/session/class.h"
#include "runtime/session/class_members.h"
#include "runtime/session/dict.h"
#include "runtime/session/function.h"
#include "runtime/session/objects.h"
#include "runtime/session/packing.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/carried.h"
#include "stdlib/modules.h"
#include "stdlib/named_tuple.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

Value reduce(Interpreter& in, Args args) {
  const Value items = iterate(in, args[1]);
  Value total = args[2];
  if (is_missing(total)) {
    auto first = next(in, items);
    if (!first) raise("TypeError", "reduce() of empty iterable with no initial value");
    total = std::move(*first);
  }
  while (const auto v = next(in, items)) total = call(in, args[0], Arguments{{total, *v}, {}});
  return total;
}

// ---- partial ----

class Partial final : public Object {
 public:
  Partial(Value f, Arguments given) : function(std::move(f)), given(std::move(given)) {}
  const Type& type() const override;
  std::string repr(Interpreter& in) override {
    std::string out = "functools.partial(" + gasell::repr(in, function);
    for (const Value& v : given.positional) out += ", " + gasell::repr(in, v);
    for (const auto& [name, v] : given.keywords) out += ", " + name + "=" + gasell::repr(in, v);
    return out + ")";
  }
  Value call(Interpreter& in, Arguments more) override {
    Arguments all = given;
    for (Value& v : more.positional) all.positional.push_back(std::move(v));
    for (auto& [name, v] : more.keywords) {
      const auto same = std::find_if(all.keywords.begin(), all.keywords.end(), [&, &n = name](const auto& k) { return k.first == n; });
      if (same != all.keywords.end())
        same->second = std::move(v);
      else
        all.keywords.emplace_back(name, std::move(v));
    }
    return gasell::call(in, function, std::move(all));
  }

  Value function;
  Arguments given;
};

Value self_of(Interpreter&, const Value& self) { return self; }

Value new_partial(Interpreter& in, Args args) {
  if (!args[0].is_object()) raise("TypeError", "the first argument must be callable");
  Arguments given{args[1].as<Tuple>()->items, {}};
  for (const auto& e : args[2].as<Dict>()->entries()) {
    if (!e.key.is_absent()) given.keywords.emplace_back(str(in, e.key), e.value);
  }
  return Value::make<Partial>(args[0], std::move(given));
}

const Type& partial_type() {
  static const NativeFunction constructor{"partial", "func, /, *args, **keywords", new_partial, "A function with some arguments given."};
  static const Type type{"partial",
                         "functools",
                         &object_type(),
                         {},
                         {{"func", [](Interpreter&, const Value& p) { return p.as<Partial>()->function; }, nullptr, "The function."},
                          {"args", [](Interpreter&, const Value& p) { return make_tuple(p.as<Partial>()->given.positional); }, nullptr,
                           "The given arguments."},
                          {"__call__", self_of, nullptr, "Calls the function."}},
                         &constructor};
  return type;
}
const Type& Partial::type() const { return partial_type(); }

// ---- lru_cache ----

/// A function that keeps its last results. Keys are tuples of the arguments.
class Cached final : public Object {
 public:
  Cached(Value f, int64_t limit) : function_(std::move(f)), limit_(limit) {}
  const Type& type() const override;
  std::string repr(Interpreter& in) override { return gasell::repr(in, function_); }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (auto v = Object::get_attribute(in, name)) return v;
    if (name == "__wrapped__") return function_;
    return has_attribute(in, function_, name) ? std::optional<Value>(gasell::get_attribute(in, function_, name)) : std::nullopt;
  }
  Value call(Interpreter& in, Arguments args) override {
    std::vector<Value> parts = args.positional;
    for (const auto& [name, v] : args.keywords) {
      parts.push_back(make_str(name));
      parts.push_back(v);
    }
    parts.push_back(Value::of(static_cast<int64_t>(args.keywords.size())));
    const Value key = make_tuple(std::move(parts));
    auto& results = *results_.as<Dict>();
    if (results.find(in, key)) {
      ++hits;
      Value v = results.take(in, key);  // put back as the newest
      results.insert(in, key, v);
      return v;
    }
    ++misses;
    Value v = gasell::call(in, function_, std::move(args));
    results.insert(in, key, v);
    if (limit_ >= 0 && results.size() > limit_) {
      for (const auto& e : results.entries()) {
        if (e.key.is_absent()) continue;
        const Value oldest = e.key;
        results.take(in, oldest);
        break;
      }
    }
    return v;
  }
  void clear() {
    results_.as<Dict>()->clear();
    hits = misses = 0;
  }
  Value info() const {
    return make_named_result("functools", "CacheInfo", {"hits", "misses", "maxsize", "currsize"},
                             {Value::of(hits), Value::of(misses), limit_ < 0 ? Value() : Value::of(limit_),
                              Value::of(static_cast<int64_t>(results_.as<Dict>()->size()))});
  }

  int64_t hits = 0, misses = 0;

 private:
  Value function_, results_ = make_dict();
  int64_t limit_;
};

const Type& cached_type() {
  static const Type type{
      "_lru_cache_wrapper",
      "functools",
      &object_type(),
      {{"cache_clear", "self", [](Interpreter&, Args a) { return a[0].as<Cached>()->clear(), Value(); }, "Forgets all results."},
       {"cache_info", "self", [](Interpreter&, Args a) { return a[0].as<Cached>()->info(); },
        "Hits, misses, the greatest and the present size."}},
      {{"__call__", self_of, nullptr, "Calls the function, or takes the kept result."}}};
  return type;
}
const Type& Cached::type() const { return cached_type(); }

/// What lru_cache(maxsize) returns: the decorator.
class CacheDecorator final : public Object {
 public:
  explicit CacheDecorator(int64_t limit) : limit_(limit) {}
  const Type& type() const override { return builtin_type(); }
  Value call(Interpreter&, Arguments args) override {
    if (args.positional.size() != 1)
      raise("TypeError", "decorating_function() takes 1 positional argument but " + std::to_string(args.positional.size()) + " were given");
    return Value::make<Cached>(args.positional[0], limit_);
  }

 private:
  int64_t limit_;
};

Value lru_cache(Interpreter& in, Args args) {
  if (args[0].is_none()) return Value::make<CacheDecorator>(-1);
  if (args[0].is_int() || args[0].is_bool()) return Value::make<CacheDecorator>(std::max<int64_t>(0, to_index(in, args[0])));
  if (args[0].is_object()) return Value::make<Cached>(args[0], 128);
  raise("TypeError", "Expected first argument to be an integer, a callable, or None");
}

// ---- cmp_to_key ----

class ComparisonKey final : public Object {
 public:
  ComparisonKey(Value f, Value item) : function_(std::move(f)), item_(std::move(item)) {}
  const Type& type() const override {
    static const Type type{"KeyWrapper", "functools", &object_type(), {}, {}};
    return type;
  }
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override {
    const auto* o = other.as<ComparisonKey>();
    if (!o) return std::nullopt;
    return gasell::compare(in, op, gasell::call(in, function_, Arguments{{item_, o->item_}, {}}), Value::of(0));
  }

 private:
  Value function_, item_;
};

class KeyMaker final : public Object {
 public:
  explicit KeyMaker(Value f) : function_(std::move(f)) {}
  const Type& type() const override { return builtin_type(); }
  Value call(Interpreter&, Arguments args) override {
    if (args.positional.size() != 1) raise("TypeError", "K() takes exactly one argument");
    return Value::make<ComparisonKey>(function_, args.positional[0]);
  }

 private:
  Value function_;
};

// ---- total_ordering ----

constexpr const char* kOrders[] = {"__lt__", "__le__", "__gt__", "__ge__"};

/// One order by another and by equality.
template <int known, int wanted>
Value order_by(Interpreter& in, Args args) {
  const Value less = call(in, get_attribute(in, args[0], kOrders[known]), {{args[1]}, {}});
  if (less.same(not_implemented())) return less;
  constexpr bool kSameWay = known / 2 == wanted / 2, kStrict = wanted % 2 == 0;
  const bool holds = truth(in, less) == kSameWay;
  if constexpr (!kSameWay && known % 2 != wanted % 2) return Value::of(holds);
  if (kStrict) return Value::of(holds && truth(in, compare(in, ast::CompareOp::ne, args[0], args[1])));
  return Value::of(holds || truth(in, compare(in, ast::CompareOp::eq, args[0], args[1])));
}

template <int known>
std::array<NativeFunction, 4> orders_by() {
  return {NativeFunction{kOrders[0], "self, other", order_by<known, 0>}, NativeFunction{kOrders[1], "self, other", order_by<known, 1>},
          NativeFunction{kOrders[2], "self, other", order_by<known, 2>}, NativeFunction{kOrders[3], "self, other", order_by<known, 3>}};
}

Value total_ordering(Interpreter&, Args args) {
  static const std::array<std::array<NativeFunction, 4>, 4> orders = {orders_by<0>(), orders_by<1>(), orders_by<2>(), orders_by<3>()};
  auto* made = args[0].as<Class>();
  if (!made) raise("NotImplementedError", "functools.total_ordering takes a class of a script");
  for (size_t known = 0; known < orders.size(); ++known) {
    if (!made->find(kOrders[known])) continue;
    for (size_t wanted = 0; wanted < orders.size(); ++wanted)
      if (!made->find(kOrders[wanted])) ++class_changes, made->members.set(kOrders[wanted], native_method(orders[known][wanted]));
    return args[0];
  }
  raise("ValueError", "must define at least one ordering operation: < > <= >=");
}

/// The wrapper with the name, the documentation and the attributes of what it wraps.
Value update_wrapper(Interpreter& in, Args args) {
  const Value &wrapper = args[0], &wrapped = args[1];
  for (const char* name : {"__module__", "__name__", "__qualname__", "__doc__"})
    if (has_attribute(in, wrapped, name)) set_attribute(in, wrapper, name, get_attribute(in, wrapped, name));
  if (const auto* function = wrapped.as<Function>())
    for (const auto& [name, value] : function->attributes)
      if (!name.starts_with("__")) set_attribute(in, wrapper, name, value);
  set_attribute(in, wrapper, "__wrapped__", wrapped);
  return wrapper;
}

/// wraps(f)
class Wraps final : public Object {
 public:
  explicit Wraps(Value w) : wrapped_(std::move(w)) {}
  const Type& type() const override { return builtin_type(); }
  Value call(Interpreter& in, Arguments args) override {
    if (args.positional.size() != 1 || !args.keywords.empty()) raise("TypeError", "what functools.wraps gives takes the wrapper alone");
    Value both[] = {args.positional[0], wrapped_};
    return update_wrapper(in, both);
  }

 private:
  const Value wrapped_;
};

}  // namespace

void register_carried_functools() {
  register_carried(typeid(Partial), {[](Interpreter&, Object& o) {
                                       auto& partial = static_cast<Partial&>(o);
                                       std::vector<Value> names, values;
                                       for (const auto& [name, value] : partial.given.keywords) {
                                         names.push_back(make_str(name));
                                         values.push_back(value);
                                       }
                                       return std::vector<Value>{partial.function, make_tuple(partial.given.positional),
                                                                 make_tuple(std::move(names)), make_tuple(std::move(values))};
                                     },
                                     [](Interpreter& in, std::span<Value> parts) {
                                       Arguments given{parts[1].as<Tuple>()->items, {}};
                                       for (size_t k = 0; k < parts[2].as<Tuple>()->items.size(); ++k)
                                         given.keywords.emplace_back(str(in, parts[2].as<Tuple>()->items[k]),
                                                                     parts[3].as<Tuple>()->items[k]);
                                       return Value::make<Partial>(parts[0], std::move(given));
                                     }});
}

Value make_functools(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"reduce", "function, iterable, initial=missing, /", reduce, "Folds the items with a function of two arguments, from the left."},
      {"lru_cache", "maxsize=128, typed=False", lru_cache, "A decorator that keeps the last results of a function."},
      {"cache", "user_function, /", [](Interpreter&, Args a) { return Value::make<Cached>(a[0], -1); },
       "A decorator that keeps all results of a function."},
      {"cmp_to_key", "mycmp", [](Interpreter&, Args a) { return Value::make<KeyMaker>(a[0]); }, "A sort key from a comparison function."},
      {"total_ordering", "cls, /", total_ordering, "Gives a class the orders that it lacks, by one that it has and by ==."},
      {"update_wrapper", "wrapper, wrapped", update_wrapper, "The wrapper, with the name and the attributes of what it wraps."},
      {"wraps", "wrapped", [](Interpreter&, Args a) { return Value::make<Wraps>(a[0]); },
       "A decorator for wrappers, which get the name and the attributes of what they wrap."},
  };
  Value module = make_module("functools", table);
  set_member(module, "partial", type_object(partial_type()));
  set_member(module, "cached_property", type_object(cached_property_type()));
  return module;
}

}  // namespace gasell
