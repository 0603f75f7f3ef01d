// A step of the build: reads the library's texts, `check_texts FILE…`. Parameters that a function takes and never reads are errors, at
// FILE:LINE:COLUMN; the exit status is 1 where there is one.
#include <fstream>
#include <iostream>
#include <iterator>

#include "lang/parameter_rules.h"
#include "lang/parser.h"
#include "lang/render.h"

using namespace gasell;

int main(int count, char** paths) {
  int status = 0;
  for (int k = 1; k < count; ++k) {
    std::ifstream file(paths[k], std::ios::binary);
    const auto source = std::make_shared<Source>(paths[k], std::string(std::istreambuf_iterator<char>(file), {}));
    try {
      const ast::ModuleRef module = parse_module(source);
      for (const UnreadParameter& p : unread_parameters(*module)) {
        std::cerr << render(Diagnostic{Blame::user, "error", p.message, Label{source, p.span, ""}, {}, ""}) << "\n";
        status = 1;
      }
    } catch (const Error& error) {
      std::cerr << render(error.diagnostic()) << "\n";
      status = 1;
    }
  }
  return status;
}
