#include "compiler/functions/instances.h"

#include <algorithm>

#include "compiler/functions/slots.h"
#include "compiler/ir/transform.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;
using PK = ir::Parameter::Kind;

namespace {

constexpr size_t kMostInstances = 100;
const std::string kCall = "instance ";  // what a call of an instance has for its function until finish_instances

/// Classes of named tuples may share a name.
void add_classes(const Type& type, std::string& key) {
  if (type.named) key += "=" + std::to_string(reinterpret_cast<uintptr_t>(type.named.get()));
  for (const Type& item : type.items) add_classes(item, key);
}

/// What tells instances apart.
std::string key_of(const Function& function, const std::vector<Value>& arguments) {
  std::string key = function.name + "@" + std::to_string(reinterpret_cast<uintptr_t>(function.identity));
  for (const Value& v : arguments) {
    key += ";" + to_string(v.type);
    add_classes(v.type, key);
    if (v.type.kind == Kind::text) key += "=" + v.type.text;
    if (v.type.kind != Kind::function) continue;
    const Outside& o = v.outside;
    key += "=" + (o.function ? std::to_string(reinterpret_cast<uintptr_t>(o.function->identity)) : o.text);
  }
  return key;
}

/// Declares an instance's parameters for a value like this one.
Value parameters_like(Code& code, const Value& given, const std::string& name, Instance& instance) {
  auto number = [&](DType dtype) {
    const std::string fresh = code.fresh(name);
    instance.kernel.params.push_back({PK::scalar, fresh, dtype});
    return ir::variable(fresh, dtype);
  };
  Value v;
  v.type = given.type;
  v.outside = given.outside;
  switch (v.type.kind) {
    case Kind::scalar: v.scalar = number(v.type.dtype); break;
    case Kind::list:
    case Kind::table:
    case Kind::generator:
    case Kind::array: {
      ArrayValue a;
      a.memory = code.fresh(name);
      a.root = ArrayValue::kAnywhere;
      instance.kernel.params.push_back({PK::any, a.memory, v.type.is_array() ? v.type.dtype : DType::i64});
      if (v.type.is_array()) {
        a.offset = number(DType::i64);
        for (int k = 0; k < v.type.rank; ++k) a.extents.push_back(number(DType::i64));
        if (v.type.layout == Layout::any)
          for (int k = 0; k < v.type.rank; ++k) a.strides.push_back(number(DType::i64));
        else
          a.strides = c_strides(a.extents);
        a.is_whole();
      }
      v.array = std::make_shared<ArrayValue>(std::move(a));
      break;
    }
    case Kind::optional: v.present = number(DType::boolean); [[fallthrough]];
    default:
      for (const Value& item : given.items) v.items.push_back(parameters_like(code, item, name, instance));
  }
  return v;
}

/// The arguments for those parameters, in their order.
void arguments_of(const Value& v, std::vector<ExprRef>& to) {
  switch (v.type.kind) {
    case Kind::scalar: to.push_back(v.scalar); break;
    case Kind::list:
    case Kind::table:
    case Kind::generator: to.push_back(ir::address(v.array->memory)); break;
    case Kind::array:
      to.push_back(ir::address(v.array->memory));
      to.push_back(v.array->offset);
      to.insert(to.end(), v.array->extents.begin(), v.array->extents.end());
      if (v.type.layout == Layout::any) to.insert(to.end(), v.array->strides.begin(), v.array->strides.end());
      break;
    case Kind::optional: to.push_back(v.present); [[fallthrough]];
    default:
      for (const Value& item : v.items) arguments_of(item, to);
  }
}

}  // namespace

