// Graphs of few elements have the same bits without kernels as with them.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "catch.h"
#include "runtime/engine.h"
#include "runtime/small_graphs.h"
#include "runtime/small_operations.h"

using namespace gasell;
using graph::NodeRef;
using graph::ReduceOp;

namespace {

EngineOptions options(bool small) {
  EngineOptions o;
  o.threads = 2;
  o.small = small;
  o.cache = false;
  o.device = "cpu";
  return o;
}

/// Numbers at the ends of their range, zeros of both signs, what is no number, and others.
Scalar number(DType type, std::mt19937_64& random) {
  if (is_complex(type)) {
    const double re = number(real_of(type), random).c.real(), im = number(real_of(type), random).c.real();
    return Scalar::of_complex({re, im}, type);
  }
  const auto pick = random() % 16;
  if (kind(type) == 'b') return Scalar::of_bool(pick & 1);
  if (is_float(type)) {
    const double huge = type == DType::f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double special[] = {0.0, -0.0, kInfinity, -kInfinity, std::nan(""), huge, -huge, 5e-324, 0.5, -2.5};
    if (pick < std::size(special)) return Scalar::of_float(special[pick]).cast(type);
    return Scalar::of_float(std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -60)).cast(type);
  }
  const int64_t special[] = {0, 1, -1, 2, 3, 7, 63, 64, INT64_MAX, INT64_MIN, 127, 255};
  return Scalar::of_int(pick < std::size(special) ? special[pick] : static_cast<int64_t>(random())).cast(type);
}

NodeRef numbers(Engine& engine, DType type, const graph::Shape& shape, uint64_t seed, bool tame = false) {
  std::mt19937_64 random(seed);
  const int width = size_of(type);
  const int64_t n = graph::size_of(shape);
  auto storage = std::static_pointer_cast<HostStorage>(engine.allocate(n * width));
  auto* const to = static_cast<char*>(storage->write());
  for (int64_t i = 0; i < n; ++i) {
    const auto some = [&random] { return static_cast<double>(random() % 1000) / 7 - 50; };
    const Scalar s = !tame              ? number(type, random)
                     : is_complex(type) ? Scalar::of_complex({some(), some()}, type)
                                        : Scalar::of_float(some()).cast(type);
    s.store(to + i * width);
  }
  return graph::buffer(storage, type, shape, graph::contiguous_strides(shape), 0);
}

/// How many numbers of the type lie between two, at most `most`.
int64_t distance(double a, double b, DType type, int64_t most) {
  int64_t steps = 0;
  for (; a != b && steps < most; ++steps)
    a = type == DType::f32 ? std::nextafter(static_cast<float>(a), static_cast<float>(b)) : std::nextafter(a, b);
  return steps;
}

/// `ulps`: how far numbers may lie apart.
void require_same(const NodeRef& a, const NodeRef& b, int64_t ulps = 0) {
  REQUIRE(a->dtype == b->dtype);
  REQUIRE(a->shape == b->shape);
  const auto data = [](const NodeRef& node) {
    const auto& buffer = *node->as<graph::BufferNode>();
    return static_cast<const char*>(static_cast<HostStorage&>(*buffer.storage).read()) + buffer.offset * size_of(node->dtype);
  };
  const auto same = [ulps](double x, double y, DType type) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y);
    return x == y ? std::signbit(x) == std::signbit(y) : distance(x, y, type, ulps + 1) <= ulps;
  };
  for (int64_t i = 0; i < a->size(); ++i) {
    const Scalar x = Scalar::load(data(a) + i * size_of(a->dtype), a->dtype), y = Scalar::load(data(b) + i * size_of(b->dtype), b->dtype);
    INFO("element " << i << ": " << x.c.real() << " " << x.c.imag() << "j or " << x.i << " without kernels, " << y.c.real() << " "
                    << y.c.imag() << "j or " << y.i << " with them");
    const DType type = real_of(a->dtype);
    REQUIRE((x.is_integral() ? x.i == y.i : same(x.c.real(), y.c.real(), type) && same(x.c.imag(), y.c.imag(), type)));
  }
}

struct Both {
  Engine kernels{options(false)};
  KnownValues known;
  SmallGraphs small{kernels.device(), known};

  /// Whether it was evaluated without kernels; then the same as with them.
  bool same(const NodeRef& node, int64_t ulps = 0) {
    const auto result = small.evaluate({node}, {});
    if (!result) return false;
    require_same(result->front(), kernels.force(node), ulps);
    return true;
  }
};

