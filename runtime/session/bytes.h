// bytes and bytearray.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/session/value.h"

namespace gasell {

/// What bytes and bytearray share.
class BytesLike : public Object {
 public:
  explicit BytesLike(std::string v) : value(std::move(v)) {}
  bool truth(Interpreter&) override { return !value.empty(); }
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  int64_t length(Interpreter&) override { return static_cast<int64_t>(value.size()); }
  bool contains(Interpreter&, const Value&) override;
  Value get_item(Interpreter&, const Value&) override;
  Value iterate(Interpreter&) override;
  std::optional<Value> to_int(Interpreter&) override;
  std::optional<Value> to_float(Interpreter&) override;
  /// An object of the same class.
  virtual Value like(std::string v) const = 0;

  std::string value;  // of bytes it never changes
};

class Bytes final : public BytesLike {
 public:
  using BytesLike::BytesLike;
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  int64_t hash(Interpreter&) override;
  Value like(std::string v) const override { return Value::make<Bytes>(std::move(v)); }
};
inline Value make_bytes(std::string v) { return Value::make<Bytes>(std::move(v)); }

class ByteArray final : public BytesLike {
 public:
  using BytesLike::BytesLike;
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  int64_t hash(Interpreter&) override;  // TypeError
  std::optional<Value> in_place(Interpreter&, ast::BinaryOp, const Value&) override;
  void set_item(Interpreter&, const Value&, const Value&) override;
  void delete_item(Interpreter&, const Value&) override;
  Value like(std::string v) const override { return Value::make<ByteArray>(std::move(v)); }
};

const Type& bytes_type();
const Type& bytearray_type();

/// b'…' with CPython's quotes and escapes.
std::string bytes_repr(std::string_view v);
/// The bytes of bytes or a bytearray; TypeError "a bytes-like object is required, not 'str'".
std::string_view need_bytes(const Value& v);
/// An int from 0 to 255. ValueError "`what` must be in range(0, 256)", TypeError for what is no int.
char byte_of(Interpreter& in, const Value& v, std::string_view what = "byte");
/// The bytes of a bytes-like object or of an iterable of ints.
std::string bytes_of_items(Interpreter& in, const Value& v, std::string_view type_name);

/// b'…' % values.
std::string format_percent_bytes(Interpreter& in, std::string_view text, const Value& values);
/// int(b'12', base). ValueError shows the bytes.
Value parse_integer_of_bytes(Interpreter& in, const BytesLike& v, int64_t base);
/// int.to_bytes and int.from_bytes.
Value int_to_bytes(Interpreter& in, std::span<Value> args);
Value int_from_bytes(Interpreter& in, std::span<Value> args);

/// Methods by topic; the two types join them.
std::vector<NativeFunction> bytes_search_methods();
std::vector<NativeFunction> bytes_shape_methods();
std::vector<NativeFunction> bytearray_methods();

}  // namespace gasell
