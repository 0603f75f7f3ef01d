// Arrays of Arrow as columns of frames.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine.h"
#include "runtime/frame/column.h"
#include "runtime/frame/dictionary.h"
#include "runtime/io/arrow/plugin.h"

namespace gasell::arrow {

/// How the values of a column lie in Arrow's arrays and what they become.
struct FieldType {
  enum class Form : uint8_t { plain, bits, days, texts, coded, nothing };
  frame::ColumnType type;
  Form form = Form::plain;
  int width = 0;        // bytes of a value in the array
  int64_t scale = 1;    // times: nanoseconds a unit
  bool wide = false;    // texts, those of codes, too: offsets of 64 bits
  bool binary = false;  // texts that the file does not say are such: Hive and Impala write them so
};
/// Nothing for types that frames have not: decimals, lists, structs …
std::optional<FieldType> field_type(const ArrowSchema& schema);
/// "decimal128(9, 2)", "list": for messages.
std::string shown_type(const ArrowSchema& schema);
/// rows + more. ValueError where `more` is negative or so many that the bytes of a column could not be counted: the file `shown` lies.
int64_t added_rows(int64_t rows, int64_t more, const std::string& shown);
/// A value of the schema's metadata, or "".
std::string metadata_value(const ArrowSchema& schema, std::string_view key);

/// Whether numbers of this type tell what is missing by themselves.
inline bool tells_missing(const FieldType& f) { return !f.type.is_number() || is_float(f.type.dtype); }

/// Whether the values of an array lie as those of our columns do, none of them missing.
bool lies_as_ours(const FieldType& type, const ArrowArray& array);

/// Writes the array's values to rows [row, row + length) of a column's memory; `valid` (null: the column has none) too. Throws Error:
/// ValueError for nulls where there is no place for them; OutOfBoundsDatetime for times that nanoseconds cannot hold.
void put_values(const FieldType& type, const ArrowArray& array, void* values, bool* valid, int64_t row, const std::string& column);

/// A run of rows of a text column: what the array's offsets or codes say.
struct TextPart {
  ArrayData keep;  // owns `array`
  const ArrowArray* array = nullptr;
  FieldType type;  // texts, or coded
  int64_t first_row = 0;
};
struct JoinedTexts {
  frame::NewValues codes;
  frame::DictionaryRef dictionary;
};

/// A column with a text a row, of parts whose bytes are known before they are read, so that each is put where it belongs while it is in the
/// processor's cache. Parts may be put side by side.
class TextRows {
 public:
  TextRows(Engine& engine, int64_t rows, int64_t bytes);
  /// Rows from `row` on; their bytes from `at` on, which moves behind them. False: they are not texts, or go beyond `end`. ValueError for
  /// offsets that do not grow.
  bool put(const FieldType& type, const ArrowArray& array, int64_t row, int64_t& at, int64_t end, const std::string& column);
  JoinedTexts finish();

 private:
  int64_t rows_;
  frame::NewValues codes_;
  HostStorageRef offsets_, bytes_;
};

/// One column of all parts: over one dictionary of distinct texts where the parts have small dictionaries (or `distinct` asks for it), else
/// texts one behind the other. ValueError for codes that point nowhere, and offsets that do not grow.
JoinedTexts join_texts(Engine& engine, const std::vector<TextPart>& parts, int64_t rows, bool distinct, const std::string& column);

}  // namespace gasell::arrow
