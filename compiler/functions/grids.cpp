#include "compiler/functions/grids.h"

#include <algorithm>

#include "compiler/ir/common_subexpressions.h"
#include "compiler/ir/hoist_checks.h"
#include "compiler/ir/propagate.h"
#include "compiler/ir/tile.h"
#include "compiler/ir/transform.h"

namespace gasell::functions {
namespace {

using ir::constant_i64;
using ir::ExprKind;
using ir::ExprRef;
using ir::Stmt;
using ir::StmtKind;

/// CUDA's axes.
constexpr size_t kAxes = 3;
constexpr int64_t kMostThreadsOfAxis = 65535;  // so that CUDA's limit of blocks along y and z is none of theirs

/// Whether a thread of a GPU can run these statements.
bool can_be_thread(const ir::Body& body) {
  return std::all_of(body.begin(), body.end(), [](const ir::StmtRef& s) {
    switch (s->kind) {
      case StmtKind::let:
      case StmtKind::var:
      case StmtKind::assign:
      case StmtKind::local_array:
      case StmtKind::store:
      case StmtKind::if_:
      case StmtKind::while_:
      case StmtKind::leave:
      case StmtKind::raise:
      case StmtKind::check:
      case StmtKind::point: break;
      case StmtKind::scope:
        if (s->catches) return false;
        break;
      case StmtKind::pointer:
        if (s->value) return false;  // an address of the host's
        break;
      case StmtKind::loop:
        if (s->loop_kind != ir::LoopKind::serial && s->loop_kind != ir::LoopKind::simd) return false;
        break;
      default: return false;
    }
    const std::vector<ExprRef> all = ir::expressions_of(*s);
    const bool plain = std::none_of(all.begin(), all.end(), [](const ExprRef& e) {
      bool address = false;
      ir::visit(e, [&](const ir::Expr& part) { address = address || part.kind == ExprKind::address; });
      return address;
    });
    return plain && can_be_thread(s->body) && can_be_thread(s->orelse);
  });
}

/// What statements declare, change and use.
struct Effects {
  std::set<std::string> declared, assigned, loaded, stored, left;
  bool pointers = false;

  void of(const ir::Body& body) {
    for (const ir::StmtRef& s : body) of(*s);
  }
  void of(const Stmt& s) {
    for (const ExprRef& e : ir::expressions_of(s))
      ir::visit(e, [&](const ir::Expr& part) {
        if (part.kind == ExprKind::load) loaded.insert(part.name);
      });
    switch (s.kind) {
      case StmtKind::assign: assigned.insert(s.name); break;
      case StmtKind::store: stored.insert(s.name); break;
      case StmtKind::leave: left.insert(s.name); break;
      case StmtKind::pointer:
      case StmtKind::point: pointers = true; break;
      default: declared.insert(s.name); break;
    }
    of(s.body);
    of(s.orelse);
  }
};

bool contains(const std::set<std::string>& outer, const std::set<std::string>& inner) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}
bool meet(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& name) { return b.count(name) > 0; });
}

/// A loop that is spread over an axis, with what stands in its body before the next one.
struct Level {
  std::string counter;
  ExprRef begin, end;
  ir::Body before;
};

class Spreading {
 public:
  Spreading(const Stmt& region, const std::vector<ir::Parameter>& parameters, const ParallelLoops& loops)
      : region_(region), parameters_(parameters), loops_(loops), how_(loops.regions.at(region.name)) {}

