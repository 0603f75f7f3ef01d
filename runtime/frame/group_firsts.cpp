#include "runtime/frame/group_firsts.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/frame/dictionary.h"
#include "runtime/frame/groups.h"
#include "runtime/frame/numbering.h"
#include "runtime/primitives/radix.h"

namespace gasell::frame {
namespace {

constexpr uint64_t kNoNumber = UINT64_MAX;
constexpr uint32_t kNoRow = UINT32_MAX;

/// Of each group its least (number, row) so far, in their order; places that are not taken yet hold what is behind all.
class Firsts {
 public:
  Firsts(Engine& engine, int64_t groups, int64_t count) : count_(count), numbers_(engine, groups * count), rows_(engine, groups * count) {
    std::fill(numbers_.begin(), numbers_.end(), kNoNumber);
    std::fill(rows_.begin(), rows_.end(), kNoRow);
  }
  void expect(int64_t group) const { __builtin_prefetch(&numbers_[(group + 1) * count_ - 1], 1); }
  void add(int64_t group, uint64_t number, uint32_t row) const {
    uint64_t* const numbers = numbers_.data() + group * count_;
    int64_t at = count_ - 1;
    if (number > numbers[at]) return;
    uint32_t* const rows = rows_.data() + group * count_;
    const auto before = [&](int64_t i) { return number != numbers[i] ? number < numbers[i] : row < rows[i]; };
    if (!before(at)) return;
    for (; at > 0 && before(at - 1); --at) {
      numbers[at] = numbers[at - 1];
      rows[at] = rows[at - 1];
    }
    numbers[at] = number;
    rows[at] = row;
  }
  /// f(place, number, row) for those of a group.
  template <class F>
  void each(int64_t group, const F& f) const {
    for (int64_t i = group * count_; i < (group + 1) * count_ && rows_[i] != kNoRow; ++i) f(i - group * count_, numbers_[i], rows_[i]);
  }

 private:
  int64_t count_;
  Scratch<uint64_t> numbers_;
  Scratch<uint32_t> rows_;
};

/// The rows' groups: by tables of their keys where these are few, else numbered.
class GroupCodes {
 public:
  GroupCodes(Engine& engine, const std::vector<Column>& columns, MissingKeys missing) {
    std::vector<Column> distinct;
    for (const Column& c : columns) distinct.push_back(c.type.logical == Logical::text ? with_distinct_texts(engine, c) : c);
    keys_.emplace(engine, std::vector<std::vector<Column>>{distinct}, missing, false);
    const KeyRun run{*keys_, 0, keys_->size()};
    if (keys_->fit() && run.direct() && tables_fit(engine, run)) {
      bound_ = static_cast<int64_t>(keys_->bound());
      return;
    }
    keys_.reset();
    groups_ = group_rows(engine, columns, GroupOrder::any, missing);
    bound_ = groups_->count();
  }
  int64_t bound() const { return bound_; }
  /// kDropped where the row is in no group.
  void read(int64_t begin, int64_t end, uint64_t* codes) const {
    if (keys_) return keys_->encode(0, begin, end, codes);
    for (int64_t i = begin; i < end; ++i) codes[i - begin] = static_cast<uint64_t>(int64_t{groups_->ids()[i]});  // -1: kDropped
  }

 private:
  std::optional<RowKeys> keys_;
  GroupsRef groups_;
  int64_t bound_ = 0;
};

/// The rows in the order of (number, row).
Scratch<uint32_t> ordered(Engine& engine, const std::vector<std::vector<std::pair<uint64_t, uint32_t>>>& parts) {
  int64_t count = 0;
  std::vector<int64_t> begins;
  for (const auto& part : parts) begins.push_back(std::exchange(count, count + static_cast<int64_t>(part.size())));
  const Scratch<uint64_t> numbers(engine, count);
  Scratch<uint64_t> keys(engine, count);
  Scratch<uint32_t> rows(engine, count), places(engine, count);
  in_parallel(static_cast<int64_t>(parts.size()), [&](int64_t part) {
    int64_t at = begins[static_cast<size_t>(part)];
    for (const auto& [number, row] : parts[static_cast<size_t>(part)]) {
      numbers[at] = number;
      keys[at] = rows[at] = row;
      places[at] = static_cast<uint32_t>(at);
      ++at;
    }
  });
  sort_by_keys(engine, keys, places, count);
  Scratch<uint32_t> result(engine, count);
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      keys[i] = numbers[places[i]];
      result[i] = rows[places[i]];
    }
  });
  sort_by_keys(engine, keys, result, count);
  return result;
}

}  // namespace

