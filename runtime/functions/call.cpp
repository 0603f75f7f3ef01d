#include "runtime/functions/call.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "runtime/device/device.h"
#include "runtime/functions/context.h"
#include "runtime/functions/generator.h"
#include "runtime/functions/lists.h"
#include "runtime/functions/results.h"
#include "runtime/functions/tables.h"
#include "runtime/session/number.h"

namespace gasell::functions {
namespace {

/// Calls f(leaf type) for every leaf of a type.
template <class F>
void for_each_leaf(const Type& type, const F& f) {
  if (type.is_scalar() || type.is_memory()) return f(type);
  if (type.kind == Type::Kind::optional) f(Type::of(DType::boolean));  // whether it is there
  if (type.is_tuple() || type.kind == Type::Kind::optional)
    for (const Type& item : type.items) for_each_leaf(item, f);
}

bool has_arrays(const Type& type) { return type.is_array() || std::any_of(type.items.begin(), type.items.end(), has_arrays); }

struct Counts {
  size_t arrays = 0, scalars = 0;
  void add(const Type& leaf) {
    if (leaf.is_scalar()) {
      scalars += is_complex(leaf.dtype) ? 2 : 1;
    } else {
      ++arrays;
      if (leaf.is_array()) scalars += static_cast<size_t>(leaf.rank) * (leaf.layout == Layout::any ? 2 : 1);
    }
  }
};

Counts counts_of(const Compiled& compiled) {
  Counts counts;
  for (const Type& t : compiled.arguments) for_each_leaf(t, [&](const Type& leaf) { counts.add(leaf); });
  for (const Outside& o : compiled.captured) counts.add(o.type);
  counts.arrays += 4;  // context, error, interrupt, results
  return counts;
}

/// The arguments of a HostKernelFunction under way.
struct Frame {
  explicit Frame(bool checked) : checked_(checked) {}
  void clear() {
    arrays.clear();
    scalars.clear();
    begins_.clear();
    ends_.clear();
  }
  void scalar(const Scalar& s) {
    if (s.is_integral()) {
      scalars.push_back(s.i);
    } else {
      scalars.push_back(std::bit_cast<int64_t>(s.c.real()));
      if (is_complex(s.type)) scalars.push_back(std::bit_cast<int64_t>(s.c.imag()));
    }
  }
  void memory(void* data, void* begin, void* end) {
    arrays.push_back(data);
    if (checked_) begins_.push_back(begin), ends_.push_back(end);
  }
  template <class T>
  void memory(T* data, size_t count) {
    memory(data, data, data + count);
  }
  void array(const Type& type, const Array& a, const Array::Memory& m) {
    memory(m.data, m.begin, m.end);
    scalars.insert(scalars.end(), a.shape().begin(), a.shape().end());
    if (type.layout == Layout::any) scalars.insert(scalars.end(), m.strides.begin(), m.strides.end());
  }
  void run(const HostKernel& kernel) {
    arrays.insert(arrays.end(), begins_.begin(), begins_.end());
    arrays.insert(arrays.end(), ends_.begin(), ends_.end());
    kernel.function(arrays.data(), scalars.data(), 0, 1);
  }

  std::vector<void*> arrays;
  std::vector<int64_t> scalars;

