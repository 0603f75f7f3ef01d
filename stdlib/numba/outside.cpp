#include "stdlib/numba/outside.h"

#include <bit>
#include <functional>
#include <limits>
#include <mutex>
#include <unordered_map>

#include "runtime/session/builtins.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/set.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/numba/cuda.h"
#include "stdlib/numba/dispatcher.h"
#include "stdlib/numba/generated.h"
#include "stdlib/numba/stencil.h"
#include "stdlib/numba/typed.h"
#include "stdlib/numba/types.h"
#include "stdlib/numba/vectorize.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/ufunc_object.h"

namespace gasell::numba {

using functions::Layout;
using functions::Outside;

namespace {

/// Whether elements lie in C order without gaps, as NumPy has it: axes of one element do not count.
bool is_c_contiguous(const Array& a) {
  if (a.rank() == 0 || a.size() == 0) return true;
  const std::vector<int64_t> strides = a.strides();
  int64_t expected = 1;
  for (size_t k = strides.size(); k-- > 0;) {
    if (a.shape()[k] != 1 && strides[k] != expected) return false;
    expected *= a.shape()[k];
  }
  return true;
}

/// The names of functions written in C++ by their tables: "numpy.sqrt", "math.floor", "len".
std::string path_of_native(Interpreter& in, const NativeFunction& function) {
  static std::mutex mutex;
  static std::unordered_map<const NativeFunction*, std::string> paths;
  const std::lock_guard lock(mutex);
  if (paths.empty()) {
    for (const auto& [name, value] : builtins())
      if (const auto* b = value.as<Builtin>()) paths.emplace(&b->function, name);
    for (const char* name : {"math", "cmath", "numba", "time", "operator", "numpy", "numpy.random"}) {
      const Value module = in.import_module(name, nullptr);
      for (const auto& [member, value] : module.as<Module>()->members)
        if (const auto* b = value.as<Builtin>()) paths.emplace(&b->function, std::string(name) + "." + member);
    }
    // What stands under cuda.shared, cuda.atomic and the like, too.
    const std::function<void(const Module&)> add = [&](const Module& module) {
      for (const auto& [member, value] : module.members) {
        if (const auto* b = value.as<Builtin>()) paths.emplace(&b->function, module.name + "." + member);
        if (const auto* inner = value.as<Module>()) add(*inner);
      }
    };
    add(*in.import_module("numba.cuda", nullptr).as<Module>());
  }
  const auto found = paths.find(&function);
  return found == paths.end() ? std::string() : found->second;
}

/// Of a function in a text of the library: "numpy.mean".
std::string path_of_library(const Function& f) {
  const Value* name = f.code->globals->find("__name__");
  const auto* text = name ? name->as<Str>() : nullptr;
  if (!text) return {};
  for (const LibraryFile& file : library_files())
    if (file.path == text->value) return std::string(file.module) + "." + f.name();
  return {};
}

std::string path_of_type(const gasell::Type& t) {
  if (t.module == "builtins") return t.name;
  return t.module + "." + t.name;
}

/// The name in the library of what is neither a number nor an array; empty: it has none.
std::string path_of(Interpreter& in, const Value& v) {
  if (const auto* m = v.as<Module>()) {
    static constexpr const char* kKnown[] = {"numpy",      "cupy",        "math",        "cmath",        "numba",
                                             "numba.cuda", "numba.types", "numba.typed", "numpy.random", "numpy.linalg",
                                             "operator",   "time",        "heapq"};
    for (const char* known : kKnown)
      if (m->name == known || m->name.starts_with("numba.cuda.")) return m->name == "cupy" ? "numpy" : m->name;
    return {};
  }
  if (const auto* b = v.as<Builtin>()) return b->self ? std::string() : path_of_native(in, b->function);
  if (const auto* t = v.as<TypeObject>()) return path_of_type(t->described);
  if (const auto* f = v.as<Function>()) return f->code->globals->library ? path_of_library(*f) : std::string();
  if (const auto* d = v.as<numpy::DTypeObject>()) return "numpy." + std::string(name_of(d->dtype));
  if (const auto* t = v.as<TypedClass>()) return t->path();
  if (const auto* t = v.as<NumbaType>())
    return t->described.is_scalar() ? "numba." + std::string(name_of(t->described.dtype)) : std::string();
  if (v.is_object() && &v.object()->type() == &numpy::ufunc_type()) return "numpy." + str(in, gasell::get_attribute(in, v, "__name__"));
  return {};
}

std::string described(const Value& v) { return "a value of type " + type_of(v).name; }

Outside number(const Scalar& s) {
  Outside o;
  o.kind = Outside::Kind::number;
  o.value = s;
  return o;
}

/// A number of the language, or a NumPy scalar.
std::optional<Scalar> scalar_of(Interpreter& in, const Value& v) {
  switch (v.tag()) {
    case Value::Tag::boolean: return Scalar::of_bool(v.as_int() != 0);
    case Value::Tag::integer: return Scalar::of_int(v.as_int());
    case Value::Tag::floating: return Scalar::of_float(v.as_float());
    case Value::Tag::object: break;
    default: return {};
  }
  if (auto* n = v.as<numpy::NumpyScalar>()) return n->value(in);
  if (const auto* c = v.as<Complex>()) return Scalar::of_complex(c->value);
  return {};
}

/// The function that a decorated object stands for: its own, and how it is compiled.
std::optional<std::pair<Value, functions::Options>> decorated(const Value& v) {
  if (const auto* d = v.as<Dispatcher>()) return std::pair(d->function(), d->options());
  if (const auto* k = v.as<CudaKernel>()) return std::pair(k->function(), k->options());
  if (const auto* u = v.as<Vectorized>()) return std::pair(u->function(), u->options());
  return {};
}

}  // namespace

functions::Type type_of_array(const Array& a) {
  return functions::Type::array_of(a.dtype(), a.rank(), is_c_contiguous(a) ? Layout::c : Layout::any, !a.writable());
}

const Array& FrozenArrays::freeze(const Value& v) {
  const auto [at, fresh] = arrays_.try_emplace(v.object(), Frozen{v, v.as<numpy::NdArray>()->array});
  if (fresh) {
    // What is written to the array from now on goes elsewhere: this one has the value of now, with the strides of now.
    const Array& a = v.as<numpy::NdArray>()->array;
    at->second.array = Array(a.node());
  }
  return at->second.array;
}

std::shared_ptr<const functions::Function> to_function(Compilation& compilation, const Value& v, const functions::Options& options) {
  auto& known = compilation.known[v.object()];
  if (known) return known;
  const auto& f = *v.as<Function>();
  auto made = std::make_shared<functions::Function>();
  made->definition = f.code->definition;
  made->lambda = f.code->lambda;
  made->source = f.code->source;
  made->name = f.name();
  made->options = options;
  made->identity = v.object();
  known = made;  // before its defaults are looked at: they may lead here again
  made->outside = [&compilation, v](const std::string& name) {
    const Value* found = v.as<Function>()->outside(compilation.in, name);
    return found ? to_outside(compilation, *found) : Outside();
  };
  for (const Value& d : f.defaults) made->defaults.push_back(d.is_absent() ? Outside() : to_outside(compilation, d));
  return known;
}

Outside to_outside(Compilation& compilation, const Value& v) {
  Outside o;
  if (v.is_none()) {
    o.kind = Outside::Kind::none;
  } else if (const auto s = scalar_of(compilation.in, v)) {
    return number(*s);
  } else if (const auto* text = v.as<Str>()) {
    o.kind = Outside::Kind::text;
    o.text = text->value;
  } else if (const auto* t = v.as<Tuple>()) {
    o.kind = Outside::Kind::tuple;
    for (const Value& item : t->items) o.items.push_back(to_outside(compilation, item));
  } else if (v.as<numpy::NdArray>()) {
    const Array& frozen = compilation.frozen->freeze(v);
    o.kind = Outside::Kind::array;
    o.type = type_of_array(frozen);
    o.type.read_only = true;
    o.array = &frozen;
  } else if (auto* stencil = v.as<Stencil>()) {
    return stencil->outside();
  } else if (const auto inner = decorated(v)) {
    o.kind = Outside::Kind::function;
    o.text = inner->first.as<Function>()->name();
    o.function = to_function(compilation, inner->first, inner->second);
  } else if (const auto* type = v.as<NumbaType>(); type && !type->described.is_scalar()) {
    o.kind = Outside::Kind::path;
    o.text = "numba.type " + functions::to_string(type->described);
    o.type = type->described;
  } else if (std::string path = path_of(compilation.in, v); !path.empty()) {
    o.kind = Outside::Kind::path;
    o.text = std::move(path);
  } else if (const auto* f = v.as<Function>()) {
    o.kind = Outside::Kind::function;
    o.text = f->name();
    o.function = to_function(compilation, v, {});
  } else {
    o.kind = Outside::Kind::other;
    o.text = described(v);
  }
  return o;
}

namespace {

/// What an item of a list that is an argument is inside: numbers, and tuples of them.
functions::Type type_of_item(Compilation& compilation, const Value& v) {
  if (const auto s = scalar_of(compilation.in, v)) return functions::Type::of(s->type);
  if (const auto* t = v.as<Tuple>()) {
    std::vector<functions::Type> items;
    for (const Value& item : t->items) items.push_back(type_of_item(compilation, item));
    return functions::Type::tuple_of(std::move(items));
  }
  raise_typing_error(
      "compiled functions take lists of numbers and of tuples of numbers, and this list has an item of type " + type_of(v).name,
      "pass a tuple of arrays, or one array");
}

/// Appends an item's slots (compiler/functions/slots.h); false where it is of another type.
bool add_slots(Interpreter& in, const Value& v, const functions::Type& type, std::vector<int64_t>& to) {
  if (type.is_tuple()) {
    const auto* t = v.as<Tuple>();
    if (!t || t->items.size() != type.items.size()) return false;
    for (size_t k = 0; k < t->items.size(); ++k)
      if (!add_slots(in, t->items[k], type.items[k], to)) return false;
    return true;
  }
  const auto s = scalar_of(in, v);
  if (!s || s->type != type.dtype) return false;
  if (s->is_integral()) {
    to.push_back(s->i);
  } else {
    to.push_back(std::bit_cast<int64_t>(s->c.real()));
    if (is_complex(s->type)) to.push_back(std::bit_cast<int64_t>(s->c.imag()));
  }
  return true;
}

Value from_slots(const functions::Type& type, const int64_t*& slot) {
  if (type.is_tuple()) {
    std::vector<Value> items;
    for (const functions::Type& item : type.items) items.push_back(from_slots(item, slot));
    return make_tuple(std::move(items));
  }
  if (kind(type.dtype) == 'b' || is_integer(type.dtype)) {
    const Scalar s = Scalar::of_int(*slot++).cast(type.dtype);
    return type.dtype == DType::u64 && s.i < 0 ? numpy::wrap_scalar(s) : numpy::python_value(s);
  }
  const double re = std::bit_cast<double>(*slot++);
  return numpy::python_value(is_complex(type.dtype) ? Scalar::of_complex({re, std::bit_cast<double>(*slot++)}, type.dtype)
                                                    : Scalar::of_float(re, type.dtype));
}

void add_slots_or_refuse(Interpreter& in, const Value& v, const functions::Type& type, const Value& first, std::vector<int64_t>& to) {
  if (!add_slots(in, v, type, to))
    raise("TypeError", "can't unbox heterogeneous list: " + gasell::repr(in, Value::make<TypeObject>(type_of(first))) +
                           " != " + gasell::repr(in, Value::make<TypeObject>(type_of(v))));
}

/// The leaf of a dict or a set of this type.
void add_table(Compilation& compilation, const Value& v, const functions::Type& type, CallArguments& to) {
  CallArguments::GivenList given{v, {}, {}};
  const functions::Type& entry = type.items[0];
  if (const auto* dict = v.as<Dict>()) {
    for (const Dict::Entry& e : dict->entries()) {
      if (e.key.is_absent()) continue;
      add_slots_or_refuse(compilation.in, e.key, entry.items[0], e.key, given.items);
      add_slots_or_refuse(compilation.in, e.value, entry.items[1], e.value, given.items);
    }
  } else {
    const std::vector<Value> items = v.as<Set>()->items();
    for (const Value& item : items) add_slots_or_refuse(compilation.in, item, entry.items[0], items[0], given.items);
  }
  given.after = given.items;
  to.lists.push_back(std::move(given));
  to.leaves.push_back({{}, nullptr, &to.lists.back().after});
}

/// The type of a dict or a set that is an argument; nullopt: it is neither.
std::optional<functions::Type> type_of_table(Compilation& compilation, const Value& v) {
  if (const auto* dict = v.as<TypedDict>()) {
    if (dict->entry) return functions::Type::table_of("dict", *dict->entry);
    for (const Dict::Entry& e : dict->entries())
      if (!e.key.is_absent())
        return functions::Type::table_of("dict",
                                         functions::Type::tuple_of({type_of_item(compilation, e.key), type_of_item(compilation, e.value)}));
    raise("TypeError", "invalid operation on untyped dictionary", "numba.typed.Dict.empty(key_type, value_type) says the types");
  }
  if (const auto* set = v.as<Set>(); set && !set->frozen()) {
    const std::vector<Value> items = set->items();
    if (items.empty()) raise("ValueError", "cannot compute fingerprint of empty set");
    return functions::Type::table_of("set", functions::Type::tuple_of({type_of_item(compilation, items[0])}));
  }
  return {};
}

/// The leaf of a list of this type.
void add_list(Compilation& compilation, const Value& v, const functions::Type& type, CallArguments& to) {
  CallArguments::GivenList given{v, {}, {}};
  const auto& items = v.as<List>()->items;
  for (const Value& item : items) add_slots_or_refuse(compilation.in, item, type.items[0], items[0], given.items);
  given.after = given.items;
  to.lists.push_back(std::move(given));
  to.leaves.push_back({{}, nullptr, &to.lists.back().after});
}

void reflect_table(Interpreter& in, const CallArguments::GivenList& given, const functions::Type& entry) {
  auto* const dict = given.list.as<Dict>();
  auto* const set = given.list.as<Set>();
  dict ? dict->clear() : set->clear();
  for (const int64_t *slot = given.after.data(), *end = slot + given.after.size(); slot < end;) {
    const Value key = from_slots(entry.items[0], slot);
    if (dict)
      dict->insert(in, key, from_slots(entry.items[1], slot));
    else
      set->insert(in, key);
  }
}

}  // namespace

void reflect_lists(Interpreter& in, const CallArguments& arguments, const std::vector<functions::Type>& types) {
  size_t at = 0;
  for (const functions::Type& type : types) {
    if (!type.is_memory() || type.is_array()) continue;
    const auto& given = arguments.lists.at(at++);
    if (given.items == given.after) continue;
    if (type.is_table()) {
      reflect_table(in, given, type.items[0]);
      continue;
    }
    std::vector<Value> items;
    for (const int64_t *slot = given.after.data(), *end = slot + given.after.size(); slot < end;)
      items.push_back(from_slots(type.items[0], slot));
    given.list.as<List>()->items = std::move(items);
  }
}

void add_argument(Compilation& compilation, const Value& v, CallArguments& to) {
  if (const auto* a = v.as<numpy::NdArray>()) {
    to.types.push_back(type_of_array(a->array));
    to.leaves.push_back({{}, &a->array});
    to.arrays.push_back(v);
  } else if (const auto s = scalar_of(compilation.in, v)) {
    to.types.push_back(functions::Type::of(s->type));
    to.leaves.push_back({*s, nullptr});
  } else if (v.is_none()) {
    to.types.emplace_back();
  } else if (const auto* t = v.as<Tuple>()) {
    CallArguments inner;
    for (const Value& item : t->items) add_argument(compilation, item, inner);
    if (!inner.lists.empty()) raise_typing_error("compiled functions take no list in a tuple", "pass the list itself, or an array");
    to.types.push_back(functions::Type::tuple_of(std::move(inner.types)));
    to.leaves.insert(to.leaves.end(), inner.leaves.begin(), inner.leaves.end());
    to.arrays.insert(to.arrays.end(), inner.arrays.begin(), inner.arrays.end());
  } else if (const auto* text = v.as<Str>()) {
    to.types.push_back(functions::Type::text_of(text->value));
  } else if (const auto table = type_of_table(compilation, v)) {
    to.types.push_back(*table);
    add_table(compilation, v, *table, to);
  } else if (const auto* typed = v.as<TypedList>(); typed && typed->item) {
    functions::Type type = functions::Type::list_of(*typed->item);
    type.text = "reflected";
    to.types.push_back(type);
    add_list(compilation, v, type, to);
  } else if (const auto* list = v.as<List>()) {
    if (list->items.empty())
      raise("ValueError", "cannot compute fingerprint of empty list", "the items say what the list holds: pass np.array([], dtype=…)");
    const functions::Type item = type_of_item(compilation, list->items[0]);
    functions::Type type = functions::Type::list_of(item);
    type.text = "reflected";
    to.types.push_back(type);
    add_list(compilation, v, type, to);
  } else {
    auto& [kept, constant] = compilation.constants[v.object()];
    if (!constant) {
      Outside o = to_outside(compilation, v);
      if (o.kind != Outside::Kind::path && o.kind != Outside::Kind::function) {
        compilation.constants.erase(v.object());
        const std::string name = type_of(v).name;
        raise_typing_error("compiled functions take no argument of type " + name, "pass numbers, arrays, lists, tuples and functions");
      }
      // One constant for what has one name, whichever object it came by.
      for (const auto& [object, other] : compilation.constants)
        if (other.second && o.kind == Outside::Kind::path && other.second->kind == o.kind && other.second->text == o.text)
          constant = other.second;
      if (!constant) constant = std::make_shared<Outside>(std::move(o));
      kept = v;
    }
    functions::Type t;
    t.kind = functions::Type::Kind::function;
    t.text = constant->text;
    t.constant = constant;
    to.types.push_back(std::move(t));
  }
}

bool add_leaves(Compilation& compilation, const Value& v, const functions::Type& type, CallArguments& to) {
  using Kind = functions::Type::Kind;
  switch (type.kind) {
    case Kind::scalar:
      switch (v.tag()) {
        case Value::Tag::boolean: to.leaves.push_back({Scalar::of_bool(v.as_int() != 0), nullptr}); return type.dtype == DType::boolean;
        case Value::Tag::integer: to.leaves.push_back({Scalar::of_int(v.as_int()), nullptr}); return type.dtype == DType::i64;
        case Value::Tag::floating: to.leaves.push_back({Scalar::of_float(v.as_float()), nullptr}); return type.dtype == DType::f64;
        default: break;
      }
      if (const auto s = scalar_of(compilation.in, v)) {
        to.leaves.push_back({*s, nullptr});
        return s->type == type.dtype;
      }
      return false;
    case Kind::array: {
      const auto* a = v.as<numpy::NdArray>();
      if (!a || a->array.dtype() != type.dtype || a->array.rank() != type.rank || a->array.writable() == type.read_only) return false;
      if (is_c_contiguous(a->array) != (type.layout == Layout::c)) return false;
      to.leaves.push_back({{}, &a->array});
      to.arrays.push_back(v);
      return true;
    }
    case Kind::tuple: {
      const auto* t = v.as<Tuple>();
      if (!t || t->items.size() != type.items.size()) return false;
      for (size_t k = 0; k < t->items.size(); ++k)
        if (!add_leaves(compilation, t->items[k], type.items[k], to)) return false;
      return true;
    }
    case Kind::list: {
      const auto* list = v.as<List>();
      if (!list || list->items.empty() || type_of_item(compilation, list->items[0]) != type.items[0]) return false;
      add_list(compilation, v, type, to);
      return true;
    }
    case Kind::table:
      if (!v.as<TypedDict>() && !v.as<Set>()) return false;
      if (const auto table = type_of_table(compilation, v); !table || *table != type) return false;
      add_table(compilation, v, type, to);
      return true;
    case Kind::none: return v.is_none();
    case Kind::text: {
      const auto* text = v.as<Str>();
      return text && text->value == type.text;
    }
    case Kind::function: {
      if (!v.is_object()) return false;
      const auto known = compilation.constants.find(v.object());
      return known != compilation.constants.end() && known->second.second == type.constant;
    }
    default: return false;
  }
}

Value to_value(Interpreter& in, const functions::Returned& r, const CallArguments& arguments) {
  using Kind = functions::Type::Kind;
  switch (r.type->kind) {
    case Kind::scalar: {
      // Integers of a script have 64 bits with a sign; what is larger stays NumPy's.
      if (r.scalar.type == DType::u64 && r.scalar.i < 0) return numpy::wrap_scalar(r.scalar);
      return numpy::python_value(r.scalar);
    }
    case Kind::array: return r.argument >= 0 ? arguments.arrays[static_cast<size_t>(r.argument)] : Value::make<numpy::NdArray>(*r.array);
    case Kind::tuple: {
      std::vector<Value> items;
      for (const functions::Returned& item : r.items) items.push_back(to_value(in, item, arguments));
      return make_tuple(std::move(items));
    }
    case Kind::list: {
      if (r.list >= 0) return arguments.lists[static_cast<size_t>(r.list)].list;
      std::vector<Value> items;
      for (const functions::Returned& item : r.items) items.push_back(to_value(in, item, arguments));
      return make_list(std::move(items));
    }
    case Kind::table: {
      if (r.list >= 0) return arguments.lists[static_cast<size_t>(r.list)].list;
      const bool dict = r.type->text == "dict";
      Value made = dict ? Value::make<TypedDict>(r.type->items.empty() ? std::nullopt : std::optional(r.type->items[0]))
                        : make_set(in, make_list({}));
      for (const functions::Returned& entry : r.items) {
        const Value key = to_value(in, entry.items[0], arguments);
        if (dict)
          made.as<Dict>()->insert(in, key, to_value(in, entry.items[1], arguments));
        else
          made.as<Set>()->insert(in, key);
      }
      return made;
    }
    case Kind::optional: return r.there ? to_value(in, r.items[0], arguments) : Value();
    case Kind::text: return make_str(r.type->text);
    case Kind::none: return {};
    default:
      raise_typing_error("a compiled function cannot return " + functions::describe(*r.type) + ": it lives inside compiled code alone",
                         "return numbers, arrays, lists and tuples of these");
  }
}

void register_numba_errors() {
  static const bool once = [] {
    static const char* kModule = "numba.core.errors";
    static const gasell::Type error{"NumbaError", kModule, exception_type("Exception")};
    static const gasell::Type typing{"TypingError", kModule, &error};
    static const gasell::Type unsupported{"UnsupportedError", kModule, &error};
    static const gasell::Type lowering{"LoweringError", kModule, &error};
    static const gasell::Type type_error{"NumbaTypeError", kModule, &typing};
    static const gasell::Type value_error{"NumbaValueError", kModule, &typing};
    static const gasell::Type warning{"NumbaWarning", kModule, exception_type("Warning")};
    static const gasell::Type performance{"NumbaPerformanceWarning", kModule, &warning};
    static const gasell::Type deprecation{"NumbaDeprecationWarning", kModule, &warning};
    for (const gasell::Type* t :
         {&error, &typing, &unsupported, &lowering, &type_error, &value_error, &warning, &performance, &deprecation})
      register_exception(*t);
    return true;
  }();
  (void)once;
}

void raise_typing_error(std::string message, std::string hint) {
  register_numba_errors();
  gasell::raise("TypingError", std::move(message), std::move(hint));
}

}  // namespace gasell::numba
