// Editing of one entry: keys come in, a view goes out. Knows no terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/tokens.h"
#include "tools/editor/buffer.h"
#include "tools/editor/history.h"
#include "tools/editor/keys.h"
#include "tools/editor/menu.h"
#include "tools/editor/services.h"
#include "tools/editor/vi.h"
#include "tools/editor/view.h"

namespace gasell::editor {

enum class Mode {
  entry,  // of the session: colours, blocks, history, completion
  line,   // what input() asks for
};

class Editing {
 public:
  Editing(History& history, const Services& services) : history_(history), services_(services) {}

  /// vi's keys from the next entry on, or no longer.
  void use_vi(bool wanted) { uses_vi_ = wanted; }
  bool is_vi_normal() const { return uses_vi_ && vi_.is_normal(); }

  void begin(Mode mode, std::string prompt, std::string more_prompt);
  /// A text to begin with, which waits to be edited.
  void prefill(std::string_view text);
  /// Another text in the place of what stands there, as it came from elsewhere.
  void replace_with(std::string_view text);

  enum class Outcome {
    goes_on,
    accepted,
    ended,         // Ctrl-D where nothing stands
    interrupted,   // Ctrl-C
    suspended,     // Ctrl-Z
    clears,        // Ctrl-L: the screen shall be empty but for the entry
    edits_beside,  // Ctrl-X Ctrl-E: the text shall be edited with a program
    beeps,
  };
  /// `more_waits`: further keys have come already, as in a paste that is not marked as one. A new line is not indented then.
  Outcome handle(const Key& key, bool more_waits);
  /// Nobody types: looks for mistakes. True when the view changed.
  bool idle();

  const Buffer& buffer() const { return buffer_; }
  /// What was accepted, without empty lines at its end.
  std::string result() const;
  Mode mode() const { return mode_; }
  /// The candidates, while they are shown.
  const Menu& menu() const { return menu_; }

  /// At most half of `rows` stands below the text. The view points into this.
  View view(int columns, int rows);
  /// The text as it stays on the screen.
  View final_view();

 private:
  struct Search {
    std::string query;
    bool failed = false;
    size_t index;        // of the entry that is shown, or the number of entries
    std::string before;  // what stood there when it began
    size_t cursor_before;
  };
  struct Recall {
    size_t index;
    std::string prefix, before;
  };

  Outcome handle_search(const Key& key);
  std::optional<Outcome> handle_vi(const Key& key);
  std::optional<Outcome> handle_menu(const Key& key);
  Outcome handle_control(const Key& key);
  Outcome handle_alt(const Key& key);
  Outcome handle_special(const Key& key);
  Outcome enter(const Key& key, bool more_waits);
  Outcome tab(const Key& key);
  void type(std::string_view text);
  void take_paste(std::string_view pasted);
  void new_line(bool indents);
  void backspace();
  void recall(bool older);
  void search(bool older, bool anew);
  void cut(size_t begin, size_t end);
  void yank(size_t age);
  void swap_characters();
  void change_case(char how);
  void move_vertically(bool up, int lines);
  bool accept_suggestion(bool word);
  std::string_view suggestion() const;
  void complete(bool opens);
  const std::vector<Token>& tokens() const;
  std::vector<Style> styles() const;
  /// Where the lines that brackets join to the cursor's begin.
  size_t statement_begin() const;

  History& history_;
  const Services& services_;
  KillRing cuts_;
  Mode mode_ = Mode::line;
  std::string prompt_, more_prompt_;
  Buffer buffer_;
  Menu menu_;
  std::optional<Search> search_;
  std::optional<Recall> recall_;
  std::optional<size_t> yank_age_;    // of what was pasted from the cuts just now
  std::optional<std::string> whole_;  // a text that came as one, by a paste or from the history: it wants no empty line at its end
  std::optional<Mistake> mistake_;
  bool control_x_ = false;  // Ctrl-X was pressed
  bool uses_vi_ = false;
  Vi vi_;
  mutable std::string tokens_of_;
  mutable std::vector<Token> tokens_;
};

}  // namespace gasell::editor
