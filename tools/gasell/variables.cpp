#include "tools/gasell/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/session/objects.h"
#include "tools/array_values.h"
#include "tools/gasell/explain.h"

namespace gasell::cli {

namespace {

constexpr size_t kShown = 60;  // bytes of a value

/// In order of their spelling.
std::vector<std::string> variables(Interpreter& interpreter, const IsHidden& is_hidden) {
  std::vector<std::string> names = interpreter.global_names();
  std::erase_if(names, [&](const std::string& name) { return is_hidden(name) || !interpreter.global(name); });
  std::sort(names.begin(), names.end());
  return names;
}

std::string summary(Interpreter& interpreter, const Value& value) {
  if (const std::optional<Array> array = array_of(value); array && array->rank() > 0) {
    const auto bytes = static_cast<double>(array->size()) * static_cast<double>(size_of(array->dtype()));
    return fmt::format("{} {}, {}", shape_text(array->shape()), name_of(array->dtype()), human_bytes(bytes));
  }
  if (const auto* module = value.as<Module>()) return "module " + module->name;
  std::string text = repr(interpreter, value);
  text = text.substr(0, text.find('\n'));
  if (text.size() <= kShown) return text;
  size_t end = kShown;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // not inside a character
  return text.substr(0, end) + "…";
}

}  // namespace

std::string who(Interpreter& interpreter, const IsHidden& is_hidden) {
  const std::vector<std::string> names = variables(interpreter, is_hidden);
  if (names.empty()) return "no variables\n";
  std::string out, line;
  for (const std::string& name : names) {
    if (line.size() + name.size() > 76 && !line.empty()) out += line + "\n", line.clear();
    line += (line.empty() ? "" : "  ") + name;
  }
  return out + line + "\n";
}

std::string whos(Interpreter& interpreter, const IsHidden& is_hidden) {
  const std::vector<std::string> names = variables(interpreter, is_hidden);
  if (names.empty()) return "no variables\n";
  size_t name_width = 8, type_width = 4;
  std::vector<std::string> types;
  for (const std::string& name : names) {
    types.push_back(type_of(*interpreter.global(name)).name);
    name_width = std::max(name_width, name.size());
    type_width = std::max(type_width, types.back().size());
  }
  std::string out = fmt::format("{:<{}}  {:<{}}  value\n", "variable", name_width, "type", type_width);
  for (size_t k = 0; k < names.size(); ++k)
    out += fmt::format("{:<{}}  {:<{}}  {}\n", names[k], name_width, types[k], type_width,
                       summary(interpreter, *interpreter.global(names[k])));
  return out;
}

}  // namespace gasell::cli
