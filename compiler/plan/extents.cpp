#include "compiler/plan/extents.h"

#include <bit>

namespace gasell::plan {

using ir::Body;
using ir::ExprRef;

/// Of m = 2^(31 + s) / divisor, rounded up, where 2^s is the first power of 2 from the divisor on, m * divisor is at most the divisor more
/// than 2^(31 + s), so that a number below 2^31 times what it is more stays below 2^(31 + s).
Divisor::Divisor(KernelBuilder& builder, int64_t divisor, int64_t below) : builder_(&builder) {
  constexpr int64_t kMost = int64_t{1} << 31;
  if (!builder.divides_by_products() || below > kMost || divisor >= kMost) {
    divisor_ = builder.scalar("by", divisor);
    return;
  }
  if (divisor <= 1) return;
  const auto u32 = [&](const char* stem, uint64_t value) {
    return builder.scalar(stem, Scalar::of_int(static_cast<int64_t>(value)).cast(DType::u32));
  };
  const auto by = static_cast<uint64_t>(divisor), bits = static_cast<uint64_t>(std::bit_width(by - 1));
  divisor_ = u32("by", by);
  scale_ = u32("scale", (uint64_t{1} << (31 + bits)) / by + 1);
  bits_ = u32("bits", bits - 1);
}

Parts Divisor::divide(Body& body, const ExprRef& number) const {
  if (!divisor_) return {number, ir::constant_i64(0)};
  if (!scale_) {
    const ExprRef quotient = define(*builder_, body, "q", number / divisor_);
    return {quotient, define(*builder_, body, "rest", number - quotient * divisor_)};
  }
  const ExprRef small = define(*builder_, body, "u", ir::cast(number, DType::u32));
  const ExprRef upper = ir::op(ScalarOp::mulhi, {small, scale_});
  const ExprRef quotient = define(*builder_, body, "q", ir::op(ScalarOp::shr, {upper, bits_}));
  const ExprRef rest = define(*builder_, body, "rest", small - quotient * divisor_);
  return {define(*builder_, body, "q", ir::cast(quotient, DType::i64)), define(*builder_, body, "rest", ir::cast(rest, DType::i64))};
}

Extents::Extents(KernelBuilder& builder, const Shape& extents) : rank_(extents.size()) {
  for (size_t k = 1; k < rank_; ++k)
    inner_.emplace_back(builder, extents[k], graph::size_of(Shape(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(k) + 1)));
}

std::vector<ExprRef> Extents::coordinates(Body& body, ExprRef number) const {
  std::vector<ExprRef> result(rank_);
  for (size_t k = rank_; k-- > 0;) {
    if (k == 0) {
      result[k] = number;
    } else {
      const Parts parts = inner_[k - 1].divide(body, number);
      result[k] = parts.remainder;
      number = parts.quotient;
    }
  }
  return result;
}

}  // namespace gasell::plan
