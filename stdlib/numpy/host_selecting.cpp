// Selecting from a long vector without sorting or storing it: a sample says between which values the wanted elements lie, one kernel over
// the vector (and over what it is computed from) says which elements lie there, and only those are sorted.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "runtime/primitives/sort.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/selecting.h"

namespace gasell::numpy {
namespace {

constexpr int64_t kSample = 1 << 14, kSampleOnGpus = 1 << 16;
/// Shorter vectors are sorted sooner.
constexpr int64_t kLong = 1 << 17;
constexpr size_t kManyBrackets = 16;

/// Values between which some of the wanted elements are expected, both included; without `high`, all from `low` on, NaN among them.
struct Bracket {
  Scalar low;
  std::optional<Scalar> high;
};

/// Brackets that rise and do not overlap, each reaching five standard deviations of the sample's ranks to both sides of a place.
/// None where NaN is a bound.
template <class T>
std::vector<Bracket> brackets_of(const std::vector<T>& sample, DType dtype, int64_t count, std::span<const int64_t> places) {
  struct Ranks {
    int64_t low, high;
  };
  const auto last = static_cast<int64_t>(sample.size()) - 1;
  std::vector<Ranks> ranks;
  for (const int64_t place : places) {
    const double share = static_cast<double>(place) / static_cast<double>(count), n = static_cast<double>(last + 1);
    const double middle = share * n, reach = 5 * std::sqrt(share * (1 - share) * n) + 2;
    const Ranks r{static_cast<int64_t>(std::floor(middle - reach)), static_cast<int64_t>(std::ceil(middle + reach))};
    if (!ranks.empty() &&
        (r.low <= ranks.back().high || sample[static_cast<size_t>(r.low)] == sample[static_cast<size_t>(ranks.back().high)]))
      ranks.back().high = std::max(ranks.back().high, r.high);
    else
      ranks.push_back(r);
  }
  const auto at = [&](int64_t rank) {
    const T value = rank < 0 ? std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest()
                             : sample[static_cast<size_t>(rank)];
    return Scalar::load(&value, dtype);
  };
  std::vector<Bracket> brackets;
  for (const Ranks& r : ranks) brackets.push_back({at(r.low), r.high > last ? std::nullopt : std::optional(at(r.high))});
  for (const Bracket& b : brackets)
    if (is_float(dtype) && (std::isnan(b.low.as_double()) || (b.high && std::isnan(b.high->as_double())))) return {};
  return brackets;
}

/// For each element a byte: 2b + 1 in bracket b, 2b below it and above the ones before it.
NodeRef classes_of(const NodeRef& x, const std::vector<Bracket>& brackets) {
  NodeRef sum;
  const auto add_failing = [&](ScalarOp op, const Scalar& bound) {
    const NodeRef fails = graph::map(ScalarOp::logical_not, {graph::map(op, {x, graph::broadcast_to(graph::constant(bound), x->shape)})});
    const NodeRef one = graph::cast(fails, DType::u8);
    sum = sum ? graph::map(ScalarOp::add, {sum, one}) : one;
  };
  for (const Bracket& b : brackets) {
    add_failing(ScalarOp::lt, b.low);
    if (b.high) add_failing(ScalarOp::le, *b.high);
  }
  return sum;
}

/// The elements of an expression at some places, computed from what it is computed from at these places.
NodeRef taken(const NodeRef& x, const NodeRef& places) {
  if (x->as<graph::ConstantNode>()) return graph::constant(x->as<graph::ConstantNode>()->value, places->shape);
  if (const auto* map = x->as<graph::MapNode>()) {
    std::vector<NodeRef> inputs;
    for (const NodeRef& input : x->inputs) inputs.push_back(taken(input, places));
    return graph::map(map->op, inputs);
  }
  if (x->as<graph::CastNode>()) return graph::cast(taken(x->inputs[0], places), x->dtype);
  return graph::gather(x, places);
}

/// The highest bit of each of eight bytes that equals `wanted`.
uint64_t equal_bytes(const char* bytes, int wanted) {
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f, kOnes = 0x0101010101010101;
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  word ^= kOnes * static_cast<uint64_t>(wanted);
  return ~((((word & kLow) + kLow) | word) | kLow);
}

/// How many bytes equal `wanted`.
int64_t count_bytes(const char* bytes, int64_t begin, int64_t end, int wanted) {
  int64_t count = 0, at = begin;
  for (; at + 8 <= end; at += 8) count += std::popcount(equal_bytes(bytes + at, wanted));
  for (; at < end; ++at) count += bytes[at] == wanted;
  return count;
}

/// Where they are, from `to` on.
void place_bytes(const char* bytes, int64_t begin, int64_t end, int wanted, int64_t* to) {
  int64_t at = begin;
  for (; at + 8 <= end; at += 8)
    for (uint64_t equal = equal_bytes(bytes + at, wanted); equal; equal &= equal - 1) *to++ = at + std::countr_zero(equal) / 8;
  for (; at < end; ++at)
    if (bytes[at] == wanted) *to++ = at;
}

/// How many elements are in each class, and where those in a bracket are: by the GPUs that are in use, else by the host's cores.
class InBrackets {
 public:
  InBrackets(Interpreter& in, const NodeRef& classes, size_t brackets) : in_(in), counts_(2 * brackets + 1) {
    classes_ = in.engine().force(classes);
    const auto size = static_cast<int64_t>(counts_.size());
    if (const std::optional<Value> counted = on_gpus(in, "gpu_counted", {wrap_array(classes_), Value::of(size)})) {
      const Array::Elements all = as_array(in, *counted).elements(in.engine());
      for (int64_t c = 0; c < size; ++c) counts_[static_cast<size_t>(c)] = all[c].i;
      return;
    }
    bytes_ = Array(classes_).elements(in.engine());
    parts_.assign(static_cast<size_t>((bytes_->count + kRowsATask - 1) / kRowsATask), std::vector<int64_t>(counts_.size()));
    over_rows(in.engine(), bytes_->count, [&](int64_t begin, int64_t end) {
      std::vector<int64_t>& part = parts_[static_cast<size_t>(begin / kRowsATask)];
      for (size_t c = 0; c < counts_.size(); ++c) part[c] = count_bytes(bytes_->data, begin, end, static_cast<int>(c));
    });
    for (const std::vector<int64_t>& part : parts_)
      for (size_t c = 0; c < counts_.size(); ++c) counts_[c] += part[c];
  }
  int64_t count(size_t number) const { return counts_[number]; }
  /// Null where the GPUs could not say.
  NodeRef places(size_t bracket) const {
    if (!bytes_) {
      const NodeRef number = graph::constant(Scalar::of_int(static_cast<int64_t>(2 * bracket + 1), DType::u8));
      const NodeRef there = graph::map(ScalarOp::eq, {classes_, graph::broadcast_to(number, classes_->shape)});
      const std::optional<Value> found = on_gpus(in_, "gpu_places_where", {wrap_array(there)});
      return found ? as_array(in_, *found).node() : nullptr;
    }
    const size_t number = 2 * bracket + 1;
    HostArray where(in_, DType::i64, {counts_[number]});
    std::vector<int64_t*> begins{where.data<int64_t>()};  // of each part's places
    for (const std::vector<int64_t>& part : parts_) begins.push_back(begins.back() + part[number]);
    over_rows(in_.engine(), bytes_->count, [&](int64_t begin, int64_t end) {
      place_bytes(bytes_->data, begin, end, static_cast<int>(number), begins[static_cast<size_t>(begin / kRowsATask)]);
    });
    return where.value().as<NdArray>()->node();
  }

