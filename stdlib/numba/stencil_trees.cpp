#include "stdlib/numba/stencil_trees.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "lang/ast_visit.h"
#include "stdlib/numba/outside.h"

namespace gasell::numba {

std::string index_name(size_t axis) { return fmt::format("stencil index {}", axis); }
std::string beyond_name(size_t axis) { return fmt::format("stencil border {}", axis); }

int64_t element_beyond(BorderMode mode, int64_t i, int64_t n) {
  const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  switch (mode) {
    case BorderMode::nearest: return std::clamp<int64_t>(i, 0, n - 1);
    case BorderMode::wrap: return modulo(i, n);
    case BorderMode::reflect: i = modulo(i, 2 * n); return i < n ? i : 2 * n - 1 - i;
    case BorderMode::mirror:
      if (n == 1) return 0;
      i = modulo(i, 2 * n - 2);
      return i < n ? i : 2 * n - 2 - i;
    default: return i;
  }
}

std::string text_of_beyond(BorderMode mode, size_t axis) {
  const std::string head = fmt::format("def beyond(i, a):\n    n = a.shape[{}]\n", axis);
  switch (mode) {
    case BorderMode::nearest: return head + "    return min(max(i, 0), n - 1)\n";
    case BorderMode::wrap: return head + "    return i % n\n";
    case BorderMode::reflect: return head + "    k = i % (2 * n)\n    return k if k < n else 2 * n - 1 - k\n";
    case BorderMode::mirror:
      return head + "    if n == 1:\n        return 0\n    k = i % (2 * n - 2)\n    return k if k < n else 2 * n - 2 - k\n";
    default: return head + "    return i\n";
  }
}

namespace {

/// Copies a tree with its relative indices replaced. Notes how far they reach.
class Rewriter {
 public:
  enum class To : uint8_t { absolute, absolute_beyond, calls };
  Rewriter(SourceRef source, const ast::FunctionDef& function, const std::map<std::string, int>& relative, bool reach_is_known, To to)
      : source_(std::move(source)), relative_(relative), known_(reach_is_known), to_(to) {
    for (const ast::Parameter& p : function.params) parameters_.insert(p.name);
  }

  ast::ExprRef expression(const ast::ExprRef& e) {
    auto copy = std::make_shared<ast::Expr>(*e);
    const auto* subscript = std::get_if<ast::Subscript>(&e->node);
    const auto* array = subscript ? std::get_if<ast::Name>(&subscript->value->node) : nullptr;
    const auto found = array ? relative_.find(array->id) : relative_.end();
    ast::visit_children(*copy, [this](ast::ExprRef& child) { child = expression(child); });
    if (found == relative_.end()) return copy;
    auto& s = std::get<ast::Subscript>(copy->node);
    if (to_ != To::calls) {
      make_absolute(s, found->second, e->span);
    } else {
      std::vector<ast::ExprRef> args = items_of(s);
      args.insert(args.begin(), s.value);
      copy->node = ast::Call{name_of(kElementName, e->span, ast::Binding::Kind::global), std::move(args), {}};
    }
    return copy;
  }

  ast::StmtRef statement(const ast::StmtRef& s) {
    std::visit(
        ast::Overloaded{[&](const ast::Assign& n) {
                          for (const ast::ExprRef& target : n.targets) refuse_write(target);
                        },
                        [&](const ast::AugAssign& n) { refuse_write(n.target); }, [&](const ast::AnnAssign& n) { refuse_write(n.target); },
                        [&](const ast::For& n) { refuse_write(n.target); }, [](const auto&) {}},
        s->node);
    auto copy = std::make_shared<ast::Stmt>(*s);
    ast::visit_children(*copy, [this](ast::ExprRef& child) { child = expression(child); }, [this](ast::Body& body) { rewrite(body); });
    return copy;
  }

  void rewrite(ast::Body& body) {
    for (ast::StmtRef& s : body) s = statement(s);
  }

  std::map<size_t, std::pair<int64_t, int64_t>> reach;

 private:
  /// Arguments are only read.
  void refuse_write(const ast::ExprRef& target) const {
    if (const auto* several = std::get_if<ast::Tuple>(&target->node)) {
      for (const ast::ExprRef& item : several->items) refuse_write(item);
      return;
    }
    const auto* subscript = std::get_if<ast::Subscript>(&target->node);
    const auto* array = subscript ? std::get_if<ast::Name>(&subscript->value->node) : nullptr;
    if (array && parameters_.contains(array->id)) fail(target->span, "Assignments to arrays passed to stencil kernels is not allowed.");
  }

