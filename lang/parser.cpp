#include "lang/parser.h"

#include <fmt/core.h>

#include "lang/ast_visit.h"
#include "lang/builder.h"
#include "lang/grammar_entry.h"
#include "lang/large_stack.h"
#include "lang/layout.h"
#include "lang/literals.h"
#include "lang/scopes.h"

namespace gasell {
namespace {

using namespace ast;

/// Refuses trees too deep for those who recurse over them; does not recurse itself.
void check_depth(const SourceRef& source, Body& body) {
  struct Place {
    Expr* expr;
    Stmt* stmt;
    int depth;
  };
  std::vector<Place> open;
  int depth = 0;
  auto add_expr = [&](ExprRef& e) { open.push_back({e.get(), nullptr, depth}); };
  auto add_body = [&](Body& b) {
    for (StmtRef& s : b) open.push_back({nullptr, s.get(), depth});
  };
  add_body(body);
  while (!open.empty()) {
    const Place place = open.back();
    open.pop_back();
    depth = place.depth + 1;
    if (depth > kMaxTreeDepth) {
      const Span span = place.expr ? place.expr->span : place.stmt->span;
      refuse_at(source, span, fmt::format("the program is too deeply nested here (more than {} terms or levels)", kMaxTreeDepth),
                "split it with names for its parts");
    }
    if (place.expr) {
      visit_children(*place.expr, add_expr);
    } else {
      visit_children(*place.stmt, add_expr, add_body);
    }
  }
}

ModuleRef parse(const SourceRef& source) {
  const LaidOut laid = lay_out(source);
  syntax::Builder b(laid);
  syntax::parse_statements(b);
  auto module = std::make_shared<Module>();
  module->source = source;
  module->body.reserve(b.stack.size());
  for (syntax::Item& item : b.stack) module->body.push_back(std::move(std::get<StmtRef>(item.value)));
  check_depth(source, module->body);
  resolve_scopes(*module);
  return module;
}

/// Does the text end with a line that is empty or blank?
bool ends_with_empty_line(std::string_view text) {
  size_t lines = 0;
  for (size_t i = text.size(); i > 0; --i) {
    const char c = text[i - 1];
    if (c == '\n') {
      if (++lines == 2) return true;
    } else if (c != ' ' && c != '\t' && c != '\f' && c != '\r') {
      return false;
    }
  }
  return true;
}

/// At the prompt a compound statement may go on: with another line of its block, or with `else`.
bool ends_with_compound_statement(const syntax::Builder& b) {
  if (b.stack.empty()) return false;
  const auto* last = std::get_if<StmtRef>(&b.stack.back().value);
  return last && std::visit(Overloaded{[](const If&) { return true; }, [](const While&) { return true; }, [](const For&) { return true; },
                                       [](const With&) { return true; }, [](const Try&) { return true; },
                                       [](const FunctionDef&) { return true; }, [](const auto&) { return false; }},
                            (*last)->node);
}

Completeness completeness_of(const SourceRef& source) {
  try {
    const LaidOut laid = lay_out(source);
    syntax::Builder b(laid);
    try {
      syntax::parse_statements(b);
    } catch (const Error& error) {
      // A text that is right as far as it goes stops at its very end: a header without its block, a decorator, a try without handlers.
      const bool at_end = b.offset(b.furthest) >= laid.offsets.back() || b.furthest >= b.end();
      const std::string& kind = error.diagnostic().kind;
      const std::string& message = error.diagnostic().message;
      const bool wants_block = kind == "IndentationError" && message.rfind("expected an indented block", 0) == 0;
      const bool wants_more = wants_block || message == "expected 'except' or 'finally' block";
      const bool decorates = b.block_owner == "decorator";  // empty lines may stand behind it
      return at_end && (decorates || (wants_more && !ends_with_empty_line(source->text()))) ? Completeness::incomplete
                                                                                            : Completeness::invalid;
    }
    return ends_with_compound_statement(b) && !ends_with_empty_line(source->text()) ? Completeness::incomplete : Completeness::complete;
  } catch (const UnfinishedText&) {
    return Completeness::incomplete;
  } catch (const Error&) {
    return Completeness::invalid;
  }
}

}  // namespace

Completeness completeness(std::string_view text) {
  const auto source = std::make_shared<Source>("<completeness>", std::string(text));
  Completeness result = Completeness::invalid;
  run_on_large_stack([&] { result = completeness_of(source); });
  return result;
}

ModuleRef parse_module(const SourceRef& source) {
  ModuleRef module;
  run_on_large_stack([&] { module = parse(source); });
  return module;
}

}  // namespace gasell
