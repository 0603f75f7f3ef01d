// Gasell inside a C++20 program: a header over the C ABI of gasell.h.
//
//   gasell::Engine engine;
//   gasell::Session session(engine);
//   std::vector<double> x = …;
//   session.bind("x", std::span(x));                       // no copy; scripts may write into it
//   double sum = session.evaluate("(x * 2 + 1).sum()").as<double>();
//
//   auto norm = engine.compile<double(std::span<const double>)>("def norm(x): return np.sqrt((x * x).sum())");
//   double length = norm(x);                               // a call of machine code
//
// What goes wrong is thrown as gasell::Error. The rules on threads and lifetimes are those of gasell.h.
#pragma once

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "gasell/gasell.hpp needs C++20 (-std=c++20); C and older C++ include gasell/gasell.h"
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
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
    end_line = info.end_line, end_column = info.end_column, json = info.json;
  }

  gasell_status status;
  std::string kind, message, source, hint, rendered;  // "ValueError", one sentence, …, all of it with a caret
  int line = 0, column = 0;                           // from 1; 0: no place
  int end_line = 0, end_column = 0;                   // behind the last character of the place
  std::string json;                                   // all of it, with the calls that led there
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

[[noreturn]] inline void throw_error(gasell_status status, gasell_error* error) {
  struct Free {
    void operator()(gasell_error* e) const noexcept { gasell_error_free(e); }
  };
  const std::unique_ptr<gasell_error, Free> owner(error);
  throw Error(status, error);
}

/// Calls a function of the C ABI whose last argument is the error; throws what it reports.
template <class Function, class... Arguments>
void call(Function function, Arguments... arguments) {
  gasell_error* error = nullptr;
  const gasell_status status = function(arguments..., &error);
  if (status != GASELL_OK) throw_error(status, error);
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

template <class Signature>
class Function;

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

  /// The function that the last def of a text makes, compiled for the types of a C++ signature: compile<double(std::span<const double>,
  /// double)>("def f(x, a): return (a * x).sum()").
  template <class Signature>
  Function<Signature> compile(const std::string& text);

 private:
  struct Free {
    void operator()(gasell_engine* e) const noexcept { gasell_engine_free(e); }
  };
  std::unique_ptr<gasell_engine, Free> handle_;
};

/// An array with strides, over somebody's memory: element (i0, i1, …) is data[i0 * strides[0] + i1 * strides[1] + …].
template <Element T, size_t Rank>
struct View {
  T* data = nullptr;
  std::array<int64_t, Rank> shape{}, strides{};

  template <class... Index>
    requires(sizeof...(Index) == Rank)
  T& operator()(Index... index) const {
    int64_t offset = 0;
    size_t axis = 0;
    ((offset += static_cast<int64_t>(index) * strides[axis++]), ...);
    return data[offset];
  }
  /// In C order.
  static View of(T* data, std::array<int64_t, Rank> shape) {
    View view{data, shape, {}};
    int64_t stride = 1;
    for (size_t k = Rank; k-- > 0; stride *= shape[k]) view.strides[k] = stride;
    return view;
  }
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

