// What calls of script functions take, for %prun.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/source.h"

namespace gasell {

struct FunctionCode;

class CallProfile {
 public:
  struct Row {
    std::string name;  // qualified
    SourceRef source;
    int line = 0;  // of the definition
    int64_t calls = 0;
    double own = 0, total = 0;  // seconds, without and with what it called; a recursion counts once in `total`
  };
  /// A row for each function that was called; those that took longest by themselves first.
  std::vector<Row> rows() const;

  void enter(const FunctionCode& code);
  void leave();

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Row row;
    int active = 0;
  };
  struct Call {
    Entry* entry;
    Clock::time_point begin;
    double inner = 0;  // seconds of what it called
  };
  std::unordered_map<const FunctionCode*, Entry> entries_;
  std::vector<Call> calls_;
};

}  // namespace gasell
