// What the editor asks the session that it works for.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/source.h"

namespace gasell::editor {

/// What could stand in the place of the text from `begin` to the cursor.
struct Completion {
  size_t begin = 0;
  std::vector<std::string> candidates;
  std::string closing = {};  // comes behind a candidate that was chosen: the end of its quotes
};

/// The signature of the function whose call is being written. `emphasis`: the parameter that comes, in bytes of `text`; empty: none.
struct CallHint {
  std::string text;
  Span emphasis;
};

struct Mistake {
  Span span;  // in the entry
  std::string message;
};

/// None may be left out; none throws. The cursor is an offset into `text`.
struct Services {
  std::function<Completion(std::string_view text, size_t cursor)> complete;
  /// Signature and first line of the description of a candidate for what begins at `begin`; one line, perhaps empty.
  std::function<std::string(std::string_view text, size_t begin, const std::string& candidate)> detail;
  std::function<std::optional<CallHint>(std::string_view text, size_t cursor)> call_hint;
  /// May the entry run as it is, or does it want more lines?
  std::function<bool(const std::string& text)> is_complete;
  std::function<bool(std::string_view name)> is_builtin;
  /// Where the syntax is wrong. Asked when nobody types.
  std::function<std::optional<Mistake>(const std::string& text)> mistake;
  /// Is the rest of an earlier entry wanted behind what is written?
  std::function<bool()> suggests;
};

}  // namespace gasell::editor