constexpr DType kReal[] = {DType::boolean, DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,
                           DType::u16,     DType::u32, DType::u64, DType::f32, DType::f64};
constexpr DType kComplex[] = {DType::c64, DType::c128};
/// The C library's vector and scalar functions lie within 4 units of the truth (docs/accuracy.md).
constexpr int64_t kBothWays = 8;

}  // namespace

TEST_CASE("operations on few elements have the bits of kernels", "[small]") {
  Both both;
  int done = 0;
  for (int k = 0; k < static_cast<int>(ScalarOp::count_); ++k) {
    const auto op = static_cast<ScalarOp>(k);
    const auto compare = [&](DType type, uint64_t seed, bool tame) {
      if (!accepts(op, type)) return;
      // The C library's, and what is made of them.
      const bool function = is_float(type) && !small::is_exact(op, type);
      // Large arguments of sines are another measure's: docs/accuracy.md.
      if (function && !tame) return;
      const int64_t ulps = function ? kBothWays : 0;
      std::vector<NodeRef> operands;
      for (int j = 0; j < info(op).arity; ++j)
        operands.push_back(
            numbers(both.kernels, op == ScalarOp::select && j == 0 ? DType::boolean : type, {200}, seed + static_cast<uint64_t>(j), tame));
      INFO(info(op).name << " of " << name_of(type));
      done += both.same(graph::map(op, operands), ulps);
      if (op == ScalarOp::select || operands.size() != 2) return;
      // One number with all, on either side.
      const NodeRef one = graph::broadcast_to(graph::view(operands[1], {1}, {{0, 17, 1}}), {200});
      both.same(graph::map(op, {operands[0], one}), ulps);
      both.same(graph::map(op, {one, operands[0]}), ulps);
    };
    for (const bool tame : {false, true}) {
      for (const DType type : kReal) compare(type, static_cast<uint64_t>(100 * k), tame);
      for (const DType type : kComplex) compare(type, static_cast<uint64_t>(100 * k), tame);
    }
  }
  CHECK(done > 700);
}

TEST_CASE("powers of constants have the bits of kernels", "[small]") {
  Both both;
  for (const DType type : {DType::f64, DType::f32})
    for (const double exponent : {1.0, 2.0, 0.5, -1.0, 3.0, -1.5, 0.0})
      for (const bool tame : {true, false}) {
        INFO(name_of(type) << " to the power of " << exponent);
        const NodeRef x = numbers(both.kernels, type, {200}, 4, tame);
        if (tame || small::is_simple_power(exponent))
          CHECK(both.same(graph::map(ScalarOp::pow, {x, graph::constant(Scalar::of_float(exponent).cast(type), {200})}),
                          small::is_simple_power(exponent) ? 0 : kBothWays));
      }
}

TEST_CASE("casts of few elements have the bits of kernels", "[small]") {
  Both both;
  int done = 0;
  for (const DType from : kReal)
    for (const DType to : kReal) {
      INFO(name_of(from) << " to " << name_of(to));
      done += both.same(graph::cast(numbers(both.kernels, from, {300}, 3), to));
    }
  for (const DType to : kComplex) {
    for (const DType from : kReal) done += both.same(graph::cast(numbers(both.kernels, from, {300}, 3), to));
    for (const DType from : kComplex) done += both.same(graph::cast(numbers(both.kernels, from, {300}, 3), to));
  }
  CHECK(done > 100);
}

TEST_CASE("reductions of few elements have the bits of kernels", "[small]") {
  Both both;
  int done = 0;
  for (const int64_t n : {1, 2, 3, 31, 63, 64, 65, 127, 128, 1000, 1023, 1024, 1025, 2048, 3000, 8192})
    for (const DType type : {DType::f64, DType::f32, DType::i64, DType::boolean})
      for (const ReduceOp op :
           {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::mean, ReduceOp::any, ReduceOp::all}) {
        if ((type == DType::boolean) != (op == ReduceOp::any || op == ReduceOp::all)) continue;
        for (const bool tame : {true, false}) {
          INFO(graph::name_of(op) << " of " << n << " " << name_of(type) << (tame ? "" : ", any"));
          done += both.same(graph::reduce(op, numbers(both.kernels, type, {n}, static_cast<uint64_t>(n), tame), {0}));
        }
      }
  CHECK(done > 400);
  const NodeRef square = numbers(both.kernels, DType::f64, {40, 50}, 5, true);
  CHECK(both.same(graph::reduce(ReduceOp::sum, square, {0, 1})));
  CHECK(both.same(graph::reduce(ReduceOp::sum, graph::transpose(square, {1, 0}), {0, 1})));
  CHECK(both.same(graph::reduce(ReduceOp::mean, graph::view(square, {20, 10}, {{0, 39, -2}, {1, 3, 4}}), {0, 1})));
}

