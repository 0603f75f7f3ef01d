#include "compiler/functions/slots.h"

#include <algorithm>

#include "compiler/functions/lowering.h"

namespace gasell::functions {

using ir::constant_i64;
using Kind = Type::Kind;

int slots_of(const Type& type) {
  switch (type.kind) {
    case Kind::scalar: return is_complex(type.dtype) ? 2 : 1;
    case Kind::array: return 2 + 2 * type.rank;
    case Kind::list:
    case Kind::table:
    case Kind::generator: return 1;
    case Kind::optional:
    case Kind::tuple: {
      int slots = type.kind == Kind::optional;
      for (const Type& item : type.items) slots += slots_of(item);
      return slots;
    }
    default: return 0;
  }
}

bool has_slots(const Type& type) {
  switch (type.kind) {
    case Kind::range:
    case Kind::iterator:
    case Kind::slice:
    case Kind::ellipsis: return false;
    default: return std::all_of(type.items.begin(), type.items.end(), has_slots);
  }
}

bool has_functions(const Type& type) {
  return type.kind == Kind::function || std::any_of(type.items.begin(), type.items.end(), has_functions);
}

int64_t references_in(const Type& type) {
  if (type.is_memory()) return 1;
  if (!type.is_tuple() && type.kind != Kind::optional) return 0;
  int64_t bits = 0;
  int slot = type.kind == Kind::optional;
  for (const Type& item : type.items) {
    bits |= references_in(item) << slot;
    slot += slots_of(item);
  }
  return bits;
}

namespace {

/// Which slots of a key hold floats, by bits from `slot` on, which moves behind them.
int64_t floats_in(const Type& key, int& slot) {
  if (key.is_scalar()) {
    const int64_t bits = is_complex(key.dtype) ? 3 : is_float(key.dtype) ? 1 : 0;
    const int at = slot;
    slot += slots_of(key);
    return bits << at;
  }
  int64_t bits = 0;
  for (const Type& item : key.items) bits |= floats_in(item, slot);
  return bits;
}

}  // namespace

TableLayout layout_of_table(const Type& table) {
  if (table.items.empty()) return {2, 1, 0, 0};
  const Type& entry = table.items[0];
  int slot = 0;
  const int64_t floats = floats_in(entry.items[0], slot);
  return {1 + slots_of(entry), slot, references_in(entry) << 1, floats};
}

namespace {

ExprRef to_slot(const ExprRef& e) {
  if (is_float(e->type)) return ir::bitcast(ir::cast(e, DType::f64), DType::i64);
  return ir::cast(e, DType::i64);
}

struct Writer {
  Code& code;
  const std::string& memory;
  const ExprRef& first;
  int64_t slot = 0;

  void put(const ExprRef& e) { code.emit(ir::store(memory, first + constant_i64(slot++), e)); }
  void value(const Value& v) {
    switch (v.type.kind) {
      case Kind::scalar:
        if (is_complex(v.type.dtype)) {
          put(to_slot(ir::op(ScalarOp::real, {v.scalar})));
          put(to_slot(ir::op(ScalarOp::imag, {v.scalar})));
        } else {
          put(to_slot(v.scalar));
        }
        break;
      case Kind::array:
        put(ir::address(v.array->memory));
        put(v.array->offset);
        for (const ExprRef& e : v.array->extents) put(e);
        for (const ExprRef& e : v.array->strides) put(e);
        break;
      case Kind::list:
      case Kind::table:
      case Kind::generator: put(ir::address(v.array->memory)); break;
      case Kind::optional: put(ir::cast(v.present, DType::i64)); [[fallthrough]];
      default:
        for (const Value& item : v.items) value(item);
    }
  }
};

}  // namespace

void need_returnable(const Lowering& l, const Type& returned, Span at, bool to_script) {
  if (!has_slots(returned) || (to_script && has_functions(returned)))
    l.fail(at, "a compiled function cannot return " + describe(returned) + ": it lives inside compiled code alone",
           "return numbers, arrays, lists and tuples of these");
}

void store_slots(Code& code, const std::string& memory, const ExprRef& first, const Value& value) {
  Writer{code, memory, first}.value(value);
}

Value Lowering::load_slots(const Type& type, const std::string& memory, const ExprRef& first) {
  int64_t slot = 0;
  auto next = [&](const char* stem) { return code().bind(ir::load(memory, DType::i64, first + constant_i64(slot++)), stem); };
  auto number = [&](DType dtype) {
    const ExprRef bits = next("x");
    return is_float(dtype) ? ir::cast(ir::bitcast(bits, DType::f64), dtype) : ir::cast(bits, dtype);
  };
  /// The memory at an address, which may be that of any array whose address was noted.
  auto memory_at = [&](DType dtype) {
    const std::string name = code().fresh("m");
    code().emit(ir::pointer_at(name, dtype, next("address")));
    program_.points.emplace(name, noted_arrays(dtype));
    return name;
  };
  std::function<Value(const Type&)> take = [&](const Type& t) {
    Value v;
    v.type = t;
    switch (t.kind) {
      case Kind::scalar:
        if (is_complex(t.dtype)) {
          const DType part = real_of(t.dtype);
          const ExprRef re = number(part);
          v.scalar = code().bind(ir::op(ScalarOp::make_complex, {re, number(part)}));
        } else {
          v.scalar = code().bind(number(t.dtype));
        }
        break;
      case Kind::array: {
        ArrayValue a;
        a.memory = memory_at(t.dtype);
        a.offset = next("offset");
        a.root = ArrayValue::kAnywhere;
        for (int k = 0; k < t.rank; ++k) a.extents.push_back(next("extent"));
        for (int k = 0; k < t.rank; ++k) a.strides.push_back(next("stride"));
        if (t.layout == Layout::c) a.strides = c_strides(a.extents);
        a.is_whole();
        v.array = std::make_shared<ArrayValue>(std::move(a));
        break;
      }
      case Kind::list:
      case Kind::table:
      case Kind::generator: {
        ArrayValue a;
        a.memory = memory_at(DType::i64);
        a.root = ArrayValue::kAnywhere;
        v.array = std::make_shared<ArrayValue>(std::move(a));
        break;
      }
      case Kind::optional: v.present = ir::cast(next("there"), DType::boolean); [[fallthrough]];
      default:
        for (const Type& item : t.items) v.items.push_back(take(item));
    }
    return v;
  };
  Value v = take(type);
  if (v.type.kind == Kind::function && v.type.constant) v.outside = *v.type.constant;
  return v;
}

void Lowering::note_addresses(const Value& v) {
  if (v.array && v.type.is_array() && program_.trusted.count(v.type.dtype)) {
    program_.lasting->held_anywhere = true;
    throw Restart{};
  }
  if (v.array && v.type.is_array()) program_.points.emplace(noted_arrays(v.type.dtype), v.array->memory);
  for (const Value& item : v.items) note_addresses(item);
}

}  // namespace gasell::functions
