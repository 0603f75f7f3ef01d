#include "runtime/session/class.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/class_builtin.h"
#include "runtime/session/class_members.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/set.h"
#include "runtime/session/type_unions.h"
#include "runtime/session/types.h"

namespace gasell {

// ---- members ----

namespace {
constexpr size_t kShort = 8;

/// Special methods that have a meaning for objects of scripts' classes, and not for exceptions.
constexpr std::string_view kOfObjects[] = {
    "__format__",   "__bool__",     "__len__",      "__hash__",      "__eq__",        "__ne__",      "__lt__",       "__le__",
    "__gt__",       "__ge__",       "__neg__",      "__pos__",       "__invert__",    "__abs__",     "__contains__", "__getitem__",
    "__setitem__",  "__delitem__",  "__iter__",     "__next__",      "__call__",      "__enter__",   "__exit__",     "__int__",
    "__float__",    "__index__",    "__getattr__",  "__setattr__",   "__delattr__",   "__get__",     "__set__",      "__delete__",
    "__new__",      "__slots__",    "__reversed__", "__round__",     "__divmod__",    "__rdivmod__", "__add__",      "__radd__",
    "__iadd__",     "__sub__",      "__rsub__",     "__isub__",      "__mul__",       "__rmul__",    "__imul__",     "__truediv__",
    "__rtruediv__", "__itruediv__", "__floordiv__", "__rfloordiv__", "__ifloordiv__", "__mod__",     "__rmod__",     "__imod__",
    "__pow__",      "__rpow__",     "__ipow__",     "__matmul__",    "__rmatmul__",   "__imatmul__", "__lshift__",   "__rlshift__",
    "__ilshift__",  "__rshift__",   "__rrshift__",  "__irshift__",   "__and__",       "__rand__",    "__iand__",     "__or__",
    "__ror__",      "__ior__",      "__xor__",      "__rxor__",      "__ixor__"};
/// Those of CPython that nothing here asks for.
constexpr std::string_view kRefused[] = {
    "__del__",   "__getattribute__", "__await__",        "__aiter__",   "__anext__",       "__aenter__",        "__aexit__",
    "__bytes__", "__complex__",      "__trunc__",        "__floor__",   "__ceil__",        "__instancecheck__", "__subclasscheck__",
    "__dir__",   "__prepare__",      "__subclasshook__", "__missing__", "__mro_entries__", "__buffer__",        "__sizeof__"};

template <size_t n>
bool is_among(std::string_view name, const std::string_view (&names)[n]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

void check_special(const std::string& name, bool exception, const Type* builtin = nullptr) {
  if (!name.starts_with("__") || !name.ends_with("__") || name.size() < 5) return;
  if (builtin && name == "__missing__" && builtin == &dict_type()) return;
  if (builtin && !is_special_of_builtin(name) && is_among(name, kOfObjects))
    raise("NotImplementedError", fmt::format("{} of a class that derives from {} is not in Gasell yet", name, builtin->name));
  if (is_among(name, kRefused) || (exception && is_among(name, kOfObjects)))
    raise("NotImplementedError",
          fmt::format("{} of a class{} is not in Gasell yet", name, exception ? " that derives from an exception" : ""));
}
}  // namespace

void Members::number() {
  index_.clear();
  if (entries_.size() <= kShort) return;
  for (size_t i = 0; i < entries_.size(); ++i) index_.emplace(entries_[i].first, i);
}

Value* Members::find_place(std::string_view name, uint32_t& place) {
  if (in_ || entries_.size() > kShort) return find(name);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].first != name) continue;
    place = static_cast<uint32_t>(i);
    return &entries_[i].second;
  }
  return nullptr;
}

Value* Members::find(std::string_view name) {
  if (in_) return dict_.as<Dict>()->find(name);
  if (entries_.size() <= kShort) {
    for (auto& [key, value] : entries_)
      if (key == name) return &value;
    return nullptr;
  }
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

void Members::set(std::string_view name, Value value) {
  if (Value* known = find(name)) {
    *known = std::move(value);
    return;
  }
  if (in_) return dict_.as<Dict>()->insert(*in_, make_str(std::string(name)), std::move(value));
  const bool moves = entries_.size() == entries_.capacity();
  entries_.emplace_back(std::string(name), std::move(value));
  if (moves || entries_.size() == kShort + 1)
    number();  // the index holds views of the names
  else if (entries_.size() > kShort)
    index_.emplace(entries_.back().first, entries_.size() - 1);
}

bool Members::remove(std::string_view name) {
  if (in_) return !dict_.as<Dict>()->take(*in_, make_str(std::string(name))).is_absent();
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == entries_.end()) return false;
  const Value kept = std::move(found->second);  // goes when the list is in order again
  entries_.erase(found);
  number();
  return true;
}

std::vector<std::pair<std::string, Value>> Members::entries() const {
  if (!in_) return entries_;
  std::vector<std::pair<std::string, Value>> result;
  for (const Dict::Entry& entry : dict_.as<Dict>()->entries())
    if (const auto* name = entry.key.as<Str>()) result.emplace_back(name->value, entry.value);
  return result;
}

