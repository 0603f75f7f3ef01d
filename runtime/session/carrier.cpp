#include "runtime/session/carrier.h"

#include <algorithm>
#include <atomic>
#include <typeindex>

#include "runtime/session/dict.h"
#include "runtime/session/range.h"
#include "runtime/session/set.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

/// A kept parcel may hold so many different functions; then they are forgotten.
constexpr size_t kMostKept = 512;
/// Objects within objects; a chain that is longer does not cross.
constexpr int kDeepest = 1000;

std::unordered_map<std::type_index, CarriedType>& carried_types() {
  static auto& types = *new std::unordered_map<std::type_index, CarriedType>;
  return types;
}

std::atomic<LibraryLoader> library_loader{nullptr};

const void* tree_of(const FunctionText& text) {
  return text.definition ? static_cast<const void*>(text.definition.get()) : text.lambda.get();
}
FunctionText text_of(const FunctionCode& code) { return {code.name, code.qualified_name, code.source, code.definition, code.lambda}; }

std::string text_variable(GlobalScope& scope, std::string_view name) {
  const Value* v = scope.find(name);
  const auto* text = v ? v->as<Str>() : nullptr;
  return text ? text->value : "";
}

// ---- what stands in parcels ----

struct PackedFunction final : Packed {
  explicit PackedFunction(size_t n) : number(n) {}
  Value unpack(Unpacking& to) const override { return to.function(number); }
  const size_t number;
};

struct PackedClass final : Packed {
  explicit PackedClass(size_t n) : number(n) {}
  Value unpack(Unpacking& to) const override { return to.class_object(number); }
  const size_t number;
};

struct PackedModule final : Packed {
  explicit PackedModule(std::string n) : name(std::move(n)) {}
  Value unpack(Unpacking& to) const override { return to.in.import_module(name, nullptr); }
  const std::string name;
};

/// A class of a library text: each interpreter has its own.
struct PackedLibraryClass final : Packed {
  PackedLibraryClass(std::string m, std::string n) : module(std::move(m)), name(std::move(n)) {}
  Value unpack(Unpacking& to) const override { return gasell::get_attribute(to.in, to.in.import_module(module, nullptr), name); }
  const std::string module, name;
};

bool is_enumeration(const Class& c) {
  const auto* meta = c.meta_class().as<Class>();
  return meta && meta->described.module == "enum";
}

/// A member of an enumeration, of which there is one.
struct PackedEnumMember final : Packed {
  PackedEnumMember(Value c, std::string n) : made_by(std::move(c)), name(std::move(n)) {}
  Value unpack(Unpacking& to) const override { return gasell::get_attribute(to.in, to.value(made_by), name); }
  const Value made_by;
  const std::string name;
};

struct PackedLibraryName final : Packed {
  explicit PackedLibraryName(Carrier::LibraryName n) : name(std::move(n)) {}
  Value unpack(Unpacking& to) const override { return to.carrier.library_object(name); }
  const Carrier::LibraryName name;
};

struct PackedBuiltin final : Packed {
  PackedBuiltin(const NativeFunction& f, Value s) : function(f), self(std::move(s)) {}
  Value unpack(Unpacking& to) const override {
    return self.is_absent() ? Value::make<Builtin>(function) : Value::make<Builtin>(function, to.value(self));
  }
  const NativeFunction& function;
  const Value self;
};

/// A dict whose keys are hashed anew where they arrive.
struct PackedDict final : Packed {
  Value unpack(Unpacking& to) const override {
    Value made = make_dict();
    for (const auto& [key, value] : entries) made.as<Dict>()->insert(to.in, to.value(key), to.value(value));
    return made;
  }
  std::vector<std::pair<Value, Value>> entries;
};

struct PackedSet final : Packed {
  Value unpack(Unpacking& to) const override {
    Value made = Value::make<Set>(frozen);
    for (const Value& item : items) made.as<Set>()->insert(to.in, to.value(item));
    return made;
  }
  bool frozen = false;
  std::vector<Value> items;
};

struct PackedException final : Packed {
  Value unpack(Unpacking& to) const override {
    Value made = made_by.is_absent() ? Value::make<Exception>(*type, to.values(args))
                                     : Value::make<ExceptionInstance>(to.value(made_by), to.values(args));
    auto& exception = static_cast<Exception&>(*made.object());
    exception.hint = hint;
    exception.cause = to.value(cause);
    exception.context = to.value(context);
    exception.suppress_context = suppress_context;
    exception.traceback = traceback;
    exception.primary = primary;
    exception.labels = labels;
    exception.blame = blame;
    if (UserObject* object = user_object(made))
      for (const auto& [name, value] : members) object->members.set(name, to.value(value));
    return made;
  }
  const Type* type = nullptr;
  Value made_by = Value::absent();
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> members;
  std::string hint;
  Value cause, context;
  bool suppress_context = false;
  std::vector<Exception::Frame> traceback;
  std::optional<Label> primary;
  std::vector<Label> labels;
  Blame blame = Blame::user;
};

