#include "compiler/plan/plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "compiler/plan/canonical.h"
#include "compiler/plan/contraction.h"
#include "compiler/plan/lower.h"
#include "compiler/plan/placement.h"
#include "lang/diagnostic.h"

namespace gasell::plan {
namespace {

using graph::Node;
using graph::NodeRef;
using graph::Shape;

constexpr double kProductsAnOperation = 10;  // that the library computes in the time of an operation in a loop

bool is_contiguous_buffer(const Node& node) {
  const auto* b = node.as<graph::BufferNode>();
  if (!b) return false;
  int64_t stride = 1;
  for (size_t k = node.shape.size(); k-- > 0;) {
    if (node.shape[k] != 1 && b->strides[k] != stride) return false;
    stride *= node.shape[k];
  }
  return true;
}

/// Elements a buffer access touches at least: what must be read once.
double distinct_elements(const Access& access, const Shape& space) {
  double n = 1;
  if (access.index >= 0) return static_cast<double>(std::min(graph::size_of(space), access.source->size()));
  for (size_t k = 0; k < space.size(); ++k)
    if (access.coefficients[k] != 0) n *= static_cast<double>(space[k]);
  return n;
}

class Planner {
 public:
  explicit Planner(const PlanOptions& options) : options_(options) {}

  Plan plan(const std::vector<NodeRef>& given, const std::vector<Destination>& destinations) {
    const std::vector<NodeRef> roots = canonical(given);
    const std::vector<NodeRef> order = topological_order(roots);
    const auto stored = choose_stored(order, roots, options_);
    std::unordered_map<const Node*, const Destination*> places;
    for (size_t k = 0; k < destinations.size(); ++k)
      if (destinations[k].storage) places.emplace(roots[k].get(), &destinations[k]);
    for (const NodeRef& node : order) {
      std::vector<NodeRef> inputs;
      for (const NodeRef& input : node->inputs) inputs.push_back(done_.at(input.get()));
      NodeRef current = rebuild(node, std::move(inputs));
      if (auto place = places.find(node.get()); place != places.end()) {
        current = compute(current, *place->second, "asked for");
      } else if (auto reason = stored.find(node.get());
                 reason != stored.end() && !is_contiguous_buffer(*current) && !is_kept_as_is(*current, reason->second)) {
        current = store(current, reason->second);
      }
      done_.emplace(node.get(), std::move(current));
    }
    for (size_t k = 0; k < roots.size(); ++k) {
      NodeRef result = done_.at(roots[k].get());
      const Destination* wanted = k < destinations.size() && destinations[k].storage ? &destinations[k] : nullptr;
      if (wanted && places.at(roots[k].get()) != wanted) result = compute(result, *wanted, "asked for");
      if (!wanted && !is_contiguous_buffer(*result)) result = store(result, "asked for");
      plan_.results.push_back(std::move(result));
    }
    return std::move(plan_);
  }

 private:
  /// A constant needs no storing for its users' sake.
  static bool is_kept_as_is(const Node& node, const std::string& reason) {
    return reason != "asked for" && node.as<graph::ConstantNode>() != nullptr;
  }

  static Output output_for(const StorageRef& storage, DType dtype, std::vector<int64_t> strides, int64_t offset) {
    return {storage, Access{nullptr, dtype, std::move(strides), offset}};
  }

  /// Steps that compute `node` into new memory; the buffer over it.
  NodeRef store(const NodeRef& node, const std::string& because) {
    const int64_t size = node->size();
    auto storage = std::make_shared<TemporaryStorage>(size * gasell::size_of(node->dtype));
    return compute(node, {storage, graph::contiguous_strides(node->shape), 0}, because);
  }

  NodeRef compute(const NodeRef& node, const Destination& to, const std::string& because) {
    if (node->size()) add_steps(node, to.storage, to.strides, to.offset, because);
    return graph::buffer(to.storage, node->dtype, node->shape, to.strides, to.offset);
  }

