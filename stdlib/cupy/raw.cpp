// cp.RawKernel and cp.RawModule: CUDA C++ that NVRTC compiles, or a file of machine code, on an NVIDIA GPU.
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "runtime/gpu/cuda/nvrtc.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/cupy/kernels.h"

namespace gasell::cupy {
namespace {

using Args = std::span<Value>;

/// A GPU that runs machine code, or an error that says why there is none.
GpuDevice& need_gpu(Engine& engine, const char* what) {
  GpuDevice* const gpus = engine.chosen_gpus();
  if (!gpus || gpus->gpu(gpus->selected()).capability == 0)
    raise("RuntimeError",
          fmt::format("{} is CUDA C++ for an NVIDIA GPU, and {}", what, gpus ? "a simulated GPU runs none" : "the script runs on the host"),
          "--device gpu where there is a GPU; cp.ElementwiseKernel, cp.ReductionKernel and @cuda.jit run anywhere");
  return *gpus;
}

}  // namespace

/// One text or file, and what became of it on each GPU.
class CudaCode {
 public:
  SourceRef source;
  std::string path;
  std::vector<std::string> options, expressions;
  std::vector<SourceRef> texts;  // that the source was put together from

  struct Loaded {
    LoadedModuleRef module;
    std::map<std::string, std::string> symbols;
  };
  const Loaded& on(GpuDevice& gpus) {
    const int g = gpus.selected();
    if (const auto known = loaded_.find(g); known != loaded_.end()) return known->second;
    Loaded made;
    if (source) {
      cuda::CompiledC compiled = compile(gpus.gpu(g).capability);
      made.module = gpus.load_module(compiled.cubin);
      made.symbols = std::move(compiled.symbols);
    } else {
      std::ifstream file(path, std::ios::binary);
      if (!file) raise("FileNotFoundError", "[Errno 2] No such file or directory: '" + path + "'");
      std::ostringstream text;
      text << file.rdbuf();
      made.module = gpus.load_module(text.str());
    }
    return loaded_.emplace(g, std::move(made)).first->second;
  }
  cuda::CompiledC compile(int capability) const {
    return cuda::compile_c(cuda::process_nvrtc(), source, options, capability, expressions, texts);
  }

