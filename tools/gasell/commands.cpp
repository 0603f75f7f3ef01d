#include "tools/gasell/commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/characters.h"
#include "lang/parser.h"
#include "lang/render.h"
#include "tools/gasell/command_table.h"
#include "tools/gasell/describe.h"
#include "tools/gasell/programs.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

constexpr const char* kKeys = R"(?name, name?             what a name is: its type, signature and description
name??                   the text of a function
!PROGRAM                 run a program with the shell; NAME = !PROGRAM keeps the lines that it writes
_, __, Out[n], In[n]     the last results, results and entries by number
;                        at the end of an entry: its value is not shown
Tab                      complete; Tab again chooses, Esc goes back
Up, Ctrl-R               earlier entries that begin so, that contain what is typed then
Right                    take the grey suggestion
Alt-Enter                one line more
Ctrl-X Ctrl-E            edit the entry with a program
Ctrl-C                   stop the computation, or give up the entry
Ctrl-D, exit             leave
)";

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

const std::vector<Command>& all_commands() {
  static const std::vector<Command> kAll = [] {
    std::vector<Command> all;
    for (const auto& part : {code_commands(), machine_commands(), file_commands(), session_commands()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kAll;
}

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(all_commands().begin(), all_commands().end(), [&](const Command& c) { return c.name == name; });
  return found == all_commands().end() ? nullptr : &*found;
}

[[noreturn]] void refuse(const std::string& name) {
  const std::string nearest = did_you_mean(name, command_names());
  throw Error("SyntaxError", fmt::format("unknown command '{}'", name),
              nearest.empty() ? "%help lists the commands" : fmt::format("did you mean '{}'?", nearest));
}

/// "%%time" as "%time", which then takes the lines below, too; no other name changes.
std::string without_cell(const std::string& name) {
  const Command* command = name.starts_with("%%") ? find_command(std::string_view(name).substr(1)) : nullptr;
  return command && command->takes == Command::Takes::code ? name.substr(1) : name;
}

/// "x" of "x = %timeit …" and "x = !ls"; the rest goes to `command`.
std::string assigned_name(const std::string& text, std::string& command) {
  const size_t length = name_length(text, 0);
  const size_t equals = text.find_first_not_of(" \t", length);
  if (length == 0 || equals == std::string::npos || text[equals] != '=') return {};
  const size_t begin = text.find_first_not_of(" \t", equals + 1);
  if (begin == std::string::npos || (text[begin] != '%' && text[begin] != '!') || text.compare(begin, 2, "!=") == 0) return {};
  command = text.substr(begin);
  return text.substr(0, length);
}

/// `$name` is the value of that variable, where there is one; other words with a dollar are the shell's.
std::string with_variables(Interpreter& interpreter, std::string_view command) {
  std::string out;
  for (size_t i = 0; i < command.size(); ++i) {
    const size_t length = command[i] == '$' ? name_length(command, i + 1) : 0;
    const Value* value = length > 0 ? interpreter.global(command.substr(i + 1, length)) : nullptr;
    out += value ? str(interpreter, *value) : std::string(1, command[i]);
    if (value) i += length;
  }
  return out;
}

std::optional<Value> run_program(Session& session, const std::string& command, bool keeps_output) {
  const std::string text = with_variables(session.host.interpreter, trimmed(command));
  if (text.empty()) throw Error("SyntaxError", "! wants a program to run", "for example: !ls");
  int status = 0;
  std::optional<Value> result;
  if (keeps_output) {
    std::vector<Value> lines;
    const std::string output = shell_output(text, status);
    for (size_t begin = 0; begin < output.size();) {
      const size_t end = std::min(output.find('\n', begin), output.size());
      lines.push_back(make_str(output.substr(begin, end - begin)));
      begin = end + 1;
    }
    result = make_list(std::move(lines));
  } else {
    status = run_shell(text);
    session.editor.begin_row();
  }
  session.host.interpreter.set_global("_exit_code", Value::of(status));
  return result;
}

void explain_name(Session& session, const std::string& text) {
  const size_t begin = text.find_first_not_of('?');
  const bool wants_source = text.starts_with("??") || text.ends_with("??");
  const std::string name = begin == std::string::npos ? "" : trimmed(text.substr(begin, text.find_last_not_of('?') + 1 - begin));
  if (name.empty()) return write_stdout(help_text());
  if (name.starts_with('%')) {
    const std::string help = command_help(name);
    if (help.empty()) refuse(name);
    return write_stdout(help + "\n");
  }
  Interpreter& interpreter = session.host.interpreter;
  page(wants_source ? source_of(interpreter, interpreter.evaluate(parse_module(std::make_shared<Source>(session.source_name(), name))))
                    : describe_expression(interpreter, name),
       session.settings.pager);
}

}  // namespace

ast::ModuleRef CommandCall::parsed(const std::string& code) const {
  return parse_module(std::make_shared<Source>(session.source_name(), code));
}

void fail_without_text(const CommandCall& call, std::string_view wanted, std::string_view example) {
  throw Error("SyntaxError", fmt::format("{} wants {}", call.name, wanted), fmt::format("for example: {} {}", call.name, example));
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : all_commands()) names.emplace_back(command.name);
  return names;
}

