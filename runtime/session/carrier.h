// Values that cross from one session to another, of which each belongs to a thread of its own: reference counts are not atomic, and lowered
// functions know the session's variables. So what crosses is a copy that nobody else refers to, a parcel. Numbers, texts, tuples, lists,
// dicts, sets and objects are copied; the memory of arrays is shared where it is large (it is copied when somebody writes it);
// functions and classes go as their texts, with copies of the variables that they see, and the receiver lowers them for itself, once;
// modules and library functions go as names. A class that crosses stays one class: an object of it that comes back is an instance of it.
//
// What has no copy (open files, iterators, generators of random numbers, compiled functions) is NotCarried.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <vector>

#include "runtime/session/class.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/function_effects.h"

namespace gasell {

class Task;
class Unpacking;

/// Thrown by those who pack.
struct NotCarried {
  std::string what;
};

/// Stands in a parcel for what its receiver makes anew. It is read by several threads at once.
class Packed : public Object {
 public:
  const Type& type() const override;
  virtual Value unpack(Unpacking& to) const = 0;
};

/// The functions and classes of a parcel, with what they see. They refer to each other by number.
struct CarriedCode {
  struct Scope {  // a module's variables
    std::string path, name;
    bool library = false;
    std::vector<std::pair<std::string, Value>> variables = {};
  };
  struct Function {
    FunctionText text;
    size_t scope = 0;
    std::vector<Value> defaults = {};
    std::vector<size_t> cells = {};
    std::vector<std::pair<std::string, Value>> attributes = {};
  };
  struct Class {
    uint64_t id = 0;
    std::string module, name, qualified_name;
    std::vector<Value> bases = {};
    Value meta = {};
    std::vector<std::pair<std::string, Value>> members = {};
  };
  std::vector<Scope> scopes;
  std::vector<Function> functions;
  std::vector<Class> classes;
  std::vector<Value> cells;
  bool lasting = false;  // it will come again
};

struct Parcel {
  Value root = Value::absent();
  std::shared_ptr<const CarriedCode> code;  // null: none
  bool plain = true;                        // nothing in it is Packed
  bool may_change = false;                  // an object in it can be changed by who has it
  FunctionEffects effects;                  // of all functions in it, without names
};

/// Which classes have crossed, for all sessions that exchange values.
class CarriedClasses {
 public:
  struct Place {
    std::shared_ptr<const CarriedCode> code;
    size_t number = 0;
  };
  uint64_t next_id();
  void keep(uint64_t id, Place place);
  Place find(uint64_t id) const;

 private:
  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::unordered_map<uint64_t, Place> places_;
};

/// One session's side. Everything is called from the session's thread.
class Carrier {
 public:
  Carrier(Session& session, std::shared_ptr<CarriedClasses> classes);
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// Throws NotCarried. `tasks`: where tasks stand for their results, those that are in it.
  Parcel pack(const Value& value, std::vector<std::shared_ptr<Task>>* tasks = nullptr);
  /// The same of what will be called often: the parcel is kept while all that the function sees stays the same.
  std::shared_ptr<const Parcel> pack_callable(const Value& function);
  /// A copy of a parcel's value that others may unpack, too.
  Value unpack(const Parcel& parcel);
  /// The value of a parcel that nobody else has.
  Value open(Parcel parcel);
  /// Lets go of the variables that came with the last parcel, unless it will come again.
  void forget();
  /// Whether variables of modules become what comes in parcels: in sessions that work for another.
  bool follows = false;

  Session& session() { return session_; }
  /// For handlers of further types: another object of this session that stands under a name in a library text, and back.
  struct LibraryName {
    std::string path, name;
  };
  const LibraryName* library_name(const Value& object);
  Value library_object(const LibraryName& name);

 private:
  friend class Packing;
  friend class Unpacking;
  struct Made;
  struct Kept;
  GlobalScope& scope_of(const CarriedCode::Scope& scope);
  std::shared_ptr<const FunctionCode> code_of(const FunctionText& text, GlobalScope& scope);
  const FunctionEffects& effects_of(const FunctionCode& code);

