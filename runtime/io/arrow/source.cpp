#include "runtime/io/arrow/source.h"

#include <cstdio>
#include <utility>

#include "runtime/device/device.h"
#include "runtime/engine.h"

namespace gasell::arrow {

ArrowSource RemoteSource::lend() {
  const auto free = [](void* context) { delete static_cast<RemoteSourceRef*>(context); };
  return {file_->size(), read, free, new RemoteSourceRef(shared_from_this())};
}

void RemoteSource::rethrow() {
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    failure = std::exchange(failure_, nullptr);
  }
  if (failure) std::rethrow_exception(failure);
}

int RemoteSource::read(void* context, int64_t offset, int64_t count, void* into, ArrowProblem* problem) {
  RemoteSource& self = **static_cast<RemoteSourceRef*>(context);
  try {
    self.file_->read(offset, count, static_cast<char*>(into), self.interrupt_);
    return kArrowFine;
  } catch (const std::exception& error) {
    std::snprintf(problem->text, sizeof problem->text, "%s", error.what());
    const std::lock_guard lock(self.mutex_);
    self.failure_ = std::current_exception();
    return kArrowInvalid;
  }
}

RemoteSourceRef remote_source(Engine& engine, const std::string& path, const remote::StorageOptions& storage) {
  if (!remote::is_remote(path)) return nullptr;
  return std::make_shared<RemoteSource>(remote::open(engine, path, storage), engine.interrupt_flag());
}

}  // namespace gasell::arrow
