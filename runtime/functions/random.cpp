#include "runtime/functions/random.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <optional>
#include <random>

#include "compiler/codegen/externals.h"
#include "runtime/device/sandbox.h"

namespace gasell::functions {

void MersenneTwister::seed(uint32_t seed) {
  state_[0] = seed;
  for (int k = 1; k < kWords; ++k) {
    const uint32_t before = state_[static_cast<size_t>(k - 1)];
    state_[static_cast<size_t>(k)] = 1812433253u * (before ^ (before >> 30)) + static_cast<uint32_t>(k);
  }
  next_ = kWords;
  waiting_ = false;
}

void MersenneTwister::seed_by(const uint32_t* key, int count) {
  seed(19650218u);
  size_t i = 1, j = 0;
  const auto mixed = [&](uint32_t factor) { return state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * factor); };
  const auto step = [&] {
    if (++i < kWords) return;
    state_[0] = state_[kWords - 1];
    i = 1;
  };
  for (int k = std::max<int>(kWords, count); k > 0; --k) {
    state_[i] = mixed(1664525u) + key[j] + static_cast<uint32_t>(j);
    step();
    if (++j >= static_cast<size_t>(count)) j = 0;
  }
  for (int k = kWords - 1; k > 0; --k) {
    state_[i] = mixed(1566083941u) - static_cast<uint32_t>(i);
    step();
  }
  state_[0] = 0x80000000u;
}

void MersenneTwister::refill() {
  constexpr size_t kAhead = 397;
  for (size_t k = 0; k < kWords; ++k) {
    const uint32_t joined = (state_[k] & 0x80000000u) | (state_[(k + 1) % kWords] & 0x7fffffffu);
    state_[k] = state_[(k + kAhead) % kWords] ^ (joined >> 1) ^ (joined & 1 ? 0x9908b0dfu : 0u);
  }
  next_ = 0;
}

uint32_t MersenneTwister::bits() {
  if (next_ == kWords) refill();
  uint32_t x = state_[static_cast<size_t>(next_++)];
  x ^= x >> 11;
  x ^= (x << 7) & 0x9d2c5680u;
  x ^= (x << 15) & 0xefc60000u;
  return x ^ (x >> 18);
}

double MersenneTwister::uniform() {
  const uint32_t high = bits() >> 5, low = bits() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

double MersenneTwister::normal() {
  if (waiting_) {
    waiting_ = false;
    return second_;
  }
  for (;;) {
    const double x = 2 * uniform() - 1, y = 2 * uniform() - 1, square = x * x + y * y;
    if (square >= 1 || square == 0) continue;
    const double scale = std::sqrt(-2 * std::log(square) / square);
    second_ = scale * x;
    waiting_ = true;
    return scale * y;
  }
}

uint64_t MersenneTwister::below(uint64_t n) {
  const int width = std::bit_width(n - 1);
  for (;;) {
    uint64_t x;
    if (width <= 32) {
      x = bits() & (~uint32_t{0} >> (32 - width));
    } else {
      const uint64_t high = bits() & (~uint32_t{0} >> (64 - width));
      x = high << 32 | bits();
    }
    if (x < n) return x;
  }
}

namespace {

struct Global {
  MersenneTwister generator{std::random_device{}()};
  uint64_t seed = std::random_device{}();  // what the streams of pieces depend on
  uint64_t loops = 0;
};

Global& global() { return state_of_session<Global>(); }

/// The stream of the piece that runs on this thread; made when it is drawn from.
struct Piece {
  uint64_t loop = 0;
  int64_t piece = -1;  // none
  std::optional<MersenneTwister> generator;
};
thread_local Piece piece;

}  // namespace

MersenneTwister& current_random() {
  if (piece.piece < 0) return global().generator;
  if (!piece.generator) {
    const uint64_t seed = global().seed;
    const uint32_t key[] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(piece.loop),
                            static_cast<uint32_t>(piece.piece)};
    piece.generator.emplace(0);
    piece.generator->seed_by(key, 4);
  }
  return *piece.generator;
}

RandomPiece::RandomPiece(uint64_t loop, int64_t number) { piece = {loop, number, {}}; }
RandomPiece::~RandomPiece() { piece.piece = -1; }
uint64_t next_random_loop() { return global().loops++; }

namespace {

extern "C" {
void gasell_random_seed(int64_t seed) {
  current_random().seed(static_cast<uint32_t>(seed));
  if (piece.piece >= 0) return;
  global().seed = static_cast<uint32_t>(seed);
  global().loops = 0;
}
double gasell_random_uniform() { return current_random().uniform(); }
double gasell_random_normal() { return current_random().normal(); }
int64_t gasell_random_below(int64_t n) { return static_cast<int64_t>(current_random().below(static_cast<uint64_t>(n))); }
}

}  // namespace

void register_random_functions() {
  register_external("gasell_random_seed", reinterpret_cast<void*>(&gasell_random_seed));
  register_external("gasell_random_uniform", reinterpret_cast<void*>(&gasell_random_uniform));
  register_external("gasell_random_normal", reinterpret_cast<void*>(&gasell_random_normal));
  register_external("gasell_random_below", reinterpret_cast<void*>(&gasell_random_below));
}

}  // namespace gasell::functions