  std::optional<Grid> grid() {
    if (!can_be_thread(region_.body)) return std::nullopt;
    const auto pieces = std::find_if(region_.body.begin(), region_.body.end(),
                                     [&](const ir::StmtRef& s) { return s->kind == StmtKind::loop && s->name == how_.counter; });
    if (pieces == region_.body.end()) return std::nullopt;
    reduces_ = pieces + 1 != region_.body.end();
    ir::Body body = without_unit(ir::Body(region_.body.begin(), pieces));
    body.push_back(ir::loop(how_.counter, constant_i64(0), how_.count, ir::LoopKind::serial, (*pieces)->body));
    body.insert(body.end(), pieces + 1, region_.body.end());
    const ir::Body hoisted = with_checks_hoisted(body);
    for (const ir::Body* version : {&hoisted, static_cast<const ir::Body*>(&body)}) {
      lets_.clear();
      inside_ = {region_.name};
      extents_.clear();
      failed_ = false;
      Grid grid;
      if (reduces_) begin_reduction(grid.body);
      const ir::Body threads = of_threads(*version);
      grid.body.insert(grid.body.end(), threads.begin(), threads.end());
      if (failed_) continue;
      std::reverse(extents_.begin(), extents_.end());
      grid.extents = extents_;
      return grid;
    }
    return std::nullopt;
  }

 private:
  /// What does not depend on the unit: how far its pieces go, threads have no use for.
  ir::Body without_unit(const ir::Body& before) const {
    std::set<std::string> of_unit{region_.name};
    ir::Body body;
    for (const ir::StmtRef& s : before) {
      bool depends = false;
      for (const ExprRef& e : ir::expressions_of(*s))
        ir::visit(e, [&](const ir::Expr& part) { depends = depends || (part.kind == ExprKind::variable && of_unit.count(part.name)); });
      if (depends)
        of_unit.insert(s->name);
      else
        body.push_back(s);
    }
    return body;
  }

  /// The loop twice: without checks, and with those that are needed.
  ir::Body with_checks_hoisted(const ir::Body& body) const {
    ir::Kernel kernel;
    kernel.name = "grid";
    kernel.function = true;
    kernel.params = parameters_;
    for (const std::string& name : {region_.name, how_.high}) kernel.params.push_back({ir::Parameter::Kind::scalar, name, DType::i64});
    kernel.body = body;
    return ir::hoist_checks(ir::eliminate_common_subexpressions(ir::propagate_constants(kernel))).body;
  }

  static bool has_loop(const ir::Body& body, const std::string& counter) {
    return std::any_of(body.begin(), body.end(), [&](const ir::StmtRef& s) {
      return (s->kind == StmtKind::loop && s->name == counter) || has_loop(s->body, counter) || has_loop(s->orelse, counter);
    });
  }

  ir::Body of_threads(const ir::Body& body) {
    ir::Body result;
    for (const ir::StmtRef& s : body) {
      if (s->kind == StmtKind::loop && s->name == how_.counter) {
        if (reduces_)
          share(*s, result);
        else
          spread(*s, result);
      } else if (s->kind == StmtKind::if_ && (has_loop(s->body, how_.counter) || has_loop(s->orelse, how_.counter))) {
        // The version without checks says how many threads there are.
        ir::Body unchecked = of_threads(s->body);
        result.push_back(ir::if_(s->value, std::move(unchecked), of_threads(s->orelse)));
      } else if (s->kind == StmtKind::store && how_.partial.count(s->name)) {
        combine(*s, result);
      } else {
        note({s});
        result.push_back(s);
      }
    }
    return result;
  }

  // ---- reductions: a block a unit ----
  /// A thread's iterations are k, k + threads, …, of which the last of all is that of the thread which `high` says count to.
  void begin_reduction(ir::Body& body) const {
    place("x", body);
    const ExprRef thread = ir::variable("thread_x", DType::i64), threads = ir::variable("threads_x", DType::i64);
    body.push_back(ir::let(region_.name, ir::cast(ir::variable("ctaid_x", DType::i32), DType::i64)));
    body.push_back(ir::let("in_block", ir::cast(ir::variable("tid_x", DType::i32), DType::i64)));
    const ExprRef last = ir::op(ScalarOp::eq, {(how_.count - constant_i64(1)) % threads, thread});
    body.push_back(ir::let(how_.high, ir::op(ScalarOp::select, {last, how_.count, constant_i64(-1)})));
  }

  void share(const Stmt& loop, ir::Body& body) const {
    const ExprRef thread = ir::variable("thread_x", DType::i64);
    in_steps("x", how_.counter, thread, how_.count, loop.body, body);
  }

