// Code that is being written: what can stand at the cursor, and what is known of what stands there.
#include <nlohmann/json.hpp>

#include "lang/large_stack.h"
#include "lang/parser.h"
#include "tools/gasell/completion.h"
#include "tools/gasell/describe.h"
#include "tools/gasell/effect_free.h"
#include "tools/libgasell/handles.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

/// What ends at the cursor, or around it: a name with what it is an attribute of. Else the function whose arguments are being written.
std::string_view expression_at(std::string_view text, size_t cursor) {
  const std::vector<Token> tokens = scan_tokens(text);
  int depth = 0;
  for (size_t k = tokens.size(); k-- > 0;) {
    const Token& token = tokens[k];
    if (token.span.begin > cursor) continue;
    if (token.kind == TokenKind::name && token.span.end >= cursor && depth == 0) return cli::primary_before(text, tokens, k + 1);
    if (token.span.end > cursor) continue;
    if (token.kind == TokenKind::close) ++depth;
    if (token.kind == TokenKind::open && --depth < 0) return cli::primary_before(text, tokens, k);
  }
  return {};
}

std::string description_of(Interpreter& in, std::string_view expression, bool detail) {
  if (expression.empty()) return {};
  try {
    const std::optional<Value> value = cli::effect_free_value(in, expression);
    if (value) return detail ? cli::source_of(in, *value) : cli::describe(in, *value);
    const std::optional<cli::CallSignature> signature = cli::signature_of_expression(in, expression);
    return signature ? signature->text() + "\n" + signature->description : "";
  } catch (const std::exception&) {
    return {};  // what is looked up may fail in any way
  }
}

}  // namespace

gasell_status gasell_complete(gasell_session* session, const char* text, size_t length, size_t cursor, const char** json,
                              gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && text && json && cursor <= length,
            "gasell_complete wants a session, a text, a cursor in it and a place for the JSON");
    editor::Completion found;
    run_on_large_stack([&] { found = cli::complete(session->interpreter, std::string_view(text, length), cursor); });
    const nlohmann::json told{{"begin", found.begin}, {"candidates", found.candidates}, {"closing", found.closing}};
    session->written = told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    *json = session->written.c_str();
  });
}

gasell_status gasell_inspect(gasell_session* session, const char* text, size_t length, size_t cursor, int detail, const char** description,
                             gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && text && description && cursor <= length,
            "gasell_inspect wants a session, a text, a cursor in it and a place for the description");
    run_on_large_stack([&] {
      const std::string_view whole(text, length);
      session->written = description_of(session->interpreter, expression_at(whole, cursor), detail != 0);
    });
    *description = session->written.c_str();
  });
}

int gasell_is_complete(const char* text, size_t length) noexcept {
  try {
    int answer = -1;
    run_on_large_stack([&] {
      switch (completeness(std::string(text ? text : "", text ? length : 0) + "\n")) {
        case Completeness::complete: answer = 1; break;
        case Completeness::incomplete: answer = 0; break;
        case Completeness::invalid: break;
      }
    });
    return answer;
  } catch (...) {
    return -1;
  }
}
