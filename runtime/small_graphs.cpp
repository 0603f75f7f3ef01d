#include "runtime/small_graphs.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "compiler/plan/expand.h"
#include "runtime/small_operations.h"
#include "runtime/small_reductions.h"

namespace gasell {
namespace {

using namespace small;
using graph::Node;
using graph::NodeRef;

// Fewer than the products of matrices have that are left to the library, and as many as are done sooner than a plan is made.
constexpr int64_t kMostElements = 8192;
constexpr int64_t kMostOfAll = 65536;
constexpr size_t kMostNodes = 160;
/// An element of an operation that has no loop of its own here counts as so many.
constexpr int64_t kSlowly = 32;
constexpr int64_t kAlignment = 64;

/// What an element counts as.
int64_t weight(DType type) { return is_complex(type) ? 2 : 1; }

}  // namespace

class SmallGraphs::Evaluation {
 public:
  Evaluation(SmallGraphs& owner) : owner_(owner) {}

  /// Whether it can be done here; finds the order of the nodes.
  bool admit(const NodeRef& node) {
    if (number_of(node.get()) >= 0) return true;
    const NodeRef known = node->inputs.empty() ? nullptr : known_value(node);
    const NodeRef& now = known ? known : node;
    if (nodes_.size() >= kMostNodes || now->size() > kMostElements || now->shape.size() > 16 || !admit_itself(*now)) return false;
    if (left_ < 0) return false;
    const std::span<const NodeRef> inputs = std::span<const NodeRef>(now->inputs).subspan(windowed(*now) ? 1 : 0);
    for (const NodeRef& input : inputs)
      if (!admit(input)) return false;
    Item item{node.get(), known, &node, {}, 0, 0, {}};
    for (const NodeRef& input : inputs) {
      item.inputs.push_back(static_cast<int>(number_of(input.get())));
      Item& below = nodes_[static_cast<size_t>(item.inputs.back())];
      ++below.held;
      item.operations += below.operations;
    }
    item.operations = now->as<graph::MapNode>()      ? std::min(item.operations + 1, KnownValues::kFewOperations)
                      : now->as<graph::ReduceNode>() ? 0
                                                     : item.operations;
    nodes_.push_back(std::move(item));
    return true;
  }

  bool compute() {
    owner_.memory_.resize(static_cast<size_t>(kMostOfAll) * 8 + kMostNodes * kAlignment);
    for (Item& item : nodes_)
      if (!compute(item)) return false;
    for (const HostStorage* file : mapped_) file->check();
    return true;
  }

  /// Keeps what somebody holds and what took a while (KnownValues).
  void keep(const std::vector<NodeRef>& roots) {
    for (Item& item : nodes_) {
      const Node& node = *item.node;
      if (node.inputs.empty() || item.known || !takes_a_while(item)) continue;
      const auto occurrences = std::count_if(roots.begin(), roots.end(), [&](const NodeRef& root) { return root.get() == &node; });
      if (item.ref->use_count() > item.held + (occurrences ? occurrences + 1 : 0)) owner_.known_.keep(*item.ref, stored(node, item.value));
    }
  }

  NodeRef result(const NodeRef& root, const plan::Destination* destination) {
    const Item& item = nodes_[static_cast<size_t>(number_of(root.get()))];
    if (destination && destination->storage) {
      char* const to = static_cast<char*>(static_cast<HostStorage&>(*destination->storage).write());
      scatter(to, item.value.data, item.value.step, size_of(root->dtype), root->shape, destination->strides, destination->offset);
      return graph::buffer(destination->storage, root->dtype, root->shape, destination->strides, destination->offset);
    }
    if (item.known && is_contiguous(root->shape, item.known->as<graph::BufferNode>()->strides)) return item.known;
    if (const auto* buffer = root->as<graph::BufferNode>(); buffer && is_contiguous(root->shape, buffer->strides)) return root;
    return stored(*root, item.value);
  }

 private:
  struct Value {
    const char* data = nullptr;
    int step = 1;  // 0: one element that stands for all
  };
  struct Item {
    const Node* node;
    NodeRef known;       // a BufferNode in its place
    const NodeRef* ref;  // where the graph holds it
    std::vector<int> inputs;
    long held;       // by this graph
    int operations;  // an element, since a reduction; at most KnownValues::kFewOperations
    Value value;
  };

  static bool takes_a_while(const Item& item) {
    return item.node->size() <= KnownValues::kFewElements &&
           (item.node->as<graph::ReduceNode>() || item.operations >= KnownValues::kFewOperations);
  }

  /// What is known of the node, or of what it is a view of.
  NodeRef known_value(const NodeRef& node) const {
    if (NodeRef known = owner_.known_.find(node)) return known;
    const auto* view = node->as<graph::ViewNode>();
    const NodeRef whole = view ? owner_.known_.find(node->inputs[0]) : nullptr;
    return whole ? graph::view(whole, node->shape, view->axes) : nullptr;
  }

