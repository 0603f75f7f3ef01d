#include "compiler/ir/map_to_grid.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/ir/place_barriers.h"
#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

constexpr int64_t kWarp = 32;

/// The kernel asks for something that a grid has not.
struct Unmappable {};

bool is_loop(const Stmt& s, LoopKind kind) { return s.kind == StmtKind::loop && s.loop_kind == kind; }
bool is_parallel(const Stmt& s) { return is_loop(s, LoopKind::simd) || is_loop(s, LoopKind::team); }

bool contains(const Body& body, bool (*what)(const Stmt&)) {
  for (const StmtRef& s : body)
    if (what(*s) || contains(s->body, what) || contains(s->orelse, what)) return true;
  return false;
}

int64_t constant_of(const ExprRef& e) { return e->kind == ExprKind::constant ? e->value.i : -1; }

/// The widest simd loop, -1 when one has no constant range.
int64_t widest_simd(const Body& body) {
  int64_t widest = 0;
  for (const StmtRef& s : body) {
    int64_t here = 0;
    if (is_loop(*s, LoopKind::simd)) {
      const int64_t begin = constant_of(s->begin), end = constant_of(s->end);
      here = begin < 0 || end < 0 ? -1 : end - begin;
    } else {
      for (const int64_t inner : {widest_simd(s->body), widest_simd(s->orelse)}) here = inner < 0 || here < 0 ? -1 : std::max(here, inner);
    }
    if (here < 0) return -1;
    widest = std::max(widest, here);
  }
  return widest;
}

class Mapping {
 public:
  explicit Mapping(int threads) : threads_(threads) {}

  Body block(const Body& body) { return level(body, Level::block); }

 private:
  enum class Level : uint8_t { block, warp, thread };

  std::string fresh(const char* stem) { return std::string(stem) + "_g" + std::to_string(next_++); }

  Body level(const Body& body, Level where) {
    Body result;
    for (const StmtRef& s : body) statement(*s, where, result);
    return result;
  }

  void statement(const Stmt& s, Level where, Body& result) {
    Stmt mapped = s;
    switch (s.kind) {
      case StmtKind::store:
        if (where != Level::thread) return single(s, where, result);
        break;
      case StmtKind::local_array:
        if (where != Level::thread) mapped.space = where == Level::block ? Space::block : Space::warp;
        break;
      case StmtKind::loop: return loop(s, where, result);
      case StmtKind::if_:
      case StmtKind::while_:
        mapped.body = level(s.body, where);
        mapped.orelse = level(s.orelse, where);
        break;
      default: break;
    }
    result.push_back(make_statement(std::move(mapped)));
  }

  /// A store of the whole block or warp: by its first thread. Neighbouring ones together.
  void single(const Stmt& s, Level where, Body& result) {
    if (!result.empty() && result.back()->kind == StmtKind::loop && singles_.count(result.back()->name)) {
      Stmt longer = *result.back();
      bool reads = false;  // what the loop before writes
      for (const StmtRef& before : longer.body)
        for (const ExprRef& e : expressions_of(s))
          visit(e, [&](const Expr& part) { reads = reads || (part.kind == ExprKind::load && part.name == before->name); });
      if (!reads) {
        longer.body.push_back(make_statement(s));
        result.back() = make_statement(std::move(longer));
        return;
      }
    }
    const std::string name = fresh("one");
    singles_.insert(name);
    result.push_back(spread(name, constant_i64(0), constant_i64(1), LoopKind::within,
                            constant_i64(where == Level::block ? threads_ : kWarp), {make_statement(s)}));
  }

  static StmtRef spread(std::string name, ExprRef begin, ExprRef end, LoopKind kind, ExprRef width, Body body) {
    Stmt s = *ir::loop(std::move(name), std::move(begin), std::move(end), kind, std::move(body));
    s.width = std::move(width);
    return make_statement(std::move(s));
  }

  void loop(const Stmt& s, Level where, Body& result) {
    const auto threads_width = [&] { return constant_i64(where == Level::block ? threads_ : kWarp); };
    if (where != Level::thread) {
      if (const StmtRef flat = collapsed(s)) return loop(*flat, where, result);
      if (is_loop(s, LoopKind::simd) || (is_loop(s, LoopKind::team) && !contains(s.body, is_parallel)))
        return void(result.push_back(spread(s.name, s.begin, s.end, LoopKind::within, threads_width(), level(s.body, Level::thread))));
      if (is_loop(s, LoopKind::team) && where == Level::block) return team(s, result);
    }
    Stmt mapped = s;
    if (s.loop_kind != LoopKind::unit) mapped.loop_kind = LoopKind::serial;
    mapped.body = level(s.body, where);
    result.push_back(make_statement(std::move(mapped)));
  }

  /// A loop of independent iterations around one simd loop of a constant power of two: one loop over both.
  StmtRef collapsed(const Stmt& s) {
    if (!is_loop(s, LoopKind::team) || s.body.empty() || !is_loop(*s.body.back(), LoopKind::simd)) return nullptr;
    const Stmt& inner = *s.body.back();
    const int64_t count = constant_of(inner.end);
    if (constant_of(inner.begin) != 0 || count <= 0 || (count & (count - 1)) || constant_of(s.begin) != 0) return nullptr;
    for (size_t k = 0; k + 1 < s.body.size(); ++k)
      if (s.body[k]->kind != StmtKind::let) return nullptr;
    int64_t bits = 0;
    while ((int64_t{1} << bits) < count) ++bits;
    const ExprRef both = variable(fresh("both"), DType::i64);
    Body body{let(s.name, op(ScalarOp::shr, {both, constant_i64(bits)})),
              let(inner.name, op(ScalarOp::bit_and, {both, constant_i64(count - 1)}))};
    body.insert(body.end(), s.body.begin(), s.body.end() - 1);
    body.insert(body.end(), inner.body.begin(), inner.body.end());
    return ir::loop(both->name, constant_i64(0), s.end * constant_i64(count), LoopKind::simd, std::move(body));
  }

