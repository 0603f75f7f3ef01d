#include "tools/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "lang/ast_visit.h"
#include "lang/class_definition.h"
#include "lang/large_stack.h"
#include "lang/marked_calls.h"
#include "lang/parser.h"
#include "lang/render.h"
#include "runtime/session/builtins.h"
#include "runtime/session/function.h"
#include "runtime/session/script_path.h"
#include "stdlib/modules.h"
#include "tools/check/calls.h"
#include "tools/check/scopes.h"
#include "tools/check/syntax.h"

namespace gasell::check {

namespace {

using namespace ast;

constexpr const char* kChecked = "_checked_value";  // the global through which attributes are read

Diagnostic diagnostic_at(const SourceRef& source, Span span, std::string kind, std::string message, std::string hint = {}) {
  return {Blame::user, std::move(kind), std::move(message), Label{source, span, ""}, {}, std::move(hint)};
}

class Checker {
 public:
  Checker(Interpreter& interpreter, const ModuleRef& module) : in_(interpreter), source_(module->source), scopes_(scopes_of(*module)) {
    body(module->body);
    names();
    unused();
    std::stable_sort(found_.begin(), found_.end(), [](const Finding& a, const Finding& b) {
      return a.diagnostic.primary->span.begin < b.diagnostic.primary->span.begin;
    });
  }

  std::vector<Finding> take() { return std::move(found_); }

 private:
  void error(std::string code, Diagnostic diagnostic) {
    if (tries_ == 0) found_.push_back({true, std::move(code), std::move(diagnostic)});
  }
  void warn(std::string code, Span span, std::string message) {
    found_.push_back({false, std::move(code), diagnostic_at(source_, span, "Warning", std::move(message))});
  }

  /// What running this text raises, which only imports and looks up; nothing when all is well.
  std::optional<Diagnostic> raised(const std::string& text, Span span) {
    try {
      in_.run(parse_module(std::make_shared<Source>(source_->name(), text)));
      return std::nullopt;
    } catch (const Error& failed) {
      Diagnostic diagnostic = failed.diagnostic();
      diagnostic.primary = Label{source_, span, ""};
      diagnostic.secondary.clear();
      return diagnostic;
    } catch (const Interpreter::Exit&) {
      return std::nullopt;
    }
  }

