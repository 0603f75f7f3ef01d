#include "compiler/codegen/emit_host.h"

#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>

#include "compiler/ir/unrolled_size.h"

namespace gasell {

using ir::LoopKind;
using ir::Stmt;
using ir::StmtKind;

namespace {

constexpr int64_t kMostUnrolled = 300;  // operations

/// A small neighbourhood: LLVM by itself unrolls loops of half as much, and so not both loops of 3 x 3.
bool unrolls(const Stmt& s) { return ir::unrolled_size(s, kMostUnrolled) <= kMostUnrolled; }

bool contains_units(const ir::Body& body) {
  for (const ir::StmtRef& s : body)
    if (s->kind == StmtKind::loop && s->loop_kind == LoopKind::unit) return true;
  return false;
}

}  // namespace

void HostEmitter::emit(const ir::Kernel& kernel, const std::string& symbol) {
  kernel_name_ = kernel.name;
  function_kernel_ = kernel.function;
  llvm::Function* body = emit_body(kernel, symbol + ".body");
  emit_wrapper(kernel, symbol, body);
}

// ---- the kernel's functions ----
/// Takes the arrays, the scalars, begin and end of the units; where bounds are checked, the two ends of every array's memory; where races
/// are, their checker.
llvm::Function* HostEmitter::emit_body(const ir::Kernel& kernel, const std::string& name) {
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
  if (target_.check_races) types.push_back(b_.getPtrTy());
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false), llvm::Function::InternalLinkage, name, module_);
  // Kept apart from the wrapper: `noalias` of parameters is stronger than what survives inlining.
  function->addFnAttr(llvm::Attribute::NoInline);
  set_target(function);
  function_ = function;
  b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function));
  auto argument = function->arg_begin();
  for (const ir::Parameter& p : kernel.params) {
    if (p.kind != ir::Parameter::Kind::scalar) {
      if (p.kind != ir::Parameter::Kind::any) argument->addAttr(llvm::Attribute::NoAlias);
      if (!kernel.function) argument->addAttr(llvm::Attribute::NoCapture);
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
    for (const ir::Parameter& p : kernel.params) {
      if (p.kind == ir::Parameter::Kind::scalar) continue;
      arrays_[p.name].memory_begin = &*argument++;
      arrays_[p.name].memory_end = &*argument++;
    }
  }
  if (target_.check_races) checker_ = &*argument++;
  if (kernel.fast_math) b_.setFastMathFlags(llvm::FastMathFlags::getFast());
  choose_parts(kernel);
  llvm::BasicBlock* exit = block("exit");
  with_raises(exit, [&] { run(kernel); });
  b_.clearFastMathFlags();
  b_.CreateBr(exit);
  b_.SetInsertPoint(exit);
  b_.CreateRetVoid();
  if (kernel.function) llvm::EliminateUnreachableBlocks(*function);
  return function;
}

void HostEmitter::run(const ir::Kernel& kernel) {
  if (kernel.body.empty() || !contains_units(kernel.body)) {
    guard_whole(kernel.body);
  } else {
    statements(kernel.body);
  }
}

void HostEmitter::call_body(llvm::Function*, llvm::Function* body, const std::vector<llvm::Value*>& arguments) {
  b_.CreateCall(body, arguments);
}

/// A kernel without units runs whole with the range that begins at 0.
void HostEmitter::guard_whole(const ir::Body& body) {
  llvm::BasicBlock* run = block("whole");
  llvm::BasicBlock* done = block("done");
  b_.CreateCondBr(b_.CreateICmpEQ(begin_, b_.getInt64(0)), run, done);
  b_.SetInsertPoint(run);
  statements(body);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

/// The function of HostKernelFunction's type: takes the parameters out of its arrays and calls the body.
void HostEmitter::emit_wrapper(const ir::Kernel& kernel, const std::string& symbol, llvm::Function* body) {
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
        arguments.push_back(narrowed(next_slot(b_.getDoubleTy()), register_type(p.type)));
    } else {
      arguments.push_back(b_.CreateTrunc(next_slot(i64), register_type(p.type)));
    }
  }
  arguments.insert(arguments.end(), {function->getArg(2), function->getArg(3)});
  if (target_.check_bounds)
    for (unsigned k = 0; k < array; ++k) arguments.insert(arguments.end(), {array_entry(array + k), array_entry(2 * array + k)});
  if (target_.check_races) arguments.push_back(array_entry(3 * array));
  call_body(function, body, arguments);
  b_.CreateRetVoid();
}

