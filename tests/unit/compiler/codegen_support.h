// Kernels for tests of the emitter and the Jit: one operation over whole arrays, through every stage to machine code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/codegen/jit.h"
#include "compiler/ir/text.h"
#include "lang/dtype.h"

namespace gasell::test {

/// Elements of one type in memory.
class Memory {
 public:
  Memory(DType type, int64_t count) : type_(type), bytes_(static_cast<size_t>(count * gasell::size_of(type))) {}
  Memory(DType type, const std::vector<Scalar>& values) : Memory(type, static_cast<int64_t>(values.size())) {
    for (size_t k = 0; k < values.size(); ++k) values[k].store(at(k));
  }
  Scalar operator[](size_t k) const { return Scalar::load(bytes_.data() + k * static_cast<size_t>(gasell::size_of(type_)), type_); }
  char* at(size_t k) { return bytes_.data() + k * static_cast<size_t>(gasell::size_of(type_)); }
  void* data() { return bytes_.data(); }

 private:
  DType type_;
  std::vector<char> bytes_;
};

/// for all i: r[i] = make(a[i], b[i], …), vectorised where that is possible, in units of 100 elements.
inline ir::Kernel elementwise(const std::vector<DType>& operands, DType result,
                              const std::function<ir::ExprRef(std::vector<ir::ExprRef>)>& make) {
  using namespace ir;
  Kernel kernel{"test", {}, {}};
  std::vector<ExprRef> args;
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::string name(1, static_cast<char>('a' + k));
    kernel.params.push_back({Parameter::Kind::in, name, operands[k]});
    args.push_back(load(name, operands[k], variable("i", DType::i64)));
  }
  kernel.params.push_back({Parameter::Kind::out, "r", result});
  kernel.params.push_back({Parameter::Kind::scalar, "n", DType::i64});
  const ExprRef first = variable("u", DType::i64) * constant_i64(100);
  const ExprRef last = op(ScalarOp::min, {first + constant_i64(100), variable("n", DType::i64)});
  const StmtRef lanes = loop("i", first, last, LoopKind::simd, {store("r", variable("i", DType::i64), make(args))});
  kernel.body = {loop("u", constant_i64(0), (variable("n", DType::i64) + constant_i64(99)) / constant_i64(100), LoopKind::unit, {lanes})};
  return kernel;
}

/// Runs such a kernel over its operands' elements.
inline Memory run_elementwise(Jit& jit, const ir::Kernel& kernel, std::vector<Memory> operands, DType result, size_t count) {
  Memory output(result, static_cast<int64_t>(count));
  std::vector<void*> arrays;
  for (Memory& m : operands) arrays.push_back(m.data());
  arrays.push_back(output.data());
  const auto n = static_cast<int64_t>(count);
  jit.compile(kernel).function(arrays.data(), &n, 0, (n + 99) / 100);
  return output;
}

inline JitOptions without_disk() { return {.disk_cache = false, .cache_directory = {}}; }

}  // namespace gasell::test
