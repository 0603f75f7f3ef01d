#include "stdlib/named_tuple.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "lang/characters.h"
#include "runtime/session/class_members.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/packing.h"
#include "runtime/session/type_objects.h"
#include "runtime/session/types.h"
#include "runtime/session/unpacking.h"
#include "stdlib/carried.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

class NamedTuple final : public Tuple {
 public:
  NamedTuple(const NamedTupleClass& made_by, std::vector<Value> values) : Tuple(std::move(values)), made_by(made_by) {}
  const Type& type() const override { return made_by.described; }
  std::string repr(Interpreter& in) override {
    if (made_by.member("__repr__")) return gasell::str(in, gasell::call(in, gasell::get_attribute(in, Value::of(this), "__repr__"), {}));
    // CPython's own sequences with names tell their module.
    std::string text = (made_by.described.module == "time" ? "time." : "") + made_by.described.name + "(";
    for (size_t k = 0; k < items.size(); ++k) text += (k ? ", " : "") + fields()[k] + "=" + gasell::repr(in, items[k]);
    return text + ")";
  }
  std::string str(Interpreter& in) override {
    if (!made_by.member("__str__")) return repr(in);
    return gasell::str(in, gasell::call(in, gasell::get_attribute(in, Value::of(this), "__str__"), {}));
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (const Value* member = made_by.member(name)) return bound_member(in, *member, Value::of(this), type_object(made_by.described));
    const auto at = std::find(fields().begin(), fields().end(), name);
    if (at != fields().end()) return items[static_cast<size_t>(at - fields().begin())];
    if (name == "_fields" || name == "_field_defaults" || name == "_make")
      return const_cast<NamedTupleClass&>(made_by).get_attribute(in, name);
    return Tuple::get_attribute(in, name);
  }
  void set_attribute(Interpreter& in, std::string_view name, const Value& value) override {
    if (std::find(fields().begin(), fields().end(), name) != fields().end()) raise("AttributeError", "can't set attribute");
    Tuple::set_attribute(in, name, value);
  }
  std::vector<std::string> attribute_names(Interpreter& in) override {
    std::vector<std::string> names = Tuple::attribute_names(in);
    names.insert(names.end(), fields().begin(), fields().end());
    return names;
  }
  const std::vector<std::string>& fields() const { return made_by.compiled->fields; }

  const NamedTupleClass& made_by;
};

Value as_dict(Interpreter& in, Args args) {
  const auto& t = *args[0].as<NamedTuple>();
  Value made = make_dict();
  for (size_t k = 0; k < t.items.size(); ++k) made.as<Dict>()->insert(in, make_str(t.fields()[k]), t.items[k]);
  return made;
}

Value replaced(Interpreter& in, Args args) {
  const auto& t = *args[0].as<NamedTuple>();
  std::vector<Value> items = t.items;
  std::vector<Value> unknown;
  for (const Dict::Entry& e : args[1].as<Dict>()->entries()) {
    if (e.key.is_absent()) continue;
    const auto at = std::find(t.fields().begin(), t.fields().end(), str(in, e.key));
    if (at == t.fields().end())
      unknown.push_back(e.key);
    else
      items[static_cast<size_t>(at - t.fields().begin())] = e.value;
  }
  if (!unknown.empty()) raise("ValueError", "Got unexpected field names: " + repr(in, make_list(std::move(unknown))));
  return Value::make<NamedTuple>(t.made_by, std::move(items));
}

Value made_of(Interpreter& in, Args args) {
  const auto& c = *args[0].as<NamedTupleClass>();
  std::vector<Value> items = to_vector(in, args[1]);
  if (items.size() != c.compiled->fields.size())
    raise("TypeError", fmt::format("Expected {} arguments, got {}", c.compiled->fields.size(), items.size()));
  return Value::make<NamedTuple>(c, std::move(items));
}

/// All classes, which values and compiled functions refer to.
struct Classes {
  std::mutex mutex;
  std::map<const functions::NamedClass*, const NamedTupleClass*> all;
  std::map<std::string, const NamedTupleClass*> of_library;
};
Classes& classes() {
  static auto& known = *new Classes;
  return known;
}

/// The last fields but one, those with defaults, with commas.
std::string listed(const std::vector<std::string>& fields, size_t count) {
  std::string text;
  for (size_t k = fields.size() - 1 - count; k + 1 < fields.size(); ++k) text += (text.empty() ? "" : ", ") + fields[k];
  return text;
}

void check_name(const std::string& name) {
  if (name.empty() || name_length(name, 0) != name.size())
    raise("ValueError", "Type names and field names must be valid identifiers: '" + name + "'");
  if (is_keyword(name)) raise("ValueError", "Type names and field names cannot be a keyword: '" + name + "'");
}

