// Records of numbers as bytes, as Python's module struct packs them; struct/core.gsl is the module.
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "runtime/session/big_integer.h"
#include "runtime/session/bytes.h"
#include "runtime/session/objects.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

const Type& struct_error() {
  static const Type made{"error", "struct", exception_type("Exception"), {}, {}};
  return made;
}
[[noreturn]] void fail(std::string message) {
  throw Raised(Value::make<Exception>(struct_error(), std::vector<Value>{make_str(std::move(message))}));
}

struct Field {
  char code;
  int64_t count;  // how many values; of s and p: how many bytes
  size_t size;    // of one value
  size_t pad;     // zeros before it
};
struct Layout {
  std::vector<Field> fields;
  bool big = false;
  size_t size = 0, values = 0;
};

size_t standard_size(char code) {
  switch (code) {
    case 'x':
    case 'c':
    case 'b':
    case 'B':
    case '?':
    case 's':
    case 'p': return 1;
    case 'h':
    case 'H':
    case 'e': return 2;
    case 'i':
    case 'I':
    case 'l':
    case 'L':
    case 'f': return 4;
    case 'q':
    case 'Q':
    case 'd': return 8;
    default: return 0;
  }
}

Layout parse(const Value& format) {
  std::string text;
  if (const auto* s = format.as<Str>())
    text = s->value;
  else if (const auto* b = format.as<BytesLike>())
    text = b->value;
  else
    raise("TypeError", "Struct() argument 1 must be a str or bytes object, not " + type_of(format).name);
  Layout layout;
  bool native = true, aligned = true;
  size_t at = 0;
  if (!text.empty() && std::string_view("@=<>!").find(text[0]) != std::string_view::npos) {
    native = text[0] == '@';
    aligned = native;
    layout.big = text[0] == '>' || text[0] == '!';
    ++at;
  }
  while (at < text.size()) {
    if (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r')) {
      ++at;
      continue;
    }
    int64_t count = 1;
    if (text[at] >= '0' && text[at] <= '9') {
      count = 0;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
        count = count * 10 + (text[at] - '0');
        if (count > INT32_MAX) fail("total struct size too long");
      }
      if (at == text.size()) fail("repeat count given without format specifier");
    }
    const char code = text[at++];
    size_t size = standard_size(code);
    if (native && (code == 'l' || code == 'L')) size = 8;
    if (native && (code == 'n' || code == 'N' || code == 'P')) size = 8;
    if (size == 0) fail("bad char in struct format");
    const size_t pad = aligned && size > 1 ? (size - layout.size % size) % size : 0;
    layout.fields.push_back({code, count, size, pad});
    layout.size += pad + static_cast<size_t>(count) * size;
    if (layout.size > (size_t{1} << 40)) fail("total struct size too long");
    if (code == 's' || code == 'p')
      ++layout.values;
    else if (code != 'x')
      layout.values += static_cast<size_t>(count);
  }
  return layout;
}

void put(std::string& out, uint64_t bits, size_t size, bool big) {
  for (size_t i = 0; i < size; ++i) out += static_cast<char>(bits >> 8 * (big ? size - 1 - i : i) & 0xFF);
}

/// The half-precision bits nearest to a double; OverflowError beyond its range.
uint16_t half_bits(double v) {
  const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v)) return sign | 0x7E00;
  if (std::isinf(v)) return sign | 0x7C00;
  int exponent = 0;
  const double m = std::frexp(std::abs(v), &exponent);  // in [0.5, 1)
  if (v == 0) return sign;
  const int bits = exponent < -13 ? 11 + (exponent + 13) : 11;  // subnormals have fewer
  const double scaled = std::nearbyint(std::ldexp(m, std::max(bits, -1)));
  const double rounded = std::ldexp(scaled, exponent - std::max(bits, -1));
  if (rounded >= 65520) raise("OverflowError", "float too large to pack with e format");
  if (rounded < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::ldexp(rounded, 24)));
  int e = 0;
  const double top = std::frexp(rounded, &e);
  return static_cast<uint16_t>(sign | ((e + 14) << 10) | (static_cast<int>(std::ldexp(top, 11)) & 0x3FF));
}

double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 0x3FF;
  const double v = exponent == 31 ? (mantissa ? std::nan("") : HUGE_VAL)
                   : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                  : std::ldexp(mantissa, -24);
  return bits & 0x8000 ? -v : v;
}

bool is_signed(char code) { return std::string_view("bhilqn").find(code) != std::string_view::npos; }

