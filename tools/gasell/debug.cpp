#include "tools/gasell/debug.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "lang/parser.h"
#include "tools/gasell/session.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

constexpr int kLinesAround = 4;

class PostMortem {
 public:
  PostMortem(Session& session, const Exception& exception) : session_(session), frames_(exception.traceback) {}

  void run() {
    where();
    std::string line;
    while (session_.editor.read_line("(debug) ", line) == editor::LineEditor::Result::text) {
      const size_t begin = line.find_first_not_of(" \t");
      if (begin == std::string::npos) continue;
      line = line.substr(begin, line.find_last_not_of(" \t") - begin + 1);
      if (line == "q" || line == "quit" || line == "exit") return;
      guarded(session_.options, [&] { take(line); });
    }
  }

 private:
  const Exception::Frame& frame() const { return frames_[at_]; }

  void take(const std::string& line) {
    if (line == "u" || line == "up") {
      move(1);
    } else if (line == "d" || line == "down") {
      move(-1);
    } else if (line == "w" || line == "where" || line == "bt") {
      where();
    } else if (line == "l" || line == "list") {
      list();
    } else if (line == "v" || line == "vars") {
      variables();
    } else if (line == "h" || line == "help" || line == "?") {
      write_stdout(
          "up, down    the frame that called, that was called\nwhere       all frames\nlist        the lines around\nvars        the "
          "variables\n"
          "quit        leave; so does Ctrl-D\nanything else is an expression with the frame's variables\n");
    } else {
      show_value(line);
    }
  }

  void move(int by) {
    const auto to = static_cast<std::ptrdiff_t>(at_) + by;
    if (to < 0 || to >= static_cast<std::ptrdiff_t>(frames_.size()))
      return write_stdout(by > 0 ? "the outermost frame\n" : "the innermost frame\n");
    at_ = static_cast<size_t>(to);
    write_stdout(described(at_));
  }

  std::string described(size_t index) const {
    const Exception::Frame& frame = frames_[index];
    if (!frame.source) return "  ?\n";
    const Source::Position place = frame.source->position(frame.span.begin);
    std::string_view line = frame.source->line(place.line);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return fmt::format("{} {}:{}{}\n    {}\n", index == at_ ? ">" : " ", frame.source->name(), place.line,
                       frame.function.empty() ? "" : ", in " + frame.function, line);
  }

  void where() const {
    std::string out;
    for (size_t i = frames_.size(); i-- > 0;) out += described(i);
    write_stdout(out);
  }

  void list() const {
    const int line = frame().source->position(frame().span.begin).line;
    std::string out;
    for (int k = std::max(line - kLinesAround, 1); k <= std::min(line + kLinesAround, frame().source->line_count()); ++k)
      out += fmt::format("{} {:>4}  {}\n", k == line ? ">" : " ", k, frame().source->line(k));
    write_stdout(out);
  }

  void variables() const {
    std::string out;
    for (const auto& [name, value] : frame().variables) {
      std::string text = repr(session_.host.interpreter, value);
      for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 1 + name.size() + 3)
        text.insert(at + 1, name.size() + 3, ' ');
      out += fmt::format("{} = {}\n", name, text);
    }
    write_stdout(out.empty() ? "no variables of its own\n" : out);
  }

  /// As the body of a function with the frame's variables as parameters, so that it sees them and the globals.
  void show_value(const std::string& expression) const {
    std::string parameters;
    std::vector<Value> values;
    for (const auto& [name, value] : frame().variables) {
      parameters += (parameters.empty() ? "" : ", ") + name;
      values.push_back(value);
    }
    parse_module(std::make_shared<Source>("<debug>", expression));  // its own mistakes are told as they stand
    Interpreter& interpreter = session_.host.interpreter;
    const Value function =
        interpreter.evaluate(parse_module(std::make_shared<Source>("<debug>", "lambda " + parameters + ": (" + expression + "\n)")));
    const Value value = interpreter.call(function, std::move(values));
    if (!value.is_none()) write_stdout(repr(interpreter, value) + "\n");
  }

  Session& session_;
  const std::vector<Exception::Frame> frames_;  // innermost first; a copy: a mistake here is another exception
  size_t at_ = 0;
};

}  // namespace

void look_at_exception(Session& session) {
  const auto* exception = session.exception.as<Exception>();
  if (!exception || exception->traceback.empty()) throw Error("ValueError", "no exception was met in this session");
  PostMortem(session, *exception).run();
}

}  // namespace gasell::cli