  /// counter = first, first + threads, … below end. No count of them: it would take a division.
  static void in_steps(const std::string& axis, const std::string& counter, const ExprRef& first, const ExprRef& end, ir::Body iteration,
                       ir::Body& body) {
    const ExprRef next = ir::variable("next_" + axis, DType::i64);
    body.push_back(ir::var(next->name, first));
    iteration.insert(iteration.begin(), ir::let(counter, next));
    // Behind the iteration's scopes, which may be left early.
    iteration.push_back(ir::assign(next->name, ir::variable(counter, DType::i64) + ir::variable("threads_" + axis, DType::i64)));
    body.push_back(ir::while_(ir::op(ScalarOp::lt, {next, end}), std::move(iteration)));
  }

  /// The block's parts become one, in a fixed tree.
  void combine(const Stmt& store, ir::Body& body) const {
    const DType type = store.value->type;
    const std::string parts = "parts_" + store.name, level = "level_" + store.name, distance = "distance_" + store.name;
    const ExprRef own = ir::variable("in_block", DType::i64), d = ir::variable(distance, DType::i64);
    body.push_back(ir::let("part_" + store.name, store.value));
    ir::StmtRef memory = ir::local_array(parts, type, kReducingThreads);
    Stmt shared = *memory;
    shared.space = ir::Space::block;
    body.push_back(ir::make_statement(std::move(shared)));
    body.push_back(ir::store(parts, own, ir::variable("part_" + store.name, type)));
    const auto barrier = ir::simt("", DType::i64, "barrier", {});
    body.push_back(barrier);
    const ExprRef sum = how_.partial.at(store.name)(ir::load(parts, type, own), ir::load(parts, type, own + d));
    int levels = 0;
    while (kReducingThreads >> levels > 1) ++levels;
    body.push_back(ir::loop(level, constant_i64(1), constant_i64(levels + 1), ir::LoopKind::serial,
                            {ir::let(distance, ir::op(ScalarOp::shr, {constant_i64(kReducingThreads), ir::variable(level, DType::i64)})),
                             ir::if_(ir::op(ScalarOp::lt, {own, d}), {ir::store(parts, own, sum)}), barrier}));
    body.push_back(ir::if_(ir::op(ScalarOp::eq, {own, constant_i64(0)}),
                           {ir::store(store.name, store.index, ir::load(parts, type, constant_i64(0)))}));
  }

  /// The names of lets, for the extents of loops inside.
  void note(const ir::Body& body) {
    for (const ir::StmtRef& s : body) {
      inside_.insert(s->name);
      if (s->kind == StmtKind::let) lets_[s->name] = s->value;
    }
  }

  /// The same value by names from around the region; null: it has none.
  ExprRef outside(const ExprRef& e) const {
    switch (e->kind) {
      case ExprKind::constant: return e;
      case ExprKind::variable: {
        const auto found = lets_.find(e->name);
        if (found != lets_.end()) return outside(found->second);
        return inside_.count(e->name) ? nullptr : e;
      }
      case ExprKind::op: {
        std::vector<ExprRef> args;
        for (const ExprRef& arg : e->args) {
          args.push_back(outside(arg));
          if (!args.back()) return nullptr;
        }
        return ir::op(e->op, std::move(args));
      }
      case ExprKind::cast: {
        const ExprRef arg = outside(e->args[0]);
        return arg ? ir::cast(arg, e->type) : nullptr;
      }
      default: return nullptr;
    }
  }

  /// The loop that a body ends with, where nothing before it or in it keeps its iterations from threads of their own.
  std::optional<Level> nested(const ir::Body& body) {
    if (body.empty()) return std::nullopt;
    const Stmt& loop = *body.back();
    if (loop.kind != StmtKind::loop || !loops_.independent.count(loop.name)) return std::nullopt;
    const ir::Body before(body.begin(), body.end() - 1);
    for (const ir::StmtRef& s : before)
      if (s->kind != StmtKind::let && s->kind != StmtKind::check && s->kind != StmtKind::pointer) return std::nullopt;
    Effects first, inner;
    first.of(before);
    inner.of(loop.body);
    if (!contains(inner.declared, inner.assigned) || !contains(inner.declared, inner.left)) return std::nullopt;
    // Every thread does what stands before: it may read nothing that others write.
    if (meet(first.loaded, inner.stored) || ((first.pointers || inner.pointers) && !first.loaded.empty())) return std::nullopt;
    note(before);
    return Level{loop.name, loop.begin, loop.end, {}};
  }

