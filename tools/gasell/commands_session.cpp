// Commands about the session itself: %history, %who, %whos, %reset, %config, %help.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/io/atomic_file.h"
#include "tools/gasell/command_table.h"
#include "tools/gasell/commands.h"
#include "tools/gasell/programs.h"
#include "tools/gasell/terminal.h"
#include "tools/gasell/variables.h"

namespace gasell::cli {

namespace {

[[noreturn]] void fail_range(const std::string& range) {
  throw Error("SyntaxError", fmt::format("'{}' is no number of an entry, nor two with a - between them", range), "for example: 1-5 8");
}

size_t number_in(const std::string& text, const std::string& range) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) fail_range(range);
  return number;
}

/// An entry with its number before the first line.
std::string numbered(size_t number, const std::string& entry) {
  std::string out = fmt::format("{:>4}: ", number);
  for (const char c : entry) out += c == '\n' ? "\n      " : std::string(1, c);
  return out + "\n";
}

std::optional<Value> history(const CommandCall& call) {
  const std::vector<std::string> words = shell_words(call.text);
  const std::vector<std::string>& entries = call.session.entries();
  bool numbers = false;
  std::string file, text;
  std::vector<size_t> chosen;
  bool all = true;
  for (size_t k = 0; k < words.size(); ++k) {
    const std::string& word = words[k];
    const bool wants_word = word == "-g" || word == "-l" || word == "-f";
    if (wants_word && k + 1 == words.size()) throw Error("SyntaxError", fmt::format("%history {} wants something behind it", word));
    if (word == "-n") {
      numbers = true;
    } else if (word == "-f") {
      file = words[++k];
    } else if (word == "-g") {
      all = false;
      const std::string& pattern = words[++k];
      for (const std::string& entry : call.session.editor.history().entries())
        if (entry.find(pattern) != std::string::npos) text += entry + "\n";
    } else if (word == "-l") {
      all = false;
      const size_t count = std::min(number_in(words[++k], word), entries.size());
      for (size_t i = entries.size() - count; i < entries.size(); ++i) chosen.push_back(i);
    } else if (word.starts_with('-')) {
      throw Error("SyntaxError", fmt::format("%history does not take {}", word), "%history [-n] [-l COUNT] [-g TEXT] [-f FILE] [N-M …]");
    } else {
      all = false;
      const size_t first = number_in(word.substr(0, word.find('-')), word);
      const size_t count = entries_in(call.session, word).size();
      for (size_t i = 0; i < count; ++i) chosen.push_back(first - 1 + i);
    }
  }
  for (size_t i = 0; all && i < entries.size(); ++i) chosen.push_back(i);
  for (const size_t i : chosen) text += numbers ? numbered(i + 1, entries[i]) : entries[i] + "\n";
  if (file.empty()) {
    page(text, call.session.settings.pager);
  } else {
    AtomicFile out(file);
    out.write(text);
    out.commit();
  }
  return std::nullopt;
}

std::optional<Value> show_names(const CommandCall& call) {
  const auto hidden = [&](const std::string& name) { return call.session.is_own_name(name); };
  write_stdout(call.name == "%who" ? who(call.session.host.interpreter, hidden) : whos(call.session.host.interpreter, hidden));
  return std::nullopt;
}

std::optional<Value> reset(const CommandCall& call) {
  std::vector<std::string> words = shell_words(call.text);
  const bool sure = std::erase(words, "-f") > 0;
  const bool results = std::erase(words, "out") > 0;
  if (!words.empty())
    throw Error("SyntaxError", fmt::format("%reset does not take {}", words[0]),
                "%reset [-f] forgets the variables, %reset out the results");
  Session& session = call.session;
  if (results) {
    session.forget_results();
    return std::nullopt;
  }
  if (!sure) {
    std::string answer;
    if (session.editor.read_line("Forget all variables and results? (y/n) ", answer) != editor::LineEditor::Result::text ||
        !answer.starts_with('y')) {
      write_stdout("nothing was forgotten\n");
      return std::nullopt;
    }
  }
  session.forget_results();
  session.exception = Value();
  std::string names;
  for (const std::string& name : session.host.interpreter.global_names())
    if (!session.is_own_name(name) && session.host.interpreter.global(name)) names += (names.empty() ? "del " : ", ") + name;
  if (!names.empty()) session.host.interpreter.run(call.parsed(names));
  return std::nullopt;
}

std::optional<Value> config(const CommandCall& call) {
  Session& session = call.session;
  if (call.text.empty()) {
    write_stdout(settings_text(session.settings));
    return std::nullopt;
  }
  const size_t end = call.text.find_first_of(" \t=");
  if (end == std::string::npos) fail_without_text(call, "a setting and its value", "theme = light");
  const size_t begin = std::min(call.text.find_first_not_of(" \t=", end), call.text.size());
  const std::vector<std::string> words = shell_words(call.text.substr(begin));
  change_setting(session.settings, call.text.substr(0, end), words.empty() ? "" : words[0]);
  session.editor.set_theme(session.settings.theme);
  session.editor.use_vi(session.settings.keys == "vi");
  return std::nullopt;
}

std::optional<Value> help(const CommandCall& call) {
  page(help_text(), call.session.settings.pager);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> entries_in(const Session& session, const std::string& range) {
  const size_t dash = range.find('-');
  const size_t count = session.entries().size();
  const size_t first = number_in(range.substr(0, dash), range);
  const size_t last = dash == std::string::npos ? first : dash + 1 == range.size() ? count : number_in(range.substr(dash + 1), range);
  if (first < 1 || first > last || last > count)
    throw Error("ValueError", fmt::format("there are entries 1 to {}, and no {}", count, range));
  return {session.entries().begin() + static_cast<std::ptrdiff_t>(first - 1),
          session.entries().begin() + static_cast<std::ptrdiff_t>(last)};
}

const std::vector<Command>& session_commands() {
  using Takes = Command::Takes;
  static const std::vector<Command> kCommands = {
      {"%history", "[-n] [-l N] [-g TEXT] [N-M …]",
       "entries; -n with numbers, -l the last ones, -g of all sessions that contain TEXT, -f into a file", Takes::text, history},
      {"%who", "", "the variables", Takes::nothing, show_names},
      {"%whos", "", "the variables, with types, shapes and sizes", Takes::nothing, show_names},
      {"%reset", "[-f] [out]", "forget the variables and results, without asking; only the results", Takes::text, reset},
      {"%config", "[NAME = VALUE]", "the settings; changes one", Takes::text, config, setting_names},
      {"%help", "", "this table", Takes::nothing, help},
  };
  return kCommands;
}

}  // namespace gasell::cli
