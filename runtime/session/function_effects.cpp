#include "runtime/session/function_effects.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "lang/ast_visit.h"
#include "lang/class_definition.h"

namespace gasell {
namespace {

template <size_t n>
bool is_among(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Methods that change their object.
bool changes_its_object(std::string_view method) {
  static constexpr std::array<std::string_view, 43> kMethods = {"append",
                                                                "extend",
                                                                "insert",
                                                                "pop",
                                                                "remove",
                                                                "clear",
                                                                "sort",
                                                                "reverse",
                                                                "update",
                                                                "add",
                                                                "discard",
                                                                "fill",
                                                                "setdefault",
                                                                "popitem",
                                                                "appendleft",
                                                                "popleft",
                                                                "extendleft",
                                                                "rotate",
                                                                "put",
                                                                "resize",
                                                                "setflags",
                                                                "itemset",
                                                                "byteswap",
                                                                "subtract",
                                                                "move_to_end",
                                                                "__setitem__",
                                                                "__delitem__",
                                                                "__setattr__",
                                                                "__iadd__",
                                                                "isetitem",
                                                                "send",
                                                                "set_index_name",
                                                                "write",
                                                                "writelines",
                                                                "read",
                                                                "readline",
                                                                "close",
                                                                "intersection_update",
                                                                "difference_update",
                                                                "symmetric_difference_update",
                                                                "partition",
                                                                "seed",
                                                                "__next__"};
  return is_among(method, kMethods);
}

/// Functions, of modules or without one, that change what they are given.
bool changes_its_arguments(std::string_view function) {
  static constexpr std::array<std::string_view, 25> kFunctions = {
      "at",           "heappush",      "heappop", "heapify", "heapreplace", "heappushpop",    "shuffle", "insort",  "insort_left",
      "insort_right", "fill_diagonal", "put",     "place",   "copyto",      "putmask",        "setattr", "delattr", "next",
      "setitem",      "delitem",       "iadd",    "imul",    "isub",        "put_along_axis", "iconcat"};
  return is_among(function, kFunctions);
}

bool may_wait(std::string_view name) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "sleep",      "wait",          "result",       "gather",    "acquire", "compute", "persist", "submit", "input",
      "get_client", "worker_client", "as_completed", "exception", "put",     "join",    "Lock",    "recv"};
  return is_among(name, kNames);
}

/// Functions and methods whose result no name stands for yet.
bool gives_a_new_object(std::string_view function) {
  static constexpr std::array<std::string_view, 52> kFunctions = {
      "list",         "dict",        "set",        "tuple",     "frozenset",   "sorted",      "range",   "len",         "sum",
      "int",          "float",       "str",        "bool",      "abs",         "round",       "complex", "enumerate",   "zip",
      "zeros",        "ones",        "empty",      "full",      "arange",      "linspace",    "array",   "copy",        "deepcopy",
      "zeros_like",   "ones_like",   "empty_like", "full_like", "defaultdict", "Counter",     "deque",   "OrderedDict", "split",
      "join",         "DataFrame",   "Series",     "random",    "normal",      "default_rng", "format",  "eye",         "time",
      "perf_counter", "concatenate", "tolist",     "astype",    "Generator",   "integers",    "items"};
  return is_among(function, kFunctions) || (!function.empty() && function[0] >= 'A' && function[0] <= 'Z');
}

std::string_view name_called(const ast::Call& call) {
  if (const auto* name = std::get_if<ast::Name>(&call.callee->node)) return name->id;
  if (const auto* attribute = std::get_if<ast::Attribute>(&call.callee->node)) return attribute->name;
  return "";
}

/// One function, lambda, comprehension or class body, within those around it.
struct Scope {
  const ast::FunctionScope& names;
  Scope* around;
  std::string self;                        // the first parameter of __init__ and the like: it is new
  std::map<std::string, bool> fresh = {};  // a local: whether all it was bound to is new
};

class Reader {
 public:
  FunctionEffects effects;

