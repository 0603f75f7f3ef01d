// What str, tuple and list share: indexing, repetition, the order in which operands are asked, comparison.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/session/objects.h"

namespace gasell {

/// An index of a sequence of `length` items, negative ones from the end. IndexError `out_of_range`; TypeError for what is no integer,
/// worded with `type_name`.
int64_t sequence_index(Interpreter& in, const Value& index, int64_t length, std::string_view type_name, std::string_view out_of_range);

/// The answer of the right operand's own slot: CPython asks it before the left sequence concatenates or repeats, and arrays rely on that.
std::optional<Value> ask_right_operand(Interpreter& in, ast::BinaryOp op, Object& self, const Value& other);

/// The count in `sequence * n` and `n * sequence`, at least 0. TypeError for what is no integer; MemoryError when so many items are more
/// than the engine may still take.
int64_t repeat_count(Interpreter& in, const Value& n, int64_t length, int64_t item_bytes);
/// poll() without counting calls: between steps that take a millisecond or more.
void poll_now(Interpreter& in);
/// MemoryError where an object of so many items, or bytes, is more than the engine may still take. Asked before it is made.
void require_memory(Interpreter& in, int64_t count, size_t item_bytes = 1);
/// require_memory() for all items that an iterator is known to have yet: asked before they are kept, it spares making what no memory holds.
void require_items(Interpreter& in, const Value& iterator, size_t item_bytes = sizeof(Value));
/// The same for a set or a dict that holds `there` keys, which keeps equal ones once: of a range alone it is known that its items differ.
void require_keys(Interpreter& in, const Value& iterator, int64_t there, size_t item_bytes);

/// start and stop arguments of index(), find() …: None or an integer, clipped to [0, length] as slices clip.
int64_t clip_bound(Interpreter& in, const Value& v, int64_t default_value, int64_t length);

/// Comparison of two sequences by their first different items.
std::optional<Value> compare_items(Interpreter& in, ast::CompareOp op, std::span<const Value> a, std::span<const Value> b);
/// Identity or equality, as list.index and `in` ask.
bool same_or_equal(Interpreter& in, const Value& a, const Value& b);

/// Items joined by ", ", each by repr.
std::string join_reprs(Interpreter& in, std::span<const Value> items);

/// Sorts by `<`, stable; `key` None or a callable.
void sort_values(Interpreter& in, std::vector<Value>& items, const Value& key, bool reverse);

}  // namespace gasell
