#include "runtime/functions/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "compiler/codegen/simt.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/simt.h"
#include "compiler/ir/thread_axes.h"
#include "runtime/gpu/gpu_device.h"

namespace gasell::functions {
namespace {

/// Bytes of shared memory that the host gives a block: as much as an H200 does.
constexpr int64_t kMostShared = 232448;

template <class F>
void for_each_leaf(const Type& type, const F& f) {
  if (type.is_scalar() || type.is_array()) return f(type);
  if (type.is_tuple())
    for (const Type& item : type.items) for_each_leaf(item, f);
}

std::string triple(const std::array<int64_t, 3>& at) { return fmt::format("({}, {}, {})", at[0], at[1], at[2]); }

void require_shared(int64_t bytes, int64_t most) {
  if (bytes > most)
    throw Error("ValueError", fmt::format("a block wants {} bytes of shared memory, and has at most {}", bytes, most),
                "take smaller tiles");
}

/// CUDA's limits, in words.
void require_shape(const GridShape& shape, int64_t static_shared, int64_t most_shared) {
  static constexpr std::array<int64_t, 3> kMostThreads = {1024, 1024, 64}, kMostBlocks = {2147483647, 65535, 65535};
  auto refuse = [](std::string message, std::string hint) { throw Error("ValueError", std::move(message), std::move(hint)); };
  for (size_t k = 0; k < 3; ++k) {
    if (shape.threads[k] < 1 || shape.blocks[k] < 1)
      refuse(fmt::format("a launch needs at least one block and one thread, and this has blocks {} of threads {}", triple(shape.blocks),
                         triple(shape.threads)),
             "kernel[blocks, threads](...)");
    if (shape.blocks[k] > kMostBlocks[k])
      refuse(fmt::format("a grid of {} blocks is too large: at most {}", triple(shape.blocks), triple(kMostBlocks)),
             "let each thread do more");
  }
  if (shape.threads_a_block() > 1024 || shape.threads[0] > kMostThreads[0] || shape.threads[1] > kMostThreads[1] ||
      shape.threads[2] > kMostThreads[2])
    refuse(fmt::format("a block of {} has {} threads: at most 1024, {} along each axis", triple(shape.threads), shape.threads_a_block(),
                       triple(kMostThreads)),
           "take smaller blocks, and more of them");
  if (shape.shared_bytes < 0) refuse("a launch cannot take shared memory from its blocks", "kernel[blocks, threads, stream, bytes](...)");
  require_shared(static_shared + shape.shared_bytes, most_shared);
}

struct Range {
  HostStorage* storage;
  int64_t begin, end;
};

/// The bytes of its storage that an array may use; none where it has no elements.
Range range_of(const Array& array, const Array::Place& place) {
  int64_t low = 0, high = 0;
  for (size_t k = 0; k < array.shape().size(); ++k) {
    const int64_t reach = (array.shape()[k] - 1) * place.strides[k];
    (reach < 0 ? low : high) += reach;
  }
  if (array.size() == 0) return {place.storage.get(), 0, 0};
  const int width = gasell::size_of(array.dtype());
  return {place.storage.get(), (place.offset + low) * width, (place.offset + high + 1) * width};
}

bool overlap(const std::vector<Range>& ranges, const std::vector<bool>& written) {
  for (size_t a = 0; a < ranges.size(); ++a)
    for (size_t b = 0; b < ranges.size(); ++b)
      if (a != b && written[a] && ranges[a].storage == ranges[b].storage && ranges[a].begin < ranges[b].end &&
          ranges[b].begin < ranges[a].end)
        return true;
  return false;
}

std::string with_numbers(std::string message, const int64_t* numbers) {
  for (int k = 0; k < 3; ++k) {
    const std::string place = "{" + std::to_string(k) + "}";
    for (size_t at = message.find(place); at != message.npos; at = message.find(place, at))
      message.replace(at, place.size(), std::to_string(numbers[k]));
  }
  return message;
}

std::string line_text(const Compiled& compiled, int64_t number) {
  if (number <= 0) return {};
  const Site& site = compiled.sites.at(static_cast<size_t>(number - 1));
  return site.source ? fmt::format("line {}", site.source->position(site.span.begin).line) : std::string("an unknown line");
}

[[noreturn]] void raise_error(const Compiled& compiled, const std::array<int64_t, 10>& error) {
  const Site& site = compiled.sites.at(static_cast<size_t>(error[0] - 1));
  const std::string where =
      fmt::format("in block {} thread {}", triple({error[4], error[5], error[6]}), triple({error[7], error[8], error[9]}));
  const std::string message = with_numbers(site.message, error.data() + 1);
  throw SiteRaised{site, message.empty() ? where : message + " (" + where + ")"};
}

[[noreturn]] void raise_fault(const Compiled& compiled, const GridFault& fault) {
  Site site;
  site.exception = "RuntimeError";
  for (const int64_t number : {fault.sites[0], fault.sites[1]})
    if (number > 0 && !site.source) {
      site = compiled.sites.at(static_cast<size_t>(number - 1));
      site.exception = "RuntimeError";
    }
  const std::string first = line_text(compiled, fault.sites[0]), second = line_text(compiled, fault.sites[1]);
  const std::string one = triple(fault.threads[0]), other = triple(fault.threads[1]), block = triple(fault.block);
  std::string message;
  if (fault.kind == GridFault::Kind::race) {
    auto does = [](bool writes) { return writes ? "writes" : "reads"; };
    message = fmt::format("a race in {} memory: of block {}, thread {} {} an element{} that thread {} {}{}, with no barrier between",
                          fault.shared ? "shared" : "global", block, one, does(fault.writes[0]), first.empty() ? "" : " at " + first, other,
                          does(fault.writes[1]), second.empty() ? "" : " at " + second);
  } else {
    const bool hung = fault.kind == GridFault::Kind::hung;
    message = fmt::format("a barrier that not all threads come to: in block {}, thread {} waits at {}, and thread {} {}{}", block, one,
                          first.empty() ? "it" : first, other,
                          second.empty()                         ? "has ended"
                          : fault.threads[0] == fault.threads[1] ? "is alone there"
                                                                 : "waits at " + second,
                          hung ? ": they would wait for ever" : "");
  }
  throw SiteRaised{site, message};
}

void append(const Scalar& s, std::vector<int64_t>& slots) {
  if (s.is_integral()) return slots.push_back(s.i);
  slots.push_back(std::bit_cast<int64_t>(s.c.real()));
  if (is_complex(s.type)) slots.push_back(std::bit_cast<int64_t>(s.c.imag()));
}

bool is_simulated(const GpuDevice* gpus) { return !gpus || gpus->gpu(0).capability == 0; }

}  // namespace

bool GridDispatch::checks_indices(GpuDevice* gpus) const { return function_->options.bounds_check || is_simulated(gpus); }

GridDispatch::Entry& GridDispatch::entry(const std::vector<Type>& types) {
  const bool checked = checks_indices(engine_.chosen_gpus());
  for (Entry& e : entries_)
    if (e.types == types && e.checked == checked) return e;
  Entry made{types, checked, nullptr, nullptr};
  load(made.apart, made, false, engine_.chosen_gpus(), true);
  for (Entry& e : entries_)
    if (e.types == types && e.checked == checked) return e;
  return entries_.emplace_back(std::move(made));
}

GridDispatch::Made& GridDispatch::load(std::unique_ptr<Made>& made, const Entry& entry, bool overlapping, GpuDevice* gpus, bool ahead) {
  if (!made) {
    Function function = *function_;
    function.options.bounds_check = entry.checked;
    function.options.lines = engine_.options().check;
    made = std::make_unique<Made>();
    made->compiled = compile(function, entry.types, overlapping);
    const ir::Kernel passed = ir::run_passes(made->compiled.kernel, ir::pipeline_of(made->compiled.kernel));
    made->along_y = ir::prefers_warps_along_y(passed);
    made->may_raise = ir::may_raise(passed);
  }
  require_shared(ir::static_shared_bytes(made->compiled.kernel), gpus ? gpus->gpu(gpus->selected()).most_shared : kMostShared);
  if (gpus && !made->on_gpus) {
    if (!made->loading.valid())
      made->loading = std::async(std::launch::async, [gpus, &kernel = made->compiled.kernel] { return gpus->load(kernel); }).share();
    if (ahead) return *made;
    const std::shared_future<LoadedKernelRef> loading = std::exchange(made->loading, {});  // a failure is not kept
    made->on_gpus = loading.get();
  }
  if (!gpus && !made->on_host.function) {
    made->on_host = engine_.jit().compile(made->compiled.kernel);
    made->grid = grid_kernel(made->on_host.function, made->compiled.kernel);
  }
  return *made;
}

void GridDispatch::launch(Entry& entry, std::span<const Leaf> leaves, const GridShape& shape) {
  const Compiled& compiled = entry.apart->compiled;
  std::vector<const Array*> arrays;
  for (const Leaf& leaf : leaves)
    if (leaf.array) arrays.push_back(leaf.array);
  std::vector<bool> writes = compiled.writes;
  for (const Outside& o : compiled.captured) {
    arrays.push_back(static_cast<const Array*>(o.array));
    writes.push_back(false);
  }
  settle(engine_, arrays, writes);
  GpuDevice* const gpus = engine_.chosen_gpus();  // now: what is computed for the arguments may lose one
  std::vector<Array::Place> places;
  std::vector<Range> ranges;
  for (const Array* a : arrays) {
    places.push_back(a->place());
    ranges.push_back(range_of(*a, places.back()));
  }
  const bool overlapping = overlap(ranges, writes);
  Made& made = load(overlapping ? entry.overlapping : entry.apart, entry, overlapping, gpus);
  const int64_t static_shared = ir::static_shared_bytes(made.compiled.kernel);
  require_shape(shape, static_shared, gpus ? gpus->gpu(gpus->selected()).most_shared : kMostShared);

  std::vector<int64_t> scalars;
  size_t leaf = 0, array = 0;
  auto add_array = [&](const Type& type) {
    scalars.insert(scalars.end(), arrays[array]->shape().begin(), arrays[array]->shape().end());
    if (type.layout == Layout::any) scalars.insert(scalars.end(), places[array].strides.begin(), places[array].strides.end());
    ++array;
  };
  for (const Type& t : made.compiled.arguments)
    for_each_leaf(t, [&](const Type& type) {
      const Leaf& given = leaves[leaf++];
      type.is_scalar() ? append(given.scalar, scalars) : add_array(type);
    });
  for (const Outside& o : made.compiled.captured) add_array(o.type);

  std::array<int64_t, 10> error{};
  GridFault fault;
  if (gpus) {
    // What a simulated GPU sees is told where the launch stands, so somebody waits for it.
    const bool notes = made.may_raise || is_simulated(gpus);
    GpuDevice::GridLaunch launch{&made.compiled.kernel, made.on_gpus, {}, std::move(scalars), shape, notes};
    launch.shape.along_y = made.along_y;
    for (size_t k = 0; k < arrays.size(); ++k)
      launch.arrays.push_back(
          {ranges[k].storage, places[k].offset * gasell::size_of(arrays[k]->dtype()), ranges[k].begin, ranges[k].end, writes[k]});
    try {
      const GpuDevice::GridResult result = gpus->run_grid(launch);
      error = result.error;
      fault = result.fault;
    } catch (const WorkLost&) {
      gpus->abandon();
      throw Error("RuntimeError", "the GPU was lost while the kernel '" + made.compiled.kernel.name + "' ran", {}, Blame::environment);
    }
  } else {
    std::vector<void*> memories, begins, ends;
    for (size_t k = 0; k < arrays.size(); ++k) {
      auto* const begin = static_cast<char*>(writes[k] ? places[k].storage->write() : const_cast<void*>(places[k].storage->read()));
      memories.push_back(begin + places[k].offset * gasell::size_of(arrays[k]->dtype()));
      begins.push_back(begin);
      ends.push_back(begin + places[k].storage->bytes());
    }
    memories.push_back(error.data());
    begins.push_back(error.data());
    ends.push_back(error.data() + error.size());
    memories.insert(memories.end(), begins.begin(), begins.end());
    memories.insert(memories.end(), ends.begin(), ends.end());
    fault = run_grid(made.grid, memories.data(), scalars.data(), shape, engine_.options().check, engine_.interrupt_flag());
    if (engine_.interrupted()) {
      engine_.clear_interrupt();
      throw Interrupted();
    }
  }
  for (const Array::Place& p : places) p.storage->check();
  if (error[0] > 0) raise_error(made.compiled, error);
  if (fault.kind != GridFault::Kind::none) raise_fault(made.compiled, fault);
}

}  // namespace gasell::functions
