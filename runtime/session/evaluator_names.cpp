// Names: reading, binding and deleting them.
#include <fmt/format.h>

#include "lang/class_definition.h"
#include "runtime/session/builtins.h"
#include "runtime/session/loop_target.h"

namespace gasell {
namespace {

[[noreturn]] void raise_unbound(const std::string& name) {
  raise("UnboundLocalError", fmt::format("cannot access local variable '{}' where it is not associated with a value", name));
}

struct LocalName final : Node {
  LocalName(int s, std::string n) : slot(s), name(std::move(n)) {}
  Value evaluate(Frame& f) const override {
    const Value& v = f.locals[slot];
    if (v.is_absent()) [[unlikely]] {
      f.at = span;
      raise_unbound(name);
    }
    return v;
  }
  int slot;
  std::string name;
};

struct CellName final : Node {
  CellName(int c, std::string n) : cell(c), name(std::move(n)) {}
  Value evaluate(Frame& f) const override {
    const Value& v = static_cast<Cell*>(f.cells[cell].object())->value;
    if (v.is_absent()) [[unlikely]] {
      f.at = span;
      if (cell < f.code.own_cells) raise_unbound(name);
      raise("NameError", fmt::format("cannot access free variable '{}' where it is not associated with a value in enclosing scope", name));
    }
    return v;
  }
  int cell;
  std::string name;
};

/// A name that a class's body binds: what it stands for outside the class, where the body has not bound it yet.
struct ClassName final : Node {
  ClassName(int s, NodePtr o) : slot(s), outside(std::move(o)) {}
  Value evaluate(Frame& f) const override { return f.locals[slot].is_absent() ? outside->evaluate(f) : f.locals[slot]; }
  int slot;
  NodePtr outside;
};

struct GlobalName final : Node {
  GlobalName(Value& s, std::string n) : slot(s), name(std::move(n)) {}
  Value evaluate(Frame& f) const override {
    if (!slot.is_absent()) [[likely]]
      return slot;
    if (!fallback) {
      f.at = span;
      if (auto found = builtins().find(name); found != builtins().end()) {
        fallback = &found->second;
      } else {
        fallback = f.session.alias(name);
      }
      if (!fallback) raise_name_error(f, name);
    }
    return *fallback;
  }
  Value& slot;
  mutable const Value* fallback = nullptr;  // a builtin or a module's alias; both stay where they are
  std::string name;
};

/// variable = old op operand, where `old` is what the variable was when the statement began. A str that nothing else refers to grows where
/// it is, so that building a text by pieces takes the time of its length.
void update_variable(Frame& f, Value& variable, Value old, UpdateOp op, const Value& operand) {
  static const UpdateOp add = update_op(ast::BinaryOp::add);
  if (op == add && old.exactly<Str>() && variable.same(old)) {
    if (const auto* more = operand.as<Str>()) {
      variable = Value::absent();
      const bool is_alone = old.object()->is_temporary();
      variable = old;  // which it still is where there is no memory for the sum
      if (is_alone) return static_cast<Str*>(old.object())->append(*more);
    }
  }
  variable = op(f.in, old, operand);
}

struct LocalTarget final : Target {
  LocalTarget(int s, std::string n) : slot(s), name(std::move(n)) {}
  void assign(Frame& f, Value value) const override { f.locals[slot] = std::move(value); }
  void remove(Frame& f) const override {
    if (f.locals[slot].is_absent()) {
      f.at = span;
      raise_unbound(name);
    }
    f.locals[slot] = Value::absent();
  }
  Flow update(Frame& f, UpdateOp op, const Node& value, Span place) const override {
    Value& variable = f.locals[slot];
    if (variable.is_absent()) [[unlikely]] {
      f.at = span;
      raise_unbound(name);
    }
    Value old = variable;
    const Value operand = value.attempt(f);
    if (has_raised(f, operand)) [[unlikely]]
      return Flow::raised;
    f.at = place;
    if (old.is_object()) {
      update_variable(f, variable, std::move(old), op, operand);
    } else {
      variable = op(f.in, old, operand);
    }
    return Flow::next;
  }
  int slot;
  std::string name;
};

struct CellTarget final : Target {
  CellTarget(int c, std::string n) : reader(c, std::move(n)) {}
  Value& variable(Frame& f) const { return static_cast<Cell*>(f.cells[reader.cell].object())->value; }
  void assign(Frame& f, Value value) const override { variable(f) = std::move(value); }
  void remove(Frame& f) const override {
    reader.evaluate(f);
    variable(f) = Value::absent();
  }
  Flow update(Frame& f, UpdateOp op, const Node& value, Span place) const override {
    Value old = reader.evaluate(f);
    const Value operand = value.attempt(f);
    if (has_raised(f, operand)) [[unlikely]]
      return Flow::raised;
    f.at = place;
    update_variable(f, variable(f), std::move(old), op, operand);
    return Flow::next;
  }
  CellName reader;
};

struct GlobalTarget final : Target {
  GlobalTarget(Value& s, std::string n) : reader(s, std::move(n)) {}
  void assign(Frame&, Value value) const override { reader.slot = std::move(value); }
  void remove(Frame& f) const override {
    if (reader.slot.is_absent()) {
      f.at = span;
      raise_name_error(f, reader.name);
    }
    reader.slot = Value::absent();
  }
  Flow update(Frame& f, UpdateOp op, const Node& value, Span place) const override {
    Value old = reader.evaluate(f);
    const Value operand = value.attempt(f);
    if (has_raised(f, operand)) [[unlikely]]
      return Flow::raised;
    f.at = place;
    update_variable(f, reader.slot, std::move(old), op, operand);
    return Flow::next;
  }
  GlobalName reader;
};

}  // namespace

int local_slot(const Node& node) {
  const auto* local = dynamic_cast<const LocalName*>(&node);
  return local ? local->slot : -1;
}

int local_slot(const Target& target) {
  const auto* local = dynamic_cast<const LocalTarget*>(&target);
  return local ? local->slot : -1;
}

NodePtr lower_name(Lowering& l, const std::string& name, ast::Binding binding, Span span) {
  NodePtr node;
  const auto* def = l.code.definition ? std::get_if<ast::FunctionDef>(&l.code.definition->node) : nullptr;
  if (binding.kind == ast::Binding::Kind::local && def && ast::class_call(*def))
    return std::make_unique<ClassName>(binding.slot, lower_name(l, name, {ast::Binding::Kind::global, -1}, span));
  switch (binding.kind) {
    case ast::Binding::Kind::local: node = std::make_unique<LocalName>(binding.slot, name); break;
    case ast::Binding::Kind::cell: node = std::make_unique<CellName>(binding.slot, name); break;
    default: node = std::make_unique<GlobalName>(l.code.globals->slot(name), name); break;
  }
  node->span = span;
  return node;
}

TargetPtr lower_name_target(Lowering& l, const std::string& name, ast::Binding binding, Span span) {
  TargetPtr target;
  switch (binding.kind) {
    case ast::Binding::Kind::local: target = std::make_unique<LocalTarget>(binding.slot, name); break;
    case ast::Binding::Kind::cell: {
      auto cell = std::make_unique<CellTarget>(binding.slot, name);
      cell->reader.span = span;
      target = std::move(cell);
      break;
    }
    default: {
      auto global = std::make_unique<GlobalTarget>(l.code.globals->slot(name), name);
      global->reader.span = span;
      target = std::move(global);
      break;
    }
  }
  target->span = span;
  return target;
}

}  // namespace gasell
