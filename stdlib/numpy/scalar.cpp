// NumPy scalars, dtype objects and their types.
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
const Type& generic_type() {
  static const Type type = [] {
    Type t{"generic", "numpy"};
    t.methods = scalar_methods();
    t.properties = scalar_properties();
    return t;
  }();
  return type;
}

namespace {

/// np.number, np.integer, np.floating, … between generic and the dtypes.
const Type& abstract_type(const char* name) {
  static std::map<std::string, Type>* const types = new std::map<std::string, Type>;
  auto found = types->find(name);
  if (found != types->end()) return found->second;
  const std::string n = name;
  const Type& base = n == "number"                                    ? generic_type()
                     : n == "integer" || n == "inexact"               ? abstract_type("number")
                     : n == "signedinteger" || n == "unsignedinteger" ? abstract_type("integer")
                                                                      : abstract_type("inexact");
  return types->emplace(n, Type{n, "numpy", &base}).first->second;
}

template <int index>
Value construct(Interpreter& in, std::span<Value> args) {
  const auto dtype = static_cast<DType>(index);
  if (is_missing(args[0])) return wrap_scalar(Scalar::of_int(0).cast(dtype));
  if (args[0].is_none() && is_integer(dtype))
    raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'");
  if (args[0].is_none()) {  // NaN, and no truth
    const double value = dtype == DType::boolean ? 0 : std::nan("");
    return wrap_scalar((is_complex(dtype) ? Scalar::of_complex({value, value}) : Scalar::of_float(value)).cast(dtype));
  }
  if (const auto* s = args[0].as<Str>()) {
    if (dtype == DType::boolean) return wrap_scalar(Scalar::of_bool(!s->value.empty()));
    if (is_integer(dtype)) return wrap(cast_weak(graph::constant(Scalar::of_int(parse_int(s->value))), dtype));
    if (is_complex(dtype)) return wrap_scalar(Scalar::of_complex(parse_complex(s->value)).cast(dtype));
    return wrap_scalar(Scalar::of_float(parse_float(s->value)).cast(dtype));
  }
  return wrap(as_node(in, args[0], dtype));
}

/// TypeError for parts of a complex scalar that are complex numbers of Python's, or texts.
void check_parts(Interpreter& in, const Value& first, const Value& second) {
  const auto is_part = [](const Value& v) {
    const auto* scalar = v.as<NumpyScalar>();
    return !v.as<Complex>() && !v.as<Str>() && !(scalar && scalar->dtype() == DType::c128);
  };
  if (!is_part(first) || !is_part(second))
    raise("TypeError", "Could not convert arguments into a complex scalar. '" + repr(in, make_tuple({first, second})) + "' given.");
}

struct ScalarTypes {
  std::vector<NativeFunction> constructors;
  std::vector<Type> types;