void Lowering::lower_instance(Instance& instance, const Function& function, const std::vector<Value>& arguments, Span at) {
  const auto& params = parameters_of(function);
  std::vector<Code::Block> around = code().exchange(std::vector<Code::Block>(2));  // the inner one releases what it owns
  const Meanwhile accesses(program_.accesses, static_cast<std::vector<Access>*>(nullptr));
  const Meanwhile exact(program_.exact, false), in_instance(program_.in_instance, true);
  const Meanwhile active(program_.active, std::vector<const void*>{function.identity});
  try {
    std::vector<Value> values;
    for (size_t k = 0; k < arguments.size(); ++k) {
      values.push_back(parameters_like(code(), arguments[k], params[k].name, instance));
      values.back().span = params[k].span;
      std::function<void(const Value&)> note = [&](const Value& v) {
        if (v.array) instance.arrays.push_back(v.array->memory);
        for (const Value& item : v.items) note(item);
      };
      note(values.back());
    }
    Lowering inner(program_, function, instance.key);
    inner.is_instance_ = true;
    inner.caller_ = this;
    inner.called_at_ = at;
    try {
      const Value v = inner.run(std::move(values));
      if (!code().dead()) {
        need_returnable(*this, v.type, at, false);
        for_each_memory(v, [&](const std::string& memory) { code().retain(memory); });
        note_addresses(v);
        instance.result = v.type;
        store_slots(code(), "results", constant_i64(0), v);
      }
    } catch (const Unreachable&) {
      instance.result = Type{};  // it never returns
    }
    while (code().depth() > 2) code().splice();
    instance.kernel.body = code().close();
  } catch (...) {
    code().exchange(std::move(around));
    throw;
  }
  code().exchange(std::move(around));
}

Value Lowering::call_instance(const Function& function, std::vector<Value> arguments, Span at) {
  if (program_.options.cuda) unsupported(at, "recursion in a kernel", "write a loop");
  if (program_.nested.count(&function)) unsupported(at, "recursion of a function inside another", "define '" + function.name + "' outside");
  for (Value& v : arguments) {
    std::function<void(Value&)> settle = [&](Value& value) {
      if (value.lazy) value = materialise(value, at);
      if (value.scalar) value.scalar = code().bind(value.scalar);
      for (Value& item : value.items) settle(item);
    };
    settle(v);
  }
  const std::string key = key_of(function, arguments);
  const bool fresh = !program_.instances.count(key);
  if (fresh && program_.instances.size() >= kMostInstances)
    fail(at, "the recursion of '" + function.name + "' does not come to an end of types: each call is of others");
  Instance& instance = program_.instances[key];
  Type result = instance.result;
  if (fresh) {
    instance.key = key;
    instance.kernel.name = function.name == "<lambda>" ? "lambda" : function.name;
    const size_t skipped = program_.skipped.size();
    lower_instance(instance, function, arguments, at);
    result = instance.result;
    if (program_.skipped.size() > skipped) {
      // It waits for the type of another that is being lowered, which will come here again.
      program_.instances.erase(key);
      const std::string nothing = code().fresh("results");
      code().emit(ir::local_array(nothing, DType::i64, std::max(slots_of(result), 1)));
      return load_slots(result, nothing, constant_i64(0));
    }
    instance.finished = true;
    ++program_.finished;
  } else if (!instance.finished) {
    const void* body = function.definition ? static_cast<const void*>(&std::get<ast::FunctionDef>(function.definition->node).body)
                                           : static_cast<const void*>(function.lambda.get());
    const auto known = program_.found.find({body, key});
    if (known == program_.found.end())
      throw Unknown{at, "the type of what '" + function.name + "' returns cannot be found: every way out of it calls it again"};
    result = known->second;
  }
  // ---- the call, which finish_instances completes ----
  std::vector<ExprRef> given;
  std::vector<std::string> memories;
  for (const Value& v : arguments) {
    arguments_of(v, given);
    for_each_memory(v, [&](const std::string& memory) { memories.push_back(memory); });
    note_addresses(v);
  }
  for (size_t k = 0; k < memories.size(); ++k) program_.points.emplace(instance.arrays[k], memories[k]);
  for (const Value& v : arguments)
    if (v.array) note_access(*v.array, {}, true, at);
  const std::string results = code().fresh("results"), ended = code().fresh("ended");
  code().emit(ir::local_array(results, DType::i64, std::max(slots_of(result), 1)));
  given.insert(given.begin(), ir::address(results));
  code().emit(ir::call(ended, DType::i64, kCall + key, std::move(given)));
  const ExprRef how = ir::variable(ended, DType::i64);
  code().open();
  raise_if(both(ScalarOp::eq, how, constant_i64(2)), "RecursionError", "maximum recursion depth exceeded", at);
  code().emit(ir::raise(1, {}));  // the error that is noted stays
  ir::Body failed = code().close();
  code().emit(ir::if_(both(ScalarOp::ne, how, constant_i64(0)), std::move(failed), {}));
  const Value v = load_slots(result, results, constant_i64(0));
  for_each_memory(v, [&](const std::string& memory) { code().own(memory); });
  return v;
}

