#include "runtime/gpu/cuda/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/ir/text.h"
#include "lang/diagnostic.h"

namespace gasell::cuda {
namespace {

constexpr int64_t kSharedWithoutAsking = 48 << 10;

/// The driver's last words, on one line.
std::string one_line(std::string_view log) {
  std::string text;
  for (const char c : log.substr(0, 1000)) {
    if (c == '\n' || c == '\r') {
      if (!text.empty() && !text.ends_with("; ")) text += "; ";
    } else if (c) {
      text += c;
    }
  }
  while (text.ends_with(' ') || text.ends_with(';')) text.pop_back();
  return text;
}

[[noreturn]] void refuse(GpuContext& context, Result result, const std::string& log) {
  const std::string name = error_name(context.driver(), result);
  if (result == Result::unsupported_ptx_version)
    throw Error("RuntimeError", fmt::format("the driver of {} is too old for the kernels ({})", context.label(), name),
                "update the NVIDIA driver", Blame::environment);
  if (result == Result::jit_compiler_not_found)
    throw Error("RuntimeError", fmt::format("the driver of {} has no compiler for kernels ({})", context.label(), name),
                "install the driver's libnvidia-ptxjitcompiler.so.1; a container needs the driver capability \"compute\"",
                Blame::environment);
  if (result == Result::jit_compilation_disabled)
    throw Error("RuntimeError", fmt::format("the driver of {} may not compile kernels ({})", context.label(), name),
                "unset CUDA_DISABLE_PTX_JIT", Blame::environment);
  if (result == Result::no_binary_for_gpu || result == Result::invalid_ptx || !log.empty())
    throw Error("SystemError",
                fmt::format("the driver refuses a kernel for {} ({}){}{}", context.label(), name, log.empty() ? "" : ": ", one_line(log)),
                "please report it with the script; --device cpu goes without the GPU", Blame::internal);
  context.fail(result, "loading a kernel");
}

}  // namespace

Kernels::Kernels(ContextRef context, PtxCompiler compile, std::string compiler, std::shared_ptr<MachineCodes> codes,
                 std::shared_ptr<const KernelCache> cache, int driver_version)
    : context_(std::move(context)),
      compile_(std::move(compile)),
      compiler_(std::move(compiler)),
      codes_(std::move(codes)),
      cache_(std::move(cache)),
      capability_(context_->attribute(DeviceAttribute::capability_major) * 10 + context_->attribute(DeviceAttribute::capability_minor)),
      multiprocessors_(std::max(1, context_->attribute(DeviceAttribute::multiprocessors))),
      driver_version_(driver_version) {}

std::string Kernels::key(const char* kind, const std::string& text) const {
  const std::string all = fmt::format("{}\nsm_{}\ndriver {}\n{}\n{}", kind, capability_, driver_version_, compiler_, text);
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return fmt::format("cubin_{:016x}{:016x}", hash.high64, hash.low64);
}

LoadedKernelRef Kernels::load(const ir::Kernel& kernel) {
  const std::string text = ir::print(kernel);
  std::promise<LoadedKernelRef> promise;
  std::shared_future<LoadedKernelRef> known;
  {
    const std::lock_guard lock(mutex_);
    const auto [place, fresh] = loaded_.try_emplace(text);
    if (fresh)
      place->second = promise.get_future().share();
    else
      known = place->second;
  }
  if (known.valid()) return known.get();
  try {
    LoadedKernelRef made = make(kernel, text);
    promise.set_value(made);
    return made;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    loaded_.erase(text);
    promise.set_exception(std::current_exception());
    throw;
  }
}

LoadedKernelRef Kernels::make(const ir::Kernel& kernel, const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  bool made = false;
  const auto link_code = [&](std::optional<GpuCode> code) {
    made = true;
    if (!code) return MachineCode{};
    std::string cubin = link(code->ptx);
    code->ptx.clear();
    return MachineCode{std::move(*code), std::move(cubin)};
  };
  std::string where;
  MachineCodes::Make make_code;
  if (compiler_.empty()) {
    std::optional<GpuCode> code = compile_(kernel, capability_);
    where = key("ptx", code ? code->ptx : text);
    make_code = [&link_code, code = std::move(code)] { return link_code(code); };
  } else {
    where = key("kernel", text);
    make_code = [&] { return link_code(compile_(kernel, capability_)); };
  }

  MachineCodeRef code = codes_->find_or_make(where, cache_.get(), make_code);
  if (code->cubin.empty()) return nullptr;
  std::shared_ptr<CudaKernel> loaded;
  try {
    loaded = load_code(*code);
  } catch (const Error&) {
    // What is on disk may be whole and yet be refused: then it is made again, and replaced.
    if (!code->from_disk) throw;
    code = codes_->make_again(where, code, cache_.get(), make_code);
    loaded = load_code(*code);
  }
  if (made) loaded->compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  loaded->arrays = static_cast<size_t>(std::count_if(kernel.params.begin(), kernel.params.end(),
                                                     [](const ir::Parameter& p) { return p.kind != ir::Parameter::Kind::scalar; }));
  return loaded;
}

void Kernels::allow_shared(const CudaKernel& kernel, int64_t bytes) {
  if (bytes <= std::max<int64_t>(kSharedWithoutAsking, kernel.shared_bytes)) return;
  context_->check(
      context_->driver().function_set_attribute(kernel.function, FunctionAttribute::max_dynamic_shared_bytes, static_cast<int>(bytes)),
      "giving a kernel shared memory");
}

std::string Kernels::link(const std::string& ptx) {
  const Driver& driver = context_->driver();
  std::string log(8192, '\0');  // until the link is destroyed
  JitOption options[] = {JitOption::error_log, JitOption::error_log_bytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  Link handle = nullptr;
  if (const Result result = driver.link_create(2, options, values, &handle); result != Result::success) refuse(*context_, result, {});
  const OwnedLink link(context_, handle);
  void* cubin = nullptr;
  size_t bytes = 0;
  // PTX is text that ends with a zero, which counts.
  Result result =
      driver.link_add_data(handle, JitInput::ptx, const_cast<char*>(ptx.c_str()), ptx.size() + 1, "gasell.ptx", 0, nullptr, nullptr);
  if (result == Result::success) result = driver.link_complete(handle, &cubin, &bytes);
  if (result != Result::success) refuse(*context_, result, log.c_str());
  return {static_cast<const char*>(cubin), bytes};  // the driver's copy goes with the link
}

std::shared_ptr<CudaKernel> Kernels::load_code(const MachineCode& machine_code) {
  const Driver& driver = context_->driver();
  const GpuCode& code = machine_code.code;
  const auto kernel = std::make_shared<CudaKernel>();
  Module module = nullptr;
  if (const Result result = driver.module_load_data(&module, machine_code.cubin.data()); result != Result::success)
    refuse(*context_, result, {});
  kernel->module = OwnedModule(context_, module);
  context_->check(driver.module_get_function(&kernel->function, module, code.symbol.c_str()), "looking for a kernel");

  const int most_threads = context_->attribute(DeviceAttribute::max_threads_per_block),
            most_shared = context_->attribute(DeviceAttribute::max_shared_per_block_opt_in);
  if (code.threads < 1 || code.threads > most_threads || code.shared_bytes < 0 ||
      code.shared_bytes > std::max<int64_t>(most_shared, kSharedWithoutAsking))
    throw Error("SystemError",
                fmt::format("a kernel wants {} threads and {} bytes of shared memory a block; {} has {} and {}", code.threads,
                            code.shared_bytes, context_->label(), most_threads, most_shared),
                {}, Blame::internal);
  kernel->threads = code.threads;
  kernel->shared_bytes = static_cast<unsigned>(code.shared_bytes);
  if (code.shared_bytes > kSharedWithoutAsking)
    context_->check(
        driver.function_set_attribute(kernel->function, FunctionAttribute::max_dynamic_shared_bytes, static_cast<int>(code.shared_bytes)),
        "giving a kernel shared memory");
  int blocks = 0;
  context_->check(driver.occupancy_max_active_blocks(&blocks, kernel->function, code.threads, static_cast<size_t>(code.shared_bytes)),
                  "asking how many blocks fit");
  if (blocks == 0)
    throw Error("SystemError",
                fmt::format("no block of a kernel ({} threads, {} bytes of shared memory) fits on a multiprocessor of {}", code.threads,
                            code.shared_bytes, context_->label()),
                {}, Blame::internal);
  kernel->blocks_at_once = blocks * multiprocessors_;
  return kernel;
}

}  // namespace gasell::cuda
