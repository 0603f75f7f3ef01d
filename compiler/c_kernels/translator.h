// C as loop IR, in one pass: what is read is emitted. C declares before use, and its variables are the loop IR's, so no tree is needed. The
// grammar is small and depends on what names stand for (types, values), so it is read by recursive descent: the library that reads Gasell's
// own grammar would cost seconds of compile time more.
//
// The part of CUDA C++ that bodies of kernels are written in: numbers (bool to long long, float, double, complex<float>, complex<double>),
// `auto`, arrays of constant size, typedef, all operators of numbers with C's promotions and conversions, if, for, while, do, break,
// continue, return, functions (__device__, templates of types, references), which are inlined, the functions of math.h, CUDA's atomic
// operations, object-like macros. Not pointers, classes, switch, goto.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/c_kernels/tokens.h"
#include "compiler/functions/code.h"
#include "compiler/functions/function.h"

namespace gasell::c_kernels {

using functions::Code;
using functions::ExprRef;

/// An array that a text indexes: of the elements in C order, whatever their strides.
struct Array {
  std::string memory;
  DType dtype = DType::f64;
  std::vector<ExprRef> extents, strides;
  bool contiguous = true;  // strides follow from the extents
  bool writable = false;
  bool is_local = false;  // of a declaration: indexed by each of its axes
};

/// What an expression is: a number, or a place that holds one.
struct Value {
  enum class Kind : uint8_t { nothing, number, variable, element, array, index } kind = Kind::nothing;
  DType dtype = DType::i32;
  ExprRef number;    // number
  std::string name;  // variable: the loop IR's; element: the memory
  ExprRef offset;    // element: where; array: of the axes indexed so far
  const Array* array = nullptr;
  size_t axis = 0;  // array: how many axes were indexed
  bool is_const = false;
  Span span;
  bool is_place() const { return kind == Kind::variable || kind == Kind::element; }
};

class Translator {
 public:
  /// `in_threads`: the code is a kernel of threads, which has atomic operations.
  Translator(Code& code, bool checks_bounds, bool in_threads, std::string kernel_name);

  // ---- what a text finds ----
  void declare_type(const std::string& name, DType type);
  void declare_number(const std::string& name, ExprRef value);
  /// A place of memory that stands for itself: `z` of "T z".
  void declare_element(const std::string& name, const Array& array, ExprRef offset);
  void declare_array(const std::string& name, Array array);
  /// `name.size()`, of all elements that the kernel runs over; `name.get()`: the element's place.
  void declare_indexer(const std::string& name, ExprRef size, ExprRef place);
  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }

  // ---- texts ----
  /// Functions, types and macros.
  void preamble(const SourceRef& text);
  /// `continue` and `return` end the text. Names stay in the innermost scope where `keeps_names`.
  void statements(const SourceRef& text, bool keeps_names);
  /// The innermost scope of the loop IR that `continue` and `return` outside of loops and functions leave.
  void run_until_left(const std::function<void()>& body);
  ExprRef expression(const SourceRef& text, DType as);
  /// A type's name: "float", "unsigned long long", "T".
  DType type_name(const SourceRef& text);

  // ---- what the texts did ----
  std::vector<functions::Site> sites;
  std::set<std::string> stored;  // memories

 private:
  struct Definition {
    TokensRef tokens;
    size_t at = 0;  // of the return type, behind the words that say where the function runs
    std::vector<std::string> type_parameters;
    Span span;
  };
  struct Symbol {
    enum class Kind : uint8_t { type, number, variable, element, array, indexer, function } kind = Kind::number;
    DType dtype = DType::i32;
    ExprRef number, offset;
    std::string name;
    std::shared_ptr<const Array> array;
    std::vector<Definition> functions;
    bool is_const = false;
  };
  using Scope = std::map<std::string, Symbol, std::less<>>;
  struct Exit {
    std::string scope;
    bool used = false;
  };
  /// A declaration's type: `auto` and `void` are none.
  struct TypeWords {
    std::optional<DType> dtype;
    bool is_void = false, is_auto = false, is_const = false;
    Span span;
  };

