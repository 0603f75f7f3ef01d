// Other programs that the session starts for the person at it: a shell, an editor, a pager. Scripts cannot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gasell::cli {

/// Runs a command with /bin/sh, on this terminal; its exit status as a shell tells it (128 + the signal that ended it). OSError where no
/// process can be started.
int run_shell(const std::string& command);
/// The same, with what it writes to its standard output as text.
std::string shell_output(const std::string& command, int& status);

/// A text as `editor` (empty: $VISUAL, $EDITOR, vi) leaves it. RuntimeError when that fails.
std::string edit_text(const std::string& text, const std::string& editor);
/// The same for a file in its place.
void edit_file(const std::string& path, const std::string& editor);

/// Shows a text through $PAGER (or less) when it has more lines than the terminal, otherwise on the standard output.
void page(std::string_view text, bool wanted);

/// What was copied last on this desktop. RuntimeError where no program tells it.
std::string clipboard_text();

/// "a 'b c' d\ e" as its words, as a shell takes them apart. ValueError for a quote without its end.
std::vector<std::string> shell_words(std::string_view text);

}  // namespace gasell::cli