 private:
  Interpreter& in_;
  NodeRef classes_;
  std::vector<int64_t> counts_;
  std::optional<Array::Elements> bytes_;
  std::vector<std::vector<int64_t>> parts_;  // how many elements of each class are in each part
};

/// Some elements of a vector of `whole` ones, or of an expression, in their order: by the GPUs that are in use, where that is their work,
/// or by the host's cores.
template <class T>
class InOrder {
 public:
  InOrder(Interpreter& in, const NodeRef& x, int64_t whole) : in_(in) {
    if (const std::optional<Value> made = on_gpus(in, "gpu_sorted_part", {wrap_array(x), Value::of(whole)})) {
      on_gpus_ = as_array(in, *made).node();
      return;
    }
    const Array::Elements all = Array(x).elements(in.engine());
    sorted_ = Scratch<T>(in.engine(), all.count);
    sort(in.engine(), x->dtype, all.data, sorted_.data(), all.count);
  }
  T operator[](int64_t place) const {
    T element;
    copy(place, 1, &element);
    return element;
  }
  /// Those from `place` on.
  void copy(int64_t place, int64_t count, T* to) const {
    if (!on_gpus_) {
      std::copy_n(sorted_.data() + place, count, to);
      return;
    }
    const Array::Elements some = Array(graph::view(on_gpus_, {count}, {{0, place, 1}})).elements(in_.engine());
    std::copy_n(reinterpret_cast<const T*>(some.data), count, to);
  }

