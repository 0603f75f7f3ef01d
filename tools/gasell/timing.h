// %time and %timeit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lang/ast.h"
#include "tools/gasell/host.h"

namespace gasell::cli {

/// Runs it once, computing what is lazy in its value; prints the times of the processor and of the clock, and gives the value.
Value time_once(Host& host, const ast::ModuleRef& module);
/// Seconds by the clock.
double seconds_of(const std::function<void()>& work);
/// Those times of any work, as the text that is printed.
std::string time_of(const std::function<void()>& work);

struct TimeitOptions {
  int64_t loops = 0;  // a run; 0: as many as make a run last a fifth of a second
  int64_t runs = 7;
  bool quiet = false;   // nothing is printed
  bool result = false;  // the times are wanted as a value
};
/// Takes "-n 100 -r 3 -o" from the front of `text`. Error (SyntaxError) for other options and for what is no number.
TimeitOptions take_timeit_options(std::string& text);
/// The first evaluation, which compiles, does not count. With options.result: an object with average, stdev, best, worst (seconds a loop),
/// loops, repeat and all_runs (seconds a run).
std::optional<Value> time_many(Host& host, const ast::ModuleRef& module, TimeitOptions options);

}  // namespace gasell::cli
