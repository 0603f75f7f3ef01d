#include "tools/gasell/describe.h"

#include <fmt/format.h>

#include "compiler/graph/node.h"
#include "runtime/session/objects.h"
#include "tools/array_values.h"
#include "tools/gasell/signatures.h"

namespace gasell::cli {

namespace {

std::string signature_of(const NativeFunction& function) { return fmt::format("{}({})", function.name, function.signature); }

std::string described(const CallSignature& signature) {
  return signature.text() + "\n" + (signature.description.empty() ? "" : signature.description + "\n");
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

std::string source_of(Interpreter& interpreter, const Value& value) {
  const std::optional<FunctionText> found = function_text(interpreter, value);
  if (!found) return describe(interpreter, value);
  return fmt::format("{}:{}\n{}\n", found->source->name(), found->source->position(found->span.begin).line,
                     found->source->text().substr(found->span.begin, found->span.end - found->span.begin));
}

}  // namespace gasell::cli
