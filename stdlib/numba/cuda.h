// numba.cuda: kernels as values, arrays on GPUs, and the module.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/functions/grid.h"
#include "stdlib/numba/outside.h"
#include "stdlib/numba/types.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::numba {

/// What cuda.jit makes of a function: kernel[blocks, threads](...), and a function that kernels call.
class CudaKernel final : public Object {
 public:
  CudaKernel(Interpreter& in, Value function, functions::Options options, bool device);
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  /// kernel[blocks, threads, stream, shared bytes].
  Value get_item(Interpreter&, const Value& index) override;
  Value call(Interpreter&, Arguments) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;

  const Value& function() const { return function_; }
  const functions::Options& options() const { return options_; }
  bool is_device() const { return device_; }
  /// From now on arguments are converted to one of the signatures given so.
  void declare(Interpreter& in, const Signature& signature);
  void launch(Interpreter& in, const gasell::GridShape& shape, Arguments args);
  const functions::GridDispatch* dispatch() const { return dispatch_.get(); }

 private:
  functions::GridDispatch::Entry& entry_for(const std::vector<functions::Type>& types);

  const Value function_;  // the script's
  const functions::Options options_;
  const bool device_;
  std::unique_ptr<Compilation> compilation_;
  std::unique_ptr<functions::GridDispatch> dispatch_;
  std::vector<std::vector<functions::Type>> declared_;
};

/// An array that a script made for GPUs: it comes to the host by copy_to_host().
class DeviceArray final : public numpy::NdArray {
 public:
  explicit DeviceArray(Array a) : NdArray(std::move(a)) {}
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  Value get_item(Interpreter&, const Value& index) override;
};
const gasell::Type& device_array_type();
/// Arrays as device arrays; other values as they are.
Value as_device_array(const Value& v);

/// compile_ahead(work): calls work() with launches that only begin to compile their kernels, beside each other. For functions that read
/// nothing of what their kernels write.
Value compile_ahead(Interpreter& in, std::span<Value> args);

std::vector<NativeFunction> cuda_array_functions();
std::vector<NativeFunction> cuda_device_functions();
/// cuda.gpus.
Value cuda_gpus();

}  // namespace gasell::numba
