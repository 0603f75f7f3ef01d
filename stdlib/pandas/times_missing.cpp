// pd.NaT and pd.NA.
#include <cmath>

#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/pandas/times_objects.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;

namespace {

bool is_ordering(ast::CompareOp op) { return op != ast::CompareOp::eq && op != ast::CompareOp::ne; }

class NotATime final : public Object {
 public:
  const Type& type() const override { return nat_type(); }
  std::string repr(Interpreter&) override { return "NaT"; }
  std::string format(Interpreter&, std::string_view spec) override {
    if (spec.empty()) return "NaT";
    raise("ValueError", "NaTType does not support strftime");
  }
  int64_t hash(Interpreter&) override { return hash_int(kNotATime); }
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override {
    if (is_ordering(op) && !time_scalar(other) && !to_timedelta(in, other)) return {};
    if (is_na(other)) return {};
    return Value::of(op == ast::CompareOp::ne);
  }
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    using enum ast::BinaryOp;
    const bool time = time_scalar(other) || to_timedelta(in, other), number = other.is_int() || other.is_float();
    if ((op == add || op == sub) && (time || number)) return nat_value();
    if (op == div && to_timedelta(in, other)) return Value::of(std::nan(""));
    if ((op == mul || op == div || op == floordiv) && number) return nat_value();
    return {};
  }
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    return op == ast::BinaryOp::div || op == ast::BinaryOp::floordiv ? std::optional<Value>() : binary(in, op, other);
  }
  Value unary(Interpreter& in, ast::UnaryOp op) override { return op == ast::UnaryOp::invert ? Object::unary(in, op) : nat_value(); }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "value") return Value::of(kNotATime);
    if (name == "tz" || name == "tzinfo") return Value();
    if (name == "asm8") return datetime64_value(kNotATime);
    if (const auto field = time_field_from_name(name)) return field_value(*field >= TimeField::is_month_start);
    if (name == "week" || name == "weekofyear" || duration_field_from_name(name)) return field_value(false);
    return Object::get_attribute(in, name);
  }

 private:
  static Value field_value(bool truth) { return truth ? Value::of(false) : Value::of(std::nan("")); }
};

Value give_nat(Interpreter&, std::span<Value>) { return nat_value(); }
Value give_nan(Interpreter&, std::span<Value>) { return Value::of(std::nan("")); }
Value refuse_strftime(Interpreter&, std::span<Value>) { raise("ValueError", "NaTType does not support strftime"); }

class NotAvailable final : public Object {
 public:
  const Type& type() const override { return na_type(); }
  std::string repr(Interpreter&) override { return "<NA>"; }
  std::string format(Interpreter& in, std::string_view spec) override {
    return spec.empty() ? "<NA>" : gasell::format(in, make_str("<NA>"), spec);
  }
  bool truth(Interpreter&) override { raise("TypeError", "boolean value of NA is ambiguous"); }
  int64_t hash(Interpreter&) override { return 2305843009213693951; }
  std::optional<Value> compare(Interpreter& in, ast::CompareOp, const Value& other) override {
    if (!known(in, other)) return {};
    return na_value();
  }
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    using enum ast::BinaryOp;
    if (op == bit_and || op == bit_or || op == bit_xor) return logical(in, op, other);
    if (!known(in, other) || other.as<Timestamp>() || other.as<Timedelta>()) return {};
    if (op == pow && is_number(in, other, 0)) return one_like(other);
    return na_value();
  }
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    if (op == ast::BinaryOp::pow && is_number(in, other, 1)) return one_like(other);
    return binary(in, op == ast::BinaryOp::pow ? ast::BinaryOp::add : op, other);
  }
  Value unary(Interpreter&, ast::UnaryOp) override { return na_value(); }

 private:
  static bool known(Interpreter&, const Value& v) {
    return is_na(v) || v.is_bool() || v.is_int() || v.is_float() || v.as<Str>() || v.as<numpy::NumpyScalar>() || v.as<Timestamp>() ||
           v.as<Timedelta>();
  }
  static std::optional<bool> truth_value(Interpreter& in, const Value& v) {
    if (v.is_bool()) return v.as_int() != 0;
    if (auto* s = v.as<numpy::NumpyScalar>(); s && s->dtype() == DType::boolean) return s->value(in).i != 0;
    return {};
  }
  static bool is_number(Interpreter& in, const Value& v, int number) {
    return !is_na(v) && !v.as<Str>() && !v.is_none() && known(in, v) && gasell::equal(in, v, Value::of(number));
  }
  static Value one_like(const Value& v) { return v.is_float() ? Value::of(1.0) : Value::of(1); }
  /// Three values: what is true or false whatever the missing one is.
  static std::optional<Value> logical(Interpreter& in, ast::BinaryOp op, const Value& other) {
    if (is_na(other)) return na_value();
    const auto truth = truth_value(in, other);
    if (!truth) return {};
    if (op == ast::BinaryOp::bit_and && !*truth) return Value::of(false);
    if (op == ast::BinaryOp::bit_or && *truth) return Value::of(true);
    return na_value();
  }
};

}  // namespace

const Type& nat_type() {
  static const Type type = [] {
    Type t{"NaTType", "pandas._libs.tslibs.nattype", &object_type()};
    for (const char* name : {"date", "time", "normalize", "floor", "ceil", "round", "tz_localize", "tz_convert", "astimezone", "replace",
                             "as_unit", "to_pydatetime"})
      t.methods.push_back({name, "*args, **kwargs", &give_nat, "pd.NaT"});
    for (const char* name : {"day_name", "month_name", "timestamp", "weekday", "isoweekday", "total_seconds", "toordinal"})
      t.methods.push_back({name, "*args, **kwargs", &give_nan, "nan"});
    t.methods.push_back({"strftime", "format", &refuse_strftime, "ValueError"});
    t.methods.push_back({"isoformat", "sep='T', timespec='auto'", [](Interpreter&, std::span<Value>) { return make_str("NaT"); }, "'NaT'"});
    for (const char* name : {"to_datetime64", "to_numpy"})
      t.methods.push_back(
          {name, "*args, **kwargs", [](Interpreter&, std::span<Value>) { return datetime64_value(kNotATime); }, "np.datetime64('NaT')"});
    return t;
  }();
  return type;
}

const Type& na_type() {
  static const Type type = [] {
    Type t{"NAType", "pandas._libs.missing", &object_type()};
    t.methods = {{"__abs__", "", [](Interpreter&, std::span<Value>) { return na_value(); }, "abs(self)"}};
    return t;
  }();
  return type;
}

const Value& nat_value() {
  static const Value value = Value::make<NotATime>().immortal();
  return value;
}
const Value& na_value() {
  static const Value value = Value::make<NotAvailable>().immortal();
  return value;
}

}  // namespace gasell::pandas
