// What the natives of texts (the hidden module _texts) share: arguments, and functions of each text of a column.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/frame/text_functions.h"
#include "stdlib/pandas/column_object.h"

namespace gasell::pandas {

using Args = std::span<Value>;

std::string text_argument(Interpreter& in, const Value& v);
/// Nothing for None.
std::optional<std::string> optional_text(Interpreter& in, const Value& v);
std::optional<int64_t> optional_int(Interpreter& in, const Value& v);

/// A column of what a function makes of each text.
Value mapped(Interpreter& in, const Value& column, const frame::TextFunction& f);
Value mapped(Interpreter& in, const Value& column, std::function<std::string(std::string_view)> f);
/// A column of what a function counts, or says, of each text.
Value measured(Interpreter& in, const Value& column, DType dtype, const frame::TextMeasure& f);
Value tested(Interpreter& in, const Value& column, std::function<bool(std::string_view)> f);
Value list_of_columns(std::vector<Column> columns);

/// Natives of _texts, by file.
std::vector<NativeFunction> text_pattern_functions();
std::vector<NativeFunction> text_part_functions();

}  // namespace gasell::pandas