  /// value["key"]: of a dict, a DataFrame's column.
  Value operator[](const char* key) const {
    gasell_value* item = nullptr;
    detail::call(gasell_value_lookup, handle_.get(), key, &item);
    return Value(item);
  }
  /// value.name
  Value attribute(const char* name) const {
    gasell_value* attribute = nullptr;
    detail::call(gasell_value_attribute, handle_.get(), name, &attribute);
    return Value(attribute);
  }
  /// A function, a method or a type, called with values of its session.
  template <std::same_as<Value>... Values>
  Value operator()(const Values&... arguments) const {
    gasell_value* const given[] = {arguments.handle()..., nullptr};
    gasell_value* result = nullptr;
    const char* const* const no_names = nullptr;
    gasell_value* const* const no_keywords = nullptr;
    detail::call(gasell_value_call, handle_.get(), static_cast<gasell_value* const*>(given), sizeof...(arguments), no_names, no_keywords,
                 size_t{0}, &result);
    return Value(result);
  }
  /// Lists, dicts, texts, numbers and arrays as JSON.
  std::string json() const {
    const char* text = nullptr;
    size_t length = 0;
    detail::call(gasell_value_json, handle_.get(), &text, &length);
    return std::string(text, length);
  }
  /// A Timestamp or datetime.
  std::chrono::sys_time<std::chrono::nanoseconds> time() const { return std::chrono::sys_time<std::chrono::nanoseconds>(duration()); }
  /// A Timedelta.
  std::chrono::nanoseconds duration() const {
    int64_t nanoseconds = 0;
    detail::call(gasell_value_time, handle_.get(), &nanoseconds);
    return std::chrono::nanoseconds(nanoseconds);
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
  /// Computes the array and gives it where it lies; throws std::invalid_argument when dtype or rank are others.
  template <Element T, size_t Rank>
  View<const T, Rank> view() const {
    gasell_dtype dtype{};
    int rank = 0;
    gasell_view v{};
    detail::call(gasell_value_view, handle_.get(), &dtype, &rank, &v);
    if (dtype != dtype_of<T> || rank != static_cast<int>(Rank))
      throw std::invalid_argument(std::string("gasell: the array holds ") + gasell_dtype_name(dtype) + " along " + std::to_string(rank) +
                                  " axes");
    View<const T, Rank> result{static_cast<const T*>(v.data), {}, {}};
    for (size_t k = 0; k < Rank; ++k) result.shape[k] = v.shape[k], result.strides[k] = v.strides[k];
    return result;
  }
  /// A DataFrame or a Series for other libraries (Arrow's C stream interface); the stream is the caller's to release.
  void arrow(ArrowArrayStream* stream) const { detail::call(gasell_value_arrow_stream, handle_.get(), stream); }
  /// The same in the memory of a device, by Arrow's numbers (1: the host's, 2: an NVIDIA GPU's).
  void arrow_device(int device_type, int device, ArrowSchema* schema, ArrowDeviceArray* array) const {
    detail::call(gasell_value_arrow_device, handle_.get(), device_type, device, schema, array);
  }
  /// An array for other libraries; its deleter is the caller's to call.
  DLManagedTensorVersioned* dlpack() const {
    DLManagedTensorVersioned* tensor = nullptr;
    detail::call(gasell_value_dlpack, handle_.get(), &tensor);
    return tensor;
  }
  /// The same in the memory of a device, by DLPack's numbers: 2 for an NVIDIA GPU.
  DLManagedTensorVersioned* dlpack_on(int device_type, int device) const {
    DLManagedTensorVersioned* tensor = nullptr;
    detail::call(gasell_value_dlpack_on, handle_.get(), device_type, device, &tensor);
    return tensor;
  }
  /// The program's object behind a handle of this type's name.
  template <class T>
  T& object(const char* type_name) const {
    void* object = nullptr;
    detail::call(gasell_value_handle, handle_.get(), type_name, &object);
    return *static_cast<T*>(object);
  }
  gasell_value* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(gasell_value* v) const noexcept { gasell_value_free(v); }
  };
  std::unique_ptr<gasell_value, Free> handle_;
};