  // words (translator.cpp)
  const Token& peek(size_t ahead = 0) const;
  Token take();
  bool accept(std::string_view punctuator);
  Token expect(std::string_view punctuator, const char* behind);
  Token expect_name(const char* what);
  [[noreturn]] void fail(Span at, std::string message, std::string hint = {}) const {
    refuse(tokens_->source, at, std::move(message), std::move(hint));
  }
  [[noreturn]] void unknown(Span at, std::string message, std::string hint = {}) const {
    refuse_as_unknown(tokens_->source, at, std::move(message), std::move(hint));
  }
  Symbol* find(std::string_view name);
  void declare(const Token& name, Symbol symbol);
  /// Runs over words of another text, or of another place of this one.
  void at(TokensRef tokens, size_t place, const std::function<void()>& body);
  void require_end(const char* what);
  void skip_balanced(std::string_view open, std::string_view close);

  // types (types.cpp)
  bool begins_type(size_t ahead = 0);
  TypeWords type_words();
  DType number_type(const char* what);
  void refuse_pointer();

  // declarations and functions (functions.cpp)
  void type_definition();
  void function_definition(std::vector<std::string> type_parameters);
  void template_definition();
  Value call_function(const std::vector<Definition>& definitions, const Token& name, std::vector<DType> type_arguments,
                      std::vector<Value> arguments, Span span);
  Value run_function(const Definition& definition, const Token& name, const std::vector<DType>& type_arguments,
                     std::vector<Value>& arguments, Span span);
  bool takes(const Definition& definition, size_t count) const;

  // statements (statements.cpp)
  void statement();
  void block();
  void declaration();
  void local_array(const Token& name, DType dtype);
  void if_statement();
  void while_statement();
  void do_statement();
  void for_statement();
  /// `for (int k = a; k < b; ++k)` where the body changes neither k nor b: a loop of the loop IR. False: it is not one.
  bool counted_for();
  void return_statement(Span span);
  void leave(Exit& exit);
  /// What comes of `body` inside a scope of the loop IR, where something leaves it.
  void within(Exit& exit, const std::function<void()>& body);
  void loop_body(Exit& done, Exit& next);

  // expressions (expressions.cpp, places.cpp)
  Value comma_expression();
  Value assignment();
  Value conditional();
  Value binary(int level);
  Value unary();
  Value postfix();
  Value primary();
  Value parenthesised_or_cast();
  Value index(const Value& base, Span open);
  Value member(const Value& base, const Token& name);
  Value step(const Value& place, int by, bool before, Span span);
  Value assign(const Value& place, std::string_view operation, Value value, Span span);
  Value binary_numbers(std::string_view operation, const Value& a, const Value& b, Span span);
  Value logical(bool is_and, Value left, const std::function<Value()>& right, Span span);
  ExprRef number(const Value& v);
  ExprRef truth(const Value& v);
  ExprRef convert(ExprRef e, DType to, Span span);
  /// The number as it is now, whatever becomes of the variables it is made of.
  ExprRef fixed(ExprRef e, std::string_view stem);
  ExprRef whole(const Value& v, const char* what);
  void store(const Value& place, ExprRef value, Span span);
  Value numeric(ExprRef e, Span span) const;
  /// k of 0 .. extent, or IndexError.
  ExprRef checked(ExprRef k, const ExprRef& extent, Span at, const std::string& what);
  ExprRef offset_of(const Array& array, ExprRef linear);

  // functions that are known (library.cpp)
  std::optional<Value> known_function(const Token& name, std::vector<Value>& arguments, Span span);
  std::optional<Value> known_name(const Token& name);
  Value atomic(const Token& name, Span span);
  std::vector<Value> arguments();

  Code& code_;
  const bool checks_bounds_, in_threads_;
  const std::string kernel_name_;
  TokensRef tokens_;
  size_t at_ = 0;
  std::vector<Scope> scopes_;
  Macros macros_;
  std::vector<Exit*> breaks_, continues_;
  Exit* return_exit_ = nullptr;
  struct Result {
    std::optional<DType> dtype;
    bool is_auto = false, is_void = false;
    std::string variable;
  };
  Result* result_ = nullptr;
  std::vector<std::pair<const Tokens*, size_t>> active_;  // functions being inlined
  int depth_ = 0, calls_ = 0;

  /// Deep texts would use up the stack.
  class Depth {
   public:
    explicit Depth(Translator& t) : t_(t) {
      if (++t_.depth_ > kMost) {
        t_.depth_ = 0;
        t_.unknown(t_.peek().span, "the text is nested too deeply");
      }
    }
    ~Depth() { --t_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    static constexpr int kMost = 200;
    Translator& t_;
  };
};

/// Whether an integer and whether it is narrower than int, and so on: C's conversions of operands.
DType promoted(DType t);
DType common_type(DType a, DType b);
/// "unsigned int": as C calls a type.
std::string c_name(DType t);

}  // namespace gasell::c_kernels
