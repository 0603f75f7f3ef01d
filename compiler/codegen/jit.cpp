#include "compiler/codegen/jit.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/codegen/device_library.h"
#include "compiler/codegen/emit.h"
#include "compiler/codegen/externals.h"
#include "compiler/codegen/kernel_cache.h"
#include "compiler/codegen/math_functions.h"
#include "compiler/codegen/optimise.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/text.h"
#include "lang/diagnostic.h"
#include "lang/heap_account.h"

namespace gasell {
namespace {

std::string hex(XXH128_hash_t hash) {
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

/// What a kernel compiles to depends on this text and nothing else.
std::string key_of(const ir::Kernel& kernel, const Target& target) {
  std::string text = ir::print(kernel);
  text += '\n' + target.triple + '\n' + target.cpu + '\n' + target.features + '\n';
  text += math_version() + "\nLLVM " LLVM_VERSION_STRING "\nemitter " + std::to_string(kEmitterVersion);
  text += target.check_races ? " races checked" : target.check_bounds ? " checked" : "";
  return hex(XXH3_128bits(text.data(), text.size()));
}

/// LLVM says on stderr which simd loops it could not vectorise (those that call functions without a vector twin): nothing for users.
struct QuietDiagnostics final : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override { return info.getSeverity() != llvm::DS_Error; }
};

[[noreturn]] void fail(llvm::Error error) {
  throw Error("SystemError", "the JIT failed: " + llvm::toString(std::move(error)), "", Blame::internal);
}
template <class T>
T unwrap(llvm::Expected<T> value) {
  if (!value) fail(value.takeError());
  return std::move(*value);
}

/// Finds the functions of externals.h for code that is linked.
class Externals final : public llvm::orc::DefinitionGenerator {
 public:
  llvm::Error tryToGenerate(llvm::orc::LookupState&, llvm::orc::LookupKind, llvm::orc::JITDylib& library, llvm::orc::JITDylibLookupFlags,
                            const llvm::orc::SymbolLookupSet& wanted) override {
    llvm::orc::SymbolMap found;
    for (const auto& [name, flags] : wanted)
      if (void* address = find_external((*name).str()))
        found[name] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    return found.empty() ? llvm::Error::success() : library.define(llvm::orc::absoluteSymbols(std::move(found)));
  }
};

}  // namespace

struct Jit::State {
  explicit State(const JitOptions& options)
      : cache(options.disk_cache, options.cache_directory, options.cache_limit),
        check_bounds(options.check_bounds || options.check_races),
        check_races(options.check_races),
        check_thread_races(options.check_thread_races) {}

  /// The host's, as this Jit compiles for it. Kernels that are mapped to a grid, which simulated GPUs run, have the functions of a GPU
  /// without a toolkit.
  Target target(const ir::Kernel& kernel) const {
    Target target = host_target();
    target.check_bounds = check_bounds;
    target.check_races = check_races || (kernel.simt && check_thread_races);
    if (kernel.threads || kernel.simt) target.emits_math = true;
    return target;
  }

  llvm::orc::LLJIT& lljit() {
    std::call_once(made, [this] {
      const Target& target = host_target();
      llvm::orc::JITTargetMachineBuilder machine((llvm::Triple(target.triple)));
      machine.setCPU(target.cpu);
      jit = unwrap(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create());
      register_runtime_functions();
      jit->getMainJITDylib().addGenerator(std::make_unique<Externals>());
      jit->getMainJITDylib().addGenerator(
          unwrap(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit->getDataLayout().getGlobalPrefix())));
      jit->getExecutionSession().setErrorReporter(
          [](llvm::Error error) { llvm::consumeError(std::move(error)); });  // lookup() returns them too
    });
    return *jit;
  }