std::string command_help(std::string_view name) {
  const Command* command = find_command(name);
  return command ? fmt::format("{}{}{}  {}", command->name, command->arguments.empty() ? "" : " ", command->arguments, command->help) : "";
}

bool takes_file(std::string_view name) {
  const Command* command = find_command(name);
  return command && command->takes == Command::Takes::file;
}

std::vector<std::string> command_words(std::string_view name) {
  const Command* command = find_command(name);
  return command && command->words ? command->words() : std::vector<std::string>{};
}

std::string help_text() {
  std::string out;
  for (const Command& command : all_commands())
    out += fmt::format("{:<24} {}\n", fmt::format("{} {}", command.name, command.arguments), command.help);
  return out + kKeys;
}

bool is_command(const std::string& entry) {
  const std::string text = trimmed(entry);
  std::string command;
  return text.starts_with('%') || text.starts_with('?') || text.starts_with('!') || !assigned_name(text, command).empty() ||
         (text.ends_with('?') && text.find('\n') == std::string::npos && text.find('#') == std::string::npos &&
          completeness(text.substr(0, text.find_last_not_of('?') + 1) + "\n") == Completeness::complete);
}

bool wants_more_lines(const std::string& entry) { return entry.starts_with("%%") && !entry.ends_with('\n'); }

void run_command(Session& session, const std::string& entry) {
  std::string text = trimmed(entry);
  if (text.starts_with('?') || text.ends_with('?')) return explain_name(session, text);
  std::string rest;
  const std::string name = assigned_name(text, rest);
  if (!name.empty()) text = rest;
  std::optional<Value> result;
  if (text.starts_with('!')) {
    result = run_program(session, text.substr(1), !name.empty());
  } else {
    const size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    CommandCall call{session, without_cell(text.substr(0, end)), trimmed(text.substr(end))};
    const Command* command = find_command(call.name);
    if (!command) refuse(call.name);
    if (text.starts_with("%%")) {  // options stand on the first line, the code below
      const size_t line = std::min(call.text.find('\n'), call.text.size());
      const bool has_options = text.find('\n') > end;
      if (has_options && line < call.text.size()) call.text[line] = ' ';
    }
    if (command->takes == Command::Takes::nothing && !call.text.empty())
      throw Error("SyntaxError", fmt::format("{} takes nothing behind it", call.name));
    result = command->run(call);
  }
  if (name.empty()) {
    if (result) session.show(*result);
  } else if (!result) {
    throw Error("ValueError", fmt::format("{} has no result to keep", text.substr(0, text.find(' '))));
  } else {
    session.host.interpreter.set_global(name, *result);
  }
}

}  // namespace gasell::cli
