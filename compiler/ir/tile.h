// Several iterations of two nested loops done together by one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compiler/ir/ir.h"

namespace gasell::ir {

/// What a tile is made of: the iterations [row, row + rows) × [column, column + columns) of a body of lets and stores.
struct TileShape {
  std::string row, column;    // the counters' names in the body
  ExprRef row_at, column_at;  // where the tile begins, in its own code: names
  ExprRef first_row;          // where the next tile of a thread begins: the name of a var
  int64_t rows = 1, columns = 1;
  std::string own = "_tile";  // what the names of the tile's code end with, as no others do
  bool prefetches = false;    // a tile asks memory for what the next one reads
};

struct Tile {
  Body first;  // before the first tile: what it shares with the one that would be above it
  Body body;
  Body next;                           // behind a tile, before the one below it: what both read stays in registers
  int64_t loads = 0, loads_apart = 0;  // of a tile, and of its iterations one by one
  int64_t kept = 0;                    // of what it reads, from the tile above it
  int64_t bytes = 0;                   // of registers for what it reads
  int64_t widest = 1;                  // bytes of an element that it reads or writes
};

/// A tile reads what its iterations share once. Of tiles one below the other, each keeps what the next one reads again:
///
///   i, j: y[i*n + j] = x[(i-1)*n + j] + x[(i+1)*n + j]
///   →  first: var k0 = x[(r-1)*n + c]  var k1 = x[r*n + c]
///      body:  let a = x[(r+1)*n + c]  let b = x[(r+2)*n + c]  y[r*n + c] = k0 + a  y[(r+1)*n + c] = k1 + b
///      next:  k0 = a  k1 = b
///
/// Indices are compared as polynomials of names. All that is read lies in arrays of which `is_fixed` says that nobody writes them
/// meanwhile.
Tile make_tile(const Body& body, const TileShape& shape);
/// The numbers of that tile, without its code; nullopt: the body has other statements, or other indices, and makes no tile.
std::optional<Tile> measure_tile(const Body& body, const TileShape& shape, const std::function<bool(const std::string&)>& is_fixed);
/// One iteration as code for itself, with indices computed as the tile's are.
Body make_point(const Body& body, const TileShape& tile);
/// Iterations [at, at + count) of a loop over `counter`, whose body is one of lets and stores, as code without one: what lies beside each
/// other is named beside each other. `at` is a name. nullopt: as for measure_tile.
std::optional<Body> make_run(const Body& body, const std::string& counter, const ExprRef& at, int64_t count,
                             const std::function<bool(const std::string&)>& is_fixed);

/// What a thread does with its columns.
struct TileRows {
  ExprRef first, last;  // its rows
  ExprRef low, high;    // the rows that tiles may take; low null: from the first
  Body point;           // make_point's, for rows that no tile takes
};
/// Rows first to last from above: tiles as long as they fit, and rows one by one.
Body tiles_down(const Tile& tile, const TileShape& shape, const TileRows& rows);
/// Whether threads that run this go down tiles.
bool has_tiles(const Body& body);

}  // namespace gasell::ir