struct PackedInstance final : Packed {
  Value unpack(Unpacking& to) const override { return Value::make<Instance>(to.value(made_by)); }
  Value made_by;
  std::vector<std::pair<std::string, Value>> members;  // set when the object is known, which they may refer to
};

struct PackedMade final : Packed {
  Value unpack(Unpacking& to) const override {
    std::vector<Value> own = to.values(parts);
    return make(to.in, own);
  }
  Value (*make)(Interpreter& in, std::span<Value> parts) = nullptr;
  std::vector<Value> parts;
};

bool is_text(const Value& v) { return v.is_object() && typeid(*v.object()) == typeid(Str); }
bool is_plain_key(const Value& v) { return !v.is_object() || is_text(v); }

}  // namespace

const Type& Packed::type() const {
  static const Type type{"packed", "builtins", &object_type()};
  return type;
}

void set_library_loader(LibraryLoader loader) { library_loader = loader; }
void register_carried(const std::type_info& type, CarriedType how) { carried_types()[std::type_index(type)] = how; }

// ---- classes ----

uint64_t CarriedClasses::next_id() {
  const std::lock_guard lock(mutex_);
  return ++last_;
}
void CarriedClasses::keep(uint64_t id, Place place) {
  const std::lock_guard lock(mutex_);
  places_[id] = std::move(place);
}
CarriedClasses::Place CarriedClasses::find(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(id);
  return found == places_.end() ? Place{} : found->second;
}

// ---- packing ----

void Packing::refuse(const Object& object) const { throw NotCarried{object.type().name}; }

Value Packing::named_in_library(Object& object) {
  const auto* name = carrier.library_name(Value::of(&object));
  if (!name) refuse(object);
  return make<PackedLibraryName>(*name);
}

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
  const auto keep = [&](Value made) { return packed_.emplace(&object, std::move(made)).first->second; };
  if (type == typeid(Tuple)) {
    std::vector<Value> items;
    items.reserve(static_cast<Tuple&>(object).items.size());
    for (const Value& item : static_cast<Tuple&>(object).items) items.push_back(pack(item));
    return make_tuple(std::move(items));
  }
  if (type == typeid(List)) {
    may_change();
    Value made = keep(make_list({}));
    auto& items = static_cast<List*>(made.object())->items;
    items.reserve(static_cast<List&>(object).items.size());
    for (size_t k = 0; k < static_cast<List&>(object).items.size(); ++k) items.push_back(pack(static_cast<List&>(object).items[k]));
    return made;
  }
  if (type == typeid(Dict)) {
    may_change();
    return dict(static_cast<Dict&>(object));
  }
  if (type == typeid(Set)) {
    auto& set = static_cast<Set&>(object);
    if (!set.frozen()) may_change();
    Value made = make<PackedSet>();
    auto& packed = static_cast<PackedSet&>(*made.object());
    packed.frozen = set.frozen();
    for (const Value& item : set.items()) packed.items.push_back(pack(item));
    return keep(made);
  }
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
  if (type == typeid(Instance)) {
    auto& instance = static_cast<Instance&>(object);
    const Value* name =
        is_enumeration(instance.made_by()) && !open_classes_.count(&instance.made_by()) ? instance.members.find("_name_") : nullptr;
    if (name && name->as<Str>()) return make<PackedEnumMember>(pack(instance.made_by_value), name->as<Str>()->value);
    may_change();
    Value made = keep(make<PackedInstance>());
    auto& packed = static_cast<PackedInstance&>(*made.object());
    packed.made_by = pack(static_cast<Instance&>(object).made_by_value);
    for (const auto& [name, member] : static_cast<Instance&>(object).members.entries()) packed.members.emplace_back(name, pack(member));
    return made;
  }
  if (auto* exception = dynamic_cast<Exception*>(&object)) {
    Value made = keep(make<PackedException>());
    auto& packed = static_cast<PackedException&>(*made.object());
    packed.type = &exception->type();
    if (type == typeid(ExceptionInstance)) {
      packed.made_by = pack(static_cast<ExceptionInstance*>(exception)->made_by_value);
      for (const auto& [name, member] : static_cast<ExceptionInstance*>(exception)->members.entries())
        packed.members.emplace_back(name, pack(member));
    } else if (type != typeid(Exception)) {
      refuse(object);
    }
    for (const Value& a : exception->args) packed.args.push_back(pack(a));
    packed.hint = exception->hint;
    packed.cause = pack(exception->cause);
    packed.context = pack(exception->context);
    packed.suppress_context = exception->suppress_context;
    // Sessions count their own activations, from 1: a frame of another session is none of the receiver's.
    for (const Exception::Frame& frame : exception->traceback) packed.traceback.push_back({frame.source, frame.span, frame.function});
    packed.primary = exception->primary;
    packed.labels = exception->labels;
    packed.blame = exception->blame;
    return made;
  }
  if (const auto known = carried_types().find(std::type_index(type)); known != carried_types().end()) {
    const CarriedType& how = known->second;
    if (how.may_change) may_change();
    if (how.pack) return keep(how.pack(*this, object));
    Value made = make<PackedMade>();
    auto& packed = static_cast<PackedMade&>(*made.object());
    packed.make = how.make;
    for (const Value& part : how.parts(in, object)) packed.parts.push_back(pack(part));
    return keep(made);
  }
  if (auto* module = dynamic_cast<Module*>(&object)) {
    for (const auto& [name, loaded] : carrier.session().loaded)
      if (loaded.same(value) && name == module->name) return make<PackedModule>(name);
    for (const ModuleDefinition& definition : carrier.session().modules.modules)  // np.linalg: a part of a known one
      if (module->name.starts_with(definition.name + ".")) return make<PackedModule>(module->name);
  }
  if (const auto* built_in = dynamic_cast<TypeObject*>(&object); built_in && type_object(built_in->described).object() == &object)
    return value;
  refuse(object);
}

