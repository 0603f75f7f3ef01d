// GPUs, contexts, streams and events of numba.cuda. Kernels are done when their launch returns, so streams and events have little to do.
#include <chrono>

#include <fmt/format.h>

#include "runtime/gpu/gpu_device.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"
#include "stdlib/numba/cuda.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;

int gpu_count(Interpreter& in) {
  GpuDevice* const gpus = in.engine().chosen_gpus();
  return gpus ? gpus->count() : 0;
}
GpuDevice& need_gpus(Interpreter& in) {
  GpuDevice* const gpus = in.engine().chosen_gpus();
  if (!gpus) raise("RuntimeError", "there is no GPU: kernels run on the host, as on a simulated one");
  return *gpus;
}

// ---- GPUs ----
class CudaDevice final : public Object {
 public:
  explicit CudaDevice(int number) : number(number) {}
  const gasell::Type& type() const override;
  std::string repr(Interpreter& in) override { return fmt::format("<CUDA device {} '{}'>", number, need_gpus(in).gpu(number).name); }
  Value enter(Interpreter& in) override {
    before_ = need_gpus(in).selected();
    need_gpus(in).select(number);
    return Value::of(this);
  }
  bool exit(Interpreter& in, const Value&) override {
    need_gpus(in).select(before_);
    return false;
  }
  const int number;

 private:
  int before_ = 0;
};

const GpuProperties& properties(Interpreter& in, const Value& v) { return need_gpus(in).gpu(v.as<CudaDevice>()->number); }

const gasell::Type& CudaDevice::type() const {
  static const gasell::Type t = [] {
    gasell::Type made{"Device", "numba.cuda.cudadrv.driver", &object_type()};
    using P = gasell::Type::Property;
    made.properties = std::vector<P>{
        {"id", [](Interpreter&, const Value& v) { return Value::of(v.as<CudaDevice>()->number); }, nullptr, "its number"},
        {"name", [](Interpreter& in, const Value& v) { return make_str(properties(in, v).name); }, nullptr, "its name"},
        {"compute_capability",
         [](Interpreter& in, const Value& v) {
           const int c = properties(in, v).capability;
           return make_tuple({Value::of(c / 10), Value::of(c % 10)});
         },
         nullptr, "(9, 0) for sm_90"},
        {"MULTIPROCESSOR_COUNT", [](Interpreter& in, const Value& v) { return Value::of(properties(in, v).multiprocessors); }, nullptr, ""},
        {"MAX_THREADS_PER_BLOCK", [](Interpreter&, const Value&) { return Value::of(1024); }, nullptr, ""},
        {"MAX_BLOCK_DIM_X", [](Interpreter&, const Value&) { return Value::of(1024); }, nullptr, ""},
        {"MAX_BLOCK_DIM_Y", [](Interpreter&, const Value&) { return Value::of(1024); }, nullptr, ""},
        {"MAX_BLOCK_DIM_Z", [](Interpreter&, const Value&) { return Value::of(64); }, nullptr, ""},
        {"MAX_GRID_DIM_X", [](Interpreter&, const Value&) { return Value::of(2147483647); }, nullptr, ""},
        {"MAX_GRID_DIM_Y", [](Interpreter&, const Value&) { return Value::of(65535); }, nullptr, ""},
        {"MAX_GRID_DIM_Z", [](Interpreter&, const Value&) { return Value::of(65535); }, nullptr, ""},
        {"MAX_SHARED_MEMORY_PER_BLOCK", [](Interpreter&, const Value&) { return Value::of(48 << 10); }, nullptr, ""},
        {"WARP_SIZE", [](Interpreter&, const Value&) { return Value::of(32); }, nullptr, ""},
    };
    return made;
  }();
  return t;
}

class DeviceList final : public Object {
 public:
  const gasell::Type& type() const override {
    static const gasell::Type t{"_DeviceList", "numba.cuda.cudadrv.devices", &object_type()};
    return t;
  }
  int64_t length(Interpreter& in) override { return gpu_count(in); }
  Value get_item(Interpreter& in, const Value& index) override {
    const int64_t k = gasell::to_index(in, index);
    if (k < 0 || k >= gpu_count(in)) raise("IndexError", "list index out of range");
    return Value::make<CudaDevice>(static_cast<int>(k));
  }
  Value iterate(Interpreter& in) override {
    std::vector<Value> all;
    for (int k = 0; k < gpu_count(in); ++k) all.push_back(Value::make<CudaDevice>(k));
    return gasell::iterate(in, make_list(std::move(all)));
  }
};

Value select_device(Interpreter& in, Args args) {
  need_gpus(in).select(static_cast<int>(to_index(in, args[0])));
  return Value::make<CudaDevice>(need_gpus(in).selected());
}
Value current_device(Interpreter& in, Args) { return Value::make<CudaDevice>(need_gpus(in).selected()); }
Value is_available(Interpreter& in, Args) { return Value::of(gpu_count(in) > 0); }
Value detect(Interpreter& in, Args) {
  const int count = gpu_count(in);
  std::string text = fmt::format("Found {} CUDA devices\n", count);
  for (int k = 0; k < count; ++k) {
    const GpuProperties& p = need_gpus(in).gpu(k);
    text += fmt::format("id {}    {}\n    Compute Capability: {}.{}\n", k, p.name, p.capability / 10, p.capability % 10);
  }
  in.write_out(text);
  return Value::of(count > 0);
}

