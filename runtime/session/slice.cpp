#include <limits>

#include "runtime/session/big_integer.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

Value new_slice(Interpreter&, std::span<Value> args) {
  if (is_missing(args[1])) return Value::make<SliceObject>(Value(), args[0], Value());
  return Value::make<SliceObject>(args[0], args[1], args[2]);
}

Value indices(Interpreter& in, std::span<Value> args) {
  int64_t length = to_index(in, args[1]);
  if (length < 0) raise("ValueError", "length should not be negative");
  SliceObject::Range r = static_cast<SliceObject*>(args[0].object())->indices(in, length);
  return make_tuple({Value::of(r.start), Value::of(r.stop), Value::of(r.step)});
}

template <Value SliceObject::* member>
Value get_member(Interpreter&, const Value& self) {
  return static_cast<SliceObject*>(self.object())->*member;
}

}  // namespace

const Type& slice_type() {
  static const NativeFunction constructor{"slice", "start, stop=missing, step=None, /", new_slice,
                                          "slice(stop) or slice(start, stop[, step])"};
  static const Type type{"slice",
                         "builtins",
                         &object_type(),
                         {{"indices", "length, /", indices, "(start, stop, step) for a sequence of this length"}},
                         {{"start", get_member<&SliceObject::start>, nullptr, ""},
                          {"stop", get_member<&SliceObject::stop>, nullptr, ""},
                          {"step", get_member<&SliceObject::step>, nullptr, ""}},
                         &constructor};
  return type;
}

const Type& SliceObject::type() const { return slice_type(); }

std::string SliceObject::repr(Interpreter& in) {
  return "slice(" + gasell::repr(in, start) + ", " + gasell::repr(in, stop) + ", " + gasell::repr(in, step) + ")";
}

std::optional<Value> SliceObject::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  const auto* slice = other.as<SliceObject>();
  if (!slice) return {};
  return gasell::compare(in, op, make_tuple({start, stop, step}), make_tuple({slice->start, slice->stop, slice->step}));
}

int64_t SliceObject::hash(Interpreter&) { raise("TypeError", "unhashable type: 'slice'"); }

SliceObject::Range SliceObject::indices(Interpreter& in, int64_t length) const {
  auto index = [&](const Value& v) {
    if (v.is_int() || v.is_bool()) return v.as_int();
    if (const auto* big = v.as<BigInt>())
      return big->value < 0 ? std::numeric_limits<int64_t>::min() / 2 : std::numeric_limits<int64_t>::max();
    if (v.is_object()) {
      if (std::optional<int64_t> i = v.object()->to_index(in)) return *i;
    }
    raise("TypeError", "slice indices must be integers or None or have an __index__ method");
  };
  Range r{};
  r.step = step.is_none() ? 1 : index(step);
  if (r.step == 0) raise("ValueError", "slice step cannot be zero");
  r.step = std::max(r.step, -std::numeric_limits<int64_t>::max());
  int64_t lowest = r.step < 0 ? -1 : 0, highest = r.step < 0 ? length - 1 : length;
  auto clip = [&](const Value& v, int64_t left_out) {
    if (v.is_none()) return left_out;
    int64_t i = index(v);
    if (i < 0) return std::max(i + length, lowest);
    return std::min(i, highest);
  };
  r.start = clip(start, r.step < 0 ? highest : lowest);
  r.stop = clip(stop, r.step < 0 ? lowest : highest);
  if (r.step < 0 && r.stop < r.start) r.count = (r.start - r.stop - 1) / -r.step + 1;
  if (r.step > 0 && r.start < r.stop) r.count = (r.stop - r.start - 1) / r.step + 1;
  return r;
}

}  // namespace gasell
