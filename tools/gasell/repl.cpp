#include "tools/gasell/repl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "lang/parser.h"
#include "runtime/device/device.h"
#include "tools/gasell/commands.h"
#include "tools/gasell/completion.h"
#include "tools/gasell/host.h"
#include "tools/gasell/line_editor.h"
#include "tools/gasell/terminal.h"
#include "tools/version.h"

namespace gasell::cli {

namespace {

std::filesystem::path history_path() {
  if (const char* path = std::getenv("GASELL_HISTORY")) return path;  // empty: none
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state) return std::filesystem::path(state) / "gasell" / "history";
  if (const char* home = std::getenv("HOME"); home && *home) return std::filesystem::path(home) / ".local" / "state" / "gasell" / "history";
  return {};
}

class Repl {
 public:
  explicit Repl(const Options& options)
      : options_(options),
        host_(options, true),
        editor_(history_path(), [this](std::string_view before) { return complete_name(host_.interpreter, before); }) {
    host_.interpreter.read_line = [this](const std::string& prompt) -> std::optional<std::string> {
      flush_stdout();
      std::string line;
      switch (editor_.read(prompt, line)) {
        case LineEditor::Result::line: return line;
        case LineEditor::Result::interrupted: throw Interrupted();
        case LineEditor::Result::end: break;
      }
      return std::nullopt;
    };
  }

  int run() {
    const std::string greeting =
        fmt::format("Gasell {} on {} threads. Tab completes, ?name explains, %help lists the commands, Ctrl-D leaves.\n", kVersion,
                    host_.engine.device().properties().threads);
    std::fputs(greeting.c_str(), stdout);
    while (const std::optional<std::string> entry = read_entry()) {
      std::optional<int> exit_code = execute(*entry);
      if (exit_code) return *exit_code;
    }
    return 0;
  }

 private:
  /// A whole entry, perhaps of several lines; nullopt when the session ends.
  std::optional<std::string> read_entry() {
    while (true) {
      std::string entry, line;
      LineEditor::Result result = editor_.read(">>> ", line);
      while (result == LineEditor::Result::line) {
        editor_.remember(line);
        entry += entry.empty() ? line : "\n" + line;
        if (is_command(entry) || entry.find_first_not_of(" \t\n") == std::string::npos) break;
        if (is_complete(entry, line)) break;
        result = editor_.read("... ", line);
      }
      if (result == LineEditor::Result::end) return std::nullopt;
      if (result == LineEditor::Result::interrupted || entry.find_first_not_of(" \t\n") == std::string::npos) continue;
      return entry;
    }
  }

  /// Within a paste the next line says whether a block goes on, as in a file; at the prompt an empty line ends it.
  bool is_complete(const std::string& entry, const std::string& last_line) const {
    const auto& waiting = editor_.pasted();
    const auto next = std::find_if(waiting.begin(), waiting.end(), [](const std::string& l) {  // comments stand anywhere within a block
      const size_t first = l.find_first_not_of(' ');
      return first != std::string::npos && l[first] != '#';
    });
    const bool empty = last_line.find_first_not_of(" \t") == std::string::npos;
    if (next == waiting.end()) return completeness(entry + "\n") != Completeness::incomplete;
    const bool goes_on = next->front() == ' ' || continues_block(*next);
    if (goes_on) return !empty && completeness(entry + "\n") != Completeness::incomplete;
    return completeness(entry + "\n\n") != Completeness::incomplete;
  }
  static bool continues_block(const std::string& line) {
    const std::string word = line.substr(0, line.find_first_of(" :("));
    return word == "else" || word == "elif" || word == "except" || word == "finally";
  }

  /// The exit code when the entry asked to leave.
  std::optional<int> execute(const std::string& entry) {
    if (entry == "exit" || entry == "quit") return 0;
    host_.engine.clear_interrupt();
    InterruptHandler::take();
    bool left = false;
    const int code = guarded(options_, [&] {
      try {
        if (is_command(entry)) {
          run_command(host_, entry, next_source_name());
          return;
        }
        const Value value = host_.interpreter.evaluate(parse_module(std::make_shared<Source>(next_source_name(), entry)));
        if (value.is_none()) return;
        write_stdout(repr(host_.interpreter, value) + "\n");
        host_.interpreter.set_global("_", value);
      } catch (const Interpreter::Exit&) {
        left = true;
        throw;
      } catch (const OutputClosed&) {
        left = true;
        throw;
      }
    });
    InterruptHandler::take();
    if (left) return code;
    return std::nullopt;
  }

  std::string next_source_name() { return fmt::format("<entry {}>", ++entries_); }

  const Options& options_;
  Host host_;
  LineEditor editor_;
  int entries_ = 0;
};

}  // namespace

int run_repl(const Options& options) {
  std::optional<Repl> repl;
  if (const int code = guarded(options, [&] { repl.emplace(options); }); code != 0) return code;
  return repl->run();
}

}  // namespace gasell::cli
