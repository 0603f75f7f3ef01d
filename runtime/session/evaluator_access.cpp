// Attributes and subscripts, read and assigned; unpacking.
#include <fmt/format.h>

#include "runtime/session/class.h"
#include "runtime/session/dict.h"
#include "runtime/session/loop_target.h"
#include "runtime/session/operand.h"

namespace gasell {
namespace {

struct AttributeNode final : Node {
  Value evaluate(Frame& f) const override {
    Value v = value->evaluate(f);
    if (auto* object = v.exactly<Instance>())
      if (const Value* own = object->own_attribute(name, lookup)) return *own;
    f.at = name_span;
    return get_attribute(f.in, v, *name);
  }
  mutable ClassLookup lookup;
  NodePtr value;
  Name name = nullptr;
  Span name_span;
};

/// The item of a list or tuple; null where it is another object or has no such item.
const Value* listed_item(const Value& v, const Value& index) {
  if (index.is_int() && v.is_object()) {
    int64_t i = index.as_int();
    const std::vector<Value>* items = nullptr;
    if (const auto* list = v.exactly<List>()) {
      items = &list->items;
    } else if (const auto* tuple = v.exactly<Tuple>()) {
      items = &tuple->items;
    }
    if (items) {
      if (i < 0) i += static_cast<int64_t>(items->size());
      if (i >= 0 && i < static_cast<int64_t>(items->size())) return &(*items)[static_cast<size_t>(i)];
    }
  }
  return nullptr;
}

Value item_of(Frame& f, const Value& v, const Value& index) {
  if (const Value* item = listed_item(v, index)) return *item;
  return get_item(f.in, v, index);
}

struct SubscriptNode final : Node {
  SubscriptNode(NodePtr v, NodePtr i) : value(std::move(v)), index(std::move(i)) {}
  Value evaluate(Frame& f) const override {
    if (const Value* item = item_of_variable(f)) return *item;
    Value v = value.node->evaluate(f), i = index.node->evaluate(f);
    f.at = span;
    return item_of(f, v, i);
  }
  /// Of a list or tuple in a variable by a number that stands for itself; null for others.
  const Value* item_of_variable(const Frame& f) const {
    const Value* i = value.slot >= 0 ? index.number(f) : nullptr;
    return i ? listed_item(f.locals[value.slot], *i) : nullptr;
  }
  Value attempt(Frame& f) const override {
    if (const Value* item = item_of_variable(f)) return *item;
    Value v = value.node->attempt(f);
    if (has_raised(f, v)) [[unlikely]]
      return Value::absent();
    if (const Value* i = index.place(f)) return attempt_item(f, v, *i);
    const Value i = index.node->attempt(f);
    if (has_raised(f, i)) [[unlikely]]
      return Value::absent();
    return attempt_item(f, v, i);
  }
  /// A key that a dict does not have is what scripts catch most.
  Value attempt_item(Frame& f, const Value& v, const Value& i) const {
    f.at = span;
    auto* dict = v.exactly<Dict>();
    if (!dict) return item_of(f, v, i);
    if (const Value* found = dict->find(f.in, i)) return *found;
    f.session.raised = Value::make<Exception>(*exception_type("KeyError"), std::vector<Value>{i});
    return Value::absent();
  }
  const Operand value, index;
};

struct AttributeTarget final : Target {
  void assign(Frame& f, Value v) const override {
    Value o = object->evaluate(f);
    f.at = span;
    if (of_temporary) warn_if_lost(f, o, *name);
    if (!set_own(o, v)) set_attribute(f.in, o, *name, v);
  }
  bool set_own(const Value& o, const Value& v) const {
    auto* instance = o.exactly<Instance>();
    return instance && instance->set_own_attribute(name, v, lookup);
  }
  void remove(Frame& f) const override {
    Value o = object->evaluate(f);
    f.at = span;
    delete_attribute(f.in, o, *name);
  }
  Flow update(Frame& f, UpdateOp op, const Node& operand, Span place) const override {
    Value o = object->evaluate(f);
    f.at = span;
    if (of_temporary) warn_if_lost(f, o, *name);
    Value old = own(f, o);
    Value v = operand.attempt(f);
    if (has_raised(f, v)) [[unlikely]]
      return Flow::raised;
    f.at = place;
    v = op(f.in, old, v);
    if (!set_own(o, v)) set_attribute(f.in, o, *name, v);
    return Flow::next;
  }
  Value own(Frame& f, const Value& o) const {
    if (auto* instance = o.exactly<Instance>())
      if (const Value* found = instance->own_attribute(name, lookup)) return *found;
    return get_attribute(f.in, o, *name);
  }
  mutable ClassLookup lookup;
  NodePtr object;
  Name name = nullptr;
  bool of_temporary = false;
};

struct SubscriptTarget final : Target {
  SubscriptTarget(NodePtr o, NodePtr i) : object(std::move(o)), index(std::move(i)) {}
  void assign(Frame& f, Value v) const override {
    const Value* const known = object.slot >= 0 ? index.number(f) : nullptr;
    if (known && set_listed(f.locals[object.slot], *known, v)) return;
    Value o = object.node->evaluate(f), i = index.node->evaluate(f);
    f.at = span;
    if (of_temporary) warn_if_lost(f, o, "[]");
    if (!set_listed(o, i, v)) set_item(f.in, o, i, v);
  }
  /// The item of a list at an index from its beginning; false where it is another object or has no such item.
  static bool set_listed(const Value& o, const Value& i, Value& v) {
    auto* list = i.is_int() ? o.exactly<List>() : nullptr;
    if (!list || static_cast<uint64_t>(i.as_int()) >= list->items.size()) return false;
    const Value before = std::exchange(list->items[static_cast<size_t>(i.as_int())], std::move(v));  // its end may change the list
    return true;
  }
  void remove(Frame& f) const override {
    Value o = object.node->evaluate(f), i = index.node->evaluate(f);
    f.at = span;
    delete_item(f.in, o, i);
  }
  Flow update(Frame& f, UpdateOp op, const Node& operand, Span place) const override {
    Value o = object.node->evaluate(f), i = index.node->evaluate(f);
    f.at = span;
    if (of_temporary) warn_if_lost(f, o, "[]");
    Value old = item_of(f, o, i);
    Value v = operand.attempt(f);
    if (has_raised(f, v)) [[unlikely]]
      return Flow::raised;
    f.at = place;
    v = op(f.in, old, v);
    old = Value();  // what waits to be computed from the object's memory keeps it from being written in place
    if (!set_listed(o, i, v)) set_item(f.in, o, i, v);
    return Flow::next;
  }
  const Operand object, index;
  bool of_temporary = false;
};

struct UnpackTarget final : Target {
  void assign(Frame& f, Value v) const override {
    f.at = span;
    if (!v.is_object()) raise("TypeError", fmt::format("cannot unpack non-iterable {} object", type_of(v).name));
    size_t count = targets.size();
    if (const auto* tuple = star < 0 ? v.exactly<Tuple>() : nullptr; tuple && tuple->items.size() == count) {
      for (size_t i = 0; i < count; ++i) targets[i]->assign(f, tuple->items[i]);
      return;
    }
    std::vector<Value> items = star < 0 ? exact_items(f, v) : to_vector(f.in, v);
    if (star < 0) {
      for (size_t i = 0; i < count; ++i) targets[i]->assign(f, std::move(items[i]));
      return;
    }
    size_t before = static_cast<size_t>(star), after = count - before - 1;
    if (items.size() < before + after) {
      raise("ValueError", fmt::format("not enough values to unpack (expected at least {}, got {})", before + after, items.size()));
    }
    for (size_t i = 0; i < before; ++i) targets[i]->assign(f, std::move(items[i]));
    auto rest = items.begin() + star;
    auto tail = items.end() - static_cast<ptrdiff_t>(after);
    targets[before]->assign(f, make_list(std::vector<Value>(rest, tail)));
    for (size_t i = 0; i < after; ++i) targets[before + 1 + i]->assign(f, tail[static_cast<ptrdiff_t>(i)]);
  }
  void remove(Frame& f) const override {
    for (const TargetPtr& t : targets) t->remove(f);
  }
  Flow update(Frame&, UpdateOp, const Node&, Span) const override {
    raise("SyntaxError", "a tuple cannot be the target of an augmented assignment");
  }

