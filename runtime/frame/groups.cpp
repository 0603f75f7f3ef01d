#include "runtime/frame/groups.h"

#include <atomic>
#include <bit>
#include <functional>
#include <optional>
#include <utility>

#include "runtime/frame/dictionary.h"
#include "runtime/frame/order.h"
#include "runtime/frame/radix.h"

namespace gasell::frame {
namespace {

constexpr uint64_t kDropped = RowKeys::kDropped;
/// Rows whose numbers are computed at a time: they stay in the first cache.
constexpr int64_t kBlock = 1024;
/// Ranges up to this many numbers a row, and these whatever the rows, are grouped by tables.
constexpr int64_t kDirectARow = 2, kDirectAlways = 1 << 16, kDirectMost = 1 << 28;
/// A thread's table of groups stays in its cache up to this many.
constexpr int64_t kFewGroups = 1 << 15;
/// Rows a part, when rows are divided by their hashes, and the parts.
constexpr int64_t kRowsAPart = 1 << 15, kFewestParts = 16, kMostParts = 4096;

/// Rows of one side; the number of the first among all sides' rows.
struct Piece {
  size_t side;
  int64_t begin, end, at;
};
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

/// Part of the keys of all rows.
struct Run {
  const RowKeys& keys;
  size_t first, last;

