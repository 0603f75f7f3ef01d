// Kernels mapped to a grid as its threads run them (nvptx64).
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/codegen/emitter.h"
#include "compiler/ir/tile.h"
#include "compiler/ir/transform.h"

namespace gasell {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::ExprRef;
using ir::LoopKind;
using ir::Stmt;
using ir::StmtKind;

constexpr unsigned kGlobalMemory = 1, kSharedMemory = 3;  // NVPTX's address spaces

class GridEmitter final : public Emitter {
 public:
  GridEmitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target) : Emitter(context, module, target) {}

  /// A kernel of a grid: all parameters are 8 bytes, in order array addresses, scalar slots, begin, end, the address of the stop flag.
  /// Blocks walk the units grid-stride and end after the one in which they find the flag set.
  void emit(const ir::Kernel& kernel, const std::string& symbol) override {
    threads_ = kernel.threads;
    llvm::Type *i64 = b_.getInt64Ty(), *global = b_.getPtrTy(kGlobalMemory);
    std::vector<llvm::Type*> types;
    for (const ir::Parameter& p : kernel.params)
      if (p.kind != ir::Parameter::Kind::scalar) types.push_back(global);
    for (const ir::Parameter& p : kernel.params)
      if (p.kind == ir::Parameter::Kind::scalar)
        types.insert(types.end(), is_complex(p.type) ? 2 : 1, kind(p.type) == 'f' || kind(p.type) == 'c' ? b_.getDoubleTy() : i64);
    types.insert(types.end(), {i64, i64, global});
    function_ =
        llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false), llvm::Function::ExternalLinkage, symbol, module_);
    function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    annotate("kernel", 1);
    annotate("maxntidx", threads_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
    auto argument = function_->arg_begin();
    for (const ir::Parameter& p : kernel.params) {
      if (p.kind == ir::Parameter::Kind::scalar) continue;
      if (p.kind != ir::Parameter::Kind::any) argument->addAttr(llvm::Attribute::NoAlias);
      if (!kernel.function) argument->addAttr(llvm::Attribute::NoCapture);
      if (p.kind == ir::Parameter::Kind::in) argument->addAttr(llvm::Attribute::ReadOnly);
      arrays_[p.name] = {&*argument++, p.type, p.name};
      arrays_[p.name].fixed = p.kind == ir::Parameter::Kind::in;
    }
    for (const ir::Parameter& p : kernel.params) {
      if (p.kind != ir::Parameter::Kind::scalar) continue;
      const bool real = kind(p.type) == 'f' || kind(p.type) == 'c';
      auto slot = [&] {
        return real ? narrowed(&*argument++, register_type(p.type)) : b_.CreateTrunc(&*argument++, register_type(p.type));
      };
      Register r{slot(), nullptr};
      if (is_complex(p.type)) r.im = slot();
      values_[p.name] = r;
    }
    begin_ = &*argument++;
    end_ = &*argument++;
    stop_ = &*argument++;
    thread_ = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {});
    is_function_ = kernel.function;
    if (kernel.fast_math) b_.setFastMathFlags(llvm::FastMathFlags::getFast());
    statements(kernel.body);
    b_.CreateRetVoid();
    if (kernel.function) llvm::EliminateUnreachableBlocks(*function_);
  }

 private:
  /// Says something about the kernel to the code generator, once.
  void annotate(const std::string& what, int value) {
    if (!annotated_.insert(what).second) return;
    module_.getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(llvm::MDNode::get(context_, {llvm::ValueAsMetadata::get(function_), llvm::MDString::get(context_, what),
                                                  llvm::ConstantAsMetadata::get(b_.getInt32(static_cast<uint32_t>(value)))}));
  }

  void statement(const Stmt& s) override {
    if (s.kind == StmtKind::let) lets_[s.name] = s.value;
    Emitter::statement(s);
  }

  // ---- loops ----
  void loop(const Stmt& s) override {
    if (s.loop_kind == LoopKind::unit) return grid_units(s);
    if (is_function_) return function_loop(s);
    if (s.width) return group_loop(s);
    llvm::Value* first = value(s.begin).re;
    llvm::Value* last = value(s.end).re;
    thread_loop(s, first, last, b_.getInt64(1));
  }

  llvm::Value* special_register(llvm::Intrinsic::ID id) { return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty()); }

  /// The block's share of the units. The first thread asks for the stop flag when a unit begins and all hear the answer when it ends.
  void grid_units(const Stmt& s) {
    llvm::BasicBlock *before = b_.GetInsertBlock(), *body = block("unit"), *exit = block("exit");
    llvm::Value* first = b_.CreateNSWAdd(begin_, special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x));
    llvm::Value* step = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
    b_.CreateCondBr(b_.CreateICmpSLT(first, end_), body, exit);
    b_.SetInsertPoint(body);
    llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2, s.name);
    i->addIncoming(first, before);
    values_[s.name] = {i, nullptr};
    // Registers are what tiles lack: their blocks ask in the end, and have seldom another unit. Reductions, whose blocks have many, are no
    // slower for it: the largest of bytes takes 490 us on an H200, 530 when asked in the beginning.
    const bool late = std::any_of(s.body.begin(), s.body.end(), has_while);
    if (late) statements(s.body);
    // A block that has no other unit need not know.
    llvm::Value* next = b_.CreateNSWAdd(i, step);
    llvm::Value* asks = b_.CreateAnd(b_.CreateICmpEQ(thread_, b_.getInt32(0)), b_.CreateICmpSLT(next, end_));
    llvm::BasicBlock *ask = block("ask"), *run = block("run"), *asking = b_.GetInsertBlock();
    b_.CreateCondBr(asks, ask, run);
    b_.SetInsertPoint(ask);
    llvm::Value* flag = b_.CreateLoad(b_.getInt32Ty(), stop_, true);
    b_.CreateBr(run);
    b_.SetInsertPoint(run);
    llvm::PHINode* answer = b_.CreatePHI(b_.getInt32Ty(), 2, "stop");
    answer->addIncoming(flag, ask);
    answer->addIncoming(b_.getInt32(0), asking);
    if (!late) statements(s.body);
    llvm::Value* stop = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0_or, {}, {answer});
    i->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateAnd(b_.CreateICmpSLT(next, end_), b_.CreateICmpEQ(stop, b_.getInt32(0))), body, exit);
    b_.SetInsertPoint(exit);
  }

  /// A loop of a compiled function: one iteration after the other, since its statements may leave. An error ends the thread's share of the
  /// loop, and the thread goes on where the block's threads come together; a GPU's code never traps.
  void function_loop(const Stmt& s) {
    llvm::Value *first = value(s.begin).re, *last = value(s.end).re, *step = b_.getInt64(1);
    if (s.width) {
      const bool within = s.loop_kind == LoopKind::within;
      llvm::Value* thread = b_.CreateZExt(thread_, b_.getInt64Ty());
      llvm::Value* width = value(s.width).re;
      step = within ? width : b_.CreateUDiv(b_.getInt64(static_cast<uint64_t>(threads_)), width);
      first = b_.CreateNSWAdd(first, within ? b_.CreateURem(thread, width) : b_.CreateUDiv(thread, width));
    }
    if (s.loop_kind != LoopKind::within) return void(counted_loop(s, first, last, step));
    llvm::BasicBlock* together = block("together");
    with_raises(together, [&] { counted_loop(s, first, last, step); });
    b_.CreateBr(together);
    b_.SetInsertPoint(together);
  }

  /// A thread's share of a loop over groups of threads.
  void group_loop(const Stmt& s) {
    llvm::Value* width = b_.CreateTrunc(value(s.width).re, b_.getInt32Ty());
    const bool within = s.loop_kind == LoopKind::within;
    llvm::Value* rank = within ? b_.CreateAnd(thread_, b_.CreateSub(width, b_.getInt32(1))) : b_.CreateUDiv(thread_, width);
    llvm::Value* groups = within ? width : b_.CreateUDiv(b_.getInt32(static_cast<uint32_t>(threads_)), width);
    llvm::Value *first = b_.CreateNSWAdd(value(s.begin).re, b_.CreateZExt(rank, b_.getInt64Ty())), *last = value(s.end).re;
    // A thread that goes on for long (plan/lower_tiles.cpp): as many registers as leave loads enough under way.
    if (std::any_of(s.body.begin(), s.body.end(), has_while)) annotate("minctasm", kThreadsOfTiles / threads_);
    if (const int64_t rounds = whole_rounds(s); rounds > 0) {  // no loop: the elements' registers stay apart
      std::vector<Scope> scopes;
      for (int64_t k = 0; k < rounds; ++k) {
        scopes.push_back({values_, variables_});
        scopes.back().values[s.name] = {b_.CreateNSWAdd(first, b_.getInt64(static_cast<uint64_t>(k * s.width->value.i))), nullptr};
      }
      return side_by_side(s.body, scopes, s.name);
    }
    if (at_most_once(s)) {
      llvm::BasicBlock *mine = block("mine"), *join = block("join");
      b_.CreateCondBr(b_.CreateICmpSLT(first, last), mine, join);
      b_.SetInsertPoint(mine);
      values_[s.name] = {first, nullptr};
      statements(s.body);
      b_.CreateBr(join);
      b_.SetInsertPoint(join);
      return;
    }
    thread_loop(s, first, last, b_.CreateZExt(groups, b_.getInt64Ty()));
  }

  /// How often every thread runs the body of a loop over a constant range, where that is the same for all and seldom; else 0.
  static int64_t whole_rounds(const Stmt& s) {
    constexpr int64_t kMost = 4;
    for (const ExprRef& e : {s.width, s.begin, s.end})
      if (e->kind != ExprKind::constant) return 0;
    const int64_t count = s.end->value.i - s.begin->value.i, width = s.width->value.i;
    return s.loop_kind == LoopKind::within && count % width == 0 && count / width <= kMost ? count / width : 0;
  }

  static bool has_while(const ir::StmtRef& s) {
    return s->kind == StmtKind::while_ || std::any_of(s->body.begin(), s->body.end(), has_while);
  }
  /// Of a multiprocessor: 80 registers each. On an H200 a mean of 3 x 3 f64 takes 1.64 ms with tiles of eight rows then, 1.77 with
  /// four, 1.85 with four and 64 registers; seven points in three axes 2.12 and 2.34 ms.
  static constexpr int kThreadsOfTiles = 768;

  /// Whether no thread comes twice.
  static bool at_most_once(const Stmt& s) {
    for (const ExprRef& e : {s.width, s.begin, s.end})
      if (e->kind != ExprKind::constant) return false;
    return s.loop_kind == LoopKind::within && s.end->value.i - s.begin->value.i <= s.width->value.i;
  }

  /// What names mean in one of several elements that a thread computes side by side.
  struct Scope {
    std::unordered_map<std::string, Register> values;
    std::unordered_map<std::string, Variable> variables;
  };
  void in(Scope& scope, const std::function<void()>& f) {
    const auto swap = [&] {
      std::swap(values_, scope.values);
      std::swap(variables_, scope.variables);
    };
    swap();
    f();
    swap();
  }
  /// A thread's elements, each statement for all of them before the next: what a serial loop loads for the one does not wait for what it
  /// loads for the other, with the code of one loop.
  void side_by_side(const ir::Body& body, std::vector<Scope>& scopes, const std::string& element) {
    std::set<std::string> own{element};
    if (scopes.size() > 1 && !collect_names(body, own)) {
      for (Scope& scope : scopes) in(scope, [&] { statements(body); });
      return;
    }
    for (const ir::StmtRef& s : body) {
      const uint32_t rounds = s->kind == StmtKind::loop ? rounds_together(*s).count : 0;
      if (rounds < 2 || scopes.size() < 2 || !alike(*s, own)) {
        for (Scope& scope : scopes) in(scope, [&] { statement(*s); });
        continue;
      }
      llvm::Value *first = nullptr, *last = nullptr;
      in(scopes[0], [&] { first = value(s->begin).re, last = value(s->end).re; });
      llvm::BranchInst* back = counted_loop(s->name, first, last, b_.getInt64(1), [&](llvm::Value* i) {
        for (Scope& scope : scopes) scope.values[s->name] = {i, nullptr};
        for (const ir::StmtRef& inner : s->body)
          for (Scope& scope : scopes) in(scope, [&] { statement(*inner); });
      });
      unroll(back, (rounds + static_cast<uint32_t>(scopes.size()) - 1) / static_cast<uint32_t>(scopes.size()));
    }
  }
  /// What a body declares; false where it has memory of its own, which the scopes do not tell apart.
  static bool collect_names(const ir::Body& body, std::set<std::string>& names) {
    for (const ir::StmtRef& s : body) {
      if (s->kind == StmtKind::local_array) return false;
      names.insert(s->name);
      if (!collect_names(s->body, names) || !collect_names(s->orelse, names)) return false;
    }
    return true;
  }
  /// Whether a loop goes over the same range for all elements: its bounds are made of nothing that is `own` to one.
  static bool alike(const Stmt& s, const std::set<std::string>& own) {
    bool same = true;
    for (const ExprRef& bound : {s.begin, s.end})
      ir::visit(bound, [&](const Expr& part) {
        same = same && part.kind != ExprKind::load && !(part.kind == ExprKind::variable && own.count(part.name));
      });
    return same;
  }

  void thread_loop(const Stmt& s, llvm::Value* first, llvm::Value* last, llvm::Value* step) {
    const Rounds rounds = rounds_together(s);
    if (rounds.side_by_side) return pairs_loop(s, first, last, step);
    unroll(counted_loop(s, first, last, step), rounds.count);
  }

  /// How many rounds of a thread's loop are done at a time: more loads under way, more registers.
  struct Rounds {
    uint32_t count;
    bool side_by_side = false;  // two, statement by statement; else one after the other
  };
  /// Measured on an H200: serial loops that gather (std, sum) reach 51 and 73 % of the reading bandwidth with one, 95 % with eight. Loops
  /// over elements gain little when they compute little (x*2 + 1, a stencil); one after the other, not with branches between the rounds
  /// (sin, exp); side by side these gain a tenth and more.
  Rounds rounds_together(const Stmt& s) const {
    if (has_few_rounds(s)) return {1};
    uint32_t loads = 0;
    double cost = 0;
    bool lets_then_stores = true, stores = false;
    for (const ir::StmtRef& inner : s.body) {
      if (inner->kind == StmtKind::loop || inner->kind == StmtKind::while_ || inner->kind == StmtKind::if_ ||
          inner->kind == StmtKind::barrier)
        return {1};
      stores = stores || inner->kind == StmtKind::store;
      lets_then_stores = lets_then_stores && inner->kind == (stores ? StmtKind::store : StmtKind::let);
      for (const ExprRef& e : ir::expressions_of(*inner))
        ir::visit(e, [&](const Expr& part) {
          loads += part.kind == ExprKind::load;
          if (part.kind == ExprKind::op) cost += info(part.op).cost;
        });
    }
    if (s.loop_kind == LoopKind::within) {
      if (loads > 2) return {1};
      return cost <= 12 ? Rounds{4} : Rounds{1, lets_then_stores && cost <= kMostSideBySide};
    }
    // A block has 16 rows of lanes, or 15 after the one that fills them.
    const bool all_rows = s.begin->kind == ExprKind::constant && s.begin->value.i == 0;
    if (cost > 48) return {1};
    return {std::max(1U, (all_rows ? 8U : 5U) / std::max(1U, loads))};
  }
  /// The remainder of another loop, which is not worth more code.
  bool has_few_rounds(const Stmt& s) const {
    constexpr int64_t kFew = 3;
    if (s.end->kind != ExprKind::variable || s.begin->kind != ExprKind::constant || s.begin->value.i != 0) return false;
    const auto let = lets_.find(s.end->name);
    if (let == lets_.end() || let->second->kind != ExprKind::op) return false;
    const Expr& bound = *let->second;
    if ((bound.op != ScalarOp::mod && bound.op != ScalarOp::bit_and) || bound.args[1]->kind != ExprKind::constant) return false;
    const int64_t most = bound.args[1]->value.i - (bound.op == ScalarOp::mod);
    const int64_t width = s.width && s.width->kind == ExprKind::constant ? s.width->value.i : 1;
    return most >= 0 && most / width < kFew + (most % width == 0);
  }
  static constexpr int kBusyThreads =
      1280;  // of the 2048 (sm_75: 1024) that a multiprocessor can have: 48 registers each. With 40 sin spills some
  static constexpr double kMostSideBySide = 100;  // beyond it two rounds lack registers

  /// Iterations two and two, what the second does beside what the first does, stored when both are done. Where one of them has a rare
  /// argument (math_functions.h), and at the end, they come one by one; the bits are the same.
  void pairs_loop(const Stmt& s, llvm::Value* first, llvm::Value* last, llvm::Value* step) {
    llvm::BasicBlock *before = b_.GetInsertBlock(), *head = block("pairs"), *both = block("both"), *stores = block("stores"),
                     *rest = block("rest"), *one = block("one"), *after = block("after"), *exit = block("exit");
    auto back_to_head = [&](llvm::PHINode* i, llvm::Value* second) {
      i->addIncoming(b_.CreateNSWAdd(second, step), b_.GetInsertBlock());
      b_.CreateBr(head)->setMetadata(llvm::LLVMContext::MD_loop, unroll_metadata(1));
    };
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 3, s.name);
    i->addIncoming(first, before);
    llvm::Value* second = b_.CreateNSWAdd(i, step);
    b_.CreateCondBr(b_.CreateICmpSLT(second, last), both, rest);

    b_.SetInsertPoint(both);
    const Places around = places_;
    std::unordered_map<std::string, Register> other = values_;
    values_[s.name] = {i, nullptr};
    other[s.name] = {second, nullptr};
    auto side_by_side = [&](StmtKind kind) {
      for (const ir::StmtRef& inner : s.body)
        if (inner->kind == kind)
          for (int lane = 0; lane < 2; ++lane) {
            statement(*inner);
            std::swap(values_, other);
          }
    };
    rare_ = b_.getFalse();
    side_by_side(StmtKind::let);
    // The functions for rare arguments must not take the registers that let enough threads run.
    if (rare_ != b_.getFalse()) annotate("minctasm", kBusyThreads / threads_);
    b_.CreateCondBr(rare_, rest, stores);
    rare_ = nullptr;
    b_.SetInsertPoint(stores);
    side_by_side(StmtKind::store);
    back_to_head(i, second);

    b_.SetInsertPoint(rest);
    b_.CreateCondBr(b_.CreateICmpSLT(i, last), one, exit);
    b_.SetInsertPoint(one);
    places_ = around;
    llvm::PHINode* k = b_.CreatePHI(b_.getInt64Ty(), 2);
    k->addIncoming(i, rest);
    values_[s.name] = {k, nullptr};
    statements(s.body);
    llvm::Value* next = b_.CreateNSWAdd(k, step);
    k->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateAnd(b_.CreateICmpSLE(next, second), b_.CreateICmpSLT(next, last)), one, after)
        ->setMetadata(llvm::LLVMContext::MD_loop, unroll_metadata(1));
    b_.SetInsertPoint(after);
    back_to_head(i, second);
    b_.SetInsertPoint(exit);
  }

  /// The levels of a tree are not where the time goes: one copy of their code is enough where it is wanted soon.
  void repeats(const Stmt& s, llvm::BranchInst* back) override {
    if (target_.soon && has_loops(s.body)) unroll(back, 1);
  }
  static bool has_loops(const ir::Body& body) {
    return std::any_of(body.begin(), body.end(), [](const ir::StmtRef& s) { return s->kind == StmtKind::loop; });
  }

  void unroll(llvm::BranchInst* back, uint32_t count) { back->setMetadata(llvm::LLVMContext::MD_loop, unroll_metadata(count)); }
  llvm::MDNode* unroll_metadata(uint32_t count) {
    auto* unroll = llvm::MDNode::get(
        context_, {llvm::MDString::get(context_, "llvm.loop.unroll.count"), llvm::ConstantAsMetadata::get(b_.getInt32(count))});
    llvm::MDNode* id = llvm::MDNode::getDistinct(context_, {nullptr, unroll});
    id->replaceOperandWith(0, id);
    return id;
  }

  // ---- shared memory ----
  Array local_array(const Stmt& s) override {
    if (s.space == ir::Space::automatic) return automatic_array(s);
    return {shared_memory(s), s.type, s.name};
  }

  llvm::Value* shared_memory(const Stmt& s) {
    llvm::GlobalVariable* memory = module_.getNamedGlobal("shared");
    if (!memory) {
      memory = new llvm::GlobalVariable(module_, llvm::ArrayType::get(b_.getInt8Ty(), 0), false, llvm::GlobalValue::ExternalLinkage,
                                        nullptr, "shared", nullptr, llvm::GlobalValue::NotThreadLocal, kSharedMemory);
      memory->setAlignment(llvm::Align(16));
    }
    const int64_t bytes = (s.size * gasell::size_of(s.type) + 15) / 16 * 16;
    llvm::Value* offset = b_.getInt64(static_cast<uint64_t>(shared_used_));
    if (s.space == ir::Space::warp)
      offset = b_.CreateNSWAdd(
          offset, b_.CreateNSWMul(b_.CreateZExt(b_.CreateLShr(thread_, 5), b_.getInt64Ty()), b_.getInt64(static_cast<uint64_t>(bytes))));
    shared_used_ += s.space == ir::Space::warp ? bytes * (threads_ / 32) : bytes;
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), memory, offset);
  }

  void barrier(ir::Space space) override {
    if (space == ir::Space::block)
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
    else
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {b_.getInt32(~0U)});
  }

  llvm::Value *begin_ = nullptr, *end_ = nullptr, *stop_ = nullptr;  // stop_: the stop flag's address
  llvm::Value* thread_ = nullptr;                                    // this thread's number in its block
  int threads_ = 0;                                                  // of a block
  bool is_function_ = false;                                         // ir::Kernel::function
  std::set<std::string> annotated_;
  std::unordered_map<std::string, ExprRef> lets_;
  int64_t shared_used_ = 0;  // bytes of shared memory given out
};

}  // namespace

std::unique_ptr<Emitter> make_grid_emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target) {
  return std::make_unique<GridEmitter>(context, module, target);
}

}  // namespace gasell
