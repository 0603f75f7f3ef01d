#include "compiler/codegen/jit.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
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

#include "compiler/codegen/emit.h"
#include "compiler/codegen/kernel_cache.h"
#include "compiler/codegen/optimise.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/text.h"
#include "lang/diagnostic.h"

namespace gasell {
namespace {

std::string hex(XXH128_hash_t hash) {
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64), static_cast<unsigned long long>(hash.low64));
  return text;
}

/// What a kernel compiles to depends on this text and nothing else.
std::string key_of(const ir::Kernel& kernel, const Target& target) {
  std::string text = ir::print(kernel);
  text += '\n' + target.triple + '\n' + target.cpu + '\n' + target.features + '\n' + vector_math_name() + "\nLLVM " LLVM_VERSION_STRING "\nemitter " + std::to_string(kEmitterVersion);
  return hex(XXH3_128bits(text.data(), text.size()));
}

[[noreturn]] void fail(llvm::Error error) { throw Error("SystemError", "the JIT failed: " + llvm::toString(std::move(error)), "", Blame::internal); }
template <class T>
T unwrap(llvm::Expected<T> value) {
  if (!value) fail(value.takeError());
  return std::move(*value);
}

}  // namespace

struct Jit::State {
  explicit State(const JitOptions& options) : cache(options.disk_cache, options.cache_directory, options.cache_limit) {}

  llvm::orc::LLJIT& lljit() {
    std::call_once(made, [this] {
      const Target& target = host_target();
      llvm::orc::JITTargetMachineBuilder machine((llvm::Triple(target.triple)));
      machine.setCPU(target.cpu);
      jit = unwrap(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create());
      vector_math_name();  // opens libmvec, so that its symbols are the process's
      jit->getMainJITDylib().addGenerator(unwrap(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit->getDataLayout().getGlobalPrefix())));
      llvm::orc::SymbolMap symbols;
      for (const RuntimeFunction& f : runtime_functions())
        symbols[jit->mangleAndIntern(f.name)] = {llvm::orc::ExecutorAddr::fromPtr(f.address), llvm::JITSymbolFlags::Exported};
      if (auto error = jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)))) fail(std::move(error));
    });
    return *jit;
  }

  std::unique_ptr<llvm::MemoryBuffer> compile_object(const ir::Kernel& kernel, const std::string& symbol) {
    const ir::Kernel ready = ir::run_passes(kernel, ir::pipeline());
    llvm::LLVMContext context;
    const auto machine = make_target_machine(host_target());
    const auto module = emit_module(context, ready, host_target(), symbol);
    optimise(*module, *machine);
    return to_object(*module, *machine);
  }

  KernelCache cache;
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
  const std::string key = key_of(kernel, host_target());
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
    std::unique_ptr<llvm::MemoryBuffer> object;
    if (const auto stored = state_->cache.find(key)) {
      object = llvm::MemoryBuffer::getMemBufferCopy(*stored, symbol);
      result.origin = HostKernel::Origin::disk;
    } else {
      object = state_->compile_object(kernel, symbol);
      state_->cache.insert(key, std::string_view(object->getBufferStart(), object->getBufferSize()));
    }
    llvm::orc::LLJIT& jit = state_->lljit();
    if (auto error = jit.addObjectFile(std::move(object))) fail(std::move(error));
    result.function = unwrap(jit.lookup(symbol)).toPtr<HostKernelFunction>();
  } catch (...) {
    const std::lock_guard lock(state_->mutex);
    state_->kernels.erase(key);
    state_->compiled.notify_all();
    throw;
  }
  if (result.origin == HostKernel::Origin::compiled) result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::lock_guard lock(state_->mutex);
  state_->kernels[key] = result;
  state_->compiled.notify_all();
  return result;
}

std::string Jit::emit_llvm(const ir::Kernel& kernel) {
  llvm::LLVMContext context;
  const auto machine = make_target_machine(host_target());
  const auto module = emit_module(context, ir::run_passes(kernel, ir::pipeline()), host_target(), "kernel");
  optimise(*module, *machine);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

std::string Jit::emit_asm(const ir::Kernel& kernel) {
  llvm::LLVMContext context;
  const auto machine = make_target_machine(host_target());
  const auto module = emit_module(context, ir::run_passes(kernel, ir::pipeline()), host_target(), "kernel");
  optimise(*module, *machine);
  return to_assembly(*module, *machine);
}

Jit::Description Jit::describe() const {
  const Target& target = host_target();
  const KernelCache::Usage usage = state_->cache.usage();
  return {target.cpu, target.features, target.triple, LLVM_VERSION_STRING, vector_math_name(), state_->cache.describe(), usage.entries, usage.bytes};
}

}  // namespace gasell
