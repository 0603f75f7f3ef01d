// Rewritings of rows, before they are found. The rules are a value: a list of named functions, each of which gives what stands for an
// expression of another form, or nothing. GASELL_RULES=0 switches all of them off.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/frame/rows.h"

namespace gasell::frame {

struct Rule {
  std::string name;
  std::function<RowsRef(Engine&, const RowsRef&)> rewrite;  // null: not of that form
  std::string why_here;
};
/// In the order in which they are tried.
const std::vector<Rule>& row_rules();
/// The rows after the rules, which were tried until none fits; the names of those that fired are appended to `fired`.
RowsRef simplify(Engine& engine, RowsRef rows, std::vector<std::string>* fired = nullptr);

/// What an operator reads that passes over rows in any order and can leave some out: grouping, firsts of groups, a search.
struct Input {
  std::vector<Column> columns;
  NodeRef mask = nullptr;            // boolean: the rows that count; null: all
  RowsRef filter = nullptr;          // which the mask is of
  std::vector<Column> by = {};       // the order that the rows stand in, equal ones as they are; none: as they are
  std::vector<KeyOrder> order = {};  // one a column of `by`
};
struct InputRule {
  std::string name;
  std::function<bool(Engine&, Input&)> rewrite;  // whether it was of that form, and is another one now
  std::string why_here;
};
/// What takes an order out of columns, and leaves it to the operator.
const InputRule& order_into_operator();
/// What takes a filter out of columns that are expressions, element by element, over those of one filtered frame that nobody read yet.
const InputRule& filter_into_operator();
/// Applies a rule where rules are on, it fits, and what it makes of the input pays; otherwise the input stays. --explain names it.
bool apply(Engine& engine, const InputRule& rule, Input& input, const std::function<bool(const Input&)>& pays = {});

}  // namespace gasell::frame
