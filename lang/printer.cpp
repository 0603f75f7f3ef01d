#include <fmt/core.h>

#include <array>

#include "lang/ast_visit.h"
#include "lang/characters.h"
#include "lang/class_definition.h"
#include "lang/large_stack.h"
#include "lang/marked_calls.h"
#include "lang/parser.h"
#include "lang/printing.h"

namespace gasell {

using namespace ast;

std::string_view text_of(BinaryOp op) {
  constexpr std::array kTexts = {"+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"};
  return kTexts[static_cast<size_t>(op)];
}
std::string_view text_of(UnaryOp op) {
  constexpr std::array kTexts = {"-", "+", "~", "not"};
  return kTexts[static_cast<size_t>(op)];
}
std::string_view text_of(CompareOp op) {
  constexpr std::array kTexts = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
  return kTexts[static_cast<size_t>(op)];
}

namespace {

std::string escaped(std::string_view value, bool double_braces) {
  std::string out;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\\': out += "\\\\"; break;
      case '"': out += "\\\""; break;
      case '{':
      case '}': out.append(double_braces ? 2 : 1, c); break;
      default:
        if (byte < 0x20 || byte == 0x7F) {
          out += fmt::format("\\x{:02x}", byte);
        } else {
          out += c;
        }
    }
  }
  return out;
}

}  // namespace

std::string quoted(std::string_view value) { return '"' + escaped(value, false) + '"'; }
std::string quoted_bytes(std::string_view value) {
  std::string out = "b\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (byte < 0x20 || byte >= 0x7F)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + '"';
}
std::string f_string_text(std::string_view value) { return escaped(value, true); }

std::string float_text(const FloatLiteral& literal) {
  std::string text = fmt::format("{}", literal.value);
  if (text == "inf") text = "1e999";
  if (!literal.imaginary && text.find_first_of(".e") == std::string::npos) text += ".0";
  return literal.imaginary ? text + "j" : text;
}

namespace {

/// How tightly an expression binds; an operand that binds less tightly than its place asks for gets parentheses.
enum Level : int {
  kTupleLevel,  // a, b
  kNamedLevel,  // a := b
  kTest,        // conditional, lambda
  kOr,
  kAnd,
  kNot,
  kComparison,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kTerm,
  kSign,
  kPower,
  kPrimary,
};

Level level_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::bit_or: return kBitOr;
    case BinaryOp::bit_xor: return kBitXor;
    case BinaryOp::bit_and: return kBitAnd;
    case BinaryOp::lshift:
    case BinaryOp::rshift: return kShift;
    case BinaryOp::add:
    case BinaryOp::sub: return kSum;
    case BinaryOp::pow: return kPower;
    default: return kTerm;
  }
}

Level level_of(const Expr& e) {
  return std::visit(
      Overloaded{[](const IntLiteral& n) { return n.value < 0 ? kSign : kPrimary; }, [](const NamedExpr&) { return kNamedLevel; },
                 [](const Conditional&) { return kTest; }, [](const Lambda&) { return kTest; },
                 [](const BoolChain& n) { return n.op == BoolOp::logical_or ? kOr : kAnd; },
                 [](const Unary& n) { return n.op == UnaryOp::logical_not ? kNot : kSign; }, [](const Compare&) { return kComparison; },
                 [&](const Call&) { return yield_call(e) ? kTupleLevel : kPrimary; }, [](const Binary& n) { return level_of(n.op); },
                 [](const auto&) { return kPrimary; }},
      e.node);
}

Level above(Level level) { return static_cast<Level>(level + 1); }

class Printer {
 public:
  std::string out;

  void expression(const Expr& e, Level least) {
    const bool parentheses = level_of(e) < least;
    if (parentheses) out += '(';
    bare_expression(e);
    if (parentheses) out += ')';
  }

