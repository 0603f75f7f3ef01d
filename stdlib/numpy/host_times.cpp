// What arrays of times are made of, converted by and shown as.
#include <algorithm>

#include "runtime/frame/calendar.h"
#include "runtime/session/types.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/nested.h"
#include "stdlib/numpy/print_options.h"
#include "stdlib/numpy/time_scalars.h"
#include "stdlib/numpy/typed.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

Value unit_value(TimeUnit unit) { return make_str(std::string(frame::name_of(unit))); }
TimeUnit to_unit(const Value& v) { return unit_argument(v.as<Str>()->value); }

int64_t convert(bool moment, int64_t count, TimeUnit from, TimeUnit to) {
  return moment ? frame::convert_moment(count, from, to) : frame::convert_duration(count, from, to);
}

/// Collects nested lists of times: their shape, the counts in C order, and the finest of their units.
class TimesReader {
 public:
  TimesReader(Interpreter& in, bool moment, std::optional<TimeUnit> unit) : in_(in), moment_(moment), unit_(unit), nested_(in) {}

  Value read(const Value& v) {
    nested_.walk(v, [this](const Value& element, size_t depth) { leaf(element, depth); });
    TimeUnit common = unit_.value_or(TimeUnit::generic);
    if (!unit_)
      for (const auto& [count, unit] : leaves_) {
        if (!moment_ && !frame::have_common_unit(common, unit))
          raise("TypeError", "Cannot get a common metadata divisor for Numpy datetime metadata [" + std::string(frame::name_of(common)) +
                                 "] and [" + std::string(frame::name_of(unit)) +
                                 "] because they have incompatible nonlinear base time units.");
        common = frame::finer_unit(common, unit);
      }
    HostArray made(in_, DType::i64, nested_.shape());
    auto* to = made.data<int64_t>();
    for (const auto& [count, unit] : leaves_) *to++ = convert(moment_, count, unit, common);
    return make_tuple({made.value(), unit_value(common)});
  }

 private:
  void leaf(const Value& v, size_t depth) {
    nested_.end(depth);
    Value scalar = v;
    if (const auto* number = v.as<NumpyScalar>(); number && is_integer(number->dtype()))
      scalar = python_value(v.as<NumpyScalar>()->value(in_));
    leaves_.push_back(moment_ ? moment_of(in_, scalar, unit_) : duration_of(in_, scalar, unit_));
  }

  Interpreter& in_;
  const bool moment_;
  const std::optional<TimeUnit> unit_;
  NestedShape nested_;
  std::vector<std::pair<int64_t, TimeUnit>> leaves_;
};

/// times_of(values, moment, unit): (counts, unit) of nested lists.
Value times_of(Interpreter& in, Args args) {
  std::optional<TimeUnit> unit;
  if (!args[2].is_none()) unit = to_unit(args[2]);
  return TimesReader(in, truth(in, args[1]), unit).read(args[0]);
}

/// times_converted(counts, moment, from, to).
Value times_converted(Interpreter& in, Args args) {
  const bool moment = truth(in, args[1]);
  const TimeUnit from = to_unit(args[2]), to = to_unit(args[3]);
  const Int64Elements counts(in, args[0]);
  HostArray made(in, DType::i64, counts.shape());
  auto* result = made.data<int64_t>();
  constexpr int64_t kStep = 1 << 20;
  for (int64_t k = 0; k < counts.size(); ++k) {
    if (k % kStep == kStep - 1) check_interrupt(in);
    result[k] = convert(moment, counts[k], from, to);
  }
  return made.value();
}

/// time_texts(counts, unit): ISO 8601, a list.
Value time_texts(Interpreter& in, Args args) {
  const Int64Elements counts(in, args[0]);
  const TimeUnit unit = to_unit(args[1]);
  std::vector<Value> texts;
  for (int64_t k = 0; k < counts.size(); ++k) texts.push_back(make_str(frame::time_text(counts[k], unit)));
  return make_list(std::move(texts));
}

