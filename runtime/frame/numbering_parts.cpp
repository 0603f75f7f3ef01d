#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "runtime/frame/key_table.h"
#include "runtime/frame/numbering.h"
#include "runtime/primitives/distant_rows.h"

namespace gasell::frame {
namespace {

constexpr uint64_t kDropped = RowKeys::kDropped;
/// Rows a part, when rows are divided by their hashes, and the parts.
constexpr int64_t kRowsAPart = 1 << 15, kFewestParts = 16, kMostParts = 4096;

void refuse_more_groups(int64_t count) {
  if (count > INT32_MAX) throw Error("NotImplementedError", "more than 2147483647 groups are not in Gasell", "group parts of the rows");
}

}  // namespace

Numbered number_by_parts(Engine& engine, const KeyRun& run, const Renumber& renumber) {
  const std::vector<Piece> pieces = pieces_of(run.keys);
  const int64_t rows = run.keys.all_rows();
  const int64_t parts =
      std::clamp<int64_t>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows / kRowsAPart + 1))), kFewestParts, kMostParts);
  const int shift = 64 - std::countr_zero(static_cast<uint64_t>(parts));
  const auto chunks = std::min<int64_t>(threads_of(engine), static_cast<int64_t>(pieces.size()));
  const auto over_pieces = [&](int64_t chunk, const auto& f) {
    const auto count = static_cast<int64_t>(pieces.size());
    for (int64_t p = count * chunk / chunks; p < count * (chunk + 1) / chunks; ++p) {
      check_interrupt(engine);
      f(pieces[static_cast<size_t>(p)]);
    }
  };
  const auto over_chunk = [&](int64_t chunk, const auto& f) { over_pieces(chunk, [&](const Piece& piece) { run.blocks(piece, f); }); };
  // Several keys are encoded once where there is memory for their numbers.
  Scratch<uint64_t> encoded;
  if (run.last - run.first > 1 && rows * int64_t{sizeof(uint64_t)} <= random_room(engine)) encoded = Scratch<uint64_t>(engine, rows);
  std::vector<int64_t> places(static_cast<size_t>(chunks * parts));
  in_parallel(chunks, [&](int64_t chunk) {
    int64_t* const counts = &places[static_cast<size_t>(chunk * parts)];
    over_chunk(chunk, [&](const uint64_t* codes, int64_t count, int64_t at) {
      for (int64_t i = 0; i < count; ++i)
        if (codes[i] != kDropped) ++counts[hash_of_key(codes[i]) >> shift];
      if (encoded) std::copy(codes, codes + count, encoded.data() + at);
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
  const std::vector<int64_t> begins = places;  // of each chunk's entries in each part
  // The keys, then in their place: the low half of entry i, row i's number within its part; the high half of a part's entry g, the first
  // row of its group g. There are no more groups than rows so far, so a group's entry has been read when it is written.
  Scratch<uint64_t> entries(engine, kept);
  Scratch<uint32_t> entry_rows(engine, kept);
  in_parallel(chunks, [&](int64_t chunk) {
    int64_t* const place = &places[static_cast<size_t>(chunk * parts)];
    const auto divide = [&](const uint64_t* codes, int64_t count, int64_t at) {
      for (int64_t i = 0; i < count; ++i) {
        if (codes[i] == kDropped) continue;
        const int64_t to = place[hash_of_key(codes[i]) >> shift]++;
        entries[to] = codes[i];
        entry_rows[to] = static_cast<uint32_t>(at + i);
      }
    };
    over_pieces(chunk, [&](const Piece& piece) {
      if (encoded)
        divide(encoded.data() + piece.at, piece.end - piece.begin, piece.at);
      else
        run.blocks(piece, divide);
    });
  });
  encoded = {};
  std::vector<int64_t> bases(static_cast<size_t>(parts + 1));
  std::atomic<int64_t> most_groups = 1024;  // of a part so far: tables begin with room for as many
  in_parallel(parts, [&](int64_t part) {
    check_interrupt(engine);
    thread_local KeyTable table(8);
    const int64_t begin = starts[static_cast<size_t>(part)], end = starts[static_cast<size_t>(part + 1)];
    table.clear(std::min(end - begin, most_groups.load(std::memory_order_relaxed)));
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = entries[i];
      const int64_t known = table.size();
      const int32_t id = table.add(key, hash_of_key(key));
      entries[i] = static_cast<uint32_t>(id);
      if (id == known) entries[begin + id] |= uint64_t{entry_rows[i]} << 32;
    }
    bases[static_cast<size_t>(part)] = table.size();
    if (table.size() > most_groups.load(std::memory_order_relaxed)) most_groups.store(table.size(), std::memory_order_relaxed);
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
  const bool distant = is_distant(engine, *result.ids.storage(), result.ids.data(), rows * int64_t{sizeof(int32_t)});
  if (!distant && !result.all_rows) fill(engine, result.ids, -1);
  in_parallel(parts, [&](int64_t part) {
    check_interrupt(engine);
    const auto base = static_cast<int32_t>(bases[static_cast<size_t>(part)]);
    for (int64_t i = starts[static_cast<size_t>(part)]; i < starts[static_cast<size_t>(part + 1)]; ++i) {
      const int32_t id = base + static_cast<int32_t>(entries[i] & UINT32_MAX);
      const int32_t number = numbers ? numbers[id] : id;
      if (distant)
        entries[i] = static_cast<uint32_t>(number);
      else
        result.ids[entry_rows[i]] = number;
    }
  });
  if (distant) {
    // Row by row, from as many places as there are parts: writing part by part would touch all of the ids for each part.
    places = begins;
    in_parallel(chunks, [&](int64_t chunk) {
      int64_t* const place = &places[static_cast<size_t>(chunk * parts)];
      over_chunk(chunk, [&](const uint64_t* codes, int64_t count, int64_t at) {
        for (int64_t i = 0; i < count; ++i)
          result.ids[at + i] = codes[i] == kDropped ? -1 : static_cast<int32_t>(entries[place[hash_of_key(codes[i]) >> shift]++]);
      });
    });
  }
  result.first_rows = in_final_order(engine, std::move(result.first_rows), numbers);
  return result;
}

}  // namespace gasell::frame
