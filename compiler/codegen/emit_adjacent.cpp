// Statements beside each other as a thread of a GPU does them together: several narrow elements of memory in a word, and divisions by the
// same number.
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <optional>

#include "compiler/codegen/emitter.h"

namespace gasell {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::ExprRef;
using ir::Stmt;
using ir::StmtKind;

constexpr int64_t kWord = 4, kMostBytes = 32;  // of elements that are loaded together

/// An index as a name and a distance from it.
struct Place {
  std::string base;
  int64_t distance;
};
std::optional<Place> place_of(const ExprRef& index) {
  if (index->kind == ExprKind::variable) return Place{index->name, 0};
  if (index->kind != ExprKind::op || index->op != ScalarOp::add) return std::nullopt;
  const ExprRef &a = index->args[0], &b = index->args[1];
  if (a->kind != ExprKind::variable || b->kind != ExprKind::constant) return std::nullopt;
  return Place{a->name, b->value.i};
}

bool has_load(const ExprRef& e) {
  return e->kind == ExprKind::load || std::any_of(e->args.begin(), e->args.end(), [](const ExprRef& a) { return has_load(a); });
}

bool gives_name(const Stmt& s) { return s.kind == StmtKind::let || s.kind == StmtKind::var; }

}  // namespace

size_t Emitter::next_statements(const ir::Body& body, size_t k) {
  if (target_.grid) {
    if (gives_name(*body[k])) load_words(body, k);
    if (const size_t count = divide_together(body, k)) return k + count;
    if (body[k]->kind == StmtKind::store)
      if (const size_t count = store_words(body, k)) return k + count;
  }
  statement(*body[k]);
  return k + 1;
}

void Emitter::prefetch(const Stmt& s) {
  if (!target_.grid) return;
  constexpr unsigned kGlobalMemory = 1;  // NVPTX's address space
  llvm::PointerType* global = b_.getPtrTy(kGlobalMemory);
  auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(b_.getVoidTy(), {global}, false), "prefetch.global.L1 [$0];", "l", true);
  const Array from = array(s.name);
  llvm::Value* index = value(s.index).re;
  if (is_complex(from.type)) index = b_.CreateShl(index, 1);
  b_.CreateCall(code, {b_.CreateAddrSpaceCast(place(from, index), global)});
}

llvm::Value* Emitter::place(const Array& array, llvm::Value* index) {
  llvm::Type* type = element_type(array.type);
  if (llvm::isa<llvm::Constant>(index)) return b_.CreateGEP(type, array.pointer, index);
  if (const auto known = places_.find({array.pointer, index}); known != places_.end()) return known->second;
  const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(index);
  if (sum && sum->getOpcode() == llvm::Instruction::Add) {
    llvm::Value *from = sum->getOperand(0), *distance = sum->getOperand(1);
    // The compiler finds a constant distance again in the instruction that loads or stores.
    if (llvm::isa<llvm::ConstantInt>(distance) || places_.count({array.pointer, from}))
      return places_[{array.pointer, index}] = b_.CreateGEP(type, place(array, from), distance);
  }
  return places_[{array.pointer, index}] = b_.CreateGEP(type, array.pointer, index);
}

llvm::Value* Emitter::bytes_of(llvm::Value* first, llvm::Value* second, llvm::Value* selected) {
  return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt, {}, {first, second, selected});
}

