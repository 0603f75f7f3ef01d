// Values that a host program makes, looks into and calls by the C ABI; functions that tell their result; code that is being written.
#include <gasell/gasell.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"

namespace {

/// An engine with a session, and the values that were made in it.
struct Fixture {
  Fixture() {
    REQUIRE(gasell_engine_create(nullptr, &engine, nullptr) == GASELL_OK);
    REQUIRE(gasell_session_create(engine, &session, nullptr) == GASELL_OK);
  }
  ~Fixture() {
    for (gasell_value* value : made) gasell_value_free(value);
    gasell_session_free(session);
    gasell_engine_free(engine);
  }
  /// The value that a call of the library leaves in its last place but one.
  template <class Function, class... Arguments>
  gasell_value* value_of(Function function, Arguments... arguments) {
    gasell_value* value = nullptr;
    REQUIRE(function(arguments..., &value, nullptr) == GASELL_OK);
    made.push_back(value);
    return value;
  }
  gasell_value* evaluate(const char* text) { return value_of(gasell_evaluate, session, text, nullptr); }
  gasell_value* call(gasell_value* callee, std::vector<gasell_value*> arguments, std::vector<const char*> names = {},
                     std::vector<gasell_value*> keywords = {}) {
    return value_of(gasell_value_call, callee, arguments.data(), arguments.size(), names.data(), keywords.data(), keywords.size());
  }
  std::string text_of(gasell_value* value) {
    const char* text = nullptr;
    REQUIRE(gasell_value_text(value, &text, nullptr, nullptr) == GASELL_OK);
    return text;
  }

  gasell_engine* engine = nullptr;
  gasell_session* session = nullptr;
  std::vector<gasell_value*> made;
};

}  // namespace

TEST_CASE("values are made without names, and called") {
  Fixture f;
  gasell_value* const one = f.value_of(gasell_make_integer, f.session, int64_t{1});
  gasell_value* const half = f.value_of(gasell_make_float, f.session, 0.5);
  gasell_value* const text = f.value_of(gasell_make_string, f.session, "a\0b", size_t{3});
  gasell_value* const complex = f.value_of(gasell_make_complex, f.session, 1.0, -2.0);
  const std::array items{one, half, text, complex, f.value_of(gasell_make_none, f.session), f.value_of(gasell_make_boolean, f.session, 1)};
  gasell_value* const tuple = f.value_of(gasell_make_sequence, f.session, 1, items.data(), items.size());
  CHECK(f.text_of(f.call(f.evaluate("repr"), {tuple})) == "(1, 0.5, 'a\\x00b', (1-2j), None, True)");
  const std::array keys{text, one, text};
  gasell_value* const dict = f.value_of(gasell_make_dict, f.session, keys.data(), items.data(), keys.size());
  CHECK(f.text_of(dict) == "{'a\\x00b': 'a\\x00b', 1: 0.5}");
  const gasell_value* const nothing = nullptr;
  const gasell_value* const first = one;
  CHECK(f.text_of(f.value_of(gasell_make_slice, f.session, first, nothing, nothing)) == "slice(1, None, None)");
  gasell_value* const function = f.evaluate("def f(a, *rest, k=3, **others):\n    return a, rest, k, others\nf");
  CHECK(f.text_of(f.call(function, {one, half}, {"k", "z"}, {half, one})) == "(1, (0.5,), 0.5, {'z': 1})");
  CHECK(f.text_of(f.value_of(gasell_value_share, static_cast<const gasell_value*>(half))) == "0.5");
}

TEST_CASE("members of values and modules are found") {
  Fixture f;
  gasell_value* const linalg = f.value_of(gasell_import_module, f.session, "numpy.linalg");
  gasell_value* const norm = f.value_of(gasell_value_attribute, linalg, "norm");
  CHECK(gasell_value_kind(norm) == GASELL_KIND_FUNCTION);
  CHECK(f.text_of(f.call(norm, {f.evaluate("[3.0, 4.0]")})) == "5.0");
  const char* name = nullptr;
  REQUIRE(gasell_value_type(f.evaluate("pd.DataFrame({'a': [1]})"), &name, nullptr) == GASELL_OK);
  CHECK(std::string(name) == "DataFrame");
  CHECK(gasell_value_has_dtype(f.evaluate("np.float32(1)")) == 1);
  CHECK(gasell_value_has_dtype(f.evaluate("np.ones(2)")) == 1);
  CHECK(gasell_value_has_dtype(f.evaluate("True")) == 0);
  CHECK(gasell_value_has_dtype(nullptr) == 0);
  gasell_value* nothing = nullptr;
  gasell_error* error = nullptr;
  CHECK(gasell_value_attribute(linalg, "nothing_there", &nothing, &error) == GASELL_SCRIPT_ERROR);
  gasell_error_info info{};
  info.struct_size = sizeof info;
  REQUIRE(gasell_error_describe(error, &info) == GASELL_OK);
  CHECK(std::string(info.kind) == "AttributeError");
  gasell_error_free(error);
  CHECK(gasell_import_module(f.session, "no_such_module", &nothing, nullptr) != GASELL_OK);
  CHECK(gasell_value_attribute(nullptr, "a", &nothing, nullptr) == GASELL_INVALID_ARGUMENT);
  CHECK(nothing == nullptr);
}

