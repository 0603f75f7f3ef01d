#include "compiler/c_kernels/frame.h"

#include "compiler/functions/outline.h"
#include "compiler/ir/text.h"

namespace gasell::c_kernels {

using functions::Type;
using ir::constant_i64;
using PK = ir::Parameter::Kind;

Frame::Frame(std::string name, const functions::Options& options, bool overlapping)
    : text(code, options.bounds_check, options.cuda, name), name_(std::move(name)), options_(options), overlapping_(overlapping) {
  if (options_.cuda) code.count_nothing();
}

ExprRef Frame::scalar(DType type, const std::string& name) {
  const std::string fresh = code.fresh(name);
  parameters_.push_back({PK::scalar, fresh, type});
  return ir::variable(fresh, type);
}

Array Frame::array(const Type& type, const std::string& name, bool writable) {
  Array a;
  a.memory = code.fresh(name);
  a.dtype = type.dtype;
  a.writable = writable;
  a.contiguous = type.layout == functions::Layout::c;
  parameters_.push_back({PK::in, a.memory, type.dtype});
  for (int k = 0; k < type.rank; ++k) a.extents.push_back(scalar(DType::i64, name));
  if (!a.contiguous) {
    for (int k = 0; k < type.rank; ++k) a.strides.push_back(scalar(DType::i64, name));
    return a;
  }
  a.strides.assign(a.extents.size(), constant_i64(1));
  for (size_t k = a.extents.size(); k-- > 1;) a.strides[k - 1] = a.strides[k] * a.extents[k];
  return a;
}

std::vector<ExprRef> Frame::tuple(const Type& type, const std::string& name) {
  std::vector<ExprRef> items;
  for (const Type& item : type.items) items.push_back(scalar(item.dtype, name));
  return items;
}

void Frame::begin(const std::vector<Parameter>& parameters, const std::vector<Type>& arguments, const SourceRef& preamble) {
  for (size_t k = 0; k < parameters.size(); ++k)
    if (!parameters[k].dtype) text.declare_type(parameters[k].type, arguments[k].dtype);
  text.preamble(preamble);
  text.open_scope();
}

ExprRef Frame::ask(const std::string& function) {
  const std::string name = code.fresh(function);
  code.emit(ir::simt(name, DType::i32, function, {}));
  return ir::cast(ir::variable(name, DType::i32), DType::i64);
}

functions::Compiled Frame::finish(const std::vector<Type>& arguments) {
  functions::Compiled result;
  for (ir::Parameter& p : parameters_) {
    if (p.kind == PK::scalar) continue;
    const bool writes = text.stored.contains(p.name);
    result.writes.push_back(writes);
    p.kind = overlapping_ || (options_.cuda && writes) ? PK::any : writes ? PK::out : PK::in;
  }
  if (!options_.cuda) parameters_.push_back({PK::any, "context", DType::u8});
  parameters_.push_back({PK::any, "error", DType::i64});
  if (!options_.cuda) {
    parameters_.push_back({PK::any, "interrupt", DType::u8});
    parameters_.push_back({PK::any, "results", DType::i64});
  }
  result.kernel.name = name_;
  result.kernel.params = std::move(parameters_);
  result.kernel.body = code.close();
  result.kernel.function = true;
  result.kernel.simt = options_.cuda;
  result.arguments = arguments;
  result.sites = std::move(text.sites);
  functions::outline_parallel_loops(result, {}, text.stored, overlapping_);
  ir::verify(result.kernel);
  for (const ir::Kernel& region : result.regions) ir::verify(region);
  return result;
}

ExprRef offset(const std::vector<ExprRef>& index, const std::vector<ExprRef>& strides) {
  ExprRef sum = constant_i64(0);
  for (size_t k = 0; k < index.size(); ++k) sum = sum + index[k] * strides[k];
  return sum;
}

std::vector<ExprRef> unravel(Code& code, ExprRef place, const std::vector<ExprRef>& extents) {
  std::vector<ExprRef> index(extents.size());
  for (size_t k = extents.size(); k-- > 0;) {
    if (k == 0) {
      index[0] = place;
      break;
    }
    const ExprRef quotient = code.bind(place / extents[k], "q");
    index[k] = code.bind(place - quotient * extents[k], "index");
    place = quotient;
  }
  return index;
}

ExprRef product(const std::vector<ExprRef>& extents) {
  ExprRef n = constant_i64(1);
  for (const ExprRef& e : extents) n = n * e;
  return n;
}

}  // namespace gasell::c_kernels
