// Names of attributes, each kept once: equal names are the same pointer, so that members are found without comparing texts.
#pragma once

#include <string>
#include <string_view>

namespace gasell {

/// A text that stays where it is for the life of the process.
using Name = const std::string*;

/// The one place of a text. Any thread may ask.
Name intern(std::string_view text);

}  // namespace gasell
