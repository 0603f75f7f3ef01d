#include "runtime/session/type_unions.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/dict.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

/// A type as annotations write it: int, list[int], __main__.Point.
std::string written(Interpreter& in, const Value& v) {
  if (v.same(ellipsis())) return "...";
  const auto* type = v.as<TypeObject>();
  if (v.is_none() || (type && &type->described == &none_type())) return "None";
  if (!type) return repr(in, v);
  const std::string name = str(in, get_attribute(in, v, "__qualname__"));
  return type->described.module == "builtins" ? name : type->described.module + "." + name;
}

class Union final : public Object {
 public:
  explicit Union(Value m) : members(std::move(m)) {}
  const Type& type() const override {
    static const Type type{"UnionType", "types", &object_type()};
    return type;
  }
  std::string repr(Interpreter& in) override {
    std::string text;
    for (const Value& v : items()) text += (text.empty() ? "" : " | ") + written(in, v);
    return text;
  }
  std::optional<Value> binary(Interpreter&, ast::BinaryOp op, const Value& other) override {
    if (op != ast::BinaryOp::bit_or) return {};
    return type_union(Value::of(this), other);
  }
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp op, const Value& other) override {
    if (op != ast::BinaryOp::bit_or) return {};
    return type_union(other, Value::of(this));
  }
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override {
    const auto* u = other.as<Union>();
    if (!u || op > ast::CompareOp::ne) return {};
    const bool same = u->items().size() == items().size() &&
                      std::all_of(items().begin(), items().end(), [&](const Value& v) { return gasell::contains(in, u->members, v); });
    return Value::of(same == (op == ast::CompareOp::eq));
  }
  int64_t hash(Interpreter& in) override {
    int64_t sum = 0;
    for (const Value& v : items()) sum ^= gasell::hash(in, v);
    return sum;
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "__args__") return members;
    return Object::get_attribute(in, name);
  }
  const std::vector<Value>& items() const { return members.as<Tuple>()->items; }
  const Value members;
};

class Alias final : public Object {
 public:
  Alias(Value o, Value a) : origin(std::move(o)), arguments(std::move(a)) {}
  const Type& type() const override {
    static const Type type{"GenericAlias", "types", &object_type()};
    return type;
  }
  std::string repr(Interpreter& in) override {
    std::string text;
    for (const Value& v : arguments.as<Tuple>()->items) {
      text += text.empty() ? "" : ", ";
      if (const auto* list = v.as<List>()) {
        std::string inner;
        for (const Value& item : list->items) inner += (inner.empty() ? "" : ", ") + written(in, item);
        text += "[" + inner + "]";
      } else {
        text += written(in, v);
      }
    }
    return written(in, origin) + "[" + (text.empty() ? "()" : text) + "]";
  }
  Value call(Interpreter& in, Arguments args) override { return gasell::call(in, origin, std::move(args)); }
  std::optional<Value> binary(Interpreter&, ast::BinaryOp op, const Value& other) override {
    if (op != ast::BinaryOp::bit_or) return {};
    return type_union(Value::of(this), other);
  }
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp op, const Value& other) override {
    if (op != ast::BinaryOp::bit_or) return {};
    return type_union(other, Value::of(this));
  }
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override {
    const auto* alias = other.as<Alias>();
    if (!alias || op > ast::CompareOp::ne) return {};
    return Value::of((alias->origin.same(origin) && equal(in, alias->arguments, arguments)) == (op == ast::CompareOp::eq));
  }
  int64_t hash(Interpreter& in) override { return gasell::hash(in, origin) ^ gasell::hash(in, arguments); }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "__origin__") return origin;
    if (name == "__args__") return arguments;
    if (auto own = Object::get_attribute(in, name)) return own;
    return origin.object()->get_attribute(in, name);
  }
  const Value origin, arguments;
};

bool is_type(const Value& v) { return v.is_none() || v.as<TypeObject>() || v.as<Union>() || v.as<Alias>(); }

class ReadOnlyDict final : public Object {
 public:
  explicit ReadOnlyDict(Value d) : dict(std::move(d)) {}
  const Type& type() const override {
    static const Type type{"mappingproxy", "types", &object_type()};
    return type;
  }
  std::string repr(Interpreter& in) override { return "mappingproxy(" + gasell::repr(in, dict) + ")"; }
  std::string str(Interpreter& in) override { return gasell::str(in, dict); }
  int64_t length(Interpreter& in) override { return gasell::length(in, dict); }
  bool contains(Interpreter& in, const Value& item) override { return gasell::contains(in, dict, item); }
  Value get_item(Interpreter& in, const Value& index) override { return gasell::get_item(in, dict, index); }
  Value iterate(Interpreter& in) override { return gasell::iterate(in, dict); }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    for (const char* method : {"items", "keys", "values", "get", "copy"})
      if (name == method) return dict.object()->get_attribute(in, name);
    return Object::get_attribute(in, name);
  }
  const Value dict;
};

}  // namespace

std::optional<Value> type_union(const Value& a, const Value& b) {
  if (!is_type(a) || !is_type(b) || (a.is_none() && b.is_none())) return {};
  std::vector<Value> members;
  for (const Value* side : {&a, &b}) {
    const auto* several = side->as<Union>();
    for (const Value& v : several ? several->items() : std::vector<Value>{side->is_none() ? type_object(none_type()) : *side})
      if (std::none_of(members.begin(), members.end(), [&](const Value& m) { return m.same(v); })) members.push_back(v);
  }
  if (members.size() == 1) return members[0];
  return Value::make<Union>(make_tuple(std::move(members)));
}

const Value* union_members(const Value& v) {
  const auto* u = v.as<Union>();
  return u ? &u->members : nullptr;
}

std::optional<Value> generic_alias(const Value& origin, const Value& index) {
  const auto* type = origin.as<TypeObject>();
  static constexpr const char* kGeneric[] = {"list", "dict",  "tuple",       "set",         "frozenset",
                                             "type", "deque", "defaultdict", "OrderedDict", "Counter"};
  if (type && !origin.as<Class>() && std::find(std::begin(kGeneric), std::end(kGeneric), type->described.name) == std::end(kGeneric))
    return {};
  return Value::make<Alias>(origin, index.as<Tuple>() ? index : make_tuple({index}));
}

const Value* alias_origin(const Value& v) {
  const auto* alias = v.as<Alias>();
  return alias ? &alias->origin : nullptr;
}

Value class_dict(Interpreter& in, Class& c) {
  const Value made = make_dict();
  auto& dict = *made.as<Dict>();
  dict.insert(in, make_str("__module__"), make_str(c.described.module));
  for (const auto& [name, value] : c.members.entries()) dict.insert(in, make_str(name), value);
  if (!c.members.find("__doc__")) dict.insert(in, make_str("__doc__"), Value());
  return read_only(made);
}

Value read_only(const Value& dict) { return Value::make<ReadOnlyDict>(dict); }

}  // namespace gasell
