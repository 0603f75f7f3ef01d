// np.random: counter-based generators. A generator is a seed and the number of its next stream; each call takes one stream.
#include <atomic>
#include <cmath>
#include <optional>
#include <random>

#include "lang/diagnostic.h"
#include "runtime/device/sandbox.h"
#include "runtime/functions/generator.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/numpy/chunks.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/random_generator.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;
using graph::Distribution;

class Generator : public Object {
 public:
  Generator(uint64_t s, const Type& t) : seed(s), type_(t) {}
  const Type& type() const override { return type_; }
  std::string repr(Interpreter&) override { return type_.name + "(Philox)"; }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    return library_method(in, *this, "numpy.random", name, Object::get_attribute(in, name));
  }
  std::vector<std::string> attribute_names(Interpreter& in) override {
    return with_library_names(Object::attribute_names(in), "numpy.random");
  }

  uint64_t seed, next_stream = 0;
  std::optional<functions::Pcg64> compiled;  // made when a compiled function is given it

 private:
  const Type& type_;
};

uint64_t seed_from_system() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) ^ device();
}

/// The generator behind np.random.normal(…) and its like.
struct Global {
  uint64_t seed = seed_from_system(), stream = 0;
};
uint64_t& global_seed() { return state_of_session<Global>().seed; }
uint64_t& global_stream() { return state_of_session<Global>().stream; }

struct Stream {
  uint64_t seed, stream;
};
/// The next stream of a generator, or of the global one where `self` is none.
Stream take(const Value* self) {
  if (auto* g = self ? self->as<Generator>() : nullptr) return {g->seed, g->next_stream++};
  return {global_seed(), global_stream()++};
}

/// Parameters that are arrays are broadcast with size; without size the result has their shape (one number: a NumPy scalar or float).
Shape size_of_draw(Interpreter& in, const Value& size, std::initializer_list<NodeRef> parameters) {
  if (!size.is_none() && !is_missing(size)) return to_shape(in, size);
  std::vector<Shape> shapes;
  for (const NodeRef& p : parameters) shapes.push_back(p->shape);
  return graph::broadcast_shapes(shapes);
}

Value finish(Interpreter& in, const NodeRef& node, const Value& size, const Value& chunks) {
  if ((size.is_none() || is_missing(size)) && node->shape.empty()) {  // one Python number, as NumPy gives
    const Scalar s = Array(node).elements(in.engine())[0];
    return python_value(s);
  }
  Array a(node);
  request_chunks(in, a, chunks);
  return Value::make<NdArray>(std::move(a));
}

DType float_dtype(Interpreter& in, const Value& v, const char* function) {
  const auto d = to_dtype(in, v);
  if (d && *d != DType::f32 && *d != DType::f64)
    raise("TypeError", "Unsupported dtype dtype('" + std::string(name_of(*d)) + "') for " + function);
  return d.value_or(DType::f64);
}

NodeRef scale_and_shift(NodeRef x, const NodeRef& scale, const NodeRef& loc) {
  auto is = [](const NodeRef& n, double v) {
    const auto* c = n->as<graph::ConstantNode>();
    return c && c->value.as_double() == v;
  };
  if (!is(scale, 1)) x = graph::map(ScalarOp::mul, {x, graph::cast(scale, x->dtype)});
  return is(loc, 0) ? x : graph::map(ScalarOp::add, {x, graph::cast(loc, x->dtype)});
}

NodeRef draw(const Value* self, Distribution d, DType dtype, const Shape& shape) {
  const Stream s = take(self);
  return graph::random(d, dtype, shape, s.seed, s.stream);
}

