// Natives of _frame: errors about labels that are not there, with the label that was meant.
#include "lang/render.h"
#include "runtime/session/objects.h"
#include "stdlib/pandas/column_object.h"

namespace gasell::pandas {
namespace {

/// no_label(label, known, message=None): KeyError of a label, or with a message; the hint names the known text that is like it.
Value no_label(Interpreter& in, std::span<Value> args) {
  std::vector<std::string> texts;
  for (const Value& v : to_vector(in, args[1]))
    if (const auto* text = v.as<Str>()) texts.push_back(text->value);
  auto error = Value::make<Exception>(*exception_type("KeyError"), std::vector<Value>{args[2].is_none() ? args[0] : args[2]});
  if (const auto* label = args[0].as<Str>())
    if (const std::string near = did_you_mean(label->value, texts); !near.empty())
      error.as<Exception>()->hint = "did you mean '" + near + "'?";
  throw Raised(error);
}

}  // namespace

std::vector<NativeFunction> label_functions() {
  return {{"no_label", "label, known, message=None", no_label, "Raises KeyError, and names the label that was meant."}};
}

}  // namespace gasell::pandas
