#include "runtime/session/packing.h"

#include <algorithm>
#include <atomic>
#include <typeindex>

#include "runtime/session/packed_objects.h"
#include "runtime/session/range.h"
#include "runtime/session/set.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

/// Objects within objects; a chain that is longer does not cross.
constexpr int kDeepest = 1000;

std::unordered_map<std::type_index, CarriedType>& carried_types() {
  static auto& types = *new std::unordered_map<std::type_index, CarriedType>;
  return types;
}

/// Of a class, in all sessions of the process that it comes to.
uint64_t next_class_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

FunctionText text_of(const FunctionCode& code) { return {code.name, code.qualified_name, code.source, code.definition, code.lambda}; }

bool is_text(const Value& v) { return v.exactly<Str>(); }
bool is_plain_key(const Value& v) { return !v.is_object() || is_text(v); }

}  // namespace

const Type& Packed::type() const {
  static const Type type{"packed", "builtins", &object_type()};
  return type;
}

void register_carried(const std::type_info& type, CarriedType how) { carried_types()[std::type_index(type)] = how; }

void Packing::refuse(const Object& object) const { throw NotCarried{object.type().name}; }

Value Packing::named_in_library(Object& object) {
  const auto* name = carrier.library_name(Value::of(&object));
  if (!name) refuse(object);
  return make<PackedLibraryName>(*name);
}

Value Packing::keep(Object& object, Value made) { return packed_.emplace(&object, std::move(made)).first->second; }

Value Packing::pack(const Value& value) {
  if (!value.is_object()) return value;
  struct Depth {
    explicit Depth(Packing& p) : packing(p) {
      if (++packing.depth_ > kDeepest) throw NotCarried{"a deep chain of objects"};
    }
    ~Depth() { --packing.depth_; }
    Packing& packing;
  } depth(*this);
  return pack_object(value);
}

Value Packing::pack_object(const Value& value) {
  Object& object = *value.object();
  const std::type_info& type = typeid(object);
  if (type == typeid(Str)) return make_str(static_cast<Str&>(object).value);
  if (const auto known = packed_.find(&object); known != packed_.end()) return known->second;
  if (type == typeid(Tuple)) {
    std::vector<Value> items;
    items.reserve(static_cast<Tuple&>(object).items.size());
    for (const Value& item : static_cast<Tuple&>(object).items) items.push_back(pack(item));
    return make_tuple(std::move(items));
  }
  if (type == typeid(List)) return list(static_cast<List&>(object));
  if (type == typeid(Dict)) return dict(static_cast<Dict&>(object));
  if (type == typeid(Set)) return set(static_cast<Set&>(object));
  if (type == typeid(Function)) return function(static_cast<Function&>(object));
  if (type == typeid(Builtin)) {
    const auto& builtin = static_cast<Builtin&>(object);
    return make<PackedBuiltin>(builtin.function, builtin.self ? pack(*builtin.self) : Value::absent());
  }
  if (type == typeid(TypeObject)) return type_object(static_cast<TypeObject&>(object).described);
  if (value.same(ellipsis()) || value.same(not_implemented())) return value;
  if (type == typeid(Range)) {
    const auto& range = static_cast<Range&>(object);
    return Value::make<Range>(range.start, range.stop, range.step);
  }
  if (type == typeid(Complex)) return Value::make<Complex>(static_cast<Complex&>(object).value);
  if (type == typeid(SliceObject)) {
    const auto& slice = static_cast<SliceObject&>(object);
    return Value::make<SliceObject>(pack(slice.start), pack(slice.stop), pack(slice.step));
  }
  if (type == typeid(Class)) return class_object(static_cast<Class&>(object));
  if (type == typeid(Instance)) return instance(static_cast<Instance&>(object));
  if (auto* raised = dynamic_cast<Exception*>(&object)) return exception(*raised);
  if (const auto known = carried_types().find(std::type_index(type)); known != carried_types().end()) return further(object, known->second);
  if (const auto* m = dynamic_cast<Module*>(&object)) return module(value, *m);
  if (const auto* built_in = dynamic_cast<TypeObject*>(&object); built_in && type_object(built_in->described).object() == &object)
    return value;
  refuse(object);
}

