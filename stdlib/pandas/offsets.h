// Steps along the calendar as objects: pd.DateOffset, pd.offsets.MonthEnd, BusinessDay, Hour … over the frequencies of
// runtime/frame/calendar.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/frame/calendar.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"

namespace gasell::pandas {

/// pd.DateOffset; the classes of pd.offsets derive from it.
const Type& date_offset_type();

class Offset final : public Object {
 public:
  /// What pd.DateOffset(months=1, day=15) was given: first fields are set, then months pass, then time.
  struct Parts {
    int64_t months = 0;
    std::optional<int64_t> nanoseconds = 0;  // nothing: more than 64 bits hold
    double days = 0, years = 0;              // what months and time come to, about
    std::optional<int64_t> year, month, day, hour, minute, second, microsecond;
    bool sets_fields() const { return year || month || day || hour || minute || second || microsecond; }
  };

  explicit Offset(const Type& t) : type_(t) {}
  const Type& type() const override { return type_; }
  std::string repr(Interpreter&) override;
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  Value unary(Interpreter&, ast::UnaryOp) override;

  /// One fixed length: Day, Hour …
  bool is_tick() const;
  /// The frequency of n steps; NotImplementedError for a DateOffset whose steps have no one length, OutOfBoundsTimedelta for one that no
  /// duration holds.
  frame::Frequency steps() const;
  /// The text of `freq=`: "2ME"; of a DateOffset its repr.
  std::string frequency_text() const;
  /// A local time moved, `sign` is 1 or -1; kNotATime where it does not fit.
  int64_t moved(int64_t nanoseconds, int64_t sign) const;
  /// What is raised where moved() does not fit, as pandas does for one moment and for a column of them: OverflowError for counts that are
  /// no C ints, OutOfBoundsTimedelta for durations, else `beyond`.
  [[noreturn]] void raise_beyond(bool column, std::string_view beyond_type, std::string beyond) const;
  /// OverflowError for a count beyond 64 bits.
  Value times(int64_t n) const;
  Value with_count(int64_t n) const;

  int64_t count = 1;
  bool normalize = false;
  frame::Frequency one;                                       // a single step; not of pd.DateOffset
  std::optional<Parts> parts;                                 // of pd.DateOffset
  std::vector<std::pair<std::string, std::string>> keywords;  // as repr shows them

 private:
  std::string text() const;
  int64_t length() const;  // nanoseconds of a tick or of a DateOffset's time; OutOfBoundsTimedelta
  int64_t moved_by_parts(int64_t nanoseconds, int64_t times) const;
  const Type& type_;
};

/// Months of a DateOffset: more than a calendar has are too many, however many more.
int64_t limited_months(double months);
/// The offset of a frequency.
Value offset_value(const frame::Frequency& frequency);
/// The frequency that an argument names: a text, an offset, a duration.
frame::Frequency frequency_argument(Interpreter& in, const Value& v);
/// One that is of ticks, in nanoseconds; ValueError "<MonthEnd> is a non-fixed frequency" for others.
int64_t fixed_frequency_argument(Interpreter& in, const Value& v);

}  // namespace gasell::pandas