  /// Rows without memory of their own go to groups of as many threads as a row can use; others to warps.
  void team(const Stmt& s, Body& result) {
    const Stmt* row = nullptr;
    bool plain = true;
    for (const StmtRef& inner : s.body) {
      if (is_loop(*inner, LoopKind::simd) && !row)
        row = inner.get();
      else
        plain = plain && inner->kind == StmtKind::let;
    }
    std::set<std::string> own;
    for (const StmtRef& inner : s.body) own.insert(inner->name);
    auto outside = [&](const ExprRef& e) {
      bool is = true;
      visit(e, [&](const Expr& part) {
        is = is && part.kind != ExprKind::load && !(part.kind == ExprKind::variable && (own.count(part.name) || part.name == s.name));
      });
      return is;
    };
    if (!plain || !row || !outside(row->begin) || !outside(row->end))
      return void(result.push_back(spread(s.name, s.begin, s.end, LoopKind::across, constant_i64(kWarp), level(s.body, Level::warp))));
    // The least power of two that is as long as the row.
    const std::string narrowed = fresh("narrowed");
    const ExprRef current = variable(narrowed, DType::i64), half = op(ScalarOp::shr, {current, constant_i64(1)});
    result.push_back(var(narrowed, constant_i64(threads_)));
    const ExprRef fits =
        op(ScalarOp::logical_and, {op(ScalarOp::ge, {half, row->end - row->begin}), op(ScalarOp::gt, {current, constant_i64(1)})});
    result.push_back(while_(fits, {assign(narrowed, half)}));
    const ExprRef width = variable(fresh("width"), DType::i64);
    result.push_back(let(width->name, current));
    Body body;
    for (const StmtRef& inner : s.body)
      body.push_back(inner.get() == row ? spread(row->name, row->begin, row->end, LoopKind::within, width, level(row->body, Level::thread))
                                        : inner);
    result.push_back(spread(s.name, s.begin, s.end, LoopKind::across, width, std::move(body)));
  }

  const int threads_;
  int next_ = 0;
  std::set<std::string> singles_;
};

/// Arrays of the block must not be both read and written while warps go their own ways.
class SharingCheck {
 public:
  void body(const Body& statements, bool in_across) {
    for (const StmtRef& s : statements) {
      if (s->kind == StmtKind::local_array && s->space == Space::block) {
        if (in_across) throw Unmappable();
        block_.insert(s->name);
      }
      if (in_across) {
        if (s->kind == StmtKind::store) written_.insert(s->name);
        for (const ExprRef& e : expressions_of(*s))
          visit(e, [&](const Expr& part) {
            if (part.kind == ExprKind::load) read_.insert(part.name);
          });
      }
      const bool across = s->kind == StmtKind::loop && s->loop_kind == LoopKind::across;
      if (across) read_.clear(), written_.clear();
      body(s->body, in_across || across);
      body(s->orelse, in_across || across);
      if (across)
        for (const std::string& array : block_)
          if (read_.count(array) && written_.count(array)) throw Unmappable();
    }
  }

 private:
  std::set<std::string> block_, read_, written_;
};

void add_shared(const Body& body, int64_t warps, int64_t& total) {
  for (const StmtRef& s : body) {
    if (s->kind == StmtKind::local_array && s->space != Space::automatic) {
      const int64_t bytes = (s->size * gasell::size_of(s->type) + 15) / 16 * 16;
      total += s->space == Space::warp ? bytes * warps : bytes;
    }
    add_shared(s->body, warps, total);
    add_shared(s->orelse, warps, total);
  }
}

}  // namespace

int64_t shared_bytes(const Kernel& kernel) {
  int64_t total = 0;
  add_shared(kernel.body, kernel.threads / kWarp, total);
  return total;
}

std::optional<Kernel> map_to_grid(const Kernel& kernel, const GridLimits& limits) {
  if (!contains(kernel.body, [](const Stmt& s) { return is_loop(s, LoopKind::unit); })) return {};
  int threads = limits.most_threads;
  // Without teams more threads than elements would only wait.
  if (!contains(kernel.body, [](const Stmt& s) { return is_loop(s, LoopKind::team) && contains(s.body, is_parallel); }))
    if (const int64_t widest = widest_simd(kernel.body); widest > 0)
      while (threads / 2 >= std::max(widest, kWarp)) threads /= 2;
  for (; threads >= kWarp; threads /= 2) {
    Mapping mapping(threads);
    Body body;
    for (const StmtRef& s : kernel.body) {
      Stmt mapped = *s;
      if (is_loop(*s, LoopKind::unit))
        mapped.body = mapping.block(s->body);
      else if (s->kind != StmtKind::let)
        return {};
      body.push_back(make_statement(std::move(mapped)));
    }
    try {
      SharingCheck().body(body, false);
    } catch (const Unmappable&) {
      return {};
    }
    const Kernel mapped{kernel.name, kernel.params, std::move(body), threads};
    if (shared_bytes(mapped) <= limits.shared_bytes) return place_barriers(mapped);
  }
  return {};
}

}  // namespace gasell::ir
