#include "runtime/io/csv/file_scan.h"

#include <utility>

#include "runtime/frame/dictionary.h"
#include "runtime/frame/row_parts.h"

namespace gasell::csv {

template <class F>
auto FileScan::part_of(size_t column, const F& take) {
  const std::lock_guard lock(later_mutex_);
  columns_[column].announced = true;
  if (!columns_[column].column) {
    std::vector<size_t> wanted;
    for (size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].announced && !columns_[i].column) wanted.push_back(i);
    std::vector<frame::Column> read;
    try {
      read = load(wanted, pieces_, rows_);
    } catch (...) {
      // What was wanted beside may be right by itself.
      for (const size_t i : wanted) columns_[i].announced = false;
      throw;
    }
    for (size_t k = 0; k < wanted.size(); ++k) columns_[wanted[k]].column = std::move(read[k]);
  }
  return take(*columns_[column].column);
}

/// Rows of a column by themselves.
frame::Column FileScan::load_part(size_t column, int64_t begin, int64_t end) {
  const std::lock_guard lock(later_mutex_);
  std::vector<Piece> some;
  for (const Piece& piece : pieces_)
    if (piece.block.first_row < end && piece.block.first_row + piece.block.rows > begin) some.push_back(piece);
  const int64_t first = some.front().block.first_row, last = some.back().block.first_row + some.back().block.rows;
  for (Piece& piece : some) piece.block.first_row -= first;
  return frame::slice(engine_, load({column}, some, last - first)[0], begin - first, end - first);
}

frame::Column FileScan::later(size_t column) {
  const Known& known = columns_[column];
  const auto announce = [self = shared_from_this(), column] {
    const std::lock_guard lock(self->later_mutex_);
    if (!self->columns_[column].column) self->columns_[column].announced = true;
  };
  // What is taken is no longer kept here.
  const auto memory = [&](DType dtype, graph::NodeRef frame::Column::* part) {
    auto make = [self = shared_from_this(), column, part] {
      return self->part_of(column, [&](frame::Column& read) {
        const graph::NodeRef node = std::exchange(read.*part, nullptr);
        return std::static_pointer_cast<HostStorage>(node->as<graph::BufferNode>()->storage);
      });
    };
    return graph::buffer(deferred(rows_ * size_of(dtype), std::move(make), announce), dtype, {rows_}, {1}, 0);
  };
  frame::Column result;
  switch (known.kind) {
    case Kind::boolean: result.type = frame::number_type(DType::boolean); break;
    case Kind::i64: result.type = frame::number_type(DType::i64); break;
    case Kind::u64: result.type = frame::number_type(DType::u64); break;
    case Kind::datetime: result.type = frame::datetime_type(known.dates.zone ? "UTC" : ""); break;
    case Kind::text: result.type = frame::text_type(); break;
    default: result.type = frame::number_type(DType::f64);
  }
  if (known.wanted) result.type = known.wanted->type;
  result.values = memory(result.type.dtype, &frame::Column::values);
  if (result.type.is_number() && known.missing && (result.type.nullable || !is_float(result.type.dtype)))
    result.validity = memory(DType::boolean, &frame::Column::validity);
  if (result.type.logical == frame::Logical::text)
    result.dictionary = std::make_shared<frame::Dictionary>(
        [self = shared_from_this(), column] { return self->part_of(column, [](frame::Column& read) { return read.dictionary; }); });
  return frame::with_row_parts(
      std::move(result), [self = shared_from_this(), column](int64_t begin, int64_t end) { return self->load_part(column, begin, end); });
}

CsvTable FileScan::read() {
  CsvTable table;
  table.rows = rows_;
  table.numbered = layout_.numbered;
  table.index_columns = layout_.index_columns;
  table.columns.resize(columns_.size());
  std::vector<size_t> now;
  for (size_t i = 0; i < columns_.size(); ++i) {
    table.names.push_back(layout_.names[static_cast<size_t>(columns_[i].field)]);
    Known& known = columns_[i];
    // Columns whose samples say nothing, and those with few values that are texts each, are known when they are read.
    const bool unknown = known.kind == Kind::nothing || known.kind == Kind::integer;
    const bool category = known.wanted && known.wanted->type.logical == frame::Logical::category;
    known.is_later = reads_later() && !category && (!unknown || known.wanted);
    if (known.is_later)
      table.columns[i] = later(i);
    else
      now.push_back(i);
  }
  std::vector<frame::Column> read = load(now, pieces_, rows_);
  for (size_t k = 0; k < now.size(); ++k) table.columns[now[k]] = std::move(read[k]);
  return table;
}

}  // namespace gasell::csv
