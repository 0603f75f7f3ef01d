// Runs scripts with the standard modules and gives what they print.
#pragma once

#include <string>

#include "catch.h"
#include "lang/parser.h"
#include "runtime/session/interpreter.h"
#include "stdlib/modules.h"

namespace gasell {

/// What a script prints; an uncaught error ends it with "KIND: message".
inline std::string output_of(const std::string& text) {
  static Engine engine;
  Interpreter interpreter(engine, known_modules());
  std::string output;
  interpreter.write_out = [&](std::string_view s) { output += s; };
  try {
    interpreter.run(parse_module(std::make_shared<Source>("test.gsl", text)));
  } catch (const Error& error) {
    output += error.what() + std::string("\n");
  }
  return output;
}

}  // namespace gasell
