// operator: the operators as functions.
#include "runtime/session/builtins.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;
using ast::BinaryOp;
using ast::CompareOp;
using ast::UnaryOp;

template <BinaryOp op>
Value two(Interpreter& in, Args a) {
  return binary(in, op, a[0], a[1]);
}
template <BinaryOp op>
Value two_in_place(Interpreter& in, Args a) {
  return in_place(in, op, a[0], a[1]);
}
template <CompareOp op>
Value comparison(Interpreter& in, Args a) {
  return compare(in, op, a[0], a[1]);
}
template <UnaryOp op>
Value one(Interpreter& in, Args a) {
  return unary(in, op, a[0]);
}

/// itemgetter, attrgetter, methodcaller: functions made from names.
class Getter final : public Object {
 public:
  enum class Kind { item, attribute, method };
  Getter(Kind k, std::vector<Value> names, Arguments arguments) : kind_(k), names_(std::move(names)), arguments_(std::move(arguments)) {}
  const Type& type() const override {
    static const Type types[] = {make_type("itemgetter"), make_type("attrgetter"), make_type("methodcaller")};
    return types[static_cast<int>(kind_)];
  }
  std::string repr(Interpreter& in) override {
    std::string out = "operator." + type().name + "(";
    for (size_t i = 0; i < names_.size(); ++i) out += (i ? ", " : "") + gasell::repr(in, names_[i]);
    return out + ")";
  }
  Value call(Interpreter& in, Arguments args) override {
    if (args.positional.size() != 1 || !args.keywords.empty()) {
      raise("TypeError", type().name + " expected 1 argument, got " + std::to_string(args.positional.size()));
    }
    const Value& object = args.positional[0];
    if (kind_ == Kind::method) return gasell::call(in, attribute(in, object, names_[0]), arguments_);
    std::vector<Value> found;
    for (const Value& n : names_) found.push_back(kind_ == Kind::item ? gasell::get_item(in, object, n) : attribute(in, object, n));
    return found.size() == 1 ? found[0] : make_tuple(std::move(found));
  }

 private:
  static Type make_type(const char* name) {
    return Type{
        name, "operator", &object_type(), {}, {{"__call__", [](Interpreter&, const Value& self) { return self; }, nullptr, "Calls it."}}};
  }
  /// "a.b" looks up one after the other.
  static Value attribute(Interpreter& in, Value object, const Value& path) {
    std::string_view rest = path.as<Str>()->value;
    while (true) {
      const size_t dot = rest.find('.');
      object = gasell::get_attribute(in, object, rest.substr(0, dot));
      if (dot == rest.npos) return object;
      rest.remove_prefix(dot + 1);
    }
  }

  Kind kind_;
  std::vector<Value> names_;
  Arguments arguments_;
};

