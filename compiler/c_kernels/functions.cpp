// Functions of a preamble: inlined where they are called, their template's types taken from the arguments.
#include <algorithm>

#include "compiler/c_kernels/translator.h"

namespace gasell::c_kernels {
namespace {

constexpr int kMostCalls = 2000;

bool says_where(const Token& t) {
  return t.is("__device__") || t.is("__host__") || t.is("__forceinline__") || t.is("__inline__") || t.is("__noinline__") ||
         t.is("inline") || t.is("static") || t.is("constexpr");
}

}  // namespace

void Translator::type_definition() {
  Token name;
  TypeWords type;
  if (take().is("using")) {
    name = expect_name("using");
    if (name.is("namespace")) {
      expect_name("using namespace");
      expect(";", "a definition");
      return;
    }
    expect("=", "the name");
    type = type_words();
    refuse_pointer();
  } else {
    type = type_words();
    refuse_pointer();
    name = expect_name("typedef");
  }
  if (!type.dtype) fail(type.span, "a name for a type needs a type of numbers");
  scopes_.back().insert_or_assign(std::string(name.text), Symbol{.kind = Symbol::Kind::type, .dtype = *type.dtype});
  if (peek().kind != Token::Kind::end) expect(";", "a definition");
}

void Translator::template_definition() {
  take();
  expect("<", "template");
  std::vector<std::string> types;
  while (!peek().is(">")) {
    const Token t = take();
    if (!t.is("typename") && !t.is("class")) unknown(t.span, "a template takes types: typename T");
    types.emplace_back(expect_name("typename").text);
    if (!accept(",")) break;
  }
  expect(">", "a template's types");
  function_definition(std::move(types));
}

void Translator::function_definition(std::vector<std::string> type_parameters) {
  while (says_where(peek())) take();
  if (peek().is("__global__"))
    unknown(peek().span, "a preamble's __global__ function is not called", "cp.RawKernel runs it, with NVRTC and a GPU");
  Definition d{tokens_, at_, type_parameters, peek().span};
  open_scope();
  for (const std::string& t : type_parameters) declare_type(t, DType::f64);  // to read over the types
  type_words();
  refuse_pointer();
  close_scope();
  const Token name = expect_name("a function");
  if (peek().is("operator") || name.is("operator")) unknown(name.span, "operators of one's own are not in Gasell");
  d.span = name.span;
  if (!peek().is("(")) fail(peek().span, "a preamble has functions, types and constants, and '" + std::string(name.text) + "' is none");
  skip_balanced("(", ")");
  if (accept(";")) return;  // a declaration of what comes later
  if (!peek().is("{")) fail(peek().span, "the body of the function '" + std::string(name.text) + "' belongs here");
  skip_balanced("{", "}");
  Symbol& s = scopes_.front()[std::string(name.text)];
  s.kind = Symbol::Kind::function;
  s.functions.push_back(std::move(d));
}

bool Translator::takes(const Definition& d, size_t count) const {
  // Parameters are told apart by commas outside of brackets.
  size_t k = d.at, parameters = 0;
  const auto& words = d.tokens->words;
  while (!words[k].is("(")) ++k;
  int depth = 0;
  bool any = false;
  for (;; ++k) {
    depth += words[k].is("(") - words[k].is(")");
    if (depth == 0) break;
    if (!words[k].is("(") && !words[k].is("void")) any = true;
    if (depth == 1 && words[k].is(",")) ++parameters;
  }
  return (any ? parameters + 1 : 0) == count;
}

Value Translator::call_function(const std::vector<Definition>& definitions, const Token& name, std::vector<DType> type_arguments,
                                std::vector<Value> arguments, Span span) {
  const Definition* chosen = nullptr;
  for (const Definition& d : definitions) {
    if (!takes(d, arguments.size())) continue;
    if (chosen)
      unknown(span, "the function '" + std::string(name.text) + "' has several definitions of so many arguments",
              "give them different names");
    chosen = &d;
  }
  if (!chosen)
    fail(span, "the function '" + std::string(name.text) + "' takes another number of arguments than " + std::to_string(arguments.size()));
  const std::pair<const Tokens*, size_t> identity{chosen->tokens.get(), chosen->at};
  if (std::find(active_.begin(), active_.end(), identity) != active_.end())
    unknown(span, "the function '" + std::string(name.text) + "' calls itself", "write a loop");
  if (++calls_ > kMostCalls) unknown(span, "the kernel has more than 2000 calls of functions when they are written out");
  active_.push_back(identity);
  const Definition definition = *chosen;  // the symbol may move
  Value v = run_function(definition, name, type_arguments, arguments, span);
  active_.pop_back();
  return v;
}

Value Translator::run_function(const Definition& d, const Token& name, const std::vector<DType>& type_arguments,
                               std::vector<Value>& arguments, Span span) {
  const SourceRef caller = tokens_->source;
  std::vector<ExprRef> numbers;
  for (const Value& v : arguments) numbers.push_back(v.is_place() ? nullptr : fixed(number(v), "argument"));
  // The function sees what is global, not its caller's names.
  std::vector<Scope> outside(std::make_move_iterator(scopes_.begin() + 1), std::make_move_iterator(scopes_.end()));
  scopes_.resize(1);
  auto breaks = std::move(breaks_), continues = std::move(continues_);
  breaks_.clear(), continues_.clear();
  Result* const outer_result = result_;
  Exit* const outer_exit = return_exit_;
  Result result;
  Exit exit{code_.fresh(name.text), false};
  at(d.tokens, d.at, [&] {
    open_scope();
    // The types of a template that are not written follow from the arguments whose type they are.
    for (size_t k = 0; k < d.type_parameters.size(); ++k)
      declare_type(d.type_parameters[k], k < type_arguments.size() ? type_arguments[k] : DType::f64);
    for (size_t k = type_arguments.size(); k < d.type_parameters.size(); ++k) {
      size_t p = d.at, argument = 0;
      const auto& words = tokens_->words;
      while (!words[p].is("(")) ++p;
      bool found = false;
      for (int depth = 0; !found; ++p) {
        depth += words[p].is("(") - words[p].is(")");
        if (depth == 0) break;
        if (depth == 1 && words[p].is(",")) ++argument;
        if (words[p].is(d.type_parameters[k]) && argument < arguments.size()) {
          declare_type(d.type_parameters[k], arguments[argument].dtype);
          found = true;
        }
      }
      if (!found)
        refuse(caller, span, "the template's type '" + d.type_parameters[k] + "' follows from no argument",
               std::string(name.text) + "<float>(...)");
    }
    const TypeWords returns = type_words();
    result = {returns.dtype, returns.is_auto, returns.is_void, code_.fresh("result")};
    take();  // the name
    take();  // (
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (k) expect(",", "a parameter");
      const TypeWords type = type_words();
      refuse_pointer();
      const bool reference = accept("&");
      const Value& v = arguments[k];
      if (v.kind == Value::Kind::array) refuse_as_unknown(caller, v.span, "an array is not given to a function", "give it the elements");
      const Token parameter = peek().kind == Token::Kind::name ? take() : Token{};
      if (peek().is("[")) unknown(peek().span, "a function takes no arrays", "give it the elements");
      if (reference && !type.is_const) {
        if (!v.is_place())
          refuse(caller, v.span,
                 "'" + std::string(parameter.text) + "' of '" + std::string(name.text) + "' is a reference: it needs a variable");
        if (v.is_const)
          refuse(caller, v.span, "this is constant, and '" + std::string(name.text) + "' takes a reference that may change it");
        if (type.dtype && *type.dtype != v.dtype)
          refuse(caller, v.span,
                 "'" + std::string(name.text) + "' takes a reference to " + c_name(*type.dtype) + ", and this is " + c_name(v.dtype));
        declare(parameter, {.kind = v.kind == Value::Kind::variable ? Symbol::Kind::variable : Symbol::Kind::element,
                            .dtype = v.dtype,
                            .offset = v.offset,
                            .name = v.name});
        continue;
      }
      const ExprRef given = numbers[k] ? numbers[k] : number(v);
      const DType dtype = type.dtype ? *type.dtype : given->type;
      const std::string variable = code_.fresh(parameter.text.empty() ? "argument" : parameter.text);
      code_.emit(ir::var(variable, convert(given, dtype, parameter.span)));
      if (!parameter.text.empty())
        declare(parameter, {.kind = Symbol::Kind::variable, .dtype = dtype, .name = variable, .is_const = type.is_const});
    }
    accept("void");
    expect(")", "the parameters");
    result_ = &result;
    return_exit_ = &exit;
    code_.open();
    within(exit, [&] { block(); });
    ir::Body body = code_.close();
    if (!result.is_void && result.dtype) code_.emit(ir::var(result.variable, ir::constant(Scalar::of_int(0).cast(*result.dtype))));
    for (const ir::StmtRef& s : body) code_.emit(s);
    close_scope();
  });
  result_ = outer_result;
  return_exit_ = outer_exit;
  breaks_ = std::move(breaks), continues_ = std::move(continues);
  scopes_.insert(scopes_.end(), std::make_move_iterator(outside.begin()), std::make_move_iterator(outside.end()));
  Value v;
  v.span = span;
  if (result.is_void || !result.dtype) return v;
  return numeric(code_.snapshot(result.variable, *result.dtype, name.text), span);
}

}  // namespace gasell::c_kernels
