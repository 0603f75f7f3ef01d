#include "tools/check/calls.h"

#include <fmt/format.h>

#include <algorithm>

namespace gasell::check {

namespace {

struct Parameters {
  std::vector<std::string> positional, keyword_only;  // names
  size_t positional_only = 0, required = 0;           // of the positional ones
  std::vector<std::string> required_keywords;
  bool takes_rest = false, takes_keywords = false;
};

Parameters parameters_of(const cli::CallSignature& signature) {
  Parameters p;
  bool only_keywords = false;
  for (const std::string& text : signature.parameters) {
    if (text == "/") {
      p.positional_only = p.positional.size();
    } else if (text.starts_with("**")) {
      p.takes_keywords = true;
    } else if (text.starts_with('*')) {
      p.takes_rest = p.takes_rest || text.size() > 1;
      only_keywords = true;
    } else {
      const std::string name = text.substr(0, text.find_first_of("=: "));
      const bool optional = text.find('=') != std::string::npos;
      (only_keywords ? p.keyword_only : p.positional).push_back(name);
      if (only_keywords && !optional) p.required_keywords.push_back(name);
      if (!only_keywords && !optional) p.required = p.positional.size();
    }
  }
  return p;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "'a'", "'a' and 'b'", "'a', 'b', and 'c'".
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 < names.size() ? ", " : names.size() > 2 ? ", and " : " and ";
    out += "'" + names[i] + "'";
  }
  return out;
}

std::string missing(const std::string& name, const std::vector<std::string>& names, std::string_view kind) {
  return fmt::format("{}() missing {} required {} argument{}: {}", name, names.size(), kind, names.size() == 1 ? "" : "s", listed(names));
}

}  // namespace

std::optional<std::string> misfit(const cli::CallSignature& signature, const ast::Call& call, size_t bound) {
  const Parameters p = parameters_of(signature);
  const bool hides_positions =
      std::any_of(call.args.begin(), call.args.end(), [](const ast::ExprRef& a) { return std::holds_alternative<ast::Starred>(a->node); });
  const bool hides_keywords = std::any_of(call.keywords.begin(), call.keywords.end(), [](const ast::Keyword& k) { return k.name.empty(); });
  const size_t given = call.args.size();
  for (const ast::Keyword& keyword : call.keywords) {
    if (keyword.name.empty()) continue;
    const auto at = static_cast<size_t>(std::find(p.positional.begin(), p.positional.end(), keyword.name) - p.positional.begin());
    const bool is_positional = at < p.positional.size() && at >= p.positional_only;
    if (is_positional && !hides_positions && at < given)
      return fmt::format("{}() got multiple values for argument '{}'", signature.name, keyword.name);
    if (!is_positional && !has(p.keyword_only, keyword.name) && !p.takes_keywords && at == p.positional.size())
      return fmt::format("{}() got an unexpected keyword argument '{}'", signature.name, keyword.name);
  }
  if (hides_positions) return std::nullopt;
  if (given > p.positional.size() && !p.takes_rest) {
    const size_t most = p.positional.size() + bound, least = p.required + bound;
    const std::string takes = least < most ? fmt::format("from {} to {}", least, most) : std::to_string(most);
    return fmt::format("{}() takes {} positional argument{} but {} {} given", signature.name, takes, least == most && most == 1 ? "" : "s",
                       given + bound, given + bound == 1 ? "was" : "were");
  }
  if (hides_keywords) return std::nullopt;
  const auto is_given = [&](const std::string& name) {
    return std::any_of(call.keywords.begin(), call.keywords.end(), [&](const ast::Keyword& k) { return k.name == name; });
  };
  std::vector<std::string> absent;
  for (size_t i = given; i < p.required; ++i)
    if (!is_given(p.positional[i]) || i < p.positional_only) absent.push_back(p.positional[i]);
  if (!absent.empty()) return missing(signature.name, absent, "positional");
  for (const std::string& name : p.required_keywords)
    if (!is_given(name)) absent.push_back(name);
  if (!absent.empty()) return missing(signature.name, absent, "keyword-only");
  return std::nullopt;
}

}  // namespace gasell::check
