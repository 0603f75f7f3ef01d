// Values of any type in a column: lists, tuples, dicts, arrays, or scalars of several types. The column is one of texts
// (ColumnType::objects "object"), each text an encoding of its value, so that rows are taken, grouped and compared as those of texts are.
// _frame.kind() of such a column is "P".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/frame/column.h"
#include "runtime/session/interpreter.h"

namespace gasell::pandas {

inline constexpr const char* kAnyObject = "object";
frame::ColumnType any_object_type();

/// Codes below 0 are missing. In such a column they say how the value was given, and -1, which operators make, is NaN.
int32_t code_of_missing(const Value& v);
Value missing_of_code(int64_t code);

/// A value as text; nothing where it holds something that has no encoding.
std::optional<std::string> encode_object(Interpreter& in, const Value& v);
/// A column of any values as keys: those that are equal in Python have one text, True and 1.0 that of 1.
frame::Column object_keys(Interpreter& in, frame::Column column);
Value decode_object(Interpreter& in, std::string_view text);
/// The value as pandas prints it within a column: texts without quotes but in dicts, floats by their digits after the point (-1: as str()
/// does).
std::string object_cell(Interpreter& in, const Value& v, int digits, bool quoted = false);

}  // namespace gasell::pandas
