#include "runtime/session/class.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/class_builtin.h"
#include "runtime/session/class_members.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/script_call.h"
#include "runtime/session/set.h"
#include "runtime/session/type_unions.h"
#include "runtime/session/types.h"

namespace gasell {

namespace {

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
constexpr std::string_view kRefused[] = {"__del__",           "__getattribute__", "__await__",   "__aiter__",        "__anext__",
                                         "__aenter__",        "__aexit__",        "__bytes__",   "__complex__",      "__instancecheck__",
                                         "__subclasscheck__", "__dir__",          "__prepare__", "__subclasshook__", "__missing__",
                                         "__mro_entries__",   "__buffer__",       "__sizeof__"};

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
  const Value result = attempt_filled(session, *plain_initialiser_, positional.size() + 1, [&](std::span<Value> values) {
    values[0] = made;
    for (size_t i = 0; i < positional.size(); ++i) values[i + 1] = std::move(positional[i]);
    return true;
  });
  if (result.is_absent() && !session.raised.is_none()) throw_raised(session);
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

}  // namespace gasell
