// %time and %timeit.
#pragma once

#include <cstdint>
#include <string>

#include "lang/ast.h"
#include "tools/gasell/host.h"

namespace gasell::cli {

/// Runs it once, computing what is lazy in its value; prints the times of the processor and of the clock, then the value.
void time_once(Host& host, const ast::ModuleRef& module);

struct TimeitOptions {
  int64_t loops = 0;  // a run; 0: as many as make a run last a fifth of a second
  int64_t runs = 7;
};
/// Takes "-n 100 -r 3" from the front of `text`. Error (SyntaxError) for other options and for what is no number.
TimeitOptions take_timeit_options(std::string& text);
/// The first evaluation, which compiles, does not count.
void time_many(Host& host, const ast::ModuleRef& module, TimeitOptions options);

}  // namespace gasell::cli