  /// let thread_x = ctaid_x * ntid_x + tid_x   let threads_x = nctaid_x * ntid_x
  static void place(const std::string& axis, ir::Body& body) {
    const auto number = [&](const std::string& what) {
      body.push_back(ir::simt(what + "_" + axis, DType::i32, what + "_" + axis, {}));
      return ir::cast(ir::variable(what + "_" + axis, DType::i32), DType::i64);
    };
    const ExprRef block = number("ctaid"), width = number("ntid"), thread = number("tid"), blocks = number("nctaid");
    body.push_back(ir::let("thread_" + axis, block * width + thread));
    body.push_back(ir::let("threads_" + axis, blocks * width));
  }

  // ---- loops over axes ----
  void spread(const Stmt& loop, ir::Body& body) {
    std::vector<Level> levels{{loop.name, loop.begin, loop.end, {}}};
    std::vector<ExprRef> extents{outside(loop.end - loop.begin)};
    if (!extents[0]) return void(failed_ = true);
    inside_.insert(loop.name);
    ir::Body innermost = loop.body;
    while (levels.size() < kAxes) {
      const std::optional<Level> next = nested(innermost);
      if (!next) break;
      const ExprRef extent = outside(next->end - next->begin);
      if (!extent) break;
      levels.back().before.assign(innermost.begin(), innermost.end() - 1);
      innermost = ir::Body(innermost.back()->body);
      inside_.insert(next->counter);
      extents.push_back(extent);
      levels.push_back(*next);
    }
    if (extents_.empty() && over_tiles(levels, innermost, extents, body)) return;
    // All versions of the loop have the same threads.
    if (!extents_.empty() && extents_.size() != extents.size()) return void(failed_ = true);
    if (extents_.empty()) extents_ = std::move(extents);
    over_axes(levels, 0, innermost, body);
  }

  static void over_axes(const std::vector<Level>& levels, size_t k, const ir::Body& innermost, ir::Body& body) {
    static const char* const kNames[] = {"x", "y", "z"};
    const std::string axis = kNames[levels.size() - 1 - k];
    const Level& level = levels[k];
    place(axis, body);
    ir::Body iteration = level.before;
    if (k + 1 < levels.size())
      over_axes(levels, k + 1, innermost, iteration);
    else
      iteration.insert(iteration.end(), innermost.begin(), innermost.end());
    in_steps(axis, level.counter, level.begin + ir::variable("thread_" + axis, DType::i64), level.end, std::move(iteration), body);
  }

  // ---- tiles: what iterations beside each other read, a thread reads once (ir/tile.h) ----
  static constexpr int64_t kTileRows = 8, kTileColumns = 4, kMostRegisterBytes = 256, kMostStatements = 640;
  /// How far a thread goes down, by the number of iterations: the longer, the less is read twice and the rarer is what comes before, but
  /// there must be threads enough.
  static constexpr int64_t kManyIterations = 1 << 23, kMostRows = 32;

  struct Tiling {
    ir::Tile tile;
    ir::TileShape shape;
    size_t level;  // that it goes along
  };

