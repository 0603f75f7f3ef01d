#include "stdlib/cupy/cuda_code.h"
#include "runtime/device/sandbox.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "lang/diagnostic.h"

namespace gasell::cupy {

GpuDevice& need_gpu(Engine& engine, const char* what) {
  GpuDevice* const gpus = engine.chosen_gpus();
  if (!gpus || gpus->gpu(gpus->selected()).capability == 0)
    raise("RuntimeError",
          fmt::format("{} is CUDA C++ for an NVIDIA GPU, and {}", what, gpus ? "a simulated GPU runs none" : "the script runs on the host"),
          "--device gpu where there is a GPU; cp.ElementwiseKernel, cp.ReductionKernel and @cuda.jit run anywhere");
  return *gpus;
}

const CudaCode::Loaded& CudaCode::on(GpuDevice& gpus) {
  require_raw_code("CUDA C++");
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

cuda::CompiledC CudaCode::compile(int capability) const {
  return cuda::compile_c(cuda::process_nvrtc(), source, options, capability, expressions, texts);
}

ModuleGlobal CudaCode::variable(GpuDevice& gpus, const std::string& name) {
  const Loaded& loaded = on(gpus);
  const std::optional<ModuleGlobal> found = gpus.module_global(loaded.module, loaded.symbol(name));
  if (!found)
    raise(
        "ValueError", "the module has no variable '" + name + "'",
        "__constant__ and __device__ variables keep their names outside of namespaces; others, as &space::name, stand in name_expressions");
  return *found;
}

Array CudaCode::window(Engine& engine, const std::string& name, DType dtype, int64_t begin, int64_t count) {
  GpuDevice& gpus = need_gpu(engine, "a module's variable");
  const ModuleGlobal global = variable(gpus, name);
  const int64_t width = size_of(dtype), end = begin + count * width;
  if (begin < 0 || end > global.bytes)
    raise("ValueError",
          fmt::format("the variable '{}' has {} bytes, and the array takes those from {} to {}", name, global.bytes, begin, end));
  if (begin % width != 0)
    raise("ValueError", fmt::format("elements of {} begin at multiples of {} bytes, not at byte {}", name_of(dtype), width, begin));
  if (count == 0) return Array(graph::constant(Scalar::of_int(0).cast(dtype), {0}));
  for (const Window& each : windows_) {
    if (each.variable != name || each.begin >= end || begin >= each.end()) continue;
    if (each.array.dtype() != dtype || begin < each.begin || end > each.end())
      raise("NotImplementedError",
            fmt::format("bytes {} to {} of '{}' are elements of an array of {} already, which this one is no part of", each.begin,
                        each.end(), name, name_of(each.array.dtype())),
            "make the first array over all of them, and slices of it");
    return each.array.view({count}, {{0, (begin - each.begin) / width, 1}});
  }
  const HostStorageRef storage = allocate(engine.device().budget(), count * width);
  gpus.read_memory(storage->write(), global.address + static_cast<GpuAddress>(begin), count * width);
  windows_.push_back({name, begin, Array(graph::buffer(storage, dtype, {count}, {1}, 0))});
  // A view always, so that writing all of it leaves it the memory that it has.
  return windows_.back().array.view({count}, {{0, 0, 1}});
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
      need_kernel(*gpus);
    else if (code_->source)
      code_->compile(kCommon);
  } catch (const Error& error) {
    rethrow(error, name_);
  }
}

LoadedKernelRef CudaFunction::need_kernel(GpuDevice& gpus) {
  const int g = gpus.selected();
  if (const auto known = kernels_.find(g); known != kernels_.end()) return known->second;
  const CudaCode::Loaded& loaded = code_->on(gpus);
  LoadedKernelRef found = gpus.module_kernel(loaded.module, loaded.symbol(name_));
  if (!found)
    raise("ValueError", "the module has no kernel '" + name_ + "'",
          "extern \"C\" __global__ keeps its name; a template's stands in name_expressions");
  return kernels_.emplace(g, std::move(found)).first->second;
}

int CudaFunction::attribute(KernelAttribute attribute) {
  GpuDevice& gpus = need_gpu(engine_, "a raw kernel");
  try {
    return gpus.kernel_attribute(*need_kernel(gpus), attribute);
  } catch (const Error& error) {
    rethrow(error, name_);
  }
}

bool CudaFunction::set_attribute(KernelAttribute attribute, int value) {
  GpuDevice& gpus = need_gpu(engine_, "a raw kernel");
  try {
    return gpus.set_kernel_attribute(*need_kernel(gpus), attribute, value);
  } catch (const Error& error) {
    rethrow(error, name_);
  }
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
  const std::vector<CudaCode::Window>& windows = code_->windows();
  for (const CudaCode::Window& window : windows) {
    pointers.push_back(&window.array);
    written.push_back(true);
  }
  settle(engine_, pointers, written);
  GpuDevice::GridLaunch launch;
  launch.shape = shape;
  std::vector<std::shared_ptr<HostStorage>> kept;
  for (size_t k = 0; k < pointers.size(); ++k) {
    const Array::Place place = pointers[k]->place();
    const int64_t all = pointers[k]->size() > 0 ? place.storage->bytes() : 0;
    launch.arrays.push_back({place.storage.get(), place.offset * size_of(pointers[k]->dtype()), 0, all, written[k]});
    kept.push_back(place.storage);
  }
  try {
    const LoadedKernelRef found = need_kernel(gpus);
    std::vector<GpuAddress> variables;
    for (const CudaCode::Window& window : windows)
      variables.push_back(code_->variable(gpus, window.variable).address + static_cast<GpuAddress>(window.begin));
    launch.start = [&](Gpu& gpu, std::span<const GpuArray> bound) {
      std::vector<GpuAddress> addresses;
      for (const GpuArray& each : bound) addresses.push_back(each.base);
      for (size_t w = 0; w < windows.size(); ++w) {
        const GpuAddress window = bound[arrays.size() + w].base;
        for (size_t k = 0; k < arrays.size(); ++k)
          if (arrays[k].same_memory(windows[w].array)) addresses[k] = variables[w] + (addresses[k] - window);
        gpu.copy(variables[w], window, windows[w].end() - windows[w].begin, GpuStream::compute);
      }
      std::vector<void*> parameters;
      for (Slot& slot : slots) {
        if (slot.array >= 0) std::memcpy(slot.bytes.data(), &addresses[static_cast<size_t>(slot.array)], sizeof(GpuAddress));
        parameters.push_back(slot.bytes.data());
      }
      gpu.launch_code(*found, parameters, shape);
      for (size_t w = 0; w < windows.size(); ++w)
        gpu.copy(bound[arrays.size() + w].base, variables[w], windows[w].end() - windows[w].begin, GpuStream::compute);
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

}  // namespace gasell::cupy