  Session& session_;
  const std::shared_ptr<CarriedClasses> classes_;
  std::unordered_map<const void*, std::pair<std::shared_ptr<const void>, FunctionEffects>> effects_;  // by tree
  std::map<std::pair<const void*, GlobalScope*>, std::shared_ptr<const FunctionCode>> codes_;         // by tree and variables
  std::unordered_map<const Object*, std::pair<Value, LibraryName>> library_names_;
  std::unordered_map<const Object*, uint64_t> class_ids_;
  std::unordered_map<uint64_t, std::pair<Value, bool>> own_classes_;  // by number; whether it came from elsewhere
  std::unordered_map<const CarriedCode*, std::shared_ptr<Made>> made_;
  std::shared_ptr<Made> shown_;  // whose variables are in the modules
  std::unordered_map<const Object*, std::shared_ptr<Kept>> kept_;
};

/// The carrier of a session, made where there is none.
Carrier& carrier_of(Session& session, const std::shared_ptr<CarriedClasses>& classes);

/// Makes one parcel.
class Packing {
 public:
  Packing(Carrier& carrier, Parcel& parcel) : carrier(carrier), in(carrier.session().in), parcel_(parcel) {}

  Value pack(const Value& value);
  /// What stands for something in the parcel.
  template <class T, class... A>
  Value make(A&&... arguments) {
    parcel_.plain = false;
    return Value::make<T>(std::forward<A>(arguments)...);
  }
  void may_change() { parcel_.may_change = true; }
  /// An object that a text of the library gives a name, as that name.
  Value named_in_library(Object& object);
  [[noreturn]] void refuse(const Object& object) const;

  Carrier& carrier;
  Interpreter& in;
  std::vector<std::shared_ptr<Task>>* tasks = nullptr;

  /// A variable, or what stands for it in the parcel, that has to be the same for the parcel to be used again.
  struct Seen {
    const Value* place;
    Value value;
  };
  std::vector<Seen> seen;
  bool lasting = true;  // nothing in it changes unseen

 private:
  friend class Carrier;
  Value pack_object(const Value& value);
  Value function(Function& f);
  Value class_object(Class& c);
  Value dict(Dict& d);
  size_t cell(const Value& c);
  size_t scope(GlobalScope& scope);
  void variables(size_t scope, const FunctionEffects& effects, GlobalScope& from);
  CarriedCode& code();

  Parcel& parcel_;
  std::shared_ptr<CarriedCode> code_;
  std::unordered_map<const Object*, Value> packed_;
  std::unordered_map<const Object*, size_t> functions_, numbers_, cells_;
  std::set<const gasell::Class*> open_classes_;  // whose members are being packed
  std::unordered_map<const GlobalScope*, size_t> scopes_;
  int depth_ = 0;
};

/// Opens one.
class Unpacking {
 public:
  Unpacking(Carrier& to, const std::shared_ptr<const CarriedCode>& code);

  Value value(const Value& packed);
  std::vector<Value> values(const std::vector<Value>& packed);
  Value function(size_t number);
  Value class_object(size_t number);
  void set_members(const CarriedCode::Class& from, const Value& to);

  Carrier& carrier;
  Interpreter& in;

 private:
  const std::shared_ptr<const CarriedCode> code_;
  std::shared_ptr<Carrier::Made> made_;
  std::unordered_map<const Object*, Value> values_;
};

/// How objects of further C++ classes cross; said once a process, before the first of them does. `parts`: the values that one is made of
/// (absent: it does not cross); `make`: another one of them, in the receiver's session.
struct CarriedType {
  std::vector<Value> (*parts)(Interpreter& in, Object& object) = nullptr;
  Value (*make)(Interpreter& in, std::span<Value> parts) = nullptr;
  bool may_change = false;
  Value (*pack)(Packing& packing, Object& object) = nullptr;  // in place of both
};
void register_carried(const std::type_info& type, CarriedType how);
/// Runs the text of the library at this path in a session.
using LibraryLoader = void (*)(Interpreter& in, const std::string& path);
void set_library_loader(LibraryLoader loader);
/// Those of classes: properties, methods.
void register_carried_members();

}  // namespace gasell
