// Lists in compiled functions: memory of the runtime's that grows (runtime/functions/lists.h), reached through a header of four i64: how
// many items there are, for how many there is room, the address of their slots (slots.h), and how many slots an item has.
#include <algorithm>

#include "compiler/functions/lowering.h"
#include "compiler/functions/slots.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

enum Header : int64_t { kLength, kRoom, kData };

ExprRef field(const Value& list, Header which) { return ir::load(list.array->memory, DType::i64, constant_i64(which)); }

}  // namespace

// ---- types ----
namespace {

/// Whether values of a type are, or hold, what may come from the displays of these origins: what is put into itself has no type.
bool holds(const Type& type, const Origins& origins) {
  for (const auto& key : type.origins.keys)
    if (std::find(origins.keys.begin(), origins.keys.end(), key) != origins.keys.end()) return true;
  return std::any_of(type.items.begin(), type.items.end(), [&](const Type& item) { return holds(item, origins); });
}

/// Numbers become those of a container whose type was said.
bool converts(const Type& from, const Type& to) {
  if (from.is_tuple() && to.is_tuple() && from.items.size() == to.items.size())
    return std::equal(from.items.begin(), from.items.end(), to.items.begin(), converts);
  return from == to || (from.is_scalar() && to.is_scalar() && takes_number(to.dtype, from.dtype));
}

/// Dicts, and lists of numba.typed, say what they hold; sets and other lists hold what was in them first.
bool says_its_type(const Type& container) {
  return !container.items.empty() && container.origins.keys.empty() && (container.text == "dict" || container.text == "typed");
}

}  // namespace

void Lowering::need_items(const Value& list, const Type& given, Span at) {
  if (holds(given, list.type.origins))
    fail(at, (list.type.is_list() ? "a list" : "a " + list.type.text) + " cannot hold itself in a compiled function");
  std::optional<Type> item = given;
  if (!list.type.items.empty()) item = unify(list.type.items[0], given);
  if (item && !list.type.items.empty() && *item == list.type.items[0]) return;
  const bool of_set = list.type.is_table() && list.type.text == "set";
  if (!item || list.type.origins.keys.empty())
    fail(at, describe(list.type) + " cannot hold " + describe(of_set ? given.items.at(0) : given),
         list.type.is_list() ? "the items of a list have one type: convert one of them"
                             : "keys have one type, and values have one: convert one of them");
  for (const auto& key : list.type.origins.keys) program_.found[key] = *item;
  throw Restart{};
}

void Lowering::take_item(const Value& container, const Type& given, Span at) {
  if (!says_its_type(container.type) || !converts(given, container.type.items[0])) need_items(container, given, at);
}

Type Lowering::item_type(const Value& list, Span at) {
  if (!list.type.items.empty()) return list.type.items[0];
  throw Unknown{at,
                "nothing says what the items of this " + (list.type.is_list() ? "list" : list.type.text) + " are: nothing is added to it"};
}

// ---- making ----
Value Lowering::new_list(const Type& type, Span at) {
  if (program_.options.cuda) unsupported(at, "a list in a kernel", "use cuda.local.array");
  Value v;
  v.type = type;
  int64_t slots = 1, references = 0;
  if (!type.items.empty()) {
    const Type& item = type.items[0];
    slots = slots_of(item);
    std::function<bool(const Type&)> holds_values = [&](const Type& t) {
      if (t.is_tuple() || t.kind == Kind::optional) return std::all_of(t.items.begin(), t.items.end(), holds_values);
      return t.is_scalar() || t.is_memory();
    };
    if (!holds_values(item) || slots > 60)
      unsupported(at, "a list of " + describe(item).substr(0, 200), "lists hold numbers, arrays, lists and tuples of these");
    references = references_in(item);
  }
  const std::string address = code().fresh("address"), header = code().fresh("list");
  code().emit(ir::call(address, DType::i64, "gasell_list_new", {ir::address("context"), constant_i64(slots), constant_i64(references)}));
  raise_if(both(ScalarOp::eq, ir::variable(address, DType::i64), constant_i64(0)), "MemoryError", "unable to allocate a list", at);
  code().emit(ir::pointer_at(header, DType::i64, ir::variable(address, DType::i64)));
  code().own(header);
  ArrayValue a;
  a.memory = header;
  a.root = ++program_.roots;
  v.array = std::make_shared<ArrayValue>(std::move(a));
  return v;
}

Value Lowering::list_of_display(const void* key, const std::vector<Value>& items, Span at) {
  Type type{.kind = Kind::list, .origins = {{{key, instance_}}}};
  if (const auto known = program_.found.find({key, instance_}); known != program_.found.end()) type.items = {known->second};
  for (const Value& item : items) {
    if (type.items.empty()) {
      type.items = {item.type};
    } else if (const auto both_types = unify(type.items[0], item.type)) {
      type.items = {*both_types};
    } else {
      fail(item.span.end ? item.span : at, "a list of " + describe(type.items[0]) + " cannot hold " + describe(item.type),
           "the items of a list have one type: use a tuple, or convert them");
    }
  }
  const Value list = new_list(type, at);
  for (const Value& item : items) list_append(list, item, at);
  return list;
}