std::vector<Value> with_first(const Value& first, const Value& rest) {
  std::vector<Value> all{first};
  const auto& more = rest.as<Tuple>()->items;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Value attrgetter(Interpreter&, Args a) {
  std::vector<Value> names = with_first(a[0], a[1]);
  for (const Value& n : names) {
    if (!n.as<Str>()) raise("TypeError", "attribute name must be a string");
  }
  return Value::make<Getter>(Getter::Kind::attribute, std::move(names), Arguments{});
}

Value methodcaller(Interpreter&, Args a) {
  if (!a[0].as<Str>()) raise("TypeError", "method name must be a string");
  return Value::make<Getter>(Getter::Kind::method, std::vector<Value>{a[0]}, Arguments{a[1].as<Tuple>()->items, {}});
}

Value count_of(Interpreter& in, Args a) {
  int64_t n = 0;
  const Value items = iterate(in, a[0]);
  while (const auto v = next(in, items)) n += equal(in, *v, a[1]);
  return Value::of(n);
}

Value index_of(Interpreter& in, Args a) {
  const Value items = iterate(in, a[0]);
  for (int64_t i = 0; const auto v = next(in, items); ++i) {
    if (equal(in, *v, a[1])) return Value::of(i);
  }
  raise("ValueError", "sequence.index(x): x not in sequence");
}

std::vector<NativeFunction> functions() {
  constexpr const char *kTwo = "a, b, /", *kOne = "a, /";
  return {
      {"add", kTwo, two<BinaryOp::add>, "a + b."},
      {"sub", kTwo, two<BinaryOp::sub>, "a - b."},
      {"mul", kTwo, two<BinaryOp::mul>, "a * b."},
      {"truediv", kTwo, two<BinaryOp::div>, "a / b."},
      {"floordiv", kTwo, two<BinaryOp::floordiv>, "a // b."},
      {"mod", kTwo, two<BinaryOp::mod>, "a % b."},
      {"pow", kTwo, two<BinaryOp::pow>, "a ** b."},
      {"matmul", kTwo, two<BinaryOp::matmul>, "a @ b."},
      {"lshift", kTwo, two<BinaryOp::lshift>, "a << b."},
      {"rshift", kTwo, two<BinaryOp::rshift>, "a >> b."},
      {"and_", kTwo, two<BinaryOp::bit_and>, "a & b."},
      {"or_", kTwo, two<BinaryOp::bit_or>, "a | b."},
      {"xor", kTwo, two<BinaryOp::bit_xor>, "a ^ b."},
      {"concat", kTwo, two<BinaryOp::add>, "a + b of sequences."},
      {"iadd", kTwo, two_in_place<BinaryOp::add>, "a += b."},
      {"isub", kTwo, two_in_place<BinaryOp::sub>, "a -= b."},
      {"imul", kTwo, two_in_place<BinaryOp::mul>, "a *= b."},
      {"itruediv", kTwo, two_in_place<BinaryOp::div>, "a /= b."},
      {"eq", kTwo, comparison<CompareOp::eq>, "a == b."},
      {"ne", kTwo, comparison<CompareOp::ne>, "a != b."},
      {"lt", kTwo, comparison<CompareOp::lt>, "a < b."},
      {"le", kTwo, comparison<CompareOp::le>, "a <= b."},
      {"gt", kTwo, comparison<CompareOp::gt>, "a > b."},
      {"ge", kTwo, comparison<CompareOp::ge>, "a >= b."},
      {"is_", kTwo, comparison<CompareOp::is>, "a is b."},
      {"is_not", kTwo, comparison<CompareOp::is_not>, "a is not b."},
      {"neg", kOne, one<UnaryOp::neg>, "-a."},
      {"pos", kOne, one<UnaryOp::pos>, "+a."},
      {"inv", kOne, one<UnaryOp::invert>, "~a."},
      {"invert", kOne, one<UnaryOp::invert>, "~a."},
      {"not_", kOne, one<UnaryOp::logical_not>, "not a."},
      {"truth", kOne, [](Interpreter& in, Args a) { return Value::of(truth(in, a[0])); }, "Whether a is true."},
      {"abs", kOne, [](Interpreter& in, Args a) { return absolute(in, a[0]); }, "abs(a)."},
      {"index", kOne, [](Interpreter& in, Args a) { return Value::of(to_index(in, a[0])); }, "a as an int."},
      {"contains", kTwo, [](Interpreter& in, Args a) { return Value::of(contains(in, a[0], a[1])); }, "b in a."},
      {"countOf", kTwo, count_of, "How often b is in a."},
      {"indexOf", kTwo, index_of, "Where b first is in a."},
      {"getitem", kTwo, [](Interpreter& in, Args a) { return get_item(in, a[0], a[1]); }, "a[b]."},
      {"setitem", "a, b, c, /", [](Interpreter& in, Args a) { return set_item(in, a[0], a[1], a[2]), Value(); }, "a[b] = c."},
      {"delitem", kTwo, [](Interpreter& in, Args a) { return delete_item(in, a[0], a[1]), Value(); }, "del a[b]."},
      {"itemgetter", "item, /, *items",
       [](Interpreter&, Args a) { return Value::make<Getter>(Getter::Kind::item, with_first(a[0], a[1]), Arguments{}); },
       "A function that takes these items of its argument."},
      {"attrgetter", "attr, /, *attrs", attrgetter, "A function that takes these attributes of its argument."},
      {"methodcaller", "name, /, *args", methodcaller, "A function that calls this method of its argument."},
  };
}

}  // namespace

Value make_operator(Interpreter&) {
  static const std::vector<NativeFunction> table = functions();
  return make_module("operator", table);
}

}  // namespace gasell