  void read(const ast::FunctionDef& def, Scope* around) {
    Scope scope{def.scope, around, ""};
    if ((def.name == "__init__" || def.name == "__new__" || def.name == "__post_init__") && !def.params.empty())
      scope.self = def.params[0].name;
    parameters(def.params, scope);
    bind(def.body, scope);
    body(def.body, scope);
  }
  void read(const ast::Lambda& lambda, Scope* around) {
    Scope scope{lambda.scope, around, ""};
    parameters(lambda.params, scope);
    expression(*lambda.body, scope);
  }

 private:
  static void parameters(const std::vector<ast::Parameter>& params, Scope& scope) {
    for (const ast::Parameter& p : params) scope.fresh[p.name] = false;
  }

  // ---- what the locals are bound to ----

  static bool is_fresh(const ast::Expr* e) {
    if (!e) return false;
    return std::visit(
        ast::Overloaded{[](const ast::Name&) { return false; }, [](const ast::Attribute&) { return false; },
                        [](const ast::Subscript&) { return false; }, [](const ast::BoolChain&) { return false; },
                        [](const ast::Starred&) { return false; }, [](const ast::NamedExpr&) { return false; },
                        [](const ast::Conditional& c) { return is_fresh(c.body.get()) && is_fresh(c.orelse.get()); },
                        [](const ast::Call& c) { return gives_a_new_object(name_called(c)); }, [](const auto&) { return true; }},
        e->node);
  }
  static void bind_target(const ast::Expr& target, const ast::Expr* value, Scope& scope) {
    if (const auto* name = std::get_if<ast::Name>(&target.node)) {
      const auto [place, first] = scope.fresh.try_emplace(name->id, true);
      place->second = place->second && is_fresh(value);
      return;
    }
    const auto* items = std::get_if<ast::Tuple>(&target.node);
    if (!items) return;
    const auto* values = value ? std::get_if<ast::Tuple>(&value->node) : nullptr;
    for (size_t k = 0; k < items->items.size(); ++k)
      bind_target(*items->items[k], values && values->items.size() == items->items.size() ? values->items[k].get() : nullptr, scope);
  }
  static void bind(const ast::Body& statements, Scope& scope) {
    for (const ast::StmtRef& s : statements) {
      if (const auto* assign = std::get_if<ast::Assign>(&s->node)) {
        for (const ast::ExprRef& target : assign->targets)
          bind_target(*target, assign->targets.size() == 1 ? assign->value.get() : nullptr, scope);
      } else if (const auto* annotated = std::get_if<ast::AnnAssign>(&s->node)) {
        if (annotated->value) bind_target(*annotated->target, annotated->value.get(), scope);
      } else if (const auto* loop = std::get_if<ast::For>(&s->node)) {
        const auto* call = std::get_if<ast::Call>(&loop->iter->node);
        static const ast::Expr number{{}, ast::IntLiteral{0}};
        bind_target(*loop->target, call && name_called(*call) == "range" ? &number : nullptr, scope);
      } else if (const auto* with = std::get_if<ast::With>(&s->node)) {
        for (const ast::WithItem& item : with->items)
          if (item.target) bind_target(*item.target, nullptr, scope);
      }
      if (std::holds_alternative<ast::FunctionDef>(s->node)) continue;
      ast::visit_children(*s, [](ast::ExprRef&) {}, [&](ast::Body& inner) { bind(inner, scope); });
    }
  }

  // ---- what is changed ----

  /// A variable's own function; null: it is outside of all that is read.
  static Scope* owner(const ast::Name& name, Scope& scope) {
    if (name.binding.kind == ast::Binding::Kind::local) return &scope;
    if (name.binding.kind != ast::Binding::Kind::cell) return nullptr;
    int slot = name.binding.slot;
    for (Scope* s = &scope; s; s = s->around) {
      if (slot < s->names.own_cells) return s;
      const auto taken = static_cast<size_t>(slot - s->names.own_cells);
      if (taken >= s->names.captured.size()) return nullptr;
      slot = s->names.captured[taken].slot;
    }
    return nullptr;
  }

