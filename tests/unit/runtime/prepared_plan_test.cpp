#include "runtime/prepared_plan.h"

#include <numeric>

#include "catch.h"
#include "runtime/device/device.h"
#include "runtime/engine.h"

using namespace gasell;
using graph::NodeRef;

namespace {

NodeRef numbers(Engine& engine, int64_t n, double first) {
  const auto storage = std::static_pointer_cast<HostStorage>(engine.device().allocate(n * 8));
  auto* data = static_cast<double*>(storage->write());
  std::iota(data, data + n, first);
  return graph::buffer(storage, DType::f64, {n}, {1}, 0);
}

NodeRef muladd(const NodeRef& a, const NodeRef& b, double c) {
  return graph::map(ScalarOp::add, {graph::map(ScalarOp::mul, {a, b}), graph::constant(Scalar::of_float(c), a->shape)});
}

double at(const NodeRef& node, int64_t i) {
  const auto& b = *node->as<graph::BufferNode>();
  return Scalar::load(static_cast<const char*>(static_cast<const HostStorage&>(*b.storage).read()) + (b.offset + i) * 8, DType::f64)
      .as_double();
}

EngineOptions two_threads() {
  EngineOptions options;
  options.threads = 2;
  options.memory = 1 << 30;
  options.cache = false;
  return options;
}

}  // namespace

TEST_CASE("graphs of one structure have one key, whatever memory they read", "[plan_cache]") {
  Engine engine(two_threads());
  const NodeRef a = numbers(engine, 100, 0), b = numbers(engine, 100, 5), other = numbers(engine, 101, 0);
  const auto key = [](const NodeRef& node) { return structure_of({node}, {}).key; };
  CHECK(key(muladd(a, b, 1)) == key(muladd(b, a, 1)));
  CHECK(key(muladd(a, b, 1)) != key(muladd(a, a, 1)));  // one memory twice
  CHECK(key(muladd(a, b, 1)) != key(muladd(a, b, 2)));
  CHECK(key(a) != key(other));
  CHECK(key(graph::reduce(graph::ReduceOp::sum, a, {0})) != key(graph::reduce(graph::ReduceOp::max, a, {0})));
  CHECK(key(graph::view(a, {50}, {{0, 0, 2}})) != key(graph::view(a, {50}, {{0, 1, 2}})));
  CHECK(key(graph::random(graph::Distribution::uniform, DType::f64, {10}, 1, 2)).empty());
  CHECK(structure_of({muladd(a, b, 1)}, {}).memories.size() == 2);
}

TEST_CASE("a kept plan computes with the memory it is given", "[plan_cache]") {
  Engine engine(two_threads());
  for (int round = 0; round < 4; ++round) {
    const NodeRef a = numbers(engine, 1000, round), b = numbers(engine, 1000, 10 * round);
    const NodeRef result = engine.force(muladd(a, b, 0.5));
    CHECK(at(result, 0) == round * 10.0 * round + 0.5);
    CHECK(at(result, 999) == (999.0 + round) * (999 + 10 * round) + 0.5);
    // Several kernels with temporaries between them.
    const NodeRef total =
        engine.force(graph::reduce(graph::ReduceOp::sum, muladd(a, graph::constant(Scalar::of_float(1), a->shape), 0), {0}));
    CHECK(at(total, 0) == 999 * 500.0 + 1000.0 * round);
  }
  // Nothing of the inputs is held by the cache.
  CHECK(engine.device().budget().used() == 0);
}

TEST_CASE("a kept plan with large reductions gives its temporaries back", "[plan_cache]") {
  Engine engine(two_threads());
  const NodeRef a = numbers(engine, 1'000'000, 0);
  const int64_t before = engine.device().budget().used();
  for (int round = 0; round < 3; ++round) CHECK(at(engine.force(graph::reduce(graph::ReduceOp::sum, a, {0})), 0) == 999'999 * 500'000.0);
  CHECK(engine.device().budget().used() == before);
}