/// python_times(counts, moment, unit): a list of dates, datetimes, timedeltas, counts and None.
Value python_times(Interpreter& in, Args args) {
  const Int64Elements counts(in, args[0]);
  const bool moment = truth(in, args[1]);
  const TimeUnit unit = to_unit(args[2]);
  std::vector<Value> values;
  for (int64_t k = 0; k < counts.size(); ++k) values.push_back(python_time(moment, counts[k], unit));
  return make_list(std::move(values));
}

/// time_scalar(moment, count, unit).
Value time_scalar(Interpreter& in, Args args) {
  return Value::make<TimeScalar>(truth(in, args[0]), to_index(in, args[1]), to_unit(args[2]));
}

/// time_parts(x): (moment, count, unit) of a datetime64 or timedelta64; None of others.
Value time_parts(Interpreter&, Args args) {
  const auto* scalar = args[0].as<TimeScalar>();
  return scalar ? make_tuple({Value::of(scalar->moment), Value::of(scalar->count), unit_value(scalar->unit)}) : Value();
}

/// time_unit(name), common_unit(a, b, moments): None for units that have none in common.
Value time_unit(Interpreter& in, Args args) {
  const std::string name = str(in, args[0]);
  return unit_value(unit_argument(name));
}
Value common_unit(Interpreter& in, Args args) {
  const TimeUnit a = to_unit(args[0]), b = to_unit(args[1]);
  return truth(in, args[2]) || frame::have_common_unit(a, b) ? unit_value(frame::finer_unit(a, b)) : Value();
}

/// laid_out(counts, texts, prefix, separator, suffix).
Value laid_out_of(Interpreter& in, Args args) {
  return make_str(
      laid_out(in, as_array(in, args[0]), args[1], str(in, args[2]), str(in, args[3]), static_cast<size_t>(to_index(in, args[4]))));
}

/// save_counts(file, counts, descr): a .npy file of times, or of the bytes of texts and records.
Value save_counts(Interpreter& in, Args args) {
  save_array(in, args[0], args[1], str(in, args[2]));
  return {};
}

Value is_typed_dtype(Interpreter& in, Args args) { return Value::of(!typed_dtype(in, args[0]).is_none()); }
Value is_typed_of(Interpreter&, Args args) { return Value::of(is_typed(args[0])); }

}  // namespace

std::vector<NativeFunction> time_functions() {
  return {
      {"times_of", "values, moment, unit", times_of, "(counts, unit) of nested lists of times."},
      {"times_converted", "counts, moment, from_, to", times_converted, "Int64Elements of another unit."},
      {"time_texts", "counts, unit", time_texts, "A list of texts of ISO 8601."},
      {"python_times", "counts, moment, unit", python_times, "A list of Python's dates, datetimes and timedeltas."},
      {"time_scalar", "moment, count, unit", time_scalar, "A datetime64 or a timedelta64."},
      {"time_parts", "x", time_parts, "(moment, count, unit) of such a scalar; None of others."},
      {"time_unit", "name", time_unit, "The name of a unit. TypeError where there is none."},
      {"common_unit", "a, b, moments", common_unit, "The finer unit, or None where durations have none in common."},
      {"laid_out_texts", "counts, texts, prefix, separator, suffix", laid_out_of, "An array as text; texts(shown) gives its elements'."},
      {"save_counts", "file, counts, descr", save_counts, "np.save of elements that are no numbers."},
      {"npy_array", "bytes, shown", npy_array, "The array that the bytes of a .npy file hold; `shown` is its name in errors."},
      {"is_typed_dtype", "dtype", is_typed_dtype, "Whether it names a dtype of elements that are no numbers."},
      {"is_typed", "x", is_typed_of, "Whether it is an array of elements that are no numbers, or one of these."},
  };
}

}  // namespace gasell::numpy
