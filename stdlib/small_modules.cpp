// Modules that Gasell accepts because programs import them, though there is little for them to do: typing, warnings, __future__; and those
// that the library's texts make.
#include <algorithm>
#include <cstdio>

#include "runtime/session/builtins.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/file.h"
#include "runtime/session/objects.h"
#include "runtime/session/str.h"
#include "runtime/session/types.h"
#include "runtime/session/warnings.h"
#include "stdlib/bindings.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/named_tuple.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

/// A name for annotations: List, Optional[int]. Subscripting gives another such name.
/// A name for annotations: it takes parameters, and does nothing else.
class TypingName final : public Object {
 public:
  explicit TypingName(std::string text) : text_(std::move(text)) {}
  const Type& type() const override {
    static const Type t{"_SpecialForm", "typing", &object_type(), {}, {}};
    return t;
  }
  std::string repr(Interpreter&) override { return text_; }
  Value get_item(Interpreter& in, const Value& index) override {
    std::vector<Value> given = index.as<Tuple>() ? index.as<Tuple>()->items : std::vector<Value>{index};
    std::string inner;
    for (const Value& v : given) inner += (inner.empty() ? "" : ", ") + shown(in, v);
    return Value::make<TypingName>(text_ + "[" + inner + "]");
  }
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    if (op != ast::BinaryOp::bit_or) return {};
    return Value::make<TypingName>("typing.Union[" + text_ + ", " + shown(in, other) + "]");
  }
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    if (op != ast::BinaryOp::bit_or) return {};
    return Value::make<TypingName>("typing.Union[" + shown(in, other) + ", " + text_ + "]");
  }
  std::optional<Value> compare(Interpreter&, ast::CompareOp op, const Value& other) override {
    const auto* name = other.as<TypingName>();
    if (!name || op > ast::CompareOp::ne) return {};
    return Value::of((name->text_ == text_) == (op == ast::CompareOp::eq));
  }
  int64_t hash(Interpreter&) override { return static_cast<int64_t>(std::hash<std::string>{}(text_)); }

 private:
  /// As CPython writes it in brackets.
  static std::string shown(Interpreter& in, const Value& v) {
    if (v.same(ellipsis())) return "...";
    if (v.is_none()) return "None";
    if (const auto* list = v.as<List>()) {
      std::string inner;
      for (const Value& item : list->items) inner += (inner.empty() ? "" : ", ") + shown(in, item);
      return "[" + inner + "]";
    }
    if (const auto* text = v.as<Str>()) return "ForwardRef('" + text->value + "')";
    const auto* t = v.as<TypeObject>();
    if (!t) return gasell::repr(in, v);
    const std::string name = gasell::str(in, gasell::get_attribute(in, v, "__qualname__"));
    return t->described.module == "builtins" ? name : t->described.module + "." + name;
  }

  std::string text_;
};

/// warnings.warn: one line on the standard error, unless filters say otherwise.
Value script_warning(Interpreter& in, Args args) {
  const Type* category = exception_type("UserWarning");
  if (const auto* given = args[0].as<Exception>()) category = &given->type();
  if (const auto* t = args[1].as<TypeObject>()) category = &t->described;
  if (!category->derives_from(*exception_type("Warning")))
    raise("TypeError", "category must be a Warning subclass, not '" + category->name + "'");
  warn(in, *category, str(in, args[0]), "", false);
  return {};
}

/// (action, message, category, module, lineno, append) as a filter.
void add_filter(Interpreter& in, const Value& action, const Value& message, const Value& category, const Value& module, const Value& line,
                bool behind) {
  const std::string what = str(in, action);
  const std::vector<std::string> known = {"default", "error", "ignore", "always", "module", "once"};
  if (std::find(known.begin(), known.end(), what) == known.end()) raise("ValueError", "invalid action: " + repr(in, action));
  const auto* type = category.as<TypeObject>();
  if (!category.is_absent() && !type) raise("TypeError", "category must be a Warning subclass");
  Evaluator::session(in).warnings.add(
      {what, str(in, message), type ? &type->described : exception_type("Warning"), str(in, module), static_cast<int>(to_index(in, line))},
      behind);
}

Value filter_warnings(Interpreter& in, Args a) {
  add_filter(in, a[0], a[1], a[2], a[3], a[4], truth(in, a[5]));
  return {};
}
Value simple_filter(Interpreter& in, Args a) {
  add_filter(in, a[0], make_str(""), a[1], make_str(""), a[2], truth(in, a[3]));
  return {};
}

