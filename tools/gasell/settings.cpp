#include "tools/gasell/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/diagnostic.h"
#include "lang/render.h"
#include "tools/editor/theme.h"

namespace gasell::cli {

namespace {

struct Setting {
  const char* name;
  std::vector<std::string> values;  // empty: any text
  const char* help;
  std::string (*get)(const Settings&);
  void (*set)(Settings&, const std::string&);
};

template <bool Settings::* Member>
Setting on_off(const char* name, const char* help) {
  return {name,
          {"on", "off"},
          help,
          [](const Settings& s) { return std::string(s.*Member ? "on" : "off"); },
          [](Settings& s, const std::string& value) { s.*Member = value == "on"; }};
}
template <std::string Settings::* Member>
Setting text(const char* name, std::vector<std::string> values, const char* help) {
  return {name, std::move(values), help, [](const Settings& s) { return s.*Member; },
          [](Settings& s, const std::string& value) { s.*Member = value; }};
}

const std::vector<Setting>& table() {
  static const std::vector<Setting> kTable = {
      text<&Settings::theme>("theme", editor::theme_names(), "colours for a dark or a light background"),
      text<&Settings::keys>("keys", {"emacs", "vi"}, "of the editor"),
      text<&Settings::prompt>("prompt", {"python", "ipython"}, "'>>> ', or 'In [1]: ' with numbers"),
      on_off<&Settings::suggestions>("suggestions", "the rest of an earlier entry, in grey"),
      on_off<&Settings::signatures>("signatures", "the signature of the call that is being written"),
      on_off<&Settings::mistakes>("mistakes", "in the syntax, underlined while one writes"),
      {"width",
       {},
       "columns that arrays and frames are laid out for: auto (the terminal's), or a number",
       [](const Settings& s) { return s.width; },
       [](Settings& s, const std::string& value) {
         if (value != "auto" && (value.empty() || value.size() > 4 || value.find_first_not_of("0123456789") != std::string::npos))
           throw Error("ValueError", fmt::format("width is auto or a number of columns, not '{}'", value));
         s.width = value;
       }},
      on_off<&Settings::pager>("pager", "what is longer than the window goes through $PAGER, or less"),
      text<&Settings::editor>("editor", {}, "for %edit and Ctrl-X Ctrl-E; empty: $VISUAL, $EDITOR, vi"),
  };
  return kTable;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const Setting& setting : table()) names.emplace_back(setting.name);
  return names;
}

std::vector<std::string> setting_values(std::string_view name) {
  for (const Setting& setting : table())
    if (setting.name == name) return setting.values;
  return {};
}

std::string settings_text(const Settings& settings) {
  std::string out;
  for (const Setting& setting : table()) {
    const std::string value = setting.get(settings);
    out += fmt::format("{:<12} {:<8} {}{}\n", setting.name, value.empty() ? "''" : value, setting.help,
                       setting.values.empty() ? "" : " (" + joined(setting.values) + ")");
  }
  return out;
}

void change_setting(Settings& settings, std::string_view name, const std::string& value) {
  const auto found = std::find_if(table().begin(), table().end(), [&](const Setting& s) { return s.name == name; });
  if (found == table().end()) {
    const std::string hint = near_hint(name, setting_names());
    throw Error("ValueError", fmt::format("there is no setting '{}'", name), hint.empty() ? "%config lists the settings" : hint);
  }
  if (!found->values.empty() && std::find(found->values.begin(), found->values.end(), value) == found->values.end())
    throw Error("ValueError", fmt::format("{} is one of {}, not '{}'", name, joined(found->values), value));
  found->set(settings, value);
}

}  // namespace gasell::cli
