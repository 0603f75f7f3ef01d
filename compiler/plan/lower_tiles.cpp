// Expressions that read neighbours, for devices whose threads are many: a thread goes down some columns in tiles of a few rows, and keeps
// what the next tile reads again in registers. What several elements of a tile read is read once, and the loads of a tile are under way
// together.
#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>

#include "compiler/ir/tile.h"
#include "compiler/plan/extents.h"
#include "compiler/plan/lower.h"

namespace gasell::plan {
namespace {

using ir::Body;
using ir::constant_i64;
using ir::ExprRef;

constexpr int64_t kThreads = 256;            // of a unit
constexpr int64_t kRows = 8;                 // of a tile; at most half of it where it has several columns
constexpr int64_t kElements = 16;            // of a tile of several columns: two rows of bytes, four of 16 bits
constexpr int64_t kMostRegisterBytes = 256;  // for what a tile reads
constexpr int64_t kMostOperations = 512;     // of a tile's code; twice as many where it has several columns, which share more
constexpr int64_t kEnoughThreads = 1 << 19;
/// How far a thread goes down. Measured on an H200: 3x3 means gain up to 16 rows; where there are more axes, blocks that go on for long
/// drift apart, and what they share leaves the caches.
constexpr int64_t kMostRows = 16, kMostRowsOfPlanes = 32;
/// Elements so narrow that a tile has little under way: asking for the next rows takes a tenth off a mean of bytes on an H200. Of wide ones
/// it only costs: a tenth of a heat step.
constexpr int64_t kPrefetchedBytes = 2;

ExprRef both(ExprRef a, ExprRef b) { return ir::op(ScalarOp::logical_and, {std::move(a), std::move(b)}); }
ExprRef less(ExprRef a, ExprRef b) { return ir::op(ScalarOp::lt, {std::move(a), std::move(b)}); }
ExprRef at_most(ExprRef a, ExprRef b) { return ir::op(ScalarOp::le, {std::move(a), std::move(b)}); }

int64_t divided(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How many elements of a row a thread takes: narrow ones cost as much to load as wide ones, so that it should load each once. Twice as
/// many where it stores whole words; bytes one by one, threads would store too far from each other.
int64_t columns_a_thread(const Pulled& pulled, const std::vector<Access>& results) {
  constexpr int64_t kWord = 4;
  int64_t width = 1;
  bool along = true, words = true;
  for (const Access& a : results) {
    const int64_t size = gasell::size_of(a.dtype);
    words = words && a.offset * size % kWord == 0;
    for (size_t k = 0; k + 1 < a.coefficients.size(); ++k) words = words && a.coefficients[k] * size % kWord == 0;
  }
  for (const std::vector<Access>* accesses : {&pulled.accesses, &results})
    for (const Access& a : *accesses) {
      width = std::max<int64_t>(width, gasell::size_of(a.dtype));
      along = along && a.coefficients.back() == 1;
    }
  return along && width <= 2 ? (words ? 2 : 1) * kWord / width : 1;
}

class Tiles {
 public:
  Tiles(const Pulled& pulled, const std::vector<Output>& outputs, const std::vector<Access>& results, const Border* border)
      : pulled_(pulled), results_(results), border_(border), rank_(pulled.space.size()), expression_(builder_, pulled, true) {
    for (size_t k = 0; k < outputs.size(); ++k)
      out_names_.push_back(builder_.output(outputs[k].storage, results[k].dtype, results[k].offset));
    out_positions_.emplace(builder_, pulled.space, results);
    for (size_t k = 0; k + 1 < rank_; ++k) outer_.push_back(ir::variable(builder_.fresh("x"), DType::i64));
    column_ = ir::variable(builder_.fresh("c"), DType::i64);
  }

  std::optional<Step> step(const Grain& grain) {
    make_point();
    if (!choose_tile()) return std::nullopt;
    return make_step(grain);
  }

 private:
  /// The numbers are those of units and what they are made of, and so are below 2^31.
  Parts divide(Body& body, const ExprRef& number, int64_t divisor) { return Divisor(builder_, divisor, 0).divide(body, number); }

  ExprRef place(size_t k, Body& body) {
    const ExprRef base = define(builder_, body, "to", out_positions_->base(static_cast<int>(k), outer_));
    return base + column_ * out_positions_->inner_stride(static_cast<int>(k));
  }

  /// One element at outer_ and column_.
  void make_point() {
    expression_.begin_row(point_, outer_);
    expression_.begin_strip(point_, constant_i64(0), constant_i64(1));
    const std::vector<ExprRef> values = expression_.at(point_, column_);
    std::vector<ExprRef> places;
    for (size_t k = 0; k < out_names_.size(); ++k) places.push_back(place(k, point_));
    for (size_t k = 0; k < out_names_.size(); ++k) point_.push_back(ir::store(out_names_[k], places[k], values[k]));
  }

  /// The axis along which most is read again, and how many rows a tile has.
  bool choose_tile() {
    const int64_t columns = columns_a_thread(pulled_, results_);
    const auto operations = static_cast<int64_t>(pulled_.values.size());
    const auto name = [&](const char* stem) { return ir::variable(builder_.fresh(stem), DType::i64); };
    const ExprRef row = name("row"), first = name("first"), next = name("next");
    for (int64_t rows = columns > 1 ? std::min(kRows / 2, kElements / columns) : kRows; rows > 0 && !tile_; rows /= 2) {
      if (operations * rows * columns > (columns > 1 ? 2 : 1) * kMostOperations) continue;
      for (size_t axis = 0; axis + 1 < rank_; ++axis) {
        if (pulled_.space[axis] < 2 * rows) continue;
        const ir::TileShape shape{outer_[axis]->name, column_->name, row, first, next, rows, columns};
        std::optional<ir::Tile> tile = ir::measure_tile(point_, shape, [](const std::string&) { return true; });
        if (!tile || tile->kept == 0 || tile->bytes > kMostRegisterBytes || (tile_ && tile->loads >= tile_->loads)) continue;
        tile_ = std::move(tile);
        shape_ = shape;
        axis_ = axis;
      }
    }
    if (!tile_) return false;
    shape_.prefetches = tile_->widest <= kPrefetchedBytes;
    tile_ = ir::make_tile(point_, shape_);
    if (shape_.columns > 1) {
      narrow_shape_ = shape_;
      narrow_shape_.columns = 1;
      narrow_tile_ = ir::make_tile(point_, narrow_shape_);
    }
    return true;
  }

  ExprRef within(const ExprRef& at, size_t axis) const { return both(at_most(begins_[axis], at), less(at, ends_[axis])); }

  void store_border(Body& body) {
    const ExprRef to = place(0, body);
    body.push_back(ir::store(out_names_[0], to, builder_.scalar("border", border_->value)));
  }

  /// Rows [first, last) of the columns of a tile. One of several columns has none of the border.
  Body rows(const ir::Tile& tile, const ir::TileShape& shape, const ExprRef& first, const ExprRef& last) {
    ir::TileRows rows{first, last, nullptr, last, ir::make_point(point_, shape)};
    if (!border_) return ir::tiles_down(tile, shape, rows);
    Body inside, border_row;
    store_border(border_row);
    rows.low = begins_[axis_];
    rows.high = define(builder_, inside, "high", minimum(last, ends_[axis_]));
    rows.point = {ir::if_(within(outer_[axis_], axis_), std::move(rows.point), std::move(border_row))};
    const Body down = ir::tiles_down(tile, shape, rows);
    inside.insert(inside.end(), down.begin(), down.end());
    ExprRef whole = others_inside_;
    if (shape.columns == 1) whole = both(whole, within(shape.column_at, rank_ - 1));
    if (whole->kind == ir::ExprKind::constant) return inside;
    // A column of the border: other threads of the warp wait for its rows.
    Body outside, row;
    const ExprRef wide = constant_i64(shape.columns);
    store_border(row);
    outside.push_back(ir::loop(shape.row, first, last, ir::LoopKind::serial,
                               {ir::loop(shape.column, shape.column_at, shape.column_at + wide, ir::LoopKind::serial, std::move(row))}));
    return {ir::if_(whole, std::move(inside), std::move(outside))};
  }

  /// What a thread takes of the columns. Where a tile has several, they begin at a multiple of their number, so that what lies there begins
  /// at a word; each column left of the first tile and right of the last is another thread's.
  struct Columns {
    int64_t tiles, before, threads;
  };
  Columns columns_of_threads() const {
    const int64_t n = pulled_.space.back(), wide = shape_.columns;
    if (wide == 1) return {n, 0, n};
    const int64_t begin = border_ ? border_->begin.back() : 0, end = border_ ? border_->end.back() : n;
    const int64_t before = std::min(divided(begin, wide) * wide, end), tiles = (end - before) / wide;
    return {tiles, before, n - tiles * (wide - 1)};
  }
  /// The rows of a thread whose number along the columns is `at`.
  Body of_columns(const Columns& columns, const ExprRef& at, const ExprRef& first, const ExprRef& last) {
    if (shape_.columns == 1) {
      Body body{ir::let(shape_.column_at->name, at)};
      const Body down = rows(*tile_, shape_, first, last);
      body.insert(body.end(), down.begin(), down.end());
      return body;
    }
    const ExprRef tiles = builder_.scalar("tiles", columns.tiles), before = builder_.scalar("before", columns.before),
                  wide = constant_i64(shape_.columns);
    Body several{ir::let(shape_.column_at->name, before + at * wide)}, one;
    const Body down = rows(*tile_, shape_, first, last);
    several.insert(several.end(), down.begin(), down.end());
    const ExprRef single = define(builder_, one, "single", at - tiles);
    one.push_back(ir::let(shape_.column_at->name, ir::op(ScalarOp::select, {less(single, before), single, single + tiles * wide})));
    const Body narrow = rows(*narrow_tile_, narrow_shape_, first, last);
    one.insert(one.end(), narrow.begin(), narrow.end());
    return {ir::if_(less(at, tiles), std::move(several), std::move(one))};
  }

  std::optional<Step> make_step(const Grain& grain) {
    const Shape& space = pulled_.space;
    const int64_t columns = space.back(), down = space[axis_];
    const int64_t before =
        std::accumulate(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(axis_), int64_t{1}, std::multiplies<>());
    const int64_t beside =
        std::accumulate(space.begin() + static_cast<std::ptrdiff_t>(axis_) + 1, space.end() - 1, int64_t{1}, std::multiplies<>());
    const Columns of_threads = columns_of_threads();
    const int64_t across = of_threads.threads;
    const bool planes = beside > 1;
    const int64_t most = planes ? kMostRowsOfPlanes : kMostRows, widest = planes ? kThreads / 4 : kThreads;
    const auto wide = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(across, 32, widest))));
    const int64_t high = kThreads / wide;
    // With one row beside another threads above each other take other rows of the axis.
    const int64_t threads = before * beside * across * divided(down, shape_.rows);
    const int64_t rows = grain.chunk > 0
                             ? shape_.rows
                             : std::clamp(threads / kEnoughThreads, int64_t{1}, std::max<int64_t>(1, most / shape_.rows)) * shape_.rows;
    const int64_t band = planes ? rows : rows * high;
    const int64_t bands = divided(down, band), tiles_across = divided(across, wide), tiles_beside = planes ? divided(beside, high) : 1;
    const int64_t tiles = tiles_across * tiles_beside, units = before * bands * tiles;
    if (units > std::numeric_limits<int32_t>::max() || before * beside > std::numeric_limits<int32_t>::max()) return std::nullopt;

