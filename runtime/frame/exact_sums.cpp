#include "runtime/frame/exact_sums.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "compiler/plan/canonical.h"

namespace gasell::frame {
namespace {

constexpr int64_t kBlock = 1024;
/// Columns that are added up together: the additions of a row are unrolled.
constexpr int64_t kMostColumns = 8;
constexpr int64_t kTableBytes = 1 << 20;
/// Rows a thread whose values are computed at a time.
constexpr int64_t kStretch = 1 << 18;
/// Sums of less than this are far from overflowing when a block more is added.
constexpr uint64_t kRoom = uint64_t{1} << 62;

/// A thread's sums: a group's rows, then its sums, of 64 bits, which go over to wide ones before they can overflow. One group more than
/// there are takes the rows that are in none.
class Table {
 public:
  Table(Engine& engine, int64_t groups, int64_t columns)
      : engine_(engine), groups_(groups), columns_(columns), sums_(engine, (groups + 1) * (columns + 1)) {
    std::fill(sums_.begin(), sums_.end(), 0);
  }

  /// Rows of `kBlock` at most; `values`: a pointer a column.
  void add(const int32_t* ids, int64_t count, const int64_t* const* values) {
    uint64_t most = 0;
    for (int64_t c = 0; c < columns_; ++c) {
      uint64_t bits = 0;  // a value's, or those of its complement: no value is farther from 0 than these and 1
      for (int64_t i = 0; i < count; ++i) bits |= static_cast<uint64_t>(values[c][i] ^ (values[c][i] >> 63));
      most = std::max(most, bits + 1);
    }
    if (most >= kRoom / kBlock) return add_wide(ids, count, values);
    if (used_ + most * kBlock >= kRoom) empty();
    used_ += most * kBlock;
    switch (columns_) {
      case 1: return add_columns<1>(ids, count, values);
      case 2: return add_columns<2>(ids, count, values);
      case 3: return add_columns<3>(ids, count, values);
      case 4: return add_columns<4>(ids, count, values);
      case 5: return add_columns<5>(ids, count, values);
      case 6: return add_columns<6>(ids, count, values);
      case 7: return add_columns<7>(ids, count, values);
      default: return add_columns<8>(ids, count, values);
    }
  }
  int64_t rows(int64_t group) const { return sums_[group * (columns_ + 1)]; }
  WideInteger sum(int64_t group, int64_t column) const {
    return sums_[group * (columns_ + 1) + 1 + column] + (wide_ ? wide_[group * columns_ + column] : 0);
  }

 private:
  int64_t place(int32_t id) const { return std::min<int64_t>(static_cast<uint32_t>(id), groups_); }

  template <int kColumns>
  void add_columns(const int32_t* ids, int64_t count, const int64_t* const* values) const {
    std::array<const int64_t*, kMostColumns> from{};
    std::copy_n(values, kColumns, from.begin());
    int64_t* const sums = sums_.data();
    for (int64_t i = 0; i < count; ++i) {
      int64_t* const to = sums + place(ids[i]) * (kColumns + 1);
      ++to[0];
      for (int c = 0; c < kColumns; ++c) to[c + 1] += from[static_cast<size_t>(c)][i];
    }
  }
  void make_wide() {
    if (wide_) return;
    wide_ = Scratch<WideInteger>(engine_, (groups_ + 1) * columns_);
    std::fill(wide_.begin(), wide_.end(), 0);
  }
  void add_wide(const int32_t* ids, int64_t count, const int64_t* const* values) {
    make_wide();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t group = place(ids[i]);
      ++sums_[group * (columns_ + 1)];
      for (int64_t c = 0; c < columns_; ++c) wide_[group * columns_ + c] += values[c][i];
    }
  }
  void empty() {
    make_wide();
    for (int64_t g = 0; g <= groups_; ++g)
      for (int64_t c = 0; c < columns_; ++c) wide_[g * columns_ + c] += std::exchange(sums_[g * (columns_ + 1) + 1 + c], 0);
    used_ = 0;
  }