const Value& Members::as_dict(Interpreter& in) {
  if (in_) return dict_;
  dict_ = make_dict();
  for (auto& [name, value] : entries_) dict_.as<Dict>()->insert(in, make_str(name), std::move(value));
  in_ = &in;
  entries_.clear();
  index_.clear();
  return dict_;
}

// ---- classes ----

std::atomic<uint64_t> class_changes = 1;

namespace {

/// CPython's order of bases: each class before its bases, and bases in the order in which they stand.
std::vector<TypeObject*> linear_order(const std::vector<Value>& bases) {
  std::vector<std::vector<TypeObject*>> lists;
  std::vector<TypeObject*> direct;
  for (const Value& base : bases) {
    auto* type = base.as<TypeObject>();
    direct.push_back(type);
    if (const auto* made = base.as<Class>()) {
      lists.push_back(made->order());
      continue;
    }
    lists.emplace_back();
    for (const Type* t = &type->described; t; t = t->base) lists.back().push_back(type_object(*t).as<TypeObject>());
  }
  lists.push_back(direct);
  std::vector<TypeObject*> order;
  while (true) {
    std::erase_if(lists, [](const auto& list) { return list.empty(); });
    if (lists.empty()) return order;
    TypeObject* next = nullptr;
    for (const auto& list : lists) {
      const bool waits = std::any_of(lists.begin(), lists.end(),
                                     [&](const auto& other) { return std::find(other.begin() + 1, other.end(), list[0]) != other.end(); });
      if (!waits) {
        next = list[0];
        break;
      }
    }
    if (!next) {
      std::string names;
      for (const TypeObject* t : direct) names += (names.empty() ? "" : ", ") + t->described.name;
      raise("TypeError", "Cannot create a consistent method resolution\norder (MRO) for bases " + names);
    }
    order.push_back(next);
    for (auto& list : lists)
      if (list[0] == next) list.erase(list.begin());
  }
}

void check_base(const Value& base) {
  const auto* type = base.as<TypeObject>();
  if (!type)
    raise("NotImplementedError", fmt::format("a class that derives from an object of type '{}' is not in Gasell yet", type_of(base).name));
  if (base.as<Class>()) return;
  const Type& described = type->described;
  const bool exception = described.derives_from(*exception_type("BaseException"));
  const bool builtin = &described == &list_type() || &described == &dict_type();
  if ((&described != &object_type() && !exception && !builtin) || described.derives_from(*exception_type("OSError")))
    raise("NotImplementedError", fmt::format("a class that derives from '{}' is not in Gasell yet", described.name));
}

/// The type that objects have derives from this one of the bases: an exception or a container, where there is one, else the first.
const Type& main_base(const std::vector<Value>& bases) {
  for (const Value& base : bases) {
    const Type& type = base.as<TypeObject>()->described;
    if (type.derives_from(*exception_type("BaseException")) || builtin_base(type)) return type;
  }
  return bases[0].as<TypeObject>()->described;
}

/// The metaclass that a class statement names: abc's alone, in library texts others too.
Value chosen_meta(const std::vector<Value>& bases, std::vector<std::pair<std::string, Value>>& keywords, const std::string& module) {
  for (auto keyword = keywords.begin(); keyword != keywords.end(); ++keyword) {
    if (keyword->first != "metaclass") continue;
    const Value meta = keyword->second;
    keywords.erase(keyword);
    const auto* made = meta.as<Class>();
    const bool known = made && (made->described.module == "abc" || module == "enum" || module == "abc");
    if (!known && !(meta.as<TypeObject>() && &meta.as<TypeObject>()->described == &type_type()))
      raise("NotImplementedError", "metaclasses are not in Gasell",
            "abc.ABCMeta alone is known; __init_subclass__ sees the classes that derive");
    if (made) return meta;
  }
  for (const Value& base : bases)
    if (const auto* made = base.as<Class>(); made && made->meta_class().as<Class>()) return made->meta_class();
  return {};
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Class::Class(Type t, std::deque<Type> further, std::string qualified_name, std::vector<Value> bases, Value meta, Members m)
    : ClassType{std::move(t)},
      TypeObject(own),
      members(std::move(m)),
      further_(std::move(further)),
      qualified_name_(std::move(qualified_name)),
      bases_(std::move(bases)),
      meta_(std::move(meta)),
      order_(linear_order(bases_)) {
  order_.insert(order_.begin(), this);
  for (TypeObject* type : order_)
    if (auto* made = dynamic_cast<Class*>(type)) classes_.push_back(made);
}

/// `others`: all types that objects pass for.
Value Class::assemble(const std::string& module, const std::string& name, const std::string& qualified_name, std::vector<Value> bases,
                      const std::vector<Value>& others, Value meta, Members members) {
  const Type& first = main_base(bases);
  std::deque<Type> further;
  const Type* second = nullptr;
  for (size_t i = others.size(); i-- > 0;) {
    const Type& other = others[i].as<TypeObject>()->described;
    if (&other == &first) continue;
    further.push_back(Type{other.name, other.module, &other});
    further.back().second_base = second;
    second = &further.back();
  }
  Type described{name, module, &first};
  described.second_base = second;
  return Value::make<Class>(std::move(described), std::move(further), qualified_name, std::move(bases), std::move(meta),
                            std::move(members));
}

Value Class::copy(const std::string& module, const std::string& name, const std::string& qualified_name, std::vector<Value> bases,
                  Value meta) {
  ++class_changes;
  const std::vector<Value> others = bases;
  return assemble(module, name, qualified_name, std::move(bases), others, std::move(meta), Members());
}

void Class::set_members(Interpreter& in, std::vector<std::pair<std::string, Value>> entries) {
  ++class_changes;
  for (auto& [name, value] : entries) members.set(name, std::move(value));
  slots_.clear();
  abstract_.clear();
  take_slots(in);
  find_abstract(in);
}

Value Class::make(Interpreter& in, const std::string& module, const std::string& name, const std::string& qualified_name,
                  std::vector<Value> bases, std::vector<std::pair<std::string, Value>> keywords, Members members, Value* own_class) {
  ++class_changes;
  if (bases.empty()) bases.push_back(type_object(object_type()));
  for (size_t i = 0; i < bases.size(); ++i) {
    check_base(bases[i]);
    for (size_t k = 0; k < i; ++k)
      if (bases[k].same(bases[i])) raise("TypeError", "duplicate base class " + bases[i].as<TypeObject>()->described.name);
  }
  Value meta = chosen_meta(bases, keywords, module);
  // What objects of a library's class pass for beside, though they are none: int of enum's.
  std::vector<Value> others = bases;
  if (module == "enum")
    std::erase_if(keywords, [&](const auto& keyword) {
      if (keyword.first == "acts_as") others.push_back(keyword.second);
      return keyword.first == "acts_as";
    });
  const Type& first = main_base(bases);
  const Type* const container = builtin_base(first);
  const bool exception = first.derives_from(*exception_type("BaseException"));
  for (const auto& [member, value] : members.entries()) {
    check_special(member, exception, container);
    name_member(value, member);
  }
  for (const char* implicit : {"__init_subclass__", "__class_getitem__"})
    if (Value* found = members.find(implicit); found && found->as<Function>())
      *found = gasell::call(in, type_object(class_method_type()), {{*found}, {}});
  if (Value* found = members.find("__new__"); found && found->as<Function>())
    *found = gasell::call(in, type_object(static_method_type()), {{*found}, {}});
  if (members.find("__eq__") && !members.find("__hash__")) members.set("__hash__", Value());
  const Value result = assemble(module, name, qualified_name, std::move(bases), others, std::move(meta), std::move(members));
  auto& made = *result.as<Class>();
  if (own_class) *own_class = result;
  made.take_slots(in);
  made.find_abstract(in);
  for (const auto& [member, value] : made.members.entries()) {
    const auto* object = value.as<Instance>();
    if (object && object->made_by().find("__set_name__"))
      gasell::call(in, gasell::get_attribute(in, value, "__set_name__"), {{result, make_str(member)}, {}});
  }
  if (const Value* hook = made.find_behind(made, "__init_subclass__")) {
    gasell::call(in, bound_member(in, *hook, Value::absent(), result), {{}, std::move(keywords)});
  } else if (!keywords.empty()) {
    raise("TypeError", name + ".__init_subclass__() takes no keyword arguments");
  }
  made.of_meta(in, "_created", {});
  return result;
}

const Type& Class::type() const { return meta_.is_none() ? TypeObject::type() : meta_.as<Class>()->described; }

const Value* Class::find(std::string_view name) {
  for (Class* c : classes_)
    if (const Value* found = c->members.find(name)) return found;
  return nullptr;
}

const Value* Class::find_behind(const Class& start, std::string_view name) {
  auto c = std::find(classes_.begin(), classes_.end(), &start);
  if (c == classes_.end()) return nullptr;
  for (++c; c != classes_.end(); ++c)
    if (const Value* found = (*c)->members.find(name)) return found;
  return nullptr;
}

bool Class::is_exception() const { return described.derives_from(*exception_type("BaseException")); }

/// What the method of the class's class gives; absent where there is none.
Value Class::of_meta(Interpreter& in, std::string_view name, std::vector<Value> args) {
  const Value* found = meta_.is_none() ? nullptr : meta_.as<Class>()->find(name);
  if (!found) return Value::absent();
  args.insert(args.begin(), Value::of(this));
  const Value kept = *found;
  return gasell::call(in, kept, {std::move(args), {}});
}

void Class::take_slots(Interpreter& in) {
  restricted_ = !is_exception() && !builtin_base(described) &&
                std::all_of(classes_.begin(), classes_.end(), [](Class* c) { return c->members.find("__slots__"); });
  const Value* given = members.find("__slots__");
  if (!given) return;
  const std::vector<Value> names = given->as<Str>() ? std::vector<Value>{*given} : to_vector(in, *given);
  for (const Value& slot : names) {
    const auto* text = slot.as<Str>();
    if (!text) raise("TypeError", "__slots__ items must be strings, not '" + type_of(slot).name + "'");
    if (members.find(text->value)) raise("ValueError", "'" + text->value + "' in __slots__ conflicts with class variable");
    slots_.push_back(text->value);
    if (text->value == "__dict__") restricted_ = false;
  }
}

bool Class::allows(std::string_view name) const {
  if (!restricted_) return true;
  return std::any_of(classes_.begin(), classes_.end(),
                     [&](const Class* c) { return std::find(c->slots_.begin(), c->slots_.end(), name) != c->slots_.end(); });
}

void Class::find_abstract(Interpreter& in) {
  if (meta_.is_none() || meta_.as<Class>()->described.module != "abc") return;
  std::vector<std::string> candidates;
  for (const Class* c : classes_)
    if (c != this) candidates.insert(candidates.end(), c->abstract_.begin(), c->abstract_.end());
  for (const auto& [name, value] : members.entries()) candidates.push_back(name);
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (std::string& name : candidates)
    if (const Value* found = find(name); found && is_abstract(in, *found)) abstract_.push_back(std::move(name));
}

std::string Class::repr(Interpreter& in) {
  if (const Value text = of_meta(in, "__repr__", {}); text.as<Str>()) return text.as<Str>()->value;
  return "<class '" + described.module + "." + qualified_name_ + "'>";
}

Value Class::make_instance(std::vector<Value> args) {
  if (!abstract_.empty())
    raise("TypeError", fmt::format("Can't instantiate abstract class {} with abstract method{} {}", described.name,
                                   abstract_.size() == 1 ? "" : "s", listed(abstract_)));
  if (const Type* container = builtin_base(described))
    return container == &list_type() ? Value::make<ListInstance>(Value::of(this)) : Value::make<DictInstance>(Value::of(this));
  return is_exception() ? Value::make<ExceptionInstance>(Value::of(this), std::move(args)) : Value::make<Instance>(Value::of(this));
}

Value Class::call(Interpreter& in, Arguments args) {
  if (!meta_.is_none() && meta_.as<Class>()->find("__call__")) {
    const Value kept = *meta_.as<Class>()->find("__call__");
    args.positional.insert(args.positional.begin(), Value::of(this));
    return gasell::call(in, kept, std::move(args));
  }
  const Value* initialise = find("__init__");
  Value made;
  if (const Value* maker = find("__new__")) {
    const Value kept = bound_member(in, *maker, Value::absent(), Value::of(this));
    Arguments given = args;
    given.positional.insert(given.positional.begin(), Value::of(this));
    made = gasell::call(in, kept, std::move(given));
    if (!is_instance(made, described)) return made;
    initialise = user_object(made)->made_by().find("__init__");
  } else {
    const bool exception = is_exception();
    if (!initialise && builtin_base(described)) {
      made = make_instance({});
      fill_builtin(in, made, std::move(args));
      return made;
    }
    if (!initialise && exception && !args.keywords.empty()) raise("TypeError", described.name + "() takes no keyword arguments");
    if (!initialise && !exception && !(args.positional.empty() && args.keywords.empty()))
      raise("TypeError", described.name + "() takes no arguments");
    made = make_instance(exception ? args.positional : std::vector<Value>{});
  }
  if (!initialise) return made;
  const Value kept = *initialise;  // the call may replace it
  Value result;
  if (kept.as<Function>()) {
    args.positional.insert(args.positional.begin(), made);
    result = gasell::call(in, kept, std::move(args));
  } else {
    result = gasell::call(in, bound_member(in, kept, made, Value::of(this)), std::move(args));
  }
  if (!result.is_none()) raise("TypeError", "__init__() should return None, not '" + type_of(result).name + "'");
  return made;
}

Value Class::construct(Session& session, std::span<Value> positional) {
  const uint64_t changes = class_changes.load(std::memory_order_relaxed);
  if (construct_changes_ != changes) {
    construct_changes_ = changes;
    const Value* initialise = find("__init__");
    const bool plain = initialise && initialise->as<Function>() && !find("__new__") && !is_exception() && !builtin_base(described) &&
                       abstract_.empty() && (meta_.is_none() || !meta_.as<Class>()->find("__call__"));
    plain_initialiser_ = plain ? initialise->as<Function>() : nullptr;
  }
  if (!plain_initialiser_) {
    Arguments arguments;
    arguments.positional.assign(std::make_move_iterator(positional.begin()), std::make_move_iterator(positional.end()));
    return call(session.in, std::move(arguments));
  }
  const Value kept = Value::of(const_cast<Function*>(plain_initialiser_));
  Value made = Value::make<Instance>(Value::of(this));
  StackValues values(session.stack, positional.size() + 1);
  values[0] = made;
  for (size_t i = 0; i < positional.size(); ++i) values[i + 1] = std::move(positional[i]);
  const Value result = call_function(session, *kept.as<Function>(), values.span());
  if (!result.is_none()) raise("TypeError", "__init__() should return None, not '" + type_of(result).name + "'");
  return made;
}

Value Class::iterate(Interpreter& in) {
  const Value items = of_meta(in, "__iter__", {});
  return items.is_absent() ? TypeObject::iterate(in) : gasell::iterate(in, items);
}
int64_t Class::length(Interpreter& in) {
  const Value count = of_meta(in, "__len__", {});
  return count.is_absent() ? TypeObject::length(in) : gasell::to_index(in, count);
}
bool Class::contains(Interpreter& in, const Value& item) {
  const Value found = of_meta(in, "__contains__", {item});
  return found.is_absent() ? TypeObject::contains(in, item) : gasell::truth(in, found);
}
Value Class::get_item(Interpreter& in, const Value& index) {
  Value item = of_meta(in, "__getitem__", {index});
  if (!item.is_absent()) return item;
  const Value* found = find("__class_getitem__");
  if (!found) raise("TypeError", fmt::format("type '{}' is not subscriptable", described.name));
  return gasell::call(in, bound_member(in, *found, Value::absent(), Value::of(this)), {{index}, {}});
}
std::optional<Value> Class::binary(Interpreter&, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::bit_or) return {};
  return type_union(Value::of(this), other);
}
std::optional<Value> Class::reflected(Interpreter&, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::bit_or) return {};
  return type_union(other, Value::of(this));
}