/// Where a statement names a narrow element of an array that nobody writes, and others behind it name elements beside it: the words that
/// these lie in are loaded, from multiples of a word, and shifted to where the first element is. No word is read that has none of them.
void Emitter::load_words(const ir::Body& body, size_t k) {
  const ExprRef& load = body[k]->value;
  if (load->kind != ExprKind::load || loaded_.count(load.get()) || !arrays_.count(load->name)) return;
  const Array& from = arrays_.at(load->name);
  const int64_t size = gasell::size_of(from.type);
  const std::optional<Place> place = place_of(load->args[0]);
  if (!from.fixed || size >= kWord || !place) return;
  std::vector<std::pair<int64_t, const Expr*>> elements;
  for (size_t j = k; j < body.size() && gives_name(*body[j]) && body[j]->name != place->base; ++j) {
    const ExprRef& other = body[j]->value;
    if (other->kind != ExprKind::load || other->name != load->name) continue;
    if (const auto at = place_of(other->args[0]); at && at->base == place->base) elements.emplace_back(at->distance, other.get());
  }
  std::sort(elements.begin(), elements.end());
  const int64_t low = elements.front().first, count = elements.back().first - low + 1, bytes = count * size;
  if (elements.size() < 2 || count > 2 * static_cast<int64_t>(elements.size()) || bytes > kMostBytes) return;

  const auto i32 = [&](int64_t v) { return b_.getInt32(static_cast<uint32_t>(v)); };
  const auto at_word = [&](llvm::Value* p) {
    return b_.CreateIntrinsic(llvm::Intrinsic::ptrmask, {p->getType(), b_.getInt64Ty()}, {p, b_.getInt64(static_cast<uint64_t>(-kWord))});
  };
  llvm::Value* index = b_.CreateAdd(value(ir::variable(place->base, DType::i64)).re, b_.getInt64(static_cast<uint64_t>(low)));
  llvm::Value* first = address(from, index, 0);
  llvm::Value* begin = at_word(first);
  // As many as it takes wherever the first element lies in its word; where it takes fewer, the last of them twice.
  const int64_t least = (bytes + kWord - 1) / kWord, most = (bytes + kWord - size + kWord - 1) / kWord;
  std::vector<llvm::Value*> words;
  for (int64_t w = 0; w < most; ++w) {
    llvm::Value* p = w < least ? b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), begin, static_cast<uint64_t>(w * kWord))
                               : at_word(b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), first, static_cast<uint64_t>(bytes - 1)));
    llvm::LoadInst* word = b_.CreateAlignedLoad(b_.getInt32Ty(), p, llvm::Align(kWord));
    word->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    words.push_back(word);
  }
  llvm::Value* offset = b_.CreateAnd(b_.CreateTrunc(b_.CreatePtrToInt(first, b_.getInt64Ty()), b_.getInt32Ty()), i32(kWord - 1));
  llvm::Value* selected = b_.CreateAdd(b_.CreateMul(offset, i32(0x1111)), i32(0x3210));
  std::vector<llvm::Value*> shifted;  // the first element's byte is the lowest of the first
  for (int64_t w = 0; w < least; ++w)
    shifted.push_back(bytes_of(words[static_cast<size_t>(w)], words[static_cast<size_t>(std::min(w + 1, most - 1))], selected));
  for (const auto& [distance, element] : elements) {
    const int64_t byte = (distance - low) * size;
    llvm::Value* word = shifted[static_cast<size_t>(byte / kWord)];
    // Its bytes, the lowest first, then its sign, or bytes of a zero.
    const int64_t at = byte % kWord;
    const int64_t bytes_selected = is_signed(from.type) ? (size == 1 ? 0x8880 + 0x1111 * at : 0x9910 + 0x2222 * (at / 2))
                                                        : (size == 1 ? 0x4440 + at : 0x4410 + 0x22 * (at / 2));
    llvm::Value* wide = bytes_of(word, i32(0), i32(bytes_selected));
    llvm::Value* narrow = b_.CreateBitCast(b_.CreateTrunc(wide, b_.getIntNTy(8 * static_cast<unsigned>(size))), element_type(from.type));
    loaded_[element] = narrow;
    if (is_integer(from.type)) extended_[narrow] = {wide, is_signed(from.type)};
  }
}

