// pd.DateOffset and the classes of pd.offsets.
#include "stdlib/pandas/offsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/frame/time_parsing.h"
#include "runtime/session/dict.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/pandas/module.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;

namespace {

using Args = std::span<Value>;
using Unit = Frequency::Unit;

/// A class of pd.offsets: its name, the frequency of one step, and the keyword that anchors it.
struct Kind {
  const char* name;
  const char* frequency;
  Unit unit;
  const char* anchor = nullptr;
};
constexpr std::array<Kind, 21> kKinds = {{{"MonthEnd", "ME", Unit::month_end},
                                          {"MonthBegin", "MS", Unit::month_start},
                                          {"QuarterEnd", "QE", Unit::quarter_end, "startingMonth"},
                                          {"QuarterBegin", "QS", Unit::quarter_start, "startingMonth"},
                                          {"YearEnd", "YE", Unit::year_end, "month"},
                                          {"YearBegin", "YS", Unit::year_start, "month"},
                                          {"BusinessDay", "B", Unit::business_day},
                                          {"BusinessMonthEnd", "BME", Unit::month_end},
                                          {"BusinessMonthBegin", "BMS", Unit::month_start},
                                          {"BQuarterEnd", "BQE", Unit::quarter_end, "startingMonth"},
                                          {"BQuarterBegin", "BQS", Unit::quarter_start, "startingMonth"},
                                          {"BYearEnd", "BYE", Unit::year_end, "month"},
                                          {"BYearBegin", "BYS", Unit::year_start, "month"},
                                          {"Week", "W", Unit::week, "weekday"},
                                          {"Day", "D", Unit::tick},
                                          {"Hour", "h", Unit::tick},
                                          {"Minute", "min", Unit::tick},
                                          {"Second", "s", Unit::tick},
                                          {"Milli", "ms", Unit::tick},
                                          {"Micro", "us", Unit::tick},
                                          {"Nano", "ns", Unit::tick}}};
constexpr std::array<const char*, 7> kWeekdays = {"MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"};
constexpr std::array<const char*, 12> kMonths = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};

const Offset& self_of(const Value& v) { return *v.as<Offset>(); }
const Type& kind_type(size_t kind);

int64_t count_argument(Interpreter& in, const Value& v) {
  if (v.is_float() && v.as_float() != static_cast<double>(static_cast<int64_t>(v.as_float())))
    raise("ValueError", "`n` argument must be an integer, got " + gasell::str(in, v));
  if (v.is_float()) return static_cast<int64_t>(v.as_float());
  if (!v.is_int() && !v.as<numpy::NumpyScalar>())
    raise("TypeError", "`n` argument must be an integer, got " + gasell::repr(in, type_object(type_of(v))));
  return to_index(in, v);
}

Value construct_kind(Interpreter& in, Args args, size_t kind) {
  const Kind& k = kKinds[kind];
  Value made = Value::make<Offset>(kind_type(kind));
  Offset& offset = *made.as<Offset>();
  offset.count = count_argument(in, args[0]);
  offset.normalize = args.size() > 1 && truth(in, args[1]);
  std::string name = k.frequency;
  if (k.anchor) {
    const bool week = k.unit == Unit::week, quarter = std::string_view(k.anchor) == "startingMonth";
    if (week && args[2].is_none()) {
      offset.one = parse_frequency("7D");
      offset.one.text = "W";
      offset.keywords = {{k.anchor, "None"}};
      return made;
    }
    const int64_t otherwise = quarter ? 3 : k.unit == Unit::year_end ? 12 : 1;
    const int64_t place = args[2].is_none() ? otherwise : to_index(in, args[2]);
    if (week && (place < 0 || place > 6)) raise("ValueError", fmt::format("Day must be 0<=day<=6, got {}", place));
    if (!week && (place < 1 || place > 12)) raise("ValueError", "Month must go from 1 to 12");
    name += std::string("-") + (week ? kWeekdays[static_cast<size_t>(place)] : kMonths[static_cast<size_t>(place) - 1]);
    offset.keywords = {{k.anchor, std::to_string(place)}};
  }
  offset.one = parse_frequency(name);
  return made;
}

template <size_t kind>
Value construct(Interpreter& in, Args args) {
  return construct_kind(in, args, kind);
}

