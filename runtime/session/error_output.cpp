#include "runtime/session/error_output.h"

#include <cstdio>

#include "runtime/device/sandbox.h"

namespace gasell {

void write_error(std::string_view text) {
  if (const auto& write = state_of_session<ErrorOutput>().write)
    write(text);
  else
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace gasell