// ---- real calls ----
namespace {

class Finish {
 public:
  Finish(const std::map<std::string, Instance>& instances, const std::vector<ir::Parameter>& captured)
      : instances_(instances), captured_(captured) {}

  ir::Body body(const ir::Body& statements) {
    ir::Body result;
    for (const ir::StmtRef& s : statements) {
      if (s->kind == ir::StmtKind::call && s->source.starts_with(kCall)) {
        call(*s, instances_.find(s->source.substr(kCall.size())), result);
        continue;
      }
      if (s->body.empty() && s->orelse.empty()) {
        result.push_back(s);
        continue;
      }
      ir::Stmt copy = *s;
      copy.body = body(s->body);
      copy.orelse = body(s->orelse);
      result.push_back(ir::make_statement(std::move(copy)));
    }
    return result;
  }

 private:
  /// The arguments go in two tables, as a HostKernelFunction takes them.
  void call(const ir::Stmt& s, std::map<std::string, Instance>::const_iterator callee, ir::Body& code) {
    const Instance& instance = callee->second;
    std::vector<ExprRef> arrays, scalars;
    auto add = [&](const ir::Parameter& p, const ExprRef& e) {
      if (p.kind != PK::scalar) return arrays.push_back(e);
      if (is_complex(e->type)) {
        for (const ScalarOp part : {ScalarOp::real, ScalarOp::imag}) scalars.push_back(slot(ir::op(part, {e})));
      } else {
        scalars.push_back(slot(e));
      }
    };
    for (size_t k = 0; k < instance.kernel.params.size(); ++k) add(instance.kernel.params[k], s.args[k + 1]);
    for (const ir::Parameter& p : captured_) add(p, p.kind == PK::scalar ? ir::variable(p.name, p.type) : ir::address(p.name));
    for (const char* name : {"context", "error", "interrupt"}) arrays.push_back(ir::address(name));
    arrays.push_back(s.args[0]);
    const size_t n = arrays.size();
    // Kernels that check bounds find the memories' ends behind their beginnings.
    arrays.resize(2 * n, constant_i64(0));
    arrays.resize(3 * n, constant_i64(-1));
    const std::string number = std::to_string(++calls_), array_table = "arrays_call" + number, scalar_table = "scalars_call" + number;
    auto table = [&](const std::string& name, const std::vector<ExprRef>& values) {
      code.push_back(ir::local_array(name, DType::i64, std::max<int64_t>(1, static_cast<int64_t>(values.size()))));
      for (size_t k = 0; k < values.size(); ++k) code.push_back(ir::store(name, constant_i64(static_cast<int64_t>(k)), values[k]));
    };
    table(array_table, arrays);
    table(scalar_table, scalars);
    code.push_back(ir::call(s.name, DType::i64, "gasell_call",
                            {ir::address("context"), constant_i64(std::distance(instances_.begin(), callee)), ir::address(array_table),
                             ir::address(scalar_table)}));
  }
  static ExprRef slot(const ExprRef& e) {
    return is_float(e->type) ? ir::bitcast(ir::cast(e, DType::f64), DType::i64) : ir::cast(e, DType::i64);
  }

  const std::map<std::string, Instance>& instances_;
  const std::vector<ir::Parameter>& captured_;
  int calls_ = 0;
};

}  // namespace

void finish_instances(Compiled& function, std::map<std::string, Instance>& instances, const std::vector<ir::Parameter>& captured) {
  if (instances.empty()) return;
  Finish finish(instances, captured);
  function.kernel.body = finish.body(function.kernel.body);
  for (const auto& [key, instance] : instances) {
    ir::Kernel kernel = instance.kernel;
    kernel.function = true;
    kernel.fast_math = function.kernel.fast_math;
    kernel.body = finish.body(kernel.body);
    kernel.params.insert(kernel.params.end(), captured.begin(), captured.end());
    for (const auto& [name, type] :
         {std::pair{"context", DType::u8}, {"error", DType::i64}, {"interrupt", DType::u8}, {"results", DType::i64}})
      kernel.params.push_back({PK::any, name, type});
    function.instances.push_back(std::move(kernel));
  }
}

}  // namespace gasell::functions
