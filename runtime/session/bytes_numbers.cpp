// Ints from bytes and to bytes.
#include "runtime/session/big_integer.h"
#include "runtime/session/bytes.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "runtime/session/str.h"

namespace gasell {
namespace {

bool is_little(const Value& order) {
  const std::string_view name = need_str(order, "argument 'byteorder' must be str, not ");
  if (name != "little" && name != "big") raise("ValueError", "byteorder must be either 'little' or 'big'");
  return name == "little";
}

}  // namespace

Value parse_integer_of_bytes(Interpreter&, const BytesLike& v, int64_t base) {
  for (const char c : v.value)
    if (static_cast<unsigned char>(c) >= 0x80)
      raise("ValueError", "invalid literal for int() with base " + std::to_string(base) + ": " + bytes_repr(v.value));
  try {
    return parse_integer(v.value, base);
  } catch (const Raised& raised) {
    const auto& text = raised.value.as<Exception>()->args[0].as<Str>()->value;
    if (!text.starts_with("invalid literal")) throw;
    raise("ValueError", "invalid literal for int() with base " + std::to_string(base) + ": " + bytes_repr(v.value));
  }
}

Value int_to_bytes(Interpreter& in, std::span<Value> args) {
  BigInteger v = integer_of(args[0]);
  const int64_t length = to_index(in, args[1]);
  const bool little = is_little(args[2]), has_sign = truth(in, args[3]);
  if (length < 0) raise("ValueError", "length argument must be non-negative");
  if (v < 0 && !has_sign) raise("OverflowError", "can't convert negative int to unsigned");
  if (length > kMostBits) raise("MemoryError", "an integer of more than 2**26 bits");
  const BigInteger limit = BigInteger(1) << static_cast<unsigned>(8 * length);
  const bool fits = has_sign ? (length == 0 ? v == 0 : v < limit / 2 && v >= -(limit / 2)) : v < limit;
  if (!fits) raise("OverflowError", "int too big to convert");
  if (v < 0) v += limit;
  std::string out(static_cast<size_t>(length), '\0');
  std::vector<unsigned char> bytes;
  export_bits(v, std::back_inserter(bytes), 8, false);  // the lowest first
  for (size_t i = 0; i < bytes.size() && i < out.size(); ++i) out[little ? i : out.size() - 1 - i] = static_cast<char>(bytes[i]);
  return make_bytes(std::move(out));
}

Value int_from_bytes(Interpreter& in, std::span<Value> args) {
  if (args[0].as<Str>()) raise("TypeError", "cannot convert 'str' object to bytes");
  const std::string bytes = bytes_of_items(in, args[0], "bytes");
  const bool little = is_little(args[1]), has_sign = truth(in, args[2]);
  BigInteger v = 0;
  if (!bytes.empty()) {
    import_bits(v, reinterpret_cast<const unsigned char*>(bytes.data()),
                reinterpret_cast<const unsigned char*>(bytes.data()) + bytes.size(), 8, !little);
    const auto top = static_cast<unsigned char>(little ? bytes.back() : bytes.front());
    if (has_sign && top >= 0x80) v -= BigInteger(1) << static_cast<unsigned>(8 * bytes.size());
  }
  return make_integer(std::move(v));
}

}  // namespace gasell
