#include "compiler/codegen/emit.h"

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "compiler/codegen/operations.h"
#include "compiler/ir/transform.h"

namespace gasell {
namespace {

using ir::Body;
using ir::Expr;
using ir::ExprKind;
using ir::ExprRef;
using ir::LoopKind;
using ir::Stmt;
using ir::StmtKind;

class Emitter : Operations {
 public:
  Emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target) : Operations(context, module, target), context_(context) {}

  void emit(const ir::Kernel& kernel, const std::string& symbol) {
    threads_ = kernel.threads;
    if (target_.grid) return emit_grid_kernel(kernel, symbol);
    llvm::Function* body = emit_body(kernel, symbol + ".body");
    emit_wrapper(kernel, symbol, body);
  }

 private:
  // ---- the kernel's functions ----
  llvm::Function* emit_body(const ir::Kernel& kernel, const std::string& name) {
    std::vector<llvm::Type*> types;
    for (const ir::Parameter& p : kernel.params) {
      if (p.kind != ir::Parameter::Kind::scalar) {
        types.push_back(b_.getPtrTy());
      } else {
        types.push_back(register_type(p.type));
        if (is_complex(p.type)) types.push_back(register_type(p.type));
      }
    }
    types.insert(types.end(), {b_.getInt64Ty(), b_.getInt64Ty()});
    if (target_.check_bounds)
      for (const ir::Parameter& p : kernel.params)
        if (p.kind != ir::Parameter::Kind::scalar) types.insert(types.end(), {b_.getPtrTy(), b_.getPtrTy()});
    auto* function = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false), llvm::Function::InternalLinkage, name, module_);
    // Kept apart from the wrapper: `noalias` of parameters is stronger than what survives inlining.
    function->addFnAttr(llvm::Attribute::NoInline);
    set_target(function);
    function_ = function;
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function));
    auto argument = function->arg_begin();
    for (const ir::Parameter& p : kernel.params) {
      if (p.kind != ir::Parameter::Kind::scalar) {
        argument->addAttr(llvm::Attribute::NoAlias);
        argument->addAttr(llvm::Attribute::NoCapture);
        if (p.kind == ir::Parameter::Kind::in) argument->addAttr(llvm::Attribute::ReadOnly);
        arrays_[p.name] = {&*argument++, p.type, p.name};
      } else {
        Register r{&*argument++, nullptr};
        if (is_complex(p.type)) r.im = &*argument++;
        values_[p.name] = r;
      }
    }
    begin_ = &*argument++;
    end_ = &*argument++;
    if (target_.check_bounds) {
      kernel_name_ = kernel.name;
      for (const ir::Parameter& p : kernel.params) {
        if (p.kind == ir::Parameter::Kind::scalar) continue;
        arrays_[p.name].memory_begin = &*argument++;
        arrays_[p.name].memory_end = &*argument++;
      }
    }
    if (kernel.body.empty() || !contains_units(kernel.body)) {
      guard_whole(kernel.body);
    } else {
      statements(kernel.body);
    }
    b_.CreateRetVoid();
    return function;
  }

  /// A kernel of a grid: all parameters are 8 bytes, in order array addresses, scalar slots, begin, end, the address of the stop flag. Blocks walk the units
  /// grid-stride and end after the one in which they find the flag set.
  void emit_grid_kernel(const ir::Kernel& kernel, const std::string& symbol) {
    llvm::Type *i64 = b_.getInt64Ty(), *global = b_.getPtrTy(kGlobalMemory);
    std::vector<llvm::Type*> types;
    for (const ir::Parameter& p : kernel.params)
      if (p.kind != ir::Parameter::Kind::scalar) types.push_back(global);
    for (const ir::Parameter& p : kernel.params)
      if (p.kind == ir::Parameter::Kind::scalar)
        types.insert(types.end(), is_complex(p.type) ? 2 : 1, kind(p.type) == 'f' || kind(p.type) == 'c' ? b_.getDoubleTy() : i64);
    types.insert(types.end(), {i64, i64, global});
    function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false), llvm::Function::ExternalLinkage, symbol, module_);
    function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    auto annotate = [&](const char* what, int value) {
      module_.getOrInsertNamedMetadata("nvvm.annotations")
          ->addOperand(llvm::MDNode::get(context_, {llvm::ValueAsMetadata::get(function_), llvm::MDString::get(context_, what),
                                                    llvm::ConstantAsMetadata::get(b_.getInt32(static_cast<uint32_t>(value)))}));
    };
    annotate("kernel", 1);
    annotate("maxntidx", threads_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
    auto argument = function_->arg_begin();
    for (const ir::Parameter& p : kernel.params) {
      if (p.kind == ir::Parameter::Kind::scalar) continue;
      argument->addAttr(llvm::Attribute::NoAlias);
      argument->addAttr(llvm::Attribute::NoCapture);
      if (p.kind == ir::Parameter::Kind::in) argument->addAttr(llvm::Attribute::ReadOnly);
      arrays_[p.name] = {&*argument++, p.type, p.name};
      arrays_[p.name].fixed = p.kind == ir::Parameter::Kind::in;
    }
    for (const ir::Parameter& p : kernel.params) {
      if (p.kind != ir::Parameter::Kind::scalar) continue;
      const bool real = kind(p.type) == 'f' || kind(p.type) == 'c';
      auto slot = [&] { return real ? b_.CreateFPTrunc(&*argument++, register_type(p.type)) : b_.CreateTrunc(&*argument++, register_type(p.type)); };
      Register r{slot(), nullptr};
      if (is_complex(p.type)) r.im = slot();
      values_[p.name] = r;
    }
    begin_ = &*argument++;
    end_ = &*argument++;
    stop_ = &*argument++;
    thread_ = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {});
    statements(kernel.body);
    b_.CreateRetVoid();
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
    llvm::BasicBlock *ask = block("ask"), *run = block("run"), *asking = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpEQ(thread_, b_.getInt32(0)), ask, run);
    b_.SetInsertPoint(ask);
    llvm::Value* flag = b_.CreateLoad(b_.getInt32Ty(), stop_, true);
    b_.CreateBr(run);
    b_.SetInsertPoint(run);
    llvm::PHINode* answer = b_.CreatePHI(b_.getInt32Ty(), 2, "stop");
    answer->addIncoming(flag, ask);
    answer->addIncoming(b_.getInt32(0), asking);
    statements(s.body);
    llvm::Value* stop = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0_or, {}, {answer});
    llvm::Value* next = b_.CreateNSWAdd(i, step);
    i->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateAnd(b_.CreateICmpSLT(next, end_), b_.CreateICmpEQ(stop, b_.getInt32(0))), body, exit);
    b_.SetInsertPoint(exit);
  }

  /// A thread's share of a loop over groups of threads.
  void group_loop(const Stmt& s) {
    llvm::Value* width = b_.CreateTrunc(value(s.width).re, b_.getInt32Ty());
    const bool within = s.loop_kind == LoopKind::within;
    llvm::Value* rank = within ? b_.CreateAnd(thread_, b_.CreateSub(width, b_.getInt32(1))) : b_.CreateUDiv(thread_, width);
    llvm::Value* groups = within ? width : b_.CreateUDiv(b_.getInt32(static_cast<uint32_t>(threads_)), width);
    llvm::Value *first = b_.CreateNSWAdd(value(s.begin).re, b_.CreateZExt(rank, b_.getInt64Ty())), *last = value(s.end).re;
    if (const int64_t rounds = whole_rounds(s); rounds > 0) {  // no loop: the element's registers stay apart
      for (int64_t k = 0; k < rounds; ++k) {
        values_[s.name] = {b_.CreateNSWAdd(first, b_.getInt64(static_cast<uint64_t>(k * s.width->value.i))), nullptr};
        statements(s.body);
      }
      return;
    }
    counted_loop(s, first, last, b_.CreateZExt(groups, b_.getInt64Ty()));
  }

  /// How often every thread runs the body of a loop over a constant range, where that is the same for all and seldom; else 0.
  static int64_t whole_rounds(const Stmt& s) {
    constexpr int64_t kMost = 4;
    for (const ExprRef& e : {s.width, s.begin, s.end})
      if (e->kind != ExprKind::constant) return 0;
    const int64_t count = s.end->value.i - s.begin->value.i, width = s.width->value.i;
    return s.loop_kind == LoopKind::within && count % width == 0 && count / width <= kMost ? count / width : 0;
  }

  llvm::Value* shared_memory(const Stmt& s) {
    llvm::GlobalVariable* memory = module_.getNamedGlobal("shared");
    if (!memory) {
      memory = new llvm::GlobalVariable(module_, llvm::ArrayType::get(b_.getInt8Ty(), 0), false, llvm::GlobalValue::ExternalLinkage, nullptr, "shared", nullptr,
                                        llvm::GlobalValue::NotThreadLocal, kSharedMemory);
      memory->setAlignment(llvm::Align(16));
    }
    const int64_t bytes = (s.size * gasell::size_of(s.type) + 15) / 16 * 16;
    llvm::Value* offset = b_.getInt64(static_cast<uint64_t>(shared_used_));
    if (s.space == ir::Space::warp) offset = b_.CreateNSWAdd(offset, b_.CreateNSWMul(b_.CreateZExt(b_.CreateLShr(thread_, 5), b_.getInt64Ty()), b_.getInt64(static_cast<uint64_t>(bytes))));
    shared_used_ += s.space == ir::Space::warp ? bytes * (threads_ / 32) : bytes;
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), memory, offset);
  }

  static bool contains_units(const Body& body) {
    for (const ir::StmtRef& s : body)
      if (s->kind == StmtKind::loop && s->loop_kind == LoopKind::unit) return true;
    return false;
  }

  /// A kernel without units runs whole with the range that begins at 0.
  void guard_whole(const Body& body) {
    llvm::BasicBlock* run = block("whole");
    llvm::BasicBlock* done = block("done");
    b_.CreateCondBr(b_.CreateICmpEQ(begin_, b_.getInt64(0)), run, done);
    b_.SetInsertPoint(run);
    statements(body);
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }

  void emit_wrapper(const ir::Kernel& kernel, const std::string& symbol, llvm::Function* body) {
    llvm::Type* i64 = b_.getInt64Ty();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), i64, i64}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module_);
    set_target(function);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function));
    std::vector<llvm::Value*> arguments;
    unsigned array = 0, slot = 0;
    auto array_entry = [&](unsigned k) { return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), function->getArg(0), k)); };
    auto next_slot = [&](llvm::Type* as) { return b_.CreateLoad(as, b_.CreateConstGEP1_64(i64, function->getArg(1), slot++)); };
    for (const ir::Parameter& p : kernel.params) {
      if (p.kind != ir::Parameter::Kind::scalar) {
        arguments.push_back(array_entry(array++));
        continue;
      }
      if (kind(p.type) == 'f' || kind(p.type) == 'c') {
        for (int part = 0; part < (is_complex(p.type) ? 2 : 1); ++part)
          arguments.push_back(b_.CreateFPTrunc(next_slot(b_.getDoubleTy()), register_type(p.type)));
      } else {
        arguments.push_back(b_.CreateTrunc(next_slot(i64), register_type(p.type)));
      }
    }
    arguments.insert(arguments.end(), {function->getArg(2), function->getArg(3)});
    if (target_.check_bounds)
      for (unsigned k = 0; k < array; ++k) arguments.insert(arguments.end(), {array_entry(array + k), array_entry(2 * array + k)});
    b_.CreateCall(body, arguments);
    b_.CreateRetVoid();
  }

  void set_target(llvm::Function* function) {
    function->addFnAttr("target-cpu", target_.cpu);
    function->addFnAttr("target-features", target_.features);
    if (target_.vector_bits) {
      function->addFnAttr("prefer-vector-width", std::to_string(target_.vector_bits));
      function->addFnAttr("min-legal-vector-width", std::to_string(target_.vector_bits));
    }
    // Only a frame with a pointer of its own can be aligned for spilled vectors, which are slow where they straddle cache lines.
    function->addFnAttr("frame-pointer", "all");
    function->addFnAttr(llvm::Attribute::NoUnwind);
  }

  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(context_, name, function_); }

  // ---- statements ----
  void statements(const Body& body) {
    for (const ir::StmtRef& s : body) statement(*s);
  }

  void statement(const Stmt& s) {
    switch (s.kind) {
      case StmtKind::let: values_[s.name] = value(s.value); break;
      case StmtKind::var: {
        const int parts = is_complex(s.type) ? 2 : 1;
        Variable v{{}, s.type};
        for (int k = 0; k < parts; ++k) v.parts[k] = entry_alloca(register_type(s.type), 8);
        variables_[s.name] = v;
        write_variable(v, value(s.value));
        break;
      }
      case StmtKind::assign: write_variable(variables_.at(s.name), value(s.value)); break;
      case StmtKind::local_array: {
        if (target_.grid && s.space != ir::Space::automatic) {
          arrays_[s.name] = {shared_memory(s), s.type, s.name};
          break;
        }
        const auto count = static_cast<uint64_t>(s.size) * (is_complex(s.type) ? 2 : 1);
        llvm::Type* memory = llvm::ArrayType::get(element_type(s.type), count);
        llvm::Value* pointer = entry_alloca(memory, 64);
        arrays_[s.name] = {pointer, s.type, s.name, pointer, b_.CreateConstGEP1_64(memory, pointer, 1)};
        break;
      }
      case StmtKind::store: {
        const Array& array = arrays_.at(s.name);
        llvm::Value* index = value(s.index).re;
        store_element(array, index, value(s.value));
        break;
      }
      case StmtKind::loop: loop(s); break;
      case StmtKind::if_: {
        llvm::BasicBlock *then = block("then"), *orelse = block("else"), *join = block("join");
        b_.CreateCondBr(value(s.value).re, then, orelse);
        b_.SetInsertPoint(then);
        statements(s.body);
        b_.CreateBr(join);
        b_.SetInsertPoint(orelse);
        statements(s.orelse);
        b_.CreateBr(join);
        b_.SetInsertPoint(join);
        break;
      }
      case StmtKind::while_: {
        llvm::BasicBlock *head = block("while"), *body = block("body"), *exit = block("exit");
        b_.CreateBr(head);
        b_.SetInsertPoint(head);
        b_.CreateCondBr(value(s.value).re, body, exit);
        b_.SetInsertPoint(body);
        statements(s.body);
        b_.CreateBr(head);
        b_.SetInsertPoint(exit);
        break;
      }
      case StmtKind::barrier:
        if (!target_.grid) break;  // the threads of a group run one after the other
        if (s.space == ir::Space::block) b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
        else b_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {b_.getInt32(~0U)});
        break;
    }
  }

  void loop(const Stmt& s) {
    const bool units = s.loop_kind == LoopKind::unit;
    if (target_.grid && units) return grid_units(s);
    if (target_.grid && s.width) return group_loop(s);
    llvm::Value* first = units ? begin_ : value(s.begin).re;
    llvm::Value* last = units ? end_ : value(s.end).re;
    counted_loop(s, first, last, b_.getInt64(1));
  }

  void counted_loop(const Stmt& s, llvm::Value* first, llvm::Value* last, llvm::Value* step) {
    llvm::MDNode* outer_group = access_group_;
    const bool simd = s.loop_kind == LoopKind::simd && !target_.grid;
    if (simd) access_group_ = llvm::MDNode::getDistinct(context_, {});
    llvm::BasicBlock *before = b_.GetInsertBlock(), *body = block("loop"), *exit = block("exit");
    b_.CreateCondBr(b_.CreateICmpSLT(first, last), body, exit);
    b_.SetInsertPoint(body);
    llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2, s.name);
    i->addIncoming(first, before);
    values_[s.name] = {i, nullptr};
    statements(s.body);
    llvm::Value* next = b_.CreateNSWAdd(i, step);
    i->addIncoming(next, b_.GetInsertBlock());
    llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(next, last), body, exit);
    if (target_.grid) back->setMetadata(llvm::LLVMContext::MD_loop, unroll_metadata(rounds_together(s)));
    if (simd && !target_.check_bounds) back->setMetadata(llvm::LLVMContext::MD_loop, simd_metadata(llvm::isa<llvm::ConstantInt>(first) && llvm::isa<llvm::ConstantInt>(last)));
    b_.SetInsertPoint(exit);
    access_group_ = outer_group;
  }

  /// How many rounds of a thread's loop are done at a time: more loads under way, more registers. Measured on an H200: serial loops that gather (std, sum)
  /// reach 51 and 73 % of the reading bandwidth with one, 95 % with eight; spread loops (x*2 + 1, a stencil, exp) gain nothing and lose with what they compute.
  static uint32_t rounds_together(const Stmt& s) {
    size_t loads = 0;
    double cost = 0;
    for (const ir::StmtRef& inner : s.body) {
      if (inner->kind == StmtKind::loop || inner->kind == StmtKind::while_ || inner->kind == StmtKind::if_ || inner->kind == StmtKind::barrier) return 1;
      for (const ExprRef& e : ir::expressions_of(*inner))
        ir::visit(e, [&](const Expr& part) {
          loads += part.kind == ExprKind::load;
          if (part.kind == ExprKind::op) cost += info(part.op).cost;
        });
    }
    if (s.loop_kind == LoopKind::within) return loads <= 2 && cost <= 12 ? 4 : 1;
    // A block has 16 rows of lanes, or 15 after the one that fills them.
    const bool all_rows = s.begin->kind == ExprKind::constant && s.begin->value.i == 0;
    return cost > 48 ? 1 : all_rows ? 8 : 5;
  }
  llvm::MDNode* unroll_metadata(uint32_t count) {
    auto* unroll = llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.unroll.count"), llvm::ConstantAsMetadata::get(b_.getInt32(count))});
    llvm::MDNode* id = llvm::MDNode::getDistinct(context_, {nullptr, unroll});
    id->replaceOperandWith(0, id);
    return id;
  }

  llvm::MDNode* simd_metadata(bool short_loop) {
    auto text = [&](const char* s) { return llvm::MDString::get(context_, s); };
    auto* enable = llvm::MDNode::get(context_, {text("llvm.loop.vectorize.enable"), llvm::ConstantAsMetadata::get(b_.getTrue())});
    auto* parallel = llvm::MDNode::get(context_, {text("llvm.loop.parallel_accesses"), access_group_});
    llvm::SmallVector<llvm::Metadata*, 4> operands{nullptr, enable, parallel};
    // Two vectors at a time hide latency; LLVM leaves short loops alone.
    if (short_loop) operands.push_back(llvm::MDNode::get(context_, {text("llvm.loop.interleave.count"), llvm::ConstantAsMetadata::get(b_.getInt32(2))}));
    llvm::MDNode* id = llvm::MDNode::getDistinct(context_, operands);
    id->replaceOperandWith(0, id);
    return id;
  }

  // ---- memory ----
  struct Array {
    llvm::Value* pointer;
    DType type;
    std::string name;
    /// The first byte of the memory that `pointer` points into, and the byte behind its last; only where bounds are checked.
    llvm::Value *memory_begin = nullptr, *memory_end = nullptr;
    bool fixed = false;  // nobody writes it while the kernel runs
  };
  struct Variable {
    llvm::AllocaInst* parts[2];
    DType type;
  };

  void write_variable(const Variable& v, const Register& r) {
    b_.CreateStore(r.re, v.parts[0]);
    if (r.im) b_.CreateStore(r.im, v.parts[1]);
  }
  Register read_variable(const Variable& v) {
    Register r{b_.CreateLoad(register_type(v.type), v.parts[0]), nullptr};
    if (is_complex(v.type)) r.im = b_.CreateLoad(register_type(v.type), v.parts[1]);
    return r;
  }

  llvm::Value* address(const Array& array, llvm::Value* index, int part) {
    if (target_.check_bounds && part == 0) check_bounds(array, index);
    if (is_complex(array.type)) index = b_.CreateNSWAdd(b_.CreateShl(index, 1, "", false, true), b_.getInt64(static_cast<uint64_t>(part)));
    return b_.CreateInBoundsGEP(element_type(array.type), array.pointer, index);
  }
  /// Ends the process when the element at `index` is not within the array's memory.
  void check_bounds(const Array& array, llvm::Value* index) {
    const auto size = static_cast<uint64_t>(gasell::size_of(array.type));
    llvm::Value* first = b_.CreateGEP(b_.getInt8Ty(), array.pointer, b_.CreateMul(index, b_.getInt64(size)));
    llvm::Value* last = b_.CreateGEP(b_.getInt8Ty(), first, b_.getInt64(size));
    llvm::Value* inside = b_.CreateAnd(b_.CreateICmpUGE(first, array.memory_begin), b_.CreateICmpULE(last, array.memory_end));
    llvm::BasicBlock *bad = block("out_of_bounds"), *good = block("within_bounds");
    b_.CreateCondBr(inside, good, bad);
    b_.SetInsertPoint(bad);
    llvm::Type *ptr = b_.getPtrTy(), *i64 = b_.getInt64Ty();
    auto callee = module_.getOrInsertFunction("gasell_out_of_bounds", llvm::FunctionType::get(b_.getVoidTy(), {ptr, ptr, i64, ptr, ptr, ptr, i64}, false));
    llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotReturn();
    b_.CreateCall(callee, {b_.CreateGlobalString(kernel_name_), b_.CreateGlobalString(array.name), index, array.pointer, array.memory_begin, array.memory_end, b_.getInt64(size)});
    b_.CreateUnreachable();
    b_.SetInsertPoint(good);
  }

  template <class Instruction>
  Instruction* in_group(Instruction* access, DType type) {
    access->setAlignment(llvm::Align(static_cast<uint64_t>(gasell::size_of(real_of(type)))));
    if (access_group_) access->setMetadata(llvm::LLVMContext::MD_access_group, access_group_);
    return access;
  }
  llvm::Value* load_part(const Array& array, llvm::Value* index, int part) {
    llvm::LoadInst* load = in_group(b_.CreateLoad(element_type(array.type), address(array, index, part)), array.type);
    if (array.fixed) load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    return load;
  }
  Register load_element(const Array& array, llvm::Value* index) {
    Register r{load_part(array, index, 0), nullptr};
    if (is_complex(array.type)) r.im = load_part(array, index, 1);
    if (array.type == DType::boolean) r.re = b_.CreateICmpNE(r.re, b_.getInt8(0));
    return r;
  }
  void store_element(const Array& array, llvm::Value* index, Register r) {
    if (array.type == DType::boolean) r.re = b_.CreateZExt(r.re, b_.getInt8Ty());
    in_group(b_.CreateStore(r.re, address(array, index, 0)), array.type);
    if (r.im) in_group(b_.CreateStore(r.im, address(array, index, 1)), array.type);
  }

  // ---- expressions ----
  Register value(const ExprRef& e) {
    switch (e->kind) {
      case ExprKind::constant: return literal(e->value);
      case ExprKind::variable:
        if (auto v = variables_.find(e->name); v != variables_.end()) return read_variable(v->second);
        return values_.at(e->name);
      case ExprKind::load: {
        llvm::Value* index = value(e->args[0]).re;
        return load_element(arrays_.at(e->name), index);
      }
      case ExprKind::bitcast: return {b_.CreateBitCast(value(e->args[0]).re, register_type(e->type)), nullptr};
      case ExprKind::cast: return convert(value(e->args[0]), e->args[0]->type, e->type);
      case ExprKind::op: {
        std::vector<Register> args;
        for (const ExprRef& a : e->args) args.push_back(value(a));
        return operation(e->op, e->args[e->op == ScalarOp::select ? 1 : 0]->type, args);
      }
    }
    return {};
  }

  static constexpr unsigned kGlobalMemory = 1, kSharedMemory = 3;  // NVPTX's address spaces

  llvm::LLVMContext& context_;
  llvm::Value *begin_ = nullptr, *end_ = nullptr;
  llvm::MDNode* access_group_ = nullptr;
  // Of a grid's kernel: threads of a block, this thread's number in it, the stop flag's address, bytes of shared memory given out.
  int threads_ = 0;
  llvm::Value *thread_ = nullptr, *stop_ = nullptr;
  int64_t shared_used_ = 0;
  std::string kernel_name_;  // where bounds are checked
  std::unordered_map<std::string, Register> values_;
  std::unordered_map<std::string, Variable> variables_;
  std::unordered_map<std::string, Array> arrays_;
};

