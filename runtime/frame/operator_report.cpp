#include "runtime/frame/operator_report.h"

#include <mutex>
#include <utility>

namespace gasell::frame {
namespace {

std::mutex mutex;
std::function<void(const OperatorReport&)>& observer() {
  static std::function<void(const OperatorReport&)> function;
  return function;
}

}  // namespace

void observe_operators(std::function<void(const OperatorReport&)> function) {
  const std::lock_guard lock(mutex);
  observer() = std::move(function);
}

void report_operator(OperatorReport report) {
  const std::lock_guard lock(mutex);
  if (observer()) observer()(report);
}

OperatorTimer::OperatorTimer(const char* name, int64_t rows_in) : name_(name), rows_in_(rows_in) {
  const std::lock_guard lock(mutex);
  observed_ = static_cast<bool>(observer());
  if (observed_) start_ = std::chrono::steady_clock::now();
}

void OperatorTimer::finish(int64_t rows_out, std::string detail, std::string where) {
  if (!observed_) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  report_operator({name_, std::move(detail), std::move(where), rows_in_, rows_out, seconds});
}

}  // namespace gasell::frame