TEST_CASE("memory becomes a value, and goes back once") {
  Fixture f;
  std::array<double, 4> numbers{1, 2, 3, 4};
  int released = 0;
  const auto release = [](void* count) { ++*static_cast<int*>(count); };
  const int64_t shape[] = {2}, strides[] = {2};
  gasell_value* const array = f.value_of(gasell_make_view, f.session, static_cast<void*>(numbers.data()), GASELL_F64, 1,
                                         static_cast<const int64_t*>(shape), static_cast<const int64_t*>(strides), GASELL_WRITABLE,
                                         static_cast<gasell_release>(release), static_cast<void*>(&released));
  f.call(f.evaluate("def f(a):\n    a[1] = 7\nf"), {array});
  CHECK(numbers == std::array<double, 4>{1, 2, 7, 4});
  CHECK(released == 0);
  gasell_value* refused = nullptr;
  CHECK(gasell_make_view(f.session, numbers.data(), GASELL_F64, 1, shape, strides, 8u, release, &released, &refused, nullptr) ==
        GASELL_INVALID_ARGUMENT);
  CHECK(released == 0);
  gasell_value_free(array);
  f.made.erase(std::find(f.made.begin(), f.made.end(), array));
  CHECK(released == 1);
}

TEST_CASE("values that another thread frees do not get in the way of calls") {
  Fixture f;
  std::atomic<bool> done = false;
  std::vector<gasell_value*> given;
  std::mutex mutex;
  std::thread other([&] {
    while (!done) {
      std::vector<gasell_value*> mine;
      {
        const std::lock_guard lock(mutex);
        mine.swap(given);
      }
      for (gasell_value* value : mine) gasell_value_free(value);
    }
  });
  int refused = 0;
  for (int k = 0; k < 20000; ++k) {
    gasell_value* value = nullptr;
    if (gasell_make_integer(f.session, k, &value, nullptr) != GASELL_OK) ++refused;
    const std::lock_guard lock(mutex);
    given.push_back(value);
  }
  done = true;
  other.join();
  for (gasell_value* value : given) gasell_value_free(value);
  CHECK(refused == 0);
}

TEST_CASE("a function says what it returns") {
  Fixture f;
  const auto result_of = [&](const char* text, const char* signature) {
    gasell_function* function = nullptr;
    REQUIRE(gasell_value_function(f.evaluate(text), signature, &function, nullptr) == GASELL_OK);
    gasell_kind kind = GASELL_KIND_ARRAY;
    gasell_dtype dtype = GASELL_C128;
    REQUIRE(gasell_function_result(function, &kind, &dtype, nullptr) == GASELL_OK);
    const std::pair told{kind, kind == GASELL_KIND_OTHER || kind == GASELL_KIND_NONE ? GASELL_C128 : dtype};
    CHECK((gasell_function_is_direct(function) == 1) == (kind != GASELL_KIND_OTHER));
    gasell_function_free(function);
    return told;
  };
  CHECK(result_of("@njit\ndef f(a, b):\n    return a + b\nf", "auto(int64, float32)") == std::pair{GASELL_KIND_FLOAT, GASELL_F64});
  CHECK(result_of("@njit\ndef f(a):\n    return a > 1\nf", "auto(int64)") == std::pair{GASELL_KIND_BOOLEAN, GASELL_BOOL});
  CHECK(result_of("@njit\ndef f(a):\n    a[0] = 1\nf", "auto(float64[::1])") == std::pair{GASELL_KIND_NONE, GASELL_C128});
  CHECK(result_of("@njit\ndef f(a):\n    return a * 2\nf", "auto(float64[::1])") == std::pair{GASELL_KIND_OTHER, GASELL_C128});
  CHECK(result_of("lambda a: a", "auto(float64)") == std::pair{GASELL_KIND_OTHER, GASELL_C128});
  gasell_function* refused = nullptr;
  CHECK(gasell_value_function(f.evaluate("1"), "auto(", &refused, nullptr) == GASELL_INVALID_ARGUMENT);
  CHECK(gasell_define(
            f.session, "g", "auto(float64)", [](void*, void*, void* const*, gasell_failure*) { return 0; }, nullptr, nullptr, nullptr) ==
        GASELL_INVALID_ARGUMENT);
}