 private:
  bool checked_;
  std::vector<void*> begins_, ends_;
};

std::string with_numbers(std::string message, const int64_t* numbers) {
  for (int k = 0; k < 3; ++k) {
    const std::string open = "{" + std::to_string(k);
    for (size_t at = message.find(open); at != message.npos; at = message.find(open, at + 1)) {
      const size_t close = message.find('}', at);
      if (close == message.npos) break;
      const std::string_view how = std::string_view(message).substr(at + open.size(), close - at - open.size());
      if (how.empty())
        message.replace(at, close + 1 - at, std::to_string(numbers[k]));
      else if (how == ":f")
        message.replace(at, close + 1 - at, float_repr(std::bit_cast<double>(numbers[k])));
      else if (how == ":b")
        message.replace(at, close + 1 - at, numbers[k] ? "True" : "False");
    }
  }
  return message;
}

struct Range {
  const char *begin, *end;
};

Range range_of(const Array& array, const Array::Memory& memory) {
  int64_t low = 0, high = 0;
  for (size_t k = 0; k < array.shape().size(); ++k) {
    const int64_t reach = (array.shape()[k] - 1) * memory.strides[k];
    (reach < 0 ? low : high) += reach;
  }
  const int width = gasell::size_of(array.dtype());
  return {memory.data + low * width, memory.data + (high + 1) * width};
}

/// Whether one of the arrays overlaps one of the first `own`, and one of the two is written. What objects hold may overlap among itself.
bool overlap(std::span<const Array* const> arrays, std::span<const Array::Memory> memories, const std::vector<bool>& written, size_t own) {
  for (size_t a = 0; a < arrays.size(); ++a) {
    if (arrays[a]->size() == 0) continue;
    const Range mine = range_of(*arrays[a], memories[a]);
    for (size_t b = 0; b < std::min(a, own); ++b) {
      if (!(written[a] || written[b]) || arrays[b]->size() == 0) continue;
      const Range other = range_of(*arrays[b], memories[b]);
      if (mine.begin < other.end && other.begin < mine.end) return true;
    }
  }
  return false;
}

/// Whether two arguments are the same object.
bool twice(std::span<const Leaf> leaves, size_t objects) {
  std::vector<bool> seen(objects);
  for (const Leaf& leaf : leaves) {
    if (leaf.object < 0) continue;
    if (seen[static_cast<size_t>(leaf.object)]) return true;
    seen[static_cast<size_t>(leaf.object)] = true;
  }
  return false;
}

/// The size of what an object's parameter points to.
size_t words_of(const Type& type) {
  return (type.is_list() ? sizeof(ListHeader) : type.is_table() ? sizeof(TableHeader) : sizeof(Pcg64)) / sizeof(int64_t);
}

}  // namespace

static KernelObserver& kernel_observer() {
  static KernelObserver observer;
  return observer;
}
void observe_function_kernels(KernelObserver observer) { kernel_observer() = std::move(observer); }

struct Specialisation::Scratch {
  explicit Scratch(bool checked) : frame(checked) {}
  Frame frame;
  std::vector<Base> bases;
  std::vector<int64_t> results;
};

Specialisation::Specialisation(Engine& engine, Compiled compiled)
    : compiled_(std::move(compiled)), regions_(engine.jit(), compiled_.regions), checked_(engine.options().check) {
  register_context_functions();
  Counts counts;
  for (const ir::Parameter& p : compiled_.kernel.params) {
    if (p.kind != ir::Parameter::Kind::scalar)
      ++counts.arrays;
    else
      counts.scalars += is_complex(p.type) ? 2 : 1;
  }
  const Counts expected = counts_of(compiled_);
  if (counts.arrays != expected.arrays || counts.scalars != expected.scalars)
    throw std::logic_error("the parameters of the kernel " + compiled_.kernel.name + " are not those of its arguments");
  for (const Outside& o : compiled_.captured) captured_.push_back(static_cast<const Array*>(o.array));
  returns_arrays_ = has_arrays(compiled_.result);
  if (const KernelObserver& observer = kernel_observer()) {
    observer(compiled_.kernel);
    for (const ir::Kernel& region : compiled_.regions) observer(region);
    for (const ir::Kernel& instance : compiled_.instances) observer(instance);
    for (const ir::Kernel& grid : compiled_.grids)
      if (!grid.name.empty()) observer(grid);
  }
  kernel_ = engine.jit().compile(compiled_.kernel);
  for (const ir::Kernel& instance : compiled_.instances) instances_.push_back(engine.jit().compile(instance));
  has_grids_ = std::any_of(compiled_.grids.begin(), compiled_.grids.end(), [](const ir::Kernel& grid) { return !grid.name.empty(); });
  grids_.resize(compiled_.grids.size());
}

Specialisation::~Specialisation() = default;

Returned Specialisation::run(Engine& engine, const Arguments& arguments) const {
  const auto [leaves, arrays, memories, givens, gpus] = arguments;
  std::optional<RegionGrids> grids;
  FunctionContext context(engine, &regions_, instances_);
  if (gpus) {
    grids.emplace(*gpus, compiled_, grids_);
    for (const Array::Memory& m : memories) grids->add(*std::static_pointer_cast<HostStorage>(m.keep_alive));
    context.use_grids(&*grids);
  }
  std::unique_ptr<Scratch> scratch = std::move(idle_);
  if (!scratch) scratch = std::make_unique<Scratch>(checked_);
  Frame& frame = scratch->frame;
  std::vector<Base>& bases = scratch->bases;
  frame.clear();
  bases.clear();
  for (size_t k = 0; k < arrays.size(); ++k) bases.push_back({arrays[k], &memories[k], static_cast<int>(k)});
  const size_t own = array_leaves();
  GivenMemory given(context, givens ? std::span(givens->objects) : std::span<Given>(), arrays.subspan(own), memories.subspan(own));
  size_t leaf = 0, array = 0;
  for (const Type& t : compiled_.arguments) {
    for_each_leaf(t, [&](const Type& type) {
      const Leaf& value = leaves[leaf++];
      if (type.is_scalar()) return frame.scalar(value.scalar);
      if (type.is_object()) return frame.memory(given.place(type, static_cast<size_t>(value.object)), words_of(type));
      frame.array(type, *arrays[array], memories[array]);
      ++array;
    });
  }
  std::vector<Array::Memory> captured;
  captured.reserve(captured_.size());
  if (!captured_.empty()) settle(engine, captured_, std::vector<bool>(captured_.size(), false));
  for (size_t k = 0; k < captured_.size(); ++k) {
    captured.push_back(captured_[k]->memory(false));
    if (tells_apart(givens) &&
        std::any_of(memories.begin(), memories.end(), [&](const Array::Memory& m) { return m.data == captured.back().data; })) {
      captured.pop_back();
      captured_[k]->isolate(engine);
      captured.push_back(captured_[k]->memory(false));
    }
    if (grids) grids->add(*std::static_pointer_cast<HostStorage>(captured.back().keep_alive));
    frame.array(compiled_.captured[k].type, *captured_[k], captured.back());
    bases.push_back({captured_[k], &captured.back(), -1});
  }
  int64_t error[4] = {0, 0, 0, 0};
  context.set_error(error);
  context.set_texts(compiled_.texts);
  std::vector<int64_t>& slots = scratch->results;
  slots.resize(static_cast<size_t>(std::max(compiled_.result_slots, 1)));
  frame.memory(reinterpret_cast<char*>(&context), sizeof context);
  frame.memory(error, 4);
  static_assert(sizeof(std::atomic<bool>) == 1);
  const std::atomic<bool>& interrupt = engine.interrupt_flag();
  frame.memory(const_cast<char*>(reinterpret_cast<const char*>(&interrupt)), 1);
  frame.memory(slots.data(), slots.size());
  frame.run(kernel_);
  for (const Array::Memory& m : memories) std::static_pointer_cast<HostStorage>(m.keep_alive)->check();
  Results results(context, bases, given);
  given.take(results);
  context.check_output();
  if (error[0] != 0) fail(engine, context, error);
  const int64_t* slot = slots.data();
  Returned returned = results.take(compiled_.result, slot);
  idle_ = std::move(scratch);
  return returned;
}

void Specialisation::fail(Engine& engine, const FunctionContext& context, const int64_t* error) const {
  if (error[0] == FunctionContext::kFailed) throw Error(*context.refusal());
  if (error[0] < 0) {
    engine.clear_interrupt();
    throw Interrupted();
  }
  const Site& site = compiled_.sites.at(static_cast<size_t>(error[0] - 1));
  SiteRaised raised{site, with_numbers(site.message, error + 1), {error[1], error[2], error[3]}};
  if (site.exception == "MemoryError" && context.refusal()) raised.message = context.refusal()->diagnostic().message;
  throw raised;
}

const Specialisation& Dispatch::overlapping(Entry& entry) {
  if (!entry.overlapping) entry.overlapping = std::make_unique<Specialisation>(engine_, compile(*function_, entry.types, true));
  return *entry.overlapping;
}

Dispatch::Entry& Dispatch::entry(const std::vector<Type>& types) {
  for (Entry& e : entries_)
    if (e.types == types) return e;
  Entry made{types, std::make_unique<Specialisation>(engine_, compile(*function_, types, false)), nullptr};
  // The function may have been called while it was compiled (its globals are looked up by scripts' code).
  for (Entry& e : entries_)
    if (e.types == types) return e;
  return entries_.emplace_back(std::move(made));
}

Returned Dispatch::call(Entry& entry, std::span<const Leaf> leaves, Givens* givens) {
  const Compiled& compiled = entry.apart->compiled();
  if (compiled.writes.empty() && !entry.apart->has_grids() && !givens) return entry.apart->run(engine_, {.leaves = leaves});
  std::vector<bool> writes = compiled.writes;
  std::vector<const Array*> arrays;
  arrays.reserve(writes.size());
  for (const Leaf& leaf : leaves)
    if (leaf.array) arrays.push_back(leaf.array);
  const size_t own = arrays.size();
  if (givens) {
    for (const Array* held : givens->arrays) {
      arrays.push_back(held);
      writes.push_back(compiled.writes_held[static_cast<size_t>(held->dtype())]);
    }
  }
  std::vector<Array::Memory> memories;
  memories.reserve(arrays.size());
  settle(engine_, arrays, writes);
  const bool slower_there = entry.gpu_seconds > entry.host_seconds;
  GpuDevice* const gpus = entry.apart->has_grids() ? engine_.gpus_for_function(slower_there ? 0 : entry.host_seconds) : nullptr;
  // What objects hold is read and written by the host alone.
  const auto memory_of = [&](size_t k) { return gpus && k < own ? arrays[k]->addresses() : arrays[k]->memory(writes[k]); };
  std::unordered_map<const char*, const Array*> known;  // one at each address: those that share memory are the same to what comes
  for (size_t k = 0; k < arrays.size(); ++k) {
    memories.push_back(memory_of(k));
    if (arrays.size() == 1 || arrays[k]->size() == 0 || !entry.apart->tells_apart(givens)) continue;
    const auto [other, fresh] = known.emplace(memories[k].data, arrays[k]);
    if (fresh || other->second->same_memory(*arrays[k])) continue;
    memories.pop_back();
    arrays[k]->isolate(engine_);
    memories.push_back(memory_of(k));
    known.emplace(memories[k].data, arrays[k]);
  }
  const Specialisation* chosen = entry.apart.get();
  if ((own > 0 && arrays.size() > 1 && overlap(std::span(arrays), memories, writes, own)) ||
      (givens && twice(leaves, givens->objects.size()))) {
    chosen = &overlapping(entry);
  }
  const Specialisation::Arguments arguments{leaves, arrays, memories, givens, gpus};
  if (!entry.apart->has_grids()) return chosen->run(engine_, arguments);
  const auto start = std::chrono::steady_clock::now();
  Returned returned = chosen->run(engine_, arguments);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!gpus)
    entry.host_seconds = seconds;
  else if (std::exchange(entry.on_gpus_before, true))
    entry.gpu_seconds = seconds;
  return returned;
}

}  // namespace gasell::functions
