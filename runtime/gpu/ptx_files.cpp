#include "runtime/gpu/ptx_files.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/codegen/gpu.h"
#include "lang/diagnostic.h"

namespace gasell {

KernelCompiler with_ptx_files(KernelCompiler compile) {
  const char* folder = std::getenv("GASELL_SIM_PTX");
  if (!folder || !*folder) return compile;
  return [compile = std::move(compile), folder = std::filesystem::path(folder)](const ir::Kernel& kernel) {
    std::optional<GpuCode> code = compile_ptx(kernel, 75);
    if (!code) code = compile_ptx(kernel, 90);
    if (code) {
      const auto path = folder / fmt::format("{}.{:016x}.ptx", code->symbol, XXH3_64bits(code->ptx.data(), code->ptx.size()));
      std::ofstream file(path);
      if (!(file << code->ptx).flush())
        throw Error("OSError", "cannot write " + path.string(), "GASELL_SIM_PTX names a folder that is there");
    }
    return compile(kernel);
  };
}

}  // namespace gasell
