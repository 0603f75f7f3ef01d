// Runs scripts and gives what they print.
#pragma once

#include <string>

#include "catch.h"
#include "lang/parser.h"
#include "runtime/session/interpreter.h"

namespace gasell {

/// A session whose output is collected.
struct TestSession {
  explicit TestSession(ModuleTable modules = {}) : interpreter(engine(), std::move(modules)) {
    interpreter.write_out = [this](std::string_view text) { output += text; };
  }
  static Engine& engine() {
    static Engine shared;
    return shared;
  }
  void run(const std::string& text) { interpreter.run(parse_module(std::make_shared<Source>("test.gsl", text))); }
  Value evaluate(const std::string& text) { return interpreter.evaluate(parse_module(std::make_shared<Source>("test.gsl", text))); }

  Interpreter interpreter;
  std::string output;
};

/// What a script prints; an uncaught error ends it with "KIND: message".
inline std::string output_of(const std::string& text) {
  TestSession session;
  try {
    session.run(text);
  } catch (const Error& error) {
    return session.output + error.what() + "\n";
  }
  return session.output;
}

/// The diagnostic of a script that fails.
inline Diagnostic diagnostic_of(const std::string& text) {
  TestSession session;
  try {
    session.run(text);
  } catch (const Error& error) {
    return error.diagnostic();
  }
  FAIL("the script did not fail");
  return {};
}

/// The text under a label.
inline std::string text_under(const Label& label) {
  return label.source->text().substr(label.span.begin, label.span.end - label.span.begin);
}

}  // namespace gasell
