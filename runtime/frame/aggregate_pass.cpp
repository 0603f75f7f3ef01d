#include "runtime/frame/aggregate_pass.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "runtime/frame/aggregate_operations.h"

namespace gasell::frame {
namespace {

std::string words_of(const Column& c) {
  switch (c.type.logical) {
    case Logical::text: return "object";
    case Logical::category: return "category";
    case Logical::datetime: return "datetime64";
    case Logical::timedelta: return "timedelta64";
    case Logical::period: return "Period";
    default: return std::string(gasell::name_of(c.type.dtype));
  }
}

}  // namespace

void refuse_aggregate(const Column& c, Aggregate how) {
  if (c.type.logical == Logical::text)
    throw Error("TypeError", fmt::format("agg function failed [how->{},dtype->object]", name_of(how)),
                "select the columns of numbers, or pass numeric_only=True");
  throw Error("TypeError", fmt::format("{} type does not support {} operations", words_of(c), name_of(how)));
}

namespace {

ColumnType float_result(const Column& c) {
  return number_type(c.type.dtype == DType::f32 ? DType::f32 : DType::f64, c.type.nullable || (c.validity && !is_float(c.type.dtype)));
}

/// The type of min, max, first …: the column's own.
Column rows_of(Engine& engine, const Column& column, const auto& row_of, int64_t groups) {
  const Scratch<int64_t> rows(engine, groups);
  bool missing = false;
  for (int64_t g = 0; g < groups; ++g) {
    rows[g] = row_of(g);
    missing |= rows[g] < 0;
  }
  return take(engine, column, rows.data(), groups, missing);
}

template <class V>
std::unique_ptr<Pass> float_pass(const AggregateRequest& request, V values) {
  const Aggregate how = request.how;
  const Column& c = request.column;
  const auto with = [&]<class Out>(Out) -> std::unique_ptr<Pass> {
    ColumnType type = float_result(c);
    switch (how) {
      case Aggregate::skew:
        return pass_to<Out>(SkewOp<V>{values}, type, [](const auto&, const Moments3& m, Out& out) {
          const double skew = m.skew();
          out = static_cast<Out>(skew);
          return skew == skew;
        });
      default: {
        const double ddof = static_cast<double>(request.ddof);
        return pass_to<Out>(VarianceOp<V>{values}, type, [how, ddof](const auto&, const Moments2& m, Out& out) {
          if (m.count <= ddof) return false;
          double v = m.squares / (m.count - ddof);
          if (how == Aggregate::std) v = std::sqrt(v);
          if (how == Aggregate::sem) v = std::sqrt(v) / std::sqrt(m.count);
          out = static_cast<Out>(v);
          return v == v;
        });
      }
    }
  };
  if constexpr (V::kIsTime) {
    if (c.type.logical == Logical::period || (how != Aggregate::std && how != Aggregate::sem)) refuse_aggregate(c, how);
    return pass_to<int64_t>(VarianceOp<V>{values}, timedelta_type(),
                            [how, ddof = static_cast<double>(request.ddof)](const auto&, const Moments2& m, int64_t& out) {
                              if (m.count <= ddof) return false;
                              double v = std::sqrt(m.squares / (m.count - ddof));
                              if (how == Aggregate::sem) v /= std::sqrt(m.count);
                              out = static_cast<int64_t>(v);
                              return true;
                            });
  } else if constexpr (std::is_same_v<typename V::Type, float>)
    return with(float{});
  else
    return with(double{});
}

template <class V>
std::unique_ptr<Pass> mean_pass(const Column& c, V values) {
  using T = typename V::Type;
  if constexpr (V::kIsFloat) {
    return pass_to<T>(FloatMeanOp<V>{values}, float_result(c), [](const auto&, const auto& s, T& out) {
      out = static_cast<T>(s.sum.value() / static_cast<double>(s.count));
      return s.count > 0;
    });
  } else if constexpr (V::kIsTime) {
    if (c.type.logical == Logical::period) refuse_aggregate(c, Aggregate::mean);
    ColumnType type = c.type;
    return pass_to<int64_t>(IntegerMeanOp<V>{values}, type, [](const auto&, const auto& s, int64_t& out) {
      if (s.count > 0) out = static_cast<int64_t>(s.sum / s.count);
      return s.count > 0;
    });
  } else {
    return pass_to<double>(IntegerMeanOp<V>{values}, float_result(c), [](const auto&, const auto& s, double& out) {
      out = static_cast<double>(s.sum) / static_cast<double>(s.count);
      return s.count > 0;
    });
  }
}

template <class V>
std::unique_ptr<Pass> sum_pass(const Column& c, V values) {
  using T = typename V::Type;
  const bool nullable = c.type.nullable || c.validity;
  if constexpr (V::kIsFloat)
    return pass_to<T>(FloatSumOp<V>{values}, number_type(c.type.dtype, c.type.nullable), [](const auto&, const auto& s, T& out) {
      out = static_cast<T>(s.value());
      return true;
    });
  else if constexpr (V::kIsTime) {
    if (c.type.logical != Logical::timedelta) refuse_aggregate(c, Aggregate::sum);
    return pass_to<int64_t>(IntegerSumOp<V>{values}, timedelta_type(), [](const auto&, const auto& s, int64_t& out) {
      out = static_cast<int64_t>(s.sum);
      return true;
    });
  } else {
    const bool is_unsigned = std::is_unsigned_v<T> && !std::is_same_v<T, bool>;
    return pass_to<int64_t>(IntegerSumOp<V>{values}, number_type(is_unsigned ? DType::u64 : DType::i64, nullable && c.type.nullable),
                            [](const auto&, const auto& s, int64_t& out) {
                              out = static_cast<int64_t>(s.sum);
                              return true;
                            });
  }
}

template <class V>
std::unique_ptr<Pass> product_pass(const Column& c, V values) {
  using T = typename V::Type;
  const auto one = [&]<class P, class Out>(P, Out, DType dtype) {
    return pass_to<Out>(ProductOp<V, P>{values}, number_type(dtype, c.type.nullable), [](const auto&, const P& s, Out& out) {
      out = static_cast<Out>(s);
      return true;
    });
  };
  if constexpr (V::kIsFloat)
    return one(double{}, T{}, c.type.dtype);
  else if constexpr (V::kIsTime)
    refuse_aggregate(c, Aggregate::prod);
  else
    return one(uint64_t{}, int64_t{}, std::is_unsigned_v<T> && !std::is_same_v<T, bool> ? DType::u64 : DType::i64);
}

template <bool kMax, class V>
std::unique_ptr<Pass> extreme_pass(const AggregateRequest& request, V values) {
  using T = typename V::Type;
  if (request.how == Aggregate::idxmin || request.how == Aggregate::idxmax)
    return pass_to<int64_t>(ExtremeOp<V, kMax, true>{values}, number_type(DType::i64), [](const auto&, const auto& s, int64_t& out) {
      out = s.row;
      return s.any;
    });
  return pass_to<T>(ExtremeOp<V, kMax, false>{values}, request.column.type, [](const auto&, const auto& s, T& out) {
    out = s.value;
    return s.any;
  });
}

template <bool kMax>
std::unique_ptr<Pass> extreme_code_pass(Engine& engine, const AggregateRequest& request, const ColumnData& data) {
  const Column& c = request.column;
  if (c.type.logical == Logical::category && !c.type.ordered)
    throw Error("TypeError", fmt::format("Cannot perform {} with non-ordered Categorical", name_of(request.how)),
                "order the categories: .cat.as_ordered()");
  const int32_t* const ranks = c.type.logical == Logical::text ? c.dictionary->ranks(engine).data() : nullptr;
  ExtremeCodeOp<kMax> op{{data.as<int32_t>(), data.valid}, ranks};
  if (request.how == Aggregate::idxmin || request.how == Aggregate::idxmax)
    return pass_to<int64_t>(op, number_type(DType::i64), [](const auto&, const auto& s, int64_t& out) {
      out = s.row;
      return s.code >= 0;
    });
  return pass(op, [c](Engine& engine, const auto&, const auto* states, int64_t groups) {
    return rows_of(engine, c, [&](int64_t g) { return states[g].code < 0 ? int64_t{-1} : int64_t{states[g].row}; }, groups);
  });
}

}  // namespace

std::unique_ptr<Pass> pass_for(Engine& engine, const AggregateRequest& request, const ColumnData& data) {
  const Column& c = request.column;
  const Aggregate how = request.how;
  const bool codes = c.type.has_codes();
  const auto visit = [&](const auto& f) { return visit_values(c.type, data, f); };
  switch (how) {
    case Aggregate::size:
      return pass_to<int64_t>(SizeOp{}, number_type(DType::i64), [](const auto&, int64_t n, int64_t& out) { return out = n, true; });
    case Aggregate::count: {
      const ColumnType type = number_type(DType::i64, c.type.is_number() && c.type.nullable);
      const auto finish = [](const auto&, int64_t n, int64_t& out) { return out = n, true; };
      if (codes) {
        struct CodeCountOp {
          Values<int32_t> values;
          using State = int64_t;
          State init() const { return 0; }
          void step(State& s, int64_t row) const {
            int32_t code;
            s += values.get(row, code) && code >= 0;
          }
          void merge(State& a, const State& b) const { a += b; }
        };
        return pass_to<int64_t>(CodeCountOp{{data.as<int32_t>(), data.valid}}, type, finish);
      }
      return visit([&](auto values) { return pass_to<int64_t>(CountOp<decltype(values)>{values}, type, finish); });
    }
    case Aggregate::first:
    case Aggregate::last:
      return visit([&](auto values) -> std::unique_ptr<Pass> {
        const auto finish = [c](Engine& engine, const auto&, const int64_t* rows, int64_t groups) {
          return rows_of(engine, c, [&](int64_t g) { return rows[g]; }, groups);
        };
        if (how == Aggregate::first) return pass(EdgeOp<decltype(values), false>{values, codes}, finish);
        return pass(EdgeOp<decltype(values), true>{values, codes}, finish);
      });
    case Aggregate::min:
    case Aggregate::idxmin:
      if (codes) return extreme_code_pass<false>(engine, request, data);
      return visit([&](auto values) { return extreme_pass<false>(request, values); });
    case Aggregate::max:
    case Aggregate::idxmax:
      if (codes) return extreme_code_pass<true>(engine, request, data);
      return visit([&](auto values) { return extreme_pass<true>(request, values); });
    case Aggregate::any:
    case Aggregate::all: {
      if (c.type.logical == Logical::category || c.type.is_time()) refuse_aggregate(c, how);
      const bool all = how == Aggregate::all;
      return visit([&](auto values) {
        return pass_to<bool>(TruthOp<decltype(values)>{values, codes ? c.dictionary.get() : nullptr, all, !request.skip_missing},
                             number_type(DType::boolean, c.type.nullable), [all](const auto&, const auto& s, bool& out) {
                               out = s.found != all;
                               return true;
                             });
      });
    }
    case Aggregate::sum:
      if (codes) refuse_aggregate(c, how);
      return visit([&](auto values) { return sum_pass(c, values); });
    case Aggregate::prod:
      if (codes) refuse_aggregate(c, how);
      return visit([&](auto values) { return product_pass(c, values); });
    case Aggregate::mean:
      if (codes) refuse_aggregate(c, how);
      return visit([&](auto values) { return mean_pass(c, values); });
    case Aggregate::var:
    case Aggregate::std:
    case Aggregate::sem:
    case Aggregate::skew:
      if (codes) refuse_aggregate(c, how);
      return visit([&](auto values) { return float_pass(request, values); });
    default: return nullptr;
  }
}

}  // namespace gasell::frame