  /// Takes a kernel through the passes, the emitter and LLVM's optimiser; what `finish` makes of the module and its target machine.
  template <class F>
  auto lower(const ir::Kernel& kernel, const std::string& symbol, F finish) const {
    const ir::Kernel ready = ir::run_passes(kernel, ir::pipeline_of(kernel));
    llvm::LLVMContext context;
    context.setDiagnosticHandler(std::make_unique<QuietDiagnostics>());
    const auto machine = make_target_machine(host_target());
    const Target wanted = target(kernel);
    const auto module = emit_module(context, ready, wanted, symbol);
    if (wanted.emits_math && !link_device_library(*module)) fail(llvm::createStringError("a function is missing in libclc"));
    optimise(*module, *machine, kernel.function);
    return finish(*module, *machine);
  }

  /// The function in an object file; an error when it is no such file.
  llvm::Expected<HostKernelFunction> load(std::unique_ptr<llvm::MemoryBuffer> object, const std::string& symbol) {
    llvm::orc::LLJIT& jit = lljit();
    const auto tracker = jit.getMainJITDylib().createResourceTracker();
    if (auto error = jit.addObjectFile(tracker, std::move(object))) return error;
    auto address = jit.lookup(symbol);
    if (address) return address->toPtr<HostKernelFunction>();
    llvm::consumeError(tracker->remove());
    return address.takeError();
  }

  KernelCache cache;
  const bool check_bounds, check_races, check_thread_races;
  std::once_flag made;
  std::unique_ptr<llvm::orc::LLJIT> jit;

  /// Kernels known, or being compiled by some thread (function still null).
  std::mutex mutex;
  std::condition_variable compiled;
  std::unordered_map<std::string, HostKernel> kernels;
};

Jit::Jit(JitOptions options) : state_(std::make_unique<State>(options)) {}
Jit::~Jit() = default;

HostKernel Jit::compile(const ir::Kernel& kernel) {
  const Uncounted uncounted;  // LLVM cannot tell that memory is short; the code is counted
  const std::string key = key_of(kernel, state_->target(kernel));
  {
    std::unique_lock lock(state_->mutex);
    for (;;) {
      auto [known, fresh] = state_->kernels.try_emplace(key);
      if (fresh) break;
      if (known->second.function) {
        HostKernel found = known->second;
        found.compile_seconds = 0;
        found.origin = HostKernel::Origin::memory;
        return found;
      }
      state_->compiled.wait(lock);
    }
  }
  const auto start = std::chrono::steady_clock::now();
  HostKernel result;
  try {
    const std::string symbol = "gasell_kernel_" + key;
    if (const auto stored = state_->cache.find(key)) {
      uncounted.but(static_cast<int64_t>(stored->size()));
      auto function = state_->load(llvm::MemoryBuffer::getMemBufferCopy(*stored, symbol), symbol);
      if (function)
        result = {*function, 0, HostKernel::Origin::disk};
      else
        llvm::consumeError(function.takeError());  // compiled again, and replaced
    }
    if (!result.function) {
      auto object = state_->lower(kernel, symbol, to_object);
      uncounted.but(static_cast<int64_t>(object->getBufferSize()));
      state_->cache.insert(key, std::string_view(object->getBufferStart(), object->getBufferSize()));
      result.function = unwrap(state_->load(std::move(object), symbol));
    }
  } catch (...) {
    const std::lock_guard lock(state_->mutex);
    state_->kernels.erase(key);
    state_->compiled.notify_all();
    throw;
  }
  if (result.origin == HostKernel::Origin::compiled)
    result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::lock_guard lock(state_->mutex);
  state_->kernels[key] = result;
  state_->compiled.notify_all();
  return result;
}

std::string Jit::emit_llvm(const ir::Kernel& kernel) {
  return state_->lower(kernel, "kernel", [](llvm::Module& module, llvm::TargetMachine&) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    return text;
  });
}

std::string Jit::emit_asm(const ir::Kernel& kernel) { return state_->lower(kernel, "kernel", to_assembly); }

Jit::Description Jit::describe() const {
  const Target& target = host_target();
  const KernelCache::Usage usage = state_->cache.usage();
  return {target.cpu, target.features, target.triple, LLVM_VERSION_STRING, state_->cache.describe(), usage.entries, usage.bytes};
}

}  // namespace gasell
