// The expressions of query and eval: Python's, but `and`, `or`, `not`, `in` and chains of comparisons go element by element.
#include <algorithm>
#include <iterator>

#include "lang/ast.h"
#include "lang/ast_visit.h"
#include "lang/parser.h"
#include "runtime/session/dict.h"
#include "stdlib/pandas/column_object.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;

constexpr std::string_view kOutside = "__outside_";  // stands for the @ before a variable
constexpr std::string_view kQuoted = "__quoted_";    // names between backticks: this and a number

/// pandas' text as Python's: `&`, `|`, `~` bind as `and`, `or`, `not` do; @name and `name with blanks` become names.
std::string as_python(std::string_view text, std::vector<std::string>& quoted) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      const size_t begin = i++;
      while (i < text.size() && text[i] != c) i += text[i] == '\\' ? 2 : 1;
      out += text.substr(begin, i - begin + 1);
    } else if (c == '`') {
      const size_t end = text.find('`', i + 1);
      if (end == text.npos) raise("SyntaxError", "Failed to parse backticks in '" + std::string(text) + "'.");
      out += std::string(kQuoted) + std::to_string(quoted.size());
      quoted.emplace_back(text.substr(i + 1, end - i - 1));
      i = end;
    } else if (c == '@') {
      out += kOutside;
    } else if (c == '&' || c == '|') {
      out += c == '&' ? " and " : " or ";
    } else if (c == '~') {
      out += " not ";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out;
}

class Evaluation {
 public:
  Evaluation(Interpreter& in, Dict* names, Dict& outside, const std::vector<std::string>& quoted)
      : in_(in), names_(names), outside_(outside), quoted_(quoted) {}

  Value operator()(const ast::ExprRef& e) {
    using namespace ast;
    const auto each = [&](const std::vector<ExprRef>& items) {
      std::vector<Value> values;
      for (const ExprRef& item : items) values.push_back((*this)(item));
      return values;
    };
    return std::visit(Overloaded{
                          [&](const NoneLiteral&) { return Value(); },
                          [&](const BoolLiteral& v) { return Value::of(v.value); },
                          [&](const IntLiteral& v) { return Value::of(static_cast<int64_t>(v.value)); },
                          [&](const FloatLiteral& v) { return Value::of(v.value); },
                          [&](const StringLiteral& v) { return make_str(v.value); },
                          [&](const Name& v) { return name(v.id); },
                          [&](const ast::Tuple& v) { return make_tuple(each(v.items)); },
                          [&](const ast::List& v) { return make_list(each(v.items)); },
                          [&](const Unary& v) {
                            if (v.op != UnaryOp::logical_not) return gasell::unary(in_, v.op, (*this)(v.operand));
                            const Value operand = (*this)(v.operand);
                            return operand.is_bool() ? Value::of(operand.as_int() == 0) : gasell::unary(in_, UnaryOp::invert, operand);
                          },
                          [&](const Binary& v) { return gasell::binary(in_, v.op, (*this)(v.left), (*this)(v.right)); },
                          [&](const BoolChain& v) {
                            Value result = (*this)(v.values[0]);
                            for (size_t k = 1; k < v.values.size(); ++k)
                              result = both(v.op == BoolOp::logical_and, result, (*this)(v.values[k]));
                            return result;
                          },
                          [&](const Compare& v) { return chain(v); },
                          [&](const Call& v) {
                            Arguments args{each(v.args), {}};
                            for (const Keyword& k : v.keywords) args.keywords.emplace_back(k.name, (*this)(k.value));
                            return gasell::call(in_, (*this)(v.callee), std::move(args));
                          },
                          [&](const Attribute& v) { return gasell::get_attribute(in_, (*this)(v.value), v.name); },
                          [&](const Subscript& v) { return gasell::get_item(in_, (*this)(v.value), (*this)(v.index)); },
                          [&](const auto&) -> Value {
                            raise("NotImplementedError", "this kind of expression is not in query and eval",
                                  "compute it before, and name it with @");
                          },
                      },
                      e->node);
  }

 private:
  Value both(bool conjunction, const Value& a, const Value& b) {
    return gasell::binary(in_, conjunction ? ast::BinaryOp::bit_and : ast::BinaryOp::bit_or, a, b);
  }

