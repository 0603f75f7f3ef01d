#include "stdlib/numpy/ufunc_object.h"

#include <algorithm>
#include <limits>

#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/numpy/time_scalars.h"
#include "stdlib/numpy/typed.h"

namespace gasell::numpy {
namespace {

constexpr std::string_view kMethods = "numpy.ufunc";

Value identity_of(const Ufunc& f) {
  switch (f.op) {
    case ScalarOp::add:
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor:
    case ScalarOp::hypot: return Value::of(0);
    case ScalarOp::mul: return Value::of(1);
    case ScalarOp::bit_and: return Value::of(-1);
    case ScalarOp::logical_and: return Value::of(true);
    case ScalarOp::logical_or:
    case ScalarOp::logical_xor: return Value::of(false);
    default: break;
  }
  if (f.composition == compositions::gcd) return Value::of(0);
  if (f.composition == compositions::logaddexp || f.composition == compositions::logaddexp2)
    return Value::of(-std::numeric_limits<double>::infinity());
  return {};
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

class UfuncObject final : public Builtin {
 public:
  explicit UfuncObject(const NativeFunction& f) : Builtin(f), ufunc_(*find_ufunc(f.name)) {}
  const Type& type() const override { return ufunc_type(); }
  std::string repr(Interpreter&) override { return "<ufunc '" + function.name + "'>"; }
  Value call(Interpreter& in, Arguments args) override {
    if (std::ranges::any_of(args.positional, [](const Value& v) { return v.as<TimeScalar>() != nullptr; })) {
      Value keywords = make_dict();
      for (const auto& [name, value] : args.keywords) keywords.as<Dict>()->insert(in, make_str(name), value);
      return call_typed(in, "ufunc", {Value::of(this), make_tuple(args.positional), keywords});
    }
    if (auto answer = answer_of_operand(in, *this, args)) return *answer;
    return Builtin::call(in, std::move(args));
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    const LoopTable& table = ufunc_.table();
    if (name == "nin") return Value::of(table.inputs);
    if (name == "nout") return Value::of(table.outputs);
    if (name == "nargs") return Value::of(table.inputs + table.outputs);
    if (name == "ntypes") return Value::of(static_cast<int64_t>(table.loops.size()));
    if (name == "identity") return identity_of(ufunc_);
    if (name == "types") {
      std::vector<Value> signatures;
      for (const Loop& loop : table.loops) signatures.push_back(make_str(table.signature(loop)));
      return make_list(std::move(signatures));
    }
    return library_method(in, *this, kMethods, name, Builtin::get_attribute(in, name));
  }
  std::vector<std::string> attribute_names(Interpreter& in) override { return with_library_names(Builtin::attribute_names(in), kMethods); }
  const Ufunc& row() const { return ufunc_; }

 private:
  const Ufunc& ufunc_;
};

}  // namespace

const Type& ufunc_type() {
  static const Type type{"ufunc", "numpy", &object_type()};
  return type;
}

const Ufunc* ufunc_of(const Value& v) {
  const auto* object = v.as<UfuncObject>();
  return object ? &object->row() : nullptr;
}

Value make_ufunc(const NativeFunction& function) { return Value::make<UfuncObject>(function); }

}  // namespace gasell::numpy
