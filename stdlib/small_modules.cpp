// Modules that Gasell accepts because programs import them, though there is little for them to do: typing, warnings, io (which the
// library's texts make), __future__.
#include <cstdio>

#include "runtime/session/objects.h"
#include "runtime/session/str.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/named_tuple.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

/// A name for annotations: List, Optional[int]. Subscripting gives another such name.
class TypingName final : public Object {
 public:
  explicit TypingName(std::string text) : text_(std::move(text)) {}
  const Type& type() const override {
    static const Type t{"_SpecialForm", "typing", &object_type(), {}, {}};
    return t;
  }
  std::string repr(Interpreter&) override { return text_; }
  Value get_item(Interpreter& in, const Value& index) override {
    const auto shown = [&](const Value& v) {
      const auto* t = v.as<TypeObject>();
      return t ? t->described.name : gasell::repr(in, v);
    };
    std::string inner;
    if (const auto* several = index.as<Tuple>()) {
      for (const Value& v : several->items) inner += (inner.empty() ? "" : ", ") + shown(v);
    } else {
      inner = shown(index);
    }
    return Value::make<TypingName>(text_ + "[" + inner + "]");
  }

 private:
  std::string text_;
};

/// warnings.warn: one line on the standard error.
Value warn(Interpreter& in, Args args) {
  std::string category = "UserWarning";
  if (const auto* t = args[1].as<TypeObject>()) category = t->described.name;
  const std::string line = category + ": " + str(in, args[0]) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return {};
}

Value nothing(Interpreter&, Args) { return {}; }

/// `with warnings.catch_warnings():`
class WarningsScope final : public Object {
 public:
  const Type& type() const override {
    static const Type t{"catch_warnings", "warnings", &object_type(), {}, {}};
    return t;
  }
  Value enter(Interpreter&) override { return {}; }
  bool exit(Interpreter&, const Value&) override { return false; }
};

}  // namespace

Value make_typing(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"cast", "typ, val", [](Interpreter&, Args a) { return a[1]; }, "The value itself."},
      {"TypeVar", "name, *constraints, bound=None", [](Interpreter& in, Args a) { return Value::make<TypingName>("~" + str(in, a[0])); },
       "A name for annotations."},
  };
  Value module = make_module("typing", table);
  for (const char* name : {"Any", "Callable", "Dict", "FrozenSet", "Generator", "Iterable", "Iterator", "List", "Literal", "Mapping",
                           "Optional", "Sequence", "Set", "Tuple", "Type", "Union", "Final", "Annotated", "NoReturn"}) {
    set_member(module, name, Value::make<TypingName>(std::string("typing.") + name));
  }
  set_member(module, "NamedTuple", Value::make<Builtin>(typed_named_tuple_function()));
  set_member(module, "TYPE_CHECKING", Value::of(false));
  return module;
}

Value make_heapq(Interpreter&) { return Value::make<LibraryModule>("heapq"); }
Value make_io(Interpreter&) { return Value::make<LibraryModule>("io"); }

Value make_warnings(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"warn", "message, category=None, stacklevel=1, source=None", warn, "Writes a warning to the standard error."},
      {"filterwarnings", "action, message='', category=None, module='', lineno=0, append=False", nothing,
       "Accepted; Gasell's warnings are errors or nothing."},
      {"simplefilter", "action, category=None, lineno=0, append=False", nothing, "Accepted, as filterwarnings."},
      {"resetwarnings", "", nothing, "Accepted."},
      {"catch_warnings", "*, record=False", [](Interpreter&, Args) { return Value::make<WarningsScope>(); }, "A scope for `with`."},
  };
  return make_module("warnings", table);
}

Value make_future(Interpreter&) {
  Value module = Value::make<Module>("__future__");
  for (const char* name : {"annotations", "division", "print_function", "absolute_import", "unicode_literals", "generator_stop"}) {
    set_member(module, name, Value::of(true));
  }
  return module;
}

}  // namespace gasell
