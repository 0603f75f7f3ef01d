// Columns as values of the session: what library texts make Series, indexes and frames of, and what scripts see as arrays of texts and
// times.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/frame/column.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::pandas {

using frame::Column;
using frame::ColumnType;
using frame::Logical;
using graph::NodeRef;

/// Where the values of a column are, by value; made when somebody first looks one up.
class ColumnIndex {
 public:
  ColumnIndex(Engine& engine, Column& column);
  bool is_unique() const { return unique_; }
  /// The rows of a key (key_of), in order.
  std::vector<int64_t> rows(int64_t key) const;
  int64_t first(int64_t key) const;  // -1: not there

 private:
  std::unordered_map<int64_t, int64_t> first_;              // key → first row
  std::unordered_map<int64_t, std::vector<int64_t>> more_;  // the other rows of keys that are there more than once
  bool unique_ = true;
};

class ColumnObject final : public Object {
 public:
  explicit ColumnObject(Column c) : column(std::move(c)) {}
  const Type& type() const override;
  std::string repr(Interpreter& in) override;
  std::string str(Interpreter& in) override;
  int64_t length(Interpreter&) override { return column.size(); }
  Value get_item(Interpreter& in, const Value& index) override;
  void set_item(Interpreter& in, const Value& index, const Value& value) override;
  Value iterate(Interpreter& in) override;
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  Value unary(Interpreter& in, ast::UnaryOp op) override;
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override;
  const ColumnIndex& index(Interpreter& in);

  Column column;  // immutable but for being computed

 private:
  std::unique_ptr<ColumnIndex> index_;
};

Value wrap_column(Column column);
/// TypeError where v is no column.
Column& column_of(const Value& v);

/// Value `row` as the script sees it: a NumPy scalar, a str, a Timestamp, pd.NA, pd.NaT …
Value cell(Interpreter& in, Column& column, int64_t row);
/// All of them as a list, numbers and truth values as Python's own.
Value list_of_column(Interpreter& in, Column& column);
/// A scalar as the key under which a column of this type has it in its index: the bits of its number, the code of its text. Nothing where
/// no value of such a column can be equal to it.
std::optional<int64_t> key_of(Interpreter& in, const Column& column, const Value& scalar);
/// ColumnType::objects of the texts that stand for such a value: "date", "time", or nothing.
std::string objects_of(const Value& v);
/// Whether a scalar is missing: None, NaN, NA, NaT.
bool is_missing_value(Interpreter& in, const Value& v);

/// "int64", "Int8", "float", "str", "category", "datetime64[ns, UTC]", np.float32, int …; TypeError "data type 'x' not understood".
ColumnType to_column_type(Interpreter& in, const Value& v);
/// A column of what a script gives: a list, a tuple, a range, an array of rank 1, a column. Its type is found as pandas finds it, but that
/// integers beside None stay integers; `wanted` converts.
Column make_column(Interpreter& in, const Value& values, const std::optional<ColumnType>& wanted);
/// A column of values of any types (object_texts.h). TypeError for one that it cannot hold.
Column object_column(Interpreter& in, const std::vector<Value>& values);
/// What the codes of a column of categories stand for, as a plain column.
Column take_categories(Interpreter& in, const Column& column);
/// Values in another type. ValueError where one does not convert.
Column cast(Interpreter& in, const Column& column, const ColumnType& to);

/// The values as pandas prints them in a column (cells.cpp): floats in one form, missing ones as NaN, NaT, <NA>. `leading_space` before
/// numbers without a sign.
struct CellFormat {
  bool leading_space = true;
  int digits = 6;       // after the point
  bool quoted = false;  // texts
  std::string missing_float = "NaN";
};
std::vector<std::string> format_cells(Interpreter& in, Column& column, const CellFormat& format);

/// Natives of the hidden module _frame, by file.
std::vector<NativeFunction> row_functions();
std::vector<NativeFunction> cell_functions();
std::vector<NativeFunction> label_functions();
std::vector<NativeFunction> library_value_functions();
std::vector<NativeFunction> relational_functions();
std::vector<NativeFunction> window_functions();
std::vector<NativeFunction> expression_functions();
std::vector<NativeFunction> gpu_functions();
std::vector<NativeFunction> operator_functions();

}  // namespace gasell::pandas
