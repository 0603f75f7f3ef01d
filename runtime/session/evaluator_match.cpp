// match: patterns as small nodes that are tried against the subject. The names of a pattern are bound when the whole of it matches.
#include <algorithm>

#include <fmt/format.h>

#include "lang/marked_calls.h"
#include "runtime/session/dict.h"
#include "runtime/session/generator.h"
#include "runtime/session/range.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

using Captures = std::vector<std::pair<const Target*, Value>>;

struct Pattern {
  Span span;
  virtual ~Pattern() = default;
  virtual bool matches(Frame& f, const Value& subject, Captures& captures) const = 0;
};
using PatternPtr = std::unique_ptr<Pattern>;

/// A name, or `_`, which has no target.
struct CapturePattern final : Pattern {
  bool matches(Frame&, const Value& subject, Captures& captures) const override {
    if (target) captures.emplace_back(target.get(), subject);
    return true;
  }
  TargetPtr target;
};

/// A literal or a dotted name.
struct ValuePattern final : Pattern {
  bool matches(Frame& f, const Value& subject, Captures&) const override {
    const Value wanted = value->evaluate(f);
    f.at = span;
    return identity ? subject.same(wanted) : equal(f.in, subject, wanted);
  }
  NodePtr value;
  bool identity = false;  // None, True, False
};

struct OrPattern final : Pattern {
  bool matches(Frame& f, const Value& subject, Captures& captures) const override {
    const size_t before = captures.size();
    for (const PatternPtr& alternative : alternatives) {
      if (alternative->matches(f, subject, captures)) return true;
      captures.resize(before);
    }
    return false;
  }
  std::vector<PatternPtr> alternatives;
};

struct AsPattern final : Pattern {
  bool matches(Frame& f, const Value& subject, Captures& captures) const override {
    if (!pattern->matches(f, subject, captures)) return false;
    captures.emplace_back(target.get(), subject);
    return true;
  }
  PatternPtr pattern;
  TargetPtr target;
};

bool is_sequence(const Value& v) { return v.as<List>() || v.as<Tuple>() || v.as<Range>() || type_of(v).name == "deque"; }

struct SequencePattern final : Pattern {
  bool matches(Frame& f, const Value& subject, Captures& captures) const override {
    f.at = span;
    if (!is_sequence(subject)) return false;
    const auto count = static_cast<size_t>(length(f.in, subject));
    if (star < 0 ? count != items.size() : count + 1 < items.size()) return false;
    const auto item = [&](size_t i) { return get_item(f.in, subject, Value::of(static_cast<int64_t>(i))); };
    const size_t before = star < 0 ? items.size() : static_cast<size_t>(star);
    for (size_t i = 0; i < before; ++i)
      if (!items[i]->matches(f, item(i), captures)) return false;
    if (star < 0) return true;
    const size_t after = items.size() - before - 1, end = count - after;
    if (const TargetPtr& target = static_cast<CapturePattern&>(*items[before]).target) {
      std::vector<Value> rest;
      for (size_t i = before; i < end; ++i) rest.push_back(item(i));
      captures.emplace_back(target.get(), make_list(std::move(rest)));
    }
    for (size_t i = 0; i < after; ++i)
      if (!items[before + 1 + i]->matches(f, item(end + i), captures)) return false;
    return true;
  }
  std::vector<PatternPtr> items;
  int star = -1;  // which takes the rest
};

struct MappingPattern final : Pattern {
  bool matches(Frame& f, const Value& subject, Captures& captures) const override {
    f.at = span;
    auto* dict = subject.as<Dict>();
    if (!dict || dict->size() < static_cast<int64_t>(items.size())) return false;
    std::vector<Value> keys;
    for (const auto& [key, pattern] : items) {
      keys.push_back(key->evaluate(f));
      f.at = span;
      for (size_t i = 0; i + 1 < keys.size(); ++i)
        if (equal(f.in, keys[i], keys.back()))
          raise("ValueError", fmt::format("mapping pattern checks duplicate key ({})", repr(f.in, keys.back())));
      const Value* found = dict->find(f.in, keys.back());
      if (!found) return false;
      const Value value = *found;
      if (!pattern->matches(f, value, captures)) return false;
    }
    if (!rest) return true;
    const Value others = make_dict();
    others.as<Dict>()->update(f.in, subject);
    for (const Value& key : keys) others.as<Dict>()->take(f.in, key);
    captures.emplace_back(rest.get(), others);
    return true;
  }
  std::vector<std::pair<NodePtr, PatternPtr>> items;
  TargetPtr rest;
};

