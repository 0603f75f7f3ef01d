// The words of a C text: what cp.ElementwiseKernel and its like are written in.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/dtype.h"

namespace gasell::c_kernels {

struct Token {
  enum class Kind : uint8_t { name, number, text, punctuator, end } kind = Kind::end;
  std::string_view text;  // in the source; of a macro's words in the source that defines it
  Span span;              // where it stands, or where the macro is used
  Scalar value;           // number, and a character in quotes
  bool is(std::string_view t) const { return text == t && (kind == Kind::punctuator || kind == Kind::name); }
};

/// A text as words; the last is `end`.
struct Tokens {
  SourceRef source;
  std::vector<Token> words;
};
using TokensRef = std::shared_ptr<const Tokens>;

/// Object-like macros: what a name is replaced by. The sources that the words lie in are kept by their Tokens.
struct Macros {
  std::map<std::string, std::vector<Token>, std::less<>> words;
  std::vector<SourceRef> sources;
};

/// What is wrong with a C text, at its place.
[[noreturn]] void refuse(const SourceRef& source, Span span, std::string message, std::string hint = {});
/// C++ that is right, but not in the part of it that is compiled here.
[[noreturn]] void refuse_as_unknown(const SourceRef& source, Span span, std::string message, std::string hint = {});

/// Cuts a text into words. Comments go; `#define NAME words` is added to `macros`, and names that are macros are replaced; `#include` of
/// CUDA's, CuPy's and C's headers and `#pragma` go.
/// Throws Error: CompileException for what is no word of C; NotImplementedError for macros with parameters, conditions, other headers.
TokensRef tokenize(const SourceRef& source, Macros& macros);

}  // namespace gasell::c_kernels