  bool direct() const {
    const Wide bound = keys.bound(first, last);
    return bound <= Wide(std::max(kDirectAlways, kDirectARow * keys.all_rows())) && bound <= Wide{kDirectMost};
  }
  /// f(numbers, count, number of the first row) for blocks of the piece.
  template <class F>
  void blocks(const Piece& piece, const F& f) const {
    uint64_t numbers[kBlock];
    for (int64_t begin = piece.begin; begin < piece.end; begin += kBlock) {
      const int64_t end = std::min(piece.end, begin + kBlock);
      keys.encode(piece.side, begin, end, numbers, first, last);
      f(numbers, end - begin, piece.at + begin - piece.begin);
    }
  }
};

uint64_t hash_of(uint64_t key) {
  const auto product = Wide{key ^ 0x9e3779b97f4a7c15U} * 0xd6e8feb86659fd93U;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// Open addressing from keys to numbers 0, 1, 2 …
class Table {
 public:
  /// For up to `most` keys without growing.
  explicit Table(int64_t most) { clear(most); }
  void clear(int64_t most) {
    const size_t slots = std::bit_ceil(static_cast<size_t>(std::max<int64_t>(most, 8)) * 2);
    numbers_.assign(slots, -1);
    keys_.resize(slots);
    shift_ = 64 - std::countr_zero(slots);
    count_ = 0;
  }
  int64_t size() const { return count_; }
  /// The key's number; size() grew where it is new.
  int32_t add(uint64_t key, uint64_t hash) {
    size_t slot = hash << 12 >> shift_;  // the highest bits chose the part
    const size_t mask = numbers_.size() - 1;
    for (; numbers_[slot] >= 0; slot = (slot + 1) & mask)
      if (keys_[slot] == key) return numbers_[slot];
    keys_[slot] = key;
    numbers_[slot] = static_cast<int32_t>(count_);
    if (++count_ * 2 > static_cast<int64_t>(numbers_.size())) grow();
    return static_cast<int32_t>(count_ - 1);
  }
  template <class F>
  void each(const F& f) const {
    for (size_t slot = 0; slot < numbers_.size(); ++slot)
      if (numbers_[slot] >= 0) f(keys_[slot], numbers_[slot]);
  }

 private:
  void grow() {
    std::vector<uint64_t> keys = std::move(keys_);
    std::vector<int32_t> numbers = std::move(numbers_);
    numbers_.assign(numbers.size() * 4, -1);
    keys_.assign(numbers_.size(), 0);
    shift_ -= 2;
    const size_t mask = numbers_.size() - 1;
    for (size_t old = 0; old < numbers.size(); ++old) {
      if (numbers[old] < 0) continue;
      size_t slot = hash_of(keys[old]) << 12 >> shift_;
      while (numbers_[slot] >= 0) slot = (slot + 1) & mask;
      keys_[slot] = keys[old];
      numbers_[slot] = numbers[old];
    }
  }
  std::vector<uint64_t> keys_;
  std::vector<int32_t> numbers_;
  int shift_ = 0;
  int64_t count_ = 0;
};

void refuse_more_groups(int64_t count) {
  if (count > INT32_MAX) throw Error("NotImplementedError", "more than 2147483647 groups are not in Gasell", "group parts of the rows");
}

/// What the rows' groups are, before they have their final numbers: their first rows. Gives the final number of each.
using Renumber = std::function<Scratch<int32_t>(const Scratch<int64_t>& first_rows)>;

struct Numbered {
  Scratch<int32_t> ids;
  int64_t count = 0;
  Scratch<int64_t> first_rows;
  bool all_rows = true;
};

/// The first rows in their groups' final order.
Scratch<int64_t> permuted(Engine& engine, Scratch<int64_t> first_rows, const Scratch<int32_t>& numbers) {
  if (!numbers) return first_rows;
  Scratch<int64_t> result(engine, first_rows.size());
  over_rows(engine, result.size(), [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) result[numbers[g]] = first_rows[g];
  });
  return result;
}

void keep_lower(uint32_t& place, uint32_t row) {
  const std::atomic_ref<uint32_t> shared(place);
  uint32_t known = shared.load(std::memory_order_relaxed);
  while (row < known && !shared.compare_exchange_weak(known, row, std::memory_order_relaxed)) {
  }
}

/// By a table of all numbers that may occur. The groups are in the order of the numbers, unless they are renumbered.
Numbered number_directly(Engine& engine, const Run& run, const Renumber& renumber) {
  const auto bound = static_cast<int64_t>(run.keys.bound(run.first, run.last));
  const std::vector<Piece> pieces = pieces_of(run.keys);
  Scratch<uint32_t> first(engine, bound);
  fill(engine, first, UINT32_MAX);
  std::atomic<bool> dropped = false;
  in_parallel(static_cast<int64_t>(pieces.size()), [&](int64_t number) {
    check_interrupt(engine);
    bool any_dropped = false;
    run.blocks(pieces[static_cast<size_t>(number)], [&](const uint64_t* codes, int64_t count, int64_t at) {
      for (int64_t i = 0; i < count; ++i) {
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
  Numbered result;
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
  result.ids = Scratch<int32_t>(engine, run.keys.all_rows());
  in_parallel(static_cast<int64_t>(pieces.size()), [&](int64_t number) {
    check_interrupt(engine);
    run.blocks(pieces[static_cast<size_t>(number)], [&](const uint64_t* codes, int64_t n, int64_t at) {
      int32_t* const to = result.ids.data() + at;
      if (result.all_rows)
        for (int64_t i = 0; i < n; ++i) to[i] = table[static_cast<int64_t>(codes[i])];
      else
        for (int64_t i = 0; i < n; ++i) to[i] = codes[i] == kDropped ? -1 : table[static_cast<int64_t>(codes[i])];
    });
  });
  result.first_rows = permuted(engine, std::move(result.first_rows), numbers);
  return result;
}

/// By a table a thread; nothing where one of them would outgrow its cache.
std::optional<Numbered> number_by_small_tables(Engine& engine, const Run& run, const Renumber& renumber) {
  const std::vector<Piece> pieces = pieces_of(run.keys);
  const int64_t rows = run.keys.all_rows();
  const auto threads = std::min<int64_t>(threads_of(engine), static_cast<int64_t>(pieces.size()));
  struct Mine {
    Table table{kFewGroups};
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
        if (mine.table.size() > kFewGroups - kBlock) {
          too_many = true;
          return;
        }
        for (int64_t i = 0; i < count; ++i) {
          if (codes[i] == kDropped) {
            any_dropped = true;
            result.ids[at + i] = -1;
            continue;
          }
          const int32_t id = mine.table.add(codes[i], hash_of(codes[i]));
          if (id == static_cast<int32_t>(mine.first_rows.size())) mine.first_rows.push_back(static_cast<uint32_t>(at + i));
          result.ids[at + i] = id;
        }
      });
    }
    if (any_dropped) dropped = true;
  });
  if (too_many) return {};
  Table all(kFewGroups);
  std::vector<uint32_t> first_rows;
  std::vector<std::vector<int32_t>> to_all(static_cast<size_t>(threads));
  for (size_t thread = 0; thread < tables.size(); ++thread) {
    to_all[thread].resize(tables[thread]->first_rows.size());
    tables[thread]->table.each([&](uint64_t key, int32_t id) {
      const int32_t number = all.add(key, hash_of(key));
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
  result.first_rows = permuted(engine, std::move(result.first_rows), numbers);
  return result;
}

/// Divides the rows by their hashes into parts whose tables stay in a cache.
Numbered number_by_parts(Engine& engine, const Run& run, const Renumber& renumber) {
  const std::vector<Piece> pieces = pieces_of(run.keys);
  const int64_t rows = run.keys.all_rows();
  const int64_t parts =
      std::clamp<int64_t>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows / kRowsAPart + 1))), kFewestParts, kMostParts);
  const int shift = 64 - std::countr_zero(static_cast<uint64_t>(parts));
  const auto chunks = std::min<int64_t>(threads_of(engine), static_cast<int64_t>(pieces.size()));
  const auto over_chunk = [&](int64_t chunk, const auto& f) {
    const auto count = static_cast<int64_t>(pieces.size());
    for (int64_t p = count * chunk / chunks; p < count * (chunk + 1) / chunks; ++p) {
      check_interrupt(engine);
      run.blocks(pieces[static_cast<size_t>(p)], f);
    }
  };
  std::vector<int64_t> places(static_cast<size_t>(chunks * parts));
  in_parallel(chunks, [&](int64_t chunk) {
    int64_t* const counts = &places[static_cast<size_t>(chunk * parts)];
    over_chunk(chunk, [&](const uint64_t* codes, int64_t count, int64_t) {
      for (int64_t i = 0; i < count; ++i)
        if (codes[i] != kDropped) ++counts[hash_of(codes[i]) >> shift];
    });
  });
  std::vector<int64_t> starts(static_cast<size_t>(parts + 1));
  int64_t kept = 0;
  for (int64_t part = 0; part < parts; ++part) {
    starts[static_cast<size_t>(part)] = kept;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      int64_t& place = places[static_cast<size_t>(chunk * parts + part)];
      place = std::exchange(kept, kept + place);
    }
  }
  starts.back() = kept;
  // The keys, then in their place: the low half of entry i, row i's number within its part; the high half of a part's entry g, the first
  // row of its group g. There are no more groups than rows so far, so a group's entry has been read when it is written.
  Scratch<uint64_t> entries(engine, kept);
  Scratch<uint32_t> entry_rows(engine, kept);
  in_parallel(chunks, [&](int64_t chunk) {
    int64_t* const place = &places[static_cast<size_t>(chunk * parts)];
    over_chunk(chunk, [&](const uint64_t* codes, int64_t count, int64_t at) {
      for (int64_t i = 0; i < count; ++i) {
        if (codes[i] == kDropped) continue;
        const int64_t to = place[hash_of(codes[i]) >> shift]++;
        entries[to] = codes[i];
        entry_rows[to] = static_cast<uint32_t>(at + i);
      }
    });
  });
  std::vector<int64_t> bases(static_cast<size_t>(parts + 1));
  in_parallel(parts, [&](int64_t part) {
    check_interrupt(engine);
    thread_local Table table(8);
    const int64_t begin = starts[static_cast<size_t>(part)], end = starts[static_cast<size_t>(part + 1)];
    table.clear(std::min<int64_t>(end - begin, 1024));
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = entries[i];
      const int64_t known = table.size();
      const int32_t id = table.add(key, hash_of(key));
      entries[i] = static_cast<uint32_t>(id);
      if (id == known) entries[begin + id] |= uint64_t{entry_rows[i]} << 32;
    }
    bases[static_cast<size_t>(part)] = table.size();
  });
  Numbered result;
  for (int64_t& base : bases) base = std::exchange(result.count, result.count + base);
  refuse_more_groups(result.count);
  result.all_rows = kept == rows;
  result.first_rows = Scratch<int64_t>(engine, result.count);
  in_parallel(parts, [&](int64_t part) {
    const int64_t begin = starts[static_cast<size_t>(part)], base = bases[static_cast<size_t>(part)];
    for (int64_t g = base; g < bases[static_cast<size_t>(part + 1)]; ++g)
      result.first_rows[g] = static_cast<int64_t>(entries[begin + g - base] >> 32);
  });
  const Scratch<int32_t> numbers = renumber ? renumber(result.first_rows) : Scratch<int32_t>();
  result.ids = Scratch<int32_t>(engine, rows);
  if (!result.all_rows) fill(engine, result.ids, -1);
  in_parallel(parts, [&](int64_t part) {
    check_interrupt(engine);
    const auto base = static_cast<int32_t>(bases[static_cast<size_t>(part)]);
    for (int64_t i = starts[static_cast<size_t>(part)]; i < starts[static_cast<size_t>(part + 1)]; ++i) {
      const int32_t id = base + static_cast<int32_t>(entries[i] & UINT32_MAX);
      result.ids[entry_rows[i]] = numbers ? numbers[id] : id;
    }
  });
  result.first_rows = permuted(engine, std::move(result.first_rows), numbers);
  return result;
}

