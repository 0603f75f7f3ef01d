// Statements, expressions and memory of loop IR as LLVM IR: what every target shares. How a kernel is entered, what its loops are and where
// its local arrays lie differs between the host (emit_host.cpp) and a GPU's grid (emit_grid.cpp).
#pragma once

#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/codegen/operations.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/part.h"

namespace gasell {

/// Emits one kernel.
class Emitter : protected Operations {
 public:
  virtual ~Emitter() = default;
  /// Adds the external function `symbol`.
  virtual void emit(const ir::Kernel& kernel, const std::string& symbol) = 0;

 protected:
  Emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target)
      : Operations(context, module, target), context_(context) {}

  struct Array {
    llvm::Value* pointer;
    DType type;
    std::string name;
    /// The first byte of the memory that `pointer` points into, and the byte behind its last; only where bounds are checked.
    llvm::Value *memory_begin = nullptr, *memory_end = nullptr;
    bool fixed = false;  // nobody writes it while the kernel runs
  };

  virtual void loop(const ir::Stmt& s) = 0;
  virtual Array local_array(const ir::Stmt& s) = 0;
  virtual void barrier(ir::Space space) = 0;
  /// What threads know and do together (ir/simt.h), and where a thread's place goes behind the error that it notes; of kernels of threads.
  virtual void simt(const ir::Stmt& s);
  virtual void note_place([[maybe_unused]] llvm::Value* error) {}
  /// Raises kInterrupted where somebody asked for that.
  virtual void poll();
  /// Of such a function that any target computes alike: bits and fma.
  void simt_number(const ir::Stmt& s);
  /// Comes where an iteration begins, after its number has a value; `first` is that of the first.
  virtual void iteration([[maybe_unused]] const ir::Stmt& loop, [[maybe_unused]] llvm::Value* first) {}
  /// The branch of a while loop back to its beginning.
  virtual void repeats([[maybe_unused]] const ir::Stmt& loop, [[maybe_unused]] llvm::BranchInst* back) {}
  /// Comes before an element is loaded or stored.
  virtual void touch([[maybe_unused]] const Array& array, [[maybe_unused]] llvm::Value* index, [[maybe_unused]] bool writes) {}

  virtual void statements(const ir::Body& body);
  /// Whether loops of this kernel become functions of their own from here on (emit_parts.cpp).
  void choose_parts(const ir::Kernel& kernel);
  /// Emits statement k of a body, and on a grid with it those that use what lies beside it in memory; the number of the next one.
  size_t next_statements(const ir::Body& body, size_t k);
  virtual void statement(const ir::Stmt& s);
  /// Of a grid; elsewhere nothing: the host's processors see by themselves which rows come next.
  void prefetch(const ir::Stmt& s);
  /// The branch back to the loop's beginning.
  llvm::BranchInst* counted_loop(const ir::Stmt& s, llvm::Value* first, llvm::Value* last, llvm::Value* step);
  /// The same with another body: `body(i)` for iteration i.
  llvm::BranchInst* counted_loop(const std::string& name, llvm::Value* first, llvm::Value* last, llvm::Value* step,
                                 const std::function<void(llvm::Value*)>& body);
  /// Writes out all rounds of the loop of this branch back, which must be between constants.
  void unroll_fully(llvm::BranchInst* back);
  Array automatic_array(const ir::Stmt& s);
  /// Emits what may raise: the error is noted in one place, and then the code goes on at `exit`.
  template <class F>
  void with_raises(llvm::BasicBlock* exit, F emit) {
    const Raise around = std::exchange(raise_, {});
    emit();
    note_errors(exit);
    raise_ = around;
  }

  /// Branches to where the error is noted; with a condition, only where it holds, and the code goes on where it does not.
  void raise(llvm::Value* condition, int64_t site, const std::vector<llvm::Value*>& values);

