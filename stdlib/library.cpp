#include "stdlib/library.h"

#include <algorithm>

#include "runtime/session/packing.h"
#include "runtime/session/types.h"
#include "stdlib/carried.h"

namespace gasell {
namespace {

/// Whether a text of names between blanks holds one.
bool lists(std::string_view names, std::string_view name) {
  for (size_t at = names.find(name); at != names.npos; at = names.find(name, at + 1))
    if (at > 0 && names[at - 1] == ' ' && at + name.size() < names.size() && names[at + name.size()] == ' ') return true;
  return false;
}

class BoundFunction final : public Object {
 public:
  BoundFunction(Value f, Value s) : function(std::move(f)), self(std::move(s)) {}
  const Type& type() const override {
    static const Type type{"method",
                           "builtins",
                           &object_type(),
                           {},
                           {{"__call__", [](Interpreter&, const Value& v) { return v; }, nullptr, "Calls the function."}}};
    return type;
  }
  std::string repr(Interpreter& in) override {
    return "<bound method " + gasell::str(in, gasell::get_attribute(in, function, "__name__")) + " of " + type_of(self).module + "." +
           type_of(self).name + ">";
  }
  Value call(Interpreter& in, Arguments args) override {
    args.positional.insert(args.positional.begin(), self);
    return gasell::call(in, function, std::move(args));
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (auto own = Object::get_attribute(in, name)) return own;
    if (name == "__func__") return function;
    if (name == "__self__") return self;
    return function.object()->get_attribute(in, name);
  }

  const Value function, self;
};

}  // namespace

std::optional<Value> library_member(Interpreter& in, std::string_view module, std::string_view name) {
  for (const LibraryFile& file : library_files()) {
    if (file.module != module || !lists(file.names, name)) continue;
    return get_attribute(in, in.library_module(std::string(file.path), file.text), name);
  }
  return {};
}

void register_carried_methods() {
  register_carried(typeid(BoundFunction),
                   {[](Interpreter&, Object& o) {
                      const auto& bound = static_cast<BoundFunction&>(o);
                      return std::vector<Value>{bound.function, bound.self};
                    },
                    [](Interpreter&, std::span<Value> parts) { return Value::make<BoundFunction>(parts[0], parts[1]); }});
}

Value library_bound(Value function, Value self) { return Value::make<BoundFunction>(std::move(function), std::move(self)); }

std::vector<std::string> library_names(std::string_view module) {
  std::vector<std::string> names;
  for (const LibraryFile& file : library_files()) {
    if (file.module != module) continue;
    for (size_t begin = 1, end; (end = file.names.find(' ', begin)) != file.names.npos; begin = end + 1)
      if (end > begin) names.emplace_back(file.names.substr(begin, end - begin));
  }
  return names;
}

std::optional<Value> library_method(Interpreter& in, Object& self, std::string_view module, std::string_view name,
                                    std::optional<Value> own) {
  if (own) return own;
  if (auto function = library_member(in, module, name)) return Value::make<BoundFunction>(*function, Value::of(&self));
  return {};
}

std::vector<std::string> with_library_names(std::vector<std::string> names, std::string_view module) {
  for (std::string& n : library_names(module))
    if (std::find(names.begin(), names.end(), n) == names.end()) names.push_back(std::move(n));
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<Value> LibraryModule::get_attribute(Interpreter& in, std::string_view attribute) {
  if (auto found = members.find(attribute); found != members.end()) return found->second;
  if (auto member = library_member(in, name, attribute)) {
    if (methods_) return Value::make<BoundFunction>(*member, Value::of(this));  // not kept: it holds the module
    members.emplace(attribute, *member);
    return member;
  }
  if (!base_.is_none() && attribute != "__name__" && attribute != "__version__")
    if (auto inherited = base_.object()->get_attribute(in, attribute)) return inherited;
  return Module::get_attribute(in, attribute);
}

std::vector<std::string> LibraryModule::peer_owners() {
  std::vector<std::string> owners{name};
  if (!base_.is_none())
    for (std::string& owner : base_.object()->peer_owners()) owners.push_back(std::move(owner));
  return owners;
}

std::vector<std::string> LibraryModule::attribute_names(Interpreter& in) {
  std::vector<std::string> names = with_library_names(Module::attribute_names(in), name);
  if (base_.is_none()) return names;
  std::vector<std::string> all, inherited = base_.object()->attribute_names(in);
  std::ranges::sort(inherited);
  std::ranges::set_union(names, inherited, std::back_inserter(all));
  return all;
}

}  // namespace gasell
