#include "stdlib/numpy/named_tuple.h"

#include <map>
#include <memory>

#include "runtime/session/types.h"

namespace gasell::numpy {
namespace {

struct NamedType {
  Type type;
  std::vector<std::string> fields;
};

/// One type a name, for ever: types are compared by their addresses.
const NamedType& named_type(const std::string& name, std::vector<std::string> fields) {
  static std::map<std::string, std::unique_ptr<NamedType>>& types = *new std::map<std::string, std::unique_ptr<NamedType>>;
  std::unique_ptr<NamedType>& known = types[name];
  if (!known) known = std::make_unique<NamedType>(NamedType{Type{name, "numpy.linalg", &tuple_type()}, std::move(fields)});
  return *known;
}

class NamedTuple final : public Tuple {
 public:
  NamedTuple(const NamedType& named, std::vector<Value> values) : Tuple(std::move(values)), named_(named) {}
  const Type& type() const override { return named_.type; }
  std::string repr(Interpreter& in) override {
    std::string text = named_.type.name + "(";
    for (size_t k = 0; k < items.size(); ++k) text += (k ? ", " : "") + named_.fields[k] + "=" + gasell::repr(in, items[k]);
    return text + ")";
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    for (size_t k = 0; k < items.size(); ++k)
      if (named_.fields[k] == name) return items[k];
    if (name == "_fields") {
      std::vector<Value> fields;
      for (const std::string& f : named_.fields) fields.push_back(make_str(f));
      return make_tuple(std::move(fields));
    }
    return Tuple::get_attribute(in, name);
  }

 private:
  const NamedType& named_;
};

}  // namespace

Value make_named_tuple(const std::string& name, std::vector<std::string> fields, std::vector<Value> values) {
  return Value::make<NamedTuple>(named_type(name, std::move(fields)), std::move(values));
}

}  // namespace gasell::numpy
