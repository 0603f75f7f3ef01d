#include "compiler/ir/fuse_thread_loops.h"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

using Names = std::set<std::string>;

bool is_simd(const Stmt& s) { return s.kind == StmtKind::loop && s.loop_kind == LoopKind::simd; }
bool is_serial(const Stmt& s) { return s.kind == StmtKind::loop && s.loop_kind == LoopKind::serial; }

Names names_in(const ExprRef& e) {
  Names names;
  visit(e, [&](const Expr& part) {
    if (part.kind == ExprKind::variable || part.kind == ExprKind::load) names.insert(part.name);
  });
  return names;
}

/// Calls f(statement) for every statement of the body and the bodies in it.
template <class F>
void each_statement(const Body& body, const F& f) {
  for (const StmtRef& s : body) {
    f(*s);
    each_statement(s->body, f);
    each_statement(s->orelse, f);
  }
}

/// How often each array is read or written.
void count_uses(const Body& body, std::map<std::string, int>& uses) {
  each_statement(body, [&](const Stmt& s) {
    if (s.kind == StmtKind::store) ++uses[s.name];
    for (const ExprRef& e : expressions_of(s))
      visit(e, [&](const Expr& part) {
        if (part.kind == ExprKind::load) ++uses[part.name];
      });
  });
}

Body rewrite_all(const Body& body, const ExprRewrite& f) {
  Body result;
  for (const StmtRef& s : body) {
    Stmt rewritten = rewrite_expressions(*s, f);
    rewritten.body = rewrite_all(s->body, f);
    rewritten.orelse = rewrite_all(s->orelse, f);
    result.push_back(make_statement(std::move(rewritten)));
  }
  return result;
}

/// Consecutive statements that become one loop.
struct Run {
  std::string bounds;  // text of "begin .. end"
  Names bound_names;   // that occur in them
  const Stmt* first = nullptr;
  Body hoisted;  // lets and local arrays that stand before the loop
  Body parallel;
  size_t length = 0;  // statements of the body it takes
};

class Fusion {
 public:
  explicit Fusion(const Kernel& kernel) {
    for (const Parameter& p : kernel.params) fixed_.insert(p.name);
    count_uses(kernel.body, uses_);
    each_statement(kernel.body, [&](const Stmt& s) {
      if (s.kind == StmtKind::local_array) locals_.emplace(s.name, s.type);
      if (s.kind == StmtKind::let || s.kind == StmtKind::loop) fixed_.insert(s.name);
    });
  }

  Body body(const Body& statements) {
    Body result;
    for (size_t at = 0; at < statements.size();) {
      if (const auto run = run_at(statements, at); run && (run->parallel.size() > 1 || !is_simd(*run->parallel[0])) && is_legal(*run)) {
        result.insert(result.end(), run->hoisted.begin(), run->hoisted.end());
        result.push_back(fused(*run));
        at += run->length;
        continue;
      }
      Stmt s = *statements[at++];
      s.body = body(s.body);
      s.orelse = body(s.orelse);
      result.push_back(make_statement(std::move(s)));
    }
    return result;
  }

  /// The local arrays that are registers now.
  const Names& gone() const { return gone_; }

 private:
  bool is_uniform(const ExprRef& e) const {
    return is_constant_over_time(e, [this](const std::string& name) { return fixed_.count(name) != 0; });
  }

  /// The simd loops' common bounds of a statement that holds nothing else; `run` has those known so far.
  bool joins(const Stmt& s, Run& run) const {
    if (is_simd(s)) {
      const std::string bounds = print(s.begin) + " .. " + print(s.end);
      if (!run.first) {
        run.first = &s;
        run.bounds = bounds;
        run.bound_names = names_in(s.begin);
        run.bound_names.merge(names_in(s.end));
        return is_uniform(s.begin) && is_uniform(s.end);
      }
      return run.bounds == bounds;
    }
    if (!is_serial(s) || !is_uniform(s.begin) || !is_uniform(s.end)) return false;
    bool any = false;
    for (const StmtRef& inner : s.body) {
      if (inner->kind == StmtKind::let && is_uniform(inner->value)) continue;
      if (!joins(*inner, run)) return false;
      any = true;
    }
    if (!any || run.bound_names.count(s.name)) return false;
    for (const StmtRef& inner : s.body)
      if (inner->kind == StmtKind::let && run.bound_names.count(inner->name)) return false;
    return true;
  }

  std::optional<Run> run_at(const Body& statements, size_t at) const {
    Run run;
    Body lets;
    for (size_t k = at; k < statements.size(); ++k) {
      const Stmt& s = *statements[k];
      if (!run.parallel.empty() && (s.kind == StmtKind::local_array || (s.kind == StmtKind::let && is_uniform(s.value)))) {
        lets.push_back(statements[k]);  // taken with the next loop, left where it is if there is none
        continue;
      }
      Run longer = run;
      if (!joins(s, longer)) break;
      run = std::move(longer);
      run.hoisted.insert(run.hoisted.end(), lets.begin(), lets.end());
      lets.clear();
      run.parallel.push_back(statements[k]);
      run.length = k + 1 - at;
    }
    if (run.parallel.empty()) return {};
    return run;
  }

