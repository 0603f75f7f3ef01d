#include "compiler/codegen/externals.h"

#include <map>
#include <mutex>

namespace gasell {
namespace {

struct Table {
  std::mutex mutex;
  std::map<std::string, void*, std::less<>> addresses;
};
Table& table() {
  static Table table;
  return table;
}

}  // namespace

void register_external(std::string_view name, void* address) {
  const std::lock_guard lock(table().mutex);
  table().addresses.emplace(name, address);
}

void* find_external(std::string_view name) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().addresses.find(name);
  return found == table().addresses.end() ? nullptr : found->second;
}

}  // namespace gasell
