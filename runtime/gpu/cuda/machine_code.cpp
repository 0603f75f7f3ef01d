#include "runtime/gpu/cuda/machine_code.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace gasell::cuda {
namespace {

constexpr std::string_view kMagic = "gasell cubin 1\n";

}  // namespace

std::string MachineCode::text() const { return fmt::format("{}{}\n{} {}\n", kMagic, code.symbol, code.threads, code.shared_bytes) + cubin; }

std::optional<MachineCode> MachineCode::parse(const std::string& text) {
  std::string_view rest = text;
  if (!rest.starts_with(kMagic)) return {};
  rest.remove_prefix(kMagic.size());
  const size_t symbol_end = rest.find('\n');
  const size_t numbers_end = symbol_end == std::string_view::npos ? symbol_end : rest.find('\n', symbol_end + 1);
  if (numbers_end == std::string_view::npos) return {};
  MachineCode parsed;
  parsed.from_disk = true;
  parsed.code.symbol = rest.substr(0, symbol_end);
  const char* const end = rest.data() + numbers_end;
  const auto threads = std::from_chars(rest.data() + symbol_end + 1, end, parsed.code.threads);
  if (threads.ec != std::errc{} || threads.ptr == end) return {};
  if (std::from_chars(threads.ptr + 1, end, parsed.code.shared_bytes).ec != std::errc{}) return {};
  parsed.cubin = rest.substr(numbers_end + 1);
  if (parsed.cubin.empty()) return {};
  return parsed;
}

MachineCodeRef MachineCodes::find_or_make(const std::string& key, const KernelCache* cache, const Make& make) {
  return get(key, nullptr, cache, make);
}

MachineCodeRef MachineCodes::make_again(const std::string& key, const MachineCodeRef& refused, const KernelCache* cache, const Make& make) {
  return get(key, refused, cache, make);
}

MachineCodeRef MachineCodes::get(const std::string& key, const MachineCodeRef& refused, const KernelCache* cache, const Make& make) {
  {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto [known, fresh] = codes_.try_emplace(key);
      if (fresh) break;
      if (known->second && known->second != refused) return known->second;
      if (known->second) {
        known->second = nullptr;
        break;
      }
      made_.wait(lock);
    }
  }
  try {
    std::optional<MachineCode> code;
    if (cache && !refused)
      if (const auto stored = cache->find(key)) code = MachineCode::parse(*stored);
    if (!code) {
      code = make();
      if (cache && !code->cubin.empty()) cache->insert(key, code->text());
    }
    auto result = std::make_shared<const MachineCode>(std::move(*code));
    const std::lock_guard lock(mutex_);
    codes_[key] = result;
    made_.notify_all();
    return result;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    codes_.erase(key);
    made_.notify_all();
    throw;
  }
}

}  // namespace gasell::cuda
