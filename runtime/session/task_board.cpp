#include "runtime/session/task_board.h"

#include <utility>

namespace gasell {

const TaskBoard::Entry* TaskBoard::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

int64_t TaskBoard::limit(const std::string& name, int64_t wanted) {
  const std::lock_guard lock(mutex_);
  std::optional<int64_t>& known = entries_[name].limit;
  if (!known) known = wanted;
  return *known;
}

std::optional<int64_t> TaskBoard::limit(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const Entry* entry = find(name);
  return entry ? entry->limit : std::nullopt;
}

int64_t TaskBoard::count(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const Entry* entry = find(name);
  return entry ? entry->count : 0;
}

void TaskBoard::set_count(const std::string& name, int64_t count) {
  const std::lock_guard lock(mutex_);
  entries_[name].count = count;
}

bool TaskBoard::add(const std::string& name, int64_t change) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[name];
  const int64_t changed = entry.count + change;
  if (changed < 0 || (entry.limit && changed > *entry.limit)) return false;
  entry.count = changed;
  return true;
}

bool TaskBoard::push(const std::string& name, ParcelRef value) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[name];
  if (entry.limit.value_or(0) > 0 && entry.values.size() >= static_cast<size_t>(*entry.limit)) return false;
  entry.values.push_back(std::move(value));
  return true;
}

TaskBoard::ParcelRef TaskBoard::pop(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.values.empty()) return nullptr;
  ParcelRef value = std::move(found->second.values.front());
  found->second.values.pop_front();
  return value;
}

TaskBoard::ParcelRef TaskBoard::first(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const Entry* entry = find(name);
  return entry && !entry->values.empty() ? entry->values.front() : nullptr;
}

void TaskBoard::put(const std::string& name, ParcelRef value) {
  std::deque<ParcelRef> before;  // goes without the lock
  const std::lock_guard lock(mutex_);
  before.swap(entries_[name].values);
  entries_[name].values.push_back(std::move(value));
}

size_t TaskBoard::size(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const Entry* entry = find(name);
  return entry ? entry->values.size() : 0;
}

void TaskBoard::remove(const std::string& name) {
  Entry before;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  before = std::move(found->second);
  entries_.erase(found);
}

}  // namespace gasell
