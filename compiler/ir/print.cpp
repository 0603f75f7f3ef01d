#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "compiler/ir/text.h"

namespace gasell::ir {
namespace {

const std::map<ScalarOp, const char*>& infix() {
  static const std::map<ScalarOp, const char*> kInfix = {
      {ScalarOp::add, "+"},       {ScalarOp::sub, "-"},          {ScalarOp::mul, "*"},        {ScalarOp::div, "/"},
      {ScalarOp::floordiv, "//"}, {ScalarOp::mod, "%"},          {ScalarOp::bit_and, "&"},    {ScalarOp::bit_or, "|"},
      {ScalarOp::bit_xor, "^"},   {ScalarOp::shl, "<<"},         {ScalarOp::shr, ">>"},       {ScalarOp::eq, "=="},
      {ScalarOp::ne, "!="},       {ScalarOp::lt, "<"},           {ScalarOp::le, "<="},        {ScalarOp::gt, ">"},
      {ScalarOp::ge, ">="},       {ScalarOp::logical_and, "&&"}, {ScalarOp::logical_or, "||"}};
  return kInfix;
}

std::string type_name(DType t) {
  static constexpr const char* kNames[] = {"bool", "i8",  "i16", "i32", "i64", "u8",   "u16",
                                           "u32",  "u64", "f32", "f64", "c64", "c128", "f16"};
  return kNames[static_cast<int>(t)];
}

const char* space_name(Space space) {
  static constexpr const char* kNames[] = {"", "warp", "block"};
  return kNames[static_cast<int>(space)];
}

std::string number(double v) {
  if (std::isnan(v)) return std::signbit(v) ? "-nan" : "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, v).ptr;
  std::string s(text, end);
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

std::string literal(const Scalar& v) {
  if (kind(v.type) == 'b') return v.i ? "true" : "false";
  std::string text;
  if (v.is_integral())
    text = v.type == DType::u64 ? std::to_string(static_cast<uint64_t>(v.i)) : std::to_string(v.i);
  else if (is_complex(v.type))
    text = "(" + number(v.c.real()) + ", " + number(v.c.imag()) + ")";
  else
    text = number(v.c.real());
  return v.type == DType::i64 || v.type == DType::f64 ? text : text + type_name(v.type);
}

class Printer {
 public:
  std::string text;

  void statement(const Stmt& s, int depth) {
    text.append(static_cast<size_t>(depth) * 2, ' ');
    switch (s.kind) {
      case StmtKind::let: text += "let " + s.name + ": " + type_name(s.type) + " = " + print(s.value); break;
      case StmtKind::var: text += "var " + s.name + ": " + type_name(s.type) + " = " + print(s.value); break;
      case StmtKind::assign: text += s.name + " = " + print(s.value); break;
      case StmtKind::local_array:
        text += "local " + s.name + ": " + type_name(s.type) + "[" + std::to_string(s.size) + "]" +
                (s.space == Space::automatic ? "" : " ") + space_name(s.space);
        break;
      case StmtKind::store: text += s.name + "[" + print(s.index) + "] = " + print(s.value); break;
      case StmtKind::loop: {
        static constexpr const char* kKinds[] = {"", " simd", " unit", " team", " across ", " within "};
        text += "for " + s.name + " in " + print(s.begin) + " .. " + print(s.end) + kKinds[static_cast<int>(s.loop_kind)];
        if (s.width) text += print(s.width);
        block(s.body, depth);
        break;
      }
      case StmtKind::if_:
        text += "if " + print(s.value);
        block(s.body, depth);
        if (!s.orelse.empty()) {
          text += " else";
          block(s.orelse, depth);
        }
        break;
      case StmtKind::while_:
        text += "while " + print(s.value);
        block(s.body, depth);
        break;
      case StmtKind::barrier: text += std::string("barrier ") + space_name(s.space); break;
      case StmtKind::prefetch: text += "prefetch " + s.name + "[" + print(s.index) + "]"; break;
      case StmtKind::scope:
        text += "scope " + s.name + (s.catches ? " catch" : "");
        block(s.body, depth);
        break;
      case StmtKind::leave: text += "leave " + s.name; break;
      case StmtKind::raise: text += "raise " + std::to_string(s.size) + list(s.args); break;
      case StmtKind::check:
        text += "check " + s.name + " = " + print(s.value) + " of " + print(s.end) + " else " + std::to_string(s.size);
        break;
      case StmtKind::allocate:
        text += "allocate " + s.name + ": " + type_name(s.type) + "[" + print(s.index) + "] else " + std::to_string(s.size);
        break;
      case StmtKind::pointer:
        text += "pointer " + s.name + ": " + type_name(s.type) + " = " +
                (s.value            ? "at " + print(s.value)
                 : s.source.empty() ? "null"
                                    : s.source);
        break;
      case StmtKind::point: text += "point " + s.name + " = " + s.source; break;
      case StmtKind::call:
        text += "call " + (s.name.empty() ? "" : s.name + ": " + type_name(s.type) + " = ") + s.source + list(s.args);
        break;
      case StmtKind::poll: text += "poll"; break;
      case StmtKind::atomic:
        text += "atomic " + s.name + ": " + type_name(s.type) + " = " + s.operation + " " + s.source + "[" + print(s.index) + "]" +
                list(s.args);
        break;
      case StmtKind::simt:
        text += "simt " + (s.name.empty() ? "" : s.name + ": " + type_name(s.type) + " = ") + s.source + list(s.args) + " else " +
                std::to_string(s.size);
        break;
    }
    text += '\n';
  }

 private:
  static std::string list(const std::vector<ExprRef>& args) {
    std::string result = "(";
    for (size_t k = 0; k < args.size(); ++k) result += (k ? ", " : "") + print(args[k]);
    return result + ")";
  }

  void block(const Body& body, int depth) {
    text += " {\n";
    for (const StmtRef& s : body) statement(*s, depth + 1);
    text.append(static_cast<size_t>(depth) * 2, ' ');
    text += '}';
  }

  friend std::string gasell::ir::print(const Kernel&);
};

}  // namespace

std::string print(const ExprRef& e) {
  switch (e->kind) {
    case ExprKind::constant: return literal(e->value);
    case ExprKind::variable: return e->name;
    case ExprKind::load: return e->name + "[" + print(e->args[0]) + "]";
    case ExprKind::cast: return type_name(e->type) + "(" + print(e->args[0]) + ")";
    case ExprKind::bitcast: return "bits_" + type_name(e->type) + "(" + print(e->args[0]) + ")";
    case ExprKind::address: return "address(" + e->name + ")";
    case ExprKind::op: break;
  }
  if (auto sign = infix().find(e->op); sign != infix().end())
    return "(" + print(e->args[0]) + " " + sign->second + " " + print(e->args[1]) + ")";
  std::string text = std::string(info(e->op).name) + "(";
  for (size_t k = 0; k < e->args.size(); ++k) text += (k ? ", " : "") + print(e->args[k]);
  return text + ")";
}

std::string print_head(const Stmt& s) {
  Stmt head = s;
  head.body.clear();
  head.orelse.clear();
  Printer printer;
  printer.statement(head, 0);
  return printer.text.substr(0, std::min(printer.text.find(" {\n"), printer.text.find('\n')));
}

std::string print(const Kernel& kernel) {
  Printer printer;
  printer.text = "kernel " + kernel.name + "(";
  for (size_t k = 0; k < kernel.params.size(); ++k) {
    static constexpr const char* kKinds[] = {"in ", "out ", "", "any "};
    const Parameter& p = kernel.params[k];
    printer.text += (k ? ", " : "") + std::string(kKinds[static_cast<int>(p.kind)]) + p.name + ": " + type_name(p.type);
  }
  printer.text += ")";
  if (kernel.threads) printer.text += " threads " + std::to_string(kernel.threads);
  if (kernel.registers) printer.text += " registers " + std::to_string(kernel.registers);
  if (kernel.function) printer.text += " function";
  if (kernel.simt) printer.text += " simt";
  if (kernel.fast_math) printer.text += " fast";
  printer.block(kernel.body, 0);
  printer.text += '\n';
  return std::move(printer.text);
}

}  // namespace gasell::ir