std::optional<Scratch<uint32_t>> firsts_of_groups(Engine& engine, const FirstsOfGroups& wanted) {
  const int64_t rows = wanted.keys[0].size(), count = wanted.count;
  constexpr int64_t kMostOfAGroup = 64;
  if (rows == 0 || count > kMostOfAGroup) return {};
  OperatorTimer timer("firsts of groups", rows);
  std::optional<RowKeys> by;
  if (!wanted.by.empty()) by.emplace(engine, std::vector<std::vector<Column>>{wanted.by}, MissingKeys::kept, true, wanted.order);
  if (by && !by->fit()) return {};
  const GroupCodes groups(engine, wanted.keys, wanted.missing);
  const int64_t threads = std::min<int64_t>(threads_of(engine), (rows + kRowsATask - 1) / kRowsATask);
  // Each thread has its own table of all groups.
  const int64_t places = threads * groups.bound() * count;
  if (places > std::max(rows / 2, kRowsATask) || places * int64_t{sizeof(uint64_t) + sizeof(uint32_t)} > random_room(engine)) return {};
  std::optional<ColumnData> mask;
  if (wanted.mask) mask = read(engine, number_column(wanted.mask));
  // The last ones are the first ones of the opposite order. Numbers of keys are below kDropped, so turned ones stay below kNoNumber.
  const auto turned_number = [&](uint64_t number) { return wanted.last ? kNoNumber - 1 - number : number; };
  const auto turned_row = [&](uint32_t row) { return wanted.last ? kNoRow - 1 - row : row; };
  std::vector<std::optional<Firsts>> tables(static_cast<size_t>(threads));
  std::atomic<int64_t> next = 0;
  in_parallel(threads, [&](int64_t thread) {
    const Firsts& mine = tables[static_cast<size_t>(thread)].emplace(engine, groups.bound(), count);
    uint64_t codes[kKeyBlock], numbers[kKeyBlock] = {};
    for (int64_t first; (first = kRowsATask * next.fetch_add(1)) < rows;) {
      check_interrupt(engine);
      for (int64_t begin = first, stop = std::min(rows, first + kRowsATask); begin < stop; begin += kKeyBlock) {
        const int64_t end = std::min(stop, begin + kKeyBlock);
        groups.read(begin, end, codes);
        if (mask)
          for (int64_t i = begin; i < end; ++i)
            if (!mask->as<bool>()[i]) codes[i - begin] = RowKeys::kDropped;
        if (by) by->encode(0, begin, end, numbers);
        for (int64_t i = 0; i < end - begin; ++i)
          if (codes[i] != RowKeys::kDropped) mine.expect(static_cast<int64_t>(codes[i]));
        for (int64_t i = 0; i < end - begin; ++i)
          if (codes[i] != RowKeys::kDropped)
            mine.add(static_cast<int64_t>(codes[i]), turned_number(numbers[i]), turned_row(static_cast<uint32_t>(begin + i)));
      }
    }
  });
  const int64_t parts = std::clamp<int64_t>(groups.bound() / 4096, 1, 64);
  std::vector<std::vector<std::pair<uint64_t, uint32_t>>> found(static_cast<size_t>(parts));
  in_parallel(parts, [&](int64_t part) {
    auto& mine = found[static_cast<size_t>(part)];
    for (int64_t g = groups.bound() * part / parts; g < groups.bound() * (part + 1) / parts; ++g) {
      for (size_t thread = 1; thread < tables.size(); ++thread)
        tables[thread]->each(g, [&](int64_t, uint64_t number, uint32_t row) { tables[0]->add(g, number, row); });
      tables[0]->each(g, [&](int64_t place, uint64_t number, uint32_t row) {
        if (!wanted.only_last_of_them || place == count - 1) mine.emplace_back(turned_number(number), turned_row(row));
      });
    }
  });
  Scratch<uint32_t> result = ordered(engine, found);
  timer.finish(result.size(), counted(wanted.by.size(), "key"));
  return result;
}

}  // namespace gasell::frame