Value construct_date_offset(Interpreter& in, Args args) {
  Value made = Value::make<Offset>(date_offset_type());
  Offset& offset = *made.as<Offset>();
  offset.count = count_argument(in, args[0]);
  offset.normalize = truth(in, args[1]);
  Offset::Parts parts;
  std::vector<std::string> unknown;
  for (const Dict::Entry& e : args[2].as<Dict>()->entries()) {
    if (e.key.is_absent()) continue;
    const std::string name = gasell::str(in, e.key);
    static constexpr std::pair<std::string_view, int64_t> kSpans[] = {{"weeks", 7 * kDay},
                                                                      {"days", kDay},
                                                                      {"hours", kHour},
                                                                      {"minutes", kMinute},
                                                                      {"seconds", kSecond},
                                                                      {"milliseconds", kMillisecond},
                                                                      {"microseconds", kMicrosecond},
                                                                      {"nanoseconds", 1}};
    static constexpr std::pair<std::string_view, std::optional<int64_t> Offset::Parts::*> kFields[] = {
        {"year", &Offset::Parts::year},
        {"month", &Offset::Parts::month},
        {"day", &Offset::Parts::day},
        {"hour", &Offset::Parts::hour},
        {"minute", &Offset::Parts::minute},
        {"second", &Offset::Parts::second},
        {"microsecond", &Offset::Parts::microsecond}};
    const auto* span = std::find_if(std::begin(kSpans), std::end(kSpans), [&](const auto& s) { return s.first == name; });
    const auto* field = std::find_if(std::begin(kFields), std::end(kFields), [&](const auto& f) { return f.first == name; });
    if (name == "weekday")
      raise("NotImplementedError", "DateOffset(weekday=) is not in Gasell yet", "pd.offsets.Week(weekday=0) goes to Mondays");
    offset.keywords.emplace_back(name, gasell::repr(in, e.value));
    if (span != std::end(kSpans)) {
      const bool whole = e.value.is_int();
      const auto ns = whole ? checked_multiply(e.value.as_int(), span->second) : scaled_time(to_double(in, e.value), span->second);
      parts.nanoseconds = ns && parts.nanoseconds ? checked_add(*parts.nanoseconds, *ns) : std::nullopt;
      parts.days += to_double(in, e.value) * (static_cast<double>(span->second) / static_cast<double>(kDay));
    } else if (name == "months" || name == "years") {
      const int64_t n = to_index(in, e.value), months = name == "years" ? 12 : 1;
      parts.months = limited_months(static_cast<double>(parts.months) + static_cast<double>(n) * static_cast<double>(months));
      parts.years += static_cast<double>(n) * static_cast<double>(months) / 12;
    } else if (field != std::end(kFields)) {
      parts.*(field->second) = to_index(in, e.value);
    } else {
      unknown.push_back(name);
    }
  }
  if (!unknown.empty()) {
    std::string names;
    for (const std::string& name : unknown) names += (names.empty() ? "'" : ", '") + name + "'";
    raise("ValueError", "Invalid argument/s or bad combination of arguments: [" + names + "]");
  }
  if (offset.keywords.empty()) parts.nanoseconds = kDay, parts.days = 1;
  std::sort(offset.keywords.begin(), offset.keywords.end());
  offset.parts = parts;
  return made;
}

/// A moment by an offset: the same object of a zone or of none.
Value move_moment(Interpreter& in, const Value& moment, const Offset& offset, int64_t sign) {
  const Value stamp = gasell::call(in, type_object(timestamp_type()), {{moment}, {}});
  const auto* t = stamp.as<Timestamp>();
  if (!t) return stamp;  // NaT
  const int64_t local = offset.moved(t->local(), sign);
  if (local == kNotATime) offset.raise_beyond(false, "OutOfBoundsDatetime", "Out of bounds nanosecond timestamp: " + t->text(' '));
  if (!t->zone) return timestamp_value(local);
  return timestamp_value(utc_of_local(*t->zone, local, Ambiguous::first, Nonexistent::shift_forward), t->zone->name());
}

template <int64_t (*roll)(const Frequency&, int64_t)>
Value rolled(Interpreter& in, Args args) {
  const Offset& offset = self_of(args[0]);
  const Value stamp = gasell::call(in, type_object(timestamp_type()), {{args[1]}, {}});
  const auto* t = stamp.as<Timestamp>();
  if (!t || offset.parts) return stamp;
  const int64_t local = roll(offset.one, t->local());
  return t->zone ? timestamp_value(utc_of_local(*t->zone, local, Ambiguous::first, Nonexistent::shift_forward), t->zone->name())
                 : timestamp_value(local);
}

