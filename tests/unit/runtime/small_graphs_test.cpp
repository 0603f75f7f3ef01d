// Graphs of few elements have the same bits without kernels as with them.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "catch.h"
#include "runtime/engine.h"
#include "runtime/small_graphs.h"

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
    const Scalar s = tame ? Scalar::of_float(static_cast<double>(random() % 1000) / 7 - 50).cast(type) : number(type, random);
    s.store(to + i * width);
  }
  return graph::buffer(storage, type, shape, graph::contiguous_strides(shape), 0);
}

void require_same(const NodeRef& a, const NodeRef& b) {
  REQUIRE(a->dtype == b->dtype);
  REQUIRE(a->shape == b->shape);
  const auto data = [](const NodeRef& node) {
    const auto& buffer = *node->as<graph::BufferNode>();
    return static_cast<const char*>(static_cast<HostStorage&>(*buffer.storage).read()) + buffer.offset * size_of(node->dtype);
  };
  for (int64_t i = 0; i < a->size(); ++i) {
    const Scalar x = Scalar::load(data(a) + i * size_of(a->dtype), a->dtype), y = Scalar::load(data(b) + i * size_of(b->dtype), b->dtype);
    const bool both_nan = is_float(a->dtype) && std::isnan(x.c.real()) && std::isnan(y.c.real());
    INFO("element " << i << ": " << x.c.real() << " or " << x.i << " without kernels, " << y.c.real() << " or " << y.i << " with them");
    REQUIRE((both_nan || x.same_bits(y)));
  }
}

struct Both {
  Engine kernels{options(false)};
  KnownValues known;
  SmallGraphs small{kernels.device(), known};

  /// Whether it was evaluated without kernels; then the same as with them.
  bool same(const NodeRef& node) {
    const auto result = small.evaluate({node}, {});
    if (!result) return false;
    require_same(result->front(), kernels.force(node));
    return true;
  }
};

constexpr DType kReal[] = {DType::boolean, DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,
                           DType::u16,     DType::u32, DType::u64, DType::f32, DType::f64};

}  // namespace

TEST_CASE("operations on few elements have the bits of kernels", "[small]") {
  Both both;
  int done = 0;
  for (int k = 0; k < static_cast<int>(ScalarOp::count_); ++k) {
    const auto op = static_cast<ScalarOp>(k);
    for (const DType type : kReal) {
      if (!accepts(op, type)) continue;
      std::vector<NodeRef> operands;
      for (int j = 0; j < info(op).arity; ++j)
        operands.push_back(numbers(both.kernels, op == ScalarOp::select && j == 0 ? DType::boolean : type, {200}, static_cast<uint64_t>(100 * k + j)));
      INFO(info(op).name << " of " << name_of(type));
      done += both.same(graph::map(op, operands));
      if (op == ScalarOp::select || operands.size() != 2) continue;
      // One number with all, on either side.
      const NodeRef one = graph::broadcast_to(graph::view(operands[1], {1}, {{0, 17, 1}}), {200});
      both.same(graph::map(op, {operands[0], one}));
      both.same(graph::map(op, {one, operands[0]}));
    }
  }
  CHECK(done > 200);
}

TEST_CASE("casts of few elements have the bits of kernels", "[small]") {
  Both both;
  int done = 0;
  for (const DType from : kReal)
    for (const DType to : kReal) {
      INFO(name_of(from) << " to " << name_of(to));
      done += both.same(graph::cast(numbers(both.kernels, from, {300}, 3), to));
    }
  CHECK(done > 80);
}

TEST_CASE("reductions of few elements have the bits of kernels", "[small]") {
  Both both;
  int done = 0;
  for (const int64_t n : {1, 2, 3, 31, 63, 64, 65, 127, 128, 1000, 1023, 1024, 1025, 2048, 3000, 8192})
    for (const DType type : {DType::f64, DType::f32, DType::i64, DType::boolean})
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::mean, ReduceOp::any, ReduceOp::all}) {
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
  CHECK_FALSE(both.small.evaluate({graph::reduce(ReduceOp::sum, square, {0})}, {}));
}

TEST_CASE("views, ranges and several results of few elements", "[small]") {
  Both both;
  const NodeRef x = numbers(both.kernels, DType::f64, {6, 8}, 1, true), range = graph::iota(48, Scalar::of_float(0.5), Scalar::of_float(0.25));
  const NodeRef y = graph::map(ScalarOp::mul, {x, graph::reshape(range, {6, 8})});
  CHECK(both.same(graph::view(y, {3, 4}, {{0, 5, -2}, {1, 1, 2}})));
  CHECK(both.same(graph::transpose(y, {1, 0})));
  CHECK(both.same(graph::iota(100, Scalar::of_int(7), Scalar::of_int(-3))));
  CHECK(both.same(graph::broadcast_to(graph::constant(Scalar::of_float(2.5)), {3, 4})));
  CHECK(both.same(graph::map(ScalarOp::add, {graph::broadcast_to(graph::view(x, {8}, {{-1, 2, 0}, {0, 0, 1}}), {6, 8}), y})));
  // Parts of memory that is not small.
  const NodeRef large = numbers(both.kernels, DType::f64, {300, 400}, 9, true);
  for (const NodeRef& part : {graph::view(large, {400}, {{-1, 17, 0}, {0, 0, 1}}), graph::view(large, {300}, {{0, 0, 1}, {-1, 399, 0}}),
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
  CHECK_FALSE(both.small.evaluate({graph::map(ScalarOp::sin, {x})}, {}));
  CHECK_FALSE(both.small.evaluate({graph::map(ScalarOp::add, {numbers(both.kernels, DType::f64, {10000}, 1), graph::constant(Scalar::of_float(1), {10000})})}, {}));
}
