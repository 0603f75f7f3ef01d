#include "stdlib/numba/types.h"

#include <algorithm>
#include <map>

#include "lang/parser.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;
using functions::Layout;

Value make(functions::Type t, char layout = 'A') { return Value::make<NumbaType>(std::move(t), layout); }

std::string tuple_text(const std::vector<functions::Type>& types) {
  std::string text = "(";
  for (size_t k = 0; k < types.size(); ++k) text += (k ? ", " : "") + functions::to_string(types[k]);
  return text + (types.size() == 1 ? ",)" : ")");
}

/// One of `[:, ::1]`: step 1, or 0 where none is written.
int64_t step_of(Interpreter& in, const Value& v) {
  const auto* slice = v.as<SliceObject>();
  if (!slice || !slice->start.is_none() || !slice->stop.is_none())
    raise("TypeError", "an array type is written with a ':' for every axis, as in float64[:, :]");
  if (slice->step.is_none()) return 0;
  if (to_index(in, slice->step) != 1)
    raise("TypeError", "the step in an array type is 1, for the axis whose elements lie beside each other: float64[:, ::1]");
  return 1;
}

functions::Type need_type(const Value& v) {
  auto t = to_type(v);
  if (!t) raise("TypeError", "'" + type_of(v).name + "' object is not a Numba type");
  return *std::move(t);
}

Value uni_tuple(Interpreter& in, Args args) {
  return make(functions::Type::tuple_of(std::vector<functions::Type>(static_cast<size_t>(to_index(in, args[1])), need_type(args[0]))));
}

Value tuple(Interpreter& in, Args args) {
  std::vector<functions::Type> items;
  for (const Value& v : to_vector(in, args[0])) items.push_back(need_type(v));
  return make(functions::Type::tuple_of(std::move(items)));
}

Value array(Interpreter& in, Args args) {
  const std::string layout = str(in, args[2]);
  if (layout != "C" && layout != "F" && layout != "A") raise("ValueError", "Invalid layout '" + layout + "'");
  const int rank = static_cast<int>(to_index(in, args[1]));
  const bool read_only = truth(in, args[3]);
  return make(functions::Type::array_of(need_type(args[0]).dtype, rank, layout == "C" ? Layout::c : Layout::any, read_only), layout[0]);
}

Value optional(Interpreter&, Args args) {
  return make(functions::Type{.kind = functions::Type::Kind::optional, .items = {need_type(args[0])}});
}

const std::vector<NativeFunction>& type_functions() {
  static const std::vector<NativeFunction> table = {
      {"UniTuple", "dtype, count", uni_tuple, "The type of tuples of `count` values of one type."},
      {"Tuple", "types", tuple, "The type of tuples of values of these types."},
      {"Array", "dtype, ndim, layout, readonly=False, name=None, aligned=True", array, "The type of arrays; layout is 'C', 'F' or 'A'."},
      {"Optional", "typ", optional, "A value of a type, or None."},
      {"optional", "typ", optional, "A value of a type, or None."},
  };
  return table;
}

}  // namespace

const gasell::Type& numba_type_type() {
  static const gasell::Type t{"Type", "numba.types", &object_type(), {}, {}};
  return t;
}

const gasell::Type& NumbaType::type() const { return numba_type_type(); }

std::string NumbaType::name() const {
  std::string text = functions::to_string(described);
  if (described.is_array() && layout_ != 'A' && described.layout == Layout::any) text[text.size() - 2] = layout_;
  return text;
}

std::string NumbaType::repr(Interpreter&) { return name(); }
int64_t NumbaType::hash(Interpreter&) { return static_cast<int64_t>(std::hash<std::string>()(name())); }

std::optional<Value> NumbaType::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  if (op != ast::CompareOp::eq && op != ast::CompareOp::ne) return {};
  const auto* t = other.as<NumbaType>();
  const bool same = t && t->described == described && t->layout_ == layout_;
  return Value::of(same == (op == ast::CompareOp::eq));
}