  ScalarTypes() {
    constructors.reserve(kDTypeCount);
    types.reserve(kDTypeCount);
    add(std::make_integer_sequence<int, kDTypeCount>());
  }
  template <int... index>
  void add(std::integer_sequence<int, index...>) {
    (add_one<index>(), ...);
  }
  template <int index>
  void add_one() {
    const auto dtype = static_cast<DType>(index);
    constructors.push_back({std::string(name_of(dtype)), "*value", nullptr, "A NumPy scalar, or an array of this dtype."});
    constructors.back().call = [](Interpreter& in, std::span<Value> args) {
      const auto& given = args[0].as<Tuple>()->items;
      const auto type = static_cast<DType>(index);
      if (given.size() > 1 && !(is_complex(type) && given.size() == 2))
        raise("TypeError", std::string(name_of(type)) + "() takes at most 1 argument (" + std::to_string(given.size()) + " given)");
      if (given.size() == 2) check_parts(in, given[0], given[1]);
      Value one = given.empty()       ? missing()
                  : given.size() == 1 ? given[0]
                                      : call(in, type_object(complex_type()), {{given[0], given[1]}, {}});
      return construct<index>(in, std::span(&one, 1));
    };
    Type t{std::string(name_of(dtype)), "numpy"};
    switch (kind(dtype)) {
      case 'b': t.base = &generic_type(); break;
      case 'i': t.base = &abstract_type("signedinteger"); break;
      case 'u': t.base = &abstract_type("unsignedinteger"); break;
      case 'f': t.base = &abstract_type("floating"); break;
      default: t.base = &abstract_type("complexfloating");
    }
    if (dtype == DType::f64) t.second_base = &float_type();
    if (dtype == DType::c128) t.second_base = &complex_type();
    t.constructor = &constructors.back();
    types.push_back(std::move(t));
  }
};

const ScalarTypes& scalar_types() {
  static const ScalarTypes types;
  return types;
}

Value construct_dtype(Interpreter& in, std::span<Value> args) {
  const bool aligned = truth(in, args[1]);
  truth(in, args[2]);
  if (Value typed = typed_dtype(in, args[0]); !typed.is_none()) {
    if (aligned && get_attribute(in, typed, "kind").as<Str>()->value == "V")
      raise("NotImplementedError", "dtypes of records with align=True are not in Gasell",
            "\"offsets\" of the dict form says where fields lie");
    return typed;
  }
  const auto d = to_dtype(in, args[0]);
  return dtype_object(d.value_or(DType::f64));
}

const DTypeObject& self_dtype(const Value& v) { return *v.as<DTypeObject>(); }

/// A number as arithmetic of float64 with int64 sees it.
struct Number {
  char kind = 0;  // 'f', 'i'; 0: something else, or not known
  bool numpy = false;
  double f = 0;
  int64_t i = 0;
  double as_double() const { return kind == 'f' ? f : static_cast<double>(i); }
};
Number number_of(const Value& v) {
  if (v.is_float()) return {'f', false, v.as_float(), 0};
  if (v.is_int() && !v.is_bool()) return {'i', false, 0, v.as_int()};
  const auto* scalar = v.as<NumpyScalar>();
  const Scalar* known = scalar ? scalar->known() : nullptr;
  if (known && known->type == DType::f64) return {'f', true, known->c.real(), 0};
  if (known && known->type == DType::i64) return {'i', true, 0, known->i};
  return {};
}

/// Two numbers in the dtype that arithmetic of them has, where that is plain: those of one dtype, and one beside a Python number that it
/// takes as it is.
struct OfOneType {
  Scalar values[2];
  DType type() const { return values[0].type; }
};
std::optional<Scalar> weak_number(const Value& v, DType type) {
  if (is_integer(type)) {
    if (!v.is_int()) return {};
    const Scalar number = Scalar::of_int(v.as_int()).cast(type);
    if (number.i != v.as_int() || (type == DType::u64 && v.as_int() < 0)) return {};
    return number;
  }
  if (!is_float(type)) return {};
  if (v.is_int()) return Scalar::of_int(v.as_int()).cast(type);
  if (v.is_float()) return Scalar::of_float(v.as_float()).cast(type);
  return {};
}
std::optional<OfOneType> of_one_type(const Value& a, const Value& b) {
  const auto known = [](const Value& v) {
    const auto* scalar = v.as<NumpyScalar>();
    return scalar ? scalar->known() : nullptr;
  };
  const Scalar *x = known(a), *y = known(b);
  if (x && y) return x->type == y->type ? std::optional(OfOneType{{*x, *y}}) : std::nullopt;
  if (!x && !y) return {};
  const std::optional<Scalar> other = weak_number(x ? b : a, (x ? x : y)->type);
  if (!other) return {};
  return OfOneType{{x ? *x : *other, x ? *other : *y}};
}

/// The operation that a operator is for numbers of a dtype, where the result has that dtype and nothing else needs a look.
std::optional<ScalarOp> operation_of(ast::BinaryOp op, DType type) {
  const bool whole = is_integer(type);
  if (!whole && !is_float(type)) return {};
  switch (op) {
    case ast::BinaryOp::add: return ScalarOp::add;
    case ast::BinaryOp::sub: return ScalarOp::sub;
    case ast::BinaryOp::mul: return ScalarOp::mul;
    case ast::BinaryOp::floordiv: return ScalarOp::floordiv;
    case ast::BinaryOp::mod: return ScalarOp::mod;
    case ast::BinaryOp::div: return whole ? std::nullopt : std::optional(ScalarOp::div);
    case ast::BinaryOp::lshift: return whole ? std::optional(ScalarOp::shl) : std::nullopt;
    case ast::BinaryOp::rshift: return whole ? std::optional(ScalarOp::shr) : std::nullopt;
    case ast::BinaryOp::bit_and: return whole ? std::optional(ScalarOp::bit_and) : std::nullopt;
    case ast::BinaryOp::bit_or: return whole ? std::optional(ScalarOp::bit_or) : std::nullopt;
    case ast::BinaryOp::bit_xor: return whole ? std::optional(ScalarOp::bit_xor) : std::nullopt;
    default: return {};
  }
}
/// Whether nothing can have gone wrong: a float is finite, and an integer is exact and no quotient by a number that has no plain one.
bool is_plain(ScalarOp op, const Scalar (&operands)[2], const Scalar& result) {
  if (!result.is_integral()) return std::isfinite(result.c.real());
  if (result.type == DType::u64) return false;
  const int64_t x = operands[0].i, y = operands[1].i;
  int64_t exact = result.i;
  switch (op) {
    case ScalarOp::add: return !__builtin_add_overflow(x, y, &exact) && exact == result.i;
    case ScalarOp::sub: return !__builtin_sub_overflow(x, y, &exact) && exact == result.i;
    case ScalarOp::mul: return !__builtin_mul_overflow(x, y, &exact) && exact == result.i;
    case ScalarOp::floordiv:
    case ScalarOp::mod: return y > 0;
    default: return true;
  }
}
std::optional<ScalarOp> operation_of(ast::CompareOp op) {
  switch (op) {
    case ast::CompareOp::eq: return ScalarOp::eq;
    case ast::CompareOp::ne: return ScalarOp::ne;
    case ast::CompareOp::lt: return ScalarOp::lt;
    case ast::CompareOp::le: return ScalarOp::le;
    case ast::CompareOp::gt: return ScalarOp::gt;
    case ast::CompareOp::ge: return ScalarOp::ge;
    default: return {};
  }
}

}  // namespace

