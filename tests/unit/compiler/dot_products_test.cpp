// Sums of bytes by dot products: random sums, straight and carried by loops, give what they gave before.
#include "compiler/codegen/dot_products.h"

#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include <map>
#include <random>

#include "catch.h"

namespace {

using Arguments = std::vector<uint32_t>;

/// Runs a function of 32-bit integers with the instructions that these tests write, and PTX's prmt and dp4a.
class Machine {
 public:
  uint32_t run(const llvm::Function& function, const Arguments& arguments) {
    for (const llvm::Argument& a : function.args()) values_[&a] = arguments[a.getArgNo()];
    const llvm::BasicBlock *block = &function.getEntryBlock(), *before = nullptr;
    for (;;) {
      std::map<const llvm::Value*, uint32_t> begins;
      for (const llvm::PHINode& phi : block->phis()) begins[&phi] = at(phi.getIncomingValueForBlock(before));
      for (const auto& [phi, value] : begins) values_[phi] = value;
      for (const llvm::Instruction& i : *block) {
        if (llvm::isa<llvm::PHINode>(i)) continue;
        if (const auto* end = llvm::dyn_cast<llvm::ReturnInst>(&i)) return at(end->getReturnValue());
        if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&i)) {
          before = std::exchange(block, branch->getSuccessor(branch->isConditional() && !at(branch->getCondition())));
          break;
        }
        values_[&i] = result(i);
      }
    }
  }

 private:
  uint32_t at(const llvm::Value* v) {
    const auto* c = llvm::dyn_cast<llvm::ConstantInt>(v);
    return c ? static_cast<uint32_t>(c->getZExtValue()) : values_.at(v);
  }
  uint32_t result(const llvm::Instruction& i) {
    const uint32_t a = at(i.getOperand(0)), b = at(i.getOperand(1));
    switch (i.getOpcode()) {
      case llvm::Instruction::Add: return a + b;
      case llvm::Instruction::Sub: return a - b;
      case llvm::Instruction::Mul: return a * b;
      case llvm::Instruction::Shl: return a << b;
      case llvm::Instruction::Xor: return a ^ b;
      case llvm::Instruction::ICmp: return a < b;
      default: break;
    }
    const auto& call = llvm::cast<llvm::CallInst>(i);
    const uint32_t c = at(call.getArgOperand(2));
    const auto* code = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
    return code ? dp4a(llvm::StringRef(code->getAsmString()).starts_with("dp4a.s32"), a, b, c) : prmt(a, b, c);
  }
  static uint32_t prmt(uint32_t a, uint32_t b, uint32_t selected) {
    const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
    uint32_t value = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const uint32_t nibble = selected >> (4 * k) & 0xf;
      const auto byte = static_cast<uint32_t>(bytes >> (8 * (nibble & 7)) & 0xff);
      value |= (nibble & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << (8 * k);
    }
    return value;
  }
  static uint32_t dp4a(bool with_sign, uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned k = 0; k < 4; ++k) {
      const auto byte = static_cast<uint8_t>(a >> (8 * k));
      const int first = with_sign ? static_cast<int8_t>(byte) : byte;
      c += static_cast<uint32_t>(first * static_cast<int8_t>(b >> (8 * k)));
    }
    return c;
  }

  std::map<const llvm::Value*, uint32_t> values_;
};

int dot_products_in(const llvm::Function& function) {
  int count = 0;
  for (const llvm::BasicBlock& block : function)
    for (const llvm::Instruction& i : block)
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) count += call->isInlineAsm();
  return count;
}

