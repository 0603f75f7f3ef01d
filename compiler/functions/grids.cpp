#include "compiler/functions/grids.h"

#include <algorithm>

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
      case StmtKind::scope:
      case StmtKind::leave:
      case StmtKind::raise:
      case StmtKind::check:
      case StmtKind::pointer:
      case StmtKind::point: break;
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
  Spreading(const Stmt& region, const ParallelLoops& loops) : region_(region), loops_(loops), how_(loops.regions.at(region.name)) {}

  std::optional<Grid> grid() {
    if (!can_be_thread(region_.body)) return std::nullopt;
    const auto pieces = std::find_if(region_.body.begin(), region_.body.end(),
                                     [&](const ir::StmtRef& s) { return s->kind == StmtKind::loop && s->name == how_.counter; });
    if (pieces == region_.body.end()) return std::nullopt;
    const ir::Body before(region_.body.begin(), pieces), after(pieces + 1, region_.body.end());
    if (!after.empty()) return reduced(before, **pieces, after);
    note(before);
    std::vector<Level> levels{{how_.counter, constant_i64(0), how_.count, {}}};
    std::vector<ExprRef> extents{outside(how_.count)};
    if (!extents[0]) return std::nullopt;
    ir::Body innermost = (*pieces)->body;
    while (levels.size() < kAxes) {
      const std::optional<Level> next = nested(innermost);
      if (!next) break;
      const ExprRef extent = outside(next->end - next->begin);
      if (!extent) break;
      levels.back().before.assign(innermost.begin(), innermost.end() - 1);
      innermost = ir::Body(innermost.back()->body);
      extents.push_back(extent);
      levels.push_back(*next);
    }
    std::reverse(extents.begin(), extents.end());
    ir::Body body = without_high(before);
    spread(levels, 0, innermost, body);
    return Grid{std::move(body), std::move(extents)};
  }

 private:
  /// A thread for each unit, whose iterations lie apart by the number of units: u, u + units, … The last iteration is that of the thread
  /// which `high` says count to.
  std::optional<Grid> reduced(const ir::Body& before, const Stmt& pieces, const ir::Body& after) {
    const ExprRef u = ir::variable(region_.name, DType::i64), units = ir::variable("units", DType::i64);
    ir::Body body;
    const ExprRef last = ir::op(ScalarOp::eq, {(how_.count - constant_i64(1)) % units, u});
    for (const ir::StmtRef& s : before) {
      if (s->kind == StmtKind::let && s->name == how_.high)
        body.push_back(ir::let(how_.high, ir::op(ScalarOp::select, {last, how_.count, constant_i64(-1)})));
      else
        body.push_back(s);
    }
    ir::Body iteration{ir::let(how_.counter, u + ir::variable("trip", DType::i64) * units)};
    iteration.insert(iteration.end(), pieces.body.begin(), pieces.body.end());
    const ExprRef trips = (how_.count - u + units - constant_i64(1)) / units;
    body.push_back(ir::loop("trip", constant_i64(0), trips, ir::LoopKind::serial, std::move(iteration)));
    body.insert(body.end(), after.begin(), after.end());
    ir::Body thread;
    place("x", thread);
    thread.push_back(ir::let(region_.name, ir::variable("thread_x", DType::i64)));
    thread.push_back(ir::if_(ir::op(ScalarOp::lt, {u, units}), std::move(body)));
    return Grid{std::move(thread), {}};
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
    inside_.insert(region_.name);
    inside_.insert(how_.counter);
    note(before);
    const std::optional<Level> level = Level{loop.name, loop.begin, loop.end, {}};
    inside_.insert(loop.name);
    return level;
  }

  ir::Body without_high(const ir::Body& before) {
    ir::Body body;
    for (const ir::StmtRef& s : before) {
      // How far a piece goes depends on the unit, which threads do not have.
      bool of_unit = false;
      for (const ExprRef& e : ir::expressions_of(*s))
        ir::visit(e, [&](const ir::Expr& part) {
          of_unit = of_unit || (part.kind == ExprKind::variable && (part.name == region_.name || unit_names_.count(part.name)));
        });
      if (of_unit)
        unit_names_.insert(s->name);
      else
        body.push_back(s);
    }
    return body;
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

  void spread(const std::vector<Level>& levels, size_t k, const ir::Body& innermost, ir::Body& body) const {
    static const char* const kNames[] = {"x", "y", "z"};
    const std::string axis = kNames[levels.size() - 1 - k];
    const Level& level = levels[k];
    place(axis, body);
    const ExprRef thread = ir::variable("thread_" + axis, DType::i64), threads = ir::variable("threads_" + axis, DType::i64);
    ir::Body iteration{ir::let(level.counter, level.begin + thread + ir::variable("trip_" + axis, DType::i64) * threads)};
    iteration.insert(iteration.end(), level.before.begin(), level.before.end());
    if (k + 1 < levels.size())
      spread(levels, k + 1, innermost, iteration);
    else
      iteration.insert(iteration.end(), innermost.begin(), innermost.end());
    const ExprRef trips = (level.end - level.begin - thread + threads - constant_i64(1)) / threads;
    body.push_back(ir::loop("trip_" + axis, constant_i64(0), trips, ir::LoopKind::serial, std::move(iteration)));
  }

  const Stmt& region_;
  const ParallelLoops& loops_;
  const ParallelLoops::Region& how_;
  std::map<std::string, ExprRef> lets_;
  std::set<std::string> inside_;
  std::set<std::string> unit_names_;  // what depends on the unit
};

}  // namespace

std::optional<Grid> grid_of(const Stmt& region, const ParallelLoops& loops) {
  if (!loops.regions.count(region.name)) return std::nullopt;
  return Spreading(region, loops).grid();
}

}  // namespace gasell::functions
