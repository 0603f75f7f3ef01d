#include "tools/libgasell/signature.h"

#include <algorithm>
#include <cctype>

#include "tools/libgasell/handles.h"

namespace gasell::c_abi {
namespace {

using Kind = ParameterType::Kind;

class SignatureParser {
 public:
  explicit SignatureParser(std::string_view text) : text_(text) {}

  CallSignature parse() {
    CallSignature signature;
    signature.result = take_word("auto") ? ParameterType{Kind::automatic} : type();
    if (!take("(")) fail("expects '(' behind the type of the result");
    while (!take(")")) {
      if (!signature.parameters.empty() && !take(",")) fail("expects ',' or ')' between arguments");
      signature.parameters.push_back(type());
      if (signature.parameters.back().kind == Kind::nothing) fail("void is no type of an argument");
    }
    if (at_ != text_.size()) fail("has something behind the last ')'");
    return signature;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InvalidArgument{"the signature \"" + std::string(text_) + "\" " + what + ", at character " + std::to_string(at_ + 1) +
                          "; one is \"float64(float64[::1], const float64[:, :])\""};
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    skip_spaces();
    return true;
  }
  bool take_word(std::string_view wanted) {
    const size_t before = at_;
    if (word() == wanted) return true;
    at_ = before;
    return false;
  }
  std::string_view word() {
    skip_spaces();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  ParameterType type() {
    std::string_view name = word();
    const bool read_only = name == "const";
    if (read_only) name = word();
    if (name == "void" || name == "none") return {};
    if (name == "str") return {Kind::text};
    if (name == "object") return {Kind::object};
    DType dtype = DType::boolean;
    if (name != "boolean" && name != "bool_") {
      const auto found = dtype_from_name(name);
      if (!found) fail("names no type");
      dtype = *found;
    }
    if (!take("[")) {
      if (read_only) fail("has const before what is no array");
      return {Kind::number, functions::Type::of(dtype)};
    }
    int rank = 0;
    auto layout = functions::Layout::any;
    do {
      if (layout == functions::Layout::c) fail("has '::1' before the last axis");
      if (take("::1"))
        layout = functions::Layout::c;
      else if (!take(":"))
        fail("expects ':' or '::1' for an axis");
      ++rank;
    } while (take(","));
    if (!take("]")) fail("expects ']' behind the axes");
    if (rank > 32) fail("has more than 32 axes");
    return {Kind::array, functions::Type::array_of(dtype, rank, layout, read_only)};
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

bool CallSignature::is_plain() const {
  return (result.kind == Kind::nothing || result.kind == Kind::number || is_open()) &&
         std::all_of(parameters.begin(), parameters.end(),
                     [](const ParameterType& p) { return p.kind == Kind::number || p.kind == Kind::array; });
}

bool CallSignature::is_of_numbers() const {
  return is_plain() && std::all_of(parameters.begin(), parameters.end(), [](const ParameterType& p) { return p.kind == Kind::number; });
}

CallSignature parse_signature(std::string_view text) { return SignatureParser(text).parse(); }

}  // namespace gasell::c_abi
