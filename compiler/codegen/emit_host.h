// Kernels as functions of the host: units are a counted range, simd loops become vectors, and kernels mapped to a grid run as loops over
// threads.
#pragma once

#include "compiler/codegen/emitter.h"

namespace gasell {

class HostEmitter : public Emitter {
 public:
  HostEmitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target) : Emitter(context, module, target) {}
  void emit(const ir::Kernel& kernel, const std::string& symbol) override;

 protected:
  void loop(const ir::Stmt& s) override;
  Array local_array(const ir::Stmt& s) override { return automatic_array(s); }
  void barrier(ir::Space) override {}  // the threads of a group run one after the other
  void touch(const Array& array, llvm::Value* index, bool writes) override;

  /// The kernel's statements, in the body's function.
  virtual void run(const ir::Kernel& kernel);
  /// What the function of HostKernelFunction's type does once it has the arguments of the body: arrays, scalars, begin, end, ….
  virtual void call_body(llvm::Function* wrapper, llvm::Function* body, const std::vector<llvm::Value*>& arguments);

  llvm::Value *begin_ = nullptr, *end_ = nullptr;
  std::string kernel_name_;
  bool function_kernel_ = false;    // of a compiled function
  llvm::Value* checker_ = nullptr;  // the RaceChecker's address, where races are checked

 private:
  llvm::Function* emit_body(const ir::Kernel& kernel, const std::string& name);
  void emit_wrapper(const ir::Kernel& kernel, const std::string& symbol, llvm::Function* body);
  void set_target(llvm::Function* function);
  void guard_whole(const ir::Body& body);
  llvm::MDNode* simd_metadata(bool short_loop);
  void check_bounds(const Array& array, llvm::Value* index);
};

}  // namespace gasell