Value NumbaType::get_item(Interpreter& in, const Value& index) {
  if (!described.is_scalar()) raise("TypeError", "cannot make an array type of " + name());
  std::vector<int64_t> steps;
  if (const auto* several = index.as<Tuple>()) {
    for (const Value& v : several->items) steps.push_back(step_of(in, v));
  } else if (index.same(ellipsis())) {
    raise("NotImplementedError", "array types of any number of axes are not in Gasell");
  } else {
    steps.push_back(step_of(in, index));
  }
  const int rank = static_cast<int>(steps.size());
  const char layout = rank == 0 ? 'C' : steps.back() == 1 ? 'C' : steps.front() == 1 ? 'F' : 'A';
  return make(functions::Type::array_of(described.dtype, rank, layout == 'C' ? Layout::c : Layout::any), layout);
}

Value NumbaType::call(Interpreter& in, Arguments args) {
  if (!args.keywords.empty()) raise("TypeError", name() + "() takes no keyword arguments");
  Signature signature;
  for (const Value& v : args.positional) {
    auto t = to_type(v);
    if (!t) {
      if (args.positional.size() != 1 || !described.is_scalar())
        raise("TypeError", "argument types of a signature are Numba types, not '" + type_of(v).name + "'");
      return gasell::call(in, type_object(numpy::scalar_type(described.dtype)), std::move(args));
    }
    signature.arguments.push_back(*std::move(t));
  }
  signature.result = described;
  return Value::make<SignatureObject>(std::move(signature));
}

std::optional<Value> NumbaType::get_attribute(Interpreter& in, std::string_view attribute) {
  if (attribute == "name") return make_str(name());
  if (attribute == "dtype" && described.is_array()) return make(functions::Type::of(described.dtype));
  if (attribute == "ndim" && described.is_array()) return Value::of(described.rank);
  if (attribute == "layout" && described.is_array()) return make_str(std::string(1, described.layout == Layout::c ? 'C' : layout_));
  if (attribute == "bitwidth" && described.is_scalar()) return Value::of(8 * gasell::size_of(described.dtype));
  if (attribute == "count" && described.is_tuple()) return Value::of(static_cast<int64_t>(described.items.size()));
  return Object::get_attribute(in, attribute);
}

const gasell::Type& SignatureObject::type() const {
  static const gasell::Type t{"Signature", "numba.core.typing.templates", &object_type(), {}, {}};
  return t;
}

std::string SignatureObject::repr(Interpreter&) {
  return tuple_text(signature.arguments) + " -> " + (signature.result ? functions::to_string(*signature.result) : "None");
}
int64_t SignatureObject::hash(Interpreter& in) { return static_cast<int64_t>(std::hash<std::string>()(repr(in))); }
std::optional<Value> SignatureObject::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  if (op != ast::CompareOp::eq && op != ast::CompareOp::ne) return {};
  const auto* s = other.as<SignatureObject>();
  const bool same = s && s->signature.arguments == signature.arguments && s->signature.result == signature.result;
  return Value::of(same == (op == ast::CompareOp::eq));
}
std::optional<Value> SignatureObject::get_attribute(Interpreter& in, std::string_view attribute) {
  if (attribute == "return_type") return signature.result ? make(*signature.result) : Value();
  if (attribute == "args") {
    std::vector<Value> types;
    for (const functions::Type& t : signature.arguments) types.push_back(make(t));
    return make_tuple(std::move(types));
  }
  return Object::get_attribute(in, attribute);
}

std::optional<functions::Type> to_type(const Value& v) {
  if (const auto* t = v.as<NumbaType>()) return t->described;
  if (v.is_none()) return functions::Type{};
  if (const auto* t = v.as<TypeObject>()) {
    if (const auto dtype = numpy::dtype_of_type(t->described)) return functions::Type::of(*dtype);
  }
  if (const auto* d = v.as<numpy::DTypeObject>()) return functions::Type::of(d->dtype);
  return {};
}

