// A paste, made ready for the buffer.
#pragma once

#include <string>
#include <string_view>

namespace gasell::editor {

/// Line ends as '\n'; control characters gone; tabs at the beginning of a line as four blanks each; of a transcript of a session (`>>> `
/// and `... `, `In [1]: ` and `   ...: `) the entries alone, without prompts and what they showed; common indentation of all lines gone; no
/// empty lines at the end when there are several lines.
std::string cleaned_paste(std::string_view pasted);

}  // namespace gasell::editor
