// Calls. Positional arguments are evaluated onto the value stack; methods of the built-in containers are called without making a bound
// method.
#include <fmt/format.h>

#include "runtime/session/class.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/script_call.h"
#include "runtime/session/type_objects.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

/// Evaluates arguments; false: an exception is on its way.
bool attempt_arguments(Frame& f, const std::vector<NodePtr>& args, std::span<Value> values) {
  for (size_t i = 0; i < args.size(); ++i) {
    values[i] = args[i]->attempt(f);
    if (has_raised(f, values[i])) [[unlikely]]
      return false;
  }
  return true;
}

/// Calls a built-in function with arguments that are evaluated to where it takes them.
Value attempt_by_place(Frame& f, const NativeFunction& native, const Signature& s, Value* self, const std::vector<NodePtr>& args,
                       Span span) {
  const size_t first = self ? 1 : 0;
  StackValues values(f.session.stack, first + s.parameters.size());
  const std::span<Value> all = values.span();
  if (!attempt_arguments(f, args, all.subspan(first))) [[unlikely]]
    return Value::absent();
  if (self) all[0] = std::move(*self);
  for (size_t i = args.size(); i < s.parameters.size(); ++i) all[first + i] = s.defaults[i];
  f.at = span;
  return attempt_bound(f.session, native, all);
}

/// Positional arguments alone, none starred.
struct PlainCall final : Node {
  Value evaluate(Frame& f) const override {
    Value value = attempt(f);
    if (has_raised(f, value)) [[unlikely]]
      throw_raised(f.session);
    return value;
  }
  Value attempt(Frame& f) const override {
    Value function = callee->evaluate(f);
    if (const NativeFunction* native = plain_native(function))
      if (const Signature* s = bound_by_place(*native, false, args.size())) return attempt_by_place(f, *native, *s, nullptr, args, span);
    if (const auto* script = function.exactly<Function>()) {
      return attempt_filled(f.session, *script, args.size(), [&](std::span<Value> values) {
        if (!attempt_arguments(f, args, values)) return false;
        f.at = span;
        return true;
      });
    }
    StackValues values(f.session.stack, args.size());
    if (!attempt_arguments(f, args, values.span())) [[unlikely]]
      return Value::absent();
    f.at = span;
    return attempt_positional(f.session, function, values.span());
  }
  /// What a call of a built-in function or type runs, and nothing else; null for others.
  static const NativeFunction* plain_native(const Value& callee) {
    if (const auto* builtin = callee.exactly<Builtin>()) return builtin->self ? nullptr : &builtin->function;
    return callee.is_object() ? plain_constructor(*callee.object()) : nullptr;
  }
  NodePtr callee;
  std::vector<NodePtr> args;
};

/// Types whose objects have the attributes of their type and no others.
bool has_plain_attributes(const Type& type) {
  static const std::vector<const Type*> types = {&list_type(), &str_type(), &dict_type(), &set_type(), &tuple_type(), &frozenset_type()};
  return std::find(types.begin(), types.end(), &type) != types.end();
}

/// object.name(positional arguments)
struct MethodCall final : Node {
  Value evaluate(Frame& f) const override {
    Value value = attempt(f);
    if (has_raised(f, value)) [[unlikely]]
      throw_raised(f.session);
    return value;
  }
  Value attempt(Frame& f) const override {
    Value self = object->attempt(f);
    if (has_raised(f, self)) [[unlikely]]
      return Value::absent();
    if (of_temporary) {
      f.at = span;
      warn_if_lost(f, self, *name + "()");
    }
    const NativeFunction* native = nullptr;
    if (auto* instance = self.exactly<Instance>()) {
      if (const Function* plain = instance->plain_method(name, lookup)) {
        const Value kept = Value::of(const_cast<Function*>(plain));
        return attempt_filled(f.session, *plain, args.size() + 1, [&](std::span<Value> values) {
          if (!attempt_arguments(f, args, values.subspan(1))) return false;
          values[0] = std::move(self);
          f.at = span;
          return true;
        });
      }
    } else {
      native = native_method(type_of(self));
    }
    Value function;
    if (!native) {
      f.at = name_span;
      function = get_attribute(f.in, self, *name);
    }
    if (native)
      if (const Signature* s = bound_by_place(*native, true, args.size())) return attempt_by_place(f, *native, *s, &self, args, span);
    StackValues values(f.session.stack, args.size());
    if (!attempt_arguments(f, args, values.span())) [[unlikely]]
      return Value::absent();
    f.at = span;
    return native ? attempt_native(f.session, *native, &self, values.span()) : attempt_positional(f.session, function, values.span());
  }
  const NativeFunction* native_method(const Type& type) const {
    if (&type != seen) {
      seen = &type;
      method = has_plain_attributes(type) ? find_method(type, *name) : nullptr;
    }
    return method;
  }
  NodePtr object;
  Name name = nullptr;
  Span name_span;
  std::vector<NodePtr> args;
  bool of_temporary = false;  // an `update`, which has no result, of what is no variable
  mutable ClassLookup lookup;
  mutable const Type* seen = nullptr;
  mutable const NativeFunction* method = nullptr;
};

/// A callee in messages: "__main__.f()", "len()".
std::string name_of(const Value& callee) {
  if (const auto* script = callee.as<Function>()) {
    const Value* module = script->code->globals->find("__name__");
    const auto* module_name = module ? module->as<Str>() : nullptr;
    return (module_name ? module_name->value + "." : "") + script->code->qualified_name + "()";
  }
  if (const auto* builtin = callee.as<Builtin>()) return builtin->function.name + "()";
  if (const auto* type = callee.as<TypeObject>()) return type->described.name + "()";
  return type_of(callee).name + " object";
}

