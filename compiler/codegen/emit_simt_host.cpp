// Kernels of threads as the host plays them (simt.h).
#include <array>

#include "compiler/codegen/emit_host.h"
#include "compiler/codegen/simt.h"
#include "compiler/ir/simt.h"

namespace gasell {
namespace {

using ir::Stmt;
using Kind = ir::SimtFunction::Kind;

class SimtHostEmitter final : public HostEmitter {
 public:
  SimtHostEmitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target, bool races)
      : HostEmitter(context, module, target), races_(races) {}

 private:
  void run(const ir::Kernel& kernel) override {
    static_shared_ = ir::static_shared_bytes(kernel);
    thread_ = b_.CreateIntToPtr(begin_, b_.getPtrTy(), "thread");
    statements(kernel.body);
  }

  /// Runs `end` threads, one after the other.
  void call_body(llvm::Function* wrapper, llvm::Function* body, const std::vector<llvm::Value*>& arguments) override {
    llvm::Value* thread = b_.CreateIntToPtr(wrapper->getArg(2), b_.getPtrTy());
    llvm::BasicBlock *before = b_.GetInsertBlock(), *loop = llvm::BasicBlock::Create(context_, "threads", wrapper),
                     *done = llvm::BasicBlock::Create(context_, "done", wrapper);
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode* k = b_.CreatePHI(b_.getInt64Ty(), 2);
    k->addIncoming(b_.getInt64(0), before);
    b_.CreateCall(body, arguments);
    // The next one: x first, then y, then z.
    llvm::Value* carry = b_.getInt32(1);
    for (unsigned axis = 0; axis < 3; ++axis) {
      llvm::Value* slot = field(thread, 4 * axis);
      llvm::Value* next = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), slot), carry);
      llvm::Value* full = b_.CreateICmpEQ(next, b_.CreateLoad(b_.getInt32Ty(), field(thread, offsetof(SimtThread, ntid) + 4 * axis)));
      b_.CreateStore(b_.CreateSelect(full, b_.getInt32(0), next), slot);
      carry = b_.CreateZExt(full, b_.getInt32Ty());
    }
    llvm::Value* number_slot = field(thread, offsetof(SimtThread, number));
    llvm::Value* number = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), number_slot), b_.getInt32(1));
    b_.CreateStore(number, number_slot);
    b_.CreateStore(b_.CreateAnd(number, 31), field(thread, offsetof(SimtThread, lane)));
    llvm::Value* next = b_.CreateAdd(k, b_.getInt64(1));
    k->addIncoming(next, loop);
    b_.CreateCondBr(b_.CreateICmpSLT(next, wrapper->getArg(3)), loop, done);
    b_.SetInsertPoint(done);
  }

  llvm::Value* field(llvm::Value* thread, size_t offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), thread, offset); }
  llvm::Value* number(size_t offset) { return b_.CreateLoad(b_.getInt32Ty(), field(thread_, offset)); }

  Array local_array(const Stmt& s) override {
    if (s.space != ir::Space::block) return automatic_array(s);
    llvm::Value* shared = b_.CreateLoad(b_.getPtrTy(), field(thread_, offsetof(SimtThread, shared)));
    const int64_t bytes = s.size * gasell::size_of(s.type), at = s.size ? shared_used_ : static_shared_;
    shared_used_ += (bytes + 15) / 16 * 16;
    llvm::Value* begin = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), shared, static_cast<uint64_t>(at));
    llvm::Value* extent = b_.getInt64(static_cast<uint64_t>(bytes));
    if (!s.size) extent = b_.CreateLoad(b_.getInt64Ty(), field(thread_, offsetof(SimtThread, dynamic_shared)));
    return {begin, s.type, s.name, begin, b_.CreateGEP(b_.getInt8Ty(), begin, extent)};
  }

  // ---- interrupts ----
  void poll() override {
    llvm::Value* stop = b_.CreateLoad(b_.getPtrTy(), field(thread_, offsetof(SimtThread, stop)));
    llvm::LoadInst* asked = b_.CreateAlignedLoad(b_.getInt8Ty(), stop, llvm::Align(1));
    asked->setAtomic(llvm::AtomicOrdering::Unordered);
    asked->setVolatile(true);
    raise(b_.CreateICmpNE(asked, b_.getInt8(0)), ir::kInterrupted, {});
  }

  void note_place(llvm::Value* error) override {
    for (unsigned k = 0; k < 6; ++k) {
      llvm::Value* n = number(k < 3 ? offsetof(SimtThread, ctaid) + 4 * k : 4 * (k - 3));
      b_.CreateAlignedStore(b_.CreateSExt(n, b_.getInt64Ty()), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), error, 4 + k),
                            llvm::Align(8));
    }
  }

  void touch(const Array& array, llvm::Value* index, bool writes) override {
    HostEmitter::touch(array, index, writes);
    if (!races_ || array.name == "error") return;
    const auto size = static_cast<uint64_t>(gasell::size_of(array.type));
    llvm::Value* at = b_.CreateGEP(b_.getInt8Ty(), array.pointer, b_.CreateMul(index, b_.getInt64(size)));
    call("gasell_simt_access", b_.getVoidTy(), {thread_, at, b_.getInt64(size), b_.getInt64((writes ? 1 : 0) + (atomically_ ? 2 : 0))});
  }

  llvm::Value* call(const char* name, llvm::Type* result, const std::vector<llvm::Value*>& arguments) {
    std::vector<llvm::Type*> types;
    for (llvm::Value* a : arguments) types.push_back(a->getType());
    return b_.CreateCall(module_.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false)), arguments);
  }

  void simt(const Stmt& s) override {
    llvm::Type* i64 = b_.getInt64Ty();
    const Kind kind = ir::find_simt_function(s.source)->kind;
    std::vector<llvm::Value*> args;
    if (kind != Kind::bits && kind != Kind::fma && kind != Kind::product)
      for (const ir::ExprRef& a : s.args) args.push_back(to_bits(value(a).re));
    llvm::Value* const site = b_.getInt64(static_cast<uint64_t>(s.size));
    auto give = [&](llvm::Value* bits) { values_[s.name] = {from_bits(bits, s.type), nullptr}; };
    auto constant = [&](auto e) { return b_.getInt64(static_cast<uint64_t>(e)); };
    switch (kind) {
      case Kind::number: {
        if (s.source == "dynamic_shared") {
          values_[s.name] = {b_.CreateLoad(i64, field(thread_, offsetof(SimtThread, dynamic_shared))), nullptr};
          break;
        }
        size_t offset = offsetof(SimtThread, lane);
        if (s.source != "lane") {
          const size_t axis = static_cast<size_t>(s.source.back() - 'x') * 4;
          offset = axis + (s.source.starts_with("tid")     ? offsetof(SimtThread, tid)
                           : s.source.starts_with("ctaid") ? offsetof(SimtThread, ctaid)
                           : s.source.starts_with("ntid")  ? offsetof(SimtThread, ntid)
                                                           : offsetof(SimtThread, nctaid));
        }
        values_[s.name] = {number(offset), nullptr};
        break;
      }
      case Kind::line: b_.CreateStore(site, field(thread_, offsetof(SimtThread, site))); break;
      case Kind::barrier: {
        const SimtBarrier which = s.source == "barrier"         ? SimtBarrier::plain
                                  : s.source == "barrier_count" ? SimtBarrier::count
                                  : s.source == "barrier_and"   ? SimtBarrier::all
                                                                : SimtBarrier::any;
        llvm::Value* result = call("gasell_simt_barrier", i64, {thread_, constant(which), args.empty() ? b_.getInt64(0) : args[0], site});
        if (!s.name.empty()) give(result);
        break;
      }
      case Kind::grid: call("gasell_simt_barrier", i64, {thread_, constant(SimtBarrier::grid), b_.getInt64(0), site}); break;
      case Kind::warp: call("gasell_simt_warp", b_.getVoidTy(), {thread_, args[0], site}); break;
      case Kind::fence: b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent); break;
      case Kind::shuffle:
      case Kind::vote:
      case Kind::match: {
        using E = SimtExchange;
        const std::string_view name = s.source;
        const E which = name == "shuffle_idx"    ? E::idx
                        : name == "shuffle_up"   ? E::up
                        : name == "shuffle_down" ? E::down
                        : name == "shuffle_xor"  ? E::bfly
                        : name == "vote_all"     ? E::all
                        : name == "vote_any"     ? E::any
                        : name == "vote_eq"      ? E::eq
                        : name == "vote_ballot"  ? E::ballot
                        : name == "match_any"    ? E::match_any
                                                 : E::match_all;
        llvm::Value* lane = args.size() > 2 ? args[2] : b_.getInt64(0);
        give(call("gasell_simt_exchange", i64, {thread_, constant(which), args[0], args[1], lane, site}));
        break;
      }
      case Kind::active: give(call("gasell_simt_active", i64, {thread_})); break;
      case Kind::product: product(s, site); break;
      case Kind::bits:
      case Kind::fma: simt_number(s); break;
    }
  }

  /// What tensor cores do, by exchanges within the warp: four products a sum, added one after the other.
  void product(const Stmt& s, llvm::Value* site) {
    if (s.source == "mma_rest") {
      values_[s.name] = rests_.at(s.args[0]->name);
      return;
    }
    llvm::Value* const lane = b_.CreateZExt(number(offsetof(SimtThread, lane)), b_.getInt64Ty());
    llvm::Value* const all = b_.getInt64(0xffffffff);
    llvm::Value* const which = b_.getInt64(static_cast<uint64_t>(SimtExchange::idx));
    const auto from = [&](const ir::ExprRef& v, llvm::Value* other) {
      return from_bits(call("gasell_simt_exchange", b_.getInt64Ty(), {thread_, which, all, to_bits(value(v).re), other, site}), DType::f64);
    };
    llvm::Value* const row = b_.CreateShl(b_.CreateLShr(lane, 2), 2);
    llvm::Value* const column = b_.CreateShl(b_.CreateAnd(lane, 3), 3);
    std::array<Register, 2> sums = {value(s.args[3]), value(s.args[4])};
    for (uint64_t k = 0; k < 4; ++k) {
      llvm::Value *const left = from(s.args[2], b_.CreateAdd(column, b_.getInt64(k))), *const right =
                                                                                           from(s.args[2],
                                                                                                b_.CreateAdd(column, b_.getInt64(k + 4)));
      for (size_t half = 0; half < 2; ++half) {
        llvm::Value* const x = from(s.args[half], b_.CreateAdd(row, b_.getInt64(k)));
        const auto add = [&](llvm::Value* y, llvm::Value* sum) {
          return b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {x, y, sum});
        };
        sums[half] = {add(left, sums[half].re), add(right, sums[half].im)};
      }
    }
    values_[s.name] = sums[0];
    rests_[s.name] = sums[1];
  }

  const bool races_;
  std::unordered_map<std::string, Register> rests_;  // of `mma`, by the name of its first result
  llvm::Value* thread_ = nullptr;                    // the SimtThread's address
  int64_t static_shared_ = 0, shared_used_ = 0;
};

}  // namespace

std::unique_ptr<Emitter> make_simt_host_emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target, bool races) {
  return std::make_unique<SimtHostEmitter>(context, module, target, races);
}

}  // namespace gasell
