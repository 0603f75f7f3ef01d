// Small objects of np that no function of the language can make.
#include <fmt/format.h>

#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/numpy/floating_point_errors.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/print_options.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

/// np.mgrid, np.r_: object[index] calls a function.
class Indexable final : public Object {
 public:
  Indexable(std::string name, Value f) : name_(std::move(name)), function_(std::move(f)) {}
  const Type& type() const override {
    static const Type type{"IndexTrick", "numpy", &object_type()};
    return type;
  }
  std::string repr(Interpreter&) override { return "<numpy." + name_ + ">"; }
  Value get_item(Interpreter& in, const Value& index) override { return gasell::call(in, function_, {{index}, {}}); }

 private:
  std::string name_;
  Value function_;
};

/// with np.errstate(…): enter and exit are functions.
class Context final : public Object {
 public:
  Context(std::string name, Value enter, Value exit) : name_(std::move(name)), enter_(std::move(enter)), exit_(std::move(exit)) {}
  const Type& type() const override {
    static const Type type{"context", "numpy", &object_type()};
    return type;
  }
  std::string repr(Interpreter&) override { return fmt::format("<{} object at {}>", name_, fmt::ptr(this)); }
  Value enter(Interpreter& in) override { return gasell::call(in, enter_, {}); }
  bool exit(Interpreter& in, const Value&) override {
    gasell::call(in, exit_, {});
    return false;
  }

 private:
  std::string name_;
  Value enter_, exit_;
};

/// np.finfo(np.float64): named values.
class Record final : public Object {
 public:
  Record(std::string short_form, std::string long_form, Value members)
      : short_(std::move(short_form)), long_(std::move(long_form)), members_(std::move(members)) {}
  const Type& type() const override {
    static const Type type{"record", "numpy", &object_type()};
    return type;
  }
  std::string repr(Interpreter&) override { return short_; }
  std::string str(Interpreter&) override { return long_; }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (const Value* v = members_.as<Dict>()->find(in, make_str(std::string(name)))) return *v;
    return Object::get_attribute(in, name);
  }

 private:
  std::string short_, long_;
  Value members_;
};

/// a.flat: the elements in C order, to read and to write.
class FlatIterator final : public Object {
 public:
  explicit FlatIterator(Array a) : array_(std::move(a)) {}
  const Type& type() const override {
    static const Type type{"flatiter", "numpy", &object_type()};
    return type;
  }
  int64_t length(Interpreter&) override { return array_.size(); }
  Value get_item(Interpreter& in, const Value& index) override { return array_get(in, flat(), index); }
  void set_item(Interpreter& in, const Value& index, const Value& value) override {
    Array elements(array_.reshape({array_.size()}));
    array_set(in, elements, index, value);
    if (!elements.same_memory(array_)) array_.assign(in.engine(), graph::reshape(elements.node(), array_.shape()));
  }
  Value iterate(Interpreter& in) override { return gasell::iterate(in, Value::make<NdArray>(flat())); }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "base") return Value::make<NdArray>(array_);
    if (name == "copy") return gasell::get_attribute(in, Value::make<NdArray>(Array(flat().node())), "copy");
    return Object::get_attribute(in, name);
  }

 private:
  Array flat() const { return array_.reshape({array_.size()}); }
  Array array_;
};

Value indexable(Interpreter& in, Args args) { return Value::make<Indexable>(str(in, args[0]), args[1]); }
Value context(Interpreter& in, Args args) { return Value::make<Context>(str(in, args[0]), args[1], args[2]); }
Value record(Interpreter& in, Args args) { return Value::make<Record>(str(in, args[0]), str(in, args[1]), args[2]); }
Value bare(Interpreter& in, Args args) { return args[0].as<NumpyScalar>() ? python_value(args[0].as<NumpyScalar>()->value(in)) : args[0]; }

/// print_options(changes): np.get_printoptions() as a dict, after setting what the dict `changes` holds.
Value options(Interpreter& in, Args args) {
  PrintOptions& o = print_options();
  auto* changes = args[0].as<Dict>();
  Value result = make_dict();
  const auto option = [&](const char* name, auto read, auto write) {
    if (const Value* v = changes->find(in, make_str(name)); v && !v->is_none()) write(*v);
    result.as<Dict>()->insert(in, make_str(name), read());
  };
  const auto number = [&](const char* name, int64_t& place) {
    option(name, [&] { return Value::of(place); }, [&](const Value& v) { place = to_index(in, v); });
  };
  number("edgeitems", o.edgeitems);
  number("threshold", o.threshold);
  number("linewidth", o.linewidth);
  number("precision", o.precision);
  option("suppress", [&] { return Value::of(o.suppress); }, [&](const Value& v) { o.suppress = truth(in, v); });
  return result;
}

/// warn_of_errors(divide, over, invalid): which of them numbers warn of.
Value warn_of_errors(Interpreter& in, Args args) {
  error_handling() = {truth(in, args[0]), truth(in, args[1]), truth(in, args[2])};
  return {};
}

}  // namespace

Value flat_iterator(Array array) { return Value::make<FlatIterator>(std::move(array)); }

std::vector<NativeFunction> object_functions() {
  return {
      {"indexable", "name, function", indexable, "An object whose [index] calls the function."},
      {"context", "name, enter, exit", context, "An object for `with`."},
      {"record", "short_text, long_text, members", record, "An object with these attributes; the texts are its repr and its str."},
      {"bare", "x", bare, "The Python number of a NumPy scalar; others as they are."},
      {"print_options", "changes", options, "How arrays are printed, after these changes."},
      {"warn_of_errors", "divide, over, invalid", warn_of_errors, "Which floating-point errors of single numbers are warned of."},
  };
}

}  // namespace gasell::numpy
