#include "runtime/frame/number_texts.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace gasell::frame {
namespace {

/// Different texts that a thread's table takes.
constexpr int64_t kFewTexts = 1 << 18;
/// Texts a part, when they are divided by their hashes, and the parts.
constexpr int64_t kTextsAPart = 1 << 13, kFewestParts = 16, kMostParts = 4096;

/// Texts of one dictionary; the number of the first among all.
struct Piece {
  const Dictionary* texts;
  int64_t begin, end, at;
};

std::vector<Piece> pieces_of(const std::vector<const Dictionary*>& dictionaries) {
  std::vector<Piece> pieces;
  int64_t at = 0;
  for (const Dictionary* d : dictionaries)
    for (int64_t begin = 0; begin < d->size(); begin += kRowsATask) {
      const int64_t end = std::min(d->size(), begin + kRowsATask);
      pieces.push_back({d, begin, end, at});
      at += end - begin;
    }
  return pieces;
}

/// By a table for each thread's part of the texts; nothing where one of them would outgrow its cache.
std::optional<NumberedTexts> number_by_small_tables(Engine& engine, const std::vector<Piece>& pieces, int64_t total, bool one) {
  const auto count = static_cast<int64_t>(pieces.size()), chunks = std::min<int64_t>(threads_of(engine), count);
  NumberedTexts result{nullptr, Scratch<int32_t>(engine, total)};
  std::vector<DistinctTexts> tables(static_cast<size_t>(chunks));
  std::atomic<bool> too_many = false;
  in_parallel(chunks, [&](int64_t chunk) {
    DistinctTexts& table = tables[static_cast<size_t>(chunk)];
    for (int64_t p = count * chunk / chunks; p < count * (chunk + 1) / chunks && !too_many; ++p) {
      check_interrupt(engine);
      const Piece& piece = pieces[static_cast<size_t>(p)];
      for (int64_t i = piece.begin; i < piece.end; ++i) result.numbers[piece.at + i - piece.begin] = table.add((*piece.texts)[i]);
      if (table.size() > kFewTexts) too_many = true;
    }
  });
  if (too_many) return {};
  DistinctTexts all;
  std::vector<std::vector<int32_t>> to_all(static_cast<size_t>(chunks));
  for (size_t chunk = 0; chunk < tables.size(); ++chunk)
    for (int64_t i = 0; i < tables[chunk].size(); ++i) to_all[chunk].push_back(all.add(tables[chunk][i]));
  if (one && all.size() == total) return NumberedTexts{};
  in_parallel(chunks, [&](int64_t chunk) {
    if (chunk == 0) return;  // the first one's numbers are those of all
    const int64_t begin = pieces[static_cast<size_t>(count * chunk / chunks)].at;
    const Piece& last = pieces[static_cast<size_t>(count * (chunk + 1) / chunks - 1)];
    for (int64_t i = begin; i < last.at + last.end - last.begin; ++i)
      result.numbers[i] = to_all[static_cast<size_t>(chunk)][static_cast<size_t>(result.numbers[i])];
  });
  result.texts = all.finish();
  return result;
}

/// A text among those of its part, which stand in the order of all texts.
struct Entry {
  uint32_t tag;   // of its hash; then the first text that it equals
  uint32_t text;  // among all
  int64_t begin;  // of its bytes among all parts' bytes, where the text before it in its part ends
};

/// Divides the texts by their hashes into parts, each of which is matched by a table that stays in a cache.
class TextNumbering {
 public:
  TextNumbering(Engine& engine, std::vector<Piece> pieces, int64_t total, bool one)
      : engine_(engine), one_(one), pieces_(std::move(pieces)), total_(total) {
    if (total_ > int64_t{UINT32_MAX})
      throw Error("NotImplementedError", "more than 4294967295 texts cannot be compared with each other", "work on parts of the rows");
    const auto wanted = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(total_ / kTextsAPart + 1)));
    parts_ = std::clamp(wanted, kFewestParts, kMostParts);
    chunks_ = std::min<int64_t>(threads_of(engine), static_cast<int64_t>(pieces_.size()));
  }

  NumberedTexts run() {
    divide();
    first_ = Scratch<uint64_t>(engine_, total_ / 64 + 1);
    fill(engine_, first_, uint64_t{0});
    in_parallel(parts_, [&](int64_t part) {
      check_interrupt(engine_);
      match(part);
    });
    bytes_ = {};
    before_ = Scratch<uint32_t>(engine_, first_.size());
    int64_t count = 0;
    for (int64_t w = 0; w < first_.size(); ++w) before_[w] = static_cast<uint32_t>(std::exchange(count, count + std::popcount(first_[w])));
    if (one_ && count == total_) return {};
    return {different_texts(count), numbers()};
  }

 private:
  /// f(text, its number among all) for those that one thread takes.
  template <class F>
  void over_chunk(int64_t chunk, const F& f) const {
    const auto count = static_cast<int64_t>(pieces_.size());
    for (int64_t p = count * chunk / chunks_; p < count * (chunk + 1) / chunks_; ++p) {
      check_interrupt(engine_);
      const Piece& piece = pieces_[static_cast<size_t>(p)];
      for (int64_t i = piece.begin; i < piece.end; ++i) f((*piece.texts)[i], piece.at + i - piece.begin);
    }
  }

  void divide() {
    const int shift = 64 - std::countr_zero(static_cast<uint64_t>(parts_));
    part_of_ = Scratch<uint16_t>(engine_, total_);
    places_.assign(static_cast<size_t>(chunks_ * parts_), 0);
    std::vector<int64_t> byte_places(places_.size(), 0);
    in_parallel(chunks_, [&](int64_t chunk) {
      int64_t* const counts = &places_[static_cast<size_t>(chunk * parts_)];
      int64_t* const bytes = &byte_places[static_cast<size_t>(chunk * parts_)];
      over_chunk(chunk, [&](std::string_view text, int64_t number) {
        const uint64_t part = XXH3_64bits(text.data(), text.size()) >> shift;
        part_of_[number] = static_cast<uint16_t>(part);
        ++counts[part];
        bytes[part] += static_cast<int64_t>(text.size());
      });
    });
    int64_t texts = 0, bytes = 0;
    for (int64_t part = 0; part < parts_; ++part) {
      starts_.push_back(texts);
      byte_starts_.push_back(bytes);
      for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
        const auto k = static_cast<size_t>(chunk * parts_ + part);
        places_[k] = std::exchange(texts, texts + places_[k]);
        byte_places[k] = std::exchange(bytes, bytes + byte_places[k]);
      }
    }
    starts_.push_back(texts);
    byte_starts_.push_back(bytes);
    entries_ = Scratch<Entry>(engine_, total_);
    bytes_ = Scratch<char>(engine_, bytes);
    in_parallel(chunks_, [&](int64_t chunk) {
      std::vector<int64_t> place(places_.begin() + chunk * parts_, places_.begin() + (chunk + 1) * parts_);
      int64_t* const byte_place = &byte_places[static_cast<size_t>(chunk * parts_)];
      over_chunk(chunk, [&](std::string_view text, int64_t number) {
        const auto part = static_cast<size_t>(part_of_[number]);
        const int64_t begin = std::exchange(byte_place[part], byte_place[part] + static_cast<int64_t>(text.size()));
        entries_[place[part]++] = {static_cast<uint32_t>(XXH3_64bits(text.data(), text.size())), static_cast<uint32_t>(number), begin};
        if (!text.empty()) std::memcpy(bytes_.data() + begin, text.data(), text.size());
      });
    });
  }

  /// Finds the first text that each one of a part equals, and notes which ones are the first.
  void match(int64_t part) {
    struct Slot {
      uint32_t tag = 0;
      uint32_t entry = 0;  // from 1; 0: free
    };
    thread_local std::vector<Slot> slots;
    slots.assign(256, {});
    const int64_t begin = starts_[static_cast<size_t>(part)], end = starts_[static_cast<size_t>(part + 1)];
    const auto text_at = [&](int64_t i) {
      const int64_t stop = i + 1 < end ? entries_[i + 1].begin : byte_starts_[static_cast<size_t>(part + 1)];
      return std::string_view(bytes_.data() + entries_[i].begin, static_cast<size_t>(stop - entries_[i].begin));
    };
    size_t different = 0;
    for (int64_t i = begin; i < end; ++i) {
      Entry& entry = entries_[i];
      const std::string_view text = text_at(i);
      size_t slot = entry.tag & (slots.size() - 1);
      while (slots[slot].entry && (slots[slot].tag != entry.tag || text_at(begin + slots[slot].entry - 1) != text))
        slot = (slot + 1) & (slots.size() - 1);
      if (slots[slot].entry) {
        entry.tag = entries_[begin + slots[slot].entry - 1].text;
        continue;
      }
      slots[slot] = {entry.tag, static_cast<uint32_t>(i - begin + 1)};
      entry.tag = entry.text;
      std::atomic_ref<uint64_t>(first_[entry.text >> 6]).fetch_or(uint64_t{1} << (entry.text & 63), std::memory_order_relaxed);
      if (++different * 2 <= slots.size()) continue;
      const std::vector<Slot> old = std::exchange(slots, std::vector<Slot>(slots.size() * 4));
      for (const Slot& s : old) {
        if (!s.entry) continue;
        size_t to = s.tag & (slots.size() - 1);
        while (slots[to].entry) to = (to + 1) & (slots.size() - 1);
        slots[to] = s;
      }
    }
  }

  bool is_first(int64_t text) const { return first_[text >> 6] >> (text & 63) & 1; }
  /// How many texts before this one are the first of theirs.
  int64_t rank(int64_t text) const {
    return int64_t{before_[text >> 6]} + std::popcount(first_[text >> 6] & ((uint64_t{1} << (text & 63)) - 1));
  }

  DictionaryRef different_texts(int64_t count) const {
    const auto over_first = [&](int64_t task, const auto& f) {
      const Piece& piece = pieces_[static_cast<size_t>(task)];
      for (int64_t i = piece.begin; i < piece.end; ++i)
        if (is_first(piece.at + i - piece.begin)) f((*piece.texts)[i]);
    };
    std::vector<int64_t> begins(pieces_.size());
    const auto tasks = static_cast<int64_t>(pieces_.size());
    in_parallel(tasks, [&](int64_t task) {
      check_interrupt(engine_);
      int64_t bytes = 0;
      over_first(task, [&](std::string_view text) { bytes += static_cast<int64_t>(text.size()); });
      begins[static_cast<size_t>(task)] = bytes;
    });
    int64_t all = 0;
    for (int64_t& b : begins) b = std::exchange(all, all + b);
    const Scratch<int64_t> offsets(engine_, count + 1);
    const Scratch<char> bytes(engine_, all);
    offsets[count] = all;
    in_parallel(tasks, [&](int64_t task) {
      check_interrupt(engine_);
      int64_t number = rank(pieces_[static_cast<size_t>(task)].at), at = begins[static_cast<size_t>(task)];
      over_first(task, [&](std::string_view text) {
        offsets[number++] = at;
        if (!text.empty()) std::memcpy(bytes.data() + at, text.data(), text.size());
        at += static_cast<int64_t>(text.size());
      });
    });
    return std::make_shared<Dictionary>(offsets.storage(), bytes.storage(), count, true);
  }

  Scratch<int32_t> numbers() {
    Scratch<int32_t> result(engine_, total_);
    in_parallel(chunks_, [&](int64_t chunk) {
      int64_t* const place = &places_[static_cast<size_t>(chunk * parts_)];
      const auto count = static_cast<int64_t>(pieces_.size());
      for (int64_t p = count * chunk / chunks_; p < count * (chunk + 1) / chunks_; ++p) {
        check_interrupt(engine_);
        const Piece& piece = pieces_[static_cast<size_t>(p)];
        for (int64_t i = piece.at; i < piece.at + piece.end - piece.begin; ++i)
          result[i] = static_cast<int32_t>(rank(entries_[place[part_of_[i]]++].tag));
      }
    });
    return result;
  }

  Engine& engine_;
  const bool one_;
  const std::vector<Piece> pieces_;
  const int64_t total_;
  int64_t parts_ = 0, chunks_ = 0;             // chunks: pieces that a thread takes
  Scratch<uint16_t> part_of_;                  // each text's
  std::vector<int64_t> starts_, byte_starts_;  // of the parts, and the end
  std::vector<int64_t> places_;                // where each chunk's entries begin in each part
  Scratch<Entry> entries_;
  Scratch<char> bytes_;
  Scratch<uint64_t> first_;   // a bit a text: no text before equals it
  Scratch<uint32_t> before_;  // bits before each word
};

}  // namespace

NumberedTexts number_texts(Engine& engine, const std::vector<const Dictionary*>& dictionaries) {
  std::vector<Piece> pieces = pieces_of(dictionaries);
  const int64_t total = pieces.empty() ? 0 : pieces.back().at + pieces.back().end - pieces.back().begin;
  const bool one = dictionaries.size() == 1;
  if (std::optional<NumberedTexts> few = number_by_small_tables(engine, pieces, total, one)) return std::move(*few);
  return TextNumbering(engine, std::move(pieces), total, one).run();
}

}  // namespace gasell::frame