Value on_offset(Interpreter& in, Args args) {
  const Offset& offset = self_of(args[0]);
  const Value stamp = gasell::call(in, type_object(timestamp_type()), {{args[1]}, {}});
  const auto* t = stamp.as<Timestamp>();
  return Value::of(t && (offset.parts || is_on_offset(offset.one, t->local())));
}

Value nanoseconds(Interpreter& in, const Value& v) {
  const Offset& offset = self_of(v);
  if (!offset.is_tick()) raise("ValueError", gasell::repr(in, v) + " is a non-fixed frequency");
  return Value::of(offset.steps().count);
}

Type make_type(const char* name, const Type* base) {
  Type t{name, "pandas._libs.tslibs.offsets", base};
  t.methods = {{"rollforward", "dt", &rolled<&roll_forward>, "The moment itself where it is on the offset, else the next that is."},
               {"rollback", "dt", &rolled<&roll_back>, "The moment itself where it is on the offset, else the last that was."},
               {"is_on_offset", "dt", &on_offset, "Whether a moment is where steps lead to."},
               {"copy", "", [](Interpreter&, Args a) { return a[0]; }, "Itself."}};
  t.properties = {
      {"n", [](Interpreter&, const Value& v) { return Value::of(self_of(v).count); }, nullptr, "How many steps."},
      {"normalize", [](Interpreter&, const Value& v) { return Value::of(self_of(v).normalize); }, nullptr,
       "Whether results are midnights."},
      {"freqstr", [](Interpreter&, const Value& v) { return make_str(self_of(v).frequency_text()); }, nullptr, "As freq= takes it."},
      {"name", [](Interpreter&, const Value& v) { return make_str(self_of(v).with_count(1).as<Offset>()->frequency_text()); }, nullptr,
       "The frequency of one step."},
      {"nanos", &nanoseconds, nullptr, "Nanoseconds of a fixed length."}};
  return t;
}

const Type& tick_type() {
  static const Type type = make_type("Tick", &date_offset_type());
  return type;
}

template <size_t... k>
std::array<NativeFunction, kKinds.size()> make_constructors(std::index_sequence<k...>) {
  const auto signature = [](const Kind& kind) {
    return kind.anchor ? std::string("n=1, normalize=False, ") + kind.anchor + "=None" : std::string("n=1, normalize=False");
  };
  return {NativeFunction{kKinds[k].name, signature(kKinds[k]), &construct<k>, "A step along the calendar."}...};
}

const Type& kind_type(size_t kind) {
  static const auto constructors = make_constructors(std::make_index_sequence<kKinds.size()>());
  static const auto types = [] {
    std::array<Type, kKinds.size()> all;
    for (size_t k = 0; k < kKinds.size(); ++k) {
      all[k] = make_type(kKinds[k].name, kKinds[k].unit == Unit::tick ? &tick_type() : &date_offset_type());
      all[k].constructor = &constructors[k];
    }
    return all;
  }();
  return types[kind];
}

/// Days, hours … of a duration: an offset of the largest unit.
Value tick_value(int64_t ns) { return offset_value(tick_frequency(ns)); }

}  // namespace

const Type& date_offset_type() {
  static const NativeFunction constructor{"DateOffset", "n=1, normalize=False, **kwds", &construct_date_offset,
                                          "A step of months, days, hours …"};
  static const Type type = [] {
    Type t = make_type("DateOffset", &object_type());
    t.constructor = &constructor;
    return t;
  }();
  return type;
}

bool Offset::is_tick() const { return type_.base == &tick_type(); }

std::string Offset::frequency_text() const { return parts ? text() : (count == 1 ? "" : std::to_string(count)) + one.text; }

std::string Offset::repr(Interpreter&) { return text(); }

std::string Offset::text() const {
  std::string shown;
  for (const auto& [name, value] : keywords) shown += (shown.empty() ? ": " : ", ") + name + "=" + value;
  const std::string own = type_.name.starts_with("BQuarter") ? "Business" + type_.name.substr(1) : type_.name;  // as pandas writes it
  const std::string name = own + (count == 1 || count == -1 ? "" : "s");
  return "<" + (count == 1 ? "" : std::to_string(count) + " * ") + name + shown + ">";
}

int64_t Offset::hash(Interpreter& in) { return is_tick() ? hash_int(steps().count) : gasell::hash(in, make_str(text())); }

