// raise, assert and try in compiled functions.
#include "compiler/functions/lowering.h"
#include "lang/ast_visit.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

/// Whether statements leave what is around them: return, or break and continue of a loop around.
bool leaves(const ast::Body& body, bool in_loop) {
  for (const ast::StmtRef& s : body) {
    if (std::holds_alternative<ast::Return>(s->node)) return true;
    if (!in_loop && (std::holds_alternative<ast::Break>(s->node) || std::holds_alternative<ast::Continue>(s->node))) return true;
    if (std::holds_alternative<ast::FunctionDef>(s->node)) continue;
    const bool loop = std::holds_alternative<ast::For>(s->node) || std::holds_alternative<ast::While>(s->node);
    bool found = false;
    ast::visit_children(*s, [](ast::ExprRef&) {}, [&](ast::Body& inner) { found = found || leaves(inner, in_loop || loop); });
    if (found) return true;
  }
  return false;
}

ExprRef error_slot(int k) { return ir::load("error", DType::i64, constant_i64(k)); }

}  // namespace

// ---- raising ----
/// The text of an exception's argument; numbers that are known when it runs stand in it as places.
std::string Lowering::message_of(const ast::ExprRef& e, std::vector<ExprRef>& numbers) {
  auto placed = [&](const Value& v) -> std::string {
    if (v.type.kind == Kind::text) return v.type.text;
    if (v.type.is_none()) return "None";
    if (!v.type.is_scalar() || is_complex(v.type.dtype) || numbers.size() == 3)
      unsupported(e->span, "a message that has more in it than constants and three numbers");
    const std::string place = "{" + std::to_string(numbers.size());
    if (is_float(v.type.dtype)) {
      numbers.push_back(ir::bitcast(ir::cast(v.scalar, DType::f64), DType::i64));
      return place + ":f}";
    }
    numbers.push_back(ir::cast(v.scalar, DType::i64));
    return place + (v.type.dtype == DType::boolean ? ":b}" : "}");
  };
  if (const auto* f = std::get_if<ast::FString>(&e->node)) {
    std::string text;
    for (const ast::FStringPart& part : f->parts) {
      if (!part.value) {
        text += part.text;
        continue;
      }
      if (!part.spec.empty() || part.conversion) unsupported(e->span, "a format in a message", "give the value as it is");
      text += part.source_text + placed(expression(part.value));
    }
    return text;
  }
  return placed(expression(e));
}

void Lowering::raise_statement(const ast::Raise& s, Span at) {
  if (!s.exception) unsupported(at, "raise without an exception", "raise one of your own");
  if (s.cause) unsupported(at, "raise … from …");
  const auto* call = std::get_if<ast::Call>(&s.exception->node);
  const Value type = expression(call ? call->callee : s.exception);
  if (type.type.kind != Kind::function || type.outside.kind != Outside::Kind::path)
    fail(at, "only exceptions can be raised, not " + describe(type.type));
  std::string message;
  std::vector<ExprRef> numbers;
  if (call && !call->args.empty()) message = message_of(call->args[0], numbers);
  const int64_t number = site(type.outside.text, message, at);
  for (size_t k = 1; call && k < call->args.size(); ++k) {
    const size_t before = numbers.size();
    const std::string text = message_of(call->args[k], numbers);
    program_.sites[static_cast<size_t>(number - 1)].more.push_back(numbers.size() > before ? text : "'" + text);
  }
  code().emit(ir::raise(number, std::move(numbers)));
  code().kill();
}

void Lowering::assert_statement(const ast::Assert& s, Span at) {
  const ExprRef failed = negation(truth(expression(s.test)));
  if (is_constant(failed) && !failed->value.i) return;
  code().open();
  std::vector<ExprRef> numbers;
  const std::string message = s.message ? message_of(s.message, numbers) : "";
  code().emit(ir::raise(site("AssertionError", message, at), std::move(numbers)));
  code().kill();
  ir::Body body = code().close();
  code().emit(ir::if_(failed, std::move(body), {}));
}

