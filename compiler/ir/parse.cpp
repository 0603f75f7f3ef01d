// Loop IR text back to IR. Recursive descent over a handful of tokens; the grammar is in docs/loop_ir.md.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"
#include "lang/diagnostic.h"

namespace gasell::ir {
namespace {

std::optional<DType> type_from(std::string_view name) {
  static constexpr std::string_view kNames[] = {"bool", "i8",  "i16", "i32", "i64", "u8",   "u16",
                                                "u32",  "u64", "f32", "f64", "c64", "c128", "f16"};
  for (int k = 0; k < kDTypeCount; ++k)
    if (kNames[k] == name) return static_cast<DType>(k);
  return {};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  Kernel kernel() {
    Kernel k;
    expect("kernel");
    k.name = name();
    expect("(");
    while (token_ != ")") {
      Parameter p;
      p.kind = Parameter::Kind::scalar;
      static const std::map<std::string_view, Parameter::Kind> kKinds = {
          {"in", Parameter::Kind::in}, {"out", Parameter::Kind::out}, {"any", Parameter::Kind::any}};
      if (const auto found = kKinds.find(token_); found != kKinds.end() && next() != ":") {
        p.kind = found->second;
        advance();
      }
      p.name = name();
      expect(":");
      p.type = type();
      types_[p.name] = p.type;
      k.params.push_back(std::move(p));
      if (token_ != ")") expect(",");
    }
    expect(")");
    for (const auto& [word, number] : {std::pair{"threads", &k.threads}, std::pair{"registers", &k.registers}}) {
      if (token_ != word) continue;
      advance();
      *number = static_cast<int>(whole_number());
    }
    for (const auto& [word, flag] : {std::pair{"function", &k.function}, std::pair{"simt", &k.simt}, std::pair{"fast", &k.fast_math}}) {
      if (token_ != word) continue;
      *flag = true;
      advance();
    }
    k.body = block();
    if (!token_.empty()) fail("the kernel ends here");
    return k;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    int line = 1, column = 1;
    for (size_t i = 0; i < start_ && i < text_.size(); ++i) {
      if (text_[i] == '\n')
        ++line, column = 1;
      else
        ++column;
    }
    throw Error("SyntaxError", "loop IR, line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + what);
  }

  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

  void advance() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    start_ = at_;
    if (at_ == text_.size()) return void(token_ = "");
    const char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c))) {
      // Digits, a fraction (but not the .. of a range), an exponent, a type.
      while (at_ < text_.size() && (is_word(text_[at_]) || (text_[at_] == '.' && text_.substr(at_, 2) != "..") ||
                                    ((text_[at_] == '-' || text_[at_] == '+') && text_[at_ - 1] == 'e')))
        ++at_;
    } else if (is_word(c)) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    } else {
      static constexpr std::string_view kLong[] = {"..", "//", "<<", ">>", "==", "!=", "<=", ">=", "&&", "||"};
      at_ += 1;
      for (std::string_view symbol : kLong)
        if (text_.substr(start_, 2) == symbol) at_ = start_ + 2;
    }
    token_ = text_.substr(start_, at_ - start_);
  }

  /// The token behind this one.
  std::string_view next() {
    const auto [at, start, token] = std::tuple{at_, start_, token_};
    advance();
    const std::string_view result = token_;
    std::tie(at_, start_, token_) = std::tuple{at, start, token};
    return result;
  }

  void expect(std::string_view what) {
    if (token_ != what) fail("expected '" + std::string(what) + "', found '" + std::string(token_) + "'");
    advance();
  }
  std::string name() {
    if (token_.empty() || !is_word(token_[0]) || std::isdigit(static_cast<unsigned char>(token_[0]))) fail("expected a name");
    std::string result(token_);
    advance();
    return result;
  }
  DType type() {
    const auto t = type_from(token_);
    if (!t) fail("expected a type");
    advance();
    return *t;
  }

  int64_t whole_number() {
    const int64_t number = std::strtoll(std::string(token_).c_str(), nullptr, 10);
    advance();
    return number;
  }
  std::optional<Space> space() {
    static const std::map<std::string_view, Space> kSpaces = {{"warp", Space::warp}, {"block", Space::block}};
    const auto found = kSpaces.find(token_);
    if (found == kSpaces.end()) return {};
    advance();
    return found->second;
  }

  Body block() {
    expect("{");
    Body body;
    while (token_ != "}") {
      if (token_.empty()) fail("expected '}'");
      body.push_back(statement());
    }
    advance();
    return body;
  }

  std::vector<ExprRef> list() {
    std::vector<ExprRef> args;
    expect("(");
    while (token_ != ")") {
      args.push_back(expression());
      if (token_ != ")") expect(",");
    }
    advance();
    return args;
  }
  int64_t site() {
    expect("else");
    return whole_number();
  }

  StmtRef statement() {
    // Words that begin statements are names, too.
    if (const std::string_view behind = next(); behind == "=" || behind == "[") return assignment();
    if (const auto s = function_statement()) return s;
    if (token_ == "let" || token_ == "var") {
      const bool is_let = token_ == "let";
      advance();
      std::string n = name();
      expect(":");
      const DType t = type();
      expect("=");
      ExprRef value = expression();
      if (value->type != t) fail("the value of " + n + " has another type");
      types_[n] = t;
      return is_let ? let(n, value) : var(n, value);
    }
    if (token_ == "local") {
      advance();
      std::string n = name();
      expect(":");
      const DType t = type();
      expect("[");
      Stmt array = *local_array(n, t, whole_number());
      expect("]");
      types_[n] = t;
      if (const auto s = space()) array.space = *s;
      return make_statement(std::move(array));
    }
    if (token_ == "for") {
      advance();
      std::string n = name();
      expect("in");
      ExprRef begin = expression();
      expect("..");
      ExprRef end = expression();
      static const std::map<std::string_view, LoopKind> kKinds = {{"simd", LoopKind::simd},
                                                                  {"unit", LoopKind::unit},
                                                                  {"team", LoopKind::team},
                                                                  {"across", LoopKind::across},
                                                                  {"within", LoopKind::within}};
      LoopKind kind = LoopKind::serial;
      ExprRef width;
      if (const auto found = kKinds.find(token_); found != kKinds.end()) {
        kind = found->second;
        advance();
        if (kind == LoopKind::across || kind == LoopKind::within) width = expression();
      }
      types_[n] = DType::i64;
      Stmt s = *loop(n, begin, end, kind, block());
      s.width = width;
      return make_statement(std::move(s));
    }
    if (token_ == "barrier") {
      advance();
      const auto s = space();
      if (!s) fail("expected warp or block");
      return barrier(*s);
    }
    if (token_ == "prefetch") {
      advance();
      std::string array = name();
      expect("[");
      ExprRef index = expression();
      expect("]");
      return prefetch(array, index);
    }
    if (token_ == "if") {
      advance();
      ExprRef condition = expression();
      Body then = block(), orelse;
      if (token_ == "else") {
        advance();
        orelse = block();
      }
      return if_(condition, std::move(then), std::move(orelse));
    }
    if (token_ == "while") {
      advance();
      ExprRef condition = expression();
      return while_(condition, block());
    }
    return assignment();
  }

  /// A statement that only compiled functions have; null when it is another, with nothing consumed.
  StmtRef function_statement() {
    const auto begins = [this](std::string_view word) {
      if (token_ != word) return false;
      advance();
      return true;
    };
    const auto typed = [this] {
      std::string n = name();
      expect(":");
      const DType t = types_[n] = type();
      return std::pair{n, t};
    };
    if (begins("scope")) {
      std::string n = name();
      const bool catches = begins("catch");
      return scope(n, block(), catches);
    }
    if (begins("leave")) return leave(name());
    if (begins("poll")) return poll();
    if (begins("raise")) {
      const int64_t number = whole_number();
      return raise(number, list());
    }
    if (begins("check")) {
      std::string n = name();
      expect("=");
      ExprRef index = expression();
      expect("of");
      ExprRef extent = expression();
      types_[n] = DType::i64;
      return check(n, index, extent, site());
    }
    if (begins("allocate")) {
      const auto [n, t] = typed();
      expect("[");
      ExprRef count = expression();
      expect("]");
      return allocate(n, t, count, site());
    }
    if (begins("pointer")) {
      const auto [n, t] = typed();
      expect("=");
      if (begins("at")) return pointer_at(n, t, expression());
      std::string source = name();
      return pointer(n, t, source == "null" ? "" : source);
    }
    if (begins("point")) {
      std::string n = name();
      expect("=");
      return point(n, name());
    }
    if (begins("atomic")) {
      const auto [n, t] = typed();
      expect("=");
      std::string operation = name(), array = name();
      expect("[");
      ExprRef index = expression();
      expect("]");
      return atomic(n, operation, array, t, index, list());
    }
    if (begins("simt")) {
      std::string n;
      DType t = DType::i64;
      if (next() == ":") {
        std::tie(n, t) = typed();
        expect("=");
      }
      std::string function = name();
      std::vector<ExprRef> args = list();
      return simt(n, t, function, std::move(args), site());
    }
    if (begins("call")) {
      if (next() != ":") {
        std::string function = name();
        return call("", DType::i64, function, list());
      }
      const auto [n, t] = typed();
      expect("=");
      std::string function = name();
      return call(n, t, function, list());
    }
    return nullptr;
  }

  StmtRef assignment() {
    std::string n = name();
    if (token_ == "[") {
      advance();
      ExprRef index = expression();
      expect("]");
      expect("=");
      return store(n, index, expression());
    }
    expect("=");
    return assign(n, expression());
  }

  /// Operators come in parentheses, one each: (a + b).
  ExprRef expression() {
    if (token_ == "(") {
      advance();
      if (auto c = complex_literal()) return c;
      ExprRef left = expression();
      if (token_ == ")") {
        advance();
        return left;
      }
      const auto found = infix().find(token_);
      if (found == infix().end()) fail("expected an operator, found '" + std::string(token_) + "'");
      advance();
      ExprRef right = expression();
      expect(")");
      return checked(found->second, {left, right});
    }
    if (token_ == "-" || (!token_.empty() && std::isdigit(static_cast<unsigned char>(token_[0])))) return constant(number());
    if (token_ == "inf" || token_ == "nan" || token_.starts_with("inff") || token_.starts_with("nanf")) return constant(number());
    if (token_ == "true" || token_ == "false") {
      const bool v = token_ == "true";
      advance();
      return constant(Scalar::of_bool(v));
    }
    std::string n = name();
    if (token_ == "[") {
      advance();
      ExprRef index = expression();
      expect("]");
      return load(n, type_of(n), index);
    }
    if (token_ != "(") return variable(n, type_of(n));
    if (n == "address") {
      advance();
      ExprRef result = address(name());
      expect(")");
      return result;
    }
    std::vector<ExprRef> args = list();
    if (const auto t = type_from(n); t && args.size() == 1) return cast(args[0], *t);
    if (n.starts_with("bits_")) {
      if (const auto t = type_from(n.substr(5)); t && args.size() == 1) return bitcast(args[0], *t);
    }
    const auto op = scalar_op_from_name(n);
    if (!op) fail("no operation is called " + n);
    return checked(*op, std::move(args));
  }

  ExprRef checked(ScalarOp which, std::vector<ExprRef> args) {
    try {
      return op(which, std::move(args));
    } catch (const Error& error) {
      fail(error.diagnostic().message);
    }
  }

  DType type_of(const std::string& n) {
    const auto found = types_.find(n);
    if (found == types_.end()) fail(n + " is not declared");
    return found->second;
  }

  static const std::map<std::string_view, ScalarOp>& infix() {
    static const std::map<std::string_view, ScalarOp> kInfix = {
        {"+", ScalarOp::add},       {"-", ScalarOp::sub},          {"*", ScalarOp::mul},        {"/", ScalarOp::div},
        {"//", ScalarOp::floordiv}, {"%", ScalarOp::mod},          {"&", ScalarOp::bit_and},    {"|", ScalarOp::bit_or},
        {"^", ScalarOp::bit_xor},   {"<<", ScalarOp::shl},         {">>", ScalarOp::shr},       {"==", ScalarOp::eq},
        {"!=", ScalarOp::ne},       {"<", ScalarOp::lt},           {"<=", ScalarOp::le},        {">", ScalarOp::gt},
        {">=", ScalarOp::ge},       {"&&", ScalarOp::logical_and}, {"||", ScalarOp::logical_or}};
    return kInfix;
  }

  /// A number with its type as suffix; i64 and f64 go without.
  Scalar number() {
    const bool negative = token_ == "-";
    if (negative) advance();
    std::string text(token_);
    DType type = DType::f64;
    for (const char* suffix : {"i8", "i16", "i32", "u8", "u16", "u32", "u64", "f32", "f16"}) {
      if (text.size() > std::string_view(suffix).size() && text.ends_with(suffix)) {
        type = *type_from(suffix);
        text.resize(text.size() - std::string_view(suffix).size());
        break;
      }
    }
    advance();
    const bool integral = is_integer(type) || (type == DType::f64 && text.find_first_of(".en") == std::string::npos);
    if (integral) {
      if (type == DType::f64) type = DType::i64;
      const uint64_t magnitude = std::strtoull(text.c_str(), nullptr, 10);
      return Scalar::of_int(static_cast<int64_t>(negative ? 0 - magnitude : magnitude)).cast(type);
    }
    const double v = text == "inf"   ? std::numeric_limits<double>::infinity()
                     : text == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                     : std::strtod(text.c_str(), nullptr);
    return Scalar::of_float(negative ? -v : v, type);
  }

  /// "re, im)" and a complex suffix, behind an opening parenthesis; nothing consumed when it is something else.
  ExprRef complex_literal() {
    const size_t at = at_, start = start_;
    const std::string_view token = token_;
    const bool numeric =
        token_ == "-" || token_ == "inf" || token_ == "nan" || (!token_.empty() && std::isdigit(static_cast<unsigned char>(token_[0])));
    if (numeric) {
      const Scalar re = number();
      if (token_ == ",") {
        advance();
        const Scalar im = number();
        expect(")");
        DType type = DType::c128;
        if (token_ == "c64" || token_ == "c128") type = this->type();
        return constant(Scalar::of_complex({re.c.real(), im.c.real()}, type));
      }
    }
    at_ = at, start_ = start, token_ = token;
    return nullptr;
  }

  std::string_view text_, token_;
  size_t at_ = 0, start_ = 0;
  std::unordered_map<std::string, DType> types_;
};

}  // namespace

Kernel parse(std::string_view text) {
  Kernel kernel = Parser(text).kernel();
  verify(kernel);
  return kernel;
}

}  // namespace gasell::ir
