#include "compiler/codegen/dot_products.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gasell {
namespace {

constexpr unsigned kBytes = 4;        // of a word
constexpr int64_t kMostFactor = 127;  // of what a byte with a sign holds
constexpr size_t kMostTerms = 256;    // of a sum

/// Four bytes that a kernel has in a register, or those that a loop's round takes from the one before.
struct Word {
  int number = 0;
  int row = 0;  // words of a row were loaded beside each other
  bool with_sign = false;
  llvm::Instruction* value = nullptr;
  // Otherwise: where it begins, and what it was before, in the order of the first phi there.
  llvm::BasicBlock* carried_by = nullptr;
  std::vector<const Word*> incoming;

  const llvm::BasicBlock* block() const { return value ? value->getParent() : carried_by; }
};

struct Byte {
  const Word* word;
  unsigned at;
};

using Factors = std::array<int64_t, kBytes>;

/// Some words of a row, in their order, times factors.
using Part = std::vector<std::pair<const Word*, Factors>>;

struct Sum {
  llvm::BinaryOperator* root;
  llvm::MapVector<const Word*, Factors> bytes;
  llvm::MapVector<llvm::Value*, int64_t> others;
  std::vector<const Part*> parts;
};

class DotProducts {
 public:
  explicit DotProducts(llvm::Function& function) : function_(function) {}

  bool run() {
    for (llvm::BasicBlock& block : function_)
      for (llvm::Instruction& i : block)
        if (is_root(i)) add_sum(llvm::cast<llvm::BinaryOperator>(i));
    if (sums_.empty() || !pays()) return false;
    for (Sum& sum : sums_) rewrite(sum);
    std::vector<llvm::WeakTrackingVH> unused;
    for (const Sum& sum : sums_) unused.emplace_back(sum.root);
    for (const auto& [value, byte] : bytes_)
      if (llvm::isa<llvm::PHINode>(value)) unused.emplace_back(value);
    for (const llvm::WeakTrackingVH& each : unused) {
      auto* i = llvm::dyn_cast_or_null<llvm::Instruction>(static_cast<llvm::Value*>(each));
      if (auto* phi = llvm::dyn_cast_or_null<llvm::PHINode>(i))
        llvm::RecursivelyDeleteDeadPHINode(phi);
      else if (i)
        llvm::RecursivelyDeleteTriviallyDeadInstructions(i);
    }
    return true;
  }

 private:
  const Word* word_of(llvm::Instruction* value, bool with_sign) {
    auto& known = words_[{value, with_sign}];
    if (!known) {
      // What the words of a row share is how far the row's first element is from a multiple of a word.
      const auto* moved = llvm::dyn_cast<llvm::IntrinsicInst>(value);
      const bool is_moved = moved && moved->getIntrinsicID() == llvm::Intrinsic::nvvm_prmt;
      known = &all_words_.emplace_back();
      *known = {static_cast<int>(all_words_.size()), row_of({is_moved ? moved->getArgOperand(2) : value}), with_sign, value, nullptr, {}};
    }
    return known;
  }
  const Word* carried_word(llvm::BasicBlock* block, std::vector<const Word*> incoming) {
    auto& known = carried_words_[{block, incoming}];
    if (!known) {
      std::vector<const void*> rows{block};
      for (const Word* word : incoming) rows.push_back(&row_numbers_[static_cast<size_t>(word->row)]);
      known = &all_words_.emplace_back();
      const bool with_sign = incoming.front()->with_sign;
      *known = {static_cast<int>(all_words_.size()), row_of(std::move(rows)), with_sign, nullptr, block, std::move(incoming)};
    }
    return known;
  }
  int row_of(std::vector<const void*> key) {
    const auto [known, fresh] = rows_.try_emplace(std::move(key), static_cast<int>(row_numbers_.size()));
    if (fresh) row_numbers_.push_back(known->second);
    return known->second;
  }

  static llvm::PHINode& first_phi(llvm::BasicBlock& block) { return *block.phis().begin(); }