/// Stores beside each other whose bytes fill a word, and such stores of other rows behind them: at once where all begin at a multiple of a
/// word's size. How many statements; 0: none.
size_t Emitter::store_words(const ir::Body& body, size_t k) {
  const auto found = arrays_.find(body[k]->name);
  if (found == arrays_.end() || is_complex(found->second.type)) return 0;
  const Array& to = found->second;
  const int64_t size = gasell::size_of(to.type);
  if (size >= kWord) return 0;
  const auto count = static_cast<size_t>(kWord / size);
  const auto fill_word = [&](size_t at) {
    if (at + count > body.size()) return false;
    std::optional<Place> first;
    for (size_t j = 0; j < count; ++j) {
      const Stmt& s = *body[at + j];
      if (s.kind != StmtKind::store || s.name != to.name || has_load(s.value)) return false;
      const auto place = place_of(s.index);
      if (j == 0) first = place;
      if (!first || !place || place->base != first->base || place->distance != first->distance + static_cast<int64_t>(j)) return false;
    }
    return true;
  };
  struct Word {
    std::vector<llvm::Value*> elements;
    llvm::Value *value, *first;
  };
  // Two elements, the lowest of their bytes where what they are begins: a shift by whole bytes is taken into that.
  const auto side_by_side = [&](llvm::Value* a, llvm::Value* b) {
    uint32_t at[2] = {0, 0};
    llvm::Value* whole[2] = {a, b};
    for (size_t k = 0; k < 2; ++k) {
      const auto* shift = llvm::dyn_cast<llvm::BinaryOperator>(whole[k]);
      if (!shift || (shift->getOpcode() != llvm::Instruction::AShr && shift->getOpcode() != llvm::Instruction::LShr)) continue;
      const auto* by = llvm::dyn_cast<llvm::ConstantInt>(shift->getOperand(1));
      const uint64_t bits = by ? by->getZExtValue() : 1;
      if (bits % 8 != 0 || bits / 8 + static_cast<uint64_t>(size) > kWord) continue;
      at[k] = static_cast<uint32_t>(bits / 8);
      whole[k] = shift->getOperand(0);
    }
    const uint32_t selected = size == 1 ? at[0] | (4 + at[1]) << 4 : at[0] | (at[0] + 1) << 4 | (4 + at[1]) << 8 | (5 + at[1]) << 12;
    return bytes_of(whole[0], whole[1], b_.getInt32(selected));
  };
  std::vector<Word> words;
  llvm::Value* offsets = b_.getInt32(0);
  size_t end = k;
  // An index that is named between them is that of the next row.
  for (size_t at = k; at < body.size(); ++at) {
    if (body[at]->kind == StmtKind::let && !words.empty() && !has_load(body[at]->value)) {
      statement(*body[at]);
      end = at + 1;
      continue;
    }
    if (!fill_word(at)) break;
    Word word;
    for (size_t j = 0; j < count; ++j) {
      llvm::Value* v = value(body[at + j]->value).re;
      // What stands in the upper bits of a wider value does not matter.
      if (const auto* narrowed = llvm::dyn_cast<llvm::TruncInst>(v); narrowed && v->getType() == element_type(to.type))
        v = narrowed->getOperand(0);
      if (const auto* widened = llvm::dyn_cast<llvm::SExtInst>(v); widened && widened->getSrcTy() == b_.getInt32Ty())
        v = widened->getOperand(0);
      if (v->getType()->isHalfTy()) v = b_.CreateBitCast(v, b_.getInt16Ty());
      word.elements.push_back(b_.CreateZExtOrTrunc(v, b_.getInt32Ty()));
    }
    const auto& e = word.elements;
    word.value = count == 4 ? bytes_of(side_by_side(e[0], e[1]), side_by_side(e[2], e[3]), b_.getInt32(0x5410)) : side_by_side(e[0], e[1]);
    word.first = address(to, value(body[at]->index).re, 0);
    offsets = b_.CreateOr(offsets, b_.CreateTrunc(b_.CreatePtrToInt(word.first, b_.getInt64Ty()), b_.getInt32Ty()));
    words.push_back(std::move(word));
    at += count - 1;
    end = at + 1;
  }
  if (words.empty()) return 0;
  llvm::BasicBlock *whole = block("whole"), *single = block("single"), *done = block("done");
  llvm::Value* aligned = b_.CreateICmpEQ(b_.CreateAnd(offsets, b_.getInt32(kWord - 1)), b_.getInt32(0));
  b_.CreateCondBr(aligned, whole, single, llvm::MDBuilder(context_).createLikelyBranchWeights());
  b_.SetInsertPoint(whole);
  for (const Word& word : words) b_.CreateAlignedStore(word.value, word.first, llvm::Align(kWord));
  b_.CreateBr(done);
  b_.SetInsertPoint(single);
  for (const Word& word : words)
    for (size_t j = 0; j < count; ++j) {
      llvm::Type* const bits = b_.getIntNTy(8 * static_cast<unsigned>(size));
      llvm::Value* place = b_.CreateConstInBoundsGEP1_64(bits, word.first, j);
      b_.CreateAlignedStore(b_.CreateTrunc(word.elements[j], bits), place, llvm::Align(static_cast<uint64_t>(size)));
    }
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  return end - k;
}

