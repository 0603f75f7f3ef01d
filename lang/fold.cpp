// Operators by precedence: the grammar hands over `operand operator operand …` flat, so that neither a long sum nor twenty levels of
// precedence recurse. Operator precedence parsing with two stacks; comparisons and `and`/`or` reduce as whole chains.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "lang/literals.h"
#include "lang/parser.h"
#include "lang/reductions.h"

namespace gasell::syntax {

using namespace ast;

namespace {

constexpr int kNotLevel = 3, kCompareLevel = 4, kUnaryLevel = 11, kPowerLevel = 12;

struct Operator {
  std::string_view text;
  int level;
  BinaryOp binary = {};
  CompareOp compare = {};
};
constexpr Operator kBinaryOperators[] = {
    {"or", 1},
    {"and", 2},
    {"==", kCompareLevel, {}, CompareOp::eq},
    {"!=", kCompareLevel, {}, CompareOp::ne},
    {"<", kCompareLevel, {}, CompareOp::lt},
    {"<=", kCompareLevel, {}, CompareOp::le},
    {">", kCompareLevel, {}, CompareOp::gt},
    {">=", kCompareLevel, {}, CompareOp::ge},
    {"is", kCompareLevel, {}, CompareOp::is},
    {"is not", kCompareLevel, {}, CompareOp::is_not},
    {"in", kCompareLevel, {}, CompareOp::in},
    {"not in", kCompareLevel, {}, CompareOp::not_in},
    {"|", 5, BinaryOp::bit_or},
    {"^", 6, BinaryOp::bit_xor},
    {"&", 7, BinaryOp::bit_and},
    {"<<", 8, BinaryOp::lshift},
    {">>", 8, BinaryOp::rshift},
    {"+", 9, BinaryOp::add},
    {"-", 9, BinaryOp::sub},
    {"*", 10, BinaryOp::mul},
    {"/", 10, BinaryOp::div},
    {"//", 10, BinaryOp::floordiv},
    {"%", 10, BinaryOp::mod},
    {"@", 10, BinaryOp::matmul},
    {"**", kPowerLevel, BinaryOp::pow},
};

struct Pending {
  const Operator* binary;  // null for a prefix
  UnaryOp unary = {};
  int level;
  Span span;
  bool is_chain() const { return binary && level <= kCompareLevel; }
};
struct Operand {
  Span outer;
  ExprRef expr;
};

class Folder {
 public:
  explicit Folder(Builder& b) : b_(b) {}

  Operand run(Items items) {
    bool expects_operand = true;
    for (Item& item : items) {
      if (is_expr(item)) {
        operands_.push_back({item.span, std::move(expr_of(item))});
        expects_operand = false;
      } else if (expects_operand) {
        push_prefix(std::get<Token>(item.value).text, item.span);
      } else {
        push_binary(std::get<Token>(item.value).text, item.span);
        expects_operand = true;
      }
    }
    while (!operators_.empty()) reduce();
    return std::move(operands_.back());
  }

 private:
  void push_prefix(std::string_view text, Span span) {
    const UnaryOp op = text == "-" ? UnaryOp::neg : text == "+" ? UnaryOp::pos : text == "~" ? UnaryOp::invert : UnaryOp::logical_not;
    const int level = op == UnaryOp::logical_not ? kNotLevel : kUnaryLevel;
    if (level == kNotLevel && !operators_.empty() && operators_.back().level > kNotLevel) fail_at(b_.source(), span, "invalid syntax");
    push({nullptr, op, level, span});
    deepen(span);
  }

  void push_binary(std::string_view text, Span span) {
    const Operator& op =
        *std::find_if(std::begin(kBinaryOperators), std::end(kBinaryOperators), [&](const Operator& o) { return o.text == text; });
    if (op.level == kPowerLevel) {
      deepen(span);  // right associative: nothing that stands before it binds tighter
    } else {
      // A chain of comparisons or of one `and`/`or` stays together until something that binds less tightly comes.
      while (!operators_.empty() &&
             (operators_.back().level > op.level || (operators_.back().level == op.level && !operators_.back().is_chain())))
        reduce();
    }
    push({&op, {}, op.level, span});
  }

  void push(Pending op) { operators_.push_back(op); }
  void deepen(Span span) {
    if (++depth_ + b_.nesting > kMaxNesting)
      fail_at(b_.source(), span, fmt::format("too many nested operators (more than {})", kMaxNesting));
  }

  Operand pop() {
    Operand last = std::move(operands_.back());
    operands_.pop_back();
    return last;
  }

  void reduce() {
    const Pending op = operators_.back();
    if (!op.binary) return reduce_prefix();
    if (op.is_chain()) return reduce_chain();
    operators_.pop_back();
    if (op.level == kPowerLevel) --depth_;
    Operand right = pop(), left = pop();
    const Span span = join(left.outer, right.outer);
    operands_.push_back({span, make_expr(span, Binary{op.binary->binary, std::move(left.expr), std::move(right.expr), op.span})});
  }

  void reduce_prefix() {
    const Pending op = operators_.back();
    operators_.pop_back();
    --depth_;
    Operand operand = pop();
    const Span span = join(op.span, operand.outer);
    const auto* literal = std::get_if<BigIntLiteral>(&operand.expr->node);
    if (op.unary == UnaryOp::neg && literal && literal->digits == kTwoTo63) {
      operands_.push_back({span, make_expr(span, IntLiteral{std::numeric_limits<int64_t>::min()})});
      return;
    }
    operands_.push_back({span, make_expr(span, Unary{op.unary, std::move(operand.expr)})});
  }

  void reduce_chain() {
    const int level = operators_.back().level;
    size_t count = 0;
    while (count < operators_.size() && operators_[operators_.size() - 1 - count].level == level &&
           operators_[operators_.size() - 1 - count].binary)
      ++count;
    const auto ops = operators_.end() - static_cast<ptrdiff_t>(count);
    const auto values = operands_.end() - static_cast<ptrdiff_t>(count + 1);
    const Span span = join(values->outer, operands_.back().outer);
    ExprRef result;
    if (level == kCompareLevel) {
      Compare compare{std::move(values->expr), {}, {}};
      for (auto op = ops; op != operators_.end(); ++op) compare.ops.push_back(op->binary->compare);
      for (auto value = values + 1; value != operands_.end(); ++value) compare.comparators.push_back(std::move(value->expr));
      result = make_expr(span, std::move(compare));
    } else {
      BoolChain chain{level == 1 ? BoolOp::logical_or : BoolOp::logical_and, {}};
      for (auto value = values; value != operands_.end(); ++value) chain.values.push_back(std::move(value->expr));
      result = make_expr(span, std::move(chain));
    }
    operators_.erase(ops, operators_.end());
    operands_.erase(values, operands_.end());
    operands_.push_back({span, std::move(result)});
  }

  Builder& b_;
  std::vector<Pending> operators_;
  std::vector<Operand> operands_;
  int depth_ = 0;  // prefixes and powers on the stack
};

}  // namespace

void fold_operators(Builder& b, size_t first, Span) {
  if (b.stack.size() == first + 1) return;
  Operand result = Folder(b).run(b.take(first));
  b.push(result.outer, std::move(result.expr));
}

}  // namespace gasell::syntax
