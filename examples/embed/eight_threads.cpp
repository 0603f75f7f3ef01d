// Eight threads on one engine: a function compiled once, called by all of them over memory of their own, and a session for each, whose
// texts run at the same time.
#include <cstdio>
#include <gasell/gasell.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

int main() {
  constexpr int kThreads = 8, kRounds = 1000;
  gasell::Engine engine;
  auto energy = engine.compile<double(std::span<const double>, double)>("def energy(x, k): return 0.5 * k * (x * x).sum()");
  std::vector<std::string> lines(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        try {
          std::vector<double> x(100);
          std::iota(x.begin(), x.end(), t);
          double sum = 0;
          for (int k = 0; k < kRounds; ++k) sum += energy(x, k);  // any threads at once: nothing of a session is used

          gasell::Session session(engine);  // this thread's
          session.bind("x", std::span<const double>(x));
          session.bind("thread", t);
          session.evaluate("table = pd.DataFrame({'x': x, 'even': x % 2 == 0})");
          const double even = session.evaluate("table[table['even']]['x'].sum() + thread").as<double>();
          lines[static_cast<size_t>(t)] = std::to_string(static_cast<int64_t>(sum)) + " " + std::to_string(static_cast<int64_t>(even));
        } catch (const gasell::Error& e) {
          lines[static_cast<size_t>(t)] = e.rendered;
        }
      });
    }
  }
  for (int t = 0; t < kThreads; ++t) std::printf("thread %d: %s\n", t, lines[static_cast<size_t>(t)].c_str());

  gasell::Session shared(engine);
  shared.define("other_thread", [&shared] {
    std::string answer;
    std::jthread([&] {
      try {
        shared.evaluate("1");
        answer = "taken";
      } catch (const gasell::Error& e) {
        answer = e.status == GASELL_INVALID_ARGUMENT ? "refused" : e.what();
      }
    }).join();
    return answer == "refused" ? 1.0 : 0.0;
  });
  std::printf("a second thread in a session is %s\n", shared.evaluate("other_thread()").as<double>() == 1 ? "refused" : "taken");
}