  /// The tile that reads least; none where nothing is read again by the tile below.
  std::optional<Tiling> best_tile(const std::vector<Level>& levels, const ir::Body& point) const {
    const auto fixed = [&](const std::string& name) {
      return std::any_of(parameters_.begin(), parameters_.end(),
                         [&](const ir::Parameter& p) { return p.name == name && p.kind == ir::Parameter::Kind::in; });
    };
    const auto name = [](const char* stem) { return ir::variable(stem, DType::i64); };
    std::optional<Tiling> best;
    double fewest = 0;
    for (const int64_t columns : {int64_t{1}, kTileColumns}) {
      for (int64_t rows = columns > 1 ? kTileRows / 2 : kTileRows; rows > 0; rows /= 2) {
        if (static_cast<int64_t>(point.size()) * rows * columns > kMostStatements) continue;
        bool found = false;
        for (size_t k = 0; k + 1 < levels.size(); ++k) {
          const ir::TileShape shape{
              levels[k].counter, levels.back().counter, name("row_tile"), name("column_tile"), name("next_tile"), rows, columns};
          std::optional<ir::Tile> tile = ir::measure_tile(point, shape, fixed);
          if (!tile || tile->kept == 0 || tile->bytes > kMostRegisterBytes) continue;
          found = true;
          // Several columns pay for elements of which a warp loads less than the memory gives at a time.
          if (columns > 1 && tile->widest > 2) continue;
          const double loads = static_cast<double>(tile->loads) / static_cast<double>(rows * columns);
          if (best && loads >= fewest) continue;
          fewest = loads;
          best = Tiling{std::move(*tile), shape, k};
        }
        if (found) break;
      }
    }
    if (best) best->tile = ir::make_tile(point, best->shape);
    return best;
  }

