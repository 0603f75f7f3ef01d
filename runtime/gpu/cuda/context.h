// One GPU's primary context: who uses it keeps it; what the driver answers becomes an error of ours here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "runtime/gpu/cuda/driver.h"

namespace gasell::cuda {

/// The context that a GPU's users in this process share (a library of the embedding program may be one of them). Everything that came from
/// the context holds a ContextRef, so that it goes last. Thread-safe.
class GpuContext {
 public:
  /// Retains device `ordinal`'s. Throws Error: ValueError when there is no such device; RuntimeError or MemoryError when it cannot be had,
  /// as when it is in exclusive use by another process.
  GpuContext(const Driver& driver, int ordinal);
  ~GpuContext();
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  const Driver& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  DeviceOrdinal device() const { return device_; }
  Context handle() const { return handle_; }
  const std::string& name() const { return name_; }    // "NVIDIA H200"
  const std::string& label() const { return label_; }  // "gpu:0 (NVIDIA H200)"

  /// Throws what a result other than success means. `what` completes "while …": "copying to the GPU". Results after which the driver
  /// refuses all further work mark the context lost and throw GpuLost; shortage of memory is Error("MemoryError", …), the rest
  /// Error("SystemError", …).
  void check(Result result, const char* what) {
    if (result != Result::success) [[unlikely]]
      fail(result, what);
  }
  [[noreturn]] void fail(Result result, const char* what);

  bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  /// Throws the GpuLost that was thrown first, if one was.
  void require_alive() const;

  int attribute(DeviceAttribute attribute) const noexcept;  // 0 when it is not known

 private:
  const Driver& driver_;
  int ordinal_;
  DeviceOrdinal device_ = 0;
  Context handle_ = nullptr;
  std::string name_, label_;
  std::atomic<bool> lost_{false};
  mutable std::mutex mutex_;
  std::string why_lost_;
};
using ContextRef = std::shared_ptr<GpuContext>;

/// Makes the context current in this thread while it lives; what was current before comes back.
class Current {
 public:
  /// Throws GpuLost when the context is lost already.
  explicit Current(GpuContext& context);
  /// For destructors: entered() says whether calls make sense.
  Current(GpuContext& context, std::nothrow_t) noexcept;
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  bool entered() const { return driver_ != nullptr; }

 private:
  const Driver* driver_ = nullptr;
};

/// A handle of the driver's with the entry that ends it. Ends quietly, and not at all on a lost GPU.
template <class Handle, Result (*Driver::*kEnd)(Handle)>
class Owned {
 public:
  Owned() = default;
  Owned(ContextRef context, Handle handle) : context_(std::move(context)), handle_(handle) {}
  Owned(Owned&& other) noexcept : context_(std::move(other.context_)), handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (!handle_) return;
    if (const Current current(*context_, std::nothrow); current.entered()) (context_->driver().*kEnd)(handle_);
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle{}; }

 private:
  ContextRef context_;
  Handle handle_{};
};
using OwnedStream = Owned<Stream, &Driver::stream_destroy>;
using OwnedEvent = Owned<Event, &Driver::event_destroy>;
using OwnedPool = Owned<Pool, &Driver::pool_destroy>;
using OwnedModule = Owned<Module, &Driver::module_unload>;
using OwnedLink = Owned<Link, &Driver::link_destroy>;

/// One that runs beside the others, the default stream included. The context must be current, as for make_event.
OwnedStream make_stream(const ContextRef& context);
/// One that orders and takes no time stamps.
OwnedEvent make_event(const ContextRef& context);
/// One that knows when it was reached.
OwnedEvent make_timed_event(const ContextRef& context);

}  // namespace gasell::cuda
