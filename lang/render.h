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

/// The candidate that a misspelt name was meant to be, or "": one letter wrong (missing, added, another, or two in each other's place) in
/// names of up to seven, a further one for every four. Of names of three letters or less no letter may be another one.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);
/// The hint that asks for it: "did you mean 'name'?", or "".
std::string near_hint(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace gasell