  void add_steps(const NodeRef& node, const StorageRef& storage, const std::vector<int64_t>& strides, int64_t offset,
                 const std::string& because) {
    const size_t first = plan_.steps.size();
    if (const auto* r = node->as<graph::ReduceNode>()) {
      reduce(node, *r, output_for(storage, node->dtype, strides, offset));
    } else if (const auto* c = node->as<graph::ConcatenateNode>()) {
      int64_t at = offset;
      for (const NodeRef& part : node->inputs) {
        if (part->as<graph::ConcatenateNode>()) {
          add_steps(part, storage, strides, at, because);
        } else if (part->size()) {
          elementwise(part, output_for(storage, node->dtype, strides, at));
        }
        at += strides[c->axis] * part->shape[c->axis];
      }
    } else if (const auto* p = node->as<graph::PadNode>()) {
      padded(node, *p, output_for(storage, node->dtype, strides, offset));
    } else {
      elementwise(node, output_for(storage, node->dtype, strides, offset));
    }
    for (size_t k = first; k < plan_.steps.size(); ++k)
      if (plan_.steps[k].stored_because.empty()) plan_.steps[k].stored_because = because;
  }

  void elementwise(const NodeRef& node, Output output) {
    Pulled pulled = pull({node});
    Step report = measure(pulled, node->size(), node->dtype);
    Step step = lower_elementwise(std::move(pulled), {std::move(output)}, options_.grain);
    copy_measures(step, report);
    plan_.steps.push_back(std::move(step));
  }

  void padded(const NodeRef& node, const graph::PadNode& pad, Output output) {
    const NodeRef& inside = node->inputs[0];
    Border border{pad.before, {}, pad.value};
    for (size_t k = 0; k < pad.before.size(); ++k) border.end.push_back(pad.before[k] + inside->shape[k]);
    Pulled pulled = pull_within(inside, node->shape, pad.before);
    Step report = measure(pulled, node->size(), node->dtype);
    Step step = lower_elementwise(std::move(pulled), {std::move(output)}, options_.grain, &border);
    copy_measures(step, report);
    plan_.steps.push_back(std::move(step));
  }

  void reduce(const NodeRef& node, const graph::ReduceNode& reduce, Output output) {
    const NodeRef& x = node->inputs[0];
    if (x->size() == 0) {  // nothing to reduce: the identity (mean and var: 0/0)
      const bool one = reduce.op == graph::ReduceOp::prod || reduce.op == graph::ReduceOp::all;
      const bool nan = reduce.op == graph::ReduceOp::mean || reduce.op == graph::ReduceOp::var;
      constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
      const Scalar value = nan ? Scalar::of_complex({kNan, kNan}) : Scalar::of_int(one);
      return elementwise(graph::constant(value.cast(node->dtype), node->shape), std::move(output));
    }
    if (options_.library && reduce.op == graph::ReduceOp::sum && library_product(node, reduce, x, output)) return;
    Pulled pulled = pull({x});
    Step report = measure(pulled, node->size(), node->dtype);
    report.operations += report.elements;
    const size_t first = plan_.steps.size();
    lower_reduction(plan_.steps, std::move(pulled), reduce.op, reduce.axes, reduce.ddof, node->dtype, std::move(output), options_.grain);
    copy_measures(plan_.steps[first], report);
  }

  static int64_t bytes_of(const NodeRef& node) { return node->size() * gasell::size_of(node->dtype); }

  /// Where a factor of a product lies in memory, without the axes that it is stretched along; null: it was not stored yet.
  NodeRef stored_factor(const NodeRef& compact) const {
    const InSourceOrder factor = in_source_order(compact);
    for (const StoredFactor& known : factors_)
      if (is_same_view(known.plain, factor.plain)) return graph::view(known.memory, compact->shape, factor.axes);
    return nullptr;
  }
  NodeRef store_factor(const NodeRef& compact) {
    if (NodeRef known = stored_factor(compact)) return known;
    const NodeRef plain = in_source_order(compact).plain;
    factors_.push_back({plain, store(plain, "factor of a product of matrices")});
    return stored_factor(compact);
  }

