#include "stdlib/numba/types.h"

#include <algorithm>
#include <map>

#include "lang/parser.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"
#include "stdlib/named_tuple.h"
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

Value tuple_of(const std::vector<functions::Type>& types) {
  std::vector<Value> items;
  for (const functions::Type& t : types) items.push_back(make(t));
  return make_tuple(std::move(items));
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

Value list_type_of(Interpreter&, Args args) {
  functions::Type t = functions::Type::list_of(need_type(args[0]));
  t.text = "typed";
  return make(std::move(t));
}
Value reflected_list_type_of(Interpreter& in, Args args) {
  functions::Type t = functions::Type::list_of(need_type(args[0]));
  if (truth(in, args[1])) t.text = "reflected";
  return make(std::move(t));
}
Value dict_type_of(Interpreter&, Args args) {
  return make(functions::Type::table_of("dict", functions::Type::tuple_of({need_type(args[0]), need_type(args[1])})));
}
Value set_type_of(Interpreter&, Args args) {
  return make(functions::Type::table_of("set", functions::Type::tuple_of({need_type(args[0])})));
}

/// The type of tuples of a class of collections.namedtuple.
functions::Type named_type(const Value& v, std::vector<functions::Type> items) {
  const auto* named = v.as<NamedTupleClass>();
  if (!named) raise("TypeError", "a class of collections.namedtuple is needed, not '" + type_of(v).name + "'");
  if (items.size() != named->compiled->fields.size())
    raise("ValueError", named->described.name + " has " + std::to_string(named->compiled->fields.size()) + " fields, not " +
                            std::to_string(items.size()));
  functions::Type t = functions::Type::tuple_of(std::move(items));
  t.named = named->compiled;
  return t;
}
Value named_uni_tuple(Interpreter& in, Args args) {
  return make(named_type(args[2], std::vector<functions::Type>(static_cast<size_t>(to_index(in, args[1])), need_type(args[0]))));
}
Value named_tuple(Interpreter& in, Args args) {
  std::vector<functions::Type> items;
  for (const Value& v : to_vector(in, args[0])) items.push_back(need_type(v));
  return make(named_type(args[1], std::move(items)));
}

/// The classes of types, which overloads ask for with isinstance; those that are called have constructors.
struct TypeClasses {
  static gasell::Type of(const char* name, const gasell::Type* base, const NativeFunction* constructor = nullptr) {
    gasell::Type t{name, "numba.types", base};
    t.constructor = constructor;
    return t;
  }
  const NativeFunction make_array{"Array", "dtype, ndim, layout, readonly=False, name=None, aligned=True", array,
                                  "The type of arrays; layout is 'C', 'F' or 'A'."};
  const NativeFunction make_uni_tuple{"UniTuple", "dtype, count", uni_tuple, "The type of tuples of `count` values of one type."};
  const NativeFunction make_tuple_type{"Tuple", "types", tuple, "The type of tuples of values of these types."};
  const NativeFunction make_named_uni{"NamedUniTuple", "dtype, count, cls", named_uni_tuple,
                                      "The type of named tuples of a class, of values of one type."};
  const NativeFunction make_named{"NamedTuple", "types, cls", named_tuple, "The type of named tuples of a class."};
  const NativeFunction make_list_type{"ListType", "item_type", list_type_of, "The type of numba.typed.List."};
  const NativeFunction make_list{"List", "dtype, reflected=False", reflected_list_type_of, "The type of lists."};
  const NativeFunction make_dict{"DictType", "key_type, value_type", dict_type_of, "The type of numba.typed.Dict."};
  const NativeFunction make_set_type{"Set", "dtype, reflected=False", set_type_of, "The type of sets."};
  const NativeFunction make_optional{"Optional", "typ", optional, "A value of a type, or None."};

  const gasell::Type type{"Type", "numba.types", &object_type()};
  const gasell::Type number = of("Number", &type), integer = of("Integer", &number), floating = of("Float", &number),
                     complex = of("Complex", &number), boolean = of("Boolean", &type), none = of("NoneType", &type),
                     text = of("UnicodeType", &type), callable = of("Callable", &type), generator = of("NumPyRandomGeneratorType", &type),
                     buffer = of("Buffer", &type), array_type = of("Array", &buffer, &make_array), base_tuple = of("BaseTuple", &type),
                     uni = of("UniTuple", &base_tuple, &make_uni_tuple), mixed = of("Tuple", &base_tuple, &make_tuple_type),
                     named_uni = of("NamedUniTuple", &uni, &make_named_uni), named = of("NamedTuple", &mixed, &make_named),
                     typed_list = of("ListType", &type, &make_list_type), list = of("List", &type, &make_list),
                     dict = of("DictType", &type, &make_dict), set = of("Set", &type, &make_set_type),
                     option = of("Optional", &type, &make_optional);

  std::vector<const gasell::Type*> all() const {
    return {&type,       &number,     &integer, &floating, &complex,   &boolean, &none,       &text, &callable, &generator, &buffer,
            &array_type, &base_tuple, &uni,     &mixed,    &named_uni, &named,   &typed_list, &list, &dict,     &set,       &option};
  }
};
const TypeClasses& type_classes() {
  static const TypeClasses classes;
  return classes;
}

const gasell::Type& class_of(const functions::Type& t) {
  using Kind = functions::Type::Kind;
  const TypeClasses& c = type_classes();
  const auto is_uniform = [&] {
    return !t.items.empty() && std::all_of(t.items.begin(), t.items.end(), [&](const functions::Type& item) { return item == t.items[0]; });
  };
  switch (t.kind) {
    case Kind::none: return c.none;
    case Kind::scalar:
      if (t.dtype == DType::boolean) return c.boolean;
      return is_complex(t.dtype) ? c.complex : is_float(t.dtype) ? c.floating : c.integer;
    case Kind::array: return c.array_type;
    case Kind::tuple: return is_uniform() ? (t.named ? c.named_uni : c.uni) : t.named ? c.named : c.mixed;
    case Kind::text: return c.text;
    case Kind::function: return c.callable;
    case Kind::optional: return c.option;
    case Kind::list: return t.text == "typed" ? c.typed_list : c.list;
    case Kind::table: return t.text == "dict" ? c.dict : c.set;
    case Kind::generator: return c.generator;
    default: return c.type;
  }
}

}  // namespace

const gasell::Type& NumbaType::type() const { return class_of(described); }

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
  if (attribute == "signed" && described.is_scalar()) return Value::of(kind(described.dtype) != 'u');
  if (attribute == "types" && described.is_tuple()) return tuple_of(described.items);
  if ((attribute == "dtype" || attribute == "item_type") && (described.is_list() || described.is_tuple()) && !described.items.empty())
    return make(described.items[0]);
  if ((attribute == "key_type" || attribute == "value_type") && described.is_table() && described.text == "dict")
    return make(described.items.at(0).items[attribute == "key_type" ? 0 : 1]);
  if (attribute == "literal_value" && described.kind == functions::Type::Kind::text) return make_str(described.text);
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
      if (const auto d = static_cast<DType>(k); d != DType::boolean && d != DType::f16) add(std::string(name_of(d)).c_str(), d);
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
    for (const gasell::Type* t : type_classes().all()) all.emplace_back(t->name, type_object(*t));
    static const NativeFunction kOptional{"optional", "typ", optional, "A value of a type, or None."};
    all.emplace_back("optional", Value::make<Builtin>(kOptional).immortal());
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