/// `with warnings.catch_warnings():` the filters are what they were afterwards.
class WarningsScope final : public Object {
 public:
  WarningsScope(bool record, Value action, Value category) : record_(record), action_(std::move(action)), category_(std::move(category)) {}
  const Type& type() const override {
    static const Type t{"catch_warnings", "warnings", &object_type(), {}, {}};
    return t;
  }
  Value enter(Interpreter& in) override {
    Warnings& now = Evaluator::session(in).warnings;
    before_ = now;
    now.shown.clear();
    if (record_) now.recorded = make_list({});
    if (!action_.is_none()) add_filter(in, action_, make_str(""), category_, make_str(""), Value::of(0), false);
    return record_ ? now.recorded : Value();
  }
  bool exit(Interpreter& in, const Value&) override {
    Evaluator::session(in).warnings = before_;
    return false;
  }

 private:
  const bool record_;
  const Value action_, category_;
  Warnings before_;
};

}  // namespace

Value make_typing(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"cast", "typ, val", [](Interpreter&, Args a) { return a[1]; }, "The value itself."},
      {"TypeVar", "name, *constraints, bound=None", [](Interpreter& in, Args a) { return Value::make<TypingName>("~" + str(in, a[0])); },
       "A name for annotations."},
  };
  Value module = Value::make<LibraryModule>("typing");
  for (const NativeFunction& f : table) set_member(module, f.name, Value::make<Builtin>(f));
  for (const char* name :
       {"AbstractSet", "Annotated",     "Any",           "AnyStr",   "Awaitable",   "Callable",    "ClassVar",       "Collection",
        "Concatenate", "Container",     "Coroutine",     "Counter",  "DefaultDict", "Deque",       "Dict",           "Final",
        "FrozenSet",   "Generator",     "Hashable",      "IO",       "ItemsView",   "Iterable",    "Iterator",       "KeysView",
        "List",        "Literal",       "LiteralString", "Mapping",  "MappingView", "Match",       "MutableMapping", "MutableSequence",
        "MutableSet",  "Never",         "NoReturn",      "Optional", "OrderedDict", "Pattern",     "Required",       "NotRequired",
        "Reversible",  "Self",          "Sequence",      "Set",      "Sized",       "SupportsAbs", "SupportsFloat",  "SupportsIndex",
        "SupportsInt", "SupportsRound", "TextIO",        "Tuple",    "Type",        "TypeAlias",   "TypeGuard",      "Union",
        "ValuesView"}) {
    set_member(module, name, Value::make<TypingName>(std::string("typing.") + name));
  }
  set_member(module, "Text", type_object(str_type()));
  set_member(module, "NamedTuple", Value::make<Builtin>(typed_named_tuple_function()));
  set_member(module, "TYPE_CHECKING", Value::of(false));
  return module;
}

Value make_io(Interpreter&) {
  Value module = Value::make<LibraryModule>("io");
  set_member(module, "UnsupportedOperation", type_object(unsupported_operation()));
  set_member(module, "open", builtins().at("open"));
  return module;
}

Value make_warnings(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"warn", "message, category=None, stacklevel=1, source=None", script_warning, "Writes a warning to the standard error."},
      {"filterwarnings", "action, message='', category=..., module='', lineno=0, append=False", filter_warnings,
       "What becomes of warnings: 'error', 'ignore', 'always', 'default', 'module', 'once'."},
      {"simplefilter", "action, category=..., lineno=0, append=False", simple_filter, "A filter for all messages."},
      {"resetwarnings", "",
       [](Interpreter& in, Args) {
         Evaluator::session(in).warnings.reset();
         return Value();
       },
       "Forgets all filters."},
      {"catch_warnings", "*, record=False, module=None, action=None, category=..., lineno=0, append=False",
       [](Interpreter& in, Args a) { return Value::make<WarningsScope>(truth(in, a[0]), a[2], a[3]); },
       "A scope for `with`: filters end with it; record=True lists what would be shown."},
  };
  return make_module("warnings", table);
}

namespace {
/// What `from __future__ import …` binds.
class Feature final : public Object {
 public:
  const Type& type() const override {
    static const Type type{"_Feature", "__future__", &object_type()};
    return type;
  }
};
}  // namespace

Value make_future(Interpreter&) {
  Value module = Value::make<Module>("__future__");
  for (const char* name : {"annotations", "division", "print_function", "absolute_import", "unicode_literals", "generator_stop"}) {
    set_member(module, name, Value::make<Feature>());
  }
  return module;
}

}  // namespace gasell
