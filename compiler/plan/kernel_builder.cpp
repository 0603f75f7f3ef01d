#include "compiler/plan/kernel_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compiler/plan/random.h"

namespace gasell::plan {

using ir::Body;
using ir::ExprRef;

KernelBuilder::KernelBuilder(std::string name, bool divides_by_products) : divides_by_products_(divides_by_products) {
  kernel_.name = std::move(name);
}

std::string KernelBuilder::fresh(const std::string& stem) { return stem + std::to_string(next_++); }

ExprRef KernelBuilder::scalar(const std::string& stem, int64_t value) { return scalar(stem, Scalar::of_int(value)); }

ExprRef KernelBuilder::scalar(const std::string& stem, const Scalar& value) {
  const std::string name = fresh(stem);
  kernel_.params.push_back({ir::Parameter::Kind::scalar, name, value.type});
  auto push_double = [this](double v) {
    int64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    step_.scalars.push_back(bits);
  };
  if (value.is_integral()) {
    step_.scalars.push_back(value.i);
  } else {
    push_double(value.c.real());
    if (is_complex(value.type)) push_double(value.c.imag());
  }
  return ir::variable(name, value.type);
}

std::string KernelBuilder::array(ir::Parameter::Kind kind, const StorageRef& storage, DType dtype, int64_t offset) {
  const std::string name = fresh(kind == ir::Parameter::Kind::in ? "a" : "out");
  kernel_.params.push_back({kind, name, dtype});
  step_.storages.push_back(storage);
  step_.written.push_back(kind == ir::Parameter::Kind::out);
  step_.byte_offsets.push_back(offset * gasell::size_of(dtype));
  return name;
}
std::string KernelBuilder::input(const StorageRef& storage, DType dtype, int64_t offset) {
  return array(ir::Parameter::Kind::in, storage, dtype, offset);
}
std::string KernelBuilder::output(const StorageRef& storage, DType dtype, int64_t offset) {
  return array(ir::Parameter::Kind::out, storage, dtype, offset);
}

Step KernelBuilder::finish(Body body, int64_t units) {
  kernel_.body = std::move(body);
  step_.kernel = std::make_shared<const ir::Kernel>(std::move(kernel_));
  step_.units = units;
  return std::move(step_);
}

ExprRef define(KernelBuilder& builder, Body& body, const std::string& stem, ExprRef value) {
  if (value->kind == ir::ExprKind::constant || value->kind == ir::ExprKind::variable) return value;
  const std::string name = builder.fresh(stem);
  const DType type = value->type;
  body.push_back(ir::let(name, std::move(value)));
  return ir::variable(name, type);
}

ExprRef minimum(ExprRef a, ExprRef b) { return ir::op(ScalarOp::min, {std::move(a), std::move(b)}); }

Positions::Positions(KernelBuilder& builder, const Shape& space, const std::vector<Access>& accesses, const std::vector<int>& shared) {
  const size_t rank = space.size();
  for (size_t a = 0; a < accesses.size(); ++a) {
    const Access& access = accesses[a];
    if (!shared.empty() && static_cast<size_t>(shared[a]) != a) {
      const auto first = static_cast<size_t>(shared[a]);
      offsets_.push_back(offsets_[first]);
      outer_.push_back(outer_[first]);
      inner_.push_back(inner_[first]);
      static_inner_.push_back(static_inner_[first]);
      continue;
    }
    // A buffer's offset is folded into its pointer; iotas, random sources and results with a dynamic place keep theirs.
    const bool in_pointer = !access.source || access.source->as<graph::BufferNode>();
    offsets_.push_back(in_pointer ? ir::constant_i64(0) : builder.scalar("o", access.offset));
    std::vector<ExprRef> outer;
    for (size_t k = 0; k + 1 < rank; ++k)
      outer.push_back(access.coefficients[k] == 0 ? nullptr : builder.scalar("s", access.coefficients[k]));
    outer_.push_back(std::move(outer));
    const int64_t inner = rank == 0 ? 0 : access.coefficients.back();
    const bool compiled_in = inner >= 0 && inner <= 2;
    static_inner_.push_back(compiled_in ? inner : -1);
    inner_.push_back(compiled_in ? ir::constant_i64(inner) : builder.scalar("s", inner));
  }
}

ExprRef Positions::base(int a, const std::vector<ExprRef>& outer) const {
  ExprRef position = offsets_[a];
  for (size_t k = 0; k < outer_[a].size(); ++k)
    if (outer_[a][k]) position = position + outer[k] * outer_[a][k];
  return position;
}

namespace {

std::vector<int> arrays_of(const std::vector<Neighbour>& neighbours) {
  std::vector<int> arrays;
  for (const Neighbour& n : neighbours) arrays.push_back(n.array);
  return arrays;
}

/// Constants that are written into the code: they let LLVM simplify, and recur; all others are arguments, so that one compilation serves
/// every value.
bool is_compiled_in(const Scalar& v) {
  if (v.is_integral()) return kind(v.type) == 'b' || (v.i >= -2 && v.i <= 16);
  if (v.c.imag() != 0) return false;
  const double x = v.c.real();
  return (x == 0 && !std::signbit(x)) || x == 1 || x == -1 || x == 2 || x == 0.5 || x == 4 || x == 0.25;
}

/// Values that integers are divided by: where they are constants, multiplications do.
std::vector<char> integer_divisors(const Pulled& pulled) {
  std::vector<char> divisors(pulled.values.size(), 0);
  for (const Value& value : pulled.values)
    if (value.kind == Value::Kind::op && is_integer(value.dtype) && (value.op == ScalarOp::floordiv || value.op == ScalarOp::mod))
      divisors[static_cast<size_t>(value.operands[1])] = 1;
  return divisors;
}

}  // namespace

StripExpression::StripExpression(KernelBuilder& builder, const Pulled& pulled, bool by_strides)
    : builder_(builder),
      pulled_(pulled),
      neighbours_(neighbours(pulled)),
      positions_(builder, pulled.space, pulled.accesses, arrays_of(neighbours_)) {
  for (size_t a = 0; a < pulled.accesses.size(); ++a) {
    const Access& access = pulled.accesses[a];
    Neighbour& neighbour = neighbours_[a];
    const bool first = static_cast<size_t>(neighbour.array) == a;
    if (by_strides && !first) {
      const int64_t distance = access.offset - pulled.accesses[static_cast<size_t>(neighbour.array)].offset;
      neighbour = {neighbour.array, static_cast<int>(a), distance};
      distances_.push_back(in_strides(neighbour.array, distance));
    } else {
      distances_.push_back(first || static_cast<size_t>(neighbour.near) != a ? nullptr : builder.scalar("d", neighbour.offset));
    }
    arrays_.emplace_back();
    iota_start_.emplace_back();
    iota_step_.emplace_back();
    random_.emplace_back();
    const int64_t stride = access.index_stride;
    index_strides_.push_back(access.index < 0 ? nullptr : stride == 1 ? ir::constant_i64(1) : builder.scalar("s", stride));
    if (const auto* b = access.source->as<graph::BufferNode>()) {
      arrays_.back() = first ? builder.input(b->storage, access.dtype, access.offset) : arrays_[static_cast<size_t>(neighbour.array)];
    } else if (const auto* i = access.source->as<graph::IotaNode>()) {
      iota_start_.back() = builder.scalar("start", i->start);
      iota_step_.back() = builder.scalar("step", i->step);
    } else if (const auto* r = access.source->as<graph::RandomNode>()) {
      arrays_.back() = builder.fresh("strip");
      random_.back() = random_arguments(builder, *r);
    }
  }
  const std::vector<char> divisors = integer_divisors(pulled);
  for (size_t v = 0; v < pulled.values.size(); ++v) {
    const Value& value = pulled.values[v];
    if (value.kind != Value::Kind::constant)
      constants_.emplace_back();
    else
      constants_.push_back(divisors[v] || is_compiled_in(value.constant) ? ir::constant(value.constant)
                                                                         : builder.scalar("c", value.constant));
  }
}

/// A number of steps along each outer axis, the longest first, and a few elements; an argument where that does not do.
ExprRef StripExpression::in_strides(int array, int64_t distance) {
  constexpr int64_t kMostSteps = 16;
  const std::vector<int64_t>& strides = pulled_.accesses[static_cast<size_t>(array)].coefficients;
  std::vector<size_t> axes(strides.size() - 1);
  std::iota(axes.begin(), axes.end(), size_t{0});
  std::stable_sort(axes.begin(), axes.end(), [&](size_t a, size_t b) { return std::abs(strides[a]) > std::abs(strides[b]); });
  int64_t rest = distance;
  ExprRef result = ir::constant_i64(0);
  for (const size_t axis : axes) {
    if (strides[axis] == 0) continue;
    const int64_t steps = std::llround(static_cast<double>(rest) / static_cast<double>(strides[axis]));
    if (steps < -kMostSteps || steps > kMostSteps) continue;
    rest -= steps * strides[axis];
    result = result + positions_.outer_stride(array, axis) * ir::constant_i64(steps);
  }
  return rest >= -kNear && rest <= kNear ? result + ir::constant_i64(rest) : builder_.scalar("d", distance);
}

void StripExpression::declare(Body& body) {
  for (size_t a = 0; a < arrays_.size(); ++a)
    if (!random_[a].empty()) body.push_back(ir::local_array(arrays_[a], pulled_.accesses[a].dtype, kStrip + kStagedExtra));
}

void StripExpression::begin_row(Body& body, const std::vector<ExprRef>& outer) {
  bases_.clear();
  for (size_t a = 0; a < arrays_.size(); ++a) {
    const auto array = static_cast<size_t>(neighbours_[a].array), near = static_cast<size_t>(neighbours_[a].near);
    if (array == a)
      bases_.push_back(define(builder_, body, "base", positions_.base(static_cast<int>(a), outer)));
    else
      bases_.push_back(near == a ? define(builder_, body, "base", bases_[array] + distances_[a]) : bases_[near]);
  }
}

void StripExpression::begin_strip(Body& body, ExprRef first, ExprRef count) {
  first_ = std::move(first);
  shifts_.assign(arrays_.size(), nullptr);
  staged_.assign(arrays_.size(), {});
  for (size_t a = 0; a < arrays_.size(); ++a) {
    if (random_[a].empty()) continue;
    const ExprRef stride = positions_.inner_stride(static_cast<int>(a));
    const ExprRef position = define(builder_, body, "position", bases_[a] + first_ * stride);
    read_from(static_cast<int>(a), arrays_[a],
              fill_random(builder_, body, *pulled_.accesses[a].source->as<graph::RandomNode>(), random_[a], arrays_[a],
                          pulled_.accesses[a].dtype, position, stride, positions_.static_inner_stride(static_cast<int>(a)), count));
  }
}

void StripExpression::read_from(int a, std::string local, ExprRef shift) {
  staged_[static_cast<size_t>(a)] = std::move(local);
  shifts_[static_cast<size_t>(a)] = std::move(shift);
}

ExprRef StripExpression::access_value(int a, ExprRef j, const std::vector<ExprRef>& values) {
  const Access& access = pulled_.accesses[a];
  if (access.index >= 0) return ir::load(arrays_[a], access.dtype, values[static_cast<size_t>(access.index)] * index_strides_[a]);
  if (!staged_[a].empty()) return ir::load(staged_[a], access.dtype, shifts_[a] + j);
  ExprRef position = bases_[a] + (first_ + j) * positions_.inner_stride(a);
  if (neighbours_[a].near != a) position = position + ir::constant_i64(neighbours_[a].offset);
  if (!arrays_[a].empty()) return ir::load(arrays_[a], access.dtype, position);
  const DType type = access.dtype;
  const ExprRef scaled = ir::op(ScalarOp::mul, {iota_step_[a], ir::cast(position, type)});
  return ir::op(ScalarOp::add, {iota_start_[a], scaled});
}

std::vector<ExprRef> StripExpression::at(Body& body, ExprRef j) {
  std::vector<ExprRef> values;
  for (size_t v = 0; v < pulled_.values.size(); ++v) {
    const Value& value = pulled_.values[v];
    if (value.kind == Value::Kind::constant) {
      values.push_back(constants_[v]);
      continue;
    }
    ExprRef expr;
    if (value.kind == Value::Kind::access) {
      expr = access_value(value.access, j, values);
    } else if (value.kind == Value::Kind::cast) {
      expr = ir::cast(values[value.operands[0]], value.dtype);
    } else {
      std::vector<ExprRef> operands;
      for (int operand : value.operands) operands.push_back(values[operand]);
      expr = ir::op(value.op, std::move(operands));
    }
    values.push_back(define(builder_, body, "v", std::move(expr)));
  }
  std::vector<ExprRef> roots;
  for (int root : pulled_.roots) roots.push_back(values[root]);
  return roots;
}

}  // namespace gasell::plan
