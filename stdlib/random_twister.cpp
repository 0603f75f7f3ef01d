// The generator behind Python's module random: MT19937 by M. Matsumoto and T. Nishimura (1998), seeded by their init_by_array (2002).
#include <random>
#include <vector>

#include "runtime/session/objects.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

constexpr size_t kWords = 624;

class Twister final : public Object {
 public:
  const Type& type() const override;

  /// From any number of words of 32 bits, at least one.
  void seed(const std::vector<uint32_t>& key) {
    fill(19650218);
    size_t i = 1, j = 0;
    const auto next = [&] {
      if (++i < kWords) return;
      words_[0] = words_[kWords - 1];
      i = 1;
    };
    for (size_t k = std::max(kWords, key.size()); k > 0; --k) {
      words_[i] = (words_[i] ^ ((words_[i - 1] ^ (words_[i - 1] >> 30)) * 1664525u)) + key[j] + static_cast<uint32_t>(j);
      j = (j + 1) % key.size();
      next();
    }
    for (size_t k = kWords - 1; k > 0; --k) {
      words_[i] = (words_[i] ^ ((words_[i - 1] ^ (words_[i - 1] >> 30)) * 1566083941u)) - static_cast<uint32_t>(i);
      next();
    }
    words_[0] = 0x80000000u;
  }

  uint32_t word() {
    if (at_ == kWords) {
      for (size_t k = 0; k < kWords; ++k) {
        const uint32_t y = (words_[k] & 0x80000000u) | (words_[(k + 1) % kWords] & 0x7fffffffu);
        words_[k] = words_[(k + 397) % kWords] ^ (y >> 1) ^ ((y & 1) * 0x9908b0dfu);
      }
      at_ = 0;
    }
    uint32_t y = words_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  std::vector<Value> state() const {
    std::vector<Value> result;
    for (const uint32_t w : words_) result.push_back(Value::of(static_cast<int64_t>(w)));
    result.push_back(Value::of(static_cast<int64_t>(at_)));
    return result;
  }
  void set_state(Interpreter& in, const std::vector<Value>& state) {
    if (state.size() != kWords + 1) raise("ValueError", "state vector is the wrong size");
    for (size_t k = 0; k < kWords; ++k) words_[k] = static_cast<uint32_t>(gasell::to_index(in, state[k]));
    const int64_t at = gasell::to_index(in, state[kWords]);
    if (at < 0 || at > static_cast<int64_t>(kWords)) raise("ValueError", "invalid state");
    at_ = static_cast<size_t>(at);
  }

 private:
  void fill(uint32_t seed) {
    for (size_t k = 0; k < kWords; ++k) {
      words_[k] = seed;
      seed = 1812433253u * (seed ^ (seed >> 30)) + static_cast<uint32_t>(k) + 1;
    }
    at_ = kWords;
  }

  std::vector<uint32_t> words_ = std::vector<uint32_t>(kWords);
  size_t at_ = kWords;
};

Twister& self_of(Args a) { return *a[0].as<Twister>(); }

Value seeded(Interpreter& in, Args a) {
  std::vector<uint32_t> key;
  if (a[1].is_none()) {
    std::random_device device;
    for (int k = 0; k < 8; ++k) key.push_back(device());
  } else {
    const int64_t given = to_index(in, a[1]);
    uint64_t magnitude = given < 0 ? 0 - static_cast<uint64_t>(given) : static_cast<uint64_t>(given);
    for (; magnitude != 0 || key.empty(); magnitude >>= 32) key.push_back(static_cast<uint32_t>(magnitude));
  }
  self_of(a).seed(key);
  return {};
}

Value real(Interpreter&, Args a) {
  const uint32_t high = self_of(a).word() >> 5, low = self_of(a).word() >> 6;
  return Value::of((high * 67108864.0 + low) / 9007199254740992.0);
}

Value bits(Interpreter& in, Args a) {
  const int64_t count = to_index(in, a[1]);
  if (count < 0) raise("ValueError", "number of bits must be non-negative");
  if (count > 63) raise("NotImplementedError", "integers of more than 64 bits are not in Gasell: getrandbits(k) takes up to 63");
  uint64_t result = 0;
  for (int64_t done = 0; done < count; done += 32) {
    const uint64_t word = count - done >= 32 ? self_of(a).word() : self_of(a).word() >> (32 - (count - done));
    result |= word << done;
  }
  return Value::of(static_cast<int64_t>(result));
}

const Type& Twister::type() const {
  static const Type type{"Random",
                         "_random",
                         &object_type(),
                         {{"seed", "a", seeded, "Begins anew, from a whole number or from the system's."},
                          {"random", "", real, "A number of [0, 1)."},
                          {"getrandbits", "k, /", bits, "A whole number of k bits."},
                          {"state", "", [](Interpreter&, Args a) { return make_tuple(self_of(a).state()); }, "All words, and the place."},
                          {"set_state", "state",
                           [](Interpreter& in, Args a) {
                             self_of(a).set_state(in, to_vector(in, a[1]));
                             return Value();
                           },
                           "Goes on from there."}}};
  return type;
}

}  // namespace

Value make_random_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"twister", "", [](Interpreter&, Args) { return Value::make<Twister>(); }, "A generator without a seed."}};
  return make_module("_random", table);
}

Value make_random(Interpreter&) { return Value::make<LibraryModule>("random"); }

}  // namespace gasell
