// A finished page as the texts hold it.
#pragma once

#include <string>
#include <vector>

#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"

namespace gasell::matplotlib {

class Picture final : public Object {
 public:
  const Type& type() const override {
    static const Type type{"Picture", "_matplotlib", &object_type()};
    return type;
  }
  std::string bytes;  // of a file; or rows of pixels, four bytes each
  int64_t width = 0;  // pixels a row, where it is pixels
  int64_t height() const { return width == 0 ? 0 : static_cast<int64_t>(bytes.size()) / 4 / width; }
};

/// A label that a terminal shows as characters: its middle in parts of the page's width and height (from above).
struct TerminalText {
  std::string text;
  double x, y;
  bool is_upright;
  double colour[4];
};

/// Pixels of two columns and four rows a character as Braille patterns in colours, and texts upon them. `colours`: escape sequences of 24
/// bits.
std::string braille_text(const Picture& pixels, const std::vector<TerminalText>& texts, bool colours);
/// A PNG as Kitty's and iTerm's escape sequences have it, and pixels as Sixel's.
std::string kitty_text(const Picture& png);
std::string iterm_text(const Picture& png);
std::string sixel_text(const Picture& pixels);

}  // namespace gasell::matplotlib
