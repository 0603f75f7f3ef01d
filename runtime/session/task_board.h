// What tasks and their script share by name: counts, and values in their order. Locks, semaphores, events, variables and queues of
// dask.distributed are made of them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/session/parcel.h"

namespace gasell {

/// Nothing here waits: TaskPool::wait_until() tries again until something is so. Called from any thread.
class TaskBoard {
 public:
  using ParcelRef = std::shared_ptr<const Parcel>;

  /// A limit of a count or of the number of values, kept with the name while anything is; the one that was said first.
  int64_t limit(const std::string& name, int64_t wanted);
  std::optional<int64_t> limit(const std::string& name) const;
  int64_t count(const std::string& name) const;
  void set_count(const std::string& name, int64_t count);
  /// Changes a count, unless it would leave 0 … the limit; whether it did.
  bool add(const std::string& name, int64_t change);

  /// Whether there was room below the limit (0: there always is).
  bool push(const std::string& name, ParcelRef value);
  /// Null: there is none.
  ParcelRef pop(const std::string& name);
  ParcelRef first(const std::string& name) const;
  /// The one value from now on.
  void put(const std::string& name, ParcelRef value);
  size_t size(const std::string& name) const;
  void remove(const std::string& name);

 private:
  struct Entry {
    std::optional<int64_t> limit = {};
    int64_t count = 0;
    std::deque<ParcelRef> values = {};
  };
  const Entry* find(const std::string& name) const;

  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

}  // namespace gasell