  /// What Emitter::load_words took out of a word, or what a loop carries of such.
  std::optional<Byte> byte_of(llvm::Value* v) {
    if (!v->getType()->isIntegerTy(32)) return {};
    const auto [known, fresh] = bytes_.try_emplace(v, std::nullopt);
    if (!fresh) return known->second;  // nothing for a value that is being looked at: a loop that carries what it carried
    std::optional<Byte> found;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(v)) {
      std::vector<const Word*> incoming;
      for (llvm::BasicBlock* from : first_phi(*phi->getParent()).blocks()) {
        const std::optional<Byte> byte = byte_of(phi->getIncomingValueForBlock(from));
        if (!byte || (found && (byte->at != found->at || byte->word->with_sign != found->word->with_sign))) return {};
        found = byte;
        incoming.push_back(byte->word);
      }
      if (found) found->word = carried_word(phi->getParent(), std::move(incoming));
    } else if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v); call && call->getIntrinsicID() == llvm::Intrinsic::nvvm_prmt) {
      auto* word = llvm::dyn_cast<llvm::Instruction>(call->getArgOperand(0));
      const auto* zero = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(1));
      const auto* selected = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(2));
      if (!word || llvm::isa<llvm::PHINode>(word) || !zero || !zero->isZero() || !selected) return {};
      for (unsigned at = 0; at < kBytes; ++at) {
        if (selected->getZExtValue() == 0x8880 + 0x1111 * at) found = Byte{word_of(word, true), at};
        if (selected->getZExtValue() == 0x4440 + at) found = Byte{word_of(word, false), at};
      }
    }
    return bytes_[v] = found;
  }

  /// A byte, or one times a small number.
  std::optional<std::pair<Byte, int64_t>> scaled_byte(llvm::Value* v) {
    if (const std::optional<Byte> byte = byte_of(v)) return std::pair{*byte, int64_t{1}};
    const auto* i = llvm::dyn_cast<llvm::BinaryOperator>(v);
    if (!i || (i->getOpcode() != llvm::Instruction::Mul && i->getOpcode() != llvm::Instruction::Shl)) return {};
    const auto* by = llvm::dyn_cast<llvm::ConstantInt>(i->getOperand(1));
    if (!by || by->getBitWidth() != 32) return {};
    const int64_t factor = i->getOpcode() == llvm::Instruction::Mul ? by->getSExtValue()
                           : by->getZExtValue() < 7                 ? 1 << by->getZExtValue()
                                                                    : 128;
    const std::optional<Byte> byte = byte_of(i->getOperand(0));
    if (!byte || factor < -kMostFactor || factor > kMostFactor) return {};
    return std::pair{*byte, factor};
  }

  static bool adds(const llvm::Value* v) {
    const auto* i = llvm::dyn_cast<llvm::BinaryOperator>(v);
    return i && i->getType()->isIntegerTy(32) && (i->getOpcode() == llvm::Instruction::Add || i->getOpcode() == llvm::Instruction::Sub);
  }
  bool has_bytes(llvm::Value* v, const llvm::BasicBlock* block) {
    if (scaled_byte(v)) return true;
    if (!adds(v) || llvm::cast<llvm::Instruction>(v)->getParent() != block) return false;
    const auto [known, fresh] = has_bytes_.try_emplace(v, false);
    if (fresh) {
      auto* i = llvm::cast<llvm::Instruction>(v);
      const bool has = has_bytes(i->getOperand(0), block) || has_bytes(i->getOperand(1), block);
      return has_bytes_[v] = has;
    }
    return known->second;
  }

  /// A sum of bytes that is more than a term of others.
  bool is_root(llvm::Instruction& i) {
    if (!adds(&i) || !has_bytes(&i, i.getParent())) return false;
    return llvm::any_of(i.users(), [&](const llvm::User* user) {
      return !adds(user) || llvm::cast<llvm::Instruction>(user)->getParent() != i.getParent();
    });
  }

  bool collect(llvm::Value* v, int64_t factor, Sum& sum, size_t& terms) {
    if (++terms > kMostTerms) return false;
    if (const auto byte = scaled_byte(v)) {
      sum.bytes[byte->first.word][byte->first.at] += factor * byte->second;
    } else if (has_bytes(v, sum.root->getParent())) {
      auto* i = llvm::cast<llvm::BinaryOperator>(v);
      const int64_t second = i->getOpcode() == llvm::Instruction::Sub ? -factor : factor;
      return collect(i->getOperand(0), factor, sum, terms) && collect(i->getOperand(1), second, sum, terms);
    } else {
      sum.others[v] += factor;
    }
    return true;
  }

  void add_sum(llvm::BinaryOperator& root) {
    Sum sum{&root, {}, {}, {}};
    size_t terms = 0;
    if (!collect(&root, 1, sum, terms)) return;
    std::map<int, Part> rows;
    for (const auto& [word, factors] : sum.bytes) {
      for (const int64_t factor : factors)
        if (factor < -kMostFactor || factor > kMostFactor) return;
      rows[word->row].emplace_back(word, factors);
    }
    for (auto& [row, part] : rows) {
      std::sort(part.begin(), part.end(), [](const auto& a, const auto& b) { return a.first->number < b.first->number; });
      if (!lies_together(part)) return;
      sum.parts.push_back(&*parts_.emplace(std::move(part)).first);
    }
    for (const Part* part : sum.parts) ++uses_[part];
    sums_.push_back(std::move(sum));
  }

  /// Whether there is a place behind all words of a part and before all who use it.
  static bool lies_together(const Part& part) {
    const Word& first = *part.front().first;
    for (const auto& [word, factors] : part)
      if (!word->value != !first.value || word->block() != first.block()) return false;
    for (size_t from = 0; from < first.incoming.size(); ++from)
      if (!lies_together(part_before(part, from))) return false;
    return true;
  }
  /// What a carried part was in one of the blocks that it comes from.
  static Part part_before(const Part& part, size_t from) {
    Part before;
    for (const auto& [word, factors] : part) before.emplace_back(word->incoming[from], factors);
    return before;
  }

  /// By the number of instructions: those that take bytes out of words and add them, and those that would be there instead.
  bool pays() {
    llvm::SmallPtrSet<llvm::Value*, 32> inner, single;
    const auto visit = [&](llvm::Value* v, const llvm::BasicBlock* block, const auto& self) -> void {
      if (!inner.insert(v).second) return;
      if (byte_of(v)) {
        single.insert(v);
        if (auto* phi = llvm::dyn_cast<llvm::PHINode>(v))
          for (llvm::Value* from : phi->incoming_values()) self(from, block, self);
      } else if (scaled_byte(v)) {
        self(llvm::cast<llvm::Instruction>(v)->getOperand(0), block, self);
      } else if (has_bytes(v, block)) {
        for (llvm::Value* operand : llvm::cast<llvm::Instruction>(v)->operands()) self(operand, block, self);
      } else {
        inner.erase(v);
      }
    };
    size_t after = 0;
    for (const Sum& sum : sums_) {
      visit(sum.root, sum.root->getParent(), visit);
      after += sum.parts.size() + sum.others.size() - 1;
    }
    std::set<Part> counted;
    const auto count = [&](const Part& part, const auto& self) -> void {
      if (!counted.insert(part).second) return;
      const Word& first = *part.front().first;
      if (first.value) after += part.size();
      for (size_t from = 0; from < first.incoming.size(); ++from) self(part_before(part, from), self);
    };
    for (const Part& part : parts_)
      if (uses_[&part]) count(part, count);
    size_t before = 0;
    for (llvm::Value* v : inner) {
      const bool stays = single.contains(v) && llvm::any_of(v->users(), [&](llvm::User* user) { return !inner.contains(user); });
      before += !stays && !llvm::isa<llvm::PHINode>(v);
    }
    return after < before;
  }

  llvm::Value* dot(llvm::IRBuilder<>& b, const Word& word, const Factors& factors, llvm::Value* sum) {
    uint32_t packed = 0;
    for (unsigned at = 0; at < kBytes; ++at) packed |= (static_cast<uint32_t>(factors[at]) & 0xff) << (8 * at);
    llvm::Type* i32 = b.getInt32Ty();
    auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(i32, {i32, i32, i32}, false),
                                      word.with_sign ? "dp4a.s32.s32 $0, $1, $2, $3;" : "dp4a.u32.s32 $0, $1, $2, $3;", "=r,r,r,r", false);
    llvm::CallInst* call = b.CreateCall(code, {word.value, b.getInt32(packed), sum});
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    return call;
  }

  llvm::Value* value_of(const Part& part) {
    if (const auto known = values_.find(part); known != values_.end()) return known->second;
    const Word& first = *part.front().first;
    llvm::Value* value;
    if (first.value) {
      llvm::Instruction* last = first.value;
      for (const auto& [word, factors] : part)
        if (last->comesBefore(word->value)) last = word->value;
      llvm::IRBuilder<> b(last->getNextNode());
      value = b.getInt32(0);
      for (const auto& [word, factors] : part) value = dot(b, *word, factors, value);
    } else {
      llvm::PHINode& like = first_phi(*first.carried_by);
      llvm::IRBuilder<> b(first.carried_by, first.carried_by->getFirstNonPHIIt());
      llvm::PHINode* phi = b.CreatePHI(b.getInt32Ty(), like.getNumIncomingValues());
      for (unsigned from = 0; from < like.getNumIncomingValues(); ++from)
        phi->addIncoming(value_of(part_before(part, from)), like.getIncomingBlock(from));
      value = phi;
    }
    return values_[part] = value;
  }

  void rewrite(Sum& sum) {
    llvm::IRBuilder<> b(sum.root);
    llvm::Value* total = nullptr;
    const auto add = [&](llvm::Value* v) { total = total ? b.CreateAdd(total, v) : v; };
    const auto is_own = [&](const Part* part) { return uses_[part] == 1 && part->front().first->value; };
    for (const auto& [other, factor] : sum.others)
      if (factor != 0) add(factor == 1 ? other : b.CreateMul(other, b.getInt32(static_cast<uint32_t>(factor))));
    for (const Part* part : sum.parts)
      if (!is_own(part)) add(value_of(*part));
    // What no other sum has is added by the dot products themselves.
    for (const Part* part : sum.parts)
      if (is_own(part))
        for (const auto& [word, factors] : *part) total = dot(b, *word, factors, total ? total : b.getInt32(0));
    sum.root->replaceAllUsesWith(total);
  }

  llvm::Function& function_;
  std::deque<Word> all_words_;
  std::map<std::pair<llvm::Instruction*, bool>, Word*> words_;
  std::map<std::pair<const llvm::BasicBlock*, std::vector<const Word*>>, Word*> carried_words_;
  std::map<std::vector<const void*>, int> rows_;
  std::deque<int> row_numbers_;
  llvm::DenseMap<llvm::Value*, std::optional<Byte>> bytes_;
  llvm::DenseMap<llvm::Value*, bool> has_bytes_;
  std::vector<Sum> sums_;
  std::set<Part> parts_;
  std::map<const Part*, int> uses_;
  std::map<Part, llvm::Value*> values_;
};

}  // namespace

bool use_dot_products(llvm::Function& function) { return DotProducts(function).run(); }

}  // namespace gasell
