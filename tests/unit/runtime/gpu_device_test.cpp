// Launches on one and several GPUs: split, streamed, interrupted, lost.
#include <chrono>
#include <cstring>
#include <thread>

#include "lang/diagnostic.h"
#include "unit/runtime/gpu_setup.h"

using namespace gasell;
using namespace gasell::graph;

namespace {

Engine& host() {
  static Engine engine([] {
    EngineOptions options;
    options.cache = false;
    options.device = "cpu";
    return options;
  }());
  return engine;
}

/// The bits of all elements.
std::vector<uint64_t> bits(Engine& engine, const NodeRef& node) {
  const Array::Elements e = Array(node).elements(engine);
  std::vector<uint64_t> words(static_cast<size_t>(e.count * size_of(e.dtype) + 7) / 8);
  std::memcpy(words.data(), e.data, static_cast<size_t>(e.count * size_of(e.dtype)));
  return words;
}

NodeRef uniform(Shape shape) { return random(Distribution::uniform, DType::f64, std::move(shape), 5, 1); }
NodeRef reduce_over(const NodeRef& x, std::vector<int> axes, ReduceOp op = ReduceOp::sum) { return reduce(op, x, std::move(axes)); }
NodeRef slice(const NodeRef& x, int64_t start, int64_t step, int64_t n) { return view(x, {n}, {{0, start, step}}); }

}  // namespace

TEST_CASE("split over four GPUs, everything has the host's bits") {
  SimulatedEngine sim(4);
  const NodeRef x = uniform({1000, 700});
  const NodeRef stored = sim.engine->force(x), on_host = host().force(x);
  CHECK(sim.counts().split == 1);
  auto same = [&](auto&& make) {
    const int64_t before = sim.counts().split;
    CHECK(bits(*sim.engine, make(stored)) == bits(host(), make(on_host)));
    return sim.counts().split - before;
  };
  CHECK(same([](const NodeRef& a) { return plus(times(a, a), number(1)); }) == 1);
  CHECK(same([](const NodeRef& a) { return sum(a); }) == 1);
  CHECK(same([](const NodeRef& a) { return reduce_over(a, {1}); }) == 1);
  same([](const NodeRef& a) { return reduce_over(a, {0}); });
  CHECK(same([](const NodeRef& a) { return reduce_over(a, {0, 1}, ReduceOp::var); }) == 1);
  // A stencil: each GPU needs its neighbours' rows.
  CHECK(same([](const NodeRef& a) {
          const auto part = [&](int64_t i, int64_t j) { return view(a, {998, 698}, {{0, i, 1}, {1, j, 1}}); };
          return plus(plus(part(0, 0), part(2, 1)), part(1, 2));
        }) == 1);
  same([](const NodeRef& a) { return plus(transpose(a, {1, 0}), number(2)); });
  same([](const NodeRef& a) { return view(a, {500, 350}, {{0, 999, -2}, {1, 698, -2}}); });
  CHECK(sim.counts().on_host == 0);
}

