#include "lang/parameter_rules.h"

#include <set>

#include <fmt/format.h>

#include "lang/ast_visit.h"

namespace gasell {
namespace {

using Names = std::set<std::string, std::less<>>;

/// The names that an expression or a body reads, inner functions' included. A name that an inner function binds for itself counts, too:
/// the check may miss a parameter, and never names one that is read.
struct Reads {
  void operator()(ast::ExprRef& e) {
    if (const auto* name = std::get_if<ast::Name>(&e->node)) names.insert(name->id);
    ast::visit_children(*e, *this);
  }
  void operator()(ast::Body& body) {
    for (ast::StmtRef& s : body) {
      if (const auto* assign = std::get_if<ast::Assign>(&s->node); assign && binds_only(*assign)) {
        ast::ExprRef value = assign->value;
        (*this)(value);
        continue;
      }
      ast::visit_children(*s, *this, *this);
    }
  }
  /// `x = …`, which reads no x.
  static bool binds_only(const ast::Assign& assign) {
    for (const ast::ExprRef& target : assign.targets)
      if (!std::holds_alternative<ast::Name>(target->node)) return false;
    return true;
  }
  Names names;
};

/// A constructor whose object keeps what it is given: an __init__ that has no body but its docstring.
bool keeps_parameters(const ast::FunctionDef& def) {
  const auto* only = def.name == "__init__" && def.body.size() == 1 ? std::get_if<ast::ExprStmt>(&def.body[0]->node) : nullptr;
  return only && std::holds_alternative<ast::StringLiteral>(only->value->node);
}

struct Check {
  void operator()(ast::ExprRef& e) {
    if (auto* lambda = std::get_if<ast::Lambda>(&e->node)) {
      Reads reads;
      reads(lambda->body);
      check(lambda->params, reads.names, "lambda");
    }
    ast::visit_children(*e, *this);
  }
  void operator()(ast::Body& body) {
    for (ast::StmtRef& s : body) {
      if (auto* def = std::get_if<ast::FunctionDef>(&s->node)) {
        if (!keeps_parameters(*def)) {
          Reads reads;
          reads(def->body);
          check(def->params, reads.names, def->name);
        }
      }
      ast::visit_children(*s, *this, *this);
    }
  }
  void check(const std::vector<ast::Parameter>& params, const Names& read, const std::string& function) {
    for (const ast::Parameter& p : params) {
      if (p.name == "self" || p.name.starts_with('_')) continue;
      const bool ruled = rule_of(p) != ParameterRule::read;
      if (ruled && read.contains(p.name))
        found.push_back({p.span, fmt::format("{} reads its parameter '{}', which has the rule of one that is not read", function, p.name)});
      if (!ruled && !read.contains(p.name))
        found.push_back(
            {p.span, fmt::format("{} never reads its parameter '{}': use it, or say Refused, Unused, Sort or Rows (lang/parameter_rules.h)",
                                 function, p.name)});
    }
  }
  std::vector<UnreadParameter> found;
};

}  // namespace

std::optional<ParameterRule> parameter_rule(std::string_view annotation) {
  if (annotation == "Refused") return ParameterRule::refused;
  if (annotation == "Unused") return ParameterRule::unused;
  if (annotation == "Sort") return ParameterRule::sort;
  if (annotation == "Order") return ParameterRule::order;
  if (annotation == "Device") return ParameterRule::device;
  if (annotation == "Rows") return ParameterRule::rows;
  return {};
}

ParameterRule rule_of(const ast::Parameter& parameter) {
  const auto* name = parameter.annotation ? std::get_if<ast::Name>(&parameter.annotation->node) : nullptr;
  return name ? parameter_rule(name->id).value_or(ParameterRule::read) : ParameterRule::read;
}

std::vector<UnreadParameter> unread_parameters(ast::Module& module) {
  Check check;
  check(module.body);
  return std::move(check.found);
}

}  // namespace gasell
