// The syntax tree. Python's names (module ast); every node carries its exact span.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lang/source.h"

namespace gasell::ast {

struct Expr;
struct Stmt;
using ExprRef = std::shared_ptr<Expr>;
using StmtRef = std::shared_ptr<Stmt>;
using Body = std::vector<StmtRef>;

enum class BinaryOp { add, sub, mul, div, floordiv, mod, pow, matmul, lshift, rshift, bit_and, bit_or, bit_xor };
enum class UnaryOp { neg, pos, invert, logical_not };
enum class BoolOp { logical_and, logical_or };
enum class CompareOp { eq, ne, lt, le, gt, ge, is, is_not, in, not_in };
enum class ComprehensionKind { list, set, dict, generator };

/// Where a name lives, found by the scope pass (lang/scopes.h).
struct Binding {
  enum class Kind : uint8_t { unresolved, local, cell, global } kind = Kind::unresolved;
  int slot = -1;  // local: index in the frame; cell: index in the function's cell list
};

// ---- expressions ----
struct NoneLiteral {};
struct EllipsisLiteral {};
struct BoolLiteral {
  bool value;
};
struct IntLiteral {
  int64_t value;
};
/// An integer that 64 bits do not hold, as it is written, without underscores: digits of base 10, or behind 0x, 0o and 0b.
struct BigIntLiteral {
  std::string digits;
};
struct FloatLiteral {
  double value;
  bool imaginary = false;
};  // 2j is FloatLiteral{2, true}
struct StringLiteral {
  std::string value;
};  // decoded, UTF-8; adjacent literals joined
struct BytesLiteral {
  std::string value;
};  // decoded; adjacent literals joined
struct FStringPart {
  std::string text;  // literal text, where value is null
  ExprRef value;
  char conversion = 0;            // 'r', 's', 'a' or 0
  std::vector<FStringPart> spec;  // the format spec, which may hold fields itself
  std::string source_text;        // for {x=}: the text before and including '=', else empty
};
struct FString {
  std::vector<FStringPart> parts;
};
struct Name {
  std::string id;
  Binding binding;
};
struct Tuple {
  std::vector<ExprRef> items;
};
struct List {
  std::vector<ExprRef> items;
};
struct Set {
  std::vector<ExprRef> items;
};
struct Dict {
  std::vector<std::pair<ExprRef, ExprRef>> items;
};  // key null: **value
struct Unary {
  UnaryOp op;
  ExprRef operand;
};
struct Binary {
  BinaryOp op;
  ExprRef left, right;
  Span op_span;
};
struct BoolChain {
  BoolOp op;
  std::vector<ExprRef> values;
};
struct Compare {
  ExprRef left;
  std::vector<CompareOp> ops;
  std::vector<ExprRef> comparators;
};
struct Conditional {
  ExprRef test, body, orelse;
};
struct Keyword {
  std::string name;
  ExprRef value;
  Span span;
};  // name empty: **value
struct Call {
  ExprRef callee;
  std::vector<ExprRef> args;
  std::vector<Keyword> keywords;
};
struct Attribute {
  ExprRef value;
  std::string name;
  Span name_span;
};
struct Slice {
  ExprRef lower, upper, step;
};  // each may be null
struct Subscript {
  ExprRef value, index;
};  // index may be a Slice or a Tuple that holds Slices
struct Starred {
  ExprRef value;
};
struct NamedExpr {
  ExprRef target, value;
};  // target is a Name

struct Parameter {
  std::string name;
  Span span;
  ExprRef annotation;     // may be null
  ExprRef default_value;  // may be null
  enum class Kind : uint8_t {
    positional_only,
    positional_or_keyword,
    var_positional,
    keyword_only,
    var_keyword
  } kind = Kind::positional_or_keyword;
};
/// Slots of a function's frame, found by the scope pass.
struct FunctionScope {
  std::vector<std::string> locals;  // slot → name; parameters first, in order
  std::vector<int> cell_of_local;   // slot → own cell index, or -1 when not captured
  std::vector<std::string> cells;   // own cells first, then those taken from enclosing functions
  int own_cells = 0;
  std::vector<Binding> captured;  // for each taken cell: where the enclosing function has it (kind cell)
};
struct Lambda {
  std::vector<Parameter> params;
  ExprRef body;
  FunctionScope scope;
};
struct ComprehensionClause {
  ExprRef target, iter;
  std::vector<ExprRef> conditions;
};
struct Comprehension {
  ComprehensionKind kind;
  ExprRef element;  // dict: the key
  ExprRef value;    // dict only
  std::vector<ComprehensionClause> clauses;
  FunctionScope scope;  // a comprehension is a function of its own, as in Python; slot 0 is the first iterator
};

using Node = std::variant<NoneLiteral, EllipsisLiteral, BoolLiteral, IntLiteral, BigIntLiteral, FloatLiteral, StringLiteral, BytesLiteral,
                          FString, Name, Tuple, List, Set, Dict, Unary, Binary, BoolChain, Compare, Conditional, Call, Attribute, Slice,
                          Subscript, Starred, NamedExpr, Lambda, Comprehension>;

struct Expr {
  Span span;
  Node node;
  /// Takes a deep tree (a sum of 10,000 terms) apart without recursion.
  ~Expr();
};

// ---- statements ----
struct ExprStmt {
  ExprRef value;
};
struct Assign {
  std::vector<ExprRef> targets;
  ExprRef value;
};
struct AugAssign {
  ExprRef target;
  BinaryOp op;
  ExprRef value;
};
struct AnnAssign {
  ExprRef target, annotation, value;
};  // value may be null
struct If {
  ExprRef test;
  Body body, orelse;
};  // elif is an If alone in orelse
struct While {
  ExprRef test;
  Body body, orelse;
};
struct For {
  ExprRef target, iter;
  Body body, orelse;
};
struct Break {};
struct Continue {};
struct Pass {};
struct Return {
  ExprRef value;
};  // may be null
struct FunctionDef {
  std::string name;
  Span name_span;
  std::vector<Parameter> params;
  ExprRef returns;  // annotation, may be null
  std::vector<ExprRef> decorators;
  Body body;
  FunctionScope scope;
  Binding binding;  // of the function's name
};
struct ImportName {
  std::string name, as;
  Span span;
  Binding binding;
};  // as empty: none; binding of the name that is bound
struct Import {
  std::vector<ImportName> names;
};
struct ImportFrom {
  std::string module;
  std::vector<ImportName> names;
};
struct WithItem {
  ExprRef context, target;
};  // target may be null
struct With {
  std::vector<WithItem> items;
  Body body;
};
struct Assert {
  ExprRef test, message;
};
struct Delete {
  std::vector<ExprRef> targets;
};
struct Global {
  std::vector<std::string> names;
};
struct Nonlocal {
  std::vector<std::string> names;
};
struct Raise {
  ExprRef exception, cause;
};
struct ExceptHandler {
  ExprRef type;
  std::string name;
  Span span;
  Body body;
  Binding binding;
};  // type may be null
struct Try {
  Body body;
  std::vector<ExceptHandler> handlers;
  Body orelse, finalbody;
};

struct Stmt {
  Span span;
  std::variant<ExprStmt, Assign, AugAssign, AnnAssign, If, While, For, Break, Continue, Pass, Return, FunctionDef, Import, ImportFrom, With,
               Assert, Delete, Global, Nonlocal, Raise, Try>
      node;
};

struct Module {
  SourceRef source;
  Body body;
};
using ModuleRef = std::shared_ptr<Module>;

}  // namespace gasell::ast
