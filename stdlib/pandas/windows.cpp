// Natives of _frame: windows of rows and what is computed of them.
#include "runtime/frame/window.h"

#include <algorithm>

#include "lang/diagnostic.h"
#include "stdlib/pandas/frame_arguments.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;

class WindowsObject final : public Object {
 public:
  explicit WindowsObject(frame::Windows w) : windows(std::move(w)) {}
  const Type& type() const override {
    static const Type type{"Windows", "_frame", &object_type()};
    return type;
  }
  const frame::Windows windows;
};

frame::Closed closed_of(Interpreter& in, const Value& v) {
  if (v.is_none()) return frame::Closed::right;
  const std::string given = text_of(in, v);
  if (given != "right" && given != "left" && given != "both" && given != "neither")
    raise("ValueError", "closed must be 'right', 'left', 'both' or 'neither'");
  return one_of<frame::Closed>(in, v, {"right", "left", "both", "neither"}, "closed");
}
Value windows(Interpreter& in, Args args) {
  return Value::make<WindowsObject>(
      frame::windows_by_count(in.engine(), to_index(in, args[0]), to_index(in, args[1]), truth(in, args[2]), closed_of(in, args[3])));
}
Value windows_by_time(Interpreter& in, Args args) {
  return Value::make<WindowsObject>(
      frame::windows_by_time(in.engine(), column_of(args[0]), to_index(in, args[1]), truth(in, args[2]), closed_of(in, args[3])));
}
Value windows_from_start(Interpreter& in, Args args) {
  return Value::make<WindowsObject>(frame::windows_from_start(in.engine(), to_index(in, args[0])));
}
/// windows_of(begins, ends): of arrays of int64.
Value windows_of(Interpreter& in, Args args) {
  const Array begins = numpy::as_array(in, args[0]), ends = numpy::as_array(in, args[1]);
  Column begin = frame::number_column(begins.node()), end = frame::number_column(ends.node());
  const frame::ColumnData from = frame::read(in.engine(), begin), to = frame::read(in.engine(), end);
  frame::Windows made{Scratch<int64_t>(in.engine(), from.count), Scratch<int64_t>(in.engine(), from.count)};
  std::copy_n(from.as<int64_t>(), from.count, made.begin.data());
  std::copy_n(to.as<int64_t>(), from.count, made.end.data());
  return Value::make<WindowsObject>(std::move(made));
}
Value window_bounds(Interpreter&, Args args) {
  const frame::Windows& w = args[0].as<WindowsObject>()->windows;
  return make_tuple({array_over(w.begin), array_over(w.end)});
}
Value window_statistic(Interpreter& in, Args args) {
  const auto what = one_of<frame::WindowStatistic>(
      in, args[2], {"sum", "mean", "var", "std", "sem", "min", "max", "count", "median", "quantile", "skew", "kurt"}, "statistic");
  frame::WindowOptions options;
  options.min_periods = to_index(in, args[3]);
  options.ddof = to_index(in, args[4]);
  options.quantile = to_double(in, args[5]);
  options.interpolation = interpolation_of(in, args[6]);
  return wrap_column(frame::window_statistic(in.engine(), column_of(args[0]), args[1].as<WindowsObject>()->windows, what, options));
}
/// window_rank(column, windows, method, ascending, pct, min_periods)
Value window_rank(Interpreter& in, Args args) {
  const auto ties = one_of<frame::TiedRank>(in, args[2], {"average", "min", "max"}, "method");
  return wrap_column(frame::window_rank(in.engine(), column_of(args[0]), args[1].as<WindowsObject>()->windows, ties, truth(in, args[3]),
                                        truth(in, args[4]), to_index(in, args[5])));
}

/// (…, alpha, adjust, ignore_na, bias, min_periods)
frame::DecayOptions decay_options(Interpreter& in, Args args) {
  frame::DecayOptions options;
  options.alpha = to_double(in, args[0]);
  options.adjust = truth(in, args[1]);
  options.ignore_missing = truth(in, args[2]);
  options.bias = truth(in, args[3]);
  options.min_periods = to_index(in, args[4]);
  return options;
}
Value decayed(Interpreter& in, Args args) {
  frame::DecayOptions options = decay_options(in, args.subspan(2));
  if (!args[7].is_none()) options.apart = column_of(args[7]);
  return wrap_column(frame::decayed(in.engine(), column_of(args[0]),
                                    one_of<frame::DecayStatistic>(in, args[1], {"mean", "var", "std", "sum"}, "statistic"), options));
}
Value decayed_covariance(Interpreter& in, Args args) {
  return wrap_column(frame::decayed_covariance(in.engine(), column_of(args[0]), column_of(args[1]), decay_options(in, args.subspan(2))));
}

}  // namespace

std::vector<NativeFunction> window_functions() {
  return {
      {"windows", "rows, size, center=False, closed=None", windows, "Windows of so many rows."},
      {"windows_by_time", "times, size, center=False, closed=None", windows_by_time, "Windows of so many nanoseconds."},
      {"windows_from_start", "rows", windows_from_start, "Windows that grow."},
      {"windows_of", "begins, ends", windows_of, "Windows of these rows."},
      {"window_bounds", "windows", window_bounds, "(first rows, ends)"},
      {"window_statistic", "column, windows, statistic, min_periods=1, ddof=1, q=0.5, interpolation='linear'", window_statistic,
       "A statistic of each window."},
      {"decayed", "column, statistic, alpha, adjust=True, ignore_na=False, bias=False, min_periods=0, apart=None", decayed,
       "An exponentially weighted moment."},
      {"decayed_covariance", "a, b, alpha, adjust=True, ignore_na=False, bias=False, min_periods=0", decayed_covariance,
       "The exponentially weighted covariance."},
      {"window_rank", "column, windows, method, ascending, pct, min_periods", window_rank, "The rank of each window's last value."},
  };
}

}  // namespace gasell::pandas
