// What the scripts of a session may reach and take, where that is less than what the process may; and what they have of their own where the
// process has one of it.
//
// The functions that open files, read the environment or load libraries ask here, on whichever thread they run: a session's sandbox is that
// of its thread while it runs, and of the workers that help it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/heap_account.h"

namespace gasell {

class Sandbox {
 public:
  /// What lies in a folder may be read, or written too. The folder's path is followed to where it really is.
  struct Folder {
    std::filesystem::path path;
    bool write = false;
  };
  struct Rules {
    bool confined = false;  // false: everything below is allowed
    std::vector<Folder> folders = {};
    bool environment = false, clock = false, network = false, plugins = false;
    bool unchecked = false;  // compiled functions with boundscheck=False
    bool raw_code = false;   // text of other languages: CUDA C++
    int64_t memory = 0;      // bytes that the session may hold; 0: what the engine has
  };
  /// Why what runs has to end: no handler of the script's catches that.
  enum class End : uint8_t { none, asked, time, output };
  struct Ended {
    End why;
  };
  /// Throws Error OSError where a folder is not there.
  explicit Sandbox(Rules rules);

  const Rules& rules() const { return rules_; }
  bool may_open(const std::filesystem::path& path, bool write) const;

  /// Counts memory of arrays. Throws Error MemoryError beyond the limit.
  void take(int64_t bytes);
  void give(int64_t bytes) noexcept { account_.used.fetch_sub(bytes, std::memory_order_relaxed); }
  /// Throws what take() does where there is no room for so much.
  void require_room(int64_t bytes) const;
  /// Of arrays, and of the heap where there is a limit.
  HeapAccount& account() noexcept { return account_; }
  const HeapAccount& account() const noexcept { return account_; }
  /// "7.45 MiB of the session's limit of 8.00 MiB are in use".
  std::string memory_in_use() const;

  /// The session's own T, made when it is first asked for. Thread-safe.
  template <class T>
  T& state() {
    static const char key = 0;
    const std::lock_guard lock(states_mutex_);
    for (const auto& [of, state] : states_)
      if (of == &key) return *static_cast<T*>(state.get());
    return *static_cast<T*>(states_.emplace_back(&key, std::make_shared<T>()).second.get());
  }

  /// Set by who interrupts the engine then; from any thread, and from a signal handler.
  void end(End why) noexcept { end_.store(why, std::memory_order_relaxed); }
  End end() const noexcept { return end_.load(std::memory_order_relaxed); }
  /// Throws Ended where it has to end.
  void check_end() const {
    if (const End why = end(); why != End::none) throw Ended{why};
  }

 private:
  Error no_room(int64_t bytes) const;

  Rules rules_;
  HeapAccount account_;
  std::atomic<End> end_{End::none};
  std::mutex states_mutex_;
  std::vector<std::pair<const char*, std::shared_ptr<void>>> states_;
};

/// Adds what a text says: "read:FOLDER", "write:FOLDER", "env", "clock", "network", "plugins", "unchecked", "raw-code". False: it is none.
bool grant(Sandbox::Rules& rules, std::string_view text);

/// The sandbox of what this thread runs; null: none.
const std::shared_ptr<Sandbox>& current_sandbox() noexcept;

/// What the process has one of, and each session of a host program its own: np.random's generator, how arrays are printed.
template <class T>
T& state_of_session() {
  if (Sandbox* const sandbox = current_sandbox().get()) return sandbox->state<T>();
  static T of_process;
  return of_process;
}

/// Sets it for a scope.
class InSandbox {
 public:
  explicit InSandbox(const std::shared_ptr<Sandbox>& sandbox) noexcept;
  ~InSandbox();
  InSandbox(const InSandbox&) = delete;
  InSandbox& operator=(const InSandbox&) = delete;

 private:
  const std::shared_ptr<Sandbox>* before_;
  HeapAccount* const account_before_;
};

/// Whether require_readable would pass.
bool is_readable_in_sandbox(const std::filesystem::path& path);
/// Throw Error PermissionError where the sandbox does not allow it. They cost little where there is none.
void require_readable(const std::filesystem::path& path);
void require_writable(const std::filesystem::path& path);
void require_environment(std::string_view what);
void require_clock(std::string_view what);
void require_network(std::string_view what);
void require_plugins(std::string_view what);
void require_unchecked(std::string_view what);
void require_raw_code(std::string_view what);

}  // namespace gasell
