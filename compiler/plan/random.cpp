#include "compiler/plan/random.h"

#include <array>

namespace gasell::plan {
namespace {

using graph::Distribution;
using ir::Body;
using ir::ExprRef;

constexpr int64_t kMask32 = 0xffffffff;

ExprRef u64(int64_t value) { return ir::constant(Scalar::of_int(value, DType::u64)); }
ExprRef f64(double value) { return ir::constant(Scalar::of_float(value)); }
ExprRef binary(ScalarOp op, ExprRef a, ExprRef b) { return ir::op(op, {std::move(a), std::move(b)}); }
ExprRef fma(ExprRef a, ExprRef b, ExprRef c) { return ir::op(ScalarOp::fma, {std::move(a), std::move(b), std::move(c)}); }

/// Emits the arithmetic of one block into a body.
class BlockEmitter {
 public:
  BlockEmitter(KernelBuilder& builder, Body& body) : builder_(builder), body_(body) {}

  struct Words {
    ExprRef first, second;  // the block's 128 bits, as two u64
  };

  Words philox(ExprRef counter, ExprRef seed, ExprRef stream) {
    ExprRef c0 = let("c", low(counter)), c1 = let("c", high(counter)), c2 = let("c", low(stream)), c3 = let("c", high(stream));
    ExprRef k0 = let("k", low(seed)), k1 = let("k", high(seed));
    for (int round = 0; round < 10; ++round) {
      const ExprRef p0 = let("p", binary(ScalarOp::mul, c0, u64(0xD2511F53)));
      const ExprRef p1 = let("p", binary(ScalarOp::mul, c2, u64(0xCD9E8D57)));
      c0 = let("c", binary(ScalarOp::bit_xor, binary(ScalarOp::bit_xor, high(p1), c1), k0));
      c2 = let("c", binary(ScalarOp::bit_xor, binary(ScalarOp::bit_xor, high(p0), c3), k1));
      c1 = let("c", low(p1));
      c3 = let("c", low(p0));
      if (round == 9) break;
      k0 = let("k", low(binary(ScalarOp::add, k0, u64(0x9E3779B9))));
      k1 = let("k", low(binary(ScalarOp::add, k1, u64(0xBB67AE85))));
    }
    return {join(c1, c0), join(c3, c2)};  // the low halves of the products below: they need no shift
  }

  struct Pair {
    ExprRef first, second;
  };

  /// The two elements of a block.
  Pair draw(const graph::RandomNode& random, const Words& words, const std::vector<ExprRef>& arguments) {
    switch (random.distribution) {
      case Distribution::uniform: return {uniform(words.first), uniform(words.second)};
      case Distribution::integers: return {integer(words.first, arguments), integer(words.second, arguments)};
      case Distribution::standard_normal: return normal(words);
    }
    return {};
  }

 private:
  ExprRef let(const char* stem, ExprRef value) { return define(builder_, body_, stem, std::move(value)); }
  static ExprRef low(ExprRef x) { return binary(ScalarOp::bit_and, std::move(x), u64(kMask32)); }
  static ExprRef high(ExprRef x) { return binary(ScalarOp::shr, std::move(x), u64(32)); }
  ExprRef join(ExprRef lo, ExprRef hi) {
    return let("w", binary(ScalarOp::bit_or, std::move(lo), binary(ScalarOp::shl, std::move(hi), u64(32))));
  }

  ExprRef uniform(const ExprRef& word) {
    return let("u", binary(ScalarOp::mul, ir::cast(binary(ScalarOp::shr, word, u64(11)), DType::f64), f64(0x1p-53)));
  }

  ExprRef integer(const ExprRef& word, const std::vector<ExprRef>& arguments) {
    const ExprRef &low_bound = arguments[2], &range = arguments[3];
    // A range of zero stands for all 2^64 values.
    const ExprRef scaled = ir::op(ScalarOp::select, {binary(ScalarOp::eq, range, u64(0)), word, binary(ScalarOp::mulhi, word, range)});
    return let("r", binary(ScalarOp::add, low_bound, ir::cast(scaled, DType::i64)));
  }

  /// Horner's rule with fma; coefficients from the constant up.
  template <size_t N>
  ExprRef polynomial(const ExprRef& x, const std::array<double, N>& coefficients) {
    ExprRef result = f64(coefficients[N - 1]);
    for (size_t k = N - 1; k-- > 0;) result = let("h", fma(result, x, f64(coefficients[k])));
    return result;
  }