  bool over_tiles(const std::vector<Level>& levels, const ir::Body& innermost, const std::vector<ExprRef>& extents, ir::Body& body) {
    if (levels.size() < 2) return false;
    std::vector<ExprRef> begins;
    ir::Body point;
    for (const Level& level : levels) {
      begins.push_back(outside(level.begin));
      if (!begins.back()) return false;
      point.insert(point.end(), level.before.begin(), level.before.end());
    }
    point.insert(point.end(), innermost.begin(), innermost.end());
    const std::optional<Tiling> tiling = best_tile(levels, point);
    if (!tiling) return false;
    const ir::TileShape& shape = tiling->shape;

    ExprRef iterations = constant_i64(1);
    for (const ExprRef& e : extents) iterations = iterations * e;
    const ExprRef usual = ir::op(ScalarOp::select, {ir::op(ScalarOp::ge, {iterations, constant_i64(kManyIterations)}),
                                                    constant_i64(kMostRows), constant_i64(shape.rows)});
    // So many that each thread has one part of the rows.
    extents_ = extents;
    const auto parts = [&](const ExprRef& e, const ExprRef& part) { return (e + part - constant_i64(1)) / part; };
    const ExprRef rows = ir::op(ScalarOp::max, {usual, parts(extents[tiling->level], constant_i64(kMostThreadsOfAxis))});
    extents_[tiling->level] = parts(extents[tiling->level], rows);

    // From the inside to the outside: rows, columns, and the axes beside them.
    const ExprRef first = ir::variable("first_tile", DType::i64), last = ir::variable("last_tile", DType::i64);
    body.push_back(ir::let("rows_tile", rows));
    const ExprRef down = ir::variable("rows_tile", DType::i64);
    const auto axis_of = [&](size_t k) { return std::string(1, "xyz"[levels.size() - 1 - k]); };
    // An axis with as many threads as it needs; others, threads walk along in turns.
    const auto along = [&](size_t k, const std::string& counter, const ExprRef& begin, const ExprRef& part, ir::Body inner) {
      const ExprRef end = ir::variable("end_" + axis_of(k), DType::i64), at = ir::variable(counter, DType::i64);
      return ir::Body{ir::let(counter, begin + ir::variable("thread_" + axis_of(k), DType::i64) * part),
                      ir::if_(ir::op(ScalarOp::lt, {at, end}), std::move(inner))};
    };
    const ExprRef one = constant_i64(1), none = constant_i64(0);
    const auto down_the_rows = [&](const ir::Tile& tile, const ir::TileShape& tile_shape) {
      ir::Body inner{ir::let(last->name, ir::op(ScalarOp::min, {first + down, ir::variable("end_" + axis_of(tiling->level), DType::i64)}))};
      const ir::Body tiles = ir::tiles_down(tile, tile_shape, {first, last, nullptr, last, ir::make_point(point, tile_shape)});
      inner.insert(inner.end(), tiles.begin(), tiles.end());
      return along(tiling->level, first->name, begins[tiling->level], down, std::move(inner));
    };
    std::vector<ExprRef> ends;
    for (size_t k = 0; k < levels.size(); ++k) ends.push_back(begins[k] + extents[k]);
    ir::Body inner;
    const size_t across = levels.size() - 1;
    if (shape.columns == 1) {
      // Warps begin where a line of the memory may begin.
      constexpr int64_t kWarp = 32;
      const ExprRef left = begins[across] % constant_i64(kWarp);
      extents_[across] = extents[across] + left;
      const ExprRef is_there = ir::op(ScalarOp::le, {begins[across], shape.column_at});
      inner = along(across, shape.column_at->name, begins[across] - left, one, {ir::if_(is_there, down_the_rows(tiling->tile, shape))});
    } else {
      // Tiles of several columns begin at a multiple of their number, where words begin; columns beside them have threads of their own.
      const ExprRef wide = constant_i64(shape.columns), begin = begins[across];
      const ExprRef before = ir::op(ScalarOp::min, {(none - begin) % wide, extents[across]}), tiles = (extents[across] - before) / wide;
      extents_[across] = extents[across] - tiles * constant_i64(shape.columns - 1);
      ends[across] = extents_[across];
      const auto named = [&](const char* name, const ExprRef& value) {
        body.push_back(ir::let(name, value));
        return ir::variable(name, DType::i64);
      };
      const ExprRef left = named("before_tiles", before), whole = named("tiles_across", tiles), at = ir::variable("number_x", DType::i64),
                    single = ir::variable("single_x", DType::i64);
      ir::Body several{ir::let(shape.column_at->name, begin + left + at * wide)};
      const ir::Body rows_of_several = down_the_rows(tiling->tile, shape);
      several.insert(several.end(), rows_of_several.begin(), rows_of_several.end());
      ir::TileShape narrow = shape;
      narrow.columns = 1;
      const ExprRef skipped = ir::op(ScalarOp::select, {ir::op(ScalarOp::lt, {single, left}), single, single + whole * wide});
      ir::Body alone{ir::let(single->name, at - whole), ir::let(shape.column_at->name, begin + skipped)};
      const ir::Body rows_of_one = down_the_rows(ir::make_tile(point, narrow), narrow);
      alone.insert(alone.end(), rows_of_one.begin(), rows_of_one.end());
      inner = along(across, at->name, none, one, {ir::if_(ir::op(ScalarOp::lt, {at, whole}), std::move(several), std::move(alone))});
    }
    for (size_t k = across; k-- > 0;) {
      if (k == tiling->level) continue;
      ir::Body turns;
      in_steps(axis_of(k), levels[k].counter, begins[k] + ir::variable("thread_" + axis_of(k), DType::i64),
               ir::variable("end_" + axis_of(k), DType::i64), std::move(inner), turns);
      inner = std::move(turns);
    }
    for (size_t k = 0; k < levels.size(); ++k) {
      place(axis_of(k), body);
      body.push_back(ir::let("end_" + axis_of(k), ends[k]));
    }
    body.insert(body.end(), inner.begin(), inner.end());
    return true;
  }

  const Stmt& region_;
  const std::vector<ir::Parameter>& parameters_;
  const ParallelLoops& loops_;
  const ParallelLoops::Region& how_;
  bool reduces_ = false, failed_ = false;
  std::map<std::string, ExprRef> lets_;
  std::set<std::string> inside_;
  std::vector<ExprRef> extents_;  // outermost first
};

}  // namespace

std::optional<Grid> grid_of(const Stmt& region, const std::vector<ir::Parameter>& parameters, const ParallelLoops& loops) {
  if (!loops.regions.count(region.name)) return std::nullopt;
  return Spreading(region, parameters, loops).grid();
}

}  // namespace gasell::functions