  /// The object that an expression stands for is changed.
  void change(const ast::Expr& e, Scope& scope) {
    if (const auto* name = std::get_if<ast::Name>(&e.node)) {
      Scope* const own = owner(*name, scope);
      if (!own) {
        effects.changes_outside = true;
      } else if (name->id != own->self) {
        const auto known = own->fresh.find(name->id);
        if (known == own->fresh.end() || !known->second) effects.changes_given = true;
      }
      return;
    }
    if (const auto* attribute = std::get_if<ast::Attribute>(&e.node)) return change_within(*attribute->value, scope);
    if (const auto* item = std::get_if<ast::Subscript>(&e.node)) return change_within(*item->value, scope);
    if (!is_fresh(&e)) effects.changes_given = true;
  }
  /// An object that lies in what an expression stands for is changed.
  void change_within(const ast::Expr& e, Scope& scope) {
    if (const auto* name = std::get_if<ast::Name>(&e.node)) {
      (owner(*name, scope) ? effects.changes_given : effects.changes_outside) = true;
    } else if (const auto* attribute = std::get_if<ast::Attribute>(&e.node)) {
      change_within(*attribute->value, scope);
    } else if (const auto* item = std::get_if<ast::Subscript>(&e.node)) {
      change_within(*item->value, scope);
    } else {
      effects.changes_given = true;
    }
  }
  /// A target of an assignment or of del.
  void write(const ast::Expr& target, Scope& scope) {
    if (const auto* name = std::get_if<ast::Name>(&target.node)) {
      if (!owner(*name, scope)) effects.changes_outside = true;
    } else if (const auto* attribute = std::get_if<ast::Attribute>(&target.node)) {
      change(*attribute->value, scope);
    } else if (const auto* item = std::get_if<ast::Subscript>(&target.node)) {
      change(*item->value, scope);
    } else if (const auto* tuple = std::get_if<ast::Tuple>(&target.node)) {
      for (const ast::ExprRef& e : tuple->items) write(*e, scope);
    } else if (const auto* list = std::get_if<ast::List>(&target.node)) {
      for (const ast::ExprRef& e : list->items) write(*e, scope);
    } else if (const auto* starred = std::get_if<ast::Starred>(&target.node)) {
      write(*starred->value, scope);
    }
  }

  // ---- the tree ----

  void note_global(const std::string& name) {
    if (std::find(effects.globals.begin(), effects.globals.end(), name) == effects.globals.end()) effects.globals.push_back(name);
  }

  /// object.name, called or not, where the method changes the object.
  void changing_method(const ast::Expr& object, Scope& scope) {
    const auto* name = std::get_if<ast::Name>(&object.node);
    if (!name || name->binding.kind == ast::Binding::Kind::local || name->binding.kind == ast::Binding::Kind::cell)
      return change(object, scope);
    effects.changed_globals.push_back(name->id);
  }

  void call(const ast::Call& c, Scope& scope) {
    const std::string_view name = name_called(c);
    if (may_wait(name)) effects.waits = true;
    const auto* method = std::get_if<ast::Attribute>(&c.callee->node);
    if (changes_its_arguments(name))
      for (const ast::ExprRef& argument : c.args) change(*argument, scope);
    for (const ast::Keyword& k : c.keywords) {
      if (k.name == "out") change(*k.value, scope);
      if (k.name == "inplace") method ? change(*method->value, scope) : void(effects.changes_given = true);
    }
  }