// Each distribution once, with or without a generator.
Value normal(Interpreter& in, const Value* self, Args a) {  // loc, scale, size, chunks
  const NodeRef loc = as_node(in, a[0]), scale = as_node(in, a[1]);
  if (const auto* c = scale->as<graph::ConstantNode>(); c && c->value.as_double() < 0) raise("ValueError", "scale < 0");
  const Shape shape = size_of_draw(in, a[2], {loc, scale});
  return finish(in, scale_and_shift(draw(self, Distribution::standard_normal, DType::f64, shape), scale, loc), a[2], a[3]);
}
Value standard_normal(Interpreter& in, const Value* self, Args a) {  // size, dtype, chunks
  const Shape shape = size_of_draw(in, a[0], {});
  return finish(in, draw(self, Distribution::standard_normal, float_dtype(in, a[1], "standard_normal"), shape), a[0], a[2]);
}
Value random(Interpreter& in, const Value* self, Args a) {  // size, dtype, chunks
  const Shape shape = size_of_draw(in, a[0], {});
  return finish(in, draw(self, Distribution::uniform, float_dtype(in, a[1], "random"), shape), a[0], a[2]);
}
Value uniform(Interpreter& in, const Value* self, Args a) {  // low, high, size, chunks
  const NodeRef low = graph::cast(as_node(in, a[0]), DType::f64), high = graph::cast(as_node(in, a[1]), DType::f64);
  const NodeRef range = graph::map(ScalarOp::sub, {high, low});
  if (const auto* c = range->as<graph::ConstantNode>(); c && !std::isfinite(c->value.as_double()))
    raise("OverflowError", "high - low range exceeds valid bounds");
  const Shape shape = size_of_draw(in, a[2], {low, high});
  return finish(in, scale_and_shift(draw(self, Distribution::uniform, DType::f64, shape), range, low), a[2], a[3]);
}
/// Integers in [low, high) between arrays: one draw of 62 bits an element, reduced to its range. Ranges are far smaller, so that no integer
/// shows to be likelier.
Value integers_between(Interpreter& in, const Value* self, const NodeRef& low, const NodeRef& high, DType dtype, bool endpoint,
                       const Value& size, const Value& chunks) {
  constexpr uint64_t kDraw = uint64_t{1} << 62;
  constexpr int64_t kMost = int64_t{1} << 40;
  const auto number = [](int64_t v) { return graph::constant(Scalar::of_int(v)); };
  for (const NodeRef& bound : {low, high})
    if (is_complex(bound->dtype)) raise("TypeError", "random integers want real bounds");
  const Shape both = graph::broadcast_shapes({low->shape, high->shape});
  const Shape shape = size.is_none() || is_missing(size) ? both : to_shape(in, size);
  if (graph::broadcast_shapes({both, shape}) != shape)
    raise("ValueError", "Output size " + graph::to_string(shape) + " is not compatible with broadcast dimensions of inputs " +
                            graph::to_string(both) + ".");
  const NodeRef first = graph::broadcast_to(graph::cast(low, DType::i64), both),
                end = graph::broadcast_to(graph::cast(high, DType::i64), both);
  const NodeRef last = endpoint ? end : graph::map(ScalarOp::sub, {end, number(1)});
  const auto [firsts, lasts] = std::pair(Array(first).elements(in.engine()), Array(last).elements(in.engine()));
  for (const auto& [bounds, name] : {std::pair(&firsts, "low"), std::pair(&lasts, "high")})
    for (int64_t k = 0; k < bounds->count; ++k)
      if (!fits((*bounds)[k].i, dtype)) raise("ValueError", std::string(name) + " is out of bounds for " + std::string(name_of(dtype)));
  for (int64_t k = 0; k < firsts.count; ++k) {
    if (firsts[k].i > lasts[k].i) raise("ValueError", endpoint ? "low > high" : "low >= high");
    if (lasts[k].i / 2 - firsts[k].i / 2 >= kMost / 2)
      raise("NotImplementedError", "random integers between arrays that are 2**40 apart are not in Gasell",
            "draw them with numbers as bounds");
  }
  const Stream s = take(self);
  const NodeRef drawn = graph::random(Distribution::integers, DType::i64, shape, s.seed, s.stream, 0, kDraw);
  const NodeRef range = graph::broadcast_to(graph::map(ScalarOp::add, {graph::map(ScalarOp::sub, {last, first}), number(1)}), shape);
  const NodeRef numbers = graph::map(ScalarOp::add, {graph::map(ScalarOp::mod, {drawn, range}), graph::broadcast_to(first, shape)});
  return finish(in, graph::cast(numbers, dtype), size, chunks);
}

