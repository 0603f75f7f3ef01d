#include "lang/dtype.h"
#include "runtime/device/trace.h"
#include "tools/libgasell/handles.h"
#include "tools/version.h"

using namespace gasell;
using namespace gasell::c_abi;

static_assert(static_cast<int>(DType::boolean) == GASELL_BOOL && static_cast<int>(DType::i64) == GASELL_I64 &&
                  static_cast<int>(DType::u8) == GASELL_U8 && static_cast<int>(DType::f32) == GASELL_F32 &&
                  static_cast<int>(DType::c128) == GASELL_C128,
              "C's dtype numbers are the engine's");

namespace gasell::c_abi {

DType dtype_of(gasell_dtype dtype) {
  const int number = static_cast<int>(dtype);
  require(number >= 0 && number < kDTypeCount, "this number is no dtype");
  return static_cast<DType>(number);
}

}  // namespace gasell::c_abi

const char* gasell_version(void) noexcept { return kVersion; }

const char* gasell_dtype_name(gasell_dtype dtype) noexcept {
  const int number = static_cast<int>(dtype);
  return number >= 0 && number < kDTypeCount ? name_of(static_cast<DType>(number)).data() : nullptr;  // the names are literals
}

size_t gasell_dtype_size(gasell_dtype dtype) noexcept {
  const int number = static_cast<int>(dtype);
  return number >= 0 && number < kDTypeCount ? static_cast<size_t>(size_of(static_cast<DType>(number))) : 0;
}

gasell_status gasell_engine_create(const gasell_engine_options* options, gasell_engine** engine, gasell_error** error) noexcept {
  return guarded(error, nullptr, [&] {
    require(engine, "gasell_engine_create wants a place for the engine");
    *engine = nullptr;
    EngineOptions o = EngineOptions::from_environment();
    if (options) {
      const gasell_engine_options given = read_struct(*options);
      require(given.threads >= 0 && given.threads <= 4096, "threads must be 0 (all cores) or at most 4096");
      require(given.memory >= 0, "memory must be 0 (the default) or a number of bytes");
      require(given.chunk >= 0, "chunk must be 0 (chosen) or a number of elements");
      if (given.threads) o.threads = given.threads;
      if (given.memory) o.memory = given.memory;
      if (given.device) o.device = given.device;
      if (given.no_fuse) o.fuse = false;
      if (given.chunk) o.chunk = given.chunk;
      if (given.no_cache) o.cache = false;
      if (given.cache_directory) o.cache_directory = given.cache_directory;
    }
    *engine = new gasell_engine(std::move(o));
  });
}

void gasell_engine_free(gasell_engine* engine) noexcept { delete engine; }

void gasell_engine_interrupt(gasell_engine* engine) noexcept {
  if (engine) engine->engine.interrupt();
}

double gasell_engine_progress(gasell_engine* engine) noexcept {
  try {
    if (!engine) return -1;
    Trace& trace = engine->engine.trace();
    if (!trace.is_on()) trace.start(false);
    return trace.progress()->load(std::memory_order_relaxed);
  } catch (...) {
    return -1;
  }
}
