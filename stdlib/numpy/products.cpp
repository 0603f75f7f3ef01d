#include "stdlib/numpy/products.h"

#include <algorithm>
#include <array>
#include <span>

#include "lang/diagnostic.h"
#include "runtime/gpu/gpu_device.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

/// Σ left * right over the last axis; both of the shape `wide` after broadcasting.
NodeRef sum_of_products(const NodeRef& left, const NodeRef& right, const Shape& wide) {
  const ScalarOp product = left->dtype == DType::boolean ? ScalarOp::logical_and : ScalarOp::mul;
  const auto sum = left->dtype == DType::boolean ? graph::ReduceOp::any : graph::ReduceOp::sum;
  return graph::reduce(sum, graph::map(product, {graph::broadcast_to(left, wide), graph::broadcast_to(right, wide)}),
                       {static_cast<int>(wide.size()) - 1});
}

NodeRef with_last_axes_exchanged(const NodeRef& x) {
  std::vector<int> order;
  for (int k = 0; k < x->rank(); ++k) order.push_back(k);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return graph::transpose(x, order);
}

/// A stack of matrices over the axes of `wide`: the matrices' axes are two of its last three, the stack's those before.
NodeRef stretched(const NodeRef& x, const Shape& wide, std::array<int, 2> places) {
  if (x->size() == 0) return graph::constant(Scalar{x->dtype, 0, 0}, wide);
  std::vector<graph::ViewAxis> axes;
  const size_t stack = x->shape.size() - 2, extra = wide.size() - 3 - stack;
  for (size_t k = 0; k < stack; ++k)
    axes.push_back(x->shape[k] == wide[k + extra] ? graph::ViewAxis{static_cast<int>(k + extra), 0, 1} : graph::ViewAxis{-1, 0, 0});
  for (const int place : places) axes.push_back({place, 0, 1});
  return graph::view(x, wide, std::move(axes));
}

/// The product of arrays of which one has one element and the other any number, as BLAS adds it to zeros: where that element is 0, it looks
/// at no other one.
NodeRef scaled(const NodeRef& a, const NodeRef& b) {
  const NodeRef product = graph::map(ScalarOp::mul, {a, b});
  if (product->size() == 1) return product;
  const NodeRef& factor = a->size() == 1 ? a : b;
  const NodeRef zero = graph::constant(Scalar::of_float(0).cast(product->dtype));
  return graph::map(ScalarOp::select, {graph::map(ScalarOp::eq, {factor, zero}), zero, graph::map(ScalarOp::add, {product, zero})});
}

/// Whether BLAS takes an array as a single number.
bool is_single(const graph::Node& x) { return x.shape.size() <= 2 && x.size() == 1; }

/// "(2,50,40)->(2,newaxis,newaxis)"
std::string remapped(const graph::Node& x) {
  std::string text = graph::to_string(x.shape) + "->(";
  for (size_t k = 0; k + 2 < x.shape.size(); ++k) text += std::to_string(x.shape[k]) + ",";
  return text + "newaxis,newaxis)";
}

/// Whether products of this type on these GPUs are the tiles' of the library's texts: NVIDIA's library has none, or is not there.
bool has_tiles_alone(const GpuDevice& gpus, DType dtype) {
  return is_integer(dtype) || ((dtype == DType::f32 || dtype == DType::f64 || is_complex(dtype)) && !gpus.library(GpuLibrary::products));
}

}  // namespace

NodeRef matmul(const Operand& first, const Operand& second) {
  static constexpr const char* kCore = "gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)";
  const Operand operands[] = {first, second};
  const DType type = common_type(operands);
  if (type == DType::f16)  // sums in float32, rounded once
    return graph::cast(matmul({graph::cast(first.node, DType::f32), 0}, {graph::cast(second.node, DType::f32), 0}), type);
  NodeRef a = graph::cast(first.node, type), b = graph::cast(second.node, type);
  for (int k = 0; k < 2; ++k)
    if (operands[k].node->rank() == 0)
      raise("ValueError", "matmul: Input operand " + std::to_string(k) + " does not have enough dimensions (has 0, " + kCore);
  const bool row = a->rank() == 1, column = b->rank() == 1;
  if (row && column && a->shape == b->shape) return sum_of_products(a, b, a->shape);
  if (row) a = graph::reshape(a, {1, a->shape[0]});
  if (column) b = graph::reshape(b, {b->shape[0], 1});
  const int64_t n = a->shape[a->shape.size() - 2], k = a->shape.back(), inner = b->shape[b->shape.size() - 2], m = b->shape.back();
  if (k != inner)
    raise("ValueError",
          "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size " +
              std::to_string(inner) + " is different from " + std::to_string(k) + ")");
  const Shape stack_a(a->shape.begin(), a->shape.end() - 2), stack_b(b->shape.begin(), b->shape.end() - 2);
  Shape stack;
  try {
    stack = graph::broadcast_shapes({stack_a, stack_b});
  } catch (const Error&) {
    raise("ValueError", "operands could not be broadcast together with remapped shapes [original->remapped]: " + remapped(*a) + " " +
                            remapped(*b) + "  and requested shape (" + std::to_string(n) + "," + std::to_string(m) + ")");
  }
  Shape wide = stack, shape = stack;
  wide.insert(wide.end(), {n, m, k});
  if (!row) shape.push_back(n);
  if (!column) shape.push_back(m);
  const int rank = static_cast<int>(wide.size());
  return graph::reshape(sum_of_products(stretched(a, wide, {rank - 3, rank - 1}), stretched(b, wide, {rank - 1, rank - 2}), wide), shape);
}

