#include "runtime/prepared_plan.h"

namespace gasell {
namespace {

constexpr size_t kMostPlans = 512;
constexpr size_t kLongestKey = 64 << 10;  // larger graphs cost more to run than to plan

/// Appends fixed-size numbers; every list is preceded by its length, so that no two graphs share a key.
class KeyWriter {
 public:
  std::string text;

  void number(int64_t value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void list(const std::vector<int64_t>& values) {
    number(static_cast<int64_t>(values.size()));
    text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
  }
  void axes(const std::vector<graph::ViewAxis>& axes) {
    number(static_cast<int64_t>(axes.size()));
    for (const graph::ViewAxis& axis : axes) {
      number(axis.axis);
      number(axis.start);
      number(axis.step);
    }
  }
  void scalar(const Scalar& value) {
    number(static_cast<int64_t>(value.type));
    number(value.i);
    const double parts[2] = {value.c.real(), value.c.imag()};
    text.append(reinterpret_cast<const char*>(parts), sizeof parts);
  }
};

class Describer {
 public:
  GraphStructure structure;
  KeyWriter key;
  bool keep = true;

  /// The node's number; its inputs are described first. Deep chains need an explicit stack.
  int64_t describe(const graph::NodeRef& root) {
    std::vector<const graph::Node*> stack{root.get()};
    while (!stack.empty()) {
      const graph::Node* node = stack.back();
      if (numbers_.contains(node)) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      for (auto input = node->inputs.rbegin(); input != node->inputs.rend(); ++input) {
        if (!numbers_.contains(input->get())) stack.push_back(input->get());
      }
      if (stack.size() > before) continue;
      stack.pop_back();
      write(*node);
      numbers_.emplace(node, static_cast<int64_t>(numbers_.size()));
    }
    return numbers_.at(root.get());
  }

  int64_t memory(const StorageRef& storage) {
    for (size_t k = 0; k < structure.memories.size() && k < 8; ++k) {
      if (structure.memories[k] == storage) return static_cast<int64_t>(k);
    }
    const auto [place, is_new] = memories_.emplace(storage.get(), static_cast<int64_t>(structure.memories.size()));
    if (is_new) structure.memories.push_back(storage);
    return place->second;
  }

 private:
  void write(const graph::Node& node) {
    key.number(static_cast<int64_t>(node.op.index()) << 8 | static_cast<int64_t>(node.dtype));
    key.list(node.shape);
    key.number(static_cast<int64_t>(node.inputs.size()));
    for (const graph::NodeRef& input : node.inputs) key.number(numbers_.at(input.get()));
    std::visit([this](const auto& op) { payload(op); }, node.op);
  }

  void payload(const graph::BufferNode& op) {
    key.number(memory(op.storage));
    key.list(op.strides);
    key.number(op.offset);
  }
  void payload(const graph::ConstantNode& op) { key.scalar(op.value); }
  void payload(const graph::IotaNode& op) {
    key.scalar(op.start);
    key.scalar(op.step);
  }
  void payload(const graph::RandomNode&) { keep = false; }
  void payload(const graph::MapNode& op) { key.number(static_cast<int64_t>(op.op)); }
  void payload(const graph::CastNode&) {}
  void payload(const graph::ViewNode& op) { key.axes(op.axes); }
  void payload(const graph::ReshapeNode&) {}
  void payload(const graph::ReduceNode& op) {
    key.number(static_cast<int64_t>(op.op));
    key.number(op.ddof);
    key.number(static_cast<int64_t>(op.axes.size()));
    for (const int axis : op.axes) key.number(axis);
  }
  void payload(const graph::ConcatenateNode& op) { key.number(op.axis); }
  void payload(const graph::GatherNode&) {}
  void payload(const graph::ParameterNode& op) { key.number(static_cast<int64_t>(op.number)); }
  void payload(const graph::CallNode& op) { key.number(static_cast<int64_t>(op.function->id)); }
  void payload(const graph::PadNode& op) {
    key.list(op.before);
    key.scalar(op.value);
  }

  std::unordered_map<const graph::Node*, int64_t> numbers_;
  std::unordered_map<const Storage*, int64_t> memories_;
};

}  // namespace

GraphStructure structure_of(const std::vector<graph::NodeRef>& roots, const std::vector<plan::Destination>& destinations) {
  Describer describer;
  for (const graph::NodeRef& root : roots) describer.key.number(describer.describe(root));
  for (const plan::Destination& destination : destinations) {
    describer.key.number(destination.storage ? describer.memory(destination.storage) : -1);
    describer.key.list(destination.strides);
    describer.key.number(destination.offset);
  }
  if (describer.keep && describer.key.text.size() <= kLongestKey) describer.structure.key = std::move(describer.key.text);
  return std::move(describer.structure);
}

PreparedPlan prepare(plan::Plan plan, const std::vector<StorageRef>& memories) {
  PreparedPlan prepared;
  prepared.memories = memories.size();
  std::unordered_map<const Storage*, int> slots;
  for (const StorageRef& memory : memories) slots.emplace(memory.get(), static_cast<int>(slots.size()));
  std::vector<int> last_step(memories.size(), -1);  // per slot
  auto slot_of = [&](const Storage* storage) {
    const auto [place, is_new] = slots.emplace(storage, static_cast<int>(slots.size()));
    if (is_new) {
      prepared.temporary_bytes.push_back(dynamic_cast<const plan::TemporaryStorage&>(*storage).bytes);
      last_step.push_back(-1);
    }
    return place->second;
  };
  for (plan::Step& step : plan.steps) {
    PreparedPlan::Step& ready = prepared.steps.emplace_back();
    for (const StorageRef& storage : step.storages) {
      ready.slots.push_back(slot_of(storage.get()));
      last_step[static_cast<size_t>(ready.slots.back())] = static_cast<int>(prepared.steps.size()) - 1;
    }
    step.storages.clear();
    prepared.elements += step.elements;
    prepared.bytes += step.bytes_read + step.bytes_written;
    prepared.operations += step.operations;
    ready.plan = std::move(step);
  }
  for (const graph::NodeRef& result : plan.results) {
    const auto& buffer = *result->as<graph::BufferNode>();
    const int slot = slot_of(buffer.storage.get());
    last_step[static_cast<size_t>(slot)] = -1;
    prepared.results.push_back({slot, result->dtype, result->shape, buffer.strides, buffer.offset});
  }
  for (size_t slot = prepared.memories; slot < last_step.size(); ++slot) {
    if (last_step[slot] >= 0) prepared.steps[static_cast<size_t>(last_step[slot])].ends.push_back(static_cast<int>(slot));
  }
  return prepared;
}

std::shared_ptr<PreparedPlan> PlanCache::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(key);
  return found == plans_.end() ? nullptr : found->second;
}

void PlanCache::keep(const std::string& key, std::shared_ptr<PreparedPlan> plan) {
  const std::lock_guard lock(mutex_);
  if (plans_.size() >= kMostPlans) plans_.clear();
  plans_.insert_or_assign(key, std::move(plan));
}

}  // namespace gasell
