// What stands in parcels for objects that their receiver makes anew.
#pragma once

#include "runtime/session/class.h"
#include "runtime/session/dict.h"
#include "runtime/session/set.h"
#include "runtime/session/types.h"
#include "runtime/session/unpacking.h"

namespace gasell {

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

inline bool is_enumeration(const Class& c) {
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
  void fill(Unpacking& to, const Value& made) const override {
    for (const auto& [name, member] : members) user_object(made)->members.set(name, to.value(member));
  }
  Value made_by;
  std::vector<std::pair<std::string, Value>> members;
};

struct PackedMade final : Packed {
  Value unpack(Unpacking& to) const override {
    std::vector<Value> own = to.values(parts);
    return make(to.in, own);
  }
  Value (*make)(Interpreter& in, std::span<Value> parts) = nullptr;
  std::vector<Value> parts;
};

}  // namespace gasell