  Value chain(const ast::Compare& v) {
    Value left = (*this)(v.left), result;
    for (size_t k = 0; k < v.ops.size(); ++k) {
      Value right = (*this)(v.comparators[k]);
      Value one = compare_one(v.ops[k], left, right);
      result = k == 0 ? one : both(true, result, one);
      left = std::move(right);
    }
    return result;
  }
  Value compare_one(ast::CompareOp op, const Value& left, const Value& right) {
    using enum ast::CompareOp;
    const bool lists = right.as<List>() || right.as<Tuple>();
    if (op == in || op == not_in || (lists && (op == eq || op == ne))) {
      const Value found = gasell::call(in_, gasell::get_attribute(in_, left, "isin"),
                                       {{right.as<Tuple>() ? make_list(right.as<Tuple>()->items) : right}, {}});
      return op == not_in || op == ne ? gasell::unary(in_, ast::UnaryOp::invert, found) : found;
    }
    return gasell::compare(in_, op, left, right);
  }

  Value name(const std::string& id) {
    if (id.starts_with(kOutside)) {
      const std::string variable = id.substr(kOutside.size());
      if (const Value* v = outside_.find(variable)) return *v;
      if (const Value* v = in_.global(variable); v && !v->is_absent()) return *v;
      raise("UndefinedVariableError", "local variable '" + variable + "' is not defined",
            "@ finds global variables; local_dict={'" + variable + "': …} gives others");
    }
    const std::string column = id.starts_with(kQuoted) ? quoted_[static_cast<size_t>(std::stoul(id.substr(kQuoted.size())))] : id;
    if (!names_) {
      if (const Value* v = outside_.find(column)) return *v;
      if (const Value* v = in_.global(column); v && !v->is_absent()) return *v;
    } else if (const Value* v = names_->find(column)) {
      return *v;
    }
    static constexpr std::string_view kFunctions[] = {"sin",     "cos",  "tan",   "exp",    "log",    "expm1",  "log1p",   "sqrt",
                                                      "sinh",    "cosh", "tanh",  "arcsin", "arccos", "arctan", "arccosh", "arcsinh",
                                                      "arctanh", "abs",  "log10", "floor",  "ceil",   "arctan2"};
    if (std::find(std::begin(kFunctions), std::end(kFunctions), column) != std::end(kFunctions))
      return gasell::get_attribute(in_, in_.import_module("numpy", nullptr), column);
    raise("UndefinedVariableError", "name '" + column + "' is not defined");
  }

  Interpreter& in_;
  Dict* const names_;  // none: the script's own names
  Dict& outside_;
  const std::vector<std::string>& quoted_;
};

/// evaluate(text, names, outside): (name that is assigned or None, value).
Value evaluate(Interpreter& in, Args args) {
  const auto* text = args[0].as<Str>();
  if (!text) raise("ValueError", "expr must be a string to be evaluated, " + type_of(args[0]).name + " given");
  std::vector<std::string> quoted;
  std::string python = as_python(text->value, quoted);
  python.erase(0, python.find_first_not_of(' '));
  const ast::ModuleRef module = parse_module(std::make_shared<Source>("<query>", python + "\n"));
  if (module->body.size() != 1) raise("ValueError", "multi-line expressions are only valid in the context of data, use DataFrame.eval");
  Evaluation run(in, args[1].as<Dict>(), *args[2].as<Dict>(), quoted);
  if (const auto* e = std::get_if<ast::ExprStmt>(&module->body[0]->node)) return make_tuple({Value(), run(e->value)});
  if (const auto* a = std::get_if<ast::Assign>(&module->body[0]->node); a && a->targets.size() == 1)
    if (const auto* target = std::get_if<ast::Name>(&a->targets[0]->node)) return make_tuple({make_str(target->id), run(a->value)});
  raise("SyntaxError", "query and eval take an expression, or `name = expression`");
}

}  // namespace

std::vector<NativeFunction> expression_functions() {
  return {{"evaluate", "text, names, outside", evaluate, "The value of an expression of columns."}};
}

}  // namespace gasell::pandas
