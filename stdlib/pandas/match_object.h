// re.Match: a match as a function that makes replacements sees it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/frame/regex.h"
#include "runtime/session/value.h"

namespace gasell::pandas {

Value match_value(const frame::Regex& regex, const frame::Regex::Matcher& match, std::string_view text);

}  // namespace gasell::pandas