  /// -2 log(u) for u in (0, 1): u = m 2^e with m in [sqrt(1/2), sqrt(2)), log m = 2 artanh((m - 1) / (m + 1)). Chebyshev fit, error 7e-16.
  ExprRef minus_two_log(const ExprRef& u) {
    static constexpr std::array<double, 7> kCoefficients = {-4.000000000000000684,   -1.3333333333310569736,  -0.80000000123546111561,
                                                            -0.57142832031951292775, -0.44446869842816411324, -0.36243844007787284077,
                                                            -0.33675627137797284757};
    constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2)
    const ExprRef bits = let("b", ir::bitcast(u, DType::i64));
    const ExprRef exponent = let("e", binary(ScalarOp::shr, bits - ir::constant_i64(kRootHalf), ir::constant_i64(52)));
    const ExprRef m = let("m", ir::bitcast(bits - binary(ScalarOp::shl, exponent, ir::constant_i64(52)), DType::f64));
    const ExprRef s = let("s", binary(ScalarOp::div, binary(ScalarOp::sub, m, f64(1)), binary(ScalarOp::add, m, f64(1))));
    const ExprRef z = let("z", binary(ScalarOp::mul, s, s));
    const ExprRef log_m = binary(ScalarOp::mul, s, polynomial(z, kCoefficients));
    return let("t", fma(ir::cast(exponent, DType::f64), f64(-2 * 0.69314718055994530942), log_m));
  }

  Pair normal(const Words& words) {
    static constexpr std::array<double, 7> kSine = {1.5707963267948966143,     -0.64596409750624431573,   0.079692626246043003134,
                                                    -0.0046817541323409759917, 0.00016044115074219091052, -3.598643352982309702e-6,
                                                    5.6339337815378539538e-8};
    static constexpr std::array<double, 7> kCosine = {0.99999999999999995284,   -1.2337005501361513411,    0.2536695078998647314,
                                                      -0.020863480734946568947, 0.00091925995004166091679, -0.000025200135264284791372,
                                                      4.6552961874867621506e-7};
    const ExprRef mantissa = ir::cast(binary(ScalarOp::shr, words.first, u64(12)), DType::f64);
    const ExprRef u = let("u", binary(ScalarOp::mul, binary(ScalarOp::add, mantissa, f64(0.5)), f64(0x1p-52)));
    const ExprRef radius = let("r", ir::op(ScalarOp::sqrt, {minus_two_log(u)}));
    // The angle: two low bits choose the octant pair and the sign, the rest is a signed fraction of a quarter turn in [-1/2, 1/2).
    const ExprRef fraction = let("f", binary(ScalarOp::mul, ir::cast(ir::cast(words.second, DType::i64), DType::f64), f64(0x1p-64)));
    const ExprRef square = let("z", binary(ScalarOp::mul, fraction, fraction));
    const ExprRef sine = let("sn", binary(ScalarOp::mul, fraction, polynomial(square, kSine)));
    const ExprRef cosine = let("cs", polynomial(square, kCosine));
    auto bit = [&](int64_t mask) { return let("bit", binary(ScalarOp::ne, binary(ScalarOp::bit_and, words.second, u64(mask)), u64(0))); };
    const ExprRef swap = bit(1), negate = bit(2);
    const ExprRef signed_radius = let("r", ir::op(ScalarOp::select, {negate, ir::op(ScalarOp::neg, {radius}), radius}));
    return {let("n", binary(ScalarOp::mul, signed_radius, ir::op(ScalarOp::select, {swap, sine, cosine}))),
            let("n", binary(ScalarOp::mul, signed_radius, ir::op(ScalarOp::select, {swap, cosine, sine})))};
  }

  KernelBuilder& builder_;
  Body& body_;
};

}  // namespace

std::vector<ExprRef> random_arguments(KernelBuilder& builder, const graph::RandomNode& random) {
  return {builder.scalar("seed", Scalar::of_int(static_cast<int64_t>(random.seed), DType::u64)),
          builder.scalar("stream", Scalar::of_int(static_cast<int64_t>(random.stream), DType::u64)), builder.scalar("low", random.low),
          builder.scalar("range", Scalar::of_int(static_cast<int64_t>(random.range), DType::u64))};
}

