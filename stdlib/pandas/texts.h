// The hidden modules _texts and _times: natives of columns of texts and of times.
#pragma once

#include <string>

#include "runtime/session/value.h"
#include "stdlib/pandas/column_object.h"

namespace gasell {

Value make_text_natives(Interpreter& in);
Value make_time_natives(Interpreter& in);

namespace pandas {
/// The text of what a script's function gave; TypeError where it is no str.
std::string need_text(Interpreter& in, const Value& v);
/// str() of each moment or duration; missing ones stay missing.
Column time_texts(Interpreter& in, const Column& column);
/// Texts as moments (in the zone of `to`) or durations, in the format that the first one has; ValueError for what is none.
Column times_of_texts(Interpreter& in, const Column& column, const ColumnType& to);
}  // namespace pandas

}  // namespace gasell
