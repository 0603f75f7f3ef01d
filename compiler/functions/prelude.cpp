#include "compiler/functions/prelude.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/functions/prelude_texts.h"
#include "lang/ast_visit.h"
#include "lang/parser.h"
#include "lang/scopes.h"

namespace gasell::functions {
namespace {

using Functions = std::unordered_map<std::string, std::shared_ptr<Function>>;

Outside path(std::string text) { return {.kind = Outside::Kind::path, .text = std::move(text)}; }

Outside constant(const ast::Expr& e) {
  Outside o{.kind = Outside::Kind::number};
  if (const auto* i = std::get_if<ast::IntLiteral>(&e.node)) {
    o.value = Scalar::of_int(i->value);
  } else if (const auto* f = std::get_if<ast::FloatLiteral>(&e.node)) {
    o.value = Scalar::of_float(f->value);
  } else if (const auto* b = std::get_if<ast::BoolLiteral>(&e.node)) {
    o.value = Scalar::of_bool(b->value);
  } else if (const auto* negative = std::get_if<ast::Unary>(&e.node)) {
    o = constant(*negative->operand);
    o.value = is_float(o.value.type) ? Scalar::of_float(-o.value.c.real()) : Scalar::of_int(-o.value.i);
  } else if (const auto* s = std::get_if<ast::StringLiteral>(&e.node)) {
    o.kind = Outside::Kind::text;
    o.text = s->value;
  } else if (const auto* member = std::get_if<ast::Attribute>(&e.node)) {  // np.float64
    o = path("numpy." + member->name);
  } else {
    o.kind = Outside::Kind::none;
  }
  return o;
}

/// All texts, by path. A text's functions see each other, modules by their names, and what is built in.
Functions read_all() {
  Functions all;
  for (const PreludeText& text : prelude_texts()) {
    const auto source = std::make_shared<const Source>(std::string(text.name), std::string(text.text));
    const ast::ModuleRef module = parse_module(source);
    resolve_scopes(*module);
    const std::string prefix = text.module.empty() ? "" : std::string(text.module) + ".";
    const auto own = std::make_shared<std::unordered_map<std::string, std::weak_ptr<Function>>>();
    for (const ast::StmtRef& s : module->body) {
      const auto* definition = std::get_if<ast::FunctionDef>(&s->node);
      if (!definition) continue;
      auto f = std::make_shared<Function>();
      f->definition = s;
      f->source = source;
      f->name = definition->name;
      f->internal = true;
      f->identity = s.get();
      for (const ast::Parameter& p : definition->params) f->defaults.push_back(p.default_value ? constant(*p.default_value) : Outside());
      f->outside = [own](const std::string& name) {
        if (const auto known = own->find(name); known != own->end())
          return Outside{.kind = Outside::Kind::function, .text = name, .function = known->second.lock()};
        return path(name == "np" ? "numpy" : name);
      };
      own->emplace(definition->name, f);
      all.emplace(prefix + definition->name, std::move(f));
    }
  }
  return all;
}

const Functions& functions() {
  static const Functions kFunctions = read_all();
  return kFunctions;
}

}  // namespace

std::shared_ptr<const Function> prelude_function(const std::string& path) {
  const size_t name = path.rfind('.') + 1;
  if (path.compare(name, 1, "_") == 0) return nullptr;
  const auto known = functions().find(path);
  return known == functions().end() ? nullptr : known->second;
}

std::vector<std::string> prelude_names(const std::string& module) {
  const std::string prefix = module + ".";
  std::vector<std::string> names;
  for (const auto& [path, function] : functions())
    if (path.starts_with(prefix) && path[prefix.size()] != '_' && path.find('.', prefix.size()) == std::string::npos)
      names.push_back(path.substr(prefix.size()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gasell::functions
