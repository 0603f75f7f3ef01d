// What the opaque handles of gasell.h are, and the one place where exceptions become status codes.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gasell/gasell.h"
#include "runtime/array/array.h"
#include "runtime/engine.h"
#include "runtime/session/interpreter.h"

struct gasell_engine {
  explicit gasell_engine(gasell::EngineOptions options) : engine(std::move(options)) {}
  gasell::Engine engine;  // each session has one of its own, made from it
};

struct gasell_session {
  explicit gasell_session(gasell_engine& owner);
  ~gasell_session();
  gasell_engine& owner;
  gasell::Engine engine;
  gasell::Interpreter interpreter;

  std::atomic<std::thread::id> user = {};  // the thread that is in a call
  /// Values that another thread freed meanwhile: they die when the call ends.
  std::mutex mutex;
  std::vector<std::unique_ptr<gasell_value>> freed;
};

struct gasell_value {
  gasell_session* session;
  gasell::Value value;
  std::string text;                         // what gasell_value_text gave last
  std::optional<gasell::Array> array = {};  // what gasell_array.shape points into
  gasell::Array::Elements elements = {};    // what gasell_array.data points to
};

struct gasell_error {
  gasell_status status;
  gasell::Diagnostic diagnostic;
  std::string rendered;
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

/// While it lives, its thread uses a session, and the GPUs where there are any. Another thread that comes meanwhile is refused; calls within
/// calls are taken.
class Use {
 public:
  explicit Use(gasell_session* session) {
    if (!session || session->user == std::this_thread::get_id()) return;
    std::thread::id nobody;
    require(session->user.compare_exchange_strong(nobody, std::this_thread::get_id()),
            "another thread uses this session: a session and its values belong to one thread at a time; make a session for each thread");
    session_ = session;
    try {
      turn_.emplace(session->engine);
    } catch (...) {
      leave();
      throw;
    }
  }
  ~Use() {
    if (session_) leave();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  void leave() noexcept {
    bury();
    turn_.reset();
    session_->user = std::thread::id();
  }
  /// What was freed while the session was used.
  void bury() noexcept {
    std::vector<std::unique_ptr<gasell_value>> dying;
    const std::lock_guard lock(session_->mutex);
    dying.swap(session_->freed);
  }

  gasell_session* session_ = nullptr;
  std::optional<gasell::Engine::Turn> turn_;
};

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

}  // namespace gasell::c_abi