std::vector<std::string> field_names(Interpreter& in, const Value& v) {
  std::vector<std::string> names;
  if (const auto* text = v.as<Str>()) {
    std::string name;
    for (const char c : text->value + " ") {
      if (c != ',' && !std::isspace(static_cast<unsigned char>(c))) {
        name += c;
      } else if (!name.empty()) {
        names.push_back(std::exchange(name, {}));
      }
    }
    return names;
  }
  for (const Value& item : to_vector(in, v)) names.push_back(str(in, item));
  return names;
}

Value new_class(Interpreter&, std::string name, std::vector<std::string> fields, std::vector<Value> defaults, bool rename) {
  check_name(name);
  for (size_t k = 0; k < fields.size(); ++k) {
    const bool again = std::find(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(k), fields[k]) - fields.begin() <
                       static_cast<std::ptrdiff_t>(k);
    try {
      check_name(fields[k]);
      if (fields[k].starts_with("_")) raise("ValueError", "Field names cannot start with an underscore: '" + fields[k] + "'");
      if (again) raise("ValueError", "Encountered duplicate field name: '" + fields[k] + "'");
    } catch (const Raised&) {
      if (!rename) throw;
      fields[k] = "_" + std::to_string(k);
    }
  }
  if (defaults.size() > fields.size()) raise("TypeError", "Got more default values than field names");
  return type_object(make_named_class("__main__", name, std::move(fields), std::move(defaults)).described);
}

/// Their class lives as long as the process.
struct PackedNamedTuple final : Packed {
  explicit PackedNamedTuple(const NamedTupleClass& c) : made_by(c) {}
  Value unpack(Unpacking& to) const override { return Value::make<NamedTuple>(made_by, to.values(items)); }
  const NamedTupleClass& made_by;
  std::vector<Value> items;
};

}  // namespace

void register_carried_named() {
  register_carried(typeid(NamedTuple), {.pack = [](Packing& packing, Object& o) {
                     const auto& tuple = static_cast<NamedTuple&>(o);
                     Value made = packing.make<PackedNamedTuple>(tuple.made_by);
                     for (const Value& item : tuple.items)
                       static_cast<PackedNamedTuple&>(*made.object()).items.push_back(packing.pack(item));
                     return made;
                   }});
}

const NamedTupleClass& make_named_class(const std::string& module, const std::string& name, std::vector<std::string> fields,
                                        std::vector<Value> defaults) {
  static const std::vector<NativeFunction> kMethods = {
      {"_asdict", "self", as_dict, "A dict of the fields."},
      {"_replace", "self, **fields", replaced, "A tuple with other values in some fields."},
  };
  auto* const type = new Type{name, module, &tuple_type(), kMethods};
  auto compiled = std::make_shared<functions::NamedClass>(functions::NamedClass{name, std::move(fields)});
  const Value made = Value::make<NamedTupleClass>(*type, compiled, std::move(defaults));
  register_type_object(*type, made);
  const auto* const result = made.as<NamedTupleClass>();
  const std::lock_guard lock(classes().mutex);
  classes().all.emplace(compiled.get(), result);
  return *result;
}

Value make_named_tuple(const functions::NamedClass& named, std::vector<Value> values) {
  const NamedTupleClass* made_by;
  {
    const std::lock_guard lock(classes().mutex);
    made_by = classes().all.at(&named);
  }
  return Value::make<NamedTuple>(*made_by, std::move(values));
}

Value make_named_result(const std::string& module, const std::string& name, std::vector<std::string> fields, std::vector<Value> values) {
  const std::string path = module + "." + name;
  const NamedTupleClass* known = nullptr;
  {
    const std::lock_guard lock(classes().mutex);
    if (const auto at = classes().of_library.find(path); at != classes().of_library.end()) known = at->second;
  }
  if (!known) {
    known = &make_named_class(module, name, std::move(fields));
    const std::lock_guard lock(classes().mutex);
    known = classes().of_library.emplace(path, known).first->second;
  }
  return Value::make<NamedTuple>(*known, std::move(values));
}

std::shared_ptr<const functions::NamedClass> class_of_named(const Value& v) {
  const auto* t = v.as<NamedTuple>();
  return t ? t->made_by.compiled : nullptr;
}

Value NamedTupleClass::call(Interpreter&, Arguments args) {
  const std::vector<std::string>& fields = compiled->fields;
  const std::string function = described.name + ".__new__()";
  if (args.positional.size() > fields.size())
    raise("TypeError", fmt::format("{} takes {}{} positional arguments but {} were given", function,
                                   defaults.empty() ? "" : fmt::format("from {} to ", fields.size() - defaults.size() + 1),
                                   fields.size() + 1, args.positional.size() + 1));
  std::vector<Value> items = std::move(args.positional);
  items.resize(fields.size(), Value::absent());
  for (auto& [name, value] : args.keywords) {
    const auto at = static_cast<size_t>(std::find(fields.begin(), fields.end(), name) - fields.begin());
    if (at == fields.size()) raise("TypeError", function + " got an unexpected keyword argument '" + name + "'");
    if (!items[at].is_absent()) raise("TypeError", function + " got multiple values for argument '" + name + "'");
    items[at] = std::move(value);
  }
  const size_t first = fields.size() - defaults.size();
  std::vector<std::string> missing;
  for (size_t k = 0; k < fields.size(); ++k) {
    if (!items[k].is_absent()) continue;
    if (k < first)
      missing.push_back("'" + fields[k] + "'");
    else
      items[k] = defaults[k - first];
  }
  if (!missing.empty()) {
    std::string names = missing[0];
    for (size_t k = 1; k < missing.size(); ++k)
      names += (k + 1 < missing.size() ? ", " : missing.size() > 2 ? ", and " : " and ") + missing[k];
    raise("TypeError",
          fmt::format("{} missing {} required positional argument{}: {}", function, missing.size(), missing.size() == 1 ? "" : "s", names));
  }
  return Value::make<NamedTuple>(*this, std::move(items));
}

