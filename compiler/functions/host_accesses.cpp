#include "compiler/functions/host_accesses.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/transform.h"

namespace gasell::functions {
namespace {

using ir::Body;
using ir::Stmt;
using ir::StmtKind;
using ir::StmtRef;

/// Functions of the runtime that look at no element.
bool looks_at_nothing(const std::string& function) {
  static const std::set<std::string> kFunctions = {"gasell_retain", "gasell_release", "gasell_address", "gasell_parallel", "gasell_pieces"};
  return kFunctions.count(function) > 0;
}

bool has_region(const Stmt& s) {
  const auto any = [](const Body& b) { return std::any_of(b.begin(), b.end(), [](const StmtRef& inner) { return has_region(*inner); }); };
  return (s.kind == StmtKind::call && s.source == "gasell_parallel") || any(s.body) || any(s.orelse);
}

void note_locals(const Body& body, std::set<std::string>& names) {
  for (const StmtRef& s : body) {
    if (s->kind == StmtKind::local_array) names.insert(s->name);
    note_locals(s->body, names);
    note_locals(s->orelse, names);
  }
}

class Announcing {
 public:
  explicit Announcing(const Body& body) : quiet_{"context", "error", "interrupt", "results"} { note_locals(body, quiet_); }

  Body body(const Body& statements) const {
    Body result;
    for (const StmtRef& s : statements) {
      Uses uses;
      if (!has_region(*s)) {
        note(*s, uses, false);
        announce(uses, result);
        result.push_back(with_new_memory(s));
        continue;
      }
      for (const ir::ExprRef& e : ir::expressions_of(*s)) note(e, uses);
      announce(uses, result);
      Stmt copy = *s;
      copy.body = body(s->body);
      copy.orelse = body(s->orelse);
      if (s->kind == StmtKind::while_) announce(uses, copy.body);
      result.push_back(ir::make_statement(std::move(copy)));
    }
    return result;
  }

 private:
  struct Uses {
    std::map<std::string, bool> arrays;  // whether it is written
    std::set<std::string> declared;
    void add(const std::string& name, bool writes) {
      if (!declared.count(name)) arrays[name] |= writes;
    }
  };

  static void note(const ir::ExprRef& e, Uses& uses) {
    ir::visit(e, [&](const ir::Expr& part) {
      if (part.kind == ir::ExprKind::load) uses.add(part.name, false);
    });
  }
  /// `inside`: of a statement with others in it, whose pointers stand for memory that only their sources name before it.
  static void note(const Stmt& s, Uses& uses, bool inside) {
    for (const ir::ExprRef& e : ir::expressions_of(s)) note(e, uses);
    if (s.kind == StmtKind::store) uses.add(s.name, true);
    if (s.kind == StmtKind::call && !looks_at_nothing(s.source))
      for (const ir::ExprRef& e : s.args)
        if (e->kind == ir::ExprKind::address) uses.add(e->name, true);
    if (inside && (s.kind == StmtKind::pointer || s.kind == StmtKind::point) && !s.source.empty()) uses.add(s.source, true);
    if (s.kind == StmtKind::pointer || s.kind == StmtKind::allocate || s.kind == StmtKind::local_array) uses.declared.insert(s.name);
    for (const Body* b : {&s.body, &s.orelse})
      for (const StmtRef& inner : *b) note(*inner, uses, true);
  }

  void announce(const Uses& uses, Body& code) const {
    for (const auto& [name, writes] : uses.arrays)
      if (!quiet_.count(name)) announce(name, writes, code);
  }
  static void announce(const std::string& name, bool writes, Body& code) {
    code.push_back(ir::call("", DType::i64, "gasell_host", {ir::address("context"), ir::address(name), ir::constant_i64(writes)}));
  }

  /// What is allocated inside of a statement has no name before it.
  static StmtRef with_new_memory(const StmtRef& s) {
    if (s->body.empty() && s->orelse.empty()) return s;
    Stmt copy = *s;
    for (Body* b : {&copy.body, &copy.orelse}) {
      Body result;
      for (const StmtRef& inner : *b) {
        result.push_back(with_new_memory(inner));
        if (inner->kind == StmtKind::allocate) announce(inner->name, true, result);
      }
      *b = std::move(result);
    }
    return ir::make_statement(std::move(copy));
  }

  std::set<std::string> quiet_;  // memory that no GPU uses
};

}  // namespace

Body announce_host_accesses(const Body& body) { return Announcing(body).body(body); }

}  // namespace gasell::functions
