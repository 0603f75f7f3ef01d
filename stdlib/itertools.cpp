// itertools.
#include <algorithm>
#include <new>
#include <numeric>

#include "runtime/session/iterators.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;
using Next = std::function<std::optional<Value>(Interpreter&)>;

/// The type of an iterator of this module, by name: made once, kept for the process.
template <size_t N>
struct Name {
  char text[N];
  constexpr Name(const char (&s)[N]) { std::copy_n(s, N, text); }
};
template <Name name>
Value iterator(Next next) {
  static const Type type{name.text, "itertools", &object_type(), {}, {}};
  return make_iterator(type, std::move(next));
}

Value call_with(Interpreter& in, const Value& f, std::vector<Value> args) { return call(in, f, Arguments{std::move(args), {}}); }

Value count(Interpreter&, Args args) {
  for (const Value& v : args) {
    if (v.as<Str>() || v.is_none()) raise("TypeError", "a number is required");
  }
  return iterator<"count">([value = args[0], step = args[1]](Interpreter& in) mutable -> std::optional<Value> {
    Value current = value;
    value = binary(in, ast::BinaryOp::add, value, step);
    return current;
  });
}

Value cycle(Interpreter& in, Args args) {
  return iterator<"cycle">(
      [source = iterate(in, args[0]), seen = std::vector<Value>(), at = size_t{0}, ended = false](Interpreter& in) mutable {
        if (!ended) {
          if (auto v = next(in, source)) {
            seen.push_back(*v);
            return v;
          }
          ended = true;
        }
        if (seen.empty()) return std::optional<Value>();
        at = at == seen.size() ? 0 : at;
        return std::optional<Value>(seen[at++]);
      });
}

/// The iterator of repeat(); without a count it has no end.
class Repeat final : public Object {
 public:
  Repeat(Value value, std::optional<int64_t> left) : value_(std::move(value)), left_(left) {}
  const Type& type() const override {
    static const Type type{"repeat", "itertools", &object_type(), {}, {}};
    return type;
  }
  std::string repr(Interpreter& in) override {
    return "repeat(" + gasell::repr(in, value_) + (left_ ? ", " + std::to_string(*left_) : "") + ")";
  }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter&) override {
    if (left_ && *left_ == 0) return std::nullopt;
    if (left_) --*left_;
    return value_;
  }
  std::optional<int64_t> items_left() const override { return left_; }

 private:
  Value value_;
  std::optional<int64_t> left_;
};

Value repeat(Interpreter& in, Args args) {
  if (is_missing(args[1])) return Value::make<Repeat>(args[0], std::nullopt);
  return Value::make<Repeat>(args[0], std::max<int64_t>(to_index(in, args[1]), 0));
}

Value accumulate(Interpreter& in, Args args) {
  return iterator<"accumulate">(
      [source = iterate(in, args[0]), f = args[1], total = args[2], started = false](Interpreter& in) mutable -> std::optional<Value> {
        if (!started) {
          started = true;
          if (!total.is_none()) return total;
          auto first = next(in, source);
          if (first) total = *first;
          return first;
        }
        const auto v = next(in, source);
        if (!v) return std::nullopt;
        total = f.is_none() ? binary(in, ast::BinaryOp::add, total, *v) : call_with(in, f, {total, *v});
        return total;
      });
}

Next chained(Value sources) {
  return [sources = std::move(sources), current = std::optional<Value>()](Interpreter& in) mutable -> std::optional<Value> {
    while (true) {
      if (current) {
        if (auto v = next(in, *current)) return v;
      }
      const auto source = next(in, sources);
      if (!source) return std::nullopt;
      current = iterate(in, *source);
    }
  };
}

const Type& chain_type() {
  static const NativeFunction constructor{"chain", "*iterables",
                                          [](Interpreter& in, Args a) { return make_iterator(chain_type(), chained(iterate(in, a[0]))); },
                                          "The items of one iterable after the other."};
  static const Type type{
      "chain",
      "itertools",
      &object_type(),
      {},
      {},
      &constructor,
      {{"from_iterable", "iterable, /", [](Interpreter& in, Args a) { return make_iterator(chain_type(), chained(iterate(in, a[0]))); },
        "As chain, the iterables taken from an iterable."}}};
  return type;
}

