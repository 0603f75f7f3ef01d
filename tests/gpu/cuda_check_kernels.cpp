#include "gpu/cuda_check_kernels.h"

#include <dlfcn.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <thread>

#include "gpu/fake_cuda/fake_cuda.h"

namespace gasell::check {
namespace {

// Blocks take units begin + block, begin + block + blocks, …, and look at the stop flag before each.
constexpr const char* kHead = R"(.version 6.4
.target sm_75
.address_size 64
)";
constexpr const char* kUnits = R"(
  ld.param.u64 %begin, [begin];
  ld.param.u64 %end, [end];
  ld.param.u64 %stop, [stop];
  cvta.to.global.u64 %stop, %stop;
  mov.u32 %w, %ctaid.x;
  cvt.u64.u32 %u, %w;
  add.s64 %u, %u, %begin;
  mov.u32 %w, %nctaid.x;
  cvt.u64.u32 %blocks, %w;
  mov.u32 %w, %ntid.x;
  cvt.u64.u32 %threads, %w;
  mov.u32 %w, %tid.x;
  cvt.u64.u32 %thread, %w;
UNIT:
  setp.ge.s64 %p, %u, %end;
  @%p bra DONE;
  ld.volatile.global.u32 %w, [%stop];
  setp.ne.u32 %p, %w, 0;
  @%p bra DONE;
)";
constexpr const char* kNextUnit = R"(
NEXT:
  add.s64 %u, %u, %blocks;
  bra UNIT;
DONE:
  ret;
}
)";
constexpr const char* kRegisters = R"(
  .reg .pred %p;
  .reg .b32 %w;
  .reg .b64 %begin, %end, %stop, %u, %blocks, %threads, %thread, %i, %last, %offset, %a, %b, %r, %n, %x, %now, %until;
  .reg .f64 %s, %va, %vb, %vr;
)";
/// Threads walk the elements [u * 4096, min((u + 1) * 4096, n)).
std::string elementwise(const std::string& parameters, const std::string& prologue, const std::string& operation, const char* name) {
  return std::string(kHead) + ".visible .entry " + name + "(.param .u64 a, .param .u64 b, .param .u64 r, .param .u64 n, " + parameters +
         ".param .u64 begin, .param .u64 end, .param .u64 stop)\n.maxntid 256, 1, 1\n{" + kRegisters + prologue + R"(
  ld.param.u64 %a, [a];
  ld.param.u64 %b, [b];
  ld.param.u64 %r, [r];
  ld.param.u64 %n, [n];
  cvta.to.global.u64 %a, %a;
  cvta.to.global.u64 %b, %b;
  cvta.to.global.u64 %r, %r;)" +
         kUnits + R"(
  shl.b64 %i, %u, 12;
  add.s64 %last, %i, 4096;
  min.s64 %last, %last, %n;
  add.s64 %i, %i, %thread;
ELEMENT:
  setp.ge.s64 %p, %i, %last;
  @%p bra NEXT;
  shl.b64 %offset, %i, 3;
  add.s64 %x, %a, %offset;
  ld.global.nc.f64 %va, [%x];
  add.s64 %x, %b, %offset;
  ld.global.nc.f64 %vb, [%x];
  )" + operation +
         R"(
  add.s64 %x, %r, %offset;
  st.global.f64 [%x], %vr;
  add.s64 %i, %i, %threads;
  bra ELEMENT;
)" + kNextUnit;
}

std::string spin_ptx() {
  return std::string(kHead) + ".visible .entry spin(.param .u64 r, .param .u64 begin, .param .u64 end, .param .u64 stop)\n{" + kRegisters +
         R"(
  ld.param.u64 %r, [r];
  cvta.to.global.u64 %r, %r;)" +
         kUnits + R"(
  mov.u64 %until, %globaltimer;
  add.s64 %until, %until, 1000000;
WAIT:
  mov.u64 %now, %globaltimer;
  setp.lt.u64 %p, %now, %until;
  @%p bra WAIT;
  setp.ne.s64 %p, %thread, 0;
  @%p bra NEXT;
  shl.b64 %offset, %u, 3;
  add.s64 %x, %r, %offset;
  ld.global.u64 %a, [%x];
  add.s64 %a, %a, 1;
  st.global.u64 [%x], %a;
)" + kNextUnit;
}

std::string fault_ptx() {
  return std::string(kHead) + ".visible .entry fault(.param .u64 begin, .param .u64 end, .param .u64 stop)\n{" + kRegisters + R"(
  mov.u64 %x, 64;
  st.global.u64 [%x], %x;
  ret;
}
)";
}

using Kind = ir::Parameter::Kind;

// ---- the same on the host

template <class F>
void each_element(const uint64_t* p, int scalars, F f) {
  const auto n = static_cast<int64_t>(p[3]), begin = static_cast<int64_t>(p[3 + scalars]), end = static_cast<int64_t>(p[4 + scalars]);
  const auto *a = reinterpret_cast<const double*>(p[0]), *b = reinterpret_cast<const double*>(p[1]);
  auto* r = reinterpret_cast<double*>(p[2]);
  for (int64_t i = begin * kUnit; i < std::min(end * kUnit, n); ++i) r[i] = f(a[i], b[i]);
}
void host_add(const uint64_t* p, unsigned, unsigned, unsigned) {
  each_element(p, 1, [](double a, double b) { return a + b; });
}
void host_fma(const uint64_t* p, unsigned, unsigned, unsigned) {
  const double s = std::bit_cast<double>(p[4]);
  each_element(p, 2, [s](double a, double b) { return std::fma(a, s, b); });
}
void host_spin(const uint64_t* p, unsigned, unsigned, unsigned) {
  for (uint64_t u = p[1]; u < p[2]; ++u) {
    if (std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(p[3])).load()) return;
    if (u % 512 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++reinterpret_cast<int64_t*>(p[0])[u];
  }
}

}  // namespace

ir::Kernel add_kernel() {
  return {
      "add", {{Kind::in, "a", DType::f64}, {Kind::in, "b", DType::f64}, {Kind::out, "r", DType::f64}, {Kind::scalar, "n", DType::i64}}, {}};
}
ir::Kernel fma_kernel() {
  ir::Kernel kernel = add_kernel();
  kernel.name = "fma";
  kernel.params.push_back({Kind::scalar, "s", DType::f64});
  return kernel;
}
ir::Kernel spin_kernel() { return {"spin", {{Kind::out, "r", DType::i64}}, {}}; }
ir::Kernel fault_kernel() { return {"fault", {}, {}}; }

std::optional<GpuCode> kernel_ptx(const ir::Kernel& kernel, int) {
  if (kernel.name == "add") return GpuCode{"add", elementwise("", "", "add.rn.f64 %vr, %va, %vb;", "add"), 256, 0};
  if (kernel.name == "fma")
    return GpuCode{"fma", elementwise(".param .u64 s, ", "\n  ld.param.f64 %s, [s];", "fma.rn.f64 %vr, %va, %s, %vb;", "fma"), 256, 0};
  if (kernel.name == "spin") return GpuCode{"spin", spin_ptx(), 32, 0};
  if (kernel.name == "fault") return GpuCode{"fault", fault_ptx(), 32, 0};
  return {};
}

bool define_on_fake_driver(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  const auto define = handle ? reinterpret_cast<fake_cuda::Define>(dlsym(handle, "fake_cuda_define")) : nullptr;
  if (!define) return false;
  define("add", host_add);
  define("fma", host_fma);
  define("spin", host_spin);
  return true;
}

}  // namespace gasell::check
