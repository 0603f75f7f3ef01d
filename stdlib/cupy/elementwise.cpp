// cp.ElementwiseKernel.
#include <fmt/format.h>

#include <cstring>
#include <map>

#include "compiler/c_kernels/elementwise.h"
#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/cupy/cuda_code.h"
#include "stdlib/cupy/kernels.h"
#include "stdlib/numba/generated.h"

namespace gasell::cupy {
namespace {

using Args = std::span<Value>;

/// An array as a kernel gets it: element k in C order, whatever the strides.
const std::string kRawArrays = R"(#include <cupy/complex.cuh>
#include <stdint.h>
template <class E, int N> struct Gasell_raw {
  E* data;
  long long count, extents[N ? N : 1], steps[N ? N : 1];
  enum { ndim = N };
  __device__ long long size() const { return count; }
  __device__ const long long* shape() const { return extents; }
  __device__ E& operator[](long long k) const {
    long long at = 0;
    for (int axis = N - 1; axis > 0; --axis) {
      at += k % extents[axis] * steps[axis];
      k /= extents[axis];
    }
    return data[N ? at + k * steps[0] : 0];
  }
};
struct Gasell_indexer {
  long long count, place;
  __device__ long long size() const { return count; }
  __device__ long long get() const { return place; }
};
)";

class ElementwiseKernel final : public Object {
 public:
  ElementwiseKernel(Interpreter& in, c_kernels::ElementwiseText text, size_t inputs, bool no_return, bool return_tuple,
                    std::vector<std::string> options)
      : engine_(in.engine()),
        options_(std::move(options)),
        text_(std::make_shared<const c_kernels::ElementwiseText>(std::move(text))),
        inputs_(inputs),
        no_return_(no_return),
        return_tuple_(return_tuple) {
    const bool needs_threads = c_kernels::needs_threads(text_->operation) || c_kernels::needs_threads(text_->preamble) ||
                               c_kernels::needs_threads(text_->after_loop);
    kernel_ = std::make_unique<CKernel>(
        in.engine(), text_->name, needs_threads,
        [text = text_](const std::vector<functions::Type>& types, bool overlapping, const functions::Options& options) {
          return c_kernels::compile_elementwise(*text, types, overlapping, options);
        });
  }
  const gasell::Type& type() const override { return elementwise_kernel_type(); }
  const std::string& name() const { return text_->name; }
  int64_t inputs() const { return static_cast<int64_t>(inputs_); }
  int64_t parameters() const { return static_cast<int64_t>(text_->parameters.size()); }

  Value call(Interpreter& in, Arguments args) override {
    const Value keep = Value::of(this);
    const std::vector<c_kernels::Parameter>& parameters = text_->parameters;
    std::optional<int64_t> size;
    int64_t block_size = 128;
    for (const auto& [name, value] : args.keywords) {
      if (name == "size") {
        if (const int64_t n = gasell::to_index(in, value); n != -1) size = n;
      } else if (name == "block_size") {
        block_size = gasell::to_index(in, value);
      } else if (name != "stream") {
        raise("TypeError", "Wrong arguments {'" + name + "': " + gasell::repr(in, value) + "}");
      }
    }
    if (block_size <= 0) raise("ValueError", "block_size must be greater than zero");
    if (size && *size < 0) raise("ValueError", "negative dimensions are not allowed");
    const size_t given = args.positional.size();
    if (given != inputs_ && given != parameters.size())
      raise("TypeError", fmt::format("Wrong number of arguments for '{}'. It must be either {} or {} (with outputs), but given {}.", name(),
                                     inputs_, parameters.size(), given));
    std::vector<Argument> arguments;
    for (const Value& v : args.positional) arguments.push_back(to_argument(in, v));
    graph::Shape shape = loop_shape(parameters, arguments, given, size.has_value());
    const std::vector<DType> types = parameter_types(parameters, inputs_, arguments);
    if (size) shape = {*size};
    for (size_t k = inputs_; k < parameters.size(); ++k) {
      if (k >= given) {
        if (parameters[k].raw && !size) raise("ValueError", "Output array size is Undecided", "give the output, or size=");
        arguments.push_back({numba::new_array(in, types[k], shape), {}});
      } else if (!parameters[k].raw && arguments[k].array->shape() != shape) {
        raise("ValueError", "Out shape is mismatched");
      }
    }
    std::vector<Value> results;
    for (size_t k = inputs_; k < parameters.size(); ++k)
      results.push_back(k < given ? args.positional[k] : Value::make<numpy::NdArray>(*arguments[k].array));
    if (graph::size_of(shape) > 0) run(arguments, types, shape, block_size);
    if (no_return_) return {};
    if (!return_tuple_ && results.size() == 1) return results[0];
    return make_tuple(std::move(results));
  }

