// The interactive session: an interpreter, the editor, and what was entered and shown.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/editor/line_editor.h"
#include "tools/gasell/host.h"
#include "tools/gasell/settings.h"

namespace gasell::cli {

class Session {
 public:
  explicit Session(const Options& options);

  const Options& options;
  Host host;
  Settings settings;
  editor::LineEditor editor;

  /// Entry `n` (from 1) has the text entries()[n - 1] and the name "<entry n>" in messages.
  const std::vector<std::string>& entries() const { return entries_; }
  void add_entry(const std::string& entry);
  std::string source_name() const;

  /// Lays arrays and frames out for the terminal as wide as it is now, or for what the settings say.
  void fit_to_terminal();
  /// Shows a result, and keeps it: `_`, `__`, `___`, Out[n]. None is neither shown nor kept.
  void show(const Value& value);
  /// Forgets results, so that what they hold is free.
  void forget_results();
  /// Runs a text as an entry: the value of its last expression is shown unless a semicolon ends it.
  void run(const std::string& text, const std::string& source_name);
  /// Runs a script here: its names stay. `arguments`: what sys.argv holds behind its name.
  void run_file(const std::string& name, const std::vector<std::string>& arguments);

  /// Names that are the session's, not the user's.
  bool is_own_name(const std::string& name);

  /// The last exception that an entry ended with; None: there was none.
  Value exception;

  /// What the next prompt has to begin with: a loaded text that waits to be edited.
  std::string waiting;

 private:
  editor::Services services();
  std::optional<std::string> read_line(const std::string& prompt);

  std::vector<std::string> entries_;
  Value inputs_, outputs_;
  std::string open_line_;  // what was printed since the last line end
  friend class Repl;
};

/// The configuration folder's file that a session begins with, or "": GASELL_INIT, init.gsl in $XDG_CONFIG_HOME/gasell or ~/.config/gasell.
std::filesystem::path init_file();

}  // namespace gasell::cli
