#include "runtime/session/function.h"

#include <fmt/format.h>

#include "runtime/session/builtins.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"

namespace gasell {

const Type& function_type() {
  static const Type type{"function", "builtins", &object_type()};
  return type;
}

const Type& Cell::type() const {
  static const Type t{"cell", "builtins", &object_type()};
  return t;
}

void Cell::clear(Cell*& list) {
  while (list) {
    Cell* cell = list;
    Value held = Value::of(cell);  // its value may be what keeps it alive
    list = cell->next_;
    if (list) list->link_ = &list;
    cell->next_ = nullptr;
    cell->link_ = nullptr;
    cell->value = Value::absent();
  }
}

Function::Function(std::shared_ptr<const FunctionCode> c, std::vector<Value> d, std::vector<Value> cells)
    : code(std::move(c)), defaults(std::move(d)), captured(std::move(cells)) {}
Function::~Function() = default;

const Type& Function::type() const { return function_type(); }
std::string Function::repr(Interpreter& in) {
  return fmt::format("<function {} at {}>", gasell::str(in, *get_attribute(in, "__qualname__")), static_cast<const void*>(this));
}

Value Function::call(Interpreter& in, Arguments args) {
  return call_function(Evaluator::session(in), *this, args.positional, args.keywords);
}

std::optional<Value> Function::get_attribute(Interpreter& in, std::string_view attribute) {
  for (const auto& [key, value] : attributes) {
    if (key == attribute) return value;
  }
  if (attribute == "__name__") return make_str(code->name);
  if (attribute == "__qualname__") return make_str(code->qualified_name);
  if (attribute == "__module__") {
    const Value* module = code->globals->find("__name__");
    return module ? *module : Value();
  }
  if (attribute == "__doc__") {
    const ast::FunctionDef* def = definition();
    const auto* first = def && !def->body.empty() ? std::get_if<ast::ExprStmt>(&def->body[0]->node) : nullptr;
    const auto* text = first ? std::get_if<ast::StringLiteral>(&first->value->node) : nullptr;
    return text ? make_str(text->value) : Value();
  }
  if (attribute == "__defaults__") {
    std::vector<Value> given;
    for (size_t i = 0; i < defaults.size() && i < static_cast<size_t>(code->signature.positional); ++i) {
      if (!defaults[i].is_absent()) given.push_back(defaults[i]);
    }
    return given.empty() ? Value() : make_tuple(std::move(given));
  }
  return Object::get_attribute(in, attribute);
}

void Function::set_attribute(Interpreter&, std::string_view attribute, const Value& value) {
  for (auto& [key, old] : attributes) {
    if (key == attribute) {
      old = value;
      return;
    }
  }
  attributes.emplace_back(std::string(attribute), value);
}

std::vector<std::string> Function::attribute_names(Interpreter&) {
  std::vector<std::string> names{"__name__", "__doc__", "__defaults__"};
  for (const auto& [key, value] : attributes) names.push_back(key);
  return names;
}

const std::string& Function::name() const { return code->name; }
std::vector<std::string> Function::parameter_names() const {
  std::vector<std::string> names;
  for (const Signature::Parameter& p : code->signature.parameters) names.push_back(p.name);
  return names;
}
const SourceRef& Function::source() const { return code->source; }

std::vector<Value> Function::bound_arguments(Interpreter& in, const std::string& class_name, Arguments args) const {
  const Signature& signature = code->signature;
  std::vector<Value> values(signature.parameters.size());
  bind_arguments(in, signature, class_name + "." + code->name, args.positional, args.keywords, values);
  if (signature.ruled) check_rules(in, signature, "", class_name, values, defaults);
  for (size_t k = 0; k < values.size(); ++k)
    if (values[k].is_absent()) values[k] = defaults[k];
  return values;
}

const Value* Function::outside(Interpreter& in, std::string_view name) const {
  for (size_t k = 0; k < captured.size(); ++k) {
    if (code->cell_names[static_cast<size_t>(code->own_cells) + k] != name) continue;
    const Value& value = static_cast<const Cell*>(captured[k].object())->value;
    return value.is_absent() ? nullptr : &value;
  }
  if (const Value* global = code->globals->find(name)) return global;
  if (const auto found = builtins().find(name); found != builtins().end()) return &found->second;
  return Evaluator::session(in).alias(name);
}

const ast::FunctionDef* Function::definition() const {
  return code->definition ? std::get_if<ast::FunctionDef>(&code->definition->node) : nullptr;
}

}  // namespace gasell
