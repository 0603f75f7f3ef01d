// Attributes and subscripts, read and assigned; unpacking.
#include <fmt/format.h>

#include "runtime/session/class.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/operand.h"

namespace gasell {
namespace {

struct AttributeNode final : Node {
  Value evaluate(Frame& f) const override {
    Value v = value->evaluate(f);
    if (v.is_object() && typeid(*v.object()) == typeid(Instance))
      if (const Value* own = static_cast<Instance*>(v.object())->own_attribute(name, lookup)) return *own;
    f.at = name_span;
    return get_attribute(f.in, v, name);
  }
  mutable ClassLookup lookup;
  NodePtr value;
  std::string name;
  Span name_span;
};

/// The item of a list or tuple; null where it is another object or has no such item.
const Value* listed_item(const Value& v, const Value& index) {
  if (index.is_int() && v.is_object()) {
    int64_t i = index.as_int();
    const std::vector<Value>* items = typeid(*v.object()) == typeid(List)    ? &static_cast<List*>(v.object())->items
                                      : typeid(*v.object()) == typeid(Tuple) ? &static_cast<Tuple*>(v.object())->items
                                                                             : nullptr;
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
  /// A key that a dict does not have is what scripts catch most.
  Value attempt(Frame& f) const override {
    if (const Value* item = item_of_variable(f)) return *item;
    Value v = value.node->evaluate(f), i = index.node->evaluate(f);
    f.at = span;
    if (!v.is_object() || typeid(*v.object()) != typeid(Dict)) return item_of(f, v, i);
    if (const Value* found = static_cast<Dict*>(v.object())->find(f.in, i)) return *found;
    f.session.raised = Value::make<Exception>(*exception_type("KeyError"), std::vector<Value>{std::move(i)});
    return Value::absent();
  }
  const Operand value, index;
};

struct AttributeTarget final : Target {
  void assign(Frame& f, Value v) const override {
    Value o = object->evaluate(f);
    f.at = span;
    if (of_temporary) warn_if_lost(f, o, name);
    if (!set_own(o, v)) set_attribute(f.in, o, name, v);
  }
  bool set_own(const Value& o, const Value& v) const {
    return o.is_object() && typeid(*o.object()) == typeid(Instance) &&
           static_cast<Instance*>(o.object())->set_own_attribute(name, v, lookup);
  }
  void remove(Frame& f) const override {
    Value o = object->evaluate(f);
    f.at = span;
    delete_attribute(f.in, o, name);
  }
  Flow update(Frame& f, UpdateOp op, const Node& operand, Span place) const override {
    Value o = object->evaluate(f);
    f.at = span;
    if (of_temporary) warn_if_lost(f, o, name);
    Value old = own(f, o);
    Value v = operand.attempt(f);
    if (has_raised(f, v)) [[unlikely]]
      return Flow::raised;
    f.at = place;
    v = op(f.in, old, v);
    if (!set_own(o, v)) set_attribute(f.in, o, name, v);
    return Flow::next;
  }
  Value own(Frame& f, const Value& o) const {
    if (o.is_object() && typeid(*o.object()) == typeid(Instance))
      if (const Value* found = static_cast<Instance*>(o.object())->own_attribute(name, lookup)) return *found;
    return get_attribute(f.in, o, name);
  }
  mutable ClassLookup lookup;
  NodePtr object;
  std::string name;
  bool of_temporary = false;
};

struct SubscriptTarget final : Target {
  void assign(Frame& f, Value v) const override {
    Value o = object->evaluate(f), i = index->evaluate(f);
    f.at = span;
    if (of_temporary) warn_if_lost(f, o, "[]");
    if (i.is_int() && o.is_object() && typeid(*o.object()) == typeid(List)) {
      auto& items = static_cast<List*>(o.object())->items;
      if (const int64_t k = i.as_int(); k >= 0 && k < static_cast<int64_t>(items.size())) {
        items[static_cast<size_t>(k)] = std::move(v);
        return;
      }
    }
    set_item(f.in, o, i, v);
  }
  void remove(Frame& f) const override {
    Value o = object->evaluate(f), i = index->evaluate(f);
    f.at = span;
    delete_item(f.in, o, i);
  }
  Flow update(Frame& f, UpdateOp op, const Node& operand, Span place) const override {
    Value o = object->evaluate(f), i = index->evaluate(f);
    f.at = span;
    if (of_temporary) warn_if_lost(f, o, "[]");
    Value old = item_of(f, o, i);
    Value v = operand.attempt(f);
    if (has_raised(f, v)) [[unlikely]]
      return Flow::raised;
    f.at = place;
    v = op(f.in, old, v);
    old = Value();  // what waits to be computed from the object's memory keeps it from being written in place
    set_item(f.in, o, i, v);
    return Flow::next;
  }
  NodePtr object, index;
  bool of_temporary = false;
};

struct UnpackTarget final : Target {
  void assign(Frame& f, Value v) const override {
    f.at = span;
    if (!v.is_object()) raise("TypeError", fmt::format("cannot unpack non-iterable {} object", type_of(v).name));
    size_t count = targets.size();
    if (star < 0 && typeid(*v.object()) == typeid(Tuple) && static_cast<Tuple*>(v.object())->items.size() == count) {
      for (size_t i = 0; i < count; ++i) targets[i]->assign(f, static_cast<Tuple*>(v.object())->items[i]);
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
    if (typeid(*v.object()) == typeid(Tuple) || typeid(*v.object()) == typeid(List)) {
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

NodePtr lower_access(Lowering& l, const ast::Expr& e) {
  NodePtr node;
  if (const auto* a = std::get_if<ast::Attribute>(&e.node)) {
    auto attribute = std::make_unique<AttributeNode>();
    attribute->value = lower(l, a->value);
    attribute->name = a->name;
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
    attribute->name = a->name;
    attribute->of_temporary = may_be_temporary(*a->value);
    target = std::move(attribute);
  } else if (const auto* s = std::get_if<ast::Subscript>(&e->node)) {
    auto subscript = std::make_unique<SubscriptTarget>();
    subscript->object = lower(l, s->value);
    subscript->index = lower(l, s->index);
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
