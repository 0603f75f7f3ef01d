// Diagnostics for people (caret, colour) and for programs (JSON).
#pragma once

#include <string>

#include "lang/diagnostic.h"

namespace gasell {

struct RenderOptions {
  bool colour = false;
};
/// file:line:column, the source line, a caret under the exact span, the sentence, secondary labels, the hint.
std::string render(const Diagnostic& diagnostic, const RenderOptions& options = {});
/// One JSON object: kind, message, blame, file, line, column, end_line, end_column, labels, hint.
std::string render_json(const Diagnostic& diagnostic);

/// The candidate nearest to a misspelt name (Damerau-Levenshtein distance at most a third of its length), or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace gasell
