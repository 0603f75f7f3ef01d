// What iterations of a loop use of memory, and whether two of them may use the same.
#include "compiler/functions/lowering.h"
#include "compiler/functions/terms.h"
#include "compiler/ir/text.h"

namespace gasell::functions {

using namespace terms;
using ir::constant_i64;

namespace {

/// Indices of steps up to here differ for all iterations that there can be.
constexpr int64_t kLargestStep = int64_t{1} << 30;

/// c0 + Σ c_k * leaf_k, leaves by their text.
struct Linear {
  int64_t constant = 0;
  std::map<std::string, int64_t> terms;
  bool operator==(const Linear&) const = default;
};

class LinearForm {
 public:
  explicit LinearForm(const Code& code) : code_(code) {}

  /// The variable that a leaf is; null: it is more than that.
  ExprRef leaf(const std::string& text) const {
    const auto found = leaves_.find(text);
    return found == leaves_.end() ? nullptr : found->second;
  }

  std::optional<Linear> of(const ExprRef& e) const {
    switch (e->kind) {
      case ir::ExprKind::constant:
        if (!is_integer(e->type)) return {};
        return Linear{e->value.i, {}};
      case ir::ExprKind::variable:
        if (const ExprRef definition = code_.definition(e->name)) return of(definition);
        leaves_[e->name] = e;
        return Linear{0, {{e->name, 1}}};
      case ir::ExprKind::cast:
        // A narrower type wraps: different numbers become one.
        if (!is_integer(e->args[0]->type) || size_of(e->type) < size_of(e->args[0]->type)) return {};
        return of(e->args[0]);
      case ir::ExprKind::op: {
        if (e->op != ScalarOp::add && e->op != ScalarOp::sub && e->op != ScalarOp::mul) return opaque(e);
        auto a = of(e->args[0]), b = of(e->args[1]);
        if (!a || !b) return opaque(e);
        if (e->op == ScalarOp::mul) {
          if (!a->terms.empty()) std::swap(a, b);
          return a->terms.empty() ? std::optional(scaled(*b, a->constant)) : opaque(e);
        }
        const Linear right = e->op == ScalarOp::sub ? scaled(*b, -1) : *b;
        a->constant += right.constant;
        for (const auto& [leaf, factor] : right.terms)
          if ((a->terms[leaf] += factor) == 0) a->terms.erase(leaf);
        return a;
      }
      default: return {};
    }
  }

