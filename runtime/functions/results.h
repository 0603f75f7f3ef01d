// The results of a call, out of its slots (compiler/functions/slots.h).
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/functions/type.h"
#include "runtime/array/array.h"
#include "runtime/functions/given.h"
#include "runtime/functions/returned.h"

namespace gasell::functions {

class FunctionContext;
struct ElementLayout;

/// An array that a result may be a view of.
struct Base {
  const Array* array;
  const Array::Memory* memory;
  int argument;  // Returned::argument; -1: captured
};

class Results {
 public:
  Results(const FunctionContext& context, std::span<const Base> bases, const GivenMemory& given);

  /// The value whose leaves stand from `slot` on, which moves behind them. Error for views that no array can be.
  Returned take(const Type& type, const int64_t*& slot);

 private:
  Scalar scalar(DType dtype);
  void skip(const Type& type);
  void object(Returned& r);
  void array(Returned& r);
  Array of_new_memory(char* address, HostStorageRef storage, DType dtype, const ElementLayout& layout);

  const int64_t* slot_ = nullptr;
  const FunctionContext& context_;
  std::span<const Base> bases_;
  std::unordered_multimap<const char*, size_t> bases_at_;  // where there are many
  const GivenMemory& given_;
  std::unordered_multimap<char*, Array> fresh_;  // arrays made of new memory
};

}  // namespace gasell::functions
