// Making a parcel (parcel.h), and how objects of further C++ classes cross.
#pragma once

#include <set>
#include <span>
#include <typeinfo>
#include <unordered_map>

#include "runtime/session/carrier.h"
#include "runtime/session/class.h"
#include "runtime/session/dict.h"

namespace gasell {

class Packing;
class Set;

/// How objects of further C++ classes cross; said once a process, before the first of them does. `parts`: the values that one is made of
/// (absent: it does not cross); `make`: another one of them, in the receiver's session.
struct CarriedType {
  std::vector<Value> (*parts)(Interpreter& in, Object& object) = nullptr;
  Value (*make)(Interpreter& in, std::span<Value> parts) = nullptr;
  bool may_change = false;
  Value (*pack)(Packing& packing, Object& object) = nullptr;  // in place of both
};
void register_carried(const std::type_info& type, CarriedType how);

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
  /// The functions and classes of what was packed; null: none.
  const std::shared_ptr<CarriedCode>& packed_code() const { return code_; }

 private:
  Value pack_object(const Value& value);
  /// Another reference to the object will be the same.
  Value keep(Object& object, Value made);
  Value list(List& l);
  Value dict(Dict& d);
  Value set(Set& s);
  Value function(Function& f);
  Value class_object(Class& c);
  Value instance(Instance& i);
  Value exception(Exception& e);
  Value further(Object& object, const CarriedType& how);
  Value module(const Value& value, const Module& m);
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

/// Those of classes: properties, methods.
void register_carried_members();

}  // namespace gasell