Value Lowering::list_display(const ast::List& n, const ast::ExprRef& e) {
  std::vector<Value> items;
  for (const ast::ExprRef& item : n.items) {
    items.push_back(expression(item));
    if (items.back().lazy) items.back() = materialise(items.back(), item->span);
    if (items.back().scalar) items.back().scalar = code().bind(items.back().scalar);
  }
  return list_of_display(e.get(), items, e->span);
}

Value Lowering::display_as_tuple(const ast::List& n) {
  std::vector<Value> items;
  for (const ast::ExprRef& item : n.items) {
    const auto* inner = std::get_if<ast::List>(&item->node);
    items.push_back(inner ? display_as_tuple(*inner) : expression(item));
    if (items.back().lazy) items.back() = materialise(items.back(), item->span);
    items.back().span = item->span;
  }
  return tuple_value(std::move(items));
}

/// As the loops that it stands for, which are made of it once.
Value Lowering::comprehension(const ast::Comprehension& n, const ast::ExprRef& e) {
  const Span at = e->span;
  if (n.kind == ast::ComprehensionKind::generator) unsupported(at, "a generator", "write a list: [… for … in …]");
  const bool dict = n.kind == ast::ComprehensionKind::dict, set = n.kind == ast::ComprehensionKind::set;
  // A name that no script has; comprehensions within comprehensions have lists of their own.
  const std::string items = ".items" + std::to_string(e->span.begin);
  ast::StmtRef& loops = program_.lasting->comprehensions[e.get()];
  if (!loops) {
    auto expression_of = [&](ast::Node node, Span span) { return std::make_shared<ast::Expr>(span, std::move(node)); };
    const ast::Binding local{ast::Binding::Kind::local, 0};
    const auto result = expression_of(ast::Name{items, local}, at);
    auto s = std::make_shared<ast::Stmt>();
    s->span = n.element->span;
    if (dict) {
      s->node = ast::Assign{{expression_of(ast::Subscript{result, n.element}, n.element->span)}, n.value};
    } else {
      const auto add = expression_of(ast::Attribute{result, set ? "add" : "append", at}, at);
      s->node = ast::ExprStmt{expression_of(ast::Call{add, {n.element}, {}}, n.element->span)};
    }
    for (size_t k = n.clauses.size(); k-- > 0;) {
      const ast::ComprehensionClause& clause = n.clauses[k];
      for (size_t c = clause.conditions.size(); c-- > 0;) {
        auto test = std::make_shared<ast::Stmt>();
        test->span = clause.conditions[c]->span;
        test->node = ast::If{clause.conditions[c], {s}, {}};
        s = std::move(test);
      }
      auto outer = std::make_shared<ast::Stmt>();
      outer->span = clause.iter->span;
      outer->node = ast::For{clause.target, clause.iter, {s}, {}};
      s = std::move(outer);
    }
    loops = std::move(s);
  }
  const Liveness live = find_liveness({loops});
  for (const auto& [key, of] : live.statements) {
    // Nothing that it binds is known behind it.
    Liveness::Of own = of;
    own.after.clear();
    liveness_.statements[key] = own;
  }
  const Environment around = env_;
  const Value made = dict ? empty_table(e.get(), "dict", at) : set ? empty_table(e.get(), "set", at) : list_of_display(e.get(), {}, at);
  env_[items] = {made, nullptr};
  statements({loops});
  env_ = around;
  return made;
}

// ---- looking ----
ExprRef Lowering::list_length(const Value& list) {
  note_access(*list.array, {}, false, here_);
  return code().bind(field(list, kLength), "length");
}

ExprRef Lowering::list_place(const Value& list, const ExprRef& index, Span at) {
  const std::string place = code().fresh("at");
  code().emit(ir::check(place, index, list_length(list), site("IndexError", "list index out of range", at)));
  return ir::variable(place, DType::i64);
}

std::string Lowering::list_data(const Value& list) {
  const std::string data = code().fresh("data");
  code().emit(ir::pointer_at(data, DType::i64, field(list, kData)));
  return data;
}

Value Lowering::list_item(const Value& list, const ExprRef& k, Span at) {
  const Type item = item_type(list, at);
  note_access(*list.array, {}, false, at);
  const Value v = load_slots(item, list_data(list), k * constant_i64(slots_of(item)));
  // It stays while it is used here, whatever becomes of the list.
  for_each_memory(v, [&](const std::string& memory) {
    code().retain(memory);
    code().own(memory);
  });
  return v;
}

Value Lowering::list_slice(const Value& list, const Value& slice, Span at) {
  const Type item = item_type(list, at);
  const auto [first, count, step] = slice_range(*this, slice, list_length(list), at);
  const Value result = new_list(Type::list_of(item), at);
  const ExprRef start = first, by = step;
  for_each({count}, false, [&](const std::vector<ExprRef>& i) { list_append(result, list_item(list, start + i[0] * by, at), at); });
  return result;
}

