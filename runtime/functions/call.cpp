#include "runtime/functions/call.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include "compiler/functions/slots.h"
#include "runtime/device/device.h"
#include "runtime/functions/context.h"
#include "runtime/functions/lists.h"
#include "runtime/functions/tables.h"
#include "runtime/functions/views.h"
#include "runtime/session/number.h"

namespace gasell::functions {
namespace {

/// Calls f(leaf type) for every leaf of a type.
template <class F>
void for_each_leaf(const Type& type, const F& f) {
  if (type.is_scalar() || type.is_memory()) return f(type);
  if (type.is_tuple())
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

/// An array that a result may be a view of.
struct Base {
  const Array* array;
  const Array::Memory* memory;
  int argument;  // which array leaf; -1: captured
};

class Results {
 public:
  Results(const int64_t* slots, const FunctionContext& context, std::span<const Base> bases, std::span<ListHeader* const> lists)
      : slot_(slots), context_(context), bases_(bases), lists_(lists) {}

  Returned take(const Type& type) {
    Returned r;
    r.type = &type;
    switch (type.kind) {
      case Type::Kind::scalar: r.scalar = scalar(type.dtype); break;
      case Type::Kind::array: array(r); break;
      case Type::Kind::tuple:
        for (const Type& item : type.items) r.items.push_back(take(item));
        break;
      case Type::Kind::list:
      case Type::Kind::table: list(r); break;
      case Type::Kind::optional:
        r.there = *slot_++ != 0;
        if (r.there)
          r.items.push_back(take(type.items[0]));
        else
          skip(type.items[0]);
        break;
      default: break;  // None, texts and functions are their types
    }
    return r;
  }

 private:
  Scalar scalar(DType dtype) {
    if (kind(dtype) == 'b' || is_integer(dtype)) return Scalar::of_int(*slot_++).cast(dtype);
    const double re = std::bit_cast<double>(*slot_++);
    return is_complex(dtype) ? Scalar::of_complex({re, std::bit_cast<double>(*slot_++)}, dtype) : Scalar::of_float(re, dtype);
  }

  void skip(const Type& type) {
    for_each_leaf(type, [this](const Type& leaf) {
      slot_ += leaf.is_array() ? 2 + 2 * leaf.rank : leaf.is_scalar() && is_complex(leaf.dtype) ? 2 : 1;
    });
  }

  void list(Returned& r) {
    const auto* header = reinterpret_cast<const ListHeader*>(*slot_++);
    for (size_t k = 0; k < lists_.size(); ++k)
      if (lists_[k] == header) r.list = static_cast<int>(k);
    if (r.list >= 0 || header->length == 0) return;
    const int64_t* const after = slot_;
    for (int64_t k = 0; k < header->length; ++k) {
      slot_ = header->data + k * header->slots;
      if (r.type->is_table() && *slot_++ == 0) continue;  // it was removed
      r.items.push_back(take(r.type->items.at(0)));
    }
    slot_ = after;
  }

  void array(Returned& r) {
    auto* const address = reinterpret_cast<char*>(*slot_++);
    ElementLayout layout;
    layout.offset = *slot_++;
    layout.extents.assign(slot_, slot_ + r.type->rank);
    layout.strides.assign(slot_ + r.type->rank, slot_ + 2 * r.type->rank);
    slot_ += 2 * r.type->rank;
    const DType dtype = r.type->dtype;
    if (HostStorageRef storage = context_.storage(address)) {
      r.array = std::make_shared<Array>(of_new_memory(address, std::move(storage), dtype, layout));
      return;
    }
    std::optional<Array> view;
    for (const Base& base : bases_) {
      if (base.memory->data != address || base.array->dtype() != dtype) continue;
      if (base.argument >= 0 && layout.offset == 0 && layout.extents == base.array->shape() && same_strides(layout, *base.memory)) {
        r.argument = base.argument;
        r.array = std::make_shared<Array>(*base.array);
        return;
      }
      if (!view) view = view_of(*base.array, base.memory->strides, layout, r.type->read_only);
    }
    if (!view && graph::size_of(layout.extents) == 0) view = Array(graph::constant(Scalar::of_int(0).cast(dtype), layout.extents));
    if (!view) throw no_view();
    r.array = std::make_shared<Array>(*std::move(view));
  }

  static bool same_strides(const ElementLayout& layout, const Array::Memory& memory) {
    for (size_t k = 0; k < layout.extents.size(); ++k)
      if (layout.extents[k] > 1 && layout.strides[k] != memory.strides[k]) return false;
    return true;
  }

  static Error no_view() {
    return Error("NotImplementedError",
                 "a compiled function returned an array whose elements lie in a way that no view of the array it came from has",
                 "return a copy: x.copy()", Blame::limitation);
  }

  /// The shape of a contiguous array of up to `count` elements that has axes with the layout's strides: of (2, 3) with strides (1, 2),
  /// (count / 2, 2).
  static graph::Shape shape_for(const ElementLayout& layout, int64_t count) {
    std::vector<int64_t> strides;
    for (size_t k = 0; k < layout.extents.size(); ++k)
      if (layout.extents[k] > 1 && layout.strides[k] != 0) strides.push_back(std::abs(layout.strides[k]));
    std::sort(strides.begin(), strides.end(), std::greater<>());
    graph::Shape shape;
    int64_t around = count;
    for (const int64_t stride : strides) {
      if (!shape.empty() && around % stride != 0) return {count};
      if (around / stride > 0) shape.push_back(around / stride);
      around = stride;
    }
    if (around > 1 || shape.empty()) shape.push_back(around);
    return shape;
  }

  /// Results in one allocation are views of one array, as they were inside.
  Array of_new_memory(char* address, HostStorageRef storage, DType dtype, const ElementLayout& layout) {
    const int64_t count = storage->bytes() / gasell::size_of(dtype);
    if (layout.offset == 0 && layout.strides == graph::contiguous_strides(layout.extents)) {
      // Whole, as nearly all are: an array like others.
      bool first = true;
      for (const auto& [at, base] : fresh_) first = first && at != address;
      if (first) {
        Array whole(graph::buffer(storage, dtype, layout.extents, layout.strides, 0));
        fresh_.emplace_back(address, whole);
        return whole;
      }
    }
    const Array* base = nullptr;
    for (const auto& [at, array] : fresh_)
      if (at == address && array.dtype() == dtype) base = &array;
    if (!base) {
      const graph::Shape shape = shape_for(layout, count);
      fresh_.emplace_back(address, Array(graph::buffer(storage, dtype, shape, graph::contiguous_strides(shape), 0)));
      base = &fresh_.back().second;
    }
    std::optional<Array> view = view_of(*base, graph::contiguous_strides(base->shape()), layout);
    if (!view) throw no_view();
    return *std::move(view);
  }

  const int64_t* slot_;
  const FunctionContext& context_;
  std::span<const Base> bases_;
  std::span<ListHeader* const> lists_;  // of the arguments
  std::vector<std::pair<char*, Array>> fresh_;
};

/// The list that an argument is to the function.
ListHeader* given_list(FunctionContext& context, const Type& type, const std::vector<int64_t>& items) {
  const int slots = slots_of(type.items.at(0));
  ListHeader* const list = context.new_list(slots, references_in(type.items[0]));
  const auto count = static_cast<int64_t>(items.size()) / std::max(slots, 1);
  if (!list || !context.grow(*list, count))
    throw Error("MemoryError", "there is no memory for a list of " + std::to_string(count) + " items");
  std::copy(items.begin(), items.end(), list->data);
  list->length = count;
  return list;
}

/// A dict or a set of entries, each the slots of its key and its value.
ListHeader* given_table(FunctionContext& context, const Type& type, const std::vector<int64_t>& items) {
  const TableLayout layout = layout_of_table(type);
  TableHeader* const table = context.new_table(layout.slots, layout.references, layout.key_slots, layout.floats);
  bool made = table != nullptr;
  for (const int64_t *entry = items.data(), *end = entry + items.size(); made && entry < end; entry += layout.slots - 1) {
    const int64_t place = insert_key(context, *table, entry);
    made = place >= 0;
    if (made) std::copy_n(entry, layout.slots - 1, table->entries.data + place * layout.slots + 1);
  }
  if (!made) throw Error("MemoryError", "there is no memory for a " + type.text + " that is an argument");
  return &table->entries;
}

/// What a call left in a list, a dict or a set.
void take_items(const ListHeader& list, const Type& type, std::vector<int64_t>& items) {
  if (type.is_list()) return items.assign(list.data, list.data + list.length * list.slots);
  items.clear();
  for (const int64_t *entry = list.data, *end = entry + list.length * list.slots; entry < end; entry += list.slots)
    if (entry[0] != 0) items.insert(items.end(), entry + 1, entry + list.slots);
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

bool overlap(std::span<const Array* const> arrays, std::span<const Array::Memory> memories, const std::vector<bool>& written) {
  for (size_t a = 0; a < arrays.size(); ++a) {
    if (!written[a] || arrays[a]->size() == 0) continue;
    const Range mine = range_of(*arrays[a], memories[a]);
    for (size_t b = 0; b < arrays.size(); ++b) {
      if (b == a || arrays[b]->size() == 0) continue;
      const Range other = range_of(*arrays[b], memories[b]);
      if (mine.begin < other.end && other.begin < mine.end) return true;
    }
  }
  return false;
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
  for (const Type& t : compiled_.arguments)
    for_each_leaf(t, [this](const Type& leaf) { takes_lists_ = takes_lists_ || (leaf.is_memory() && !leaf.is_array()); });
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

Returned Specialisation::run(Engine& engine, std::span<const Leaf> leaves, std::span<const Array* const> arrays,
                             std::span<const Array::Memory> memories, GpuDevice* gpus) const {
  std::optional<RegionGrids> grids;
  FunctionContext context(engine.device(), &regions_, instances_);
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
  size_t leaf = 0, array = 0;
  struct List {
    ListHeader* header;
    const Type& type;
    std::vector<int64_t>* items;
  };
  std::vector<List> lists;
  for (const Type& t : compiled_.arguments) {
    for_each_leaf(t, [&](const Type& type) {
      const Leaf& given = leaves[leaf++];
      if (type.is_scalar()) return frame.scalar(given.scalar);
      if (!type.is_array()) {
        ListHeader* const list = (type.is_list() ? given_list : given_table)(context, type, *given.list);
        frame.memory(reinterpret_cast<int64_t*>(list), (type.is_list() ? sizeof(ListHeader) : sizeof(TableHeader)) / 8);
        lists.push_back({list, type, given.list});
        return;
      }
      frame.array(type, *arrays[array], memories[array]);
      bases.push_back({arrays[array], &memories[array], static_cast<int>(array)});
      ++array;
    });
  }
  std::vector<Array::Memory> captured;
  captured.reserve(captured_.size());
  if (!captured_.empty()) settle(engine, captured_, std::vector<bool>(captured_.size(), false));
  for (size_t k = 0; k < captured_.size(); ++k) {
    captured.push_back(captured_[k]->memory(false));
    if (returns_arrays_ &&
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
  std::vector<int64_t>& results = scratch->results;
  results.resize(static_cast<size_t>(std::max(compiled_.result_slots, 1)));
  frame.memory(reinterpret_cast<char*>(&context), sizeof context);
  frame.memory(error, 4);
  static_assert(sizeof(std::atomic<bool>) == 1);
  const std::atomic<bool>& interrupt = engine.interrupt_flag();
  frame.memory(const_cast<char*>(reinterpret_cast<const char*>(&interrupt)), 1);
  frame.memory(results.data(), results.size());
  frame.run(kernel_);
  for (const Array::Memory& m : memories) std::static_pointer_cast<HostStorage>(m.keep_alive)->check();
  if (error[0] != 0)
    for (const List& list : lists) take_items(*list.header, list.type, *list.items);
  if (error[0] == FunctionContext::kFailed) throw Error(*context.refusal());
  if (error[0] < 0) {
    engine.clear_interrupt();
    throw Interrupted();
  }
  if (error[0] != 0) {
    const Site& site = compiled_.sites.at(static_cast<size_t>(error[0] - 1));
    SiteRaised raised{site, with_numbers(site.message, error + 1), {error[1], error[2], error[3]}};
    if (site.exception == "MemoryError" && context.refusal()) raised.message = context.refusal()->diagnostic().message;
    throw raised;
  }
  std::vector<ListHeader*> headers;
  for (const List& list : lists) {
    take_items(*list.header, list.type, *list.items);
    headers.push_back(list.header);
  }
  Returned returned = Results(results.data(), context, bases, headers).take(compiled_.result);
  idle_ = std::move(scratch);
  return returned;
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

Returned Dispatch::call(Entry& entry, std::span<const Leaf> leaves) {
  const std::vector<bool>& writes = entry.apart->compiled().writes;
  if (writes.empty() && !entry.apart->has_grids()) return entry.apart->run(engine_, leaves, {}, {});
  std::vector<const Array*> arrays;
  arrays.reserve(writes.size());
  for (const Leaf& leaf : leaves)
    if (leaf.array) arrays.push_back(leaf.array);
  std::vector<Array::Memory> memories;
  memories.reserve(arrays.size());
  settle(engine_, arrays, writes);
  const bool slower_there = entry.gpu_seconds > entry.host_seconds;
  GpuDevice* const gpus = entry.apart->has_grids() ? engine_.gpus_for_function(slower_there ? 0 : entry.host_seconds) : nullptr;
  const auto memory_of = [&](size_t k) { return gpus ? arrays[k]->addresses() : arrays[k]->memory(writes[k]); };
  for (size_t k = 0; k < arrays.size(); ++k) {
    memories.push_back(memory_of(k));
    if (!entry.apart->returns_arrays()) continue;
    for (size_t other = 0; other < k; ++other) {
      if (memories[other].data != memories[k].data || arrays[other]->same_memory(*arrays[k]) || arrays[k]->size() == 0) continue;
      memories.pop_back();
      arrays[k]->isolate(engine_);
      memories.push_back(memory_of(k));
    }
  }
  const Specialisation* chosen = entry.apart.get();
  if (arrays.size() > 1 && overlap(arrays, memories, writes)) {
    if (!entry.overlapping) entry.overlapping = std::make_unique<Specialisation>(engine_, compile(*function_, entry.types, true));
    chosen = entry.overlapping.get();
  }
  if (!entry.apart->has_grids()) return chosen->run(engine_, leaves, arrays, memories);
  const auto start = std::chrono::steady_clock::now();
  Returned returned = chosen->run(engine_, leaves, arrays, memories, gpus);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!gpus)
    entry.host_seconds = seconds;
  else if (std::exchange(entry.on_gpus_before, true))
    entry.gpu_seconds = seconds;
  return returned;
}

}  // namespace gasell::functions