const Type& scalar_type(DType dtype) { return scalar_types().types[static_cast<size_t>(dtype)]; }

const Type& dtype_type() {
  static const NativeFunction constructor{"dtype", "dtype, align=False, copy=False", &construct_dtype, "The element type an array holds."};
  static const Type type = [] {
    Type t{"dtype", "numpy"};
    t.constructor = &constructor;
    t.properties = {
        {"name", [](Interpreter&, const Value& self) { return make_str(std::string(name_of(self_dtype(self).dtype))); }, nullptr, ""},
        {"kind", [](Interpreter&, const Value& self) { return make_str(std::string(1, kind(self_dtype(self).dtype))); }, nullptr, ""},
        {"itemsize", [](Interpreter&, const Value& self) { return Value::of(gasell::size_of(self_dtype(self).dtype)); }, nullptr, ""},
        {"alignment", [](Interpreter&, const Value& self) { return Value::of(gasell::size_of(real_of(self_dtype(self).dtype))); }, nullptr,
         ""},
        {"str",
         [](Interpreter&, const Value& self) {
           const DType d = self_dtype(self).dtype;
           return make_str((gasell::size_of(d) == 1 ? "|" : "<") + std::string(1, kind(d)) + std::to_string(gasell::size_of(d)));
         },
         nullptr, ""},
        {"char",
         [](Interpreter&, const Value& self) {
           return make_str(std::string(1, "?bhilBHILfdFDe"[static_cast<int>(self_dtype(self).dtype)]));
         },
         nullptr, ""},
        {"type", [](Interpreter&, const Value& self) { return type_object(scalar_type(self_dtype(self).dtype)); }, nullptr, ""},
        {"num",
         [](Interpreter&, const Value& self) {
           return Value::of(static_cast<int64_t>("\0\1\3\5\7\2\4\6\10\13\14\16\17\27"[static_cast<int>(self_dtype(self).dtype)]));
         },
         nullptr, ""},
        {"isnative", [](Interpreter&, const Value&) { return Value::of(true); }, nullptr, ""},
        {"hasobject", [](Interpreter&, const Value&) { return Value::of(false); }, nullptr, ""},
        {"isbuiltin", [](Interpreter&, const Value&) { return Value::of(1); }, nullptr, ""},
        {"names", [](Interpreter&, const Value&) { return Value(); }, nullptr, ""},
        {"fields", [](Interpreter&, const Value&) { return Value(); }, nullptr, ""},
        {"ndim", [](Interpreter&, const Value&) { return Value::of(0); }, nullptr, ""},
        {"shape", [](Interpreter&, const Value&) { return make_tuple({}); }, nullptr, ""},
        {"base", [](Interpreter&, const Value& self) { return self; }, nullptr, ""},
        {"byteorder", [](Interpreter&, const Value& self) { return make_str(gasell::size_of(self_dtype(self).dtype) == 1 ? "|" : "="); },
         nullptr, ""},
    };
    return t;
  }();
  return type;
}

