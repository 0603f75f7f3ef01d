#include "runtime/session/str.h"
#include "stdlib/bindings.h"
#include "stdlib/json/json.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

Value decode_native(Interpreter& in, Args a) { return json::decode(in, a[0], {a[1], a[2], a[3], a[4], a[5]}); }

Value encode_native(Interpreter& in, Args a) {
  json::Style style;
  if (!a[1].is_none()) style.indent = str(in, a[1]);
  style.item_separator = str(in, a[2]);
  style.key_separator = str(in, a[3]);
  style.skip_keys = truth(in, a[4]), style.ascii = truth(in, a[5]), style.check_circular = truth(in, a[6]);
  style.allow_nan = truth(in, a[7]), style.sort_keys = truth(in, a[8]);
  style.fallback = a[9];
  return make_str(json::encode(in, a[0], style));
}

}  // namespace

Value make_json_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"decode", "s, parse_float, parse_int, parse_constant, object_hook, object_pairs_hook", decode_native, "What a text stands for."},
      {"encode", "obj, indent, item_separator, key_separator, skipkeys, ensure_ascii, check_circular, allow_nan, sort_keys, default",
       encode_native, "The text of a value."},
  };
  return make_module("_json", table);
}

Value make_json(Interpreter&) {
  Value module = Value::make<LibraryModule>("json");
  set_member(module, "JSONDecodeError", type_object(json::decode_error_type()));
  return module;
}

}  // namespace gasell