TEST_CASE("a split array is split alike by the next launches, and gathered by the host") {
  SimulatedEngine sim(4);
  const NodeRef x = sim.engine->force(plus(ramp(16'000'000), number(1)));
  REQUIRE(sim.counts().split == 1);
  const NodeRef y = sim.engine->force(times(x, number(2)));
  CHECK(sim.counts().split == 2);
  CHECK(value(*sim.engine, sum(y)) == 256'000'016'000'000.0);
  CHECK(sim.counts().split >= 3);
  CHECK(sim.counts().bytes_in == 0);
  CHECK(sim.counts().bytes_between < 1 << 20);
  const auto* values = static_cast<const double*>(storage_of(y).read());
  for (int64_t k = 0; k < 16'000'000; k += 99'991) REQUIRE(values[k] == 2.0 * static_cast<double>(k) + 2);
}

TEST_CASE("steps of a stencil move borders between the GPUs, not arrays") {
  SimulatedEngine sim(4);
  const auto stepped = [](Engine& engine, int steps) {
    Array x(plus(broadcast_to(number(0), {400, 2000}), reshape(ramp(800'000), {400, 2000})));
    x.force(engine);
    for (int k = 0; k < steps; ++k) {
      const auto part = [&](int64_t i, int64_t j) { return view(x.node(), {398, 1998}, {{0, i, 1}, {1, j, 1}}); };
      NodeRef next = times(plus(plus(part(0, 1), part(2, 1)), plus(part(1, 0), part(1, 2))), number(0.25));
      next = engine.force(next);
      x.view({398, 1998}, {{0, 1, 1}, {1, 1, 1}}).assign(engine, std::move(next));
    }
    return x;
  };
  const Array x = stepped(*sim.engine, 5);
  CHECK(sim.counts().split == 11);
  CHECK(sim.counts().bytes_in == 0);
  CHECK(sim.counts().bytes_between < 5 * 400'000);  // of 6.4 MB
  const NodeRef on_host = stepped(host(), 5).node();
  CHECK(bits(*sim.engine, x.node()) == bits(host(), on_host));
}

TEST_CASE("a part finds what another GPU wrote, also while that one waits for bytes of its own") {
  SimulatedEngine sim(2);
  const auto written = [](Engine& engine) {
    Array b(reshape(plus(ramp(3'000'000), number(0)), {1000, 3000}));
    b.force(engine);
    storage_of(b.node()).write();                                                // on the host alone
    value(engine, sum(b.node()));                                                // a part on each GPU
    b.view({1000, 1576}, {{0, 0, 1}, {1, 2523, -1}}).assign(engine, number(1));  // backwards: on one GPU
    return value(engine, sum(b.node()));
  };
  CHECK(written(*sim.engine) == written(host()));
  CHECK(sim.counts().bytes_between > 10'000'000);
}

TEST_CASE("idle GPUs take pieces of a slow one, and results keep their bits") {
  SimulatedEngine sim(3, "256MiB", "slow:1:30", 0, true);
  const NodeRef x = sim.engine->force(plus(uniform({3'000'000}), number(1))), on_host = host().force(plus(uniform({3'000'000}), number(1)));
  CHECK(sim.counts().stolen > 0);
  CHECK(bits(*sim.engine, x) == bits(host(), on_host));
  CHECK(bits(*sim.engine, times(x, x)) == bits(host(), times(on_host, on_host)));
  CHECK(bits(*sim.engine, sum(x)) == bits(host(), sum(on_host)));
  // In place: what is taken is read before it is written.
  const auto stepped = [](Engine& engine) {
    Array a(engine.force(plus(uniform({3'000'000}), number(1))));
    a.assign(engine, plus(a.node(), number(1)));
    a.assign(engine, times(a.node(), a.node()));
    return a.node();
  };
  const int64_t before = sim.counts().stolen;
  const NodeRef there = stepped(*sim.engine);
  CHECK(bits(*sim.engine, there) == bits(host(), stepped(host())));
  CHECK(sim.counts().stolen > before);
  CHECK(sim.counts().on_host == 0);
}

TEST_CASE("idle GPUs take chunks of what streams through a slow one") {
  SimulatedEngine sim(3, "4MiB", "slow:0:30", 0, true);
  const NodeRef x = sim.engine->force(plus(ramp(6'000'000), number(0.5)));  // 48 MB
  CHECK(sim.counts().stolen > 0);
  const int64_t before = sim.counts().stolen;
  CHECK(bits(*sim.engine, sum(x)) == bits(host(), sum(plus(ramp(6'000'000), number(0.5)))));
  CHECK(sim.counts().stolen > before);
  CHECK(bits(*sim.engine, x) == bits(host(), plus(ramp(6'000'000), number(0.5))));
  CHECK(sim.counts().on_host == 0);
}

TEST_CASE("small launches stay on one GPU, where their data is") {
  SimulatedEngine sim(4, "1GiB", "", -1);
  const NodeRef x = sim.engine->force(plus(ramp(100'000), number(1)));
  for (int k = 0; k < 5; ++k) sim.engine->force(times(x, number(k)));
  CHECK(sim.counts().split == 0);
  CHECK(sim.counts().bytes_between == 0);
  CHECK(sim.counts().bytes_in == 0);
}

TEST_CASE("arrays larger than the memory stream through it") {
  for (const int gpus : {1, 3}) {
    SimulatedEngine sim(gpus, "4MiB");
    const NodeRef x = sim.engine->force(plus(ramp(3'000'000), number(0.5)));  // 24 MB
    CHECK(sim.counts().streamed > 3);
    CHECK(storage_of(x).has_host_memory());
    const int64_t before = sim.counts().streamed;
    CHECK(value(*sim.engine, sum(x)) == 4'500'000'000'000.0);
    CHECK(sim.counts().streamed > before);
    // A view with steps, and one that looks at its neighbours.
    CHECK(bits(*sim.engine, plus(slice(x, 1, 2, 1'400'000), slice(x, 0, 2, 1'400'000))) ==
          bits(host(), plus(slice(plus(ramp(3'000'000), number(0.5)), 1, 2, 1'400'000),
                            slice(plus(ramp(3'000'000), number(0.5)), 0, 2, 1'400'000))));
    CHECK(sim.counts().on_host == 0);
    // Backwards there is no streaming: the host does it.
    const NodeRef backwards = sim.engine->force(slice(x, 2'999'999, -1, 3'000'000));
    CHECK(static_cast<const double*>(storage_of(backwards).read())[0] == 2'999'999.5);
    CHECK(sim.counts().on_host == 1);
  }
}

TEST_CASE("streams with one that stays: rows plus a column's sums") {
  SimulatedEngine sim(1, "8MiB");
  const NodeRef x = sim.engine->force(reshape(plus(ramp(1'500'000), number(1)), {6000, 250}));
  const NodeRef columns = sim.engine->force(reduce_over(x, {0}));
  const NodeRef y = plus(x, broadcast_to(columns, {6000, 250}));
  const NodeRef x_host = reshape(plus(ramp(1'500'000), number(1)), {6000, 250});
  CHECK(bits(*sim.engine, columns) == bits(host(), reduce_over(x_host, {0})));
  CHECK(bits(*sim.engine, y) == bits(host(), plus(x_host, broadcast_to(reduce_over(x_host, {0}), {6000, 250}))));
  CHECK(sim.counts().on_host == 0);
}

TEST_CASE("a long kernel ends soon after an interrupt") {
  for (const int gpus : {1, 3}) {
    SimulatedEngine sim(gpus);
    const NodeRef endless = sum(random(Distribution::standard_normal, DType::f64, {int64_t{1} << 36}, 1, 1));
    std::chrono::steady_clock::time_point asked;
    std::jthread user([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      asked = std::chrono::steady_clock::now();
      sim.engine->interrupt();
    });
    CHECK_THROWS_AS(sim.engine->force(endless), Interrupted);
    user.join();
    CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count() < 0.25 * 4);  // slack for busy machines
    CHECK(value(*sim.engine, sum(ramp(1000))) == 499'500);
  }
}

TEST_CASE("a GPU that is lost leaves its work to the others") {
  for (const char* fault : {"lost@launch:1", "lost@launch:3", "lost@launch:6", "lost@copy:1", "lost@copy:2"}) {
    INFO(fault);
    SimulatedEngine sim(3, "1GiB", fault);
    std::vector<double> memory(300'000, 2.0);
    const NodeRef x = Array::over(external(memory.data(), 2'400'000, false), DType::f64, {300'000}).node();
    CHECK(value(*sim.engine, sum(plus(x, ramp(300'000)))) == 45'000'450'000.0);
    CHECK(sim.engine->gpus()->any_alive());
  }
}

TEST_CASE("the last GPU that is lost leaves its work to the host") {
  SimulatedEngine sim(1, "1GiB", "lost@launch:2");
  CHECK(value(*sim.engine, sum(plus(ramp(300'000), number(1)))) == 45'000'150'000.0);
  CHECK_FALSE(sim.engine->gpus()->any_alive());
  CHECK(value(*sim.engine, sum(plus(ramp(300'000), number(2)))) == 45'000'450'000.0);
}

TEST_CASE("what only a lost GPU had is a clear error") {
  SimulatedEngine sim(2, "1GiB", "lost@launch:2", -1);
  const NodeRef x = sim.engine->force(plus(ramp(100'000), number(1)));
  try {
    value(*sim.engine, sum(x));
    FAIL();
  } catch (const Error& e) {
    CHECK(e.diagnostic().kind == "RuntimeError");
    CHECK(e.diagnostic().message == "the contents of an array of 781. KiB are gone: only GPU 0 (simulated GPU) had them, and it was lost");
  }
  CHECK(value(*sim.engine, sum(ramp(1000))) == 499'500);
}

TEST_CASE("a slow GPU gives the same") {
  SimulatedEngine sim(2, "1GiB", "slow:1:3");
  CHECK(value(*sim.engine, sum(plus(ramp(400'000), number(1)))) == 80'000'200'000.0);
}