  /// Leaves a sum of products to the library, where it is one; factors that are no memory, or lie in it as the library cannot walk, are
  /// stored first, in panels where there is no memory for them. `add`: to what `output` holds. False: it is none.
  bool library_product(const NodeRef& node, const graph::ReduceNode& reduce, const NodeRef& product, const Output& output,
                       bool add = false) {
    const std::optional<Factors> factors = factors_of(*product, reduce.axes);
    if (!factors || node->dtype != product->dtype || !options_.library()) return false;
    NodeRef left = product->inputs[0], right = product->inputs[1];
    bool left_stored = !left->as<graph::BufferNode>(), right_stored = !right->as<graph::BufferNode>();
    const auto in_panels_if_large = [&] {
      const auto needed = [this](bool stored, const NodeRef& factor) { return stored && !stored_factor(factor) ? bytes_of(factor) : 0; };
      if (needed(left_stored, factors->left) + needed(right_stored, factors->right) <= options_.memory / 2) return false;
      return in_panels(node, reduce, {left, right}, output, add, left_stored, right_stored);
    };
    if (in_panels_if_large()) return true;
    if (left_stored) left = stretch_again(left, store_factor(factors->left));
    if (right_stored) right = stretch_again(right, store_factor(factors->right));
    const auto find = [&] { return contraction_of(pull({graph::map(ScalarOp::mul, {left, right})}), reduce.axes, output.access); };
    std::optional<LibraryProduct> found = find();
    if (found && !(found->left_fits && found->right_fits)) {
      left_stored = !found->left_fits, right_stored = !found->right_fits;
      if (in_panels_if_large()) return true;
      if (left_stored) left = stretch_again(left, store(factors->left, "factor of a product of matrices"));
      if (right_stored) right = stretch_again(right, store(factors->right, "factor of a product of matrices"));
      found = find();
    }
    if (!found || !found->left_fits || !found->right_fits) return false;
    if (options_.grain.rolled && !add && summed_behind(found->contraction, reduce, {left, right}, output)) return true;
    if (!found->result_fits) {
      std::vector<int64_t> strides = strides_that_fit(*product, reduce.axes);
      if (add || output.access.coefficients == strides) return false;
      auto storage = std::make_shared<TemporaryStorage>(bytes_of(node));
      elementwise(compute(node, {storage, std::move(strides), 0}, "product of matrices, before it is put into its place"), output);
      return true;
    }
    const auto memory = [](const Access& access) { return access.source->as<graph::BufferNode>()->storage; };
    const int64_t width = gasell::size_of(node->dtype);
    Step step;
    step.storages = {memory(found->left), memory(found->right), output.storage};
    step.written = {false, false, true};
    step.byte_offsets = {found->left.offset * width, found->right.offset * width, output.access.offset * width};
    step.elements = static_cast<double>(product->size());
    step.operations = step.elements / kProductsAnOperation;
    step.bytes_read = static_cast<double>(bytes_of(factors->left) + bytes_of(factors->right));
    step.bytes_written = static_cast<double>(bytes_of(node));
    found->contraction.add = add;
    step.contraction = std::make_shared<const Contraction>(std::move(found->contraction));
    plan_.steps.push_back(std::move(step));
    return true;
  }

  /// Products that are added up over axes which the library does not walk, as of tensordot over two: calls that add to one result wait for
  /// each other, so GPUs compute them beside each other and sum them behind that. False: they are few, or would take too much memory.
  bool summed_behind(const Contraction& c, const graph::ReduceNode& reduce, const std::array<NodeRef, 2>& factors, const Output& output) {
    constexpr int64_t kLeastCalls = 8, kMostBytes = 256 << 20;
    int64_t calls = 1;
    for (const Contraction::Axis& axis : c.outer)
      if (axis.result == 0) calls *= axis.extent;
    if (calls < kLeastCalls) return false;
    const NodeRef product = graph::map(ScalarOp::mul, {factors[0], factors[1]});
    const auto walks = [&](const NodeRef& factor, int axis, int64_t step) {
      const auto* buffer = factor->as<graph::BufferNode>();
      return buffer && buffer->strides[static_cast<size_t>(axis)] == step;
    };
    const auto inner = std::find_if(reduce.axes.begin(), reduce.axes.end(), [&](int axis) {
      return product->shape[static_cast<size_t>(axis)] == c.summed.extent && walks(factors[0], axis, c.summed.left) &&
             walks(factors[1], axis, c.summed.right);
    });
    if (inner == reduce.axes.end()) return false;
    const NodeRef products = graph::reduce(reduce.op, product, {*inner});
    if (bytes_of(products) > std::min(kMostBytes, options_.memory / 8)) return false;
    std::vector<int> others;
    for (const int axis : reduce.axes)
      if (axis != *inner) others.push_back(axis - (axis > *inner ? 1 : 0));
    const NodeRef sum = graph::reduce(reduce.op, store(products, "products that are summed behind them"), std::move(others));
    this->reduce(sum, *sum->as<graph::ReduceNode>(), output);
    return true;
  }

