#include "runtime/functions/tables.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/codegen/externals.h"
#include "runtime/functions/context.h"

namespace gasell::functions {
namespace {

constexpr int32_t kEmpty = -1, kGone = -2;
constexpr int64_t kMostEntries = int64_t{1} << 30;

int32_t* index_of(const TableHeader& t) { return reinterpret_cast<int32_t*>(t.entries.data + t.entries.room * t.entries.slots); }
int64_t* entry_at(const TableHeader& t, int64_t place) { return t.entries.data + place * t.entries.slots; }

/// A key's slot as it is hashed and compared: one zero stands for both.
int64_t plain(const TableHeader& t, int64_t slot, int64_t bits) {
  return (t.floats >> slot & 1) && bits == std::bit_cast<int64_t>(-0.0) ? 0 : bits;
}

/// A whole number is its own hash, and is added to that of the numbers before it in a tuple: keys in a row lie in a row. The buckets that
/// are tried one after the other depend on all of it.
template <int64_t kSlots>
int64_t hash_of(const TableHeader& t, const int64_t* key) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  const int64_t last = (kSlots ? kSlots : t.key_slots) - 1;
  uint64_t hash = 0;
  for (int64_t k = 0; k < last; ++k) {
    hash = (std::rotl(hash, 29) ^ static_cast<uint64_t>(kSlots ? key[k] : plain(t, k, key[k]))) * kSpread;
    hash ^= hash >> 32;
  }
  if (last < 0) return static_cast<int64_t>(uint64_t{1} << 63);  // of ()
  auto end = static_cast<uint64_t>(kSlots ? key[last] : plain(t, last, key[last]));
  if (!kSlots && t.floats >> last & 1) end = (end * kSpread) ^ (end * kSpread >> 32);  // their lower bits are seldom anything but 0
  return static_cast<int64_t>((hash + end) | uint64_t{1} << 63);
}

/// The buckets of a hash, one after the other: all of them in the end.
class Probe {
 public:
  Probe(const TableHeader& t, int64_t hash)
      : mask_(static_cast<uint64_t>(t.buckets) - 1), rest_(static_cast<uint64_t>(hash) & ~(uint64_t{1} << 63)), bucket_(rest_ & mask_) {}
  uint64_t bucket() const { return bucket_; }
  void next() {
    rest_ >>= 5;
    bucket_ = (5 * bucket_ + 1 + rest_) & mask_;
  }

 private:
  uint64_t mask_, rest_, bucket_;
};

template <int64_t kSlots>
bool equal(const TableHeader& t, const int64_t* a, const int64_t* b) {
  if constexpr (kSlots > 0) {
    int64_t differ = 0;
    for (int64_t k = 0; k < kSlots; ++k) differ |= a[k] ^ b[k];
    return differ == 0;
  }
  for (int64_t k = 0; k < t.key_slots; ++k) {
    if (plain(t, k, a[k]) != plain(t, k, b[k])) return false;
    if ((t.floats >> k & 1) && std::isnan(std::bit_cast<double>(a[k]))) return false;
  }
  return true;
}

/// Calls f.operator()<how many slots a key has>(): of few whole numbers, which most keys are; 0: of anything.
template <class F>
auto with_key_slots(const TableHeader& t, F f) {
  if (t.floats == 0 && t.key_slots == 1) return f.template operator()<1>();
  if (t.floats == 0 && t.key_slots == 2) return f.template operator()<2>();
  if (t.floats == 0 && t.key_slots == 3) return f.template operator()<3>();
  return f.template operator()<0>();
}

/// A key's place, -1 where it is not there, and the bucket that says so.
struct Looked {
  int64_t place;
  uint64_t bucket;
};

/// Of a table that has buckets.
template <int64_t kSlots>
Looked look(const TableHeader& t, const int64_t* key, int64_t hash) {
  const int32_t* const index = index_of(t);
  for (Probe p(t, hash);; p.next()) {
    const int32_t place = index[p.bucket()];
    if (place == kEmpty) return {-1, p.bucket()};
    if (place == kGone) continue;
    const int64_t* const entry = entry_at(t, place);
    if ((kSlots > 0 || entry[0] == hash) && equal<kSlots>(t, entry + 1, key)) return {place, p.bucket()};
  }
}

void fill_index(TableHeader& t) {
  int32_t* const index = index_of(t);
  std::fill_n(index, t.buckets, kEmpty);
  for (int64_t place = 0; place < t.entries.length; ++place) {
    Probe p(t, entry_at(t, place)[0]);
    while (index[p.bucket()] != kEmpty) p.next();
    index[p.bucket()] = static_cast<int32_t>(place);
  }
  t.used = t.entries.length;
}

/// Moves entries up to where others were removed.
void settle(TableHeader& t) {
  if (t.removed == 0) return;
  const int64_t slots = t.entries.slots;
  int64_t kept = 0;
  for (int64_t place = 0; place < t.entries.length; ++place) {
    if (entry_at(t, place)[0] == 0) continue;
    if (kept != place) std::copy_n(entry_at(t, place), slots, entry_at(t, kept));
    ++kept;
  }
  t.entries.length = kept;
  t.removed = 0;
  fill_index(t);
}

/// Makes room for another entry; false: there is no memory for it.
bool grow(FunctionContext& context, TableHeader& t) {
  settle(t);
  if (t.entries.length < t.entries.room / 2 && t.buckets) {  // what was full are buckets that were left
    fill_index(t);
    return true;
  }
  const int64_t room = std::max<int64_t>(8, 2 * t.entries.length), slots = t.entries.slots;
  const auto buckets = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * room)));
  auto* const data = room <= kMostEntries ? static_cast<int64_t*>(context.allocate(room * slots * 8 + buckets * 4)) : nullptr;
  if (!data) return false;
  if (t.entries.data) {
    std::copy_n(t.entries.data, t.entries.length * slots, data);
    context.release(t.entries.data);
  }
  t.entries.data = data;
  t.entries.room = room;
  t.buckets = buckets;
  fill_index(t);
  return true;
}

}  // namespace

