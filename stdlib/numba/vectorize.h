// What vectorize makes of a function of numbers: a ufunc.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "runtime/functions/call.h"
#include "stdlib/numba/outside.h"
#include "stdlib/numba/types.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::numba {

class Vectorized final : public Object {
 public:
  Vectorized(Interpreter& in, Value function, functions::Options options, Value identity);
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  Value call(Interpreter&, Arguments) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;

  /// Adds a loop for these types; from then on no others are made.
  void declare(Interpreter& in, const Signature& signature);
  const Value& function() const { return function_; }
  const functions::Options& options() const { return options_; }

 private:
  struct Loop {
    std::vector<DType> inputs;
    DType result;
    /// The function, where as_graph() may take it; made when first wanted.
    std::optional<functions::Compiled> compiled;
    bool is_expression = true;
  };
  Loop& add_loop(Interpreter& in, std::vector<DType> inputs);
  Loop& choose(Interpreter& in, const std::vector<numpy::Operand>& operands);
  /// The function of whole arrays, part of whatever expression it stands in; null where it needs loops of its own.
  graph::NodeRef expression(Loop& loop, const std::vector<graph::NodeRef>& operands) const;
  functions::Dispatch& dispatch(Interpreter& in, int rank, const std::vector<bool>& scalars, bool masked);

  const Value function_, identity_;
  functions::Options options_;
  std::unique_ptr<Compilation> compilation_;
  std::shared_ptr<const functions::Function> scalar_;
  size_t inputs_ = 0;
  bool declared_ = false;
  std::deque<Loop> loops_;  // in the order in which they were made
  std::unique_ptr<functions::Dispatch> scalar_dispatch_;
  /// By rank, which operands are numbers, and whether there is a mask.
  std::map<std::tuple<int, std::vector<bool>, bool>, std::unique_ptr<functions::Dispatch>> dispatches_;
};

}  // namespace gasell::numba
