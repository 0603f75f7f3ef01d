#include "compiler/ir/ir.h"

#include "lang/diagnostic.h"

namespace gasell::ir {
namespace {

[[noreturn]] void broken(const std::string& what) { throw Error("SystemError", "loop IR: " + what, "", Blame::internal); }

ExprRef make(Expr expr) { return std::make_shared<const Expr>(std::move(expr)); }
StmtRef make(Stmt stmt) { return std::make_shared<const Stmt>(std::move(stmt)); }

bool is_integer_constant(const ExprRef& e, int64_t value) {
  return e->kind == ExprKind::constant && is_integer(e->type) && e->value.i == value;
}

/// x + 0, x * 1, x == x and the like, of integers and truth values; null when nothing applies.
ExprRef simplify(ScalarOp op, const std::vector<ExprRef>& args) {
  if (args.size() != 2) return nullptr;
  const ExprRef &a = args[0], &b = args[1];
  if (a->type == DType::boolean && (op == ScalarOp::logical_and || op == ScalarOp::logical_or)) {
    const bool settles = op == ScalarOp::logical_or;  // what a constant must be to be the result
    for (const auto& [known, other] : {std::pair{a, b}, {b, a}})
      if (known->kind == ExprKind::constant) return (known->value.i != 0) == settles ? known : other;
  }
  if (!is_integer(a->type)) return nullptr;
  const bool same = a->kind == ExprKind::variable && b->kind == ExprKind::variable && a->name == b->name;
  switch (op) {
    case ScalarOp::eq:
    case ScalarOp::le:
    case ScalarOp::ge: return same ? constant(Scalar::of_bool(true)) : nullptr;
    case ScalarOp::ne:
    case ScalarOp::lt:
    case ScalarOp::gt: return same ? constant(Scalar::of_bool(false)) : nullptr;
    case ScalarOp::add: return is_integer_constant(a, 0) ? b : is_integer_constant(b, 0) ? a : nullptr;
    case ScalarOp::sub: return is_integer_constant(b, 0) ? a : nullptr;
    case ScalarOp::mul:
      if (is_integer_constant(a, 0) || is_integer_constant(b, 1)) return a;
      return is_integer_constant(b, 0) || is_integer_constant(a, 1) ? b : nullptr;
    case ScalarOp::floordiv: return is_integer_constant(b, 1) ? a : nullptr;
    default: return nullptr;
  }
}

}  // namespace

ExprRef constant(Scalar value) {
  Expr e{ExprKind::constant, value.type};
  e.value = value;
  return make(std::move(e));
}
ExprRef constant_i64(int64_t value) { return constant(Scalar::of_int(value)); }

ExprRef variable(std::string name, DType type) {
  Expr e{ExprKind::variable, type};
  e.name = std::move(name);
  return make(std::move(e));
}

ExprRef load(std::string array, DType type, ExprRef index) {
  if (index->type != DType::i64) broken("the index of " + array + " is not i64");
  Expr e{ExprKind::load, type};
  e.name = std::move(array);
  e.args = {std::move(index)};
  return make(std::move(e));
}

ExprRef op(ScalarOp op, std::vector<ExprRef> args) {
  const ScalarOpInfo& facts = info(op);
  if (static_cast<int>(args.size()) != facts.arity) broken(std::string(facts.name) + " takes " + std::to_string(facts.arity) + " operands");
  const size_t first = op == ScalarOp::select ? 1 : 0;
  if (first == 1 && args[0]->type != DType::boolean) broken("the condition of select is not boolean");
  bool constants = args[0]->kind == ExprKind::constant;
  for (size_t k = first + 1; k < args.size(); ++k) {
    if (args[k]->type != args[first]->type)
      broken(std::string(facts.name) + ": operands of types " + std::string(name_of(args[first]->type)) + " and " +
             std::string(name_of(args[k]->type)));
    constants = constants && args[k]->kind == ExprKind::constant;
  }
  if (!accepts(op, args[first]->type)) throw Undefined(op, args[first]->type);
  constants = constants && args[first]->kind == ExprKind::constant;
  if (constants) {
    std::vector<Scalar> values;
    for (const ExprRef& a : args) values.push_back(a->value);
    return constant(evaluate(op, values.data()));
  }
  if (ExprRef simpler = simplify(op, args)) return simpler;
  Expr e{ExprKind::op, result_type(op, args[first]->type)};
  e.op = op;
  e.args = std::move(args);
  return make(std::move(e));
}

ExprRef cast(ExprRef value, DType to) {
  if (value->type == to) return value;
  if (value->kind == ExprKind::constant) return constant(value->value.cast(to));
  Expr e{ExprKind::cast, to};
  e.args = {std::move(value)};
  return make(std::move(e));
}

ExprRef bitcast(ExprRef value, DType to) {
  if (value->type == to) return value;
  if (gasell::size_of(value->type) != gasell::size_of(to) || is_complex(to) || is_complex(value->type) || kind(to) == 'b' ||
      kind(value->type) == 'b')
    broken("bitcast between " + std::string(name_of(value->type)) + " and " + std::string(name_of(to)));
  Expr e{ExprKind::bitcast, to};
  e.args = {std::move(value)};
  return make(std::move(e));
}
ExprRef address(std::string array) {
  Expr e{ExprKind::address, DType::i64};
  e.name = std::move(array);
  return make(std::move(e));
}

ExprRef operator+(ExprRef a, ExprRef b) { return op(ScalarOp::add, {std::move(a), std::move(b)}); }
ExprRef operator-(ExprRef a, ExprRef b) { return op(ScalarOp::sub, {std::move(a), std::move(b)}); }
ExprRef operator*(ExprRef a, ExprRef b) { return op(ScalarOp::mul, {std::move(a), std::move(b)}); }
ExprRef operator/(ExprRef a, ExprRef b) { return op(ScalarOp::floordiv, {std::move(a), std::move(b)}); }
ExprRef operator%(ExprRef a, ExprRef b) { return op(ScalarOp::mod, {std::move(a), std::move(b)}); }

StmtRef let(std::string name, ExprRef value) {
  Stmt s{StmtKind::let, std::move(name), value->type};
  s.value = std::move(value);
  return make(std::move(s));
}
StmtRef var(std::string name, ExprRef value) {
  Stmt s{StmtKind::var, std::move(name), value->type};
  s.value = std::move(value);
  return make(std::move(s));
}
StmtRef assign(std::string name, ExprRef value) {
  Stmt s{StmtKind::assign, std::move(name), value->type};
  s.value = std::move(value);
  return make(std::move(s));
}
StmtRef local_array(std::string name, DType type, int64_t size) {
  Stmt s{StmtKind::local_array, std::move(name), type};
  s.size = size;
  return make(std::move(s));
}
StmtRef store(std::string array, ExprRef index, ExprRef value) {
  Stmt s{StmtKind::store, std::move(array), value->type};
  s.index = std::move(index);
  s.value = std::move(value);
  return make(std::move(s));
}
StmtRef loop(std::string name, ExprRef begin, ExprRef end, LoopKind kind, Body body) {
  Stmt s{StmtKind::loop, std::move(name)};
  s.begin = std::move(begin);
  s.end = std::move(end);
  s.loop_kind = kind;
  s.body = std::move(body);
  return make(std::move(s));
}
StmtRef if_(ExprRef condition, Body body, Body orelse) {
  Stmt s{StmtKind::if_, ""};
  s.value = std::move(condition);
  s.body = std::move(body);
  s.orelse = std::move(orelse);
  return make(std::move(s));
}
StmtRef while_(ExprRef condition, Body body) {
  Stmt s{StmtKind::while_, ""};
  s.value = std::move(condition);
  s.body = std::move(body);
  return make(std::move(s));
}
StmtRef barrier(Space space) {
  Stmt s{StmtKind::barrier, ""};
  s.space = space;
  return make(std::move(s));
}
StmtRef prefetch(std::string array, ExprRef index) {
  Stmt s{StmtKind::prefetch, std::move(array)};
  s.index = std::move(index);
  return make(std::move(s));
}
StmtRef scope(std::string name, Body body, bool catches) {
  Stmt s{StmtKind::scope, std::move(name)};
  s.body = std::move(body);
  s.catches = catches;
  return make(std::move(s));
}
StmtRef leave(std::string scope) { return make(Stmt{StmtKind::leave, std::move(scope)}); }
StmtRef raise(int64_t site, std::vector<ExprRef> args) {
  Stmt s{StmtKind::raise, ""};
  s.size = site;
  s.args = std::move(args);
  return make(std::move(s));
}
StmtRef check(std::string name, ExprRef index, ExprRef extent, int64_t site) {
  Stmt s{StmtKind::check, std::move(name)};
  s.value = std::move(index);
  s.end = std::move(extent);
  s.size = site;
  return make(std::move(s));
}
StmtRef allocate(std::string name, DType type, ExprRef count, int64_t site) {
  Stmt s{StmtKind::allocate, std::move(name), type};
  s.index = std::move(count);
  s.size = site;
  return make(std::move(s));
}
StmtRef pointer(std::string name, DType type, std::string source) {
  Stmt s{StmtKind::pointer, std::move(name), type};
  s.source = std::move(source);
  return make(std::move(s));
}
StmtRef pointer_at(std::string name, DType type, ExprRef address) {
  Stmt s{StmtKind::pointer, std::move(name), type};
  s.value = std::move(address);
  return make(std::move(s));
}
StmtRef point(std::string name, std::string source) {
  Stmt s{StmtKind::point, std::move(name)};
  s.source = std::move(source);
  return make(std::move(s));
}
StmtRef call(std::string name, DType type, std::string function, std::vector<ExprRef> args) {
  Stmt s{StmtKind::call, std::move(name), type};
  s.source = std::move(function);
  s.args = std::move(args);
  return make(std::move(s));
}
StmtRef atomic(std::string name, std::string operation, std::string array, DType type, ExprRef index, std::vector<ExprRef> args) {
  Stmt s{StmtKind::atomic, std::move(name), type};
  s.operation = std::move(operation);
  s.source = std::move(array);
  s.index = std::move(index);
  s.args = std::move(args);
  return make(std::move(s));
}
StmtRef simt(std::string name, DType type, std::string function, std::vector<ExprRef> args, int64_t site) {
  Stmt s{StmtKind::simt, std::move(name), type};
  s.source = std::move(function);
  s.args = std::move(args);
  s.size = site;
  return make(std::move(s));
}
StmtRef poll() { return make(Stmt{StmtKind::poll, ""}); }

}  // namespace gasell::ir
