// Dicts and sets in compiled functions: tables of the runtime's (runtime/functions/tables.h), reached through a header of i64. An entry has
// the key's hash in its first slot, then the slots of the key and of the value (slots.h).
#include "compiler/functions/lowering.h"
#include "compiler/functions/slots.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

enum Header : int64_t { kLength, kRoom, kData, kSlots, kRemoved, kChanges };

ExprRef field(const Value& table, Header which) { return ir::load(table.array->memory, DType::i64, constant_i64(which)); }

bool is_key(const Type& t) { return t.is_scalar() || (t.is_tuple() && std::all_of(t.items.begin(), t.items.end(), is_key)); }

bool is_item(const Type& t) {
  if (t.is_tuple() || t.kind == Kind::optional) return std::all_of(t.items.begin(), t.items.end(), is_item);
  return t.is_scalar() || t.is_memory();
}

}  // namespace

// ---- making ----
Value Lowering::new_table(const Type& type, Span at) {
  if (program_.options.cuda) unsupported(at, "a " + type.text + " in a kernel", "use cuda.local.array");
  const TableLayout layout = layout_of_table(type);
  if (!type.items.empty()) {
    const Type &entry = type.items[0], &key = entry.items[0];
    if (!is_key(key))
      unsupported(at, "a " + type.text + " with " + describe(key).substr(0, 200) + (type.text == "dict" ? " as a key" : " in it"),
                  "keys of dicts and items of sets are numbers and tuples of numbers");
    if (entry.items.size() > 1 && !is_item(entry.items[1]))
      unsupported(at, "a dict of " + describe(entry.items[1]).substr(0, 200),
                  "dicts hold numbers, arrays, lists, dicts and tuples of these");
    if (layout.slots > 60)
      unsupported(at, "a " + type.text + " of entries as large as these", "keep the values in arrays, and their places in the dict");
  }
  Value v;
  v.type = type;
  const std::string address = code().fresh("address"), header = code().fresh(type.text);
  code().emit(ir::call(address, DType::i64, "gasell_table_new",
                       {ir::address("context"), constant_i64(layout.slots), constant_i64(layout.references), constant_i64(layout.key_slots),
                        constant_i64(layout.floats)}));
  raise_if(both(ScalarOp::eq, ir::variable(address, DType::i64), constant_i64(0)), "MemoryError", "unable to allocate a " + type.text, at);
  code().emit(ir::pointer_at(header, DType::i64, ir::variable(address, DType::i64)));
  code().own(header);
  ArrayValue a;
  a.memory = header;
  a.root = ++program_.roots;
  v.array = std::make_shared<ArrayValue>(std::move(a));
  return v;
}

Value Lowering::empty_table(const void* key, std::string text, Span at) {
  Type type{.kind = Kind::table, .text = std::move(text), .origins = {{{key, instance_}}}};
  if (const auto known = program_.found.find({key, instance_}); known != program_.found.end()) type.items = {known->second};
  return new_table(type, at);
}

Value Lowering::dict_display(const ast::Dict& n, const ast::ExprRef& e) {
  const Value table = empty_table(e.get(), "dict", e->span);
  for (const auto& [key, value] : n.items) {
    if (!key) unsupported(value->span, "** in a dict", "use update()");
    const Value k = expression(key);
    table_put(table, {k, expression(value)}, e->span);
  }
  return table;
}

Value Lowering::set_display(const ast::Set& n, const ast::ExprRef& e) {
  const Value table = empty_table(e.get(), "set", e->span);
  for (const ast::ExprRef& item : n.items) table_put(table, {expression(item)}, e->span);
  return table;
}

// ---- looking ----
ExprRef Lowering::table_length(const Value& table) {
  note_access(*table.array, {}, false, here_);
  return code().bind(field(table, kLength) - field(table, kRemoved), "length");
}

ExprRef Lowering::table_find(const Value& table, const Value& given, Span at) {
  if (table.type.items.empty()) return constant_i64(-1);
  note_access(*table.array, {}, false, at);
  const Type& type = table.type.items[0].items[0];
  const bool whole_numbers = given.type.is_scalar() && type.is_scalar() && is_whole(given.type.dtype) && is_whole(type.dtype);
  if (!whole_numbers && unify(given.type, type) != type)
    fail(at, "this is " + describe(given.type) + ", and it is looked for in " + describe(table.type), "convert it to the type of the keys");
  const std::string key = code().fresh("key"), place = code().fresh("place");
  code().emit(ir::local_array(key, DType::i64, std::max(slots_of(type), 1)));
  store_slots(code(), key, constant_i64(0), convert(given, type));
  code().emit(ir::call(place, DType::i64, "gasell_table_find", {ir::address(table.array->memory), ir::address(key)}));
  return ir::variable(place, DType::i64);
}

ExprRef Lowering::table_place(const Value& table, const Value& given, Span at) {
  Value key = given;
  if (key.scalar) key.scalar = code().bind(key.scalar, "key");
  const ExprRef place = table_find(table, key, at);
  const bool whole = key.scalar && is_whole(key.scalar->type);
  raise_if(both(ScalarOp::lt, place, constant_i64(0)), "KeyError", whole ? "{0}" : "the key is not there", at,
           whole ? std::vector<ExprRef>{ir::cast(key.scalar, DType::i64)} : std::vector<ExprRef>{});
  return place;
}