 private:
  void run(const std::vector<Argument>& arguments, const std::vector<DType>& types, const graph::Shape& shape, int64_t block_size) {
    // Where all lie as the loop goes, it is one along all elements.
    bool flat = true;
    for (size_t k = 0; k < arguments.size(); ++k)
      if (const auto& a = arguments[k].array; a && !text_->parameters[k].raw)
        flat = flat && a->shape() == shape && numba::type_of_array(*a).layout == functions::Layout::c;
    const int64_t n = graph::size_of(shape);
    const graph::Shape walked = flat ? graph::Shape{n} : shape;
    std::vector<Array> arrays;
    arrays.reserve(arguments.size());
    std::vector<functions::Type> leaf_types;
    std::vector<functions::Leaf> leaves;
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (!arguments[k].array) {
        leaf_types.push_back(functions::Type::of(types[k]));
        leaves.push_back({arguments[k].number->cast(types[k]), nullptr});
        continue;
      }
      const Array& a = *arguments[k].array;
      arrays.push_back(text_->parameters[k].raw ? a : flat ? a.reshape(walked) : numba::broadcast(a, walked));
      leaf_types.push_back(numba::type_of_array(arrays.back()));
      leaves.push_back({{}, &arrays.back()});
    }
    leaf_types.push_back(functions::Type::tuple_of(std::vector<functions::Type>(walked.size(), functions::Type::of(DType::i64))));
    for (const int64_t extent : walked) leaves.push_back({Scalar::of_int(extent), nullptr});
    GridShape grid;
    grid.threads[0] = block_size;
    grid.blocks[0] = (n + block_size - 1) / block_size;
    kernel_->run(leaf_types, leaves, grid, [&] {
      if (!can_compile_cuda(engine_)) return false;
      run_by_nvrtc(arrays, leaf_types, leaves, n, grid);
      return true;
    });
  }

