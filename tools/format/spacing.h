// Where blanks stand between the words of a statement.
#pragma once

#include "tools/format/words.h"

namespace gasell::format {

/// Fills `space` of every word.
void set_spaces(Words& words);

}  // namespace gasell::format
