// A simulation: the host owns the state and the clock, a script the physics. The step is machine code over the host's memory; it asks the
// host for the force outside.
#include <cmath>
#include <cstdio>
#include <gasell/gasell.hpp>
#include <numbers>
#include <span>
#include <vector>

int main() {
  constexpr size_t kPoints = 101;
  constexpr double kStep = 1e-3;
  std::vector<double> place(kPoints), speed(kPoints);
  for (size_t i = 0; i < kPoints; ++i) place[i] = std::sin(std::numbers::pi * static_cast<double>(i) / (kPoints - 1));

  gasell::Engine engine;
  gasell::Session session(engine);
  double wind = 0;
  session.define("wind", [&wind](double /*place*/) { return wind; });
  session.evaluate(R"(
@njit
def step(u, v, dt):                       # a string, fixed at its ends
    h = 1.0 / (u.size - 1)
    for i in range(1, u.size - 1):
        v[i] += dt * ((u[i - 1] - 2 * u[i] + u[i + 1]) / (h * h) + wind(u[i]))
    for i in range(u.size):
        u[i] += dt * v[i]

@njit
def energy(u, v):
    h = 1.0 / (u.size - 1)
    e = 0.0
    for i in range(u.size - 1):
        e += 0.5 * h * (v[i] * v[i] + ((u[i + 1] - u[i]) / h) ** 2)
    return e
)");
  const auto step = session.function<void(std::span<double>, std::span<double>, double)>("step");
  const auto energy = session.function<double(std::span<const double>, std::span<const double>)>("energy");
  std::printf("energy %.3f\n", energy(place, speed));
  for (int i = 0; i < 1000; ++i) step(place, speed, kStep);  // half a period
  std::printf("half a period later the middle is at %.2f, energy %.3f\n", place[kPoints / 2], energy(place, speed));
  wind = 5;
  for (int i = 0; i < 1000; ++i) step(place, speed, kStep);
  std::printf("with wind for the other half at %.2f\n", place[kPoints / 2]);
}
