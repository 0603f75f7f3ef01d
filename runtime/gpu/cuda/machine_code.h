// Machine code of kernels, found on disk or made once for all GPUs that can run it.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "compiler/codegen/gpu.h"
#include "compiler/codegen/kernel_cache.h"

namespace gasell::cuda {

/// A kernel's machine code, and what launching it takes.
struct MachineCode {
  GpuCode code;       // without PTX
  std::string cubin;  // empty: no GPU can run the kernel
  bool from_disk = false;

  std::string text() const;
  /// What text() gave, from a file; nothing for any other.
  static std::optional<MachineCode> parse(const std::string& text);
};
using MachineCodeRef = std::shared_ptr<const MachineCode>;

/// Shared by the GPUs of an engine: who asks for what another thread is making waits for it. Thread-safe.
class MachineCodes {
 public:
  using Make = std::function<MachineCode()>;
  /// `cache` may be null. Throws what `make` throws.
  MachineCodeRef find_or_make(const std::string& key, const KernelCache* cache, const Make& make);
  /// In place of `refused`, which the driver did not take: made again, unless another has done that since.
  MachineCodeRef make_again(const std::string& key, const MachineCodeRef& refused, const KernelCache* cache, const Make& make);

 private:
  MachineCodeRef get(const std::string& key, const MachineCodeRef& refused, const KernelCache* cache, const Make& make);

  std::mutex mutex_;
  std::condition_variable made_;
  std::unordered_map<std::string, MachineCodeRef> codes_;  // null: some thread is at it
};

}  // namespace gasell::cuda