TEST_CASE("reductions of few elements along axes have the bits of kernels", "[small]") {
  Both both;
  const std::vector<graph::Shape> shapes = {{7, 5},    {5, 7},       {40, 50},     {33, 200}, {200, 33}, {2, 2000},   {2000, 2},
                                            {3, 1, 4}, {10, 20, 30}, {30, 20, 10}, {1, 50},   {50, 1},   {4, 5, 6, 7}};
  int done = 0, left_out = 0;
  for (const graph::Shape& shape : shapes)
    for (unsigned mask = 1; mask < 1u << shape.size(); ++mask) {
      std::vector<int> axes;
      for (size_t k = 0; k < shape.size(); ++k)
        if (mask >> k & 1) axes.push_back(static_cast<int>(k));
      for (const DType type : {DType::f64, DType::f32, DType::i64, DType::boolean, DType::c128})
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::mean, ReduceOp::any, ReduceOp::all,
                                  ReduceOp::argmin, ReduceOp::argmax, ReduceOp::var}) {
          if ((type == DType::boolean) != (op == ReduceOp::any || op == ReduceOp::all)) continue;
          if (is_complex(type) && op != ReduceOp::sum && op != ReduceOp::prod) continue;
          if (type != DType::f64 && (op == ReduceOp::mean || op == ReduceOp::var)) continue;
          for (const bool tame : {true, false}) {
            INFO(graph::name_of(op) << " of " << graph::to_string(shape) << " " << name_of(type) << " along " << mask
                                    << (tame ? "" : ", any"));
            const NodeRef x = numbers(both.kernels, type, shape, mask, tame);
            done += both.same(graph::reduce(op, x, axes, op == ReduceOp::var ? 1 : 0));
            if (shape.size() != 2 || op != ReduceOp::sum) continue;
            // Where their elements lie, and what is done with them first.
            const NodeRef turned = graph::transpose(x, {1, 0}), product = graph::map(ScalarOp::mul, {x, x});
            const NodeRef back = graph::reduce(op, graph::map(ScalarOp::mul, {turned, turned}), {axes});
            (both.same(back) ? done : left_out) += 1;
            (both.same(graph::reduce(op, turned, axes)) ? done : left_out) += 1;
            (both.same(graph::reduce(op, product, axes)) ? done : left_out) += 1;
            (both.same(graph::reduce(op, graph::transpose(product, {1, 0}), axes)) ? done : left_out) += 1;
          }
        }
    }
  CHECK(done > 2500);
  CHECK(left_out < 100);
}

TEST_CASE("products of small matrices have the bits of kernels", "[small]") {
  Both both;
  int done = 0;
  const auto product = [](const NodeRef& a, const NodeRef& b) {
    const graph::Shape space{a->shape[0], b->shape[1], a->shape[1]};
    const NodeRef left = graph::view(a, space, {{0, 0, 1}, {2, 0, 1}}), right = graph::view(b, space, {{2, 0, 1}, {1, 0, 1}});
    return graph::reduce(ReduceOp::sum, graph::map(ScalarOp::mul, {left, right}), {2});
  };
  for (const DType type : {DType::f64, DType::f32, DType::c128})
    for (const auto& [rows, inner, columns] : {std::array<int64_t, 3>{3, 3, 3},
                                               {25, 25, 1},
                                               {50, 50, 1},
                                               {1, 50, 50},
                                               {1, 8, 60},
                                               {60, 60, 2},
                                               {2, 60, 60},
                                               {10, 40, 10},
                                               {40, 10, 10}}) {
      INFO(name_of(type) << " " << rows << " " << inner << " " << columns);
      const NodeRef a = numbers(both.kernels, type, {rows, inner}, 1, true), b = numbers(both.kernels, type, {inner, columns}, 2, true);
      done += both.same(product(a, b));
      done += both.same(product(graph::map(ScalarOp::mul, {a, a}), b));
      done += both.same(product(graph::transpose(numbers(both.kernels, type, {inner, rows}, 3, true), {1, 0}), b));
    }
  CHECK(done > 50);
}