/// Functions as text: rows of words that bytes are taken out of, and sums of them.
class Writer {
 public:
  explicit Writer(unsigned seed) : random_(seed) {}
  int any(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string name() { return fmt::format("%v{}", ++names_); }

  /// The names of the bytes of a row of two words, which `salt` changes from round to round.
  std::vector<std::string> row(int number, bool with_sign, const std::string& salt) {
    std::vector<std::string> bytes;
    for (int w = 0; w < 2; ++w) {
      const std::string salted = name(), word = name();
      text += fmt::format("  {} = xor i32 %a{}, {}\n", salted, (number + w) % 6, salt);
      text += fmt::format("  {} = call i32 @llvm.nvvm.prmt(i32 {}, i32 %a{}, i32 %s{})\n", word, salted, (number + w + 1) % 6, number % 2);
      for (int at = 0; at < 4; ++at) {
        bytes.push_back(name());
        text += fmt::format("  {} = call i32 @llvm.nvvm.prmt(i32 {}, i32 0, i32 {})\n", bytes.back(), word,
                            with_sign ? 0x8880 + 0x1111 * at : 0x4440 + at);
      }
    }
    return bytes;
  }
  /// A sum of some of the bytes, of other numbers and of sums from before.
  std::string sum(const std::vector<std::string>& bytes) {
    std::string total = bytes[static_cast<size_t>(any(static_cast<int>(bytes.size())))];
    for (int k = 1 + any(9); k > 0; --k) {
      std::string term = any(8)                    ? bytes[static_cast<size_t>(any(static_cast<int>(bytes.size())))]
                         : any(2) || sums_.empty() ? "%a0"
                                                   : sums_[static_cast<size_t>(any(static_cast<int>(sums_.size())))];
      if (any(4) == 0) {
        const std::string scaled = name();
        text += any(2) ? fmt::format("  {} = mul i32 {}, {}\n", scaled, term, any(300) - 150)
                       : fmt::format("  {} = shl i32 {}, {}\n", scaled, term, any(9));
        term = scaled;
      }
      const std::string next = name();
      text += fmt::format("  {} = {} i32 {}, {}\n", next, any(3) ? "add" : "sub", total, term);
      total = next;
    }
    sums_.push_back(total);
    return total;
  }
  void forget_sums() { sums_.clear(); }

  std::string text;

 private:
  std::mt19937 random_;
  int names_ = 0;
  std::vector<std::string> sums_;
};

constexpr const char* kBegin =
    "declare i32 @llvm.nvvm.prmt(i32, i32, i32)\n"
    "define i32 @f(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i32 %a5, i32 %s0, i32 %s1, i32 %rounds) {\nentry:\n";

std::string straight(unsigned seed) {
  Writer w(seed);
  w.text = kBegin;
  std::vector<std::string> bytes;
  for (int row = 0; row < 3; ++row)
    for (std::string& byte : w.row(row, w.any(2), "0")) bytes.push_back(std::move(byte));
  std::string all = "0";
  for (int k = 0; k < 6; ++k) {
    const std::string sum = w.sum(bytes), scaled = w.name(), next = w.name();
    w.text += fmt::format("  {} = mul i32 {}, {}\n  {} = xor i32 {}, {}\n", scaled, sum, 7282 + k, next, all, scaled);
    all = next;
  }
  return w.text + "  ret i32 " + all + "\n}\n";
}

/// Rows of three that go down: each round loads one and carries two.
std::string carried(unsigned seed) {
  Writer w(seed);
  w.text = kBegin;
  const bool with_sign = w.any(2);
  const std::vector<std::string> first = w.row(0, with_sign, "1"), second = w.row(1, with_sign, "2");
  w.text += "  br label %loop\nloop:\n  %i = phi i32 [0, %entry], [%next, %loop]\n  %all = phi i32 [0, %entry], [%done, %loop]\n";
  std::vector<std::string> bytes;
  std::string later;
  for (size_t k = 0; k < first.size(); ++k) {
    const std::string upper = w.name(), lower = w.name();
    // The blocks are not in one order everywhere.
    w.text += fmt::format("  {} = phi i32 [{}, %entry], [{}, %loop]\n", upper, first[k], lower);
    w.text += fmt::format("  {} = phi i32 [@{}, %loop], [{}, %entry]\n", lower, k, second[k]);
    bytes.insert(bytes.end(), {upper, lower});
  }
  const std::vector<std::string> loaded = w.row(2, with_sign, "%i");
  for (size_t k = 0; k < loaded.size(); ++k)
    w.text.replace(w.text.find(fmt::format("@{},", k)), fmt::format("@{},", k).size(), loaded[k] + ",");
  bytes.insert(bytes.end(), loaded.begin(), loaded.end());
  std::string all = "%all";
  for (int k = 0; k < 5; ++k) {
    const std::string sum = w.sum(bytes), scaled = w.name(), next = k == 4 ? "%done" : w.name();
    w.text += fmt::format("  {} = mul i32 {}, {}\n  {} = xor i32 {}, {}\n", scaled, sum, 31 + k, next, all, scaled);
    all = next;
  }
  return w.text +
         "  %next = add i32 %i, 1\n  %goes_on = icmp ult i32 %next, %rounds\n  br i1 %goes_on, label %loop, label %end\nend:\n  ret i32 "
         "%done\n}\n";
}

struct Parsed {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  llvm::Function& function() { return *module->getFunction("f"); }
  explicit Parsed(const std::string& text) {
    llvm::SMDiagnostic error;
    module = llvm::parseAssemblyString(text, error, context);
    INFO(error.getMessage().str() << "\n" << text);
    REQUIRE(module);
  }
};

/// Whether the function was changed; the results must be the same.
bool keeps_results(const std::string& text, unsigned seed) {
  Parsed parsed(text);
  std::mt19937 random(seed);
  std::vector<Arguments> all;
  std::vector<uint32_t> expected;
  for (int k = 0; k < 8; ++k) {
    Arguments arguments;
    for (int a = 0; a < 6; ++a) arguments.push_back(static_cast<uint32_t>(random()));
    for (int s = 0; s < 2; ++s) arguments.push_back(0x3210 + 0x1111 * (random() % 4));
    arguments.push_back(1 + random() % 5);
    expected.push_back(Machine().run(parsed.function(), arguments));
    all.push_back(std::move(arguments));
  }
  const bool changed = gasell::use_dot_products(parsed.function());
  INFO(text);
  CHECK_FALSE(llvm::verifyModule(*parsed.module));
  CHECK(changed == (dot_products_in(parsed.function()) > 0));
  for (size_t k = 0; k < all.size(); ++k) CHECK(Machine().run(parsed.function(), all[k]) == expected[k]);
  return changed;
}

}  // namespace

