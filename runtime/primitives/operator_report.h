// What the operators of frames did, for --explain: rows, times, and on what.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gasell {

class Trace;

struct OperatorReport {
  std::string name;    // "filter", "gather", "group by", "aggregate", "join", "sort", "window", "scan"
  std::string detail;  // of what: "3 columns", "points.csv"
  std::string where = "host";
  int64_t rows_in = 0, rows_out = 0;
  double seconds = 0;
  int64_t on_disk = 0;                  // bytes of memory that was made on disk meanwhile, the budget being used up
  std::vector<std::string> rules = {};  // which rewrote what it was asked to do
  std::chrono::steady_clock::time_point ended = {};

  std::chrono::steady_clock::time_point started() const {
    return ended - std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  }
};

/// Memory was made on disk.
void note_on_disk(int64_t bytes) noexcept;

/// A rule rewrote what the operator is asked to do that runs on this thread, or else the next one.
void note_rule(const std::string& name);

/// "1 key", "3 keys".
std::string counted(size_t count, const char* what);

/// Calls `observer` with every operator that ran, in this process, as long as this lives.
class OperatorObserver {
 public:
  explicit OperatorObserver(std::function<void(const OperatorReport&)> observer);
  OperatorObserver(const OperatorObserver&) = delete;
  OperatorObserver& operator=(const OperatorObserver&) = delete;
  ~OperatorObserver();

 private:
  int64_t number_;
};

/// An observer that adds operators to a trace.
std::function<void(const OperatorReport&)> operators_to(Trace& trace);

/// Tells the observers; it ended now.
void report_operator(OperatorReport report);

/// Measures an operator from its making to finish(); costs nothing where nobody observes. An operator that throws is not reported.
class OperatorTimer {
 public:
  OperatorTimer(const char* name, int64_t rows_in);
  OperatorTimer(const OperatorTimer&) = delete;
  OperatorTimer& operator=(const OperatorTimer&) = delete;
  bool observed() const { return observed_; }
  void finish(int64_t rows_out, std::string detail = {}, std::string where = "host");

 private:
  const char* name_;
  int64_t rows_in_, on_disk_;
  bool observed_;
  std::vector<std::string> rules_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace gasell
