// Kernels of threads as a GPU runs them (nvptx64).
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/codegen/emit.h"
#include "compiler/codegen/emitter.h"
#include "compiler/ir/simt.h"
#include "compiler/ir/tile.h"
#include "compiler/ir/transform.h"
#include "compiler/ir/unrolled_size.h"

namespace gasell {
namespace {

using ir::Stmt;
using Kind = ir::SimtFunction::Kind;
namespace Id = llvm::Intrinsic;

constexpr unsigned kGlobalMemory = 1, kSharedMemory = 3;  // NVPTX's address spaces
/// Of a thread of tiles: as many as leave loads enough under way. On an H200 the 3 x 3 means of a parallel loop take 2.39 ms (f64) and 111
/// us (i8) with 64, 2.72 ms and 120 us with 80; seven points in three axes 2.28 and 2.08 ms.
constexpr uint32_t kRegistersOfTiles = 64, kRegistersOfPlanes = 80;

class SimtGridEmitter final : public Emitter {
 public:
  SimtGridEmitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target) : Emitter(context, module, target) {}

  /// All parameters are 8 bytes: array addresses, then scalar slots, then the address of two words that grid_barrier counts in, whether the
  /// axes x and y of the launch have changed places, and the address of a word that is not 0 where somebody wants the kernel to end. Where
  /// pointers may stand for global and for shared memory, addresses are generic, and LLVM finds which memory most are in.
  void emit(const ir::Kernel& kernel, const std::string& symbol) override {
    static_shared_ = ir::static_shared_bytes(kernel);
    generic_ = has_pointers(kernel.body);
    llvm::Type *i64 = b_.getInt64Ty(), *global = b_.getPtrTy(kGlobalMemory);
    std::vector<llvm::Type*> types;
    for (const ir::Parameter& p : kernel.params)
      if (p.kind != ir::Parameter::Kind::scalar) types.push_back(global);
    for (const ir::Parameter& p : kernel.params)
      if (p.kind == ir::Parameter::Kind::scalar)
        types.insert(types.end(), is_complex(p.type) ? 2 : 1, kind(p.type) == 'f' || kind(p.type) == 'c' ? b_.getDoubleTy() : i64);
    types.insert(types.end(), {global, i64, global});
    function_ =
        llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false), llvm::Function::ExternalLinkage, symbol, module_);
    function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    const auto annotate = [&](const char* what, uint32_t value) {
      module_.getOrInsertNamedMetadata("nvvm.annotations")
          ->addOperand(llvm::MDNode::get(context_, {llvm::ValueAsMetadata::get(function_), llvm::MDString::get(context_, what),
                                                    llvm::ConstantAsMetadata::get(b_.getInt32(value))}));
    };
    annotate("kernel", 1);
    if (kernel.registers > 0)
      annotate("maxnreg", static_cast<uint32_t>(kernel.registers));
    else if (ir::has_tiles(kernel.body))
      annotate("maxnreg", has_planes(kernel.body) ? kRegistersOfPlanes : kRegistersOfTiles);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
    auto argument = function_->arg_begin();
    for (const ir::Parameter& p : kernel.params) {
      if (p.kind == ir::Parameter::Kind::scalar) continue;
      const bool fixed = p.kind == ir::Parameter::Kind::in;
      if (fixed) {
        argument->addAttr(llvm::Attribute::NoAlias);
        argument->addAttr(llvm::Attribute::ReadOnly);
      }
      arrays_[p.name] = {placed(&*argument++), p.type, p.name};
      arrays_[p.name].fixed = fixed;
    }
    std::set<std::string> extents;
    find_extents(kernel.body, extents);
    for (const ir::Parameter& p : kernel.params) {
      if (p.kind != ir::Parameter::Kind::scalar) continue;
      // So that conditions of the script answer for checks: no array has 2^47 elements.
      if (p.type == DType::i64 && extents.count(p.name))
        argument->addAttr(
            llvm::Attribute::get(context_, llvm::Attribute::Range, llvm::ConstantRange(llvm::APInt(64, 0), llvm::APInt(64, 1ULL << 47))));
      const bool real = kind(p.type) == 'f' || kind(p.type) == 'c';
      auto slot = [&] {
        return real ? narrowed(&*argument++, register_type(p.type)) : b_.CreateTrunc(&*argument++, register_type(p.type));
      };
      Register r{slot(), nullptr};
      if (is_complex(p.type)) r.im = slot();
      values_[p.name] = r;
    }
    grid_words_ = &*argument++;
    turned_ = b_.CreateICmpNE(&*argument++, b_.getInt64(0), "turned");
    stop_ = &*argument++;
    if (kernel.fast_math) b_.setFastMathFlags(llvm::FastMathFlags::getFast());
    llvm::BasicBlock* exit = block("exit");
    with_raises(exit, [&] { statements(kernel.body); });
    b_.clearFastMathFlags();
    b_.CreateBr(exit);
    b_.SetInsertPoint(exit);
    b_.CreateRetVoid();
    llvm::EliminateUnreachableBlocks(*function_);
  }

 private:
  static bool has_pointers(const ir::Body& body) {
    return std::any_of(body.begin(), body.end(), [](const ir::StmtRef& s) {
      return s->kind == ir::StmtKind::pointer || has_pointers(s->body) || has_pointers(s->orelse);
    });
  }
  llvm::Value* placed(llvm::Value* address) { return generic_ ? b_.CreateAddrSpaceCast(address, b_.getPtrTy()) : address; }

  /// Whether the grid has a third axis.
  static bool has_planes(const ir::Body& body) {
    return std::any_of(body.begin(), body.end(), [](const ir::StmtRef& s) {
      return (s->kind == ir::StmtKind::simt && s->source == "ctaid_z") || has_planes(s->body) || has_planes(s->orelse);
    });
  }

  /// The names that checks have as the number of elements.
  static void find_extents(const ir::Body& body, std::set<std::string>& names) {
    for (const ir::StmtRef& s : body) {
      if (s->kind == ir::StmtKind::check && s->end->kind == ir::ExprKind::variable) names.insert(s->end->name);
      find_extents(s->body, names);
      find_extents(s->orelse, names);
    }
  }

  // ---- interrupts ----
  /// Reading the word takes hundreds of cycles, so a thread does it once in so many polls.
  static constexpr uint32_t kPollsToARead = 64;
  void poll() override {
    llvm::Type* i32 = b_.getInt32Ty();
    if (!polls_) {
      polls_ = entry_alloca(i32, 4);
      llvm::IRBuilder<> entry(polls_->getParent(), std::next(polls_->getIterator()));
      entry.CreateStore(b_.getInt32(0), polls_);
    }
    llvm::Value* count = b_.CreateAdd(b_.CreateLoad(i32, polls_), b_.getInt32(1));
    b_.CreateStore(count, polls_);
    llvm::BasicBlock *ask = block("ask"), *go_on = block("go_on");
    b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateAnd(count, kPollsToARead - 1), b_.getInt32(0)), ask, go_on,
                    llvm::MDBuilder(context_).createUnlikelyBranchWeights());
    b_.SetInsertPoint(ask);
    raise(asked_to_stop(), ir::kInterrupted, {});
    b_.CreateBr(go_on);
    b_.SetInsertPoint(go_on);
  }
  llvm::Value* asked_to_stop() {
    return b_.CreateICmpNE(b_.CreateAlignedLoad(b_.getInt32Ty(), stop_, llvm::Align(4), true), b_.getInt32(0));
  }

  // ---- checks ----
  /// Checks that stand together have one branch: where one of them fails, all are asked again in their order.
  void statements(const ir::Body& body) override {
    const Places around = places_;
    for (size_t k = 0; k < body.size();) {
      size_t end = k;
      while (end < body.size() && (body[end]->kind == ir::StmtKind::check || body[end]->kind == ir::StmtKind::let)) ++end;
      const auto last = std::find_if(std::reverse_iterator(body.begin() + static_cast<std::ptrdiff_t>(end)),
                                     std::reverse_iterator(body.begin() + static_cast<std::ptrdiff_t>(k)),
                                     [](const ir::StmtRef& s) { return s->kind == ir::StmtKind::check; });
      const auto stop = static_cast<size_t>(last.base() - body.begin());
      if (stop > k + 1) {
        together(body, k, stop);
        k = stop;
        continue;
      }
      k = next_statements(body, k);
    }
    places_ = around;
    Emitter::statements({});  // what it does at a body's end
  }

  struct Asked {
    llvm::Value *fails, *index, *extent;
    int64_t site;
  };
  void together(const ir::Body& body, size_t begin, size_t end) {
    std::vector<Asked> asked;
    for (size_t k = begin; k < end; ++k) {
      const Stmt& s = *body[k];
      if (!asked.empty() && has_load(s)) branch(asked);
      if (s.kind != ir::StmtKind::check) {
        statement(s);
        continue;
      }
      llvm::Value *index = value(s.value).re, *extent = value(s.end).re, *zero = b_.getInt64(0);
      llvm::Value* from_front = b_.CreateAdd(index, b_.CreateSelect(b_.CreateICmpSLT(index, zero), extent, zero), s.name);
      asked.push_back({b_.CreateICmpUGE(from_front, extent), index, extent, s.size});
      values_[s.name] = {from_front, nullptr};
    }
    branch(asked);
  }
  void branch(std::vector<Asked>& asked) {
    llvm::Value* any = b_.getFalse();
    for (const Asked& a : asked) any = b_.CreateOr(any, a.fails);
    llvm::BasicBlock *again = block("again"), *good = block("good");
    b_.CreateCondBr(any, again, good, llvm::MDBuilder(context_).createUnlikelyBranchWeights());
    b_.SetInsertPoint(again);
    for (const Asked& a : asked) raise(a.fails, a.site, {a.index, a.extent});
    b_.CreateUnreachable();
    b_.SetInsertPoint(good);
    asked.clear();
  }
  static bool has_load(const Stmt& s) {
    bool found = false;
    for (const ir::ExprRef& e : ir::expressions_of(s))
      ir::visit(e, [&](const ir::Expr& part) { found = found || part.kind == ir::ExprKind::load; });
    return found;
  }

  void loop(const Stmt& s) override {
    llvm::Value *first = value(s.begin).re, *last = value(s.end).re;
    llvm::BranchInst* back = counted_loop(s, first, last, b_.getInt64(1));
    if (uses_own_arrays(s.body) && ir::unrolled_size(s, kMostUnrolled) <= kMostUnrolled) unroll_fully(back);
  }
  /// A thread's own arrays become registers where all their indices are known: loops between constants that use them are written out.
  static constexpr int64_t kMostUnrolled = 4096;  // operations
  bool uses_own_arrays(const ir::Body& body) const {
    return std::any_of(body.begin(), body.end(), [&](const ir::StmtRef& s) {
      bool found = s->kind == ir::StmtKind::store && own_arrays_.count(s->name) > 0;
      for (const ir::ExprRef& e : ir::expressions_of(*s))
        ir::visit(e, [&](const ir::Expr& part) { found = found || (part.kind == ir::ExprKind::load && own_arrays_.count(part.name) > 0); });
      return found || uses_own_arrays(s->body) || uses_own_arrays(s->orelse);
    });
  }
  void barrier(ir::Space) override { b_.CreateIntrinsic(Id::nvvm_barrier0, {}, {}); }

  Array local_array(const Stmt& s) override {
    if (s.space != ir::Space::block) {
      own_arrays_.insert(s.name);
      return automatic_array(s);
    }
    llvm::GlobalVariable* memory = module_.getNamedGlobal("shared");
    if (!memory) {
      memory = new llvm::GlobalVariable(module_, llvm::ArrayType::get(b_.getInt8Ty(), 0), false, llvm::GlobalValue::ExternalLinkage,
                                        nullptr, "shared", nullptr, llvm::GlobalValue::NotThreadLocal, kSharedMemory);
      memory->setAlignment(llvm::Align(16));
    }
    const int64_t bytes = s.size * gasell::size_of(s.type), at = s.size ? shared_used_ : static_shared_;
    shared_used_ += (bytes + 15) / 16 * 16;
    llvm::Value* place = b_.CreateInBoundsGEP(b_.getInt8Ty(), memory, b_.getInt64(static_cast<uint64_t>(at)));
    return {placed(place), s.type, s.name};
  }

  llvm::Value* special(Id::ID id) {
    llvm::CallInst* read = b_.CreateIntrinsic(id, {}, {});
    // CUDA's limits of blocks and grids.
    static const std::set<Id::ID> kThreads = {Id::nvvm_read_ptx_sreg_tid_x,  Id::nvvm_read_ptx_sreg_tid_y,  Id::nvvm_read_ptx_sreg_tid_z,
                                              Id::nvvm_read_ptx_sreg_ntid_x, Id::nvvm_read_ptx_sreg_ntid_y, Id::nvvm_read_ptx_sreg_ntid_z};
    read->setMetadata(llvm::LLVMContext::MD_range,
                      llvm::MDBuilder(context_).createRange(llvm::APInt(32, 0), llvm::APInt(32, kThreads.count(id) ? 1025 : 0x7fffffff)));
    return read;
  }
  /// What a thread knows about itself, as the script counts axes.
  llvm::Value* number(const std::string& name) {
    const char axis = name.back();
    if (name == "lane" || axis == 'z') return special(number_id(name));
    const std::string stem = name.substr(0, name.size() - 1);
    llvm::Value *x = special(number_id(stem + "x")), *y = special(number_id(stem + "y"));
    return axis == 'x' ? b_.CreateSelect(turned_, y, x) : b_.CreateSelect(turned_, x, y);
  }
  static Id::ID number_id(const std::string& name) {
    static const std::map<std::string, Id::ID> kIds = {
        {"tid_x", Id::nvvm_read_ptx_sreg_tid_x},       {"tid_y", Id::nvvm_read_ptx_sreg_tid_y},
        {"tid_z", Id::nvvm_read_ptx_sreg_tid_z},       {"ctaid_x", Id::nvvm_read_ptx_sreg_ctaid_x},
        {"ctaid_y", Id::nvvm_read_ptx_sreg_ctaid_y},   {"ctaid_z", Id::nvvm_read_ptx_sreg_ctaid_z},
        {"ntid_x", Id::nvvm_read_ptx_sreg_ntid_x},     {"ntid_y", Id::nvvm_read_ptx_sreg_ntid_y},
        {"ntid_z", Id::nvvm_read_ptx_sreg_ntid_z},     {"nctaid_x", Id::nvvm_read_ptx_sreg_nctaid_x},
        {"nctaid_y", Id::nvvm_read_ptx_sreg_nctaid_y}, {"nctaid_z", Id::nvvm_read_ptx_sreg_nctaid_z},
        {"lane", Id::nvvm_read_ptx_sreg_laneid}};
    return kIds.at(name);
  }

  void note_place(llvm::Value* error) override {
    static constexpr const char* kPlace[] = {"ctaid_x", "ctaid_y", "ctaid_z", "tid_x", "tid_y", "tid_z"};
    for (unsigned k = 0; k < 6; ++k)
      b_.CreateAlignedStore(b_.CreateZExt(number(kPlace[k]), b_.getInt64Ty()), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), error, 4 + k),
                            llvm::Align(8));
  }

  llvm::Value* assembly(const char* text, const char* constraints, llvm::Type* result) {
    auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(result, false), text, constraints, true);
    llvm::CallInst* given = b_.CreateCall(code);
    given->addFnAttr(llvm::Attribute::Convergent);
    return given;
  }

  /// Past the caches that only a multiprocessor has: what the blocks of one device see of each other.
  llvm::Value* load_at_once(llvm::Type* bits, llvm::Value* address) override {
    const AccessAtOnce how = access_at_once(bits);
    const std::string text = std::string("ld.relaxed.gpu.") + how.type + " $0, [$1];",
                      constraints = std::string("=") + how.constraint + ",l,~{memory}";
    auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(how.held, {b_.getPtrTy()}, false), text, constraints, true);
    return b_.CreateTrunc(b_.CreateCall(code, {generic(address)}), bits);
  }
  void store_at_once(llvm::Value* bits, llvm::Value* address) override {
    const AccessAtOnce how = access_at_once(bits->getType());
    const std::string text = std::string("st.relaxed.gpu.") + how.type + " [$0], $1;",
                      constraints = std::string("l,") + how.constraint + ",~{memory}";
    auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), how.held}, false), text, constraints, true);
    b_.CreateCall(code, {generic(address), b_.CreateZExt(bits, how.held)});
  }
  llvm::Value* generic(llvm::Value* address) { return b_.CreateAddrSpaceCast(address, b_.getPtrTy()); }
  /// PTX's type of such an access, and the register that holds it: none has fewer than 16 bits.
  struct AccessAtOnce {
    const char *type, *constraint;
    llvm::Type* held;
  };
  AccessAtOnce access_at_once(llvm::Type* bits) {
    switch (bits->getPrimitiveSizeInBits()) {
      case 8: return {"u8", "h", b_.getInt16Ty()};
      case 16: return {"u16", "h", b_.getInt16Ty()};
      case 32: return {"u32", "r", b_.getInt32Ty()};
      default: return {"u64", "l", b_.getInt64Ty()};
    }
  }

  /// One 32-bit shuffle; 64 bits go in halves.
  llvm::Value* shuffle(const std::string& name, llvm::Value* mask, llvm::Value* bits, llvm::Value* lane, bool wide) {
    const Id::ID id = name == "shuffle_idx"    ? Id::nvvm_shfl_sync_idx_i32
                      : name == "shuffle_up"   ? Id::nvvm_shfl_sync_up_i32
                      : name == "shuffle_down" ? Id::nvvm_shfl_sync_down_i32
                                               : Id::nvvm_shfl_sync_bfly_i32;
    llvm::Value* clamp = b_.getInt32(name == "shuffle_up" ? 0 : 31);
    auto half = [&](llvm::Value* v) {
      return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {mask, b_.CreateTrunc(v, b_.getInt32Ty()), lane, clamp}), b_.getInt64Ty());
    };
    llvm::Value* low = half(bits);
    return wide ? b_.CreateOr(low, b_.CreateShl(half(b_.CreateLShr(bits, 32)), 32)) : low;
  }

  /// The 16x8 sums of a warp by tensor cores: of Hopper and later at once, of Ampere by two products of eight rows.
  void product(const Stmt& s) {
    if (s.source == "mma_rest") {
      values_[s.name] = rests_.at(s.args[0]->name);
      return;
    }
    const int capability = std::stoi(target_.cpu.substr(3));
    if (capability < 80) throw TargetLacks{"products by tensor cores"};
    std::vector<llvm::Value*> of_rows, sums;
    for (const size_t k : {0, 1}) of_rows.push_back(value(s.args[k]).re);
    llvm::Value* const right = value(s.args[2]).re;
    for (const size_t k : {3, 4}) sums.insert(sums.end(), {value(s.args[k]).re, value(s.args[k]).im});
    const auto ask = [&](const char* text, const char* constraints, unsigned count, const std::vector<llvm::Value*>& given) {
      std::vector<llvm::Type*> types;
      for (llvm::Value* v : given) types.push_back(v->getType());
      auto* result = llvm::StructType::get(context_, std::vector<llvm::Type*>(count, b_.getDoubleTy()));
      auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(result, types, false), text, constraints, false);
      llvm::CallInst* const made = b_.CreateCall(code, given);
      made->addFnAttr(llvm::Attribute::Convergent);
      made->setDoesNotAccessMemory();
      std::vector<llvm::Value*> parts;
      for (unsigned i = 0; i < count; ++i) parts.push_back(b_.CreateExtractValue(made, i));
      return parts;
    };
    std::vector<llvm::Value*> made;
    if (capability >= 90) {
      made = ask("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$7, $8, $9, $10};",
                 "=d,=d,=d,=d,d,d,d,d,d,d,d", 4, {of_rows[0], of_rows[1], right, sums[0], sums[1], sums[2], sums[3]});
    } else {
      for (const size_t half : {0, 1})
        for (llvm::Value* v : ask("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$0, $1}, {$2}, {$3}, {$4, $5};", "=d,=d,d,d,d,d", 2,
                                  {of_rows[half], right, sums[2 * half], sums[2 * half + 1]}))
          made.push_back(v);
    }
    values_[s.name] = {made[0], made[1]};
    rests_[s.name] = {made[2], made[3]};
  }

  /// All blocks of a cooperative launch come here: each adds one to the first word, and whoever completes the grid opens the gate, the
  /// second. Who is asked to stop waits for nobody: others may have ended.
  void grid_barrier() {
    llvm::Type* i32 = b_.getInt32Ty();
    b_.CreateIntrinsic(Id::nvvm_barrier0, {}, {});
    llvm::Value* number = b_.CreateOr(b_.CreateOr(special(Id::nvvm_read_ptx_sreg_tid_x), special(Id::nvvm_read_ptx_sreg_tid_y)),
                                      special(Id::nvvm_read_ptx_sreg_tid_z));
    llvm::BasicBlock *first = block("first"), *last = block("last"), *wait = block("wait"), *open = block("open");
    b_.CreateCondBr(b_.CreateICmpEQ(number, b_.getInt32(0)), first, open);
    b_.SetInsertPoint(first);
    b_.CreateIntrinsic(Id::nvvm_membar_gl, {}, {});
    llvm::Value* gate = b_.CreateConstInBoundsGEP1_64(i32, grid_words_, 1);
    llvm::LoadInst* before = b_.CreateAlignedLoad(i32, gate, llvm::Align(4), true);
    llvm::Value* blocks = b_.CreateMul(b_.CreateMul(special(Id::nvvm_read_ptx_sreg_nctaid_x), special(Id::nvvm_read_ptx_sreg_nctaid_y)),
                                       special(Id::nvvm_read_ptx_sreg_nctaid_z));
    const auto order = llvm::AtomicOrdering::Monotonic;
    llvm::Value* came =
        b_.CreateAtomicRMW(llvm::AtomicRMWInst::UIncWrap, grid_words_, b_.CreateSub(blocks, b_.getInt32(1)), llvm::Align(4), order);
    b_.CreateCondBr(b_.CreateICmpEQ(came, b_.CreateSub(blocks, b_.getInt32(1))), last, wait);
    b_.SetInsertPoint(last);
    b_.CreateIntrinsic(Id::nvvm_membar_gl, {}, {});
    b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, gate, b_.getInt32(1), llvm::Align(4), order);
    b_.CreateBr(open);
    b_.SetInsertPoint(wait);
    llvm::LoadInst* now = b_.CreateAlignedLoad(i32, gate, llvm::Align(4), true);
    llvm::BasicBlock* passed = block("passed");
    b_.CreateCondBr(b_.CreateAnd(b_.CreateICmpEQ(now, before), b_.CreateNot(asked_to_stop())), wait, passed);
    b_.SetInsertPoint(passed);
    b_.CreateIntrinsic(Id::nvvm_membar_gl, {}, {});
    b_.CreateBr(open);
    b_.SetInsertPoint(open);
    b_.CreateIntrinsic(Id::nvvm_barrier0, {}, {});
  }

  void simt(const Stmt& s) override {
    llvm::Type* i32 = b_.getInt32Ty();
    const Kind kind = ir::find_simt_function(s.source)->kind;
    std::vector<llvm::Value*> args;
    if (kind != Kind::bits && kind != Kind::fma && kind != Kind::product)
      for (const ir::ExprRef& a : s.args) args.push_back(value(a).re);
    auto give = [&](llvm::Value* v) {
      if (!s.name.empty()) values_[s.name] = {v, nullptr};
    };
    switch (kind) {
      case Kind::number:
        if (s.source == "dynamic_shared")
          give(b_.CreateSub(b_.CreateZExt(assembly("mov.u32 $0, %dynamic_smem_size;", "=r", i32), b_.getInt64Ty()),
                            b_.getInt64(static_cast<uint64_t>(static_shared_))));
        else
          give(number(s.source));
        break;
      case Kind::line: break;
      case Kind::barrier:
        if (s.source == "barrier") {
          b_.CreateIntrinsic(Id::nvvm_barrier0, {}, {});
        } else {
          give(b_.CreateIntrinsic(s.source == "barrier_count" ? Id::nvvm_barrier0_popc
                                  : s.source == "barrier_and" ? Id::nvvm_barrier0_and
                                                              : Id::nvvm_barrier0_or,
                                  {}, {args[0]}));
        }
        break;
      case Kind::grid: grid_barrier(); break;
      case Kind::warp: b_.CreateIntrinsic(Id::nvvm_bar_warp_sync, {}, {args[0]}); break;
      case Kind::fence:
        b_.CreateIntrinsic(s.source == "fence_block" ? Id::nvvm_membar_cta
                           : s.source == "fence"     ? Id::nvvm_membar_gl
                                                     : Id::nvvm_membar_sys,
                           {}, {});
        break;
      case Kind::shuffle:
        give(from_bits(shuffle(s.source, args[0], to_bits(args[1]), args[2], gasell::size_of(s.type) == 8), s.type));
        break;
      case Kind::vote: {
        llvm::Value* holds = b_.CreateICmpNE(args[1], b_.getInt32(0));
        if (s.source == "vote_ballot") {
          give(b_.CreateIntrinsic(Id::nvvm_vote_ballot_sync, {}, {args[0], holds}));
          break;
        }
        const Id::ID id = s.source == "vote_all"   ? Id::nvvm_vote_all_sync
                          : s.source == "vote_any" ? Id::nvvm_vote_any_sync
                                                   : Id::nvvm_vote_uni_sync;
        give(b_.CreateZExt(b_.CreateIntrinsic(id, {}, {args[0], holds}), i32));
        break;
      }
      case Kind::match: {
        const bool wide = gasell::size_of(s.args[1]->type) == 8;
        llvm::Value* bits = to_bits(args[1]);
        if (!wide) bits = b_.CreateTrunc(bits, i32);
        if (s.source == "match_any") {
          give(b_.CreateIntrinsic(wide ? Id::nvvm_match_any_sync_i64 : Id::nvvm_match_any_sync_i32, {}, {args[0], bits}));
        } else {
          llvm::Value* both = b_.CreateIntrinsic(wide ? Id::nvvm_match_all_sync_i64p : Id::nvvm_match_all_sync_i32p, {}, {args[0], bits});
          give(b_.CreateExtractValue(both, 0));
        }
        break;
      }
      case Kind::active: give(assembly("activemask.b32 $0;", "=r", i32)); break;
      case Kind::product: product(s); break;
      case Kind::bits:
      case Kind::fma: simt_number(s); break;
    }
  }

  llvm::Value *grid_words_ = nullptr, *turned_ = nullptr, *stop_ = nullptr;
  std::set<std::string> own_arrays_;                 // automatic ones
  std::unordered_map<std::string, Register> rests_;  // of `mma`, by the name of its first result
  llvm::AllocaInst* polls_ = nullptr;                // how often the thread came to a poll
  int64_t static_shared_ = 0, shared_used_ = 0;
  bool generic_ = false;
};

}  // namespace

std::unique_ptr<Emitter> make_simt_grid_emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target) {
  return std::make_unique<SimtGridEmitter>(context, module, target);
}

}  // namespace gasell
