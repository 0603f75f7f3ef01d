// Graphs over contents that wait ask for what they read of them.
#include "runtime/wanted_parts.h"

#include <numeric>
#include <utility>
#include <vector>

#include "catch.h"
#include "runtime/device/deferred.h"
#include "runtime/engine.h"

using namespace gasell;
using graph::NodeRef;

namespace {

constexpr int64_t kCount = 1000;

/// Of the numbers 0, 1, …: what was asked for.
struct Numbers {
  std::vector<std::pair<int64_t, int64_t>> parts;  // elements
  int makes = 0;
};

HostStorageRef numbers(MemoryBudget& budget, int64_t begin, int64_t end) {
  HostStorageRef memory = allocate(budget, (end - begin) * 8);
  auto* const to = static_cast<int64_t*>(memory->write());
  std::iota(to, to + (end - begin), begin);
  return memory;
}

/// A vector of them that waits; parts of more than `most` elements are not to be had.
NodeRef waiting(MemoryBudget& budget, Numbers& asked, int64_t most = 100) {
  auto make = [&budget, &asked] {
    ++asked.makes;
    return numbers(budget, 0, kCount);
  };
  auto part = [&budget, &asked, most](int64_t begin, int64_t end) -> HostStorageRef {
    if (end - begin > most * 8) return nullptr;
    asked.parts.emplace_back(begin / 8, end / 8);
    return numbers(budget, begin / 8, end / 8);
  };
  return graph::buffer(deferred(kCount * 8, std::move(make), {}, std::move(part)), DType::i64, {kCount}, {1}, 0);
}

NodeRef part_of(const NodeRef& x, int64_t begin, int64_t count, int64_t step = 1) { return graph::view(x, {count}, {{0, begin, step}}); }

std::vector<int64_t> values(Engine& engine, const NodeRef& x) {
  const NodeRef made = engine.force(x);
  const auto& buffer = *made->as<graph::BufferNode>();
  const auto* from = static_cast<const int64_t*>(static_cast<const HostStorage&>(*buffer.storage).read()) + buffer.offset;
  return {from, from + made->size()};
}

using Elements = std::vector<std::pair<int64_t, int64_t>>;

}  // namespace

TEST_CASE("a graph gets the part that it reads, in one piece") {
  Engine engine;
  MemoryBudget budget(1 << 20);
  Numbers asked;
  const NodeRef x = waiting(budget, asked);
  CHECK(any_part_waits());
  CHECK(waits_for_contents(graph::map(ScalarOp::add, {x, x})));
  CHECK(values(engine, graph::map(ScalarOp::add, {part_of(x, 10, 3), part_of(x, 30, 3)})) == std::vector<int64_t>{40, 42, 44});
  CHECK(asked.parts == Elements{{10, 33}});
  CHECK(values(engine, part_of(x, 50, 3, -20)) == std::vector<int64_t>{50, 30, 10});
  CHECK(values(engine, part_of(x, 7, 1)) == std::vector<int64_t>{7});
  CHECK(asked.parts == Elements{{10, 33}, {10, 51}, {7, 8}});
  CHECK(asked.makes == 0);
}

TEST_CASE("what is not to be had in part is made, and read from then on") {
  Engine engine;
  MemoryBudget budget(1 << 20);
  Numbers asked;
  const NodeRef x = waiting(budget, asked);
  CHECK(values(engine, part_of(x, 0, 200)).back() == 199);
  CHECK(asked.makes == 1);
  CHECK_FALSE(any_part_waits());
  CHECK(values(engine, part_of(x, 990, 5)) == std::vector<int64_t>{990, 991, 992, 993, 994});
  CHECK(asked.parts.empty());
  CHECK(asked.makes == 1);
}

TEST_CASE("graphs that read nothing of it ask for nothing") {
  Engine engine;
  MemoryBudget budget(1 << 20);
  Numbers asked;
  const NodeRef x = waiting(budget, asked), other = graph::iota(5, Scalar::of_int(0, DType::i64), Scalar::of_int(2, DType::i64));
  CHECK(with_wanted_parts({other}) == std::vector<NodeRef>{other});
  CHECK(values(engine, part_of(x, 5, 0)).empty());
  CHECK(asked.parts.empty());
  CHECK(asked.makes == 0);
}