ExprRef fill_random(KernelBuilder& builder, Body& body, const graph::RandomNode& random, const std::vector<ExprRef>& arguments,
                    const std::string& strip, DType dtype, ExprRef position, ExprRef stride, int64_t static_stride, ExprRef count) {
  // Positions are never negative: shifts and masks divide.
  auto shifted = [](const ExprRef& x, int64_t bits) { return binary(ScalarOp::shr, x, ir::constant_i64(bits)); };
  auto masked = [](const ExprRef& x, int64_t mask) { return binary(ScalarOp::bit_and, x, ir::constant_i64(mask)); };
  auto counter_of = [](const ExprRef& group, const ExprRef& lane) { return ir::cast(group * ir::constant_i64(32) + lane, DType::u64); };
  if (static_stride == 1 || static_stride == 2) {
    // Whole groups of 64 positions; m counts the kept ones of a half group.
    const int64_t kept = 32 / static_stride;
    const ExprRef first_group = define(builder, body, "group", shifted(position, 6));
    const ExprRef last_position = position + ir::constant_i64(static_stride) * (count - ir::constant_i64(1));
    const ExprRef groups = define(builder, body, "groups", shifted(last_position, 6) - first_group + ir::constant_i64(1));
    const ExprRef parity = define(builder, body, "parity", masked(position, static_stride - 1));
    const ExprRef counters = define(builder, body, "first", first_group * ir::constant_i64(32) + parity);
    // For each block of the strip: `lane(into, counter, at, at of the second element)`.
    auto each_block = [&](auto&& lane) {
      const ExprRef g = ir::variable(builder.fresh("g"), DType::i64), m = ir::variable(builder.fresh("m"), DType::i64);
      Body group, inner;
      const ExprRef counter = ir::cast(counters + g * ir::constant_i64(32) + m * ir::constant_i64(static_stride), DType::u64);
      const ExprRef at = define(builder, inner, "at", g * ir::constant_i64(2 * kept) + m);
      lane(inner, counter, at, at + ir::constant_i64(kept));
      group.push_back(ir::loop(m->name, ir::constant_i64(0), ir::constant_i64(kept), ir::LoopKind::simd, std::move(inner)));
      body.push_back(ir::loop(g->name, ir::constant_i64(0), groups, ir::LoopKind::team, std::move(group)));
    };
    auto philox = [&](Body& into, const ExprRef& counter) {
      return BlockEmitter(builder, into).philox(define(builder, into, "counter", counter), arguments[0], arguments[1]);
    };
    auto draw = [&](Body& into, const BlockEmitter::Words& words, const ExprRef& at, const ExprRef& at_second) {
      const auto pair = BlockEmitter(builder, into).draw(random, words, arguments);
      into.push_back(ir::store(strip, at, ir::cast(pair.first, dtype)));
      into.push_back(ir::store(strip, at_second, ir::cast(pair.second, dtype)));
    };
    if (random.distribution == Distribution::standard_normal && dtype == DType::f64) {
      // Two passes over the strip, which holds the blocks' bits between them: a processor overlaps more iterations of the shorter chains.
      each_block([&](Body& into, const ExprRef& counter, const ExprRef& at, const ExprRef& at_second) {
        const auto words = philox(into, counter);
        into.push_back(ir::store(strip, at, ir::bitcast(words.first, dtype)));
        into.push_back(ir::store(strip, at_second, ir::bitcast(words.second, dtype)));
      });
      each_block([&](Body& into, const ExprRef&, const ExprRef& at, const ExprRef& at_second) {
        auto word = [&](const ExprRef& from) { return define(builder, into, "w", ir::bitcast(ir::load(strip, dtype, from), DType::u64)); };
        const ExprRef first = word(at), second = word(at_second);
        draw(into, {first, second}, at, at_second);
      });
    } else {
      each_block([&](Body& into, const ExprRef& counter, const ExprRef& at, const ExprRef& at_second) {
        draw(into, philox(into, counter), at, at_second);
      });
    }
    return define(builder, body, "shift", shifted(masked(position, 63), static_stride - 1));
  }
  const ExprRef j = ir::variable(builder.fresh("j"), DType::i64);
  Body lane;
  BlockEmitter emit(builder, lane);
  const ExprRef i = define(builder, lane, "i", position + stride * j);
  const ExprRef counter = define(builder, lane, "counter", counter_of(shifted(i, 6), masked(i, 31)));
  const auto pair = emit.draw(random, emit.philox(counter, arguments[0], arguments[1]), arguments);
  const ExprRef second = binary(ScalarOp::ne, masked(i, 32), ir::constant_i64(0));
  lane.push_back(ir::store(strip, j, ir::cast(ir::op(ScalarOp::select, {second, pair.second, pair.first}), dtype)));
  body.push_back(ir::loop(j->name, ir::constant_i64(0), count, ir::LoopKind::simd, std::move(lane)));
  return ir::constant_i64(0);
}

}  // namespace gasell::plan
