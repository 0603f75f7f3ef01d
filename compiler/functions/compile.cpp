// The frame of a compiled function: its parameters, its result, the kernel around its code.
#include "compiler/functions/instances.h"
#include "compiler/functions/lowering.h"
#include "compiler/functions/outline.h"
#include "compiler/functions/slots.h"
#include "compiler/ir/common_subexpressions.h"
#include "compiler/ir/propagate.h"
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

}  // namespace

Lowering::Lowering(Program& program, const Function& function, std::string instance)
    : program_(program), function_(function), own_instance_(std::move(instance)), instance_(own_instance_) {}

bool Lowering::is_taken(const std::string& name) const {
  const ast::FunctionScope& scope = function_.definition ? std::get<ast::FunctionDef>(function_.definition->node).scope
                                                         : std::get<ast::Lambda>(function_.lambda->node).scope;
  for (size_t k = static_cast<size_t>(scope.own_cells); k < scope.cells.size(); ++k)
    if (scope.cells[k] == name) return true;
  return false;
}

Value Lowering::run(std::vector<Value> arguments) {
  return defined([&] { return run_body(std::move(arguments)); });
}

Value Lowering::run_body(std::vector<Value> arguments) {
  const auto& params = parameters_of(function_);
  auto bind = [&] {
    env_.clear();
    unknown_.clear();
    for (size_t k = 0; k < params.size(); ++k) bind_name(params[k].name, arguments[k], give_ ? params[k].span : arguments[k].span);
  };
  if (function_.lambda) {
    bind();
    here_ = function_.lambda->span;
    return expression(std::get<ast::Lambda>(function_.lambda->node).body);
  }
  const ast::Body& body = std::get<ast::FunctionDef>(function_.definition->node).body;
  body_ = &body;
  liveness_ = find_liveness(body);
  const auto* last = body.empty() ? nullptr : std::get_if<ast::Return>(&body.back()->node);
  if (!give_ && !is_instance_ && last && returns_in(body) == 1) {
    bind();
    ast::Body before(body.begin(), body.end() - 1);
    const size_t skipped = program_.skipped.size();
    statements(before);
    if (program_.skipped.size() > skipped) throw Unknown{program_.skipped.back().at, program_.skipped.back().why};
    if (code().dead()) throw Unreachable{};
    here_ = body.back()->span;
    Value v = last->value ? expression(last->value) : none_value();
    return v.lazy ? materialise(v, body.back()->span) : v;
  }
  for (;;) {
    const Mark start = mark();
    return_again_ = false;
    code().open();
    bind();
    const auto known = program_.found.find({&body, instance_});
    if (known != program_.found.end() && !give_) returned_ = declare(known->second, function_.name);
    Exit exit{code().fresh("return"), code().depth()};
    return_exit_ = &exit;
    code().open();
    statements(body);
    // Where something was left out, this may not be the end.
    const bool skipped = program_.skipped.size() > start.skipped;
    if (!skipped) return_value(none_value(), body.empty() ? Span{} : body.back()->span);
    close_exit(exit);
    if (!return_again_) {
      code().splice();
      if (skipped && !give_ && !is_instance_) throw Unknown{program_.skipped.back().at, program_.skipped.back().why};
      if (give_) return none_value();
      if (!returned_) throw Unreachable{};  // it never returns
      return read(*returned_, function_.name);
    }
    code().discard();
    forget_since(start);
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
    case Kind::scalar:
      v.scalar = number(type.dtype);
      if (!type.constant) break;
      v.scalar = ir::constant(Scalar(type.constant->value).cast(type.dtype));  // whatever is passed is this
      v.type.constant = nullptr;
      break;
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
    case Kind::list:
    case Kind::table:
    case Kind::generator: {
      ArrayValue a;
      a.memory = program.code.fresh(name);
      a.root = program.overlapping ? ArrayValue::kAnywhere : ++program.roots;
      params.push_back({ir::Parameter::Kind::any, a.memory, DType::i64});
      v.array = std::make_shared<ArrayValue>(std::move(a));
      break;
    }
    case Kind::optional: v.present = number(DType::boolean); [[fallthrough]];
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

}  // namespace

static Compiled compile_once(Program& program, const Function& function, const std::vector<Type>& arguments, bool overlapping) {
  program.options = function.options;
  program.overlapping = overlapping;
  const bool cuda = function.options.cuda;
  if (cuda) program.code.count_nothing();
  const Span at = function.definition ? std::get<ast::FunctionDef>(function.definition->node).name_span : function.lambda->span;
  const auto& params = parameters_of(function);
  std::vector<ir::Parameter> parameters;
  std::vector<Value> values;
  for (size_t k = 0; k < arguments.size(); ++k) {
    values.push_back(parameter(program, arguments[k], params[k].name, parameters));
    values.back().span = params[k].span;
  }
  Compiled result;
  std::optional<Type> returned;
  Lowering lowering(program, function, "");
  const std::function<void(const Value&)> give = [&](const Value& v) {
    if (cuda && !v.type.is_none())
      throw Error(Diagnostic{Blame::user,
                             "TypeError",
                             "a CUDA kernel returns nothing, and '" + function.name + "' returns " + describe(v.type),
                             Label{function.source, v.span, ""},
                             {},
                             "write into an array that the kernel is given"});
    need_returnable(lowering, v.type, v.span.end ? v.span : at, true);
    store_slots(program.code, "results", constant_i64(0), v);
    returned = v.type;
  };
  if (program.lasting->recursive.count(function.identity)) {
    give(lowering.call_instance(function, std::move(values), at));
  } else if (function.lambda) {
    const Value v = lowering.run(std::move(values));
    give(lowering.defined([&] { return v.lazy ? lowering.materialise(v, v.span) : v; }));
  } else {
    lowering.run_outermost(std::move(values), give);
  }
  if (!program.skipped.empty()) {
    const Skipped& skipped = program.skipped.front();
    throw Error(Diagnostic{Blame::user, "TypingError", skipped.why, Label{skipped.source, skipped.at, ""}, {}, ""});
  }
  // What is written: stored to, itself or through a pointer.
  std::set<std::string> written = program.stored;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [pointer, memory] : program.points)
      if (written.count(pointer)) more |= written.insert(memory).second;
  }
  for (ir::Parameter& p : parameters) {
    if (p.kind != ir::Parameter::Kind::out) continue;  // numbers, and lists and other objects, which change
    const bool writes = written.count(p.name) > 0;
    result.writes.push_back(writes);
    // What other threads write, barriers between, may not be taken to stay as it is.
    p.kind = overlapping || (cuda && writes) ? ir::Parameter::Kind::any : writes ? ir::Parameter::Kind::out : ir::Parameter::Kind::in;
  }
  for (int k = 0; k < kDTypeCount; ++k) result.writes_held.push_back(written.count(noted_arrays(static_cast<DType>(k))) > 0);
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
  result.kernel.registers = function.options.registers;
  result.kernel.fast_math = function.options.fast_math;
  result.arguments = arguments;
  if (returned) result.result = *returned;
  result.result_slots = slots_of(result.result);
  result.sites = std::move(program.sites);
  result.captured = std::move(program.captured);
  result.typed = std::move(program.typed);
  result.texts = std::move(program.texts);
  finish_instances(result, program.instances, program.captured_parameters);
  // What code that seldom runs takes with it, under one name each.
  if (!cuda && !function.options.parallel) result.kernel = ir::eliminate_common_subexpressions(ir::propagate_constants(result.kernel));
  outline_parallel_loops(result, program.parallel, written,
                         overlapping || (function.options.unchecked_parallel && !program.points.empty()));
  ir::verify(result.kernel);
  for (const ir::Kernel& region : result.regions) ir::verify(region);
  for (const ir::Kernel& grid : result.grids)
    if (!grid.name.empty()) ir::verify(grid);
  for (const ir::Kernel& instance : result.instances) ir::verify(instance);
  return result;
}

namespace {

void refuse_half(const Type& type) {
  if ((type.is_scalar() || type.is_array()) && type.dtype == DType::f16)
    throw Error("NotImplementedError", "float16 in compiled functions is not in Gasell", "give float32: x.astype(np.float32)",
                Blame::limitation);
  for (const Type& item : type.items) refuse_half(item);
}

}  // namespace

Compiled compile(const Function& function, const std::vector<Type>& arguments, bool overlapping) {
  for (const Type& argument : arguments) refuse_half(argument);
  if (function.make) return function.make(arguments, overlapping, function.options);
  Lasting lasting;
  std::map<std::pair<const void*, std::string>, Type> found;
  for (;;) {
    Program program;
    program.lasting = &lasting;
    program.found = std::move(found);
    try {
      return compile_once(program, function, arguments, overlapping);
    } catch (const Restart&) {
      found = std::move(program.found);
    }
  }
}

}  // namespace gasell::functions
