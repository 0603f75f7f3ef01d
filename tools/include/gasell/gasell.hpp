// Gasell inside a C++20 program: a header over the C ABI of gasell.h.
//
//   gasell::Engine engine;
//   gasell::Session session(engine);
//   std::vector<double> x = …;
//   session.bind("x", std::span(x));                       // no copy; scripts may write into it
//   double sum = session.evaluate("(x * 2 + 1).sum()").as<double>();
//
// What goes wrong is thrown as gasell::Error. The rules on threads and lifetimes are those of gasell.h.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "gasell/gasell.h"

namespace gasell {

/// A script error, an interrupt or a wrong call.
class Error : public std::runtime_error {
 public:
  Error(gasell_status status, const gasell_error* error) : std::runtime_error(text_of(status, error)), status(status) {
    gasell_error_info info{};
    info.struct_size = sizeof info;
    if (!error || gasell_error_describe(error, &info) != GASELL_OK) return;
    kind = info.kind, message = info.message, source = info.source, hint = info.hint, rendered = info.rendered;
    line = info.line, column = info.column, exit_code = info.exit_code;
  }

  gasell_status status;
  std::string kind, message, source, hint, rendered;  // "ValueError", one sentence, …, all of it with a caret
  int line = 0, column = 0;                           // from 1; 0: no place
  int exit_code = 0;                                  // with GASELL_EXIT

 private:
  static std::string text_of(gasell_status status, const gasell_error* error) {
    gasell_error_info info{};
    info.struct_size = sizeof info;
    if (!error || gasell_error_describe(error, &info) != GASELL_OK) return "gasell: status " + std::to_string(static_cast<int>(status));
    return std::string(info.kind) + ": " + info.message;
  }
};

namespace detail {

/// Calls a function of the C ABI whose last argument is the error; throws what it reports.
template <class Function, class... Arguments>
void call(Function function, Arguments... arguments) {
  gasell_error* error = nullptr;
  const gasell_status status = function(arguments..., &error);
  if (status == GASELL_OK) return;
  struct Free {
    void operator()(gasell_error* e) const noexcept { gasell_error_free(e); }
  };
  const std::unique_ptr<gasell_error, Free> owner(error);
  throw Error(status, error);
}

/// The dtype of a C++ type; integers by size and sign, since long and long long are both 64 bits wide here. -1: none.
template <class T>
constexpr int dtype_number() {
  if constexpr (std::same_as<T, bool>)
    return GASELL_BOOL;
  else if constexpr (std::integral<T>)
    return (std::is_signed_v<T> ? GASELL_I8 : GASELL_U8) + (sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3);
  else if constexpr (std::same_as<T, float>)
    return GASELL_F32;
  else if constexpr (std::same_as<T, double>)
    return GASELL_F64;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return GASELL_C64;
  else if constexpr (std::same_as<T, std::complex<double>>)
    return GASELL_C128;
  else
    return -1;
}

}  // namespace detail

template <class T>
concept Element = detail::dtype_number<std::remove_const_t<T>>() >= 0;
template <Element T>
inline constexpr gasell_dtype dtype_of = static_cast<gasell_dtype>(detail::dtype_number<std::remove_const_t<T>>());

struct EngineOptions {
  int threads = 0;     // 0: all cores
  int64_t memory = 0;  // bytes; 0: three quarters of the machine's
  std::string device;  // "auto", "cpu", "gpu", "gpu:0,2", "sim:4"
  bool fuse = true;
  int64_t chunk = 0;            // elements a task works on, at most; 0: chosen
  bool cache = true;            // kernel cache on disk
  std::string cache_directory;  // empty: the user's
};

class Engine {
 public:
  explicit Engine(const EngineOptions& options = {}) {
    gasell_engine_options c{};
    c.struct_size = sizeof c;
    c.threads = options.threads;
    c.memory = options.memory;
    c.device = options.device.empty() ? nullptr : options.device.c_str();
    c.no_fuse = !options.fuse;
    c.chunk = options.chunk;
    c.no_cache = !options.cache;
    c.cache_directory = options.cache_directory.empty() ? nullptr : options.cache_directory.c_str();
    gasell_engine* engine = nullptr;
    detail::call(gasell_engine_create, &c, &engine);
    handle_.reset(engine);
  }
  /// Safe from any thread and from signal handlers.
  void interrupt() noexcept { gasell_engine_interrupt(handle_.get()); }
  gasell_engine* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(gasell_engine* e) const noexcept { gasell_engine_free(e); }
  };
  std::unique_ptr<gasell_engine, Free> handle_;
};

