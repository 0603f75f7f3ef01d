// Entries and lines read from a terminal, with all of the editor; from one that can little, or none, with what is possible there.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tools/editor/history.h"
#include "tools/editor/services.h"
#include "tools/editor/terminal_io.h"
#include "tools/editor/theme.h"

namespace gasell::editor {

class LineEditor {
 public:
  /// An empty history path keeps no history across sessions.
  LineEditor(std::filesystem::path history, Services services, Interrupts interrupts);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Result { text, interrupted, end };
  /// A whole entry of one or more lines; `prefilled` waits in it to be edited. Ctrl-C gives it up (interrupted), Ctrl-D on an empty one
  /// ends.
  Result read_entry(const std::string& prompt, const std::string& more_prompt, const std::string& prefilled, std::string& entry);
  /// One line, for input(). A prompt of several lines shows them. `shown`: what stands on the terminal's row already.
  Result read_line(const std::string& prompt, std::string& line, const std::string& shown = {});

  /// The cursor at the left of a row that holds nothing, wherever another program has left it.
  void begin_row();

  /// Of the terminal, now.
  int columns() const;

  History& history();
  /// "dark", "light", "none"; false for another name.
  bool set_theme(std::string_view name);
  const std::string& theme() const;
  /// vi's keys, or those of Emacs.
  void use_vi(bool wanted);

  /// Edits a text with a program; Ctrl-X Ctrl-E asks for it.
  std::function<std::string(const std::string& text)> edit_beside;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gasell::editor