/// Divisions of f64 by one number, which is the same for all threads: by its reciprocal, with a correction that makes the quotient the one
/// that division gives, wherever operands are far from the ends of their range (P. Markstein, Computation of elementary functions on the
/// IBM RISC System/6000 processor, 1990). One branch for all of them leads to where they are divided. How many; 0: fewer than two.
size_t Emitter::divide_together(const ir::Body& body, size_t k) {
  const auto divisor_of = [&](size_t at) -> ExprRef {
    if (at >= body.size() || body[at]->kind != StmtKind::let || body[at]->value->kind != ExprKind::op) return nullptr;
    const Expr& e = *body[at]->value;
    return e.op == ScalarOp::div && e.type == DType::f64 ? e.args[1] : nullptr;
  };
  const ExprRef divisor = divisor_of(k);
  if (b_.getFastMathFlags().any()) return 0;  // NaN would count as what does not come
  if (!divisor || (divisor->kind != ExprKind::constant && divisor->kind != ExprKind::variable)) return 0;
  const auto same = [&](const ExprRef& e) {
    if (!e || e->kind != divisor->kind) return false;
    return e->kind == ExprKind::variable ? e->name == divisor->name : e->value.c == divisor->value.c;
  };
  // A quotient that is divided again is not there yet.
  const auto divides_before = [&](const Expr& e, size_t end, const auto& self) -> bool {
    for (size_t j = k; j < end; ++j)
      if (e.kind == ExprKind::variable && e.name == body[j]->name) return true;
    return std::any_of(e.args.begin(), e.args.end(), [&](const ExprRef& a) { return self(*a, end, self); });
  };
  size_t count = 1;
  while (same(divisor_of(k + count)) && !divides_before(*body[k + count]->value->args[0], k + count, divides_before)) ++count;
  llvm::Value* const by = value(divisor).re;
  if (count < 2 || !(llvm::isa<llvm::Constant>(by) || llvm::isa<llvm::Argument>(by))) return 0;

  // By the upper half of the number, whose bits order positive numbers as those of floats do; NaN is in no range.
  const auto within = [&](llvm::IRBuilder<>& b, llvm::Value* x, int exponent) {
    llvm::Value* upper = b.CreateTrunc(b.CreateLShr(b.CreateBitCast(x, b.getInt64Ty()), 32), b.getInt32Ty());
    llvm::Value* as_float = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, b.CreateBitCast(upper, b.getFloatTy()));
    const auto end = [&](int e) { return b.CreateBitCast(b.getInt32(static_cast<uint32_t>(1023 + e) << 20), b.getFloatTy()); };
    return b.CreateAnd(b.CreateFCmpOGE(as_float, end(-exponent)), b.CreateFCmpOLT(as_float, end(exponent)));
  };
  constexpr int kDivisor = 200, kDividend = 600;  // exponents of 2
  llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().getFirstInsertionPt());
  llvm::Value* reciprocal = entry.CreateFDiv(llvm::ConstantFP::get(by->getType(), 1.0), by);
  llvm::Value* common = within(entry, by, kDivisor);
  std::vector<llvm::Value*> dividends, quotients;
  for (size_t j = 0; j < count; ++j) {
    llvm::Value* x = value(body[k + j]->value->args[0]).re;
    llvm::Value* q = b_.CreateFMul(x, reciprocal);
    llvm::Value* rest = b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {b_.CreateFNeg(q), by, x});
    quotients.push_back(b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {rest, reciprocal, q}));
    dividends.push_back(x);
    common = b_.CreateAnd(common, within(b_, x, kDividend));
  }
  llvm::BasicBlock *divide = block("divide"), *divided = block("divided"), *before = b_.GetInsertBlock();
  b_.CreateCondBr(common, divided, divide, llvm::MDBuilder(context_).createLikelyBranchWeights());
  b_.SetInsertPoint(divide);
  std::vector<llvm::Value*> exact;
  for (llvm::Value* x : dividends) exact.push_back(b_.CreateFDiv(x, by));
  b_.CreateBr(divided);
  b_.SetInsertPoint(divided);
  for (size_t j = 0; j < count; ++j) {
    llvm::PHINode* q = b_.CreatePHI(by->getType(), 2);
    q->addIncoming(quotients[j], before);
    q->addIncoming(exact[j], divide);
    variables_.erase(body[k + j]->name);
    values_[body[k + j]->name] = {q, nullptr};
  }
  return count;
}

}  // namespace gasell