std::optional<Value> Class::get_attribute(Interpreter& in, std::string_view name) {
  if (name == "__name__") return make_str(described.name);
  if (name == "__qualname__") return make_str(qualified_name_);
  if (name == "__module__") return make_str(described.module);
  if (name == "__doc__") {
    const Value* doc = members.find(name);
    return doc ? *doc : Value();
  }
  if (name == "__base__") return bases_[0];
  if (name == "__bases__") return make_tuple(bases_);
  if (name == "__mro__") {
    std::vector<Value> order;
    for (TypeObject* type : order_) order.push_back(Value::of(type));
    return make_tuple(std::move(order));
  }
  if (name == "__dict__") return class_dict(in, *this);
  if (name == "__abstractmethods__" && !meta_.is_none() && meta_.as<Class>()->described.module == "abc") {
    std::vector<Value> names;
    for (const std::string& abstract : abstract_) names.push_back(make_str(abstract));
    return make_set(in, make_tuple(std::move(names)), true);
  }
  if (const Value* found = find(name)) return bound_member(in, *found, Value::absent(), Value::of(this));
  if (const Value* found = meta_.is_none() ? nullptr : meta_.as<Class>()->find(name))
    return bound_member(in, *found, Value::of(this), meta_);
  if (name == "__class__" && !meta_.is_none()) return meta_;
  if (auto found = TypeObject::get_attribute(in, name)) return found;
  Value other = of_meta(in, "__getattr__", {make_str(std::string(name))});
  return other.is_absent() ? std::optional<Value>() : std::move(other);
}

