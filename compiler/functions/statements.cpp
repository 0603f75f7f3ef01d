// Statements of compiled functions.
#include "compiler/functions/lowering.h"
#include "lang/ast_visit.h"
#include "lang/marked_calls.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

/// The exception's name and text of `raise ValueError("…")`.
const ast::Call* as_call(const ast::ExprRef& e) { return e ? std::get_if<ast::Call>(&e->node) : nullptr; }

}  // namespace

Names target_names(const ast::ExprRef& target) {
  Names names;
  if (const auto* name = std::get_if<ast::Name>(&target->node))
    names.insert(name->id);
  else
    ast::visit_children(*target, [&](ast::ExprRef& e) {
      if (std::holds_alternative<ast::Tuple>(target->node) || std::holds_alternative<ast::List>(target->node)) names.merge(target_names(e));
    });
  return names;
}

void Lowering::statements(const ast::Body& body) {
  for (const ast::StmtRef& s : body) {
    if (code().dead()) return;
    const size_t depth = code().depth(), loops = loops_.size();
    here_ = s->span;
    auto unwind = [&] {
      while (code().depth() > depth) code().discard();
      loops_.resize(loops);
    };
    try {
      statement(s);
    } catch (const Untyped&) {
      unwind();
      again_ = true;
    } catch (const Unknown& unknown) {
      unwind();
      program_.skipped.push_back({unknown.at, function_.source, unknown.why});
      for (const std::string& name : assigned_names({s})) {
        env_.erase(name);
        unknown_.insert(name);
      }
    } catch (const Unreachable&) {
      while (code().depth() > depth) code().splice();
      loops_.resize(loops);
      code().kill();
    }
  }
}

void Lowering::statement(const ast::StmtRef& s) {
  if (program_.options.lines) code().emit(ir::simt("", DType::i64, "line", {}, site("", "", s->span)));
  std::visit(ast::Overloaded{
                 [&](const ast::ExprStmt& n) {
                   if (!std::holds_alternative<ast::StringLiteral>(n.value->node)) expression(n.value);
                 },
                 [&](const ast::Assign& n) {
                   const Value value = expression(n.value);
                   for (const ast::ExprRef& target : n.targets) assign(target, value);
                 },
                 [&](const ast::AugAssign& n) { augmented(n, s->span); },
                 [&](const ast::AnnAssign& n) {
                   if (n.value) assign(n.target, expression(n.value));
                 },
                 [&](const ast::If& n) { if_statement(n, s.get()); },
                 [&](const ast::While& n) { while_loop(n, s.get()); },
                 [&](const ast::For& n) { for_loop(n, s.get()); },
                 [&](const ast::Break&) {
                   carry(*loops_.back().join);
                   leave(*loops_.back().after);
                 },
                 [&](const ast::Continue&) {
                   carry(*loops_.back().join);
                   leave(*loops_.back().next);
                 },
                 [&](const ast::Pass&) {},
                 [&](const ast::Return& n) { return_statement(n, s->span); },
                 [&](const ast::Raise& n) { raise_statement(n, s->span); },
                 [&](const ast::Assert& n) { assert_statement(n, s->span); },
                 [&](const ast::FunctionDef& n) { nested_function(n, s); },
                 [&](const ast::Delete& n) {
                   for (const ast::ExprRef& target : n.targets) {
                     if (const auto* item = std::get_if<ast::Subscript>(&target->node)) {
                       const Value base = expression(item->value);
                       if (!base.type.is_list() && base.type.text != "dict")
                         unsupported(s->span, "del of an item of " + describe(base.type));
                       CallSite pop{s->span, "pop", {expression(item->index)}, {}};
                       if (const Value& index = pop.args[0]; base.type.is_list() && index.type.kind == Kind::slice) {
                         if (!index.items[2].type.is_none()) unsupported(s->span, "del of a slice with a step");
                         library_function("list.delete_slice")(*this, {s->span, "del", {base, index.items[0], index.items[1]}, {}});
                         continue;
                       }
                       call_value(attribute(base, "pop", s->span), pop);
                       continue;
                     }
                     const auto* name = std::get_if<ast::Name>(&target->node);
                     if (!name) unsupported(s->span, "this del");
                     env_.erase(name->id);
                   }
                 },
                 [&](const ast::Import&) { unsupported(s->span, "import", "import above the function"); },
                 [&](const ast::ImportFrom&) { unsupported(s->span, "import", "import above the function"); },
                 [&](const ast::With&) {
                   unsupported(s->span, "with", "what `with objmode` would do belongs outside: call it there, and pass what it gives");
                 },
                 [&](const ast::Try& n) { try_statement(n, s.get(), s->span); },
                 [&](const ast::Global&) {
                   unsupported(s->span, "global", "a compiled function takes values as arguments and gives them back with return");
                 },
                 [&](const ast::Nonlocal&) { unsupported(s->span, "nonlocal"); },
             },
             s->node);
}

