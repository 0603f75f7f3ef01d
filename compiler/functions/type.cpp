#include "compiler/functions/type.h"

#include <algorithm>

#include "compiler/functions/function.h"

namespace gasell::functions {
namespace {

std::string join(const std::vector<Type>& items, std::string (*text)(const Type&)) {
  std::string result;
  for (const Type& item : items) result += (result.empty() ? "" : ", ") + text(item);
  return result;
}

}  // namespace

std::string to_string(const Type& type) {
  using Kind = Type::Kind;
  switch (type.kind) {
    case Kind::none: return "none";
    case Kind::scalar: return std::string(name_of(type.dtype));
    case Kind::array:
      return std::string(type.read_only ? "readonly " : "") + "array(" + std::string(name_of(type.dtype)) + ", " +
             std::to_string(type.rank) + "d, " + (type.layout == Layout::c ? "C" : "A") + ")";
    case Kind::tuple:
      if (type.named && !type.items.empty() &&
          std::all_of(type.items.begin(), type.items.end(), [&](const Type& t) { return t == type.items[0]; }))
        return type.named->name + "(" + to_string(type.items[0]) + " x " + std::to_string(type.items.size()) + ")";
      if (type.named) return type.named->name + "(" + join(type.items, to_string) + ")";
      if (type.items.empty()) return "Tuple()";
      if (std::all_of(type.items.begin(), type.items.end(), [&](const Type& t) { return t == type.items[0]; }))
        return "UniTuple(" + to_string(type.items[0]) + " x " + std::to_string(type.items.size()) + ")";
      return "Tuple(" + join(type.items, to_string) + ")";
    case Kind::text: return "unicode_type";
    case Kind::function: return "Function(" + type.text + ")";
    case Kind::slice: return "slice";
    case Kind::ellipsis: return "ellipsis";
    case Kind::optional: return "OptionalType(" + to_string(type.items[0]) + ")";
    case Kind::range: return "range_state_int64";
    case Kind::iterator: return type.text + "(" + join(type.items, to_string) + ")";
    case Kind::list:
      if (type.text == "typed") return "ListType[" + (type.items.empty() ? "undefined" : to_string(type.items[0])) + "]";
      return (type.text.empty() ? "" : type.text + " ") + "list(" + (type.items.empty() ? "undefined" : to_string(type.items[0])) +
             ")<iv=None>";
    case Kind::table: {
      const std::vector<Type> entry = type.items.empty() ? std::vector<Type>() : type.items[0].items;
      if (type.text == "set") return "set(" + (entry.empty() ? "undefined" : to_string(entry[0])) + ")";
      return "DictType[" + (entry.empty() ? "undefined,undefined" : to_string(entry[0]) + "," + to_string(entry[1])) + "]<iv=None>";
    }
    case Kind::generator: return "NumPyRandomGeneratorType(NumPyRandomBitGeneratorType(bit_generator))";
  }
  return "";
}

std::string describe(const Type& type) {
  using Kind = Type::Kind;
  switch (type.kind) {
    case Kind::none: return "None";
    case Kind::scalar: return std::string(name_of(type.dtype));
    case Kind::array:
      return std::string(type.read_only ? "a read-only " : "a ") + std::to_string(type.rank) + "-d " + std::string(name_of(type.dtype)) +
             " array";
    case Kind::tuple:
      if (type.named) return "a named tuple " + type.named->name + "(" + join(type.items, describe) + ")";
      return "a tuple (" + join(type.items, describe) + ")";
    case Kind::text: return "a string";
    case Kind::function: return type.text;
    case Kind::slice: return "a slice";
    case Kind::ellipsis: return "...";
    case Kind::optional: return describe(type.items[0]) + " or None";
    case Kind::range: return "a range";
    case Kind::iterator: return type.text + "(…)";
    case Kind::list: return type.items.empty() ? "a list of nothing" : "a list of " + describe(type.items[0]);
    case Kind::table:
      if (type.items.empty()) return "an empty " + type.text;
      if (type.text == "set") return "a set of " + describe(type.items[0].items[0]);
      return "a dict of " + describe(type.items[0].items[0]) + " to " + describe(type.items[0].items[1]);
    case Kind::generator: return "a random generator";
  }
  return "";
}

std::optional<Type> unify(const Type& a, const Type& b) {
  using Kind = Type::Kind;
  if (a == b && a.origins.keys.empty() && b.origins.keys.empty()) return a;
  if (a.kind == Kind::optional || b.kind == Kind::optional || a.is_none() || b.is_none()) {
    auto inner = [](const Type& t) { return t.kind == Kind::optional ? t.items[0] : t; };
    const Type ia = inner(a), ib = inner(b);
    const auto item = ia.is_none() ? std::optional(ib) : ib.is_none() ? std::optional(ia) : unify(ia, ib);
    if (!item || (!item->is_scalar() && !item->is_memory())) return {};
    return Type{.kind = Kind::optional, .items = {*item}};
  }
  if (a.kind != b.kind) return {};
  switch (a.kind) {
    case Kind::scalar: {
      if (a.dtype == DType::boolean || b.dtype == DType::boolean) {
        const DType other = a.dtype == DType::boolean ? b.dtype : a.dtype;
        return Type::of(other);
      }
      return Type::of(promote(a.dtype, b.dtype));
    }
    case Kind::array: {
      if (a.dtype != b.dtype || a.rank != b.rank) return {};
      Type result = a;
      result.layout = a.layout == b.layout ? a.layout : Layout::any;
      result.read_only = a.read_only || b.read_only;
      return result;
    }
    case Kind::table:
      if (a.text != b.text) return {};
      [[fallthrough]];
    case Kind::list: {
      Type result = a.items.empty() ? b : a;
      if (!a.items.empty() && !b.items.empty()) {
        auto item = unify(a.items[0], b.items[0]);
        if (!item) return {};
        // Lists are not converted: those that are known to hold other items stay what they are.
        if ((*item != a.items[0] && a.origins.keys.empty()) || (*item != b.items[0] && b.origins.keys.empty())) return {};
        result.items = {std::move(*item)};
      }
      if (a.text != b.text) result.text.clear();
      result.origins = a.origins;
      for (const auto& key : b.origins.keys)
        if (std::find(result.origins.keys.begin(), result.origins.keys.end(), key) == result.origins.keys.end())
          result.origins.keys.push_back(key);
      return result;
    }
    case Kind::range:
    case Kind::tuple: {
      if (a.items.size() != b.items.size() || a.named != b.named) return {};
      Type result{.kind = a.kind, .named = a.named};
      for (size_t k = 0; k < a.items.size(); ++k) {
        auto item = unify(a.items[k], b.items[k]);
        if (!item) return {};
        result.items.push_back(std::move(*item));
      }
      return result;
    }
    default: return a == b ? std::optional(a) : std::nullopt;
  }
}

DType common_number(DType a, DType b) {
  if (is_complex(a) || is_complex(b) || is_float(a) || is_float(b)) {
    // Of the conversions of uint16 that to float64 is the first that Numba finds.
    auto widened = [](DType d) { return d == DType::u16 ? DType::i32 : d; };
    return promote(widened(a), widened(b));
  }
  if (kind(a) == 'u' && kind(b) == 'u') return DType::u64;
  return DType::i64;
}

bool takes_number(DType container, DType given) {
  if (is_complex(given)) return is_complex(container);
  return !is_float(given) || !is_integer(container);
}

}  // namespace gasell::functions
