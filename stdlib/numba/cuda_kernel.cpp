// Kernels of cuda.jit as values of the session: launch configurations, arguments, errors.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/codegen/gpu.h"
#include "compiler/ir/text.h"
#include "runtime/device/compile_ahead.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"
#include "stdlib/numba/cuda.h"
#include "stdlib/numba/dispatcher.h"
#include "stdlib/numba/module.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;

CudaKernel& self(Args args) { return *args[0].as<CudaKernel>(); }

/// One to three whole numbers: 4, (4,), (4, 2), (4, 2, 1).
std::array<int64_t, 3> extents(Interpreter& in, const Value& v, const char* name) {
  std::array<int64_t, 3> result{1, 1, 1};
  std::vector<Value> items;
  if (const auto* t = v.as<Tuple>())
    items = t->items;
  else if (const auto* l = v.as<List>())
    items = l->items;
  else
    items.push_back(v);
  if (items.empty() || items.size() > 3)
    raise("ValueError", fmt::format("{} must be a sequence of 1, 2 or 3 integers, got {}", name, repr(in, v)));
  for (size_t k = 0; k < items.size(); ++k) {
    if (items[k].tag() != Value::Tag::integer && !items[k].as<numpy::NumpyScalar>())
      raise("TypeError", fmt::format("{} must be a sequence of integers, got {}", name, repr(in, v)),
            "a quotient of whole numbers is // , not /");
    result[k] = to_index(in, items[k]);
  }
  return result;
}

/// A kernel with its grid: what kernel[…] gives.
class Configured final : public Object {
 public:
  Configured(Value kernel, GridShape shape) : kernel_(std::move(kernel)), shape_(shape) {}
  const gasell::Type& type() const override {
    static const gasell::Type t{"_LaunchConfiguration", "numba.cuda.dispatcher", &object_type()};
    return t;
  }
  Value call(Interpreter& in, Arguments args) override {
    kernel_.as<CudaKernel>()->launch(in, shape_, std::move(args));
    return {};
  }

 private:
  Value kernel_;
  GridShape shape_;
};

/// kernel.forall(n): as many blocks as n threads need.
class ForAll final : public Object {
 public:
  ForAll(Value kernel, int64_t count, GridShape shape) : kernel_(std::move(kernel)), count_(count), shape_(shape) {}
  const gasell::Type& type() const override {
    static const gasell::Type t{"ForAll", "numba.cuda.dispatcher", &object_type()};
    return t;
  }
  Value call(Interpreter& in, Arguments args) override {
    if (count_ == 0) return {};
    GridShape shape = shape_;
    shape.blocks = {(count_ + shape.threads[0] - 1) / shape.threads[0], 1, 1};
    kernel_.as<CudaKernel>()->launch(in, shape, std::move(args));
    return {};
  }

 private:
  Value kernel_;
  int64_t count_;
  GridShape shape_;
};

Value forall(Interpreter& in, Args args) {
  constexpr int64_t kThreads = 256;
  const int64_t count = to_index(in, args[1]), threads = to_index(in, args[2]);
  if (count < 0) raise("ValueError", fmt::format("Can't create ForAll with negative task count: {}", count));
  GridShape shape;
  shape.threads = {threads > 0 ? threads : kThreads, 1, 1};
  shape.shared_bytes = to_index(in, args[4]);
  return Value::make<ForAll>(args[0], count, shape);
}

Value configure(Interpreter& in, Args args) {
  std::vector<Value> items = {args[1], args[2], args[3], args[4]};
  return args[0].object()->get_item(in, make_tuple(std::move(items)));
}

Value signatures(Interpreter&, const Value& v) {
  std::vector<Value> all;
  if (const auto* dispatch = v.as<CudaKernel>()->dispatch())
    for (const auto& e : dispatch->entries()) {
      std::vector<Value> types;
      for (const functions::Type& t : e.types) types.push_back(Value::make<NumbaType>(t));
      all.push_back(make_tuple(std::move(types)));
    }
  return make_list(std::move(all));
}

