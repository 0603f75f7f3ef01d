#include "runtime/io/os_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace gasell {

std::string in_quotes(const std::string& text) {
  const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else if (c == quote || c == '\\')
      (out += '\\') += c;
    else
      out += c;
  }
  return out += quote;
}

Error os_error(int number, const std::filesystem::path& path) {
  const char* kind = "OSError";
  switch (number) {
    case ENOENT: kind = "FileNotFoundError"; break;
    case EEXIST: kind = "FileExistsError"; break;
    case EACCES:
    case EPERM: kind = "PermissionError"; break;
    case EISDIR: kind = "IsADirectoryError"; break;
    case ENOTDIR: kind = "NotADirectoryError"; break;
    default: break;
  }
  return Error(kind, fmt::format("[Errno {}] {}: {}", number, std::generic_category().message(number), in_quotes(path)), {},
               Blame::environment);
}

}  // namespace gasell