std::optional<DType> dtype_of_type(const Type& type) {
  for (int k = 0; k < kDTypeCount; ++k)
    if (&type == &scalar_type(static_cast<DType>(k))) return static_cast<DType>(k);
  if (&type == &float_type()) return DType::f64;
  if (&type == &int_type()) return DType::i64;
  if (&type == &bool_type()) return DType::boolean;
  if (&type == &complex_type()) return DType::c128;
  return {};
}

std::vector<std::pair<std::string, Value>> scalar_type_members() {
  std::vector<std::pair<std::string, Value>> members;
  for (int k = 0; k < kDTypeCount; ++k) {
    const Type& t = scalar_type(static_cast<DType>(k));
    members.emplace_back(t.name, type_object(t));
  }
  auto alias = [&](const char* name, DType d) { members.emplace_back(name, type_object(scalar_type(d))); };
  alias("bool_", DType::boolean), alias("int_", DType::i64), alias("intp", DType::i64), alias("uint", DType::u64),
      alias("uintp", DType::u64);
  alias("double", DType::f64), alias("half", DType::f16), alias("single", DType::f32), alias("csingle", DType::c64),
      alias("cdouble", DType::c128);
  alias("byte", DType::i8), alias("ubyte", DType::u8), alias("short", DType::i16), alias("ushort", DType::u16), alias("intc", DType::i32),
      alias("uintc", DType::u32);
  alias("long", DType::i64), alias("ulong", DType::u64), alias("longlong", DType::i64), alias("ulonglong", DType::u64);
  members.emplace_back("generic", type_object(generic_type()));
  for (const char* name : {"number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating", "complexfloating"})
    members.emplace_back(name, type_object(abstract_type(name)));
  members.emplace_back("dtype", type_object(dtype_type()));
  members.emplace_back("ndarray", type_object(ndarray_type()));
  return members;
}

