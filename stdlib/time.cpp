// time: clocks, sleep, strftime.
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "runtime/device/sandbox.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "runtime/session/script_threads.h"
#include "runtime/session/str.h"
#include "runtime/session/task_pool.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"
#include "stdlib/named_tuple.h"
#include "stdlib/struct_time.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

template <clockid_t clock>
int64_t nanoseconds() {
  require_clock("reading clocks");
  ::timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}
template <clockid_t clock>
Value seconds_of(Interpreter&, Args) {
  return Value::of(static_cast<double>(nanoseconds<clock>()) * 1e-9);
}
template <clockid_t clock>
Value nanoseconds_of(Interpreter&, Args) {
  return Value::of(nanoseconds<clock>());
}

/// Sleeps in short steps, so that Ctrl-C ends it at once.
Value sleep(Interpreter& in, Args args) {
  const double seconds = to_double(in, args[0]);
  if (std::isnan(seconds)) raise("ValueError", "Invalid value NaN (not a number)");
  if (seconds < 0) raise("ValueError", "sleep length must be non-negative");
  if (seconds > 1e9) raise("OverflowError", "timestamp out of range for platform time_t");
  using Clock = std::chrono::steady_clock;
  const LeavesTurn leaves(Evaluator::session(in));
  if (const auto& threads = Evaluator::session(in).threads; threads && threads->several()) {
    if (seconds == 0) threads->pause();
    threads->wait({}, seconds);
    return {};
  }
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (Clock::now() < end) {
    if (in.engine().interrupted()) {
      in.engine().clear_interrupt();
      throw Interrupted();
    }
    std::this_thread::sleep_for(std::min<Clock::duration>(end - Clock::now(), std::chrono::milliseconds(20)));
  }
  return {};
}

std::tm broken_down(Interpreter& in, const Value& when, bool local) {
  if (is_missing(when) || when.is_none()) require_clock("reading clocks");
  const std::time_t t =
      is_missing(when) || when.is_none() ? std::time(nullptr) : static_cast<std::time_t>(float_to_int(std::floor(to_double(in, when))));
  std::tm out{};
  if (local)
    ::localtime_r(&t, &out);
  else
    ::gmtime_r(&t, &out);
  return out;
}

Value as_tuple(const std::tm& t) {
  return struct_time(
      {t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (t.tm_wday + 6) % 7, t.tm_yday + 1, t.tm_isdst});
}

std::tm from_tuple(Interpreter& in, const Value& v) {
  const auto* t = v.as<Tuple>();
  if (!t) raise("TypeError", "Tuple or struct_time argument required");
  if (t->items.size() != 9) raise("TypeError", "time tuple must have exactly 9 numbers");
  int n[9];
  for (size_t i = 0; i < 9; ++i) n[i] = static_cast<int>(to_index(in, t->items[i]));
  std::tm out{};
  out.tm_year = n[0] - 1900, out.tm_mon = n[1] - 1, out.tm_mday = n[2], out.tm_hour = n[3], out.tm_min = n[4], out.tm_sec = n[5];
  out.tm_wday = (n[6] + 1) % 7, out.tm_yday = n[7] - 1, out.tm_isdst = n[8];
  return out;
}

std::string format_time(const std::string& format, const std::tm& t) {
  if (format.empty()) return "";
  std::string out(format.size() * 4 + 256, '\0');
  out.resize(std::strftime(out.data(), out.size(), format.c_str(), &t));
  return out;
}

Value strftime(Interpreter& in, Args args) {
  const std::string format(need_str(args[0], "strftime() argument 1 must be str, not "));
  return make_str(format_time(format, is_missing(args[1]) ? broken_down(in, args[1], true) : from_tuple(in, args[1])));
}

}  // namespace

Value struct_time(const std::array<int64_t, 9>& parts) {
  std::vector<Value> values;
  for (const int64_t part : parts) values.push_back(Value::of(part));
  return make_named_result("time", "struct_time",
                           {"tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday", "tm_yday", "tm_isdst"},
                           std::move(values));
}

Value make_time(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"time", "", seconds_of<CLOCK_REALTIME>, "Seconds since 1970, UTC."},
      {"time_ns", "", nanoseconds_of<CLOCK_REALTIME>, "Nanoseconds since 1970, UTC."},
      {"perf_counter", "", seconds_of<CLOCK_MONOTONIC>, "Seconds of a clock for measuring."},
      {"perf_counter_ns", "", nanoseconds_of<CLOCK_MONOTONIC>, "Nanoseconds of a clock for measuring."},
      {"monotonic", "", seconds_of<CLOCK_MONOTONIC>, "Seconds of a clock that never goes back."},
      {"monotonic_ns", "", nanoseconds_of<CLOCK_MONOTONIC>, "Nanoseconds of a clock that never goes back."},
      {"process_time", "", seconds_of<CLOCK_PROCESS_CPUTIME_ID>, "Seconds of processor time, all threads."},
      {"process_time_ns", "", nanoseconds_of<CLOCK_PROCESS_CPUTIME_ID>, "Nanoseconds of processor time, all threads."},
      {"thread_time", "", seconds_of<CLOCK_THREAD_CPUTIME_ID>, "Seconds of processor time of this thread."},
      {"sleep", "secs, /", sleep, "Waits that many seconds."},
      {"localtime", "secs=missing, /", [](Interpreter& in, Args a) { return as_tuple(broken_down(in, a[0], true)); },
       "(year, month, day, hour, minute, second, weekday, day of the year, dst) here."},
      {"gmtime", "secs=missing, /", [](Interpreter& in, Args a) { return as_tuple(broken_down(in, a[0], false)); },
       "(year, month, day, hour, minute, second, weekday, day of the year, dst) in UTC."},
      {"strftime", "format, t=missing, /", strftime, "A time as text."},
      {"ctime", "secs=missing, /",
       [](Interpreter& in, Args a) { return make_str(format_time("%a %b %e %H:%M:%S %Y", broken_down(in, a[0], true))); },
       "A time as text: 'Sat Nov 21 06:15:00 2026'."},
  };
  return make_module("time", table);
}

}  // namespace gasell
