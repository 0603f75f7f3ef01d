// Options of an engine and what the environment says of them.
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "lang/diagnostic.h"
#include "runtime/device/parse_bytes.h"
#include "runtime/engine.h"
#include "runtime/environment.h"

namespace gasell {
namespace {

constexpr int64_t kMostThreads = 4096;

/// A positive whole number of the environment, 0 where the variable is not set.
int64_t count_of(const char* variable, int64_t most) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return 0;
  char* end = nullptr;
  errno = 0;
  const int64_t number = std::strtoll(text, &end, 10);
  if (errno || *end || number < 1 || number > most)
    throw Error("ValueError", std::string(variable) + " wants a number from 1 to " + std::to_string(most) + ", not '" + text + "'");
  return number;
}

}  // namespace

bool switched_on(const char* variable, bool otherwise) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return otherwise;
  if (std::string_view(text) != "0" && std::string_view(text) != "1")
    throw Error("ValueError", std::string(variable) + " is 0 or 1, not '" + text + "'");
  return std::string_view(text) == "1";
}

EngineOptions EngineOptions::from_environment() {
  EngineOptions options;
  options.threads = static_cast<int>(count_of("GASELL_THREADS", kMostThreads));
  if (const char* memory = std::getenv("GASELL_MEMORY"); memory && *memory) {
    try {
      options.memory = parse_bytes(memory);
    } catch (const Error& e) {
      throw Error("ValueError", "GASELL_MEMORY: " + e.diagnostic().message, e.diagnostic().hint);
    }
  }
  if (const char* device = std::getenv("GASELL_DEVICE")) options.device = device;
  if (const char* split = std::getenv("GASELL_SPLIT_FROM"); split && *split)
    options.split_from = std::string_view(split) == "0" ? 0 : parse_bytes(split);
  options.steal = switched_on("GASELL_STEAL", options.steal);
  options.small = switched_on("GASELL_SMALL", options.small);
  options.fuse = switched_on("GASELL_FUSE", options.fuse);
  (void)switched_on("GASELL_RULES", true);  // frame/rules.cpp reads it; a wrong word is told at once
  options.chunk = count_of("GASELL_CHUNK", std::numeric_limits<int64_t>::max());
  options.cache = switched_on("GASELL_CACHE", options.cache);
  if (const char* check = std::getenv("GASELL_CHECK")) options.check = std::string_view(check) != "0";
  if (const char* directory = std::getenv("GASELL_CACHE_DIR")) options.cache_directory = directory;
  return options;
}

}  // namespace gasell