void Class::set_attribute(Interpreter& in, std::string_view name, const Value& value) {
  ++class_changes;
  if (!of_meta(in, "__setattr__", {make_str(std::string(name)), value}).is_absent()) return;
  check_special(std::string(name), is_exception(), builtin_base(described));
  members.set(name, value);
}

std::vector<std::string> Class::attribute_names(Interpreter&) {
  std::vector<std::string> names;
  for (auto c = classes_.rbegin(); c != classes_.rend(); ++c)
    for (const auto& [name, value] : (*c)->members.entries()) names.push_back(name);
  return names;
}

// ---- attributes of objects ----

UserObject* user_object(const Value& v) {
  if (auto* instance = v.as<Instance>()) return instance;
  if (auto* exception = v.as<ExceptionInstance>()) return exception;
  if (auto* list = v.as<ListInstance>()) return list;
  return v.as<DictInstance>();
}

std::optional<Value> find_member(Interpreter& in, UserObject& object, const Value& self, std::string_view name) {
  const Value* of_class = object.made_by().find(name);
  if (of_class && is_property(*of_class)) return bound_member(in, *of_class, self, object.made_by_value);
  if (const Value* own = object.members.find(name)) return *own;
  if (of_class) return bound_member(in, *of_class, self, object.made_by_value);
  if (name == "__class__") return object.made_by_value;
  if (name == "__module__") return make_str(object.made_by().described.module);
  if (name == "__doc__") return Value();
  if (name == "__dict__" && object.made_by().allows(name)) return object.members.as_dict(in);
  if (name == "__new__") return object.made_by().get_attribute(in, name);
  if (const NativeFunction* method = method_of_object(name, object.made_by().is_exception())) return Value::make<Builtin>(*method, self);
  return {};
}

