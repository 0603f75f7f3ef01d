#include "runtime/device/sandbox.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/device/storage.h"

namespace gasell {
namespace {

namespace fs = std::filesystem;

const std::shared_ptr<Sandbox> kNone;
thread_local const std::shared_ptr<Sandbox>* current = &kNone;

/// Where a path leads, through links and "..", as far as it exists. Empty where that cannot be told.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  if (error) return {};
  fs::path result = fs::weakly_canonical(absolute, error);
  // A link that leads nowhere yet would be followed by who creates the file.
  if (error || fs::is_symlink(fs::symlink_status(result, error))) return {};
  return result;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  const auto [in_folder, in_path] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return in_folder == folder.end();
}

/// The rules of a sandbox that confines; null: everything is allowed.
const Sandbox::Rules* confining() {
  const Sandbox* const sandbox = current->get();
  return sandbox && sandbox->rules().confined ? &sandbox->rules() : nullptr;
}

void require(bool Sandbox::Rules::* right, std::string_view what, const char* name) {
  const Sandbox::Rules* const rules = confining();
  if (rules && !(rules->*right))
    throw Error("PermissionError", "the sandbox does not allow " + std::string(what),
                std::string("the program that runs the script can grant it: allow ") + name);
}

void require_path(const fs::path& path, bool write) {
  if (confining() && !(*current)->may_open(path, write))
    throw Error("PermissionError", "[Errno 13] Permission denied: '" + path.string() + "'",
                std::string("the sandbox grants no folder for ") + (write ? "writing" : "reading") + " that holds it");
}

}  // namespace

Sandbox::Sandbox(Rules rules) : rules_(std::move(rules)), account_{rules_.memory} {
  for (Folder& folder : rules_.folders) {
    std::error_code error;
    const fs::path real = fs::canonical(folder.path, error);
    if (error || !fs::is_directory(real, error)) throw Error("OSError", "no such folder to grant: '" + folder.path.string() + "'");
    folder.path = real;
  }
}

bool Sandbox::may_open(const fs::path& path, bool write) const {
  const fs::path real = resolved(path);
  return !real.empty() && path.native().find('\0') == fs::path::string_type::npos &&
         std::any_of(rules_.folders.begin(), rules_.folders.end(),
                     [&](const Folder& folder) { return (folder.write || !write) && lies_in(real, folder.path); });
}

void Sandbox::take(int64_t bytes) {
  const int64_t before = account_.used.fetch_add(bytes, std::memory_order_relaxed);
  if (account_.limit == 0 || bytes <= account_.limit - before) return;
  give(bytes);
  throw no_room(bytes);
}

void Sandbox::require_room(int64_t bytes) const {
  if (!account_.has_room(bytes)) throw no_room(bytes);
}

Error Sandbox::no_room(int64_t bytes) const {
  return {"MemoryError", "Unable to allocate " + memory_text(bytes), memory_in_use(), Blame::environment};
}

std::string Sandbox::memory_in_use() const {
  return memory_text(account_.used.load(std::memory_order_relaxed)) + " of the session's limit of " + memory_text(account_.limit) +
         " are in use";
}

bool grant(Sandbox::Rules& rules, std::string_view text) {
  static constexpr std::pair<std::string_view, bool Sandbox::Rules::*> kRights[] = {
      {"env", &Sandbox::Rules::environment}, {"clock", &Sandbox::Rules::clock},         {"network", &Sandbox::Rules::network},
      {"plugins", &Sandbox::Rules::plugins}, {"unchecked", &Sandbox::Rules::unchecked}, {"raw-code", &Sandbox::Rules::raw_code}};
  for (const auto& [name, right] : kRights) {
    if (text != name) continue;
    rules.*right = true;
    return true;
  }
  for (const bool write : {false, true}) {
    const std::string_view prefix = write ? "write:" : "read:";
    if (!text.starts_with(prefix) || text.size() == prefix.size()) continue;
    rules.folders.push_back({std::string(text.substr(prefix.size())), write});
    return true;
  }
  return false;
}

const std::shared_ptr<Sandbox>& current_sandbox() noexcept { return *current; }

InSandbox::InSandbox(const std::shared_ptr<Sandbox>& sandbox) noexcept
    : before_(std::exchange(current, &sandbox)),
      account_before_(HeapTally::of_thread().turn_to(sandbox && sandbox->account().limit > 0 ? &sandbox->account() : nullptr)) {}
InSandbox::~InSandbox() {
  current = before_;
  HeapTally::of_thread().turn_to(account_before_);
}

bool is_readable_in_sandbox(const fs::path& path) { return !confining() || (*current)->may_open(path, false); }
void require_readable(const fs::path& path) { require_path(path, false); }
void require_writable(const fs::path& path) { require_path(path, true); }
void require_environment(std::string_view what) { require(&Sandbox::Rules::environment, what, "env"); }
void require_clock(std::string_view what) { require(&Sandbox::Rules::clock, what, "clock"); }
void require_network(std::string_view what) { require(&Sandbox::Rules::network, what, "network"); }
void require_plugins(std::string_view what) { require(&Sandbox::Rules::plugins, what, "plugins"); }
void require_unchecked(std::string_view what) { require(&Sandbox::Rules::unchecked, what, "unchecked"); }
void require_raw_code(std::string_view what) { require(&Sandbox::Rules::raw_code, what, "raw-code"); }

}  // namespace gasell