// ---- changing ----
void Lowering::list_reserve(const Value& list, const ExprRef& items, Span at) {
  const std::string refused = code().fresh("refused");
  code().emit(ir::call(refused, DType::boolean, "gasell_list_grow", {ir::address("context"), ir::address(list.array->memory), items}));
  raise_if(ir::variable(refused, DType::boolean), "MemoryError", "unable to allocate a list", at);
}

void Lowering::list_append(const Value& list, const Value& given, Span at) {
  take_item(list, given.type, at);
  note_access(*list.array, {}, true, at);
  const Type& type = list.type.items[0];
  const Value v = convert(given.lazy ? materialise(given, at) : given, type);
  const ExprRef length = code().bind(field(list, kLength), "length");
  const std::string& header = list.array->memory;
  code().open();
  list_reserve(list, length + constant_i64(1), at);
  ir::Body grow = code().close();
  code().emit(ir::if_(both(ScalarOp::eq, length, field(list, kRoom)), std::move(grow), {}));
  for_each_memory(v, [&](const std::string& memory) { code().retain(memory); });
  note_addresses(v);
  const std::string data = list_data(list);
  store_slots(code(), data, code().bind(length * constant_i64(slots_of(type)), "slot"), v);
  code().emit(ir::store(header, constant_i64(kLength), length + constant_i64(1)));
}

void Lowering::list_set(const Value& list, const ExprRef& k, const Value& given, Span at) {
  take_item(list, given.type, at);
  note_access(*list.array, {}, true, at);
  const Type& type = list.type.items[0];
  const Value v = convert(given.lazy ? materialise(given, at) : given, type);
  const std::string data = list_data(list);
  const ExprRef slot = code().bind(k * constant_i64(slots_of(type)), "slot");
  if (references_in(type)) {
    for_each_memory(v, [&](const std::string& memory) { code().retain(memory); });
    for_each_memory(load_slots(type, data, slot), [&](const std::string& memory) { code().release(memory); });
  }
  note_addresses(v);
  store_slots(code(), data, slot, v);
}

Value Lowering::list_take_last(const Value& list, Span at) {
  const Type item = item_type(list, at);
  note_access(*list.array, {}, true, at);
  const ExprRef last = code().bind(list_length(list) - constant_i64(1), "last");
  raise_if(both(ScalarOp::lt, last, constant_i64(0)), "IndexError", "pop from empty list", at);
  const Value v = load_slots(item, list_data(list), last * constant_i64(slots_of(item)));
  for_each_memory(v, [&](const std::string& memory) { code().own(memory); });
  code().emit(ir::store(list.array->memory, constant_i64(kLength), last));
  return v;
}

/// np.array of a list: of numbers, or of tuples of as many.
Value Lowering::array_of_list(const Value& list, std::optional<DType> dtype, Span at) {
  const Type item = item_type(list, at);
  const bool rows = item.is_tuple() && !item.items.empty() &&
                    std::all_of(item.items.begin(), item.items.end(), [](const Type& t) { return t.is_scalar(); });
  if (!item.is_scalar() && !rows) {
    if (item.is_list()) {
      // Rows of one length.
      const ExprRef n = list_length(list);
      const Type inner = item.items.empty() ? Type::of(DType::f64) : item.items[0];
      if (inner.is_scalar()) {
        const std::string width = code().fresh("width");
        code().emit(ir::var(width, constant_i64(0)));
        code().open();
        code().emit(ir::assign(width, list_length(list_item(list, constant_i64(0), at))));
        ir::Body first = code().close();
        code().emit(ir::if_(both(ScalarOp::gt, n, constant_i64(0)), std::move(first), {}));
        const ExprRef m = code().snapshot(width, DType::i64, "width");
        const Value result = allocate(dtype.value_or(inner.dtype), {n, m}, at);
        for_each({n}, false, [&](const std::vector<ExprRef>& i) {
          const Value row = list_item(list, i[0], at);
          raise_if(both(ScalarOp::ne, list_length(row), m), "ValueError", "the rows of the array have different lengths", at);
          for_each({m}, false, [&](const std::vector<ExprRef>& j) {
            store_element(*result.array, result.type.dtype, {i[0], j[0]}, list_item(row, j[0], at).scalar);
          });
        });
        return result;
      }
    }
    unsupported(at, "an array of " + describe(list.type), "np.stack takes a tuple of arrays");
  }
  DType common = item.is_scalar() ? item.dtype : item.items[0].dtype;
  if (rows)
    for (const Type& t : item.items) common = promote(common, t.dtype);
  const DType d = dtype.value_or(common);
  const ExprRef n = list_length(list);
  std::vector<ExprRef> extents{n};
  if (rows) extents.push_back(constant_i64(static_cast<int64_t>(item.items.size())));
  const Value result = allocate(d, extents, at);
  for_each({n}, false, [&](const std::vector<ExprRef>& i) {
    const Value v = list_item(list, i[0], at);
    if (!rows) return store_element(*result.array, d, {i[0]}, v.scalar);
    for (size_t k = 0; k < v.items.size(); ++k)
      store_element(*result.array, d, {i[0], constant_i64(static_cast<int64_t>(k))}, v.items[k].scalar);
  });
  return result;
}

}  // namespace gasell::functions