Value product(Interpreter& in, Args args) {
  std::vector<std::vector<Value>> pools;
  for (const Value& v : args[0].as<Tuple>()->items) pools.push_back(to_vector(in, v));
  const int64_t repeat = to_index(in, args[1]);
  if (repeat < 0) raise("ValueError", "repeat argument cannot be negative");
  const size_t width = pools.size();
  size_t bytes = 0;
  for (const auto& pool : pools) bytes += sizeof(pool) + pool.size() * sizeof(Value);
  require_memory(in, repeat, bytes);
  for (int64_t r = 1; width > 0 && r < repeat; ++r) {
    for (size_t i = 0; i < width; ++i) pools.push_back(std::vector<Value>(pools[i]));
  }
  if (repeat == 0) pools.clear();
  const bool none = std::any_of(pools.begin(), pools.end(), [](const auto& p) { return p.empty(); });
  std::vector<size_t> at(pools.size(), 0);
  return iterator<"product">([pools = std::move(pools), at = std::move(at), ended = none](Interpreter&) mutable -> std::optional<Value> {
    if (ended) return std::nullopt;
    std::vector<Value> items;
    for (size_t i = 0; i < pools.size(); ++i) items.push_back(pools[i][at[i]]);
    size_t i = pools.size();
    while (i > 0 && ++at[i - 1] == pools[i - 1].size()) at[--i] = 0;
    ended = i == 0;
    return make_tuple(std::move(items));
  });
}

Value pick(const std::vector<Value>& pool, const std::vector<size_t>& at, size_t count) {
  std::vector<Value> items;
  for (size_t i = 0; i < count; ++i) items.push_back(pool[at[i]]);
  return make_tuple(std::move(items));
}

int64_t length_argument(Interpreter& in, const Value& v, int64_t otherwise) {
  if (v.is_none()) return otherwise;
  const int64_t r = to_index(in, v);
  if (r < 0) raise("ValueError", "r must be non-negative");
  require_memory(in, r, sizeof(Value));
  return r;
}

Value permutations(Interpreter& in, Args args) {
  std::vector<Value> pool = to_vector(in, args[0]);
  const size_t n = pool.size(), r = static_cast<size_t>(length_argument(in, args[1], static_cast<int64_t>(n)));
  std::vector<size_t> at(n);
  std::iota(at.begin(), at.end(), size_t{0});
  return iterator<"permutations">(
      [pool = std::move(pool), at = std::move(at), r, ended = r > n](Interpreter&) mutable -> std::optional<Value> {
        if (ended) return std::nullopt;
        Value v = pick(pool, at, r);
        // The next arrangement of the first r: what follows them in ascending order is turned round first.
        std::reverse(at.begin() + static_cast<int64_t>(r), at.end());
        ended = !std::next_permutation(at.begin(), at.end());
        return v;
      });
}

template <bool with_repetition>
Next combined(std::vector<Value> pool, size_t r) {
  const size_t n = pool.size();
  const bool none = with_repetition ? n == 0 && r > 0 : r > n;
  if (!none && r > std::vector<size_t>().max_size()) throw std::bad_alloc();
  std::vector<size_t> at(none ? 0 : r, 0);
  if (!with_repetition) std::iota(at.begin(), at.end(), size_t{0});
  return [pool = std::move(pool), at = std::move(at), n, r, ended = none](Interpreter&) mutable -> std::optional<Value> {
    if (ended) return std::nullopt;
    Value v = pick(pool, at, r);
    size_t i = r;
    while (i > 0 && at[i - 1] == (with_repetition ? n - 1 : n - r + i - 1)) --i;
    ended = i == 0;
    if (!ended) {
      const size_t first = ++at[i - 1];
      for (size_t k = i; k < r; ++k) at[k] = with_repetition ? first : at[k - 1] + 1;
    }
    return v;
  };
}

Value combinations(Interpreter& in, Args args) {
  return iterator<"combinations">(combined<false>(to_vector(in, args[0]), static_cast<size_t>(length_argument(in, args[1], 0))));
}
Value combinations_with_replacement(Interpreter& in, Args args) {
  return iterator<"combinations_with_replacement">(
      combined<true>(to_vector(in, args[0]), static_cast<size_t>(length_argument(in, args[1], 0))));
}

