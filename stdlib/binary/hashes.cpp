// MD5, SHA-1 and SHA-2 of bytes (RFC 1321, FIPS 180-4); hashlib/core.gsl is the module.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "runtime/session/bytes.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

/// The first primes, from which SHA-2 makes its constants.
constexpr auto kPrimes = [] {
  std::array<uint64_t, 80> primes{};
  size_t count = 0;
  for (uint64_t n = 2; count < primes.size(); ++n) {
    bool prime = true;
    for (size_t i = 0; i < count && primes[i] * primes[i] <= n; ++i) prime = prime && n % primes[i] != 0;
    if (prime) primes[count++] = n;
  }
  return primes;
}();

__extension__ typedef unsigned __int128 Wide;

/// The first 64 bits of the fraction of a prime's cube root: floor(cbrt(p) * 2**64) by bisection, without its whole part.
uint64_t cube_root_fraction(uint64_t p) {
  // x is a number of at most 67 bits; x**3 <= p * 2**192 is compared in two halves by schoolbook products of 32-bit limbs.
  const auto cube_is_at_most = [p](Wide x) {
    std::array<uint64_t, 10> cube{};  // limbs of 32 bits, the lowest first
    std::array<uint64_t, 3> limbs{static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32), static_cast<uint32_t>(x >> 64)};
    std::array<uint64_t, 6> square{};
    for (size_t i = 0; i < 3; ++i) {
      uint64_t carry = 0;
      for (size_t j = 0; j < 3; ++j) {
        const uint64_t t = limbs[i] * limbs[j] + square[i + j] + carry;
        square[i + j] = static_cast<uint32_t>(t);
        carry = t >> 32;
      }
      square[i + 3] += carry;
    }
    for (size_t i = 0; i < 6; ++i) {
      uint64_t carry = 0;
      for (size_t j = 0; j < 3; ++j) {
        const uint64_t t = square[i] * limbs[j] + cube[i + j] + carry;
        cube[i + j] = static_cast<uint32_t>(t);
        carry = t >> 32;
      }
      cube[i + 3] += carry;
    }
    for (size_t i = 9; i > 6; --i)
      if (cube[i] != 0) return false;
    if (cube[6] != p) return cube[6] < p;
    for (size_t i = 0; i < 6; ++i)
      if (cube[i] != 0) return false;
    return true;
  };
  Wide low = 0, high = static_cast<Wide>(8) << 64;
  while (high - low > 1) {
    const Wide middle = low + (high - low) / 2;
    (cube_is_at_most(middle) ? low : high) = middle;
  }
  return static_cast<uint64_t>(low);
}

/// The constants of the rounds of SHA-512; the upper halves of the first 64 are SHA-256's.
const std::array<uint64_t, 80>& round_constants() {
  static const auto constants = [] {
    std::array<uint64_t, 80> k{};
    for (size_t i = 0; i < k.size(); ++i) k[i] = cube_root_fraction(kPrimes[i]);
    return k;
  }();
  return constants;
}

/// What all of them share: bytes gathered to blocks, and the padding at the end.
template <class Word, size_t kWords, bool kBig>
struct Gathered {
  std::array<Word, kWords> state{};
  std::string rest;
  Wide length = 0;

  static constexpr size_t kBlock = 16 * sizeof(Word);

  static Word word(const char* p) {
    Word w = 0;
    for (size_t i = 0; i < sizeof(Word); ++i)
      w |= static_cast<Word>(static_cast<unsigned char>(p[kBig ? sizeof(Word) - 1 - i : i])) << 8 * i;
    return w;
  }

  template <class Compress>
  void update(Interpreter* in, std::string_view bytes, Compress&& compress) {
    length += bytes.size();
    if (!rest.empty()) {
      const size_t taken = std::min(kBlock - rest.size(), bytes.size());
      rest += bytes.substr(0, taken);
      bytes.remove_prefix(taken);
      if (rest.size() < kBlock) return;
      compress(state, rest.data());
      rest.clear();
    }
    for (size_t blocks = 0; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) {
      compress(state, bytes.data());
      if (in && (++blocks & 0xFFFF) == 0) poll_now(*in);
    }
    rest = bytes;
  }

