#include "runtime/frame/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "runtime/frame/dictionary.h"
#include "runtime/frame/filling.h"
#include "runtime/frame/quantiles.h"
#include "runtime/frame/sums.h"
#include "runtime/frame/values.h"

namespace gasell::frame {
namespace {

constexpr int64_t kBlock = 1024;
/// Rows are divided into at most so many parts of at least so many rows, each with states of its own for all groups, which are combined in
/// the parts' order; where that would be more states than these, each thread takes the rows of some of the groups instead.
constexpr int64_t kMostParts = 16, kRowsAPart = 1 << 17, kMostStates = 1 << 19;

/// What one request accumulates.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual void start(Engine& engine, int64_t parts, int64_t groups) = 0;
  virtual void add(int64_t part, int64_t begin, int64_t count, const int32_t* ids) = 0;
  virtual void add(int64_t part, const uint32_t* rows, int64_t count, const int32_t* ids) = 0;
  virtual void combine(int64_t first_group, int64_t last_group) = 0;
  virtual Column finish(Engine& engine) = 0;
};

/// Op: State, init(), step(State&, row), merge(State&, later State), and finish of the whole.
template <class Op>
class PassOf final : public Pass {
 public:
  using State = typename Op::State;
  using Finish = std::function<Column(Engine&, const Op&, const State*, int64_t)>;
  PassOf(Op op, Finish finish) : op_(std::move(op)), finish_(std::move(finish)) {}

  void start(Engine& engine, int64_t parts, int64_t groups) override {
    groups_ = groups;
    parts_ = parts;
    states_ = Scratch<State>(engine, parts * groups);
    fill(engine, states_, op_.init());
  }
  void add(int64_t part, int64_t begin, int64_t count, const int32_t* ids) override {
    State* const states = states_.data() + part * groups_;
    const Op op = op_;
    for (int64_t row = begin; row < begin + count; ++row) op.step(states[ids[row]], row);
  }
  void add(int64_t part, const uint32_t* rows, int64_t count, const int32_t* ids) override {
    State* const states = states_.data() + part * groups_;
    const Op op = op_;
    for (int64_t i = 0; i < count; ++i) op.step(states[ids[rows[i]]], rows[i]);
  }
  void combine(int64_t first_group, int64_t last_group) override {
    for (int64_t part = 1; part < parts_; ++part)
      for (int64_t g = first_group; g < last_group; ++g) op_.merge(states_[g], states_[part * groups_ + g]);
  }
  Column finish(Engine& engine) override { return finish_(engine, op_, states_.data(), groups_); }

