#include "compiler/codegen/emit.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "lang/diagnostic.h"

namespace gasell {
namespace {

using ir::Body;
using ir::Expr;
using ir::ExprKind;
using ir::ExprRef;
using ir::LoopKind;
using ir::Stmt;
using ir::StmtKind;

/// A scalar in registers: booleans are i1, complex numbers a pair.
struct Register {
  llvm::Value* re = nullptr;
  llvm::Value* im = nullptr;
};

class Emitter {
 public:
  Emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target) : context_(context), module_(module), target_(target), b_(context) {}

  void emit(const ir::Kernel& kernel, const std::string& symbol) {
    llvm::Function* body = emit_body(kernel, symbol + ".body");
    emit_wrapper(kernel, symbol, body);
  }

 private:
  // ---- types ----
  llvm::Type* element_type(DType t) {
    switch (t) {
      case DType::boolean:
      case DType::i8:
      case DType::u8: return b_.getInt8Ty();
      case DType::i16:
      case DType::u16: return b_.getInt16Ty();
      case DType::i32:
      case DType::u32: return b_.getInt32Ty();
      case DType::i64:
      case DType::u64: return b_.getInt64Ty();
      case DType::f32:
      case DType::c64: return b_.getFloatTy();
      case DType::f64:
      case DType::c128: return b_.getDoubleTy();
    }
    return nullptr;
  }
  llvm::Type* register_type(DType t) { return t == DType::boolean ? b_.getInt1Ty() : element_type(t); }

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

  llvm::AllocaInst* entry_alloca(llvm::Type* type, uint64_t align) {
    llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    llvm::AllocaInst* memory = entry.CreateAlloca(type);
    memory->setAlignment(llvm::Align(align));
    return memory;
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
    }
  }