std::optional<Value> Offset::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  if (is_tick())
    if (const auto ns = to_timedelta(in, other)) return gasell::compare(in, op, timedelta_value(steps().count), timedelta_value(*ns));
  if (op != ast::CompareOp::eq && op != ast::CompareOp::ne) return {};
  const auto* o = other.as<Offset>();
  bool same = o && &o->type_ == &type_ && text() == o->text();
  if (const auto* text = other.as<Str>()) same = text->value == frequency_text();
  return Value::of(same == (op == ast::CompareOp::eq));
}

std::optional<Value> Offset::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  using enum ast::BinaryOp;
  if (op == mul && other.is_int()) return times(other.as_int());
  const bool moment = time_scalar(other).has_value();
  if (op == sub && moment && !is_nat(other)) raise("TypeError", "Cannot subtract datetime from offset.");
  if (op == add && moment) return is_nat(other) ? nat_value() : move_moment(in, other, *this, 1);
  if (!is_tick()) return {};
  const Value length = timedelta_value(steps().count);
  if (const auto* tick = other.as<Offset>(); tick && tick->is_tick()) {
    if (op == add || op == sub) {
      const auto sum = checked_add(steps().count, (op == add ? 1 : -1) * tick->steps().count);
      if (!sum) raise("OverflowError", "Python int too large to convert to C long");
      return tick_value(*sum);
    }
    return gasell::binary(in, op, length, timedelta_value(tick->steps().count));
  }
  if (op == div && (other.is_int() || other.is_float())) {
    const Value quotient = gasell::binary(in, op, length, other);
    return tick_value(quotient.as<Timedelta>()->nanoseconds);
  }
  if ((op == add || op == sub || op == div) && to_timedelta(in, other)) return gasell::binary(in, op, length, other);
  return {};
}

std::optional<Value> Offset::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  using enum ast::BinaryOp;
  if (op == mul) return binary(in, op, other);
  if ((op == add || op == sub) && time_scalar(other))
    return is_nat(other) ? nat_value() : move_moment(in, other, *this, op == add ? 1 : -1);
  if (is_tick() && to_timedelta(in, other)) return gasell::binary(in, op, other, timedelta_value(steps().count));
  return {};
}

Value Offset::unary(Interpreter& in, ast::UnaryOp op) {
  if (op == ast::UnaryOp::neg) return with_count(-count);
  return op == ast::UnaryOp::pos ? Value::of(this) : Object::unary(in, op);
}

Value offset_value(const Frequency& f) {
  const std::string name = f.text.substr(f.text.find_first_not_of("-0123456789"));
  for (size_t k = 0; k < kKinds.size(); ++k) {
    const bool business = kKinds[k].unit != Unit::business_day && kKinds[k].frequency[0] == 'B';
    if (kKinds[k].unit != f.unit || business != f.business || (f.unit == Unit::tick && name != kKinds[k].frequency)) continue;
    Value made = Value::make<Offset>(kind_type(k));
    Offset& offset = *made.as<Offset>();
    offset.one = parse_frequency(name);
    offset.count = f.count / offset.one.count;
    if (kKinds[k].anchor) offset.keywords = {{kKinds[k].anchor, std::to_string(f.anchor)}};
    return made;
  }
  return make_str(f.text);
}

Frequency frequency_argument(Interpreter& in, const Value& v) {
  if (const auto* offset = v.as<Offset>()) return offset->steps();
  if (!v.as<Str>())
    if (const auto ns = to_timedelta(in, v); ns && *ns != kNotATime) return tick_frequency(*ns);
  return parse_frequency(gasell::str(in, v));
}

int64_t fixed_frequency_argument(Interpreter& in, const Value& v) {
  const Frequency f = frequency_argument(in, v);
  if (!f.is_fixed()) raise("ValueError", gasell::repr(in, offset_value(f)) + " is a non-fixed frequency");
  return f.count;
}

}  // namespace gasell::pandas

namespace gasell {

Value make_pandas_offsets(Interpreter&) {
  Value module = Value::make<LibraryModule>("pandas.offsets");
  for (size_t k = 0; k < pandas::kKinds.size(); ++k) set_member(module, pandas::kKinds[k].name, type_object(pandas::kind_type(k)));
  set_member(module, "BDay", type_object(pandas::kind_type(6)));
  set_member(module, "BMonthEnd", type_object(pandas::kind_type(7)));
  set_member(module, "BMonthBegin", type_object(pandas::kind_type(8)));
  set_member(module, "Tick", type_object(pandas::tick_type()));
  set_member(module, "DateOffset", type_object(pandas::date_offset_type()));
  set_member(module, "BaseOffset", type_object(pandas::date_offset_type()));
  return module;
}

}  // namespace gasell
