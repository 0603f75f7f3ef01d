// Columns of pd.Period and pd.Interval, whose classes are texts of the library (stdlib/pandas/Period, stdlib/pandas/Interval).
//
// A column of periods (Logical::period) has their ordinals: steps of its frequency since 1970. One of intervals is one of texts
// (ColumnType::objects "interval[float64, right]") that stand in the order of the intervals: both bounds, each as 16 hexadecimal digits. So
// rows of either are taken, ordered, grouped and joined as those of times and texts are; what they are as texts and in other types is said
// by stdlib/_pandas/library_values.gsl.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib/pandas/column_object.h"

namespace gasell::pandas {

inline bool has_library_values(const ColumnType& type) { return type.logical == Logical::period || type.is_interval(); }
/// Whether it is a Period or an Interval.
bool is_library_value(const Value& v);

/// pd.NaT where the ordinal is frame::kNotATime.
Value period_value(Interpreter& in, int64_t ordinal, const std::string& frequency);
/// The ordinal of a Period of this frequency, or of NaT; nothing for all else.
std::optional<int64_t> ordinal_of(const Value& v, std::string_view frequency);
Value interval_value(Interpreter& in, std::string_view text, std::string_view type);
/// An Interval as it stands in a column of this type ("interval[int64, right]"); nothing where none of its values is equal to it.
std::optional<std::string> interval_text(Interpreter& in, const Value& v, std::string_view type);

/// A Period, an Interval or an offset as a text that says which and the values that make it; nothing for all else.
std::optional<std::vector<Value>> parts_of_library_value(const Value& v);
Value library_value_of_parts(Interpreter& in, const std::vector<Value>& parts);

/// Periods or intervals, and what is missing, as a column; of several frequencies or types one of any objects.
Column column_of_library_values(Interpreter& in, const std::vector<Value>& values);
/// The type that "period[M]" or "interval[int64, right]" names.
std::optional<ColumnType> library_type_named(Interpreter& in, const std::string& name);
/// From or to such a type.
Column cast_of_library_values(Interpreter& in, const Column& column, const ColumnType& to);
/// str() of each.
std::vector<std::string> texts_of_library_values(Interpreter& in, const Column& column, const std::string& missing);
/// The column with texts in the place of periods and intervals, of categories, too; others as they are.
Column written_as_texts(Interpreter& in, const Column& column);

}  // namespace gasell::pandas
