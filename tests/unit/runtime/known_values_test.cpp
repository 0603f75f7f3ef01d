// What is computed again and again is kept, once that has cost as much as keeping it.
#include "runtime/known_values.h"

#include "catch.h"
#include "runtime/device/storage.h"

using namespace gasell;
using graph::NodeRef;

namespace {

constexpr int64_t kElements = 1 << 20, kNoLimit = int64_t{1} << 40;

class SomeMemory final : public Storage {};
NodeRef memory() { return graph::buffer(std::make_shared<SomeMemory>(), DType::f64, {kElements}, {1}, 0); }
NodeRef sum_of(const NodeRef& x) { return graph::reduce(graph::ReduceOp::sum, x, {0}); }
NodeRef times(const NodeRef& x, double factor) { return graph::map(ScalarOp::mul, {x, graph::constant(Scalar::of_float(factor))}); }
NodeRef part_of(const NodeRef& x, int64_t begin, int64_t count) { return graph::view(x, {count}, {{0, begin, 1}}); }

}  // namespace

TEST_CASE("the second use of what is dear keeps it") {
  KnownValues known;
  const NodeRef dear = graph::map(ScalarOp::sin, {graph::map(ScalarOp::exp, {memory()})});
  CHECK(known.rewrite({sum_of(times(dear, 2))}, kNoLimit).wanted.empty());
  CHECK(known.rewrite({sum_of(times(dear, 3))}, 8 * kElements - 1).wanted.empty());  // there is no room for it
  auto second = known.rewrite({sum_of(times(dear, 4))}, kNoLimit);
  REQUIRE(second.wanted == std::vector<NodeRef>{dear});
  CHECK(second.roots == std::vector<NodeRef>{sum_of(times(dear, 4)), dear});

  const NodeRef value = memory();
  known.keep(dear, value);
  CHECK(known.find(dear) == value);
  CHECK(known.rewrite({sum_of(times(dear, 5))}, kNoLimit).roots == std::vector<NodeRef>{sum_of(times(value, 5))});
}

TEST_CASE("what nobody holds, or costs no more than reading it, is not kept") {
  KnownValues known;
  const NodeRef x = memory(), cheap = graph::map(ScalarOp::add, {x, x});
  for (int k = 0; k < 100; ++k) {
    CHECK(known.rewrite({sum_of(times(cheap, k))}, kNoLimit).wanted.empty());
    CHECK(known.rewrite({sum_of(times(graph::map(ScalarOp::exp, {x}), k))}, kNoLimit).wanted.empty());
  }
}

TEST_CASE("parts of what is not stored are computed until the whole would have cost no more") {
  KnownValues known;
  const NodeRef x = memory(), cheap = graph::map(ScalarOp::add, {x, x});
  int uses = 0;
  while (known.rewrite({sum_of(part_of(cheap, uses, 5))}, kNoLimit).wanted.empty()) REQUIRE(++uses < 1000);
  CHECK(uses > 10);
  CHECK(uses < 100);
}

TEST_CASE("large values go with those who held them") {
  KnownValues known;
  NodeRef dear = graph::map(ScalarOp::exp, {memory()});
  auto storage = std::make_shared<SomeMemory>();
  const std::weak_ptr<SomeMemory> kept = storage;
  known.keep(dear, graph::buffer(std::move(storage), DType::f64, {kElements}, {1}, 0));
  CHECK_FALSE(kept.expired());
  dear.reset();
  known.rewrite({sum_of(memory())}, kNoLimit);
  CHECK(kept.expired());
}