namespace {

constexpr size_t kMostLeaves = 32;

bool is_arithmetic(const graph::Node& node) { return node.shape.empty() && (node.as<graph::MapNode>() || node.as<graph::CastNode>()); }

/// The value of a graph of rank 0. Kernels compute what reads arrays, all in one plan; the arithmetic over their results (the division and
/// the sum of x.sum() / 2 + 1) is done here as that of constants is, instead of by a kernel for one element.
Scalar evaluate_scalar(Engine& engine, const NodeRef& root) {
  if (const auto* constant = root->as<graph::ConstantNode>()) return constant->value;
  std::vector<NodeRef> arithmetic, leaves;  // inputs first
  std::unordered_map<const graph::Node*, NodeRef> known;
  std::vector<std::pair<NodeRef, bool>> stack{{root, false}};
  while (!stack.empty()) {
    auto [node, inputs_done] = stack.back();
    stack.pop_back();
    if (inputs_done) {
      arithmetic.push_back(node);
    } else if (known.emplace(node.get(), node).second) {
      if (node->as<graph::ConstantNode>()) continue;
      if (!is_arithmetic(*node)) {
        leaves.push_back(node);
        continue;
      }
      stack.emplace_back(node, true);
      for (const NodeRef& input : node->inputs) stack.emplace_back(input, false);
    }
  }
  if (arithmetic.empty() || leaves.size() > kMostLeaves) return Array(root).elements(engine)[0];
  const std::vector<NodeRef> forced = engine.force(leaves, true);
  for (size_t k = 0; k < leaves.size(); ++k) known[leaves[k].get()] = graph::constant(Array(forced[k]).elements(engine)[0]);
  for (const NodeRef& node : arithmetic) {
    std::vector<NodeRef> inputs;
    for (const NodeRef& input : node->inputs) inputs.push_back(known[input.get()]);
    const auto* map = node->as<graph::MapNode>();
    known[node.get()] = map ? graph::map(map->op, std::move(inputs)) : graph::cast(inputs[0], node->dtype);
  }
  return known[root.get()]->as<graph::ConstantNode>()->value;
}

}  // namespace

const Scalar& NumpyScalar::value(Interpreter& in) {
  if (!value_) {
    value_ = evaluate_scalar(in.engine(), lazy_);
    lazy_.reset();
  }
  return *value_;
}

void NumpyScalar::compute(Interpreter& in) {
  if (!value_) lazy_ = in.engine().force(lazy_);
}

std::string NumpyScalar::repr(Interpreter& in) {
  const Scalar& v = value(in);
  if (kind(dtype_) == 'b') return v.i ? "np.True_" : "np.False_";
  std::string text = scalar_str(v);
  if (kind(dtype_) == 'c' && text.front() == '(') text = text.substr(1, text.size() - 2);
  return "np." + std::string(name_of(dtype_)) + "(" + text + ")";
}
std::string NumpyScalar::str(Interpreter& in) { return scalar_str(value(in)); }
std::string NumpyScalar::format(Interpreter& in, std::string_view spec) {
  return spec.empty() ? str(in) : gasell::format(in, python_value(value(in)), spec);
}
bool NumpyScalar::truth(Interpreter& in) { return value(in).cast(DType::boolean).i != 0; }
int64_t NumpyScalar::hash(Interpreter& in) { return gasell::hash(in, python_value(value(in))); }

/// NumPy takes the real part, with a warning.
[[noreturn]] static void refuse_part(const char* function) {
  raise("NotImplementedError", std::string(function) + "() of a complex number of NumPy is not in Gasell", "take its .real");
}