// ---- assignment ----
void Lowering::bind_name(const std::string& name, Value value, Span at) {
  value.span = at;
  if (const auto said = function_.options.locals.find(name); said != function_.options.locals.end())
    value = scalar_value(number(value, said->second));
  if (value.type.is_scalar()) value.scalar = code().bind(value.scalar, name);
  if (value.lazy) value = materialise(value, at);
  value.span = at;
  std::function<void(Value&)> fix = [&](Value& v) {
    if (v.scalar) v.scalar = code().bind(v.scalar, name);
    if (v.lazy) v = materialise(v, at);
    for (Value& item : v.items) fix(item);
  };
  for (Value& item : value.items) fix(item);
  if (!function_.internal) program_.typed.emplace_back(at, name + ": " + to_string(value.type));
  env_[name] = {std::move(value), nullptr};
  unknown_.erase(name);
  if (!catches_.empty()) note_binding(name);
}

void Lowering::assign(const ast::ExprRef& target, const Value& value) {
  std::visit(ast::Overloaded{[&](const ast::Name& n) { bind_name(n.id, value, target->span); },
                             [&](const ast::Tuple& n) { unpack(n.items, value, target->span); },
                             [&](const ast::List& n) { unpack(n.items, value, target->span); },
                             [&](const ast::Subscript& n) { store_subscript(expression(n.value), n.index, value, target->span); },
                             [&](const ast::Attribute& n) { unsupported(target->span, "assignment to the attribute '" + n.name + "'"); },
                             [&](const auto&) { unsupported(target->span, "this assignment"); }},
             target->node);
}

void Lowering::unpack(const std::vector<ast::ExprRef>& targets, const Value& value, Span at) {
  std::vector<Value> items;
  if (value.type.is_tuple()) {
    items = value.items;
  } else if (value.type.is_list()) {
    const ExprRef n = list_length(value);
    raise_if(both(ScalarOp::ne, n, constant_i64(static_cast<int64_t>(targets.size()))), "ValueError",
             "cannot unpack {0} items into " + std::to_string(targets.size()) + " names", at, {n});
    for (size_t k = 0; k < targets.size(); ++k) items.push_back(list_item(value, constant_i64(static_cast<int64_t>(k)), at));
  } else if (value.type.is_array() && value.type.rank > 0) {
    // As many as there are targets: the extent is looked at when it runs.
    const Value array = materialise(value, at);
    const ExprRef count = constant_i64(static_cast<int64_t>(targets.size()));
    raise_if(ir::op(ScalarOp::ne, {array.array->extents[0], count}), "ValueError",
             "cannot unpack {0} elements into " + std::to_string(targets.size()) + " names", at, {array.array->extents[0]});
    for (size_t k = 0; k < targets.size(); ++k) items.push_back(view(array, {scalar_value(constant_i64(static_cast<int64_t>(k)))}, at));
  } else {
    fail(at, describe(value.type) + " cannot be unpacked into names");
  }
  if (items.size() != targets.size())
    fail(at, items.size() < targets.size()
                 ? "not enough values to unpack (expected " + std::to_string(targets.size()) + ", got " + std::to_string(items.size()) + ")"
                 : "too many values to unpack (expected " + std::to_string(targets.size()) + ")");
  // Values are looked at before the first target is bound: a, b = b, a.
  for (Value& item : items) {
    if (item.scalar) item.scalar = code().bind(item.scalar);
    if (item.lazy) item = materialise(item, at);
  }
  for (size_t k = 0; k < items.size(); ++k) assign(targets[k], items[k]);
}

