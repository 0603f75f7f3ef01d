// numba.cuda in kernels: places of threads, shared memory, barriers, atomic operations, warps.
#include "compiler/functions/library.h"
#include "compiler/ir/transform.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

constexpr std::string_view kModule = "numba.cuda.";
constexpr int64_t kWarp = 32;
constexpr int64_t kMostLocalBytes = 512 << 10;  // of a thread, on any GPU
constexpr int64_t kMostBlockBytes = 1 << 30;    // more than any GPU's; how much there is, the launch says

ExprRef constant_i32(int64_t v) { return ir::constant(Scalar::of_int(v, DType::i32)); }

/// A function of ir/simt.h that gives a number.
ExprRef ask(Lowering& l, const std::string& function, DType type, std::vector<ExprRef> args = {}, int64_t site = 0) {
  const std::string name = l.code().fresh(function);
  l.code().emit(ir::simt(name, type, function, std::move(args), site));
  if (function.starts_with("ntid_") || function.starts_with("nctaid_")) l.program().positive.insert(name);
  return ir::variable(name, type);
}
void tell(Lowering& l, const std::string& function, std::vector<ExprRef> args = {}, int64_t site = 0) {
  l.code().emit(ir::simt("", DType::i64, function, std::move(args), site));
}
/// The site of a place where threads wait for each other: it names the place, and raises nothing of itself.
int64_t place(Lowering& l, const CallSite& site) { return l.site("", site.name, site.span); }

std::string after_module(const CallSite& site) { return site.name.substr(site.name.rfind('.') + 1); }

/// A 32-bit integer, as masks, lanes and conditions are.
ExprRef word(Lowering& l, const Value& v, const char* what) {
  const ExprRef e = l.scalar(v, what);
  if (!is_integer(e->type) && e->type != DType::boolean)
    l.fail(v.span, std::string(what) + " needs an integer, and this is " + describe(v.type));
  return ir::cast(ir::cast(e, DType::i64), DType::i32);
}
ExprRef truth_word(Lowering& l, const Value& v) { return ir::cast(l.truth(v), DType::i32); }
/// A mask of lanes is unsigned where a script sees it.
Value mask_value(ExprRef e) { return scalar_value(ir::cast(std::move(e), DType::u32)); }

// ---- places ----
constexpr const char* kAxes[] = {"x", "y", "z"};

ExprRef global_index(Lowering& l, const char* axis) {
  const std::string a(axis);
  const ExprRef block = ir::cast(ask(l, "ctaid_" + a, DType::i32), DType::i64),
                width = ir::cast(ask(l, "ntid_" + a, DType::i32), DType::i64);
  return l.code().bind(block * width + ir::cast(ask(l, "tid_" + a, DType::i32), DType::i64), "grid_" + a);
}
ExprRef global_extent(Lowering& l, const char* axis) {
  const std::string a(axis);
  const ExprRef blocks = ir::cast(ask(l, "nctaid_" + a, DType::i32), DType::i64),
                threads = ir::cast(ask(l, "ntid_" + a, DType::i32), DType::i64);
  const ExprRef extent = l.code().bind(blocks * threads, "gridsize_" + a);
  if (extent->kind == ir::ExprKind::variable) l.program().positive.insert(extent->name);
  return extent;
}

template <ExprRef (*along)(Lowering&, const char*)>
Value grid(Lowering& l, const CallSite& site) {
  const Value& ndim = site.args[0];
  const bool known = ndim.type.is_scalar() && ndim.is_constant();
  const int64_t axes = known ? ndim.scalar->value.i : 0;
  if (axes < 1 || axes > 3) l.fail(ndim.span, site.name + " takes 1, 2 or 3, written as a number");
  if (axes == 1) return scalar_value(along(l, "x"));
  std::vector<Value> items;
  for (int64_t k = 0; k < axes; ++k) items.push_back(scalar_value(along(l, kAxes[k])));
  return tuple_value(std::move(items));
}

