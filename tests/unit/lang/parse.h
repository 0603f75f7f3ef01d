// What the tests of the language layer share.
#pragma once

#include <memory>
#include <string>

#include "lang/parser.h"
#include "lang/render.h"

namespace gasell::test {

inline ast::ModuleRef parse(std::string text) { return parse_module(std::make_shared<Source>("test.gsl", std::move(text))); }

/// The tree with places, as --emit=ast shows it.
inline std::string dumped(std::string text) { return dump(*parse(std::move(text))); }
/// The tree alone.
inline std::string shape(const ast::Module& module) { return dump(module, false); }

/// The diagnostic that parsing ends with; its kind is empty when there is none.
inline Diagnostic failure(std::string text) {
  try {
    parse(std::move(text));
  } catch (const Error& error) {
    return error.diagnostic();
  }
  return {};
}

/// "SyntaxError 1:5-1:6 message", or "limitation …" for what the language lacks, or "none".
inline std::string failure_line(const std::string& text) {
  const Diagnostic d = failure(text);
  if (d.kind.empty()) return "none";
  const Source& source = *d.primary->source;
  const auto begin = source.position(d.primary->span.begin), end = source.position(d.primary->span.end);
  const std::string place =
      std::to_string(begin.line) + ":" + std::to_string(begin.column) + "-" + std::to_string(end.line) + ":" + std::to_string(end.column);
  return (d.blame == Blame::limitation ? "limitation " : "") + d.kind + " " + place + " " + d.message;
}

}  // namespace gasell::test
