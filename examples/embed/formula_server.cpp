// A server's heart: formulas of its users, each in a session of its own with limits and without files, several at the same time.
#include <cstdio>
#include <gasell/gasell.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string answer(gasell::Engine& engine, const std::string& formula, const std::vector<double>& prices) {
  gasell::SessionOptions options;
  options.sandbox = true;
  options.seconds = 0.5;
  options.memory = 64 << 20;
  options.output = 1000;
  try {
    gasell::Session session(engine, options);
    session.bind("prices", std::span(prices));  // read-only
    session.define("discounted", [](double amount, double years) { return amount / (1 + 0.05 * years); });
    return session.evaluate(formula, "formula").text();
  } catch (const gasell::Error& e) {
    if (e.status == GASELL_LIMIT_EXCEEDED || e.kind == "MemoryError") return "limit: " + e.kind;
    return e.kind + " in column " + std::to_string(e.column) + ": " + e.message;
  }
}

}  // namespace

int main() {
  gasell::Engine engine;
  const std::vector<double> prices{10, 11, 13, 12};
  const std::vector<std::string> formulas{
      "round(prices.mean(), 2)",
      "f'{np.diff(prices).max():.1f}'",
      "round(discounted(100, 2), 2)",
      "prices[0] = 0",
      "price.mean()",
      "open('/etc/passwd').read()",
      "while True: pass",
      "np.sort(np.ones(10 ** 8))[0]",
  };
  std::vector<std::string> answers(formulas.size());
  {
    std::vector<std::jthread> users;
    for (size_t k = 0; k < formulas.size(); ++k) users.emplace_back([&, k] { answers[k] = answer(engine, formulas[k], prices); });
  }
  for (size_t k = 0; k < formulas.size(); ++k) std::printf("%s\n  %s\n", formulas[k].c_str(), answers[k].c_str());
}