void pack_integer(Interpreter& in, std::string& out, const Value& v, const Field& field, bool big) {
  if (!is_integer(v) && !(v.is_object() && v.object()->to_index(in))) fail("required argument is not an integer");
  const BigInteger value = to_big_index(in, v);
  const auto bits = static_cast<unsigned>(8 * field.size);
  const BigInteger least = is_signed(field.code) ? BigInteger(-(BigInteger(1) << (bits - 1))) : BigInteger(0),
                   most = is_signed(field.code) ? BigInteger((BigInteger(1) << (bits - 1)) - 1) : BigInteger((BigInteger(1) << bits) - 1);
  if (value < least || value > most) {
    // CPython goes by a C long first, of larger unsigned numbers by an unsigned one.
    const bool by_unsigned = std::string_view("ILQNP").find(field.code) != std::string_view::npos;
    const bool fits_long =
        by_unsigned ? value >= 0 && value <= BigInteger(UINT64_MAX) : value >= BigInteger(INT64_MIN) && value <= BigInteger(INT64_MAX);
    if (field.size == 8 || !fits_long) fail("argument out of range");
    const size_t named = std::string_view("bBhH").find(field.code);
    constexpr const char* kNames[] = {"byte", "ubyte", "short", "ushort"};
    const std::string name = named < 4 ? kNames[named] : std::string("'") + field.code + "'";
    fail(fmt::format("{} format requires {} <= number <= {}", name, least.str(), most.str()));
  }
  put(out, static_cast<uint64_t>(value < 0 ? BigInteger(value + (BigInteger(1) << 64)) : value), field.size, big);
}

void pack_one(Interpreter& in, std::string& out, const Value& v, const Field& field, bool big) {
  switch (field.code) {
    case 'c': {
      const auto* b = v.as<BytesLike>();
      if (!b || b->value.size() != 1) fail("char format requires a bytes object of length 1");
      out += b->value;
      return;
    }
    case '?': out += truth(in, v) ? '\1' : '\0'; return;
    case 'e':
    case 'f':
    case 'd': {
      if (!v.is_float() && !is_integer(v) && (!v.is_object() || v.as<Str>() || v.as<BytesLike>() || !v.object()->to_float(in)))
        fail("required argument is not a float");
      const double d = to_double(in, v);
      if (field.code == 'e') return put(out, half_bits(d), 2, big);
      if (field.code == 'd') return put(out, std::bit_cast<uint64_t>(d), 8, big);
      const auto f = static_cast<float>(d);
      if (std::isinf(f) && !std::isinf(d)) raise("OverflowError", "float too large to pack with f format");
      return put(out, std::bit_cast<uint32_t>(f), 4, big);
    }
    default: pack_integer(in, out, v, field, big);
  }
}

std::string pack_values(Interpreter& in, const Layout& layout, std::span<const Value> values) {
  if (values.size() != layout.values) fail(fmt::format("pack expected {} items for packing (got {})", layout.values, values.size()));
  std::string out;
  size_t next = 0;
  for (const Field& field : layout.fields) {
    out.append(field.pad, '\0');
    if (field.code == 'x') {
      out.append(static_cast<size_t>(field.count), '\0');
    } else if (field.code == 's' || field.code == 'p') {
      const auto* b = values[next++].as<BytesLike>();
      if (!b) fail(fmt::format("argument for '{}' must be a bytes object", field.code));
      const auto room = static_cast<size_t>(field.count);
      std::string text = b->value;
      if (field.code == 'p' && room > 0) text.insert(0, 1, static_cast<char>(std::min({text.size(), room - 1, size_t{255}})));
      text.resize(room, '\0');
      out += text;
    } else {
      for (int64_t i = 0; i < field.count; ++i) pack_one(in, out, values[next++], field, layout.big);
    }
  }
  return out;
}

Value unpack_one(std::string_view bytes, const Field& field, bool big) {
  uint64_t bits = 0;
  for (size_t i = 0; i < field.size; ++i)
    bits |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[big ? field.size - 1 - i : i])) << 8 * i;
  switch (field.code) {
    case 'c': return make_bytes(std::string(bytes.substr(0, 1)));
    case '?': return Value::of(bits != 0);
    case 'e': return Value::of(half_value(static_cast<uint16_t>(bits)));
    case 'f': return Value::of(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
    case 'd': return Value::of(std::bit_cast<double>(bits));
    default: break;
  }
  if (!is_signed(field.code)) return make_integer(BigInteger(bits));
  const unsigned unused = static_cast<unsigned>(64 - 8 * field.size);
  return Value::of(static_cast<int64_t>(bits << unused) >> unused);
}

