#include "stdlib/numpy/typed.h"

#include <algorithm>
#include <array>

#include "runtime/session/bytes.h"
#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/numpy/time_scalars.h"

namespace gasell::numpy {
namespace {

const LibraryClass* class_of_typed(const Value& v) {
  const auto* object = v.as<LibraryObject>();
  if (!object) return nullptr;
  const auto* made_by = object->class_value().as<LibraryClass>();
  return made_by->texts().starts_with("_typed.") ? made_by : nullptr;
}

/// "M8", "<m8[s]", "datetime64[D]": without a look at the unit.
bool names_times(std::string_view name) {
  if (name.starts_with('<') || name.starts_with('=') || name.starts_with('>')) name.remove_prefix(1);
  static constexpr std::array<std::string_view, 4> kOpenings = {"datetime64", "timedelta64", "M8", "m8"};
  return std::ranges::any_of(kOpenings, [&](std::string_view opening) {
    return name.starts_with(opening) && (name.size() == opening.size() || (name[opening.size()] == '[' && name.ends_with(']')));
  });
}

/// "U5", "<U", "str", "S5", "|S", "bytes".
bool names_texts(std::string_view name) {
  if (name == "str" || name == "bytes") return true;
  if (name.starts_with('<') || name.starts_with('=') || name.starts_with('|')) name.remove_prefix(1);
  return (name.starts_with('U') || name.starts_with('S')) &&
         std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

/// "i4", "(2,3)f8", "3<U5": what stands between commas.
bool names_field(std::string_view format) {
  const auto skip = [&](auto&& among) {
    while (!format.empty() && among(format.front())) format.remove_prefix(1);
  };
  skip([](char c) { return c == ' '; });
  if (format.starts_with('(')) format.remove_prefix(std::min(format.find(')'), format.size() - 1) + 1);
  skip([](char c) { return (c >= '0' && c <= '9') || c == ' '; });
  while (format.ends_with(' ')) format.remove_suffix(1);
  return dtype_from_name(format) || names_texts(format) || names_times(format) || (format.size() > 1 && dtype_from_name(format.substr(1)));
}

/// "i4,f8": formats between commas that stand in no parentheses.
bool names_fields(std::string_view name) {
  if (name.find(',') == std::string_view::npos) return false;
  size_t begin = 0;
  int deep = 0;
  for (size_t at = 0; at <= name.size(); ++at) {
    if (at < name.size()) deep += name[at] == '(' ? 1 : name[at] == ')' ? -1 : 0;
    if (at < name.size() && (name[at] != ',' || deep)) continue;
    if (at > begin ? !names_field(name.substr(begin, at - begin)) : at < name.size()) return false;
    begin = at + 1;
  }
  return true;
}

bool is_record_class(const Value& v) {
  const auto* made_by = v.as<LibraryClass>();
  return made_by && made_by->texts().starts_with("_typed.") && made_by->texts().ends_with("Record");
}

/// [("x", "f8"), …], {"names": …, "formats": …}, {"x": ("f8", 0), …}, (np.record, one of these).
bool names_records(const Value& v) {
  if (const auto* list = v.as<List>()) {
    const auto* field = list->items.empty() ? nullptr : list->items[0].as<Tuple>();
    if (!field || field->items.size() < 2 || field->items.size() > 3) return false;
    const auto* titled = field->items[0].as<Tuple>();
    return field->items[0].as<Str>() || (titled && !titled->items.empty() && titled->items[0].as<Str>());
  }
  if (auto* dict = v.as<Dict>()) {
    return !dict->entries().empty() && std::ranges::all_of(dict->entries(), [](const Dict::Entry& entry) {
      const auto* name = entry.key.as<Str>();
      static constexpr std::array<std::string_view, 6> kParts = {"names", "formats", "offsets", "titles", "itemsize", "aligned"};
      const auto* place = entry.value.as<Tuple>();  // (format, offset)
      return name && (std::ranges::find(kParts, name->value) != kParts.end() ||
                      (place && place->items.size() >= 2 && !place->items[0].is_int() && place->items[1].is_int()));
    });
  }
  const auto* pair = v.as<Tuple>();
  return pair && pair->items.size() == 2 && is_record_class(pair->items[0]);
}

bool names_typed(const Value& v) {
  if (const auto* s = v.as<Str>()) return names_times(s->value) || names_texts(s->value) || names_fields(s->value);
  if (names_records(v)) return true;
  const auto* type = v.as<TypeObject>();
  return type && (&type->described == &datetime64_type() || &type->described == &timedelta64_type() || &type->described == &str_type() ||
                  &type->described == &bytes_type());
}

/// Lists are looked at no deeper than that, and no further than their first elements.
constexpr int kMostDepth = 4;
constexpr size_t kMostItems = 4;

bool is_typed_to(const Value& v, int depth) {
  if (!v.is_object()) return false;
  if (depth < kMostDepth && (v.as<Str>() || v.as<Bytes>())) return true;
  if (v.as<TimeScalar>() || class_of_typed(v)) return true;
  if (depth == 0) return false;
  const auto* list = v.as<List>();
  const auto* tuple = v.as<Tuple>();
  if (!list && !tuple) return false;
  const std::vector<Value>& items = list ? list->items : tuple->items;
  const size_t looked_at = std::min(items.size(), kMostItems);
  return std::any_of(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(looked_at),
                     [&](const Value& item) { return is_typed_to(item, depth - 1); });
}

class ArrayFunction final : public Builtin {
 public:
  ArrayFunction(const NativeFunction& f, const char* owner) : Builtin(f), owner_(owner) {
    static constexpr std::array<std::string_view, 10> kOfTexts = {
        "array", "asarray", "asanyarray", "ascontiguousarray", "full", "full_like", "where", "as_array", "shape", "ndim"};
    if (std::ranges::find(kOfTexts, f.name) == kOfTexts.end()) return;
    elements_at_ = f.name == "where" || f.name.starts_with("full") ? 1 : 0;
    last_element_at_ = f.name == "where" ? 2 : elements_at_;
  }
  Value call(Interpreter& in, Arguments args) override {
    const auto asks = [](const Value& v) { return is_typed(v) || names_typed(v); };
    const bool text = elements_at_ <= last_element_at_ && has_text(args);
    const bool typed = text || std::ranges::any_of(args.positional, asks) || std::ranges::any_of(args.keywords, [&](const auto& keyword) {
                         return keyword.first != "chunks" && asks(keyword.second);
                       });
    if (!typed) return Builtin::call(in, std::move(args));
    Value keywords = make_dict();
    for (auto& [name, value] : args.keywords) keywords.as<Dict>()->insert(in, make_str(name), std::move(value));
    Value plain = Value::make<Builtin>(function);
    return call_typed(in, "function", {make_str(owner_ + function.name), plain, make_tuple(std::move(args.positional)), keywords});
  }

 private:
  bool has_text(const Arguments& args) const {
    const auto is_text = [](const Value& v) { return v.as<Str>() || v.as<Bytes>(); };
    for (size_t k = elements_at_; k <= last_element_at_ && k < args.positional.size(); ++k)
      if (is_text(args.positional[k])) return true;
    return std::ranges::any_of(args.keywords,
                               [&](const auto& keyword) { return keyword.first == "fill_value" && is_text(keyword.second); });
  }

  const std::string owner_;
  // Where a text among the arguments is an element.
  size_t elements_at_ = 1, last_element_at_ = 0;
};

}  // namespace

Value call_typed(Interpreter& in, const char* name, std::vector<Value> arguments) {
  return call(in, *library_member(in, "_typed", name), {std::move(arguments), {}});
}

Value typed_dtype(Interpreter& in, const Value& v) {
  if (const LibraryClass* made_by = class_of_typed(v); made_by && made_by->texts().ends_with("Dtype")) return v;
  return names_typed(v) ? call_typed(in, "dtype_named", {v}) : Value();
}

bool is_typed_array(const Value& v) {
  const LibraryClass* made_by = class_of_typed(v);
  return made_by && made_by->texts().ends_with("Array");
}

bool is_typed(const Value& v) { return is_typed_to(v, kMostDepth); }

Value make_array_function(const NativeFunction& function, const char* owner) { return Value::make<ArrayFunction>(function, owner); }

}  // namespace gasell::numpy