namespace {

std::vector<std::string> names_of_object(Interpreter& in, UserObject& object) {
  std::vector<std::string> names = object.made_by().attribute_names(in);
  for (const auto& [name, value] : object.members.entries()) names.push_back(name);
  return names;
}

/// Iterates by object[0], object[1], … to the IndexError.
class ItemIterator final : public Object {
 public:
  explicit ItemIterator(Value items) : items_(std::move(items)) {}
  const Type& type() const override {
    static const Type type{"iterator", "builtins", &object_type()};
    return type;
  }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter& in) override {
    if (items_.is_none()) return {};
    try {
      return gasell::get_item(in, items_, Value::of(at_++));
    } catch (const Raised& raised) {
      if (!is_instance(raised.value, *exception_type("IndexError")) && !is_instance(raised.value, *exception_type("StopIteration"))) throw;
      items_ = Value();
      return {};
    }
  }

 private:
  Value items_;
  int64_t at_ = 0;
};

struct OperatorNames {
  const char *plain, *reflected, *in_place;
};
constexpr OperatorNames kBinary[] = {{"__add__", "__radd__", "__iadd__"},
                                     {"__sub__", "__rsub__", "__isub__"},
                                     {"__mul__", "__rmul__", "__imul__"},
                                     {"__truediv__", "__rtruediv__", "__itruediv__"},
                                     {"__floordiv__", "__rfloordiv__", "__ifloordiv__"},
                                     {"__mod__", "__rmod__", "__imod__"},
                                     {"__pow__", "__rpow__", "__ipow__"},
                                     {"__matmul__", "__rmatmul__", "__imatmul__"},
                                     {"__lshift__", "__rlshift__", "__ilshift__"},
                                     {"__rshift__", "__rrshift__", "__irshift__"},
                                     {"__and__", "__rand__", "__iand__"},
                                     {"__or__", "__ror__", "__ior__"},
                                     {"__xor__", "__rxor__", "__ixor__"}};