 private:
  std::map<int, Loaded> loaded_;
};

std::vector<std::string> texts_of(Interpreter& in, const Value& v) {
  std::vector<std::string> all;
  if (v.is_none()) return all;
  if (v.as<Str>()) raise("TypeError", "options is a tuple of texts, not a text", "options=('-std=c++17',)");
  for (const Value& item : to_vector(in, v)) all.push_back(str(in, item));
  return all;
}

bool can_compile_cuda(Engine& engine) {
  GpuDevice* const gpus = engine.chosen_gpus();
  return gpus && gpus->gpu(gpus->selected()).capability > 0 && cuda::process_nvrtc().ready();
}

std::unique_ptr<CudaFunction> cuda_function(Engine& engine, const std::string& name, std::string text, std::vector<SourceRef> texts,
                                            std::vector<std::string> options) {
  auto code = std::make_shared<CudaCode>();
  code->source = std::make_shared<Source>("<" + name + ": generated>", std::move(text));
  code->texts = std::move(texts);
  code->options = std::move(options);
  return std::make_unique<CudaFunction>(engine, std::move(code), name);
}

void CudaFunction::compile() {
  GpuDevice* const gpus = engine_.chosen_gpus();
  constexpr int kCommon = 90;
  try {
    if (gpus && gpus->gpu(gpus->selected()).capability > 0)
      kernel(*gpus);
    else if (code_->source)
      code_->compile(kCommon);
  } catch (const Error& error) {
    rethrow(error, name_);
  }
}

LoadedKernelRef CudaFunction::kernel(GpuDevice& gpus) {
  const int g = gpus.selected();
  if (const auto known = kernels_.find(g); known != kernels_.end()) return known->second;
  const CudaCode::Loaded& loaded = code_->on(gpus);
  const auto symbol = loaded.symbols.find(name_);
  LoadedKernelRef found = gpus.module_kernel(loaded.module, symbol == loaded.symbols.end() ? name_ : symbol->second);
  if (!found)
    raise("ValueError", "the module has no kernel '" + name_ + "'",
          "extern \"C\" __global__ keeps its name; a template's stands in name_expressions");
  return kernels_.emplace(g, std::move(found)).first->second;
}

void CudaFunction::launch(const GridShape& shape, std::vector<Slot> slots, const std::vector<Array>& arrays) {
  GpuDevice& gpus = need_gpu(engine_, "a raw kernel");
  std::vector<const Array*> pointers;
  // Nobody knows which a kernel writes.
  std::vector<bool> written;
  for (const Array& a : arrays) {
    pointers.push_back(&a);
    written.push_back(a.writable());
  }
  settle(engine_, pointers, written);
  GpuDevice::GridLaunch launch;
  launch.shape = shape;
  std::vector<std::shared_ptr<HostStorage>> kept;
  for (size_t k = 0; k < arrays.size(); ++k) {
    const Array::Place place = arrays[k].place();
    const int64_t all = arrays[k].size() > 0 ? place.storage->bytes() : 0;
    launch.arrays.push_back({place.storage.get(), place.offset * size_of(arrays[k].dtype()), 0, all, written[k]});
    kept.push_back(place.storage);
  }
  try {
    const LoadedKernelRef found = kernel(gpus);
    launch.start = [&](Gpu& gpu, std::span<const GpuArray> bound) {
      std::vector<void*> parameters;
      for (Slot& slot : slots) {
        if (slot.array >= 0) std::memcpy(slot.bytes.data(), &bound[static_cast<size_t>(slot.array)].base, sizeof(GpuAddress));
        parameters.push_back(slot.bytes.data());
      }
      gpu.launch_code(*found, parameters, shape);
    };
    gpus.run_grid(launch);
  } catch (const WorkLost&) {
    gpus.abandon();
    raise("RuntimeError", "the kernel '" + name_ + "' brought the GPU down: it reads or writes outside of its arrays, or never ends",
          "compute-sanitizer finds the place; @cuda.jit and cp.ElementwiseKernel check indices");
  } catch (const Error& error) {
    rethrow(error, name_);
  }
  for (const auto& storage : kept) storage->check();
}

namespace {

std::array<int64_t, 3> extents(Interpreter& in, const Value& v, const char* name) {
  std::array<int64_t, 3> result{1, 1, 1};
  const std::vector<Value> items = v.as<Tuple>() || v.as<List>() ? to_vector(in, v) : std::vector{v};
  if (items.empty() || items.size() > 3) raise("ValueError", fmt::format("{} is one to three whole numbers: (256,)", name));
  for (size_t k = 0; k < items.size(); ++k) result[k] = to_index(in, items[k]);
  for (const int64_t n : result)
    if (n < 1) raise("ValueError", fmt::format("{} has an extent of {}: at least one is needed", name, n));
  return result;
}

class RawKernel final : public Object {
 public:
  RawKernel(Interpreter& in, std::shared_ptr<CudaCode> code, std::string name) : function_(in.engine(), std::move(code), std::move(name)) {}
  const gasell::Type& type() const override;
  const std::string& name() const { return function_.name(); }
  void compile() { function_.compile(); }
  int64_t shared_limit = 48 << 10;  // max_dynamic_shared_size_bytes

  Value call(Interpreter& in, Arguments args) override {
    const Value keep = Value::of(this);
    Value shared;
    for (const auto& [name, value] : args.keywords) {
      if (name == "shared_mem")
        shared = value;
      else if (name == "args" && args.positional.size() == 2)
        args.positional.push_back(value);
      else if (name != "stream" && name != "enable_cooperative_groups")
        raise("TypeError", fmt::format("{}() got an unexpected keyword argument '{}'", function_.name(), name));
    }
    if (args.positional.size() != 3)
      raise("TypeError", "a raw kernel is called with grid, block and its arguments: kernel((blocks,), (threads,), (x, y, n))");
    GridShape shape;
    shape.blocks = extents(in, args.positional[0], "the grid");
    shape.threads = extents(in, args.positional[1], "the block");
    if (!shared.is_none()) shape.shared_bytes = gasell::to_index(in, shared);
    if (shape.threads_a_block() > 1024) raise("ValueError", fmt::format("a block of {} threads: at most 1024", shape.threads_a_block()));
    launch(in, shape, to_vector(in, args.positional[2]));
    return {};
  }

 private:
  void launch(Interpreter& in, const GridShape& shape, const std::vector<Value>& values) {
    std::vector<CudaFunction::Slot> slots;
    std::vector<Array> arrays;
    for (const Value& v : values) {
      const Argument a = to_argument(in, v);
      CudaFunction::Slot slot;
      if (a.array) {
        slot.array = static_cast<int>(arrays.size());
        arrays.push_back(*a.array);
      } else {
        a.number->store(slot.bytes.data());
      }
      slots.push_back(std::move(slot));
    }
    function_.launch(shape, std::move(slots), arrays);
  }

  CudaFunction function_;
};

class RawModule final : public Object {
 public:
  RawModule(Interpreter&, std::shared_ptr<CudaCode> code) : code_(std::move(code)) {}
  const gasell::Type& type() const override;
  Value function(Interpreter& in, const std::string& name) {
    auto& made = functions_[name];
    if (made.is_none()) made = Value::make<RawKernel>(in, code_, name);
    return made;
  }

