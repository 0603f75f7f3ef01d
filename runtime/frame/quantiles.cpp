#include "runtime/frame/quantiles.h"

#include <algorithm>
#include <cmath>

#include "runtime/frame/filling.h"
#include "runtime/primitives/distant_rows.h"

namespace gasell::frame {
namespace {

constexpr int64_t kRowsAtOnce = 1 << 14;

/// The value of which the part q of the sorted values lies below; they are put out of order.
template <class T>
double quantile_of(std::vector<T>& values, double q, Interpolation interpolation) {
  const double at = q * static_cast<double>(values.size() - 1);
  const auto lower = static_cast<size_t>(at);
  const double fraction = at - static_cast<double>(lower);
  const auto begin = values.begin();
  std::nth_element(begin, begin + static_cast<int64_t>(lower), values.end());
  const auto low = static_cast<double>(values[lower]);
  if (fraction == 0 || lower + 1 >= values.size()) return low;
  const auto next = [&] { return static_cast<double>(*std::min_element(begin + static_cast<int64_t>(lower) + 1, values.end())); };
  switch (interpolation) {
    case Interpolation::linear: return low + (next() - low) * fraction;
    case Interpolation::lower: return low;
    case Interpolation::higher: return next();
    case Interpolation::midpoint: return (low + next()) / 2;
    case Interpolation::nearest: return fraction > 0.5 || (fraction == 0.5 && q > 0.5) ? next() : low;
  }
  return low;
}

}  // namespace

Column quantiles(Engine& engine, const Groups& groups, const Column& column, double q, Interpolation interpolation) {
  Column source = column;
  const ColumnData data = read(engine, source);
  const Groups::Listing& listing = groups.listing(engine);
  return visit_values(column.type, data, [&](auto values) {
    using T = typename decltype(values)::Type;
    // Values on disk are brought into the order of the groups first.
    Scratch<T> listed_values;
    Scratch<bool> listed_valid;
    auto& storage = static_cast<HostStorage&>(*data.keep_values);
    const bool distant = is_distant(engine, storage, values.values, data.count * int64_t{sizeof(T)});
    if (distant) {
      const DistantRows rows(engine, listing.rows.data(), listing.rows.size(), data.count, sizeof(T));
      listed_values = Scratch<T>(engine, listing.rows.size());
      rows.gather(values.values, listed_values.data(), sizeof(T));
      values.values = listed_values.data();
      if (values.valid) {
        listed_valid = Scratch<bool>(engine, listing.rows.size());
        rows.gather(values.valid, listed_valid.data(), sizeof(bool));
        values.valid = listed_valid.data();
      }
    }
    const auto one = [&]<class Out>(Out, const ColumnType& type) {
      const int64_t rows_a_group = std::max<int64_t>(1, groups.rows() / std::max<int64_t>(1, groups.count()));
      return filled<Out>(
          engine, type, groups.count(),
          [&](int64_t g, Out& out) {
            thread_local std::vector<T> found;
            found.clear();
            for (int64_t i = listing.starts[g]; i < listing.starts[g + 1]; ++i) {
              T v;
              if (values.get(distant ? i : int64_t{listing.rows[i]}, v)) found.push_back(v);
            }
            if (found.empty()) return false;
            out = static_cast<Out>(quantile_of(found, q, interpolation));
            return true;
          },
          std::max<int64_t>(1, kRowsAtOnce / rows_a_group));
    };
    const bool between = interpolation == Interpolation::linear || interpolation == Interpolation::midpoint;
    if constexpr (decltype(values)::kIsTime)
      return one(int64_t{}, column.type);
    else if (std::is_integral_v<T> && !std::is_same_v<T, bool> && !between && !column.type.nullable && !column.validity)
      return one(int64_t{}, number_type(DType::i64));  // one of the values
    else if constexpr (std::is_same_v<T, float>)
      return one(float{}, number_type(DType::f32, column.type.nullable));
    else
      return one(double{}, number_type(DType::f64, column.type.nullable || (column.validity && !is_float(column.type.dtype))));
  });
}

Column distinct_values(Engine& engine, const Groups& groups, const Column& column, bool skip_missing) {
  // Groups of (group, value) pairs, counted by their first rows' groups.
  const Scratch<int32_t> ids(engine, groups.rows());
  std::copy(groups.ids(), groups.ids() + groups.rows(), ids.data());
  Column group{{Logical::category, DType::i32}, graph::buffer(ids.storage(), DType::i32, {groups.rows()}, {1}, 0)};
  group.categories = std::make_shared<Column>(number_column(graph::iota(groups.count(), Scalar::of_int(0), Scalar::of_int(1))));
  const GroupsRef pairs = group_rows(engine, {group, column}, GroupOrder::any, skip_missing ? MissingKeys::dropped : MissingKeys::kept);
  NewValues counts(engine, DType::i64, groups.count());
  int64_t* const count = counts.as<int64_t>();
  std::fill(count, count + groups.count(), 0);
  for (int64_t p = 0; p < pairs->count(); ++p) {
    const int32_t g = groups.ids()[pairs->first_rows()[p]];
    if (g >= 0) ++count[g];
  }
  return number_column(counts.node());
}

}  // namespace gasell::frame