  /// Local arrays written in the run are used at the loops' own element only; out parameters are not read.
  bool is_legal(const Run& run) const {
    Names written;
    each_statement(run.parallel, [&](const Stmt& s) {
      if (s.kind == StmtKind::store) written.insert(s.name);
    });
    return all_legal(run.parallel, written);
  }
  bool all_legal(const Body& body, const Names& written) const {
    for (const StmtRef& s : body)
      if (!(is_simd(*s) ? owns_elements(s->body, s->name, written) : all_legal(s->body, written))) return false;
    return true;
  }
  bool owns_elements(const Body& body, const std::string& element, const Names& written) const {
    bool legal = true;
    auto own = [&](const std::string& array, const ExprRef& index) {
      return !locals_.count(array) || !written.count(array) || (index->kind == ExprKind::variable && index->name == element);
    };
    each_statement(body, [&](const Stmt& s) {
      if (s.kind == StmtKind::store) legal = legal && own(s.name, s.index);
      for (const ExprRef& e : expressions_of(s))
        visit(e, [&](const Expr& part) {
          if (part.kind != ExprKind::load) return;
          legal = legal && own(part.name, part.args[0]) && (locals_.count(part.name) || !written.count(part.name));
        });
    });
    return legal;
  }

  StmtRef fused(const Run& run) {
    const ExprRef element = variable(run.first->name, DType::i64);
    Body inner = threads_part(run.parallel, element);
    Names written;
    std::map<std::string, int> uses;
    each_statement(inner, [&](const Stmt& s) {
      if (s.kind == StmtKind::store && locals_.count(s.name)) written.insert(s.name);
    });
    count_uses(inner, uses);
    Body before, after;
    for (const std::string& array : written) {
      const DType type = locals_.at(array);
      const std::string name = array + "_r";
      const bool starts = written_first(inner, array, uses.at(array));
      before.push_back(var(name, starts ? constant(Scalar::of_int(0).cast(type)) : load(array, type, element)));
      if (starts && uses.at(array) == uses_.at(array))
        gone_.insert(array);
      else
        after.push_back(store(array, element, variable(name, type)));
    }
    inner = in_registers(inner, written);
    inner.insert(inner.begin(), before.begin(), before.end());
    inner.insert(inner.end(), after.begin(), after.end());
    return loop(run.first->name, run.first->begin, run.first->end, LoopKind::simd, std::move(inner));
  }

  /// The statements as one thread runs them: simd loops give way to their bodies.
  Body threads_part(const Body& statements, const ExprRef& element) const {
    Body result;
    for (const StmtRef& s : statements) {
      if (is_simd(*s)) {
        for (const StmtRef& each :
             rewrite_all(s->body, [&](const ExprRef& e) { return e->kind == ExprKind::variable && e->name == s->name ? element : e; }))
          result.push_back(each);
      } else if (s->kind == StmtKind::loop) {
        Stmt serial = *s;
        serial.body = threads_part(s->body, element);
        result.push_back(make_statement(std::move(serial)));
      } else {
        result.push_back(s);
      }
    }
    return result;
  }

  /// Whether the array's element is stored before it is read, whatever happened before; `all` is how often the body uses the array.
  static bool written_first(const Body& body, const std::string& array, int all) {
    for (const StmtRef& s : body) {
      std::map<std::string, int> uses;
      count_uses({s}, uses);
      if (!uses.count(array)) continue;
      if (s->kind == StmtKind::store) return uses.at(array) == 1;
      return s->kind == StmtKind::loop && uses.at(array) == all && written_first(s->body, array, all);
    }
    return false;
  }

  Body in_registers(const Body& body, const Names& arrays) const {
    Body result;
    for (const StmtRef& s : body) {
      Stmt changed = rewrite_expressions(
          *s, [&](const ExprRef& e) { return e->kind == ExprKind::load && arrays.count(e->name) ? variable(e->name + "_r", e->type) : e; });
      if (changed.kind == StmtKind::store && arrays.count(changed.name)) {
        result.push_back(assign(changed.name + "_r", changed.value));
        continue;
      }
      changed.body = in_registers(changed.body, arrays);
      changed.orelse = in_registers(changed.orelse, arrays);
      result.push_back(make_statement(std::move(changed)));
    }
    return result;
  }

  Names fixed_;  // scalars that never change
  std::map<std::string, DType> locals_;
  std::map<std::string, int> uses_;
  Names gone_;
};

Body without_arrays(const Body& body, const Names& gone) {
  Body result;
  for (const StmtRef& s : body) {
    if (s->kind == StmtKind::local_array && gone.count(s->name)) continue;
    Stmt kept = *s;
    kept.body = without_arrays(s->body, gone);
    kept.orelse = without_arrays(s->orelse, gone);
    result.push_back(make_statement(std::move(kept)));
  }
  return result;
}

}  // namespace

Kernel fuse_thread_loops(const Kernel& kernel) {
  Fusion fusion(kernel);
  Body body = fusion.body(kernel.body);
  return with_body(kernel, without_arrays(body, fusion.gone()));
}

}  // namespace gasell::ir