bool multiplied_by_tiles(Interpreter& in, DType dtype) {
  GpuDevice* const gpus = in.engine().gpus();
  return gpus && has_tiles_alone(*gpus, dtype);
}

std::optional<Value> gpu_product(Interpreter& in, const Value& a, const Value& b) {
  constexpr int64_t kMostExtent = 16, kLeastMatrices = 1024;      // of many small matrices
  constexpr int64_t kLeastExtent = 32, kLeastProducts = 1 << 20;  // of large ones
  const auto *left = a.as<NdArray>(), *right = b.as<NdArray>();
  GpuDevice* const gpus = in.engine().gpus();
  if (!left || !right || !gpus) return std::nullopt;
  const Array &x = left->array, &y = right->array;
  const DType dtype = x.dtype();
  if (x.rank() < 2 || y.rank() != x.rank() || y.dtype() != dtype) return std::nullopt;
  const auto outer = [](const Array& stack) { return std::span(stack.shape()).first(stack.shape().size() - 2); };
  const int64_t rows = x.shape()[x.shape().size() - 2], summed = x.shape().back(), columns = y.shape().back();
  if (!std::ranges::equal(outer(x), outer(y)) || y.shape()[y.shape().size() - 2] != summed) return std::nullopt;
  const int64_t least = std::min({rows, summed, columns});
  if (least == 0 || x.size() == 0) return std::nullopt;
  // Chunked arrays are computed when somebody asks for them.
  if (!x.requested_chunks().empty() || !y.requested_chunks().empty()) return std::nullopt;
  const int64_t count = x.size() / (rows * summed);
  const bool is_real = dtype == DType::f32 || dtype == DType::f64;
  if (is_real && x.rank() > 2 && std::max({rows, summed, columns}) <= kMostExtent && count >= kLeastMatrices)
    return on_gpus(in, "gpu_small_products", {a, b});
  if (has_tiles_alone(*gpus, dtype) && least >= kLeastExtent && x.size() * columns >= kLeastProducts)
    return on_gpus(in, "gpu_tiled_product", {a, b});
  return std::nullopt;
}

NodeRef dot(const Operand& first, const Operand& second) {
  const Operand operands[] = {{first.node, 0}, {second.node, 0}};  // Python's numbers are no weaker than others here
  const DType type = common_type(operands);
  if (type == DType::f16)
    return graph::cast(dot({graph::cast(first.node, DType::f32), 0}, {graph::cast(second.node, DType::f32), 0}), type);
  const bool by_blas = (is_float(type) || is_complex(type)) && first.node->rank() <= 2 && second.node->rank() <= 2 &&
                       (is_single(*first.node) || is_single(*second.node));
  if (first.node->rank() == 0 || second.node->rank() == 0)
    return by_blas ? scaled(graph::cast(first.node, type), graph::cast(second.node, type)) : apply("multiply", operands);
  const Shape &sa = first.node->shape, &sb = second.node->shape;
  const size_t summed = sb.size() == 1 ? 0 : sb.size() - 2;
  if (sa.back() != sb[summed])
    raise("ValueError", "shapes " + graph::to_string(sa) + " and " + graph::to_string(sb) + " not aligned: " + std::to_string(sa.back()) +
                            " (dim " + std::to_string(sa.size() - 1) + ") != " + std::to_string(sb[summed]) + " (dim " +
                            std::to_string(summed) + ")");
  if (by_blas) {  // the summed axis has one element
    Shape shape(sa.begin(), sa.end() - 1);
    if (sb.size() == 2) shape.push_back(sb[1]);
    const NodeRef product = scaled(graph::reshape(graph::cast(first.node, type), {first.node->size(), 1}),
                                   graph::reshape(graph::cast(second.node, type), {1, second.node->size()}));
    return graph::reshape(product, shape);
  }
  if (sb.size() <= 2) return matmul(first, second);
  const NodeRef a = graph::cast(first.node, type), b = with_last_axes_exchanged(graph::cast(second.node, type));
  Shape left(sa.begin(), sa.end() - 1), wide = left;
  left.insert(left.end(), sb.size() - 1, 1);
  left.push_back(sa.back());
  wide.insert(wide.end(), b->shape.begin(), b->shape.end());
  return sum_of_products(graph::reshape(a, left), b, wide);
}

}  // namespace gasell::numpy