bool Lowering::augmented_in_place(ast::BinaryOp op, const Value& old, const Value& operand, Span at) {
  if (old.type.is_array()) {
    const Value result = binary(op, old, operand, at);
    const DType from = result.type.dtype, to = old.type.dtype;
    if (is_integer(to) && !is_integer(from) && from != DType::boolean)
      fail(at, "the result is " + std::string(name_of(from)) + ", which does not go into " + describe(old.type) + " in place",
           "write the result to a name of its own: y = x / 2, or take //");
    assign_elements(old, result, at);
    return true;
  }
  const char* method = nullptr;
  if (old.type.is_list()) {
    if (op == ast::BinaryOp::add) method = "extend";
    if (op == ast::BinaryOp::mul && operand.type.is_scalar()) method = "multiply";
  } else if (old.type.is_table() && old.type.text == "set" && operand.type.is_table() && operand.type.text == "set") {
    if (op == ast::BinaryOp::bit_or) method = "update";
    if (op == ast::BinaryOp::bit_and) method = "intersection_update";
    if (op == ast::BinaryOp::sub) method = "difference_update";
    if (op == ast::BinaryOp::bit_xor) method = "symmetric_difference_update";
  }
  if (!method) return false;
  library_function((old.type.is_list() ? "list." : "set.") + std::string(method))(*this, {at, method, {old, operand}, {}});
  return true;
}

void Lowering::augmented(const ast::AugAssign& s, Span at) {
  if (const auto* n = std::get_if<ast::Name>(&s.target->node)) {
    const Value old = name(*n, s.target->span);
    const Value operand = expression(s.value);
    if (!augmented_in_place(s.op, old, operand, at)) bind_name(n->id, binary(s.op, old, operand, at), s.target->span);
    return;
  }
  if (const auto* n = std::get_if<ast::Subscript>(&s.target->node)) {
    const Value base = expression(n->value);
    if (base.type.is_list()) {
      item_type(base, at);
      const ExprRef index = code().bind(index_number(expression(n->index), "an index"), "index");
      const Value old = list_item(base, list_place(base, index, at), at);
      const Value operand = expression(s.value);
      if (augmented_in_place(s.op, old, operand, at)) return;
      const Value result = binary(s.op, old, operand, at);
      list_set(base, list_place(base, index, at), result, at);  // the operand may have made the list shorter
      return;
    }
    if (base.type.is_table() && base.type.text == "dict") {
      item_type(base, at);
      const Value key = expression(n->index);
      const Value old = table_part(base, table_place(base, key, at), 1, at);
      const Value operand = expression(s.value);
      if (!augmented_in_place(s.op, old, operand, at)) table_put(base, {key, binary(s.op, old, operand, at)}, at);
      return;
    }
    if (!base.type.is_array()) fail(s.target->span, "an item of " + describe(base.type) + " cannot be assigned to");
    std::vector<Value> indices = index_items(n->index);
    if (is_fancy(indices)) {
      store_fancy(base, indices, binary(s.op, fancy(materialise(base, at), indices, at), expression(s.value), at), at);
      return;
    }
    const Value place = place_of(materialise(base, at), indices, at);
    const bool single = place.type.rank == 0;
    const Value old = single ? scalar_value(code().bind(element(place, {}), "old")) : place;
    const Value result = binary(s.op, old, expression(s.value), at);
    assign_elements(place, result, at);
    return;
  }
  unsupported(at, "this augmented assignment");
}

// ---- branches ----
void Lowering::if_statement(const ast::If& s, const ast::Stmt* key) {
  if (ast::match_call(s)) unsupported(s.test->span, "a match statement", "write if and elif");
  const Value test = expression(s.test);
  // A condition that types decide leaves one branch, whose other may not even have types: `if x is None`.
  const ExprRef condition = code().bind(truth(test), "if");
  if (condition->kind == ir::ExprKind::constant) {
    statements(condition->value.i ? s.body : s.orelse);
    return;
  }
  Names names = assigned_names(s.body);
  const Names others = assigned_names(s.orelse);
  names.insert(others.begin(), others.end());
  const Names& live = liveness_.statements.at(key).after;
  std::erase_if(names, [&](const std::string& name) { return !live.count(name); });
  const Environment before = env_;
  Branch yes, no;
  code().open();
  statements(s.body);
  yes = {code().take(), std::move(env_)};
  env_ = before;
  code().open();
  statements(s.orelse);
  no = {code().take(), std::move(env_)};
  // What only one branch binds and nobody reads later is gone.
  merge_branches(condition, names, std::move(yes), std::move(no));
}

