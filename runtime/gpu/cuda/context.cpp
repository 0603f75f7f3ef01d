#include "runtime/gpu/cuda/context.h"

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "runtime/device/storage.h"
#include "runtime/gpu/gpu.h"

namespace gasell::cuda {
namespace {

/// What to do about a GPU that serves no more, or null for a result after which it goes on serving.
const char* remedy_when_lost(Result result) {
  switch (result) {
    case Result::illegal_address:
    case Result::misaligned_address:
    case Result::invalid_address_space:
    case Result::illegal_instruction:
    case Result::invalid_program_counter:
    case Result::hardware_stack_error:
    case Result::device_assert:
    case Result::launch_failed:
    case Result::tensor_memory_leak:
      return "a kernel did what it must not: please report it with the script; --device cpu goes without the GPU";
    case Result::ecc_uncorrectable:
    case Result::contained:
      return "its memory has a fault that error correction does not mend: see nvidia-smi -q -d ECC, and reset or replace the GPU";
    case Result::nvlink_uncorrectable: return "a link between GPUs failed: see nvidia-smi nvlink -e";
    case Result::launch_timeout: return "the system ends long kernels on a GPU that drives a display: use another GPU, or smaller arrays";
    case Result::context_is_destroyed:
    case Result::deinitialized:
    case Result::invalid_context: return "the program around reset the GPU or is ending";
    case Result::mps_client_terminated: return "the MPS server ended this client: see its log";
    case Result::device_unavailable:
    case Result::no_device:
    case Result::invalid_device:
    case Result::operating_system:
    case Result::system_not_ready:
    case Result::unknown: return "see nvidia-smi and the kernel's log (dmesg, lines with Xid)";
    default: return nullptr;
  }
}

std::string error_text(const Driver& driver, Result result) {
  const char* text = nullptr;
  if (driver.get_error_string(result, &text) == Result::success && text) return fmt::format("{}: {}", error_name(driver, result), text);
  return error_name(driver, result);
}

[[noreturn]] void fail_to_retain(const GpuContext& context, Result result) {
  const std::string name = error_name(context.driver(), result);
  if (result == Result::out_of_memory)
    throw Error("MemoryError", fmt::format("{} has no memory left to start on ({})", context.label(), name),
                "nvidia-smi shows which processes hold it", Blame::environment);
  if (result == Result::device_unavailable) {
    if (context.attribute(DeviceAttribute::compute_mode) == static_cast<int>(ComputeMode::prohibited))
      throw Error("RuntimeError", fmt::format("{} is set to take no work ({})", context.label(), name),
                  fmt::format("nvidia-smi -i {} -c DEFAULT lets it", context.ordinal()), Blame::environment);
    throw Error("RuntimeError", fmt::format("{} is in exclusive use by another process ({})", context.label(), name),
                fmt::format("nvidia-smi shows which; nvidia-smi -i {} -c DEFAULT lets several share it", context.ordinal()),
                Blame::environment);
  }
  throw Error("RuntimeError", fmt::format("{} does not start ({})", context.label(), error_text(context.driver(), result)),
              "nvidia-smi and the kernel's log (dmesg, lines with Xid) show why", Blame::environment);
}

}  // namespace

GpuContext::GpuContext(const Driver& driver, int ordinal) : driver_(driver), ordinal_(ordinal), label_(fmt::format("gpu:{}", ordinal)) {
  int count = 0;
  if (driver_.device_get_count(&count) != Result::success) count = 0;
  if (ordinal < 0 || ordinal >= count || driver_.device_get(&device_, ordinal) != Result::success)
    throw Error(
        "ValueError",
        fmt::format("there is no gpu:{}: this machine has {}", ordinal, count == 1 ? "one GPU, gpu:0" : fmt::format("{} GPUs", count)),
        "gasell doctor lists them", Blame::environment);
  char name[256] = "";
  if (driver_.device_get_name(name, sizeof name, device_) == Result::success) name_ = name;
  label_ = fmt::format("gpu:{} ({})", ordinal, name_);
  if (const Result result = driver_.primary_context_retain(&handle_, device_); result != Result::success) fail_to_retain(*this, result);
}

GpuContext::~GpuContext() { driver_.primary_context_release(device_); }

void GpuContext::fail(Result result, const char* what) {
  if (const char* remedy = remedy_when_lost(result)) {
    const std::lock_guard lock(mutex_);
    if (!lost()) {
      why_lost_ = fmt::format("{} while {}; {}", error_name(driver_, result), what, remedy);
      lost_.store(true, std::memory_order_release);
    }
    throw GpuLost(why_lost_);
  }
  if (result == Result::out_of_memory)
    throw Error("MemoryError", fmt::format("{} ran out of memory while {} ({})", label_, what, error_name(driver_, result)),
                "nvidia-smi shows which processes hold its memory", Blame::environment);
  throw Error("SystemError", fmt::format("{} failed while {} ({})", label_, what, error_text(driver_, result)), {}, Blame::internal);
}

void GpuContext::require_alive() const {
  if (!lost()) return;
  const std::lock_guard lock(mutex_);
  throw GpuLost(why_lost_);
}

int GpuContext::attribute(DeviceAttribute attribute) const noexcept {
  int value = 0;
  return driver_.device_get_attribute(&value, attribute, device_) == Result::success ? value : 0;
}

Current::Current(GpuContext& context) {
  context.require_alive();
  context.check(context.driver().context_push_current(context.handle()), "entering its context");
  driver_ = &context.driver();
}

Current::Current(GpuContext& context, std::nothrow_t) noexcept {
  if (!context.lost() && context.driver().context_push_current(context.handle()) == Result::success) driver_ = &context.driver();
}

Current::~Current() {
  Context popped = nullptr;
  if (driver_) driver_->context_pop_current(&popped);
}

OwnedStream make_stream(const ContextRef& context) {
  Stream stream = nullptr;
  context->check(context->driver().stream_create(&stream, kStreamNonBlocking), "making a stream");
  return {context, stream};
}

namespace {

OwnedEvent event_with(const ContextRef& context, unsigned flags) {
  Event event = nullptr;
  context->check(context->driver().event_create(&event, flags), "making an event");
  return {context, event};
}

}  // namespace

OwnedEvent make_event(const ContextRef& context) { return event_with(context, kEventDisableTiming); }
OwnedEvent make_timed_event(const ContextRef& context) { return event_with(context, kEventTimed); }

}  // namespace gasell::cuda
