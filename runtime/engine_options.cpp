// Options of an engine and what the environment says of them.
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lang/diagnostic.h"
#include "runtime/engine.h"

namespace gasell {
namespace {

int64_t parse_count(const char* text) { return text ? std::strtoll(text, nullptr, 10) : 0; }

}  // namespace

int64_t parse_bytes(const std::string& text) {
  const auto bad = [&] { return Error("ValueError", "'" + text + "' is not a size", "write it as 512MiB, 1GiB or a number of bytes"); };
  size_t used = 0;
  double number = 0;
  try {
    number = std::stod(text, &used);
  } catch (const std::exception&) {
    throw bad();
  }
  std::string unit;
  for (char c : text.substr(used))
    if (!std::isspace(static_cast<unsigned char>(c))) unit += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  static constexpr std::string_view kPrefixes = "KMGT";
  double scale = 1;
  if (!unit.empty() && unit != "B") {
    const size_t power = kPrefixes.find(unit[0]);
    const std::string rest = unit.substr(1);
    if (power == std::string_view::npos || (rest != "" && rest != "B" && rest != "I" && rest != "IB")) throw bad();
    scale = std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
  }
  const double bytes = number * scale;
  if (!(bytes >= 1) || bytes > 9e18) throw bad();
  return static_cast<int64_t>(bytes);
}

EngineOptions EngineOptions::from_environment() {
  EngineOptions options;
  options.threads = static_cast<int>(parse_count(std::getenv("GASELL_THREADS")));
  if (const char* memory = std::getenv("GASELL_MEMORY")) options.memory = parse_bytes(memory);
  if (const char* device = std::getenv("GASELL_DEVICE")) options.device = device;
  if (const char* fuse = std::getenv("GASELL_FUSE")) options.fuse = std::string_view(fuse) != "0";
  options.chunk = parse_count(std::getenv("GASELL_CHUNK"));
  if (const char* cache = std::getenv("GASELL_CACHE")) options.cache = std::string_view(cache) != "0";
  if (const char* check = std::getenv("GASELL_CHECK")) options.check = std::string_view(check) != "0";
  if (const char* directory = std::getenv("GASELL_CACHE_DIR")) options.cache_directory = directory;
  return options;
}

}  // namespace gasell