  /// A product whose factors are to be stored and find no room together: panel by panel, each factor's as it is needed,
  ///
  ///   x.T @ x  →  p = x[0:n];  r = p.T @ p;  p = x[n:2n];  r += p.T @ p;  …
  ///
  /// False: it cannot be cut. Then the factors are stored whole, on disk where there is no memory.
  bool in_panels(const NodeRef& node, const graph::ReduceNode& reduce, const std::array<NodeRef, 2>& stretched, const Output& output,
                 bool add, bool left_stored, bool right_stored) {
    constexpr int64_t kMostPanels = 256, kLeastExtent = 16;
    const NodeRef product = graph::map(ScalarOp::mul, {stretched[0], stretched[1]});
    const int axis = panel_axis(*product, reduce.axes, 4 * bytes_of(node) <= options_.memory, left_stored, right_stored);
    const std::optional<Factors> factors = factors_of(*product, reduce.axes);
    if (axis < 0 || !factors) return false;
    const int64_t extent = product->shape[static_cast<size_t>(axis)], panel_bytes = std::max<int64_t>(1, options_.memory / 8);
    const auto cut = [&](bool stored, const NodeRef& factor, const NodeRef& in_product) {
      if (!stored) return int64_t{0};
      if (has_axis(*in_product, axis)) return bytes_of(factor);
      store_factor(factor);
      return int64_t{0};
    };
    const int64_t bytes = cut(left_stored, factors->left, stretched[0]) + cut(right_stored, factors->right, stretched[1]);
    const int64_t panels = std::min({(bytes + panel_bytes - 1) / panel_bytes, kMostPanels, extent / kLeastExtent});
    if (panels < 2) return false;
    const auto summed = std::find(reduce.axes.begin(), reduce.axes.end(), axis);
    size_t steps_before = 0;
    for (int64_t p = 0; p < panels; ++p) {
      // The smallest panel comes first: what the library takes of it, it takes of the others.
      const int64_t rest = panels - extent % panels, begin = extent / panels * p + std::max<int64_t>(0, p - rest);
      const int64_t end = begin + extent / panels + (p >= rest ? 1 : 0);
      const NodeRef part = graph::map(ScalarOp::mul, {part_of(stretched[0], axis, begin, end), part_of(stretched[1], axis, begin, end)});
      const NodeRef result = graph::reduce(reduce.op, part, reduce.axes);
      Output to = output;
      if (summed == reduce.axes.end()) {
        const auto before = std::count_if(reduce.axes.begin(), reduce.axes.end(), [axis](int k) { return k < axis; });
        to.access.offset += begin * to.access.coefficients[static_cast<size_t>(axis - before)];
      }
      const size_t steps = plan_.steps.size();
      if (library_product(result, reduce, part, to, add || (summed != reduce.axes.end() && p > 0))) {
        const size_t made = plan_.steps.size() - steps;
        for (size_t k = steps; p > 0 && made == steps_before && k < plan_.steps.size(); ++k) plan_.steps[k].as_before = made;
        steps_before = made;
        continue;
      }
      if (p > 0) throw Error("SystemError", "a product of matrices was cut into panels that are none", {}, Blame::internal);
      plan_.steps.resize(steps);
      return false;
    }
    return true;
  }
  static Step measure(const Pulled& pulled, int64_t results, DType result_type) {
    Step step;
    step.elements = static_cast<double>(graph::size_of(pulled.space));
    step.operations = step.elements * pulled.cost();
    for (const Access& access : pulled.accesses)
      if (access.source->as<graph::BufferNode>())
        step.bytes_read += distinct_elements(access, pulled.space) * gasell::size_of(access.dtype);
    step.bytes_written = static_cast<double>(results) * gasell::size_of(result_type);
    return step;
  }
  static void copy_measures(Step& to, const Step& from) {
    to.elements = from.elements;
    to.operations = from.operations;
    to.bytes_read = from.bytes_read;
    to.bytes_written = from.bytes_written;
  }

  const PlanOptions& options_;
  Plan plan_;
  std::unordered_map<const Node*, NodeRef> done_;
  struct StoredFactor {
    NodeRef plain, memory;  // as in_source_order() gives it, and the buffer that holds it
  };
  std::vector<StoredFactor> factors_;  // of products of matrices
};

}  // namespace

Plan make_plan(const std::vector<NodeRef>& roots, const PlanOptions& options, const std::vector<Destination>& destinations) {
  return Planner(options).plan(roots, destinations);
}

}  // namespace gasell::plan
