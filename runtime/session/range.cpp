#include "runtime/session/range.h"

#include <fmt/format.h>

#include <cmath>

#include "runtime/session/list_sequence.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

constexpr int64_t kPollMask = 0xFFFF;

Value new_range(Interpreter& in, std::span<Value> args) {
  if (is_missing(args[1])) return Value::make<Range>(0, to_index(in, args[0]), 1);
  return Value::make<Range>(to_index(in, args[0]), to_index(in, args[1]), is_missing(args[2]) ? 1 : to_index(in, args[2]));
}

/// Which item of the range `v` is, or -1.
int64_t position(Interpreter& in, const Range& r, const Value& v) {
  if (v.is_int() || v.is_bool()) {
    int64_t x = v.as_int();
    bool inside = r.step > 0 ? x >= r.start && x < r.stop : x <= r.start && x > r.stop;
    if (!inside) return -1;
    uint64_t distance =
        r.step > 0 ? static_cast<uint64_t>(x) - static_cast<uint64_t>(r.start) : static_cast<uint64_t>(r.start) - static_cast<uint64_t>(x);
    uint64_t pace = r.step > 0 ? static_cast<uint64_t>(r.step) : 0 - static_cast<uint64_t>(r.step);
    return distance % pace == 0 ? static_cast<int64_t>(distance / pace) : -1;
  }
  if (v.is_float()) {
    const double x = v.as_float();
    const bool whole = x == std::floor(x) && x >= -0x1p63 && x < 0x1p63;
    return whole ? position(in, r, Value::of(static_cast<int64_t>(x))) : -1;
  }
  if (v.is_none() || v.as<Str>()) return -1;
  for (int64_t i = 0; i < r.count; ++i) {
    if ((i & kPollMask) == kPollMask) poll_now(in);
    if (equal(in, Value::of(r.at(i)), v)) return i;
  }
  return -1;
}

Value index(Interpreter& in, std::span<Value> args) {
  int64_t at = position(in, *static_cast<Range*>(args[0].object()), args[1]);
  if (at < 0) raise("ValueError", repr(in, args[1]) + " is not in range");
  return Value::of(at);
}

Value count_of(Interpreter& in, std::span<Value> args) {
  return Value::of(position(in, *static_cast<Range*>(args[0].object()), args[1]) >= 0 ? 1 : 0);
}

template <int64_t Range::* member>
Value get_member(Interpreter&, const Value& self) {
  return Value::of(static_cast<Range*>(self.object())->*member);
}

}  // namespace

const Type& range_type() {
  static const NativeFunction constructor{"range", "start, stop=missing, step=missing, /", new_range,
                                          "range(stop) or range(start, stop[, step])"};
  static const Type type{"range",
                         "builtins",
                         &object_type(),
                         {{"index", "value, /", index, "the index of a value; ValueError when it is not in the range"},
                          {"count", "value, /", count_of, "1 when the value is in the range, else 0"}},
                         {{"start", get_member<&Range::start>, nullptr, ""},
                          {"stop", get_member<&Range::stop>, nullptr, ""},
                          {"step", get_member<&Range::step>, nullptr, ""}},
                         &constructor};
  return type;
}

Range::Range(int64_t a, int64_t b, int64_t c) : start(a), stop(b), step(c), count(0) {
  if (step == 0) raise("ValueError", "range() arg 3 must not be zero");
  // Unsigned differences hold every distance between two ints.
  if (step > 0 && start < stop) {
    count = static_cast<int64_t>((static_cast<uint64_t>(stop) - static_cast<uint64_t>(start) - 1) / static_cast<uint64_t>(step) + 1);
  } else if (step < 0 && start > stop) {
    count = static_cast<int64_t>((static_cast<uint64_t>(start) - static_cast<uint64_t>(stop) - 1) / (0 - static_cast<uint64_t>(step)) + 1);
  }
  if (count < 0) raise("OverflowError", "a range with more than 2**63 - 1 items");
}

const Type& Range::type() const { return range_type(); }

std::string Range::repr(Interpreter&) {
  return step == 1 ? fmt::format("range({}, {})", start, stop) : fmt::format("range({}, {}, {})", start, stop, step);
}

std::optional<int64_t> Range::sum() const {
  const Int128 last = count > 0 ? at(count - 1) : 0, both = count > 0 ? start + last : 0;
  Int128 total = 0;
  if (__builtin_mul_overflow(both, Int128{count}, &total)) return std::nullopt;
  total /= 2;
  if (total > INT64_MAX || total < INT64_MIN) return std::nullopt;
  return static_cast<int64_t>(total);
}

int64_t Range::hash(Interpreter&) {
  if (count == 0) return 0;
  int64_t h = hash_int(count) * 31 + hash_int(start);
  return count == 1 ? h : h * 31 + hash_int(step);
}

std::optional<Value> Range::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  const auto* r = other.as<Range>();
  if (!r || (op != ast::CompareOp::eq && op != ast::CompareOp::ne)) return {};
  bool same = count == r->count && (count == 0 || (start == r->start && (count == 1 || step == r->step)));
  return Value::of(same == (op == ast::CompareOp::eq));
}

bool Range::contains(Interpreter& in, const Value& item) { return position(in, *this, item) >= 0; }

Value Range::get_item(Interpreter& in, const Value& index) {
  if (const auto* slice = index.as<SliceObject>()) {
    SliceObject::Range r = slice->indices(in, count);
    return Value::make<Range>(at(r.start), at(r.stop), static_cast<int64_t>(static_cast<uint64_t>(step) * static_cast<uint64_t>(r.step)));
  }
  if (!index.is_int() && !index.is_bool() && !(index.is_object() && index.object()->to_index(in))) {
    raise("TypeError", "range indices must be integers or slices, not " + type_of(index).name);
  }
  int64_t i = gasell::to_index(in, index);
  if (i < 0) i += count;
  if (i < 0 || i >= count) raise("IndexError", "range object index out of range");
  return Value::of(at(i));
}

Value Range::iterate(Interpreter&) { return Value::make<RangeIterator>(start, step, count); }

const Type& RangeIterator::type() const {
  static const Type type{"range_iterator", "builtins", &object_type(), {}, {}};
  return type;
}

std::optional<Value> RangeIterator::next(Interpreter& in) {
  if (left == 0) return {};
  if ((left & kPollMask) == kPollMask) poll_now(in);  // natives that read a long range see Ctrl-C and the limit of memory here
  --left;
  int64_t now = value;
  value = static_cast<int64_t>(static_cast<uint64_t>(value) + static_cast<uint64_t>(step));
  return Value::of(now);
}

}  // namespace gasell
