#include "stdlib/numpy/array_flags.h"

#include "lang/diagnostic.h"
#include "runtime/session/types.h"
#include "stdlib/numpy/memory_order.h"

namespace gasell::numpy {
namespace {

class Flags final : public Object {
 public:
  /// Of an array, or of a scalar of NumPy.
  explicit Flags(Value array) : array_(std::move(array)) {}
  const Type& type() const override {
    static const Type type{"flagsobj", "numpy._core.multiarray", &object_type()};
    return type;
  }
  std::string repr(Interpreter&) override {
    std::string text;
    for (const auto& [name, letter] : {std::pair{"C_CONTIGUOUS", 'C'},
                                       {"F_CONTIGUOUS", 'F'},
                                       {"OWNDATA", 'O'},
                                       {"WRITEABLE", 'W'},
                                       {"ALIGNED", 'A'},
                                       {"WRITEBACKIFCOPY", 'X'}})
      text += std::string("  ") + name + " : " + (is(letter) ? "True" : "False") + "\n";
    return text;
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    const auto value = [&](bool v) { return std::optional(Value::of(v)); };
    if (name == "c_contiguous" || name == "contiguous") return value(is('C'));
    if (name == "f_contiguous") return value(is('F'));
    if (name == "owndata") return value(is('O'));
    if (name == "writeable") return value(is('W'));
    if (name == "aligned") return value(is('A'));
    if (name == "writebackifcopy") return value(is('X'));
    if (name == "fnc") return value(is('F') && !is('C'));
    if (name == "forc") return value(is('F') || is('C'));
    if (name == "behaved") return value(is('W'));
    if (name == "carray") return value(is('W') && is('C'));
    if (name == "farray") return value(is('W') && is('F') && !is('C'));
    return Object::get_attribute(in, name);
  }
  void set_attribute(Interpreter& in, std::string_view name, const Value& value) override {
    if (array_.as<NumpyScalar>()) raise("ValueError", "Cannot set flags on array scalars.");
    if (name == "writeable") return set_writable(array_, gasell::truth(in, value));
    Object::set_attribute(in, name, value);
  }
  Value get_item(Interpreter& in, const Value& index) override {
    const std::string name = index.as<Str>() ? index.as<Str>()->value : "";
    for (const auto& [letter, attribute] : kNames)
      if (name == letter || name == attribute.first) return *get_attribute(in, attribute.second);
    raise("KeyError", "Unknown flag");
  }
  void set_item(Interpreter& in, const Value& index, const Value& value) override {
    const std::string name = index.as<Str>() ? index.as<Str>()->value : "";
    if (name != "W" && name != "WRITEABLE") raise("KeyError", "Unknown flag");
    set_attribute(in, "writeable", value);
  }
  std::vector<std::string> attribute_names(Interpreter&) override {
    return {"aligned", "behaved", "c_contiguous", "carray",  "contiguous",      "f_contiguous",
            "farray",  "fnc",     "forc",         "owndata", "writebackifcopy", "writeable"};
  }
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override {
    if (op != ast::CompareOp::eq && op != ast::CompareOp::ne) return {};
    auto* flags = other.as<Flags>();
    return Value::of((flags && repr(in) == flags->repr(in)) == (op == ast::CompareOp::eq));
  }

 private:
  static constexpr std::pair<const char*, std::pair<const char*, const char*>> kNames[] = {{"C", {"C_CONTIGUOUS", "c_contiguous"}},
                                                                                           {"F", {"F_CONTIGUOUS", "f_contiguous"}},
                                                                                           {"O", {"OWNDATA", "owndata"}},
                                                                                           {"W", {"WRITEABLE", "writeable"}},
                                                                                           {"A", {"ALIGNED", "aligned"}},
                                                                                           {"X", {"WRITEBACKIFCOPY", "writebackifcopy"}},
                                                                                           {"CA", {"CARRAY", "carray"}},
                                                                                           {"FA", {"FARRAY", "farray"}},
                                                                                           {"B", {"BEHAVED", "behaved"}},
                                                                                           {"FNC", {"FNC", "fnc"}},
                                                                                           {"FORC", {"FORC", "forc"}},
                                                                                           {"CONTIGUOUS", {"CONTIGUOUS", "contiguous"}}};

  bool is(char letter) const {
    if (array_.as<NumpyScalar>()) return std::string_view("CFOA").find(letter) != std::string_view::npos;
    const Array& a = array_.as<NdArray>()->array;
    switch (letter) {
      case 'C': return is_contiguous(a, false);
      case 'F': return is_contiguous(a, true);
      case 'O': return a.owner() == array_.object();
      case 'W': return a.writable();
      case 'A': return true;  // elements lie at multiples of their size
      default: return false;
    }
  }

  Value array_;
};

}  // namespace

Value array_flags(Interpreter&, const Value& array) { return Value::make<Flags>(array); }

Value array_base(Interpreter&, const Value& array) {
  if (array.as<NumpyScalar>()) return {};
  const Array& a = array.as<NdArray>()->array;
  const void* owner = a.owner();
  if (owner == array.object()) return {};
  if (owner) return Value::of(static_cast<NdArray*>(const_cast<void*>(owner)));
  return Value::make<NdArray>(a.whole());  // the array itself is gone, its memory is not
}

void set_writable(const Value& array, bool writable) {
  Array& a = array.as<NdArray>()->array;
  const void* owner = a.owner();
  const bool of_read_only = owner && owner != array.object() && !static_cast<const NdArray*>(owner)->array.writable();
  if (writable && !a.writable() && (a.is_fixed() || of_read_only)) raise("ValueError", "cannot set WRITEABLE flag to True of this array");
  a.set_writable(writable);
}

}  // namespace gasell::numpy