  /// As many items as there are targets; takes one more at most from the iterable, as Python does.
  std::vector<Value> exact_items(Frame& f, const Value& v) const {
    size_t count = targets.size();
    auto too_many = [&] { raise("ValueError", fmt::format("too many values to unpack (expected {})", count)); };
    auto too_few = [&](size_t got) { raise("ValueError", fmt::format("not enough values to unpack (expected {}, got {})", count, got)); };
    if (v.exactly<Tuple>() || v.exactly<List>()) {
      std::vector<Value> items = to_vector(f.in, v);
      if (items.size() > count) too_many();
      if (items.size() < count) too_few(items.size());
      return items;
    }
    std::vector<Value> items;
    Value iterator;
    try {
      iterator = iterate(f.in, v);
    } catch (const Raised& raised) {
      if (!is_instance(raised.value, *exception_type("TypeError"))) throw;
      raise("TypeError", fmt::format("cannot unpack non-iterable {} object", type_of(v).name));
    }
    while (std::optional<Value> item = next(f.in, iterator)) {
      if (items.size() == count) too_many();
      items.push_back(*std::move(item));
    }
    if (items.size() < count) too_few(items.size());
    return items;
  }

  std::vector<TargetPtr> targets;
  int star = -1;  // which target takes the rest
};

}  // namespace

void warn_if_lost(Frame& f, const Value& object, std::string_view name) {
  if (!object.is_object() || !object.object()->is_temporary()) return;
  if (const auto lost = object.object()->lost_write(f.in, name)) warn(f.in, *lost->category, lost->message, lost->hint, true);
}

bool may_be_temporary(const ast::Expr& e) { return !std::holds_alternative<ast::Name>(e.node); }

const std::vector<TargetPtr>* unpacked_targets(const Target& target) {
  const auto* unpack = dynamic_cast<const UnpackTarget*>(&target);
  return unpack && unpack->star < 0 ? &unpack->targets : nullptr;
}

NodePtr lower_access(Lowering& l, const ast::Expr& e) {
  NodePtr node;
  if (const auto* a = std::get_if<ast::Attribute>(&e.node)) {
    auto attribute = std::make_unique<AttributeNode>();
    attribute->value = lower(l, a->value);
    attribute->name = intern(a->name);
    attribute->name_span = a->name_span;
    node = std::move(attribute);
  } else {
    const auto& s = std::get<ast::Subscript>(e.node);
    NodePtr value = lower(l, s.value);
    node = std::make_unique<SubscriptNode>(std::move(value), lower(l, s.index));
  }
  node->span = e.span;
  return node;
}

TargetPtr lower_target(Lowering& l, const ast::ExprRef& e) {
  TargetPtr target;
  if (const auto* name = std::get_if<ast::Name>(&e->node)) {
    target = lower_name_target(l, name->id, name->binding, e->span);
  } else if (const auto* a = std::get_if<ast::Attribute>(&e->node)) {
    auto attribute = std::make_unique<AttributeTarget>();
    attribute->object = lower(l, a->value);
    attribute->name = intern(a->name);
    attribute->of_temporary = may_be_temporary(*a->value);
    target = std::move(attribute);
  } else if (const auto* s = std::get_if<ast::Subscript>(&e->node)) {
    NodePtr object = lower(l, s->value);
    auto subscript = std::make_unique<SubscriptTarget>(std::move(object), lower(l, s->index));
    subscript->of_temporary = may_be_temporary(*s->value);
    target = std::move(subscript);
  } else {
    const auto* tuple = std::get_if<ast::Tuple>(&e->node);
    const auto* list = std::get_if<ast::List>(&e->node);
    if (!tuple && !list) {
      throw Error(
          Diagnostic{Blame::user, "SyntaxError", "this expression cannot be assigned to", Label{l.code.source, e->span, ""}, {}, ""});
    }
    auto unpack = std::make_unique<UnpackTarget>();
    for (const ast::ExprRef& item : tuple ? tuple->items : list->items) {
      const auto* starred = std::get_if<ast::Starred>(&item->node);
      if (starred) unpack->star = static_cast<int>(unpack->targets.size());
      unpack->targets.push_back(lower_target(l, starred ? starred->value : item));
    }
    target = std::move(unpack);
  }
  target->span = e->span;
  return target;
}

}  // namespace gasell