int64_t Lowering::site(std::string exception, std::string message, Span at) {
  const auto [function, place] = users_place(at);
  program_.sites.push_back({std::move(exception), std::move(message), place, function->source, function->name});
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

// ---- catching ----
/// What the body binds and others read is written to variables wherever it is bound: any place may be the last that was reached.
void Lowering::try_statement(const ast::Try& s, const ast::Stmt* key, Span at) {
  if (program_.options.cuda) unsupported(at, "try in a kernel");
  if (program_.accesses) unsupported(at, "try inside prange", "use range, or look at what would raise beforehand");
  if (s.handlers.size() > 1)
    unsupported(s.handlers[1].span, "more than one except",
                "exceptions have no types here: one `except:` or `except Exception:` catches all");
  for (const ast::ExceptHandler& h : s.handlers) {
    if (!h.name.empty())
      unsupported(h.span, "the name of an exception (`as " + h.name + "`)", "nothing is known of it here but that it came");
    if (!h.type) continue;
    const Value type = expression(h.type);
    if (type.outside.kind != Outside::Kind::path || type.outside.text != "Exception")
      unsupported(h.type->span, "except for one type of exceptions", "`except:` or `except Exception:` catches all");
  }
  if (!s.finalbody.empty() &&
      (leaves(s.body, false) || leaves(s.orelse, false) || (!s.handlers.empty() && leaves(s.handlers[0].body, false))))
    unsupported(at, "return, break or continue out of a try that has finally", "note the result, and leave behind it");
  const Liveness::Of& live = liveness_.statements.at(key);
  Names bound = assigned_names(s.body);
  std::erase_if(bound, [&](const std::string& name) { return !live.head.count(name) && !live.after.count(name); });
  const Environment before = env_;
  const bool around = std::exchange(again_, false);
  const Mark start = mark();
  for (;;) {
    const int widened = program_.widened;
    again_ = false;
    env_ = before;
    code().open();
    Join join{key, {}};
    std::vector<std::pair<const Storage*, Value>> initial;
    for (const std::string& name : bound) {
      const auto known = before.find(name);
      if (known != before.end()) widen(key, name, known->second.value.type, known->second.value.span);
      Carried carried;
      if (const auto type = program_.found.find({key, instance_ + name}); type != program_.found.end()) {
        carried.storage = declare(type->second, name);
        if (known != before.end()) carried.storage->constant = known->second.value;
      }
      if (known == before.end() || known->second.defined) {
        carried.defined = code().fresh("defined");
        code().emit(ir::var(carried.defined, known == before.end() ? boolean(false) : known->second.defined));
      }
      join.names[name] = std::move(carried);
    }
    for (const auto& [name, carried] : join.names)
      if (const auto known = before.find(name); known != before.end())
        initial.emplace_back(&*carried.storage, convert(known->second.value, carried.storage->type));
    write(initial);
    bool left = false;  // the way through the body ends in it
    auto attempt = [&] {
      const std::string name = code().fresh("try");
      code().open();
      catches_.push_back(&join);
      statements(s.body);
      catches_.pop_back();
      left = code().dead();
      ir::Body inside = code().close();
      if (s.handlers.empty()) {  // finally alone: what is raised goes there
        code().emit(ir::scope(name, std::move(inside)));
        return;
      }
      code().emit(ir::scope(name, std::move(inside), true));
      enter(join);
      const ExprRef failed = code().bind(both(ScalarOp::ne, error_slot(0), constant_i64(0)), "failed");
      const Environment there = env_;
      code().open();
      // Who interrupts is not caught.
      code().emit(ir::if_(both(ScalarOp::lt, error_slot(0), constant_i64(0)), {ir::raise(1, {})}, {}));
      for (int k = 0; k < 4; ++k) code().emit(ir::store("error", constant_i64(k), constant_i64(0)));
      statements(s.handlers[0].body);
      Branch handled{code().take(), std::move(env_)};
      env_ = there;
      code().open();
      if (left) code().kill();
      statements(s.orelse);
      Branch passed{code().take(), std::move(env_)};
      Names names = assigned_names(s.handlers[0].body);
      const Names others = assigned_names(s.orelse);
      names.insert(others.begin(), others.end());
      std::erase_if(names, [&](const std::string& name) { return !live.after.count(name); });
      merge_branches(failed, names, std::move(handled), std::move(passed));
    };
    if (s.finalbody.empty()) {
      attempt();
    } else {
      Names all = assigned_names(s.body);
      for (const ast::ExceptHandler& h : s.handlers) all.merge(assigned_names(h.body));
      all.merge(assigned_names(s.orelse));
      // What finally and others behind it read of what handlers bind goes through variables, too.
      for (const std::string& name : all)
        if (!bound.count(name) && live.after.count(name))
          unsupported(at, "'" + name + "', set in except or else of a try that has finally, and used behind it",
                      "set it before the try, too");
      const std::string finally = code().fresh("finally");
      code().open();
      catches_.push_back(&join);
      attempt();
      catches_.pop_back();
      const bool ended = code().dead() || (left && s.handlers.empty());
      ir::Body inside = code().close();
      code().emit(ir::scope(finally, std::move(inside), true));
      enter(join);
      std::vector<ExprRef> pending;
      for (int k = 0; k < 4; ++k) pending.push_back(code().bind(error_slot(k), "pending"));
      for (int k = 0; k < 4; ++k) code().emit(ir::store("error", constant_i64(k), constant_i64(0)));
      statements(s.finalbody);
      if (!code().dead()) {
        ir::Body go_on;
        for (int k = 0; k < 4; ++k) go_on.push_back(ir::store("error", constant_i64(k), pending[static_cast<size_t>(k)]));
        go_on.push_back(ir::raise(1, {}));
        code().emit(ir::if_(both(ScalarOp::ne, pending[0], constant_i64(0)), std::move(go_on), {}));
        if (ended) code().kill();
      }
    }
    if (!again_ || program_.widened == widened) {
      code().splice();
      again_ = around || again_;
      return;
    }
    code().discard();
    forget_since(start);
  }
}

/// Writes what a name was just bound to into the variables of the try statements around.
void Lowering::note_binding(const std::string& name) {
  for (const Join* join : catches_) {
    const auto carried = join->names.find(name);
    if (carried == join->names.end()) continue;
    const Value& value = env_.at(name).value;
    const auto& storage = carried->second.storage;
    const auto unified = storage ? unify(storage->type, value.type) : std::nullopt;
    if (!unified || *unified != storage->type) {
      if (widen(join->key, name, value.type, value.span)) again_ = true;
      continue;
    }
    write({{&*storage, convert(value, storage->type)}});
    if (!carried->second.defined.empty()) code().emit(ir::assign(carried->second.defined, boolean(true)));
  }
}

}  // namespace gasell::functions
