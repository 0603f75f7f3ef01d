// The makers of the modules; one file each.
#pragma once

#include "runtime/session/value.h"

namespace gasell {

Value make_math(Interpreter& in);
Value make_cmath(Interpreter& in);
Value make_time(Interpreter& in);
Value make_datetime(Interpreter& in);
Value make_zoneinfo(Interpreter& in);
Value make_sys(Interpreter& in);
Value make_os(Interpreter& in);
Value make_os_path(Interpreter& in);
Value make_itertools(Interpreter& in);
Value make_functools(Interpreter& in);
Value make_operator(Interpreter& in);
Value make_collections(Interpreter& in);
Value make_warnings(Interpreter& in);
Value make_typing(Interpreter& in);
Value make_io(Interpreter& in);
Value make_base64_natives(Interpreter& in);
Value make_copy_natives(Interpreter& in);
Value make_csv_natives(Interpreter& in);
Value make_hash_natives(Interpreter& in);
Value make_os_natives(Interpreter& in);
Value make_struct_natives(Interpreter& in);
Value make_zlib_natives(Interpreter& in);
Value make_future(Interpreter& in);
Value make_numba(Interpreter& in);
Value make_numba_types(Interpreter& in);
Value make_numba_typed(Interpreter& in);
Value make_numba_extending(Interpreter& in);
Value make_numba_experimental(Interpreter& in);
Value make_class_natives(Interpreter& in);
Value make_threading_natives(Interpreter& in);
Value make_random(Interpreter& in);
Value make_random_natives(Interpreter& in);
Value make_re(Interpreter& in);
Value make_re_natives(Interpreter& in);
Value make_json(Interpreter& in);
Value make_json_natives(Interpreter& in);
Value make_numba_cuda(Interpreter& in);
Value make_numba_cuda_random(Interpreter& in);
Value make_numba_errors(Interpreter& in);

}  // namespace gasell
