#include "tools/gasell/completion.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <optional>

#include "lang/parser.h"
#include "runtime/session/builtins.h"
#include "stdlib/modules.h"
#include "tools/gasell/commands.h"

namespace gasell::cli {

namespace {

bool is_name_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }

const std::vector<std::string>& keywords() {
  static const std::vector<std::string> kWords = {"and",    "as",     "assert",  "break",    "continue", "def",    "del",  "elif",
                                                  "else",   "except", "finally", "for",      "from",     "global", "if",   "import",
                                                  "in",     "is",     "lambda",  "nonlocal", "not",      "or",     "pass", "raise",
                                                  "return", "try",    "while",   "with",     "True",     "False",  "None"};
  return kWords;
}

std::vector<std::string> starting_with(std::vector<std::string> words, std::string_view prefix) {
  std::erase_if(words,
                [&](const std::string& word) { return !word.starts_with(prefix) || (word.starts_with("_") && !prefix.starts_with("_")); });
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

/// The value of "a.b.c", or nullopt.
std::optional<Value> look_up(Interpreter& interpreter, std::string_view chain) {
  const size_t first = chain.find('.');
  Value value = interpreter.evaluate(parse_module(std::make_shared<Source>("<completion>", std::string(chain.substr(0, first)))));
  if (first == std::string_view::npos) return value;
  for (std::string_view rest = chain.substr(first + 1);;) {
    const size_t dot = rest.find('.');
    const std::string_view name = rest.substr(0, dot);
    if (!has_attribute(interpreter, value, name)) return std::nullopt;
    value = get_attribute(interpreter, value, name);
    if (dot == std::string_view::npos) return value;
    rest.remove_prefix(dot + 1);
  }
}

std::vector<std::string> attributes_of(Interpreter& interpreter, const Value& value) {
  if (value.is_object()) return value.object()->attribute_names(interpreter);
  std::vector<std::string> names;
  for (const Type* type = &type_of(value); type; type = type->base) {
    for (const NativeFunction& method : type->methods) names.push_back(method.name);
    for (const Type::Property& property : type->properties) names.push_back(property.name);
  }
  return names;
}

/// Where the string literal that the text ends in has its first character; npos outside of strings.
size_t open_string(std::string_view text) {
  char quote = 0;
  size_t begin = std::string_view::npos;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quote && text[i] == '\\') {
      ++i;
    } else if (quote && text[i] == quote) {
      quote = 0;
      begin = std::string_view::npos;
    } else if (!quote && text[i] == '#') {
      return std::string_view::npos;
    } else if (!quote && (text[i] == '\'' || text[i] == '"')) {
      quote = text[i];
      begin = i + 1;
    }
  }
  return begin;
}

/// Files and folders whose path begins so; hidden ones when the dot is typed.
LineEditor::Completion complete_file(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string folder(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
  const std::string_view prefix = slash == std::string_view::npos ? path : path.substr(slash + 1);
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || (name.starts_with('.') && prefix.empty())) continue;
    std::error_code unknown;
    names.push_back(name + (entry.is_directory(unknown) ? "/" : ""));
  }
  std::sort(names.begin(), names.end());
  return {prefix.size(), std::move(names)};
}

}  // namespace

LineEditor::Completion complete_name(Interpreter& interpreter, std::string_view before_cursor) {
  if (before_cursor.starts_with('%') && before_cursor.find(' ') == std::string_view::npos) {
    std::vector<std::string> commands = command_names();
    for (std::string& command : commands) command += ' ';
    return {before_cursor.size(), starting_with(std::move(commands), before_cursor)};
  }
  if (before_cursor.starts_with("%run ")) return complete_file(before_cursor.substr(before_cursor.find_last_of(" '\"") + 1));
  if (const size_t begin = open_string(before_cursor); begin != std::string_view::npos) return complete_file(before_cursor.substr(begin));
  size_t begin = before_cursor.size();
  while (begin > 0 && (is_name_byte(before_cursor[begin - 1]) || before_cursor[begin - 1] == '.')) --begin;
  const std::string_view chain = before_cursor.substr(begin);
  const size_t dot = chain.rfind('.');
  if (dot == std::string_view::npos) {
    std::vector<std::string> names = interpreter.global_names();
    names.insert(names.end(), keywords().begin(), keywords().end());
    for (const auto& [name, value] : builtins()) names.push_back(name);
    for (const ModuleDefinition& module : known_modules().modules) names.insert(names.end(), module.aliases.begin(), module.aliases.end());
    return {chain.size(), starting_with(std::move(names), chain)};
  }
  try {
    const std::optional<Value> owner = look_up(interpreter, chain.substr(0, dot));
    if (!owner) return {};
    const std::string_view prefix = chain.substr(dot + 1);
    return {prefix.size(), starting_with(attributes_of(interpreter, *owner), prefix)};
  } catch (const std::exception&) {
    return {};  // a property that raises has nothing to complete
  }
}

}  // namespace gasell::cli