TEST_CASE("sums of bytes are dot products with the same results") {
  int changed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) changed += keeps_results(straight(seed), seed);
  CHECK(changed > 100);
}

TEST_CASE("sums of bytes that a loop carries are carried themselves") {
  int changed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) changed += keeps_results(carried(seed), seed);
  CHECK(changed > 100);
}

TEST_CASE("what rows share is added once") {
  // Sums of three bytes of two rows beside and below each other, as a mean of an image takes them.
  Writer w(0);
  w.text = kBegin;
  const std::vector<std::string> upper = w.row(0, true, "0"), lower = w.row(1, true, "0");
  std::string all = "0";
  for (const size_t at : {size_t{0}, size_t{1}})
    for (const bool both : {false, true}) {
      std::string total = "0";
      for (size_t k = at; k < at + 6; ++k) {
        if (k == at + 3 && !both) break;
        const std::string next = w.name();
        w.text += fmt::format("  {} = add i32 {}, {}\n", next, total, k < at + 3 ? upper[k] : lower[k - 3]);
        total = next;
      }
      const std::string next = w.name();
      w.text += fmt::format("  {} = xor i32 {}, {}\n", next, all, total);
      all = next;
    }
  Parsed parsed(w.text + "  ret i32 " + all + "\n}\n");
  CHECK(gasell::use_dot_products(parsed.function()));
  CHECK(dot_products_in(parsed.function()) == 4);
}

TEST_CASE("bytes that are wanted by themselves stay") {
  Writer w(0);
  w.text = kBegin;
  const std::vector<std::string> bytes = w.row(0, false, "0");
  Parsed parsed(w.text +
                fmt::format("  %sum = add i32 {0}, {4}\n  %first = xor i32 {0}, {4}\n  %all = xor i32 %sum, %first\n  ret i32 %all\n}}\n",
                            bytes[0], bytes[1], bytes[2], bytes[3], bytes[4]));
  CHECK_FALSE(gasell::use_dot_products(parsed.function()));
}