  static bool is_library(const std::string& name) {
    const auto& modules = known_modules().modules;
    return std::any_of(modules.begin(), modules.end(),
                       [&](const ModuleDefinition& m) { return m.name == name || m.name.starts_with(name + "."); });
  }
  bool is_script(const std::string& name) const { return find_script_path(name, ".gsl", source_) || find_script_path(name, "", source_); }
  std::optional<Value> library(const std::string& name) {
    if (!is_library(name)) return std::nullopt;
    try {
      return in_.import_module(name, source_);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  // ---- what names stand for ----

  const Variable* module_variable(const Name& name) {
    if (name.binding.kind == Binding::Kind::local || name.binding.kind == Binding::Kind::cell) return nullptr;
    const auto found = scopes_.module().variables.find(name.id);
    return found == scopes_.module().variables.end() ? nullptr : &found->second;
  }

  /// The value of the library that an expression stands for, as long as nothing binds its name another time.
  std::optional<Value> library_value(const Expr& e) {
    if (const auto* name = std::get_if<Name>(&e.node)) {
      const Variable* variable = module_variable(*name);
      if (!variable || scopes_.takes_everything || variable->bindings > 1) return std::nullopt;
      if (variable->bindings == 0) return unbound_value(name->id);
      if (variable->kind != Variable::Kind::imported) return std::nullopt;
      const std::optional<Value> module = library(variable->module);
      if (!module || variable->member.empty()) return module;
      return attribute(*module, variable->member);
    }
    const auto* read = std::get_if<Attribute>(&e.node);
    if (!read) return std::nullopt;
    const std::optional<Value> owner = library_value(*read->value);
    return owner && owner->as<gasell::Module>() ? attribute(*owner, read->name) : std::nullopt;
  }

  std::optional<Value> attribute(const Value& owner, const std::string& name) {
    try {
      return owner.is_object() ? owner.object()->get_attribute(in_, name) : std::nullopt;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  /// A built-in, or what is bound without import.
  std::optional<Value> unbound_value(const std::string& name) {
    for (const ModuleDefinition& module : known_modules().modules) {
      if (std::find(module.aliases.begin(), module.aliases.end(), name) != module.aliases.end()) return library(module.name);
      if (std::find(module.members.begin(), module.members.end(), name) == module.members.end()) continue;
      const std::optional<Value> made = library(module.name);
      return made ? attribute(*made, name) : std::nullopt;
    }
    const auto found = builtins().find(name);
    return found == builtins().end() ? std::nullopt : std::optional(found->second);
  }

  static bool is_special(const std::string& name) {
    static const std::set<std::string, std::less<>> kSpecial = {"__name__",     "__file__", "__doc__",
                                                                "__builtins__", "__spec__", "__package__"};
    return kSpecial.contains(name);
  }

  /// Names that nothing binds, at each place where one is read.
  void names() {
    if (scopes_.takes_everything) return;
    for (const auto& [name, variable] : scopes_.module().variables) {
      if (variable.bindings > 0 || name.starts_with('.') || is_special(name) || unbound_value(name)) continue;
      Diagnostic base =
          diagnostic_at(source_, {}, "NameError", fmt::format("name '{}' is not defined", name), near_hint(name, all_names()));
      if (!in_.global(name))
        if (std::optional<Diagnostic> refused = raised(name, {}); refused && refused->kind != "NameError") base = *refused;
      for (const Variable::Use& use : variable.uses) {
        if (is_guarded(use.span)) continue;
        base.primary = Label{source_, use.span, ""};
        found_.push_back({true, "name", base});
      }
    }
  }

  std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const auto& [name, variable] : scopes_.module().variables)
      if (variable.bindings > 0) names.push_back(name);
    for (const auto& [name, value] : builtins()) names.push_back(name);
    return names;
  }

  bool is_guarded(Span span) const {
    return std::any_of(guarded_.begin(), guarded_.end(), [&](Span g) { return g.begin <= span.begin && span.end <= g.end; });
  }

  // ---- what is bound and not read ----

  void unused() {
    const bool exports = scopes_.module().variables.contains("__all__");
    for (const VariableScope& scope : scopes_.all) {
      if (scope.looks_up_by_text || scope.kind == VariableScope::Kind::class_body || scope.kind == VariableScope::Kind::comprehension)
        continue;
      const bool is_module = scope.kind == VariableScope::Kind::module;
      for (const auto& [name, variable] : scope.variables) {
        if (variable.reads > 0 || variable.bindings == 0 || name.starts_with('_') || variable.uses.empty()) continue;
        const Span span = variable.uses.front().span;
        if (variable.kind == Variable::Kind::imported && !(is_module && (exports || scopes_.takes_everything)) && !is_guarded(span)) {
          const std::string what = variable.member.empty() ? variable.module : variable.module + "." + variable.member;
          warn("unused-import", span, fmt::format("'{}' is imported and not used", what));
        } else if (!is_module && (variable.kind == Variable::Kind::assigned || variable.kind == Variable::Kind::exception)) {
          const size_t end = std::min(source_->text().find('\n', span.begin), static_cast<size_t>(span.end));
          warn("unused-variable", {span.begin, static_cast<uint32_t>(end)}, fmt::format("the variable '{}' is not used", name));
        }
      }
    }
  }

  // ---- statements and expressions ----

  static bool leaves(const Stmt& s) {
    return std::holds_alternative<Return>(s.node) || std::holds_alternative<Raise>(s.node) || std::holds_alternative<Break>(s.node) ||
           std::holds_alternative<Continue>(s.node);
  }

  void body(Body& statements) {
    for (size_t i = 0; i < statements.size(); ++i) {
      if (i > 0 && leaves(*statements[i - 1]) && !is_yield(*statements[i]))
        warn("unreachable", first_line(statements[i]->span), "this is never reached");
      statement(*statements[i]);
    }
  }

  /// `return` with a `yield` behind it makes an empty generator.
  static bool is_yield(const Stmt& s) {
    const auto* plain = std::get_if<ExprStmt>(&s.node);
    const auto* call = plain ? std::get_if<Call>(&plain->value->node) : nullptr;
    const auto* callee = call ? std::get_if<Name>(&call->callee->node) : nullptr;
    return callee && callee->id.starts_with('.');
  }

  Span first_line(Span span) const {
    return {span.begin, static_cast<uint32_t>(std::min(source_->text().find('\n', span.begin), static_cast<size_t>(span.end)))};
  }

  void statement(Stmt& s) {
    if (auto* tried = std::get_if<Try>(&s.node); tried && !tried->handlers.empty()) {
      if (!tried->body.empty()) guarded_.push_back({tried->body.front()->span.begin, tried->body.back()->span.end});
      ++tries_;
      body(tried->body);
      --tries_;
      for (ExceptHandler& handler : tried->handlers) {
        if (handler.type) expr(*handler.type);
        body(handler.body);
      }
      body(tried->orelse), body(tried->finalbody);
      return;
    }
    if (const auto* with = std::get_if<With>(&s.node); with && !with->body.empty()) return guarded_with(s);
    if (const auto* import = std::get_if<Import>(&s.node)) {
      for (const ImportName& n : import->names) import_of(n.name, n.span);
    } else if (const auto* from = std::get_if<ImportFrom>(&s.node)) {
      import_from(*from, s.span);
    }
    visit_children(s, [&](ExprRef& e) { expr(*e); }, [&](Body& b) { body(b); });
  }

  /// `with suppress(…):` catches, too, as may any other manager.
  void guarded_with(Stmt& s) {
    auto& with = std::get<With>(s.node);
    for (WithItem& item : with.items) {
      expr(*item.context);
      if (item.target) expr(*item.target);
    }
    const bool catches = std::any_of(with.items.begin(), with.items.end(), [](const WithItem& item) {
      return print(*item.context).find("suppress") != std::string::npos || print(*item.context).find("raises") != std::string::npos;
    });
    if (catches) guarded_.push_back({with.body.front()->span.begin, with.body.back()->span.end});
    tries_ += catches;
    body(with.body);
    tries_ -= catches;
  }

  bool import_of(const std::string& name, Span span) {
    if (is_library(name) || is_script(name)) return true;
    auto diagnostic = raised("import " + name, span);
    if (diagnostic && !(uses_search_path_ && diagnostic->kind == "ModuleNotFoundError")) error("import", *diagnostic);
    return false;
  }

  void import_from(const ImportFrom& from, Span span) {
    if (!import_of(from.module, span) || !is_library(from.module)) return;
    for (const ImportName& n : from.names) {
      if (n.name == "*" || is_script(from.module + "." + n.name)) continue;
      const std::optional<Value> module = library(from.module);
      if (!module || attribute(*module, n.name)) continue;
      if (auto diagnostic = raised(fmt::format("from {} import {} as {}", from.module, n.name, kChecked), n.span))
        error("import", *diagnostic);
    }
  }

  void expr(Expr& e) {
    if (marked_call(e, kCase)) return;  // a pattern: what looks like a call is none
    if (const auto* read = std::get_if<Attribute>(&e.node)) attribute_of_module(*read);
    if (const auto* call = std::get_if<Call>(&e.node)) arguments(*call, e.span);
    visit_children(e, [&](ExprRef& child) { expr(*child); });
  }

  void attribute_of_module(const Attribute& read) {
    const std::optional<Value> owner = library_value(*read.value);
    const auto* module = owner ? owner->as<gasell::Module>() : nullptr;
    uses_search_path_ = uses_search_path_ || (module && module->name == "sys" && read.name == "path");
    // Others, such as cuda.threadIdx, have their attributes where they are compiled.
    if (!module || module->members.empty() || attribute(*owner, read.name) || is_script(module->name + "." + read.name)) return;
    in_.set_global(kChecked, *owner);
    if (auto diagnostic = raised(fmt::format("{}.{}", kChecked, read.name), read.name_span)) error("attribute", *diagnostic);
    in_.set_global(kChecked, Value());
  }

  /// Of a function without decorators, or of a class without bases that has an __init__; nothing where the call may do something else.
  static std::optional<cli::CallSignature> signature_of(const FunctionDef& definition) {
    const Call* bases = class_call(definition);
    if (!bases) return definition.decorators.empty() ? std::optional(cli::signature_of_definition(definition)) : std::nullopt;
    if (!bases->args.empty() || !bases->keywords.empty() || definition.decorators.size() > 1) return std::nullopt;
    const FunctionDef* initializer = nullptr;
    for (const StmtRef& s : definition.body) {
      const auto* method = std::get_if<FunctionDef>(&s->node);
      if (method && (method->name == "__new__" || (method->name == "__init__" && initializer))) return std::nullopt;
      if (method && method->name == "__init__" && method->decorators.empty()) initializer = method;
    }
    if (!initializer || initializer->params.empty()) return std::nullopt;
    FunctionDef without_object = *initializer;
    without_object.params.erase(without_object.params.begin());
    without_object.name = definition.name + ".__init__";
    const bool counts_object = initializer->params.front().kind != Parameter::Kind::var_positional;
    return counts_object ? std::optional(cli::signature_of_definition(without_object)) : std::nullopt;
  }

  void arguments(const Call& call, Span span) {
    std::optional<cli::CallSignature> signature;
    size_t bound = 0;
    if (const auto* name = std::get_if<Name>(&call.callee->node)) {
      const Variable* variable = module_variable(*name);
      if (variable && variable->definition && variable->bindings == 1 && !scopes_.takes_everything)
        signature = signature_of(*variable->definition), bound = class_call(*variable->definition) ? 1 : 0;
    }
    if (!signature) {
      const std::optional<Value> callee = library_value(*call.callee);
      if (callee && (callee->as<Builtin>() || callee->as<Function>())) signature = cli::call_signature(in_, *callee);
    }
    if (!signature) return;
    if (const std::optional<std::string> message = misfit(*signature, call, bound))
      error("call", diagnostic_at(source_, span, "TypeError", *message, fmt::format("it is called as {}", signature->text())));
  }

  Interpreter& in_;
  const SourceRef source_;
  Scopes scopes_;
  std::vector<Span> guarded_;  // bodies of `try` with handlers
  int tries_ = 0;
  bool uses_search_path_ = false;  // sys.path was named: modules may be where only the run finds them
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> check_source(Interpreter& interpreter, const SourceRef& source) {
  std::vector<Diagnostic> errors;
  const ModuleRef module = parse_all(source, errors);
  std::vector<Finding> found;
  for (Diagnostic& diagnostic : errors) {
    if (!diagnostic.primary) diagnostic.primary = Label{source, {}, ""};
    found.push_back({true, "syntax", std::move(diagnostic)});
  }
  if (module) run_on_large_stack([&] { found = Checker(interpreter, module).take(); });  // recurses as deep as the tree
  return found;
}

}  // namespace gasell::check