/// integers: one number is NumPy's, of its dtype, unless Python's int or bool is asked for.
Value integers(Interpreter& in, const Value* self, Args a) {  // low, high, size, dtype, endpoint, chunks
  const DType dtype = to_dtype(in, a[3]).value_or(DType::i64);
  if (!is_integer(dtype) && kind(dtype) != 'b')
    raise("TypeError", "Unsupported dtype dtype('" + std::string(name_of(dtype)) + "') for integers");
  const bool endpoint = !is_missing(a[4]) && truth(in, a[4]);
  const auto is_several = [](const Value& v) { return v.as<List>() || v.as<Tuple>() || v.as<NdArray>(); };
  if (is_several(a[0]) || is_several(a[1])) {
    const NodeRef first = as_node(in, a[0]);
    return a[1].is_none() ? integers_between(in, self, graph::constant(Scalar::of_int(0)), first, dtype, endpoint, a[2], a[5])
                          : integers_between(in, self, first, as_node(in, a[1]), dtype, endpoint, a[2], a[5]);
  }
  const auto whole = [&](const Value& v) {  // floats lose their fraction, as in NumPy
    return v.is_object() && v.object()->to_float(in) && !v.object()->to_index(in) ? float_to_int(v.object()->to_float(in)->as_float())
           : v.is_float()                                                         ? float_to_int(v.as_float())
                                                                                  : to_index(in, v);
  };
  int64_t low = whole(a[0]), high = 0;
  if (a[1].is_none())
    high = low, low = 0;
  else
    high = whole(a[1]);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + (endpoint ? 1 : 0);
  if (high < low + (endpoint ? 0 : 1))
    raise("ValueError", low >= high && a[1].is_none() ? "high <= 0" : endpoint ? "low > high" : "low >= high");
  for (const auto& [bound, name] : {std::pair{low, "low"}, std::pair{endpoint ? high : high - 1, "high"}})
    if (!fits(bound, dtype)) raise("ValueError", std::string(name) + " is out of bounds for " + std::string(name_of(dtype)));
  const Stream s = take(self);
  const Shape shape = size_of_draw(in, a[2], {});
  const NodeRef numbers = graph::cast(graph::random(Distribution::integers, DType::i64, shape, s.seed, s.stream, low, range), dtype);
  const auto* type = a[3].as<TypeObject>();
  const bool of_python = type && type->described.module == "builtins";
  return shape.empty() && a[2].is_none() && !of_python ? wrap_reduced(in, numbers) : finish(in, numbers, a[2], a[5]);
}
/// randint: one number is Python's, unless a dtype is asked for.
Value randint(Interpreter& in, const Value* self, Args a) {  // as integers
  if (is_missing(a[3]) || a[3].is_none()) a[3] = type_object(int_type());
  return integers(in, self, a);
}
Value rand(Interpreter& in, const Value* self, Args a, Distribution d) {  // *shape
  Shape shape;
  for (const Value& v : a[0].as<Tuple>()->items) shape.push_back(to_index(in, v));
  const Value size = shape.empty() ? Value() : from_shape(shape);
  return finish(in, draw(self, d, DType::f64, shape), size, Value());
}
Value rand_uniform(Interpreter& in, const Value* self, Args a) { return rand(in, self, a, Distribution::uniform); }
Value rand_normal(Interpreter& in, const Value* self, Args a) { return rand(in, self, a, Distribution::standard_normal); }

using Draw = Value (*)(Interpreter&, const Value*, Args);
template <Draw f>
Value method(Interpreter& in, Args args) {
  const Value self = args[0];
  return f(in, &self, args.subspan(1));
}
template <Draw f>
Value function(Interpreter& in, Args args) {
  return f(in, nullptr, args);
}

constexpr const char* kNormal = "loc=0.0, scale=1.0, size=None, chunks=None";
constexpr const char* kUnit = "size=None, dtype=None, chunks=None, out: Refused=None";
constexpr const char* kUniform = "low=0.0, high=1.0, size=None, chunks=None";
constexpr const char* kIntegers = "low, high=None, size=None, dtype=None, endpoint=False, chunks=None";

