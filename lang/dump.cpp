// The tree as indented lines, for --emit=ast: kind, what the node itself holds, its place, then its children by field.
#include <fmt/core.h>

#include <array>

#include "lang/ast_visit.h"
#include "lang/class_definition.h"
#include "lang/large_stack.h"
#include "lang/parser.h"
#include "lang/printing.h"

namespace gasell {
namespace {

using namespace ast;

class Dumper {
 public:
  Dumper(const Module& module, bool spans) : source_(*module.source), spans_(spans) {}

  std::string run(const Module& module) {
    out_ = "Module\n";
    ++depth_;
    for (const StmtRef& s : module.body) statement("", *s);
    return std::move(out_);
  }

 private:
  static std::string field_text(std::string_view field) { return field.empty() ? std::string() : std::string(field) + ": "; }

  void line(std::string_view field, std::string_view text) {
    out_.append(static_cast<size_t>(depth_) * 2, ' ');
    out_ += field_text(field);
    out_ += text;
    out_ += '\n';
  }
  void line(std::string_view field, std::string_view text, Span span) {
    if (!spans_) return line(field, text);
    const auto begin = source_.position(span.begin), end = source_.position(span.end);
    line(field, fmt::format("{} @{}:{}-{}:{}", text, begin.line, begin.column, end.line, end.column));
  }

  static std::string place(const Binding& b) {
    switch (b.kind) {
      case Binding::Kind::local: return fmt::format(" local {}", b.slot);
      case Binding::Kind::cell: return fmt::format(" cell {}", b.slot);
      case Binding::Kind::global: return " global";
      default: return "";
    }
  }

  void optional(std::string_view field, const ExprRef& e) {
    if (e) expression(field, *e);
  }
  void all(std::string_view field, const std::vector<ExprRef>& list) {
    for (const ExprRef& e : list) expression(field, *e);
  }
  void body(std::string_view field, const Body& list) {
    for (const StmtRef& s : list) statement(field, *s);
  }

  template <class Children>
  void node(std::string_view field, std::string_view text, Span span, Children&& children) {
    line(field, text, span);
    ++depth_;
    children();
    --depth_;
  }

  void parts(std::string_view field, const std::vector<FStringPart>& list) {
    for (const FStringPart& p : list) {
      if (!p.value) {
        line(field, quoted(p.text));
        continue;
      }
      std::string text = "field";
      if (p.conversion) text += fmt::format(" !{}", p.conversion);
      if (!p.source_text.empty()) text += " " + quoted(p.source_text);
      line(field, text);
      ++depth_;
      expression("", *p.value);
      parts("spec", p.spec);
      --depth_;
    }
  }

  void parameters(const std::vector<Parameter>& params) {
    constexpr std::array kKinds = {"positional-only ", "", "*", "keyword-only ", "**"};
    for (const Parameter& p : params) {
      line("parameter", kKinds[static_cast<size_t>(p.kind)] + p.name, p.span);
      ++depth_;
      optional("annotation", p.annotation);
      optional("default", p.default_value);
      --depth_;
    }
  }

  void scope(const FunctionScope& s) {
    if (!s.locals.empty()) line("locals", fmt::format("{}", fmt_names(s.locals)));
    if (!s.cells.empty()) line("cells", fmt::format("{} (own: {})", fmt_names(s.cells), s.own_cells));
  }
  static std::string fmt_names(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
    return text;
  }

  void expression(std::string_view field, const Expr& e) {
    auto with = [&](std::string_view text, auto&& children) { node(field, text, e.span, children); };
    auto leaf = [&](std::string_view text) { line(field, text, e.span); };
    std::visit(Overloaded{[&](const NoneLiteral&) { leaf("None"); },
                          [&](const EllipsisLiteral&) { leaf("Ellipsis"); },
                          [&](const BoolLiteral& n) { leaf(n.value ? "True" : "False"); },
                          [&](const IntLiteral& n) { leaf(fmt::format("Int {}", n.value)); },
                          [&](const BigIntLiteral& n) { leaf("Int " + n.digits); },
                          [&](const FloatLiteral& n) { leaf("Float " + float_text(n)); },
                          [&](const StringLiteral& n) { leaf("String " + quoted(n.value)); },
                          [&](const BytesLiteral& n) { leaf("Bytes " + quoted_bytes(n.value)); },
                          [&](const FString& n) { with("FString", [&] { parts("", n.parts); }); },
                          [&](const Name& n) { leaf("Name " + n.id + place(n.binding)); },
                          [&](const Tuple& n) { with("Tuple", [&] { all("", n.items); }); },
                          [&](const List& n) { with("List", [&] { all("", n.items); }); },
                          [&](const Set& n) { with("Set", [&] { all("", n.items); }); },
                          [&](const Dict& n) {
                            with("Dict", [&] {
                              for (const auto& [key, value] : n.items) {
                                optional("key", key);
                                expression(key ? "value" : "**", *value);
                              }
                            });
                          },
                          [&](const Unary& n) { with(fmt::format("Unary {}", text_of(n.op)), [&] { expression("", *n.operand); }); },
                          [&](const Binary& n) {
                            with(fmt::format("Binary {}", text_of(n.op)), [&] {
                              expression("", *n.left);
                              expression("", *n.right);
                            });
                          },
                          [&](const BoolChain& n) { with(n.op == BoolOp::logical_and ? "And" : "Or", [&] { all("", n.values); }); },
                          [&](const Compare& n) {
                            with("Compare", [&] {
                              expression("", *n.left);
                              for (size_t i = 0; i < n.ops.size(); ++i) expression(text_of(n.ops[i]), *n.comparators[i]);
                            });
                          },
                          [&](const Conditional& n) {
                            with("Conditional", [&] {
                              expression("test", *n.test);
                              expression("body", *n.body);
                              expression("orelse", *n.orelse);
                            });
                          },
                          [&](const Call& n) {
                            with("Call", [&] {
                              expression("callee", *n.callee);
                              all("", n.args);
                              for (const Keyword& k : n.keywords)
                                node("", k.name.empty() ? "**" : k.name + "=", k.span, [&] { expression("", *k.value); });
                            });
                          },
                          [&](const Attribute& n) { with("Attribute " + n.name, [&] { expression("", *n.value); }); },
                          [&](const Slice& n) {
                            with("Slice", [&] {
                              optional("lower", n.lower);
                              optional("upper", n.upper);
                              optional("step", n.step);
                            });
                          },
                          [&](const Subscript& n) {
                            with("Subscript", [&] {
                              expression("", *n.value);
                              expression("", *n.index);
                            });
                          },
                          [&](const Starred& n) { with("Starred", [&] { expression("", *n.value); }); },
                          [&](const NamedExpr& n) {
                            with("NamedExpr", [&] {
                              expression("", *n.target);
                              expression("", *n.value);
                            });
                          },
                          [&](const Lambda& n) {
                            with("Lambda", [&] {
                              scope(n.scope);
                              parameters(n.params);
                              expression("", *n.body);
                            });
                          },
                          [&](const Comprehension& n) {
                            constexpr std::array kKinds = {"ListComprehension", "SetComprehension", "DictComprehension", "Generator"};
                            with(kKinds[static_cast<size_t>(n.kind)], [&] {
                              scope(n.scope);
                              expression("element", *n.element);
                              optional("value", n.value);
                              for (const ComprehensionClause& c : n.clauses) {
                                expression("for", *c.target);
                                expression("in", *c.iter);
                                all("if", c.conditions);
                              }
                            });
                          }},
               e.node);
  }

