#include "runtime/frame/operator_report.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace gasell::frame {
namespace {

std::mutex mutex;
std::function<void(const OperatorReport&)>& observer() {
  static std::function<void(const OperatorReport&)> function;
  return function;
}

std::atomic<int64_t> made_on_disk = 0;

}  // namespace

void note_on_disk(int64_t bytes) noexcept { made_on_disk.fetch_add(bytes, std::memory_order_relaxed); }

std::string counted(size_t count, const char* what) { return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s"); }

void observe_operators(std::function<void(const OperatorReport&)> function) {
  const std::lock_guard lock(mutex);
  observer() = std::move(function);
}

void report_operator(OperatorReport report) {
  const std::lock_guard lock(mutex);
  if (observer()) observer()(report);
}

OperatorTimer::OperatorTimer(const char* name, int64_t rows_in) : name_(name), rows_in_(rows_in), on_disk_(made_on_disk) {
  const std::lock_guard lock(mutex);
  observed_ = static_cast<bool>(observer());
  if (observed_) start_ = std::chrono::steady_clock::now();
}

void OperatorTimer::finish(int64_t rows_out, std::string detail, std::string where) {
  if (!observed_) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  report_operator({name_, std::move(detail), std::move(where), rows_in_, rows_out, seconds, made_on_disk - on_disk_});
}

}  // namespace gasell::frame
