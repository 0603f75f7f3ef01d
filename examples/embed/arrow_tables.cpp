// A table of Arrow in, a table of Arrow out, through Arrow's C interfaces: the struct definitions are all that both sides share.
#include <cstdio>
#include <gasell/gasell.hpp>
#include <string>
#include <vector>

// From Arrow's specification; a program with Arrow includes <arrow/c/abi.h> instead.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
#endif

namespace {

/// A table of the host's: cities and temperatures.
struct Readings {
  std::vector<double> degrees{3.5, 19.0, 4.5, 21.0};
  std::string cities = "OsloRomeOsloRome";
  std::vector<int32_t> ends{0, 4, 8, 12, 16};
  const void* city_buffers[3] = {nullptr, ends.data(), cities.data()};
  const void* degree_buffers[2] = {nullptr, degrees.data()};
  const void* no_buffers[1] = {nullptr};
  ArrowArray columns[2] = {{4, 0, 0, 3, 0, city_buffers, nullptr, nullptr, nullptr, nullptr},
                           {4, 0, 0, 2, 0, degree_buffers, nullptr, nullptr, nullptr, nullptr}};
  ArrowSchema types[2] = {{"u", "city", nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr},
                          {"g", "degrees", nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr}};
  ArrowArray* column_pointers[2] = {&columns[0], &columns[1]};
  ArrowSchema* type_pointers[2] = {&types[0], &types[1]};
  ArrowSchema schema{"+s", "", nullptr, 0, 2, type_pointers, nullptr, [](ArrowSchema* s) { s->release = nullptr; }, nullptr};
  ArrowArray array{4, 0, 0, 1, 2, no_buffers, column_pointers, nullptr, [](ArrowArray* a) { a->release = nullptr; }, nullptr};
};

}  // namespace

int main() {
  Readings readings;
  gasell::Engine engine;
  gasell::Session session(engine);
  session.bind_arrow("readings", &readings.schema, &readings.array);  // a DataFrame; the degrees are not copied
  ArrowArrayStream stream{};
  session.evaluate("readings.groupby('city')['degrees'].mean().reset_index()").arrow(&stream);

  ArrowSchema schema{};
  ArrowArray table{};
  if (stream.get_schema(&stream, &schema) != 0 || stream.get_next(&stream, &table) != 0) return 1;
  if (std::string(schema.children[0]->format) != "U") return 1;
  const auto* degrees = static_cast<const double*>(table.children[1]->buffers[1]);
  const auto* ends = static_cast<const int64_t*>(table.children[0]->buffers[1]);  // "U": texts with offsets of 64 bits
  const auto* texts = static_cast<const char*>(table.children[0]->buffers[2]);
  for (int64_t i = 0; i < table.length; ++i)
    std::printf("%s %.*s: %.1f\n", schema.children[0]->name, static_cast<int>(ends[i + 1] - ends[i]), texts + ends[i], degrees[i]);
  table.release(&table);
  schema.release(&schema);
  stream.release(&stream);
}
