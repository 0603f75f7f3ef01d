#include "stdlib/cupy/kernels.h"

#include <cctype>

#include "stdlib/numba/dispatcher.h"

namespace gasell::cupy {

const Type& compile_exception() {
  static const Type type{"CompileException", "cupy.cuda.compiler", exception_type("Exception")};
  static const bool known = (register_exception(type), true);
  (void)known;
  return type;
}

void rethrow(const Error& error, const std::string& kernel) {
  compile_exception();
  Value value = exception_from_error(error);
  auto& exception = static_cast<Exception&>(*value.object());
  if (exception.primary) {
    const Label place = *exception.primary;
    exception.primary.reset();
    exception.traceback.push_back({place.source, place.span, kernel, 0});
  }
  throw Raised(std::move(value));
}

CKernel::CKernel(Engine& engine, const std::string& name, bool needs_threads, Make make) : engine_(engine), needs_threads_(needs_threads) {
  functions::Function function;
  function.name = name;
  function.make = std::move(make);
  on_host_ = std::make_unique<functions::Dispatch>(engine, std::make_shared<const functions::Function>(function));
  function.options.cuda = true;
  threads_ = std::make_unique<functions::GridDispatch>(engine, std::make_shared<const functions::Function>(function));
}

void CKernel::run(const std::vector<functions::Type>& types, std::span<const functions::Leaf> leaves, const GridShape& shape,
                  const std::function<bool()>& otherwise) {
  if (needs_threads_ || (engine_.chosen_gpus() && on_gpus_)) {
    functions::GridDispatch::Entry* found = nullptr;
    try {
      found = &threads_->entry(types);
    } catch (const Error& error) {
      if (otherwise && otherwise()) return;
      rethrow(error, on_host_->function().name);
    }
    try {
      return threads_->launch(*found, leaves, shape);
    } catch (const functions::SiteRaised& raised) {
      numba::rethrow(raised);
    } catch (const Error& error) {
      // What GPUs have no functions for (those of complex numbers), the host does, as with expressions of arrays.
      if (error.diagnostic().blame != Blame::limitation || needs_threads_) throw;
      on_gpus_ = false;
    }
  }
  functions::Dispatch::Entry* entry = nullptr;
  try {
    entry = &on_host_->entry(types);
  } catch (const Error& error) {
    rethrow(error, on_host_->function().name);
  }
  try {
    on_host_->call(*entry, leaves);
  } catch (const functions::SiteRaised& raised) {
    numba::rethrow(raised);
  }
}

Argument to_argument(Interpreter& in, const Value& v) {
  if (const auto* a = v.as<numpy::NdArray>()) return {a->array, {}};
  if (auto* s = v.as<numpy::NumpyScalar>()) return {{}, s->value(in)};
  const bool number = v.is_bool() || v.is_int() || v.tag() == Value::Tag::floating || v.as<Complex>();
  if (!number)
    raise("TypeError", "Unsupported type <class '" + type_of(v).name + "'>", "arrays and numbers are a kernel's arguments: cp.array(x)");
  return {{}, Array(numpy::operand(in, v).node).elements(in.engine())[0]};
}

graph::Shape loop_shape(const std::vector<c_kernels::Parameter>& parameters, const std::vector<Argument>& arguments, size_t count,
                        bool has_size) {
  std::vector<graph::Shape> shapes;
  for (size_t k = 0; k < count; ++k)
    if (!parameters[k].raw && arguments[k].array) shapes.push_back(arguments[k].array->shape());
  if (has_size && !shapes.empty()) raise("ValueError", "Specified 'size' can be used only if all of the ndarray are 'raw'.");
  if (!has_size && shapes.empty())
    raise("ValueError", "Loop size is undecided.", "give an array to a parameter that is not raw, or size= where all are raw");
  return shapes.empty() ? graph::Shape() : graph::broadcast_shapes(shapes);
}

std::vector<DType> parameter_types(const std::vector<c_kernels::Parameter>& parameters, size_t inputs,
                                   const std::vector<Argument>& arguments) {
  std::vector<std::optional<DType>> dtypes;
  for (size_t k = 0; k < arguments.size(); ++k) {
    dtypes.push_back(arguments[k].array ? std::optional(arguments[k].array->dtype()) : std::nullopt);
    if (k >= inputs && !arguments[k].array) raise("TypeError", "Output arguments must be cupy.ndarray");
  }
  try {
    return c_kernels::decide_types(parameters, inputs, dtypes);
  } catch (const Error& e) {
    raise(e.diagnostic().kind, e.diagnostic().message, e.diagnostic().hint);
  }
}

SourceRef text_of(const std::string& kernel, const char* part, std::string text) {
  return std::make_shared<Source>("<" + kernel + (*part ? ": " : "") + part + ">", std::move(text));
}

void require_name(const std::string& name) {
  const bool good = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!good) raise("ValueError", "Invalid kernel name: \"" + name + "\"");
}

}  // namespace gasell::cupy
