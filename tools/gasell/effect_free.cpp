#include "tools/gasell/effect_free.h"

#include <algorithm>
#include <array>
#include <exception>
#include <string>

#include "lang/ast_visit.h"
#include "lang/parser.h"
#include "stdlib/library_object.h"

namespace gasell::cli {

namespace {

constexpr size_t kLongest = 500;  // bytes of an expression that is looked at

/// Methods of objects of the library (frames, columns, groups) that make another one and compute nothing yet, or little.
constexpr std::array<std::string_view, 36> kMakers = {
    "abs",         "agg",   "assign", "astype", "clip",     "copy",     "dropna",  "drop",          "ewm",
    "expanding",   "eval",  "fillna", "filter", "groupby",  "head",     "isin",    "isna",          "lower",
    "mask",        "notna", "query",  "rename", "replace",  "resample", "rolling", "round",         "set_index",
    "reset_index", "shift", "strip",  "tail",   "to_frame", "upper",    "where",   "select_dtypes", "sort_values"};

/// Functions of modules that make an array or a frame out of what they get.
constexpr std::array<std::string_view, 44> kFunctions = {
    "abs",       "arange",     "array", "asarray",   "broadcast_to", "concat",      "concatenate", "cos",          "cumsum",
    "DataFrame", "date_range", "exp",   "eye",       "full",         "Index",       "linspace",    "log",          "max",
    "mean",      "min",        "ones",  "ones_like", "path",         "reshape",     "round",       "Series",       "sin",
    "sqrt",      "stack",      "sum",   "tile",      "Timedelta",    "Timestamp",   "to_datetime", "to_numeric",   "transpose",
    "vstack",    "hstack",     "where", "zeros",     "zeros_like",   "Categorical", "Path",        "DatetimeIndex"};

constexpr std::array<std::string_view, 20> kBuiltins = {"abs", "bool",   "complex", "dict", "enumerate", "float", "int",
                                                        "len", "list",   "max",     "min",  "range",     "repr",  "round",
                                                        "set", "sorted", "str",     "sum",  "tuple",     "zip"};

template <class Names>
bool is_among(std::string_view name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<Value> evaluate(Interpreter& interpreter, const std::string& text) {
  return interpreter.evaluate(parse_module(std::make_shared<Source>("<completion>", text)));
}

class Check {
 public:
  explicit Check(Interpreter& interpreter) : interpreter_(interpreter) {}

  bool operator()(ast::Expr& expr) const {
    if (std::holds_alternative<ast::NamedExpr>(expr.node) || std::holds_alternative<ast::Lambda>(expr.node) ||
        std::holds_alternative<ast::Comprehension>(expr.node))
      return false;
    if (auto* call = std::get_if<ast::Call>(&expr.node))
      if (!makes_value(*call)) return false;
    bool all = true;
    ast::visit_children(expr, [&](ast::ExprRef& child) { all = all && (*this)(*child); });
    return all;
  }

 private:
  bool makes_value(const ast::Call& call) const {
    if (const auto* name = std::get_if<ast::Name>(&call.callee->node))
      return !interpreter_.global(name->id) && is_among(name->id, kBuiltins);
    const auto* attribute = std::get_if<ast::Attribute>(&call.callee->node);
    if (!attribute || !(*this)(*attribute->value)) return false;
    const std::optional<Value> owner = evaluate(interpreter_, print(*attribute->value));
    if (!owner) return false;
    if (owner->as<Str>() || owner->is_int() || owner->is_float()) return true;
    if (owner->as<Module>()) return is_among(attribute->name, kFunctions);
    if (owner->as<LibraryObject>()) return is_among(attribute->name, kMakers) || is_among(attribute->name, kFunctions);
    return type_of(*owner).name == "ndarray" && (is_among(attribute->name, kMakers) || is_among(attribute->name, kFunctions));
  }

  Interpreter& interpreter_;
};

/// The tree of a text that is one expression; null otherwise.
ast::ExprRef tree_of(std::string_view expression, ast::ModuleRef& module) {
  if (expression.empty() || expression.size() > kLongest) return nullptr;
  module = parse_module(std::make_shared<Source>("<completion>", std::string(expression)));
  if (module->body.size() != 1) return nullptr;
  const auto* statement = std::get_if<ast::ExprStmt>(&module->body[0]->node);
  return statement ? statement->value : nullptr;
}

}  // namespace

std::string_view primary_before(std::string_view text, const std::vector<Token>& tokens, size_t count) {
  if (count == 0) return {};
  const uint32_t end = tokens[count - 1].span.end;
  size_t i = count - 1;
  while (true) {
    const Token& token = tokens[i];
    if (token.kind == TokenKind::close) {
      int depth = 0;
      for (;; --i) {
        depth += tokens[i].kind == TokenKind::close ? 1 : tokens[i].kind == TokenKind::open ? -1 : 0;
        if (depth == 0) break;
        if (i == 0) return {};
      }
      const bool applies = i > 0 && (tokens[i - 1].kind == TokenKind::name || tokens[i - 1].kind == TokenKind::close ||
                                     (tokens[i - 1].kind == TokenKind::string && text[tokens[i].span.begin] == '['));
      if (applies && tokens[i - 1].span.end == tokens[i].span.begin) {
        --i;
        continue;
      }
    } else if (token.kind == TokenKind::string && !token.unfinished) {
      while (i > 0 && tokens[i - 1].kind == TokenKind::string) --i;
    } else if (token.kind != TokenKind::name && token.kind != TokenKind::number &&
               !(token.kind == TokenKind::keyword && text.substr(token.span.begin, 4) == "None")) {
      return {};
    }
    const bool is_attribute = i > 1 && tokens[i - 1].kind == TokenKind::symbol && text[tokens[i - 1].span.begin] == '.' &&
                              tokens[i - 1].span.end - tokens[i - 1].span.begin == 1 && tokens[i].kind == TokenKind::name;
    if (!is_attribute) return text.substr(tokens[i].span.begin, end - tokens[i].span.begin);
    i -= 2;
  }
}

std::optional<Value> effect_free_value(Interpreter& interpreter, std::string_view expression) {
  try {
    ast::ModuleRef module;
    const ast::ExprRef tree = tree_of(expression, module);
    if (!tree || !Check(interpreter)(*tree)) return std::nullopt;
    return interpreter.evaluate(module);
  } catch (const std::exception&) {
    return std::nullopt;  // half a word, a property that raises: nothing to complete
  }
}

std::optional<CallSignature> signature_of_expression(Interpreter& interpreter, std::string_view expression) {
  try {
    ast::ModuleRef module;
    const ast::ExprRef tree = tree_of(expression, module);
    if (!tree) return std::nullopt;
    if (const auto* attribute = std::get_if<ast::Attribute>(&tree->node)) {
      const std::optional<Value> owner = effect_free_value(interpreter, print(*attribute->value));
      return owner ? member_signature(interpreter, *owner, attribute->name) : std::nullopt;
    }
    if (!std::holds_alternative<ast::Name>(tree->node)) return std::nullopt;
    return call_signature(interpreter, interpreter.evaluate(module));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace gasell::cli
