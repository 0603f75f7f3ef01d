#include "compiler/functions/outline.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/functions/host_accesses.h"
#include "compiler/ir/transform.h"

namespace gasell::functions {
namespace {

using ir::constant_i64;
using ir::ExprKind;
using ir::Stmt;
using ir::StmtKind;
using PK = ir::Parameter::Kind;

/// The names that a body uses and does not declare.
class FreeNames {
 public:
  std::map<std::string, DType> arrays, scalars;

  void body(const ir::Body& statements) {
    const auto outer = declared_;
    for (const ir::StmtRef& s : statements) statement(*s);
    declared_ = outer;
  }
  void declare(const std::string& name) { declared_.insert(name); }

 private:
  void array(const std::string& name, DType type) {
    if (!declared_.count(name)) arrays.insert_or_assign(name, type);
  }
  /// An array of which the address is taken: bytes, unless its elements are used, too.
  void memory(const std::string& name) {
    if (!declared_.count(name)) arrays.emplace(name, DType::u8);
  }
  void expression(const ir::ExprRef& e) {
    ir::visit(e, [&](const ir::Expr& part) {
      if (part.kind == ExprKind::variable && !declared_.count(part.name)) scalars.emplace(part.name, part.type);
      if (part.kind == ExprKind::load) array(part.name, part.type);
      if (part.kind == ExprKind::address) memory(part.name);
    });
  }
  void statement(const Stmt& s) {
    for (const ir::ExprRef& e : ir::expressions_of(s)) expression(e);
    switch (s.kind) {
      case StmtKind::store: array(s.name, s.value->type); break;
      case StmtKind::pointer:
        if (!s.source.empty()) array(s.source, s.type);
        declare(s.name);
        break;
      case StmtKind::point: memory(s.source); break;
      case StmtKind::let:
      case StmtKind::var:
      case StmtKind::local_array:
      case StmtKind::check:
      case StmtKind::allocate:
      case StmtKind::call: declare(s.name); break;
      default: break;
    }
    if (s.kind == StmtKind::loop) {
      const auto outer = declared_;
      declare(s.name);
      body(s.body);
      declared_ = outer;
    } else {
      body(s.body);
      body(s.orelse);
    }
  }
  std::set<std::string> declared_;
};

class Outliner {
 public:
  Outliner(Compiled& function, const ParallelLoops& loops, const std::set<std::string>& written, bool may_overlap)
      : function_(function), loops_(loops), written_(written), may_overlap_(may_overlap) {}

  ir::Body body(const ir::Body& statements) {
    ir::Body result;
    for (const ir::StmtRef& s : statements) {
      if (s->kind == StmtKind::loop && s->loop_kind == ir::LoopKind::unit) {
        region(*s, result);
        continue;
      }
      Stmt copy = *s;
      copy.body = body(s->body);
      copy.orelse = body(s->orelse);
      result.push_back(ir::make_statement(std::move(copy)));
    }
    return result;
  }

 private:
  void region(const Stmt& loop, ir::Body& code) {
    FreeNames free;
    free.declare(loop.name);
    free.body(loop.body);
    const std::string number = std::to_string(function_.regions.size());
    ir::Kernel kernel;
    kernel.name = function_.kernel.name + "_region" + number;
    kernel.function = true;
    kernel.fast_math = function_.kernel.fast_math;
    for (const char* own : {"context", "error", "interrupt"}) free.arrays.erase(own);
    const std::string arrays = "arrays_region" + number, scalars = "scalars_region" + number;
    std::vector<ir::ExprRef> addresses, slots;
    for (const auto& [name, type] : free.arrays) {
      kernel.params.push_back({may_overlap_ ? PK::any : written_.count(name) ? PK::out : PK::in, name, type});
      addresses.push_back(ir::address(name));
    }
    for (const auto& [name, type] : free.scalars) {
      kernel.params.push_back({PK::scalar, name, type});
      slot(ir::variable(name, type), slots);
    }
    for (const auto& [name, type] : {std::pair{"context", DType::u8}, {"error", DType::i64}, {"interrupt", DType::u8}}) {
      kernel.params.push_back({PK::any, name, type});
      addresses.push_back(ir::address(name));
    }
    kernel.body = {ir::loop(loop.name, constant_i64(0), ir::variable("units", DType::i64), ir::LoopKind::unit, loop.body)};
    // The number of units comes with the launch; the parameter says so to what maps the region to a grid.
    kernel.params.push_back({PK::scalar, "units", DType::i64});
    code.push_back(ir::let("units_region" + number, loop.end));
    const ir::ExprRef units = ir::variable("units_region" + number, DType::i64);
    slots.push_back(units);
    store_all(arrays, addresses, 3 * addresses.size(), code);
    // Kernels that check bounds find the memories' ends behind their beginnings.
    const auto n = static_cast<int64_t>(addresses.size());
    for (const auto& [first, end] : {std::pair{n, int64_t{0}}, {2 * n, int64_t{-1}}}) {
      const std::string k = arrays + (end ? "_end" : "_begin");
      code.push_back(ir::loop(k, constant_i64(first), constant_i64(first + n), ir::LoopKind::simd,
                              {ir::store(arrays, ir::variable(k, DType::i64), constant_i64(end))}));
    }
    store_all(scalars, slots, slots.size(), code);
    const ir::ExprRef region = constant_i64(static_cast<int64_t>(function_.regions.size()));
    std::vector<ir::ExprRef> extents = grid(loop, free, kernel);
    const bool alone = loop.end->kind == ExprKind::constant && loop.end->value.i == 1 && !loops_.regions.count(loop.name);
    if (alone) {
      code.push_back(ir::call("", DType::i64, "gasell_alone", {ir::address("context"), region, ir::address(arrays), ir::address(scalars)}));
    } else {
      std::vector<ir::ExprRef> args{ir::address("context"), region, units, ir::address(arrays), ir::address(scalars)};
      extents.resize(3, constant_i64(0));
      args.insert(args.end(), extents.begin(), extents.end());
      code.push_back(ir::call("", DType::i64, "gasell_parallel", std::move(args)));
    }
    code.push_back(
        ir::if_(ir::op(ScalarOp::ne, {ir::load("error", DType::i64, constant_i64(0)), constant_i64(0)}), {ir::raise(1, {})}, {}));
    function_.regions.push_back(std::move(kernel));
  }

