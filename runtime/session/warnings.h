// Warnings: what scripts say about them (the module `warnings`), and what the session itself warns of.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/session/value.h"

namespace gasell {

/// The filters of a session, the newest first, and what was shown already.
struct Warnings {
  /// `action`: "error", "ignore", "always", "default" (once a line), "module" and "once" (once). `message` and `module` are regular
  /// expressions that fit from the beginning, or empty; `line` 0 stands for all.
  struct Filter {
    std::string action, message;
    const Type* category;
    std::string module;
    int line = 0;
  };
  Warnings();
  void reset() { filters.clear(); }
  void add(Filter filter, bool behind);

  std::vector<Filter> filters;
  std::set<std::string> shown;
  Value recorded;  // a list that takes what would be shown, or None
};

/// Warns at the script's present place: on the standard error, as an exception, in the list that records, or not at all, as the filters
/// say. `with_place`: shown with line and caret.
void warn(Interpreter& in, const Type& category, const std::string& message, const std::string& hint, bool with_place);

/// Whether the innermost function that runs is the script's own, not the library's.
bool is_script_running(Interpreter& in);

}  // namespace gasell
