#include "runtime/frame/aggregate.h"

#include <algorithm>
#include <memory>

#include "runtime/frame/aggregate_pass.h"
#include "runtime/frame/exact_sums.h"
#include "runtime/frame/quantiles.h"
#include "runtime/frame/run.h"

namespace gasell::frame {
namespace {

constexpr int64_t kBlock = 1024;
/// Rows are divided into at most so many parts of at least so many rows, each with states of its own for all groups, which are combined in
/// the parts' order; where that would be more states than these, the groups are divided into ranges, each of which takes the rows of its
/// groups. The states of the ranges at work fit in memory.
constexpr int64_t kMostParts = 16, kRowsAPart = 1 << 17, kMostStates = 1 << 19;

void run(Engine& engine, const Groups& groups, std::vector<Pass*> passes) {
  const int64_t rows = groups.rows(), count = groups.count();
  const int32_t* const ids = groups.ids();
  const int64_t parts = std::clamp<int64_t>(rows / kRowsAPart, 1, kMostParts);
  /// The passes `of` over the rows of groups [first, last) among [begin, end).
  const auto selected = [&](const std::vector<Pass*>& of, int64_t part, int64_t begin, int64_t end, int64_t first, int64_t last) {
    const auto low = static_cast<int32_t>(first);
    const auto width = static_cast<uint32_t>(last - first);
    uint32_t found[kBlock];
    for (int64_t b = begin; b < end; b += kBlock) {
      const int64_t e = std::min(end, b + kBlock);
      int64_t n = 0;
      for (int64_t i = b; i < e; ++i) {
        found[n] = static_cast<uint32_t>(i);
        n += static_cast<uint32_t>(ids[i] - low) < width;
      }
      for (Pass* p : of) p->add(part, found, n, ids);
      if ((b & 0xfffff) == 0) check_interrupt(engine);
    }
  };
  if (parts * count <= kMostStates) {
    for (Pass* p : passes) p->start(engine, parts, count);
    in_parallel(parts, [&](int64_t part) {
      const int64_t begin = rows * part / parts, end = rows * (part + 1) / parts;
      if (!groups.has_all_rows()) return selected(passes, part, begin, end, 0, count);
      for (int64_t b = begin; b < end; b += kBlock) {
        for (Pass* p : passes) p->add(part, b, std::min(kBlock, end - b), ids);
        if ((b & 0xfffff) < kBlock) check_interrupt(engine);
      }
    });
    over_rows(engine, count, [&](int64_t first, int64_t last) {
      for (Pass* p : passes) p->combine(first, last);
    });
    return;
  }
  // Each further range reads all group numbers again, each further pass only its column: so no more passes at a time than fit.
  for (auto first = passes.begin(); first != passes.end();) {
    const int64_t room = random_room(engine);
    int64_t bytes = count * (*first)->state_bytes();
    auto last = first + 1;
    for (; last != passes.end() && bytes + count * (*last)->state_bytes() <= room; ++last) bytes += count * (*last)->state_bytes();
    const std::vector<Pass*> together(first, last);
    for (Pass* p : together) p->start(engine, 1, count);
    const int64_t ranges = threads_of(engine) * (bytes / room + 1);
    in_parallel(ranges, [&](int64_t range) { selected(together, 0, 0, rows, count * range / ranges, count * (range + 1) / ranges); });
    first = last;
  }
}

/// pandas gives sums and products of narrow integers the integers' own type where all of them fit.
Column narrowed(Engine& engine, Column wide, const Column& source, Aggregate how) {
  const DType narrow = source.type.dtype;
  if ((how != Aggregate::sum && how != Aggregate::prod) || !source.type.is_number() || !is_integer(narrow) || size_of(narrow) == 8)
    return wide;
  const ColumnData data = read(engine, wide);
  const int bits = 8 * size_of(narrow);
  const int64_t low = kind(narrow) == 'i' ? -(int64_t{1} << (bits - 1)) : 0,
                high = (int64_t{1} << (kind(narrow) == 'i' ? bits - 1 : bits)) - 1;
  for (int64_t g = 0; g < data.count; ++g)
    if (data.as<int64_t>()[g] < low || data.as<int64_t>()[g] > high) return wide;
  wide.values = graph::cast(wide.values, narrow);
  wide.type.dtype = narrow;
  return wide;
}

/// Makes a result missing where a group has fewer values than asked for.
Column with_min_count(Engine& engine, Column result, Column counts, int64_t min_count) {
  const ColumnData n = read(engine, counts);
  const Scratch<int64_t> rows(engine, n.count);
  bool missing = false;
  for (int64_t g = 0; g < n.count; ++g) {
    rows[g] = n.as<int64_t>()[g] < min_count ? -1 : g;
    missing |= rows[g] < 0;
  }
  return missing ? take(engine, result, rows.data(), n.count, true) : result;
}

}  // namespace

std::string_view name_of(Aggregate how) {
  static constexpr std::string_view kNames[] = {"size",  "count",  "sum",    "prod",   "mean",     "min",    "max",
                                                "first", "last",   "var",    "std",    "sem",      "skew",   "any",
                                                "all",   "idxmin", "idxmax", "median", "quantile", "nunique"};
  return kNames[static_cast<size_t>(how)];
}

namespace {

/// The results of those requests that exact sums of integers answer, where these are made in one pass; in their places.
std::vector<std::optional<Column>> by_exact_sums(Engine& engine, const Groups& groups, const std::vector<AggregateRequest>& requests) {
  std::vector<std::optional<Column>> results(requests.size());
  if (place_of_gathers(engine) == Place::gpus) return results;  // what the host would compute in its pass is there, or is computed there
  std::vector<size_t> wanted;
  std::vector<Column> columns;
  for (size_t k = 0; k < requests.size(); ++k) {
    const AggregateRequest& r = requests[k];
    if ((r.how != Aggregate::sum && r.how != Aggregate::mean) || r.min_count > 0 || !has_exact_sums(r.column)) continue;
    wanted.push_back(k);
    columns.push_back(r.column);
  }
  if (wanted.empty()) return results;
  const std::optional<ExactSums> sums = exact_sums(engine, groups, columns);
  if (!sums) return results;
  for (size_t c = 0; c < wanted.size(); ++c) {
    const AggregateRequest& r = requests[wanted[c]];
    const auto column = static_cast<int64_t>(c);
    if (r.how == Aggregate::mean) {
      results[wanted[c]] = filled<double>(engine, number_type(DType::f64), groups.count(), [&](int64_t g, double& out) {
        out = static_cast<double>(sums->sum(g, column)) / static_cast<double>(sums->counts[g]);
        return sums->counts[g] > 0;
      });
      continue;
    }
    const DType dtype = kind(r.column.type.dtype) == 'u' ? DType::u64 : DType::i64;
    Column sum = filled<int64_t>(engine, number_type(dtype), groups.count(), [&](int64_t g, int64_t& out) {
      out = static_cast<int64_t>(sums->sum(g, column));
      return true;
    });
    results[wanted[c]] = narrowed(engine, std::move(sum), r.column, r.how);
  }
  return results;
}

}  // namespace

std::vector<Column> aggregate(Engine& engine, const Groups& groups, const std::vector<AggregateRequest>& requests) {
  OperatorTimer timer("aggregate", groups.rows());
  std::vector<std::optional<Column>> done = by_exact_sums(engine, groups, requests);
  std::vector<AggregateRequest> all;
  for (size_t k = 0; k < requests.size(); ++k)
    if (!done[k]) all.push_back(requests[k]);
  std::vector<Column*> columns;
  for (AggregateRequest& r : all) columns.push_back(&r.column);
  force(engine, columns);
  std::vector<std::unique_ptr<Pass>> passes, counts;
  std::vector<Pass*> running;
  std::vector<ColumnData> data;
  for (AggregateRequest& r : all) {
    data.push_back(read(engine, r.column));
    passes.push_back(pass_for(engine, r, data.back()));
    counts.push_back(r.min_count > 0 && passes.back() ? pass_for(engine, {Aggregate::count, r.column}, data.back()) : nullptr);
    if (passes.back()) running.push_back(passes.back().get());
    if (counts.back()) running.push_back(counts.back().get());
  }
  if (!running.empty()) run(engine, groups, running);
  std::vector<Column> results;
  for (size_t k = 0; k < all.size(); ++k) {
    const AggregateRequest& r = all[k];
    if (passes[k]) {
      Column result = narrowed(engine, passes[k]->finish(engine), r.column, r.how);
      results.push_back(counts[k] ? with_min_count(engine, std::move(result), counts[k]->finish(engine), r.min_count) : std::move(result));
      passes[k] = nullptr;
    } else if (r.how == Aggregate::nunique)
      results.push_back(distinct_values(engine, groups, r.column, r.skip_missing));
    else {
      if (r.column.type.has_codes()) refuse_aggregate(r.column, r.how);
      const bool median = r.how == Aggregate::median;
      results.push_back(quantiles(engine, groups, r.column, median ? 0.5 : r.quantile, median ? Interpolation::midpoint : r.interpolation));
    }
  }
  for (size_t k = 0, next = 0; k < done.size(); ++k)
    if (!done[k]) done[k] = std::move(results[next++]);
  results.clear();
  for (std::optional<Column>& column : done) results.push_back(std::move(*column));
  timer.finish(groups.count(), counted(requests.size(), "column"));
  return results;
}

}  // namespace gasell::frame
