#include "tools/gasell/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/graph/node.h"
#include "lang/parser.h"
#include "runtime/session/arguments.h"
#include "runtime/session/objects.h"
#include "stdlib/numpy/print_options.h"
#include "tools/array_values.h"
#include "tools/gasell/examples.h"
#include "tools/gasell/signatures.h"

namespace gasell::cli {

namespace {

std::string method_text(const NativeFunction& function) { return fmt::format("{}({})", function.name, function.signature); }

/// A signature over several lines where a session's terminal is narrower.
std::string wrapped(const CallSignature& signature) {
  const auto most = static_cast<size_t>(numpy::terminal_columns());
  std::string out = signature.name + "(";
  size_t row = out.size();
  for (const std::string& parameter : signature.parameters) {
    const bool is_first = &parameter == &signature.parameters.front(), is_last = &parameter == &signature.parameters.back();
    if (!is_first && most && row + parameter.size() + 3 > most) {
      out += "\n    ";
      row = 4;
    } else if (!is_first) {
      out += " ";
      ++row;
    }
    out += parameter + (is_last ? "" : ",");
    row += parameter.size() + 1;
  }
  return out + ")";
}

std::string described(const CallSignature& signature) {
  return wrapped(signature) + "\n" + (signature.description.empty() ? "" : signature.description + "\n");
}

}  // namespace

std::string describe(Interpreter& interpreter, const Value& value) {
  const std::optional<CallSignature> signature = call_signature(interpreter, value);
  if (signature && !value.as<TypeObject>()) return described(*signature);
  const Type& type = type_of(value);
  if (const auto* object = value.as<TypeObject>()) {
    std::string out = fmt::format("type {}\n", object->described.name);
    if (signature) out += described(*signature);
    for (const NativeFunction& method : object->described.methods)
      if (!method.name.starts_with("_")) out += fmt::format("  .{}\n", method_text(method));
    return out;
  }
  if (const auto* module = value.as<Module>()) {
    return fmt::format("module {} with {} names; {}.<Tab> lists them\n", module->name, module->members.size(), module->name);
  }
  std::string out = fmt::format("type       {}\n", type.name);
  if (const std::optional<Array> array = array_of(value)) {
    return out +
           fmt::format("dtype      {}\nshape      {}\nelements   {}\n", name_of(array->dtype()), shape_text(array->shape()), array->size());
  }
  std::string text = repr(interpreter, value);
  constexpr size_t kShown = 200;
  if (text.size() > kShown) {
    size_t end = kShown;
    while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // not inside a character
    text = text.substr(0, end) + "…";
  }
  return out + fmt::format("value      {}\n", text);
}

Documentation documentation_of(Interpreter& interpreter, const std::string& expression) {
  Documentation found{.name = expression};
  const auto parsed = [](const std::string& text) { return parse_module(std::make_shared<Source>("<documentation>", text)); };
  const ast::ModuleRef module = parsed(expression);
  // A property of a built-in type has no value of its own: np.ndarray.shape.
  const auto* statement = module->body.size() == 1 ? std::get_if<ast::ExprStmt>(&module->body[0]->node) : nullptr;
  if (const auto* attribute = statement ? std::get_if<ast::Attribute>(&statement->value->node) : nullptr) {
    const Value owner = interpreter.evaluate(parsed(print(*attribute->value)));
    auto* type = owner.as<TypeObject>();
    if (const Type::Property* property = type ? find_property(type->described, attribute->name) : nullptr) {
      found.kind = "property";
      found.description = property->doc;
      const Example example = example_listed(listed_names(type->peer_owners(), attribute->name));
      found.example = example.text;
      if (found.description.empty()) found.description = example.description;
      return found;
    }
  }
  const Value value = interpreter.evaluate(module);
  const Example example = example_of(interpreter, expression, value);
  found.example = example.text;
  const std::optional<CallSignature> signature = call_signature(interpreter, value);
  if (signature) {
    found.signature = signature->text();
    found.description = signature->description;
  }
  const bool is_class = value.as<TypeObject>() != nullptr;
  found.kind = is_class ? "class" : value.as<Module>() ? "module" : signature ? "function" : type_of(value).name;
  if (found.description.empty() && value.is_object() && !array_of(value))
    if (const auto doc = value.object()->get_attribute(interpreter, "__doc__"); doc && doc->as<Str>())
      found.description = doc->as<Str>()->value;
  if (!example.description.empty() && found.description.empty()) found.description = example.description;
  std::vector<std::string> names;
  if (is_class || value.as<Module>()) names = value.object()->attribute_names(interpreter);
  for (const Type* type = is_class ? &value.as<TypeObject>()->described : nullptr; type; type = type->base) {
    for (const NativeFunction& method : type->methods) names.push_back(method.name);
    for (const NativeFunction& method : type->static_methods) names.push_back(method.name);
    for (const Type::Property& property : type->properties) names.push_back(property.name);
  }
  for (std::string& name : names)
    if (!name.starts_with('_')) found.members.push_back(std::move(name));
  std::ranges::sort(found.members);
  found.members.erase(std::ranges::unique(found.members).begin(), found.members.end());
  return found;
}

std::string describe_expression(Interpreter& interpreter, const std::string& expression) {
  const Documentation found = documentation_of(interpreter, expression);
  std::string out;
  if (found.kind == "property") {
    out = fmt::format("{}\n{}\n", found.name, found.description);
  } else {
    const Value value = interpreter.evaluate(parse_module(std::make_shared<Source>("<documentation>", expression)));
    out = describe(interpreter, value);
    if (!found.description.empty() && out.find(found.description) == std::string::npos) out += found.description + "\n";
  }
  if (!found.example.empty()) out += fmt::format("\n{}", found.example);
  return out;
}

std::string source_of(Interpreter& interpreter, const Value& value) {
  const std::optional<FunctionText> found = function_text(interpreter, value);
  if (!found) return describe(interpreter, value);
  return fmt::format("{}:{}\n{}\n", found->source->name(), found->source->position(found->span.begin).line,
                     found->source->text().substr(found->span.begin, found->span.end - found->span.begin));
}

}  // namespace gasell::cli
