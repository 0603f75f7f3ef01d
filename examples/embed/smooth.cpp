// A C++ host: lends its memory to a script, lets the script work in place, and reads a result back.
#include <chrono>
#include <cstdio>
#include <gasell/gasell.hpp>
#include <span>
#include <thread>
#include <vector>

int main() {
  std::vector<double> samples(1'000'000);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = i % 2 ? 1.0 : 3.0;

  gasell::Engine engine;
  gasell::Session session(engine);
  try {
    session.bind("x", std::span(samples));  // no copy: what the script writes, we see
    session.bind("weight", 0.5);
    const gasell::Value mean = session.evaluate(R"(
smoothed = x[:-1] * weight + x[1:] * weight   # recorded, not computed
x[1:] = smoothed                              # computed in one pass, into our memory
x[1:].mean()
)");
    std::printf("mean %g, last sample %g\n", mean.as<double>(), samples.back());

    const gasell::Value value = session.evaluate("(x[:4] * 10).astype('int32')");  // lives as long as the view of it
    const auto tens = value.array<int32_t>();
    std::printf("int32[%ld]:", static_cast<long>(tens.shape[0]));
    for (const int32_t t : tens.elements) std::printf(" %d", t);
    std::printf("\n");
  } catch (const gasell::Error& e) {
    std::fputs(e.rendered.c_str(), stderr);
    return 1;
  }

  try {
    session.evaluate("x + np.ones(3)", "measure.gsl");
  } catch (const gasell::Error& e) {
    std::printf("%s in %s, line %d, column %d\n", e.kind.c_str(), e.source.c_str(), e.line, e.column);
  }

  std::jthread alarm([&engine] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    engine.interrupt();
  });
  try {
    session.evaluate("while True: pass");
  } catch (const gasell::Error& e) {
    std::printf("%s\n", e.status == GASELL_INTERRUPTED ? "interrupted" : e.what());
  }
  std::printf("and the session lives: %s\n", session.evaluate("f'{weight:.2f}'").text().c_str());
}