int64_t insert_key(FunctionContext& context, TableHeader& t, const int64_t* key) noexcept {
  return with_key_slots(t, [&]<int64_t kSlots>() -> int64_t {
    const int64_t hash = hash_of<kSlots>(t, key);
    Looked looked{-1, 0};
    if (t.buckets) looked = look<kSlots>(t, key, hash);
    if (looked.place >= 0) return looked.place;
    if (t.entries.length == t.entries.room || 4 * t.used >= 3 * t.buckets) {
      if (!grow(context, t)) return -1;
      looked = look<kSlots>(t, key, hash);
    }
    const int64_t place = t.entries.length++;
    index_of(t)[looked.bucket] = static_cast<int32_t>(place);
    int64_t* const entry = entry_at(t, place);
    entry[0] = hash;
    const int64_t slots = kSlots ? kSlots : t.key_slots;
    for (int64_t k = 0; k < slots; ++k) entry[1 + k] = key[k];
    for (int64_t k = 1 + slots; k < t.entries.slots; ++k) entry[k] = 0;
    ++t.used;
    ++t.changes;
    return place;
  });
}

namespace {

extern "C" {
int64_t gasell_table_new(void* context, int64_t slots, int64_t references, int64_t key_slots, int64_t floats) {
  return reinterpret_cast<int64_t>(static_cast<FunctionContext*>(context)->new_table(slots, references, key_slots, floats));
}

/// The place of a key, or -1.
int64_t gasell_table_find(const TableHeader* table, const int64_t* key) {
  const TableHeader& t = *table;
  if (t.buckets == 0) return -1;
  return with_key_slots(t, [&]<int64_t kSlots>() { return look<kSlots>(t, key, hash_of<kSlots>(t, key)).place; });
}

int64_t gasell_table_insert(void* context, TableHeader* table, const int64_t* key) {
  return insert_key(*static_cast<FunctionContext*>(context), *table, key);
}

/// Removes an entry, whose value's references are the caller's from now on. The last entry is never a removed one.
void gasell_table_remove(TableHeader* table, int64_t place) {
  TableHeader& t = *table;
  int64_t* const entry = entry_at(t, place);
  int32_t* const index = index_of(t);
  Probe p(t, entry[0]);
  while (index[p.bucket()] != place) p.next();
  index[p.bucket()] = kGone;
  std::fill_n(entry, t.entries.slots, 0);
  ++t.removed;
  ++t.changes;
  while (t.entries.length > 0 && entry_at(t, t.entries.length - 1)[0] == 0) {
    --t.entries.length;
    --t.removed;
  }
}

void gasell_table_settle(TableHeader* table) { settle(*table); }
}

}  // namespace

void register_table_functions() {
  register_external("gasell_table_new", reinterpret_cast<void*>(&gasell_table_new));
  register_external("gasell_table_find", reinterpret_cast<void*>(&gasell_table_find));
  register_external("gasell_table_insert", reinterpret_cast<void*>(&gasell_table_insert));
  register_external("gasell_table_remove", reinterpret_cast<void*>(&gasell_table_remove));
  register_external("gasell_table_settle", reinterpret_cast<void*>(&gasell_table_settle));
}

}  // namespace gasell::functions