  void loop(const Stmt& s) {
    const bool units = s.loop_kind == LoopKind::unit;
    llvm::Value* first = units ? begin_ : value(s.begin).re;
    llvm::Value* last = units ? end_ : value(s.end).re;
    llvm::MDNode* outer_group = access_group_;
    if (s.loop_kind == LoopKind::simd) access_group_ = llvm::MDNode::getDistinct(context_, {});
    llvm::BasicBlock *before = b_.GetInsertBlock(), *body = block("loop"), *exit = block("exit");
    b_.CreateCondBr(b_.CreateICmpSLT(first, last), body, exit);
    b_.SetInsertPoint(body);
    llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2, s.name);
    i->addIncoming(first, before);
    values_[s.name] = {i, nullptr};
    statements(s.body);
    llvm::Value* next = b_.CreateNSWAdd(i, b_.getInt64(1));
    i->addIncoming(next, b_.GetInsertBlock());
    llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(next, last), body, exit);
    if (s.loop_kind == LoopKind::simd && !target_.check_bounds) back->setMetadata(llvm::LLVMContext::MD_loop, simd_metadata(llvm::isa<llvm::ConstantInt>(first) && llvm::isa<llvm::ConstantInt>(last)));
    b_.SetInsertPoint(exit);
    access_group_ = outer_group;
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
    return in_group(b_.CreateLoad(element_type(array.type), address(array, index, part)), array.type);
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
      case ExprKind::op: return operation(*e);
    }
    return {};
  }

  Register literal(const Scalar& s) {
    if (s.is_integral()) return {llvm::ConstantInt::get(register_type(s.type), static_cast<uint64_t>(s.i), is_signed(s.type)), nullptr};
    Register r{llvm::ConstantFP::get(register_type(s.type), s.c.real()), nullptr};
    if (is_complex(s.type)) r.im = llvm::ConstantFP::get(register_type(s.type), s.c.imag());
    return r;
  }

  llvm::Value* truth(const Register& r, DType type) {
    if (type == DType::boolean) return r.re;
    if (is_integer(type)) return b_.CreateICmpNE(r.re, llvm::ConstantInt::get(r.re->getType(), 0));
    llvm::Value* zero = llvm::ConstantFP::get(r.re->getType(), 0);
    llvm::Value* re = b_.CreateFCmpUNE(r.re, zero);
    return is_complex(type) ? b_.CreateOr(re, b_.CreateFCmpUNE(r.im, zero)) : re;
  }

  /// Scalar::cast's rules. Floats out of an integer's range give what x86's conversion gives; frozen, so that they are a value like any other.
  Register convert(const Register& r, DType from, DType to) {
    if (to == DType::boolean) return {truth(r, from), nullptr};
    llvm::Type* type = register_type(to);
    const bool from_float = is_float(from) || is_complex(from);
    if (is_integer(to)) {
      if (!from_float) return {b_.CreateIntCast(r.re, type, is_signed(from)), nullptr};
      if (to == DType::u64) {
        llvm::Value* limit = llvm::ConstantFP::get(r.re->getType(), 9223372036854775808.0);
        llvm::Value* small = b_.CreateFreeze(b_.CreateFPToSI(r.re, type));
        llvm::Value* large = b_.CreateXor(b_.CreateFreeze(b_.CreateFPToSI(b_.CreateFSub(r.re, limit), type)), b_.getInt64(uint64_t{1} << 63));
        return {b_.CreateSelect(b_.CreateFCmpOGE(r.re, limit), large, small), nullptr};
      }
      llvm::Type* wide = to == DType::i64 || to == DType::u32 ? b_.getInt64Ty() : b_.getInt32Ty();
      return {b_.CreateTrunc(b_.CreateFreeze(b_.CreateFPToSI(r.re, wide)), type), nullptr};
    }
    Register result;
    if (from_float) {
      result.re = b_.CreateFPCast(r.re, type);
      if (r.im) result.im = b_.CreateFPCast(r.im, type);
    } else {
      result.re = is_signed(from) ? b_.CreateSIToFP(r.re, type) : b_.CreateUIToFP(r.re, type);
    }
    if (!is_complex(to)) result.im = nullptr;
    else if (!result.im) result.im = llvm::ConstantFP::get(type, 0);
    return result;
  }

  Register operation(const Expr& e) {
    std::vector<Register> args;
    for (const ExprRef& a : e.args) args.push_back(value(a));
    const DType type = e.args[e.op == ScalarOp::select ? 1 : 0]->type;
    if (e.op == ScalarOp::select) {
      Register r{b_.CreateSelect(args[0].re, args[1].re, args[2].re), nullptr};
      if (args[1].im) r.im = b_.CreateSelect(args[0].re, args[1].im, args[2].im);
      return r;
    }
    switch (e.op) {
      case ScalarOp::logical_and: return {b_.CreateAnd(truth(args[0], type), truth(args[1], type)), nullptr};
      case ScalarOp::logical_or: return {b_.CreateOr(truth(args[0], type), truth(args[1], type)), nullptr};
      case ScalarOp::logical_xor: return {b_.CreateXor(truth(args[0], type), truth(args[1], type)), nullptr};
      case ScalarOp::logical_not: return {b_.CreateNot(truth(args[0], type)), nullptr};
      case ScalarOp::make_complex: return {args[0].re, args[1].re};
      default: break;
    }
    if (is_complex(type)) return complex_operation(e.op, type, args);
    llvm::Value* a = args[0].re;
    llvm::Value* b = args.size() > 1 ? args[1].re : nullptr;
    if (is_float(type)) return {float_operation(e.op, type, a, b, args.size() > 2 ? args[2].re : nullptr), nullptr};
    return {integer_operation(e.op, type, a, b), nullptr};
  }

  llvm::Value* integer_operation(ScalarOp op, DType type, llvm::Value* a, llvm::Value* b) {
    const bool is_signed_type = is_signed(type);
    llvm::Type* t = a->getType();
    llvm::Value* zero = llvm::ConstantInt::get(t, 0);
    switch (op) {
      case ScalarOp::add: return b_.CreateAdd(a, b);
      case ScalarOp::sub: return b_.CreateSub(a, b);
      case ScalarOp::mul: return b_.CreateMul(a, b);
      case ScalarOp::floordiv: return divide(op, is_signed_type, a, b);
      case ScalarOp::mod:
      case ScalarOp::fmod: return divide(op, is_signed_type, a, b);
      case ScalarOp::pow: return power(type, a, b);
      case ScalarOp::neg: return b_.CreateNeg(a);
      case ScalarOp::abs: return is_signed_type ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse()) : a;
      case ScalarOp::sign: {
        llvm::Value* positive = b_.CreateZExt(is_signed_type ? b_.CreateICmpSGT(a, zero) : b_.CreateICmpNE(a, zero), t);
        return is_signed_type ? b_.CreateOr(positive, b_.CreateSExt(b_.CreateICmpSLT(a, zero), t)) : positive;
      }
      case ScalarOp::min:
      case ScalarOp::fmin: return b_.CreateBinaryIntrinsic(is_signed_type ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
      case ScalarOp::max:
      case ScalarOp::fmax: return b_.CreateBinaryIntrinsic(is_signed_type ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
      case ScalarOp::mulhi: {
        const unsigned bits = t->getIntegerBitWidth();
        llvm::Type* wide = b_.getIntNTy(bits * 2);
        auto extend = [&](llvm::Value* v) { return is_signed_type ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide); };
        return b_.CreateTrunc(b_.CreateLShr(b_.CreateMul(extend(a), extend(b)), bits), t);
      }
      case ScalarOp::bit_and: return b_.CreateAnd(a, b);
      case ScalarOp::bit_or: return b_.CreateOr(a, b);
      case ScalarOp::bit_xor: return b_.CreateXor(a, b);
      case ScalarOp::bit_not: return b_.CreateNot(a);
      case ScalarOp::shl:
      case ScalarOp::shr: {
        // Counts of the width or more: nothing is left (of a negative number, its sign).
        const unsigned bits = t->getIntegerBitWidth();
        llvm::Value* in_range = b_.CreateICmpULT(b, llvm::ConstantInt::get(t, bits));
        if (op == ScalarOp::shr && is_signed_type) return b_.CreateAShr(a, b_.CreateSelect(in_range, b, llvm::ConstantInt::get(t, bits - 1)));
        llvm::Value* count = b_.CreateSelect(in_range, b, zero);
        return b_.CreateSelect(in_range, op == ScalarOp::shl ? b_.CreateShl(a, count) : b_.CreateLShr(a, count), zero);
      }
      case ScalarOp::eq: return b_.CreateICmpEQ(a, b);
      case ScalarOp::ne: return b_.CreateICmpNE(a, b);
      case ScalarOp::lt: return is_signed_type ? b_.CreateICmpSLT(a, b) : b_.CreateICmpULT(a, b);
      case ScalarOp::le: return is_signed_type ? b_.CreateICmpSLE(a, b) : b_.CreateICmpULE(a, b);
      case ScalarOp::gt: return is_signed_type ? b_.CreateICmpSGT(a, b) : b_.CreateICmpUGT(a, b);
      case ScalarOp::ge: return is_signed_type ? b_.CreateICmpSGE(a, b) : b_.CreateICmpUGE(a, b);
      case ScalarOp::isnan:
      case ScalarOp::isinf: return b_.getFalse();
      case ScalarOp::isfinite: return b_.getTrue();
      case ScalarOp::signbit: return is_signed_type ? b_.CreateICmpSLT(a, zero) : b_.getFalse();
      case ScalarOp::floor:
      case ScalarOp::ceil:
      case ScalarOp::trunc:
      case ScalarOp::rint:
      case ScalarOp::conj:
      case ScalarOp::real: return a;
      case ScalarOp::imag: return zero;
      default: throw Error("SystemError", std::string(info(op).name) + " of integers reached the emitter", "", Blame::internal);
    }
  }

  /// Floored division and remainder (fmod: truncated). No operands trap: a divisor of 0 or -1 is replaced by 1 and the result chosen afterwards.
  llvm::Value* divide(ScalarOp op, bool is_signed_type, llvm::Value* a, llvm::Value* b) {
    llvm::Type* t = a->getType();
    llvm::Value *zero = llvm::ConstantInt::get(t, 0), *one = llvm::ConstantInt::get(t, 1);
    llvm::Value* by_zero = b_.CreateICmpEQ(b, zero);
    const bool quotient = op == ScalarOp::floordiv;
    if (!is_signed_type) {
      llvm::Value* divisor = b_.CreateSelect(by_zero, one, b);
      llvm::Value* r = quotient ? b_.CreateUDiv(a, divisor) : b_.CreateURem(a, divisor);
      return b_.CreateSelect(by_zero, zero, r);
    }
    llvm::Value* by_minus_one = b_.CreateICmpEQ(b, llvm::ConstantInt::getAllOnesValue(t));
    llvm::Value* divisor = b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), one, b);
    llvm::Value* rem = b_.CreateSRem(a, divisor);
    llvm::Value* signs_differ = b_.CreateICmpSLT(b_.CreateXor(rem, divisor), zero);
    llvm::Value* adjust = b_.CreateAnd(b_.CreateICmpNE(rem, zero), signs_differ);
    if (quotient) {
      llvm::Value* q = b_.CreateSub(b_.CreateSDiv(a, divisor), b_.CreateZExt(adjust, t));
      return b_.CreateSelect(by_zero, zero, b_.CreateSelect(by_minus_one, b_.CreateNeg(a), q));
    }
    llvm::Value* m = op == ScalarOp::fmod ? rem : b_.CreateAdd(rem, b_.CreateSelect(adjust, divisor, zero));
    return b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), zero, m);
  }

  llvm::Value* power(DType type, llvm::Value* a, llvm::Value* b) {
    llvm::Type* i64 = b_.getInt64Ty();
    const bool s = is_signed(type);
    auto callee = module_.getOrInsertFunction(s ? "gasell_pow_i64" : "gasell_pow_u64", llvm::FunctionType::get(i64, {i64, i64}, false));
    pure(callee);
    return b_.CreateTrunc(b_.CreateCall(callee, {b_.CreateIntCast(a, i64, s), b_.CreateIntCast(b, i64, s)}), a->getType());
  }

  static void pure(llvm::FunctionCallee callee) {
    auto* f = llvm::cast<llvm::Function>(callee.getCallee());
    f->setDoesNotAccessMemory();
    f->setDoesNotThrow();
    f->addFnAttr(llvm::Attribute::WillReturn);
  }

  /// A function of the C library; its name gets the suffix f for float. Free of side effects: nothing reads errno.
  llvm::Value* libm(const std::string& name, DType type, std::vector<llvm::Value*> args) {
    llvm::Type* t = register_type(type);
    auto callee = module_.getOrInsertFunction(type == DType::f32 ? name + "f" : name, llvm::FunctionType::get(t, std::vector<llvm::Type*>(args.size(), t), false));
    pure(callee);
    return b_.CreateCall(callee, args);
  }
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, llvm::Value* a) { return b_.CreateUnaryIntrinsic(id, a); }

  llvm::Value* float_operation(ScalarOp op, DType type, llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    llvm::Type* t = a->getType();
    auto number = [&](double v) { return llvm::ConstantFP::get(t, v); };
    auto is_nan = [&](llvm::Value* v) { return b_.CreateFCmpUNO(v, v); };
    auto copysign = [&](llvm::Value* x, llvm::Value* s) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, s); };
    switch (op) {
      case ScalarOp::add: return b_.CreateFAdd(a, b);
      case ScalarOp::sub: return b_.CreateFSub(a, b);
      case ScalarOp::mul: return b_.CreateFMul(a, b);
      case ScalarOp::div: return b_.CreateFDiv(a, b);
      case ScalarOp::fma: return b_.CreateIntrinsic(llvm::Intrinsic::fma, {t}, {a, b, c});
      case ScalarOp::neg: return b_.CreateFNeg(a);
      case ScalarOp::abs: return intrinsic(llvm::Intrinsic::fabs, a);
      case ScalarOp::sign: {
        llvm::Value* s = b_.CreateSelect(b_.CreateFCmpOGT(a, number(0)), number(1), b_.CreateSelect(b_.CreateFCmpOLT(a, number(0)), number(-1), number(0)));
        return b_.CreateSelect(is_nan(a), a, s);
      }
      case ScalarOp::min: return b_.CreateSelect(is_nan(a), a, b_.CreateSelect(b_.CreateFCmpOLT(a, b), a, b));
      case ScalarOp::max: return b_.CreateSelect(is_nan(a), a, b_.CreateSelect(b_.CreateFCmpOGT(a, b), a, b));
      case ScalarOp::fmin: return b_.CreateSelect(is_nan(b), a, b_.CreateSelect(b_.CreateFCmpOLT(a, b), a, b));
      case ScalarOp::fmax: return b_.CreateSelect(is_nan(b), a, b_.CreateSelect(b_.CreateFCmpOGT(a, b), a, b));
      case ScalarOp::mod: {
        // np.mod: the sign of the divisor; a zero remainder too.
        llvm::Value* r = b_.CreateFRem(a, b);
        llvm::Value* differs = b_.CreateXor(b_.CreateFCmpOLT(r, number(0)), b_.CreateFCmpOLT(b, number(0)));
        llvm::Value* adjusted = b_.CreateSelect(differs, b_.CreateFAdd(r, b), r);
        return b_.CreateSelect(b_.CreateFCmpOEQ(r, number(0)), copysign(number(0), b), adjusted);
      }
      case ScalarOp::floordiv: {
        // np.floor_divide, from the exact remainder.
        llvm::Value* r = b_.CreateFRem(a, b);
        llvm::Value* q = b_.CreateFDiv(b_.CreateFSub(a, r), b);
        llvm::Value* differs = b_.CreateAnd(b_.CreateFCmpONE(r, number(0)), b_.CreateXor(b_.CreateFCmpOLT(r, number(0)), b_.CreateFCmpOLT(b, number(0))));
        q = b_.CreateSelect(differs, b_.CreateFSub(q, number(1)), q);
        llvm::Value* f = intrinsic(llvm::Intrinsic::floor, q);
        f = b_.CreateSelect(b_.CreateFCmpOGT(b_.CreateFSub(q, f), number(0.5)), b_.CreateFAdd(f, number(1)), f);
        llvm::Value* exact = b_.CreateFDiv(a, b);
        f = b_.CreateSelect(b_.CreateFCmpOEQ(q, number(0)), copysign(number(0), exact), f);
        return b_.CreateSelect(b_.CreateFCmpOEQ(b, number(0)), exact, f);
      }
      case ScalarOp::fmod: return b_.CreateFRem(a, b);
      case ScalarOp::pow: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::pow, a, b);
      case ScalarOp::copysign: return copysign(a, b);
      case ScalarOp::floor: return intrinsic(llvm::Intrinsic::floor, a);
      case ScalarOp::ceil: return intrinsic(llvm::Intrinsic::ceil, a);
      case ScalarOp::trunc: return intrinsic(llvm::Intrinsic::trunc, a);
      case ScalarOp::rint: return intrinsic(llvm::Intrinsic::roundeven, a);
      case ScalarOp::sqrt: return intrinsic(llvm::Intrinsic::sqrt, a);
      case ScalarOp::exp: return intrinsic(llvm::Intrinsic::exp, a);
      case ScalarOp::exp2: return intrinsic(llvm::Intrinsic::exp2, a);
      case ScalarOp::log: return intrinsic(llvm::Intrinsic::log, a);
      case ScalarOp::log2: return intrinsic(llvm::Intrinsic::log2, a);
      case ScalarOp::log10: return intrinsic(llvm::Intrinsic::log10, a);
      case ScalarOp::sin: return intrinsic(llvm::Intrinsic::sin, a);
      case ScalarOp::cos: return intrinsic(llvm::Intrinsic::cos, a);
      case ScalarOp::nextafter:
      case ScalarOp::hypot:
      case ScalarOp::atan2: return libm(std::string(info(op).name), type, {a, b});
      case ScalarOp::cbrt:
      case ScalarOp::expm1:
      case ScalarOp::log1p:
      case ScalarOp::tan:
      case ScalarOp::asin:
      case ScalarOp::acos:
      case ScalarOp::atan:
      case ScalarOp::sinh:
      case ScalarOp::cosh:
      case ScalarOp::tanh:
      case ScalarOp::asinh:
      case ScalarOp::acosh:
      case ScalarOp::atanh: return libm(std::string(info(op).name), type, {a});
      case ScalarOp::eq: return b_.CreateFCmpOEQ(a, b);
      case ScalarOp::ne: return b_.CreateFCmpUNE(a, b);
      case ScalarOp::lt: return b_.CreateFCmpOLT(a, b);
      case ScalarOp::le: return b_.CreateFCmpOLE(a, b);
      case ScalarOp::gt: return b_.CreateFCmpOGT(a, b);
      case ScalarOp::ge: return b_.CreateFCmpOGE(a, b);
      case ScalarOp::isnan: return is_nan(a);
      case ScalarOp::isinf: return b_.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::fabs, a), llvm::ConstantFP::getInfinity(t));
      case ScalarOp::isfinite: return b_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, a), llvm::ConstantFP::getInfinity(t));
      case ScalarOp::signbit: {
        llvm::Type* bits = b_.getIntNTy(t->getScalarSizeInBits());
        return b_.CreateICmpSLT(b_.CreateBitCast(a, bits), llvm::ConstantInt::get(bits, 0));
      }
      case ScalarOp::conj:
      case ScalarOp::real: return a;
      case ScalarOp::imag: return number(0);
      default: throw Error("SystemError", std::string(info(op).name) + " of floats reached the emitter", "", Blame::internal);
    }
  }

  Register complex_operation(ScalarOp op, DType type, const std::vector<Register>& args) {
    const Register& a = args[0];
    const Register b = args.size() > 1 ? args[1] : Register{};
    switch (op) {
      case ScalarOp::add: return {b_.CreateFAdd(a.re, b.re), b_.CreateFAdd(a.im, b.im)};
      case ScalarOp::sub: return {b_.CreateFSub(a.re, b.re), b_.CreateFSub(a.im, b.im)};
      case ScalarOp::mul:
        return {b_.CreateFSub(b_.CreateFMul(a.re, b.re), b_.CreateFMul(a.im, b.im)), b_.CreateFAdd(b_.CreateFMul(a.re, b.im), b_.CreateFMul(a.im, b.re))};
      case ScalarOp::neg: return {b_.CreateFNeg(a.re), b_.CreateFNeg(a.im)};
      case ScalarOp::conj: return {a.re, b_.CreateFNeg(a.im)};
      case ScalarOp::real: return {a.re, nullptr};
      case ScalarOp::imag: return {a.im, nullptr};
      case ScalarOp::abs: return {libm("hypot", real_of(type), {a.re, a.im}), nullptr};
      case ScalarOp::eq: return {b_.CreateAnd(b_.CreateFCmpOEQ(a.re, b.re), b_.CreateFCmpOEQ(a.im, b.im)), nullptr};
      case ScalarOp::ne: return {b_.CreateOr(b_.CreateFCmpUNE(a.re, b.re), b_.CreateFCmpUNE(a.im, b.im)), nullptr};
      case ScalarOp::isnan: return {b_.CreateFCmpUNO(a.re, a.im), nullptr};
      case ScalarOp::isinf:
      case ScalarOp::isfinite: {
        const DType real = real_of(type);
        llvm::Value *re = float_operation(op, real, a.re, nullptr, nullptr), *im = float_operation(op, real, a.im, nullptr, nullptr);
        return {op == ScalarOp::isinf ? b_.CreateOr(re, im) : b_.CreateAnd(re, im), nullptr};
      }
      default: return complex_call(op, type, a, b);
    }
  }

  /// The rest is computed by evaluate(), out of line: gasell_complex(operation, dtype, operands, result).
  Register complex_call(ScalarOp op, DType type, const Register& a, const Register& b) {
    llvm::Type *f64 = b_.getDoubleTy(), *i32 = b_.getInt32Ty(), *ptr = b_.getPtrTy();
    llvm::AllocaInst* io = entry_alloca(llvm::ArrayType::get(f64, 6), 16);
    auto callee = module_.getOrInsertFunction("gasell_complex", llvm::FunctionType::get(b_.getVoidTy(), {i32, i32, ptr}, false));
    llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
    llvm::Value* parts[] = {a.re, a.im, b.re, b.im};
    for (unsigned k = 0; k < 4; ++k)
      if (parts[k]) b_.CreateStore(b_.CreateFPCast(parts[k], f64), b_.CreateConstGEP1_64(f64, io, k));
    b_.CreateCall(callee, {b_.getInt32(static_cast<uint32_t>(op)), b_.getInt32(static_cast<uint32_t>(type)), io});
    llvm::Type* t = register_type(type);
    auto result = [&](unsigned k) { return b_.CreateFPCast(b_.CreateLoad(f64, b_.CreateConstGEP1_64(f64, io, k)), t); };
    llvm::Value* re = result(4);
    return {re, result(5)};
  }

  llvm::LLVMContext& context_;
  llvm::Module& module_;
  const Target& target_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::Value *begin_ = nullptr, *end_ = nullptr;
  llvm::MDNode* access_group_ = nullptr;
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