TEST_CASE("joined, padded and gathered arrays of few elements", "[small]") {
  Both both;
  for (const DType type : {DType::f64, DType::i8, DType::c128, DType::boolean}) {
    const NodeRef x = numbers(both.kernels, type, {3, 4}, 1), y = numbers(both.kernels, type, {3, 2}, 2),
                  none = numbers(both.kernels, type, {3, 0}, 3);
    CHECK(both.same(graph::concatenate({x, y, none, x}, 1)));
    CHECK(both.same(graph::concatenate({x, graph::concatenate({x, x}, 0)}, 0)));
    CHECK(both.same(graph::concatenate({x, graph::broadcast_to(graph::constant(Scalar::of_int(1).cast(type)), {2, 4})}, 0)));
    CHECK(both.same(graph::view(graph::concatenate({x, y}, 1), {4, 3}, {{1, 2, -1}, {0, 1, 1}})));
    CHECK(both.same(graph::pad(x, {6, 5}, {2, 1}, Scalar::of_int(1).cast(type))));
    CHECK(both.same(graph::map(ScalarOp::eq, {graph::pad(y, {4, 4}, {1, 0}, Scalar::of_int(0).cast(type)),
                                              graph::pad(y, {4, 4}, {0, 2}, Scalar::of_int(0).cast(type))})));
    const NodeRef places =
        graph::map(ScalarOp::mod, {numbers(both.kernels, DType::i64, {5, 3}, 4), graph::constant(Scalar::of_int(40), {5, 3})});
    const NodeRef vector = numbers(both.kernels, type, {40}, 5), large = numbers(both.kernels, type, {20000}, 6);
    for (const NodeRef& from : {vector, graph::view(vector, {40}, {{0, 39, -1}}),
                                graph::map(ScalarOp::select, {numbers(both.kernels, DType::boolean, {40}, 7), vector, vector}), large,
                                graph::view(large, {40}, {{0, 7, 3}})})
      CHECK(both.same(graph::gather(from, places)));
    CHECK(both.same(graph::gather(numbers(both.kernels, type, {0}, 8), graph::constant(Scalar::of_int(0), {3}))));
  }
}

TEST_CASE("views, ranges and several results of few elements", "[small]") {
  Both both;
  const NodeRef x = numbers(both.kernels, DType::f64, {6, 8}, 1, true),
                range = graph::iota(48, Scalar::of_float(0.5), Scalar::of_float(0.25));
  const NodeRef y = graph::map(ScalarOp::mul, {x, graph::reshape(range, {6, 8})});
  CHECK(both.same(graph::view(y, {3, 4}, {{0, 5, -2}, {1, 1, 2}})));
  CHECK(both.same(graph::transpose(y, {1, 0})));
  CHECK(both.same(graph::iota(100, Scalar::of_int(7), Scalar::of_int(-3))));
  CHECK(both.same(graph::broadcast_to(graph::constant(Scalar::of_float(2.5)), {3, 4})));
  CHECK(both.same(graph::map(ScalarOp::add, {graph::broadcast_to(graph::view(x, {8}, {{-1, 2, 0}, {0, 0, 1}}), {6, 8}), y})));
  // Parts of memory that is not small.
  const NodeRef large = numbers(both.kernels, DType::f64, {300, 400}, 9, true);
  for (const NodeRef& part :
       {graph::view(large, {400}, {{-1, 17, 0}, {0, 0, 1}}), graph::view(large, {300}, {{0, 0, 1}, {-1, 399, 0}}),
        graph::view(large, {5, 7}, {{0, 10, 3}, {1, 80, -2}}), graph::view(large, {7, 5}, {{1, 10, 3}, {0, 80, -2}})}) {
    CHECK(both.same(part));
    CHECK(both.same(graph::map(ScalarOp::mul, {part, part})));
    std::vector<int> axes;
    for (int k = 0; k < part->rank(); ++k) axes.push_back(k);
    CHECK(both.same(graph::reduce(ReduceOp::sum, part, axes)));
  }
  const NodeRef total = graph::reduce(ReduceOp::sum, y, {0, 1});
  const auto results = both.small.evaluate({total, y, x}, {});
  REQUIRE(results);
  const auto wanted = both.kernels.force({total, y, x});
  for (size_t k = 0; k < 3; ++k) require_same((*results)[k], wanted[k]);
  CHECK((*results)[2] == x);
  CHECK_FALSE(both.small.evaluate(
      {graph::map(ScalarOp::add, {numbers(both.kernels, DType::f64, {10000}, 1), graph::constant(Scalar::of_float(1), {10000})})}, {}));
}
