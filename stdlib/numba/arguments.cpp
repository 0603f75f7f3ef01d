#include "stdlib/numba/arguments.h"

#include <bit>

#include "runtime/functions/generator.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/set.h"
#include "runtime/session/types.h"
#include "stdlib/named_tuple.h"
#include "stdlib/numba/typed.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/random_generator.h"
#include "stdlib/numpy/typed.h"

namespace gasell::numba {

using functions::Layout;
using functions::Outside;
using Kind = functions::Type::Kind;

void CallArguments::clear() {
  types.clear();
  leaves.clear();
  arrays.clear();
  givens.objects.clear();
  givens.arrays.clear();
  objects.clear();
  held.clear();
  numbers.clear();
}

namespace {

// ---- types ----
std::optional<functions::Type> type_of_object(Compilation& compilation, const Value& v);

/// What lies in a list, a dict or a set is inside.
functions::Type type_of_item(Compilation& compilation, const Value& v) {
  if (const auto s = scalar_of(compilation.in, v)) return functions::Type::of(s->type);
  if (const auto* a = v.as<numpy::NdArray>()) return type_of_array(a->array);
  if (const auto* t = v.as<Tuple>()) {
    std::vector<functions::Type> items;
    for (const Value& item : t->items) items.push_back(type_of_item(compilation, item));
    functions::Type type = functions::Type::tuple_of(std::move(items));
    type.named = class_of_named(v);
    return type;
  }
  if (auto object = type_of_object(compilation, v)) return *std::move(object);
  raise_typing_error(
      "compiled functions take lists of numbers, arrays, lists, typed dicts and tuples of these, and this list has an item of type " +
          type_of(v).name,
      "hold numbers instead, in one array or in several");
}

bool holds_memory(const functions::Type& type) {
  return type.is_memory() || (type.is_tuple() && std::any_of(type.items.begin(), type.items.end(), holds_memory));
}

/// The type of items of both types: arrays with and without gaps lie in one list, and lists of which one is empty; nullopt: there is none.
std::optional<functions::Type> common_item(const functions::Type& a, const functions::Type& b) {
  if (a.kind != b.kind || a.items.size() != b.items.size()) {
    if (a.kind != b.kind || !a.is_object()) return {};
    return a.items.empty() ? b : a;
  }
  functions::Type result = a;
  if (a.is_array()) {
    if (b.layout == Layout::any) result.layout = Layout::any;
    result.read_only = a.read_only || b.read_only;
  }
  for (size_t k = 0; k < a.items.size(); ++k) {
    auto item = common_item(a.items[k], b.items[k]);
    if (!item) return {};
    result.items[k] = *std::move(item);
  }
  functions::Type like_b = b;
  like_b.layout = result.layout;
  like_b.read_only = result.read_only;
  like_b.items = result.items;
  return result == like_b ? std::optional(result) : std::nullopt;
}

[[noreturn]] void refuse_mixed(Compilation& compilation, const Value& first, const Value& other) {
  const auto shown = [&](const Value& v) {
    if (scalar_of(compilation.in, v)) return gasell::repr(compilation.in, Value::make<TypeObject>(type_of(v)));
    return functions::to_string(type_of_item(compilation, v));
  };
  raise("TypeError", "can't unbox heterogeneous list: " + shown(first) + " != " + shown(other));
}

/// The type of all of them; of numbers the first one says it, as in Numba.
functions::Type type_of_items(Compilation& compilation, const std::vector<Value>& items) {
  functions::Type type = type_of_item(compilation, items[0]);
  if (!holds_memory(type)) return type;
  for (size_t k = 1; k < items.size(); ++k) {
    auto both = common_item(type, type_of_item(compilation, items[k]));
    if (!both) refuse_mixed(compilation, items[0], items[k]);
    type = *std::move(both);
  }
  return type;
}

/// The type of a list, a dict, a set or a generator, without items where nothing says what a list holds; nullopt: it is none of these.
std::optional<functions::Type> type_of_object(Compilation& compilation, const Value& v) {
  if (const auto* typed = v.as<TypedList>()) {
    functions::Type type{.kind = Kind::list, .text = "typed"};
    if (typed->item)
      type.items = {*typed->item};
    else if (!typed->items.empty())
      type.items = {type_of_items(compilation, typed->items)};
    return type;
  }
  if (const auto* list = v.as<List>()) {
    functions::Type type{.kind = Kind::list};
    if (!list->items.empty()) type.items = {type_of_items(compilation, list->items)};
    return type;
  }
  if (const auto* dict = v.as<TypedDict>()) {
    if (dict->entry) return functions::Type::table_of("dict", *dict->entry);
    std::vector<Value> keys, values;
    for (const Dict::Entry& e : dict->entries()) {
      if (e.key.is_absent()) continue;
      keys.push_back(e.key);
      values.push_back(e.value);
    }
    if (keys.empty())
      raise("TypeError", "invalid operation on untyped dictionary", "numba.typed.Dict.empty(key_type, value_type) says the types");
    return functions::Type::table_of("dict",
                                     functions::Type::tuple_of({type_of_items(compilation, keys), type_of_items(compilation, values)}));
  }
  if (const auto* set = v.as<Set>(); set && !set->frozen()) {
    const std::vector<Value> items = set->items();
    if (items.empty()) raise("ValueError", "cannot compute fingerprint of empty set");
    return functions::Type::table_of("set", functions::Type::tuple_of({type_of_item(compilation, items[0])}));
  }
  if (numpy::compiled_generator(v)) return functions::Type{.kind = Kind::generator};
  return {};
}

// ---- slots ----
int add_object(Compilation& compilation, const Value& v, const functions::Type& type, CallArguments& to);

/// Appends an item's slots (given.h); false where it is of another type. `converts`: numbers become those of the type.
bool add_slots(Compilation& compilation, const Value& v, const functions::Type& type, bool converts, std::vector<int64_t>& slots,
               CallArguments& to) {
  if (type.is_tuple()) {
    const auto* t = v.as<Tuple>();
    if (!t || t->items.size() != type.items.size() || class_of_named(v) != type.named) return false;
    for (size_t k = 0; k < t->items.size(); ++k)
      if (!add_slots(compilation, t->items[k], type.items[k], converts, slots, to)) return false;
    return true;
  }
  if (type.is_array()) {
    const auto* a = v.as<numpy::NdArray>();
    if (!a || a->array.dtype() != type.dtype || a->array.rank() != type.rank) return false;
    const functions::Type own = type_of_array(a->array);
    if ((own.layout == Layout::any && type.layout == Layout::c) || (own.read_only && !type.read_only)) return false;
    const auto [at, fresh] = to.numbers.emplace(v.object(), static_cast<int>(to.held.size()));
    if (fresh) {
      to.held.push_back(v);
      to.givens.arrays.push_back(&a->array);
    }
    slots.push_back(at->second);
    slots.insert(slots.end(), static_cast<size_t>(1 + 2 * type.rank), 0);
    return true;
  }
  if (type.is_object()) {
    const auto own = type_of_object(compilation, v);
    if (!own || !common_item(*own, type)) return false;
    slots.push_back(add_object(compilation, v, type, to));
    return true;
  }
  auto s = scalar_of(compilation.in, v);
  if (!s) return false;
  if (s->type != type.dtype) {
    if (!converts || (is_complex(s->type) && !is_complex(type.dtype))) return false;
    s = s->cast(type.dtype);
  }
  if (s->is_integral()) {
    slots.push_back(s->i);
  } else {
    slots.push_back(std::bit_cast<int64_t>(s->c.real()));
    if (is_complex(s->type)) slots.push_back(std::bit_cast<int64_t>(s->c.imag()));
  }
  return true;
}

/// The number of an object of this type in the call's arguments.
int add_object(Compilation& compilation, const Value& v, const functions::Type& type, CallArguments& to) {
  const auto [at, fresh] = to.numbers.emplace(v.object(), static_cast<int>(to.objects.size()));
  const int number = at->second;
  if (!fresh) return number;
  to.objects.push_back(v);
  to.givens.objects.emplace_back();
  if (type.kind == Kind::generator) {
    to.givens.objects.back().state = numpy::compiled_generator(v);
    return number;
  }
  std::vector<int64_t> slots;
  const auto add = [&](const Value& item, const functions::Type& item_type, const Value& first, bool converts) {
    if (!add_slots(compilation, item, item_type, converts, slots, to)) refuse_mixed(compilation, first, item);
  };
  if (const auto* dict = v.as<TypedDict>()) {
    const functions::Type& entry = type.items[0];
    for (const Dict::Entry& e : dict->entries()) {
      if (e.key.is_absent()) continue;
      add(e.key, entry.items[0], e.key, true);
      add(e.value, entry.items[1], e.value, true);
    }
  } else if (const auto* list = v.as<List>()) {
    for (const Value& item : list->items) add(item, type.items[0], list->items[0], type.text == "typed");
  } else {
    const std::vector<Value> items = v.as<Set>()->items();
    for (const Value& item : items) add(item, type.items[0].items[0], items[0], false);
  }
  to.givens.objects[static_cast<size_t>(number)].slots = std::move(slots);
  return number;
}

Value from_slots(const functions::Type& type, const int64_t*& slot) {
  if (type.is_tuple()) {
    std::vector<Value> items;
    for (const functions::Type& item : type.items) items.push_back(from_slots(item, slot));
    return type.named ? make_named_tuple(*type.named, std::move(items)) : make_tuple(std::move(items));
  }
  if (kind(type.dtype) == 'b' || is_integer(type.dtype)) {
    return to_number(Scalar::of_int(*slot++).cast(type.dtype));
  }
  const double re = std::bit_cast<double>(*slot++);
  return numpy::python_value(is_complex(type.dtype) ? Scalar::of_complex({re, std::bit_cast<double>(*slot++)}, type.dtype)
                                                    : Scalar::of_float(re, type.dtype));
}

// ---- arguments ----
/// What a function, a dtype or the like is as an argument: a constant of its type.
functions::Type type_of_constant(Compilation& compilation, const Value& v) {
  if (numpy::is_typed_array(v))
    raise_typing_error("compiled functions take no arrays of " + str(compilation.in, get_attribute(compilation.in, v, "dtype")),
                       "they take arrays of numbers: a field of records may be one, and x.view('int64') of times are counts");
  auto& [kept, constant] = compilation.constants[v.object()];
  if (!constant) {
    Outside o = to_outside(compilation, v);
    if (o.kind != Outside::Kind::path && o.kind != Outside::Kind::function && o.kind != Outside::Kind::named) {
      compilation.constants.erase(v.object());
      raise_typing_error(
          "compiled functions take no argument of type " + type_of(v).name,
          v.as<Dict>() ? "numba.typed.Dict has keys of one type and values of one" : "pass numbers, arrays, lists, tuples and functions");
    }
    // One constant for what has one name, whichever object it came by.
    for (const auto& [object, other] : compilation.constants)
      if (other.second && o.kind == Outside::Kind::path && other.second->kind == o.kind && other.second->text == o.text)
        constant = other.second;
    if (!constant) constant = std::make_shared<Outside>(std::move(o));
    if (v.object() != compilation.owner) kept = v;
  }
  functions::Type t;
  t.kind = Kind::function;
  t.text = constant->text;
  t.constant = constant;
  return t;
}

functions::Type add_value(Compilation& compilation, const Value& v, CallArguments& to) {
  if (const auto* a = v.as<numpy::NdArray>()) {
    to.leaves.push_back({{}, &a->array});
    to.arrays.push_back(v);
    return type_of_array(a->array);
  }
  if (const auto s = scalar_of(compilation.in, v)) {
    to.leaves.push_back({*s});
    return functions::Type::of(s->type);
  }
  if (v.is_none()) return {};
  if (const auto* t = v.as<Tuple>()) {
    std::vector<functions::Type> items;
    for (const Value& item : t->items) items.push_back(add_value(compilation, item, to));
    functions::Type type = functions::Type::tuple_of(std::move(items));
    type.named = class_of_named(v);
    return type;
  }
  if (const auto* text = v.as<Str>()) return functions::Type::text_of(text->value);
  if (auto type = type_of_object(compilation, v)) {
    if (type->is_list() && type->items.empty())
      raise("ValueError", "cannot compute fingerprint of empty list",
            "the items say what the list holds: pass np.array([], dtype=…) or numba.typed.List.empty_list(type)");
    if (type->is_list() && type->text.empty()) type->text = "reflected";
    to.leaves.push_back({{}, nullptr, add_object(compilation, v, *type, to)});
    return *std::move(type);
  }
  return type_of_constant(compilation, v);
}

/// What stands for a value of a type where there is none.
Value nothing_of(const functions::Type& type) {
  if (type.is_scalar()) return to_number(Scalar::of_int(0).cast(type.dtype));
  if (type.is_array())
    return Value::make<numpy::NdArray>(
        Array(graph::constant(Scalar::of_int(0).cast(type.dtype), graph::Shape(static_cast<size_t>(type.rank), 0))));
  if (type.is_tuple()) {
    std::vector<Value> items;
    for (const functions::Type& item : type.items) items.push_back(nothing_of(item));
    return make_tuple(std::move(items));
  }
  raise("NotImplementedError", "None for an argument of type " + functions::to_string(type) + " is not in Gasell",
        "declare the argument without optional(...), or pass an empty one");
}

}  // namespace

void add_argument(Compilation& compilation, const Value& v, CallArguments& to) { to.types.push_back(add_value(compilation, v, to)); }

bool add_leaves(Compilation& compilation, const Value& v, const functions::Type& type, CallArguments& to) {
  switch (type.kind) {
    case Kind::scalar:
      switch (v.tag()) {
        case Value::Tag::boolean: to.leaves.push_back({Scalar::of_bool(v.as_int() != 0)}); return type.dtype == DType::boolean;
        case Value::Tag::integer: to.leaves.push_back({Scalar::of_int(v.as_int())}); return type.dtype == DType::i64;
        case Value::Tag::floating: to.leaves.push_back({Scalar::of_float(v.as_float())}); return type.dtype == DType::f64;
        default: break;
      }
      if (const auto s = scalar_of(compilation.in, v)) {
        to.leaves.push_back({*s});
        return s->type == type.dtype;
      }
      return false;
    case Kind::array: {
      const auto* a = v.as<numpy::NdArray>();
      if (!a || a->array.dtype() != type.dtype || a->array.rank() != type.rank || a->array.writable() == type.read_only) return false;
      if (type_of_array(a->array).layout != type.layout) return false;
      to.leaves.push_back({{}, &a->array});
      to.arrays.push_back(v);
      return true;
    }
    case Kind::tuple: {
      const auto* t = v.as<Tuple>();
      if (!t || t->items.size() != type.items.size() || class_of_named(v) != type.named) return false;
      for (size_t k = 0; k < t->items.size(); ++k)
        if (!add_leaves(compilation, t->items[k], type.items[k], to)) return false;
      return true;
    }
    case Kind::list:
    case Kind::table:
    case Kind::generator: {
      if (!v.is_object() || v.as<Tuple>()) return false;
      auto own = type_of_object(compilation, v);
      if (own && own->is_list() && own->text.empty()) own->text = "reflected";
      if (!own || *own != type) return false;
      to.leaves.push_back({{}, nullptr, add_object(compilation, v, type, to)});
      return true;
    }
    case Kind::none: return v.is_none();
    case Kind::text: {
      const auto* text = v.as<Str>();
      return text && text->value == type.text;
    }
    case Kind::function: {
      if (!v.is_object()) return false;
      const auto known = compilation.constants.find(v.object());
      return known != compilation.constants.end() && known->second.second == type.constant;
    }
    default: return false;
  }
}

void add_as(Compilation& compilation, const Value& v, const functions::Type& type, CallArguments& to) {
  if (type.is_scalar()) {
    const Scalar s = *scalar_of(compilation.in, v);
    if (kind(type.dtype) == 'u' && s.as_double() <= -1) raise("OverflowError", "can't convert negative int to unsigned");
    to.leaves.push_back({s.cast(type.dtype)});
  } else if (type.is_tuple()) {
    for (size_t k = 0; k < type.items.size(); ++k) add_as(compilation, v.as<Tuple>()->items[k], type.items[k], to);
  } else if (type.kind == Kind::optional) {
    to.leaves.push_back({Scalar::of_bool(!v.is_none())});
    add_as(compilation, v.is_none() ? nothing_of(type.items[0]) : v, type.items[0], to);
  } else {
    add_value(compilation, v, to);
  }
}

// ---- what comes back ----
// Integers of a script have 64 bits with a sign; what is larger stays NumPy's.
Value to_number(const Scalar& s) { return s.type == DType::u64 && s.i < 0 ? numpy::wrap_scalar(s) : numpy::python_value(s); }

Value to_value(Interpreter& in, const functions::Returned& r, const CallArguments& arguments) {
  if (r.object >= 0) return arguments.objects[static_cast<size_t>(r.object)];
  const auto items = [&] {
    std::vector<Value> values;
    for (const functions::Returned& item : r.items) values.push_back(to_value(in, item, arguments));
    return values;
  };
  switch (r.type->kind) {
    case Kind::scalar: return to_number(r.scalar);
    case Kind::array: {
      if (r.argument < 0) return Value::make<numpy::NdArray>(*r.array);
      const auto at = static_cast<size_t>(r.argument);
      return at < arguments.arrays.size() ? arguments.arrays[at] : arguments.held[at - arguments.arrays.size()];
    }
    case Kind::tuple: return r.type->named ? make_named_tuple(*r.type->named, items()) : make_tuple(items());
    case Kind::list:
      if (r.type->text != "typed") return make_list(items());
      return Value::make<TypedList>(items(), r.type->items.empty() ? std::nullopt : std::optional(r.type->items[0]));
    case Kind::table: {
      const bool dict = r.type->text == "dict";
      Value made = dict ? Value::make<TypedDict>(r.type->items.empty() ? std::nullopt : std::optional(r.type->items[0]))
                        : make_set(in, make_list({}));
      for (const functions::Returned& entry : r.items) {
        const Value key = to_value(in, entry.items[0], arguments);
        if (dict)
          made.as<Dict>()->insert(in, key, to_value(in, entry.items[1], arguments));
        else
          made.as<Set>()->insert(in, key);
      }
      return made;
    }
    case Kind::optional: return r.there ? to_value(in, r.items[0], arguments) : Value();
    case Kind::text: return make_str(r.type->text);
    default: return {};  // None: the compiler lets nothing else out
  }
}

void reflect(Interpreter& in, const CallArguments& arguments) {
  for (size_t k = 0; k < arguments.objects.size(); ++k) {
    const functions::Given& given = arguments.givens.objects[k];
    if (!given.changed) continue;
    const functions::Type& type = *given.type;
    // Items one after the other; of a dict its entries as tuples of two, of a set as tuples of one.
    std::vector<Value> items;
    if (given.items.empty()) {
      for (const int64_t *slot = given.slots.data(), *end = slot + given.slots.size(); slot < end;)
        items.push_back(from_slots(type.items[0], slot));
    }
    for (const functions::Returned& item : given.items) items.push_back(to_value(in, item, arguments));
    if (auto* list = arguments.objects[k].as<List>()) {
      list->items = std::move(items);
    } else if (auto* dict = arguments.objects[k].as<Dict>()) {
      dict->clear();
      for (const Value& entry : items) dict->insert(in, entry.as<Tuple>()->items[0], entry.as<Tuple>()->items[1]);
    } else if (auto* set = arguments.objects[k].as<Set>()) {
      set->clear();
      for (const Value& entry : items) set->insert(in, entry.as<Tuple>()->items[0]);
    }
  }
}

}  // namespace gasell::numba
