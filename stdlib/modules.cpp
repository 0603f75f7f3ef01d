#include "stdlib/modules.h"

#include <algorithm>

#include "stdlib/bindings.h"
#include "stdlib/cupy/kernels.h"
#include "stdlib/dask/module.h"
#include "stdlib/h5py/module.h"
#include "stdlib/library.h"
#include "stdlib/matplotlib/module.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/module.h"
#include "stdlib/pandas/module.h"
#include "stdlib/pandas/texts.h"
#include "stdlib/scipy/module.h"
#include "stdlib/sklearn/module.h"

namespace gasell {
namespace {

/// A name as an argument of a template.
template <size_t size>
struct Name {
  consteval Name(const char (&text)[size]) { std::copy_n(text, size, characters); }
  char characters[size];
};

/// A module of library texts alone.
template <Name name>
Value texts(Interpreter&) {
  return Value::make<LibraryModule>(name.characters);
}

/// The versions of the peers whose names and answers the modules have: what __version__ says.
constexpr std::pair<std::string_view, const char*> kVersions[] = {
    {"dask", "2026.8.0"},        {"dask.distributed", "2026.8.0"},
    {"distributed", "2026.8.0"}, {"h5py", "3.16.0"},
    {"joblib", "1.6.0"},         {"matplotlib", "3.11.2"},
    {"numba", "0.68.1"},         {"numpy", "2.4.6"},
    {"pandas", "2.3.3"},         {"scipy", "1.17.1"},
    {"sklearn", "1.9.1"},
};

/// A table whose modules say their versions.
ModuleTable with_versions(ModuleTable table) {
  for (const auto& [name, version] : kVersions) {
    const auto named = std::ranges::find(table.modules, name, &ModuleDefinition::name);
    named->make = [make = std::move(named->make), version](Interpreter& in) {
      Value module = make(in);
      set_member(module, "__version__", make_str(version));
      return module;
    };
  }
  return table;
}

}  // namespace

const ModuleTable& known_modules() {
  static const ModuleTable table =
      with_versions({{
                         {"math", {"math"}, make_math},
                         {"cmath", {}, make_cmath},
                         {"time", {}, make_time},
                         {"datetime", {}, make_datetime},
                         {"zoneinfo", {}, make_zoneinfo},
                         {"sys", {}, make_sys},
                         {"os", {}, make_os},
                         {"os.path", {}, make_os_path},
                         {"argparse", {}, texts<"argparse">},
                         {"_argparse", {}, texts<"_argparse">},
                         {"base64", {}, texts<"base64">},
                         {"_base64", {}, make_base64_natives},
                         {"binascii", {}, texts<"binascii">},
                         {"copy", {}, texts<"copy">},
                         {"_copy", {}, make_copy_natives},
                         {"csv", {}, texts<"csv">},
                         {"_csv", {}, make_csv_natives},
                         {"decimal", {}, texts<"decimal">},
                         {"fnmatch", {}, texts<"fnmatch">},
                         {"fractions", {}, texts<"fractions">},
                         {"glob", {}, texts<"glob">},
                         {"gzip", {}, texts<"gzip">},
                         {"hashlib", {}, texts<"hashlib">},
                         {"_hashlib", {}, make_hash_natives},
                         {"logging", {}, texts<"logging">},
                         {"pathlib", {}, texts<"pathlib">},
                         {"pprint", {}, texts<"pprint">},
                         {"shutil", {}, texts<"shutil">},
                         {"statistics", {}, texts<"statistics">},
                         {"struct", {}, texts<"struct">},
                         {"_struct", {}, make_struct_natives},
                         {"tempfile", {}, texts<"tempfile">},
                         {"timeit", {}, texts<"timeit">},
                         {"uuid", {}, texts<"uuid">},
                         {"zlib", {}, texts<"zlib">},
                         {"_zlib", {}, make_zlib_natives},
                         {"_os", {}, make_os_natives},
                         {"itertools", {}, make_itertools},
                         {"functools", {}, make_functools},
                         {"operator", {}, make_operator},
                         {"collections", {}, make_collections},
                         {"abc", {}, texts<"abc">},
                         {"contextlib", {}, texts<"contextlib">},
                         {"dataclasses", {}, texts<"dataclasses">},
                         {"enum", {}, texts<"enum">},
                         {"_classes", {}, make_class_natives},
                         {"heapq", {}, texts<"heapq">},
                         {"queue", {}, texts<"queue">},
                         {"threading", {}, texts<"threading">},
                         {"_threading", {}, make_threading_natives},
                         {"bisect", {}, texts<"bisect">},
                         {"string", {}, texts<"string">},
                         {"textwrap", {}, texts<"textwrap">},
                         {"random", {}, make_random},
                         {"_random", {}, make_random_natives},
                         {"re", {}, make_re},
                         {"_re", {}, make_re_natives},
                         {"json", {}, make_json},
                         {"_json", {}, make_json_natives},
                         {"warnings", {}, make_warnings},
                         {"typing", {}, make_typing},
                         {"io", {}, make_io},
                         {"__future__", {}, make_future},
                         {"numpy", {"np"}, make_numpy},
                         {"cupy", {"cp"}, make_cupy},
                         {"dask", {}, make_dask},
                         {"dask.array", {"da"}, make_dask_array},
                         {"dask.bag", {}, make_dask_bag},
                         {"dask.base", {}, texts<"dask.base">},
                         {"dask.callbacks", {}, texts<"dask.callbacks">},
                         {"dask.bag.random", {}, make_dask_bag_random},
                         {"dask.config", {}, make_dask_config},
                         {"dask.datasets", {}, make_dask_datasets},
                         {"dask.diagnostics", {}, make_dask_diagnostics},
                         {"dask.local", {}, texts<"dask.local">},
                         {"dask.multiprocessing", {}, texts<"dask.multiprocessing">},
                         {"dask.threaded", {}, texts<"dask.threaded">},
                         {"dask.distributed", {}, make_dask_distributed},
                         {"distributed", {}, make_dask_distributed},
                         {"dask_cuda", {}, make_dask_cuda},
                         {"_dask", {}, make_dask_natives},
                         {"concurrent.futures", {}, make_concurrent_futures},
                         {"joblib", {}, make_joblib},
                         {"h5py", {}, make_h5py},
                         {"_h5py", {}, make_h5py_natives},
                         {"_numpy", {}, make_numpy_host},
                         {"_typed", {}, texts<"_typed">},
                         {"_polynomial", {}, make_polynomial_library},
                         {"_linalg", {}, make_linalg_host},
                         {"_fft", {}, make_transforms_host},
                         {"pandas", {"pd"}, make_pandas},
                         {"pandas.errors", {}, make_pandas_errors},
                         {"pandas.testing", {}, texts<"pandas.testing">},
                         {"pandas.api.types", {}, texts<"pandas.api.types">},
                         {"pandas.tseries.offsets", {}, make_pandas_offsets},
                         {"cudf", {"cudf"}, make_cudf},
                         {"dask_cudf", {}, make_dask_cudf},
                         {"cupyx.profiler", {}, make_cupyx_profiler},
                         {"cupyx.jit", {}, make_cupyx_jit},
                         {"cupyx.scipy", {}, make_cupyx_scipy},
                         {"dask.dataframe", {"dd"}, make_dask_dataframe},
                         {"_gpu", {}, texts<"_gpu">},
                         {"_pandas", {}, make_pandas_library},
                         {"_periods", {}, texts<"_periods">},
                         {"_intervals", {}, texts<"_intervals">},
                         {"_frame", {}, make_frame_natives},
                         {"_texts", {}, make_text_natives},
                         {"_times", {}, make_time_natives},
                         {"scipy", {}, make_scipy},
                         {"_scipy", {}, make_scipy_library},
                         {"matplotlib", {}, make_matplotlib},
                         {"cycler", {}, make_cycler},
                         {"matplotlib.pyplot", {"plt"}, make_pyplot},
                         {"_matplotlib", {}, make_matplotlib_natives},
                         {"sklearn", {}, make_sklearn},
                         {"cuml", {}, make_cuml},
                         {"dask_ml", {}, make_dask_ml},
                         {"_sklearn", {}, make_sklearn_library},
                         {"numba", {"numba"}, make_numba, {"jit", "njit", "prange", "vectorize", "guvectorize", "stencil"}},
                         {"numba.types", {}, make_numba_types},
                         {"numba.typed", {}, make_numba_typed},
                         {"numba.extending", {}, make_numba_extending},
                         {"numba.experimental", {}, make_numba_experimental},
                         {"numba.cuda", {}, make_numba_cuda},
                         {"numba.cuda.random", {}, make_numba_cuda_random},
                         {"numba.core.errors", {}, make_numba_errors},
                         {"numba.core.types", {}, make_numba_types},
                     },
                     {public_names(), former_names()}});
  return table;
}

Value make_module(const std::string& name, const std::vector<NativeFunction>& functions) {
  Value module = Value::make<Module>(name);
  for (const NativeFunction& f : functions) set_member(module, f.name, Value::make<Builtin>(f));
  return module;
}

void set_member(const Value& module, const std::string& name, Value value) {
  module.as<Module>()->members.insert_or_assign(name, std::move(value));
}

}  // namespace gasell
