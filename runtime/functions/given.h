// Objects of the session's that a compiled function is called with: lists, dicts, sets and generators, and what lies in them. A call has
// them in memory of its own (lists.h, tables.h), and tells afterwards what it left there.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/functions/function.h"
#include "runtime/array/array.h"
#include "runtime/functions/lists.h"
#include "runtime/functions/returned.h"

namespace gasell::functions {

class FunctionContext;
class Results;

/// An object that is an argument, or that lies in one.
struct Given {
  /// A list's items, or the entries of a dict or a set, in slots (compiler/functions/slots.h). In place of addresses stand numbers: of an
  /// array its place in Givens::arrays, of an object that in Givens::objects. A call that changes items without any puts here what it left.
  std::vector<int64_t> slots;
  void* state = nullptr;       // a generator's
  const Type* type = nullptr;  // of the specialisation that was called with it
  bool changed = false;
  /// What a call left that changed items with arrays or objects among them.
  std::vector<Returned> items = {};
};

struct Givens {
  std::vector<Given> objects;
  std::vector<const Array*> arrays;
};

/// Objects in the memory of one call.
class GivenMemory {
 public:
  /// `arrays`, `memories`: those that objects hold.
  GivenMemory(FunctionContext& context, std::span<Given> objects, std::span<const Array* const> arrays,
              std::span<const Array::Memory> memories)
      : context_(context), objects_(objects), arrays_(arrays), memories_(memories), places_(objects.size()) {}

  /// What an object's address is; brought there where it is not yet. Error where there is no memory.
  int64_t* place(const Type& type, size_t object);
  /// The object at an address, or -1.
  int number_of(const void* address) const;
  /// Notes what the call left.
  void take(Results& results);

 private:
  struct Place {
    const Type* type = nullptr;  // null: it is not there yet
    int64_t* address = nullptr;
    std::vector<int64_t> before;  // its slots, with addresses, where it has any
  };
  /// Writes addresses where numbers stand.
  void fill_in(const Type& type, int64_t*& slot);
  int64_t* new_list(const Type& type, const std::vector<int64_t>& slots);
  int64_t* new_table(const Type& type, const std::vector<int64_t>& slots);

  FunctionContext& context_;
  std::span<Given> objects_;
  std::span<const Array* const> arrays_;
  std::span<const Array::Memory> memories_;
  std::vector<Place> places_;
  std::unordered_map<const void*, int> numbers_;
};

}  // namespace gasell::functions