  template <class Compress>
  std::string digest(size_t size, Compress&& compress) const {
    Gathered last = *this;
    std::string padding(1, '\x80');
    const size_t length_bytes = 2 * sizeof(Word);
    while ((rest.size() + padding.size() + length_bytes) % kBlock != 0) padding += '\0';
    const Wide bits = length * 8;
    for (size_t i = 0; i < length_bytes; ++i) padding += static_cast<char>(bits >> 8 * (kBig ? length_bytes - 1 - i : i) & 0xFF);
    last.update(nullptr, padding, compress);
    std::string out;
    for (const Word w : last.state)
      for (size_t i = 0; i < sizeof(Word); ++i) out += static_cast<char>(w >> 8 * (kBig ? sizeof(Word) - 1 - i : i) & 0xFF);
    return out.substr(0, size);
  }
};

using Md5State = Gathered<uint32_t, 4, false>;
using Sha1State = Gathered<uint32_t, 5, true>;
using Sha256State = Gathered<uint32_t, 8, true>;
using Sha512State = Gathered<uint64_t, 8, true>;

void md5_block(std::array<uint32_t, 4>& s, const char* block) {
  static const auto kSines = [] {
    std::array<uint32_t, 64> k{};
    for (size_t i = 0; i < 64; ++i) k[i] = static_cast<uint32_t>(std::floor(std::abs(std::sin(static_cast<double>(i + 1))) * 0x1p32));
    return k;
  }();
  static constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  uint32_t a = s[0], b = s[1], c = s[2], d = s[3];
  for (size_t i = 0; i < 64; ++i) {
    uint32_t f = 0;
    size_t g = 0;
    switch (i / 16) {
      case 0: f = (b & c) | (~b & d), g = i; break;
      case 1: f = (d & b) | (~d & c), g = (5 * i + 1) % 16; break;
      case 2: f = b ^ c ^ d, g = (3 * i + 5) % 16; break;
      default: f = c ^ (b | ~d), g = 7 * i % 16; break;
    }
    const uint32_t turned = std::rotl(a + f + kSines[i] + Md5State::word(block + 4 * g), kShifts[i / 16][i % 4]);
    a = d, d = c, c = b, b += turned;
  }
  s[0] += a, s[1] += b, s[2] += c, s[3] += d;
}

