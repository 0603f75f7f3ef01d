#include "runtime/functions/direct_call.h"

#include <algorithm>
#include <bit>

#include "runtime/functions/context.h"

namespace gasell::functions {
namespace {

/// The slots of a call's frame: memories, and numbers.
template <size_t kMost>
struct Slots {
  void memory(void* data, void* begin, void* end) {
    memories[memory_count] = data;
    begins[memory_count] = begin;
    ends[memory_count++] = end;
  }
  void scalar(int64_t bits) { scalars[scalar_count++] = bits; }

  void* memories[3 * kMost];  // and, where bounds are checked, where they begin and end
  void* begins[kMost];
  void* ends[kMost];
  int64_t scalars[kMost];
  size_t memory_count = 0, scalar_count = 0;
};

/// The element numbers between which a view's elements lie.
std::pair<int64_t, int64_t> reach_of(const View& view, int rank) {
  int64_t low = 0, high = 0, stride = 1;
  for (int k = rank; k-- > 0;) {
    const int64_t step = view.strides ? view.strides[k] : stride;
    (step < 0 ? low : high) += (view.shape[k] - 1) * step;
    stride *= view.shape[k];
  }
  return {low, high + 1};
}

bool is_empty(const View& view, int rank) {
  return std::any_of(view.shape, view.shape + rank, [](int64_t n) { return n == 0; });
}

void check(const Type& type, const View& view, size_t argument) {
  const auto fail = [&](const char* what) {
    throw Error("ValueError", "argument " + std::to_string(argument + 1) + ", " + describe(type) + ", " + what);
  };
  bool empty = false;
  for (int k = 0; k < type.rank; ++k) {
    if (view.shape[k] < 0) fail("has a negative extent");
    empty = empty || view.shape[k] == 0;
  }
  const int width = is_complex(type.dtype) ? size_of(type.dtype) / 2 : size_of(type.dtype);
  if (!view.data && !empty) fail("has no memory");
  if (reinterpret_cast<uintptr_t>(view.data) & static_cast<uintptr_t>(width - 1)) fail("is not aligned to its elements");
  if (!view.strides || type.layout == Layout::any || empty) return;
  for (int64_t k = type.rank - 1, stride = 1; k >= 0; stride *= view.shape[k--])
    if (view.shape[k] > 1 && view.strides[k] != stride) fail("is not contiguous");
}

int64_t bits_of(DType dtype, const void* at) {
  switch (dtype) {
    case DType::f64: return *static_cast<const int64_t*>(at);
    case DType::i64: return *static_cast<const int64_t*>(at);
    default: break;
  }
  const Scalar s = Scalar::load(at, dtype);
  return s.is_integral() ? s.i : std::bit_cast<int64_t>(s.c.real());
}

void add_strides(auto& slots, const View& view, int rank) {
  if (view.strides) {
    for (int k = 0; k < rank; ++k) slots.scalar(view.strides[k]);
    return;
  }
  int64_t strides[64], stride = 1;
  for (int k = rank; k-- > 0; stride *= view.shape[k]) strides[k] = stride;
  for (int k = 0; k < rank; ++k) slots.scalar(strides[k]);
}

}  // namespace

bool DirectCall::takes(const Compiled& compiled) {
  size_t memories = 4, scalars = 0;
  const auto count = [&](const Type& type) {
    if (type.is_array())
      ++memories, scalars += 2 * static_cast<size_t>(type.rank);
    else
      scalars += 2;
  };
  for (const Type& type : compiled.arguments) {
    if (!type.is_scalar() && !type.is_array()) return false;
    count(type);
  }
  for (const Outside& outside : compiled.captured) count(outside.type);
  return (compiled.result.is_scalar() || compiled.result.is_none()) && compiled.result_slots <= 2 && memories <= kMost && scalars <= kMost;
}

DirectCall::DirectCall(Engine& engine, const Specialisation& apart, const Specialisation* overlapping)
    : engine_(engine), apart_(apart), overlapping_(overlapping) {
  for (const Outside& outside : apart.compiled().captured) {
    const Array& array = *static_cast<const Array*>(outside.array);
    const Array* const one[] = {&array};
    settle(engine, one, {false});
    captured_.push_back({outside.type, array, array.memory(false)});
  }
}

bool DirectCall::overlaps(void* const* arguments) const {
  const Compiled& compiled = apart_.compiled();
  struct Range {
    const char *begin, *end;
    bool written;
  };
  Range ranges[kMost];
  size_t count = 0, array = 0;
  for (size_t k = 0; k < compiled.arguments.size(); ++k) {
    const Type& type = compiled.arguments[k];
    if (!type.is_array()) continue;
    const bool written = compiled.writes[array++];
    const View& view = *static_cast<const View*>(arguments[k]);
    if (is_empty(view, type.rank)) continue;
    const auto [low, high] = reach_of(view, type.rank);
    const auto* const data = static_cast<const char*>(view.data);
    const Range mine{data + low * size_of(type.dtype), data + high * size_of(type.dtype), written};
    for (size_t other = 0; other < count; ++other)
      if ((written || ranges[other].written) && mine.begin < ranges[other].end && ranges[other].begin < mine.end) return true;
    ranges[count++] = mine;
  }
  return false;
}

void DirectCall::operator()(void* result, DType wanted, void* const* arguments, const std::atomic<bool>& interrupt) const {
  const Compiled& compiled = apart_.compiled();
  Slots<kMost> slots;
  for (size_t k = 0; k < compiled.arguments.size(); ++k) {
    const Type& type = compiled.arguments[k];
    if (type.is_scalar()) {
      slots.scalar(bits_of(type.dtype, arguments[k]));
      if (is_complex(type.dtype)) slots.scalar(std::bit_cast<int64_t>(Scalar::load(arguments[k], type.dtype).c.imag()));
      continue;
    }
    const View& view = *static_cast<const View*>(arguments[k]);
    check(type, view, k);
    const auto [low, high] = is_empty(view, type.rank) ? std::pair<int64_t, int64_t>{0, 0} : reach_of(view, type.rank);
    char* const data = static_cast<char*>(view.data);
    slots.memory(data, data + low * size_of(type.dtype), data + high * size_of(type.dtype));
    for (int axis = 0; axis < type.rank; ++axis) slots.scalar(view.shape[axis]);
    if (type.layout == Layout::any) add_strides(slots, view, type.rank);
  }
  const Specialisation& chosen = overlapping_ && overlaps(arguments) ? *overlapping_ : apart_;
  for (const Captured& captured : captured_) {
    slots.memory(captured.memory.data, captured.memory.begin, captured.memory.end);
    for (const int64_t extent : captured.array.shape()) slots.scalar(extent);
    if (captured.type.layout == Layout::any)
      for (const int64_t stride : captured.memory.strides) slots.scalar(stride);
  }
  FunctionContext context(engine_, &chosen.regions(), chosen.instances());
  int64_t error[4] = {0, 0, 0, 0};
  context.set_error(error);
  context.set_texts(chosen.compiled().texts);
  int64_t returned[2] = {0, 0};
  const auto add = [&](auto* data, size_t count) { slots.memory(data, data, data + count); };
  add(reinterpret_cast<char*>(&context), sizeof context);
  add(error, 4);
  add(const_cast<char*>(reinterpret_cast<const char*>(&interrupt)), 1);
  add(returned, 2);
  if (chosen.checks_bounds()) {
    std::copy_n(slots.begins, slots.memory_count, slots.memories + slots.memory_count);
    std::copy_n(slots.ends, slots.memory_count, slots.memories + 2 * slots.memory_count);
  }
  chosen.kernel().function(slots.memories, slots.scalars, 0, 1);
  context.check_output();
  if (error[0] != 0) [[unlikely]]
    chosen.fail(engine_, context, error);
  if (!result || compiled.result.is_none()) return;
  const DType given = compiled.result.dtype;
  if (given == wanted && (given == DType::f64 || given == DType::i64)) {
    *static_cast<int64_t*>(result) = returned[0];
    return;
  }
  Scalar value;
  if (kind(given) == 'b' || is_integer(given))
    value = Scalar::of_int(returned[0]).cast(given);
  else if (is_complex(given))
    value = Scalar::of_complex({std::bit_cast<double>(returned[0]), std::bit_cast<double>(returned[1])}, given);
  else
    value = Scalar::of_float(std::bit_cast<double>(returned[0]), given);
  value.cast(wanted).store(result);
}

}  // namespace gasell::functions