 private:
  const std::shared_ptr<CudaCode> code_;
  std::map<std::string, Value> functions_;
};

/// backend, jitify and the like, which change nothing or are not there.
void require_backend(Interpreter& in, const Value& backend, const Value& jitify) {
  if (const std::string name = str(in, backend); name != "nvrtc")
    raise("ValueError", "the backend '" + name + "' is not in Gasell", "backend='nvrtc'");
  if (truth(in, jitify))
    raise("NotImplementedError", "jitify is not in Gasell", "leave it out: CUDA's <cuda/std/…> headers have what kernels need");
}

Value construct_kernel(Interpreter& in, Args args) {
  auto code = std::make_shared<CudaCode>();
  const std::string name = str(in, args[1]);
  require_backend(in, args[3], args[6]);
  code->source = std::make_shared<Source>("<" + name + ">", str(in, args[0]));
  code->options = texts_of(in, args[2]);
  return Value::make<RawKernel>(in, std::move(code), name);
}

Value construct_module(Interpreter& in, Args args) {
  auto code = std::make_shared<CudaCode>();
  if (args[0].is_none() == args[1].is_none()) raise("TypeError", "Exactly one of `code` and `path` keyword arguments must be given.");
  require_backend(in, args[3], args[7]);
  if (!args[0].is_none())
    code->source = std::make_shared<Source>("<raw module>", str(in, args[0]));
  else
    code->path = str(in, args[1]);
  code->options = texts_of(in, args[2]);
  code->expressions = texts_of(in, args[6]);
  return Value::make<RawModule>(in, std::move(code));
}

Value compile_kernel(Interpreter&, Args args) {
  args[0].as<RawKernel>()->compile();
  return {};
}
Value get_function(Interpreter& in, Args args) { return args[0].as<RawModule>()->function(in, str(in, args[1])); }
/// Memory of a module, and what its code needs, are known to the driver alone.
Value refuse_global(Interpreter& in, Args args) {
  raise("NotImplementedError", "RawModule.get_global is not in Gasell: no array lies in a module's memory ('" + str(in, args[1]) + "')",
        "give the kernel an array, as const float* c; a constant that the text knows is a #define among the options: -DNAME=value");
}
Value refuse_attributes(Interpreter&, const Value&) {
  raise("NotImplementedError", "RawKernel.attributes is not in Gasell: the driver chooses registers and memory when it loads the kernel",
        "max_dynamic_shared_size_bytes is there, and launches ask for the shared memory that they need");
}
Value name_of_kernel(Interpreter&, const Value& v) { return make_str(v.as<RawKernel>()->name()); }

}  // namespace

const gasell::Type& raw_kernel_type() {
  static const NativeFunction constructor{
      "RawKernel",
      "code, name, options=(), backend='nvrtc', translate_cucomplex=False, enable_cooperative_groups=False, "
      "jitify=False",
      construct_kernel, "A kernel in CUDA C++."};
  static const gasell::Type t = [] {
    gasell::Type made{"RawKernel", "cupy", &object_type()};
    made.methods = {{"compile", "log_stream=None", compile_kernel, "Compiles now; else the first call does."}};
    made.properties = {
        {"name", name_of_kernel, nullptr, "its name"},
        {"__name__", name_of_kernel, nullptr, "its name"},
        {"attributes", refuse_attributes, nullptr, "not in Gasell"},
        {"max_dynamic_shared_size_bytes", [](Interpreter&, const Value& v) { return Value::of(v.as<RawKernel>()->shared_limit); },
         [](Interpreter& in, const Value& v, const Value& bytes) { v.as<RawKernel>()->shared_limit = to_index(in, bytes); },
         "shared memory that a launch may add; launches ask for what they need by themselves"},
    };
    made.constructor = &constructor;
    return made;
  }();
  return t;
}

const gasell::Type& raw_module_type() {
  static const NativeFunction constructor{"RawModule",
                                          "code=None, path=None, options=(), backend='nvrtc', translate_cucomplex=False, "
                                          "enable_cooperative_groups=False, name_expressions=None, jitify=False",
                                          construct_module, "Kernels in CUDA C++, or a file with their machine code."};
  static const gasell::Type t = [] {
    gasell::Type made{"RawModule", "cupy", &object_type()};
    made.methods = {{"get_function", "name", get_function, "A kernel of the module, a RawKernel."},
                    {"get_global", "name", refuse_global, "Not in Gasell."}};
    made.constructor = &constructor;
    return made;
  }();
  return t;
}

namespace {
const gasell::Type& RawKernel::type() const { return raw_kernel_type(); }
const gasell::Type& RawModule::type() const { return raw_module_type(); }
}  // namespace

}  // namespace gasell::cupy
