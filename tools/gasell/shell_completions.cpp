#include "tools/gasell/shell_completions.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "tools/gasell/options.h"
#include "tools/version.h"

namespace gasell::cli {

namespace {

struct OptionRow {
  std::vector<std::string> names;  // "-h", "--help"
  std::string value;               // "N"; empty for a flag
  std::string help;
};

std::vector<OptionRow> rows_of(const CLI::App& app) {
  std::vector<OptionRow> rows;
  for (const CLI::Option* option : app.get_options()) {
    OptionRow row{{}, option->get_type_size() == 0 ? "" : option->get_type_name(), option->get_description()};
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
    if (!row.names.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string joined(const std::vector<std::string>& words, std::string_view between) { return fmt::format("{}", fmt::join(words, between)); }

std::string names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const OptionRow& row : rows_of(app)) names.insert(names.end(), row.names.begin(), row.names.end());
  return joined(names, " ");
}

/// `text` between single quotes of a shell; zsh's brackets and colons too.
std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string for_bash(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(), names_of(*command));
  }
  return fmt::format(R"(# bash completion of gasell: source <(gasell completions bash)
_gasell() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words='{} {}'
  [ "$COMP_CWORD" -gt 1 ] && words='{}'
  case ${{COMP_WORDS[1]}} in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  local file
  while IFS= read -r file; do
    if [ -d "$file" ]; then COMPREPLY+=("$file/"); elif [[ $file == *.gsl ]]; then COMPREPLY+=("$file"); fi
  done < <(compgen -f -- "$current")
}}
complete -o filenames -F _gasell gasell
)",
                     commands, names_of(app), names_of(app), cases);
}

std::string zsh_arguments(const CLI::App& app, std::string_view indent) {
  std::string out;
  for (const OptionRow& row : rows_of(app))
    for (const std::string& name : row.names)
      out += fmt::format("{}'{}[{}]{}' \\\n", indent, name, escaped(row.help, "[]:"),
                         row.value.empty() ? "" : ":" + escaped(row.value, "[]:") + ":_files");
  return out;
}

std::string for_zsh(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(), escaped(command->get_description(), ":"));
    cases += fmt::format("    {})\n      _arguments \\\n{}        '*:script:_files -g \"*.gsl(-.)\"' ;;\n", command->get_name(),
                         zsh_arguments(*command, "        "));
  }
  return fmt::format(R"(#compdef gasell
# zsh completion of gasell: gasell completions zsh > FOLDER_OF_FPATH/_gasell
_gasell() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe 'command' commands
  fi
  case $words[2] in
{}    *)
      _arguments \
{}        '*:script:_files' ;;
  esac
}}
if [ "$funcstack[1]" = "_gasell" ]; then _gasell "$@"; else compdef _gasell gasell; fi
)",
                     commands, cases, zsh_arguments(app, "        "));
}

std::string fish_options(const CLI::App& app, const std::string& condition) {
  std::string out;
  for (const OptionRow& row : rows_of(app)) {
    out += fmt::format("complete -c gasell -n '{}'", condition);
    for (const std::string& name : row.names) out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    out += fmt::format("{} -d '{}'\n", row.value.empty() ? "" : " -r", escaped(row.help, "\\"));
  }
  return out;
}

std::string for_fish(const CLI::App& app) {
  std::string out = "# fish completion of gasell: gasell completions fish > ~/.config/fish/completions/gasell.fish\n";
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    out += fmt::format("complete -c gasell -n __fish_use_subcommand -a {} -d '{}'\n", command->get_name(),
                       escaped(command->get_description(), "\\"));
    out += fish_options(*command, "__fish_seen_subcommand_from " + command->get_name());
  }
  return out + fish_options(app, "not __fish_seen_subcommand_from " + joined(names, " "));
}

/// Text for troff: a minus is a minus, and no line begins with a control character.
std::string for_troff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == '\\') out += c == '-' ? "\\-" : "\\e";
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c != '-' && c != '\\') out += c;
  }
  return out;
}

std::string troff_options(const CLI::App& app) {
  std::string out;
  for (const OptionRow& row : rows_of(app))
    out += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", for_troff(joined(row.names, ", ")),
                       row.value.empty() ? "" : " \\fI" + for_troff(row.value) + "\\fR", for_troff(row.help));
  return out;
}

}  // namespace

std::string shell_completions(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return for_bash(app);
  if (shell == "zsh") return for_zsh(app);
  if (shell == "fish") return for_fish(app);
  throw Finish{2, fmt::format("gasell: completions are there for bash, zsh and fish, not for '{}'\n", shell)};
}

std::string manual_page(const CLI::App& app, std::string_view footer) {
  std::string out = fmt::format(".TH GASELL 1 \"\" \"Gasell {}\" \"User Commands\"\n.SH NAME\ngasell \\- {}\n.SH SYNOPSIS\n", kVersion,
                                for_troff(app.get_description()));
  for (const char* usage : {"[OPTIONS] FILE.gsl [ARGUMENTS]", "[OPTIONS] -c TEXT [ARGUMENTS]", "[OPTIONS] - [ARGUMENTS]", "[OPTIONS]"})
    out += fmt::format(".B gasell\n{}\n.br\n", for_troff(usage));
  for (const CLI::App* command : commands_of(app)) out += fmt::format(".B gasell {}\n[OPTIONS] …\n.br\n", for_troff(command->get_name()));
  out += ".SH OPTIONS\n" + troff_options(app) + ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(app))
    out += fmt::format(".SS gasell {}\n{}\n{}", for_troff(command->get_name()), for_troff(command->get_description()),
                       troff_options(*command));
  return out + ".SH NOTES\n" + for_troff(footer) + "\n";
}

}  // namespace gasell::cli
