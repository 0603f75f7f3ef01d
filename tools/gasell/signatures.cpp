#include "tools/gasell/signatures.h"

#include <algorithm>

#include "lang/parameter_rules.h"
#include "lang/parser.h"
#include "lang/tokens.h"
#include "runtime/io/os_error.h"
#include "runtime/session/arguments.h"
#include "runtime/session/function.h"
#include "stdlib/library_object.h"
#include "tools/editor/highlight.h"
#include "tools/gasell/effect_free.h"

namespace gasell::cli {

namespace {

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

/// "a, axis=None, device: Device=None" by the commas that stand in no bracket. Annotations say what the library does with a parameter and
/// are left out.
std::vector<std::string> split_parameters(std::string_view signature) {
  std::vector<std::string> parameters;
  std::string parameter;
  int depth = 0;
  bool annotation = false;
  size_t last = 0;
  const auto finish = [&] {
    if (std::string text = trimmed(parameter); !text.empty()) parameters.push_back(std::move(text));
    parameter.clear();
    annotation = false;
  };
  for (const Token& token : scan_tokens(signature)) {
    const std::string_view text = signature.substr(token.span.begin, token.span.end - token.span.begin);
    depth += token.kind == TokenKind::open ? 1 : token.kind == TokenKind::close ? -1 : 0;
    if (depth == 0 && text == ",") {
      finish();
    } else {
      if (depth == 0 && text == ":") annotation = true;
      if (depth == 0 && text == "=") annotation = false;
      if (!annotation)
        parameter += (parameter.empty() || text == "=" || parameter.ends_with('=') ? "" : std::string(token.span.begin - last, ' ')) +
                     std::string(text);
    }
    last = token.span.end;
  }
  finish();
  return parameters;
}

std::vector<std::string> parameters_of(const ast::FunctionDef& function) {
  using Kind = ast::Parameter::Kind;
  std::vector<std::string> parameters;
  bool had_positional_only = false, had_star = false;
  for (const ast::Parameter& parameter : function.params) {
    if (had_positional_only && parameter.kind != Kind::positional_only) parameters.emplace_back("/"), had_positional_only = false;
    if (parameter.kind == Kind::keyword_only && !had_star) parameters.emplace_back("*"), had_star = true;
    had_positional_only = parameter.kind == Kind::positional_only;
    had_star = had_star || parameter.kind == Kind::var_positional;
    std::string text = (parameter.kind == Kind::var_positional ? "*" : parameter.kind == Kind::var_keyword ? "**" : "") + parameter.name;
    if (parameter.default_value) {
      const auto* literal = std::get_if<ast::StringLiteral>(&parameter.default_value->node);
      text += "=" + (literal ? in_quotes(literal->value) : print(*parameter.default_value));
    }
    parameters.push_back(std::move(text));
  }
  if (had_positional_only) parameters.emplace_back("/");
  return parameters;
}

/// A parameter that may be left out and has no value to show, as Python's help writes it.
void show_missing(std::vector<std::string>& parameters) {
  constexpr std::string_view kMissing = "=missing";
  for (std::string& parameter : parameters)
    if (parameter.ends_with(kMissing)) parameter.replace(parameter.size() - kMissing.size(), kMissing.size(), "=<no value>");
}

CallSignature of_native(const NativeFunction& function) {
  CallSignature signature{function.name, split_parameters(function.signature), function.doc};
  if (!signature.parameters.empty() && signature.parameters[0] == "self") signature.parameters.erase(signature.parameters.begin());
  show_missing(signature.parameters);
  return signature;
}

CallSignature of_function(Interpreter& interpreter, Function& function) {
  CallSignature signature{function.name(), {}, {}};
  if (const ast::FunctionDef* definition = function.definition()) {
    signature.parameters = parameters_of(*definition);
    show_missing(signature.parameters);
  } else {
    signature.parameters = function.parameter_names();
  }
  if (const auto doc = function.get_attribute(interpreter, "__doc__"); doc && doc->as<Str>()) signature.description = doc->as<Str>()->value;
  return signature;
}

void drop_object(CallSignature& signature) {
  if (signature.parameters.empty()) return;
  signature.parameters.erase(signature.parameters.begin());
  if (!signature.parameters.empty() && signature.parameters[0] == "/") signature.parameters.erase(signature.parameters.begin());
}

/// What wraps a function: a bound method's __func__, the __wrapped__ or py_func of a compiled one.
std::optional<Value> wrapped(Interpreter& interpreter, const Value& value, bool& is_bound) {
  if (!value.is_object() || value.as<LibraryObject>() || value.as<Module>()) return std::nullopt;
  if (auto function = value.object()->get_attribute(interpreter, "__func__")) {
    is_bound = true;
    return function;
  }
  if (auto function = value.object()->get_attribute(interpreter, "__wrapped__")) return function;
  if (find_property(type_of(value), "py_func")) return value.object()->get_attribute(interpreter, "py_func");
  return std::nullopt;
}

std::string_view name_of_parameter(std::string_view parameter) {
  const size_t begin = std::min(parameter.find_first_not_of('*'), parameter.size());
  return parameter.substr(begin, parameter.find_first_of("=:", begin) - begin);
}

}  // namespace

std::string CallSignature::text() const {
  std::string out = name + "(";
  for (const std::string& parameter : parameters) out += (out.ends_with('(') ? "" : ", ") + parameter;
  return out + ")";
}

std::vector<std::string> CallSignature::keywords() const {
  std::vector<std::string> names;
  for (const std::string& parameter : parameters) {
    if (parameter == "/") names.clear();
    if (parameter != "/" && !parameter.starts_with('*')) names.emplace_back(name_of_parameter(parameter));
  }
  return names;
}

std::optional<CallSignature> call_signature(Interpreter& interpreter, const Value& value) {
  if (const auto* builtin = value.as<Builtin>()) return of_native(builtin->function);
  if (auto* function = value.as<Function>()) return of_function(interpreter, *function);
  if (auto* made_by = value.as<LibraryClass>()) {
    const Value& maker = made_by->find(interpreter, "__new__");
    const bool is_new = maker.as<Function>() != nullptr;
    Function* function = is_new ? maker.as<Function>() : const_cast<Function*>(made_by->initializer(interpreter));
    if (!function) return std::nullopt;
    CallSignature signature = of_function(interpreter, *function);
    signature.name = made_by->described.name;
    if (!is_new) drop_object(signature);
    return signature;
  }
  if (const auto* type = value.as<TypeObject>()) {
    if (!type->described.constructor) {
      // A class of the script, or an exception: what its __init__ takes.
      const auto init = value.object()->get_attribute(interpreter, "__init__");
      auto* function = init ? init->as<Function>() : nullptr;
      if (!function) return std::nullopt;
      CallSignature signature = of_function(interpreter, *function);
      signature.name = type->described.name;
      drop_object(signature);
      if (const auto doc = value.object()->get_attribute(interpreter, "__doc__"); doc && doc->as<Str>())
        signature.description = doc->as<Str>()->value;
      return signature;
    }
    CallSignature signature = of_native(*type->described.constructor);
    signature.name = type->described.name;
    return signature;
  }
  bool is_bound = false;
  const std::optional<Value> inner = wrapped(interpreter, value, is_bound);
  if (!inner || inner->same(value)) return std::nullopt;
  std::optional<CallSignature> signature = call_signature(interpreter, *inner);
  if (signature && is_bound) drop_object(*signature);
  return signature;
}

std::optional<CallSignature> member_signature(Interpreter& interpreter, const Value& owner, std::string_view name) {
  if (auto* object = owner.as<LibraryObject>()) {
    const auto made_by = object->get_attribute(interpreter, "__class__");
    if (!made_by || !made_by->as<LibraryClass>()) return std::nullopt;
    auto* function = made_by->as<LibraryClass>()->find(interpreter, name).as<Function>();
    if (!function) return std::nullopt;
    CallSignature signature = of_function(interpreter, *function);
    drop_object(signature);
    return signature;
  }
  const Type& type = type_of(owner);
  if (find_property(type, name)) return std::nullopt;
  if (const NativeFunction* method = find_method(type, name)) return of_native(*method);
  if (!owner.is_object()) return std::nullopt;
  const auto value = owner.object()->get_attribute(interpreter, name);
  return value ? call_signature(interpreter, *value) : std::nullopt;
}

CallSignature signature_of_definition(const ast::FunctionDef& definition) { return {definition.name, parameters_of(definition), {}}; }

std::optional<FunctionText> function_text(Interpreter& interpreter, const Value& value) {
  if (const auto* function = value.as<Function>()) {
    const ast::FunctionDef* definition = function->definition();
    if (!definition || !function->source()) return std::nullopt;
    // From the first decorator's line, or the line of the name, to the end of the last statement's line.
    const std::string& text = function->source()->text();
    uint32_t begin = definition->name_span.begin;
    for (const ast::ExprRef& decorator : definition->decorators) begin = std::min(begin, decorator->span.begin);
    const size_t line = text.rfind('\n', begin);
    const uint32_t end = definition->body.empty() ? definition->name_span.end : definition->body.back()->span.end;
    const size_t last = std::min(text.find('\n', end), text.size());
    return FunctionText{function->source(), {static_cast<uint32_t>(line == std::string::npos ? 0 : line + 1), static_cast<uint32_t>(last)}};
  }
  bool is_bound = false;
  const std::optional<Value> inner = wrapped(interpreter, value, is_bound);
  return inner && !inner->same(value) ? function_text(interpreter, *inner) : std::nullopt;
}

std::optional<editor::CallHint> call_hint(Interpreter& interpreter, std::string_view text, size_t cursor) {
  const std::vector<Token> tokens = scan_tokens(text.substr(0, cursor));
  const std::optional<size_t> open = editor::open_bracket(text, tokens, cursor);
  if (!open || *open == 0 || text[tokens[*open].span.begin] != '(') return std::nullopt;
  const std::optional<CallSignature> signature = signature_of_expression(interpreter, primary_before(text, tokens, *open));
  if (!signature) return std::nullopt;
  // Which parameter comes: by its name, or by the commas.
  size_t index = 0;
  int depth = 0;
  std::string_view keyword;
  for (size_t i = *open + 1; i < tokens.size(); ++i) {
    const std::string_view word = text.substr(tokens[i].span.begin, tokens[i].span.end - tokens[i].span.begin);
    depth += tokens[i].kind == TokenKind::open ? 1 : tokens[i].kind == TokenKind::close ? -1 : 0;
    if (depth > 0) continue;
    if (word == ",") ++index, keyword = {};
    if (word == "=" && tokens[i - 1].kind == TokenKind::name)
      keyword = text.substr(tokens[i - 1].span.begin, tokens[i - 1].span.end - tokens[i - 1].span.begin);
  }
  editor::CallHint hint{signature->name + "(", {}};
  size_t position = 0;
  bool found = false;
  for (const std::string& parameter : signature->parameters) {
    if (!hint.text.ends_with('(')) hint.text += ", ";
    const auto begin = static_cast<uint32_t>(hint.text.size());
    hint.text += parameter;
    if (parameter == "/" || parameter == "*") continue;
    const bool is_rest = parameter.starts_with('*') && !parameter.starts_with("**");
    const bool comes = keyword.empty() ? position == index || (is_rest && position <= index) : name_of_parameter(parameter) == keyword;
    if (comes && !found) hint.emphasis = {begin, static_cast<uint32_t>(hint.text.size())}, found = true;
    ++position;
  }
  hint.text += ")";
  return hint;
}

std::string first_line(std::string_view text) {
  const std::string whole = trimmed(text);
  return whole.substr(0, whole.find('\n'));
}

}  // namespace gasell::cli