  /// Items with commas.
  void list(const std::vector<ExprRef>& items, Level least = kNamedLevel) {
    bool first = true;
    for (const ExprRef& e : items) {
      if (!first) out += ", ";
      first = false;
      expression(*e, least);
    }
  }

  void body(const Body& statements) {
    ++depth_;
    for (const StmtRef& s : statements) statement(*s);
    --depth_;
  }

  void statement(const Stmt& s) {
    indent();
    std::visit(Overloaded{[&](const ExprStmt& n) { value(*n.value); },
                          [&](const Assign& n) {
                            for (const ExprRef& t : n.targets) {
                              expression(*t, kTest);
                              out += " = ";
                            }
                            value(*n.value);
                          },
                          [&](const AugAssign& n) {
                            expression(*n.target, kTest);
                            out += fmt::format(" {}= ", text_of(n.op));
                            value(*n.value);
                          },
                          [&](const AnnAssign& n) {
                            expression(*n.target, kTest);
                            out += ": ";
                            expression(*n.annotation, kTest);
                            if (n.value) out += " = ", value(*n.value);
                          },
                          [&](const If& n) { print_if(n); },
                          [&](const While& n) {
                            out += "while ";
                            expression(*n.test, kNamedLevel);
                            block(n.body);
                            else_block(n.orelse);
                          },
                          [&](const For& n) {
                            out += "for ";
                            expression(*n.target, kBitOr);
                            out += " in ";
                            expression(*n.iter, kTest);
                            block(n.body);
                            else_block(n.orelse);
                          },
                          [&](const Break&) { out += "break"; },
                          [&](const Continue&) { out += "continue"; },
                          [&](const Pass&) { out += "pass"; },
                          [&](const Return& n) {
                            out += "return";
                            optional(" ", n.value, kTest);
                          },
                          [&](const FunctionDef& n) { print_function(n); },
                          [&](const Import& n) {
                            out += "import ";
                            import_names(n.names);
                          },
                          [&](const ImportFrom& n) {
                            out += "from " + n.module + " import ";
                            import_names(n.names);
                          },
                          [&](const With& n) { print_with(n); },
                          [&](const Assert& n) {
                            out += "assert ";
                            expression(*n.test, kTest);
                            optional(", ", n.message, kTest);
                          },
                          [&](const Delete& n) {
                            out += "del ";
                            list(n.targets, kPrimary);
                          },
                          [&](const Global& n) { names("global ", n.names); },
                          [&](const Nonlocal& n) { names("nonlocal ", n.names); },
                          [&](const Raise& n) {
                            out += "raise";
                            optional(" ", n.exception, kTest);
                            optional(" from ", n.cause, kTest);
                          },
                          [&](const Try& n) { print_try(n); }},
               s.node);
    if (out.back() != '\n') out += '\n';
  }

 private:
  /// What may be a yield without parentheses.
  void value(const Expr& e) { expression(e, yield_call(e) ? kTupleLevel : kTest); }
  void indent() { out.append(static_cast<size_t>(depth_), ' '); }

  void optional(std::string_view before, const ExprRef& e, Level least) {
    if (!e) return;
    out += before;
    expression(*e, least);
  }

  void block(const Body& statements) {
    out += ":\n";
    body(statements);
  }
  void else_block(const Body& statements) {
    if (statements.empty()) return;
    indent();
    out += "else";
    block(statements);
  }