 private:
  /// A product of things that do not change is a thing that does not change; it is known by its text.
  static std::optional<Linear> opaque(const ExprRef& e) { return Linear{0, {{ir::print(e), 1}}}; }
  static Linear scaled(Linear l, int64_t factor) {
    l.constant *= factor;
    if (factor == 0) l.terms.clear();
    for (auto& [leaf, c] : l.terms) c *= factor;
    return l;
  }
  const Code& code_;
  mutable std::map<std::string, ExprRef> leaves_;
};

/// Whether every name in a leaf's text was made before the loop.
bool is_outside(const std::string& leaf, int last) {
  for (size_t k = 0; k < leaf.size();) {
    if (leaf[k] != '_') {
      ++k;
      continue;
    }
    size_t end = k + 1;
    while (end < leaf.size() && std::isdigit(static_cast<unsigned char>(leaf[end]))) ++end;
    const bool number = end > k + 1 && (end == leaf.size() || !(std::isalnum(static_cast<unsigned char>(leaf[end])) || leaf[end] == '_'));
    if (number && std::stoi(leaf.substr(k + 1, end - k - 1)) > last) return false;
    k = end;
  }
  return true;
}

}  // namespace

void Lowering::note_access(const ArrayValue& a, const std::vector<ExprRef>& index, bool writes, Span at) {
  if (!program_.accesses) return;
  Access access{a.memory, a.root, a.fixed, writes, at};
  if (a.axes.size() == index.size())
    for (size_t k = 0; k < index.size(); ++k)
      if (a.axes[k] >= 0) access.index[static_cast<size_t>(a.axes[k])] = index[k];
  program_.accesses->push_back(std::move(access));
}

/// Whether names that stand for several arrays within an iteration are only read through, and all of them are arrays that objects among the
/// arguments hold, while what is written is known by names of its own: the caller sees to it that those do not overlap.
bool Lowering::lies_apart(std::span<const Access> accesses, const std::set<std::string>& memories, const std::set<std::string>& written,
                          int roots, int outside) {
  if (program_.overlapping || program_.lasting->held_anywhere) return false;
  std::set<DType> dtypes;
  for (const std::string& memory : memories) {
    const bool changing = !is_outside(memory, outside);
    const auto points = program_.points.find(memory);
    const bool held = points != program_.points.end() && points->second.starts_with("(noted ");
    if (changing && (!held || written.count(memory))) return false;
    if (!changing || !held) continue;
    if (program_.points.count(points->second)) return false;  // the function itself put arrays into lists
    for (int k = 0; k < kDTypeCount; ++k)
      if (noted_arrays(static_cast<DType>(k)) == points->second) dtypes.insert(static_cast<DType>(k));
  }
  for (const Access& a : accesses)
    if (a.writes && a.root <= roots && a.root == ArrayValue::kAnywhere) return false;
  program_.trusted.insert(dtypes.begin(), dtypes.end());
  return true;
}

ExprRef Lowering::independent(std::span<const Access> accesses, const Iterations& of, Span at) {
  const auto& [variable, ends, outside, roots, asking] = of;
  const LinearForm linear(code());
  ExprRef condition = boolean(true);
  auto require = [&](ExprRef e) { condition = both(ScalarOp::logical_and, condition, std::move(e)); };
  /// An access's index on an axis as c * variable + d, d the same in all iterations; nullopt: not so.
  auto affine = [&](const Access& a, size_t axis) -> std::optional<Linear> {
    if (axis >= a.index.size() || !a.index[axis]) return {};
    auto form = linear.of(a.index[axis]);
    if (!form || !form->terms.count(variable->name) || std::abs(form->terms.at(variable->name)) > kLargestStep) return {};
    for (const auto& [leaf, factor] : form->terms)
      if (leaf != variable->name && !is_outside(leaf, outside)) return {};
    return form;
  };
  std::set<std::string> memories, written;
  const Access* changing = nullptr;  // through a name that stands for several arrays within an iteration
  for (const Access& a : accesses) {
    if (a.root > roots) continue;  // memory of the iteration itself
    memories.insert(a.memory);
    if (a.writes) written.insert(a.memory);
    if (a.root == ArrayValue::kAnywhere && !is_outside(a.memory, outside)) changing = &a;
  }
  const bool apart_from_held = changing && lies_apart(accesses, memories, written, roots, outside);
  if (apart_from_held) changing = nullptr;
  if (changing && !written.empty() && (asking || program_.overlapping)) return boolean(false);
  if (changing && !written.empty())
    fail(changing->span, "iterations of this prange may use the same element: this name stands for several arrays in an iteration",
         "give each array its own name in the loop, or, where iterations are independent all the same, say parallel=\"unsafe\"");
  for (const std::string& memory : written) {
    std::vector<const Access*> uses;
    const Access* write = nullptr;
    for (const Access& a : accesses) {
      if (a.memory != memory) continue;
      uses.push_back(&a);
      if (a.writes && !write) write = &a;
    }
    size_t axes = 0;
    for (const Access* a : uses) axes = std::max(axes, a->index.size());
    const Access* clash = write;
    std::optional<Linear> apart;
    for (size_t axis = 0; axis < axes && !apart; ++axis) {
      const auto form = affine(*write, axis);
      if (!form) continue;
      apart = form;
      for (const Access* a : uses) {
        if (affine(*a, axis) == form) continue;
        clash = a;
        apart.reset();
        break;
      }
      // Indices below zero count from the end, where they might meet others.
      if (apart) {
        for (const ExprRef& end : ends) {
          const int64_t c = form->terms.at(variable->name);
          ExprRef value = constant_i64(form->constant) + constant_i64(c) * end;
          bool known = true;
          for (const auto& [leaf, factor] : form->terms) {
            if (leaf == variable->name) continue;
            const ExprRef name = linear.leaf(leaf);
            if (name)
              value = value + constant_i64(factor) * ir::cast(name, DType::i64);
            else
              known = false;
          }
          require(known ? both(ScalarOp::ge, value, constant_i64(0)) : boolean(false));
        }
      }
    }
    if (apart) continue;
    if (asking) return boolean(false);
    const bool itself = clash == write;
    Diagnostic d{
        Blame::user,
        "TypingError",
        itself ? "iterations of this prange may write the same element: nothing shows that this place is another one in each iteration"
               : std::string("iterations of this prange may use the same element: one writes it here, another ") +
                     (clash->writes ? "writes" : "reads") + " it there",
        Label{function_.source, write->span, "written here"},
        {},
        "index the array with the loop's variable in the same way at every place, or, where iterations are independent all the same, say "
        "parallel=\"unsafe\""};
    if (!itself) d.secondary.push_back({function_.source, clash->span, clash->writes ? "written here" : "read here"});
    d.secondary.push_back({function_.source, at, "the parallel loop"});
    throw Error(std::move(d));
  }
  // Arrays that are one only if the program made them so: compared when it runs.
  for (const std::string& w : written) {
    for (const std::string& m : memories) {
      if (m == w || (written.count(m) && m < w) || (apart_from_held && !is_outside(m, outside))) continue;
      const auto root_of = [&](const std::string& name) {
        for (const Access& a : accesses)
          if (a.memory == name) return a.root;
        return ArrayValue::kAnywhere;
      };
      const int a = root_of(w), b = root_of(m);
      if (a != ArrayValue::kAnywhere && b != ArrayValue::kAnywhere && a != b) continue;
      if (program_.overlapping) return boolean(false);
      // The parallel loop around asks for the same arrays, and more.
      if (asking && !program_.options.unchecked_parallel) continue;
      if (asking) return boolean(false);
      // Two names of one root, or of roots that are not known: different memory begins elsewhere.
      const std::string x = code().fresh("address"), y = code().fresh("address");
      code().emit(ir::call(x, DType::i64, "gasell_address", {ir::address(w)}));
      code().emit(ir::call(y, DType::i64, "gasell_address", {ir::address(m)}));
      require(both(ScalarOp::ne, ir::variable(x, DType::i64), ir::variable(y, DType::i64)));
    }
  }
  return asking ? condition : code().bind(condition, "independent");
}

}  // namespace gasell::functions
