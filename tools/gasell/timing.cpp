#include "tools/gasell/timing.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <vector>

#include "runtime/session/objects.h"
#include "stdlib/named_tuple.h"
#include "tools/array_values.h"
#include "tools/gasell/explain.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

constexpr double kRunSeconds = 0.2;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Evaluates `module` and everything lazy in its value.
Value evaluate_fully(Host& host, const ast::ModuleRef& module) {
  Value value = host.interpreter.evaluate(module);
  force(host.interpreter, value);
  return value;
}

struct ProcessorTimes {
  double user, system;
};
ProcessorTimes processor_times() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return {seconds(used.ru_utime), seconds(used.ru_stime)};
}

std::string with_commas(int64_t n) {
  std::string digits = std::to_string(n);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

}  // namespace

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return seconds_since(start);
}

std::string time_of(const std::function<void()>& work) {
  const ProcessorTimes before = processor_times();
  const double seconds = seconds_of(work);
  const ProcessorTimes after = processor_times();
  const double user = after.user - before.user, system = after.system - before.system;
  return fmt::format("CPU times: user {}, sys: {}, total: {}\nWall time: {}\n", human_seconds(user), human_seconds(system),
                     human_seconds(user + system), human_seconds(seconds));
}

Value time_once(Host& host, const ast::ModuleRef& module) {
  Value value;
  const std::string times = time_of([&] { value = evaluate_fully(host, module); });
  write_stdout(times);
  return value;
}

TimeitOptions take_timeit_options(std::string& text) {
  TimeitOptions options;
  const auto skip_blanks = [&] { text.erase(0, std::min(text.find_first_not_of(" \t"), text.size())); };
  while (text.size() > 1 && text[0] == '-' && std::string_view("nroq").find(text[1]) != std::string_view::npos) {
    if (text[1] == 'o' || text[1] == 'q') {
      if (text.size() > 2 && text[2] != ' ') break;  // -offset: code
      (text[1] == 'o' ? options.result : options.quiet) = true;
      text.erase(0, 2);
      skip_blanks();
      continue;
    }
    if (text.size() > 2 && text[2] != ' ' && (text[2] < '0' || text[2] > '9')) break;
    int64_t& number = text[1] == 'n' ? options.loops : options.runs;
    const std::string option = text.substr(0, 2);
    text.erase(0, 2);
    skip_blanks();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 1)
      throw Error("SyntaxError", fmt::format("%timeit {} wants a positive number", option), "for example: %timeit -n 100 -r 3 x.sum()");
    text.erase(0, static_cast<size_t>(end - text.data()));
    skip_blanks();
  }
  return options;
}

std::optional<Value> time_many(Host& host, const ast::ModuleRef& module, TimeitOptions options) {
  evaluate_fully(host, module);
  int64_t loops = options.loops ? options.loops : 1;
  const auto run = [&] {
    const auto start = Clock::now();
    host.interpreter.repeat(module, loops, [&](const Value& value) {
      force(host.interpreter, value);
      if (host.engine.interrupted()) throw Interrupted();
    });
    return seconds_since(start);
  };
  for (int step = 0; options.loops == 0 && run() < kRunSeconds && loops < 1'000'000'000; step = (step + 1) % 3)
    loops = step == 1 ? loops / 2 * 5 : loops * 2;  // 1, 2, 5, 10, …
  std::vector<double> per_loop;
  for (int64_t i = 0; i < options.runs; ++i) per_loop.push_back(run() / static_cast<double>(loops));
  const auto runs = static_cast<double>(options.runs);
  double mean = 0, variance = 0;
  for (double t : per_loop) mean += t / runs;
  for (double t : per_loop) variance += (t - mean) * (t - mean) / runs;
  if (!options.quiet)
    write_stdout(fmt::format("{} ± {} per loop (mean ± std. dev. of {} run{}, {} loop{} each)\n", human_seconds(mean),
                             human_seconds(std::sqrt(variance)), options.runs, options.runs == 1 ? "" : "s", with_commas(loops),
                             loops == 1 ? "" : "s"));
  if (!options.result) return std::nullopt;
  std::vector<Value> all;
  for (double t : per_loop) all.push_back(Value::of(t * static_cast<double>(loops)));
  const auto [best, worst] = std::minmax_element(per_loop.begin(), per_loop.end());
  return make_named_result("gasell", "TimeitResult", {"average", "stdev", "best", "worst", "loops", "repeat", "all_runs"},
                           {Value::of(mean), Value::of(std::sqrt(variance)), Value::of(*best), Value::of(*worst), Value::of(loops),
                            Value::of(options.runs), make_list(std::move(all))});
}

}  // namespace gasell::cli
