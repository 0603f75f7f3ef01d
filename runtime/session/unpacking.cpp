#include "runtime/session/unpacking.h"

#include "runtime/session/packed_objects.h"
#include "runtime/session/range.h"

namespace gasell {

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
    made_later->fill(*this, made);
    return made;
  }
  return packed;  // the process's: a type, Ellipsis
}
UnpackedCode::UnpackedCode(std::shared_ptr<const CarriedCode> from)
    : code(std::move(from)),
      functions(code->functions.size(), Value::absent()),
      classes(code->classes.size(), Value::absent()),
      cells(code->cells.size(), Value::absent()) {}

Unpacking::Unpacking(Carrier& to, const std::shared_ptr<const CarriedCode>& code) : carrier(to), in(to.session().in), code_(code) {
  if (!code_) return;
  const auto known = carrier.made_.find(code_.get());
  if (known != carrier.made_.end()) {
    made_ = known->second;
  } else {
    made_ = std::make_shared<UnpackedCode>(code_);
    for (const CarriedCode::Scope& from : code_->scopes) {
      if (from.library || from.variables.empty()) continue;
      GlobalScope& scope = carrier.scope_of(from);
      for (const auto& [name, v] : from.variables) {
        Value own = value(v);
        made_->variables.emplace_back(&scope.slot(name), std::move(own));
      }
    }
    if (code_->lasting) carrier.keep(made_);
  }
  if (carrier.shown_ == made_) return;
  for (const auto& [place, own] : made_->variables)
    if (carrier.follows || place->is_absent()) *place = own;
  if (carrier.follows) carrier.shown_ = made_;
}

Value Unpacking::function(size_t number) {
  const std::shared_ptr<UnpackedCode> made = made_;
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
  const std::shared_ptr<UnpackedCode> made = made_;
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

}  // namespace gasell