  Register value(const ir::ExprRef& e);
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(context_, name, function_); }

  /// The bits of a number in 64, and back.
  llvm::Value* to_bits(llvm::Value* v);
  llvm::Value* from_bits(llvm::Value* bits, DType type);

  llvm::LLVMContext& context_;
  bool atomically_ = false;  // what is touched now is changed by an atomic operation
  /// Of loads and stores that are independent of those of other iterations; null: none.
  llvm::MDNode* access_group_ = nullptr;
  struct Variable {
    llvm::AllocaInst* parts[2];
    DType type;
  };
  std::unordered_map<std::string, Register> values_;
  std::unordered_map<std::string, Variable> variables_;
  std::unordered_map<std::string, Array> arrays_;
  using Places = std::map<std::pair<llvm::Value*, llvm::Value*>, llvm::Value*>;
  Places places_;  // on a grid: addresses by array and index, as far as all ways to here come by them

 private:
  /// Where a pointer keeps its array's address and, where bounds are checked, the two ends of its memory.
  struct Pointer {
    llvm::AllocaInst* parts[3];
    DType type;
  };
  /// The place that notes an error: a phi each for the site and its three values.
  struct Raise {
    llvm::BasicBlock* block = nullptr;
    llvm::PHINode* values[4];
  };
  void function_statement(const ir::Stmt& s);
  /// Calls statements that begin with number k as a part; how many those are, 0 where they are none.
  size_t emit_part(const ir::Body& body, size_t k);
  void emit_part_body(llvm::Function& function, const ir::Part& part, std::span<const ir::StmtRef> statements);
  void load_words(const ir::Body& body, size_t k);
  size_t store_words(const ir::Body& body, size_t k);
  size_t divide_together(const ir::Body& body, size_t k);
  /// Where an element is: from a place that is known already, where the index is the sum of that one's and something else.
  llvm::Value* place(const Array& array, llvm::Value* index);
  /// Four bytes of the eight of two words, by number from the lowest: a digit each.
  llvm::Value* bytes_of(llvm::Value* first, llvm::Value* second, llvm::Value* selected);
  void note_errors(llvm::BasicBlock* exit);
  void check(const ir::Stmt& s);
  void allocate(const ir::Stmt& s);
  void point(const Pointer& pointer, const Array& array);
  Array null_array(const ir::Stmt& s);
  Array array_at(const ir::Stmt& s);
  void atomic(const ir::Stmt& s);
  /// A load and a store of so many bits that other threads of the grid see and that see what those do.
  virtual llvm::Value* load_at_once(llvm::Type* bits, llvm::Value* address);
  virtual void store_at_once(llvm::Value* bits, llvm::Value* address);
  llvm::Value* compare_and_exchange_loop(const ir::Stmt& s, llvm::Value* address, llvm::Value* operand);
  void call(const ir::Stmt& s);
  Array array(const std::string& name);
  llvm::Type* variable_type(DType type);
  void write_variable(const Variable& v, const Register& r);
  Register read_variable(const Variable& v);

  llvm::Value* address(const Array& array, llvm::Value* index, int part);
  template <class Instruction>
  Instruction* in_group(Instruction* access, DType type);
  llvm::Value* load_part(const Array& array, llvm::Value* index, int part);
  /// Of what memory has.
  llvm::Value* as_register(llvm::Value* element, DType type);
  bool in_pairs(const Array& array) const;
  Register load_element(const Array& array, llvm::Value* index);
  void store_element(const Array& array, llvm::Value* index, Register r);

  std::unordered_map<std::string, Pointer> pointers_;
  std::unordered_map<std::string, llvm::BasicBlock*> scopes_;  // what stands behind each
  std::unordered_map<const ir::Expr*, llvm::Value*> loaded_;   // elements that load_words has, until they are named
  struct Extended {
    llvm::Value* value;
    bool with_sign;
  };
  std::unordered_map<llvm::Value*, Extended> extended_;  // narrow integers that there are in 32 bits, too
  /// Of an integer of this type; null: it is only there itself.
  llvm::Value* extended(llvm::Value* narrow, DType type) const;
  Raise raise_;
  bool shares_parts_ = false;
  std::unordered_map<std::string, llvm::Function*> parts_;  // by their texts and what they are given
};

/// For calls by HostKernelFunction (jit.h).
std::unique_ptr<Emitter> make_host_emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target);
/// The same, which tells a RaceChecker (race_check.h) what the threads of kernels mapped to a grid do.
std::unique_ptr<Emitter> make_race_emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target);
/// Kernels of threads (ir::Kernel::simt) on the host, by simt.h's convention; with `races`, every access of an element is told, too.
std::unique_ptr<Emitter> make_simt_host_emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target, bool races);
/// The same for grids (nvptx64).
std::unique_ptr<Emitter> make_simt_grid_emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target);
/// For launches of a grid (gpu.h).
std::unique_ptr<Emitter> make_grid_emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target);

}  // namespace gasell
