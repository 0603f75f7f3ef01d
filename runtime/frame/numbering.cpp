#include "runtime/frame/numbering.h"

#include <atomic>
#include <optional>
#include <utility>

#include "runtime/frame/key_table.h"
#include "runtime/primitives/distant_rows.h"

namespace gasell::frame {
namespace {

constexpr uint64_t kDropped = RowKeys::kDropped;
/// Ranges up to this many numbers a row, and these whatever the rows, are grouped by tables.
constexpr int64_t kDirectARow = 2, kDirectAlways = 1 << 16, kDirectMost = 1 << 28;
/// A thread's table of groups stays in its cache up to this many.
constexpr int64_t kFewGroups = 1 << 15;

void keep_lower(uint32_t& place, uint32_t row) {
  const std::atomic_ref<uint32_t> shared(place);
  uint32_t known = shared.load(std::memory_order_relaxed);
  while (row < known && !shared.compare_exchange_weak(known, row, std::memory_order_relaxed)) {
  }
}

/// By a table a thread; nothing where one of them would outgrow its cache.
std::optional<Numbered> number_by_small_tables(Engine& engine, const KeyRun& run, const Renumber& renumber) {
  const std::vector<Piece> pieces = pieces_of(run.keys);
  const int64_t rows = run.keys.all_rows();
  const auto threads = std::min<int64_t>(threads_of(engine), static_cast<int64_t>(pieces.size()));
  struct Mine {
    KeyTable table{kFewGroups};
    std::vector<uint32_t> first_rows;
  };
  std::vector<std::optional<Mine>> tables(static_cast<size_t>(threads));
  std::vector<int32_t> owner(pieces.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> too_many = false, dropped = false;
  Numbered result;
  result.ids = Scratch<int32_t>(engine, rows);
  in_parallel(threads, [&](int64_t thread) {
    Mine& mine = tables[static_cast<size_t>(thread)].emplace();
    bool any_dropped = false;
    for (size_t number; (number = next.fetch_add(1)) < pieces.size() && !too_many;) {
      check_interrupt(engine);
      owner[number] = static_cast<int32_t>(thread);
      run.blocks(pieces[number], [&](const uint64_t* codes, int64_t count, int64_t at) {
        if (mine.table.size() > kFewGroups - kKeyBlock) {
          too_many = true;
          return;
        }
        for (int64_t i = 0; i < count; ++i) {
          if (codes[i] == kDropped) {
            any_dropped = true;
            result.ids[at + i] = -1;
            continue;
          }
          const int32_t id = mine.table.add(codes[i], hash_of_key(codes[i]));
          if (id == static_cast<int32_t>(mine.first_rows.size())) mine.first_rows.push_back(static_cast<uint32_t>(at + i));
          result.ids[at + i] = id;
        }
      });
    }
    if (any_dropped) dropped = true;
  });
  if (too_many) return {};
  KeyTable all(kFewGroups);
  std::vector<uint32_t> first_rows;
  std::vector<std::vector<int32_t>> to_all(static_cast<size_t>(threads));
  for (size_t thread = 0; thread < tables.size(); ++thread) {
    to_all[thread].resize(tables[thread]->first_rows.size());
    tables[thread]->table.each([&](uint64_t key, int32_t id) {
      const int32_t number = all.add(key, hash_of_key(key));
      const uint32_t row = tables[thread]->first_rows[static_cast<size_t>(id)];
      if (number == static_cast<int32_t>(first_rows.size())) first_rows.push_back(row);
      first_rows[static_cast<size_t>(number)] = std::min(first_rows[static_cast<size_t>(number)], row);
      to_all[thread][static_cast<size_t>(id)] = number;
    });
  }
  result.count = all.size();
  result.all_rows = !dropped;
  result.first_rows = Scratch<int64_t>(engine, result.count);
  std::copy(first_rows.begin(), first_rows.end(), result.first_rows.begin());
  const Scratch<int32_t> numbers = renumber ? renumber(result.first_rows) : Scratch<int32_t>();
  if (numbers)
    for (auto& map : to_all)
      for (int32_t& number : map) number = numbers[number];
  in_parallel(static_cast<int64_t>(pieces.size()), [&](int64_t number) {
    const Piece& piece = pieces[static_cast<size_t>(number)];
    const int32_t* const map = to_all[static_cast<size_t>(owner[static_cast<size_t>(number)])].data();
    int32_t* const ids = result.ids.data() + piece.at;
    for (int64_t i = 0; i < piece.end - piece.begin; ++i) ids[i] = ids[i] < 0 ? -1 : map[ids[i]];
  });
  result.first_rows = in_final_order(engine, std::move(result.first_rows), numbers);
  return result;
}

}  // namespace

std::vector<Piece> pieces_of(const RowKeys& keys) {
  std::vector<Piece> pieces;
  int64_t at = 0;
  for (size_t side = 0; side < keys.sides(); ++side)
    for (int64_t begin = 0; begin < keys.rows(side); begin += kRowsATask) {
      const int64_t end = std::min(keys.rows(side), begin + kRowsATask);
      pieces.push_back({side, begin, end, at});
      at += end - begin;
    }
  return pieces;
}

bool KeyRun::direct() const {
  const Wide bound = keys.bound(first, last);
  return bound <= Wide(std::max(kDirectAlways, kDirectARow * keys.all_rows())) && bound <= Wide{kDirectMost};
}

Scratch<int64_t> in_final_order(Engine& engine, Scratch<int64_t> first_rows, const Scratch<int32_t>& numbers) {
  if (!numbers) return first_rows;
  Scratch<int64_t> result(engine, first_rows.size());
  scatter(engine, result, numbers.data(), numbers.size(), [&](int64_t g) { return first_rows[g]; });
  return result;
}

bool tables_fit(Engine& engine, const KeyRun& run) {
  const auto bound = static_cast<int64_t>(run.keys.bound(run.first, run.last));
  return bound <= kDirectAlways || bound * static_cast<int64_t>(sizeof(uint32_t) + sizeof(int32_t)) <= random_room(engine);
}

Numbered number_directly(Engine& engine, const KeyRun& run, const Renumber& renumber) {
  const auto bound = static_cast<int64_t>(run.keys.bound(run.first, run.last));
  const std::vector<Piece> pieces = pieces_of(run.keys);
  Scratch<uint32_t> first(engine, bound);
  fill(engine, first, UINT32_MAX);
  std::atomic<bool> dropped = false;
  Numbered result;
  result.ids = Scratch<int32_t>(engine, run.keys.all_rows());  // the codes, until the groups have their numbers
  in_parallel(static_cast<int64_t>(pieces.size()), [&](int64_t number) {
    check_interrupt(engine);
    bool any_dropped = false;
    run.blocks(pieces[static_cast<size_t>(number)], [&](const uint64_t* codes, int64_t count, int64_t at) {
      int32_t* const to = result.ids.data() + at;
      for (int64_t i = 0; i < count; ++i) {
        to[i] = static_cast<int32_t>(codes[i]);  // kDropped: -1
        if (codes[i] == kDropped) {
          any_dropped = true;
          continue;
        }
        uint32_t& place = first[static_cast<int64_t>(codes[i])];
        const auto row = static_cast<uint32_t>(at + i);
        if (row < std::atomic_ref<uint32_t>(place).load(std::memory_order_relaxed)) keep_lower(place, row);
      }
    });
    if (any_dropped) dropped = true;
  });
  // Which numbers occur, and how many of them stand before each.
  const int64_t part = 1 << 14, parts = (bound + part - 1) / part;
  std::vector<int64_t> before(static_cast<size_t>(parts + 1));
  over_rows(
      engine, bound,
      [&](int64_t begin, int64_t end) {
        before[static_cast<size_t>(begin / part)] =
            std::count_if(first.data() + begin, first.data() + end, [](uint32_t row) { return row != UINT32_MAX; });
      },
      part);
  int64_t count = 0;
  for (int64_t& b : before) b = std::exchange(count, count + b);
  result.count = count;
  result.all_rows = !dropped;
  result.first_rows = Scratch<int64_t>(engine, count);
  const Scratch<int32_t> table(engine, bound);
  over_rows(
      engine, bound,
      [&](int64_t begin, int64_t end) {
        int64_t group = before[static_cast<size_t>(begin / part)];
        for (int64_t code = begin; code < end; ++code) {
          if (first[code] == UINT32_MAX) continue;
          result.first_rows[group] = first[code];
          table[code] = static_cast<int32_t>(group++);
        }
      },
      part);
  const Scratch<int32_t> numbers = renumber ? renumber(result.first_rows) : Scratch<int32_t>();
  if (numbers)
    over_rows(
        engine, bound,
        [&](int64_t begin, int64_t end) {
          int64_t group = before[static_cast<size_t>(begin / part)];
          for (int64_t code = begin; code < end; ++code)
            if (first[code] != UINT32_MAX) table[code] = numbers[group++];
        },
        part);
  first = {};
  over_rows(engine, result.ids.size(), [&](int64_t begin, int64_t end) {
    int32_t* const ids = result.ids.data();
    if (result.all_rows)
      for (int64_t i = begin; i < end; ++i) ids[i] = table[ids[i]];
    else
      for (int64_t i = begin; i < end; ++i) ids[i] = ids[i] < 0 ? -1 : table[ids[i]];
  });
  result.first_rows = in_final_order(engine, std::move(result.first_rows), numbers);
  return result;
}

Numbered number_by_hash(Engine& engine, const KeyRun& run, const Renumber& renumber) {
  if (std::optional<Numbered> result = number_by_small_tables(engine, run, renumber)) return std::move(*result);
  return number_by_parts(engine, run, renumber);
}

}  // namespace gasell::frame