uint64_t legacy_seed(Interpreter& in, const Value& v) {
  if (v.is_none()) return seed_from_system();
  const int64_t seed = to_index(in, v);
  if (seed < 0 || seed > UINT32_MAX) raise("ValueError", "Seed must be between 0 and 2**32 - 1");
  return static_cast<uint64_t>(seed);
}

Value set_seed(Interpreter& in, Args args) {
  global_seed() = legacy_seed(in, args[0]);
  global_stream() = 0;
  return {};
}

const Type& generator_type(bool legacy) {
  static const auto make = [](const char* name, const NativeFunction* constructor) {
    Type t{name, "numpy.random"};
    t.methods = {
        {"normal", kNormal, method<normal>, "Normal numbers with mean loc and standard deviation scale."},
        {"standard_normal", kUnit, method<standard_normal>, "Normal numbers with mean 0 and standard deviation 1."},
        {"random", kUnit, method<random>, "Uniform numbers in [0, 1)."},
        {"random_sample", kUnit, method<random>, "Uniform numbers in [0, 1)."},
        {"uniform", kUniform, method<uniform>, "Uniform numbers in [low, high)."},
        {"integers", kIntegers, method<integers>, "Integers in [low, high), or [0, low)."},
        {"randint", kIntegers, method<randint>, "Integers in [low, high), or [0, low)."},
        {"rand", "*shape", method<rand_uniform>, "Uniform numbers in [0, 1) of that shape."},
        {"randn", "*shape", method<rand_normal>, "Standard normal numbers of that shape."},
    };
    t.constructor = constructor;
    return t;
  };
  static const NativeFunction construct{
      "RandomState", "seed=None",
      [](Interpreter& in, Args args) { return Value::make<Generator>(legacy_seed(in, args[0]), generator_type(true)); },
      "A generator of random numbers."};
  static const Type kLegacy = make("RandomState", &construct);
  static const Type kGenerator = make("Generator", nullptr);
  return legacy ? kLegacy : kGenerator;
}

Value default_rng(Interpreter& in, Args args) {
  if (args[0].as<Generator>()) return args[0];
  if (args[0].is_none()) return Value::make<Generator>(seed_from_system(), generator_type(false));
  const int64_t seed = to_index(in, args[0]);
  if (seed < 0) raise("ValueError", "expected non-negative integer");
  return Value::make<Generator>(static_cast<uint64_t>(seed), generator_type(false));
}

}  // namespace

functions::Pcg64* compiled_generator(const Value& v) {
  auto* const g = v.as<Generator>();
  if (!g || &g->type() != &generator_type(false)) return nullptr;
  if (!g->compiled) g->compiled.emplace(g->seed);
  return &*g->compiled;
}

Value make_random_module() {
  static const std::vector<NativeFunction> kFunctions = {
      {"normal", kNormal, function<normal>, "Normal numbers with mean loc and standard deviation scale."},
      {"standard_normal", kUnit, function<standard_normal>, "Normal numbers with mean 0 and standard deviation 1."},
      {"random", kUnit, function<random>, "Uniform numbers in [0, 1)."},
      {"random_sample", kUnit, function<random>, "Uniform numbers in [0, 1)."},
      {"uniform", kUniform, function<uniform>, "Uniform numbers in [low, high)."},
      {"integers", kIntegers, function<integers>, "Integers in [low, high), or [0, low)."},
      {"randint", kIntegers, function<randint>, "Integers in [low, high), or [0, low)."},
      {"rand", "*shape", function<rand_uniform>, "Uniform numbers in [0, 1) of that shape."},
      {"randn", "*shape", function<rand_normal>, "Standard normal numbers of that shape."},
      {"seed", "seed=None", set_seed, "Restarts np.random's own generator."},
      {"default_rng", "seed=None", default_rng, "A generator; the same seed gives the same numbers on every device."},
  };
  Value module = Value::make<LibraryModule>("numpy.random", true);
  for (const NativeFunction& f : kFunctions) set_member(module, f.name, Value::make<Builtin>(f));
  set_member(module, "RandomState", type_object(generator_type(true)));
  set_member(module, "Generator", type_object(generator_type(false)));
  return module;
}

}  // namespace gasell::numpy
