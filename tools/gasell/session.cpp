#include "tools/gasell/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "lang/parser.h"
#include "lang/tokens.h"
#include "runtime/session/builtins.h"
#include "runtime/session/dict.h"
#include "stdlib/modules.h"
#include "stdlib/numpy/print_options.h"
#include "tools/gasell/command_completion.h"
#include "tools/gasell/commands.h"
#include "tools/gasell/programs.h"
#include "tools/gasell/script.h"
#include "tools/gasell/signatures.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

constexpr size_t kKeptResults = 1000;

std::filesystem::path in_home(const char* variable, const char* folder, const char* name) {
  if (const char* place = std::getenv(variable); place && *place) return std::filesystem::path(place) / "gasell" / name;
  if (const char* home = std::getenv("HOME"); home && *home) return std::filesystem::path(home) / folder / "gasell" / name;
  return {};
}

std::filesystem::path history_path() {
  if (const char* path = std::getenv("GASELL_HISTORY")) return path;  // empty: none
  return in_home("XDG_STATE_HOME", ".local/state", "history");
}

/// A name that is there without being defined: built-in, or a module's alias.
bool is_builtin(std::string_view name) {
  static const std::vector<std::string> kAliases = [] {
    std::vector<std::string> names;
    for (const ModuleDefinition& module : known_modules().modules) {
      names.insert(names.end(), module.aliases.begin(), module.aliases.end());
      names.insert(names.end(), module.members.begin(), module.members.end());
    }
    std::sort(names.begin(), names.end());
    return names;
  }();
  return builtins().contains(name) || std::binary_search(kAliases.begin(), kAliases.end(), name);
}

std::optional<editor::Mistake> mistake_in(const std::string& entry) {
  if (is_command(entry)) return std::nullopt;
  try {
    parse_module(std::make_shared<Source>("<entry>", entry));
  } catch (const Error& error) {
    const Diagnostic& diagnostic = error.diagnostic();
    if (diagnostic.primary && completeness(entry + "\n") == Completeness::invalid)
      return editor::Mistake{diagnostic.primary->span, diagnostic.kind + ": " + diagnostic.message};
  } catch (const std::exception&) {
    return std::nullopt;  // no mistake of the syntax
  }
  return std::nullopt;
}

/// Does a semicolon end the text, so that its value is not shown?
bool is_silenced(const std::string& text) {
  const std::vector<Token> tokens = scan_tokens(text);
  for (size_t i = tokens.size(); i-- > 0;) {
    if (tokens[i].kind == TokenKind::line_end || tokens[i].kind == TokenKind::comment) continue;
    return text[tokens[i].span.begin] == ';';
  }
  return false;
}

}  // namespace

std::filesystem::path init_file() {
  if (const char* path = std::getenv("GASELL_INIT")) return path;  // empty: none
  return in_home("XDG_CONFIG_HOME", ".config", "init.gsl");
}

Session::Session(const Options& given)
    : options(given),
      host(given, true),
      editor(history_path(), services(), {InterruptHandler::wakeup_descriptor(), [] { return InterruptHandler::take(); }}),
      inputs_(make_list({make_str("")})),
      outputs_(make_dict()) {
  settings.theme = editor.theme();
  host.interpreter.keep_variables();
  host.interpreter.set_global("In", inputs_);
  host.interpreter.set_global("Out", outputs_);
  host.interpreter.write_out = [this](std::string_view text) {
    const size_t last = text.rfind('\n');
    if (last == std::string_view::npos) {
      open_line_ += text;
    } else {
      open_line_ = text.substr(last + 1);
    }
    write_stdout(text);
  };
  host.interpreter.read_line = [this](const std::string& prompt) { return read_line(prompt); };
  editor.edit_beside = [this](const std::string& text) { return edit_text(text, settings.editor); };
}