  static std::vector<ast::ExprRef> items_of(const ast::Subscript& s) {
    if (const auto* several = std::get_if<ast::Tuple>(&s.index->node)) return several->items;
    return {s.index};
  }
  template <class Node>
  static ast::ExprRef make(Span at, Node node) {
    return std::make_shared<ast::Expr>(ast::Expr{at, std::move(node)});
  }
  static ast::ExprRef name_of(std::string name, Span at, ast::Binding::Kind kind = ast::Binding::Kind::local) {
    return make(at, ast::Name{std::move(name), {kind, -1}});
  }

  void make_absolute(ast::Subscript& s, int rank, Span at) {
    std::vector<ast::ExprRef> items = items_of(s);
    if (items.size() != static_cast<size_t>(rank))
      fail(at, fmt::format("{} dimensional stencil index used for {} dimensional array", items.size(), rank));
    for (size_t k = 0; k < items.size(); ++k) {
      const std::optional<int64_t> offset = constant(items[k]);
      if (!offset && !known_) fail(items[k]->span, "stencil kernel index is not constant, 'neighborhood' option required");
      if (offset) {
        auto [entry, fresh] = reach.try_emplace(k, *offset, *offset);
        entry->second.first = std::min(entry->second.first, *offset);
        entry->second.second = std::max(entry->second.second, *offset);
      }
      const Span place = items[k]->span;
      ast::ExprRef index = make(place, ast::Binary{ast::BinaryOp::add, name_of(index_name(k), place), items[k], place});
      if (to_ == To::absolute_beyond)
        index = make(place, ast::Call{name_of(beyond_name(k), place, ast::Binding::Kind::global), {std::move(index), s.value}, {}});
      items[k] = std::move(index);
    }
    s.index = items.size() == 1 ? items[0] : make(s.index->span, ast::Tuple{std::move(items)});
  }

  static std::optional<int64_t> constant(const ast::ExprRef& e) {
    if (const auto* i = std::get_if<ast::IntLiteral>(&e->node)) return i->value;
    const auto* unary = std::get_if<ast::Unary>(&e->node);
    if (!unary || (unary->op != ast::UnaryOp::neg && unary->op != ast::UnaryOp::pos)) return {};
    const auto inner = constant(unary->operand);
    return !inner ? inner : unary->op == ast::UnaryOp::neg ? -*inner : *inner;
  }

  [[noreturn]] void fail(Span at, std::string message) const {
    register_numba_errors();
    throw Error(Diagnostic{Blame::user, "NumbaValueError", std::move(message), Label{source_, at, ""}, {}, ""});
  }

  SourceRef source_;
  const std::map<std::string, int>& relative_;  // by name: how many axes
  std::set<std::string> parameters_;
  bool known_;
  To to_;
};

}  // namespace

StencilTrees stencil_trees(const std::shared_ptr<const ast::Stmt>& definition, const SourceRef& source,
                           const std::map<std::string, int>& arrays, size_t rank, const Reach& neighborhood, BorderMode mode) {
  const bool known = !neighborhood.empty();
  const auto copy = [&] {
    auto tree = std::make_shared<ast::Stmt>(*definition);
    std::get<ast::FunctionDef>(tree->node).decorators.clear();
    return tree;
  };
  auto absolute = copy(), relative = copy();
  auto& function = std::get<ast::FunctionDef>(absolute->node);
  Rewriter rewriter(source, function, arrays, known, reads_beyond(mode) ? Rewriter::To::absolute_beyond : Rewriter::To::absolute);
  rewriter.rewrite(function.body);
  Rewriter(source, function, arrays, true, Rewriter::To::calls).rewrite(std::get<ast::FunctionDef>(relative->node).body);
  StencilTrees trees{absolute, relative, neighborhood};
  for (size_t k = 0; k < rank; ++k) {
    ast::Parameter p;
    p.name = index_name(k);
    p.span = function.name_span;
    function.params.push_back(std::move(p));
    if (!known) trees.reach.push_back(rewriter.reach.contains(k) ? rewriter.reach[k] : std::pair<int64_t, int64_t>{0, 0});
  }
  return trees;
}

}  // namespace gasell::numba
