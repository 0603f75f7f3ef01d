// Bytes that a terminal sends, as keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gasell::editor {

struct Key {
  enum class Code {
    character,  // `text` in UTF-8, lower case with ctrl
    enter,
    tab,
    backspace,
    erase,  // Delete
    insert,
    up,
    down,
    left,
    right,
    home,
    end,
    page_up,
    page_down,
    escape,
    paste,    // `text`: what a terminal with bracketed paste says was pasted, as it came
    unknown,  // a sequence without a meaning here
  };
  Code code = Code::unknown;
  std::string text = {};
  bool ctrl = false, alt = false, shift = false;
  bool operator==(const Key&) const = default;
};

/// Takes what is read and gives keys: xterm's sequences, which nearly all terminals send, those of the Linux console and of rxvt, and of
/// terminals that tell modified keys as CSI u.
class KeyDecoder {
 public:
  void feed(std::string_view bytes) { bytes_ += bytes; }
  /// The next whole key. A lone ESC is the key Escape only when nothing more came: `waited` says that one waited for it.
  std::optional<Key> next(bool waited = false);
  /// Bytes are there that make no whole key yet.
  bool unfinished() const { return !bytes_.empty(); }

 private:
  std::optional<Key> escape_sequence(bool waited);
  std::optional<Key> control_sequence(size_t begin, bool alt);
  Key take(size_t count, Key key);

  std::string bytes_;
};

}  // namespace gasell::editor