Value Packing::list(List& l) {
  may_change();
  Value made = keep(l, make_list({}));
  auto& items = static_cast<List*>(made.object())->items;
  items.reserve(l.items.size());
  for (size_t k = 0; k < l.items.size(); ++k) items.push_back(pack(l.items[k]));
  return made;
}

Value Packing::set(Set& s) {
  if (!s.frozen()) may_change();
  Value made = make<PackedSet>();
  auto& packed = static_cast<PackedSet&>(*made.object());
  packed.frozen = s.frozen();
  for (const Value& item : s.items()) packed.items.push_back(pack(item));
  return keep(s, std::move(made));
}

Value Packing::instance(Instance& i) {
  const bool enumerated = is_enumeration(i.made_by()) && !open_classes_.count(&i.made_by());
  const Value* name = enumerated ? i.members.find("_name_") : nullptr;
  if (name && name->as<Str>()) return make<PackedEnumMember>(pack(i.made_by_value), name->as<Str>()->value);
  may_change();
  Value made = keep(i, make<PackedInstance>());
  auto& packed = static_cast<PackedInstance&>(*made.object());
  packed.made_by = pack(i.made_by_value);
  for (const auto& [attribute, member] : i.members.entries()) packed.members.emplace_back(attribute, pack(member));
  return made;
}

Value Packing::exception(Exception& e) {
  Value made = keep(e, make<PackedException>());
  auto& packed = static_cast<PackedException&>(*made.object());
  packed.type = &e.type();
  if (auto* own = dynamic_cast<ExceptionInstance*>(&e)) {
    packed.made_by = pack(own->made_by_value);
    for (const auto& [name, member] : own->members.entries()) packed.members.emplace_back(name, pack(member));
  } else if (typeid(e) != typeid(Exception)) {
    refuse(e);
  }
  for (const Value& a : e.args) packed.args.push_back(pack(a));
  packed.hint = e.hint;
  packed.cause = pack(e.cause);
  packed.context = pack(e.context);
  packed.suppress_context = e.suppress_context;
  // Sessions count their own activations, from 1: a frame of another session is none of the receiver's.
  for (const Exception::Frame& frame : e.traceback) packed.traceback.push_back({frame.source, frame.span, frame.function});
  packed.primary = e.primary;
  packed.labels = e.labels;
  packed.blame = e.blame;
  return made;
}

Value Packing::further(Object& object, const CarriedType& how) {
  if (how.may_change) may_change();
  if (how.pack) return keep(object, how.pack(*this, object));
  Value made = make<PackedMade>();
  auto& packed = static_cast<PackedMade&>(*made.object());
  packed.make = how.make;
  for (const Value& part : how.parts(in, object)) packed.parts.push_back(pack(part));
  return keep(object, std::move(made));
}

Value Packing::module(const Value& value, const Module& m) {
  for (const auto& [name, loaded] : carrier.session().loaded)
    if (loaded.same(value) && name == m.name) return make<PackedModule>(name);
  for (const ModuleDefinition& definition : carrier.session().modules.modules)  // np.linalg: a part of a known one
    if (m.name.starts_with(definition.name + ".")) return make<PackedModule>(m.name);
  refuse(m);
}

Value Packing::dict(Dict& d) {
  may_change();
  const bool plain = std::ranges::all_of(d.entries(), [](const Dict::Entry& e) { return is_plain_key(e.key); });
  Value made = keep(d, plain ? make_dict() : make<PackedDict>());
  for (size_t k = 0; k < d.entries().size(); ++k) {
    if (d.entries()[k].key.is_absent()) continue;
    Value key = pack(d.entries()[k].key);
    Value value = pack(d.entries()[k].value);
    if (plain)
      made.as<Dict>()->insert(in, key, std::move(value));
    else
      static_cast<PackedDict&>(*made.object()).entries.emplace_back(std::move(key), std::move(value));
  }
  return made;
}

CarriedCode& Packing::code() {
  if (!code_) code_ = std::make_shared<CarriedCode>();
  return *code_;
}