void HostEmitter::set_target(llvm::Function* function) {
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

// ---- statements ----
void HostEmitter::loop(const Stmt& s) {
  const bool units = s.loop_kind == LoopKind::unit, simd = s.loop_kind == LoopKind::simd;
  llvm::Value* first = units ? begin_ : value(s.begin).re;
  llvm::Value* last = units ? end_ : value(s.end).re;
  llvm::MDNode* outer_group = access_group_;
  if (simd) access_group_ = llvm::MDNode::getDistinct(context_, {});
  llvm::BranchInst* back = counted_loop(s, first, last, b_.getInt64(1));
  if (function_kernel_ && !simd && unrolls(s)) unroll_fully(back);
  if (simd && !target_.check_bounds)
    back->setMetadata(llvm::LLVMContext::MD_loop, simd_metadata(llvm::isa<llvm::ConstantInt>(first) && llvm::isa<llvm::ConstantInt>(last)));
  access_group_ = outer_group;
}

llvm::MDNode* HostEmitter::simd_metadata(bool short_loop) {
  auto text = [&](const char* s) { return llvm::MDString::get(context_, s); };
  auto* enable = llvm::MDNode::get(context_, {text("llvm.loop.vectorize.enable"), llvm::ConstantAsMetadata::get(b_.getTrue())});
  auto* parallel = llvm::MDNode::get(context_, {text("llvm.loop.parallel_accesses"), access_group_});
  llvm::SmallVector<llvm::Metadata*, 4> operands{nullptr, enable, parallel};
  // Two vectors at a time hide latency; LLVM leaves short loops alone.
  if (short_loop)
    operands.push_back(llvm::MDNode::get(context_, {text("llvm.loop.interleave.count"), llvm::ConstantAsMetadata::get(b_.getInt32(2))}));
  llvm::MDNode* id = llvm::MDNode::getDistinct(context_, operands);
  id->replaceOperandWith(0, id);
  return id;
}

// ---- memory ----
void HostEmitter::touch(const Array& array, llvm::Value* index, bool) {
  if (target_.check_bounds) check_bounds(array, index);
}

/// Ends the process when the element at `index` is not within the array's memory.
void HostEmitter::check_bounds(const Array& array, llvm::Value* index) {
  const auto size = static_cast<uint64_t>(gasell::size_of(array.type));
  llvm::Value* first = b_.CreateGEP(b_.getInt8Ty(), array.pointer, b_.CreateMul(index, b_.getInt64(size)));
  llvm::Value* last = b_.CreateGEP(b_.getInt8Ty(), first, b_.getInt64(size));
  llvm::Value* inside = b_.CreateAnd(b_.CreateICmpUGE(first, array.memory_begin), b_.CreateICmpULE(last, array.memory_end));
  llvm::BasicBlock *bad = block("out_of_bounds"), *good = block("within_bounds");
  b_.CreateCondBr(inside, good, bad);
  b_.SetInsertPoint(bad);
  llvm::Type *ptr = b_.getPtrTy(), *i64 = b_.getInt64Ty();
  auto callee = module_.getOrInsertFunction("gasell_out_of_bounds",
                                            llvm::FunctionType::get(b_.getVoidTy(), {ptr, ptr, i64, ptr, ptr, ptr, i64}, false));
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotReturn();
  b_.CreateCall(callee, {b_.CreateGlobalString(kernel_name_), b_.CreateGlobalString(array.name), index, array.pointer, array.memory_begin,
                         array.memory_end, b_.getInt64(size)});
  b_.CreateUnreachable();
  b_.SetInsertPoint(good);
}

std::unique_ptr<Emitter> make_host_emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target) {
  return std::make_unique<HostEmitter>(context, module, target);
}

}  // namespace gasell
