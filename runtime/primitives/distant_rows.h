// Rows of arrays that are on disk, in any order.
//
// Reading such an array at random would read a page of the disk a row. Instead the rows wanted are divided by where in the source they are
// into buckets whose part of it fits in memory; each bucket's values are read, bucket by bucket, and then put where they belong in one pass
// in the order of the result:
//
//   rows 7 0 5 1   in buckets of four: [0 1] [7 5]   their values: [a b] [h f]   in the rows' order: h a f b
//
// Everything but the access within a bucket is sequential.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/primitives/scratch.h"

namespace gasell {

/// Row: int32_t, uint32_t or int64_t.
template <class Row>
class DistantRows {
 public:
  /// The rows are below `sources`, or negative: nothing is read for such a one. They stay valid while this lives. `widest`: of the
  /// elements, in bytes.
  DistantRows(Engine& engine, const Row* rows, int64_t count, int64_t sources, int widest);
  /// to[i] = from[rows[i]], elements of `size` bytes.
  void gather(const void* from, void* to, int size) const;

 private:
  template <class T>
  void gather_as(const T* from, T* to) const;
  /// f(row number, bucket) for the rows of a chunk.
  template <class F>
  void over_chunk(int64_t chunk, const F& f) const;

  Engine& engine_;
  const Row* rows_;
  int64_t count_, chunks_, buckets_;
  int shift_;
  Scratch<uint32_t> listed_;     // bucket by bucket, the rows' places in their bucket
  std::vector<int64_t> places_;  // where each chunk's rows begin in each bucket
  std::vector<int64_t> begins_;  // of the buckets, and the end
};

/// Whether rows of `bytes` from `data` on, which are in the storage, are better taken by way of buckets: they are on disk and more than is
/// used at random at a time. Those on disk that are not so many the disk is asked for now.
bool is_distant(Engine& engine, HostStorage& storage, const void* data, int64_t bytes);

/// to[i] = from[rows[i]] for rows in [0, sources), by way of buckets where that is better. `from` is in the storage.
template <class T, class Row>
void gather_rows(Engine& engine, HostStorage& storage, const T* from, const Row* rows, int64_t count, int64_t sources, T* to) {
  if (is_distant(engine, storage, from, sources * static_cast<int64_t>(sizeof(T))))
    return DistantRows<Row>(engine, rows, count, sources, sizeof(T)).gather(from, to, sizeof(T));
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = from[rows[i]];
  });
}

/// to[places[i]] = value(i), for all places. Where `to` is on disk and more than is used at random at a time, in several passes, each over
/// a range of it.
template <class T, class Place, class F>
void scatter(Engine& engine, const Scratch<T>& to, const Place* places, int64_t count, const F& value) {
  const int64_t bytes = to.size() * static_cast<int64_t>(sizeof(T));
  const int64_t ranges = is_distant(engine, *to.storage(), to.data(), bytes) ? bytes / random_room(engine) + 1 : 1;
  for (int64_t range = 0; range < ranges; ++range) {
    const int64_t low = to.size() * range / ranges, width = to.size() * (range + 1) / ranges - low;
    over_rows(engine, count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (static_cast<uint64_t>(places[i] - low) < static_cast<uint64_t>(width)) to[places[i]] = value(i);
    });
  }
}

}  // namespace gasell