/// A text of every kernel made so far, by signature; of one signature that alone.
template <class F>
Value inspect(Interpreter& in, Args args, const F& show) {
  Value all = make_dict();
  std::optional<std::vector<functions::Type>> wanted;
  if (!args[1].is_none()) wanted = to_signature(in, args[1]).arguments;
  if (const auto* dispatch = self(args).dispatch())
    for (const auto& e : dispatch->entries()) {
      const Value text = make_str(show(e.apart->compiled.kernel));
      if (wanted && e.types == *wanted) return text;
      std::vector<Value> types;
      for (const functions::Type& t : e.types) types.push_back(Value::make<NumbaType>(t));
      all.as<Dict>()->insert(in, make_tuple(std::move(types)), text);
    }
  if (wanted) raise("KeyError", repr(in, args[1]));
  return all;
}

/// Of the GPU in use, or of one that every CUDA has.
int capability(Interpreter& in) {
  GpuDevice* const gpus = in.engine().chosen_gpus();
  const int found = gpus ? gpus->gpu(gpus->selected()).capability : 0;
  return found > 0 ? found : 75;
}

Value inspect_asm(Interpreter& in, Args args) {
  return inspect(in, args, [&](const ir::Kernel& k) {
    const auto code = compile_ptx(k, capability(in));
    return code ? code->ptx : std::string();
  });
}
Value inspect_llvm(Interpreter& in, Args args) {
  return inspect(in, args, [&](const ir::Kernel& k) { return emit_gpu_llvm(k, capability(in)); });
}
Value inspect_loops(Interpreter& in, Args args) {
  return inspect(in, args, [](const ir::Kernel& k) { return ir::print(k); });
}

}  // namespace

Value compile_ahead(Interpreter& in, Args args) {
  const CompilingAhead ahead(true);
  gasell::call(in, args[0], Arguments());
  return {};
}

CudaKernel::CudaKernel(Interpreter& in, Value function, functions::Options options, bool device)
    : function_(std::move(function)), options_(options), device_(device), compilation_(std::make_unique<Compilation>(Compilation{in})) {}

const gasell::Type& CudaKernel::type() const {
  static const gasell::Type t = [] {
    gasell::Type made{"CUDADispatcher", "numba.cuda.dispatcher", &object_type()};
    made.methods = {
        {"forall", "ntasks, tpb=0, stream=0, sharedmem=0", forall, "The kernel over so many threads, in blocks of tpb (256)."},
        {"configure", "griddim, blockdim, stream=0, sharedmem=0", configure, "kernel[griddim, blockdim, stream, sharedmem]."},
        {"inspect_asm", "signature=None", inspect_asm, "PTX of one signature's kernel; without: a dict of all."},
        {"inspect_llvm", "signature=None", inspect_llvm, "LLVM IR of one signature's kernel; without: a dict of all."},
        {"inspect_loops", "signature=None", inspect_loops, "Loop IR of one signature's kernel; without: a dict of all."},
    };
    made.properties = {
        {"py_func", [](Interpreter&, const Value& v) { return v.as<CudaKernel>()->function(); }, nullptr, "the function, interpreted"},
        {"signatures", signatures, nullptr, "the types it was compiled for"},
    };
    return made;
  }();
  return t;
}

std::string CudaKernel::repr(Interpreter& in) { return "CUDADispatcher(" + gasell::repr(in, function_) + ")"; }

std::optional<Value> CudaKernel::get_attribute(Interpreter& in, std::string_view name) {
  if (auto own = Object::get_attribute(in, name)) return own;
  return function_.object()->get_attribute(in, name);
}

Value CudaKernel::get_item(Interpreter& in, const Value& index) {
  if (device_) raise("TypeError", "a device function is called by kernels: only kernels are launched");
  const auto* t = index.as<Tuple>();
  if (!t || t->items.size() < 2 || t->items.size() > 4)
    raise("ValueError", t && t->items.size() > 4 ? "must specify at most the griddim, blockdim, stream and sharedmem"
                                                 : "must specify at least the griddim and blockdim");
  GridShape shape;
  shape.blocks = extents(in, t->items[0], "griddim");
  shape.threads = extents(in, t->items[1], "blockdim");
  if (t->items.size() > 3) shape.shared_bytes = gasell::to_index(in, t->items[3]);
  return Value::make<Configured>(Value::of(this), shape);
}

