#include "tools/gasell/repl.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "lang/parser.h"
#include "runtime/device/device.h"
#include "tools/gasell/commands.h"
#include "tools/gasell/script.h"
#include "tools/gasell/session.h"
#include "tools/gasell/terminal.h"
#include "tools/version.h"

namespace gasell::cli {

class Repl {
 public:
  explicit Repl(const Options& options) : options_(options), session_(options) {}

  int run() {
    const std::string who = fmt::format("Gasell {} on {} threads.", kVersion, session_.host.engine.device().properties().threads);
    const std::string_view how = "Tab completes, ?name explains, %help lists the commands, Ctrl-D leaves.";
    const bool fits = static_cast<int>(who.size() + 1 + how.size()) <= session_.editor.columns();
    std::fputs(fmt::format("{}{}{}\n", who, fits ? " " : "\n", how).c_str(), stdout);
    std::optional<int> left = begin();
    while (!left) {
      const std::optional<std::string> entry = read_entry();
      if (!entry) return 0;
      left = execute(*entry);
    }
    return *left;
  }

 private:
  /// What stands in the init file, then the script of `gasell -i`.
  std::optional<int> begin() {
    const std::filesystem::path init = init_file();
    std::error_code error;
    if (!init.empty() && std::filesystem::is_regular_file(init, error))
      if (const std::optional<int> left = guard([&] { run_init(read_file(init.string())->text(), init.string()); })) return left;
    if (options_.script.empty()) return std::nullopt;
    return guard([&] { session_.run_file(options_.script, options_.arguments); });
  }

  /// The init file is a script, and its lines may be commands.
  void run_init(const std::string& text, const std::string& name) {
    std::string code;
    const auto flush = [&] {
      if (code.find_first_not_of(" \n") != std::string::npos)
        session_.host.interpreter.run(parse_module(std::make_shared<Source>(name, code)));
      code.assign(static_cast<size_t>(std::count(code.begin(), code.end(), '\n')), '\n');  // lines keep their numbers
    };
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      if (line.starts_with('%')) {
        flush();
        run_command(session_, line);
        code += "\n";
      } else {
        code += line + "\n";
      }
      begin = end + 1;
    }
    flush();
  }

  std::optional<std::string> read_entry() {
    while (true) {
      flush_stdout();
      if (!std::exchange(session_.open_line_, {}).empty()) std::fputs("\n", stdout), flush_stdout();
      const bool numbers = session_.settings.prompt == "ipython";
      const std::string prompt = numbers ? fmt::format("In [{}]: ", session_.entries().size() + 1) : ">>> ";
      const std::string more = numbers ? std::string(prompt.size() - 5, ' ') + "...: " : "... ";
      std::string entry;
      const auto result = session_.editor.read_entry(prompt, more, std::exchange(session_.waiting, {}), entry);
      if (result == editor::LineEditor::Result::end) return std::nullopt;
      if (result == editor::LineEditor::Result::text && entry.find_first_not_of(" \t\n") != std::string::npos) return entry;
    }
  }

  /// The exit code when the entry asked to leave.
  std::optional<int> execute(const std::string& entry) {
    if (entry == "exit" || entry == "quit") return 0;
    session_.add_entry(entry);
    return guard([&] {
      session_.fit_to_terminal();
      if (is_command(entry)) {
        run_command(session_, entry);
      } else {
        session_.run(entry, session_.source_name());
      }
    });
  }

  /// Runs `work` and reports what it throws; the exit code when it asked to leave.
  std::optional<int> guard(const std::function<void()>& work) {
    session_.host.engine.clear_interrupt();
    InterruptHandler::take();
    session_.host.interpreter.forget_exception();  // of a name that was looked up while one typed
    bool left = false;
    const int code = guarded(options_, [&] {
      try {
        work();
      } catch (const Interpreter::Exit&) {
        left = true;
        throw;
      } catch (const OutputClosed&) {
        left = true;
        throw;
      }
    });
    InterruptHandler::take();
    if (const Value& exception = session_.host.interpreter.uncaught(); !exception.is_none()) session_.exception = exception;
    return left ? std::optional(code) : std::nullopt;
  }

  const Options& options_;
  Session session_;
};

int run_repl(const Options& options) {
  std::optional<Repl> repl;
  if (const int code = guarded(options, [&] { repl.emplace(options); }); code != 0) return code;
  return repl->run();
}

}  // namespace gasell::cli
