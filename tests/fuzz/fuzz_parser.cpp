// libFuzzer target: any bytes are parsed, or refused with a located error; what parses prints to text that parses to the same print.
// Built where clang and its fuzzer runtime are found (tests/fuzz/CMakeLists.txt): build/dev/bin/fuzz_parser -max_total_time=600 CORPUS
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "lang/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gasell;
  const SourceRef source = std::make_shared<Source>("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  ast::ModuleRef module;
  try {
    module = parse_module(source);
  } catch (const Error& error) {
    if (!error.diagnostic().primary) std::abort();  // every error of the parser has its place
    return 0;
  }
  const std::string text = print(*module);
  const ast::ModuleRef again =
      parse_module(std::make_shared<Source>("printed", text));  // throws, and so fails, where the print does not parse
  if (print(*again) != text) std::abort();
  return 0;
}
