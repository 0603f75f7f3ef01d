#include "runtime/primitives/distant_rows.h"

#include <bit>
#include <utility>

namespace gasell {
namespace {

/// Each bucket is a stream that is written, which holds a page or two.
constexpr int64_t kMostBuckets = 4096;
constexpr int64_t kRowsBetweenChecks = 1 << 20;

}  // namespace

template <class Row>
template <class F>
void DistantRows<Row>::over_chunk(int64_t chunk, const F& f) const {
  for (int64_t i = count_ * chunk / chunks_, end = count_ * (chunk + 1) / chunks_; i < end;) {
    check_interrupt(engine_);
    for (const int64_t stop = std::min(end, i + kRowsBetweenChecks); i < stop; ++i)
      if (rows_[i] >= Row{0}) f(i, static_cast<int64_t>(rows_[i]) >> shift_);
  }
}

template <class Row>
DistantRows<Row>::DistantRows(Engine& engine, const Row* rows, int64_t count, int64_t sources, int widest)
    : engine_(engine), rows_(rows), count_(count), chunks_(std::clamp<int64_t>(count / kRowsATask, 1, threads_of(engine))) {
  const int64_t a_bucket = std::max(random_room(engine) / (widest * threads_of(engine)), sources / kMostBuckets + 1);
  shift_ = std::min(31, static_cast<int>(std::bit_width(static_cast<uint64_t>(a_bucket))) - 1);
  buckets_ = (sources >> shift_) + 1;
  places_.assign(static_cast<size_t>(chunks_ * buckets_), 0);
  in_parallel(chunks_, [&](int64_t chunk) {
    int64_t* const counts = &places_[static_cast<size_t>(chunk * buckets_)];
    over_chunk(chunk, [&](int64_t, int64_t bucket) { ++counts[bucket]; });
  });
  int64_t sum = 0;
  for (int64_t bucket = 0; bucket < buckets_; ++bucket) {
    begins_.push_back(sum);
    for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
      int64_t& place = places_[static_cast<size_t>(chunk * buckets_ + bucket)];
      place = std::exchange(sum, sum + place);
    }
  }
  begins_.push_back(sum);
  listed_ = Scratch<uint32_t>(engine, sum);
  const uint64_t mask = (uint64_t{1} << shift_) - 1;
  in_parallel(chunks_, [&](int64_t chunk) {
    std::vector<int64_t> next(places_.begin() + chunk * buckets_, places_.begin() + (chunk + 1) * buckets_);
    over_chunk(chunk, [&](int64_t i, int64_t bucket) {
      listed_[next[static_cast<size_t>(bucket)]++] = static_cast<uint32_t>(static_cast<uint64_t>(rows_[i]) & mask);
    });
  });
}

template <class Row>
template <class T>
void DistantRows<Row>::gather_as(const T* from, T* to) const {
  const Scratch<T> values(engine_, listed_.size());
  in_parallel(buckets_, [&](int64_t bucket) {
    check_interrupt(engine_);
    const T* const source = from + (bucket << shift_);
    for (int64_t k = begins_[static_cast<size_t>(bucket)]; k < begins_[static_cast<size_t>(bucket + 1)]; ++k)
      values[k] = source[listed_[k]];
  });
  in_parallel(chunks_, [&](int64_t chunk) {
    std::vector<int64_t> next(places_.begin() + chunk * buckets_, places_.begin() + (chunk + 1) * buckets_);
    over_chunk(chunk, [&](int64_t i, int64_t bucket) { to[i] = values[next[static_cast<size_t>(bucket)]++]; });
  });
}

template <class Row>
void DistantRows<Row>::gather(const void* from, void* to, int size) const {
  struct Pair {
    uint64_t a, b;
  };
  const auto as = [&]<class T>(T) { gather_as(static_cast<const T*>(from), static_cast<T*>(to)); };
  switch (size) {
    case 1: return as(uint8_t{});
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    case 8: return as(uint64_t{});
    default: return as(Pair{});
  }
}

template class DistantRows<int32_t>;
template class DistantRows<uint32_t>;
template class DistantRows<int64_t>;

bool is_distant(Engine& engine, HostStorage& storage, const void* data, int64_t bytes) {
  if (!storage.is_mapped()) return false;
  if (bytes > random_room(engine)) return true;
  const int64_t begin = static_cast<const char*>(data) - static_cast<const char*>(storage.host_memory());
  storage.expect(begin, begin + bytes);
  return false;
}

}  // namespace gasell
