// The frame of a compiled function: its parameters, its result, the kernel around its code.
#include "compiler/functions/lowering.h"
#include "compiler/functions/outline.h"
#include "compiler/ir/text.h"
#include "lang/ast_visit.h"

namespace gasell::functions {

using ir::constant_i64;
using Kind = Type::Kind;

namespace {

/// How many `return`s stand in a body, those of inner functions not among them.
int returns_in(const ast::Body& body) {
  int count = 0;
  for (const ast::StmtRef& s : body) {
    count += std::holds_alternative<ast::Return>(s->node);
    if (std::holds_alternative<ast::FunctionDef>(s->node)) continue;
    ast::visit_children(*s, [](ast::ExprRef&) {}, [&](ast::Body& inner) { count += returns_in(inner); });
  }
  return count;
}

ExprRef slot_bits(const ExprRef& e) {
  if (is_float(e->type)) return ir::bitcast(ir::cast(e, DType::f64), DType::i64);
  return ir::cast(e, DType::i64);
}

}  // namespace

Lowering::Lowering(Program& program, const Function& function, std::string instance)
    : program_(program), function_(function), instance_(std::move(instance)) {}

bool Lowering::is_taken(const std::string& name) const {
  const ast::FunctionScope& scope = function_.definition ? std::get<ast::FunctionDef>(function_.definition->node).scope
                                                         : std::get<ast::Lambda>(function_.lambda->node).scope;
  for (size_t k = static_cast<size_t>(scope.own_cells); k < scope.cells.size(); ++k)
    if (scope.cells[k] == name) return true;
  return false;
}

Value Lowering::run(std::vector<Value> arguments) {
  const auto& params = function_.definition ? std::get<ast::FunctionDef>(function_.definition->node).params
                                            : std::get<ast::Lambda>(function_.lambda->node).params;
  auto bind = [&] {
    env_.clear();
    for (size_t k = 0; k < params.size(); ++k) bind_name(params[k].name, arguments[k], give_ ? params[k].span : arguments[k].span);
  };
  if (function_.lambda) {
    bind();
    return expression(std::get<ast::Lambda>(function_.lambda->node).body);
  }
  const ast::Body& body = std::get<ast::FunctionDef>(function_.definition->node).body;
  body_ = &body;
  liveness_ = find_liveness(body);
  const auto* last = body.empty() ? nullptr : std::get_if<ast::Return>(&body.back()->node);
  if (!give_ && last && returns_in(body) == 1) {
    bind();
    ast::Body before(body.begin(), body.end() - 1);
    statements(before);
    if (code().dead()) throw Unreachable{};
    Value v = last->value ? expression(last->value) : none_value();
    return v.lazy ? materialise(v, body.back()->span) : v;
  }
  for (;;) {
    const size_t sites = program_.sites.size(), typed = program_.typed.size();
    return_again_ = false;
    code().open();
    bind();
    const auto known = program_.found.find({&body, instance_});
    if (known != program_.found.end() && !give_) returned_ = declare(known->second, function_.name);
    Exit exit{code().fresh("return"), code().depth()};
    return_exit_ = &exit;
    code().open();
    statements(body);
    return_value(none_value(), body.empty() ? Span{} : body.back()->span);
    close_exit(exit);
    if (!return_again_) {
      code().splice();
      if (give_) return none_value();
      if (!returned_) throw Unreachable{};  // it never returns
      return read(*returned_, function_.name);
    }
    code().discard();
    program_.sites.resize(sites);
    program_.typed.resize(typed);
  }
}

void Lowering::run_outermost(std::vector<Value> arguments, const std::function<void(const Value&)>& give) {
  give_ = &give;
  program_.active.push_back(function_.identity);
  run(std::move(arguments));
}

namespace {

/// Declares the parameters of a value that is an argument.
Value parameter(Program& program, const Type& type, const std::string& name, std::vector<ir::Parameter>& params) {
  auto number = [&](DType dtype) {
    const std::string fresh = program.code.fresh(name);
    params.push_back({ir::Parameter::Kind::scalar, fresh, dtype});
    return ir::variable(fresh, dtype);
  };
  Value v;
  v.type = type;
  switch (type.kind) {
    case Kind::scalar: v.scalar = number(type.dtype); break;
    case Kind::array: {
      ArrayValue a;
      a.memory = program.code.fresh(name);
      params.push_back({ir::Parameter::Kind::out, a.memory, type.dtype});
      a.offset = constant_i64(0);
      for (int k = 0; k < type.rank; ++k) a.extents.push_back(number(DType::i64));
      if (type.layout == Layout::any)
        for (int k = 0; k < type.rank; ++k) a.strides.push_back(number(DType::i64));
      else
        a.strides = c_strides(a.extents);
      a.root = program.overlapping ? ArrayValue::kAnywhere : ++program.roots;
      a.is_whole();
      v.array = std::make_shared<ArrayValue>(std::move(a));
      break;
    }
    case Kind::tuple:
      for (const Type& item : type.items) v.items.push_back(parameter(program, item, name, params));
      break;
    default:
      if (type.constant) {  // a function, a dtype
        v.outside = *type.constant;
        v.type.text = v.outside.kind == Outside::Kind::function ? v.outside.function->name : v.outside.text;
      }
  }
  return v;
}

/// Stores a result into its slots.
void give_result(Program& program, const Value& v, int& slot) {
  auto store = [&](const ExprRef& e) { program.code.emit(ir::store("results", constant_i64(slot++), e)); };
  switch (v.type.kind) {
    case Kind::scalar:
      if (is_complex(v.type.dtype)) {
        store(slot_bits(ir::op(ScalarOp::real, {v.scalar})));
        store(slot_bits(ir::op(ScalarOp::imag, {v.scalar})));
      } else {
        store(slot_bits(v.scalar));
      }
      break;
    case Kind::array: {
      store(ir::address(v.array->memory));
      store(v.array->offset);
      for (const ExprRef& e : v.array->extents) store(e);
      for (const ExprRef& e : v.array->strides) store(e);
      break;
    }
    case Kind::optional: store(ir::cast(v.present, DType::i64)); [[fallthrough]];
    default:
      for (const Value& item : v.items) give_result(program, item, slot);
  }
}

int slots_of(const Type& type) {
  switch (type.kind) {
    case Kind::scalar: return is_complex(type.dtype) ? 2 : 1;
    case Kind::array: return 2 + 2 * type.rank;
    default: {
      int slots = type.kind == Kind::optional ? 1 : 0;
      for (const Type& item : type.items) slots += slots_of(item);
      return slots;
    }
  }
}

}  // namespace

Compiled compile(const Function& function, const std::vector<Type>& arguments, bool overlapping) {
  Program program;
  program.options = function.options;
  program.overlapping = overlapping;
  const bool cuda = function.options.cuda;
  if (cuda) program.code.count_nothing();
  const auto& params = function.definition ? std::get<ast::FunctionDef>(function.definition->node).params
                                           : std::get<ast::Lambda>(function.lambda->node).params;
  std::vector<ir::Parameter> parameters;
  std::vector<Value> values;
  for (size_t k = 0; k < arguments.size(); ++k) {
    values.push_back(parameter(program, arguments[k], params[k].name, parameters));
    values.back().span = params[k].span;
  }
  Compiled result;
  std::optional<Type> returned;
  const std::function<void(const Value&)> give = [&](const Value& v) {
    int slot = 0;
    if (cuda && !v.type.is_none())
      throw Error(Diagnostic{Blame::user,
                             "TypeError",
                             "a CUDA kernel returns nothing, and '" + function.name + "' returns " + describe(v.type),
                             Label{function.source, v.span, ""},
                             {},
                             "write into an array that the kernel is given"});
    give_result(program, v, slot);
    returned = v.type;
  };
  Lowering lowering(program, function, "");
  if (function.lambda) {
    const Value v = lowering.run(std::move(values));
    give(v.lazy ? lowering.materialise(v, v.span) : v);
  } else {
    lowering.run_outermost(std::move(values), give);
  }
  // What is written: stored to, itself or through a pointer.
  std::set<std::string> written = program.stored;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [pointer, memory] : program.points)
      if (written.count(pointer)) more |= written.insert(memory).second;
  }
  for (ir::Parameter& p : parameters) {
    if (p.kind == ir::Parameter::Kind::scalar) continue;
    const bool writes = written.count(p.name) > 0;
    result.writes.push_back(writes);
    // What other threads write, barriers between, may not be taken to stay as it is.
    p.kind = overlapping || (cuda && writes) ? ir::Parameter::Kind::any : writes ? ir::Parameter::Kind::out : ir::Parameter::Kind::in;
  }
  parameters.insert(parameters.end(), program.captured_parameters.begin(), program.captured_parameters.end());
  using PK = ir::Parameter::Kind;
  if (!cuda) parameters.push_back({PK::any, "context", DType::u8});
  parameters.push_back({PK::any, "error", DType::i64});
  if (!cuda) {
    parameters.push_back({PK::any, "interrupt", DType::u8});
    parameters.push_back({PK::any, "results", DType::i64});
  }
  result.kernel.name = function.name == "<lambda>" ? "lambda" : function.name;
  result.kernel.params = std::move(parameters);
  result.kernel.body = program.code.close();
  result.loops = std::move(program.loops);
  result.kernel.function = true;
  result.kernel.simt = cuda;
  result.kernel.fast_math = function.options.fast_math;
  result.arguments = arguments;
  if (returned) result.result = *returned;
  result.result_slots = slots_of(result.result);
  result.sites = std::move(program.sites);
  result.captured = std::move(program.captured);
  result.typed = std::move(program.typed);
  outline_parallel_loops(result, written, overlapping || (function.options.unchecked_parallel && !program.points.empty()));
  ir::verify(result.kernel);
  for (const ir::Kernel& region : result.regions) ir::verify(region);
  return result;
}

}  // namespace gasell::functions
