// The terminal as a device: its modes, its size, what comes from it.
#pragma once

#include <termios.h>

#include <functional>
#include <string>
#include <string_view>

namespace gasell::editor {

/// How Ctrl-C is told: a descriptor that is readable from the signal on (-1: none), and a function that says whether there was one since it
/// was last asked.
struct Interrupts {
  int wakeup = -1;
  std::function<bool()> take;
};

/// What the terminal can do.
enum class Ability {
  none,   // no terminal at one end: lines are read as they come
  plain,  // a terminal that knows no sequences: one row, rewritten
  full,
};
/// By what the descriptors 0 and 1 are, and the variable TERM.
Ability terminal_ability();

struct TerminalSize {
  int columns = 80, rows = 24;
};

class TerminalIo {
 public:
  explicit TerminalIo(Interrupts interrupts);
  ~TerminalIo();
  TerminalIo(const TerminalIo&) = delete;
  TerminalIo& operator=(const TerminalIo&) = delete;

  /// Every key comes as it is pressed, and nothing is echoed; Ctrl-C stays a signal. Until leave().
  void enter();
  void leave();

  enum class Event { bytes, interrupt, resize, timeout, end };
  /// Waits for one of them, for `milliseconds` at most (-1: as long as it takes). `out` gets the bytes that came.
  Event wait(int milliseconds, std::string& out);
  /// Bytes are there that nobody has read.
  bool more_waits() const;

  void write(std::string_view text);
  TerminalSize size() const;

 private:
  Interrupts interrupts_;
  termios before_ = {};
  bool entered_ = false, knows_before_ = false;
};

}  // namespace gasell::editor
