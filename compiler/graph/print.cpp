// The graph as text: operands before what uses them, one node a line.
//   %0 = iota 0 step 1 : int64[10]
//   %1 = constant 1 : int64[10]
//   %2 = add %0 %1 : int64[10]
//   %3 = reduce sum axes (0) %2 : int64[]
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>

#include "compiler/graph/node.h"

namespace gasell::graph {
namespace {

std::string text_of(const Scalar& value) {
  if (is_complex(value.type)) return fmt::format("({}, {})", value.c.real(), value.c.imag());
  if (is_float(value.type)) return fmt::format("{}", value.c.real());
  if (value.type == DType::u64) return fmt::format("{}", static_cast<uint64_t>(value.i));
  return fmt::format("{}", value.i);
}

/// "[axis0*2+1, 3]": what each input axis reads.
std::string text_of(const std::vector<ViewAxis>& axes) {
  std::vector<std::string> parts;
  for (const ViewAxis& a : axes) {
    if (a.axis < 0)
      parts.push_back(fmt::format("{}", a.start));
    else
      parts.push_back(fmt::format("axis{}{}{}", a.axis, a.step == 1 ? "" : fmt::format("*{}", a.step),
                                  a.start == 0 ? "" : fmt::format("{:+}", a.start)));
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string_view name_of(Distribution distribution) {
  switch (distribution) {
    case Distribution::uniform: return "uniform";
    case Distribution::standard_normal: return "standard_normal";
    case Distribution::integers: return "integers";
  }
  return "";
}

/// What a node does, without its inputs.
struct Operation {
  std::string operator()(const BufferNode& n) const {
    return fmt::format("buffer offset {} strides ({})", n.offset, fmt::join(n.strides, ", "));
  }
  std::string operator()(const ConstantNode& n) const { return "constant " + text_of(n.value); }
  std::string operator()(const IotaNode& n) const { return fmt::format("iota {} step {}", text_of(n.start), text_of(n.step)); }
  std::string operator()(const RandomNode& n) const {
    std::string text = fmt::format("random {} seed {} stream {}", name_of(n.distribution), n.seed, n.stream);
    return n.distribution == Distribution::integers ? text + fmt::format(" from {} range {}", n.low, n.range) : text;
  }
  std::string operator()(const MapNode& n) const { return std::string(info(n.op).name); }
  std::string operator()(const CastNode&) const { return "cast"; }
  std::string operator()(const ViewNode& n) const { return "view " + text_of(n.axes); }
  std::string operator()(const ReshapeNode&) const { return "reshape"; }
  std::string operator()(const ReduceNode& n) const {
    return fmt::format("reduce {} axes ({}){}", graph::name_of(n.op), fmt::join(n.axes, ", "),
                       n.ddof ? fmt::format(" ddof {}", n.ddof) : "");
  }
  std::string operator()(const ConcatenateNode& n) const { return fmt::format("concatenate axis {}", n.axis); }
  std::string operator()(const PadNode& n) const {
    return fmt::format("pad before ({}) with {}", fmt::join(n.before, ", "), text_of(n.value));
  }
  std::string operator()(const GatherNode&) const { return "gather"; }
  std::string operator()(const ParameterNode& n) const { return fmt::format("parameter {}", n.number); }
  std::string operator()(const CallNode& n) const { return fmt::format("call {}", n.function->id); }
};

}  // namespace

std::string print(const std::vector<NodeRef>& roots) {
  std::string text;
  std::unordered_map<const Node*, size_t> number;
  // Depth first with a stack of its own: a graph may be deeper than the machine's.
  std::vector<std::pair<const Node*, bool>> open;
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) open.emplace_back(root->get(), false);
  while (!open.empty()) {
    const auto [node, inputs_done] = open.back();
    open.pop_back();
    if (number.contains(node)) continue;
    if (!inputs_done) {
      open.emplace_back(node, true);
      for (auto input = node->inputs.rbegin(); input != node->inputs.rend(); ++input) open.emplace_back(input->get(), false);
      continue;
    }
    number.emplace(node, number.size());
    text += fmt::format("%{} = {}", number.at(node), std::visit(Operation{}, node->op));
    for (const NodeRef& input : node->inputs) text += fmt::format(" %{}", number.at(input.get()));
    text += fmt::format(" : {}[{}]\n", name_of(node->dtype), fmt::join(node->shape, ", "));
  }
  return text;
}

}  // namespace gasell::graph