Value unpack_values(const Layout& layout, std::string_view bytes) {
  std::vector<Value> values;
  size_t at = 0;
  for (const Field& field : layout.fields) {
    at += field.pad;
    const auto count = static_cast<size_t>(field.count);
    if (field.code == 's') {
      values.push_back(make_bytes(std::string(bytes.substr(at, count))));
    } else if (field.code == 'p') {
      const size_t size = count == 0 ? 0 : std::min<size_t>(static_cast<unsigned char>(bytes[at]), count - 1);
      values.push_back(make_bytes(std::string(bytes.substr(at + 1, size))));
    } else if (field.code != 'x') {
      for (size_t i = 0; i < count; ++i) values.push_back(unpack_one(bytes.substr(at + i * field.size, field.size), field, layout.big));
    }
    at += count * field.size;
  }
  return make_tuple(std::move(values));
}

Value pack(Interpreter& in, Args a) { return make_bytes(pack_values(in, parse(a[0]), a[1].as<Tuple>()->items)); }

Value unpack(Interpreter&, Args a) {
  const Layout layout = parse(a[0]);
  const std::string_view bytes = need_bytes(a[1]);
  if (bytes.size() != layout.size) fail(fmt::format("unpack requires a buffer of {} bytes", layout.size));
  return unpack_values(layout, bytes);
}

/// Where a record at an offset begins; struct.error where it does not fit.
size_t place(Interpreter& in, const Layout& layout, std::string_view bytes, const Value& offset, const char* function) {
  int64_t at = to_index(in, offset);
  const auto size = static_cast<int64_t>(bytes.size());
  if (at < 0) {
    if (at + static_cast<int64_t>(layout.size) > 0)
      fail(std::string_view(function) == "unpack_from" ? fmt::format("not enough data to unpack {} bytes", layout.size)
                                                       : fmt::format("no space to pack {} bytes at offset {}", layout.size, at));
    if (at + size < 0) fail(fmt::format("offset {} out of range for {}-byte buffer", at, size));
    at += size;
  }
  if (size - at < static_cast<int64_t>(layout.size))
    fail(fmt::format("{} requires a buffer of at least {} bytes for {} {} bytes at offset {} (actual buffer size is {})", function,
                     layout.size + static_cast<size_t>(at), std::string_view(function) == "unpack_from" ? "unpacking" : "packing",
                     layout.size, at, size));
  return static_cast<size_t>(at);
}

Value unpack_from(Interpreter& in, Args a) {
  const Layout layout = parse(a[0]);
  const std::string_view bytes = need_bytes(a[1]);
  return unpack_values(layout, bytes.substr(place(in, layout, bytes, a[2], "unpack_from"), layout.size));
}

Value pack_into(Interpreter& in, Args a) {
  const Layout layout = parse(a[0]);
  auto* buffer = a[1].as<ByteArray>();
  if (!buffer) raise("TypeError", "read-write bytes-like object expected");
  const std::string packed = pack_values(in, layout, a[3].as<Tuple>()->items);
  const size_t at = place(in, layout, buffer->value, a[2], "pack_into");
  buffer->value.replace(at, packed.size(), packed);
  return {};
}

Value calculated_size(Interpreter&, Args a) { return Value::of(static_cast<int64_t>(parse(a[0]).size)); }

Value iterate_unpacked(Interpreter&, Args a) {
  const Layout layout = parse(a[0]);
  const std::string_view bytes = need_bytes(a[1]);
  if (layout.size == 0) fail("cannot iteratively unpack with a struct of length 0");
  if (bytes.size() % layout.size != 0) fail(fmt::format("iterative unpacking requires a buffer of a multiple of {} bytes", layout.size));
  std::vector<Value> records;
  for (size_t at = 0; at < bytes.size(); at += layout.size) records.push_back(unpack_values(layout, bytes.substr(at, layout.size)));
  return make_list(std::move(records));
}

}  // namespace

Value make_struct_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"pack", "format, /, *values", pack, "The bytes of values."},
      {"unpack", "format, buffer, /", unpack, "The values of bytes, a tuple."},
      {"unpack_from", "format, buffer, offset=0", unpack_from, "The values of the bytes at an offset."},
      {"pack_into", "format, buffer, offset, /, *values", pack_into, "Puts the bytes of values into a bytearray."},
      {"calcsize", "format, /", calculated_size, "How many bytes a record has."},
      {"records", "format, buffer, /", iterate_unpacked, "The records of bytes, a list of tuples."},
  };
  Value module = make_module("_struct", table);
  set_member(module, "error", type_object(struct_error()));
  return module;
}

}  // namespace gasell
