// Dicts and sets of compiled functions: what stands behind the memory that compiler/functions/tables.cpp works on.
#pragma once

#include <cstdint>

#include "runtime/functions/lists.h"

namespace gasell::functions {

class FunctionContext;

/// Where a table's header begins. Its entries lie in the order in which they came, as a list's items do; the first slot of each is the
/// key's hash (0: it was removed), then come the key's slots, then the value's. Behind the room for entries lies the index, of 32-bit
/// places: in one of the buckets that a hash leads to stands the entry's.
struct TableHeader {
  ListHeader entries;
  int64_t removed;  // entries that still have a place
  int64_t changes;  // counts keys that came or went
  int64_t key_slots;
  int64_t floats;   // which slots of a key are floats, by bits: NaN equals nothing, 0.0 equals -0.0
  int64_t buckets;  // of the index, a power of two
  int64_t used;     // buckets that are not empty
};

/// The place of a key that is there from now on, with a value of zeros where it is new; -1: there is no memory.
int64_t insert_key(FunctionContext& context, TableHeader& table, const int64_t* key) noexcept;

void register_table_functions();

}  // namespace gasell::functions
