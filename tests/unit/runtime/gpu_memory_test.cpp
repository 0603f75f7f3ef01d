// Coherence: bytes are valid where they were computed, and come where they are wanted.
#include <numeric>

#include "lang/diagnostic.h"
#include "unit/runtime/gpu_setup.h"

using namespace gasell;
using namespace gasell::graph;

TEST_CASE("results stay on the GPU until the host reads them") {
  SimulatedEngine sim(1);
  const NodeRef x = sim.engine->force(plus(ramp(100'000), number(1)));
  CHECK_FALSE(storage_of(x).has_host_memory());
  const NodeRef y = sim.engine->force(times(x, number(2)));
  CHECK_FALSE(storage_of(x).has_host_memory());
  CHECK(sim.counts().bytes_in == 0);
  CHECK(sim.counts().bytes_out == 0);
  const auto* values = static_cast<const double*>(storage_of(y).read());
  CHECK(sim.counts().bytes_out == 800'000);
  CHECK(values[0] == 2);
  CHECK(values[99'999] == 200'000);
  storage_of(y).read();
  CHECK(sim.counts().bytes_out == 800'000);  // both are valid now
}

TEST_CASE("small results come home with their plan where the host reads them next") {
  SimulatedEngine sim(2);
  const NodeRef total = sim.engine->force(sum(ramp(100'000)), true);
  CHECK(sim.counts().bytes_out == 8);
  CHECK(storage_of(total).has_host_memory());
  CHECK(value(*sim.engine, total) == 4'999'950'000.0);
  CHECK(sim.counts().bytes_out == 8);
  const NodeRef stays = sim.engine->force(sum(ramp(200'000)));
  CHECK_FALSE(storage_of(stays).has_host_memory());
  CHECK(sim.counts().bytes_out == 8);
  CHECK(value(*sim.engine, stays) == 19'999'900'000.0);
  CHECK(sim.counts().bytes_out == 16);
}

TEST_CASE("one element is read without the others") {
  SimulatedEngine sim(1);
  const NodeRef x = sim.engine->force(plus(ramp(2'000'000), number(1)));
  CHECK(Array(x).item(*sim.engine, {1'999'999}).c.real() == 2'000'000);
  CHECK(sim.counts().bytes_out == 8);
}

TEST_CASE("what the host writes is seen by the GPU") {
  SimulatedEngine sim(1);
  const NodeRef x = sim.engine->force(plus(ramp(1000), number(0)));
  CHECK(value(*sim.engine, sum(x)) == 499'500);
  auto* values = static_cast<double*>(storage_of(x).write());
  CHECK(values[999] == 999);
  CHECK(storage_of(x).copies() == nullptr);
  values[0] = 1000;
  CHECK(value(*sim.engine, sum(x)) == 500'500);
  values = static_cast<double*>(storage_of(x).write());
  values[0] = 0;
  CHECK(value(*sim.engine, sum(x)) == 499'500);
}

TEST_CASE("memory of the embedding program is its own after every call") {
  SimulatedEngine sim(2);
  std::vector<double> memory(1000);
  std::iota(memory.begin(), memory.end(), 0.0);
  Array bound = Array::over(external(memory.data(), 8000, true), DType::f64, {1000});
  CHECK(value(*sim.engine, sum(bound.node())) == 499'500);
  memory[0] = 1000;  // between calls
  CHECK(value(*sim.engine, sum(bound.node())) == 500'500);
  bound.assign(*sim.engine, times(ramp(1000), number(3)));
  for (size_t k = 0; k < 1000; ++k) REQUIRE(memory[k] == 3.0 * static_cast<double>(k));
  bound.view({500}, {{0, 0, 2}}).assign(*sim.engine, number(7));
  CHECK(memory[0] == 7);
  CHECK(memory[1] == 3);
  CHECK(memory[998] == 7);
}

TEST_CASE("writes to a part keep the rest") {
  SimulatedEngine sim(2);
  Array a(number(0));
  a = Array(broadcast_to(number(1), {50'000}));
  a.force(*sim.engine);
  a.view({25'000}, {{0, 0, 2}}).assign(*sim.engine, ramp(25'000));
  a.view({10}, {{0, 49'990, 1}}).assign(*sim.engine, number(-1));
  const auto e = a.elements(*sim.engine);
  CHECK(e[1].c.real() == 1);
  CHECK(e[49'988].c.real() == 24'994);
  CHECK(e[49'999].c.real() == -1);
}

TEST_CASE("when a GPU's memory is short, copies that the host has go first, then others are brought home") {
  SimulatedEngine sim(1, "24MiB");
  std::vector<NodeRef> held;
  for (int k = 0; k < 12; ++k) held.push_back(sim.engine->force(plus(ramp(500'000), number(k))));  // 12 times 4 MB
  CHECK(sim.counts().evicted >= 6);
  CHECK(sim.counts().on_host == 0);
  for (int k = 0; k < 12; ++k) {
    CHECK(value(*sim.engine, sum(held[static_cast<size_t>(k)])) == 124'999'750'000.0 + 500'000.0 * k);
    CHECK(static_cast<const double*>(storage_of(held[static_cast<size_t>(k)]).read())[1] == 1.0 + k);
  }
  CHECK(sim.counts().on_host == 0);
}

TEST_CASE("an array larger than every memory is a MemoryError with its shape") {
  SimulatedEngine sim(2, "8MiB");
  try {
    sim.engine->force(plus(ramp(int64_t{1} << 40), number(1)));
    FAIL();
  } catch (const Error& e) {
    CHECK(e.diagnostic().kind == "MemoryError");
    CHECK(e.diagnostic().message == "Unable to allocate 8.00 TiB for an array with shape (1099511627776,) and data type float64");
  }
  CHECK(value(*sim.engine, sum(ramp(10))) == 45);
}

TEST_CASE("storages outlive their engine") {
  NodeRef x;
  {
    SimulatedEngine sim(2);
    x = sim.engine->force(plus(ramp(1000), number(1)));
  }
  CHECK(static_cast<const double*>(storage_of(x).read())[999] == 1000);
}
