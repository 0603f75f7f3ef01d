#include "runtime/frame/groups.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "runtime/frame/dictionary.h"
#include "runtime/frame/numbering.h"
#include "runtime/frame/order.h"
#include "runtime/primitives/distant_rows.h"
#include "runtime/primitives/radix.h"

namespace gasell::frame {
namespace {

constexpr uint64_t kDropped = RowKeys::kDropped;

/// Makes the keys fit in one number: those that do not are numbered on their own.
void fold(Engine& engine, RowKeys& keys) {
  while (!keys.fit())
    for (size_t first = 0; first < keys.size(); ++first) {
      size_t last = first + 1;
      while (last < keys.size() && keys.fit(first, last + 1)) ++last;
      if (keys.bound(first, last) <= Wide{INT32_MAX}) continue;
      Numbered numbered = number_by_hash(engine, {keys, first, last}, nullptr);
      keys.replace(first, last, std::move(numbered.ids), numbered.count);
    }
}

Scratch<int32_t> by_appearance(Engine& engine, const Scratch<int64_t>& first_rows, int64_t rows) {
  const int64_t count = first_rows.size();
  Scratch<int32_t> numbers(engine, count);
  if (count < rows / 64) {
    Scratch<uint64_t> keys(engine, count);
    Scratch<uint32_t> groups(engine, count);
    for (int64_t g = 0; g < count; ++g) keys[g] = static_cast<uint64_t>(first_rows[g]), groups[g] = static_cast<uint32_t>(g);
    sort_by_keys(engine, keys, groups, count);
    for (int64_t i = 0; i < count; ++i) numbers[groups[i]] = static_cast<int32_t>(i);
    return numbers;
  }
  // A bit for each first row; a group's number is the number of bits before its own.
  const int64_t words = (rows + 63) / 64;
  const Scratch<uint64_t> bits(engine, words);
  const Scratch<uint32_t> before(engine, words);
  fill(engine, bits, uint64_t{0});
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g)
      std::atomic_ref<uint64_t>(bits[first_rows[g] >> 6]).fetch_or(uint64_t{1} << (first_rows[g] & 63), std::memory_order_relaxed);
  });
  uint32_t sum = 0;
  for (int64_t w = 0; w < words; ++w) {
    before[w] = sum;
    sum += static_cast<uint32_t>(std::popcount(bits[w]));
  }
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const int64_t row = first_rows[g];
      const uint64_t lower = bits[row >> 6] & ((uint64_t{1} << (row & 63)) - 1);
      numbers[g] = static_cast<int32_t>(before[row >> 6]) + std::popcount(lower);
    }
  });
  return numbers;
}

Scratch<int32_t> by_keys(Engine& engine, const std::vector<Column>& columns, const Scratch<int64_t>& first_rows) {
  const int64_t count = first_rows.size();
  const RowKeys keys(engine, {take(engine, columns, first_rows.data(), count)}, MissingKeys::kept, true);
  const Scratch<uint32_t> order = order_rows(engine, keys);
  Scratch<int32_t> numbers(engine, count);
  scatter(engine, numbers, order.data(), count, [](int64_t i) { return static_cast<int32_t>(i); });
  return numbers;
}

}  // namespace

Groups::Groups(Scratch<int32_t> ids, Scratch<int64_t> first_rows, int64_t count, bool all_rows)
    : ids_(std::move(ids)), first_rows_(std::move(first_rows)), count_(count), all_rows_(all_rows) {}

const Groups::Listing& Groups::listing(Engine& engine) const {
  std::call_once(listed_, [&] { listing_ = list_rows<int64_t>(engine, ids(), rows(), count_); });
  return listing_;
}

GroupsRef group_rows(Engine& engine, const std::vector<Column>& columns, GroupOrder order, MissingKeys missing) {
  OperatorTimer timer("group by", columns[0].size());
  std::vector<Column> distinct;
  for (const Column& c : columns) distinct.push_back(c.type.logical == Logical::text ? with_distinct_texts(engine, c) : c);
  RowKeys keys(engine, {distinct}, missing, false);
  const bool ordered = keys.ordered();
  fold(engine, keys);
  const KeyRun run{keys, 0, keys.size()};
  const bool direct = run.direct() && tables_fit(engine, run);
  Renumber renumber;
  if (order == GroupOrder::appearance || (order == GroupOrder::any && !direct))
    renumber = [&](const Scratch<int64_t>& first_rows) { return by_appearance(engine, first_rows, keys.all_rows()); };
  else if (order == GroupOrder::sorted && !(direct && ordered && keys.ordered()))
    renumber = [&](const Scratch<int64_t>& first_rows) { return by_keys(engine, distinct, first_rows); };
  Numbered result = direct ? number_directly(engine, run, renumber) : number_by_hash(engine, run, renumber);
  timer.finish(result.count, counted(columns.size(), "key"));
  return std::make_shared<Groups>(std::move(result.ids), std::move(result.first_rows), result.count, result.all_rows);
}

RowCodes number_rows(Engine& engine, RowKeys keys) {
  fold(engine, keys);
  const KeyRun run{keys, 0, keys.size()};
  if (!run.direct()) {
    Numbered numbered = number_by_hash(engine, run, nullptr);
    return {std::move(numbered.ids), numbered.count};
  }
  RowCodes result{Scratch<int32_t>(engine, keys.all_rows()), static_cast<int64_t>(keys.bound())};
  const std::vector<Piece> pieces = pieces_of(keys);
  in_parallel(static_cast<int64_t>(pieces.size()), [&](int64_t number) {
    check_interrupt(engine);
    run.blocks(pieces[static_cast<size_t>(number)], [&](const uint64_t* codes, int64_t count, int64_t at) {
      for (int64_t i = 0; i < count; ++i) result.codes[at + i] = codes[i] == kDropped ? -1 : static_cast<int32_t>(codes[i]);
    });
  });
  return result;
}

}  // namespace gasell::frame
