#include "tools/gasell/describe.h"

#include <fmt/format.h>

#include "compiler/graph/node.h"
#include "runtime/session/objects.h"
#include "tools/array_values.h"

namespace gasell::cli {

namespace {

std::string signature_of(const NativeFunction& function) { return fmt::format("{}({})", function.name, function.signature); }

std::string described_function(const NativeFunction& function) {
  return fmt::format("{}\n{}", signature_of(function), function.doc.empty() ? "" : function.doc + "\n");
}

}  // namespace

std::string describe(Interpreter& interpreter, const Value& value) {
  if (const auto* builtin = value.as<Builtin>()) return described_function(builtin->function);
  const Type& type = type_of(value);
  if (const auto* object = value.as<TypeObject>()) {
    std::string out = fmt::format("type {}\n", object->described.name);
    if (object->described.constructor) out += described_function(*object->described.constructor);
    for (const NativeFunction& method : object->described.methods)
      if (!method.name.starts_with("_")) out += fmt::format("  .{}\n", signature_of(method));
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

}  // namespace gasell::cli
