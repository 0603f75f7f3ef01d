// Natives of _frame: orders of rows.
#include <algorithm>

#include "runtime/frame/dictionary.h"
#include "runtime/frame/order.h"
#include "stdlib/pandas/column_object.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;

/// order(columns, ascending, na_position): the rows sorted by columns, each ascending or not; an array of int64.
Value order(Interpreter& in, Args args) {
  std::vector<Column> keys;
  for (const Value& v : to_vector(in, args[0])) {
    Column key = column_of(v);
    if (key.type.logical == Logical::text) key = frame::with_distinct_texts(in.engine(), key);
    keys.push_back(std::move(key));
  }
  const bool missing_first = gasell::str(in, args[2]) == "first";
  std::vector<frame::KeyOrder> orders;
  for (const Value& v : to_vector(in, args[1])) orders.push_back({!truth(in, v), missing_first});
  const frame::RowKeys numbers(in.engine(), {keys}, frame::MissingKeys::kept, true, orders);
  const frame::Scratch<uint32_t> sorted = frame::order_rows(in.engine(), numbers);
  frame::NewValues rows(in.engine(), DType::i64, sorted.size());
  std::copy(sorted.begin(), sorted.end(), rows.as<int64_t>());
  return numpy::wrap_array(rows.node());
}

}  // namespace

std::vector<NativeFunction> relational_functions() {
  return {
      {"order", "columns, ascending, na_position='last'", order, "The rows sorted by columns."},
  };
}

}  // namespace gasell::pandas
