#include "runtime/session/name.h"

#include <functional>
#include <mutex>
#include <unordered_set>

namespace gasell {
namespace {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace

Name intern(std::string_view text) {
  static std::mutex mutex;
  static std::unordered_set<std::string, TextHash, std::equal_to<>> names;
  const std::lock_guard lock(mutex);
  if (const auto found = names.find(text); found != names.end()) return &*found;
  return &*names.emplace(text).first;
}

}  // namespace gasell
