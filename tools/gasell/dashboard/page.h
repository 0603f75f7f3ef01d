// The page: page.html, embedded by CMake.
#pragma once

#include <string_view>

namespace gasell::cli {

/// One file with its styles and scripts. It shows what /events sends; where the text "null /* trace */" in it is replaced by a trace in
/// Chrome's format, that.
std::string_view dashboard_page();

}  // namespace gasell::cli
