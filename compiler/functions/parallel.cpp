// prange: iterations that do not depend on each other run in parallel; those that might are refused.
#include "compiler/functions/lowering.h"
#include "compiler/functions/terms.h"
#include "lang/ast_visit.h"

namespace gasell::functions {

using namespace terms;
using ir::constant_i64;
using Kind = Type::Kind;

namespace {

/// Where each piece has arrays of its own to reduce into.
constexpr int64_t kPiecesWithArrays = 64;
/// So many partial results are combined first.
constexpr int64_t kGroup = 256;

// ---- reductions ----
/// How a name is reduced: by what its statements in the body do with it.
enum class Reduction : uint8_t { add, mul, bit_and, bit_or, bit_xor, min, max };
const char* symbol(Reduction r) {
  static constexpr const char* kSymbols[] = {"+", "*", "&", "|", "^", "min", "max"};
  return kSymbols[static_cast<int>(r)];
}

std::optional<Reduction> reduction_of(ast::BinaryOp op) {
  using B = ast::BinaryOp;
  switch (op) {
    case B::add:
    case B::sub: return Reduction::add;
    case B::mul: return Reduction::mul;
    case B::bit_and: return Reduction::bit_and;
    case B::bit_or: return Reduction::bit_or;
    case B::bit_xor: return Reduction::bit_xor;
    default: return {};
  }
}

bool is_name(const ast::ExprRef& e, const std::string& name) {
  const auto* n = std::get_if<ast::Name>(&e->node);
  return n && n->id == name;
}
int reads_of(const ast::ExprRef& e, const std::string& name) {
  if (!e) return 0;
  if (std::holds_alternative<ast::Name>(e->node)) return is_name(e, name);
  int count = 0;
  ast::visit_children(*e, [&](ast::ExprRef& child) { count += reads_of(child, name); });
  return count;
}

/// Looks at every statement that uses a name.
class Uses {
 public:
  explicit Uses(const std::string& name) : name_(name) {}
  /// The reduction that all uses are; nullopt: they are something else.
  std::optional<Reduction> find(const ast::Body& body) {
    walk(body);
    return other_ ? std::nullopt : found_;
  }