  int64_t number_of(const Node* node) const {
    for (size_t k = nodes_.size(); k-- > 0;)
      if (nodes_[k].node == node) return static_cast<int64_t>(k);
    return -1;
  }

  /// What a view shows a part of, or elements are taken from, if that is memory: of any size, since only the part is used.
  static const graph::BufferNode* windowed(const Node& node) {
    return node.as<graph::ViewNode>() || node.as<graph::GatherNode>() ? node.inputs[0]->as<graph::BufferNode>() : nullptr;
  }

  bool admit_itself(const Node& node) {
    const int64_t n = std::max<int64_t>(1, node.size()) * weight(node.dtype);
    const auto* buffer = node.as<graph::BufferNode>();
    if (!buffer) buffer = windowed(node);
    if (buffer) {
      const auto& storage = static_cast<const HostStorage&>(*buffer->storage);
      left_ -= n;
      return !storage.copies() && !storage.is_waiting() && !storage.made();
    }
    if (node.as<graph::ConstantNode>()) return true;
    left_ -= n;
    if (node.as<graph::ReshapeNode>() || node.as<graph::ViewNode>() || node.as<graph::ConcatenateNode>() || node.as<graph::PadNode>() ||
        node.as<graph::GatherNode>())
      return true;
    if (node.as<graph::IotaNode>()) return node.dtype == DType::i64 || node.dtype == DType::f64;
    if (const auto* map = node.as<graph::MapNode>()) {
      const DType type = node.inputs.back()->dtype;
      if (simple_power(node)) return true;
      const bool exact = is_exact(map->op, type);
      if (!exact || (!has_loop(map->op, type) && map->op != ScalarOp::select)) left_ -= n * kSlowly;
      return exact || is_float(type);
    }
    if (node.as<graph::CastNode>()) {
      const DType from = node.inputs[0]->dtype;
      if (!has_fast_cast(from, node.dtype)) left_ -= n * kSlowly;
      // What numbers beyond an integer's range become is the processor's business.
      return is_integer(from) || !is_integer(node.dtype) || kind(from) == 'b';
    }
    return node.as<graph::ReduceNode>() && reduces(node);
  }

  static std::optional<double> simple_power(const Node& node) {
    if (node.as<graph::MapNode>()->op != ScalarOp::pow || !is_float(node.dtype)) return {};
    const auto* exponent = node.inputs[1]->as<graph::ConstantNode>();
    return exponent && is_simple_power(exponent->value.as_double()) ? std::optional(exponent->value.as_double()) : std::nullopt;
  }

  static bool has_fast_cast(DType from, DType to) {
    return to == DType::f64 && (from == DType::i64 || from == DType::boolean || from == DType::f32);
  }

  char* space(int64_t bytes) {
    char* const begin = owner_.memory_.data();
    char* const at = begin + (used_ + kAlignment - 1) / kAlignment * kAlignment;
    used_ = at - begin + bytes;
    return used_ <= static_cast<int64_t>(owner_.memory_.size()) ? at : nullptr;
  }

  bool compute(Item& item) {
    const Node& node = item.known ? *item.known : *item.node;
    const int width = size_of(node.dtype);
    const int64_t n = node.size();
    if (const auto* constant = node.as<graph::ConstantNode>()) {
      char* const to = space(width);
      if (!to) return false;
      constant->value.store(to);
      item.value = {to, 0};
      return true;
    }
    if (const auto* buffer = node.as<graph::BufferNode>()) return in_memory(item, node, *buffer->storage, buffer->strides, buffer->offset);
    if (const auto* buffer = node.as<graph::ViewNode>() ? windowed(node) : nullptr) {
      const auto [strides, offset] = seen_through(*node.as<graph::ViewNode>(), node.shape.size(), buffer->strides, buffer->offset);
      return in_memory(item, node, *buffer->storage, strides, offset);
    }
    if (node.as<graph::ReshapeNode>()) {
      item.value = input(item, 0).value;
      return true;
    }
    char* const to = space(n * width);
    if (!to) return false;
    item.value = {to, 1};
    if (n == 0) return true;
    if (const auto* iota = node.as<graph::IotaNode>()) {
      if (node.dtype == DType::i64)
        for (int64_t i = 0; i < n; ++i)
          reinterpret_cast<int64_t*>(to)[i] =
              static_cast<int64_t>(static_cast<uint64_t>(iota->start.i) + static_cast<uint64_t>(i) * static_cast<uint64_t>(iota->step.i));
      else
        for (int64_t i = 0; i < n; ++i)
          reinterpret_cast<double*>(to)[i] = iota->start.c.real() + static_cast<double>(i) * iota->step.c.real();
      return true;
    }
    if (node.as<graph::GatherNode>()) return gathered(item, node, to), true;
    const Item& x = input(item, 0);
    if (const auto* view = node.as<graph::ViewNode>()) {
      if (x.value.step == 0) {
        item.value = x.value;
        return true;
      }
      const auto [strides, offset] = seen_through(*view, node.shape.size(), graph::contiguous_strides(x.node->shape), 0);
      gather(to, x.value.data, width, node.shape, strides, offset);
      return true;
    }
    if (const auto* map = node.as<graph::MapNode>()) {
      return mapped(item, node, map->op, to, n), true;
    }
    if (node.as<graph::CastNode>()) return converted(x, node.dtype, to, n), true;
    if (const auto* join = node.as<graph::ConcatenateNode>()) return joined(item, node, join->axis, to), true;
    if (const auto* pad = node.as<graph::PadNode>()) return padded(x, node, *pad, to), true;
    reduce(node, x.value.data, x.value.step, to);
    return true;
  }