Numbered number_by_hash(Engine& engine, const Run& run, const Renumber& renumber) {
  if (std::optional<Numbered> result = number_by_small_tables(engine, run, renumber)) return std::move(*result);
  return number_by_parts(engine, run, renumber);
}

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
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) numbers[order[i]] = static_cast<int32_t>(i);
  });
  return numbers;
}

}  // namespace

Groups::Groups(Scratch<int32_t> ids, Scratch<int64_t> first_rows, int64_t count, bool all_rows)
    : ids_(std::move(ids)), first_rows_(std::move(first_rows)), count_(count), all_rows_(all_rows) {}

const Groups::Listing& Groups::listing(Engine& engine) const {
  std::call_once(listed_, [&] {
    const int64_t n = rows(), groups = count_;
    Listing listing{Scratch<int64_t>(engine, groups + 1), {}};
    int64_t* const starts = listing.starts.data();
    const int32_t* const id = ids();
    // Each thread lists the rows of some groups: reading all numbers is much cheaper than writing out of order.
    const int64_t ranges = n < kRowsATask ? 1 : std::min<int64_t>(threads_of(engine), std::max<int64_t>(1, groups));
    const auto range_begin = [&](int64_t range) { return groups * range / ranges; };
    const auto rows_of_range = [&](int64_t range, const auto& f) {
      const auto low = static_cast<int32_t>(range_begin(range));
      const auto width = static_cast<uint32_t>(range_begin(range + 1) - range_begin(range));
      uint32_t found[kBlock];
      for (int64_t begin = 0; begin < n; begin += kBlock) {
        if ((begin & 0xfffff) == 0) check_interrupt(engine);
        const int64_t end = std::min(n, begin + kBlock);
        int64_t count = 0;
        for (int64_t i = begin; i < end; ++i) {
          found[count] = static_cast<uint32_t>(i);
          count += static_cast<uint32_t>(id[i] - low) < width;
        }
        for (int64_t k = 0; k < count; ++k) f(found[k]);
      }
    };
    std::fill(starts, starts + groups + 1, 0);
    in_parallel(ranges, [&](int64_t range) { rows_of_range(range, [&](uint32_t row) { ++starts[id[row] + 1]; }); });
    for (int64_t g = 0; g < groups; ++g) starts[g + 1] += starts[g];
    listing.rows = Scratch<uint32_t>(engine, starts[groups]);
    const Scratch<int64_t> place(engine, groups);
    std::copy(starts, starts + groups, place.data());
    in_parallel(ranges, [&](int64_t range) { rows_of_range(range, [&](uint32_t row) { listing.rows[place[id[row]]++] = row; }); });
    listing_ = std::move(listing);
  });
  return listing_;
}