size_t Packing::scope(GlobalScope& from) {
  const auto [place, first] = scopes_.try_emplace(&from, code().scopes.size());
  if (first)
    code().scopes.push_back(
        {&from == carrier.session().main ? "" : text_variable(from, "__file__"), text_variable(from, "__name__"), from.library});
  return place->second;
}

void Packing::variables(size_t number, const FunctionEffects& effects, GlobalScope& from) {
  for (const std::string& name : effects.globals) {
    const auto has = [&] {
      const auto& known = code().scopes[number].variables;
      return std::ranges::any_of(known, [&](const auto& v) { return v.first == name; });
    };
    Value& place = from.slot(name);  // one that is not bound yet may be later
    seen.push_back({&place, place});
    if (place.is_absent() || has()) continue;
    // It may be what refers to it: named first.
    const size_t at = code().scopes[number].variables.size();
    code().scopes[number].variables.emplace_back(name, Value::absent());
    Value packed = pack(place);
    code().scopes[number].variables[at].second = std::move(packed);
  }
}

size_t Packing::cell(const Value& value) {
  const auto [place, first] = cells_.try_emplace(value.object(), code().cells.size());
  if (!first) return place->second;
  const size_t number = code().cells.size();
  code().cells.push_back(Value::absent());
  const Value& held = static_cast<const Cell*>(value.object())->value;
  seen.push_back({&held, held});
  Value packed = pack(held);
  code().cells[number] = std::move(packed);
  return number;
}

Value Packing::function(Function& f) {
  GlobalScope& globals = *f.code->globals;
  if (globals.library)
    if (const Value* named = globals.find(f.code->name); named && named->is_object() && named->object() == &f)
      return make<PackedLibraryName>(Carrier::LibraryName{text_variable(globals, "__file__"), f.code->name});
  if (!f.code->definition && !f.code->lambda) refuse(f);
  const auto [known, first] = functions_.try_emplace(&f, code().functions.size());
  const size_t number = known->second;
  if (!first) return make<PackedFunction>(number);
  code().functions.emplace_back();
  const FunctionEffects& effects = carrier.effects_of(*f.code);
  parcel_.effects.changes_outside |= effects.changes_outside;
  for (const std::string& name : effects.changed_globals) {
    const Value* changed = globals.find(name);
    if (!changed) changed = carrier.session().alias(name);
    if (!changed || !changed->is_object() || !dynamic_cast<const Module*>(changed->object())) parcel_.effects.changes_outside = true;
  }
  parcel_.effects.changes_given |= effects.changes_given;
  parcel_.effects.waits |= effects.waits;
  CarriedCode::Function made{text_of(*f.code), scope(globals)};
  for (const Value& d : f.defaults) made.defaults.push_back(pack(d));
  for (const Value& c : f.captured) made.cells.push_back(cell(c));
  if (!f.attributes.empty()) lasting = false;
  for (const auto& [name, value] : f.attributes) made.attributes.emplace_back(name, pack(value));
  if (!globals.library) variables(made.scope, effects, globals);
  code().functions[number] = std::move(made);
  return make<PackedFunction>(number);
}

Value Packing::class_object(Class& c) {
  const auto& known_modules = carrier.session().modules.modules;
  if (std::any_of(known_modules.begin(), known_modules.end(), [&](const ModuleDefinition& m) { return m.name == c.described.module; }))
    return make<PackedLibraryClass>(c.described.module, c.qualified_name());
  const auto [known, first] = numbers_.try_emplace(&c, code().classes.size());
  const size_t number = known->second;
  if (!first) return make<PackedClass>(number);
  lasting = false;
  code().classes.emplace_back();
  const auto [id, is_new] = carrier.class_ids_.try_emplace(&c, 0);
  if (is_new) {
    id->second = next_class_number();
    carrier.own_classes_[id->second] = {Value::of(&c), false};
  }
  CarriedCode::Class made{id->second, c.described.module, c.described.name, c.qualified_name()};
  for (const Value& base : c.bases()) made.bases.push_back(pack(base));
  made.meta = pack(c.meta_class());
  open_classes_.insert(&c);
  for (const auto& [name, value] : c.members.entries()) made.members.emplace_back(name, pack(value));
  open_classes_.erase(&c);
  code().classes[number] = std::move(made);
  return make<PackedClass>(number);
}

}  // namespace gasell
