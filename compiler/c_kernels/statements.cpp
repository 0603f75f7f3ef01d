// Statements of C as those of the loop IR.
#include <algorithm>

#include "compiler/c_kernels/translator.h"

namespace gasell::c_kernels {

using ir::constant_i64;

namespace {

ExprRef boolean(bool v) { return ir::constant(Scalar::of_bool(v)); }
ExprRef zero_of(DType t) { return ir::constant(Scalar::of_int(0).cast(t)); }

bool assigns(const Token& t) {
  return t.kind == Token::Kind::punctuator && t.text.ends_with('=') && !t.is("==") && !t.is("!=") && !t.is("<=") && !t.is(">=");
}

}  // namespace

void Translator::leave(Exit& exit) {
  exit.used = true;
  code_.emit(ir::leave(exit.scope));
  code_.kill();
}

void Translator::within(Exit& exit, const std::function<void()>& body) {
  code_.open();
  body();
  if (!exit.used) return code_.splice();
  ir::Body inside = code_.close();
  code_.emit(ir::scope(exit.scope, std::move(inside)));
}

void Translator::block() {
  expect("{", "this");
  open_scope();
  while (!peek().is("}")) {
    if (peek().kind == Token::Kind::end) fail(peek().span, "a '{' is not closed, and the text ends");
    statement();
  }
  take();
  close_scope();
}

void Translator::statement() {
  const Depth depth(*this);
  const Token t = peek();
  if (t.is("{")) return block();
  if (accept(";")) return;
  if (t.is("if")) return if_statement();
  if (t.is("while")) return while_statement();
  if (t.is("do")) return do_statement();
  if (t.is("for")) return for_statement();
  if (t.is("typedef") || t.is("using")) return type_definition();
  if (t.is("break") || t.is("continue")) {
    take();
    auto& exits = t.is("break") ? breaks_ : continues_;
    if (exits.empty() || !exits.back()) {
      if (t.is("break") && !exits.empty())
        unknown(t.span, "this 'break' would end the kernel's own loop over elements", "'continue' ends the element");
      fail(t.span, "'" + std::string(t.text) + "' stands in no loop");
    }
    if (peek().kind != Token::Kind::end) expect(";", "a statement");
    return leave(*exits.back());
  }
  if (t.is("return")) {
    take();
    return return_statement(t.span);
  }
  for (const char* word : {"switch", "goto", "try", "throw", "asm", "case", "default", "new", "delete", "__shared__", "extern"})
    if (t.is(word)) unknown(t.span, "'" + std::string(word) + "' is not in Gasell", t.is("switch") ? "if ... else if ... else" : "");
  // `T(x);` is an expression, `T x` a declaration.
  if (begins_type() && !(find(t.text) && peek(1).is("("))) return declaration();
  comma_expression();
  if (peek().kind != Token::Kind::end) expect(";", "a statement");
}

void Translator::declaration() {
  const TypeWords type = type_words();
  if (type.is_void) fail(type.span, "a variable of type void holds nothing");
  do {
    refuse_pointer();
    const bool reference = accept("&");
    const Token name = expect_name("a declaration");
    if (peek().is("[") && !reference) {
      if (!type.dtype) fail(type.span, "an array needs a type of numbers");
      local_array(name, *type.dtype);
      continue;
    }
    std::optional<Value> initial;
    if (accept("=")) {
      const bool braces = accept("{");
      initial = assignment();
      if (braces) expect("}", "the value");
    } else if (peek().is("(") || peek().is("{")) {
      const Token open = take();
      if (type.dtype && is_complex(*type.dtype)) {
        Value first = assignment();
        initial = first;
        if (accept(",")) {
          const DType part = real_of(*type.dtype);
          const Value second = assignment();
          initial = numeric(
              ir::op(ScalarOp::make_complex, {convert(number(first), part, first.span), convert(number(second), part, second.span)}),
              first.span);
        }
      } else if (!peek().is("}")) {
        initial = assignment();
      }
      expect(open.is("(") ? ")" : "}", "the value");
    }
    if (reference) {
      if (!initial || !initial->is_place()) fail(name.span, "a reference needs a place to refer to");
      if (type.dtype && initial->dtype != *type.dtype)
        fail(name.span, "this refers to " + c_name(initial->dtype) + ", not to " + c_name(*type.dtype));
      declare(name, {.kind = initial->kind == Value::Kind::variable ? Symbol::Kind::variable : Symbol::Kind::element,
                     .dtype = initial->dtype,
                     .offset = initial->offset,
                     .name = initial->name,
                     .is_const = type.is_const || initial->is_const});
      continue;
    }
    if (!type.dtype && !initial) fail(name.span, "'auto' needs a value that tells the type");
    ExprRef value = initial ? number(*initial) : nullptr;
    const DType dtype = type.dtype ? *type.dtype : value->type;
    value = value ? convert(value, dtype, initial->span) : zero_of(dtype);
    const std::string variable = code_.fresh(name.text);
    code_.emit(ir::var(variable, value));
    declare(name, {.kind = Symbol::Kind::variable, .dtype = dtype, .name = variable, .is_const = type.is_const});
  } while (accept(","));
  if (peek().kind != Token::Kind::end) expect(";", "a declaration");
}

void Translator::local_array(const Token& name, DType dtype) {
  constexpr int64_t kMost = 1 << 16;
  Array array;
  array.dtype = dtype;
  array.writable = array.is_local = true;
  int64_t size = 1;
  bool from_values = false;
  while (accept("[")) {
    if (peek().is("]") && array.extents.empty()) {
      from_values = true;
    } else {
      const Value extent = conditional();
      const ExprRef e = number(extent);
      if (e->kind != ir::ExprKind::constant || !is_integer(e->type) || e->value.i < 1)
        unknown(extent.span, "the size of an array is a constant from 1", "one that depends on arguments needs NVRTC and a GPU");
      size *= std::min(e->value.i, kMost + 1);
      if (size > kMost) unknown(extent.span, "an array of a kernel has at most 65536 elements");
      array.extents.push_back(constant_i64(e->value.i));
    }
    expect("]", "the size");
  }
  std::vector<ExprRef> values;
  if (accept("=")) {
    expect("{", "'='");
    while (!peek().is("}")) {
      const Value v = assignment();
      values.push_back(fixed(convert(number(v), dtype, v.span), "item"));
      if (!accept(",")) break;
    }
    expect("}", "the values");
    if (from_values) size = static_cast<int64_t>(values.size());
    if (array.extents.size() > 1 || static_cast<int64_t>(values.size()) > size)
      unknown(name.span, "this array takes no such values", "store them one by one");
    while (static_cast<int64_t>(values.size()) < size) values.push_back(zero_of(dtype));
  }
  if (from_values) {
    if (values.empty()) fail(name.span, "the size of this array is not known");
    array.extents = {constant_i64(size)};
  }
  for (size_t k = 0; k < array.extents.size(); ++k) {
    int64_t stride = 1;
    for (size_t rest = k + 1; rest < array.extents.size(); ++rest) stride *= array.extents[rest]->value.i;
    array.strides.push_back(constant_i64(stride));
  }
  array.memory = code_.fresh(name.text);
  code_.emit(ir::local_array(array.memory, dtype, size));
  for (size_t k = 0; k < values.size(); ++k) code_.emit(ir::store(array.memory, constant_i64(static_cast<int64_t>(k)), values[k]));
  Symbol s{.kind = Symbol::Kind::array, .dtype = dtype};
  s.array = std::make_shared<Array>(std::move(array));
  declare(name, std::move(s));
}

void Translator::if_statement() {
  take();
  accept("constexpr");
  expect("(", "if");
  open_scope();
  const ExprRef condition = fixed(truth(comma_expression()), "condition");
  expect(")", "the condition");
  const auto branch = [&] {
    code_.open();
    open_scope();
    statement();
    close_scope();
    const bool dead = code_.dead();
    return std::pair(code_.close(), dead);
  };
  auto [yes, yes_dead] = branch();
  ir::Body no;
  bool no_dead = false;
  if (accept("else")) std::tie(no, no_dead) = branch();
  close_scope();
  if (!yes.empty() || !no.empty()) code_.emit(ir::if_(condition, std::move(yes), std::move(no)));
  if (yes_dead && no_dead) code_.kill();
}

void Translator::loop_body(Exit& done, Exit& next) {
  breaks_.push_back(&done);
  continues_.push_back(&next);
  within(next, [&] {
    open_scope();
    statement();
    close_scope();
  });
  breaks_.pop_back();
  continues_.pop_back();
}

void Translator::while_statement() {
  take();
  expect("(", "while");
  Exit done{code_.fresh("done"), false}, next{code_.fresh("next"), false};
  within(done, [&] {
    code_.open();
    const ExprRef condition = truth(comma_expression());
    expect(")", "the condition");
    code_.open();
    leave(done);
    ir::Body out = code_.close();
    code_.emit(ir::if_(condition, {}, std::move(out)));
    loop_body(done, next);
    ir::Body body = code_.close();
    code_.emit(ir::while_(boolean(true), std::move(body)));
    code_.kill();
  });
}

void Translator::do_statement() {
  take();
  Exit done{code_.fresh("done"), false}, next{code_.fresh("next"), false};
  within(done, [&] {
    code_.open();
    loop_body(done, next);
    if (!accept("while")) fail(peek().span, "'while' belongs behind the body of 'do'");
    expect("(", "while");
    const ExprRef condition = truth(comma_expression());
    expect(")", "the condition");
    if (peek().kind != Token::Kind::end) expect(";", "a statement");
    code_.open();
    leave(done);
    ir::Body out = code_.close();
    code_.emit(ir::if_(condition, {}, std::move(out)));
    ir::Body body = code_.close();
    code_.emit(ir::while_(boolean(true), std::move(body)));
    code_.kill();
  });
}

void Translator::for_statement() {
  open_scope();
  if (!counted_for()) {
    take();
    expect("(", "for");
    if (!accept(";")) {
      if (begins_type())
        declaration();
      else
        comma_expression(), expect(";", "where a loop begins");
    }
    Exit done{code_.fresh("done"), false}, next{code_.fresh("next"), false};
    within(done, [&] {
      code_.open();
      if (!peek().is(";")) {
        const ExprRef condition = truth(comma_expression());
        code_.open();
        leave(done);
        ir::Body out = code_.close();
        code_.emit(ir::if_(condition, {}, std::move(out)));
      }
      expect(";", "a loop's condition");
      const size_t step = at_;
      int depth = 0;
      while (depth > 0 || !peek().is(")")) {
        const Token t = take();
        if (t.kind == Token::Kind::end) fail(t.span, "the '(' of a for is not closed");
        depth += t.is("(") - t.is(")");
      }
      take();
      loop_body(done, next);
      at(tokens_, step, [&] {
        if (!peek().is(")")) comma_expression();
        expect(")", "a loop's step");
      });
      ir::Body body = code_.close();
      code_.emit(ir::while_(boolean(true), std::move(body)));
      code_.kill();
    });
  }
  close_scope();
}

bool Translator::counted_for() {
  // for ( TYPE k = FIRST ; k < LAST ; ++k ) BODY
  const size_t begin = at_;
  size_t p = at_ + 2;
  const auto& words = tokens_->words;
  const auto word = [&](size_t k) -> const Token& { return words[std::min(k, words.size() - 1)]; };
  if (!word(begin + 1).is("(")) return false;
  size_t assign = p;
  while (word(assign).kind == Token::Kind::name) ++assign;
  if (assign < p + 2 || !word(assign).is("=")) return false;
  const std::string_view counter = word(assign - 1).text;
  size_t test = assign;
  int nesting = 0;
  while (!word(test).is(";") || nesting > 0) {
    // The beginning may be read twice, so it does nothing.
    const Token& t = word(test);
    const Symbol* s = t.kind == Token::Kind::name ? find(t.text) : nullptr;
    const bool plain = t.kind == Token::Kind::number || (s && s->kind != Symbol::Kind::function && s->kind != Symbol::Kind::array) ||
                       t.is("+") || t.is("-") || t.is("*") || t.is("/") || t.is("(") || t.is(")");
    if (test > assign && !plain) return false;
    nesting += word(test).is("(") - word(test).is(")");
    ++test;
  }
  if (word(test + 1).text != counter || !(word(test + 2).is("<") || word(test + 2).is("<="))) return false;
  const bool inclusive = word(test + 2).is("<=");
  std::vector<std::string_view> bounds{counter};
  size_t step = test + 3;
  for (; !word(step).is(";"); ++step) {
    const Token& t = word(step);
    if (t.kind == Token::Kind::name) {
      const Symbol* s = find(t.text);
      if (!s || (s->kind != Symbol::Kind::number && s->kind != Symbol::Kind::variable)) return false;
      bounds.push_back(t.text);
    } else if (t.kind != Token::Kind::number && !t.is("+") && !t.is("-") && !t.is("*") && !t.is("/") && !t.is("(") && !t.is(")")) {
      return false;
    }
  }
  const bool before = word(step + 1).is("++") && word(step + 2).text == counter && word(step + 3).is(")"),
             behind = word(step + 1).text == counter && word(step + 2).is("++") && word(step + 3).is(")"),
             added = word(step + 1).text == counter && word(step + 2).is("+=") && word(step + 3).text == "1" && word(step + 4).is(")");
  if (!before && !behind && !added) return false;
  const size_t body = step + (added ? 5 : 4);
  // The body: to the end of the statement; whether it changes the counter or a bound.
  size_t end = body;
  int depth = 0;
  const auto changes = [&](size_t k) {
    const bool known = std::find(bounds.begin(), bounds.end(), word(k).text) != bounds.end();
    return known && word(k).kind == Token::Kind::name &&
           (assigns(word(k + 1)) || word(k + 1).is("++") || word(k + 1).is("--") || word(k - 1).is("++") || word(k - 1).is("--") ||
            word(k - 1).is("&"));
  };
  // A function may take a reference: names that are arguments of the script's functions may change.
  for (; word(end).kind != Token::Kind::end; ++end) {
    if (changes(end)) return false;
    if (const Symbol* s = word(end).kind == Token::Kind::name ? find(word(end).text) : nullptr; s && s->kind == Symbol::Kind::function)
      return false;
    depth += word(end).is("{") - word(end).is("}");
    if (depth <= 0 && (word(end).is("}") || (word(end).is(";") && !word(body).is("{")))) break;
  }

  take(), take();
  const TypeWords type = type_words();
  if (!type.dtype || !is_integer(*type.dtype) || at_ + 1 != assign) {
    at_ = begin;
    return false;
  }
  take(), take();
  const Value first = assignment();
  const ExprRef from = fixed(ir::cast(convert(number(first), *type.dtype, first.span), DType::i64), "first");
  expect(";", "where a loop begins");
  take(), take();
  const Value bound = binary(0);
  const DType compared = common_type(*type.dtype, number(bound)->type);
  // Where C compares as unsigned or as floats, or the counter goes round before it comes to the bound, it is no plain count.
  const bool counts = kind(*type.dtype) == 'i' ? kind(compared) == 'i' : compared == DType::u32 && *type.dtype == DType::u32;
  if (!counts) {
    at_ = begin;
    return false;
  }
  ExprRef to = ir::cast(convert(number(bound), compared, bound.span), DType::i64);
  if (inclusive) to = to + constant_i64(1);
  to = fixed(to, "last");
  expect(";", "a loop's condition");
  at_ = body;
  Exit done{code_.fresh("done"), false}, next{code_.fresh("next"), false};
  within(done, [&] {
    const std::string k = code_.fresh(counter);
    code_.open();
    scopes_.back()[std::string(counter)] = {
        .kind = Symbol::Kind::number, .dtype = *type.dtype, .number = ir::cast(ir::variable(k, DType::i64), *type.dtype), .is_const = true};
    loop_body(done, next);
    ir::Body inside = code_.close();
    code_.emit(ir::loop(k, from, to, ir::LoopKind::serial, std::move(inside)));
  });
  return true;
}

void Translator::return_statement(Span span) {
  const bool nothing = peek().is(";") || peek().kind == Token::Kind::end;
  if (!result_) {
    if (!nothing) fail(span, "a kernel's body returns nothing");
    accept(";");
    return leave(*return_exit_);
  }
  if (result_->is_void) {
    if (!nothing) fail(span, "this function returns nothing: its type is void");
  } else {
    if (nothing) fail(span, "this function returns a number");
    const Value v = comma_expression();
    const ExprRef e = number(v);
    if (!result_->dtype) result_->dtype = e->type;
    code_.emit(ir::assign(result_->variable, convert(e, *result_->dtype, v.span)));
  }
  expect(";", "a statement");
  leave(*return_exit_);
}

}  // namespace gasell::c_kernels