// ---- memory ----
template <ir::Space space>
Value local_memory(Lowering& l, const CallSite& site) {
  const Value &shape = site.args[0], &type = site.args[1];
  const auto dtype = dtype_argument(type);
  if (!dtype) l.fail(type.span, "this is no dtype: " + describe(type.type));
  std::vector<ExprRef> extents;
  int64_t count = 1;
  constexpr int64_t most = space == ir::Space::block ? kMostBlockBytes : kMostLocalBytes;
  const std::vector<Value> items = shape.type.is_tuple() ? shape.items : std::vector<Value>{shape};
  for (const Value& v : items) {
    if (!v.type.is_scalar() || !v.is_constant() || !is_integer(v.type.dtype))
      l.fail(shape.span, site.name + " needs a shape that is known when the kernel is compiled",
             "use numbers, or names from outside of the kernel");
    if (v.scalar->value.i < 0) l.fail(shape.span, "a shape has no negative extent");
    extents.push_back(constant_i64(v.scalar->value.i));
    if (__builtin_mul_overflow(count, v.scalar->value.i, &count) || count > most / size_of(*dtype))
      l.fail(shape.span, site.name + (space == ir::Space::block ? " is larger than any GPU's shared memory"
                                                                : " is too large: a thread has 512 KiB of local memory"));
  }
  const bool dynamic = space == ir::Space::block && items.size() == 1 && count == 0;
  if (count == 0 && !dynamic) l.fail(shape.span, site.name + " needs a shape without zeros");
  ArrayValue a;
  a.memory = l.code().fresh(space == ir::Space::block ? "shared" : "local");
  a.offset = constant_i64(0);
  if (dynamic) {
    const ExprRef bytes = ask(l, "dynamic_shared", DType::i64);
    extents = {l.code().bind(bytes / constant_i64(size_of(*dtype)), "extent")};
    a.root = ArrayValue::kAnywhere;  // all of these begin at one place
  } else {
    a.root = ++l.program().roots;
  }
  a.strides = c_strides(extents);
  a.extents = std::move(extents);
  ir::Stmt memory = *ir::local_array(a.memory, *dtype, count);
  memory.space = space;
  l.code().emit(ir::make_statement(std::move(memory)));
  return array_value(*dtype, Layout::c, std::move(a));
}

Value constant_array(Lowering& l, const CallSite& site) {
  const Value& v = site.args[0];
  if (!v.type.is_array() || !v.type.read_only) l.fail(v.span, site.name + " takes an array from outside of the kernel");
  return v;
}

// ---- barriers ----
Value barrier(Lowering& l, const CallSite& site) {
  tell(l, "barrier", {}, place(l, site));
  return none_value();
}
Value counting_barrier(Lowering& l, const CallSite& site) {
  const std::string function = "barrier_" + site.name.substr(site.name.rfind('_') + 1);
  return scalar_value(ask(l, function, DType::i32, {truth_word(l, site.args[0])}, place(l, site)));
}
Value warp_barrier(Lowering& l, const CallSite& site) {
  const Value* mask = site.argument(0, "mask");
  tell(l, "warp_barrier", {mask ? word(l, *mask, "cuda.syncwarp") : constant_i32(-1)}, place(l, site));
  return none_value();
}
Value fence(Lowering& l, const CallSite& site) {
  tell(l, after_module(site) == "threadfence" ? "fence" : after_module(site) == "threadfence_block" ? "fence_block" : "fence_system");
  return none_value();
}

Value this_grid(Lowering&, const CallSite&) { return path_value("numba.cuda.cg.this_grid()"); }
Value grid_barrier(Lowering& l, const CallSite& site) {
  tell(l, "grid_barrier", {}, place(l, site));
  return scalar_value(constant_i32(0));
}

