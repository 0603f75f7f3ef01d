#include "runtime/wanted_parts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/plan/canonical.h"
#include "runtime/device/deferred.h"

namespace gasell {
namespace {

using graph::BufferNode;
using graph::Node;
using graph::NodeRef;

const HostStorage* waiting_storage(const Node& node) {
  const auto* buffer = node.as<BufferNode>();
  const auto* storage = buffer ? static_cast<const HostStorage*>(buffer->storage.get()) : nullptr;
  return storage && storage->is_waiting() ? storage : nullptr;
}

/// The place of elements that there are none of.
NodeRef nothing(const Node& node) {
  static char end;
  return graph::buffer(external(&end, 0, false), node.dtype, node.shape, graph::contiguous_strides(node.shape), 0);
}

/// Bytes of a storage that a graph reads, and the memory that holds them: null where all shall be made.
struct Part {
  int64_t begin, end;
  HostStorageRef memory;
};

/// The bytes between the first and the last element of a buffer.
std::pair<int64_t, int64_t> reach_of(const Node& node) {
  const auto& buffer = *node.as<BufferNode>();
  int64_t first = buffer.offset, last = buffer.offset;
  for (size_t k = 0; k < buffer.strides.size(); ++k) (buffer.strides[k] < 0 ? first : last) += buffer.strides[k] * (node.shape[k] - 1);
  const int64_t width = gasell::size_of(node.dtype);
  return {first * width, (last + 1) * width};
}

}  // namespace

bool waits_for_contents(const NodeRef& root) {
  if (!any_part_waits()) return false;
  const std::vector<NodeRef> order = plan::topological_order({root});
  return std::any_of(order.begin(), order.end(), [](const NodeRef& node) { return waiting_storage(*node); });
}

std::vector<NodeRef> with_wanted_parts(const std::vector<NodeRef>& roots) {
  if (!any_part_waits()) return roots;
  const std::vector<NodeRef> order = plan::topological_order(roots);
  std::unordered_map<const HostStorage*, Part> parts;
  bool any = false;
  for (const NodeRef& node : order) {
    const HostStorage* const storage = waiting_storage(*node);
    if (!storage) continue;
    if (node->size() == 0) {
      any = true;
      continue;
    }
    const auto [begin, end] = reach_of(*node);
    const auto [found, is_new] = parts.try_emplace(storage, Part{begin, end, nullptr});
    if (is_new) continue;
    found->second.begin = std::min(found->second.begin, begin);
    found->second.end = std::max(found->second.end, end);
  }
  for (auto& [storage, part] : parts) {
    part.memory = storage->part(part.begin, part.end);
    any = any || part.memory;
  }
  if (!any) return roots;
  std::unordered_map<const Node*, NodeRef> now;
  for (const NodeRef& node : order) {
    if (node->size() == 0 && waiting_storage(*node)) {
      now.emplace(node.get(), nothing(*node));
      continue;
    }
    const auto* buffer = node->as<BufferNode>();
    const auto part = buffer ? parts.find(static_cast<const HostStorage*>(buffer->storage.get())) : parts.end();
    if (part != parts.end() && part->second.memory) {
      const int64_t before = part->second.begin / gasell::size_of(node->dtype);
      now.emplace(node.get(), graph::buffer(part->second.memory, node->dtype, node->shape, buffer->strides, buffer->offset - before));
      continue;
    }
    std::vector<NodeRef> inputs;
    for (const NodeRef& input : node->inputs) inputs.push_back(now.at(input.get()));
    now.emplace(node.get(), plan::rebuild(node, std::move(inputs)));
  }
  std::vector<NodeRef> result;
  for (const NodeRef& root : roots) result.push_back(now.at(root.get()));
  return result;
}

}  // namespace gasell