template <class T>
int64_t integer_power(int64_t base, int64_t exponent) {
  const Scalar operands[] = {Scalar::of_int(base, std::is_signed_v<T> ? DType::i64 : DType::u64), Scalar::of_int(exponent, std::is_signed_v<T> ? DType::i64 : DType::u64)};
  return evaluate(ScalarOp::pow, operands).i;
}

void evaluate_complex(int32_t op, int32_t type, double* io) {
  const auto t = static_cast<DType>(type);
  const Scalar operands[] = {Scalar::of_complex({io[0], io[1]}, t), Scalar::of_complex({io[2], io[3]}, t)};
  const Scalar result = evaluate(static_cast<ScalarOp>(op), operands);
  io[4] = result.c.real();
  io[5] = result.c.imag();
}

/// Code without unwind tables calls this, so nothing can be thrown.
[[noreturn]] void out_of_bounds(const char* kernel, const char* array, int64_t index, const char* pointer, const char* begin, const char* end, int64_t size) {
  std::fprintf(stderr, "gasell: internal error: kernel %s uses %s[%lld], which has elements %lld to %lld\n", kernel, array, static_cast<long long>(index),
               static_cast<long long>((begin - pointer) / size), static_cast<long long>((end - pointer) / size - 1));
  std::abort();
}

}  // namespace

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const ir::Kernel& kernel, const Target& target, const std::string& symbol) {
  auto module = std::make_unique<llvm::Module>(symbol, context);
  module->setTargetTriple(target.triple);
  module->setDataLayout(target.data_layout);
  Emitter(context, *module, target).emit(kernel, symbol);
  return module;
}

const std::vector<RuntimeFunction>& runtime_functions() {
  static const std::vector<RuntimeFunction> kFunctions = {{"gasell_pow_i64", reinterpret_cast<void*>(&integer_power<int64_t>)},
                                                          {"gasell_pow_u64", reinterpret_cast<void*>(&integer_power<uint64_t>)},
                                                          {"gasell_complex", reinterpret_cast<void*>(&evaluate_complex)},
                                                          {"gasell_out_of_bounds", reinterpret_cast<void*>(&out_of_bounds)}};
  return kFunctions;
}

}  // namespace gasell
