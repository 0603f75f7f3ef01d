#include "runtime/device/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>

#include "runtime/io/os_error.h"

namespace gasell {
namespace {

/// Events that are kept where not all are.
constexpr size_t kLatest = 4096;

constexpr const char* kTracks[] = {"kernels", "copies in", "copies out", "copies", "frames"};
constexpr int kTrackCount = std::size(kTracks);

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class TracedDevice final : public Device {
 public:
  TracedDevice(std::unique_ptr<Device> device, std::shared_ptr<Trace> trace) : device_(std::move(device)), trace_(std::move(trace)) {}
  const DeviceProperties& properties() const override { return device_->properties(); }
  MemoryBudget& budget() override { return device_->budget(); }
  StorageRef allocate(int64_t bytes, bool zeroed) override { return device_->allocate(bytes, zeroed); }
  LoadedKernelRef load(const ir::Kernel& kernel) override { return device_->load(kernel); }
  void run(const Launch& launch, Progress& progress) override {
    if (!trace_->is_on()) return device_->run(launch, progress);
    const double begin = now();
    device_->run(launch, progress);
    trace_->add({TraceEvent::Kind::kernel, launch.kernel->name, properties().name, begin, now(), launch.bytes});
  }
  void share(int64_t units, const std::function<void(int64_t, int64_t)>& work, const std::function<bool()>& stop) override {
    device_->share(units, work, stop);
  }
  void share_pieces(int64_t count, const std::function<void(int64_t)>& piece) override { device_->share_pieces(count, piece); }

 private:
  std::unique_ptr<Device> device_;
  std::shared_ptr<Trace> trace_;
};

std::string amount(double bytes) { return bytes > 0 ? memory_text(static_cast<int64_t>(bytes)) : "-"; }

std::string seconds_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.1f} us", seconds * 1e6)
         : seconds < 1  ? fmt::format("{:.2f} ms", seconds * 1e3)
                        : fmt::format("{:.3f} s", seconds);
}

}  // namespace

void Trace::start(bool keep_all) {
  const std::lock_guard lock(mutex_);
  keeps_all_ = keeps_all_ || keep_all;
  is_on_ = true;
}

void Trace::restart() {
  const std::lock_guard lock(mutex_);
  first_ += static_cast<int64_t>(events_.size());
  events_.clear();
  totals_.clear();
  keeps_all_ = is_on_ = true;
}

void Trace::stop() {
  const std::lock_guard lock(mutex_);
  keeps_all_ = is_on_ = false;
}

void Trace::add(TraceEvent event) {
  const std::lock_guard lock(mutex_);
  TraceTotal& total = totals_[{event.device, event.kind, event.name}];
  if (total.count++ == 0) {
    total.kind = event.kind;
    total.name = event.name;
    total.device = event.device;
  }
  total.seconds += event.end - event.begin;
  total.bytes += event.bytes;
  events_.push_back(std::move(event));
  if (keeps_all_ || events_.size() <= kLatest) return;
  events_.pop_front();
  ++first_;
}

void Trace::set_memory(const std::string& device, int64_t used, int64_t limit) {
  const std::lock_guard lock(mutex_);
  TraceMemory& memory = memory_[device];
  memory.device = device;
  memory.used = used;
  memory.limit = limit;
  memory.peak = std::max(memory.peak, used);
}

Trace::Live Trace::live(int64_t since) const {
  const std::lock_guard lock(mutex_);
  Live live;
  live.next = first_ + static_cast<int64_t>(events_.size());
  live.progress = progress_.load(std::memory_order_relaxed);
  live.bandwidths = bandwidths_;
  for (const auto& [key, total] : totals_) live.totals.push_back(total);
  for (const auto& [device, memory] : memory_) live.memory.push_back(memory);
  // A page shows no more than that at a time.
  const int64_t from = std::max({since, first_, live.next - static_cast<int64_t>(kLatest)});
  for (int64_t k = from; k < live.next; ++k) live.events.push_back(events_[static_cast<size_t>(k - first_)]);
  return live;
}

void Trace::set_bandwidth(const std::string& device, double bytes_per_second) {
  const std::lock_guard lock(mutex_);
  bandwidths_.emplace_back(device, bytes_per_second);
}

