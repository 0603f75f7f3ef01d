#include "runtime/device/deferred.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "runtime/device/compile_ahead.h"

namespace gasell {
namespace {

std::atomic<int64_t> waiting_parts = 0;

class DeferredStorage final : public HostStorage {
 public:
  DeferredStorage(int64_t bytes, std::function<HostStorageRef()> make, std::function<void()> announce,
                  std::function<HostStorageRef(int64_t begin, int64_t end)> part)
      : make_(std::move(make)), announce_(std::move(announce)), part_(std::move(part)) {
    bytes_ = bytes;
    if (part_) ++waiting_parts;
  }
  ~DeferredStorage() override {
    keep_copies(nullptr);
    if (part_) --waiting_parts;
  }
  bool is_mapped() const override { return is_made_ && made_->is_mapped(); }
  void check() const override {
    if (is_made_) made_->check();
  }
  void release(int64_t begin, int64_t end) override {
    if (is_made_) made_->release(begin, end);
  }
  void expect(int64_t begin, int64_t end) override {
    if (is_made_) made_->expect(begin, end);
  }
  void announce() const override {
    if (announce_) announce_();
  }
  void make() const override {
    const std::lock_guard lock(mutex_);
    if (is_made_) return;
    const CompilingAhead runs(false);  // contents stay, whoever wants them
    made_ = make_();
    make_ = nullptr;
    announce_ = nullptr;
    if (std::exchange(part_, nullptr)) --waiting_parts;
    is_made_ = true;
  }
  HostStorageRef part(int64_t begin, int64_t end) const override {
    const std::lock_guard lock(mutex_);
    const CompilingAhead runs(false);
    return part_ ? part_(begin, end) : nullptr;
  }
  HostStorageRef made() const override { return is_made_ ? made_ : nullptr; }

 private:
  void provide() const override {
    make();
    const std::lock_guard lock(mutex_);
    if (!data_.load(std::memory_order_relaxed)) data_.store(const_cast<void*>(made_->read()), std::memory_order_release);
  }

  mutable std::mutex mutex_;
  mutable std::function<HostStorageRef()> make_;
  mutable std::function<void()> announce_;
  mutable std::function<HostStorageRef(int64_t begin, int64_t end)> part_;
  mutable HostStorageRef made_;
  mutable std::atomic<bool> is_made_ = false;  // made_ stays as it is then
};

}  // namespace

bool any_part_waits() { return waiting_parts.load(std::memory_order_relaxed) > 0; }

HostStorageRef deferred(int64_t bytes, std::function<HostStorageRef()> make, std::function<void()> announce,
                        std::function<HostStorageRef(int64_t begin, int64_t end)> part) {
  return std::make_shared<DeferredStorage>(bytes, std::move(make), std::move(announce), std::move(part));
}

void make_ready(std::vector<StorageRef>& storages) {
  std::vector<const HostStorage*> waiting;
  for (const StorageRef& s : storages)
    if (const auto* host = static_cast<const HostStorage*>(s.get()); host->is_waiting()) waiting.push_back(host);
  for (const HostStorage* s : waiting) s->announce();
  for (const HostStorage* s : waiting) s->make();
  for (StorageRef& s : storages)
    if (HostStorageRef made = static_cast<const HostStorage*>(s.get())->made()) s = std::move(made);
}

}  // namespace gasell
