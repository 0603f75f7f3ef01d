#include "stdlib/numba/outside.h"

#include <functional>
#include <mutex>
#include <unordered_map>

#include "runtime/functions/host_function.h"
#include "runtime/session/builtins.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/named_tuple.h"
#include "stdlib/numba/cuda.h"
#include "stdlib/numba/dispatcher.h"
#include "stdlib/numba/generated.h"
#include "stdlib/numba/module.h"
#include "stdlib/numba/overloads.h"
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
    if (m->name == "cupyx.jit") return "numba.cuda";  // the same names
    for (const char* known : kKnown)
      if (m->name == known || m->name.starts_with("numba.cuda.")) return m->name == "cupy" ? "numpy" : m->name;
    return {};
  }
  if (const auto* b = v.as<Builtin>()) return b->self ? std::string() : path_of_native(in, b->function);
  if (const auto* h = v.as<functions::HostFunction>())
    return h->call_of_numbers() ? functions::path_of_host(*h->call_of_numbers()) : std::string();
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

}  // namespace

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

namespace {

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
    o.named = class_of_named(v);
  } else if (v.as<numpy::NdArray>()) {
    const Array& frozen = compilation.frozen->freeze(v);
    o.kind = Outside::Kind::array;
    o.type = type_of_array(frozen);
    o.type.read_only = true;
    o.array = &frozen;
  } else if (const auto* named = v.as<NamedTupleClass>()) {
    o.kind = Outside::Kind::named;
    o.text = named->described.name;
    o.named = named->compiled;
    for (const Value& d : named->defaults) o.items.push_back(to_outside(compilation, d));
  } else if (auto* stencil = v.as<Stencil>()) {
    return stencil->outside();
  } else if (auto gufunc = outside_of_gufunc(v)) {
    return *std::move(gufunc);
  } else if (auto overloaded = outside_of_overloaded(compilation, v)) {
    return *std::move(overloaded);
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
  } else if (const auto* module = v.as<Module>()) {
    o.kind = Outside::Kind::module;
    o.text = module->name;
    o.member = [&compilation, v](const std::string& name) {
      const auto found = v.as<Module>()->get_attribute(compilation.in, name);
      return found ? to_outside(compilation, *found) : Outside();
    };
  } else {
    o.kind = Outside::Kind::other;
    o.text = described(v);
  }
  return o;
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
