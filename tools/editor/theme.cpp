#include "tools/editor/theme.h"

#include <algorithm>
#include <array>

namespace gasell::editor {

namespace {

struct Look {
  Style style;
  std::string_view dark, light;        // of 256 colours
  std::string_view dark_16, light_16;  // of 16
  std::string_view none;               // without colours
};

constexpr std::array kLooks = {
    Look{Style::prompt, "38;5;71", "38;5;28", "32", "32", ""},
    Look{Style::keyword, "38;5;75;1", "38;5;25;1", "94;1", "34;1", ""},
    Look{Style::constant, "38;5;75", "38;5;25", "94", "34", ""},
    Look{Style::builtin, "38;5;80", "38;5;30", "36", "36", ""},
    Look{Style::definition, "38;5;222;1", "38;5;94;1", "93;1", "33;1", ""},
    Look{Style::decorator, "38;5;176", "38;5;127", "95", "35", ""},
    Look{Style::number, "38;5;180", "38;5;130", "33", "33", ""},
    Look{Style::string, "38;5;114", "38;5;28", "32", "32", ""},
    Look{Style::comment, "38;5;245;3", "38;5;243;3", "90", "90", ""},
    Look{Style::symbol, "", "", "", "", ""},
    Look{Style::command, "38;5;176", "38;5;127", "95", "35", ""},
    Look{Style::bracket, "48;5;240;1", "48;5;252;1", "7", "7", "7"},
    Look{Style::unmatched, "38;5;203;1", "38;5;160;1", "91", "31", "1"},
    Look{Style::mistake, "4;38;5;203", "4;38;5;160", "4;91", "4;31", "4"},
    Look{Style::suggestion, "38;5;242", "38;5;247", "90", "90", "2"},
    Look{Style::hint, "38;5;246", "38;5;242", "90", "90", ""},
    Look{Style::emphasis, "38;5;222;1", "38;5;94;1", "93", "33", "1"},
    Look{Style::menu, "48;5;237;38;5;252", "48;5;254;38;5;236", "", "", ""},
    Look{Style::menu_chosen, "48;5;25;38;5;231;1", "48;5;111;38;5;16;1", "7", "7", "7"},
    Look{Style::menu_detail, "48;5;237;38;5;246", "48;5;254;38;5;242", "90", "90", ""},
    Look{Style::found, "48;5;58", "48;5;229", "7", "7", "7"},
};

}  // namespace

std::vector<std::string> theme_names() { return {"dark", "light", "none"}; }

std::optional<Theme> Theme::named(std::string_view name, int colours) {
  const std::vector<std::string> names = theme_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return std::nullopt;
  const bool dark = name == "dark", light = name == "light";
  Theme theme;
  for (const Look& look : kLooks) {
    std::string_view& code = theme.codes_[static_cast<size_t>(look.style)];
    code = look.none;
    if (dark && colours > 0) code = colours >= 256 ? look.dark : look.dark_16;
    if (light && colours > 0) code = colours >= 256 ? look.light : look.light_16;
  }
  return theme;
}

std::string_view Theme::code(Style style) const { return codes_[static_cast<size_t>(style)]; }

int colour_count(const char* term, const char* colorterm, const char* no_color) {
  const std::string_view name = term ? term : "";
  if ((no_color && *no_color) || name.empty() || name == "dumb" || name.starts_with("vt")) return 0;
  if (colorterm && *colorterm) return 256;
  for (std::string_view rich : {"256color", "direct", "kitty", "alacritty", "foot", "wezterm", "ghostty", "iterm", "xterm"})
    if (name.find(rich) != std::string_view::npos) return 256;
  return 16;
}

std::string default_theme(const char* colorfgbg) {
  const std::string_view value = colorfgbg ? colorfgbg : "";
  const size_t last = value.rfind(';');
  const std::string_view background = last == std::string_view::npos ? std::string_view() : value.substr(last + 1);
  return background == "7" || background == "15" ? "light" : "dark";
}

}  // namespace gasell::editor
