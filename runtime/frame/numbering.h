// Numbers of the groups of rows: rows of equal keys get equal ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/frame/keys.h"

namespace gasell::frame {

/// Rows of one side; the number of the first among all sides' rows.
struct Piece {
  size_t side;
  int64_t begin, end, at;
};
std::vector<Piece> pieces_of(const RowKeys& keys);

/// Rows whose keys are encoded at a time: their numbers stay in the first cache.
inline constexpr int64_t kKeyBlock = 1024;

/// Keys [first, last) of all rows, which fit in a number.
struct KeyRun {
  const RowKeys& keys;
  size_t first, last;

  /// Whether the numbers are few enough for a table of them.
  bool direct() const;
  /// f(numbers, count, number of the first row) for blocks of the piece.
  template <class F>
  void blocks(const Piece& piece, const F& f) const {
    uint64_t numbers[kKeyBlock];
    for (int64_t begin = piece.begin; begin < piece.end; begin += kKeyBlock) {
      const int64_t end = std::min(piece.end, begin + kKeyBlock);
      keys.encode(piece.side, begin, end, numbers, first, last);
      f(numbers, end - begin, piece.at + begin - piece.begin);
    }
  }
};

/// What the rows' groups are, before they have their final numbers: their first rows. Gives the final number of each.
using Renumber = std::function<Scratch<int32_t>(const Scratch<int64_t>& first_rows)>;

struct Numbered {
  Scratch<int32_t> ids;
  int64_t count = 0;
  Scratch<int64_t> first_rows;
  bool all_rows = true;
};

/// By a table of all numbers that may occur. The groups are in the order of the numbers, unless they are renumbered.
Numbered number_directly(Engine& engine, const KeyRun& run, const Renumber& renumber);
/// Whether its tables are no more than what is used at random at a time.
bool tables_fit(Engine& engine, const KeyRun& run);
/// By hashing: in a small table a thread where groups are few, else divided into parts by their hashes.
Numbered number_by_hash(Engine& engine, const KeyRun& run, const Renumber& renumber);
/// Divides the rows by their hashes into parts whose tables stay in a cache.
Numbered number_by_parts(Engine& engine, const KeyRun& run, const Renumber& renumber);

/// The first rows in their groups' final order.
Scratch<int64_t> in_final_order(Engine& engine, Scratch<int64_t> first_rows, const Scratch<int32_t>& numbers);

}  // namespace gasell::frame
