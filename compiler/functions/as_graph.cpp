#include "compiler/functions/as_graph.h"

#include <algorithm>

namespace gasell::functions {
namespace {

using graph::NodeRef;
using ir::ExprKind;
using ir::ExprRef;
using ir::Stmt;
using ir::StmtKind;

/// Operations that an expression may have: kernels of more take long to compile, and loops serve as well.
constexpr int kMostOperations = 256;

/// The function cannot be told as an expression.
struct NoExpression {};

/// Runs a kernel's body on array expressions. Where elements may go different ways all ways are taken, and assignments select: `here` says
/// for which elements a way is the one.
class Interpreter {
 public:
  using Relative = std::function<NodeRef(const std::string&, const std::vector<int64_t>&)>;
  Interpreter(const std::map<std::string, NodeRef>& arguments, const Relative& relative) : values_(arguments), relative_(relative) {}

  void run(const ir::Body& body) { statements(body, Elements::all()); }
  /// The slot of the results; null: never written.
  NodeRef result(int64_t slot) const {
    const auto found = results_.find(slot);
    return found == results_.end() ? nullptr : found->second;
  }

 private:
  /// A set of elements: all, none, or those where `mask` holds.
  struct Elements {
    NodeRef mask;  // null: all, or none
    bool any = true;
    static Elements all() { return {}; }
    static Elements none() { return {nullptr, false}; }
    bool is_all() const { return any && !mask; }
  };
  static Elements where(NodeRef mask) {
    if (const auto* c = mask->as<graph::ConstantNode>()) return c->value.i ? Elements::all() : Elements::none();
    return {std::move(mask), true};
  }
  Elements both(const Elements& a, const Elements& b) {
    if (!a.any || !b.any) return Elements::none();
    if (!a.mask) return b;
    return b.mask ? where(map(ScalarOp::logical_and, {a.mask, b.mask})) : a;
  }
  Elements either(const Elements& a, const Elements& b) {
    if (!a.any) return b;
    if (!b.any) return a;
    return a.mask && b.mask ? where(map(ScalarOp::logical_or, {a.mask, b.mask})) : Elements::all();
  }

  /// Of a scope: which elements left it, and whether any of them left one around it.
  struct Scope {
    std::string name;
    Elements left = Elements::none();
    bool beyond = false;
  };

  NodeRef map(ScalarOp op, std::vector<NodeRef> operands) {
    if (++operations_ > kMostOperations) throw NoExpression();
    return graph::map(op, std::move(operands));
  }

  NodeRef value(const ExprRef& e) {
    switch (e->kind) {
      case ExprKind::constant: return graph::constant(e->value);
      case ExprKind::variable: {
        const auto found = values_.find(e->name);
        if (found == values_.end()) throw NoExpression();
        return found->second;
      }
      case ExprKind::op: {
        std::vector<NodeRef> operands;
        for (const ExprRef& arg : e->args) operands.push_back(value(arg));
        return map(e->op, std::move(operands));
      }
      case ExprKind::cast: return graph::cast(value(e->args[0]), e->type);
      default: throw NoExpression();
    }
  }

  int64_t known(const ExprRef& e) {
    const NodeRef v = value(e);
    const auto* c = v->as<graph::ConstantNode>();
    if (!c) throw NoExpression();
    return c->value.i;
  }

  static void set(NodeRef& variable, NodeRef now, const Elements& here) {
    variable = here.mask && variable ? graph::map(ScalarOp::select, {here.mask, std::move(now), variable}) : std::move(now);
  }

  /// The elements that come to the end of a body.
  Elements statements(const ir::Body& body, Elements here) {
    for (const ir::StmtRef& s : body) {
      if (!here.any) break;
      here = statement(*s, here);
    }
    return here;
  }