constexpr const char* kCompare[] = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"};

std::optional<Value> answer(Value value) {
  if (value.is_absent() || value.same(not_implemented())) return {};
  return value;
}

/// NumPy and pandas take such an object as a scalar of dtype object; its own methods must not see the whole array in its place.
void refuse_array(const Value& other) {
  const Type& type = type_of(other);
  if (type.name == "ndarray" || type.module.starts_with("pandas"))
    raise("NotImplementedError", fmt::format("operators between {} and objects of a script's class are not in Gasell", type.name));
}

std::string text_of(const Value& v, const char* method) {
  if (const auto* text = v.as<Str>()) return text->value;
  raise("TypeError", fmt::format("{} returned non-string (type {})", method, type_of(v).name));
}

}  // namespace

void set_member(Interpreter& in, const Value& self, std::string_view name, const Value& value) {
  UserObject& object = *user_object(self);
  const Value* of_class = object.made_by().find(name);
  if (of_class && is_property(*of_class)) return set_property(in, *of_class, self, name, value);
  if (name == "__class__" || name == "__dict__") raise("NotImplementedError", fmt::format("assigning {} is not in Gasell", name));
  if (!object.made_by().allows(name)) {
    if (of_class) raise("AttributeError", fmt::format("'{}' object attribute '{}' is read-only", object.made_by().described.name, name));
    raise("AttributeError", fmt::format("'{}' object has no attribute '{}'", object.made_by().described.name, name));
  }
  object.members.set(name, value);
}

bool is_iterable(const Value& v) {
  if (!v.is_object()) return false;
  auto* object = v.as<Instance>();
  return !object || object->made_by().find("__iter__") || object->made_by().find("__getitem__");
}

void delete_attribute(Interpreter& in, const Value& v, std::string_view name) {
  if (auto* c = v.as<Class>()) {
    ++class_changes;
    if (!c->members.remove(name)) raise("AttributeError", fmt::format("type object '{}' has no attribute '{}'", c->described.name, name));
    return;
  }
  if (auto* module = v.as<Module>()) {
    if (auto found = module->members.find(name); found != module->members.end()) {
      module->members.erase(found);
      return;
    }
  }
  auto* object = user_object(v);
  if (!object) {
    get_attribute(in, v, name);
    raise("AttributeError", fmt::format("'{}' object attribute '{}' is read-only", type_of(v).name, name));
  }
  if (const Value* own = object->made_by().find("__delattr__"); own && v.as<Instance>()) {
    call(in, bound_member(in, *own, v, object->made_by_value), {{make_str(std::string(name))}, {}});
    return;
  }
  delete_member(in, v, name);
}

void delete_member(Interpreter& in, const Value& v, std::string_view name) {
  UserObject& object = *user_object(v);
  const Value* of_class = object.made_by().find(name);
  if (of_class && is_property(*of_class)) return set_property(in, *of_class, v, name, Value::absent());
  if (!object.members.remove(name))
    raise("AttributeError", of_class ? std::string(name) : fmt::format("'{}' object has no attribute '{}'", type_of(v).name, name));
}

// ---- objects ----

Value Instance::special(Interpreter& in, std::string_view name, std::initializer_list<Value> args) {
  const Value* found = made_by().find(name);
  if (!found) return Value::absent();
  const Value self = Value::of(this), kept = *found;
  if (const auto* function = kept.as<Function>()) {
    Session& session = Evaluator::session(in);
    StackValues values(session.stack, args.size() + 1);
    values[0] = self;
    std::copy(args.begin(), args.end(), values.begin() + 1);
    return call_function(session, *function, values.span());
  }
  return gasell::call(in, bound_member(in, kept, self, made_by_value), {args, {}});
}

const Function* Instance::plain_method(std::string_view name, ClassLookup& lookup) {
  lookup.look(made_by(), name);
  const Value* found = lookup.found;
  if (!found || !found->is_object() || typeid(*found->object()) != typeid(Function) || members.find(name, lookup.place)) return nullptr;
  return static_cast<Function*>(found->object());
}

