// What a person can set for the session with %config.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gasell::cli {

struct Settings {
  std::string theme;              // of the editor's colours
  std::string keys = "emacs";     // or "vi"
  std::string prompt = "python";  // ">>> ", or "ipython": "In [1]: "
  bool suggestions = true;        // the rest of an earlier entry in grey
  bool signatures = true;         // of the call that is written
  bool mistakes = true;           // in the syntax, underlined when nobody types
  std::string width = "auto";     // columns that arrays and frames are laid out for: the terminal's, or a number
  bool pager = true;              // what is longer than the window goes through one
  std::string editor;             // for %edit; empty: $VISUAL, $EDITOR, vi
};

/// "theme", "prompt", …
std::vector<std::string> setting_names();
/// The words that one takes; none where it takes any text, or there is none of that name.
std::vector<std::string> setting_values(std::string_view name);
/// One setting a line, with its value and what it may be.
std::string settings_text(const Settings& settings);
/// Sets one. Error (ValueError) for an unknown name, with the one that was meant, and for a value that it does not take.
void change_setting(Settings& settings, std::string_view name, const std::string& value);

}  // namespace gasell::cli