Value Packing::dict(Dict& d) {
  const bool plain = std::ranges::all_of(d.entries(), [](const Dict::Entry& e) { return is_plain_key(e.key); });
  if (plain) {
    Value made = packed_.emplace(&d, make_dict()).first->second;
    for (size_t k = 0; k < d.entries().size(); ++k) {
      if (d.entries()[k].key.is_absent()) continue;
      Value key = pack(d.entries()[k].key);
      made.as<Dict>()->insert(in, key, pack(d.entries()[k].value));
    }
    return made;
  }
  Value made = packed_.emplace(&d, make<PackedDict>()).first->second;
  for (size_t k = 0; k < d.entries().size(); ++k) {
    if (d.entries()[k].key.is_absent()) continue;
    Value key = pack(d.entries()[k].key);
    Value value = pack(d.entries()[k].value);
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
    id->second = carrier.classes_->next_id();
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

// ---- unpacking ----

std::vector<Value> Unpacking::values(const std::vector<Value>& packed) {
  std::vector<Value> own;
  own.reserve(packed.size());
  for (const Value& v : packed) own.push_back(value(v));
  return own;
}

Value Unpacking::value(const Value& packed) {
  if (!packed.is_object()) return packed;
  Object& object = *packed.object();
  const std::type_info& type = typeid(object);
  if (type == typeid(Str)) return make_str(static_cast<Str&>(object).value);
  if (const auto known = values_.find(&object); known != values_.end()) return known->second;
  if (type == typeid(Tuple)) return make_tuple(values(static_cast<Tuple&>(object).items));
  if (type == typeid(List)) {
    Value made = values_.emplace(&object, make_list({})).first->second;
    auto& items = static_cast<List*>(made.object())->items;
    items.reserve(static_cast<List&>(object).items.size());
    for (const Value& item : static_cast<List&>(object).items) items.push_back(value(item));
    return made;
  }
  if (type == typeid(Dict)) {
    Value made = values_.emplace(&object, make_dict()).first->second;
    for (const Dict::Entry& e : static_cast<Dict&>(object).entries()) made.as<Dict>()->insert(in, value(e.key), value(e.value));
    return made;
  }
  if (type == typeid(Range)) {
    const auto& range = static_cast<Range&>(object);
    return Value::make<Range>(range.start, range.stop, range.step);
  }
  if (type == typeid(Complex)) return Value::make<Complex>(static_cast<Complex&>(object).value);
  if (type == typeid(SliceObject)) {
    const auto& slice = static_cast<SliceObject&>(object);
    return Value::make<SliceObject>(value(slice.start), value(slice.stop), value(slice.step));
  }
  if (const auto* made_later = dynamic_cast<const Packed*>(&object)) {
    Value made = values_.emplace(&object, made_later->unpack(*this)).first->second;
    if (type == typeid(PackedInstance))
      for (const auto& [name, member] : static_cast<const PackedInstance&>(*made_later).members)
        user_object(made)->members.set(name, value(member));
    return made;
  }
  return packed;  // the process's: a type, Ellipsis
}

/// What was made of a CarriedCode in this session.
struct Carrier::Made {
  std::shared_ptr<const CarriedCode> code;
  std::vector<Value> functions, classes, cells;  // absent: not yet
  std::vector<std::pair<Value*, Value>> variables;
};

Unpacking::Unpacking(Carrier& to, const std::shared_ptr<const CarriedCode>& code) : carrier(to), in(to.session().in), code_(code) {
  if (!code_) return;
  const auto known = carrier.made_.find(code_.get());
  if (known != carrier.made_.end()) {
    made_ = known->second;
  } else {
    made_ = std::make_shared<Carrier::Made>();
    made_->code = code_;
    made_->functions.resize(code_->functions.size(), Value::absent());
    made_->classes.resize(code_->classes.size(), Value::absent());
    made_->cells.resize(code_->cells.size(), Value::absent());
    for (const CarriedCode::Scope& from : code_->scopes) {
      if (from.library || from.variables.empty()) continue;
      GlobalScope& scope = carrier.scope_of(from);
      for (const auto& [name, v] : from.variables) {
        Value own = value(v);
        made_->variables.emplace_back(&scope.slot(name), std::move(own));
      }
    }
    if (code_->lasting) {
      if (carrier.made_.size() >= kMostKept) carrier.made_.clear();
      carrier.made_.emplace(code_.get(), made_);
    }
  }
  if (carrier.shown_ == made_) return;
  for (const auto& [place, own] : made_->variables)
    if (carrier.follows || place->is_absent()) *place = own;
  if (carrier.follows) carrier.shown_ = made_;
}

Value Unpacking::function(size_t number) {
  const std::shared_ptr<Carrier::Made> made = made_;
  if (!made->functions[number].is_absent()) return made->functions[number];
  const CarriedCode::Function& from = code_->functions[number];
  GlobalScope& scope = carrier.scope_of(code_->scopes[from.scope]);
  std::vector<Value> cells;
  for (const size_t c : from.cells) {
    if (made->cells[c].is_absent()) {
      made->cells[c] = Value::make<Cell>(carrier.session().cells);
      Value held = value(code_->cells[c]);
      static_cast<Cell*>(made->cells[c].object())->value = std::move(held);
    }
    cells.push_back(made->cells[c]);
  }
  std::vector<Value> defaults = values(from.defaults);
  Value function = Value::make<Function>(carrier.code_of(from.text, scope), std::move(defaults), std::move(cells));
  made->functions[number] = function;
  for (const auto& [name, v] : from.attributes) static_cast<Function*>(function.object())->attributes.emplace_back(name, value(v));
  return function;
}

Value Unpacking::class_object(size_t number) {
  const CarriedCode::Class& from = code_->classes[number];
  const std::shared_ptr<Carrier::Made> made = made_;
  if (!made->classes[number].is_absent()) return made->classes[number];
  if (const auto own = carrier.own_classes_.find(from.id); own != carrier.own_classes_.end()) {
    made->classes[number] = own->second.first;
    // Where it came before it may have changed where it came from; not an enumeration, whose members are there once.
    if (own->second.second && !is_enumeration(*own->second.first.as<Class>())) set_members(from, own->second.first);
    return made->classes[number];
  }
  std::vector<Value> bases;
  for (const Value& base : from.bases) bases.push_back(value(base));
  const Value meta = value(from.meta);
  if (!made->classes[number].is_absent()) return made->classes[number];
  Value made_class = Class::copy(from.module, from.name, from.qualified_name, std::move(bases), meta);
  made->classes[number] = made_class;
  carrier.own_classes_[from.id] = {made_class, true};
  carrier.class_ids_[made_class.object()] = from.id;
  set_members(from, made_class);
  return made_class;
}

void Unpacking::set_members(const CarriedCode::Class& from, const Value& to) {
  std::vector<std::pair<std::string, Value>> members;
  for (const auto& [name, v] : from.members) members.emplace_back(name, value(v));
  to.as<Class>()->set_members(in, std::move(members));
}

// ---- the carrier ----

/// A parcel of a function that may be sent again.
struct Carrier::Kept {
  Value function;
  std::shared_ptr<const Parcel> parcel;
  std::vector<Packing::Seen> seen;
};

Carrier::Carrier(Session& session, std::shared_ptr<CarriedClasses> classes) : session_(session), classes_(std::move(classes)) {
  static const bool once = [] {
    register_carried_members();
    return true;
  }();
  (void)once;
}
Carrier::~Carrier() = default;

Carrier& carrier_of(Session& session, const std::shared_ptr<CarriedClasses>& classes) {
  if (!session.carrier) session.carrier = std::make_unique<Carrier>(session, classes);
  return *session.carrier;
}

const FunctionEffects& Carrier::effects_of(const FunctionCode& code) {
  const std::shared_ptr<const void> tree =
      code.definition ? std::shared_ptr<const void>(code.definition) : std::shared_ptr<const void>(code.lambda);
  const auto found = effects_.find(tree.get());
  if (found != effects_.end()) return found->second.second;
  FunctionEffects effects = code.definition ? gasell::effects_of(std::get<ast::FunctionDef>(code.definition->node))
                                            : gasell::effects_of(std::get<ast::Lambda>(code.lambda->node));
  return effects_.emplace(tree.get(), std::pair(tree, std::move(effects))).first->second.second;
}

void Carrier::forget() {
  if (!shown_ || shown_->code->lasting) return;
  for (const auto& [place, own] : shown_->variables) *place = Value::absent();
  shown_.reset();
}

Parcel Carrier::pack(const Value& value, std::vector<std::shared_ptr<Task>>* tasks) {
  Parcel parcel;
  Packing packing(*this, parcel);
  packing.tasks = tasks;
  parcel.root = packing.pack(value);
  parcel.code = packing.code_;
  return parcel;
}

std::shared_ptr<const Parcel> Carrier::pack_callable(const Value& function) {
  const auto found = function.is_object() ? kept_.find(function.object()) : kept_.end();
  if (found != kept_.end()) {
    const bool same = std::ranges::all_of(found->second->seen, [](const Packing::Seen& s) { return s.place->same(s.value); });
    if (same) return found->second->parcel;
    kept_.erase(found);
  }
  auto parcel = std::make_shared<Parcel>();
  Packing packing(*this, *parcel);
  parcel->root = packing.pack(function);
  const bool lasting = function.is_object() && packing.lasting && !parcel->may_change;
  if (packing.code_) packing.code_->lasting = lasting;
  parcel->code = packing.code_;
  if (lasting) {
    if (kept_.size() >= kMostKept) kept_.clear();
    auto kept = std::make_shared<Kept>();
    kept->function = function;
    kept->parcel = parcel;
    kept->seen = std::move(packing.seen);
    kept_.emplace(function.object(), std::move(kept));
  }
  return parcel;
}

Value Carrier::unpack(const Parcel& parcel) {
  Unpacking unpacking(*this, parcel.code);
  return unpacking.value(parcel.root);
}

Value Carrier::open(Parcel parcel) { return parcel.plain ? std::move(parcel.root) : unpack(parcel); }

GlobalScope& Carrier::scope_of(const CarriedCode::Scope& scope) {
  if (scope.path.empty()) return *session_.main;
  const auto find = [&]() -> GlobalScope* {
    for (const auto& known : session_.scopes)
      if (known->library == scope.library && text_variable(*known, "__file__") == scope.path) return known.get();
    return nullptr;
  };
  if (GlobalScope* known = find()) return *known;
  if (scope.library && library_loader) {
    library_loader(session_.in, scope.path);
    if (GlobalScope* known = find()) return *known;
  }
  session_.scopes.push_back(std::make_unique<GlobalScope>());
  GlobalScope& made = *session_.scopes.back();
  made.library = scope.library;
  made.slot("__name__") = make_str(scope.name);
  made.slot("__file__") = make_str(scope.path);
  return made;
}

std::shared_ptr<const FunctionCode> Carrier::code_of(const FunctionText& text, GlobalScope& scope) {
  std::shared_ptr<const FunctionCode>& code = codes_[{tree_of(text), &scope}];
  if (!code) code = lower_again(session_, text, scope);
  return code;
}

// ---- names of the library ----

const Carrier::LibraryName* Carrier::library_name(const Value& object) {
  const auto known = library_names_.find(object.object());
  if (known != library_names_.end()) return &known->second.second;
  for (const auto& scope : session_.scopes) {
    if (!scope->library) continue;
    for (const std::string& name : scope->names()) {
      if (!scope->find(name)->same(object)) continue;
      return &library_names_.emplace(object.object(), std::pair(object, LibraryName{text_variable(*scope, "__file__"), name}))
                  .first->second.second;
    }
  }
  return nullptr;
}

Value Carrier::library_object(const LibraryName& name) {
  const Value* found = scope_of({name.path, "", true}).find(name.name);
  if (!found) raise("RuntimeError", name.name + " is not in " + name.path);
  return *found;
}

}  // namespace gasell
