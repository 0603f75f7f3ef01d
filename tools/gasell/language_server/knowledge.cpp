#include "tools/gasell/language_server/knowledge.h"

#include <algorithm>
#include <array>
#include <exception>
#include <vector>

#include "lang/class_definition.h"
#include "lang/parser.h"
#include "stdlib/modules.h"
#include "tools/gasell/effect_free.h"

namespace gasell::cli::lsp {

namespace {

using namespace ast;

constexpr std::array<std::string_view, 9> kDecorators = {"jit",       "njit",         "vectorize",   "guvectorize", "stencil",
                                                         "dataclass", "staticmethod", "classmethod", "property"};

bool is_known_module(std::string_view name) {
  const auto& modules = known_modules().modules;
  return std::any_of(modules.begin(), modules.end(), [&](const ModuleDefinition& module) { return module.name == name; });
}

bool is_literal(const Expr& e) {
  return std::holds_alternative<NoneLiteral>(e.node) || std::holds_alternative<BoolLiteral>(e.node) ||
         std::holds_alternative<IntLiteral>(e.node) || std::holds_alternative<FloatLiteral>(e.node) ||
         std::holds_alternative<StringLiteral>(e.node);
}

/// `njit`, `numba.njit`, `njit(parallel=True)`.
bool only_wraps(const Expr& decorator) {
  if (const auto* call = std::get_if<Call>(&decorator.node)) {
    const bool literal = std::all_of(call->args.begin(), call->args.end(), [](const ExprRef& e) { return is_literal(*e); }) &&
                         std::all_of(call->keywords.begin(), call->keywords.end(), [](const Keyword& k) { return is_literal(*k.value); });
    return literal && only_wraps(*call->callee);
  }
  const auto* name = std::get_if<Name>(&decorator.node);
  const auto* attribute = std::get_if<Attribute>(&decorator.node);
  return std::find(kDecorators.begin(), kDecorators.end(), name ? name->id : attribute ? attribute->name : "") != kDecorators.end();
}

bool has_no_effect(const FunctionDef& def) {
  const Call* bases = class_call(def);
  for (const ExprRef& decorator : def.decorators) {
    if (bases && decorator == def.decorators.back()) break;
    if (!only_wraps(*decorator)) return false;
  }
  for (const Parameter& p : def.params)
    if ((p.default_value && !is_literal(*p.default_value)) || (p.annotation && !std::holds_alternative<Name>(p.annotation->node)))
      return false;
  if (def.returns && !std::holds_alternative<Name>(def.returns->node) && !is_literal(*def.returns)) return false;
  if (!bases) return true;
  for (const ExprRef& base : bases->args)
    if (!std::holds_alternative<Name>(base->node)) return false;
  if (!bases->keywords.empty()) return false;
  return std::all_of(def.body.begin(), def.body.end(), [](const StmtRef& s) {
    if (const auto* method = std::get_if<FunctionDef>(&s->node)) return has_no_effect(*method);
    if (const auto* text = std::get_if<ExprStmt>(&s->node)) return is_literal(*text->value);
    if (const auto* assign = std::get_if<Assign>(&s->node)) return is_literal(*assign->value);
    if (const auto* field = std::get_if<AnnAssign>(&s->node))
      return std::holds_alternative<Name>(field->annotation->node) && (!field->value || is_literal(*field->value));
    return std::holds_alternative<Pass>(s->node);
  });
}

/// A statement that can be run, or whose value can be looked up.
struct Piece {
  std::string text;
  std::string name;  // of a value; empty: a statement
};

std::string text_of(const ast::Module& module, const Stmt& s) {
  const std::string& text = module.source->text();
  uint32_t begin = s.span.begin;
  if (const auto* def = std::get_if<FunctionDef>(&s.node))
    for (const ExprRef& decorator : def->decorators)
      if (!class_call(*def) || decorator != def->decorators.back()) begin = std::min(begin, decorator->span.begin);
  const size_t line = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;
  return text.substr(line, s.span.end - line);
}

std::vector<Piece> pieces_of(const ast::Module& module) {
  std::vector<Piece> pieces;
  for (const StmtRef& s : module.body) {
    if (const auto* import = std::get_if<Import>(&s->node)) {
      for (const ImportName& n : import->names)
        if (is_known_module(n.name)) pieces.push_back({"import " + n.name + (n.as.empty() ? "" : " as " + n.as), ""});
    } else if (const auto* from = std::get_if<ImportFrom>(&s->node); from && is_known_module(from->module)) {
      for (const ImportName& n : from->names)
        if (n.name != "*") pieces.push_back({"from " + from->module + " import " + n.name + (n.as.empty() ? "" : " as " + n.as), ""});
    } else if (const auto* def = std::get_if<FunctionDef>(&s->node); def && has_no_effect(*def)) {
      pieces.push_back({text_of(module, *s), ""});
    } else if (const auto* assign = std::get_if<Assign>(&s->node); assign && assign->targets.size() == 1) {
      if (const auto* name = std::get_if<Name>(&assign->targets[0]->node))
        pieces.push_back(
            {module.source->text().substr(assign->value->span.begin, assign->value->span.end - assign->value->span.begin), name->id});
    }
  }
  return pieces;
}

std::unique_ptr<Interpreter> make_interpreter(Engine& engine) {
  auto interpreter = std::make_unique<Interpreter>(engine, known_modules());
  interpreter->write_out = [](std::string_view) {};
  interpreter->read_line = [](const std::string&) { return std::nullopt; };
  return interpreter;
}

}  // namespace

Interpreter& Knowledge::library() {
  if (!library_) library_ = make_interpreter(engine_);
  return *library_;
}

Interpreter& Knowledge::of(const ast::Module& module) {
  const std::vector<Piece> pieces = pieces_of(module);
  std::string made_of;
  for (const Piece& piece : pieces) made_of += piece.name + "\x01" + piece.text + "\x02";
  if (interpreter_ && made_of == made_of_) return *interpreter_;
  interpreter_ = make_interpreter(engine_);
  for (const Piece& piece : pieces) {
    try {
      if (piece.name.empty())
        interpreter_->run(parse_module(std::make_shared<Source>(module.source->name(), piece.text)));
      else if (const std::optional<Value> value = effect_free_value(*interpreter_, piece.text))
        interpreter_->set_global(piece.name, *value);
    } catch (const std::exception&) {
      continue;  // a name that is not there yet: nothing is known of it
    }
  }
  made_of_ = std::move(made_of);
  return *interpreter_;
}

}  // namespace gasell::cli::lsp