  /// Whether the runtime keeps memory of its own for the function: lists, and what functions that call themselves work on. It knows nothing
  /// of GPUs.
  static bool keeps_memory(const ir::Body& body) {
    return std::any_of(body.begin(), body.end(), [](const ir::StmtRef& s) {
      return (s->kind == StmtKind::call && (s->source.starts_with("gasell_list") || s->source == "gasell_call")) || keeps_memory(s->body) ||
             keeps_memory(s->orelse);
    });
  }
  /// Adds the region's grid, and gives its extents.
  std::vector<ir::ExprRef> grid(const Stmt& loop, const FreeNames& free, const ir::Kernel& region) {
    ir::Kernel kernel;
    std::optional<Grid> grid = grids_ ? grid_of(loop, region.params, loops_) : std::nullopt;
    if (grid) {
      kernel.name = region.name + "_grid";
      kernel.function = kernel.simt = true;
      kernel.fast_math = region.fast_math;
      for (const auto& [name, type] : free.arrays)
        kernel.params.push_back({may_overlap_ || written_.count(name) ? PK::any : PK::in, name, type});
      kernel.params.push_back({PK::any, "error", DType::i64});
      for (const auto& [name, type] : free.scalars) kernel.params.push_back({PK::scalar, name, type});
      kernel.params.push_back({PK::scalar, "units", DType::i64});
      kernel.body = std::move(grid->body);
    }
    function_.grids.push_back(std::move(kernel));
    for (Compiled::Loop& asked : function_.loops) {
      if (asked.unit != loop.name) continue;
      const size_t axes = grid ? std::max<size_t>(1, grid->extents.size()) : 0;
      asked.fate += !grid       ? "; on the host's cores alone"
                    : axes == 1 ? "; on GPUs, a thread an iteration"
                                : "; on GPUs over " + std::to_string(axes) + " axes";
    }
    return grid ? std::move(grid->extents) : std::vector<ir::ExprRef>();
  }

  static void slot(const ir::ExprRef& e, std::vector<ir::ExprRef>& slots) {
    if (is_complex(e->type)) {
      for (const ScalarOp part : {ScalarOp::real, ScalarOp::imag}) slot(ir::op(part, {e}), slots);
    } else if (is_float(e->type)) {
      slots.push_back(ir::bitcast(ir::cast(e, DType::f64), DType::i64));
    } else {
      slots.push_back(ir::cast(e, DType::i64));
    }
  }
  static void store_all(const std::string& array, const std::vector<ir::ExprRef>& values, size_t size, ir::Body& code) {
    code.push_back(ir::local_array(array, DType::i64, static_cast<int64_t>(size)));
    for (size_t k = 0; k < values.size(); ++k) code.push_back(ir::store(array, constant_i64(static_cast<int64_t>(k)), values[k]));
  }

  Compiled& function_;
  const ParallelLoops& loops_;
  const std::set<std::string>& written_;
  const bool may_overlap_;
  const bool grids_ = !keeps_memory(function_.kernel.body);
};

}  // namespace

void outline_parallel_loops(Compiled& function, const ParallelLoops& loops, const std::set<std::string>& written, bool may_overlap) {
  function.kernel.body = Outliner(function, loops, written, may_overlap).body(function.kernel.body);
  if (std::none_of(function.grids.begin(), function.grids.end(), [](const ir::Kernel& k) { return !k.name.empty(); })) return;
  function.kernel.body = announce_host_accesses(function.kernel.body);
}

}  // namespace gasell::functions
