// What kernels in C have in common: parameters of the loop IR from the types of the arguments, and the whole as compiled functions are.
#pragma once

#include <string>
#include <vector>

#include "compiler/c_kernels/parameters.h"
#include "compiler/c_kernels/translator.h"

namespace gasell::c_kernels {

class Frame {
 public:
  /// `options.cuda`: the kernel is what one thread of a grid does.
  Frame(std::string name, const functions::Options& options, bool overlapping);

  /// The argument's memory, then its extents and, where its layout is any, its strides.
  Array array(const functions::Type& type, const std::string& name, bool writable);
  ExprRef scalar(DType type, const std::string& name);
  std::vector<ExprRef> tuple(const functions::Type& type, const std::string& name);

  /// Declares the placeholders' types and reads the preamble, then opens the scope of the parameters.
  void begin(const std::vector<Parameter>& parameters, const std::vector<functions::Type>& arguments, const SourceRef& preamble);
  functions::Compiled finish(const std::vector<functions::Type>& arguments);

  /// The thread's number in the grid of kernels of threads.
  ExprRef ask(const std::string& function);
  bool in_threads() const { return options_.cuda; }

  Code code;
  Translator text;

 private:
  const std::string name_;
  const functions::Options options_;
  const bool overlapping_;
  std::vector<ir::Parameter> parameters_;
};

/// Σ index * stride.
ExprRef offset(const std::vector<ExprRef>& index, const std::vector<ExprRef>& strides);
/// A place among elements in C order as an index of each axis; bound.
std::vector<ExprRef> unravel(Code& code, ExprRef place, const std::vector<ExprRef>& extents);
ExprRef product(const std::vector<ExprRef>& extents);

}  // namespace gasell::c_kernels