  /// The layout of a view of rank `rank` over another.
  static std::pair<std::vector<int64_t>, int64_t> seen_through(const graph::ViewNode& view, size_t rank, const std::vector<int64_t>& from,
                                                               int64_t offset) {
    std::vector<int64_t> strides(rank, 0);
    for (size_t k = 0; k < view.axes.size(); ++k) {
      const graph::ViewAxis& a = view.axes[k];
      offset += a.start * from[k];
      if (a.axis >= 0) strides[static_cast<size_t>(a.axis)] += a.step * from[k];
    }
    return {std::move(strides), offset};
  }

  bool in_memory(Item& item, const Node& node, Storage& storage, const std::vector<int64_t>& strides, int64_t offset) {
    const int width = size_of(node.dtype);
    const char* const from = contents(storage);
    if (is_contiguous(node.shape, strides)) {
      item.value = {from + offset * width, 1};
      return true;
    }
    char* const to = space(node.size() * width);
    if (to) gather(to, from, width, node.shape, strides, offset);
    item.value = {to, 1};
    return to != nullptr;
  }

  const char* contents(Storage& storage) {
    const auto& host = static_cast<const HostStorage&>(storage);
    if (host.is_mapped()) {
      host.check();
      mapped_.push_back(&host);
    }
    return static_cast<const char*>(host.read());
  }

  /// The last input is the index; what it says lies in memory, or is the first.
  void gathered(const Item& item, const Node& node, char* to) {
    const int width = size_of(node.dtype);
    const Value& index = nodes_[static_cast<size_t>(item.inputs.back())].value;
    const auto* buffer = windowed(node);
    const char* const from = buffer ? contents(*buffer->storage) + buffer->offset * width : input(item, 0).value.data;
    const int64_t step = buffer ? buffer->strides[0] : input(item, 0).value.step, n = node.size();
    if (node.inputs[0]->size() == 0) return void(std::memset(to, 0, static_cast<size_t>(n * width)));
    for (int64_t i = 0; i < n; ++i)
      move_element(to + i * width, from + reinterpret_cast<const int64_t*>(index.data)[i * index.step] * step * width, width);
  }

  void joined(const Item& item, const Node& node, int axis, char* to) const {
    const std::vector<int64_t> strides = graph::contiguous_strides(node.shape);
    int64_t at = 0;
    for (size_t k = 0; k < item.inputs.size(); ++k) {
      const Item& part = input(item, k);
      scatter(to, part.value.data, part.value.step, size_of(node.dtype), part.node->shape, strides, at);
      at += strides[static_cast<size_t>(axis)] * part.node->shape[static_cast<size_t>(axis)];
    }
  }

  static void padded(const Item& inside, const Node& node, const graph::PadNode& pad, char* to) {
    const int width = size_of(node.dtype);
    const std::vector<int64_t> strides = graph::contiguous_strides(node.shape);
    for (int64_t i = 0; i < node.size(); ++i) pad.value.store(to + i * width);
    const int64_t first = std::inner_product(strides.begin(), strides.end(), pad.before.begin(), int64_t{0});
    scatter(to, inside.value.data, inside.value.step, width, inside.node->shape, strides, first);
  }

  const Item& input(const Item& item, size_t k) const { return nodes_[static_cast<size_t>(item.inputs[k])]; }
  template <class T>
  static Operand<T> operand(const Item& item) {
    return {reinterpret_cast<const T*>(item.value.data), item.value.step};
  }

