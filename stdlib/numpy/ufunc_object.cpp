#include "stdlib/numpy/ufunc_object.h"

#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

constexpr std::string_view kMethods = "numpy.ufunc";

std::optional<Value> ufunc_attribute(std::string_view attribute, int inputs, int outputs, const Value& identity) {
  if (attribute == "nin") return Value::of(inputs);
  if (attribute == "nout") return Value::of(outputs);
  if (attribute == "nargs") return Value::of(inputs + outputs);
  if (attribute == "identity") return identity;
  return {};
}

Value identity_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::add:
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor:
    case ScalarOp::hypot: return Value::of(0);
    case ScalarOp::mul: return Value::of(1);
    case ScalarOp::bit_and: return Value::of(-1);
    case ScalarOp::logical_and: return Value::of(true);
    case ScalarOp::logical_or:
    case ScalarOp::logical_xor: return Value::of(false);
    default: return {};
  }
}

/// NumPy's __array_ufunc__: an operand that is more than an array says what becomes of it.
std::optional<Value> answer_of_operand(Interpreter& in, Object& ufunc, const Arguments& args) {
  for (const Value& v : args.positional)
    if (auto* object = v.as<LibraryObject>(); object && object->has(in, "__array_ufunc__")) {
      Value keywords = make_dict();
      for (const auto& [name, value] : args.keywords) keywords.as<Dict>()->insert(in, make_str(name), value);
      return object->call_method(in, "__array_ufunc__", {Value::of(&ufunc), make_tuple(args.positional), keywords});
    }
  return {};
}

class NativeUfunc final : public Builtin {
 public:
  explicit NativeUfunc(const NativeFunction& f) : Builtin(f), ufunc_(*find_ufunc(f.name)) {}
  const Type& type() const override { return ufunc_type(); }
  std::string repr(Interpreter&) override { return "<ufunc '" + function.name + "'>"; }
  Value call(Interpreter& in, Arguments args) override {
    if (auto answer = answer_of_operand(in, *this, args)) return *answer;
    return Builtin::call(in, std::move(args));
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (auto own = ufunc_attribute(name, ufunc_.inputs, 1, identity_of(ufunc_.op))) return own;
    return library_method(in, *this, kMethods, name, Builtin::get_attribute(in, name));
  }
  std::vector<std::string> attribute_names(Interpreter& in) override { return with_library_names(Builtin::attribute_names(in), kMethods); }

 private:
  const Ufunc& ufunc_;
};

class LibraryUfunc final : public Object {
 public:
  LibraryUfunc(std::string name, Value f, int inputs, int outputs, Value identity)
      : name_(std::move(name)), function_(std::move(f)), identity_(std::move(identity)), inputs_(inputs), outputs_(outputs) {}
  const Type& type() const override { return ufunc_type(); }
  std::string repr(Interpreter&) override { return "<ufunc '" + name_ + "'>"; }
  Value call(Interpreter& in, Arguments args) override {
    if (auto answer = answer_of_operand(in, *this, args)) return *answer;
    return gasell::call(in, function_, std::move(args));
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "__name__") return make_str(name_);
    if (name == "__call__") return function_;
    if (auto own = ufunc_attribute(name, inputs_, outputs_, identity_)) return own;
    return library_method(in, *this, kMethods, name, Object::get_attribute(in, name));
  }

 private:
  std::string name_;
  Value function_, identity_;
  int inputs_, outputs_;
};

}  // namespace

const Type& ufunc_type() {
  static const Type type{"ufunc", "numpy", &object_type()};
  return type;
}

Value make_ufunc(const NativeFunction& function) { return Value::make<NativeUfunc>(function); }
Value make_library_ufunc(std::string name, Value function, int inputs, int outputs, Value identity) {
  return Value::make<LibraryUfunc>(std::move(name), std::move(function), inputs, outputs, std::move(identity));
}

}  // namespace gasell::numpy
