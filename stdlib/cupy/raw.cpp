// cp.RawKernel and cp.RawModule: CUDA C++ that NVRTC compiles, or a file of machine code, on an NVIDIA GPU.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/cupy/cuda_code.h"

namespace gasell::cupy {

std::vector<std::string> texts_of(Interpreter& in, const Value& v) {
  std::vector<std::string> all;
  if (v.is_none()) return all;
  if (v.as<Str>()) raise("TypeError", "options is a tuple of texts, not a text", "options=('-std=c++17',)");
  for (const Value& item : to_vector(in, v)) all.push_back(str(in, item));
  return all;
}

namespace {

using Args = std::span<Value>;

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
  CudaFunction& function() { return function_; }

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
  const std::shared_ptr<CudaCode>& code() const { return code_; }
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
  args[0].as<RawKernel>()->function().compile();
  return {};
}
Value get_function(Interpreter& in, Args args) { return args[0].as<RawModule>()->function(in, str(in, args[1])); }
Value get_global(Interpreter& in, Args args) {
  const RawModule& module = *args[0].as<RawModule>();
  return memory_pointer(in.engine(), module.code(), str(in, args[1]));
}

/// kernel.num_regs and its like, by the names that CuPy has for them.
struct NamedAttribute {
  const char* name;
  KernelAttribute attribute;
  const char* help;
};
constexpr NamedAttribute kAttributes[] = {
    {"max_threads_per_block", KernelAttribute::max_threads_per_block, "threads that a block can have at most"},
    {"shared_size_bytes", KernelAttribute::shared_bytes, "shared memory that the text declares, a block"},
    {"const_size_bytes", KernelAttribute::constant_bytes, "constant memory that the text declares"},
    {"local_size_bytes", KernelAttribute::local_bytes, "local memory, a thread"},
    {"num_regs", KernelAttribute::registers, "registers, a thread"},
    {"ptx_version", KernelAttribute::ptx_version, "ten times the capability that the PTX was made for"},
    {"binary_version", KernelAttribute::binary_version, "ten times the capability that the machine code was made for"},
    {"cache_mode_ca", KernelAttribute::cache_mode_ca, "whether it was compiled with -Xptxas --dlcm=ca"},
    {"max_dynamic_shared_size_bytes", KernelAttribute::max_dynamic_shared_bytes,
     "shared memory that a launch may add; launches ask for what they need by themselves. Can be set"},
    {"preferred_shared_memory_carveout", KernelAttribute::preferred_shared_carveout,
     "percentage of a multiprocessor's cache that is shared memory by preference; -1: the driver chooses. Can be set"},
};
template <size_t I>
Value get_kernel_attribute(Interpreter&, const Value& v) {
  return Value::of(v.as<RawKernel>()->function().attribute(kAttributes[I].attribute));
}
template <size_t I>
void set_kernel_attribute(Interpreter& in, const Value& v, const Value& value) {
  constexpr NamedAttribute named = kAttributes[I];
  const int64_t wanted = to_index(in, value);
  CudaFunction& function = v.as<RawKernel>()->function();
  if (std::abs(wanted) <= INT32_MAX && function.set_attribute(named.attribute, static_cast<int>(wanted))) return;
  if (named.attribute == KernelAttribute::preferred_shared_carveout)
    raise("ValueError", fmt::format("{} of {}: -1, or a percentage from 0 to 100", named.name, wanted));
  const GpuDevice& gpus = need_gpu(in.engine(), "a raw kernel");
  raise("ValueError",
        fmt::format("a block of '{}' cannot have {} bytes of shared memory besides {} that its text declares: the GPU has {} for one",
                    function.name(), wanted, function.attribute(KernelAttribute::shared_bytes), gpus.gpu(gpus.selected()).most_shared));
}
Value all_attributes(Interpreter& in, const Value& v) {
  Value all = Value::make<Dict>();
  for (const NamedAttribute& each : kAttributes)
    all.as<Dict>()->insert(in, make_str(each.name), Value::of(v.as<RawKernel>()->function().attribute(each.attribute)));
  return all;
}
template <size_t... I>
void add_attributes(gasell::Type& type, std::index_sequence<I...>) {
  const auto add = [&](const NamedAttribute& named, auto get, auto set) {
    const bool settable = named.attribute >= KernelAttribute::max_dynamic_shared_bytes;
    type.properties.push_back({named.name, get, settable ? set : nullptr, named.help});
  };
  (add(kAttributes[I], get_kernel_attribute<I>, set_kernel_attribute<I>), ...);
}

Value name_of_kernel(Interpreter&, const Value& v) { return make_str(v.as<RawKernel>()->name()); }
Value code_of_kernel(Interpreter&, const Value& v) {
  const CudaCode& code = v.as<RawKernel>()->function().code();
  return code.source ? make_str(code.source->text()) : Value();
}
Value path_of_kernel(Interpreter&, const Value& v) {
  const CudaCode& code = v.as<RawKernel>()->function().code();
  return code.source ? Value() : make_str(code.path);
}
Value options_of_kernel(Interpreter&, const Value& v) {
  std::vector<Value> all;
  for (const std::string& option : v.as<RawKernel>()->function().code().options) all.push_back(make_str(option));
  return Value::make<Tuple>(std::move(all));
}

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
        {"attributes", all_attributes, nullptr, "all of max_threads_per_block and its like, a dict"},
        {"code", code_of_kernel, nullptr, "its text; None where it is a file's"},
        {"file_path", path_of_kernel, nullptr, "its file; None where it is a text's"},
        {"options", options_of_kernel, nullptr, "the compiler's options, a tuple"},
        {"backend", [](Interpreter&, const Value&) { return make_str("nvrtc"); }, nullptr, "the compiler"},
    };
    add_attributes(made, std::make_index_sequence<std::size(kAttributes)>());
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
                    {"get_global", "name", get_global,
                     "A variable of the module: cp.ndarray(shape, dtype, module.get_global(name)) is an array of it."}};
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
