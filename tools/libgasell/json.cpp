// Values as JSON, and JSON as values: lists, dicts, texts and numbers that programs hand over whole.
#include <nlohmann/json.hpp>

#include <cmath>

#include "lang/large_stack.h"
#include "runtime/session/dict.h"
#include "runtime/session/objects.h"
#include "tools/array_values.h"
#include "tools/libgasell/handles.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeepest = 1000;

Json json_of(const Scalar& s) {
  switch (kind(s.type)) {
    case 'b': return s.i != 0;
    case 'u': return static_cast<uint64_t>(s.i);
    case 'f':
      if (!std::isfinite(s.c.real())) throw Error("ValueError", "JSON has no number for nan and infinities");
      return s.c.real();
    case 'c': throw Error("TypeError", "Object of type complex is not JSON serializable");
    default: return s.i;
  }
}

/// The elements of the axes from `axis` on, `at` being the first.
Json json_of(const Array::Elements& elements, const graph::Shape& shape, size_t axis, int64_t& at) {
  if (axis == shape.size()) return json_of(elements[at++]);
  Json list = Json::array();
  for (int64_t i = 0; i < shape[axis]; ++i) list.push_back(json_of(elements, shape, axis + 1, at));
  return list;
}

class Writer {
 public:
  explicit Writer(gasell_session& session) : session_(session) {}

  Json json(const Value& value, int depth = 0) {
    if (depth > kDeepest) throw Error("ValueError", "Circular reference detected");
    if (value.is_none()) return nullptr;
    if (value.is_bool()) return value.as_int() != 0;
    if (value.is_int()) return value.as_int();
    if (value.is_float()) return json_of(Scalar::of_float(value.as_float()));
    if (const auto* text = value.as<Str>()) return text->value;
    if (const auto* list = value.as<List>()) return items(list->items, depth);
    if (const auto* tuple = value.as<Tuple>()) return items(tuple->items, depth);
    if (value.as<Dict>()) return entries(value, depth);
    if (const std::optional<Array> array = array_of(value)) {
      int64_t at = 0;
      return json_of(array->elements(session_.engine), array->shape(), 0, at);
    }
    throw Error("TypeError", "Object of type " + type_of(value).name + " is not JSON serializable");
  }

 private:
  Json items(const std::vector<Value>& values, int depth) {
    Json list = Json::array();
    for (const Value& item : values) list.push_back(json(item, depth + 1));
    return list;
  }
  Json entries(const Value& dict, int depth) {
    Interpreter& in = session_.interpreter;
    Json object = Json::object();
    for (const Value& key : to_vector(in, dict)) {
      const auto* text = key.as<Str>();
      if (!text) throw Error("TypeError", "keys must be str, not " + type_of(key).name);
      object[text->value] = json(*dict.as<Dict>()->find(in, key), depth + 1);
    }
    return object;
  }

  gasell_session& session_;
};

Value value_of_json(Interpreter& in, const Json& json) {
  switch (json.type()) {
    case Json::value_t::null: return {};
    case Json::value_t::boolean: return Value::of(json.get<bool>());
    case Json::value_t::number_integer: return Value::of(json.get<int64_t>());
    case Json::value_t::number_unsigned:
      if (json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
        throw Error("OverflowError", "an integer of the JSON does not fit 64 bits with a sign");
      return Value::of(json.get<int64_t>());
    case Json::value_t::number_float: return Value::of(json.get<double>());
    case Json::value_t::string: return make_str(json.get<std::string>());
    case Json::value_t::array: {
      std::vector<Value> items;
      for (const Json& item : json) items.push_back(value_of_json(in, item));
      return make_list(std::move(items));
    }
    default: {
      Value dict = make_dict();
      for (const auto& [key, item] : json.items()) dict.as<Dict>()->insert(in, make_str(key), value_of_json(in, item));
      return dict;
    }
  }
}

/// A member of the module pandas, called.
Value call_pandas(Interpreter& in, const char* name, Value argument) {
  Value function;
  run_on_large_stack([&] { function = get_attribute(in, in.import_module("pandas", nullptr), name); });
  return in.call(function, {std::move(argument)});
}

}  // namespace

gasell_status gasell_bind_json(gasell_session* session, const char* name, const char* text, size_t length, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    require(text || length == 0, "the text is NULL");
    const Json json = Json::parse(text, text + length, nullptr, false);
    if (json.is_discarded()) throw InvalidArgument{"the text is no JSON"};
    run_on_large_stack([&] { session->interpreter.set_global(name, value_of_json(session->interpreter, json)); });
  });
}

gasell_status gasell_value_json(gasell_value* value, const char** text, size_t* length, gasell_error** error) noexcept {
  return guarded(error, value ? value->session : nullptr, [&] {
    require(value && text, "gasell_value_json wants a value and a place for the text");
    run_on_large_stack(
        [&] { value->text = Writer(*value->session).json(value->value).dump(-1, ' ', false, Json::error_handler_t::replace); });
    *text = value->text.c_str();
    if (length) *length = value->text.size();
  });
}

gasell_status gasell_value_lookup(const gasell_value* value, const char* key, gasell_value** item, gasell_error** error) noexcept {
  return guarded(error, value ? value->session : nullptr, [&] {
    require(value && key && item, "gasell_value_lookup wants a value, a key and a place for the item");
    *item = nullptr;
    if (!value->value.is_object()) throw Error("TypeError", "'" + type_of(value->value).name + "' object is not subscriptable");
    Value found;
    Interpreter& in = value->session->interpreter;
    run_on_large_stack([&] {
      try {
        found = value->value.object()->get_item(in, make_str(key));
      } catch (const Raised& raised) {
        throw error_from_exception(in, raised.value);
      }
    });
    *item = new gasell_value{value->session, std::move(found), {}};
  });
}

gasell_status gasell_bind_time(gasell_session* session, const char* name, int64_t nanoseconds, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    Interpreter& in = session->interpreter;
    in.set_global(name, call_pandas(in, "Timestamp", Value::of(nanoseconds)));
  });
}

gasell_status gasell_value_time(const gasell_value* value, int64_t* nanoseconds, gasell_error** error) noexcept {
  return guarded(error, value ? value->session : nullptr, [&] {
    require(value && nanoseconds, "gasell_value_time wants a value and a place for the nanoseconds");
    Interpreter& in = value->session->interpreter;
    const std::string& name = type_of(value->value).name;
    const bool duration = name == "Timedelta" || name == "timedelta" || name == "timedelta64";
    if (!duration && name != "Timestamp" && name != "datetime" && name != "datetime64" && name != "date")
      throw Error("TypeError", "a value of type '" + name + "' is neither a time nor a duration");
    const Value time = call_pandas(in, duration ? "Timedelta" : "Timestamp", value->value);
    Value count;
    run_on_large_stack([&] { count = get_attribute(in, time, "value"); });
    *nanoseconds = count.as_int();
  });
}
