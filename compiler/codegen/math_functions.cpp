#include "compiler/codegen/math_functions.h"

#include <llvm/IR/Module.h>

#include <array>
#include <string>

#include "compiler/codegen/device_library.h"
#include "compiler/codegen/externals.h"
#include "compiler/codegen/math_values.h"

namespace gasell {
namespace {

constexpr std::string_view kPrefix = "gasell.";
constexpr std::array kWidths = {2U, 4U, 8U, 16U};

std::string type_name(bool single) { return single ? ".f32" : ".f64"; }

llvm::Value* compute(math::Emission& e, ScalarOp op, bool single, llvm::Value* x, llvm::Value* y) {
  if (single) return math::compute(op, math::Emitted<float>{&e, x}, math::Emitted<float>{&e, y}).v;
  return math::compute(op, math::Emitted<double>{&e, x}, math::Emitted<double>{&e, y}).v;
}

/// A function without effects; where it has none of these, LLVM may move it and leave it out.
void set_pure(llvm::Function& f) {
  f.setDoesNotAccessMemory();
  f.setDoesNotThrow();
  f.addFnAttr(llvm::Attribute::WillReturn);
}
llvm::FunctionCallee declared(llvm::Module& module, const std::string& name, llvm::Type* type, unsigned arity) {
  auto callee = module.getOrInsertFunction(name, llvm::FunctionType::get(type, std::vector<llvm::Type*>(arity, type), false));
  set_pure(*llvm::cast<llvm::Function>(callee.getCallee()));
  return callee;
}

/// What this program computes of the elements of a vector: (operation, count, arguments, results).
template <class T>
void evaluate_lanes(int32_t op, int32_t count, const T* x, T* result) {
  for (int32_t k = 0; k < count; ++k) result[k] = math::evaluate(static_cast<ScalarOp>(op), x[k]);
}

ScalarOp op_of(math::Trigonometric which) {
  return which == math::Trigonometric::sin ? ScalarOp::sin : which == math::Trigonometric::cos ? ScalarOp::cos : ScalarOp::tan;
}

/// In the function's entry block, so that a loop that this code is inlined into takes no more memory from round to round.
llvm::AllocaInst* memory_for(llvm::IRBuilder<>& b, llvm::Type* type) {
  llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
}

template <class T>
math::Emitted<T> of_large_argument(math::Trigonometric which, math::Emitted<T> x) {
  constexpr bool single = std::is_same_v<T, float>;
  math::Emission& e = *x.e;
  llvm::Module& module = *e.b.GetInsertBlock()->getModule();
  llvm::Type* type = x.v->getType();
  const ScalarOp op = op_of(which);
  if (e.calls_program) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    llvm::Type *i32 = e.b.getInt32Ty(), *ptr = e.b.getPtrTy();
    auto callee = module.getOrInsertFunction("gasell_math_lanes" + std::string(single ? "_f32" : "_f64"),
                                             llvm::FunctionType::get(e.b.getVoidTy(), {i32, i32, ptr, ptr}, false));
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setOnlyAccessesArgMemory();
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::WillReturn);
    llvm::AllocaInst *arguments = memory_for(e.b, type), *results = memory_for(e.b, type);
    e.b.CreateStore(x.v, arguments);
    e.b.CreateCall(callee,
                   {e.b.getInt32(static_cast<uint32_t>(op)), e.b.getInt32(vector ? vector->getNumElements() : 1), arguments, results});
    return x.with(e.b.CreateLoad(type, results));
  }
  if constexpr (single) return math::of_any(which, x);  // most are not too large for doubles
  const std::string name = "gasell.large." + std::string(info(op).name) + type_name(single);
  auto callee = declared(module, name, type, 1);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  if (function->isDeclaration()) {
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    function->addFnAttr(llvm::Attribute::NoInline);  // once a kernel, out of the way
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "entry", function));
    math::Emission inside{b};
    b.CreateRet(math::of_any(which, math::Emitted<T>{&inside, function->getArg(0)}).v);
  }
  return x.with(e.b.CreateCall(callee, {x.v}));
}

/// Names of functions and their twins: gasell.exp.f64, gasell.exp.f64.v8.
struct Named {
  ScalarOp op;
  bool single;
};
std::optional<Named> named(llvm::StringRef name) {
  if (!name.consume_front(llvm::StringRef(kPrefix))) return {};
  const auto [function, rest] = name.split('.');
  const auto op = scalar_op_from_name(std::string_view(function));
  if (!op || !math::has(*op)) return {};
  return Named{*op, rest.starts_with("f32")};
}

}  // namespace