Value* Instance::own_attribute(std::string_view name, ClassLookup& lookup) {
  lookup.look(made_by(), name);
  return lookup.property ? nullptr : members.find(name, lookup.place);
}

bool Instance::set_own_attribute(std::string_view name, const Value& value, ClassLookup& lookup) {
  lookup.look(made_by(), name);
  if (!lookup.sets) return false;
  if (Value* own = members.find(name, lookup.place)) {
    *own = value;
  } else {
    members.set(name, value);
  }
  return true;
}

void ClassLookup::find(Class& c, std::string_view name) {
  made_by = &c;
  changes = class_changes.load(std::memory_order_relaxed);
  found = c.find(name);
  property = found && is_property(*found);
  sets = !property && !c.find("__setattr__") && c.allows(name) && name != "__class__" && name != "__dict__";
}

std::string Instance::repr(Interpreter& in) {
  const Value text = special(in, "__repr__");
  if (!text.is_absent()) return text_of(text, "__repr__");
  std::string name = made_by().repr(in);
  return fmt::format("<{} object at {}>", name.substr(8, name.size() - 10), static_cast<const void*>(this));
}
std::string Instance::str(Interpreter& in) {
  const Value text = special(in, "__str__");
  return text.is_absent() ? repr(in) : text_of(text, "__str__");
}
std::string Instance::format(Interpreter& in, std::string_view spec) {
  const Value text = special(in, "__format__", {make_str(std::string(spec))});
  if (text.is_absent()) return Object::format(in, spec);
  if (!text.as<Str>()) raise("TypeError", "__format__ must return a str, not " + type_of(text).name);
  return text.as<Str>()->value;
}
bool Instance::truth(Interpreter& in) {
  const Value value = special(in, "__bool__");
  if (!value.is_absent()) {
    if (!value.is_bool()) raise("TypeError", "__bool__ should return bool, returned " + type_of(value).name);
    return value.as_int() != 0;
  }
  return !made_by().find("__len__") || length(in) != 0;
}
int64_t Instance::hash(Interpreter& in) {
  const Value* found = made_by().find("__hash__");
  if (!found) return Object::hash(in);
  if (found->is_none()) raise("TypeError", "unhashable type: '" + type().name + "'");
  const Value value = special(in, "__hash__");
  if (!value.is_int() && !value.is_bool()) {
    if (value.is_object() && value.object()->type().derives_from(int_type())) return gasell::hash(in, value);
    raise("TypeError", "__hash__ method should return an integer");
  }
  return value.as_int() == -1 ? -2 : value.as_int();
}

std::optional<Value> Instance::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  if (op > ast::CompareOp::ge) return {};
  refuse_array(other);
  if (op == ast::CompareOp::ne && !made_by().find("__ne__")) {
    const std::optional<Value> same = answer(special(in, "__eq__", {other}));
    if (!same) return {};
    return Value::of(!gasell::truth(in, *same));
  }
  return answer(special(in, kCompare[static_cast<int>(op)], {other}));
}
std::optional<Value> Instance::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  const OperatorNames& names = kBinary[static_cast<int>(op)];
  // A class that derives from this one and says otherwise goes first.
  if (auto* right = other.as<Instance>(); right && &right->made_by() != &made_by() && right->type().derives_from(type())) {
    const Value *its = right->made_by().find(names.reflected), *mine = made_by().find(names.reflected);
    if (its && (!mine || !its->same(*mine)))
      if (auto result = answer(right->special(in, names.reflected, {Value::of(this)}))) return result;
  }
  return answer(special(in, names.plain, {other}));
}
std::optional<Value> Instance::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  refuse_array(other);
  const auto* left = other.as<Instance>();
  if (left && &left->made_by() == &made_by()) return {};
  return answer(special(in, kBinary[static_cast<int>(op)].reflected, {other}));
}
std::optional<Value> Instance::in_place(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return answer(special(in, kBinary[static_cast<int>(op)].in_place, {other}));
}
Value Instance::unary(Interpreter& in, ast::UnaryOp op) {
  Value result = special(in, op == ast::UnaryOp::neg ? "__neg__" : op == ast::UnaryOp::pos ? "__pos__" : "__invert__");
  return result.is_absent() ? Object::unary(in, op) : result;
}
int64_t Instance::length(Interpreter& in) {
  const Value value = special(in, "__len__");
  if (value.is_absent()) return Object::length(in);
  const int64_t count = gasell::to_index(in, value);
  if (count < 0) raise("ValueError", "__len__() should return >= 0");
  return count;
}
bool Instance::contains(Interpreter& in, const Value& item) {
  const Value found = special(in, "__contains__", {item});
  return found.is_absent() ? Object::contains(in, item) : gasell::truth(in, found);
}
Value Instance::get_item(Interpreter& in, const Value& index) {
  Value item = special(in, "__getitem__", {index});
  return item.is_absent() ? Object::get_item(in, index) : item;
}
void Instance::set_item(Interpreter& in, const Value& index, const Value& value) {
  if (special(in, "__setitem__", {index, value}).is_absent()) Object::set_item(in, index, value);
}
void Instance::delete_item(Interpreter& in, const Value& index) {
  if (special(in, "__delitem__", {index}).is_absent()) Object::delete_item(in, index);
}
Value Instance::iterate(Interpreter& in) {
  Value iterator = special(in, "__iter__");
  if (iterator.is_absent()) return made_by().find("__getitem__") ? Value::make<ItemIterator>(Value::of(this)) : Object::iterate(in);
  if (auto* instance = iterator.as<Instance>()) {
    if (!instance->made_by().find("__next__"))
      raise("TypeError", fmt::format("iter() returned non-iterator of type '{}'", instance->type().name));
    return iterator;
  }
  if (!iterator.is_object() || iterator.as<Str>() || iterator.as<List>() || iterator.as<Tuple>() || iterator.as<Dict>())
    raise("TypeError", fmt::format("iter() returned non-iterator of type '{}'", type_of(iterator).name));
  return gasell::iterate(in, iterator);
}
std::optional<Value> Instance::next(Interpreter& in) {
  try {
    Value item = special(in, "__next__");
    return item.is_absent() ? Object::next(in) : std::optional(std::move(item));
  } catch (const Raised& raised) {
    if (!is_instance(raised.value, *exception_type("StopIteration"))) throw;
    return {};
  }
}
Value Instance::call(Interpreter& in, Arguments args) {
  const Value* found = made_by().find("__call__");
  if (!found) return Object::call(in, std::move(args));
  return gasell::call(in, bound_member(in, *found, Value::of(this), made_by_value), std::move(args));
}

