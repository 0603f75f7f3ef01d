#include "compiler/ir/thread_axes.h"

#include <array>
#include <unordered_map>

#include "compiler/ir/simt.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

/// By how much a number grows from one thread to the next along an axis.
enum class Step : uint8_t { zero, one, other };
using Steps = std::array<Step, 2>;  // along x, along y
constexpr Steps kSame = {Step::zero, Step::zero};

Step sum(Step a, Step b) { return a == Step::zero ? b : b == Step::zero ? a : Step::other; }
Step either(Step a, Step b) { return a == b ? a : Step::other; }
Step scaled(Step a) { return a == Step::zero ? a : Step::other; }

class Axes {
 public:
  void body(const Body& statements, int weight) {
    for (const StmtRef& s : statements) {
      for (const ExprRef& e : expressions_of(*s))
        visit(e, [&](const Expr& part) {
          if (part.kind == ExprKind::load) count(part.args[0], weight);
        });
      switch (s->kind) {
        case StmtKind::store:
        case StmtKind::atomic: count(s->index, weight); break;
        case StmtKind::let:
        case StmtKind::var:
        case StmtKind::check: known_[s->name] = steps(s->value); break;
        case StmtKind::assign: known_[s->name] = merge(known_[s->name], steps(s->value), either); break;
        case StmtKind::simt: {
          const std::string& f = s->source;
          known_[s->name] = {f == "tid_x" || f == "ctaid_x" ? Step::one : Step::zero,
                             f == "tid_y" || f == "ctaid_y" ? Step::one : Step::zero};
          const auto kind = find_simt_function(f)->kind;
          using Kind = SimtFunction::Kind;
          sees_warps = sees_warps || f == "lane" || kind == Kind::warp || kind == Kind::shuffle || kind == Kind::vote ||
                       kind == Kind::match || kind == Kind::product || kind == Kind::active;
          break;
        }
        case StmtKind::loop: known_[s->name] = steps(s->begin); break;
        default: break;
      }
      const bool repeats = s->kind == StmtKind::loop || s->kind == StmtKind::while_;
      body(s->body, repeats ? weight * 8 : weight);
      body(s->orelse, weight);
    }
  }

  double score = 0;
  bool sees_warps = false;

 private:
  template <class F>
  static Steps merge(Steps a, Steps b, F f) {
    return {f(a[0], b[0]), f(a[1], b[1])};
  }

  Steps steps(const ExprRef& e) const {
    switch (e->kind) {
      case ExprKind::variable: {
        const auto found = known_.find(e->name);
        return found == known_.end() ? kSame : found->second;
      }
      case ExprKind::cast: return steps(e->args[0]);
      case ExprKind::load: {
        const Steps index = steps(e->args[0]);
        return {scaled(index[0]), scaled(index[1])};
      }
      case ExprKind::op: {
        if (e->op == ScalarOp::add) return merge(steps(e->args[0]), steps(e->args[1]), sum);
        if (e->op == ScalarOp::sub) {
          const Steps right = steps(e->args[1]);
          return merge(steps(e->args[0]), {scaled(right[0]), scaled(right[1])}, sum);
        }
        if (e->op == ScalarOp::select) return merge(steps(e->args[1]), steps(e->args[2]), either);  // an index counted from the end, or not
        if (e->op == ScalarOp::mul) return product(e->args[0], e->args[1]);
        Steps all = kSame;
        for (const ExprRef& a : e->args) {
          const Steps part = steps(a);
          all = {sum(all[0], scaled(part[0])), sum(all[1], scaled(part[1]))};
        }
        return all;
      }
      default: return kSame;
    }
  }

  /// The number of a block times its threads grows by one with the thread's number added to it: ctaid * ntid counts as that.
  Steps product(const ExprRef& a, const ExprRef& b) const {
    const Steps left = steps(a), right = steps(b);
    const auto is_width = [&](const ExprRef& e) { return e->kind != ExprKind::constant && steps(e) == kSame && widths(e); };
    if (is_width(b) || is_width(a)) return kSame;
    return {sum(scaled(left[0]), scaled(right[0])), sum(scaled(left[1]), scaled(right[1]))};
  }
  static bool widths(const ExprRef& e) {
    const Expr* at = e.get();
    while (at->kind == ExprKind::cast) at = at->args[0].get();
    return at->kind == ExprKind::variable && at->name.starts_with("ntid_");
  }

  void count(const ExprRef& index, int weight) {
    const Steps s = steps(index);
    if (s[1] == Step::one && s[0] == Step::other) score += weight;
    if (s[0] == Step::one && s[1] == Step::other) score -= weight;
  }

  std::unordered_map<std::string, Steps> known_;
};

}  // namespace

bool prefers_warps_along_y(const Kernel& kernel) {
  Axes axes;
  axes.body(kernel.body, 1);
  return axes.score > 0 && !axes.sees_warps;
}

}  // namespace gasell::ir