Value islice(Interpreter& in, Args args) {
  const auto& bounds = args[1].as<Tuple>()->items;
  if (bounds.empty() || bounds.size() > 3)
    raise("TypeError", "islice expected at least 2 arguments, got " + std::to_string(bounds.size() + 1));
  const auto bound = [&](size_t i, int64_t otherwise, const char* what) {
    if (i >= bounds.size() || bounds[i].is_none()) return otherwise;
    const bool whole = bounds[i].is_int() || bounds[i].is_bool();
    if (!whole || bounds[i].as_int() < 0) raise("ValueError", what);
    return bounds[i].as_int();
  };
  constexpr const char* kStop = "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.";
  constexpr const char* kAny = "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.";
  const bool only_stop = bounds.size() == 1;
  const int64_t start = only_stop ? 0 : bound(0, 0, kAny), stop = bound(only_stop ? 0 : 1, INT64_MAX, only_stop ? kStop : kAny);
  const int64_t step = bound(2, 1, "Step for islice() must be a positive integer or None.");
  if (step < 1) raise("ValueError", "Step for islice() must be a positive integer or None.");
  return iterator<"islice">(
      [source = iterate(in, args[0]), at = int64_t{0}, wanted = start, stop, step](Interpreter& in) mutable -> std::optional<Value> {
        if (wanted >= stop) {
          for (; at < stop && at < wanted; ++at) {
            if (!next(in, source)) break;
          }
          at = stop;
          return std::nullopt;
        }
        for (; at < wanted; ++at) {
          if (!next(in, source)) {
            wanted = stop;
            return std::nullopt;
          }
        }
        auto v = next(in, source);
        ++at;
        wanted = v && wanted <= INT64_MAX - step ? wanted + step : stop;
        return v;
      });
}

Value takewhile(Interpreter& in, Args args) {
  return iterator<"takewhile">(
      [test = args[0], source = iterate(in, args[1]), ended = false](Interpreter& in) mutable -> std::optional<Value> {
        if (ended) return std::nullopt;
        auto v = next(in, source);
        ended = !v || !truth(in, call_with(in, test, {*v}));
        return ended ? std::nullopt : v;
      });
}

Value dropwhile(Interpreter& in, Args args) {
  return iterator<"dropwhile">(
      [test = args[0], source = iterate(in, args[1]), started = false](Interpreter& in) mutable -> std::optional<Value> {
        auto v = next(in, source);
        while (!started && v && truth(in, call_with(in, test, {*v}))) v = next(in, source);
        started = true;
        return v;
      });
}

Value filterfalse(Interpreter& in, Args args) {
  return iterator<"filterfalse">([test = args[0], source = iterate(in, args[1])](Interpreter& in) -> std::optional<Value> {
    while (auto v = next(in, source)) {
      if (!truth(in, test.is_none() ? *v : call_with(in, test, {*v}))) return v;
    }
    return std::nullopt;
  });
}

Value compress(Interpreter& in, Args args) {
  return iterator<"compress">([data = iterate(in, args[0]), selectors = iterate(in, args[1])](Interpreter& in) -> std::optional<Value> {
    while (true) {
      auto v = next(in, data);
      const auto selected = v ? next(in, selectors) : std::nullopt;
      if (!selected) return std::nullopt;
      if (truth(in, *selected)) return v;
    }
  });
}

Value starmap(Interpreter& in, Args args) {
  return iterator<"starmap">([f = args[0], source = iterate(in, args[1])](Interpreter& in) -> std::optional<Value> {
    const auto v = next(in, source);
    if (!v) return std::nullopt;
    return call_with(in, f, to_vector(in, *v));
  });
}

Value zip_longest(Interpreter& in, Args args) {
  std::vector<std::optional<Value>> sources;
  for (const Value& v : args[0].as<Tuple>()->items) sources.emplace_back(iterate(in, v));
  return iterator<"zip_longest">([sources = std::move(sources), filler = args[1]](Interpreter& in) mutable -> std::optional<Value> {
    std::vector<Value> items;
    bool any = false;
    for (auto& source : sources) {
      auto v = source ? next(in, *source) : std::nullopt;
      any |= v.has_value();
      if (!v) source.reset();
      items.push_back(v ? std::move(*v) : filler);
    }
    if (!any) return std::nullopt;
    return make_tuple(std::move(items));
  });
}