namespace math {

EmittedBits<double> two_over_pi(Emitted<double> like, EmittedBits<double> index) {
  llvm::IRBuilder<>& b = like.e->b;
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  const std::string name = "gasell.two_over_pi";
  llvm::GlobalVariable* table = module.getGlobalVariable(name, true);
  if (!table) {
    llvm::Constant* digits = llvm::ConstantDataArray::get(module.getContext(), llvm::ArrayRef(kTwoOverPi.data(), kTwoOverPi.size()));
    // Global memory of a GPU: threads that look up different places of its constant memory wait for each other.
    const unsigned space = module.getTargetTriple().rfind("nvptx", 0) == 0 ? 1 : 0;
    table = new llvm::GlobalVariable(module, digits->getType(), true, llvm::GlobalValue::InternalLinkage, digits, name, nullptr,
                                     llvm::GlobalValue::NotThreadLocal, space);
  }
  return index.with(b.CreateLoad(b.getInt64Ty(), b.CreateGEP(b.getInt64Ty(), table, index.v)));
}

Emitted<double> of_large(Trigonometric which, Emitted<double> x) { return of_large_argument(which, x); }
Emitted<float> of_large(Trigonometric which, Emitted<float> x) { return of_large_argument(which, x); }

}  // namespace math

llvm::Value* emit_math(llvm::IRBuilder<>& b, ScalarOp op, DType type, llvm::Value* x, llvm::Value* y, llvm::Value*& rare) {
  math::Emission e{b, rare ? &rare : nullptr};
  return compute(e, op, type == DType::f32, x, y ? y : x);
}

llvm::Value* call_math(llvm::IRBuilder<>& b, ScalarOp op, DType type, llvm::Value* x, llvm::Value* y) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  const std::string name = std::string(kPrefix) + std::string(info(op).name) + type_name(type == DType::f32);
  const unsigned arity = y ? 2 : 1;
  std::string twins;
  for (const unsigned width : kWidths) {
    const std::string twin = name + ".v" + std::to_string(width);
    declared(module, twin, llvm::FixedVectorType::get(x->getType(), width), arity);
    twins += (twins.empty() ? "" : ",") + ("_ZGV_LLVM_N" + std::to_string(width)) + std::string(arity, 'v') + "_" + name + "(" + twin + ")";
  }
  auto callee = declared(module, name, x->getType(), arity);
  llvm::CallInst* call = y ? b.CreateCall(callee, {x, y}) : b.CreateCall(callee, {x});
  call->addFnAttr(llvm::Attribute::get(module.getContext(), "vector-function-abi-variant", twins));
  return call;
}

bool define_math_functions(llvm::Module& module) {
  std::vector<llvm::Function*> wanted;
  const llvm::Function* caller = nullptr;
  for (llvm::Function& f : module) {
    if (f.isDeclaration() && named(f.getName())) wanted.push_back(&f);
    if (!f.isDeclaration() && f.hasFnAttribute("target-cpu")) caller = &f;
  }
  for (llvm::Function* f : wanted) {
    if (f->use_empty()) {
      f->eraseFromParent();
      continue;
    }
    const Named known = *named(f->getName());
    f->setLinkage(llvm::GlobalValue::InternalLinkage);
    f->addFnAttr(llvm::Attribute::AlwaysInline);
    if (caller)
      for (const char* of_target : {"target-cpu", "target-features", "prefer-vector-width", "min-legal-vector-width"})
        if (caller->hasFnAttribute(of_target)) f->addFnAttr(caller->getFnAttribute(of_target));
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "entry", f));
    math::Emission e{b, nullptr, true};
    b.CreateRet(compute(e, known.op, known.single, f->getArg(0), f->getArg(f->arg_size() - 1)));
  }
  return !wanted.empty();
}

std::string math_version() { return "math " GASELL_MATH_VERSION ", " + device_library_version(); }

void register_math_functions() {
  register_external("gasell_math_lanes_f32", reinterpret_cast<void*>(&evaluate_lanes<float>));
  register_external("gasell_math_lanes_f64", reinterpret_cast<void*>(&evaluate_lanes<double>));
}

}  // namespace gasell