Value CudaKernel::call(Interpreter&, Arguments) {
  if (device_) raise("TypeError", "a device function is called by kernels, not from the host");
  raise("ValueError",
        "\nKernel launch configuration was not specified. Use the syntax:\n\nkernel_function[blockspergrid, threadsperblock](arg0, arg1, "
        "..., argn)\n\nSee https://numba.readthedocs.io/en/stable/cuda/kernels.html#kernel-invocation for help.\n");
}

functions::GridDispatch::Entry& CudaKernel::entry_for(const std::vector<functions::Type>& types) {
  if (!dispatch_)
    dispatch_ = std::make_unique<functions::GridDispatch>(compilation_->in.engine(), to_function(*compilation_, function_, options_));
  try {
    return dispatch_->entry(types);
  } catch (const Error& error) {
    rethrow_typing(error, dispatch_->function(), types);
  }
}

void CudaKernel::declare(Interpreter&, const Signature& signature) {
  if (signature.result && !signature.result->is_none() && !device_) raise("TypeError", "CUDA kernel must have void return type.");
  if (!device_) entry_for(signature.arguments);
  declared_.push_back(signature.arguments);
}

void CudaKernel::launch(Interpreter&, const GridShape& shape, Arguments args) {
  const auto& f = *function_.as<Function>();
  const auto& s = f.code->signature;
  if (!args.keywords.empty()) raise("TypeError", "a kernel takes no keyword arguments");
  const size_t given = args.positional.size();
  std::vector<Value> values = std::move(args.positional);
  const auto positional = static_cast<size_t>(s.positional);
  if (s.var_positional >= 0) {
    std::vector<Value> rest(values.begin() + static_cast<std::ptrdiff_t>(std::min(positional, values.size())), values.end());
    values.resize(std::min(positional, values.size()));
    if (values.size() == positional) values.push_back(make_tuple(std::move(rest)));
  }
  for (size_t k = values.size(); k < s.parameters.size() && !f.defaults[k].is_absent(); ++k) values.push_back(f.defaults[k]);
  if (values.size() != s.parameters.size())
    raise("TypeError", fmt::format("the kernel '{}' takes {} argument{}, and {} {} given", f.name(), s.parameters.size(),
                                   s.parameters.size() == 1 ? "" : "s", given, given == 1 ? "was" : "were"));
  CallArguments arguments;
  for (const Value& v : values) add_argument(*compilation_, v, arguments);
  if (arguments.given())
    raise_typing_error("kernels take no lists, dicts, sets and generators", "pass arrays, numbers and tuples of these");
  const Value keep = Value::of(this);
  std::vector<functions::Type> types = arguments.types;
  if (!declared_.empty()) {
    const std::vector<functions::Type>* best = nullptr;
    int least = 0;
    for (const auto& candidate : declared_) {
      int cost = 0;
      bool fits = candidate.size() == types.size();
      for (size_t k = 0; fits && k < types.size(); ++k) fits = can_convert(types[k], candidate[k], cost);
      if (fits && (!best || cost < least)) best = &candidate, least = cost;
    }
    if (!best) {
      std::string all;
      for (const functions::Type& t : arguments.types) all += (all.empty() ? "" : ", ") + functions::to_string(t);
      raise("TypeError", "No matching definition for argument type(s) " + all);
    }
    for (size_t k = 0; k < types.size(); ++k) types[k] = with_texts((*best)[k], types[k]);
    arguments.clear();
    for (size_t k = 0; k < types.size(); ++k) add_as(*compilation_, values[k], types[k], arguments);
  }
  functions::GridDispatch::Entry& entry = entry_for(types);
  if (CompilingAhead::is_on()) return;
  try {
    dispatch_->launch(entry, arguments.leaves, shape);
  } catch (const functions::SiteRaised& raised) {
    rethrow(raised);
  }
}

}  // namespace gasell::numba
