#include "runtime/device/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <string_view>

namespace gasell {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kQuietSeconds = 1.0;  // before the first line
constexpr double kRedrawSeconds = 0.1;
constexpr double kRateSeconds = 2.0;  // the rate shown is a mean over about this long

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;  // a line that cannot be drawn is no reason to fail
    text.remove_prefix(static_cast<size_t>(written));
  }
}

std::string rate_text(double rate, std::string_view unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  while (rate >= 999.5 && prefix < 5) {
    rate /= 1000;
    ++prefix;
  }
  const int digits = prefix == 0 || rate >= 99.95 ? 0 : rate >= 9.995 ? 1 : 2;
  // "12.3 GB/s", "2.50 M elements/s", "950 elements/s"
  const bool spaced = unit.size() > 1 && prefix > 0;
  return fmt::format("{:.{}f} {}{}{}/s", rate, digits, kPrefixes[prefix], spaced ? " " : "", unit);
}

std::string time_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::min(std::ceil(seconds), 359999.0));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02} left", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02} left", whole / 60, whole % 60);
}

}  // namespace

std::string progress_line(double fraction, double rate, double seconds_left, const char* unit, int width) {
  fraction = std::clamp(fraction, 0.0, 1.0);
  const std::string percent = fmt::format("{:3.0f} %", std::floor(fraction * 100));
  std::string facts;
  if (rate > 0 && std::isfinite(rate)) {
    facts = "  " + rate_text(rate, unit);
    if (std::isfinite(seconds_left)) facts += "  " + time_text(seconds_left);
  }
  // The last column stays free: some terminals wrap when it is written.
  const int room = width - 1 - static_cast<int>(percent.size());
  if (room < 0) return {};
  if (static_cast<int>(facts.size()) > room) return percent;
  const int cells = std::min(40, room - static_cast<int>(facts.size()) - 3);
  if (cells < 5) return percent + facts;
  const int full = static_cast<int>(fraction * cells);
  return fmt::format("{} [{:#<{}}{:-<{}}]{}", percent, "", full, "", cells - full, facts);
}

struct Progress::State {
  State(bool draws, double total, const char* unit, std::atomic<double>* told)
      : draws(draws), total(total), unit(unit), told(told), start(Clock::now()), last_time(start) {}

  const bool draws;
  const double total;
  const char* const unit;
  std::atomic<double>* const told;
  const Clock::time_point start;
  std::atomic<double> done{0};
  std::atomic<double> next_draw{kQuietSeconds};  // seconds after `start`

  // Under the mutex:
  std::mutex mutex;
  Clock::time_point last_time;
  double last_done = 0, rate = 0;
  bool drawn = false;

  void draw(double now) {
    const Clock::time_point time = Clock::now();
    const double amount = done.load(std::memory_order_relaxed);
    const double passed = std::chrono::duration<double>(time - last_time).count();
    const double recent = passed > 0 ? (amount - last_done) / passed : 0;
    rate += (drawn ? 1 - std::exp(-passed / kRateSeconds) : 1) * (recent - rate);
    last_time = time;
    last_done = amount;
    drawn = true;
    next_draw.store(now + kRedrawSeconds, std::memory_order_relaxed);
    const double left = rate > 0 ? (total - amount) / rate : INFINITY;
    write_all("\r" + progress_line(total > 0 ? amount / total : 0, rate, std::max(left, 0.0), unit, terminal_width()) + "\x1b[K");
  }
};

Progress::Progress(bool enabled, double total, const char* unit, std::atomic<double>* told)
    : state_(std::make_unique<State>(enabled && isatty(STDERR_FILENO) == 1, total, unit, told)) {}

Progress::~Progress() {
  if (state_->told) state_->told->store(-1, std::memory_order_relaxed);
  if (state_->drawn) write_all("\r\x1b[K");
}

void Progress::advance(double amount) {
  State& state = *state_;
  state.done.fetch_add(amount, std::memory_order_relaxed);
  if (state.told) state.told->store(fraction(), std::memory_order_relaxed);
  if (!state.draws) return;
  const double now = std::chrono::duration<double>(Clock::now() - state.start).count();
  if (now < state.next_draw.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(state.mutex, std::try_to_lock);
  if (lock.owns_lock() && now >= state.next_draw.load(std::memory_order_relaxed)) state.draw(now);
}

double Progress::fraction() const {
  return state_->total > 0 ? std::clamp(state_->done.load(std::memory_order_relaxed) / state_->total, 0.0, 1.0) : 0;
}

}  // namespace gasell
