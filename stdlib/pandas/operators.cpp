#include "stdlib/pandas/operators.h"

#include <algorithm>
#include <limits>
#include <new>

#include "runtime/frame/run.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;

struct Operator {
  std::string_view name;
  std::string_view on_gpus;  // a function of _gpu's texts, with the host's parameters; it gives None for what is better done by the host
  double bytes_a_row;        // that it moves
  double bytes_a_cell = 0;   // … for each of the columns
  int64_t most_rows = std::numeric_limits<int32_t>::max();
};

constexpr int64_t kAnyRows = std::numeric_limits<int64_t>::max();
constexpr Operator kOperators[] = {
    {"order", "gpu_row_order", 0, 100},
    {"first_in_order", "gpu_first_in_order", 0, 10},
    {"duplicated", "gpu_duplicated", 0, 16},
    {"count_distinct", "gpu_count_distinct", 0, 16},
    {"value_counts", "gpu_counts", 0, 16},
    {"aggregate", "gpu_aggregates", 8},
    {"group_ids", "gpu_group_ids", 8},
    {"group_count", "gpu_group_count", 8},
    {"group_shift", "gpu_group_shift", 8},
    {"group_running", "gpu_group_running", 8},
    {"join", "gpu_join", 16},
    {"window", "gpu_window_column", 24, 0, kAnyRows},
    {"decayed", "gpu_decayed_column", 24, 0, kAnyRows},
    {"rows_where", "gpu_rows_where", 9, 0, kAnyRows},
};

/// That a GPU is too small, or was lost. That something is not there is a fault of the library's.
bool is_of_gpus(const Value& exception) {
  const auto is = [&](std::string_view type) { return is_instance(exception, *exception_type(type)); };
  return is("MemoryError") || (is("RuntimeError") && !is("NotImplementedError") && !is("RecursionError"));
}

/// What the function gives; None where a GPU fails.
Value unless_gpus_fail(Interpreter& in, const Value& function, std::vector<Value> arguments) {
  try {
    return call(in, function, {std::move(arguments), {}});
  } catch (const Raised& raised) {
    if (!is_of_gpus(raised.value)) throw;
  } catch (const Error& error) {
    if (!is_of_gpus(exception_from_error(error))) throw;
  } catch (const std::bad_alloc&) {
  }
  return {};
}

/// unless_gpus_fail(work, *args)
Value unless_they_fail(Interpreter& in, Args args) { return unless_gpus_fail(in, args[0], to_vector(in, args[1])); }

/// run(operator, columns, host, *args): host(*args), or what GPUs give instead.
Value run(Interpreter& in, Args args) {
  const std::vector<Value> columns = to_vector(in, args[1]);
  const int64_t rows = columns.empty() ? 0 : column_of(columns[0]).size();
  std::vector<Value> arguments = to_vector(in, args[3]);
  if (std::optional<Value> made = run_on_gpus(in, gasell::str(in, args[0]), rows, columns.size(), arguments)) return *std::move(made);
  return call(in, args[2], {std::move(arguments), {}});
}

}  // namespace

std::optional<Value> run_on_gpus(Interpreter& in, std::string_view name, int64_t rows, size_t columns, std::vector<Value> arguments) {
  const Operator& op = *std::ranges::find(kOperators, name, &Operator::name);
  const double bytes = (op.bytes_a_row + op.bytes_a_cell * static_cast<double>(columns)) * static_cast<double>(rows);
  if (rows == 0 || rows > op.most_rows || frame::place_of_operator(in.engine(), bytes) == frame::Place::host) return {};
  Value made = unless_gpus_fail(in, *library_member(in, "_gpu", op.on_gpus), std::move(arguments));
  if (made.is_none()) return {};
  return made;
}

std::vector<NativeFunction> operator_functions() {
  return {
      {"run", "operator, columns, host, *args", run, "What an operator gives, on GPUs or by host(*args)."},
      {"unless_gpus_fail", "work, *args", unless_they_fail, "work(*args), or None where a GPU is too small for it, or was lost."},
  };
}

}  // namespace gasell::pandas
