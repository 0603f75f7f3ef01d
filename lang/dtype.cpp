#include "lang/dtype.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace gasell {
namespace {

using Half = _Float16;  // IEEE 754's binary16

struct Facts {
  char kind;
  int size;
  std::string_view name;
};
constexpr std::array<Facts, kDTypeCount> kFacts = {{{'b', 1, "bool"},
                                                    {'i', 1, "int8"},
                                                    {'i', 2, "int16"},
                                                    {'i', 4, "int32"},
                                                    {'i', 8, "int64"},
                                                    {'u', 1, "uint8"},
                                                    {'u', 2, "uint16"},
                                                    {'u', 4, "uint32"},
                                                    {'u', 8, "uint64"},
                                                    {'f', 4, "float32"},
                                                    {'f', 8, "float64"},
                                                    {'c', 8, "complex64"},
                                                    {'c', 16, "complex128"},
                                                    {'f', 2, "float16"}}};

const Facts& facts(DType type) { return kFacts[static_cast<size_t>(type)]; }

DType find(char kind, int size) {
  for (int t = 0; t < kDTypeCount; ++t)
    if (kFacts[t].kind == kind && kFacts[t].size == size) return static_cast<DType>(t);
  return kind == 'i' || kind == 'u' ? DType::f64 : DType::c128;  // wider than the widest: what NumPy falls back to
}

/// Bytes of the float that holds every integer of this size, as NumPy sees it.
int float_size_for_integer(int size) { return size == 1 ? 2 : size == 2 ? 4 : 8; }

int float_part_size(DType t) {
  const Facts& f = facts(t);
  if (f.kind == 'f') return f.size;
  if (f.kind == 'c') return f.size / 2;
  if (f.kind == 'b') return 2;
  return float_size_for_integer(f.size);
}

/// C's float → integer conversion as x86 does it: out of range and NaN give the "integer indefinite" value, the smallest. Small types are
/// cut out of 32 bits, uint32 out of 64; uint64 takes what lies above int64 after subtraction of 2^63.
int64_t truncate(double v, DType to) {
  constexpr double kTop = 9223372036854775808.0;
  const auto in_int64 = [](double x) { return x >= -kTop && x < kTop ? static_cast<int64_t>(x) : std::numeric_limits<int64_t>::min(); };
  if (to == DType::u64 && v >= kTop) return static_cast<int64_t>(static_cast<uint64_t>(in_int64(v - kTop)) ^ (uint64_t{1} << 63));
  if (to == DType::i64 || to == DType::u64 || to == DType::u32) return in_int64(v);
  return v > -2147483649.0 && v < 2147483648.0 ? static_cast<int64_t>(v) : std::numeric_limits<int32_t>::min();
}

int64_t wrap(int64_t v, DType to) {
  switch (to) {
    case DType::i8: return static_cast<int8_t>(v);
    case DType::i16: return static_cast<int16_t>(v);
    case DType::i32: return static_cast<int32_t>(v);
    case DType::u8: return static_cast<uint8_t>(v);
    case DType::u16: return static_cast<uint16_t>(v);
    case DType::u32: return static_cast<uint32_t>(v);
    default: return v;
  }
}

}  // namespace

char kind(DType type) { return facts(type).kind; }
int size_of(DType type) { return facts(type).size; }
std::string_view name_of(DType type) { return facts(type).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int t = 0; t < kDTypeCount; ++t)
    if (kFacts[t].name == name) return static_cast<DType>(t);
  if (name == "int" || name == "int_" || name == "intp" || name == "l" || name == "q" || name == "p" || name == "long" ||
      name == "longlong")
    return DType::i64;
  if (name == "uint" || name == "uintp" || name == "L" || name == "Q" || name == "P" || name == "ulong" || name == "ulonglong")
    return DType::u64;
  if (name == "float" || name == "double" || name == "d") return DType::f64;
  if (name == "single" || name == "f") return DType::f32;
  if (name == "half" || name == "e") return DType::f16;
  if (name == "complex" || name == "cdouble" || name == "D") return DType::c128;
  if (name == "csingle" || name == "F") return DType::c64;
  if (name == "bool_" || name == "?" || name == "b1") return DType::boolean;
  if (name == "b" || name == "byte") return DType::i8;
  if (name == "B" || name == "ubyte") return DType::u8;
  if (name == "h" || name == "short") return DType::i16;
  if (name == "H" || name == "ushort") return DType::u16;
  if (name == "i" || name == "intc") return DType::i32;
  if (name == "I" || name == "uintc") return DType::u32;
  if (!name.empty() && (name[0] == '<' || name[0] == '=' || name[0] == '|')) return dtype_from_name(name.substr(1));
  if (name.size() < 2 || name.size() > 3 || std::string_view("iufc").find(name[0]) == std::string_view::npos) return {};
  int size = 0;
  for (char digit : name.substr(1)) {
    if (digit < '0' || digit > '9') return {};
    size = size * 10 + (digit - '0');
  }
  for (int t = 0; t < kDTypeCount; ++t)
    if (kFacts[t].kind == name[0] && kFacts[t].size == size) return static_cast<DType>(t);
  return {};
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  const Facts &fa = facts(a), &fb = facts(b);
  if (fa.kind == 'b') return b;
  if (fb.kind == 'b') return a;
  if (fa.kind == 'c' || fb.kind == 'c') return find('c', 2 * std::max(float_part_size(a), float_part_size(b)));
  if (fa.kind == 'f' || fb.kind == 'f') return find('f', std::max(float_part_size(a), float_part_size(b)));
  if (fa.kind == fb.kind) return fa.size >= fb.size ? a : b;
  // Signed with unsigned: the signed type that holds both; int64 with uint64 has none and gives float64.
  const Facts& is = fa.kind == 'i' ? fa : fb;
  const Facts& us = fa.kind == 'u' ? fa : fb;
  if (is.size > us.size) return find('i', is.size);
  return find('i', us.size * 2);
}

