#include "compiler/graph/node.h"

#include "catch.h"
#include "lang/diagnostic.h"

using namespace gasell;
using namespace gasell::graph;

namespace {

NodeRef ramp(Shape shape) { return reshape(iota(graph::size_of(shape), Scalar::of_int(0), Scalar::of_int(1)), shape); }
NodeRef lazy(Shape shape) { return random(Distribution::uniform, DType::f64, std::move(shape), 1, 0); }

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("equal nodes are one node") {
  const NodeRef x = lazy({4, 5});
  CHECK(map(ScalarOp::add, {x, x}) == map(ScalarOp::add, {x, x}));
  CHECK(map(ScalarOp::add, {x, x}) != map(ScalarOp::mul, {x, x}));
  CHECK(constant(Scalar::of_float(0.0)) != constant(Scalar::of_float(-0.0)));
}

TEST_CASE("a deep graph dies without deep recursion") {
  NodeRef x = lazy({8});
  for (int k = 0; k < 200000; ++k) x = map(ScalarOp::neg, {x});
  x.reset();
  SUCCEED();
}

TEST_CASE("constants fold, broadcast and cast") {
  const NodeRef two = constant(Scalar::of_float(2)), three = constant(Scalar::of_float(3), {2, 2});
  const NodeRef sum = map(ScalarOp::add, {two, three});
  REQUIRE(sum->as<ConstantNode>());
  CHECK(sum->as<ConstantNode>()->value.c.real() == 5);
  CHECK(sum->shape == Shape{2, 2});
  CHECK(cast(sum, DType::i8)->as<ConstantNode>()->value.i == 5);
}

TEST_CASE("views compose, and a view of a buffer is a buffer") {
  const NodeRef x = lazy({10, 6});
  const NodeRef slice = view(x, {5, 6}, {{0, 1, 2}, {1, 0, 1}});
  const NodeRef twice = view(slice, {6, 2}, {{1, 0, 2}, {0, 0, 1}});
  REQUIRE(twice->as<ViewNode>());
  CHECK(twice->inputs[0] == x);
  CHECK(twice->as<ViewNode>()->axes == std::vector<ViewAxis>{{1, 1, 4}, {0, 0, 1}});
  CHECK(transpose(transpose(x, {1, 0}), {1, 0}) == x);

  const auto storage = std::make_shared<Storage>();
  const NodeRef b = buffer(storage, DType::f64, {4, 6}, {6, 1}, 0);
  const NodeRef flipped = view(b, {6, 4}, {{1, 3, -1}, {0, 0, 1}});
  REQUIRE(flipped->as<BufferNode>());
  CHECK(flipped->as<BufferNode>()->strides == std::vector<int64_t>{1, -6});
  CHECK(flipped->as<BufferNode>()->offset == 18);
}

TEST_CASE("reshape keeps sources sources") {
  CHECK(reshape(ramp({6}), {2, 3})->as<IotaNode>());
  CHECK(reshape(lazy({6}), {2, 3})->as<RandomNode>());
  CHECK(reshape(lazy({6}), {6, 1})->as<ViewNode>());
  const NodeRef view_of = view(lazy({4, 4}), {2, 4}, {{0, 0, 2}, {1, 0, 1}});
  CHECK(reshape(view_of, {8})->as<ReshapeNode>());
  CHECK(message_of([] { reshape(lazy({6}), {4}); }) == "ValueError: cannot reshape array of size 6 into shape (4,)");
}

TEST_CASE("strides of a reshape without a copy") {
  CHECK(reshape_strides({4, 6}, {6, 1}, {2, 2, 6}) == std::vector<int64_t>{12, 6, 1});
  CHECK(reshape_strides({4, 6}, {6, 1}, {24}) == std::vector<int64_t>{1});
  CHECK_FALSE(reshape_strides({4, 6}, {1, 4}, {24}));
  CHECK(reshape_strides({4, 6}, {12, 2}, {4, 3, 2}) == std::vector<int64_t>{12, 4, 2});
}

TEST_CASE("broadcasting") {
  CHECK(broadcast_shapes({{3, 1}, {4}}) == Shape{3, 4});
  CHECK(broadcast_shapes({{}, {0, 2}}) == Shape{0, 2});
  CHECK(message_of([] { broadcast_shapes({{2, 3}, {4}}); }) ==
        "ValueError: operands could not be broadcast together with shapes (2,3) (4,) ");
}

TEST_CASE("shapes that cannot be") {
  CHECK(message_of([] { graph::size_of({-1}); }) == "ValueError: negative dimensions are not allowed");
  CHECK_THROWS_AS(graph::size_of({int64_t{1} << 40, int64_t{1} << 40}), Error);
  CHECK(graph::size_of({int64_t{1} << 40, 0}) == 0);
  CHECK(message_of([] { reduce(ReduceOp::min, lazy({0}), {0}); }) ==
        "ValueError: zero-size array to reduction operation minimum which has no identity");
}

TEST_CASE("promotion follows NumPy 2") {
  CHECK(promote(DType::i8, DType::u8) == DType::i16);
  CHECK(promote(DType::i64, DType::u64) == DType::f64);
  CHECK(promote(DType::f32, DType::i16) == DType::f32);
  CHECK(promote(DType::f32, DType::i32) == DType::f64);
  CHECK(promote(DType::c64, DType::f64) == DType::c128);
  CHECK(promote_weak(DType::f32, 'f') == DType::f32);
  CHECK(promote_weak(DType::i8, 'f') == DType::f64);
  CHECK(promote_weak(DType::f32, 'c') == DType::c64);
  CHECK(promote_weak(DType::boolean, 'i') == DType::i64);
}

TEST_CASE("functions of neighbouring pieces are a function of the whole") {
  const NodeRef x = lazy({6, 8});
  const auto piece = [&](int64_t row, int64_t column, int64_t rows, int64_t columns) {
    return view(x, {rows, columns}, {{0, row, 1}, {1, column, 1}});
  };
  const auto function = [](const NodeRef& v) {
    const NodeRef twice = map(ScalarOp::mul, {v, v});
    return cast(map(ScalarOp::add, {twice, constant(Scalar::of_float(1))}), DType::f32);
  };
  std::vector<NodeRef> rows;
  for (const int64_t row : {0, 2, 4}) {
    std::vector<NodeRef> parts;
    for (const int64_t column : {0, 3, 6}) parts.push_back(function(piece(row, column, 2, column == 6 ? 2 : 3)));
    rows.push_back(concatenate(parts, 1));
  }
  CHECK(concatenate(rows, 0) == function(x));
  CHECK(concatenate({piece(0, 0, 1, 8), piece(2, 0, 1, 8), piece(4, 0, 1, 8)}, 0) == view(x, {3, 8}, {{0, 0, 2}, {1, 0, 1}}));
  CHECK(concatenate({piece(5, 0, 1, 8), piece(4, 0, 1, 8)}, 0) == view(x, {2, 8}, {{0, 5, -1}, {1, 0, 1}}));
}

TEST_CASE("other joins stay joins") {
  const NodeRef x = lazy({6, 8}), y = lazy({8, 6});
  const auto rows = [&](int64_t first, int64_t n) { return view(x, {n, 8}, {{0, first, 1}, {1, 0, 1}}); };
  const auto is_join = [](const NodeRef& node) { return node->as<ConcatenateNode>() != nullptr; };
  CHECK(is_join(concatenate({rows(0, 2), rows(3, 3)}, 0)));                                              // a gap
  CHECK(is_join(concatenate({rows(2, 2), rows(0, 2)}, 0)));                                              // the other way
  CHECK(is_join(concatenate({rows(0, 2), rows(0, 2)}, 0)));                                              // the same twice
  CHECK(is_join(concatenate({rows(0, 2), rows(2, 2)}, 1)));                                              // along another axis
  CHECK(is_join(concatenate({map(ScalarOp::neg, {rows(0, 2)}), map(ScalarOp::abs, {rows(2, 2)})}, 0)));  // two functions
  CHECK(is_join(concatenate({x, transpose(y, {1, 0})}, 0)));                                             // two arrays
  CHECK(is_join(concatenate({rows(0, 2), constant(Scalar::of_float(0), {2, 8})}, 0)));
  CHECK(concatenate({constant(Scalar::of_float(0), {2, 8}), constant(Scalar::of_float(0), {3, 8})}, 0) ==
        constant(Scalar::of_float(0), {5, 8}));
  CHECK(is_join(concatenate({constant(Scalar::of_float(0.0), {2, 8}), constant(Scalar::of_float(-0.0), {3, 8})}, 0)));
}
