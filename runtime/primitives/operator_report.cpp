#include "runtime/primitives/operator_report.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/device/trace.h"

namespace gasell {
namespace {

std::mutex mutex;
std::map<int64_t, std::function<void(const OperatorReport&)>>& observers() {
  static std::map<int64_t, std::function<void(const OperatorReport&)>> functions;
  return functions;
}

std::atomic<int64_t> made_on_disk = 0;

}  // namespace

void note_on_disk(int64_t bytes) noexcept { made_on_disk.fetch_add(bytes, std::memory_order_relaxed); }

std::string counted(size_t count, const char* what) { return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s"); }

OperatorObserver::OperatorObserver(std::function<void(const OperatorReport&)> observer) {
  static int64_t count = 0;
  const std::lock_guard lock(mutex);
  number_ = count++;
  observers().emplace(number_, std::move(observer));
}

OperatorObserver::~OperatorObserver() {
  const std::lock_guard lock(mutex);
  observers().erase(number_);
}

std::function<void(const OperatorReport&)> operators_to(Trace& trace) {
  return [&trace](const OperatorReport& report) {
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    trace.add({TraceEvent::Kind::frame, report.detail.empty() ? report.name : report.name + " " + report.detail,
               report.where == "host" ? "cpu" : report.where, now - report.seconds, now, 0});
  };
}

void report_operator(OperatorReport report) {
  const std::lock_guard lock(mutex);
  for (const auto& [number, observer] : observers()) observer(report);
}

OperatorTimer::OperatorTimer(const char* name, int64_t rows_in) : name_(name), rows_in_(rows_in), on_disk_(made_on_disk) {
  const std::lock_guard lock(mutex);
  observed_ = !observers().empty();
  if (observed_) start_ = std::chrono::steady_clock::now();
}

void OperatorTimer::finish(int64_t rows_out, std::string detail, std::string where) {
  if (!observed_) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  report_operator({name_, std::move(detail), std::move(where), rows_in_, rows_out, seconds, made_on_disk - on_disk_});
}

}  // namespace gasell
