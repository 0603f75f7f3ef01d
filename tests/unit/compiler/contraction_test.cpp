#include "compiler/plan/contraction.h"

#include "catch.h"
#include "compiler/plan/plan.h"

using namespace gasell;
using namespace gasell::graph;
using gasell::plan::Contraction;

namespace {

NodeRef memory(Shape shape, DType dtype = DType::f64) {
  auto storage = std::make_shared<plan::TemporaryStorage>(size_of(shape) * gasell::size_of(dtype));
  std::vector<int64_t> strides = contiguous_strides(shape);
  return buffer(storage, dtype, std::move(shape), std::move(strides), 0);
}

/// Σ a[i, k] b[k, j], as a matrix product is recorded.
NodeRef product(const NodeRef& a, const NodeRef& b) {
  const int64_t n = a->shape[0], k = a->shape[1], m = b->shape[1];
  return reduce(ReduceOp::sum, map(ScalarOp::mul, {reshape(a, {n, 1, k}), reshape(transpose(b, {1, 0}), {1, m, k})}), {2});
}

std::vector<plan::Step> steps_of(const NodeRef& node, bool library = true, int64_t budget = INT64_MAX) {
  plan::PlanOptions options;
  options.memory = budget;
  if (library) options.library = [] { return true; };
  return plan::make_plan({node}, options).steps;
}

const Contraction& only_contraction(const std::vector<plan::Step>& steps) {
  const Contraction* found = nullptr;
  for (const plan::Step& s : steps) {
    if (!s.contraction) continue;
    REQUIRE_FALSE(found);
    found = s.contraction.get();
  }
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("a product of matrices in memory is one step of the library") {
  const NodeRef a = memory({50, 60}), b = memory({60, 70});
  const auto steps = steps_of(product(a, b));
  REQUIRE(steps.size() == 1);
  const Contraction& c = only_contraction(steps);
  CHECK(c.rows.extent == 50);
  CHECK(c.columns.extent == 70);
  CHECK(c.summed.extent == 60);
  CHECK(c.rows.left == 60);
  CHECK(c.summed.left == 1);
  CHECK(c.summed.right == 70);
  CHECK(c.columns.right == 1);
  CHECK(c.rows.result == 70);
  CHECK(c.outer.empty());
  CHECK_FALSE(c.symmetric);
}

TEST_CASE("what the library does not pay for, or cannot do, stays a kernel") {
  const auto has_contraction = [](const std::vector<plan::Step>& steps) {
    return std::any_of(steps.begin(), steps.end(), [](const plan::Step& s) { return s.contraction != nullptr; });
  };
  CHECK_FALSE(has_contraction(steps_of(product(memory({50, 60}), memory({60, 70})), false)));
  CHECK_FALSE(has_contraction(steps_of(product(memory({10, 20}), memory({20, 30})))));
  CHECK_FALSE(has_contraction(steps_of(product(memory({1000, 60}), memory({60, 1})))));
  CHECK_FALSE(has_contraction(steps_of(product(memory({50, 60}, DType::i64), memory({60, 70}, DType::i64)))));
  // An axis that one factor alone is summed along.
  const NodeRef a = reshape(memory({50, 60}), {50, 60, 1}), b = reshape(memory({60, 70}), {1, 60, 70});
  CHECK_FALSE(has_contraction(steps_of(reduce(ReduceOp::sum, map(ScalarOp::mul, {a, b}), {1, 2}))));
  CHECK_FALSE(has_contraction(steps_of(reduce(ReduceOp::max, map(ScalarOp::mul, {a, b}), {1}))));
  CHECK(has_contraction(steps_of(reduce(ReduceOp::sum, map(ScalarOp::mul, {a, b}), {1}))));
}

TEST_CASE("transposed factors are taken as they lie, others are stored first") {
  const NodeRef a = memory({50, 60}), b = memory({70, 60});
  const auto turned = steps_of(product(a, transpose(b, {1, 0})));
  REQUIRE(turned.size() == 1);
  CHECK(only_contraction(turned).summed.right == 1);
  CHECK(only_contraction(turned).columns.right == 60);
  const auto computed = steps_of(product(map(ScalarOp::neg, {a}), transpose(b, {1, 0})));
  REQUIRE(computed.size() == 2);
  CHECK(computed[1].contraction);
  const NodeRef every_second = view(memory({100, 120}), {50, 60}, {{0, 0, 2}, {1, 0, 2}});
  const auto strided = steps_of(product(every_second, transpose(b, {1, 0})));
  REQUIRE(strided.size() == 2);
  CHECK(only_contraction(strided).rows.left == 60);
}

TEST_CASE("factors that find no room are stored panel by panel") {
  const auto contractions = [](const std::vector<plan::Step>& steps) {
    std::vector<Contraction> found;
    for (const plan::Step& s : steps)
      if (s.contraction) found.push_back(*s.contraction);
    return found;
  };
  const auto computed = [](Shape shape) { return map(ScalarOp::neg, {memory(std::move(shape))}); };
  // Memory needs no room.
  CHECK(contractions(steps_of(product(memory({50, 60}), memory({60, 70})), true, 1000)).size() == 1);
  // What is summed is cut, and a matrix that is both factors is stored once a panel.
  const NodeRef tall = computed({2000, 20});
  const auto square = steps_of(product(transpose(tall, {1, 0}), tall), true, 160 << 10);
  const auto sums = contractions(square);
  REQUIRE(sums.size() == 32);
  CHECK(square.size() == 64);
  int64_t summed = 0;
  for (size_t k = 0; k < sums.size(); ++k) {
    CHECK(sums[k].symmetric);
    CHECK(sums[k].add == (k > 0));
    summed += sums[k].summed.extent;
  }
  CHECK(summed == 2000);
  // Of a large result the rows are cut; the other factor is stored whole, once.
  const auto wide = steps_of(product(computed({2000, 20}), computed({20, 100})), true, 160 << 10);
  const auto rows = contractions(wide);
  REQUIRE(rows.size() == 16);
  CHECK(wide.size() == 33);
  for (const Contraction& c : rows) {
    CHECK_FALSE(c.add);
    CHECK(c.rows.extent == 125);
    CHECK(c.summed.extent == 20);
  }
}

TEST_CASE("a matrix times itself transposed is symmetric") {
  const NodeRef a = memory({50, 60});
  CHECK(only_contraction(steps_of(product(a, transpose(a, {1, 0})))).symmetric);
  CHECK(only_contraction(steps_of(product(transpose(a, {1, 0}), a))).symmetric);
  const NodeRef square = memory({60, 60});
  CHECK_FALSE(only_contraction(steps_of(product(square, square))).symmetric);
}

TEST_CASE("stacks of products are loops around one, and further axes are summed over") {
  const NodeRef a = reshape(memory({3, 40, 50}), {3, 40, 1, 50}), b = reshape(transpose(memory({3, 50, 30}), {0, 2, 1}), {3, 1, 30, 50});
  const NodeRef each = map(ScalarOp::mul, {a, b});
  const Contraction stack = only_contraction(steps_of(reduce(ReduceOp::sum, each, {3})));
  REQUIRE(stack.outer.size() == 1);
  CHECK(stack.outer[0].extent == 3);
  CHECK(stack.outer[0].left == 2000);
  CHECK(stack.outer[0].right == 1500);
  CHECK(stack.outer[0].result == 1200);
  const Contraction added = only_contraction(steps_of(reduce(ReduceOp::sum, each, {0, 3})));
  REQUIRE(added.outer.size() == 1);
  CHECK(added.outer[0].result == 0);
}

TEST_CASE("a result that does not lie as the library writes is put into its place by a kernel") {
  const NodeRef p = product(memory({50, 60}), memory({60, 70}));
  plan::PlanOptions options;
  options.library = [] { return true; };
  auto place = std::make_shared<plan::TemporaryStorage>(8 * 4 * 50 * 70);
  CHECK(plan::make_plan({p}, options, {{place, {280, 2}, 0}}).steps.size() == 2);
  CHECK(plan::make_plan({p}, options, {{place, {1, 50}, 0}}).steps.size() == 1);
}