/// Types whose objects are themselves what the one positional pattern matches.
bool holds_itself(const Type& type) {
  static const Type* const types[] = {&bool_type(), &int_type(), &float_type(), &str_type(),      &list_type(),
                                      &dict_type(), &set_type(), &tuple_type(), &frozenset_type()};
  if (type.name == "bytes" || type.name == "bytearray") return true;
  return std::any_of(std::begin(types), std::end(types), [&](const Type* t) { return type.derives_from(*t); });
}

struct ClassPattern final : Pattern {
  bool matches(Frame& f, const Value& subject, Captures& captures) const override {
    const Value wanted = made_by->evaluate(f);
    f.at = span;
    const auto* type = wanted.as<TypeObject>();
    if (!type) raise("TypeError", "called match pattern must be a type");
    if (!is_instance(subject, type->described)) return false;
    std::vector<std::string> names;
    if (!positional.empty()) {
      if (std::optional<std::vector<std::string>> given = match_args(f, wanted)) {
        names = *std::move(given);
      } else if (holds_itself(type->described)) {
        if (positional.size() > 1) too_many(type->described, 1);
        return positional[0]->matches(f, subject, captures) && keywords_match(f, subject, captures);
      }
      if (positional.size() > names.size()) too_many(type->described, names.size());
    }
    for (size_t i = 0; i < positional.size(); ++i) {
      const bool again = std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
                             names.begin() + static_cast<std::ptrdiff_t>(i) ||
                         std::any_of(keywords.begin(), keywords.end(), [&](const auto& keyword) { return keyword.first == names[i]; });
      if (again) raise("TypeError", fmt::format("{}() got multiple sub-patterns for attribute '{}'", type->described.name, names[i]));
      if (!attribute_matches(f, subject, names[i], *positional[i], captures)) return false;
    }
    return keywords_match(f, subject, captures);
  }

  bool keywords_match(Frame& f, const Value& subject, Captures& captures) const {
    return std::all_of(keywords.begin(), keywords.end(),
                       [&](const auto& keyword) { return attribute_matches(f, subject, keyword.first, *keyword.second, captures); });
  }

  [[noreturn]] void too_many(const Type& type, size_t allowed) const {
    raise("TypeError", fmt::format("{}() accepts {} positional sub-pattern{} ({} given)", type.name, allowed, allowed == 1 ? "" : "s",
                                   positional.size()));
  }

  static std::optional<Value> attribute(Frame& f, const Value& v, const std::string& name) {
    try {
      return get_attribute(f.in, v, name);
    } catch (const Raised& raised) {
      if (!is_instance(raised.value, *exception_type("AttributeError"))) throw;
      return {};
    }
  }

  static std::optional<std::vector<std::string>> match_args(Frame& f, const Value& made_by) {
    const std::optional<Value> given = attribute(f, made_by, "__match_args__");
    if (!given) return {};
    const std::string& name = made_by.as<TypeObject>()->described.name;
    const auto* tuple = given->as<Tuple>();
    if (!tuple) raise("TypeError", fmt::format("{}.__match_args__ must be a tuple (got {})", name, type_of(*given).name));
    std::vector<std::string> names;
    for (const Value& item : tuple->items) {
      if (!item.as<Str>()) raise("TypeError", "__match_args__ elements must be strings (got " + type_of(item).name + ")");
      names.push_back(item.as<Str>()->value);
    }
    return names;
  }

  bool attribute_matches(Frame& f, const Value& subject, const std::string& name, const Pattern& pattern, Captures& captures) const {
    f.at = span;
    const std::optional<Value> value = attribute(f, subject, name);
    return value && pattern.matches(f, *value, captures);
  }

  NodePtr made_by;
  std::vector<PatternPtr> positional;
  std::vector<std::pair<std::string, PatternPtr>> keywords;
};

// ---- lowering ----

PatternPtr lower_pattern(Lowering& l, const ast::ExprRef& e);

TargetPtr capture_target(Lowering& l, const ast::ExprRef& name) {
  return std::get<ast::Name>(name->node).id == "_" ? nullptr : lower_target(l, name);
}

struct LowerPattern {
  Lowering& l;
  const ast::ExprRef& e;