// ---- loops ----
void Lowering::while_loop(const ast::While& s, const ast::Stmt* key) {
  auto test = std::make_shared<ast::Stmt>();
  test->span = s.test->span;
  test->node = ast::ExprStmt{s.test};
  const Names bound = assigned_names({test});
  loop(key, s.body, s.orelse, bound, [&](const Iteration& iteration, Exit& done) {
    code().open();
    iteration.enter();
    const ExprRef condition = code().bind(truth(expression(s.test)), "while");
    const bool endless = condition->kind == ir::ExprKind::constant && condition->value.i;
    if (!endless) {
      code().open();
      if (!bound.empty()) iteration.carry();
      leave(done);
      ir::Body out = code().close();
      code().emit(ir::if_(condition, {}, std::move(out)));
    }
    iteration.body();
    ir::Body body = code().close();
    code().emit(ir::while_(boolean(true), std::move(body)));
    code().kill();
  });
}

void Lowering::for_loop(const ast::For& s, const ast::Stmt* key) {
  if (const ast::Call* call = as_call(s.iter); call && program_.options.parallel && !program_.accesses && !program_.in_instance) {
    const Value callee = expression(call->callee);
    if (callee.type.kind == Kind::function && callee.outside.kind == Outside::Kind::path && callee.outside.text == "numba.prange") {
      const Value range = expression(s.iter);
      for_parallel(s, key, range.items[0], range.items[1], range.items[2]);
      return;
    }
  }
  const Value items = expression(s.iter);
  if (items.type.is_tuple() &&
      !std::all_of(items.items.begin(), items.items.end(), [&](const Value& v) { return v.type == items.items[0].type; }))
    for_unrolled(s, items);
  else if (items.type.kind == Kind::range)
    for_range(s, key, items.items[0], items.items[1], items.items[2]);
  else
    for_items(s, key, items);
}

void Lowering::for_range(const ast::For& s, const ast::Stmt* key, const Value& start, const Value& stop, const Value& step) {
  const ExprRef first = code().bind(index_number(start, "range"), "start"), last = code().bind(index_number(stop, "range"), "stop"),
                by = code().bind(index_number(step, "range"), "step");
  const bool unit = is_one(by);
  const ExprRef count =
      unit
          ? last
          : range_count(*this, range_value(*this, {scalar_value(first), scalar_value(last), scalar_value(by)}, s.iter->span), s.iter->span);
  if (code().dead()) return;
  const DType type = start.type.dtype == DType::u64 && stop.type.dtype == DType::u64 ? DType::u64 : DType::i64;
  Names targets;
  targets = target_names(s.target);
  loop(key, s.body, s.orelse, targets, [&](const Iteration& iteration, Exit&) {
    const std::string counter = code().fresh(std::get_if<ast::Name>(&s.target->node) ? std::get<ast::Name>(s.target->node).id : "i");
    code().open();
    const ExprRef k = ir::variable(counter, DType::i64);
    const ExprRef i = unit ? k : code().bind(first + k * by, "i");
    const int outside = code().last_name(), roots = program_.roots;
    const size_t used = program_.accesses ? program_.accesses->size() : 0;
    iteration.enter();
    Value item = scalar_value(ir::cast(i, type));
    item.span = s.target->span;
    assign(s.target, item);
    iteration.body();
    ir::Body body = code().close();
    // Inside of a parallel loop: whether these iterations, too, could run in any order, on a GPU.
    if (program_.accesses && unit) {
      const ExprRef apart = independent(std::span(*program_.accesses).subspan(used), {k, {first}, outside, roots, true}, s.iter->span);
      if (apart->kind == ir::ExprKind::constant && apart->value.i) program_.parallel.independent.insert(counter);
    }
    code().emit(ir::loop(counter, unit ? first : constant_i64(0), count, ir::LoopKind::serial, std::move(body)));
  });
}