std::optional<Value> NumpyScalar::to_int(Interpreter& in) {
  const Scalar& v = value(in);
  if (is_complex(dtype_)) refuse_part("int");
  if (v.is_integral()) return python_value(v).is_bool() ? Value::of(v.i) : python_value(v);
  return Value::of(float_to_int(v.c.real()));
}
std::optional<Value> NumpyScalar::to_float(Interpreter& in) {
  if (is_complex(dtype_)) refuse_part("float");
  return Value::of(value(in).as_double());
}
std::optional<Value> NumpyScalar::to_complex(Interpreter& in) { return Value::make<Complex>(value(in).cast(DType::c128).c); }
std::optional<int64_t> NumpyScalar::to_index(Interpreter& in) {
  if (!is_integer(dtype_)) return {};
  return python_value(value(in)).as_int();
}
Value NumpyScalar::get_item(Interpreter& in, const Value& index) {
  if (const auto* t = index.as<Tuple>(); t && t->items.empty()) return wrap_scalar(value(in));
  if (index.is_none() || index.same(ellipsis())) return array_get(in, Array(node()), index);
  raise("IndexError", "invalid index to scalar variable.");
}

const Value& dtype_object(DType dtype) {
  static const std::vector<Value> objects = [] {
    std::vector<Value> made;
    for (int k = 0; k < kDTypeCount; ++k) made.push_back(Value::make<DTypeObject>(static_cast<DType>(k)).immortal());
    return made;
  }();
  return objects[static_cast<size_t>(dtype)];
}

std::string DTypeObject::repr(Interpreter&) { return "dtype('" + std::string(name_of(dtype)) + "')"; }
int64_t DTypeObject::hash(Interpreter&) { return static_cast<int64_t>(dtype) + 7919; }
std::optional<Value> DTypeObject::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  if (op != ast::CompareOp::eq && op != ast::CompareOp::ne) return {};
  bool same = false;
  if (const auto* t = other.as<TypeObject>()) {
    const auto d = dtype_of_type(t->described);
    same = d && *d == dtype;
  } else if (const auto* s = other.as<Str>()) {
    const auto d = dtype_from_name(s->value);
    if (!d && !is_foreign_dtype(s->value)) raise("TypeError", "data type '" + s->value + "' not understood");
    same = d && *d == dtype;
  } else if (const auto* d = other.as<DTypeObject>()) {
    same = d->dtype == dtype;
  }
  (void)in;
  return Value::of(same == (op == ast::CompareOp::eq));
}

std::optional<Value> number_arithmetic(ast::BinaryOp op, const Value& a, const Value& b, bool& plain) {
  const Number x = number_of(a), y = number_of(b);
  if (x.kind && y.kind && (x.numpy || y.numpy) && !(x.kind == 'i' && y.kind == 'i' && op != ast::BinaryOp::div)) {
    const auto result = [&](double value) {
      plain = std::isfinite(value);
      return wrap_scalar(Scalar::of_float(value));
    };
    switch (op) {
      case ast::BinaryOp::add: return result(x.as_double() + y.as_double());
      case ast::BinaryOp::sub: return result(x.as_double() - y.as_double());
      case ast::BinaryOp::mul: return result(x.as_double() * y.as_double());
      case ast::BinaryOp::div: return result(x.as_double() / y.as_double());
      default: break;
    }
  }
  const std::optional<OfOneType> numbers = of_one_type(a, b);
  const std::optional<ScalarOp> operation = numbers ? operation_of(op, numbers->type()) : std::nullopt;
  if (!operation) return {};
  const Scalar result = evaluate(*operation, numbers->values);
  plain = is_plain(*operation, numbers->values, result);
  return wrap_scalar(result);
}

std::optional<Value> number_comparison(ast::CompareOp op, const Value& a, const Value& b) {
  const std::optional<ScalarOp> operation = operation_of(op);
  if (!operation) return {};
  const Number x = number_of(a), y = number_of(b);
  if (x.kind && y.kind && (x.numpy || y.numpy) && x.kind != y.kind) {
    const Scalar both[] = {Scalar::of_float(x.as_double()), Scalar::of_float(y.as_double())};
    return wrap_scalar(evaluate(*operation, both));
  }
  const std::optional<OfOneType> numbers = of_one_type(a, b);
  if (!numbers || is_complex(numbers->type())) return {};
  return wrap_scalar(evaluate(*operation, numbers->values));
}

}  // namespace gasell::numpy
