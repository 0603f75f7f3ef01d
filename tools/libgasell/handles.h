// What the opaque handles of gasell.h are, and the one place where exceptions become status codes.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gasell/gasell.h"
#include "runtime/array/array.h"
#include "runtime/device/sandbox.h"
#include "runtime/engine.h"
#include "runtime/session/interpreter.h"
#include "tools/libgasell/limits.h"

namespace gasell::c_abi {
class Use;

/// An array's elements in a GPU's memory.
struct OnGpu {
  void* data = nullptr;  // of element (0, 0, …)
  std::vector<int64_t> strides;
  std::shared_ptr<const void> storage, block;  // which are there as long as these
  bool simulated = false;
};
}  // namespace gasell::c_abi

struct gasell_engine {
  explicit gasell_engine(gasell::EngineOptions options) : engine(std::move(options)) {}
  gasell::Engine engine;  // each session has one of its own, made from it
  gasell::c_abi::Deadlines deadlines;
};

struct gasell_session {
  gasell_session(gasell_engine& owner, gasell::Sandbox::Rules rules);
  /// To where scripts print.
  void write(std::string_view text) const {
    if (writer)
      writer(writer_context, text.data(), text.size());
    else
      std::fwrite(text.data(), 1, text.size(), stdout);
  }
  ~gasell_session();
  /// Ends what runs, whatever the script catches. From any thread, and from a signal handler.
  void end(gasell::Sandbox::End why) noexcept {
    sandbox->end(why);
    engine.interrupt();
  }

  gasell_engine& owner;
  gasell::Engine engine;
  const std::shared_ptr<gasell::Sandbox> sandbox;
  std::vector<gasell::Value> host_functions;  // compiled code has their addresses
  gasell::Interpreter interpreter;

  std::string written;  // what gasell_complete and gasell_inspect gave last

  std::atomic<double> seconds{0};      // of a call; 0: as many as it takes
  std::atomic<bool> cancelled{false};  // calls end at once
  int64_t most_output = 0;
  std::atomic<int64_t> printed{0};
  gasell_write writer = nullptr, error_writer = nullptr;
  void *writer_context = nullptr, *error_writer_context = nullptr;
  std::mutex error_mutex;  // of the error writer, which threads of the script share

  std::atomic<std::thread::id> user = {};  // the thread that is in a call
  int nested = 0;                          // calls within calls
  gasell::c_abi::Use* use = nullptr;       // that of the innermost call
  /// Threads that let go of something while nobody is in a call: calls wait for them, and do not refuse each other for them.
  std::atomic<int> releasing = 0, released = 0;
  /// Values and functions that another thread freed meanwhile: they die when the call ends.
  std::mutex mutex;
  std::vector<std::shared_ptr<void>> freed;
};

struct gasell_value {
  gasell_session* session;
  gasell::Value value;
  std::string text;                         // what gasell_value_text gave last
  std::optional<gasell::Array> array = {};  // what gasell_array.shape points into
  gasell::Array::Elements elements = {};    // what gasell_array.data points to
  gasell::Array::Memory memory = {};        // what gasell_view points to
  gasell::c_abi::OnGpu on_gpu = {};         // what that of gasell_value_device_view points to
};

struct gasell_error {
  gasell_status status;
  gasell::Diagnostic diagnostic;
  std::string rendered, json;
  int exit_code = 0;
};

namespace gasell::c_abi {

/// A call that is wrong in itself.
struct InvalidArgument {
  std::string message;
};
inline void require(bool condition, const char* message) {
  if (!condition) throw InvalidArgument{message};
}

/// While it lives, its thread uses a session, and the GPUs where there are any. Another thread that comes meanwhile is refused; calls
/// within calls are taken.
class Use {
 public:
  explicit Use(gasell_session* session);
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  friend class BetweenTurns;
  void leave() noexcept;

  std::optional<InSandbox> confined_;
  gasell_session* session_ = nullptr;  // null: this is of no session
  bool nested_ = false;                // this is a call within a call
  Use* outer_ = nullptr;               // the call that this is in
  std::optional<Engine::Turn> turn_;
  bool timed_ = false;
};

/// While it lives, the GPUs are free for others, though a call of the session's is under way: the program's function that it called may use
/// other sessions, or wait for threads that do.
class BetweenTurns {
 public:
  explicit BetweenTurns(gasell_session& session);
  ~BetweenTurns();
  BetweenTurns(const BetweenTurns&) = delete;
  BetweenTurns& operator=(const BetweenTurns&) = delete;

 private:
  gasell_session& session_;
  std::vector<Use*> holders_;  // the innermost first
};

/// With all its values.
void free_session(gasell_session* session) noexcept;

/// Lets go of what belongs to a session, from any thread: now, or when the call that another thread is in ends.
void release_in(gasell_session& session, std::shared_ptr<void> object) noexcept;

/// Tells the program's log, where it wants to know, that a limit or the program ended a call.
void log_end_of_call(gasell_session& session, const std::string& why) noexcept;

/// Describes the exception being handled. `session` may be null; with it an exception object in flight is put in words.
gasell_status report(gasell_error** error, gasell_session* session) noexcept;

/// Runs `work` in the session's engine; nothing gets past it.
template <class Work>
gasell_status guarded(gasell_error** error, gasell_session* session, Work&& work) noexcept {
  if (error) *error = nullptr;
  try {
    const Use use(session);
    work();
    return GASELL_OK;
  } catch (...) {
    return report(error, session);
  }
}

/// Copies a caller's struct as far as both sides know it.
template <class T>
T read_struct(const T& from) {
  T copy{};
  std::memcpy(&copy, &from, std::min(from.struct_size, sizeof(T)));
  return copy;
}
template <class T>
void write_struct(T& to, T value) {
  const size_t size = std::min(to.struct_size, sizeof(T));
  value.struct_size = to.struct_size;
  std::memcpy(&to, &value, size);
}

/// C's dtype numbers are the engine's.
DType dtype_of(gasell_dtype dtype);

/// Whether a value is an object of the program's.
bool is_handle(const Value& value);

/// Names of bindings, as scripts write them.
void require_binding(gasell_session* session, const char* name);

}  // namespace gasell::c_abi
