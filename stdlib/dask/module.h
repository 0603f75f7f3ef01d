// The modules dask, dask.array and dask.dataframe: NumPy's and pandas' libraries with Dask's own names over them.
#pragma once

#include "runtime/session/interpreter.h"

namespace gasell {

Value make_dask(Interpreter& in);
Value make_dask_array(Interpreter& in);
Value make_dask_bag(Interpreter& in);
Value make_dask_bag_random(Interpreter& in);
Value make_dask_config(Interpreter& in);
Value make_dask_dataframe(Interpreter& in);
Value make_dask_datasets(Interpreter& in);
Value make_dask_diagnostics(Interpreter& in);
/// Also under the names distributed and, with its cluster of GPUs, dask_cuda.
Value make_dask_distributed(Interpreter& in);
Value make_dask_cuda(Interpreter& in);
Value make_dask_cudf(Interpreter& in);
Value make_concurrent_futures(Interpreter& in);
Value make_joblib(Interpreter& in);
/// What the texts of Dask's names are made with.
Value make_dask_natives(Interpreter& in);
/// CancelledError and its like, known to raise().
const std::vector<const Type*>& task_exceptions();
/// Those of tasks.
const std::vector<NativeFunction>& task_functions();
/// Those of what tasks share by name.
const std::vector<NativeFunction>& board_functions();
/// Those of Zarr arrays, and their exceptions.
std::vector<NativeFunction> zarr_functions();
void register_zarr_exceptions();

}  // namespace gasell
