// Random numbers of compiled functions (np.random inside them), as Numba has them: one Mersenne Twister of the process, which
// np.random.seed in a compiled function sets, and which gives then what NumPy's legacy generator gives.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace gasell::functions {

/// MT19937 (Matsumoto and Nishimura, 1998).
class MersenneTwister {
 public:
  /// NumPy's RandomState(seed).
  explicit MersenneTwister(uint32_t seed) { this->seed(seed); }
  void seed(uint32_t seed);
  /// By several numbers, as the generator's authors have it: for streams that have nothing to do with each other.
  void seed_by(const uint32_t* key, int count);

  uint32_t bits();
  /// In [0, 1), of 53 bits.
  double uniform();
  /// Of the standard normal distribution: Marsaglia's polar method, whose second number waits for the next call.
  double normal();
  /// In [0, n), n > 1: as few bits as hold n - 1, again until it is below n.
  uint64_t below(uint64_t n);

 private:
  void refill();
  static constexpr int kWords = 624;
  std::array<uint32_t, kWords> state_;
  int next_ = kWords;
  bool waiting_ = false;
  double second_ = 0;
};

/// The generator of what runs on this thread now.
MersenneTwister& current_random();

/// While it lives, this thread draws from a stream of a piece of a parallel loop: one that depends on the seed, on how many parallel loops
/// there were since, and on the piece's number. It costs nothing where nothing is drawn.
class RandomPiece {
 public:
  RandomPiece(uint64_t loop, int64_t piece);
  ~RandomPiece();
  RandomPiece(const RandomPiece&) = delete;
  RandomPiece& operator=(const RandomPiece&) = delete;
};
/// What RandomPiece is to be given for the next parallel loop.
uint64_t next_random_loop();

/// Makes gasell_random_seed(seed), gasell_random_uniform(), gasell_random_normal() and gasell_random_below(n) known to compiled code.
void register_random_functions();

}  // namespace gasell::functions