namespace detail {

/// Types that offer what std::mdspan does.
template <class T>
concept MdspanLike = requires(const T& m) {
  typename T::element_type;
  { T::rank() } -> std::convertible_to<size_t>;
  m.data_handle();
  m.extent(0);
  m.stride(0);
};

/// How a C++ type goes through gasell_function_call and callbacks: its text in a signature, and what its address points to.
template <class T>
struct Passed;

template <class T>
  requires(Element<T> && !std::is_const_v<T>)
struct Passed<T> {
  static std::string text() { return gasell_dtype_name(dtype_of<T>); }
  struct Place {
    T value;
    explicit Place(T v) : value(v) {}
    void* address() { return &value; }
  };
  static T read(void* address) { return *static_cast<T*>(address); }
};

template <Element T, size_t Rank>
struct Passed<View<T, Rank>> {
  static std::string text() {
    std::string axes = ":";
    for (size_t k = 1; k < Rank; ++k) axes += ", :";
    return std::string(std::is_const_v<T> ? "const " : "") + gasell_dtype_name(dtype_of<T>) + "[" + axes + "]";
  }
  struct Place {
    View<T, Rank> value;
    gasell_view view;
    explicit Place(const View<T, Rank>& v)
        : value(v), view{const_cast<void*>(static_cast<const void*>(v.data)), value.shape.data(), value.strides.data()} {}
    Place(const Place&) = delete;
    void* address() { return &view; }
  };
  static View<T, Rank> read(void* address) {
    const auto& v = *static_cast<gasell_view*>(address);
    View<T, Rank> result{static_cast<T*>(v.data), {}, {}};
    int64_t stride = 1;
    for (size_t k = Rank; k-- > 0; stride *= v.shape[k])
      result.shape[k] = v.shape[k], result.strides[k] = v.strides ? v.strides[k] : stride;
    return result;
  }
};

template <Element T>
struct Passed<std::span<T>> {
  static std::string text() { return std::string(std::is_const_v<T> ? "const " : "") + gasell_dtype_name(dtype_of<T>) + "[::1]"; }
  struct Place {
    int64_t size;
    gasell_view view;
    explicit Place(std::span<T> s)
        : size(static_cast<int64_t>(s.size())), view{const_cast<void*>(static_cast<const void*>(s.data())), &size, nullptr} {}
    Place(const Place&) = delete;
    void* address() { return &view; }
  };
  static std::span<T> read(void* address) {
    const auto& v = *static_cast<gasell_view*>(address);
    return {static_cast<T*>(v.data), static_cast<size_t>(v.shape[0])};
  }
};

template <MdspanLike M>
struct Passed<M> {
  using As = View<typename M::element_type, M::rank()>;
  static std::string text() { return Passed<As>::text(); }
  struct Place : Passed<As>::Place {
    static As as_view(const M& m) {
      As view{m.data_handle(), {}, {}};
      for (size_t k = 0; k < M::rank(); ++k)
        view.shape[k] = static_cast<int64_t>(m.extent(k)), view.strides[k] = static_cast<int64_t>(m.stride(k));
      return view;
    }
    explicit Place(const M& m) : Passed<As>::Place(as_view(m)) {}
  };
};

template <>
struct Passed<const char*> {
  static std::string text() { return "str"; }
  struct Place {
    const char* value;
    explicit Place(const char* v) : value(v) {}
    void* address() { return &value; }
  };
  static const char* read(void* address) { return *static_cast<const char**>(address); }
};

template <>
struct Passed<std::string_view> {
  static std::string text() { return "str"; }
  struct Place {
    std::string copy;  // terminated
    const char* value;
    explicit Place(std::string_view v) : copy(v), value(copy.c_str()) {}
    Place(const Place&) = delete;
    void* address() { return &value; }
  };
  static std::string_view read(void* address) { return *static_cast<const char**>(address); }
};

template <>
struct Passed<Value> {
  static std::string text() { return "object"; }
  struct Place {
    gasell_value* value;
    explicit Place(const Value& v) : value(v.handle()) {}
    void* address() { return &value; }
  };
};

template <class R, class... Arguments>
std::string signature_text() {
  std::string text;
  if constexpr (std::is_void_v<R>)
    text = "void(";
  else
    text = Passed<R>::text() + "(";
  [[maybe_unused]] const char* between = "";
  ((text += between + Passed<std::remove_cvref_t<Arguments>>::text(), between = ", "), ...);
  return text + ")";
}

/// A result that is computed into memory of the caller's.
template <class T>
inline constexpr bool is_place = requires(gasell_view v) { typename Passed<T>::Place; } && !Element<T> && !std::same_as<T, Value> &&
                                 !std::same_as<T, const char*> && !std::same_as<T, std::string_view>;

}  // namespace detail

/// A function of a script as one of C++: double(std::span<const double>, double). Arguments are numbers, std::span, View, what is like
/// std::mdspan, texts and Values; results numbers, Values (lazy), or void. Where the result is a span or a View, the place for it is the
/// first argument of a call. @njit functions of numbers and arrays may be called from any threads at once.
template <class R, class... Arguments>
class Function<R(Arguments...)> {
 public:
  explicit Function(gasell_function* handle) : handle_(handle) {}

  R operator()(Arguments... arguments) const
    requires(!detail::is_place<R>)
  {
    if constexpr (std::is_void_v<R>) {
      run(nullptr, arguments...);
    } else if constexpr (std::same_as<R, Value>) {
      gasell_value* result = nullptr;
      run(&result, arguments...);
      return Value(result);
    } else {
      R result{};
      run(&result, arguments...);
      return result;
    }
  }
  void operator()(std::conditional_t<std::is_void_v<R>, std::nullptr_t, R> place, Arguments... arguments) const
    requires(detail::is_place<R>)
  {
    typename detail::Passed<R>::Place to(place);
    run(to.address(), arguments...);
  }
  /// Whether a call is one of machine code.
  bool is_direct() const noexcept { return gasell_function_is_direct(handle_.get()) != 0; }
  gasell_function* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(gasell_function* f) const noexcept { gasell_function_free(f); }
  };

  void run(void* result, const std::remove_cvref_t<Arguments>&... arguments) const {
    [&](typename detail::Passed<std::remove_cvref_t<Arguments>>::Place&&... places) {
      void* addresses[sizeof...(Arguments) + 1] = {places.address()...};
      gasell_error* error = nullptr;
      const gasell_status status = gasell_function_call(handle_.get(), result, addresses, &error);
      if (status != GASELL_OK) [[unlikely]]
        detail::throw_error(status, error);
    }(typename detail::Passed<std::remove_cvref_t<Arguments>>::Place(arguments)...);
  }

  std::unique_ptr<gasell_function, Free> handle_;
};