struct GeneralCall final : Node {
  struct Argument {
    NodePtr value;
    bool starred;
  };
  struct Keyword {
    std::string name;  // empty: **value
    NodePtr value;
    Span span;
  };

  Value evaluate(Frame& f) const override {
    std::optional<Object::LostWrite> lost;
    Value function = temporary ? method_of_temporary(f, lost) : callee->evaluate(f);
    Arguments arguments;
    for (const Argument& argument : args) {
      Value v = argument.value->evaluate(f);
      if (!argument.starred) {
        arguments.positional.push_back(std::move(v));
        continue;
      }
      f.at = argument.value->span;
      std::vector<Value> items;
      try {
        items = to_vector(f.in, v);
      } catch (const Raised& raised) {
        if (is_iterable(v) || !is_instance(raised.value, *exception_type("TypeError"))) throw;
        raise("TypeError", fmt::format("{} argument after * must be an iterable, not {}", name_of(function), type_of(v).name));
      }
      for (Value& item : items) arguments.positional.push_back(std::move(item));
    }
    for (const Keyword& keyword : keywords) {
      Value v = keyword.value->evaluate(f);
      f.at = keyword.span;
      if (!keyword.name.empty()) {
        add(arguments, function, keyword.name, std::move(v));
        continue;
      }
      const auto* dict = v.as<Dict>();
      if (!dict) raise("TypeError", fmt::format("{} argument after ** must be a mapping, not {}", name_of(function), type_of(v).name));
      for (const Dict::Entry& entry : dict->entries()) {
        if (entry.key.is_absent()) continue;
        const auto* name = entry.key.as<Str>();
        if (!name) raise("TypeError", "keywords must be strings");
        add(arguments, function, name->value, entry.value);
      }
    }
    f.at = span;
    if (lost && is_in_place(f.in, arguments)) warn(f.in, *lost->category, lost->message, lost->hint, true);
    if (const auto* script = function.exactly<Function>())
      return call_function(f.session, *script, arguments.positional, arguments.keywords);
    return call(f.in, function, std::move(arguments));
  }

  static void add(Arguments& arguments, const Value& function, const std::string& name, Value value) {
    for (const auto& [given, v] : arguments.keywords) {
      if (given != name) continue;
      raise("TypeError", fmt::format("{} got multiple values for keyword argument '{}'", name_of(function), name));
    }
    arguments.keywords.emplace_back(name, std::move(value));
  }

  /// The method, and what to say if it changes the object.
  Value method_of_temporary(Frame& f, std::optional<Object::LostWrite>& lost) const {
    Value self = temporary->evaluate(f);
    f.at = method_span;
    if (self.is_object() && self.object()->is_temporary()) lost = self.object()->lost_write(f.in, method + "()");
    return get_attribute(f.in, self, method);
  }

  bool is_in_place(Interpreter& in, const Arguments& arguments) const {
    if (method == "update") return true;
    for (const auto& [name, value] : arguments.keywords)
      if (name == "inplace") return truth(in, value);
    return false;
  }

  NodePtr callee;  // or, of a method that is told inplace= and whose object is no variable:
  NodePtr temporary;
  std::string method;
  Span method_span;
  std::vector<Argument> args;
  std::vector<Keyword> keywords;
};

}  // namespace

NodePtr lower_call(Lowering& l, const ast::Expr& e) {
  const auto& call = std::get<ast::Call>(e.node);
  bool plain = call.keywords.empty();
  for (const ast::ExprRef& arg : call.args) plain = plain && !std::holds_alternative<ast::Starred>(arg->node);
  NodePtr node;
  if (plain) {
    NodePtr callee;
    const auto* attribute = std::get_if<ast::Attribute>(&call.callee->node);
    NodePtr object = attribute ? lower(l, attribute->value) : lower(l, call.callee);
    std::vector<NodePtr> args;
    for (const ast::ExprRef& arg : call.args) args.push_back(lower(l, arg));
    if (attribute) {
      auto method = std::make_unique<MethodCall>();
      method->object = std::move(object);
      method->name = intern(attribute->name);
      method->name_span = attribute->name_span;
      method->of_temporary = attribute->name == "update" && may_be_temporary(*attribute->value);
      method->args = std::move(args);
      node = std::move(method);
    } else {
      auto simple = std::make_unique<PlainCall>();
      simple->callee = std::move(object);
      simple->args = std::move(args);
      node = std::move(simple);
    }
  } else {
    auto general = std::make_unique<GeneralCall>();
    const auto* attribute = std::get_if<ast::Attribute>(&call.callee->node);
    const bool in_place =
        std::any_of(call.keywords.begin(), call.keywords.end(), [](const ast::Keyword& k) { return k.name == "inplace"; });
    if (attribute && (in_place || attribute->name == "update") && may_be_temporary(*attribute->value)) {
      general->temporary = lower(l, attribute->value);
      general->method = attribute->name;
      general->method_span = attribute->name_span;
    } else {
      general->callee = lower(l, call.callee);
    }
    for (const ast::ExprRef& arg : call.args) {
      const auto* starred = std::get_if<ast::Starred>(&arg->node);
      general->args.push_back({lower(l, starred ? starred->value : arg), starred != nullptr});
    }
    for (const ast::Keyword& keyword : call.keywords) general->keywords.push_back({keyword.name, lower(l, keyword.value), keyword.span});
    node = std::move(general);
  }
  node->span = e.span;
  return node;
}

}  // namespace gasell