  void expression(const ast::Expr& e, Scope& scope) {
    if (const auto* name = std::get_if<ast::Name>(&e.node)) {
      if (name->binding.kind == ast::Binding::Kind::global || name->binding.kind == ast::Binding::Kind::unresolved) note_global(name->id);
      return;
    }
    if (const auto* lambda = std::get_if<ast::Lambda>(&e.node)) {
      ast::visit_children(const_cast<std::vector<ast::Parameter>&>(lambda->params), [&](ast::ExprRef& p) { expression(*p, scope); });
      return read(*lambda, &scope);
    }
    if (const auto* comprehension = std::get_if<ast::Comprehension>(&e.node)) {
      Scope inner{comprehension->scope, &scope, ""};
      for (const ast::ComprehensionClause& clause : comprehension->clauses) {
        bind_target(*clause.target, nullptr, inner);
        expression(*clause.iter, &clause == &comprehension->clauses[0] ? scope : inner);
        for (const ast::ExprRef& condition : clause.conditions) expression(*condition, inner);
      }
      expression(*comprehension->element, inner);
      if (comprehension->value) expression(*comprehension->value, inner);
      return;
    }
    if (const auto* c = std::get_if<ast::Call>(&e.node)) call(*c, scope);
    if (const auto* attribute = std::get_if<ast::Attribute>(&e.node); attribute && changes_its_object(attribute->name))
      changing_method(*attribute->value, scope);
    if (const auto* named = std::get_if<ast::NamedExpr>(&e.node)) {
      const auto& target = std::get<ast::Name>(named->target->node);
      write(*named->target, scope);
      if (Scope* const own = owner(target, scope)) own->fresh[target.id] = false;
    }
    ast::visit_children(const_cast<ast::Expr&>(e), [&](ast::ExprRef& child) { expression(*child, scope); });
  }

  void body(const ast::Body& statements, Scope& scope) {
    for (const ast::StmtRef& s : statements) statement(*s, scope);
  }

  void statement(const ast::Stmt& s, Scope& scope) {
    if (const auto* def = std::get_if<ast::FunctionDef>(&s.node)) {
      for (const ast::ExprRef& d : def->decorators) expression(*d, scope);
      ast::visit_children(const_cast<std::vector<ast::Parameter>&>(def->params), [&](ast::ExprRef& p) { expression(*p, scope); });
      if (ast::class_call(*def))
        for (const std::string& name : def->scope.locals) note_global(name);  // a name of the body may be one of outside before that
      return read(*def, &scope);
    }
    if (const auto* assign = std::get_if<ast::Assign>(&s.node)) {
      for (const ast::ExprRef& target : assign->targets) write(*target, scope);
    } else if (const auto* update = std::get_if<ast::AugAssign>(&s.node)) {
      write(*update->target, scope);
      if (std::holds_alternative<ast::Name>(update->target->node)) change(*update->target, scope);
    } else if (const auto* annotated = std::get_if<ast::AnnAssign>(&s.node)) {
      if (annotated->value) write(*annotated->target, scope);
    } else if (const auto* loop = std::get_if<ast::For>(&s.node)) {
      write(*loop->target, scope);
    } else if (const auto* with = std::get_if<ast::With>(&s.node)) {
      for (const ast::WithItem& item : with->items)
        if (item.target) write(*item.target, scope);
    } else if (const auto* deletion = std::get_if<ast::Delete>(&s.node)) {
      for (const ast::ExprRef& target : deletion->targets) write(*target, scope);
    } else if (const auto* import = std::get_if<ast::Import>(&s.node)) {
      for (const ast::ImportName& name : import->names) effects.changes_outside |= name.binding.kind == ast::Binding::Kind::global;
    }
    ast::visit_children(
        const_cast<ast::Stmt&>(s), [&](ast::ExprRef& e) { expression(*e, scope); }, [&](ast::Body& inner) { body(inner, scope); });
  }
};

}  // namespace

FunctionEffects effects_of(const ast::FunctionDef& definition) {
  Reader reader;
  reader.read(definition, nullptr);
  return std::move(reader.effects);
}

FunctionEffects effects_of(const ast::Lambda& lambda) {
  Reader reader;
  reader.read(lambda, nullptr);
  return std::move(reader.effects);
}

}  // namespace gasell