  template <class T>
  bool typed(const Item& item, ScalarOp op, char* to, int64_t n) const {
    return item.inputs.size() == 2   ? binary_loop<T>(op, n, to, operand<T>(input(item, 0)), operand<T>(input(item, 1)))
           : item.inputs.size() == 1 ? unary_loop<T>(op, n, to, operand<T>(input(item, 0)))
                                     : false;
  }
  void mapped(const Item& item, const Node& node, ScalarOp op, char* to, int64_t n) const {
    const DType type = input(item, item.inputs.size() - 1).node->dtype;
    const int width = size_of(node.dtype);
    if (op == ScalarOp::select) {
      const Value &condition = input(item, 0).value, &a = input(item, 1).value, &b = input(item, 2).value;
      for (int64_t i = 0; i < n; ++i)
        move_element(to + i * width, condition.data[i * condition.step] ? a.data + i * a.step * width : b.data + i * b.step * width, width);
      return;
    }
    if (const std::optional<double> exponent = simple_power(node)) {
      if (type == DType::f64)
        simple_power_loop(*exponent, n, to, operand<double>(input(item, 0)));
      else
        simple_power_loop(*exponent, n, to, operand<float>(input(item, 0)));
      return;
    }
    switch (type) {
      case DType::f64:
        if (typed<double>(item, op, to, n)) return;
        break;
      case DType::f32:
        if (typed<float>(item, op, to, n)) return;
        break;
      case DType::i64:
        if (typed<int64_t>(item, op, to, n)) return;
        break;
      case DType::c128:
        if (typed<std::complex<double>>(item, op, to, n)) return;
        break;
      default: break;
    }
    Scalar operands[3];
    for (int64_t i = 0; i < n; ++i) {
      for (size_t k = 0; k < item.inputs.size(); ++k) operands[k] = element(input(item, k), i);
      gasell::evaluate(op, operands).cast(node.dtype).store(to + i * width);
    }
  }
  static Scalar element(const Item& item, int64_t i) {
    return Scalar::load(item.value.data + i * item.value.step * size_of(item.node->dtype), item.node->dtype);
  }

  static void converted(const Item& x, DType type, char* to, int64_t n) {
    const DType from = x.node->dtype;
    const auto as_double = [](auto v) { return static_cast<double>(v); };
    if (has_fast_cast(from, type)) {
      if (from == DType::i64) return loop<int64_t, double>(n, to, as_double, operand<int64_t>(x));
      if (from == DType::f32) return loop<float, double>(n, to, as_double, operand<float>(x));
      return loop<bool, double>(n, to, as_double, operand<bool>(x));
    }
    const int width = size_of(type);
    for (int64_t i = 0; i < n; ++i) element(x, i).cast(type).store(to + i * width);
  }

  NodeRef stored(const Node& node, const Value& value) {
    const int width = size_of(node.dtype);
    const int64_t n = node.size();
    StorageRef storage = owner_.host_.allocate(n * width);
    char* const to = static_cast<char*>(static_cast<HostStorage&>(*storage).write());
    if (value.step)
      std::memcpy(to, value.data, static_cast<size_t>(n * width));
    else
      for (int64_t i = 0; i < n; ++i) move_element(to + i * width, value.data, width);
    return graph::buffer(std::move(storage), node.dtype, node.shape, graph::contiguous_strides(node.shape), 0);
  }

  SmallGraphs& owner_;
  std::vector<Item> nodes_;                 // inputs before their users
  std::vector<const HostStorage*> mapped_;  // files that were read
  int64_t left_ = kMostOfAll, used_ = 0;
};

SmallGraphs::SmallGraphs(Device& host, KnownValues& known) : host_(host), known_(known) {}
SmallGraphs::~SmallGraphs() = default;

std::optional<std::vector<NodeRef>> SmallGraphs::evaluate(const std::vector<NodeRef>& given,
                                                          const std::vector<plan::Destination>& destinations) {
  // No further holders for those without calls: who else holds a node decides whether its value is kept.
  std::vector<NodeRef> expanded;
  if (std::any_of(given.begin(), given.end(), [](const NodeRef& root) { return root->has_calls; })) {
    for (const NodeRef& root : given)
      if (root->size() > kMostOfAll) return std::nullopt;
    expanded = plan::expand(given);
  }
  const std::vector<NodeRef>& roots = expanded.empty() ? given : expanded;
  Evaluation evaluation(*this);
  for (const plan::Destination& to : destinations)
    if (to.storage && static_cast<const HostStorage&>(*to.storage).copies()) return std::nullopt;
  for (const NodeRef& root : roots)
    if (!evaluation.admit(root)) return std::nullopt;
  if (!evaluation.compute()) return std::nullopt;
  evaluation.keep(roots);
  std::vector<NodeRef> results;
  for (size_t k = 0; k < roots.size(); ++k)
    results.push_back(evaluation.result(roots[k], k < destinations.size() ? &destinations[k] : nullptr));
  return results;
}

}  // namespace gasell
