// What an editor asks about a place in a text.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "lang/ast.h"
#include "tools/gasell/language_server/document.h"
#include "tools/gasell/language_server/knowledge.h"
#include "tools/gasell/language_server/symbols.h"

namespace gasell::cli::lsp {

/// An open document with what was understood of it. While it is being written it often does not parse: names are then those of its other
/// lines, or of the last text that was understood.
struct Analysis {
  Document document;
  std::string parsed_text;  // of module and symbols
  ast::ModuleRef module;    // null where no text was understood yet
  bool is_whole = false;    // no line of it is left out
  Symbols symbols;
  std::unique_ptr<Knowledge> knowledge;
  bool waits = true;  // for its diagnostics to be published

  /// Parses the text as it is now.
  void update();
  /// Are the places of `symbols` those of the text as it is?
  bool is_current() const { return module && parsed_text == document.text; }
  Interpreter& interpreter();
};

/// The `params` of publishDiagnostics: where the text is wrong.
nlohmann::json diagnostics(Analysis& analysis);

// Each takes the byte where the cursor is; null where there is nothing to say.
nlohmann::json hover(Analysis& analysis, size_t offset);
nlohmann::json completion(Analysis& analysis, size_t offset);
/// The documentation of an entry of completion, as `completionItem/resolve` asks for it.
nlohmann::json resolve(Analysis& analysis, nlohmann::json item);
nlohmann::json signature_help(Analysis& analysis, size_t offset);
nlohmann::json definition(Analysis& analysis, size_t offset);
nlohmann::json references(Analysis& analysis, size_t offset, bool with_declaration);
nlohmann::json highlights(Analysis& analysis, size_t offset);
nlohmann::json prepare_rename(Analysis& analysis, size_t offset);
/// Throws Error ValueError where the new name is none, or is taken in the scope.
nlohmann::json rename(Analysis& analysis, size_t offset, const std::string& name);
nlohmann::json document_symbols(Analysis& analysis);

}  // namespace gasell::cli::lsp
