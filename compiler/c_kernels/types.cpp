// C's types of numbers, and what operands of two types become.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "compiler/c_kernels/translator.h"

namespace gasell::c_kernels {
namespace {

const std::unordered_map<std::string_view, DType>& names() {
  static const std::unordered_map<std::string_view, DType> kNames = {
      {"bool", DType::boolean},  {"float", DType::f32},          {"double", DType::f64},          {"size_t", DType::u64},
      {"ssize_t", DType::i64},   {"ptrdiff_t", DType::i64},      {"intptr_t", DType::i64},        {"uintptr_t", DType::u64},
      {"int8_t", DType::i8},     {"int16_t", DType::i16},        {"int32_t", DType::i32},         {"int64_t", DType::i64},
      {"uint8_t", DType::u8},    {"uint16_t", DType::u16},       {"uint32_t", DType::u32},        {"uint64_t", DType::u64},
      {"uint", DType::u32},      {"uchar", DType::u8},           {"ushort", DType::u16},          {"ulong", DType::u64},
      {"cuComplex", DType::c64}, {"cuFloatComplex", DType::c64}, {"cuDoubleComplex", DType::c128}};
  return kNames;
}

bool is_integer_word(const Token& t) {
  return t.is("unsigned") || t.is("signed") || t.is("char") || t.is("short") || t.is("int") || t.is("long");
}
bool is_qualifier(const Token& t) {
  return t.is("const") || t.is("volatile") || t.is("static") || t.is("register") || t.is("constexpr") || t.is("inline") ||
         t.is("__restrict__") || t.is("__constant__");
}

int rank_of(DType t) { return size_of(t) * 2 + (kind(t) == 'u'); }

}  // namespace

DType promoted(DType t) { return (is_integer(t) && size_of(t) < 4) || t == DType::boolean ? DType::i32 : t; }

DType common_type(DType a, DType b) {
  if (is_complex(a) || is_complex(b)) return real_of(a) == DType::f64 || real_of(b) == DType::f64 ? DType::c128 : DType::c64;
  if (is_float(a) || is_float(b)) return is_float(a) && is_float(b) ? (size_of(a) > size_of(b) ? a : b) : is_float(a) ? a : b;
  a = promoted(a), b = promoted(b);
  return rank_of(a) > rank_of(b) ? a : b;
}

std::string c_name(DType t) {
  switch (t) {
    case DType::boolean: return "bool";
    case DType::i8: return "signed char";
    case DType::i16: return "short";
    case DType::i32: return "int";
    case DType::i64: return "long long";
    case DType::u8: return "unsigned char";
    case DType::u16: return "unsigned short";
    case DType::u32: return "unsigned int";
    case DType::u64: return "unsigned long long";
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::c64: return "complex<float>";
    case DType::c128: return "complex<double>";
    case DType::f16: throw Error("NotImplementedError", "float16 in kernels of C++ is not in Gasell", "give float32", Blame::limitation);
  }
  return "";
}

bool Translator::begins_type(size_t ahead) {
  const Token& t = peek(ahead);
  if (t.kind != Token::Kind::name) return false;
  if (is_integer_word(t) || is_qualifier(t) || t.is("auto") || t.is("void") || t.is("struct") || t.is("half") || t.is("float16") ||
      t.is("typename"))
    return true;
  if (t.is("std") || t.is("thrust")) return peek(ahead + 1).is("::") && begins_type(ahead + 2);
  if (const Symbol* s = find(t.text)) return s->kind == Symbol::Kind::type;
  if (t.is("complex")) return peek(ahead + 1).is("<");
  return names().contains(t.text);
}

Translator::TypeWords Translator::type_words() {
  TypeWords result;
  result.span = peek().span;
  int longs = 0, shorts = 0, chars = 0, ints = 0, signs = 0;
  bool is_unsigned = false, any_integer = false;
  for (;;) {
    const Token t = peek();
    if (is_qualifier(t)) {
      result.is_const = result.is_const || t.is("const") || t.is("constexpr") || t.is("__constant__");
    } else if (is_integer_word(t) && !result.dtype && !result.is_void && !result.is_auto) {
      any_integer = true;
      longs += t.is("long"), shorts += t.is("short"), chars += t.is("char"), ints += t.is("int");
      signs += t.is("unsigned") || t.is("signed");
      is_unsigned = is_unsigned || t.is("unsigned");
    } else if (any_integer && t.is("double") && longs == 1) {
      unknown(t.span, "long double is not in Gasell: GPUs have no such type", "double");
    } else if (any_integer || result.dtype || result.is_void || result.is_auto) {
      break;
    } else if (t.is("typename")) {
    } else if (t.is("auto")) {
      result.is_auto = true;
    } else if (t.is("void")) {
      result.is_void = true;
    } else if (t.is("struct") || t.is("class") || t.is("enum") || t.is("union")) {
      unknown(t.span, "'" + std::string(t.text) + "' is not in Gasell: values are numbers");
    } else if (t.is("half") || t.is("float16") || t.is("__half")) {
      unknown(t.span, "float16 is not in Gasell", "float");
    } else if ((t.is("std") || t.is("thrust")) && peek(1).is("::")) {
      take();
    } else if (const Symbol* s = find(t.text); s && s->kind == Symbol::Kind::type) {
      result.dtype = s->dtype;
    } else if (t.is("complex") && peek(1).is("<")) {
      take(), take();
      const DType part = number_type("complex");
      if (!is_float(part)) fail(peek().span, "the parts of a complex number are float or double, not " + c_name(part));
      if (!peek().is(">")) expect(">", "complex<float");
      result.dtype = complex_of(part);
    } else if (const auto known = names().find(t.text); known != names().end()) {
      result.dtype = known->second;
    } else if (t.kind == Token::Kind::name) {
      fail(t.span, "'" + std::string(t.text) + "' is no type that is known here");
    } else {
      fail(t.span, t.kind == Token::Kind::end ? "a type belongs here, and the text ends"
                                              : "a type belongs here, and this is '" + std::string(t.text) + "'");
    }
    result.span = join(result.span, t.span);
    take();
  }
  if (any_integer) {
    if (longs > 2 || shorts > 1 || chars > 1 || ints > 1 || signs > 1 || (longs > 0) + (shorts > 0) + (chars > 0) > 1 || (chars && ints))
      fail(result.span, "these words make no type");
    result.dtype = chars    ? (is_unsigned ? DType::u8 : DType::i8)
                   : shorts ? (is_unsigned ? DType::u16 : DType::i16)
                   : longs  ? (is_unsigned ? DType::u64 : DType::i64)
                            : (is_unsigned ? DType::u32 : DType::i32);
  }
  return result;
}

void Translator::refuse_pointer() {
  if (peek().is("*"))
    unknown(peek().span, "pointers are not in Gasell", "a raw array is indexed: y[k]; a function takes numbers and references");
}

DType Translator::number_type(const char* what) {
  const TypeWords t = type_words();
  refuse_pointer();
  if (!t.dtype) fail(t.span, std::string(what) + " needs a type of numbers");
  return *t.dtype;
}

}  // namespace gasell::c_kernels
