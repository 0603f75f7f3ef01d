#include "compiler/ir/part.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

bool repeats(const Stmt& s) { return s.kind == StmtKind::loop || s.kind == StmtKind::while_; }

/// How many loops have no loops inside, and how many of those are vectors.
struct Innermost {
  int loops = 0, vectors = 0;
};
Innermost innermost(std::span<const StmtRef> statements) {
  Innermost sum;
  for (const StmtRef& s : statements) {
    const Innermost inside = innermost(s->body), other = innermost(s->orelse);
    sum.loops += inside.loops + other.loops;
    sum.vectors += inside.vectors + other.vectors;
    if (!repeats(*s) || inside.loops > 0) continue;
    ++sum.loops;
    sum.vectors += s->kind == StmtKind::loop && s->loop_kind == LoopKind::simd;
  }
  return sum;
}

/// Writes statements with names that tell only where they came up first.
class Reader {
 public:
  bool read(std::span<const StmtRef> statements) {
    return std::all_of(statements.begin(), statements.end(), [this](const StmtRef& s) { return statement(*s); });
  }
  Part part;

 private:
  const std::string& number_of(const std::string& name) {
    return numbers_.emplace(name, "v" + std::to_string(numbers_.size())).first->second;
  }
  const std::string& used(const std::string& name, DType type, bool array) {
    if (!own_.count(name) && !numbers_.count(name)) part.free.push_back({name, type, array});
    return number_of(name);
  }
  const std::string& declared(const std::string& name) {
    own_.insert(name);
    return number_of(name);
  }
  void expression(ExprRef& e) {
    if (!e) return;
    e = rewrite(e, [this](const ExprRef& part) {
      if (part->kind == ExprKind::variable) return variable(used(part->name, part->type, false), part->type);
      if (part->kind == ExprKind::load) return load(used(part->name, part->type, true), part->type, part->args[0]);
      known_ = known_ && part->kind != ExprKind::address;
      return part;
    });
  }

  bool statement(const Stmt& s) {
    Stmt written = s;
    written.body.clear();
    written.orelse.clear();
    for (ExprRef* e : {&written.value, &written.index, &written.begin, &written.end, &written.width}) expression(*e);
    for (ExprRef& e : written.args) expression(e);
    switch (s.kind) {
      case StmtKind::let:
      case StmtKind::var:
      case StmtKind::local_array:
      case StmtKind::check:
      case StmtKind::scope:
      case StmtKind::loop: written.name = declared(s.name); break;
      case StmtKind::assign:
      case StmtKind::leave:
        if (!own_.count(s.name)) return false;
        written.name = number_of(s.name);
        break;
      case StmtKind::store: written.name = used(s.name, s.value->type, true); break;
      case StmtKind::if_:
      case StmtKind::while_:
      case StmtKind::raise:
      case StmtKind::poll: break;
      default: return false;
    }
    if (!known_ || s.catches || (s.kind == StmtKind::loop && s.loop_kind == LoopKind::unit)) return false;
    part.text += print_head(written) + " {\n";
    if (!read(s.body)) return false;
    part.text += "} {\n";
    if (!read(s.orelse)) return false;
    part.text += "}\n";
    return true;
  }

  std::unordered_map<std::string, std::string> numbers_;
  std::unordered_set<std::string> own_;
  bool known_ = true;
};

}  // namespace

std::optional<Part> part_of(std::span<const StmtRef> statements) {
  const Innermost loops = innermost(statements);
  if (loops.loops == 0 || loops.vectors < loops.loops) return {};
  Reader reader;
  if (!reader.read(statements)) return {};
  return std::move(reader.part);
}

bool reads(const Stmt& s, const std::string& variable) {
  bool found = s.kind == StmtKind::assign && s.name == variable;
  for (const ExprRef& e : expressions_of(s))
    visit(e, [&](const Expr& part) { found = found || (part.kind == ExprKind::variable && part.name == variable); });
  for (const Body* body : {&s.body, &s.orelse})
    found = found || std::any_of(body->begin(), body->end(), [&](const StmtRef& inner) { return reads(*inner, variable); });
  return found;
}

}  // namespace gasell::ir