std::optional<Value> Instance::get_attribute(Interpreter& in, std::string_view name) {
  const bool falls_back = made_by().find("__getattr__");
  if (!falls_back) return find_member(in, *this, Value::of(this), name);
  try {
    if (auto found = find_member(in, *this, Value::of(this), name)) return found;
  } catch (const Raised& raised) {  // a property's AttributeError counts too
    if (!is_instance(raised.value, *exception_type("AttributeError"))) throw;
  }
  return special(in, "__getattr__", {make_str(std::string(name))});
}
void Instance::set_attribute(Interpreter& in, std::string_view name, const Value& value) {
  if (made_by().find("__setattr__")) {
    special(in, "__setattr__", {make_str(std::string(name)), value});
    return;
  }
  set_member(in, Value::of(this), name, value);
}
std::vector<std::string> Instance::attribute_names(Interpreter& in) { return names_of_object(in, *this); }

Value Instance::enter(Interpreter& in) {
  if (!made_by().find("__exit__") && made_by().find("__enter__"))
    raise("TypeError", "'" + type().name + "' object does not support the context manager protocol (missed __exit__ method)");
  Value entered = special(in, "__enter__");
  return entered.is_absent() ? Object::enter(in) : entered;
}
bool Instance::exit(Interpreter& in, const Value& exception) {
  const Value kind = exception.is_none() ? Value() : gasell::get_attribute(in, exception, "__class__");
  return gasell::truth(in, special(in, "__exit__", {kind, exception, Value()}));
}
std::optional<Value> Instance::to_int(Interpreter& in) {
  if (auto value = answer(special(in, "__int__"))) return value;
  return answer(special(in, "__index__"));
}
std::optional<Value> Instance::to_float(Interpreter& in) {
  if (auto value = answer(special(in, "__float__"))) return value;
  return answer(special(in, "__index__"));
}
std::optional<int64_t> Instance::to_index(Interpreter& in) {
  const Value value = special(in, "__index__");
  if (value.is_absent()) return {};
  if (!value.is_int() && !value.is_bool()) raise("TypeError", "__index__ returned non-int (type " + type_of(value).name + ")");
  return value.as_int();
}

// ---- exceptions ----

std::string ExceptionInstance::repr(Interpreter& in) {
  const Value* found = made_by().find("__repr__");
  if (!found) return Exception::repr(in);
  return text_of(gasell::call(in, bound_member(in, *found, Value::of(this), made_by_value), {}), "__repr__");
}
std::string ExceptionInstance::str(Interpreter& in) {
  const Value* found = made_by().find("__str__");
  if (!found) return Exception::str(in);
  return text_of(gasell::call(in, bound_member(in, *found, Value::of(this), made_by_value), {}), "__str__");
}
std::optional<Value> ExceptionInstance::get_attribute(Interpreter& in, std::string_view name) {
  if (auto found = find_member(in, *this, Value::of(this), name)) return found;
  return Exception::get_attribute(in, name);
}
void ExceptionInstance::set_attribute(Interpreter& in, std::string_view name, const Value& value) {
  const bool built_in = name == "args" || name.starts_with("__");
  if (built_in && !made_by().find(name)) return Exception::set_attribute(in, name, value);
  set_member(in, Value::of(this), name, value);
}
std::vector<std::string> ExceptionInstance::attribute_names(Interpreter& in) {
  std::vector<std::string> names = names_of_object(in, *this);
  for (std::string& name : Exception::attribute_names(in)) names.push_back(std::move(name));
  return names;
}

}  // namespace gasell
