#include "runtime/frame/column.h"

#include <algorithm>

#include "runtime/device/device.h"
#include "runtime/frame/dictionary.h"
#include "runtime/primitives/operator_report.h"

namespace gasell::frame {
namespace {

struct Contiguous {
  StorageRef keep;
  const char* data;
};
Contiguous contiguous(const NodeRef& node) {
  const auto* buffer = node->as<graph::BufferNode>();
  auto* storage = static_cast<HostStorage*>(buffer->storage.get());
  storage->check();
  return {buffer->storage, static_cast<const char*>(storage->read()) + buffer->offset * size_of(node->dtype)};
}

}  // namespace

ColumnType number_type(DType dtype, bool nullable) {
  if (dtype == DType::f16) throw Error("NotImplementedError", "columns of float16 are not in Gasell's frames", "use float32");
  return {Logical::number, dtype, nullable};
}

Column number_column(NodeRef values) {
  const DType dtype = values->dtype;
  return {number_type(dtype), std::move(values)};
}

std::string dtype_name(Engine& engine, const Column& column) {
  const ColumnType& type = column.type;
  switch (type.logical) {
    case Logical::text: return type.is_interval() ? type.objects : "object";
    case Logical::category: return "category";
    case Logical::datetime: return type.zone.empty() ? "datetime64[ns]" : "datetime64[ns, " + type.zone + "]";
    case Logical::timedelta: return "timedelta64[ns]";
    case Logical::period: return "period[" + type.objects + "]";
    case Logical::number: break;
  }
  std::string name(name_of(type.dtype));
  bool nullable = type.nullable;
  if (!nullable && column.validity) {
    Column copy = column;
    const ColumnData data = read(engine, copy);
    nullable = data.valid && !std::all_of(data.valid, data.valid + data.count, [](bool v) { return v; });
  }
  if (!nullable) return name;
  if (type.dtype == DType::boolean) return "boolean";
  const size_t capitals = name[0] == 'u' ? 2 : 1;  // UInt8, Int8, Float32
  for (size_t i = 0; i < capitals; ++i) name[i] = static_cast<char>(name[i] - 'a' + 'A');
  return name;
}

void force(Engine& engine, const std::vector<Column*>& columns) {
  std::vector<NodeRef> nodes;
  for (const Column* c : columns) {
    nodes.push_back(c->values);
    if (c->validity) nodes.push_back(c->validity);
  }
  const std::vector<NodeRef> forced = engine.force(nodes);
  size_t k = 0;
  for (Column* c : columns) {
    c->values = forced[k++];
    if (c->validity) c->validity = forced[k++];
  }
}

ColumnData read(Engine& engine, Column& column) {
  force(engine, {&column});
  ColumnData data;
  const Contiguous values = contiguous(column.values);
  data.keep_values = values.keep;
  data.values = values.data;
  data.count = column.size();
  if (column.validity) {
    const Contiguous validity = contiguous(column.validity);
    data.keep_validity = validity.keep;
    data.valid = reinterpret_cast<const bool*>(validity.data);
  }
  return data;
}

NewValues::NewValues(Engine& engine, DType d, int64_t n)
    : storage(std::static_pointer_cast<HostStorage>(engine.device().allocate(graph::bytes_of({n}, d)))), dtype(d), count(n) {
  if (storage->is_mapped()) note_on_disk(storage->bytes());
}

NodeRef NewValues::node() const { return graph::buffer(storage, dtype, {count}, {1}, 0); }

NodeRef missing_mask(const Column& column) {
  const ColumnType& type = column.type;
  NodeRef missing;
  const auto compare = [&](ScalarOp op, const Scalar& with) {
    return graph::map(op, {column.values, graph::constant(with, column.values->shape)});
  };
  if (type.has_codes())
    missing = compare(ScalarOp::lt, Scalar::of_int(0, column.values->dtype));
  else if (type.is_time())
    missing = compare(ScalarOp::eq, Scalar::of_int(kNotATime));
  else if (is_float(type.dtype) || is_complex(type.dtype))
    missing = graph::map(ScalarOp::ne, {column.values, column.values});
  if (!column.validity) return missing;
  NodeRef invalid = graph::map(ScalarOp::logical_not, {column.validity});
  return missing ? graph::map(ScalarOp::logical_or, {missing, invalid}) : invalid;
}

Column concatenate(Engine& engine, const std::vector<Column>& parts) {
  std::vector<Column> aligned = parts;
  if (parts[0].type.logical == Logical::text) aligned = with_common_texts(engine, parts);
  Column result = aligned[0];
  std::vector<NodeRef> values, validity;
  const bool any_validity = std::any_of(aligned.begin(), aligned.end(), [](const Column& c) { return c.validity != nullptr; });
  for (const Column& part : aligned) {
    values.push_back(part.values);
    if (any_validity) validity.push_back(part.validity ? part.validity : graph::constant(Scalar::of_bool(true), part.values->shape));
    result.type.nullable |= part.type.nullable;
  }
  result.values = graph::concatenate(values, 0);
  result.validity = any_validity ? graph::concatenate(validity, 0) : nullptr;
  return result;
}

}  // namespace gasell::frame
