#include "runtime/functions/given.h"

#include <algorithm>

#include "compiler/functions/slots.h"
#include "runtime/functions/context.h"
#include "runtime/functions/results.h"
#include "runtime/functions/tables.h"

namespace gasell::functions {
namespace {

Error no_room(const Type& type, const std::vector<int64_t>& slots) {
  return Error("MemoryError", "there is no memory for a " + (type.is_list() ? "list" : type.text) + " of " +
                                  std::to_string(slots.size() * sizeof(int64_t)) + " bytes that is an argument");
}

/// What lies in a list, a dict or a set, one after the other, without the hashes of keys.
std::vector<int64_t> slots_in(const ListHeader& list, const Type& type) {
  if (type.is_list()) return {list.data, list.data + list.length * list.slots};
  std::vector<int64_t> slots;
  for (const int64_t *entry = list.data, *end = entry + list.length * list.slots; entry < end; entry += list.slots)
    if (entry[0] != 0) slots.insert(slots.end(), entry + 1, entry + list.slots);
  return slots;
}

}  // namespace

int64_t* GivenMemory::new_list(const Type& type, const std::vector<int64_t>& slots) {
  const int width = slots_of(type.items.at(0));
  ListHeader* const list = context_.new_list(width, references_in(type.items[0]));
  const auto count = static_cast<int64_t>(slots.size()) / std::max(width, 1);
  if (!list || !context_.grow(*list, count)) throw no_room(type, slots);
  std::copy(slots.begin(), slots.end(), list->data);
  list->length = count;
  return reinterpret_cast<int64_t*>(list);
}

int64_t* GivenMemory::new_table(const Type& type, const std::vector<int64_t>& slots) {
  const TableLayout layout = layout_of_table(type);
  TableHeader* const table = context_.new_table(layout.slots, layout.references, layout.key_slots, layout.floats);
  bool made = table != nullptr;
  for (const int64_t *entry = slots.data(), *end = entry + slots.size(); made && entry < end; entry += layout.slots - 1) {
    const int64_t place = insert_key(context_, *table, entry);
    made = place >= 0;
    if (made) std::copy_n(entry, layout.slots - 1, table->entries.data + place * layout.slots + 1);
  }
  if (!made) throw no_room(type, slots);
  return reinterpret_cast<int64_t*>(&table->entries);
}

void GivenMemory::fill_in(const Type& type, int64_t*& slot) {
  if (type.is_array()) {
    const auto number = static_cast<size_t>(*slot);
    const Array::Memory& memory = memories_[number];
    *slot++ = reinterpret_cast<int64_t>(memory.data);
    *slot++ = 0;  // offset
    slot = std::copy(arrays_[number]->shape().begin(), arrays_[number]->shape().end(), slot);
    slot = std::copy(memory.strides.begin(), memory.strides.end(), slot);
  } else if (type.is_object()) {
    int64_t* const address = place(type, static_cast<size_t>(*slot));
    context_.retain(address);  // the call may take it out of here, and it is looked at afterwards
    *slot++ = reinterpret_cast<int64_t>(address);
  } else if (type.is_tuple()) {
    for (const Type& item : type.items) fill_in(item, slot);
  } else {
    slot += slots_of(type);
  }
}

int64_t* GivenMemory::place(const Type& type, size_t object) {
  Place& p = places_[object];
  if (p.type) return p.address;
  Given& given = objects_[object];
  p.type = given.type = &type;
  if (given.state) {
    p.address = static_cast<int64_t*>(given.state);
  } else {
    const std::vector<int64_t>* slots = &given.slots;
    if (references_in(type.items.at(0))) {
      p.before = given.slots;
      for (int64_t *slot = p.before.data(), *end = slot + p.before.size(); slot < end;) fill_in(type.items[0], slot);
      slots = &p.before;
    }
    p.address = type.is_list() ? new_list(type, *slots) : new_table(type, *slots);
  }
  numbers_.emplace(p.address, static_cast<int>(object));
  return p.address;
}

int GivenMemory::number_of(const void* address) const {
  const auto known = numbers_.find(address);
  return known == numbers_.end() ? -1 : known->second;
}

void GivenMemory::take(Results& results) {
  for (size_t k = 0; k < places_.size(); ++k) {
    const Place& p = places_[k];
    Given& given = objects_[k];
    if (!p.type || given.state) continue;
    const Type& item = p.type->items[0];
    const bool refers = references_in(item) != 0;
    std::vector<int64_t> after = slots_in(*reinterpret_cast<const ListHeader*>(p.address), *p.type);
    given.changed = after != (refers ? p.before : given.slots);
    if (!given.changed) continue;
    if (!refers) {
      given.slots = std::move(after);
      continue;
    }
    given.slots.clear();
    for (const int64_t *slot = after.data(), *end = slot + after.size(); slot < end;) given.items.push_back(results.take(item, slot));
  }
}

}  // namespace gasell::functions
