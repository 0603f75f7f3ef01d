// What the aggregates accumulate of one group's rows. An operation has a State, init(), step(State&, row) and merge(State&, later State).
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/frame/dictionary.h"
#include "runtime/frame/exact_sums.h"
#include "runtime/frame/sums.h"
#include "runtime/frame/values.h"

namespace gasell::frame {

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

}  // namespace gasell::frame
