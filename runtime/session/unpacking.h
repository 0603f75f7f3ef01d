// Opening a parcel (parcel.h).
#pragma once

#include <unordered_map>

#include "runtime/session/carrier.h"

namespace gasell {

/// What was made of a CarriedCode in a session.
struct UnpackedCode {
  explicit UnpackedCode(std::shared_ptr<const CarriedCode> from);

  const std::shared_ptr<const CarriedCode> code;
  std::vector<Value> functions, classes, cells;  // absent: not yet
  std::vector<std::pair<Value*, Value>> variables;
};

/// Opens one parcel.
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
  std::shared_ptr<UnpackedCode> made_;
  std::unordered_map<const Object*, Value> values_;
};

}  // namespace gasell