  void statement(std::string_view field, const Stmt& s) {
    auto with = [&](std::string_view text, auto&& children) { node(field, text, s.span, children); };
    auto leaf = [&](std::string_view text) { line(field, text, s.span); };
    auto import_names = [&](const std::vector<ImportName>& names) {
      for (const ImportName& n : names) line("", n.name + (n.as.empty() ? "" : " as " + n.as) + place(n.binding), n.span);
    };
    std::visit(Overloaded{[&](const ExprStmt& n) { with("ExprStmt", [&] { expression("", *n.value); }); },
                          [&](const Assign& n) {
                            with("Assign", [&] {
                              all("target", n.targets);
                              expression("value", *n.value);
                            });
                          },
                          [&](const AugAssign& n) {
                            with(fmt::format("AugAssign {}=", text_of(n.op)), [&] {
                              expression("target", *n.target);
                              expression("value", *n.value);
                            });
                          },
                          [&](const AnnAssign& n) {
                            with("AnnAssign", [&] {
                              expression("target", *n.target);
                              expression("annotation", *n.annotation);
                              optional("value", n.value);
                            });
                          },
                          [&](const If& n) {
                            with("If", [&] {
                              expression("test", *n.test);
                              body("", n.body);
                              body("else", n.orelse);
                            });
                          },
                          [&](const While& n) {
                            with("While", [&] {
                              expression("test", *n.test);
                              body("", n.body);
                              body("else", n.orelse);
                            });
                          },
                          [&](const For& n) {
                            with("For", [&] {
                              expression("target", *n.target);
                              expression("iter", *n.iter);
                              body("", n.body);
                              body("else", n.orelse);
                            });
                          },
                          [&](const Break&) { leaf("Break"); },
                          [&](const Continue&) { leaf("Continue"); },
                          [&](const Pass&) { leaf("Pass"); },
                          [&](const Return& n) { with("Return", [&] { optional("", n.value); }); },
                          [&](const FunctionDef& n) {
                            with((class_call(n) ? "ClassDef " : "FunctionDef ") + n.name + place(n.binding), [&] {
                              all("decorator", n.decorators);
                              scope(n.scope);
                              parameters(n.params);
                              optional("returns", n.returns);
                              body("", n.body);
                            });
                          },
                          [&](const Import& n) { with("Import", [&] { import_names(n.names); }); },
                          [&](const ImportFrom& n) { with("ImportFrom " + n.module, [&] { import_names(n.names); }); },
                          [&](const With& n) {
                            with("With", [&] {
                              for (const WithItem& item : n.items) {
                                expression("context", *item.context);
                                optional("as", item.target);
                              }
                              body("", n.body);
                            });
                          },
                          [&](const Assert& n) {
                            with("Assert", [&] {
                              expression("", *n.test);
                              optional("message", n.message);
                            });
                          },
                          [&](const Delete& n) { with("Delete", [&] { all("", n.targets); }); },
                          [&](const Global& n) { leaf("Global " + fmt_names(n.names)); },
                          [&](const Nonlocal& n) { leaf("Nonlocal " + fmt_names(n.names)); },
                          [&](const Raise& n) {
                            with("Raise", [&] {
                              optional("", n.exception);
                              optional("from", n.cause);
                            });
                          },
                          [&](const Try& n) {
                            with("Try", [&] {
                              body("", n.body);
                              for (const ExceptHandler& h : n.handlers) {
                                node("", "Except" + (h.name.empty() ? "" : " " + h.name + place(h.binding)), h.span, [&] {
                                  optional("type", h.type);
                                  body("", h.body);
                                });
                              }
                              body("else", n.orelse);
                              body("finally", n.finalbody);
                            });
                          }},
               s.node);
  }

  const Source& source_;
  const bool spans_;
  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string dump(const ast::Module& module, bool spans) {
  std::string text;
  run_on_large_stack([&] { text = Dumper(module, spans).run(module); });
  return text;
}

}  // namespace gasell
