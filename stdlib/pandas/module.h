// The makers of pandas and of the hidden modules that its texts use.
#pragma once

#include "runtime/session/value.h"

namespace gasell {

Value make_pandas(Interpreter& in);
Value make_cudf(Interpreter& in);
/// Makes pandas' exceptions known to raise().
void register_pandas_errors();
Value make_pandas_errors(Interpreter& in);
Value make_pandas_offsets(Interpreter& in);
/// _pandas: what the texts share.
Value make_pandas_library(Interpreter& in);
/// _frame: the natives.
Value make_frame_natives(Interpreter& in);

}  // namespace gasell
