// What stencil makes of a kernel with relative indices: a function of arrays.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stdlib/numba/arguments.h"
#include "stdlib/numba/stencil_trees.h"

namespace gasell::numba {

class Stencil final : public Object {
 public:
  struct Options {
    std::optional<Scalar> border;  // cval: what stands where the kernel does not reach
    bool border_is_number = true;  // else the kernel cannot be called
    Reach neighborhood;            // empty: found from the indices
    BorderMode mode = BorderMode::constant;
    std::optional<DType> dtype;  // of the result; else what the kernel returns
    std::vector<std::string> standard_indexing;
  };
  Stencil(Interpreter& in, Value function, Options options);
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  Value call(Interpreter&, Arguments) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;
  /// What compiled functions call.
  functions::Outside outside();
  /// Whether an argument that is such a result itself stays an expression.
  void set_chained(bool chained) { chained_ = chained; }

 private:
  /// The function of arrays in the language, for arguments of these types; null where the first is no array.
  std::shared_ptr<const functions::Function> wrapper(std::vector<functions::Type> types, bool out);
  /// The kernel for arguments of which some are arrays: its function of absolute indices, and how far it reaches.
  struct Kernel {
    std::shared_ptr<const functions::Function> function;
    std::shared_ptr<const functions::Function> relative;  // its elements by functions::kRelative
    Reach reach;                                          // on the axes of the first array
    std::unique_ptr<functions::Dispatch> loops;
    /// By the arguments' types.
    struct Typed {
      std::vector<functions::Type> types;
      DType result;
      std::optional<functions::Compiled> relative;  // none: it cannot be an expression
      /// As an expression for arrays of some shapes, and some numbers; made once, for calls that come again.
      struct Expression {
        std::vector<graph::Shape> shapes;
        std::vector<Scalar> numbers;
        bool bordered;                                    // with what stands at the border
        std::shared_ptr<const graph::Function> function;  // null: it has none
      };
      std::deque<Expression> expressions;  // those wanted last
    };
    std::deque<Typed> typed;
  };
  Kernel& kernel(Interpreter& in, const std::vector<functions::Type>& types);
  Kernel::Typed& typed(Kernel& kernel, const std::vector<functions::Type>& types);
  /// Null: the loops have to do it. `bordered`: of the first array's shape, with the border's value around what the kernel reaches.
  graph::NodeRef expression(Kernel::Typed& typed, const CallArguments& arguments, const Reach& reach, bool bordered) const;

  const Value function_;
  const Options options_;
  bool chained_ = false;
  std::unique_ptr<Compilation> compilation_;
  std::map<std::vector<int>, Kernel> kernels_;  // by the arguments' ranks; -1: no array
};

}  // namespace gasell::numba