// ---- contexts, streams, events ----
Value finish(Interpreter& in, Args) {
  if (GpuDevice* const gpus = in.engine().chosen_gpus()) gpus->finish();
  return {};
}
Value nothing(Interpreter&, Args) { return {}; }

class Context final : public Object {
 public:
  const gasell::Type& type() const override;
};
Value memory_info(Interpreter& in, Args) {
  GpuDevice& gpus = need_gpus(in);
  const int64_t total = gpus.gpu(gpus.selected()).memory;
  return make_tuple({Value::of(gpus.free_memory(gpus.selected())), Value::of(total)});
}
const gasell::Type& Context::type() const {
  static const gasell::Type t = [] {
    gasell::Type made{"Context", "numba.cuda.cudadrv.driver", &object_type()};
    made.methods = {{"synchronize", "", finish, "Waits for the GPU."},
                    {"get_memory_info", "", memory_info, "(free, total) bytes of the GPU's memory."},
                    {"reset", "", nothing, ""},
                    {"push", "", nothing, ""},
                    {"pop", "", nothing, ""}};
    made.properties = {
        {"device", [](Interpreter& in, const Value&) { return Value::make<CudaDevice>(need_gpus(in).selected()); }, nullptr, "its GPU"}};
    return made;
  }();
  return t;
}
Value current_context(Interpreter&, Args) { return Value::make<Context>(); }

class Stream final : public Object {
 public:
  const gasell::Type& type() const override;
  Value enter(Interpreter&) override { return Value::of(this); }
  bool exit(Interpreter& in, const Value&) override {
    finish(in, {});
    return false;
  }
};
const gasell::Type& Stream::type() const {
  static const gasell::Type t = [] {
    gasell::Type made{"Stream", "numba.cuda.cudadrv.driver", &object_type()};
    made.methods = {{"synchronize", "", finish, "Waits for what the stream was given."},
                    {"auto_synchronize", "", [](Interpreter&, Args args) { return args[0]; }, "with …: waits at the end."}};
    return made;
  }();
  return t;
}
Value stream(Interpreter&, Args) { return Value::make<Stream>(); }

class Event final : public Object {
 public:
  const gasell::Type& type() const override;
  double seconds = 0;
};
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
Value record(Interpreter& in, Args args) {
  finish(in, {});
  args[0].as<Event>()->seconds = now();
  return {};
}
Value elapsed(Interpreter&, Args args) {
  const auto *begin = args[0].as<Event>(), *end = args[1].as<Event>();
  if (!begin || !end) raise("TypeError", "two events are needed");
  return Value::of((end->seconds - begin->seconds) * 1000);
}
const gasell::Type& Event::type() const {
  static const gasell::Type t = [] {
    gasell::Type made{"Event", "numba.cuda.cudadrv.driver", &object_type()};
    made.methods = {{"record", "stream=0", record, "Takes the time when all that was given is done."},
                    {"synchronize", "", nothing, ""},
                    {"wait", "stream=0", nothing, ""},
                    {"query", "", [](Interpreter&, Args) { return Value::of(true); }, "Whether it has come."},
                    {"elapsed_time", "evtend", elapsed, "Milliseconds until another event."}};
    return made;
  }();
  return t;
}
Value event(Interpreter&, Args) { return Value::make<Event>(); }

/// with cuda.pinned(a, b): and with cuda.defer_cleanup(): change nothing here.
class Nothing final : public Object {
 public:
  const gasell::Type& type() const override {
    static const gasell::Type t{"_Context", "numba.cuda", &object_type()};
    return t;
  }
  Value enter(Interpreter&) override { return {}; }
  bool exit(Interpreter&, const Value&) override { return false; }
};
Value no_context(Interpreter&, Args) { return Value::make<Nothing>(); }

}  // namespace

Value cuda_gpus() { return Value::make<DeviceList>(); }

std::vector<NativeFunction> cuda_device_functions() {
  return {
      {"synchronize", "", finish, "Waits for all kernels."},
      {"select_device", "device_id", select_device, "Kernels run on this GPU from now on."},
      {"get_current_device", "", current_device, "The GPU that kernels run on."},
      {"current_context", "devnum=None", current_context, "The context of that GPU."},
      {"is_available", "", is_available, "Whether there is a GPU (real or simulated)."},
      {"detect", "", detect, "Prints the GPUs."},
      {"close", "", nothing, "Nothing: GPUs are kept."},
      {"stream", "", stream, "A stream."},
      {"default_stream", "", stream, "The default stream."},
      {"legacy_default_stream", "", stream, "The default stream."},
      {"per_thread_default_stream", "", stream, "The default stream."},
      {"event", "timing=True", event, "An event."},
      {"event_elapsed_time", "evtstart, evtend", elapsed, "Milliseconds between two events."},
      {"pinned", "*arrays", no_context, "with …: changes nothing."},
      {"mapped", "*arrays", no_context, "with …: changes nothing."},
      {"defer_cleanup", "", no_context, "with …: changes nothing."},
  };
}

}  // namespace gasell::numba