/// Elements of an array in C order, and its shape; lives as long as its Value.
template <Element T>
struct ArrayView {
  std::span<const T> elements;
  std::span<const int64_t> shape;
};

class Value {
 public:
  explicit Value(gasell_value* handle) : handle_(handle) {}

  gasell_kind kind() const noexcept { return gasell_value_kind(handle_.get()); }
  bool is_none() const noexcept { return kind() == GASELL_KIND_NONE; }

  /// bool, an integer, a floating or complex number, or std::string; converts as the script's bool(), int(), float(), complex(), str().
  template <class T>
  T as() const {
    if constexpr (std::same_as<T, bool>) {
      int result = 0;
      detail::call(gasell_value_boolean, handle_.get(), &result);
      return result != 0;
    } else if constexpr (std::integral<T>) {
      int64_t result = 0;
      detail::call(gasell_value_integer, handle_.get(), &result);
      if (!std::in_range<T>(result))
        throw std::out_of_range("gasell: " + std::to_string(result) + " does not fit the integer type asked for");
      return static_cast<T>(result);
    } else if constexpr (std::floating_point<T>) {
      double result = 0;
      detail::call(gasell_value_float, handle_.get(), &result);
      return static_cast<T>(result);
    } else if constexpr (std::same_as<T, std::complex<double>>) {
      double real = 0, imaginary = 0;
      detail::call(gasell_value_complex, handle_.get(), &real, &imaginary);
      return {real, imaginary};
    } else {
      static_assert(std::same_as<T, std::string>, "as<T> takes bool, an integer, a floating or complex number, or std::string");
      const char* text = nullptr;
      size_t length = 0;
      detail::call(gasell_value_text, handle_.get(), &text, &length);
      return std::string(text, length);
    }
  }
  std::string text() const { return as<std::string>(); }

  /// Items of a tuple or a list.
  size_t size() const {
    size_t length = 0;
    detail::call(gasell_value_length, handle_.get(), &length);
    return length;
  }
  Value operator[](size_t index) const {
    gasell_value* item = nullptr;
    detail::call(gasell_value_item, handle_.get(), index, &item);
    return Value(item);
  }

  /// Computes the array; throws std::invalid_argument when its dtype is not T's.
  template <Element T>
  ArrayView<T> array() const {
    gasell_array a{};
    a.struct_size = sizeof a;
    detail::call(gasell_value_describe, handle_.get(), &a);
    if (a.dtype != dtype_of<T>)
      throw std::invalid_argument(std::string("gasell: the array holds ") + gasell_dtype_name(a.dtype) + ", not " +
                                  gasell_dtype_name(dtype_of<T>));
    detail::call(gasell_value_array, handle_.get(), &a);
    return {{static_cast<const T*>(a.data), static_cast<size_t>(a.size)}, {a.shape, static_cast<size_t>(a.rank)}};
  }
  gasell_value* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(gasell_value* v) const noexcept { gasell_value_free(v); }
  };
  std::unique_ptr<gasell_value, Free> handle_;
};

class Session {
 public:
  explicit Session(Engine& engine) {
    gasell_session* session = nullptr;
    detail::call(gasell_session_create, engine.handle(), &session);
    handle_.reset(session);
  }

