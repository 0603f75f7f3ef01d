// Functions and objects of the program in scripts: called for numbers, for each element of arrays, from compiled code by their address;
// what they throw is the script's exception.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gasell/gasell.hpp>
#include <memory>
#include <stdexcept>
#include <vector>

struct Market {
  double volatility = 0.2;
  int asked = 0;
};

int main() {
  gasell::Engine engine;
  gasell::Session session(engine);
  auto market = std::make_shared<Market>();
  try {
    session.define("price", [market](double spot, double strike) {
      if (strike <= 0) throw std::invalid_argument("a strike must be positive");
      ++market->asked;
      return std::max(spot - strike, 0.0) + market->volatility;
    });
    session.define("fill", [](std::span<double> out, double value) { std::fill(out.begin(), out.end(), value); });
    session.bind_object("market", market, "Market");

    std::printf("a number: %.2f\n", session.evaluate("price(101.0, 100)").as<double>());
    std::printf("an array: %s\n", session.evaluate("str(price(np.array([99.0, 100.5, 103.0]), 100.0))").text().c_str());
    session.evaluate(R"(
@njit
def book(spots, strike):
    total = 0.0
    for i in range(spots.size):
        total += price(spots[i], strike)
    return total
)");
    auto book = session.function<double(std::span<const double>, double)>("book");
    const std::vector<double> spots(1000, 102.0);
    std::printf("compiled code: %.1f, directly: %s\n", book(spots, 100.0), book.is_direct() ? "yes" : "no");
    const gasell::Value handed_back = session.evaluate("[market][0]");
    std::printf("the program's object: asked %d times\n", handed_back.object<Market>("Market").asked);
    std::printf("in place: %s\n", session.evaluate("a = np.zeros(3)\nfill(a, 2.5)\nstr(a)").text().c_str());
    std::printf("caught: %s\n",
                session.evaluate("try:\n    price(1.0, 0.0)\nexcept ValueError as e:\n    said = str(e)\nsaid").text().c_str());
    session.evaluate("price(1.0)", "trade.gsl");
  } catch (const gasell::Error& e) {
    std::printf("%s in %s, line %d: %s\n", e.kind.c_str(), e.source.c_str(), e.line, e.message.c_str());
  }
}
