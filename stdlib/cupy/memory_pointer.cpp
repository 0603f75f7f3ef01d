// cp.cuda.MemoryPointer: a place in a variable of a module.
#include <fmt/format.h>

#include "runtime/session/types.h"
#include "stdlib/cupy/cuda_code.h"

namespace gasell::cupy {
namespace {

class MemoryPointer final : public numpy::ArrayMemory {
 public:
  MemoryPointer(Engine& engine, std::shared_ptr<CudaCode> code, std::string variable, int64_t offset)
      : engine_(engine), code_(std::move(code)), variable_(std::move(variable)), offset_(offset) {}
  const gasell::Type& type() const override { return memory_pointer_type(); }
  std::string repr(Interpreter&) override { return fmt::format("<MemoryPointer {:#x} device={}>", address(), device()); }

  /// pointer + bytes, bytes + pointer, pointer - bytes
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    if ((op != ast::BinaryOp::add && op != ast::BinaryOp::sub) || !other.is_int()) return ArrayMemory::binary(in, op, other);
    return moved(op == ast::BinaryOp::add ? other.as_int() : -other.as_int());
  }
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    return op == ast::BinaryOp::add && other.is_int() ? moved(other.as_int()) : ArrayMemory::reflected(in, op, other);
  }

  Array array(Interpreter&, DType dtype, const numpy::Shape& shape, int64_t offset) override {
    return code_->window(engine_, variable_, dtype, offset_ + offset, graph::size_of(shape)).reshape(shape);
  }
  int64_t address() const {
    return static_cast<int64_t>(code_->variable(need_gpu(engine_, "a module's variable"), variable_).address) + offset_;
  }
  int device() const { return need_gpu(engine_, "a module's variable").selected(); }

 private:
  Value moved(int64_t bytes) const { return Value::make<MemoryPointer>(engine_, code_, variable_, offset_ + bytes); }

  Engine& engine_;
  const std::shared_ptr<CudaCode> code_;
  const std::string variable_;
  const int64_t offset_;
};

}  // namespace

Value memory_pointer(Engine& engine, std::shared_ptr<CudaCode> code, std::string variable) {
  try {
    code->variable(need_gpu(engine, "a module's variable"), variable);
  } catch (const Error& error) {
    rethrow(error, variable);
  }
  return Value::make<MemoryPointer>(engine, std::move(code), std::move(variable), 0);
}

const gasell::Type& memory_pointer_type() {
  static const gasell::Type t = [] {
    gasell::Type made{"MemoryPointer", "cupy.cuda.memory", &object_type()};
    made.properties = {
        {"ptr", [](Interpreter&, const Value& v) { return Value::of(v.as<MemoryPointer>()->address()); }, nullptr,
         "the address on the GPU that kernels run on"},
        {"device_id", [](Interpreter&, const Value& v) { return Value::of(v.as<MemoryPointer>()->device()); }, nullptr, "the GPU's number"},
    };
    return made;
  }();
  return t;
}

}  // namespace gasell::cupy
