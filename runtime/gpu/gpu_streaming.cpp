// Launches over arrays that do not fit a GPU's memory: units go in chunks, and while one is computed, the inputs of the next are copied in
// and the results of the last one out.
#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "runtime/gpu/launch_on_gpus.h"

namespace gasell {
namespace {

constexpr int64_t kChunkBytes = 128 << 20;  // of the largest array; enough for the copies' full speed
constexpr double kUsable = 0.9;             // of the memory that is free
constexpr int64_t kFewestChunks = 4;        // so that there is something to overlap
// Mapped files larger than this part of the host's memory are given back behind the pass.
constexpr int64_t kReleasedPart = 8;

}  // namespace

/// The buffers of one part, and its loop.
class LaunchOnGpus::Pipeline {
 public:
  Pipeline(LaunchOnGpus& launch, Part& part) : launch_(launch), part_(part), gpu_(launch.memory_.gpu(part.gpu)) {}
  ~Pipeline() {
    for (const Stream& stream : streams_)
      for (const GpuAddress buffer : stream.buffers)
        if (buffer) gpu_.free(buffer);
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void prepare() {
    arrange();
    const int64_t blocks = (part_.units.size() + launch_.launch_.together - 1) / launch_.launch_.together;
    double step = 0, largest = 1;
    int64_t extra = 0;
    for (const Stream& stream : streams_) {
      const plan::Walk& walk = (*launch_.launch_.walks)[stream.array];
      step += walk.step;
      largest = std::max(largest, walk.step);
      extra += walk.before + walk.after + 2 * LaunchOnGpus::kWhole;
    }
    const double room = kUsable * static_cast<double>(gpu_.free_memory()) / 2 - static_cast<double>(extra);
    const double most = std::min(
        {room / std::max(step, 1.0), static_cast<double>(kChunkBytes) / largest, std::ceil(static_cast<double>(blocks) / kFewestChunks)});
    for (chunk_ = std::max<int64_t>(1, static_cast<int64_t>(most));; chunk_ = (chunk_ + 1) / 2) {
      try {
        return allocate();
      } catch (const Error& error) {
        if (error.diagnostic().kind != "MemoryError" || chunk_ == 1) throw;
        free_buffers();
      }
    }
  }

  void run() {
    const Launch& launch = launch_.launch_;
    // A thread of its own brings results out: copies to and from pageable memory keep their caller, and shall not wait for each other.
    std::future<void> leaving;
    const auto start_leaving = [&](UnitRange units, int64_t k) {
      leaving = std::async(std::launch::async, [this, units, k] {
        bring_out(units, k);
        launch_.device_.wait(part_.gpu, GpuStream::copy_out);
      });
    };
    UnitRange units = next(), before;
    if (units.empty()) return;  // others took all of it
    bring_in(units, 0);
    for (int64_t k = 0; !units.empty(); ++k) {
      if (leaving.valid()) leaving.get();  // the results that were in this kernel's buffers
      // The kernel comes after its own inputs. What is copied in next goes into the buffers of the kernel before, and what is copied out
      // was written by it: both come after that one, but not after this.
      gpu_.wait(GpuStream::compute, GpuStream::copy_in);
      gpu_.wait(GpuStream::copy_in, GpuStream::compute);
      gpu_.wait(GpuStream::copy_out, GpuStream::compute);
      ++launch_.memory_.counts().streamed;
      launch_.launch(part_.gpu, arrays_for(units, k), units);
      if (k > 0) start_leaving(before, k - 1);
      const UnitRange following = next();
      if (!following.empty()) bring_in(following, k + 1);
      launch_.progress_.advance(launch.elements * static_cast<double>(units.size()) / static_cast<double>(launch.units));
      before = std::exchange(units, following);
      if (!units.empty()) continue;
      if (leaving.valid()) leaving.get();
      gpu_.wait(GpuStream::copy_out, GpuStream::compute);
      bring_out(before, k);
    }
    launch_.device_.wait(part_.gpu, GpuStream::copy_out);
    launch_.device_.wait(part_.gpu, GpuStream::compute);
    launch_.shares_->finish(part_.share);
    for (const Stream& stream : streams_)
      if (launch_.written_[stream.array])
        for (const UnitRange& done : done_) launch_.memory_.written_on_host(storage(stream), launch_.range(stream.array, done));
  }

 private:
  /// An array that passes through two buffers.
  struct Stream {
    size_t array;
    std::array<GpuAddress, 2> buffers{};
  };

  /// The units of the next chunk: of this part, or of another that streams too.
  UnitRange next() {
    UnitRange units = launch_.shares_->take(part_.share, chunk_);
    if (units.empty()) {
      units = launch_.shares_->steal(part_.share, chunk_, [&](size_t owner, UnitRange of, double) { return moving(owner, of); }).units;
      if (!units.empty()) ++launch_.memory_.counts().stolen;
    }
    if (!units.empty()) done_.push_back(units);
    return units;
  }
  /// Everything that they use passes through here anyway, but for arrays of which only this part's bytes are here.
  std::optional<double> moving(size_t owner, UnitRange units) const {
    if (!(*launch_.parts_)[owner].streams) return std::nullopt;
    for (size_t k = 0; k < part_.arrays.size(); ++k)
      if (part_.arrays[k].end && !launch_.range(k, part_.units).contains(launch_.range(k, units))) return std::nullopt;
    return 0;
  }

  HostStorage& storage(const Stream& stream) const { return launch_.storage(stream.array); }

  /// Which arrays stay, and which stream.
  void arrange() {
    const size_t count = launch_.written_.size();
    part_.arrays.assign(count, {});
    part_.transfers.clear();
    const auto bind = [&](size_t k, bool fill) {
      part_.arrays[k] = launch_.memory_.bind(part_.gpu, launch_.storage(k), launch_.range(k, part_.units), fill, part_.transfers);
      part_.arrays[k].base += static_cast<GpuAddress>(launch_.launch_.byte_offsets[k]);
    };
    for (size_t k = 0; k < count; ++k)
      if (!launch_.written_[k] && launch_.memory_.is_there(part_.gpu, launch_.storage(k), launch_.range(k, part_.units))) bind(k, true);
    for (size_t k = 0; k < count; ++k) {
      if (part_.arrays[k].end) continue;
      if (launch_.can_stream(k)) {
        streams_.push_back({k, {}});
      } else {
        bind(k, !launch_.written_[k] || !launch_.dense(k));
      }
    }
    // Room for chunks that are large enough for the copies' full speed.
    double largest = 1, step = 0;
    for (const Stream& stream : streams_) {
      largest = std::max(largest, (*launch_.launch_.walks)[stream.array].step);
      step += (*launch_.launch_.walks)[stream.array].step;
    }
    if (kUsable * static_cast<double>(gpu_.free_memory()) < 2 * step * std::max(1.0, kChunkBytes / largest))
      launch_.memory_.evict_all(part_.gpu);
    if (streams_.empty())
      throw Error("MemoryError", fmt::format("Unable to allocate memory on GPU {}", gpu_.properties().ordinal), {}, Blame::environment);
    launch_.give(part_.gpu, part_.transfers);
    for (size_t k = 0; k < count; ++k)
      if (launch_.written_[k] && part_.arrays[k].end) launch_.memory_.written(part_.gpu, launch_.storage(k), launch_.range(k, part_.units));
  }

  void allocate() {
    for (Stream& stream : streams_) {
      const plan::Walk& walk = (*launch_.launch_.walks)[stream.array];
      const int64_t whole = storage(stream).bytes();
      const auto chunk =
          static_cast<int64_t>(std::ceil(walk.step * static_cast<double>(chunk_))) + walk.before + walk.after + 2 * LaunchOnGpus::kWhole;
      for (GpuAddress& buffer : stream.buffers) buffer = launch_.memory_.allocate_buffer(part_.gpu, std::min(whole, chunk));
    }
  }
  void free_buffers() {
    for (Stream& stream : streams_)
      for (GpuAddress& buffer : stream.buffers)
        if (buffer) gpu_.free(std::exchange(buffer, 0));
  }

  std::vector<GpuArray> arrays_for(UnitRange units, int64_t chunk) const {
    std::vector<GpuArray> arrays = part_.arrays;
    for (const Stream& stream : streams_) {
      const ByteRange range = launch_.range(stream.array, units);
      const GpuAddress buffer = stream.buffers[static_cast<size_t>(chunk % 2)];
      arrays[stream.array] = {
          buffer - static_cast<GpuAddress>(range.begin) + static_cast<GpuAddress>(launch_.launch_.byte_offsets[stream.array]), buffer,
          buffer + static_cast<GpuAddress>(range.size())};
    }
    return arrays;
  }

  void bring_in(UnitRange units, int64_t chunk) {
    for (const Stream& stream : streams_) {
      if (launch_.written_[stream.array]) continue;
      HostStorage& from = storage(stream);
      const ByteRange range = launch_.range(stream.array, units);
      from.expect(range.end, range.end + range.size());
      launch_.memory_.counts().bytes_in += range.size();
      gpu_.copy_in(stream.buffers[static_cast<size_t>(chunk % 2)], static_cast<const char*>(from.host_memory()) + range.begin, range.size(),
                   GpuStream::copy_in);
      if (from.is_mapped() && from.bytes() > launch_.device_.budget().limit() / kReleasedPart) from.release(range.begin, range.end);
    }
  }
  void bring_out(UnitRange units, int64_t chunk) {
    for (const Stream& stream : streams_) {
      if (!launch_.written_[stream.array]) continue;
      const ByteRange range = launch_.range(stream.array, units);
      launch_.memory_.counts().bytes_out += range.size();
      gpu_.copy_out(static_cast<char*>(storage(stream).host_memory()) + range.begin, stream.buffers[static_cast<size_t>(chunk % 2)],
                    range.size(), GpuStream::copy_out);
    }
  }

  LaunchOnGpus& launch_;
  Part& part_;
  Gpu& gpu_;
  std::vector<Stream> streams_;
  int64_t chunk_ = 1;  // blocks of units
  std::vector<UnitRange> done_;
};

void LaunchOnGpus::stream(Part& part) {
  Pipeline pipeline(*this, part);
  pipeline.prepare();
  pipeline.run();
}

}  // namespace gasell