 private:
  void walk(const ast::Body& body) {
    for (const ast::StmtRef& s : body) {
      if (const auto r = step(*s)) {
        if (found_ && *found_ != *r) other_ = true;
        found_ = r;
        continue;
      }
      ast::visit_children(*s, [&](ast::ExprRef& e) { other_ = other_ || reads_of(e, name_) > 0; }, [&](ast::Body& inner) { walk(inner); });
    }
  }
  /// `name op= e`, `name = name op e`, `name = min(name, e)`, where e does not read the name.
  std::optional<Reduction> step(const ast::Stmt& s) const {
    if (const auto* n = std::get_if<ast::AugAssign>(&s.node)) {
      if (!is_name(n->target, name_) || reads_of(n->value, name_)) return {};
      return reduction_of(n->op);
    }
    const auto* n = std::get_if<ast::Assign>(&s.node);
    if (!n || n->targets.size() != 1 || !is_name(n->targets[0], name_) || reads_of(n->value, name_) != 1) return {};
    if (const auto* b = std::get_if<ast::Binary>(&n->value->node)) {
      const bool left = is_name(b->left, name_), right = is_name(b->right, name_);
      if (!left && !(right && b->op != ast::BinaryOp::sub)) return {};
      return reduction_of(b->op);
    }
    if (const auto* c = std::get_if<ast::Call>(&n->value->node)) {
      const auto* callee = std::get_if<ast::Name>(&c->callee->node);
      if (!callee || c->args.size() != 2 || !(is_name(c->args[0], name_) || is_name(c->args[1], name_))) return {};
      if (callee->id == "min") return Reduction::min;
      if (callee->id == "max") return Reduction::max;
    }
    return {};
  }
  const std::string& name_;
  std::optional<Reduction> found_;
  bool other_ = false;
};

/// What two numbers become; not of min and max.
ScalarOp operation(Reduction r) {
  switch (r) {
    case Reduction::mul: return ScalarOp::mul;
    case Reduction::bit_and: return ScalarOp::bit_and;
    case Reduction::bit_or: return ScalarOp::bit_or;
    case Reduction::bit_xor: return ScalarOp::bit_xor;
    default: return ScalarOp::add;
  }
}

ExprRef identity(Reduction r, DType type, const ExprRef& initial) {
  switch (r) {
    case Reduction::mul: return ir::constant(Scalar::of_int(1).cast(type));
    case Reduction::bit_and: return ir::constant(Scalar::of_int(type == DType::boolean ? 1 : -1).cast(type));
    case Reduction::min:
    case Reduction::max: return initial;
    default: return ir::constant(Scalar::of_int(0).cast(type));
  }
}

}  // namespace

Lowering::Pieces Lowering::pieces_of(const ExprRef& count, int64_t most, bool reduces) {
  ExprRef pieces = constant_i64(most);
  if (reduces) {
    const std::string more = code().fresh("pieces");
    code().emit(ir::call(more, DType::i64, "gasell_pieces", {ir::address("context"), pieces, count}));
    pieces = ir::variable(more, DType::i64);
  }
  Pieces p;
  p.piece = code().bind((count + pieces - constant_i64(1)) / pieces, "piece");
  p.units = code().bind((count + p.piece - constant_i64(1)) / both(ScalarOp::max, p.piece, constant_i64(1)), "units");
  return p;
}

void Lowering::allocate_parts(const std::string& memory, DType type, const ExprRef& count, Span at) {
  code().emit(ir::allocate(memory, type, count, site("MemoryError", "unable to allocate {0} bytes", at)));
  code().own(memory);
}

ExprRef Lowering::combine_parts(const Parts& parts, const ExprRef& units, const ExprRef& initial, std::string_view name) {
  // In groups: rounding errors of as many numbers in a row as GPUs give would add up.
  const std::string total = code().fresh(name), group = code().fresh("group"), j = code().fresh("j"), subtotal = code().fresh("subtotal");
  const auto part_at = [&](const ExprRef& k) { return ir::load(parts.memory, parts.type, k); };
  code().emit(ir::var(total, initial));
  const ExprRef begin = ir::variable(group, DType::i64) * constant_i64(kGroup);
  code().open();
  code().emit(ir::var(subtotal, part_at(begin)));
  code().emit(ir::loop(j, begin + constant_i64(1), both(ScalarOp::min, begin + constant_i64(kGroup), units), ir::LoopKind::serial,
                       {ir::assign(subtotal, parts.combine(ir::variable(subtotal, parts.type), part_at(ir::variable(j, DType::i64))))}));
  code().emit(ir::assign(total, parts.combine(ir::variable(total, parts.type), ir::variable(subtotal, parts.type))));
  ir::Body grouped = code().close();
  code().emit(ir::loop(group, constant_i64(0), (units + constant_i64(kGroup - 1)) / constant_i64(kGroup), ir::LoopKind::serial,
                       std::move(grouped)));
  return code().snapshot(total, parts.type, name);
}

/// break and return cannot leave a loop whose iterations run at the same time.
void Lowering::refuse_leaving(const ast::Body& body, bool inner) {
  for (const ast::StmtRef& s : body) {
    if (std::holds_alternative<ast::Return>(s->node))
      fail(s->span, "return inside prange: its iterations run at the same time", "use range, or note the result and return after the loop");
    if (!inner && std::holds_alternative<ast::Break>(s->node))
      fail(s->span, "break inside prange: its iterations run at the same time", "use range");
    if (std::holds_alternative<ast::FunctionDef>(s->node)) continue;
    const bool loop = std::holds_alternative<ast::For>(s->node) || std::holds_alternative<ast::While>(s->node);
    ast::visit_children(*s, [](ast::ExprRef&) {}, [&](ast::Body& nested) { refuse_leaving(nested, inner || loop); });
  }
}

void Lowering::for_parallel(const ast::For& s, const ast::Stmt* key, const Value& start, const Value& stop, const Value& step) {
  const Span at = s.iter->span;
  const Liveness::Of& live = liveness_.statements.at(key);
  if (!s.orelse.empty()) unsupported(at, "else after prange");
  refuse_leaving(s.body, false);
  // ---- what the names of the body are ----
  const Names bound = assigned_names(s.body), exposed = exposed_names(s.body), targets = target_names(s.target);
  std::map<std::string, Reduction> reductions, array_reductions;
  for (const std::string& name : bound) {
    if (!exposed.count(name) || targets.count(name)) continue;
    const auto known = env_.find(name);
    if (known != env_.end() && known->second.value.type.is_array()) {
      // x += … writes elements: an array that does nothing else in the body is reduced as numbers are.
      if (const auto r = Uses(name).find(s.body); r && *r < Reduction::min && only_augmented(s.body, name)) array_reductions[name] = *r;
      continue;
    }
    const auto r = Uses(name).find(s.body);
    if (!r) {
      if (program_.options.unchecked_parallel) continue;
      fail(at,
           "iterations of this prange depend on each other: '" + name +
               "' is used before it is set in an iteration, so it has the value that another left",
           "set it at the beginning of the iteration, use it only in a reduction (" + name + " += …), or use range");
    }
    if (known == env_.end()) fail(at, "the reduction '" + name + "' has no value before the loop", "set it before: " + name + " = 0");
    reductions[name] = *r;
  }
  Names kept;  // set in the body and read after it: the last iteration's
  for (const std::string& name : bound)
    if (live.after.count(name) && !reductions.count(name) &&
        !(env_.count(name) && env_.at(name).value.type.is_array() && exposed.count(name)))
      kept.insert(name);
  for (const std::string& name : kept)
    if (may_stay_unbound(s.body, name))
      fail(at, "iterations of this prange depend on each other: '" + name + "' is read after the loop, and not every iteration sets it",
           "set it in every iteration, use a reduction such as " + name + " = max(" + name + ", …), or use range");
  const auto combine = [this](Reduction r, const ExprRef& now, const ExprRef& part) {
    if (r == Reduction::min || r == Reduction::max)
      return select(compare_numbers(r == Reduction::min ? ast::CompareOp::lt : ast::CompareOp::gt, part, now), part, now);
    return both(operation(r), now, part);
  };
  // ---- the iterations in pieces ----
  const ExprRef first = code().bind(index_number(start, "prange"), "start"), last = code().bind(index_number(stop, "prange"), "stop"),
                by = code().bind(index_number(step, "prange"), "step");
  raise_if(both(ScalarOp::eq, by, constant_i64(0)), "ValueError", "range() arg 3 must not be zero", at);
  const ExprRef forward = both(ScalarOp::gt, by, constant_i64(0));
  const ExprRef span =
      ir::op(ScalarOp::select, {forward, (last - first + by - constant_i64(1)) / both(ScalarOp::max, by, constant_i64(1)),
                                (first - last - by - constant_i64(1)) / both(ScalarOp::max, constant_i64(0) - by, constant_i64(1))});
  const ExprRef count = code().bind(both(ScalarOp::max, span, constant_i64(0)), "count");
  const auto [piece, units] =
      pieces_of(count, array_reductions.empty() ? kPieces : kPiecesWithArrays, array_reductions.empty() && !reductions.empty());
  const Environment before = env_;
  // ---- the body of a piece ----
  const int outside = code().last_name(), roots = program_.roots;
  std::vector<Access> accesses;
  struct Out {
    std::string name, memory;
    DType type;
  };
  std::vector<Out> partial, final;
  const std::string unit = code().fresh("u"), counter = code().fresh("k");
  const ExprRef u = ir::variable(unit, DType::i64), k = ir::variable(counter, DType::i64);
  ExprRef variable = k;
  std::optional<Meanwhile<bool>> in_region(std::in_place, program_.in_region, true);
  code().open();
  const ExprRef low = code().bind(u * piece, "low"), high = code().bind(both(ScalarOp::min, low + piece, count), "high");
  program_.parallel.regions[unit] = {counter, high->name, count};
  for (const auto& [name, r] : reductions) {
    Value& v = env_.at(name).value;
    if (!v.type.is_scalar()) fail(at, "the reduction '" + name + "' is " + describe(v.type) + ": numbers can be reduced", "");
    const Type type = program_.found.count({key, instance_ + name}) ? program_.found.at({key, instance_ + name}) : v.type;
    v = scalar_value(identity(r, type.dtype, ir::cast(v.scalar, type.dtype)));
  }
  /// The array, its copy in a piece, and the memory for the copies of all pieces.
  struct Copies {
    Value whole, own;
    Reduction r;
    ExprRef count;
    Out memory;
  };
  std::vector<Copies> copies;
  for (const auto& [name, r] : array_reductions) {
    Copies c{env_.at(name).value, {}, r, nullptr, {}};
    const DType dtype = c.whole.type.dtype;
    c.own = allocate(dtype, c.whole.array->extents, at);
    c.count = code().bind(count_of(c.whole.array->extents), "size");
    c.memory = {name, code().fresh("partial"), dtype};
    assign_elements(c.own, scalar_value(identity(r, dtype, nullptr)), at);
    env_.at(name).value = c.own;
    copies.push_back(std::move(c));
  }
  auto flat = [](const Copies& c, const ExprRef& piece_number, const std::vector<ExprRef>& index) {
    const std::vector<ExprRef> strides = c_strides(c.whole.array->extents);
    ExprRef place = piece_number * c.count;
    for (size_t axis = 0; axis < index.size(); ++axis) place = place + index[axis] * strides[axis];
    return place;
  };
  std::optional<Meanwhile<std::vector<Access>*>> noting(std::in_place, program_.accesses, &accesses);
  loop(key, s.body, {}, targets, [&](const Iteration& iteration, Exit&) {
    accesses.clear();
    code().open();
    const ExprRef i = first + k * by;
    iteration.enter();
    if (const auto* target = std::get_if<ast::Name>(&s.target->node)) {
      const std::string name = code().fresh(target->id);
      code().emit(ir::let(name, i));
      variable = ir::variable(name, DType::i64);
      Value item = scalar_value(variable);
      item.span = s.target->span;
      env_[target->id] = {item, nullptr};
    } else {
      fail(s.target->span, "prange has one variable");
    }
    iteration.body();
    ir::Body body = code().close();
    code().emit(ir::loop(counter, low, high, ir::LoopKind::serial, std::move(body)));
  });
  noting.reset();
  for (const Copies& c : copies) {
    for_each(c.own.array->extents, true,
             [&](const std::vector<ExprRef>& index) { code().emit(ir::store(c.memory.memory, flat(c, u, index), element(c.own, index))); });
    program_.stored.insert(c.memory.memory);
  }
  for (const auto& [name, r] : reductions) {
    const Value& v = env_.at(name).value;
    partial.push_back({name, code().fresh("partial"), v.type.dtype});
    program_.parallel.regions[unit].partial[partial.back().memory] = [r = r, combine](const ExprRef& x, const ExprRef& y) {
      return combine(r, x, y);
    };
    code().emit(ir::store(partial.back().memory, u, v.scalar));
    program_.stored.insert(partial.back().memory);
  }
  code().open();
  for (const std::string& name : kept) {
    const Binding& b = env_.at(name);
    if (!b.value.type.is_scalar())
      fail(at, "'" + name + "' is set in this prange and read after it: that works for numbers, and this is " + describe(b.value.type),
           "store it into an array at an index of the loop's variable");
    final.push_back({name, code().fresh("last"), b.value.type.dtype});
    code().emit(ir::store(final.back().memory, constant_i64(0), b.value.scalar));
    program_.stored.insert(final.back().memory);
  }
  ir::Body give = code().close();
  if (!final.empty()) code().emit(ir::if_(both(ScalarOp::eq, high, count), std::move(give), {}));
  ir::Body piece_body = code().close();
  in_region.reset();
  env_ = before;
  // ---- around it ----
  for (const Out& out : partial) allocate_parts(out.memory, out.type, units, at);
  // The size that the copies' code knows is a name of the piece's body.
  for (Copies& c : copies) {
    c.count = count_of(c.whole.array->extents);
    allocate_parts(c.memory.memory, c.memory.type, units * c.count, at);
  }
  for (const Out& out : final) allocate_parts(out.memory, out.type, constant_i64(1), at);
  const ExprRef last_value = first + (count - constant_i64(1)) * by;
  const ExprRef apart =
      program_.options.unchecked_parallel ? boolean(true) : independent(accesses, {variable, {first, last_value}, outside, roots}, at);
  const ir::StmtRef in_parallel = ir::loop(unit, constant_i64(0), units, ir::LoopKind::unit, piece_body);
  if (apart->kind == ir::ExprKind::constant && apart->value.i)
    code().emit(in_parallel);
  else
    code().emit(ir::if_(apart, {in_parallel}, {ir::loop(unit, constant_i64(0), units, ir::LoopKind::serial, piece_body)}));
  // ---- what it leaves ----
  std::string fate = "runs in parallel";
  for (const Out& out : partial) {
    const Reduction r = reductions.at(out.name);
    fate += (&out == &partial[0] ? "; reductions: " : ", ") + out.name + " (" + symbol(r) + ")";
    const auto combined = [&](const ExprRef& a, const ExprRef& b) { return combine(r, a, b); };
    const ExprRef initial = ir::cast(before.at(out.name).value.scalar, out.type);
    Value v = scalar_value(combine_parts({out.memory, out.type, combined}, units, initial, out.name));
    v.span = at;
    env_[out.name] = {v, nullptr};
  }
  for (const Copies& c : copies) {
    fate += (partial.empty() && &c == &copies[0] ? "; reductions: " : ", ") + c.memory.name + " (" + symbol(c.r) + ")";
    const std::string j = code().fresh("j");
    code().open();
    for_each(c.whole.array->extents, true, [&](const std::vector<ExprRef>& index) {
      const ExprRef part = code().bind(ir::load(c.memory.memory, c.memory.type, flat(c, ir::variable(j, DType::i64), index)));
      store_element(*c.whole.array, c.memory.type, index, both(operation(c.r), element(c.whole, index), part));
    });
    ir::Body adds = code().close();
    code().emit(ir::loop(j, constant_i64(0), units, ir::LoopKind::serial, std::move(adds)));
  }
  const ExprRef any = both(ScalarOp::gt, count, constant_i64(0));
  for (const Out& out : final) {
    const ExprRef value = code().bind(ir::load(out.memory, out.type, constant_i64(0)), out.name);
    const auto known = before.find(out.name);
    Binding b;
    if (known != before.end() && known->second.value.type.is_scalar()) {
      const Type both_types = *unify(known->second.value.type, Type::of(out.type));
      b.value = scalar_value(code().bind(
          ir::op(ScalarOp::select, {any, ir::cast(value, both_types.dtype), ir::cast(known->second.value.scalar, both_types.dtype)})));
      if (known->second.defined) b.defined = code().bind(both(ScalarOp::logical_or, known->second.defined, any));
    } else {
      b.value = scalar_value(value);
      b.defined = any;
    }
    env_[out.name] = std::move(b);
  }
  for (const std::string& name : targets) {
    Binding b{scalar_value(code().bind(last_value, name)), any};
    if (live.after.count(name)) env_[name] = std::move(b);
  }
  for (const std::string& name : bound)
    if (!live.after.count(name) && !reductions.count(name) && !array_reductions.count(name)) env_.erase(name);
  if (!(apart->kind == ir::ExprKind::constant && apart->value.i)) fate += ", if its arrays lie apart";
  std::erase_if(program_.loops,
                [&](const Compiled::Loop& l) { return l.span == at && l.source == function_.source; });  // of an earlier attempt
  program_.loops.push_back({at, function_.source, fate, unit});
}

}  // namespace gasell::functions
