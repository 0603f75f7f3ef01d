// Statements of compiled functions.
#include "compiler/functions/lowering.h"
#include "lang/ast_visit.h"

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
                     const auto* name = std::get_if<ast::Name>(&target->node);
                     if (!name) unsupported(s->span, "del of an item");
                     env_.erase(name->id);
                   }
                 },
                 [&](const ast::Import&) { unsupported(s->span, "import", "import above the function"); },
                 [&](const ast::ImportFrom&) { unsupported(s->span, "import", "import above the function"); },
                 [&](const ast::With&) { unsupported(s->span, "with"); },
                 [&](const ast::Try&) { unsupported(s->span, "try", "catch the exception where the function is called"); },
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
  if (value.type.is_scalar()) value.scalar = code().bind(value.scalar, name);
  if (value.lazy) value = materialise(value, at);
  value.span = at;
  std::function<void(Value&)> fix = [&](Value& v) {
    if (v.scalar) v.scalar = code().bind(v.scalar, name);
    if (v.lazy) v = materialise(v, at);
    for (Value& item : v.items) fix(item);
  };
  for (Value& item : value.items) fix(item);
  program_.typed.emplace_back(at, name + ": " + to_string(value.type));
  env_[name] = {std::move(value), nullptr};
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
  } else if (value.type.is_array()) {
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

void Lowering::augmented(const ast::AugAssign& s, Span at) {
  if (const auto* n = std::get_if<ast::Name>(&s.target->node)) {
    const Value old = name(*n, s.target->span);
    const Value operand = expression(s.value);
    if (old.type.is_array()) {
      assign_elements(old, binary(s.op, old, operand, at), at);
      return;
    }
    bind_name(n->id, binary(s.op, old, operand, at), s.target->span);
    return;
  }
  if (const auto* n = std::get_if<ast::Subscript>(&s.target->node)) {
    const Value base = expression(n->value);
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
  loop(key, s.body, s.orelse, {}, [&](const Iteration& iteration, Exit& done) {
    code().open();
    iteration.enter();
    const ExprRef condition = truth(expression(s.test));
    const bool endless = condition->kind == ir::ExprKind::constant && condition->value.i;
    if (!endless) {
      code().open();
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
  if (const ast::Call* call = as_call(s.iter)) {
    const Value callee = expression(call->callee);
    const std::string path = callee.type.kind == Kind::function && callee.outside.kind == Outside::Kind::path ? callee.outside.text : "";
    if (path == "range" || path == "numba.prange") {
      if (!call->keywords.empty() || call->args.empty() || call->args.size() > 3)
        fail(s.iter->span, "range takes 1 to 3 numbers: range(stop), range(start, stop), range(start, stop, step)");
      std::vector<Value> args;
      for (const ast::ExprRef& a : call->args) args.push_back(expression(a));
      const Value zero = scalar_value(constant_i64(0)), one = scalar_value(constant_i64(1));
      const Value &start = args.size() > 1 ? args[0] : zero, &stop = args[args.size() > 1 ? 1 : 0], &step = args.size() > 2 ? args[2] : one;
      if (path == "numba.prange" && program_.options.parallel && !program_.accesses)
        for_parallel(s, key, start, stop, step);
      else
        for_range(s, key, start, stop, step);
      return;
    }
    if (path == "enumerate" || path == "zip") {
      std::vector<Value> args;
      for (const ast::ExprRef& a : call->args) args.push_back(expression(a));
      for_items(s, key, path, std::move(args));
      return;
    }
  }
  for_items(s, key, "", {expression(s.iter)});
}

void Lowering::for_range(const ast::For& s, const ast::Stmt* key, const Value& start, const Value& stop, const Value& step) {
  const ExprRef first = code().bind(index_number(start, "range"), "start"), last = code().bind(index_number(stop, "range"), "stop"),
                by = code().bind(index_number(step, "range"), "step");
  const bool unit = by->kind == ir::ExprKind::constant && by->value.i == 1;
  ExprRef count = last;
  if (!unit) {
    raise_if(ir::op(ScalarOp::eq, {by, constant_i64(0)}), "ValueError", "range() arg 3 must not be zero", s.iter->span);
    if (code().dead()) return;
    const ExprRef up = (last - first + by - constant_i64(1)) / by, down = (first - last - by - constant_i64(1)) / (constant_i64(0) - by);
    if (by->kind == ir::ExprKind::constant)
      count = by->value.i > 0 ? up : down;
    else
      count = ir::op(ScalarOp::select, {ir::op(ScalarOp::gt, {by, constant_i64(0)}), up, down});
    count = code().bind(count, "count");
  }
  const DType type = start.type.dtype == DType::u64 && stop.type.dtype == DType::u64 ? DType::u64 : DType::i64;
  Names targets;
  targets = target_names(s.target);
  loop(key, s.body, s.orelse, targets, [&](const Iteration& iteration, Exit&) {
    const std::string counter = code().fresh(std::get_if<ast::Name>(&s.target->node) ? std::get<ast::Name>(s.target->node).id : "i");
    code().open();
    const ExprRef k = ir::variable(counter, DType::i64);
    const ExprRef i = unit ? k : code().bind(first + k * by, "i");
    iteration.enter();
    Value item = scalar_value(ir::cast(i, type));
    item.span = s.target->span;
    assign(s.target, item);
    iteration.body();
    ir::Body body = code().close();
    code().emit(ir::loop(counter, unit ? first : constant_i64(0), count, ir::LoopKind::serial, std::move(body)));
  });
}

void Lowering::for_items(const ast::For& s, const ast::Stmt* key, const std::string& how, std::vector<Value> items) {
  // A tuple's items may be of several types: the body is written once for each.
  if (how.empty() && items[0].type.is_tuple()) {
    const auto& all = items[0].items;
    const bool uniform = std::all_of(all.begin(), all.end(), [&](const Value& v) { return v.type == all[0].type; });
    if (!uniform) fail(s.iter->span, "a loop over " + describe(items[0].type) + " needs items of one type");
  }
  ExprRef start = constant_i64(0);
  if (how == "enumerate" && items.size() == 2) {
    start = code().bind(index_number(items[1], "enumerate"), "start");
    items.pop_back();
  }
  ExprRef count;
  for (Value& v : items) {
    if (v.lazy) v = materialise(v, s.iter->span);
    if (!v.type.is_array() && !v.type.is_tuple()) fail(s.iter->span, describe(v.type) + " cannot be iterated over");
    if (v.type.is_array() && v.type.rank == 0) fail(s.iter->span, "a 0-d array cannot be iterated over");
    const ExprRef n = v.type.is_tuple() ? constant_i64(static_cast<int64_t>(v.items.size())) : v.array->extents[0];
    count = count ? ir::op(ScalarOp::min, {count, n}) : n;
  }
  if (!count) fail(s.iter->span, "nothing to iterate over");
  count = code().bind(count, "count");
  loop(key, s.body, s.orelse, target_names(s.target), [&](const Iteration& iteration, Exit&) {
    const std::string counter = code().fresh("k");
    const ExprRef k = ir::variable(counter, DType::i64);
    code().open();
    iteration.enter();
    std::vector<Value> parts;
    if (how == "enumerate") parts.push_back(scalar_value(start + k));
    for (const Value& v : items) parts.push_back(v.type.is_tuple() ? tuple_item(v, k, s.iter->span) : item_of(v, k, s.iter->span));
    Value item = how.empty() ? parts[0] : tuple_value(std::move(parts));
    item.span = s.target->span;
    assign(s.target, item);
    iteration.body();
    ir::Body body = code().close();
    code().emit(ir::loop(counter, constant_i64(0), count, ir::LoopKind::serial, std::move(body)));
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

void Lowering::raise_statement(const ast::Raise& s, Span at) {
  if (!s.exception) unsupported(at, "raise without an exception");
  const ast::Call* call = as_call(s.exception);
  const Value type = expression(call ? call->callee : s.exception);
  if (type.type.kind != Kind::function || type.outside.kind != Outside::Kind::path)
    fail(at, "only exceptions can be raised, not " + describe(type.type));
  std::string message;
  if (call && !call->args.empty()) {
    const Value text = expression(call->args[0]);
    if (text.type.kind == Kind::text)
      message = text.type.text;
    else
      unsupported(call->args[0]->span, "a message that is not a constant string");
  }
  code().emit(ir::raise(site(type.outside.text, message, at), {}));
  code().kill();
}

void Lowering::assert_statement(const ast::Assert& s, Span at) {
  std::string message;
  if (s.message) {
    const Value text = expression(s.message);
    if (text.type.kind != Kind::text) unsupported(s.message->span, "a message that is not a constant string");
    message = text.type.text;
  }
  raise_if(ir::op(ScalarOp::logical_not, {truth(expression(s.test))}), "AssertionError", message, at);
}

int64_t Lowering::site(std::string exception, std::string message, Span at) {
  program_.sites.push_back({std::move(exception), std::move(message), at, function_.source, function_.name});
  return static_cast<int64_t>(program_.sites.size());
}

void Lowering::raise_if(ExprRef condition, std::string exception, std::string message, Span at, std::vector<ExprRef> numbers) {
  if (condition->kind == ir::ExprKind::constant && !condition->value.i) return;
  const int64_t number = site(std::move(exception), std::move(message), at);
  if (condition->kind == ir::ExprKind::constant) {
    code().emit(ir::raise(number, std::move(numbers)));
    code().kill();
    return;
  }
  code().emit(ir::if_(std::move(condition), {ir::raise(number, std::move(numbers))}, {}));
}

}  // namespace gasell::functions