  PatternPtr operator()(const ast::Name&) const {
    auto pattern = std::make_unique<CapturePattern>();
    pattern->target = capture_target(l, e);
    return pattern;
  }
  PatternPtr operator()(const ast::Starred& n) const { return LowerPattern{l, n.value}(std::get<ast::Name>(n.value->node)); }
  PatternPtr operator()(const ast::Tuple& n) const { return sequence(n.items); }
  PatternPtr operator()(const ast::List& n) const { return sequence(n.items); }
  PatternPtr operator()(const ast::NamedExpr& n) const {
    auto pattern = std::make_unique<AsPattern>();
    pattern->pattern = lower_pattern(l, n.value);
    pattern->target = lower_target(l, n.target);
    return pattern;
  }
  PatternPtr operator()(const ast::Binary& n) const {
    if (n.op != ast::BinaryOp::bit_or) return value(false);
    auto pattern = std::make_unique<OrPattern>();
    pattern->alternatives.push_back(lower_pattern(l, n.left));
    pattern->alternatives.push_back(lower_pattern(l, n.right));
    return pattern;
  }
  PatternPtr operator()(const ast::Dict& n) const {
    auto pattern = std::make_unique<MappingPattern>();
    for (const auto& [key, item] : n.items) {
      if (key) {
        NodePtr wanted = lower(l, key);
        pattern->items.emplace_back(std::move(wanted), lower_pattern(l, item));
      } else {
        pattern->rest = capture_target(l, item);
      }
    }
    return pattern;
  }
  PatternPtr operator()(const ast::Call& n) const {
    auto pattern = std::make_unique<ClassPattern>();
    pattern->made_by = lower(l, n.callee);
    for (const ast::ExprRef& argument : n.args) pattern->positional.push_back(lower_pattern(l, argument));
    for (const ast::Keyword& keyword : n.keywords) pattern->keywords.emplace_back(keyword.name, lower_pattern(l, keyword.value));
    return pattern;
  }
  PatternPtr operator()(const ast::NoneLiteral&) const { return value(true); }
  PatternPtr operator()(const ast::BoolLiteral&) const { return value(true); }
  PatternPtr operator()(const auto&) const { return value(false); }

  PatternPtr value(bool identity) const {
    auto pattern = std::make_unique<ValuePattern>();
    pattern->value = lower(l, e);
    pattern->identity = identity;
    return pattern;
  }
  PatternPtr sequence(const std::vector<ast::ExprRef>& items) const {
    auto pattern = std::make_unique<SequencePattern>();
    for (const ast::ExprRef& item : items) {
      if (std::holds_alternative<ast::Starred>(item->node)) pattern->star = static_cast<int>(pattern->items.size());
      pattern->items.push_back(lower_pattern(l, item));
    }
    return pattern;
  }
};

PatternPtr lower_pattern(Lowering& l, const ast::ExprRef& e) {
  PatternPtr pattern = std::visit(LowerPattern{l, e}, e->node);
  pattern->span = e->span;
  return pattern;
}

/// In a generator with a yield in some case, its point keeps 1 + the case that is under way.
struct MatchStatement final : StatementNode {
  struct Case {
    PatternPtr pattern;
    NodePtr guard;
    Block body;
  };

  Flow run(Frame& f) const override {
    size_t chosen = point < 0 ? 0 : static_cast<size_t>(std::exchange(point_of(f, point).at, 0));
    if (chosen == 0) chosen = choose(f);
    if (chosen == 0) return Flow::next;
    const Flow flow = run_block(cases[chosen - 1].body, f);
    if (flow == Flow::yield_value) point_of(f, point).at = static_cast<int32_t>(chosen);
    return flow;
  }

  /// 1 + the first case that matches, else 0.
  size_t choose(Frame& f) const {
    const Value value = subject->evaluate(f);
    Captures captures;
    for (size_t i = 0; i < cases.size(); ++i) {
      captures.clear();
      if (!cases[i].pattern->matches(f, value, captures)) continue;
      for (auto& [target, captured] : captures) target->assign(f, std::move(captured));
      if (!cases[i].guard || cases[i].guard->test(f)) return i + 1;
    }
    return 0;
  }

  int point = -1;
  NodePtr subject;
  std::vector<Case> cases;
};

}  // namespace

StatementPtr lower_match(Lowering& l, const ast::Call& subject, const ast::Body& body) {
  auto node = std::make_unique<MatchStatement>();
  if (l.code.generator && ast::yields(body)) node->point = new_resume_point(l);
  node->span = subject.args[0]->span;
  node->subject = lower(l, subject.args[0]);
  for (const ast::StmtRef& s : body) {
    const auto& branch = std::get<ast::If>(s->node);
    const ast::Call& head = *ast::case_call(branch);
    MatchStatement::Case one;
    one.pattern = lower_pattern(l, head.args[0]);
    if (head.args.size() > 1) {
      if (ast::yields(head.args[1]))
        throw Error(Diagnostic{Blame::limitation,
                               "NotImplementedError",
                               "a yield in a guard is not in Gasell",
                               Label{l.code.source, head.args[1]->span, ""},
                               {},
                               "yield into a variable before"});
      one.guard = lower(l, head.args[1]);
    }
    one.body = lower_block(l, branch.body);
    node->cases.push_back(std::move(one));
  }
  return node;
}

}  // namespace gasell