 private:
  Op op_;
  Finish finish_;
  Scratch<State> states_;
  int64_t groups_ = 0, parts_ = 1;
};

template <class Op, class Finish>
std::unique_ptr<Pass> pass(Op op, Finish finish) {
  return std::make_unique<PassOf<Op>>(std::move(op), std::move(finish));
}

/// A pass whose results are one value a group: f(state, result) is false where it is missing.
template <class Out, class Op, class F>
std::unique_ptr<Pass> pass_to(Op op, ColumnType type, F f) {
  return pass(std::move(op), [type = std::move(type), f](Engine& engine, const Op& done, const typename Op::State* states, int64_t groups) {
    return filled<Out>(engine, type, groups, [&](int64_t g, Out& value) { return f(done, states[g], value); });
  });
}

// ---- operations ----

struct SizeOp {
  using State = int64_t;
  State init() const { return 0; }
  void step(State& s, int64_t) const { ++s; }
  void merge(State& a, const State& b) const { a += b; }
};

template <class V>
struct CountOp {
  V values;
  using State = int64_t;
  State init() const { return 0; }
  void step(State& s, int64_t row) const {
    typename V::Type v;
    s += values.get(row, v);
  }
  void merge(State& a, const State& b) const { a += b; }
};

template <class V>
struct IntegerSumOp {
  V values;
  struct State {
    uint64_t sum;
  };
  State init() const { return {0}; }
  void step(State& s, int64_t row) const {
    typename V::Type v;
    if (values.get(row, v)) s.sum += static_cast<uint64_t>(static_cast<int64_t>(v));
  }
  void merge(State& a, const State& b) const { a.sum += b.sum; }
};

template <class V>
struct FloatSumOp {
  V values;
  using State = CompensatedSum;
  State init() const { return {}; }
  void step(State& s, int64_t row) const {
    typename V::Type v;
    if (values.get(row, v)) s.add(static_cast<double>(v));
  }
  void merge(State& a, const State& b) const { a.add(b); }
};

__extension__ typedef __int128 WideInteger;

/// The exact sum of integers and their number.
template <class V>
struct IntegerMeanOp {
  V values;
  struct State {
    WideInteger sum;
    int64_t count;
  };
  State init() const { return {0, 0}; }
  void step(State& s, int64_t row) const {
    typename V::Type v;
    if (!values.get(row, v)) return;
    s.sum += v;
    ++s.count;
  }
  void merge(State& a, const State& b) const {
    a.sum += b.sum;
    a.count += b.count;
  }
};

template <class V>
struct FloatMeanOp {
  V values;
  struct State {
    CompensatedSum sum;
    int64_t count;
  };
  State init() const { return {{}, 0}; }
  void step(State& s, int64_t row) const {
    typename V::Type v;
    if (!values.get(row, v)) return;
    s.sum.add(static_cast<double>(v));
    ++s.count;
  }
  void merge(State& a, const State& b) const {
    a.sum.add(b.sum);
    a.count += b.count;
  }
};

template <class V, class Product>
struct ProductOp {
  V values;
  using State = Product;
  State init() const { return 1; }
  void step(State& s, int64_t row) const {
    typename V::Type v;
    if (values.get(row, v)) s *= static_cast<Product>(v);
  }
  void merge(State& a, const State& b) const { a *= b; }
};

/// The least or greatest value, and the first row that has it.
template <class V, bool kMax, bool kRow>
struct ExtremeOp {
  using T = typename V::Type;
  V values;
  struct Plain {
    T value;
    bool any;
  };
  struct WithRow {
    T value;
    bool any;
    uint32_t row;
  };
  using State = std::conditional_t<kRow, WithRow, Plain>;
  State init() const { return {}; }
  void step(State& s, int64_t row) const {
    T v;
    if (!values.get(row, v)) return;
    if (s.any && !(kMax ? v > s.value : v < s.value)) return;
    s.value = v;
    s.any = true;
    if constexpr (kRow) s.row = static_cast<uint32_t>(row);
  }
  void merge(State& a, const State& b) const {
    if (b.any && (!a.any || (kMax ? b.value > a.value : b.value < a.value))) a = b;
  }
};

/// The least or greatest code by rank, of texts and ordered categories.
template <bool kMax>
struct ExtremeCodeOp {
  Values<int32_t> values;
  const int32_t* ranks;  // null: the codes are their ranks
  struct State {
    int32_t code;
    uint32_t row;
  };
  State init() const { return {-1, 0}; }
  bool better(int32_t a, int32_t b) const {
    if (ranks) a = ranks[a], b = ranks[b];
    return kMax ? a > b : a < b;
  }
  void step(State& s, int64_t row) const {
    int32_t code;
    if (!values.get(row, code) || code < 0 || (s.code >= 0 && !better(code, s.code))) return;
    s = {code, static_cast<uint32_t>(row)};
  }
  void merge(State& a, const State& b) const {
    if (b.code >= 0 && (a.code < 0 || better(b.code, a.code))) a = b;
  }
};

/// The first or last row with a value.
template <class V, bool kLast>
struct EdgeOp {
  V values;
  bool codes;
  using State = int64_t;
  State init() const { return -1; }
  void step(State& s, int64_t row) const {
    typename V::Type v;
    if (!kLast && s >= 0) return;
    if (!values.get(row, v)) return;
    if constexpr (std::is_same_v<typename V::Type, int32_t>)
      if (codes && v < 0) return;
    s = row;
  }
  void merge(State& a, const State& b) const {
    if (b >= 0 && (kLast || a < 0)) a = b;
  }
};

template <class V>
struct VarianceOp {
  V values;
  using State = Moments2;
  State init() const { return {}; }
  void step(State& s, int64_t row) const {
    typename V::Type v;
    if (values.get(row, v)) s.add(static_cast<double>(v));
  }
  void merge(State& a, const State& b) const { a.add(b); }
};

template <class V>
struct SkewOp {
  V values;
  using State = Moments3;
  State init() const { return {}; }
  void step(State& s, int64_t row) const {
    typename V::Type v;
    if (values.get(row, v)) s.add(static_cast<double>(v));
  }
  void merge(State& a, const State& b) const { a.add(b); }
};

/// Whether any value is true (of `all`: false), and whether there is any.
template <class V>
struct TruthOp {
  V values;
  const Dictionary* texts;  // codes: non-empty texts are true
  bool is_all, count_missing;
  struct State {
    bool found, any;
  };
  State init() const { return {false, false}; }
  void step(State& s, int64_t row) const {
    typename V::Type v;
    bool present = values.get(row, v);
    bool truth = v != 0;
    if (texts) {
      present = present && static_cast<int64_t>(v) >= 0;
      truth = present && !(*texts)[static_cast<int64_t>(v)].empty();
    }
    if (!present && !count_missing) return;
    if (!present) truth = true;
    s.any = true;
    s.found |= truth != is_all;
  }
  void merge(State& a, const State& b) const {
    a.found |= b.found;
    a.any |= b.any;
  }
};

// ---- requests to passes ----

std::string words_of(const Column& c) {
  switch (c.type.logical) {
    case Logical::text: return "object";
    case Logical::category: return "category";
    case Logical::datetime: return "datetime64";
    case Logical::timedelta: return "timedelta64";
    default: return std::string(gasell::name_of(c.type.dtype));
  }
}

[[noreturn]] void refuse(const Column& c, Aggregate how) {
  if (c.type.logical == Logical::text)
    throw Error("TypeError", fmt::format("agg function failed [how->{},dtype->object]", name_of(how)),
                "select the columns of numbers, or pass numeric_only=True");
  throw Error("TypeError", fmt::format("{} type does not support {} operations", words_of(c), name_of(how)));
}

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
    if (how != Aggregate::std && how != Aggregate::sem) refuse(c, how);
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
    if (c.type.logical == Logical::datetime) refuse(c, Aggregate::sum);
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
    refuse(c, Aggregate::prod);
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
std::unique_ptr<Pass> extreme_code_pass(const AggregateRequest& request, const ColumnData& data) {
  const Column& c = request.column;
  if (c.type.logical == Logical::category && !c.type.ordered)
    throw Error("TypeError", fmt::format("Cannot perform {} with non-ordered Categorical", name_of(request.how)),
                "order the categories: .cat.as_ordered()");
  const int32_t* const ranks = c.type.logical == Logical::text ? c.dictionary->ranks().data() : nullptr;
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

/// pandas gives sums and products of narrow integers the integers' own type where all of them fit.
Column narrowed(Engine& engine, Column wide, const Column& source, Aggregate how) {
  const DType narrow = source.type.dtype;
  if ((how != Aggregate::sum && how != Aggregate::prod) || !source.type.is_number() || !is_integer(narrow) || size_of(narrow) == 8)
    return wide;
  const ColumnData data = read(engine, wide);
  const int bits = 8 * size_of(narrow);
  const int64_t low = kind(narrow) == 'i' ? -(int64_t{1} << (bits - 1)) : 0,
                high = (int64_t{1} << (kind(narrow) == 'i' ? bits - 1 : bits)) - 1;
  for (int64_t g = 0; g < data.count; ++g)
    if (data.as<int64_t>()[g] < low || data.as<int64_t>()[g] > high) return wide;
  wide.values = graph::cast(wide.values, narrow);
  wide.type.dtype = narrow;
  return wide;
}

/// Null where the request is not for one pass over the rows.
std::unique_ptr<Pass> pass_for(const AggregateRequest& request, const ColumnData& data) {
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
      if (codes) return extreme_code_pass<false>(request, data);
      return visit([&](auto values) { return extreme_pass<false>(request, values); });
    case Aggregate::max:
    case Aggregate::idxmax:
      if (codes) return extreme_code_pass<true>(request, data);
      return visit([&](auto values) { return extreme_pass<true>(request, values); });
    case Aggregate::any:
    case Aggregate::all: {
      if (c.type.logical == Logical::category || c.type.is_time()) refuse(c, how);
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
      if (codes) refuse(c, how);
      return visit([&](auto values) { return sum_pass(c, values); });
    case Aggregate::prod:
      if (codes) refuse(c, how);
      return visit([&](auto values) { return product_pass(c, values); });
    case Aggregate::mean:
      if (codes) refuse(c, how);
      return visit([&](auto values) { return mean_pass(c, values); });
    case Aggregate::var:
    case Aggregate::std:
    case Aggregate::sem:
    case Aggregate::skew:
      if (codes) refuse(c, how);
      return visit([&](auto values) { return float_pass(request, values); });
    default: return nullptr;
  }
}

void run(Engine& engine, const Groups& groups, std::vector<Pass*> passes) {
  const int64_t rows = groups.rows(), count = groups.count();
  const int32_t* const ids = groups.ids();
  const int64_t parts = std::clamp<int64_t>(rows / kRowsAPart, 1, kMostParts);
  const bool by_parts = parts * count <= kMostStates;
  for (Pass* p : passes) p->start(engine, by_parts ? parts : 1, count);
  /// Rows of groups [first, last) among [begin, end).
  const auto selected = [&](int64_t part, int64_t begin, int64_t end, int64_t first, int64_t last) {
    const auto low = static_cast<int32_t>(first);
    const auto width = static_cast<uint32_t>(last - first);
    uint32_t found[kBlock];
    for (int64_t b = begin; b < end; b += kBlock) {
      const int64_t e = std::min(end, b + kBlock);
      int64_t n = 0;
      for (int64_t i = b; i < e; ++i) {
        found[n] = static_cast<uint32_t>(i);
        n += static_cast<uint32_t>(ids[i] - low) < width;
      }
      for (Pass* p : passes) p->add(part, found, n, ids);
      if ((b & 0xfffff) == 0) check_interrupt(engine);
    }
  };
  if (by_parts) {
    in_parallel(parts, [&](int64_t part) {
      const int64_t begin = rows * part / parts, end = rows * (part + 1) / parts;
      if (!groups.has_all_rows()) return selected(part, begin, end, 0, count);
      for (int64_t b = begin; b < end; b += kBlock) {
        for (Pass* p : passes) p->add(part, b, std::min(kBlock, end - b), ids);
        if ((b & 0xfffff) < kBlock) check_interrupt(engine);
      }
    });
    over_rows(engine, count, [&](int64_t first, int64_t last) {
      for (Pass* p : passes) p->combine(first, last);
    });
    return;
  }
  const int64_t ranges = threads_of(engine);
  in_parallel(ranges, [&](int64_t range) { selected(0, 0, rows, count * range / ranges, count * (range + 1) / ranges); });
}

/// Makes a result missing where a group has fewer values than asked for.
Column with_min_count(Engine& engine, Column result, Column counts, int64_t min_count) {
  const ColumnData n = read(engine, counts);
  const Scratch<int64_t> rows(engine, n.count);
  bool missing = false;
  for (int64_t g = 0; g < n.count; ++g) {
    rows[g] = n.as<int64_t>()[g] < min_count ? -1 : g;
    missing |= rows[g] < 0;
  }
  return missing ? take(engine, result, rows.data(), n.count, true) : result;
}

}  // namespace

std::string_view name_of(Aggregate how) {
  static constexpr std::string_view kNames[] = {"size",  "count",  "sum",    "prod",   "mean",     "min",    "max",
                                                "first", "last",   "var",    "std",    "sem",      "skew",   "any",
                                                "all",   "idxmin", "idxmax", "median", "quantile", "nunique"};
  return kNames[static_cast<size_t>(how)];
}

std::vector<Column> aggregate(Engine& engine, const Groups& groups, const std::vector<AggregateRequest>& requests) {
  std::vector<AggregateRequest> all = requests;
  std::vector<Column*> columns;
  for (AggregateRequest& r : all) columns.push_back(&r.column);
  force(engine, columns);
  std::vector<std::unique_ptr<Pass>> passes, counts;
  std::vector<Pass*> running;
  std::vector<ColumnData> data;
  for (AggregateRequest& r : all) {
    data.push_back(read(engine, r.column));
    passes.push_back(pass_for(r, data.back()));
    counts.push_back(r.min_count > 0 && passes.back() ? pass_for({Aggregate::count, r.column}, data.back()) : nullptr);
    if (passes.back()) running.push_back(passes.back().get());
    if (counts.back()) running.push_back(counts.back().get());
  }
  if (!running.empty()) run(engine, groups, running);
  std::vector<Column> results;
  for (size_t k = 0; k < all.size(); ++k) {
    const AggregateRequest& r = all[k];
    if (passes[k]) {
      Column result = narrowed(engine, passes[k]->finish(engine), r.column, r.how);
      results.push_back(counts[k] ? with_min_count(engine, std::move(result), counts[k]->finish(engine), r.min_count) : std::move(result));
      passes[k] = nullptr;
    } else if (r.how == Aggregate::nunique)
      results.push_back(distinct_values(engine, groups, r.column, r.skip_missing));
    else {
      if (r.column.type.has_codes()) refuse(r.column, r.how);
      const bool median = r.how == Aggregate::median;
      results.push_back(quantiles(engine, groups, r.column, median ? 0.5 : r.quantile, median ? Interpolation::midpoint : r.interpolation));
    }
  }
  return results;
}

}  // namespace gasell::frame
