// Sums that share terms are the same numbers, with fewer additions.
#include "compiler/ir/share_sums.h"

#include <functional>
#include <map>
#include <random>
#include <utility>

#include "catch.h"
#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"
#include "unit/compiler/ir_values.h"

using namespace gasell;
using namespace gasell::ir;

namespace {

/// What the kernel's lets are, given its scalars.
Values run(const Kernel& kernel, Values values) {
  for (const StmtRef& s : kernel.body) values[s->name] = evaluate(s->value, values);
  return values;
}

/// Additions of what `wanted` needs.
int additions(const Kernel& kernel, const std::vector<std::string>& wanted) {
  std::map<std::string, ExprRef> lets;
  for (const StmtRef& s : kernel.body) lets[s->name] = s->value;
  std::map<std::string, bool> seen;
  int count = 0;
  const std::function<void(const std::string&)> follow = [&](const std::string& name) {
    if (!lets.count(name) || std::exchange(seen[name], true)) return;
    visit(lets.at(name), [&](const Expr& e) {
      count += e.kind == ExprKind::op && e.op == ScalarOp::add;
      if (e.kind == ExprKind::variable) follow(e.name);
    });
  };
  for (const std::string& name : wanted) follow(name);
  return count;
}

ExprRef i32(const char* stem, int row, int column) {
  return cast(variable(stem + std::to_string(row) + "_" + std::to_string(column), DType::i8), DType::i32);
}

}  // namespace

TEST_CASE("sums of neighbours share their columns") {
  constexpr int kRows = 4, kColumns = 4;
  Kernel kernel;
  Values values;
  for (int r = 0; r < kRows + 2; ++r)
    for (int c = 0; c < kColumns + 2; ++c) {
      const std::string name = "x" + std::to_string(r) + "_" + std::to_string(c);
      kernel.params.push_back({Parameter::Kind::scalar, name, DType::i8});
      values[name] = Scalar::of_int((r * 37 + c * 101) % 256 - 128).cast(DType::i8);
    }
  std::vector<std::string> sums;
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) {
      ExprRef sum;
      for (int k = 0; k < 9; ++k) {
        const ExprRef term = i32("x", r + k / 3, c + k % 3);
        // As lowering writes it: each addition has a name of the script's type.
        if (!sum) {
          sum = term;
          continue;
        }
        const std::string name = "v" + std::to_string(r) + "_" + std::to_string(c) + "_" + std::to_string(k);
        kernel.body.push_back(let(name, cast(op(ScalarOp::add, {sum, term}), DType::i64)));
        sum = cast(variable(name, DType::i64), DType::i32);
      }
      sums.push_back("s" + std::to_string(r) + "_" + std::to_string(c));
      kernel.body.push_back(let(sums.back(), op(ScalarOp::mul, {sum, constant(Scalar::of_int(7).cast(DType::i32))})));
    }
  const Kernel shared = share_sums(kernel);
  const Values before = run(kernel, values), after = run(shared, values);
  for (const std::string& name : sums) REQUIRE(before.at(name).same_bits(after.at(name)));
  REQUIRE(additions(kernel, sums) == kRows * kColumns * 8);
  // Columns of three once for the three sums that have them: two additions each, and two for each sum.
  REQUIRE(additions(shared, sums) == kRows * (kColumns + 2) * 2 + kRows * kColumns * 2);
}

TEST_CASE("random sums share terms and stay the same") {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int fewer = 0;
  for (int round = 0; round < 300; ++round) {
    Kernel kernel;
    Values values;
    std::vector<ExprRef> terms;
    for (int k = 0; k < 6; ++k) {
      const std::string name = "p" + std::to_string(k);
      kernel.params.push_back({Parameter::Kind::scalar, name, DType::i32});
      values[name] = Scalar::of_int(static_cast<int32_t>(random())).cast(DType::i32);  // sums wrap around
      terms.push_back(variable(name, DType::i32));
    }
    std::vector<std::string> names;
    for (int s = 0; s < 8; ++s) {
      ExprRef sum = terms[static_cast<size_t>(below(static_cast<int>(terms.size())))];
      for (int k = below(6); k >= 0; --k) {
        const ExprRef& term = terms[static_cast<size_t>(below(static_cast<int>(terms.size())))];
        sum = op(below(9) ? ScalarOp::add : ScalarOp::sub, {sum, below(5) ? term : op(ScalarOp::mul, {term, terms[0]})});
      }
      names.push_back("s" + std::to_string(s));
      kernel.body.push_back(let(names.back(), sum));
      if (below(2)) terms.push_back(variable(names.back(), DType::i32));  // others go on from it
      if (below(2)) terms.push_back(cast(cast(variable(names.back(), DType::i32), DType::i64), DType::i32));
    }
    const Kernel shared = share_sums(kernel);
    const Values before = run(kernel, values), after = run(shared, values);
    for (const std::string& name : names) REQUIRE(before.at(name).same_bits(after.at(name)));
    fewer += additions(shared, names) < additions(kernel, names);
  }
  REQUIRE(fewer > 30);
}
