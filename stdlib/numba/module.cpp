// The module numba.
#include "stdlib/numba/module.h"
#include "runtime/device/sandbox.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include <fmt/format.h>

#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/range.h"
#include "runtime/session/set.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"
#include "stdlib/numba/overloads.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;

class Decorator final : public Object {
 public:
  Decorator(const char* name, std::function<Value(Interpreter&, const Value&)> apply) : name_(name), apply_(std::move(apply)) {}
  const gasell::Type& type() const override { return function_type(); }
  std::string repr(Interpreter&) override { return std::string("<function ") + name_ + ".<locals>.wrapper>"; }
  Value call(Interpreter& in, Arguments args) override {
    if (args.positional.size() != 1 || !args.keywords.empty())
      raise("TypeError", std::string(name_) + "(...) is a decorator: it takes one function");
    return apply_(in, args.positional[0]);
  }

 private:
  const char* name_;
  std::function<Value(Interpreter&, const Value&)> apply_;
};

Value jitted(Interpreter& in, const Value& function, const functions::Options& options, const std::vector<Value>& signatures) {
  if (function.as<Dispatcher>())
    raise("TypeError", "A jit decorator was called on an already jitted function " + repr(in, function) +
                           ".  If trying to get access to the original python function, use the .py_func attribute.");
  const Value plain = need_function(function, "jit");
  if (jit_disabled(in)) return plain;
  Value made = Value::make<Dispatcher>(in, plain, options);
  for (const Value& s : signatures) made.as<Dispatcher>()->declare(in, to_signature(in, s));
  return made;
}

Value jit(Interpreter& in, Args args) {
  Value first = args[0];
  const Value keywords = args[5];
  auto& given = *keywords.as<Dict>();
  if (!is_missing(args[4]) && !args[4].is_none()) given.insert(in, make_str("boundscheck"), args[4]);
  if (!args[1].is_none()) given.insert(in, make_str("locals"), args[1]);
  if (const Value* f = given.find("forceobj"); f && truth(in, *f)) {  // object mode is the interpreter
    if (!first.is_none() && !is_signature(first) && !first.as<List>()) return need_function(first, "jit");
    return make_decorator("jit", [](Interpreter&, const Value& f) { return need_function(f, "jit"); });
  }
  const functions::Options options = take_options(in, keywords);
  std::vector<Value> signatures;
  if (const auto* list = first.as<List>()) {
    signatures = list->items;
    first = Value();
  } else if (is_signature(first)) {
    signatures.push_back(first);
    first = Value();
  }
  if (!first.is_none()) return jitted(in, first, options, signatures);
  return make_decorator("jit", [options, signatures](Interpreter& in, const Value& f) { return jitted(in, f, options, signatures); });
}

Value prange(Interpreter& in, Args args) {
  Arguments arguments;
  arguments.positional = args[0].as<Tuple>()->items;
  return call(in, type_object(range_type()), std::move(arguments));
}

/// What set_num_threads asked for; 0: all.
std::atomic<int> threads_wanted{0};

Value get_num_threads(Interpreter& in, Args) {
  const int wanted = threads_wanted;
  return Value::of(wanted > 0 ? wanted : in.engine().options().threads);
}

Value set_num_threads(Interpreter& in, Args args) {
  const int64_t n = to_index(in, args[0]);
  const int most = in.engine().options().threads;
  if (n < 1 || n > most) raise("ValueError", fmt::format("The number of threads must be between 1 and {}", most));
  threads_wanted = static_cast<int>(n);
  return {};
}

Value threading_layer(Interpreter&, Args) { return make_str("tbb"); }

Value type_of_value(Interpreter& in, Args args) {
  Compilation compilation{in};
  CallArguments arguments;
  add_argument(compilation, args[0], arguments);
  return Value::make<NumbaType>(arguments.types[0]);
}

Value from_dtype(Interpreter& in, Args args) {
  const auto dtype = numpy::to_dtype(in, args[0]);
  if (!dtype) raise("NumbaNotImplementedError", "no dtype was given");
  return Value::make<NumbaType>(functions::Type::of(*dtype));
}

Value literal_unroll(Interpreter&, Args args) { return args[0]; }

Value refuse_cfunc(Interpreter&, Args) {
  raise("NotImplementedError", "cfunc is not in Gasell: no other program calls its functions by address", "use @njit");
}

Value refuse_objmode(Interpreter&, Args) {
  raise("NotImplementedError", "object mode is not in Gasell", "call the interpreted function outside of the compiled one");
}