void sha1_block(std::array<uint32_t, 5>& s, const char* block) {
  std::array<uint32_t, 80> w{};
  for (size_t i = 0; i < 16; ++i) w[i] = Sha1State::word(block + 4 * i);
  for (size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  auto [a, b, c, d, e] = s;
  for (size_t i = 0; i < 80; ++i) {
    const uint32_t f = i < 20 ? ((b & c) | (~b & d)) : i < 40 ? (b ^ c ^ d) : i < 60 ? ((b & c) | (b & d) | (c & d)) : (b ^ c ^ d);
    constexpr uint32_t kConstants[] = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
    const uint32_t t = std::rotl(a, 5) + f + e + kConstants[i / 20] + w[i];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = t;
  }
  s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e;
}

template <class Word, size_t kCount>
void sha2_block(std::array<Word, 8>& s, const char* block) {
  constexpr bool wide = sizeof(Word) == 8;
  std::array<Word, kCount> w{};
  for (size_t i = 0; i < 16; ++i) w[i] = Gathered<Word, 8, true>::word(block + sizeof(Word) * i);
  for (size_t i = 16; i < kCount; ++i) {
    const Word x = w[i - 15], y = w[i - 2];
    const Word s0 = wide ? std::rotr(x, 1) ^ std::rotr(x, 8) ^ (x >> 7) : std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3);
    const Word s1 = wide ? std::rotr(y, 19) ^ std::rotr(y, 61 % (8 * static_cast<int>(sizeof(Word)))) ^ (y >> 6)
                         : std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  const std::array<uint64_t, 80>& constants = round_constants();
  auto [a, b, c, d, e, f, g, h] = s;
  for (size_t i = 0; i < kCount; ++i) {
    const Word e1 = wide ? std::rotr(e, 14) ^ std::rotr(e, 18) ^ std::rotr(e, 41 % (8 * static_cast<int>(sizeof(Word))))
                         : std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const Word a0 = wide ? std::rotr(a, 28) ^ std::rotr(a, 34 % (8 * static_cast<int>(sizeof(Word)))) ^
                               std::rotr(a, 39 % (8 * static_cast<int>(sizeof(Word))))
                         : std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const Word constant = wide ? static_cast<Word>(constants[i]) : static_cast<Word>(constants[i] >> 32);
    const Word t1 = h + e1 + ((e & f) ^ (~e & g)) + constant + w[i], t2 = a0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<Word, 8> added{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) s[i] += added[i];
}

/// A running hash: update(), digest(), copy().
class Hash : public Object {
 public:
  const Type& type() const override;
  virtual void update(Interpreter& in, std::string_view bytes) = 0;
  virtual std::string digest() const = 0;
  virtual Value copy() const = 0;
};

template <class State, auto compress>
class HashOf final : public Hash {
 public:
  HashOf(State s, size_t size) : state_(std::move(s)), size_(size) {}
  void update(Interpreter& in, std::string_view bytes) override { state_.update(&in, bytes, compress); }
  std::string digest() const override { return state_.digest(size_, compress); }
  Value copy() const override { return Value::make<HashOf>(state_, size_); }

 private:
  State state_;
  const size_t size_;
};

const Type& Hash::type() const {
  static const Type type{
      "HASH",
      "_hashlib",
      &object_type(),
      {{"update", "self, data, /", [](Interpreter& in, Args a) { return a[0].as<Hash>()->update(in, need_bytes(a[1])), Value(); },
        "Takes bytes."},
       {"digest", "self, /", [](Interpreter&, Args a) { return make_bytes(a[0].as<Hash>()->digest()); }, "The hash of what was taken."},
       {"copy", "self, /", [](Interpreter&, Args a) { return a[0].as<Hash>()->copy(); }, "Another that has taken the same."}},
      {}};
  return type;
}

template <class State, auto compress>
Value begin(State state, size_t size) {
  return Value::make<HashOf<State, compress>>(std::move(state), size);
}

Value new_hash(Interpreter&, Args args) {
  const std::string& name = args[0].as<Str>()->value;
  if (name == "md5") {
    Md5State s;
    s.state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};
    return begin<Md5State, md5_block>(s, 16);
  }
  if (name == "sha1") {
    Sha1State s;
    s.state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    return begin<Sha1State, sha1_block>(s, 20);
  }
  if (name == "sha256" || name == "sha224") {
    Sha256State s;
    s.state = name == "sha256"
                  ? std::array<uint32_t, 8>{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19}
                  : std::array<uint32_t, 8>{0xC1059ED8, 0x367CD507, 0x3070DD17, 0xF70E5939, 0xFFC00B31, 0x68581511, 0x64F98FA7, 0xBEFA4FA4};
    return begin<Sha256State, sha2_block<uint32_t, 64>>(s, name == "sha256" ? 32 : 28);
  }
  Sha512State s;
  s.state = name == "sha512" ? std::array<uint64_t, 8>{0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
                                                       0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179}
                             : std::array<uint64_t, 8>{0xCBBB9D5DC1059ED8, 0x629A292A367CD507, 0x9159015A3070DD17, 0x152FECD8F70E5939,
                                                       0x67332667FFC00B31, 0x8EB44A8768581511, 0xDB0C2E0D64F98FA7, 0x47B5481DBEFA4FA4};
  return begin<Sha512State, sha2_block<uint64_t, 80>>(s, name == "sha512" ? 64 : 48);
}

}  // namespace

Value make_hash_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"new", "name", new_hash, "A running hash: md5, sha1, sha224, sha256, sha384 or sha512."},
  };
  return make_module("_hashlib", table);
}

}  // namespace gasell
