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
thread_local std::vector<std::string> noted_rules;

bool has_observers() {
  const std::lock_guard lock(mutex);
  return !observers().empty();
}

}  // namespace

void note_on_disk(int64_t bytes) noexcept { made_on_disk.fetch_add(bytes, std::memory_order_relaxed); }

void note_rule(const std::string& name) {
  if (has_observers()) noted_rules.push_back(name);
}

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
  report.ended = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex);
  for (const auto& [number, observer] : observers()) observer(report);
}

OperatorTimer::OperatorTimer(const char* name, int64_t rows_in)
    : name_(name), rows_in_(rows_in), on_disk_(made_on_disk), observed_(has_observers()) {
  if (!observed_) return;
  rules_ = std::exchange(noted_rules, {});
  start_ = std::chrono::steady_clock::now();
}

void OperatorTimer::finish(int64_t rows_out, std::string detail, std::string where) {
  if (!observed_) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  rules_.insert(rules_.end(), noted_rules.begin(), noted_rules.end());
  noted_rules.clear();
  report_operator({name_, std::move(detail), std::move(where), rows_in_, rows_out, seconds, made_on_disk - on_disk_, std::move(rules_)});
}

}  // namespace gasell
