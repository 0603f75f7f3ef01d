// Line editing over libedit: history, completion, Ctrl-C.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gasell::cli {

class LineEditor {
 public:
  /// What could stand in place of the last `replaces` bytes before the cursor.
  struct Completion {
    size_t replaces = 0;
    std::vector<std::string> candidates;
  };
  using Completer = std::function<Completion(std::string_view before_cursor)>;

  /// An empty history path keeps no history across sessions.
  LineEditor(std::filesystem::path history, Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Result { line, interrupted, end };
  /// One line, without its line end. Ctrl-C gives up the line (interrupted), Ctrl-D on an empty one ends.
  Result read(const std::string& prompt, std::string& line);
  /// The lines of a paste that come next without being typed; empty most of the time. They are gone after Ctrl-C.
  const std::deque<std::string>& pasted() const;
  /// Keeps a line in the history.
  void remember(const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gasell::cli