// ---- warps ----
Value shuffle(Lowering& l, const CallSite& site) {
  static const std::unordered_map<std::string, std::string> kFunctions = {
      {"shfl_sync", "shuffle_idx"}, {"shfl_up_sync", "shuffle_up"}, {"shfl_down_sync", "shuffle_down"}, {"shfl_xor_sync", "shuffle_xor"}};
  const ExprRef mask = word(l, site.args[0], "a mask"), lane = word(l, site.args[2], "a lane");
  ExprRef v = l.code().bind(l.scalar(site.args[1], site.name.c_str()));
  if (is_complex(v->type)) l.fail(site.args[1].span, "a complex number cannot be shuffled", "shuffle its parts");
  if (size_of(v->type) < 4) v = ir::cast(v, DType::i32);
  return scalar_value(ask(l, kFunctions.at(after_module(site)), v->type, {mask, v, lane}, place(l, site)));
}
Value vote(Lowering& l, const CallSite& site) {
  const std::string name = after_module(site);
  const ExprRef mask = word(l, site.args[0], "a mask"), holds = truth_word(l, site.args[1]);
  const ExprRef result = ask(l, "vote_" + name.substr(0, name.find('_')), DType::i32, {mask, holds}, place(l, site));
  return name == "ballot_sync" ? mask_value(result) : scalar_value(ir::cast(result, DType::boolean));
}
Value match(Lowering& l, const CallSite& site) {
  const ExprRef mask = word(l, site.args[0], "a mask");
  ExprRef v = l.code().bind(l.scalar(site.args[1], site.name.c_str()));
  if (is_complex(v->type)) l.fail(site.args[1].span, "complex numbers cannot be matched");
  if (size_of(v->type) < 4) v = ir::cast(v, DType::i32);
  const bool any = after_module(site) == "match_any_sync";
  const ExprRef lanes = l.code().bind(ask(l, any ? "match_any" : "match_all", DType::i32, {mask, v}, place(l, site)));
  if (any) return mask_value(lanes);
  return tuple_value({mask_value(lanes), scalar_value(both(ScalarOp::ne, lanes, constant_i32(0)))});
}
Value active_mask(Lowering& l, const CallSite&) { return mask_value(ask(l, "active_mask", DType::i32)); }
Value lane_mask_lt(Lowering& l, const CallSite&) {
  const ExprRef lane = ir::cast(ask(l, "lane", DType::i32), DType::i64);
  return mask_value(ir::cast(both(ScalarOp::shl, constant_i64(1), lane) - constant_i64(1), DType::u32));
}

// ---- atomic operations ----
ExprRef atomic_at(Lowering& l, const CallSite& site, const Value& array, const Value& index, const std::string& operation,
                  const std::vector<const Value*>& operands) {
  if (!array.type.is_array() || !array.array) l.fail(array.span, site.name + " needs an array, and this is " + describe(array.type));
  if (array.type.read_only && operation != "load") l.fail(array.span, site.name + " writes to an array that is only read");
  const DType dtype = array.type.dtype;
  if (is_complex(dtype) || dtype == DType::boolean)
    l.fail(array.span, site.name + " is not there for arrays of " + std::string(name_of(dtype)));
  const bool whole = is_integer(dtype);
  static constexpr const char* kWhole[] = {"inc", "dec", "and", "or", "xor"};
  for (const char* name : kWhole)
    if (operation == name && !whole)
      l.fail(array.span, site.name + " is there for integers only, and these are " + std::string(name_of(dtype)));
  const std::vector<Value> indices = index.type.is_tuple() ? index.items : std::vector<Value>{index};
  const Value element = l.view(array, indices, index.span.end ? index.span : site.span);
  if (element.type.rank != 0)
    l.fail(index.span, site.name + " needs an index for every axis: the array has " + std::to_string(array.type.rank));
  std::vector<ExprRef> values;
  for (const Value* v : operands) values.push_back(l.code().bind(ir::cast(l.scalar(*v, site.name.c_str()), dtype)));
  const std::string name = l.code().fresh("old");
  l.code().emit(ir::atomic(name, operation, element.array->memory, dtype, element.array->offset, std::move(values)));
  if (operation != "load") l.program().stored.insert(element.array->memory);
  return ir::variable(name, dtype);
}