  Engine& engine_;
  int64_t groups_, columns_;
  Scratch<int64_t> sums_;
  Scratch<WideInteger> wide_;
  uint64_t used_ = 0;  // no sum is farther from 0
};

/// Values of a column in memory as int64: `room` has space for a block of them.
const int64_t* block_of(const ColumnData& data, DType dtype, int64_t begin, int64_t count, int64_t* room) {
  const auto widened = [&]<class T>(T) {
    const T* const from = data.as<T>() + begin;
    for (int64_t i = 0; i < count; ++i) room[i] = from[i];
    return static_cast<const int64_t*>(room);
  };
  switch (dtype) {
    case DType::i64: return data.as<int64_t>() + begin;
    case DType::boolean: return widened(bool{});
    case DType::i8: return widened(int8_t{});
    case DType::i16: return widened(int16_t{});
    case DType::i32: return widened(int32_t{});
    case DType::u8: return widened(uint8_t{});
    case DType::u16: return widened(uint16_t{});
    default: return widened(uint32_t{});
  }
}

/// Whether a stretch of the column's rows costs no more than its part of all.
bool is_by_element(const NodeRef& values) {
  bool computed = false;
  for (const NodeRef& node : plan::topological_order({values})) {
    if (node->shape != values->shape) return false;
    if (node->as<graph::BufferNode>() || node->as<graph::ConstantNode>()) continue;
    if (!node->as<graph::MapNode>() && !node->as<graph::CastNode>()) return false;
    computed = true;
  }
  return computed;
}

}  // namespace

bool has_exact_sums(const Column& column) {
  const DType dtype = column.type.dtype;
  return column.type.is_number() && !column.type.nullable && !column.validity &&
         (dtype == DType::boolean || (is_integer(dtype) && dtype != DType::u64));
}

std::optional<ExactSums> exact_sums(Engine& engine, const Groups& groups, const std::vector<Column>& columns) {
  const int64_t rows = groups.rows(), count = groups.count();
  const auto width = static_cast<int64_t>(columns.size());
  if (width > kMostColumns || (count + 1) * (width + 1) * int64_t{sizeof(int64_t)} > kTableBytes) return {};
  const int64_t threads = std::min<int64_t>(threads_of(engine), (rows + kRowsATask - 1) / kRowsATask);
  const int64_t stretch = kStretch * std::max<int64_t>(threads, 1);
  std::vector<Column> sources = columns;
  std::vector<Column*> whole;
  std::vector<bool> is_part(columns.size(), false);
  for (size_t c = 0; c < columns.size(); ++c) {
    is_part[c] = rows > stretch && is_by_element(columns[c].values);
    if (!is_part[c]) whole.push_back(&sources[c]);
  }
  force(engine, whole);
  std::vector<std::optional<Table>> tables(static_cast<size_t>(threads));
  for (auto& table : tables) table.emplace(engine, count, width);
  const bool any_part = whole.size() < columns.size();
  const int64_t step = any_part ? stretch : std::max<int64_t>(rows, 1);
  for (int64_t first = 0; first < rows; first += step) {
    const int64_t last = std::min(rows, first + step);
    std::vector<ColumnData> data;
    std::vector<int64_t> shift;  // of the first of its rows
    std::vector<Column> parts;
    for (size_t c = 0; c < columns.size(); ++c) {
      parts.push_back(is_part[c] ? number_column(graph::view(columns[c].values, {last - first}, {{0, first, 1}})) : sources[c]);
      shift.push_back(is_part[c] ? first : 0);
    }
    std::vector<Column*> wanted;
    for (Column& part : parts) wanted.push_back(&part);
    force(engine, wanted);
    for (Column& part : parts) data.push_back(read(engine, part));
    std::atomic<int64_t> next = first;
    in_parallel(threads, [&](int64_t thread) {
      Table& table = *tables[static_cast<size_t>(thread)];
      int64_t room[kMostColumns][kBlock];
      const int64_t* values[kMostColumns];
      constexpr int64_t kTask = 32 * kBlock;
      for (int64_t begin; (begin = next.fetch_add(kTask)) < last;) {
        check_interrupt(engine);
        for (int64_t b = begin, end = std::min(last, begin + kTask); b < end; b += kBlock) {
          const int64_t n = std::min(kBlock, end - b);
          for (size_t c = 0; c < columns.size(); ++c) values[c] = block_of(data[c], columns[c].type.dtype, b - shift[c], n, room[c]);
          table.add(groups.ids() + b, n, values);
        }
      }
    });
  }
  ExactSums result{Scratch<int64_t>(engine, count), Scratch<WideInteger>(engine, count * width), width};
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      result.counts[g] = 0;
      for (const auto& table : tables) result.counts[g] += table->rows(g);
      for (int64_t c = 0; c < width; ++c) {
        WideInteger sum = 0;
        for (const auto& table : tables) sum += table->sum(g, c);
        result.sums[g * width + c] = sum;
      }
    }
  });
  return result;
}

}  // namespace gasell::frame
