// np.datetime64 and np.timedelta64: single moments and durations of any of NumPy's units.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/frame/time_units.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"

namespace gasell::numpy {

using frame::TimeUnit;

const Type& datetime64_type();
const Type& timedelta64_type();

/// A count of units since 1970, or of a duration; frame::kNotATime: NaT.
class TimeScalar final : public Object {
 public:
  TimeScalar(bool is_moment, int64_t c, TimeUnit u) : moment(is_moment), count(c), unit(u) {}
  const Type& type() const override { return moment ? datetime64_type() : timedelta64_type(); }
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  std::string format(Interpreter&, std::string_view spec) override;
  bool truth(Interpreter&) override { return moment || count != 0; }
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  Value unary(Interpreter&, ast::UnaryOp) override;

  const bool moment;
  const int64_t count;
  const TimeUnit unit;
};

/// The count in another unit.
int64_t count_in(const TimeScalar& scalar, TimeUnit unit);
/// What stands for a moment or duration in Python: a date, a datetime or a timedelta, a count where these do not hold it, None of NaT.
Value python_time(bool moment, int64_t count, TimeUnit unit);
/// A unit by its name. TypeError "Invalid datetime unit …"; NotImplementedError for multiples and units finer than nanoseconds.
TimeUnit unit_argument(std::string_view name);
/// What np.datetime64(v) and np.timedelta64(v) make of a value, in `unit` or its own one. ValueError for what is no time.
std::pair<int64_t, TimeUnit> moment_of(Interpreter& in, const Value& v, std::optional<TimeUnit> unit);
std::pair<int64_t, TimeUnit> duration_of(Interpreter& in, const Value& v, std::optional<TimeUnit> unit);
/// datetime64 and timedelta64, as members of numpy.
std::vector<std::pair<std::string, Value>> time_members();

}  // namespace gasell::numpy