Value atomic(Lowering& l, const CallSite& site) {
  std::string operation = after_module(site);
  if (operation == "and_" || operation == "or_") operation.pop_back();
  return scalar_value(atomic_at(l, site, site.args[0], site.args[1], operation, {&site.args[2]}));
}
Value atomic_cas(Lowering& l, const CallSite& site) {
  return scalar_value(atomic_at(l, site, site.args[0], site.args[1], "cas", {&site.args[2], &site.args[3]}));
}
Value compare_and_swap(Lowering& l, const CallSite& site) {
  const Value& array = site.args[0];
  const Value first = scalar_value(constant_i64(0));
  const Value index = array.type.rank > 1 ? tuple_value(std::vector<Value>(static_cast<size_t>(array.type.rank), first)) : first;
  return scalar_value(atomic_at(l, site, array, index, "cas", {&site.args[1], &site.args[2]}));
}

// ---- loads and stores past the caches of a multiprocessor ----
Value cached_load(Lowering& l, const CallSite& site) { return scalar_value(atomic_at(l, site, site.args[0], site.args[1], "load", {})); }
Value cached_store(Lowering& l, const CallSite& site) {
  atomic_at(l, site, site.args[0], site.args[1], "store", {&site.args[2]});
  return none_value();
}

// ---- numbers ----
Value bits(Lowering& l, const CallSite& site) {
  const std::string function = after_module(site);
  ExprRef x = l.scalar(site.args[0], site.name.c_str());
  if (!is_integer(x->type)) l.fail(site.args[0].span, site.name + " needs an integer, and this is " + describe(site.args[0].type));
  if (size_of(x->type) < 4) x = ir::cast(x, kind(x->type) == 'u' ? DType::u32 : DType::i32);
  const DType result = function == "brev" ? x->type : function == "ffs" ? (size_of(x->type) == 8 ? DType::u64 : DType::u32) : x->type;
  return scalar_value(ask(l, function, result, {x}));
}
Value fused(Lowering& l, const CallSite& site) {
  DType type = DType::f32;
  for (const Value& v : site.args)
    if (const DType d = l.scalar(v, "cuda.fma")->type; d != DType::f32) type = DType::f64;
  std::vector<ExprRef> parts;
  for (const Value& v : site.args) parts.push_back(l.number(v, type));
  return scalar_value(ask(l, "fma", type, std::move(parts)));
}
Value product(Lowering& l, const CallSite& site) {
  std::vector<ExprRef> parts;
  for (size_t k = 0; k < 5; ++k) parts.push_back(l.code().bind(l.number(site.args[k], k < 3 ? DType::f64 : DType::c128)));
  const ExprRef upper = ask(l, "mma", DType::c128, std::move(parts), place(l, site));
  return tuple_value({scalar_value(upper), scalar_value(ask(l, "mma_rest", DType::c128, {upper}))});
}
Value select(Lowering& l, const CallSite& site) {
  const DType type = promote(site.args[1].type.dtype, site.args[2].type.dtype);
  return scalar_value(ir::op(ScalarOp::select, {l.truth(site.args[0]), l.number(site.args[1], type), l.number(site.args[2], type)}));
}
Value cube_root(Lowering& l, const CallSite& site) { return library_function("numpy.cbrt")(l, site); }
Value nothing(Lowering&, const CallSite&) { return none_value(); }

Value only_in_kernels(Lowering& l, const CallSite& site) {
  l.fail(site.span, "'" + site.name + "' is of CUDA kernels", "decorate the function with @cuda.jit");
}
Value not_in_kernels(Lowering& l, const CallSite& site) {
  l.fail(site.span, "'" + site.name + "' is called outside of kernels", "call it before or after the kernel");
}