template <class Signature>
Function<Signature> Engine::compile(const std::string& text) {
  return [&]<class R, class... Arguments>(std::type_identity<R(Arguments...)>) {
    gasell_function* function = nullptr;
    detail::call(gasell_compile, handle_.get(), text.c_str(), detail::signature_text<R, Arguments...>().c_str(), &function);
    return Function<Signature>(function);
  }(std::type_identity<Signature>());
}

namespace detail {

/// The signature of what can be called.
template <class F>
struct Callable : Callable<decltype(&F::operator())> {};
template <class R, class... A>
struct Callable<R (*)(A...)> {
  using Type = R(A...);
};
template <class C, class R, class... A>
struct Callable<R (C::*)(A...)> {
  using Type = R(A...);
};
template <class C, class R, class... A>
struct Callable<R (C::*)(A...) const> {
  using Type = R(A...);
};

inline void fail(gasell_failure& failure, const char* kind, const char* message) noexcept {
  std::strncpy(failure.kind, kind, sizeof failure.kind - 1);
  failure.kind[sizeof failure.kind - 1] = 0;
  std::strncpy(failure.message, message, sizeof failure.message - 1);
  failure.message[sizeof failure.message - 1] = 0;
}

template <class F, class R, class... A, size_t... K>
int call_back(F& function, void* result, void* const* arguments, gasell_failure* failure, std::index_sequence<K...>) noexcept {
  (void)arguments, (void)result;
  try {
    if constexpr (std::is_void_v<R>)
      function(Passed<std::remove_cvref_t<A>>::read(arguments[K])...);
    else
      *static_cast<R*>(result) = function(Passed<std::remove_cvref_t<A>>::read(arguments[K])...);
    return 0;
  } catch (const Error& e) {
    fail(*failure, e.kind.c_str(), e.message.c_str());
  } catch (const std::out_of_range& e) {
    fail(*failure, "IndexError", e.what());
  } catch (const std::logic_error& e) {
    fail(*failure, "ValueError", e.what());
  } catch (const std::bad_alloc&) {
    fail(*failure, "MemoryError", "the program has no memory left");
  } catch (const std::exception& e) {
    fail(*failure, "RuntimeError", e.what());
  } catch (...) {
    fail(*failure, "RuntimeError", "an exception of unknown type");
  }
  return 1;
}

}  // namespace detail

struct SessionOptions {
  bool sandbox = false;            // scripts reach nothing but what is allowed, and what is bound
  std::vector<std::string> allow;  // "read:/data", "write:/out", "env", "clock", "network", "plugins", "unchecked", "raw-code"
  int64_t memory = 0;              // bytes of arrays; 0: what the engine has
  int64_t output = 0;              // bytes that one call may print; 0: no limit
  double seconds = 0;              // that one call may take; 0: no limit
  int recursion = 0;               // 0: 1000
};

class Session {
 public:
  explicit Session(Engine& engine, const SessionOptions& options = {}) {
    std::vector<const char*> allow;
    for (const std::string& each : options.allow) allow.push_back(each.c_str());
    allow.push_back(nullptr);
    gasell_session_options c{};
    c.struct_size = sizeof c;
    c.sandbox = options.sandbox;
    c.allow = options.allow.empty() ? nullptr : allow.data();
    c.memory = options.memory;
    c.output = options.output;
    c.seconds = options.seconds;
    c.recursion = options.recursion;
    gasell_session* session = nullptr;
    detail::call(gasell_session_create_with, engine.handle(), &c, &session);
    handle_.reset(session);
  }
  /// Ends what runs. Safe from any thread and from signal handlers.
  void interrupt() noexcept { gasell_session_interrupt(handle_.get()); }
  /// Seconds that each of the following calls may take; 0: no limit.
  void set_seconds(double seconds) { detail::call(gasell_session_set_seconds, handle_.get(), seconds); }

