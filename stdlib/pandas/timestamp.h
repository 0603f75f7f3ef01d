// Moments and durations as the script sees them: pd.Timestamp, pd.Timedelta, pd.NaT, pd.NA; np.datetime64 and np.timedelta64.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/frame/calendar.h"
#include "runtime/frame/time_zones.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"

namespace gasell::pandas {

const Type& timestamp_type();
const Type& timedelta_type();
const Type& nat_type();
const Type& na_type();

class Timestamp final : public Object {
 public:
  Timestamp(int64_t utc, const frame::TimeZone* zone_or_null) : nanoseconds(utc), zone(zone_or_null) {}
  const Type& type() const override { return timestamp_type(); }
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  std::string format(Interpreter&, std::string_view spec) override;
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;

  int64_t local() const { return zone ? frame::local_of_utc(*zone, nanoseconds) : nanoseconds; }
  std::string text(char between) const;  // with the offset behind it

  const int64_t nanoseconds;    // UTC, or local without a zone; never NaT
  const frame::TimeZone* zone;  // null: none
};

class Timedelta final : public Object {
 public:
  explicit Timedelta(int64_t ns) : nanoseconds(ns) {}
  const Type& type() const override { return timedelta_type(); }
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  bool truth(Interpreter&) override { return nanoseconds != 0; }
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  Value unary(Interpreter&, ast::UnaryOp) override;

  const int64_t nanoseconds;  // never NaT
};

// ---- to values ----
/// pd.NaT where `ns` is frame::kNotATime; the zone's name is empty for none. Throws Error("UnknownTimeZoneError", …).
Value timestamp_value(int64_t ns, const std::string& zone = {});
Value timedelta_value(int64_t ns);
/// as_unit(self, unit, …): itself in nanoseconds, NotImplementedError in another unit.
Value in_unit(Interpreter& in, std::span<Value> args);
const Value& nat_value();
const Value& na_value();
inline bool is_nat(const Value& v) { return v.same(nat_value()); }
inline bool is_na(const Value& v) { return v.same(na_value()); }

// ---- from values ----
/// UTC nanoseconds of a Timestamp, np.datetime64, pd.NaT, datetime.date or a text that says a time; nothing for all else.
std::optional<int64_t> to_timestamp(Interpreter& in, const Value& v);
/// The same without texts, with the name of the zone (empty: none).
std::optional<std::pair<int64_t, std::string>> time_scalar(const Value& v);
/// Nanoseconds of a Timedelta, np.timedelta64, pd.NaT; with `texts` of texts such as "1h30min", too.
std::optional<int64_t> to_timedelta(Interpreter& in, const Value& v, bool texts = false);
/// The zone of an argument: a name, or None (null).
const frame::TimeZone* zone_argument(Interpreter& in, const Value& v);
/// The arguments of tz_localize. ValueError for other words.
struct LocalTimeChoice {
  frame::Ambiguous ambiguous = frame::Ambiguous::raise;
  frame::Nonexistent nonexistent = frame::Nonexistent::raise;
  int64_t shift = 0;
};
LocalTimeChoice local_time_choice(Interpreter& in, const Value& ambiguous, const Value& nonexistent);
/// Makes pandas' exceptions about times known to raise().
void register_time_exceptions();
/// Timestamp, Timedelta, NaT and NA as members of pandas.
std::vector<std::pair<std::string, Value>> time_members();

}  // namespace gasell::pandas