    const ExprRef u = ir::variable(builder_.fresh("u"), DType::i64), t = ir::variable(builder_.fresh("t"), DType::i64);
    Body unit, thread, body;
    if (border_) {
      for (size_t k = 0; k < rank_; ++k) {
        begins_.push_back(builder_.scalar("inner", border_->begin[k]));
        ends_.push_back(builder_.scalar("outer", border_->end[k]));
      }
    }
    const auto [of_unit, tile] = divide(unit, u, tiles);
    ExprRef number = of_unit, index;
    if (axis_ > 0) {
      const Parts parts = divide(unit, number, bands);
      index = parts.quotient;
      number = parts.remainder;
    }
    const Parts place_of_tile = planes ? divide(unit, tile, tiles_across) : Parts{nullptr, tile};
    const ExprRef tile_x = place_of_tile.remainder, tile_y = place_of_tile.quotient;
    // The place of the thread.
    const ExprRef width = builder_.scalar("wide", wide), shift = builder_.scalar("shift", std::countr_zero(static_cast<uint64_t>(wide)));
    const ExprRef lane = define(builder_, thread, "lane", ir::op(ScalarOp::bit_and, {t, width - constant_i64(1)}));
    const ExprRef line = define(builder_, thread, "line", ir::op(ScalarOp::shr, {t, shift}));
    const ExprRef at = define(builder_, thread, "at", tile_x * width + lane);
    const ExprRef rows_scalar = builder_.scalar("rows", rows), high_scalar = builder_.scalar("high", high),
                  end = builder_.scalar("down", down);
    ExprRef there = less(at, builder_.scalar("n", across)), first = number * rows_scalar;
    const auto coordinates_of = [&](const ExprRef& flat, size_t from, size_t to) {
      ExprRef rest = flat;
      for (size_t k = to; k-- > from;) {
        if (k == from) {
          body.push_back(ir::let(outer_[k]->name, rest));
        } else {
          const Parts parts = divide(body, rest, space[k]);
          body.push_back(ir::let(outer_[k]->name, parts.remainder));
          rest = parts.quotient;
        }
      }
    };
    if (axis_ > 0) coordinates_of(index, 0, axis_);
    if (planes) {
      const ExprRef flat = define(builder_, thread, "beside", tile_y * high_scalar + line);
      there = both(there, less(flat, builder_.scalar("rows", beside)));
      coordinates_of(flat, axis_ + 1, rank_ - 1);
    } else {
      for (size_t k = axis_ + 1; k + 1 < rank_; ++k) body.push_back(ir::let(outer_[k]->name, constant_i64(0)));
      first = high == 1 ? number * rows_scalar : (number * high_scalar + line) * rows_scalar;  // alike for the whole block where it can be
    }
    first = define(builder_, body, "from", first);
    const ExprRef last = define(builder_, body, "to", minimum(first + rows_scalar, end));
    if (border_) {
      ExprRef others = ir::constant(Scalar::of_bool(true));
      for (size_t k = 0; k + 1 < rank_; ++k)
        if (k != axis_) others = others->kind == ir::ExprKind::constant ? within(outer_[k], k) : both(others, within(outer_[k], k));
      others_inside_ = define(builder_, body, "inside", others);
    }
    const Body all_rows = of_columns(of_threads, at, first, last);
    body.insert(body.end(), all_rows.begin(), all_rows.end());
    thread.push_back(ir::if_(there, std::move(body)));
    unit.push_back(ir::loop(t->name, constant_i64(0), constant_i64(kThreads), ir::LoopKind::team, std::move(thread)));