std::vector<NativeFunction> module_functions() {
  constexpr const char* kJit = "signature_or_function=None, locals=None, cache=False, pipeline_class=None, boundscheck=None, **options";
  std::vector<NativeFunction> all = {
      {"jit", kJit, jit, "Compiles a function for the types of the arguments it is called with."},
      {"njit", kJit, jit, "The same as jit."},
      {"prange", "*args", prange, "range; in functions compiled with parallel=True its iterations run on all cores."},
      {"get_num_threads", "", get_num_threads, "How many threads parallel functions use."},
      {"set_num_threads", "n", set_num_threads, "Sets how many threads parallel functions use."},
      {"threading_layer", "", threading_layer, "The library that runs threads: 'tbb'."},
      {"typeof", "val, purpose=None", type_of_value, "The type that compiled functions see in a value."},
      {"from_dtype", "dtype", from_dtype, "The type of numbers of a NumPy dtype."},
      {"literal_unroll", "container", literal_unroll, "The tuple itself: loops over tuples of several types are written out."},
      {"cfunc", "*args, **kwargs", refuse_cfunc, "Not in Gasell."},
      {"objmode", "*args, **kwargs", refuse_objmode, "Not in Gasell."},
  };
  for (auto part : {vectorize_functions(), guvectorize_functions(), stencil_functions()})
    for (NativeFunction& f : part) all.push_back(std::move(f));
  return all;
}

}  // namespace

Value make_decorator(const char* name, std::function<Value(Interpreter&, const Value&)> apply) {
  return Value::make<Decorator>(name, std::move(apply));
}

Value need_function(const Value& v, const char* decorator) {
  if (const auto* d = v.as<Dispatcher>()) return d->function();
  if (v.as<Function>()) return v;
  raise("TypeError", fmt::format("{}() takes a function of the script, not '{}'", decorator, type_of(v).name));
}

namespace {

/// True, or LLVM's flags, which allow to compute in other ways, and so may be left aside: what "fast" means is done where all of them are.
bool to_fast_math(Interpreter& in, const Value& v) {
  if (v.tag() == Value::Tag::boolean) return truth(in, v);
  static constexpr const char* kFlags[] = {"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"};
  if (!v.as<Set>() && !v.as<Dict>()) raise("ValueError", "Expected fastmath option(s) to be either a bool, dict or set");
  std::vector<std::string> given;
  for (const Value& flag : to_vector(in, v)) {
    const std::string name = str(in, flag);
    if (name != "fast" && std::none_of(std::begin(kFlags), std::end(kFlags), [&](const char* k) { return name == k; }))
      raise("ValueError", "Unrecognized fastmath flags: {'" + name + "'}");
    if (const auto* dict = v.as<Dict>(); !dict || truth(in, gasell::get_item(in, v, flag))) given.push_back(name);
  }
  const auto has = [&](const char* flag) { return std::find(given.begin(), given.end(), flag) != given.end(); };
  return has("fast") || std::all_of(std::begin(kFlags), std::end(kFlags), has);
}

std::map<std::string, DType> to_locals(Interpreter& in, const Value& v) {
  std::map<std::string, DType> locals;
  if (v.is_none()) return locals;
  const auto* dict = v.as<Dict>();
  if (!dict) raise("TypeError", "locals is a dict from names to types");
  for (const Dict::Entry& e : dict->entries()) {
    if (e.key.is_absent()) continue;
    const auto type = to_type(e.value);
    if (!type) raise("TypeError", "'" + type_of(e.value).name + "' object is not a Numba type");
    if (!type->is_scalar()) raise("NotImplementedError", "locals of types that are no numbers' are not in Gasell");
    locals.emplace(str(in, e.key), type->dtype);
  }
  return locals;
}

}  // namespace