const Value* NamedTupleClass::member(std::string_view name) const {
  for (const auto& [key, value] : members)
    if (key == name) return &value;
  return nullptr;
}

std::optional<Value> NamedTupleClass::get_attribute(Interpreter& in, std::string_view name) {
  if (const Value* found = member(name)) return bound_member(in, *found, Value::absent(), Value::of(this));
  static const NativeFunction make{"_make", "iterable", made_of, "A tuple of the items of an iterable."};
  const std::vector<std::string>& fields = compiled->fields;
  if (name == "_make") return Value::make<Builtin>(make, Value::of(this));
  if (name == "_fields" || name == "__match_args__") {
    std::vector<Value> names;
    for (const std::string& f : fields) names.push_back(make_str(f));
    return make_tuple(std::move(names));
  }
  if (name == "_field_defaults") {
    Value made = make_dict();
    for (size_t k = 0; k < defaults.size(); ++k)
      made.as<Dict>()->insert(in, make_str(fields[fields.size() - defaults.size() + k]), defaults[k]);
    return made;
  }
  if (name == "__doc__") {
    std::string text = described.name + "(";
    for (size_t k = 0; k < fields.size(); ++k) text += (k ? ", " : "") + fields[k];
    return make_str(text + ")");
  }
  return TypeObject::get_attribute(in, name);
}

const NativeFunction& named_tuple_function() {
  static const NativeFunction f{"namedtuple", "typename, field_names, *, rename=False, defaults=None, module=None",
                                [](Interpreter& in, Args args) {
                                  std::vector<Value> defaults;
                                  if (!args[3].is_none()) defaults = to_vector(in, args[3]);
                                  return new_class(in, str(in, args[0]), field_names(in, args[1]), std::move(defaults), truth(in, args[2]));
                                },
                                "A class of tuples whose items have names."};
  return f;
}

/// class name(NamedTuple): annotated variables are the fields, what is assigned to them the defaults.
static Value class_of_body(Interpreter& in, const std::string& name, const Value& body) {
  auto* members = body.as<Dict>();
  std::vector<std::string> fields;
  std::vector<Value> defaults;
  const Value* annotations = members->find("__annotations__");
  if (annotations)
    for (const Value& field : to_vector(in, *annotations)) {
      fields.push_back(str(in, field));
      if (const Value* given = members->find(fields.back()))
        defaults.push_back(*given);
      else if (!defaults.empty())
        raise("TypeError", fmt::format("Non-default namedtuple field {} cannot follow default field{} {}", fields.back(),
                                       defaults.size() > 1 ? "s" : "", listed(fields, defaults.size())));
    }
  const Value made = new_class(in, name, fields, std::move(defaults), false);
  auto* result = made.as<NamedTupleClass>();
  for (const Dict::Entry& entry : members->entries()) {
    if (entry.key.is_absent()) continue;
    const std::string member = str(in, entry.key);
    if (std::find(fields.begin(), fields.end(), member) != fields.end()) continue;
    static const std::vector<std::string> kKnown = {"__repr__", "__str__", "__doc__", "__annotations__", "__slots__"};
    const bool special = member.starts_with("__") && member.ends_with("__");
    if (&type_of(entry.value) == &cached_property_type() || (special && std::find(kKnown.begin(), kKnown.end(), member) == kKnown.end()))
      raise("NotImplementedError", member + " of a NamedTuple is not in Gasell");
    result->members.emplace_back(member, entry.value);
  }
  return made;
}

const NativeFunction& typed_named_tuple_function() {
  static const NativeFunction f{"NamedTuple", "typename, fields=(), _body=None",
                                [](Interpreter& in, Args args) {
                                  if (args[2].as<Dict>()) return class_of_body(in, str(in, args[0]), args[2]);
                                  std::vector<std::string> fields;
                                  for (const Value& field : to_vector(in, args[1])) fields.push_back(str(in, to_vector(in, field).at(0)));
                                  return new_class(in, str(in, args[0]), std::move(fields), {}, false);
                                },
                                "A class of tuples whose items have names and types: NamedTuple('P', [('x', int), ('y', float)])."};
  return f;
}

}  // namespace gasell