bool is_signature(const Value& v) { return v.as<Str>() || v.as<SignatureObject>() || v.as<Tuple>() || v.as<NumbaType>(); }

Signature to_signature(Interpreter& in, const Value& v) {
  if (const auto* s = v.as<SignatureObject>()) return s->signature;
  if (const auto* t = v.as<Tuple>()) {
    Signature signature;
    for (const Value& item : t->items) signature.arguments.push_back(need_type(item));
    return signature;
  }
  const auto* text = v.as<Str>();
  if (!text) raise("TypeError", "invalid type in signature: expected a type instance, got " + repr(in, v));
  // The text is an expression of the names in numba.types.
  Session& session = Evaluator::session(in);
  auto scope = std::make_unique<GlobalScope>();
  for (const auto& [name, value] : type_members()) scope->slot(name) = value;
  scope->slot("types") = in.import_module("numba.types", nullptr);
  const ast::ModuleRef tree = parse_module(std::make_shared<Source>("<signature " + text->value + ">", text->value));
  Value result;
  {
    const auto code = lower_module(session, tree, *scope, "<signature>", true);
    result = run_module(session, *code);
  }
  if (result.as<Str>()) raise("TypeError", "'" + text->value + "' is no signature");
  return to_signature(in, result);
}

const std::vector<std::pair<std::string, Value>>& type_members() {
  static const std::vector<std::pair<std::string, Value>> members = [] {
    std::vector<std::pair<std::string, Value>> all;
    std::map<DType, Value> made;
    const auto add = [&](const char* name, DType d) {
      auto [at, fresh] = made.try_emplace(d);
      if (fresh) at->second = make(functions::Type::of(d));
      all.emplace_back(name, at->second.immortal());
    };
    for (int k = 0; k < kDTypeCount; ++k)
      if (const auto d = static_cast<DType>(k); d != DType::boolean) add(std::string(name_of(d)).c_str(), d);
    for (const char* name : {"boolean", "bool_", "b1"}) add(name, DType::boolean);
    for (const auto& [name, d] : std::initializer_list<std::pair<const char*, DType>>{
             {"i1", DType::i8},        {"i2", DType::i16},        {"i4", DType::i32},     {"i8", DType::i64},      {"u1", DType::u8},
             {"u2", DType::u16},       {"u4", DType::u32},        {"u8", DType::u64},     {"f4", DType::f32},      {"f8", DType::f64},
             {"c8", DType::c64},       {"c16", DType::c128},      {"intp", DType::i64},   {"uintp", DType::u64},   {"int_", DType::i64},
             {"uint", DType::u64},     {"intc", DType::i32},      {"uintc", DType::u32},  {"char", DType::i8},     {"uchar", DType::u8},
             {"byte", DType::u8},      {"short", DType::i16},     {"ushort", DType::u16}, {"long_", DType::i64},   {"ulong", DType::u64},
             {"longlong", DType::i64}, {"ulonglong", DType::u64}, {"size_t", DType::u64}, {"ssize_t", DType::i64}, {"double", DType::f64}})
      add(name, d);
    const Value none = make(functions::Type{});
    for (const char* name : {"void", "none"}) all.emplace_back(name, none.immortal());
    const Value text = make(functions::Type::text_of(""));
    for (const char* name : {"unicode_type", "string"}) all.emplace_back(name, text.immortal());
    for (const NativeFunction& f : type_functions()) all.emplace_back(f.name, Value::make<Builtin>(f).immortal());
    return all;
  }();
  return members;
}

}  // namespace gasell::numba

namespace gasell {

Value make_numba_types(Interpreter&) {
  Value module = Value::make<Module>("numba.types");
  for (const auto& [name, value] : numba::type_members()) set_member(module, name, value);
  return module;
}

}  // namespace gasell
