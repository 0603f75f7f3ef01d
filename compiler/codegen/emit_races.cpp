// Host code of kernels mapped to a grid that tells a RaceChecker which thread uses which element, and where threads come together.
#include <utility>

#include "compiler/codegen/emit_host.h"
#include "compiler/codegen/race_check.h"
#include "compiler/ir/text.h"

namespace gasell {
namespace {

using ir::LoopKind;
using ir::Space;
using ir::Stmt;

class RaceEmitter final : public HostEmitter {
 public:
  RaceEmitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target) : HostEmitter(context, module, target) {}

  void emit(const ir::Kernel& kernel, const std::string& symbol) override {
    threads_ = kernel.threads;
    here_ = {b_.getInt64(0), b_.getInt64(static_cast<uint64_t>(threads_))};
    if (threads_)
      for (const ir::Parameter& p : kernel.params)
        if (p.kind == ir::Parameter::Kind::out) share(p.name, Space::automatic);
    HostEmitter::emit(kernel, symbol);
  }

 private:
  /// The threads of a block that run what is being emitted.
  struct Threads {
    llvm::Value *first, *count;
  };
  struct Shared {
    int32_t number;
    Space space;
  };
  void share(const std::string& name, Space space) { shared_[name] = {next_++, space}; }

  void statement(const Stmt& s) override {
    const Stmt* const around = std::exchange(statement_, &s);
    HostEmitter::statement(s);
    statement_ = around;
  }

  void loop(const Stmt& s) override {
    const Threads outside = here_;
    // How many groups of threads, or threads, share the iterations.
    if (s.width) {
      width_ = value(s.width).re;
      sharers_ = s.loop_kind == LoopKind::within ? width_ : b_.CreateUDiv(here_.count, width_);
    }
    HostEmitter::loop(s);
    here_ = outside;
  }

  void iteration(const Stmt& s, llvm::Value* first) override {
    if (threads_ && s.loop_kind == LoopKind::unit) call("gasell_race_unit", {checker_, values_.at(s.name).re});
    if (!s.width) return;
    llvm::Value* mine = b_.CreateURem(b_.CreateSub(values_.at(s.name).re, first), sharers_);
    if (s.loop_kind == LoopKind::within)
      here_ = {b_.CreateAdd(here_.first, mine), b_.getInt64(1)};
    else
      here_ = {b_.CreateAdd(here_.first, b_.CreateMul(mine, width_)), width_};
  }

  Array local_array(const Stmt& s) override {
    if (s.space != Space::automatic) share(s.name, s.space);
    return HostEmitter::local_array(s);
  }

  void barrier(Space space) override {
    call("gasell_race_barrier", {checker_, b_.getInt32(static_cast<uint32_t>(space)), here_.first, here_.count});
  }

  void touch(const Array& array, llvm::Value* index, bool writes) override {
    HostEmitter::touch(array, index, writes);
    if (const auto shared = shared_.find(array.name); shared != shared_.end())
      call("gasell_race_access", {checker_, site(array.name, shared->second, writes), index, here_.first, here_.count});
  }

  /// An AccessSite.
  llvm::Constant* site(const std::string& name, const Shared& array, bool writes) {
    llvm::Constant* const fields[] = {b_.CreateGlobalString(kernel_name_),
                                      b_.CreateGlobalString(name),
                                      b_.CreateGlobalString(ir::print_head(*statement_)),
                                      b_.getInt32(static_cast<uint32_t>(array.number)),
                                      b_.getInt8(static_cast<uint8_t>(array.space)),
                                      b_.getInt8(writes)};
    llvm::Constant* value = llvm::ConstantStruct::getAnon(fields);
    return new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::InternalLinkage, value, "site");
  }

  void call(const char* name, std::initializer_list<llvm::Value*> arguments) {
    std::vector<llvm::Type*> types;
    for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
    b_.CreateCall(module_.getOrInsertFunction(name, llvm::FunctionType::get(b_.getVoidTy(), types, false)),
                  std::vector<llvm::Value*>(arguments));
  }

  int threads_ = 0;
  Threads here_{};
  llvm::Value *width_ = nullptr, *sharers_ = nullptr;  // of the loop that is about to begin
  const Stmt* statement_ = nullptr;
  int32_t next_ = 0;
  std::unordered_map<std::string, Shared> shared_;
};

}  // namespace

std::unique_ptr<Emitter> make_race_emitter(llvm::LLVMContext& context, llvm::Module& module, const Target& target) {
  return std::make_unique<RaceEmitter>(context, module, target);
}

}  // namespace gasell