Value pairwise(Interpreter& in, Args args) {
  return iterator<"pairwise">(
      [source = iterate(in, args[0]), before = std::optional<Value>()](Interpreter& in) mutable -> std::optional<Value> {
        if (!before) before = next(in, source);
        if (!before) return std::nullopt;
        auto v = next(in, source);
        if (!v) return std::nullopt;
        Value pair = make_tuple({*before, *v});
        before = std::move(v);
        return pair;
      });
}

Value tee(Interpreter& in, Args args) {
  struct Shared {
    Value source;
    std::vector<Value> seen;
  };
  const int64_t n = to_index(in, args[1]);
  if (n < 0) raise("ValueError", "n must be >= 0");
  constexpr size_t kBytesEach = 128;  // an iterator
  require_memory(in, n, kBytesEach);
  auto shared = std::make_shared<Shared>(Shared{iterate(in, args[0]), {}});
  std::vector<Value> copies;
  for (int64_t i = 0; i < n; ++i) {
    copies.push_back(iterator<"_tee">([shared, at = size_t{0}](Interpreter& in) mutable -> std::optional<Value> {
      if (at == shared->seen.size()) {
        auto v = next(in, shared->source);
        if (!v) return std::nullopt;
        shared->seen.push_back(std::move(*v));
      }
      return shared->seen[at++];
    }));
  }
  return make_tuple(std::move(copies));
}

/// The groups share their source: a group ends when the outer iterator moves on.
struct Groups {
  Value source, key;
  std::optional<Value> item, item_key;  // read, not yet given away
  Value current;                        // key of the group at hand
  int64_t generation = 0;

  bool advance(Interpreter& in) {
    item = next(in, source);
    if (item) item_key = key.is_none() ? *item : call_with(in, key, {*item});
    return item.has_value();
  }
};

Value groupby(Interpreter& in, Args args) {
  auto shared = std::make_shared<Groups>(Groups{iterate(in, args[0]), args[1], {}, {}, {}, 0});
  return iterator<"groupby">([shared, started = false](Interpreter& in) mutable -> std::optional<Value> {
    Groups& g = *shared;
    if (!g.item && !g.advance(in)) return std::nullopt;
    while (started && equal(in, *g.item_key, g.current)) {
      if (!g.advance(in)) return std::nullopt;
    }
    started = true;
    g.current = *g.item_key;
    const int64_t mine = ++g.generation;
    Value group = iterator<"_grouper">([shared, mine](Interpreter& in) -> std::optional<Value> {
      Groups& g = *shared;
      if (g.generation != mine) return std::nullopt;
      if (!g.item && !g.advance(in)) return std::nullopt;
      if (!equal(in, *g.item_key, g.current)) return std::nullopt;
      return std::exchange(g.item, std::nullopt);
    });
    return make_tuple({g.current, group});
  });
}

}  // namespace

Value make_itertools(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"count", "start=0, step=1", count, "start, start + step, … without end."},
      {"cycle", "iterable, /", cycle, "The items over and over."},
      {"repeat", "object, times=missing", repeat, "The object, endlessly or times times."},
      {"accumulate", "iterable, func=None, *, initial=None", accumulate, "Running totals."},
      {"product", "*iterables, repeat=1", product, "The Cartesian product, as tuples."},
      {"permutations", "iterable, r=None", permutations, "Arrangements of r items, as tuples."},
      {"combinations", "iterable, r", combinations, "Choices of r items in order, as tuples."},
      {"combinations_with_replacement", "iterable, r", combinations_with_replacement, "As combinations, items may repeat."},
      {"islice", "iterable, *args", islice, "Items selected by start, stop, step."},
      {"takewhile", "predicate, iterable, /", takewhile, "Items as long as a test is true."},
      {"dropwhile", "predicate, iterable, /", dropwhile, "Items from where a test is false."},
      {"filterfalse", "function, iterable, /", filterfalse, "Items for which a test is false."},
      {"compress", "data, selectors", compress, "Items whose selector is true."},
      {"starmap", "function, iterable, /", starmap, "function(*args) for each tuple."},
      {"zip_longest", "*iterables, fillvalue=None", zip_longest, "As zip, to the end of the longest."},
      {"pairwise", "iterable, /", pairwise, "Each item with the one after it."},
      {"tee", "iterable, n=2, /", tee, "n independent iterators over one."},
      {"groupby", "iterable, key=None", groupby, "(key, group) of neighbours with an equal key."},
  };
  Value module = make_module("itertools", table);
  set_member(module, "chain", type_object(chain_type()));
  return module;
}

}  // namespace gasell
