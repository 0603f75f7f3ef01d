#include "compiler/ir/poll_interrupts.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/tile.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

constexpr int64_t kStrip = 4096;  // iterations between two polls

class Polling {
 public:
  explicit Polling(const Kernel& kernel) {
    for (const Parameter& p : kernel.params) names_.insert(p.name);
    collect(kernel.body);
  }

  Body body(const Body& statements) {
    Body result;
    for (const StmtRef& s : statements) {
      if (s->kind == StmtKind::let) lets_[s->name] = s->value;
      Stmt changed = *s;
      changed.body = body(s->body);
      changed.orelse = body(s->orelse);
      const bool is_loop = s->kind == StmtKind::loop;
      const auto rounds = is_loop || s->kind == StmtKind::while_ ? iterations(*s) : 1;
      if (rounds && *rounds <= kStrip) {
        result.push_back(make_statement(std::move(changed)));
        continue;
      }
      const auto inside = iterations(s->body);
      if (is_loop && s->loop_kind != LoopKind::unit && inside && *inside <= kStrip) {
        strips(std::move(changed), *inside, result);
        continue;
      }
      // A unit that is one short iteration is over soon, and vectors may be made of many.
      if (!inside || s->kind == StmtKind::while_) changed.body.insert(changed.body.begin(), poll());
      result.push_back(make_statement(std::move(changed)));
    }
    return result;
  }

 private:
  /// How many iterations of innermost loops a statement is at most; none where that is not known.
  std::optional<int64_t> iterations(const Stmt& s) const {
    if (s.kind == StmtKind::while_ || s.kind == StmtKind::call) return {};
    const auto one = iterations(s.body), other = iterations(s.orelse);
    if (!one || !other) return {};
    if (s.kind != StmtKind::loop) return std::max(*one, *other);
    const std::optional<double> rounds = rounds_of(s.begin, s.end);
    if (!rounds || *rounds > kStrip) return {};
    return std::min(static_cast<int64_t>(*rounds) * *one, 2 * kStrip);
  }
  /// How often a loop runs at most: between constants, and up to `min(begin + constant, …)`.
  std::optional<double> rounds_of(const ExprRef& begin, const ExprRef& end) const {
    if (begin->kind == ExprKind::constant && end->kind == ExprKind::constant)
      return std::max(0.0, static_cast<double>(end->value.i) - static_cast<double>(begin->value.i));
    if (begin->kind != ExprKind::variable || end->kind != ExprKind::variable) return {};
    const auto known = lets_.find(end->name);
    if (known == lets_.end() || known->second->kind != ExprKind::op || known->second->op != ScalarOp::min) return {};
    for (const ExprRef& bound : known->second->args)
      if (bound->kind == ExprKind::op && bound->op == ScalarOp::add && bound->args[0]->kind == ExprKind::variable &&
          bound->args[0]->name == begin->name && bound->args[1]->kind == ExprKind::constant)
        return std::max(0.0, static_cast<double>(bound->args[1]->value.i));
    return {};
  }
  std::optional<int64_t> iterations(const Body& body) const {
    int64_t sum = 1;
    for (const StmtRef& s : body) {
      const auto each = iterations(*s);
      if (!each) return {};
      if (s->kind == StmtKind::loop || !s->body.empty()) sum = std::min(sum + *each, 2 * kStrip);
    }
    return sum;
  }

  /// The loop in strips, with polls between them. Whatever its bounds are, nothing overflows: what is left is counted in u64, and no strip
  /// ends behind the end.
  void strips(Stmt loop, int64_t inside, Body& result) {
    const auto bits = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(kStrip / inside, 64)))) - 1;
    // Bounds are those from before the first iteration.
    const auto before = [&](const ExprRef& bound, const char* what) {
      if (bound->kind == ExprKind::constant) return bound;
      result.push_back(let(fresh(loop.name + what), bound));
      return variable(result.back()->name, DType::i64);
    };
    const ExprRef begin = before(loop.begin, "_begin"), end = before(op(ScalarOp::max, {loop.end, begin}), "_end"),
                  strip = constant_i64(int64_t{1} << bits);
    const std::string strips = fresh(loop.name + "_strips"), first = fresh(loop.name + "_first"), last = fresh(loop.name + "_last");
    const auto i64 = [](const std::string& name) { return variable(name, DType::i64); };
    const ExprRef long_ = op(ScalarOp::gt, {cast(end - i64(first), DType::u64), cast(strip, DType::u64)});
    loop.begin = i64(first);
    loop.end = i64(last);
    result.push_back(var(first, begin));
    result.push_back(
        scope(strips, {while_(constant(Scalar::of_bool(true)),
                              {let(last, op(ScalarOp::select, {long_, i64(first) + strip, end})), make_statement(std::move(loop)),
                               if_(op(ScalarOp::eq, {i64(last), end}), {leave(strips)}), poll(), assign(first, i64(last))})}));
  }

  void collect(const Body& body) {
    for (const StmtRef& s : body) {
      names_.insert(s->name);
      collect(s->body);
      collect(s->orelse);
    }
  }
  std::string fresh(const std::string& base) {
    std::string name = base;
    for (int k = 2; !names_.insert(name).second; ++k) name = base + std::to_string(k);
    return name;
  }

  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, ExprRef> lets_;
};

}  // namespace

Kernel poll_interrupts(const Kernel& kernel) {
  // What a thread does of a tile is soon over, and registers are what it lacks.
  if (kernel.simt) return has_tiles(kernel.body) ? kernel : with_body(kernel, Polling(kernel).body(kernel.body));
  const bool asked = std::any_of(kernel.params.begin(), kernel.params.end(),
                                 [](const Parameter& p) { return p.kind == Parameter::Kind::any && p.name == "interrupt"; });
  return kernel.function && asked ? with_body(kernel, Polling(kernel).body(kernel.body)) : kernel;
}

}  // namespace gasell::ir