TEST_CASE("a function of the program takes anything") {
  Fixture f;
  int released = 0;
  const gasell_callable second = [](void*, gasell_value* const* arguments, size_t count, const char* const* names,
                                    gasell_value* const* keywords, size_t keyword_count, gasell_value** result, gasell_failure* failure) {
    gasell_value* kept = nullptr;
    for (size_t k = 0; k < count; ++k) {
      if (k == 1)
        kept = arguments[k];
      else
        gasell_value_free(arguments[k]);
    }
    for (size_t k = 0; k < keyword_count; ++k) {
      if (std::strcmp(names[k], "second") == 0 && !kept)
        kept = keywords[k];
      else
        gasell_value_free(keywords[k]);
    }
    *result = kept;
    if (kept) return 0;
    std::strcpy(failure->kind, "LookupError");
    std::strcpy(failure->message, "there is no second one");
    return 1;
  };
  gasell_value* const function =
      f.value_of(gasell_make_function, f.session, "second", second,
                 static_cast<gasell_release>([](void* count) { ++*static_cast<int*>(count); }), static_cast<void*>(&released));
  gasell_value* const apply = f.evaluate("lambda f, *args, **kwargs: f(*args, **kwargs)");
  CHECK(f.text_of(f.call(apply, {function, f.evaluate("1"), f.evaluate("[2]")})) == "[2]");
  CHECK(f.text_of(f.call(apply, {function}, {"second"}, {f.evaluate("3")})) == "3");
  gasell_value* result = nullptr;
  gasell_error* error = nullptr;
  CHECK(gasell_value_call(function, nullptr, 0, nullptr, nullptr, 0, &result, &error) == GASELL_SCRIPT_ERROR);
  gasell_error_info info{};
  info.struct_size = sizeof info;
  REQUIRE(gasell_error_describe(error, &info) == GASELL_OK);
  CHECK(std::string(info.kind) + ": " + info.message == "LookupError: there is no second one");
  gasell_error_free(error);
  CHECK(f.text_of(function) == "<host function second>");
  CHECK(released == 0);
}

TEST_CASE("code that is being written is completed and described") {
  Fixture f;
  f.evaluate("table = pd.DataFrame({'col': [1]})\ndef half(x, *, down=True):\n    '''Halves.'''\n    return x / 2");
  const auto complete = [&](const std::string& text) {
    const char* json = nullptr;
    REQUIRE(gasell_complete(f.session, text.data(), text.size(), text.size(), &json, nullptr) == GASELL_OK);
    return std::string(json);
  };
  CHECK(complete("x = tab") == R"({"begin":4,"candidates":["table"],"closing":""})");
  CHECK(complete("table['c") == R"({"begin":7,"candidates":["col"],"closing":"']"})");
  CHECK(complete("nothing_here.x") == R"({"begin":13,"candidates":[],"closing":""})");
  const auto inspect = [&](const std::string& text, size_t cursor, int detail) {
    const char* description = nullptr;
    REQUIRE(gasell_inspect(f.session, text.data(), text.size(), cursor, detail, &description, nullptr) == GASELL_OK);
    return std::string(description);
  };
  CHECK(inspect("half(1, ", 8, 0) == "half(x, *, down=True)\nHalves.\n");
  CHECK(inspect("y = half", 6, 1).find("return x / 2") != std::string::npos);
  CHECK(inspect("   ", 1, 0).empty());
  CHECK(inspect("unknown", 2, 0).empty());
  const char* text = nullptr;
  CHECK(gasell_inspect(f.session, "a", 1, 2, 0, &text, nullptr) == GASELL_INVALID_ARGUMENT);
  for (const auto& [code, answer] : {std::pair{"x = 1", 1}, {"def f():", 0}, {"x = )", -1}, {"", 1}})
    CHECK(gasell_is_complete(code, std::strlen(code)) == answer);
}
