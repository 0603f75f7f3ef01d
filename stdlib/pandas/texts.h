// The hidden modules _texts and _times: natives of columns of texts and of times.
#pragma once

#include <string>

#include "runtime/session/value.h"

namespace gasell {

Value make_text_natives(Interpreter& in);
Value make_time_natives(Interpreter& in);

namespace pandas {
/// The text of what a script's function gave; TypeError where it is no str.
std::string need_text(Interpreter& in, const Value& v);
}  // namespace pandas

}  // namespace gasell
