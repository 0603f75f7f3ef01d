// Lists, dicts and sets: what they are made by in scripts, and what the texts of prelude/ make their methods of.
#include "compiler/functions/library.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

// ---- lists ----
Value append(Lowering& l, const CallSite& site) {
  l.list_append(site.args[0], site.args[1], site.span);
  return none_value();
}
/// gasell.reserve(l, items, times): room for the items so many times.
Value reserve(Lowering& l, const CallSite& site) {
  const ExprRef items = l.code().bind(site.args.at(1).scalar, "items"),
                times = l.code().bind(ir::cast(site.args.at(2).scalar, DType::i64), "times");
  // Beyond what 62 bits count no memory holds them either.
  const ExprRef most = constant_i64(int64_t{1} << 62);
  const ExprRef fits = both(ScalarOp::le, times, most / both(ScalarOp::max, items, constant_i64(1)));
  l.list_reserve(site.args.at(0), select(fits, items * times, most), site.span);
  return none_value();
}
Value take_last(Lowering& l, const CallSite& site) { return l.list_take_last(site.args.at(0), site.span); }

// ---- dicts and sets ----
/// gasell.find(d, key): its place, or -1; gasell.part(d, place, k): the key (0) or the value (1) there; gasell.put(s, item);
/// gasell.take(d, place): the value, which is removed with its key; gasell.last(d): the last entry's place.
Value find(Lowering& l, const CallSite& site) { return scalar_value(l.table_find(site.args.at(0), site.args.at(1), site.span)); }
Value part(Lowering& l, const CallSite& site) {
  return l.table_part(site.args.at(0), site.args.at(1).scalar, static_cast<size_t>(site.args.at(2).scalar->value.i), site.span);
}
Value put(Lowering& l, const CallSite& site) {
  l.table_put(site.args.at(0), {site.args.at(1)}, site.span);
  return none_value();
}
Value take(Lowering& l, const CallSite& site) { return l.table_take(site.args.at(0), site.args.at(1).scalar, site.span); }
Value last(Lowering& l, const CallSite& site) {
  return scalar_value(l.code().bind(ir::load(site.args.at(0).array->memory, DType::i64, constant_i64(0)) - constant_i64(1), "last"));
}
/// d.keys(), d.values(), d.items().
Value entries(Lowering& l, const CallSite& site) { return iterator_value(l, "table." + site.name, site.args, site.span); }
/// gasell.set(), gasell.dict().
Value empty_table(Lowering& l, const CallSite& site) {
  return l.empty_table(site.key, site.name.substr(site.name.find('.') + 1), site.span);
}

/// numba.typed.Dict(), .empty(key_type, value_type), numba.typed.List(), .empty_list(type).
Type said_type(Lowering& l, const Value& v) {
  if (const auto dtype = dtype_argument(v)) return Type::of(*dtype);
  if (v.outside.kind == Outside::Kind::path && v.outside.text.starts_with("numba.type ")) return v.outside.type;
  l.fail(v.span, "a type of Numba is needed here, as numba.int64, and this is " + describe(v.type));
}
Value typed_dict(Lowering& l, const CallSite& site) {
  if (site.args.empty()) return l.empty_table(site.key, "dict", site.span);
  return library_function("dict")(l, site);
}
Value empty_typed_dict(Lowering& l, const CallSite& site) {
  site.argument(2, "n_keys");
  const Type key = said_type(l, site.args[0]), value = said_type(l, site.args[1]);
  return l.new_table(Type::table_of("dict", Type::tuple_of({key, value})), site.span);
}
/// It comes back as a numba.typed.List.
Value said_list(Value list) {
  list.type.text = "typed";
  return list;
}
Value typed_list(Lowering& l, const CallSite& site) {
  return said_list(site.args.empty() ? l.list_of_display(site.key, {}, site.span) : library_function("list")(l, site));
}
Value empty_typed_list(Lowering& l, const CallSite& site) {
  site.argument(1, "allocated");
  return said_list(l.new_list(Type::list_of(said_type(l, site.args[0])), site.span));
}

}  // namespace

LibraryFunction container_function(const std::string& path) {
  static const LibraryTable kFunctions = {
      {"list.append", "list: list, item", append},
      {"gasell.reserve", kInner, reserve},
      {"gasell.take_last", kInner, take_last},
      {"gasell.find", kInner, find},
      {"gasell.part", kInner, part},
      {"gasell.put", kInner, put},
      {"gasell.take", kInner, take},
      {"gasell.last", kInner, last},
      {"numba.typed.Dict", "iterable: iterable = ()", typed_dict},
      {"numba.typed.Dict.empty", "key_type, value_type, n_keys: int = 0", empty_typed_dict},
      {"numba.typed.List", "iterable: iterable = ()", typed_list},
      {"numba.typed.List.empty_list", "item_type, allocated: int = 0", empty_typed_list},
      {"gasell.set", kInner, empty_table},
      {"gasell.dict", kInner, empty_table},
      {"dict.keys", "d: dict", entries},
      {"dict.values", "d: dict", entries},
      {"dict.items", "d: dict", entries},
  };
  return kFunctions.find(path);
}

}  // namespace gasell::functions