functions::Options take_options(Interpreter& in, const Value& keywords, std::initializer_list<std::string_view> own) {
  functions::Options options;
  auto& given = *keywords.as<Dict>();
  // Known to Numba; these change nothing here: code is always cached, always without the interpreter and its lock, always without debug
  // information.
  static constexpr const char* kAccepted[] = {
      "nopython",           "forceobj",         "nogil",       "cache",       "inline", "looplift",      "debug",
      "no_cpython_wrapper", "no_cfunc_wrapper", "no_rewrites", "forceinline", "_nrt",   "target_backend"};
  std::vector<std::string> unknown;
  for (const Dict::Entry& e : given.entries()) {
    if (e.key.is_absent()) continue;
    const std::string name = str(in, e.key);
    const Value& v = e.value;
    if (name == "parallel") {
      options.parallel = truth(in, v);
      if (const auto* how = v.as<Str>()) {
        if (how->value != "unsafe")
          raise("ValueError", "parallel is True, False or \"unsafe\"",
                "\"unsafe\" takes the iterations of prange to be independent without proof");
        require_unchecked("parallel=\"unsafe\"");
        options.unchecked_parallel = true;
      }
    } else if (name == "fastmath") {
      options.fast_math = to_fast_math(in, v);
    } else if (name == "locals") {
      options.locals = to_locals(in, v);
    } else if (name == "boundscheck") {
      options.bounds_check = v.is_none() || truth(in, v);
      if (!options.bounds_check) require_unchecked("boundscheck=False");
    } else if (name == "max_registers" && std::find(own.begin(), own.end(), name) != own.end()) {
      if (!v.is_none()) options.registers = static_cast<int>(std::clamp<int64_t>(to_index(in, v), 16, 255));
    } else if (name == "error_model") {
      const std::string model = str(in, v);
      if (model != "python" && model != "numpy") raise("ValueError", "error_model is 'python' or 'numpy', not '" + model + "'");
      options.python_errors = model == "python";
    } else if (std::none_of(std::begin(kAccepted), std::end(kAccepted), [&](const char* k) { return name == k; }) &&
               std::find(own.begin(), own.end(), name) == own.end()) {
      unknown.push_back(name);
    }
  }
  if (!unknown.empty())
    raise("KeyError", "Unrecognized options: {'" + unknown[0] +
                          "'}. Known options are parallel, fastmath, boundscheck, error_model, cache, nogil, inline, nopython, forceobj, "
                          "looplift, debug");
  return options;
}

bool jit_disabled(Interpreter& in) {
  const Value config = get_attribute(in, in.import_module("numba", nullptr), "config");
  return truth(in, get_attribute(in, config, "DISABLE_JIT"));
}

}  // namespace gasell::numba

namespace gasell {

Value make_numba_errors(Interpreter&) {
  numba::register_numba_errors();
  Value module = Value::make<Module>("numba.core.errors");
  for (const char* name : {"NumbaError", "TypingError", "UnsupportedError", "LoweringError", "NumbaTypeError", "NumbaValueError",
                           "NumbaWarning", "NumbaPerformanceWarning", "NumbaDeprecationWarning"})
    set_member(module, name, type_object(*exception_type(name)));
  return module;
}

Value make_numba_extending(Interpreter&) {
  static const std::vector<NativeFunction> kFunctions = [] {
    std::vector<NativeFunction> all = numba::extending_functions();
    all.push_back({"register_jitable", "function=None, **kwargs",
                   [](Interpreter&, std::span<Value> args) {
                     const auto itself = [](Interpreter&, const Value& f) { return numba::need_function(f, "register_jitable"); };
                     if (args[0].is_none()) return numba::make_decorator("register_jitable", itself);
                     return numba::need_function(args[0], "register_jitable");
                   },
                   "The function itself: compiled functions call any function of the script."});
    return all;
  }();
  return make_module("numba.extending", kFunctions);
}

Value make_numba_experimental(Interpreter&) {
  static const std::vector<NativeFunction> kFunctions = {
      {"jitclass", "*args, **kwargs",
       [](Interpreter&, std::span<Value>) -> Value {
         raise("NotImplementedError", "jitclass is not in Gasell yet",
               "hold the fields in a collections.namedtuple, those that change in arrays, and write methods as functions of it");
       },
       "Not in Gasell."},
      {"structref", "*args, **kwargs",
       [](Interpreter&, std::span<Value>) -> Value {
         raise("NotImplementedError", "structref is not in Gasell", "hold the fields in a collections.namedtuple");
       },
       "Not in Gasell."},
  };
  return make_module("numba.experimental", kFunctions);
}

Value make_numba(Interpreter& in) {
  static const std::vector<NativeFunction> kFunctions = numba::module_functions();
  numba::register_sorting();
  Value module = make_module("numba", kFunctions);
  for (const auto& [name, value] : numba::type_members()) set_member(module, name, value);
  set_member(module, "types", make_numba_types(in));
  set_member(module, "typed", make_numba_typed(in));
  set_member(module, "extending", make_numba_extending(in));
  set_member(module, "experimental", make_numba_experimental(in));
  set_member(module, "cuda", make_numba_cuda(in));
  const Value errors = make_numba_errors(in);
  set_member(module, "errors", errors);
  for (const auto& [name, value] : errors.as<Module>()->members) set_member(module, name, value);
  const Value config = Value::make<Module>("numba.config");
  const int threads = in.engine().options().threads;
  const char* disabled = std::getenv("NUMBA_DISABLE_JIT");
  set_member(config, "NUMBA_NUM_THREADS", Value::of(threads));
  set_member(config, "NUMBA_DEFAULT_NUM_THREADS", Value::of(threads));
  set_member(config, "DISABLE_JIT", Value::of(disabled && std::string_view(disabled) == "1" ? 1 : 0));
  set_member(config, "THREADING_LAYER", make_str("tbb"));
  set_member(module, "config", config);
  return module;
}

}  // namespace gasell