namespace {

/// A `break` or a `continue` of the loop that has this body.
const ast::Stmt* leaves_loop(const ast::Body& body) {
  for (const ast::StmtRef& s : body) {
    if (std::holds_alternative<ast::Break>(s->node) || std::holds_alternative<ast::Continue>(s->node)) return s.get();
    if (std::holds_alternative<ast::For>(s->node) || std::holds_alternative<ast::While>(s->node) ||
        std::holds_alternative<ast::FunctionDef>(s->node))
      continue;
    const ast::Stmt* found = nullptr;
    ast::visit_children(
        *s, [](ast::ExprRef&) {},
        [&](ast::Body& inner) {
          if (!found) found = leaves_loop(inner);
        });
    if (found) return found;
  }
  return nullptr;
}

}  // namespace

void Lowering::for_unrolled(const ast::For& s, const Value& items) {
  if (const ast::Stmt* leaves = leaves_loop(s.body))
    unsupported(leaves->span, "break and continue in a loop over items of several types", "say with `if` what is to be done for an item");
  const std::string around = instance_;
  for (size_t k = 0; k < items.items.size() && !code().dead(); ++k) {
    const Meanwhile instance(instance_, around + "#" + std::to_string(k));  // what is found of types is this item's
    Value item = items.items[k];
    item.span = s.target->span;
    assign(s.target, item);
    statements(s.body);
  }
  if (!code().dead()) statements(s.orelse);
}

void Lowering::for_items(const ast::For& s, const ast::Stmt* key, Value items) {
  const Span at = s.iter->span;
  if (items.lazy) items = materialise(items, at);
  items = begin_walk(std::move(items), at);
  // A list may grow and shrink while it is walked along.
  const bool changes = walks_list(items);
  const ExprRef fixed = changes ? nullptr : code().bind(count_of_items(items, at), "count");
  loop(key, s.body, s.orelse, target_names(s.target), [&](const Iteration& iteration, Exit& done) {
    const std::string counter = code().fresh("k");
    ExprRef k = ir::variable(counter, DType::i64);
    if (changes) code().emit(ir::var(counter, constant_i64(0)));
    code().open();
    if (changes) {
      const ExprRef n = code().bind(count_of_items(items, at), "count");
      code().open();
      leave(done);
      ir::Body out = code().close();
      k = code().snapshot(counter, DType::i64, "k");
      code().emit(ir::if_(both(ScalarOp::lt, k, n), {}, std::move(out)));
      code().emit(ir::assign(counter, k + constant_i64(1)));
    }
    iteration.enter();
    Value item = item_at(items, k, at);
    item.span = s.target->span;
    assign(s.target, item);
    iteration.body();
    ir::Body body = code().close();
    if (changes) {
      code().emit(ir::while_(boolean(true), std::move(body)));
      code().kill();
    } else {
      code().emit(ir::loop(counter, constant_i64(0), fixed, ir::LoopKind::serial, std::move(body)));
    }
  });
}

// ---- leaving ----
void Lowering::return_statement(const ast::Return& s, Span at) {
  Value value = s.value ? expression(s.value) : none_value();
  value.span = at;
  return_value(std::move(value), at);
}

void Lowering::return_value(Value value, Span at) {
  if (code().dead()) return;
  std::function<void(Value&)> fix = [&](Value& v) {
    if (v.lazy) v = materialise(v, at);
    for (Value& item : v.items) fix(item);
  };
  fix(value);
  value.span = at;
  const Meanwhile instance(instance_, own_instance_);
  if (widen(body_, "", value.type, at)) return_again_ = true;
  if (!return_again_) {
    const Type& type = program_.found.at({body_, instance_});
    if (give_)
      (*give_)(convert(value, type));
    else
      write({{&*returned_, convert(value, type)}});
  }
  if (give_) {  // the context frees what is left, when the result was taken
    return_exit_->used = true;
    code().emit(ir::leave(return_exit_->scope));
    code().kill();
  } else {
    leave(*return_exit_);
  }
}

}  // namespace gasell::functions