std::string Trace::chrome_text() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, int> devices;
  double origin = 0;
  for (const TraceEvent& e : events_) {
    devices.emplace(e.device, 0);
    origin = origin == 0 ? e.begin : std::min(origin, e.begin);
  }
  int number = 0;
  std::string separator;
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (auto& [device, id] : devices) {
    id = ++number;
    text += separator + fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", id, device);
    separator = ",\n";
    for (int track = 0; track < kTrackCount; ++track)
      text += separator +
              fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", id, track, kTracks[track]);
  }
  for (const TraceEvent& e : events_) {
    const int track = static_cast<int>(e.kind);
    const double seconds = e.end - e.begin;
    text += separator +
            fmt::format(
                R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"bytes":{:.0f},"GB/s":{:.2f}}}}})",
                e.name.empty() ? kTracks[track] : e.name, kTracks[track], devices.at(e.device), track, (e.begin - origin) * 1e6,
                seconds * 1e6, e.bytes, seconds > 0 ? e.bytes / seconds / 1e9 : 0.0);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

void Trace::write(const std::filesystem::path& path) const {
  const std::string text = chrome_text();
  std::ofstream file(path);
  if (!file) throw os_error(errno, path);
  file << text;
  file.flush();
  if (!file) throw os_error(errno, path);
}

std::string Trace::summary() const {
  const std::lock_guard lock(mutex_);
  struct Row {
    int64_t count = 0;
    double seconds = 0, bytes = 0;
    void add(const TraceEvent& e) {
      ++count;
      seconds += e.end - e.begin;
      bytes += e.bytes;
    }
  };
  std::map<std::pair<std::string, std::string>, Row> kernels;         // device, kernel
  std::map<std::pair<std::string, TraceEvent::Kind>, Row> per_track;  // device, kind
  double begin = 0, end = 0;
  for (const TraceEvent& e : events_) {
    if (e.kind == TraceEvent::Kind::kernel) kernels[{e.device, e.name}].add(e);
    per_track[{e.device, e.kind}].add(e);
    begin = begin == 0 ? e.begin : std::min(begin, e.begin);
    end = std::max(end, e.end);
  }
  const auto peak = [&](const std::string& device, const Row& row) {
    for (const auto& [name, bandwidth] : bandwidths_)
      if (name == device && bandwidth > 0 && row.seconds > 0) return fmt::format("{:.0f} %", 100 * row.bytes / row.seconds / bandwidth);
    return std::string("-");
  };
  const auto rate = [](const Row& row) {
    return row.seconds > 0 ? fmt::format("{:.1f}", row.bytes / row.seconds / 1e9) : std::string("-");
  };
  std::string text =
      fmt::format("{:<10} {:<24} {:>8} {:>12} {:>12} {:>9} {:>7}\n", "device", "kernel", "launches", "time", "bytes", "GB/s", "peak");
  std::vector<std::pair<std::pair<std::string, std::string>, Row>> sorted(kernels.begin(), kernels.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  for (const auto& [key, row] : sorted)
    text += fmt::format("{:<10} {:<24} {:>8} {:>12} {:>12} {:>9} {:>7}\n", key.first, key.second, row.count, seconds_text(row.seconds),
                        amount(row.bytes), rate(row), peak(key.first, row));
  text += fmt::format("\n{:<10} {:<24} {:>8} {:>12} {:>12} {:>9} {:>7}\n", "device", "work", "count", "time", "bytes", "GB/s", "busy");
  for (const auto& [key, row] : per_track)
    text += fmt::format("{:<10} {:<24} {:>8} {:>12} {:>12} {:>9} {:>7}\n", key.first, kTracks[static_cast<int>(key.second)], row.count,
                        seconds_text(row.seconds), amount(row.bytes), rate(row),
                        end > begin ? fmt::format("{:.0f} %", 100 * row.seconds / (end - begin)) : "-");
  return text;
}

std::unique_ptr<Device> traced(std::unique_ptr<Device> device, std::shared_ptr<Trace> trace) {
  return std::make_unique<TracedDevice>(std::move(device), std::move(trace));
}

}  // namespace gasell