const LibraryTable& table() {
  constexpr const char* kAtomic = "ary: array | point, idx, val: number";
  static const LibraryTable kFunctions = {
      {"grid", "ndim: int", grid<global_index>},
      {"gridsize", "ndim: int", grid<global_extent>},
      {"shared.array", "shape: shape, dtype: dtype", local_memory<ir::Space::block>},
      {"local.array", "shape: shape, dtype: dtype", local_memory<ir::Space::automatic>},
      {"const.array_like", "ndarray: array | point", constant_array},
      {"syncthreads", "", barrier},
      {"syncthreads_count", "predicate", counting_barrier},
      {"syncthreads_and", "predicate", counting_barrier},
      {"syncthreads_or", "predicate", counting_barrier},
      {"syncwarp", "mask: int = 0xffffffff", warp_barrier},
      {"threadfence", "", fence},
      {"threadfence_block", "", fence},
      {"threadfence_system", "", fence},
      {"cg.this_grid", "", this_grid},
      {"cg.this_grid().sync", "", grid_barrier},
      {"shfl_sync", "mask: int, value: number, delta: int", shuffle},
      {"shfl_up_sync", "mask: int, value: number, delta: int", shuffle},
      {"shfl_down_sync", "mask: int, value: number, delta: int", shuffle},
      {"shfl_xor_sync", "mask: int, value: number, delta: int", shuffle},
      {"all_sync", "mask: int, predicate", vote},
      {"any_sync", "mask: int, predicate", vote},
      {"eq_sync", "mask: int, predicate", vote},
      {"ballot_sync", "mask: int, predicate", vote},
      {"match_any_sync", "mask: int, value: number", match},
      {"match_all_sync", "mask: int, value: number", match},
      {"activemask", "", active_mask},
      {"lanemask_lt", "", lane_mask_lt},
      {"atomic.add", kAtomic, atomic},
      {"atomic.sub", kAtomic, atomic},
      {"atomic.max", kAtomic, atomic},
      {"atomic.min", kAtomic, atomic},
      {"atomic.nanmax", kAtomic, atomic},
      {"atomic.nanmin", kAtomic, atomic},
      {"atomic.inc", kAtomic, atomic},
      {"atomic.dec", kAtomic, atomic},
      {"atomic.and_", kAtomic, atomic},
      {"atomic.or_", kAtomic, atomic},
      {"atomic.xor", kAtomic, atomic},
      {"atomic.exch", kAtomic, atomic},
      {"atomic.cas", "ary: array | point, idx, old: number, val: number", atomic_cas},
      {"atomic.compare_and_swap", "ary: array | point, old: number, val: number", compare_and_swap},
      {"ldcg", "array: array | point, i", cached_load},
      {"ldcv", "array: array | point, i", cached_load},
      {"stcg", "array: array | point, i, value: number", cached_store},
      {"stwt", "array: array | point, i, value: number", cached_store},
      {"popc", "x: int", bits},
      {"clz", "x: int", bits},
      {"ffs", "x: int", bits},
      {"brev", "x: int", bits},
      {"fma", "a: real, b: real, c: real", fused},
      {"mma_m16n8k4", "a: real, a8: real, b: real, c: number, c8: number", product},
      {"cbrt", "x: number", cube_root},
      {"selp", "condition, a: number, b: number", select},
      {"nanosleep", "ns: int", nothing},
  };
  return kFunctions;
}

}  // namespace

LibraryFunction cuda_function(const std::string& path) {
  if (!path.starts_with(kModule)) return nullptr;
  const LibraryFunction known = table().find(std::string_view(path).substr(kModule.size()));
  if (!known) return not_in_kernels;
  // Whether this is a kernel is asked where it is called.
  return [known](Lowering& l, const CallSite& site) { return (l.program().options.cuda ? known : only_in_kernels)(l, site); };
}

std::optional<Value> cuda_value(Lowering& l, const std::string& path) {
  if (!path.starts_with(kModule)) return {};
  const std::string name = path.substr(kModule.size());
  if (name == "warpsize") return scalar_value(constant_i32(kWarp));
  static const std::unordered_map<std::string, std::string> kNumbers = {
      {"threadIdx.x", "tid_x"},  {"threadIdx.y", "tid_y"},  {"threadIdx.z", "tid_z"}, {"blockIdx.x", "ctaid_x"}, {"blockIdx.y", "ctaid_y"},
      {"blockIdx.z", "ctaid_z"}, {"blockDim.x", "ntid_x"},  {"blockDim.y", "ntid_y"}, {"blockDim.z", "ntid_z"},  {"gridDim.x", "nctaid_x"},
      {"gridDim.y", "nctaid_y"}, {"gridDim.z", "nctaid_z"}, {"laneid", "lane"}};
  const auto found = kNumbers.find(name);
  if (found == kNumbers.end() || !l.program().options.cuda) return {};
  return scalar_value(ask(l, found->second, DType::i32));
}

}  // namespace gasell::functions
