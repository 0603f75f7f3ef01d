// What went wrong, as data; rendering stands apart (render.h).
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lang/source.h"

namespace gasell {

/// Whose fault it is (ARCHITECTURE decision 14).
enum class Blame { user, environment, limitation, internal };

struct Label {
  SourceRef source;
  Span span;
  std::string text;  // what this place contributed; may be empty
};

struct Diagnostic {
  Blame blame = Blame::user;
  std::string kind;     // Python's exception name: "SyntaxError", "ValueError", …
  std::string message;  // one sentence that stands alone
  std::optional<Label> primary;
  std::vector<Label> secondary;
  std::string hint;  // the remedy, or empty
};

/// A script error found before it runs, or an error of the engine that has no place in a script. The session turns run-time ones
/// into script exceptions that `except` can catch.
class Error : public std::runtime_error {
 public:
  explicit Error(Diagnostic diagnostic)
      : std::runtime_error(diagnostic.kind + ": " + diagnostic.message), diagnostic_(std::move(diagnostic)) {}
  Error(std::string kind, std::string message, std::string hint = {}, Blame blame = Blame::user)
      : Error(Diagnostic{blame, std::move(kind), std::move(message), {}, {}, std::move(hint)}) {}
  const Diagnostic& diagnostic() const { return diagnostic_; }
  Diagnostic& diagnostic() { return diagnostic_; }

 private:
  Diagnostic diagnostic_;
};

/// Ctrl-C, or the host's interrupt(): unwinds to the session, which stays usable.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "KeyboardInterrupt"; }
};

}  // namespace gasell