    const ExprRef unit_count = builder_.scalar("units", units);
    Step step = builder_.finish({ir::loop(u->name, constant_i64(0), unit_count, ir::LoopKind::unit, std::move(unit))}, units);
    const int64_t together = axis_ == 0 ? tiles : bands * tiles, elements = (axis_ == 0 ? band : down) * beside * columns;
    std::vector<Walk> walks;
    for (const Access& result : results_) walks.push_back(walk_of(space, result, elements));
    describe_walks(step, pulled_, together, elements, walks);
    return step;
  }

  const Pulled& pulled_;
  const std::vector<Access>& results_;
  const Border* const border_;
  const size_t rank_;
  KernelBuilder builder_{"map", true};
  StripExpression expression_;
  std::vector<std::string> out_names_;
  std::optional<Positions> out_positions_;
  std::vector<ExprRef> outer_;  // coordinates
  ExprRef column_;
  std::vector<ExprRef> begins_, ends_;  // of what is inside of the border
  ExprRef others_inside_;               // whether the coordinates beside the row and the column are
  Body point_;

  std::optional<ir::Tile> tile_, narrow_tile_;  // narrow_tile_: of one column, where the other has several
  ir::TileShape shape_, narrow_shape_;
  size_t axis_ = 0;  // the tiles go along it
};

}  // namespace

std::optional<Step> lower_tiles(const Pulled& pulled, const std::vector<Output>& outputs, const std::vector<Access>& results,
                                const Grain& grain, const Border* border) {
  if (pulled.space.size() < 2 || has_random(pulled)) return std::nullopt;
  return Tiles(pulled, outputs, results, border).step(grain);
}

}  // namespace gasell::plan
