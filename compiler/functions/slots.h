// Values laid out in 64-bit slots of memory: results of functions, arguments of recursive ones, items of lists.
//
// By leaves of the type: a number takes one slot (integers and booleans widened, floats as the bits of an f64), a complex number two; an
// array 2 + 2 * rank: the address of its memory, its offset, extents and strides in elements; a list and a table one, the address of its
// header (lists.h, tables.h); an optional value one that says whether it is there, then its item. None, texts and functions take none.
#pragma once

#include "compiler/functions/code.h"
#include "compiler/functions/value.h"

namespace gasell::functions {

int slots_of(const Type& type);
/// Whether values of a type can lie in slots: ranges, iterators and slices cannot, nor what holds them.
bool has_slots(const Type& type);
/// Whether values of a type are, or hold, functions and dtypes: their type says all there is, so they take no slots.
bool has_functions(const Type& type);
/// Which slots hold addresses of counted memory: bit k is slot k. For types of up to 63 slots.
int64_t references_in(const Type& type);

/// How the entries of a dict or a set lie in memory (runtime/functions/tables.h): their slots, the key's hash among them, and those of the
/// key; which of an entry's slots are references and which of a key's are floats, by bits.
struct TableLayout {
  int64_t slots, key_slots, references, floats;
};
TableLayout layout_of_table(const Type& table);

/// memory[first …] = the value's leaves. `first` is an i64.
void store_slots(Code& code, const std::string& memory, const ExprRef& first, const Value& value);

/// Calls f(memory's name) for every array and list in a value.
template <class F>
void for_each_memory(const Value& v, const F& f) {
  if (v.array) f(v.array->memory);
  for (const Value& item : v.items) for_each_memory(item, f);
}

}  // namespace gasell::functions