  void names(std::string_view word, const std::vector<std::string>& list) {
    out += word;
    for (size_t i = 0; i < list.size(); ++i) out += (i ? ", " : "") + list[i];
  }
  void import_names(const std::vector<ImportName>& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (i) out += ", ";
      out += list[i].name;
      if (!list[i].as.empty()) out += " as " + list[i].as;
    }
  }

  /// An If alone in orelse is `elif`, as ast.h has it.
  void print_if(const If& first) {
    if (const Call* subject = match_call(first)) return print_match(*subject, first.body);
    const If* n = &first;
    out += "if ";
    for (;;) {
      expression(*n->test, kNamedLevel);
      block(n->body);
      const If* next = n->orelse.size() == 1 ? std::get_if<If>(&n->orelse[0]->node) : nullptr;
      if (!next) break;
      indent();
      out += "elif ";
      n = next;
    }
    else_block(n->orelse);
  }

  void print_match(const Call& subject, const Body& cases) {
    out += "match ";
    expression(*subject.args[0], kNamedLevel);
    out += ":\n";
    ++depth_;
    for (const StmtRef& s : cases) {
      const auto& one = std::get<If>(s->node);
      const Call& pattern = *case_call(one);
      indent();
      out += "case ";
      in_pattern_ = true;
      expression(*pattern.args[0], kNamedLevel);
      in_pattern_ = false;
      if (pattern.args.size() > 1) {
        out += " if ";
        expression(*pattern.args[1], kNamedLevel);
      }
      block(one.body);
    }
    --depth_;
  }

  void print_function(const FunctionDef& n) {
    const Call* maker = class_call(n);
    for (const ExprRef& d : n.decorators) {
      if (maker && &d == &n.decorators.back()) continue;
      out += "@";
      expression(*d, kNamedLevel);
      out += '\n';
      indent();
    }
    if (maker) {
      out += "class " + n.name;
      if (!maker->args.empty() || !maker->keywords.empty()) {
        out += "(";
        arguments(*maker);
        out += ")";
      }
      return block(n.body);
    }
    out += "def " + n.name + "(";
    parameters(n.params);
    out += ")";
    optional(" -> ", n.returns, kTest);
    block(n.body);
  }

  void print_with(const With& n) {
    out += "with ";
    // `with (a, b):` would be two items: a lone tuple or parenthesised item stands in its own parentheses anyway.
    const bool lone = n.items.size() == 1 && !n.items[0].target;
    if (lone) out += '(';
    for (size_t i = 0; i < n.items.size(); ++i) {
      if (i) out += ", ";
      expression(*n.items[i].context, kTest);
      optional(" as ", n.items[i].target, kBitOr);
    }
    if (lone) out += ')';
    block(n.body);
  }

  void print_try(const Try& n) {
    out += "try";
    block(n.body);
    for (const ExceptHandler& h : n.handlers) {
      indent();
      out += "except";
      optional(" ", h.type, kTest);
      if (!h.name.empty()) out += " as " + h.name;
      block(h.body);
    }
    else_block(n.orelse);
    if (n.finalbody.empty()) return;
    indent();
    out += "finally";
    block(n.finalbody);
  }

  void parameters(const std::vector<Parameter>& params) {
    using Kind = Parameter::Kind;
    bool star = false;
    for (size_t i = 0; i < params.size(); ++i) {
      const Parameter& p = params[i];
      if (i) out += ", ";
      if (p.kind == Kind::keyword_only && !star) out += "*, ";
      star |= p.kind == Kind::keyword_only || p.kind == Kind::var_positional;
      if (p.kind == Kind::var_positional) out += '*';
      if (p.kind == Kind::var_keyword) out += "**";
      out += p.name;
      optional(": ", p.annotation, kTest);
      optional(p.annotation ? " = " : "=", p.default_value, kTest);
      if (p.kind == Kind::positional_only && (i + 1 == params.size() || params[i + 1].kind != Kind::positional_only)) out += ", /";
    }
  }

  void clauses(const std::vector<ComprehensionClause>& list) {
    for (const ComprehensionClause& c : list) {
      out += " for ";
      expression(*c.target, kBitOr);
      out += " in ";
      expression(*c.iter, kOr);
      for (const ExprRef& condition : c.conditions) {
        out += " if ";
        expression(*condition, kOr);
      }
    }
  }

  void parts(const std::vector<FStringPart>& list, bool in_spec) {
    for (const FStringPart& p : list) {
      if (!p.value) {
        out += in_spec ? spec_text(p.text) : f_string_text(p.text);
        continue;
      }
      out += '{';
      if (p.source_text.empty()) {
        const size_t start = out.size();
        expression(*p.value, kOr);
        if (out[start] == '{') out.insert(start, " ");  // "{{" would be a brace
      } else {
        out += p.source_text;
      }
      if (p.conversion && !(p.conversion == 'r' && !p.source_text.empty() && p.spec.empty())) out += fmt::format("!{}", p.conversion);
      if (!p.spec.empty()) {
        out += ':';
        parts(p.spec, true);
      }
      out += '}';
    }
  }
  /// A spec takes braces and its literal's quote only as escapes.
  static std::string spec_text(std::string_view text) {
    std::string result;
    for (char c : text) {
      if (c == '{' || c == '}' || c == '"' || c == '\'') {
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      } else {
        result += escape_one(c);
      }
    }
    return result;
  }
  static std::string escape_one(char c) {
    const std::string text = quoted(std::string_view(&c, 1));
    return text.substr(1, text.size() - 2);
  }

  void index(const Expr& e) {
    if (const auto* tuple = std::get_if<Tuple>(&e.node)) {
      if (tuple->items.empty()) {
        out += "()";
      } else {
        list(tuple->items);
        if (tuple->items.size() == 1) out += ',';
      }
    } else {
      expression(e, kNamedLevel);
    }
  }

  void bare_expression(const Expr& e) {
    std::visit(Overloaded{[&](const NoneLiteral&) { out += "None"; },
                          [&](const EllipsisLiteral&) { out += "..."; },
                          [&](const BoolLiteral& n) { out += n.value ? "True" : "False"; },
                          [&](const IntLiteral& n) { out += fmt::format("{}", n.value); },
                          [&](const BigIntLiteral& n) { out += n.digits; },
                          [&](const FloatLiteral& n) { out += float_text(n); },
                          [&](const StringLiteral& n) { out += quoted(n.value); },
                          [&](const BytesLiteral& n) { out += quoted_bytes(n.value); },
                          [&](const FString& n) {
                            out += "f\"";
                            parts(n.parts, false);
                            out += '"';
                          },
                          [&](const Name& n) { out += n.id; },
                          [&](const Tuple& n) {
                            out += '(';
                            list(n.items);
                            out += n.items.size() == 1 ? ",)" : ")";
                          },
                          [&](const List& n) {
                            out += '[';
                            list(n.items);
                            out += ']';
                          },
                          [&](const Set& n) {
                            out += '{';
                            list(n.items);
                            out += '}';
                          },
                          [&](const Dict& n) {
                            out += '{';
                            for (size_t i = 0; i < n.items.size(); ++i) {
                              const auto& [key, value] = n.items[i];
                              if (i) out += ", ";
                              if (!key) out += "**";
                              if (key) expression(*key, kTest), out += ": ";
                              expression(*value, key ? (in_pattern_ ? kNamedLevel : kTest) : kBitOr);
                            }
                            out += '}';
                          },
                          [&](const Unary& n) {
                            out += text_of(n.op);
                            if (n.op == UnaryOp::logical_not) out += ' ';
                            const auto* smallest = std::get_if<IntLiteral>(&n.operand->node);
                            const bool folds = n.op == UnaryOp::neg && smallest && smallest->value < 0;
                            expression(*n.operand, n.op == UnaryOp::logical_not ? kNot : folds ? kPower : kSign);
                          },
                          [&](const Binary& n) { print_binary(n); },
                          [&](const BoolChain& n) {
                            const Level level = n.op == BoolOp::logical_or ? kOr : kAnd;
                            for (size_t i = 0; i < n.values.size(); ++i) {
                              if (i) out += n.op == BoolOp::logical_or ? " or " : " and ";
                              expression(*n.values[i], above(level));
                            }
                          },
                          [&](const Compare& n) {
                            expression(*n.left, kBitOr);
                            for (size_t i = 0; i < n.ops.size(); ++i) {
                              out += fmt::format(" {} ", text_of(n.ops[i]));
                              expression(*n.comparators[i], kBitOr);
                            }
                          },
                          [&](const Conditional& n) {
                            expression(*n.body, kOr);
                            out += " if ";
                            expression(*n.test, kOr);
                            out += " else ";
                            expression(*n.orelse, kTest);
                          },
                          [&](const Call& n) { print_call(e, n); },
                          [&](const Attribute& n) {
                            const bool integer =
                                std::holds_alternative<IntLiteral>(n.value->node) || std::holds_alternative<BigIntLiteral>(n.value->node);
                            if (integer) out += '(';
                            expression(*n.value, kPrimary);
                            out += (integer ? ")." : ".") + n.name;
                          },
                          [&](const Slice& n) {
                            optional("", n.lower, kTest);
                            out += ':';
                            optional("", n.upper, kTest);
                            optional(":", n.step, kTest);
                          },
                          [&](const Subscript& n) {
                            expression(*n.value, kPrimary);
                            out += '[';
                            index(*n.index);
                            out += ']';
                          },
                          [&](const Starred& n) {
                            out += '*';
                            expression(*n.value, kBitOr);
                          },
                          [&](const NamedExpr& n) {
                            if (in_pattern_) {
                              expression(*n.value, kTest);
                              out += " as ";
                              return expression(*n.target, kPrimary);
                            }
                            expression(*n.target, kPrimary);
                            out += " := ";
                            expression(*n.value, kTest);
                          },
                          [&](const Lambda& n) {
                            out += n.params.empty() ? "lambda" : "lambda ";
                            parameters(n.params);
                            out += ": ";
                            expression(*n.body, kTest);
                          },
                          [&](const Comprehension& n) {
                            constexpr std::array kOpen = {'[', '{', '{', '('}, kClose = {']', '}', '}', ')'};
                            out += kOpen[static_cast<size_t>(n.kind)];
                            expression(*n.element, n.value ? kTest : kNamedLevel);
                            optional(": ", n.value, kTest);
                            clauses(n.clauses);
                            out += kClose[static_cast<size_t>(n.kind)];
                          }},
               e.node);
  }

  /// `**` is right associative and binds more tightly than a sign before it, less tightly than one after it.
  void print_binary(const Binary& n) {
    const Level level = level_of(n.op);
    expression(*n.left, level == kPower ? kPrimary : level);
    out += fmt::format(" {} ", text_of(n.op));
    expression(*n.right, level == kPower ? kSign : above(level));
  }

  void print_call(const Expr& whole, const Call& n) {
    if (marked_call(whole, kYield) || marked_call(whole, kYieldFrom)) {
      out += marked_call(whole, kYield) ? "yield" : "yield from";
      if (!n.args.empty()) {
        out += ' ';
        expression(*n.args[0], kTest);
      }
      return;
    }
    expression(*n.callee, kPrimary);
    out += '(';
    arguments(n);
    out += ')';
  }

  void arguments(const Call& n) {
    list(n.args);
    for (size_t i = 0; i < n.keywords.size(); ++i) {
      if (i || !n.args.empty()) out += ", ";
      out += n.keywords[i].name.empty() ? "**" : n.keywords[i].name + "=";
      expression(*n.keywords[i].value, in_pattern_ ? kNamedLevel : kTest);
    }
  }

  int depth_ = 0;
  bool in_pattern_ = false;
};

}  // namespace

std::string print(const ast::Module& module) {
  Printer printer;
  run_on_large_stack([&] {
    for (const StmtRef& s : module.body) printer.statement(*s);
  });
  return std::move(printer.out);
}

std::string print(const ast::Expr& expr) {
  Printer printer;
  run_on_large_stack([&] { printer.expression(expr, kTest); });
  return std::move(printer.out);
}

}  // namespace gasell
