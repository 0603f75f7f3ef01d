#include "runtime/session/objects.h"
#include "runtime/session/types.h"

namespace gasell {

const Type& module_type() {
  static const Type type{"module", "builtins", &object_type(), {}, {}};
  return type;
}

const Type& Module::type() const { return module_type(); }
std::string Module::repr(Interpreter&) { return "<module '" + name + "'>"; }

std::optional<Value> Module::get_attribute(Interpreter& in, std::string_view attribute) {
  if (auto found = members.find(attribute); found != members.end()) return found->second;
  if (attribute == "__name__") return make_str(name);
  return Object::get_attribute(in, attribute);
}

void Module::set_attribute(Interpreter&, std::string_view attribute, const Value& value) {
  members.insert_or_assign(std::string(attribute), value);
}

std::vector<std::string> Module::attribute_names(Interpreter&) {
  std::vector<std::string> names;
  for (const auto& [member, value] : members) names.push_back(member);
  return names;
}

}  // namespace gasell