  Elements statement(const Stmt& s, const Elements& here) {
    switch (s.kind) {
      case StmtKind::let: values_[s.name] = value(s.value); return here;
      case StmtKind::var: values_[s.name] = value(s.value); return here;
      case StmtKind::assign:
        ++operations_;
        set(values_.at(s.name), value(s.value), here);
        return here;
      case StmtKind::store: return store(s, here);
      case StmtKind::if_: return branches(s, here);
      case StmtKind::loop: return counted(s, here);
      case StmtKind::while_: return repeated(s, here);
      case StmtKind::scope: return scope(s, here);
      case StmtKind::leave: return leave(s, here);
      case StmtKind::call: return call(s, here);
      case StmtKind::poll: return here;
      default: throw NoExpression();
    }
  }

  Elements store(const Stmt& s, const Elements& here) {
    if (s.name != "results") throw NoExpression();
    ExprRef number = s.value;
    if (number->kind == ExprKind::bitcast) number = number->args[0];
    set(results_[known(s.index)], value(number), here);
    return here;
  }

  Elements branches(const Stmt& s, const Elements& here) {
    const NodeRef condition = value(s.value);
    const Elements yes = where(condition), no = where(graph::map(ScalarOp::logical_not, {condition}));
    if (yes.is_all()) return statements(s.body, here);
    if (!yes.any) return statements(s.orelse, here);
    const size_t left = leaves_;
    const Elements after_yes = statements(s.body, both(here, yes)), after_no = statements(s.orelse, both(here, no));
    return left == leaves_ ? here : either(after_yes, after_no);
  }

  Elements counted(const Stmt& s, Elements here) {
    const int64_t begin = known(s.begin), end = known(s.end);
    for (int64_t i = begin; i < end && here.any; ++i) {
      if (++operations_ > kMostOperations) throw NoExpression();
      values_[s.name] = graph::constant(Scalar::of_int(i));
      here = statements(s.body, here);
    }
    return here;
  }

  Elements repeated(const Stmt& s, Elements here) {
    while (here.any && known(s.value)) {
      if (++operations_ > kMostOperations) throw NoExpression();
      here = statements(s.body, here);
    }
    return here;
  }

  Elements scope(const Stmt& s, const Elements& here) {
    scopes_.push_back({s.name, Elements::none(), false});
    const Elements end = statements(s.body, here);
    const Scope done = std::move(scopes_.back());
    scopes_.pop_back();
    return done.beyond ? either(end, done.left) : here;
  }

  Elements leave(const Stmt& s, const Elements& here) {
    ++leaves_;
    size_t k = scopes_.size();
    while (k > 0 && scopes_[k - 1].name != s.name) scopes_[--k].beyond = true;
    if (k == 0) throw NoExpression();
    scopes_[k - 1].left = either(scopes_[k - 1].left, here);
    return Elements::none();
  }

  Elements call(const Stmt& s, const Elements& here) {
    if (s.source != kRelative || !relative_ || s.args.empty() || s.args[0]->kind != ExprKind::address) throw NoExpression();
    std::vector<int64_t> offsets;
    for (size_t k = 1; k < s.args.size(); ++k) offsets.push_back(known(s.args[k]));
    const NodeRef element = relative_(s.args[0]->name, offsets);
    if (!element) throw NoExpression();
    values_[s.name] = element;
    return here;
  }

  std::map<std::string, NodeRef> values_;
  const Relative& relative_;
  std::map<int64_t, NodeRef> results_;
  std::vector<Scope> scopes_;
  size_t leaves_ = 0;  // so far
  int operations_ = 0;
};

}  // namespace

std::optional<NodeRef> as_graph(const Compiled& function, const std::map<std::string, NodeRef>& arguments,
                                const std::function<NodeRef(const std::string&, const std::vector<int64_t>&)>& relative) {
  if (!function.result.is_scalar()) return std::nullopt;
  try {
    Interpreter interpreter(arguments, relative);
    interpreter.run(function.kernel.body);
    NodeRef result = interpreter.result(0);
    if (!result) return std::nullopt;
    const DType dtype = function.result.dtype;
    if (is_complex(dtype)) {
      const NodeRef imaginary = interpreter.result(1);
      if (!imaginary) return std::nullopt;
      result = graph::map(ScalarOp::make_complex, {result, imaginary});
    }
    return graph::cast(result, dtype);
  } catch (const NoExpression&) {
    return std::nullopt;
  }
}

}  // namespace gasell::functions