 private:
  Interpreter& in_;
  NodeRef on_gpus_;
  Scratch<T> sorted_;
};

/// Brackets of what stands at the places of the sorted vector, after a sample of it.
template <class T>
std::vector<Bracket> sampled_brackets(Interpreter& in, const NodeRef& x, std::span<const int64_t> places) {
  const int64_t count = x->size(), step = count / (in.engine().gpus() ? kSampleOnGpus : kSample) | 1;
  const NodeRef every = graph::view(x, {(count + step - 1) / step}, {{0, 0, step}});
  const Array::Elements few = Array(every).elements(in.engine());
  std::vector<T> sample(static_cast<size_t>(few.count));
  sort(in.engine(), x->dtype, few.data, sample.data(), few.count);
  return brackets_of(sample, x->dtype, count, places);
}

/// The places' elements by brackets; false where these hold too many elements or not the right ones.
template <class T>
bool select_between(Interpreter& in, const NodeRef& x, std::span<const int64_t> places, T* to) {
  const int64_t count = x->size();
  const std::vector<Bracket> brackets = sampled_brackets<T>(in, x, places);
  if (brackets.empty() || brackets.size() > kManyBrackets) return false;
  const InBrackets found(in, classes_of(x, brackets), brackets.size());
  int64_t before = 0;
  size_t at = 0;
  for (size_t b = 0; b < brackets.size(); ++b) {
    const int64_t inside = found.count(2 * b + 1);
    before += found.count(2 * b);
    if (inside > count / 4) return false;
    const NodeRef where = found.places(b);
    if (!where) return false;
    const InOrder<T> sorted(in, taken(x, where), count);
    for (; at < places.size() && places[at] < before + inside; ++at) {
      if (places[at] < before) return false;
      to[at] = sorted[places[at] - before];
    }
    before += inside;
  }
  return at == places.size();
}

/// The places that sort `candidates` stably, `count` of them from `begin` on.
void copy_order(Interpreter& in, const NodeRef& candidates, int64_t begin, int64_t count, int64_t* to) {
  if (const std::optional<Value> made = on_gpus(in, "gpu_order", {wrap_array(candidates), Value::of(int64_t{0})})) {
    const Array::Elements some = Array(graph::view(as_array(in, *made).node(), {count}, {{0, begin, 1}})).elements(in.engine());
    std::copy_n(reinterpret_cast<const int64_t*>(some.data), count, to);
    return;
  }
  const Array::Elements all = Array(candidates).elements(in.engine());
  const Scratch<int64_t> order(in.engine(), all.count);
  argsort(in.engine(), candidates->dtype, all.data, order.data(), all.count);
  std::copy_n(order.data() + begin, count, to);
}

/// The part from one bracket around it: the candidates there are sorted, or their places.
template <class T>
bool part_between(Interpreter& in, const NodeRef& x, int64_t begin, int64_t end, bool by_places, void* to) {
  const int64_t ends[] = {begin, end - 1}, count = end - begin;
  const std::vector<Bracket> around = sampled_brackets<T>(in, x, std::span(ends, count == 1 ? 1 : 2));
  if (around.empty()) return false;
  const InBrackets found(in, classes_of(x, {{around.front().low, around.back().high}}), 1);
  const int64_t before = found.count(0), inside = found.count(1);
  if (begin < before || end > before + inside || inside > x->size() / 4) return false;
  const NodeRef where = found.places(0);
  if (!where) return false;
  const NodeRef candidates = taken(x, where);
  if (!by_places) {
    InOrder<T>(in, candidates, x->size()).copy(begin - before, count, static_cast<T*>(to));
    return true;
  }
  auto* const places = static_cast<int64_t*>(to);
  copy_order(in, candidates, begin - before, count, places);
  const Array::Elements all = Array(where).elements(in.engine());
  for (int64_t i = 0; i < count; ++i) places[i] = reinterpret_cast<const int64_t*>(all.data)[places[i]];
  return true;
}

/// Sorting in brackets is for vectors of this length and of these types.
bool has_brackets(const NodeRef& x) {
  return x->rank() == 1 && x->size() >= kLong && !is_complex(x->dtype) && size_of(x->dtype) > 1 && x->dtype != DType::f16;
}

/// Work with elements of the type, as T().
template <class Work>
bool with_bracketed_type(DType dtype, const Work& work) {
  return with_element_type(dtype, [&]<class T>(std::type_identity<T> type) {
    if constexpr (std::is_class_v<T> || sizeof(T) == 1 || std::is_same_v<T, _Float16>)
      return false;
    else
      return work(type);
  });
}

}  // namespace

bool select_from_long(Interpreter& in, const NodeRef& x, std::span<const int64_t> places, void* to) {
  if (!has_brackets(x) || places.size() > static_cast<size_t>(kSample)) return false;
  return with_bracketed_type(x->dtype, [&]<class T>(std::type_identity<T>) { return select_between(in, x, places, static_cast<T*>(to)); });
}

bool has_sorted_parts(const NodeRef& x) { return has_brackets(x); }

bool part_of_sorted(Interpreter& in, const NodeRef& x, int64_t begin, int64_t end, bool by_places, void* to) {
  return has_brackets(x) &&
         with_bracketed_type(x->dtype, [&]<class T>(std::type_identity<T>) { return part_between<T>(in, x, begin, end, by_places, to); });
}

}  // namespace gasell::numpy