  /// What Gasell's own compiler refuses, compiled by NVIDIA's: each thread does elements by the number of threads.
  void run_by_nvrtc(const std::vector<Array>& arrays, const std::vector<functions::Type>& types, std::span<const functions::Leaf> leaves,
                    int64_t n, const GridShape& grid) {
    std::vector<const Array*> settled;
    for (const Array& a : arrays) settled.push_back(&a);
    settle(engine_, settled, std::vector<bool>(arrays.size(), false));  // their strides are known then
    std::string head, parameters, elements;
    std::vector<CudaFunction::Slot> slots;
    std::map<std::string, bool> known;
    size_t array = 0;
    for (size_t k = 0; k < text_->parameters.size(); ++k) {
      const c_kernels::Parameter& p = text_->parameters[k];
      const std::string type = c_kernels::c_name(types[k].dtype);
      if (!p.dtype && known.emplace(p.type, true).second) head += fmt::format("typedef {} {};\n", type, p.type);
      CudaFunction::Slot slot;
      if (types[k].is_array()) {
        const Array& a = arrays[array];
        const std::vector<int64_t> strides = a.place().strides;
        std::vector<int64_t> words = {0, a.size()};
        for (const auto& list : {a.shape(), strides}) {
          words.insert(words.end(), list.begin(), list.end());
          if (list.empty()) words.push_back(0);
        }
        slot.bytes.resize((words.size() * sizeof(int64_t) + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
        std::copy(words.begin(), words.end(), reinterpret_cast<int64_t*>(slot.bytes.data()));
        slot.array = static_cast<int>(array++);
        const char* constant = p.is_const ? "const " : "";
        parameters += fmt::format("Gasell_raw<{}{}, {}> {}{}, ", constant, type, a.rank(), p.raw ? "" : "_raw_", p.name);
        if (!p.raw) elements += fmt::format("    {}{}& {} = _raw_{}[i];\n", constant, type, p.name, p.name);
      } else {
        leaves[k].scalar.store(slot.bytes.data());
        parameters += fmt::format("const {} {}, ", type, p.name);
      }
      slots.push_back(std::move(slot));
    }
    CudaFunction::Slot size;
    std::memcpy(size.bytes.data(), &n, sizeof n);
    slots.push_back(std::move(size));
    const auto part = [](const SourceRef& s) { return fmt::format("#line 1 \"{}\"\n{}\n;\n", s->name(), s->text()); };
    const std::string preamble = text_->preamble->text().empty()
                                     ? std::string()
                                     : fmt::format("#line 1 \"{}\"\n{}\n", text_->preamble->name(), text_->preamble->text());
    const std::string text =
        kRawArrays + head + preamble + "extern \"C\" __global__ void " + name() + "(" + parameters +
        "long long _size) {\n  Gasell_indexer _ind = {_size, 0};\n" + part(text_->loop_prep) +
        "  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < _size; i += (long long)gridDim.x * "
        "blockDim.x) {\n    _ind.place = i;\n" +
        elements + part(text_->operation) + "  }\n" + part(text_->after_loop) + "}\n";
    auto& made = by_nvrtc_[text];
    if (!made)
      made = cuda_function(engine_, name(), text, {text_->operation, text_->preamble, text_->loop_prep, text_->after_loop}, options_);
    made->launch(grid, std::move(slots), arrays);
  }

  Engine& engine_;
  const std::vector<std::string> options_;
  std::map<std::string, std::unique_ptr<CudaFunction>> by_nvrtc_;  // by their text
  const std::shared_ptr<const c_kernels::ElementwiseText> text_;
  const size_t inputs_;
  const bool no_return_, return_tuple_;
  std::unique_ptr<CKernel> kernel_;
};

Value construct(Interpreter& in, Args args) {
  const auto text = [&](size_t k) { return str(in, args[k]); };
  c_kernels::ElementwiseText made;
  made.name = text(3);
  require_name(made.name);
  size_t inputs = 0;
  try {
    made.parameters = c_kernels::parse_parameters(text(0), true);
    inputs = made.parameters.size();
    for (c_kernels::Parameter& p : c_kernels::parse_parameters(text(1), false)) made.parameters.push_back(std::move(p));
  } catch (const Error& e) {
    raise(e.diagnostic().kind, e.diagnostic().message, e.diagnostic().hint);
  }
  for (size_t k = 0; k < made.parameters.size(); ++k) {
    if (made.parameters[k].name == "i") raise("ValueError", "Can not use 'i' as a parameter name");
    for (size_t other = 0; other < k; ++other)
      if (made.parameters[other].name == made.parameters[k].name)
        raise("ValueError", "two parameters have the name '" + made.parameters[k].name + "'");
  }
  made.operation = text_of(made.name, "", text(2));
  made.preamble = text_of(made.name, "preamble", text(5));
  made.loop_prep = text_of(made.name, "loop_prep", text(8));
  made.after_loop = text_of(made.name, "after_loop", text(9));
  return Value::make<ElementwiseKernel>(in, std::move(made), inputs, truth(in, args[6]), truth(in, args[7]), texts_of(in, args[10]));
}

}  // namespace

const gasell::Type& elementwise_kernel_type() {
  static const NativeFunction constructor{
      "ElementwiseKernel",
      "in_params, out_params, operation, name='kernel', reduce_dims=True, preamble='', no_return=False, return_tuple=False, loop_prep='', "
      "after_loop='', options=()",
      construct, "A kernel that does a text of C for every element."};
  static const gasell::Type t = [] {
    gasell::Type made{"ElementwiseKernel", "cupy._core._kernel", &object_type()};
    made.properties = {
        {"name", [](Interpreter&, const Value& v) { return make_str(v.as<ElementwiseKernel>()->name()); }, nullptr, "its name"},
        {"__name__", [](Interpreter&, const Value& v) { return make_str(v.as<ElementwiseKernel>()->name()); }, nullptr, "its name"},
        {"nin", [](Interpreter&, const Value& v) { return Value::of(v.as<ElementwiseKernel>()->inputs()); }, nullptr,
         "how many inputs it has"},
        {"nout",
         [](Interpreter&, const Value& v) {
           return Value::of(v.as<ElementwiseKernel>()->parameters() - v.as<ElementwiseKernel>()->inputs());
         },
         nullptr, "how many outputs it has"},
        {"nargs", [](Interpreter&, const Value& v) { return Value::of(v.as<ElementwiseKernel>()->parameters()); }, nullptr,
         "how many parameters it has"},
    };
    made.constructor = &constructor;
    return made;
  }();
  return t;
}

}  // namespace gasell::cupy
