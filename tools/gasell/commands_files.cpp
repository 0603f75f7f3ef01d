// Commands about files: %run, %load, %save, %edit, %paste, %cd, %pwd.
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "runtime/io/atomic_file.h"
#include "runtime/io/os_error.h"
#include "tools/editor/paste.h"
#include "tools/gasell/command_table.h"
#include "tools/gasell/commands.h"
#include "tools/gasell/explain.h"
#include "tools/gasell/programs.h"
#include "tools/gasell/script.h"
#include "tools/gasell/signatures.h"
#include "tools/gasell/terminal.h"
#include "tools/gasell/timing.h"

namespace gasell::cli {

namespace {

/// "~" and "~/x" with the home folder in its place.
std::string path_of(const std::string& text) {
  const char* home = std::getenv("HOME");
  return home && (text == "~" || text.starts_with("~/")) ? home + text.substr(1) : text;
}

std::optional<Value> run_file(const CommandCall& call) {
  std::vector<std::string> words = shell_words(call.text);
  const bool timed = !words.empty() && words.front() == "-t";
  if (timed) words.erase(words.begin());
  if (words.empty()) fail_without_text(call, "a file", "script.gsl");
  if (words.front().starts_with("-"))
    throw Error("SyntaxError", fmt::format("%run does not take {}", words.front()), "%run -t FILE says how long it took");
  const std::string name = path_of(words.front());
  words.erase(words.begin());
  if (timed) {
    write_stdout(time_of([&] { call.session.run_file(name, words); }));
  } else {
    call.session.run_file(name, words);
  }
  return std::nullopt;
}

/// The text that a word of %load and %edit stands for: a file's, a function's, or that of entries.
std::optional<std::string> text_named(const CommandCall& call, const std::string& word) {
  if (!word.empty() && word.find_first_not_of("0123456789-") == std::string::npos) {
    std::string text;
    for (const std::string& entry : entries_in(call.session, word)) text += (text.empty() ? "" : "\n") + entry;
    return text;
  }
  Interpreter& interpreter = call.session.host.interpreter;
  if (const Value* value = interpreter.global(word))
    if (const auto found = function_text(interpreter, *value))
      return found->source->text().substr(found->span.begin, found->span.end - found->span.begin);
  return std::nullopt;
}

std::optional<Value> load(const CommandCall& call) {
  const std::vector<std::string> words = shell_words(call.text);
  if (words.size() != 1) fail_without_text(call, "a file, a function or numbers of entries", "script.gsl");
  const std::optional<std::string> text = text_named(call, words[0]);
  call.session.waiting = text ? *text : editor::cleaned_paste(read_file(path_of(words[0]))->text());
  return std::nullopt;
}

std::optional<Value> save(const CommandCall& call) {
  std::vector<std::string> words = shell_words(call.text);
  bool adds = false, replaces = false;
  while (!words.empty() && (words[0] == "-a" || words[0] == "-f")) {
    (words[0] == "-a" ? adds : replaces) = true;
    words.erase(words.begin());
  }
  if (words.empty()) fail_without_text(call, "a file", "script.gsl 1-5 8");
  const std::string path = path_of(words[0]);
  std::string text;
  const auto add = [&](const std::string& entry) {
    if (!is_command(entry)) text += entry + "\n";  // a script has no commands
  };
  for (size_t k = 1; k < words.size(); ++k)
    for (const std::string& entry : entries_in(call.session, words[k])) add(entry);
  if (words.size() == 1)
    for (const std::string& entry : call.session.entries()) add(entry);
  if (adds) {
    append_to_file(path, text);
  } else {
    if (!replaces && std::filesystem::exists(path))
      throw Error("FileExistsError", fmt::format("{} is there already", in_quotes(path)), "%save -f replaces a file, %save -a adds to it");
    AtomicFile file(path);
    file.write(text);
    file.commit();
  }
  return std::nullopt;
}

std::optional<Value> edit(const CommandCall& call) {
  const std::vector<std::string> words = shell_words(call.text);
  if (words.size() > 1) fail_without_text(call, "one file, function or numbers of entries", "script.gsl");
  const std::string& program = call.session.settings.editor;
  std::optional<std::string> text = words.empty() ? std::optional<std::string>("") : text_named(call, words[0]);
  if (text) {
    const std::string edited = edit_text(*text, program);
    call.session.editor.history().add(edited);
    call.session.run(edited, call.session.source_name());
  } else {
    const std::string path = path_of(words[0]);
    edit_file(path, program);
    call.session.run_file(path, {});
  }
  return std::nullopt;
}

std::optional<Value> paste(const CommandCall& call) {
  const std::string text = editor::cleaned_paste(clipboard_text());
  write_stdout(text + "\n");
  call.session.editor.history().add(text);
  call.session.run(text, call.session.source_name());
  return std::nullopt;
}

std::optional<Value> change_folder(const CommandCall& call) {
  static std::filesystem::path before;
  const std::vector<std::string> words = shell_words(call.text);
  if (words.size() > 1) fail_without_text(call, "one folder", "data");
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  std::filesystem::path to = words.empty() ? path_of("~") : path_of(words[0]);
  if (to == "-") {
    if (before.empty()) throw Error("ValueError", "there is no folder to go back to");
    to = before;
  }
  std::filesystem::current_path(to, error);
  if (error) throw os_error(error.value(), to);
  before = here;
  write_stdout(std::filesystem::current_path(error).string() + "\n");
  return std::nullopt;
}

std::optional<Value> folder(const CommandCall&) {
  std::error_code error;
  return make_str(std::filesystem::current_path(error).string());
}

}  // namespace

const std::vector<Command>& file_commands() {
  using Takes = Command::Takes;
  static const std::vector<Command> kCommands = {
      {"%run", "[-t] FILE [ARGUMENTS]", "run a script here: its names stay; -t says how long it took", Takes::file, run_file},
      {"%load", "FILE|NAME|N-M", "a file, a function or entries, as the next entry to edit", Takes::file, load},
      {"%save", "[-a|-f] FILE [N-M …]", "write entries to a file; -a adds to it, -f replaces it", Takes::file, save},
      {"%edit", "[FILE|NAME|N-M]", "edit with a program, then run", Takes::file, edit},
      {"%paste", "", "run what was copied last", Takes::nothing, paste},
      {"%cd", "[FOLDER|-]", "go to a folder, home, or back", Takes::file, change_folder},
      {"%pwd", "", "the folder", Takes::nothing, folder},
  };
  return kCommands;
}

}  // namespace gasell::cli
