// Sorting and searching beside what the standard library's stable sort gives, over orders that are hard for one algorithm or
// another.
#include "catch.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/primitives/order_keys.h"
#include "runtime/primitives/search.h"
#include "runtime/primitives/sort.h"

namespace gasell {
namespace {

constexpr DType kTypes[] = {DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,  DType::u16,
                            DType::u32, DType::u64, DType::f32, DType::f64, DType::c128};
const char* const kOrders[] = {"random", "sorted", "reversed", "equal", "organ pipes", "few values", "one apart", "sawtooth"};

template <class T>
std::vector<T> ordered_as(const std::string& order, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = order == "random"        ? static_cast<int64_t>(random() >> 1)
                          : order == "sorted"      ? i
                          : order == "reversed"    ? count - i
                          : order == "equal"       ? 7
                          : order == "organ pipes" ? std::min(i, count - i)
                          : order == "few values"  ? static_cast<int64_t>(random() % 5)
                          : order == "one apart"   ? (i == count / 3 ? 1 : 0)
                                                   : i % 1000;
    if constexpr (std::is_class_v<T>)
      values.emplace_back(static_cast<double>(place % 17), static_cast<double>(place % 1001));
    else if constexpr (std::is_floating_point_v<T>)
      values.push_back(static_cast<T>(place) / 8 - 100);
    else
      values.push_back(static_cast<T>(place));
  }
  if constexpr (std::is_floating_point_v<T>) {  // a share of what has an order of its own
    if (seed % 2)
      for (T& v : values) {
        const uint64_t die = random() % 20;
        if (die < 4)
          v = die == 0 ? std::numeric_limits<T>::quiet_NaN() : die == 1 ? std::numeric_limits<T>::infinity() : die == 2 ? T{0} : -T{0};
      }
  }
  return values;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace

TEST_CASE("sort and argsort agree with a stable sort on every order") {
  for (const int threads : {1, 4}) {
    EngineOptions options;
    options.threads = threads;
    Engine engine(options);
    for (const DType dtype : kTypes)
      for (const char* order : kOrders)
        for (const int64_t count : {0, 1, 2, 17, 100, 1000, 40000, 300000}) {
          if (threads == 1 && count > 40000) continue;
          with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
            if constexpr (!std::is_same_v<T, bool>) {
              INFO(name_of(dtype) << " " << order << " " << count << " " << threads);
              const std::vector<T> values = ordered_as<T>(order, count, static_cast<uint64_t>(count) + static_cast<uint64_t>(dtype));
              std::vector<int64_t> places(values.size()), found_places(values.size());
              std::iota(places.begin(), places.end(), int64_t{0});
              const auto at = [&](int64_t i) { return values[static_cast<size_t>(i)]; };
              std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) { return ordered_before(at(a), at(b)); });
              std::vector<T> expected, sorted(values.size());
              for (const int64_t i : places) expected.push_back(at(i));
              sort(engine, dtype, values.data(), sorted.data(), count);
              CHECK(same_bits(sorted, expected));
              std::vector<T> alone = values;
              sort_alone(dtype, alone.data(), count);
              CHECK(same_bits(alone, expected));
              argsort(engine, dtype, values.data(), found_places.data(), count);
              CHECK(found_places == places);
              argsort_alone(dtype, values.data(), found_places.data(), count);
              CHECK(found_places == places);
            }
          });
        }
  }
}

TEST_CASE("a long vector is sorted whole, whatever the splitters of its sample are") {
  Engine engine;
  constexpr int64_t kCount = 3'000'000;
  for (const char* order : kOrders) {
    INFO(order);
    const std::vector<double> values = ordered_as<double>(order, kCount, 5);
    std::vector<double> expected = values, sorted(values.size());
    std::stable_sort(expected.begin(), expected.end(), ordered_before<double>);
    sort(engine, DType::f64, values.data(), sorted.data(), kCount);
    CHECK(same_bits(sorted, expected));
  }
}

TEST_CASE("values are found among sorted ones from both sides") {
  Engine engine;
  for (const int64_t size : {0, 1, 2, 3, 16, 1000, 4097})
    for (const int64_t count : {0, 1, 15, 16, 17, 5000}) {
      std::vector<double> sorted = ordered_as<double>("few values", size, 5), values = ordered_as<double>("random", count, 7);
      std::sort(sorted.begin(), sorted.end(), ordered_before<double>);
      for (size_t i = 0; i < values.size(); i += 2) values[i] = sorted.empty() ? 1 : sorted[i % sorted.size()];
      std::vector<int64_t> left(values.size()), right(values.size());
      search_sorted(engine, DType::f64, sorted.data(), size, values.data(), count, false, left.data());
      search_sorted(engine, DType::f64, sorted.data(), size, values.data(), count, true, right.data());
      for (size_t i = 0; i < values.size(); ++i) {
        INFO(size << " " << count << " " << values[i]);
        CHECK(left[i] == std::lower_bound(sorted.begin(), sorted.end(), values[i], ordered_before<double>) - sorted.begin());
        CHECK(right[i] == std::upper_bound(sorted.begin(), sorted.end(), values[i], ordered_before<double>) - sorted.begin());
      }
    }
}

}  // namespace gasell