DType promote_weak(DType a, char weak) {
  const char k = kind(a);
  switch (weak) {
    case 'b': return a;
    case 'i': return k == 'b' ? DType::i64 : a;
    case 'f': return k == 'f' || k == 'c' ? a : DType::f64;
    default: return k == 'c' ? a : k == 'f' ? complex_of(a) : DType::c128;
  }
}

DType real_of(DType type) { return type == DType::c64 ? DType::f32 : type == DType::c128 ? DType::f64 : type; }
DType complex_of(DType type) { return type == DType::f32 || type == DType::f16 || type == DType::c64 ? DType::c64 : DType::c128; }

double Scalar::as_double() const {
  if (!is_integral()) return c.real();
  return type == DType::u64 ? static_cast<double>(static_cast<uint64_t>(i)) : static_cast<double>(i);
}

Scalar Scalar::cast(DType to) const {
  if (to == type) return *this;
  Scalar r;
  r.type = to;
  switch (gasell::kind(to)) {
    case 'b': r.i = is_integral() ? i != 0 : c != 0.0; break;
    case 'i':
    case 'u': r.i = wrap(is_integral() ? i : truncate(c.real(), to), to); break;
    default: {
      r.c = is_integral() ? std::complex<double>(as_double()) : c;
      if (gasell::kind(to) == 'f') r.c.imag(0);
      if (to == DType::f32 || to == DType::c64) {
        // One rounding: integers go to float directly.
        float re = !is_integral()       ? static_cast<float>(r.c.real())
                   : type == DType::u64 ? static_cast<float>(static_cast<uint64_t>(i))
                                        : static_cast<float>(i);
        r.c = {re, static_cast<double>(static_cast<float>(r.c.imag()))};
      }
      // Integers go to float16 by way of float32, as NumPy's do; floats of any width are rounded once.
      if (to == DType::f16)
        r.c = static_cast<double>(is_integral() ? static_cast<Half>(cast(DType::f32).c.real()) : static_cast<Half>(c.real()));
    }
  }
  return r;
}

Scalar Scalar::load(const void* address, DType type) {
  auto get = [address]<class T>(T v) {
    std::memcpy(&v, address, sizeof v);
    return v;
  };
  switch (type) {
    case DType::boolean: return {type, get(uint8_t{}) != 0, 0};
    case DType::i8: return {type, get(int8_t{}), 0};
    case DType::i16: return {type, get(int16_t{}), 0};
    case DType::i32: return {type, get(int32_t{}), 0};
    case DType::i64: return {type, get(int64_t{}), 0};
    case DType::u8: return {type, get(uint8_t{}), 0};
    case DType::u16: return {type, get(uint16_t{}), 0};
    case DType::u32: return {type, get(uint32_t{}), 0};
    case DType::u64: return {type, get(int64_t{}), 0};
    case DType::f32: return {type, 0, get(float{})};
    case DType::f64: return {type, 0, get(double{})};
    case DType::c64: return {type, 0, std::complex<double>(get(std::complex<float>{}))};
    case DType::c128: return {type, 0, get(std::complex<double>{})};
    case DType::f16: return {type, 0, static_cast<double>(get(Half{}))};
  }
  return {};
}

void Scalar::store(void* address) const {
  auto put = [address]<class T>(T v) { std::memcpy(address, &v, sizeof v); };
  switch (type) {
    case DType::f32: put(static_cast<float>(c.real())); break;
    case DType::f64: put(c.real()); break;
    case DType::c64: put(std::complex<float>(c)); break;
    case DType::c128: put(c); break;
    case DType::f16: put(static_cast<Half>(c.real())); break;
    default: std::memcpy(address, &i, size_of(type));  // little-endian hosts only: the low bytes come first
  }
}

bool Scalar::same_bits(const Scalar& other) const { return type == other.type && i == other.i && std::memcmp(&c, &other.c, sizeof c) == 0; }

}  // namespace gasell
