#include "runtime/device/parse_bytes.h"

#include <cctype>
#include <cmath>
#include <string_view>

#include "lang/diagnostic.h"

namespace gasell {

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

}  // namespace gasell