GroupsRef group_rows(Engine& engine, const std::vector<Column>& columns, GroupOrder order, MissingKeys missing) {
  std::vector<Column> distinct;
  for (const Column& c : columns) distinct.push_back(c.type.logical == Logical::text ? with_distinct_texts(engine, c) : c);
  RowKeys keys(engine, {distinct}, missing, false);
  const bool ordered = keys.ordered();
  fold(engine, keys);
  const Run run{keys, 0, keys.size()};
  const bool direct = run.direct();
  Renumber renumber;
  if (order == GroupOrder::appearance || (order == GroupOrder::any && !direct))
    renumber = [&](const Scratch<int64_t>& first_rows) { return by_appearance(engine, first_rows, keys.all_rows()); };
  else if (order == GroupOrder::sorted && !(direct && ordered && keys.ordered()))
    renumber = [&](const Scratch<int64_t>& first_rows) { return by_keys(engine, distinct, first_rows); };
  Numbered result = direct ? number_directly(engine, run, renumber) : number_by_hash(engine, run, renumber);
  return std::make_shared<Groups>(std::move(result.ids), std::move(result.first_rows), result.count, result.all_rows);
}

RowCodes number_rows(Engine& engine, RowKeys keys) {
  fold(engine, keys);
  const Run run{keys, 0, keys.size()};
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