  /// Runs statements; the value of the last one where it is an expression, else None.
  Value evaluate(const std::string& text, const std::string& source_name = "<host>") {
    gasell_value* result = nullptr;
    detail::call(gasell_evaluate, handle_.get(), text.c_str(), source_name.c_str(), &result);
    return Value(result);
  }
  /// The same until somebody asks to stop: then it throws Error with GASELL_INTERRUPTED, within 100 ms.
  Value evaluate(const std::string& text, std::stop_token stop, const std::string& source_name = "<host>") {
    struct Reset {
      gasell_session* session;
      ~Reset() { gasell_session_set_cancelled(session, 0); }
    } const reset{handle_.get()};
    const std::stop_callback cancel(stop, [this] { gasell_session_set_cancelled(handle_.get(), 1); });
    return evaluate(text, source_name);
  }
  /// A number or a text as a value without a name, for calls.
  template <class T>
  Value make(const T& content) {
    gasell_value* value = nullptr;
    if constexpr (std::same_as<T, bool>) {
      detail::call(gasell_make_boolean, handle_.get(), content ? 1 : 0, &value);
    } else if constexpr (std::integral<T>) {
      if (!std::in_range<int64_t>(content)) throw std::out_of_range("gasell: an integer of a script has 64 bits and a sign");
      detail::call(gasell_make_integer, handle_.get(), static_cast<int64_t>(content), &value);
    } else if constexpr (std::floating_point<T>) {
      detail::call(gasell_make_float, handle_.get(), static_cast<double>(content), &value);
    } else {
      const std::string_view text(content);
      detail::call(gasell_make_string, handle_.get(), text.data(), text.size(), &value);
    }
    return Value(value);
  }
  /// A module by the name that import takes: "numpy.linalg".
  Value module(const char* name) {
    gasell_value* module = nullptr;
    detail::call(gasell_import_module, handle_.get(), name, &module);
    return Value(module);
  }
  /// The function of a name, checked and compiled for the types of a C++ signature: function<double(std::span<const double>)>("f").
  template <class Signature>
  Function<Signature> function(const std::string& name) {
    return [&]<class R, class... Arguments>(std::type_identity<R(Arguments...)>) {
      gasell_function* function = nullptr;
      detail::call(gasell_get_function, handle_.get(), name.c_str(), detail::signature_text<R, Arguments...>().c_str(), &function);
      return Function<Signature>(function);
    }(std::type_identity<Signature>());
  }
  /// Defines a function of C++ for scripts: of numbers, spans, Views and texts, which gives a number or nothing. What it throws is the
  /// script's exception. Compiled functions call those of numbers by their address, on any thread.
  template <class F>
  void define(const std::string& name, F function) {
    [&]<class R, class... Arguments>(std::type_identity<R(Arguments...)>) {
      static_assert(std::is_void_v<R> || Element<R>, "a function for scripts gives a number or nothing");
      auto owner = std::make_unique<F>(std::move(function));
      const gasell_callback callback = [](void* context, void* result, void* const* arguments, gasell_failure* failure) -> int {
        return detail::call_back<F, R, Arguments...>(*static_cast<F*>(context), result, arguments, failure,
                                                     std::index_sequence_for<Arguments...>());
      };
      const gasell_release release = [](void* context) { delete static_cast<F*>(context); };
      detail::call(gasell_define, handle_.get(), name.c_str(), detail::signature_text<R, Arguments...>().c_str(), callback, release,
                   static_cast<void*>(owner.get()));
      (void)owner.release();  // the session's from here on
    }(std::type_identity<typename detail::Callable<F>::Type>());
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
  /// The same with strides.
  template <Element T, size_t Rank>
  void bind(const std::string& name, const View<T, Rank>& view, std::shared_ptr<const void> keep_alive = {}) {
    using Owner = std::shared_ptr<const void>;
    auto owner = keep_alive ? std::make_unique<Owner>(std::move(keep_alive)) : nullptr;
    gasell_release release = nullptr;
    if (owner) release = [](void* context) { delete static_cast<Owner*>(context); };
    detail::call(gasell_bind_view, handle_.get(), name.c_str(), const_cast<void*>(static_cast<const void*>(view.data)), dtype_of<T>,
                 static_cast<int>(Rank), view.shape.data(), view.strides.data(), std::is_const_v<T> ? 0u : GASELL_WRITABLE, release,
                 static_cast<void*>(owner.get()));
    (void)owner.release();  // the session's from here on
  }
  /// None, bools, numbers, texts, lists and dicts of JSON.
  void bind_json(const std::string& name, std::string_view text) {
    detail::call(gasell_bind_json, handle_.get(), name.c_str(), text.data(), text.size());
  }
  void bind(const std::string& name, std::chrono::sys_time<std::chrono::nanoseconds> time) {
    detail::call(gasell_bind_time, handle_.get(), name.c_str(), static_cast<int64_t>(time.time_since_epoch().count()));
  }
  /// An object of the program's, which scripts hand on to its functions; kept until no script holds it.
  template <class T>
  void bind_object(const std::string& name, std::shared_ptr<T> object, const char* type_name) {
    auto owner = std::make_unique<std::shared_ptr<T>>(std::move(object));
    T* const at = owner->get();
    const gasell_release release = [](void* context) { delete static_cast<std::shared_ptr<T>*>(context); };
    detail::call(gasell_bind_handle, handle_.get(), name.c_str(), static_cast<void*>(at), type_name, release,
                 static_cast<void*>(owner.get()));
    (void)owner.release();
  }
  /// Tables and tensors of other libraries, which become the session's.
  void bind_arrow(const std::string& name, ArrowSchema* schema, ArrowArray* array) {
    detail::call(gasell_bind_arrow, handle_.get(), name.c_str(), schema, array);
  }
  void bind_arrow(const std::string& name, ArrowSchema* schema, ArrowDeviceArray* array) {
    detail::call(gasell_bind_arrow_device, handle_.get(), name.c_str(), schema, array);
  }
  void bind_arrow(const std::string& name, ArrowArrayStream* stream) {
    detail::call(gasell_bind_arrow_stream, handle_.get(), name.c_str(), stream);
  }
  void bind_dlpack(const std::string& name, DLManagedTensorVersioned* tensor) {
    detail::call(gasell_bind_dlpack, handle_.get(), name.c_str(), tensor);
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
  void set_output(std::function<void(std::string_view)> write) { set_writer(gasell_session_set_output, output_, std::move(write)); }
  /// What they write to sys.stderr, and what warns; an empty function: to stderr, in a sandbox to where the output goes.
  void set_error_output(std::function<void(std::string_view)> write) {
    set_writer(gasell_session_set_error_output, error_output_, std::move(write));
  }
  /// What input() gets: `read` is given the prompt and gives a line, or nothing at the end of the input. It must not throw.
  void set_input(std::function<std::optional<std::string>(std::string_view prompt)> read) {
    auto owner = std::make_unique<Read>(std::move(read));
    const gasell_read_line forward = [](void* context, const char* prompt, char* line, int64_t room) -> int64_t {
      const std::optional<std::string> read = (*static_cast<Read*>(context))(prompt);
      if (!read) return -1;
      const size_t length = std::min(read->size(), static_cast<size_t>(room));
      std::memcpy(line, read->data(), length);
      return static_cast<int64_t>(length);
    };
    detail::call(gasell_session_set_input, handle_.get(), forward, static_cast<void*>(owner.get()));
    input_ = std::move(owner);
  }
  /// What the engine says of itself while it works for this session, from a level on: levels are those of Python's logging (30:
  /// lost GPUs; 20: calls that were ended; 10: kernels). An empty function: to nobody. It must not throw.
  void set_log(std::function<void(int level, std::string_view)> log, int level = 20) {
    auto owner = std::make_unique<Log>(std::move(log));
    gasell_log forward = nullptr;
    if (*owner)
      forward = [](void* context, int of, const char* text, size_t length) {
        (*static_cast<Log*>(context))(of, std::string_view(text, length));
      };
    detail::call(gasell_session_set_log, handle_.get(), level, forward, static_cast<void*>(owner.get()));
    log_ = std::move(owner);
  }
  gasell_session* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(gasell_session* s) const noexcept { gasell_session_free(s); }
  };
  using Write = std::function<void(std::string_view)>;
  using Read = std::function<std::optional<std::string>(std::string_view)>;
  using Log = std::function<void(int, std::string_view)>;
  template <class Set>
  void set_writer(Set set, std::unique_ptr<Write>& kept, Write write) {
    auto owner = std::make_unique<Write>(std::move(write));
    gasell_write forward = nullptr;
    if (*owner)
      forward = [](void* context, const char* text, size_t length) { (*static_cast<Write*>(context))(std::string_view(text, length)); };
    detail::call(set, handle_.get(), forward, static_cast<void*>(owner.get()));
    kept = std::move(owner);
  }
  std::unique_ptr<Write> output_, error_output_;
  std::unique_ptr<Read> input_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<gasell_session, Free> handle_;
};

}  // namespace gasell
