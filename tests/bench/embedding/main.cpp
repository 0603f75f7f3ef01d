// What calls between a program and scripts cost, beside a C++ function pointer and Lua. Prints a table in Markdown.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <gasell/gasell.hpp>
#include <lua.hpp>
#include <span>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double plain(double a, double b) { return a * b + 1; }
double (*volatile pointer)(double, double) = plain;
volatile double kept;

/// Nanoseconds a call, the best of several rounds.
template <class F>
double cost(int calls, const F& f) {
  double best = 1e18;
  for (int round = 0; round < 9; ++round) {
    const auto start = Clock::now();
    double sum = 0;
    for (int i = 0; i < calls; ++i) sum += f(i);
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count() / calls);
    kept = sum;
  }
  return best;
}

void row(const char* what, double nanoseconds) { std::printf("| %s | %.4g |\n", what, nanoseconds); }

int lua_host(lua_State* lua) {
  lua_pushnumber(lua, plain(luaL_checknumber(lua, 1), luaL_checknumber(lua, 2)));
  return 1;
}

double call_lua(lua_State* lua, const char* name, double a, double b) {
  lua_getglobal(lua, name);
  lua_pushnumber(lua, a);
  lua_pushnumber(lua, b);
  lua_call(lua, 2, 1);
  const double result = lua_tonumber(lua, -1);
  lua_pop(lua, 1);
  return result;
}

}  // namespace

int main() {
  gasell::Engine engine;
  gasell::Session session(engine);
  const std::vector<double> x(16, 1.0), large(1'000'000, 1.0);
  std::vector<double> out(16);
  session.define("host", [](double a, double b) { return plain(a, b); });
  session.bind("x", std::span(x));
  session.evaluate(R"(
def interpreted(a, b):
    return a * b + 1
@vectorize
def elementwise(a, b):
    return a * b + 1
@njit
def calls(n):
    s = 0.0
    for i in range(n):
        s += host(i, 2.0)
    return s
def asks(n):
    s = 0.0
    for i in range(n):
        s += host(i, 2.0)
    return s
)");
  const auto scalars = engine.compile<double(double, double)>("def f(a, b): return a * b + 1");
  const auto span = engine.compile<double(std::span<const double>, double)>(
      "def f(x, a):\n    s = 0.0\n    for i in range(x.size):\n        s += x[i] * a\n    return s\n");
  const auto interpreted = session.function<double(double, double)>("interpreted");
  const auto elementwise = session.function<std::span<double>(std::span<const double>, double)>("elementwise");
  const auto calls = session.function<double(int64_t)>("calls"), asks = session.function<double(int64_t)>("asks");

  lua_State* const lua = luaL_newstate();
  luaL_openlibs(lua);
  lua_register(lua, "host", lua_host);
  const char* text =
      "function f(a, b) return a * b + 1 end\n"
      "function calls(n, unused) local s = 0 for i = 0, n - 1 do s = s + host(i, 2) end return s end\n"
      "function total(n, a) local s = 0 for i = 1, n do s = s + t[i] * a end return s end\n"
      "t = {} for i = 1, 1000000 do t[i] = 1.0 end\n";
  if (luaL_dostring(lua, text)) return 1;

  std::printf("| a call | ns |\n|---|---|\n");
  row("C++ function pointer, two numbers", cost(2'000'000, [](int i) { return pointer(i, 2); }));
  row("Lua function, two numbers", cost(500'000, [&](int i) { return call_lua(lua, "f", i, 2); }));
  row("direct function, two numbers", cost(500'000, [&](int i) { return scalars(i, 2); }));
  row("direct function, a span of 16 and a number", cost(500'000, [&](int i) { return span(x, i); }));
  row("interpreted function, two numbers", cost(20'000, [&](int i) { return interpreted(i, 2); }));
  row("@vectorize over a span of 16, into a span", cost(10'000, [&](int i) {
        elementwise(out, x, i);
        return out[0];
      }));
  row("evaluate(\"1 + 1\")", cost(5000, [&](int) { return session.evaluate("1 + 1").as<double>(); }));
  row("evaluate(\"(x * 2).sum()\") over a span of 16", cost(5000, [&](int) { return session.evaluate("(x * 2).sum()").as<double>(); }));
  row("Lua: load and run \"return 1 + 1\"", cost(50'000, [&](int) {
        luaL_dostring(lua, "return 1 + 1");
        const double result = lua_tonumber(lua, -1);
        lua_pop(lua, 1);
        return result;
      }));
  row("host function from @njit", cost(20, [&](int) { return calls(10'000); }) / 10'000);
  row("host function from an interpreted loop", cost(5, [&](int) { return asks(10'000); }) / 10'000);
  row("host function from a Lua loop", cost(50, [&](int) { return call_lua(lua, "calls", 10'000, 0); }) / 10'000);
  row("sum of 1e6 products: direct function", cost(20, [&](int i) { return span(large, i); }));
  row("sum of 1e6 products: Lua", cost(5, [&](int i) { return call_lua(lua, "total", 1'000'000, i); }));
  row("a session, made and freed", cost(200, [&](int) {
        const gasell::Session own(engine);
        return 0.0;
      }));
  lua_close(lua);
}
