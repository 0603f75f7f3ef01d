#include "compiler/c_kernels/parameters.h"

#include "lang/characters.h"
#include "lang/diagnostic.h"

namespace gasell::c_kernels {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : std::string(text) + " ") {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

Parameter parse_one(std::string_view text, bool is_const) {
  const std::vector<std::string> words = words_of(text);
  if (words.size() < 2)
    throw Error("ValueError", "Syntax error: " + std::string(text), "a parameter is a type and a name: 'float32 x', 'raw T y'");
  Parameter p;
  p.is_const = is_const;
  for (size_t k = 0; k + 2 < words.size(); ++k) {
    if (words[k] == "raw")
      p.raw = true;
    else if (words[k] == "_non_const")
      p.is_const = false;
    else
      throw Error("ValueError", "Unknown keyword \"" + words[k] + "\"", "'raw' is the keyword there is");
  }
  p.type = words[words.size() - 2];
  p.name = words.back();
  if (name_length(p.name, 0) != p.name.size()) throw Error("ValueError", "Syntax error: '" + p.name + "' is no name of a parameter");
  if (p.type.size() == 1 && !(p.type[0] >= '0' && p.type[0] <= '9')) return p;
  p.dtype = dtype_from_name(p.type);
  if (!p.dtype)
    throw Error("TypeError", "data type '" + p.type + "' not understood", "NumPy's names: float32, int64; one letter stands for any type");
  return p;
}

std::string place(const Parameter& p, DType found, DType expected) {
  return "Type is mismatched. " + p.name + " " + std::string(name_of(found)) + " " + std::string(name_of(expected)) +
         (p.dtype ? "" : " " + p.type);
}

}  // namespace

std::vector<Parameter> parse_parameters(std::string_view text, bool is_const) {
  std::vector<Parameter> parameters;
  if (words_of(text).empty()) return parameters;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parameters.push_back(parse_one(text.substr(begin, end - begin), is_const));
    begin = end + 1;
  }
  return parameters;
}

std::vector<DType> decide_types(const std::vector<Parameter>& parameters, size_t inputs,
                                const std::vector<std::optional<DType>>& arguments) {
  std::map<std::string, DType> known;
  const auto look_at = [&](size_t k) {
    const Parameter& p = parameters[k];
    if (k >= arguments.size() || !arguments[k]) return;
    const DType expected = p.dtype ? *p.dtype : known.try_emplace(p.type, *arguments[k]).first->second;
    if (expected != *arguments[k])
      throw Error("TypeError", place(p, *arguments[k], expected), "convert it: x.astype(" + std::string(name_of(expected)) + ")");
  };
  for (size_t k = inputs; k < parameters.size(); ++k) look_at(k);
  for (size_t k = 0; k < inputs; ++k) look_at(k);
  std::vector<DType> types;
  for (const Parameter& p : parameters) {
    const auto found = known.find(p.type);
    if (!p.dtype && found == known.end())
      throw Error("KeyError", "'" + p.type + "': no array tells this type of the parameter '" + p.name + "'",
                  "give the output, too, or an array where a number is given");
    types.push_back(p.dtype ? *p.dtype : found->second);
  }
  return types;
}

}  // namespace gasell::c_kernels
