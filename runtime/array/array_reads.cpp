// Elements and addresses of arrays: what is evaluated for those who look.
#include "lang/diagnostic.h"
#include "runtime/array/cell.h"

namespace gasell {

using graph::NodeRef;

namespace {

constexpr int64_t kForceForItem = 1 << 20;

}  // namespace

Array::Memory Array::memory(bool write) const {
  const auto host = std::dynamic_pointer_cast<HostStorage>(cell_->value->as<graph::BufferNode>()->storage);
  host->check();
  if (write)
    host->write();
  else
    host->read();
  return addresses();
}

Array::Memory Array::addresses() const {
  const auto& buffer = *cell_->value->as<graph::BufferNode>();
  const auto host = std::dynamic_pointer_cast<HostStorage>(buffer.storage);
  Layout at = layout();
  Memory memory;
  memory.begin = static_cast<char*>(host->host_memory());
  memory.end = memory.begin + host->bytes();
  memory.data = memory.begin + at.offset * gasell::size_of(dtype());
  memory.strides = std::move(at.strides);
  memory.keep_alive = buffer.storage;
  return memory;
}

Array::Place Array::place() const {
  const auto& buffer = *cell_->value->as<graph::BufferNode>();
  Layout at = layout();
  return {std::dynamic_pointer_cast<HostStorage>(buffer.storage), at.offset, std::move(at.strides)};
}

void Array::force(Engine& engine, bool host_reads) const {
  if (cell_->bound) return;
  const bool whole = steps_.empty() || size() == cell_->value->size();
  if (whole) cell_->set_computed(engine.force(cell_->to_compute(), host_reads));
}

Array::Elements Array::elements(Engine& engine) const {
  force(engine, true);
  const NodeRef result = engine.force(node(), true);
  const auto& buffer = *result->as<graph::BufferNode>();
  const auto host = std::dynamic_pointer_cast<HostStorage>(buffer.storage);
  host->check();
  return {buffer.storage, static_cast<const char*>(host->read()) + buffer.offset * gasell::size_of(result->dtype), result->dtype,
          result->size()};
}

std::optional<Scalar> Array::element(std::span<const int64_t> at) const {
  const auto* buffer = cell_->value->as<graph::BufferNode>();
  if (!buffer || !steps_.empty()) return std::nullopt;
  const auto& host = static_cast<const HostStorage&>(*buffer->storage);
  if (host.copies() || host.is_waiting()) return std::nullopt;
  host.check();
  int64_t offset = buffer->offset;
  for (size_t k = 0; k < at.size(); ++k) offset += at[k] * buffer->strides[k];
  const int64_t begin = offset * gasell::size_of(dtype());
  return Scalar::load(static_cast<const char*>(host.read(begin, begin + gasell::size_of(dtype()))) + begin, dtype());
}

Scalar Array::item(Engine& engine, const std::vector<int64_t>& index) const {
  if (const auto* c = cell_->value->as<graph::ConstantNode>()) return c->value;
  if (!cell_->value->as<graph::BufferNode>() && cell_->value->size() <= kForceForItem)
    cell_->set_computed(engine.force(cell_->to_compute(), true));
  if (const auto* buffer = cell_->value->as<graph::BufferNode>();
      buffer && cell_->lies_in_order() && !static_cast<const HostStorage&>(*buffer->storage).is_waiting()) {
    const Layout at = layout();
    int64_t offset = at.offset;
    for (size_t k = 0; k < index.size(); ++k) offset += at.strides[k] * index[k];
    const auto host = std::dynamic_pointer_cast<HostStorage>(buffer->storage);
    host->check();
    const int64_t at_byte = offset * gasell::size_of(dtype());
    return Scalar::load(static_cast<const char*>(host->read(at_byte, at_byte + gasell::size_of(dtype()))) + at_byte, dtype());
  }
  Axes axes;
  for (int64_t i : index) axes.push_back({-1, i, 0});
  return Array(graph::view(node(), {}, std::move(axes))).elements(engine)[0];
}

void force_all(Engine& engine, const std::vector<Array>& arrays) {
  std::vector<NodeRef> nodes;
  for (const Array& a : arrays) nodes.push_back(a.cell_->to_compute());
  const std::vector<NodeRef> results = engine.force(nodes);
  for (size_t k = 0; k < arrays.size(); ++k)
    if (!arrays[k].cell_->bound) arrays[k].cell_->set_computed(results[k]);
}

void settle(Engine& engine, std::span<const Array* const> arrays, const std::vector<bool>& written) {
  std::vector<const Array*> lazy;
  for (size_t k = 0; k < arrays.size(); ++k) {
    if (written[k] && arrays[k]->read_only_) throw Error("ValueError", "assignment destination is read-only");
    if (!is_in_memory(arrays[k]->cell_->value)) lazy.push_back(arrays[k]);
  }
  if (!lazy.empty()) {
    std::vector<NodeRef> nodes;
    for (const Array* a : lazy) nodes.push_back(a->cell_->to_compute());
    const std::vector<NodeRef> results = engine.force(nodes);
    for (size_t k = 0; k < lazy.size(); ++k) lazy[k]->cell_->set_computed(results[k]);
  }
  for (size_t k = 0; k < arrays.size(); ++k) {
    arrays[k]->place_in_memory(engine);
    if (written[k] && arrays[k]->size() > 0) arrays[k]->make_unique(engine);
  }
}

}  // namespace gasell