Value Lowering::table_part(const Value& table, const ExprRef& place, size_t part, Span at) {
  const Type entry = item_type(table, at);
  if (part >= entry.items.size()) fail(at, "a set has no values");
  note_access(*table.array, {}, false, at);
  const std::string data = code().fresh("data");
  code().emit(ir::pointer_at(data, DType::i64, field(table, kData)));
  const int64_t before = 1 + (part ? slots_of(entry.items[0]) : 0);
  const Value v =
      load_slots(entry.items[part], data, code().bind(place * constant_i64(1 + slots_of(entry)) + constant_i64(before), "slot"));
  // It stays while it is used here, whatever becomes of the table.
  for_each_memory(v, [&](const std::string& memory) {
    code().retain(memory);
    code().own(memory);
  });
  return v;
}

// ---- changing ----
void Lowering::table_put(const Value& table, std::vector<Value> entry, Span at) {
  for (Value& v : entry) {
    if (v.lazy) v = materialise(v, at);
    if (v.scalar) v.scalar = code().bind(v.scalar);
  }
  Value given = tuple_value(std::move(entry));
  given.span = at;
  take_item(table, given.type, at);
  note_access(*table.array, {}, true, at);
  const Type& type = table.type.items[0];
  const Value v = convert(given, type);
  const std::string key = code().fresh("key"), name = code().fresh("place");
  code().emit(ir::local_array(key, DType::i64, std::max(slots_of(type.items[0]), 1)));
  store_slots(code(), key, constant_i64(0), v.items[0]);
  code().emit(
      ir::call(name, DType::i64, "gasell_table_insert", {ir::address("context"), ir::address(table.array->memory), ir::address(key)}));
  const ExprRef place = ir::variable(name, DType::i64);
  raise_if(both(ScalarOp::lt, place, constant_i64(0)), "MemoryError", "unable to allocate a " + table.type.text, at);
  if (type.items.size() < 2) return;
  const Type& value = type.items[1];
  const std::string data = code().fresh("data");
  code().emit(ir::pointer_at(data, DType::i64, field(table, kData)));
  const ExprRef slot = code().bind(place * constant_i64(1 + slots_of(type)) + constant_i64(1 + slots_of(type.items[0])), "slot");
  if (references_in(value)) {
    for_each_memory(v.items[1], [&](const std::string& memory) { code().retain(memory); });
    for_each_memory(load_slots(value, data, slot), [&](const std::string& memory) { code().release(memory); });
  }
  note_addresses(v.items[1]);
  store_slots(code(), data, slot, v.items[1]);
}

Value Lowering::table_take(const Value& table, const ExprRef& place, Span at) {
  const Type entry = item_type(table, at);
  note_access(*table.array, {}, true, at);
  Value v = none_value();
  if (entry.items.size() > 1) {
    const std::string data = code().fresh("data");
    code().emit(ir::pointer_at(data, DType::i64, field(table, kData)));
    v = load_slots(entry.items[1], data,
                   code().bind(place * constant_i64(1 + slots_of(entry)) + constant_i64(1 + slots_of(entry.items[0])), "slot"));
    for_each_memory(v, [&](const std::string& memory) { code().own(memory); });
  }
  code().emit(ir::call("", DType::i64, "gasell_table_remove", {ir::address(table.array->memory), place}));
  return v;
}

// ---- walking along ----
Value Lowering::begin_walk(Value v, Span at) {
  v = there(v, at);
  if (v.type.is_table()) v = iterator_value(*this, "table.keys", {v}, at);
  if (v.type.kind != Kind::iterator) return v;
  if (v.type.text == "reversed" && v.items.size() == 1) {  // from where its end is now, whatever is added meanwhile
    const Value length = scalar_value(code().bind(count_of_items(v.items[0], at), "length"));
    return iterator_value(*this, "reversed", {v.items[0], length}, at);
  }
  if (!v.type.text.starts_with("table.")) {
    for (size_t k = 0; k < v.items.size(); ++k) {
      v.items[k] = begin_walk(std::move(v.items[k]), at);
      v.type.items[k] = v.items[k].type;
    }
    return v;
  }
  const Value& table = v.items[0];
  item_type(table, at);
  code().emit(ir::call("", DType::i64, "gasell_table_settle", {ir::address(table.array->memory)}));
  return iterator_value(*this, v.type.text, {table, scalar_value(code().bind(field(table, kChanges), "changes"))}, at);
}

ExprRef Lowering::count_of_entries(const Value& walk, Span at) {
  const Value& table = walk.items[0];
  const bool dict = table.type.text == "dict";
  if (walk.items.size() > 1)
    raise_if(both(ScalarOp::ne, field(table, kChanges), walk.items[1].scalar), "RuntimeError",
             dict ? "dictionary changed size during iteration" : "Set changed size during iteration", at);
  return table_length(table);
}

}  // namespace gasell::functions