  /// Runs statements; the value of the last one where it is an expression, else None.
  Value evaluate(const std::string& text, const std::string& source_name = "<host>") {
    gasell_value* result = nullptr;
    detail::call(gasell_evaluate, handle_.get(), text.c_str(), source_name.c_str(), &result);
    return Value(result);
  }
  /// A global name's value.
  Value operator[](const std::string& name) {
    gasell_value* result = nullptr;
    detail::call(gasell_get_global, handle_.get(), name.c_str(), &result);
    return Value(result);
  }

  /// Binds memory as an array without copying; read-only where T is const. The memory must outlive the arrays over it, or be kept by
  /// `keep_alive`.
  template <Element T>
  void bind(const std::string& name, std::span<T> elements, const std::vector<int64_t>& shape,
            std::shared_ptr<const void> keep_alive = {}) {
    int64_t size = 1;
    for (int64_t extent : shape) {
      if (extent < 0 || __builtin_mul_overflow(size, extent, &size))
        throw std::invalid_argument("gasell: the shape is negative or too large");
    }
    if (size != static_cast<int64_t>(elements.size()))
      throw std::invalid_argument("gasell: the shape does not have as many elements as the span");
    using Owner = std::shared_ptr<const void>;
    auto owner = keep_alive ? std::make_unique<Owner>(std::move(keep_alive)) : nullptr;
    gasell_release release = nullptr;
    if (owner) release = [](void* context) { delete static_cast<Owner*>(context); };
    void* data = const_cast<void*>(static_cast<const void*>(elements.data()));
    detail::call(gasell_bind_array, handle_.get(), name.c_str(), data, dtype_of<T>, static_cast<int>(shape.size()), shape.data(),
                 std::is_const_v<T> ? 0u : GASELL_WRITABLE, release, static_cast<void*>(owner.get()));
    (void)owner.release();  // the session's from here on
  }
  template <Element T, size_t Extent>
  void bind(const std::string& name, std::span<T, Extent> elements) {
    bind(name, std::span<T>(elements), std::vector<int64_t>{static_cast<int64_t>(elements.size())});
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  void bind(const std::string& name, T value) {
    if constexpr (std::same_as<T, bool>) {
      detail::call(gasell_bind_boolean, handle_.get(), name.c_str(), static_cast<int>(value));
    } else if constexpr (std::integral<T>) {
      if (!std::in_range<int64_t>(value)) throw std::out_of_range("gasell: the integer does not fit 64 bits with a sign");
      detail::call(gasell_bind_integer, handle_.get(), name.c_str(), static_cast<int64_t>(value));
    } else {
      detail::call(gasell_bind_float, handle_.get(), name.c_str(), static_cast<double>(value));
    }
  }
  void bind(const std::string& name, std::string_view text) {
    detail::call(gasell_bind_string, handle_.get(), name.c_str(), text.data(), text.size());
  }
  void bind(const std::string& name, const char* text) { bind(name, std::string_view(text)); }
  void bind(const std::string& name, const Value& value) { detail::call(gasell_bind_value, handle_.get(), name.c_str(), value.handle()); }

  /// What scripts print goes to `write` (empty: to stdout). It must not throw.
  void set_output(std::function<void(std::string_view)> write) {
    using Write = std::function<void(std::string_view)>;
    auto owner = std::make_unique<Write>(std::move(write));
    gasell_write forward = nullptr;
    if (*owner)
      forward = [](void* context, const char* text, size_t length) { (*static_cast<Write*>(context))(std::string_view(text, length)); };
    detail::call(gasell_session_set_output, handle_.get(), forward, static_cast<void*>(owner.get()));
    output_ = std::move(owner);
  }
  gasell_session* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(gasell_session* s) const noexcept { gasell_session_free(s); }
  };
  std::unique_ptr<std::function<void(std::string_view)>> output_;
  std::unique_ptr<gasell_session, Free> handle_;
};

}  // namespace gasell
