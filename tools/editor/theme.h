// What the parts of an entry look like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gasell::editor {

enum class Style : uint8_t {
  plain,
  prompt,
  keyword,
  constant,  // True, None
  builtin,
  definition,  // the name behind def
  decorator,
  number,
  string,
  comment,
  symbol,
  command,     // %time, !ls
  bracket,     // the pair at the cursor
  unmatched,   // a bracket without its pair
  mistake,     // where the syntax is wrong
  suggestion,  // the rest of an earlier entry
  hint,        // lines below the text
  emphasis,    // within them: the parameter that comes
  menu,
  menu_chosen,
  menu_detail,
  found,  // by a search
};
inline constexpr size_t kStyleCount = static_cast<size_t>(Style::found) + 1;

/// Names of the themes: "dark", "light", "none".
std::vector<std::string> theme_names();

/// How the terminal is told to write in a style: the parameters of CSI … m, empty for what is written plainly.
class Theme {
 public:
  /// `colours`: how many the terminal has; 0 keeps underlines and reverse video alone. Null for an unknown name.
  static std::optional<Theme> named(std::string_view name, int colours);
  std::string_view code(Style style) const;

 private:
  std::string_view codes_[kStyleCount];
};

/// How many colours a terminal has, by its variables TERM, COLORTERM and NO_COLOR (null where they are not set): 256, 16 or 0.
int colour_count(const char* term, const char* colorterm, const char* no_color);
/// "light" where the terminal's variable COLORFGBG (null where it is not set) tells of a light background, otherwise "dark".
std::string default_theme(const char* colorfgbg);

}  // namespace gasell::editor
