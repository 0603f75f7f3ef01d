#include "compiler/c_kernels/translator.h"

namespace gasell::c_kernels {

Translator::Translator(Code& code, bool checks_bounds, bool in_threads, std::string kernel_name)
    : code_(code), checks_bounds_(checks_bounds), in_threads_(in_threads), kernel_name_(std::move(kernel_name)) {
  open_scope();
}

void Translator::declare_type(const std::string& name, DType type) { scopes_.back()[name] = {.kind = Symbol::Kind::type, .dtype = type}; }
void Translator::declare_number(const std::string& name, ExprRef value) {
  scopes_.back()[name] = {.kind = Symbol::Kind::number, .dtype = value->type, .number = std::move(value), .is_const = true};
}
void Translator::declare_element(const std::string& name, const Array& array, ExprRef offset) {
  scopes_.back()[name] = {
      .kind = Symbol::Kind::element, .dtype = array.dtype, .offset = std::move(offset), .name = array.memory, .is_const = !array.writable};
}
void Translator::declare_array(const std::string& name, Array array) {
  Symbol s{.kind = Symbol::Kind::array, .dtype = array.dtype, .is_const = !array.writable};
  s.array = std::make_shared<Array>(std::move(array));
  scopes_.back()[name] = std::move(s);
}
void Translator::declare_indexer(const std::string& name, ExprRef size, ExprRef place) {
  scopes_.back()[name] = {.kind = Symbol::Kind::indexer, .number = std::move(size), .offset = std::move(place)};
}

const Token& Translator::peek(size_t ahead) const {
  const auto& words = tokens_->words;
  return words[std::min(at_ + ahead, words.size() - 1)];
}
Token Translator::take() {
  const Token t = peek();
  if (t.kind != Token::Kind::end) ++at_;
  return t;
}
bool Translator::accept(std::string_view punctuator) {
  if (!peek().is(punctuator)) return false;
  take();
  return true;
}
Token Translator::expect(std::string_view punctuator, const char* behind) {
  if (!peek().is(punctuator)) {
    const std::string found = peek().kind == Token::Kind::end ? "the text ends" : "this is '" + std::string(peek().text) + "'";
    fail(peek().span, "'" + std::string(punctuator) + "' belongs behind " + behind + ", and " + found);
  }
  return take();
}
Token Translator::expect_name(const char* what) {
  if (peek().kind != Token::Kind::name)
    fail(peek().span, std::string(what) + " needs a name" + (peek().kind == Token::Kind::end ? ", and the text ends" : ""));
  return take();
}

Translator::Symbol* Translator::find(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  return nullptr;
}
void Translator::declare(const Token& name, Symbol symbol) {
  const auto [place, fresh] = scopes_.back().try_emplace(std::string(name.text), symbol);
  if (!fresh) fail(name.span, "'" + std::string(name.text) + "' is declared twice in one block");
}

void Translator::at(TokensRef tokens, size_t place, const std::function<void()>& body) {
  std::swap(tokens, tokens_);
  std::swap(place, at_);
  body();
  std::swap(tokens, tokens_);
  std::swap(place, at_);
}

void Translator::require_end(const char* what) {
  if (peek().kind != Token::Kind::end) fail(peek().span, std::string(what) + " ends before this '" + std::string(peek().text) + "'");
}

void Translator::skip_balanced(std::string_view open, std::string_view close) {
  const Span begin = peek().span;
  int depth = 0;
  do {
    const Token t = take();
    if (t.kind == Token::Kind::end) fail(begin, "this '" + std::string(open) + "' is not closed");
    depth += t.is(open) - t.is(close);
  } while (depth > 0);
}

void Translator::preamble(const SourceRef& text) {
  at(tokenize(text, macros_), 0, [&] {
    while (peek().kind != Token::Kind::end) {
      if (accept(";")) continue;
      if (peek().is("template"))
        template_definition();
      else if (peek().is("typedef") || peek().is("using"))
        type_definition();
      else if (peek().is("extern") && peek(1).kind == Token::Kind::text) {
        take();
        take();
        if (accept("{"))
          unknown(peek().span, "extern \"C\" of several functions is not in Gasell",
                  "leave it out: nobody links to the kernel's functions");
      } else if ((peek().is("const") || peek().is("constexpr") || peek().is("static") || peek().is("__constant__")) && [&] {
                   size_t k = 0;
                   while (peek(k).kind != Token::Kind::end && !peek(k).is("(") && !peek(k).is("=") && !peek(k).is(";")) ++k;
                   return peek(k).is("=");
                 }())
        declaration();
      else
        function_definition({});
    }
  });
}

void Translator::run_until_left(const std::function<void()>& body) {
  Exit exit{code_.fresh("element"), false};
  continues_.push_back(&exit);
  breaks_.push_back(nullptr);
  return_exit_ = &exit;
  within(exit, body);
  continues_.pop_back();
  breaks_.pop_back();
  return_exit_ = nullptr;
}

void Translator::statements(const SourceRef& text, bool keeps_names) {
  at(tokenize(text, macros_), 0, [&] {
    if (!keeps_names) open_scope();
    while (peek().kind != Token::Kind::end) {
      if (peek().is("}")) fail(peek().span, "this '}' closes nothing");
      statement();
    }
    if (!keeps_names) close_scope();
  });
}

ExprRef Translator::expression(const SourceRef& text, DType as) {
  ExprRef result;
  at(tokenize(text, macros_), 0, [&] {
    const Value v = comma_expression();
    require_end("the expression");
    result = fixed(convert(number(v), as, v.span), "value");
  });
  return result;
}

DType Translator::type_name(const SourceRef& text) {
  DType result{};
  at(tokenize(text, macros_), 0, [&] {
    result = number_type("the type of a reduction");
    require_end("the type");
  });
  return result;
}

}  // namespace gasell::c_kernels