editor::Services Session::services() {
  editor::Services services;
  services.complete = [this](std::string_view text, size_t cursor) { return complete_entry(host.interpreter, text, cursor); };
  services.detail = [this](std::string_view text, size_t begin, const std::string& candidate) {
    return entry_candidate_detail(host.interpreter, text, begin, candidate);
  };
  services.call_hint = [this](std::string_view text, size_t cursor) -> std::optional<editor::CallHint> {
    if (!settings.signatures) return std::nullopt;
    return call_hint(host.interpreter, text, cursor);
  };
  services.is_complete = [](const std::string& text) {
    return is_command(text) ? !wants_more_lines(text) : completeness(text + "\n") != Completeness::incomplete;
  };
  services.is_builtin = is_builtin;
  services.mistake = [this](const std::string& entry) { return settings.mistakes ? mistake_in(entry) : std::nullopt; };
  services.suggests = [this] { return settings.suggestions; };
  return services;
}

std::optional<std::string> Session::read_line(const std::string& prompt) {
  flush_stdout();
  std::string line;
  switch (editor.read_line(prompt, line, std::exchange(open_line_, {}))) {
    case editor::LineEditor::Result::text: return line;
    case editor::LineEditor::Result::interrupted: throw Interrupted();
    case editor::LineEditor::Result::end: break;
  }
  return std::nullopt;
}

void Session::add_entry(const std::string& entry) {
  entries_.push_back(entry);
  inputs_.as<List>()->items.push_back(make_str(entry));
}

std::string Session::source_name() const { return fmt::format("<entry {}>", entries_.size()); }

bool Session::is_own_name(const std::string& name) {
  if (name.starts_with('_')) return true;
  const Value* value = host.interpreter.global(name);
  return value && ((name == "In" && value->same(inputs_)) || (name == "Out" && value->same(outputs_)));
}

void Session::fit_to_terminal() {
  const bool is_auto = settings.width == "auto";
  if (is_auto && editor::terminal_ability() == editor::Ability::none) return;
  numpy::set_terminal_columns(is_auto ? editor.columns() : std::stoi(settings.width));
}

void Session::show(const Value& value) {
  if (value.is_none()) return;
  Interpreter& interpreter = host.interpreter;
  const std::string text = repr(interpreter, value) + "\n";
  const std::string prompt = settings.prompt == "ipython" ? fmt::format("Out[{}]: ", entries_.size()) : "";
  write_stdout(prompt + (!prompt.empty() && text.find('\n') + 1 < text.size() ? "\n" : "") + text);
  for (const auto& [older, newer] : {std::pair("___", "__"), std::pair("__", "_")})
    if (const Value* kept = interpreter.global(newer)) interpreter.set_global(older, Value(*kept));
  interpreter.set_global("_", value);
  Dict& outputs = *outputs_.as<Dict>();
  outputs.insert(interpreter, Value::of(static_cast<int64_t>(entries_.size())), value);
  while (outputs.size() > static_cast<int64_t>(kKeptResults)) {
    const auto oldest = std::find_if(outputs.entries().begin(), outputs.entries().end(), [](const auto& e) { return !e.key.is_absent(); });
    outputs.take(interpreter, Value(oldest->key));
  }
}

void Session::forget_results() {
  outputs_.as<Dict>()->clear();
  for (const char* name : {"_", "__", "___"})
    if (host.interpreter.global(name)) host.interpreter.set_global(name, Value());
}

void Session::run(const std::string& text, const std::string& source_name) {
  const Value value = host.interpreter.evaluate(parse_module(std::make_shared<Source>(source_name, text)));
  if (!is_silenced(text)) show(value);
}

void Session::run_file(const std::string& name, const std::vector<std::string>& arguments) {
  const ast::ModuleRef module = parse_module(read_file(name));
  const Value sys = host.interpreter.import_module("sys", std::make_shared<Source>("<session>", ""));
  const Value before = get_attribute(host.interpreter, sys, "argv");
  std::vector<Value> words{make_str(name)};
  for (const std::string& argument : arguments) words.push_back(make_str(argument));
  set_attribute(host.interpreter, sys, "argv", make_list(std::move(words)));
  try {
    host.interpreter.run(module);
  } catch (...) {
    set_attribute(host.interpreter, sys, "argv", before);
    throw;
  }
  set_attribute(host.interpreter, sys, "argv", before);
}

}  // namespace gasell::cli
