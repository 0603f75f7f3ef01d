#include "compiler/c_kernels/elementwise.h"

namespace gasell::c_kernels {

using functions::Type;
using ir::constant_i64;

namespace {

/// Elements that a core takes at a time.
constexpr int64_t kPiece = 16384;

ExprRef least(ExprRef a, ExprRef b) { return ir::op(ScalarOp::min, {std::move(a), std::move(b)}); }
ExprRef most(ExprRef a, ExprRef b) { return ir::op(ScalarOp::max, {std::move(a), std::move(b)}); }

class Elementwise {
 public:
  Elementwise(const ElementwiseText& kernel, const std::vector<Type>& arguments, bool overlapping, const functions::Options& options)
      : kernel_(kernel), arguments_(arguments), frame_(kernel.name, options, overlapping) {}

  functions::Compiled run() {
    struct Given {
      const Parameter& parameter;
      std::optional<Array> array;
      ExprRef number;
    };
    std::vector<Given> given;
    for (size_t k = 0; k < kernel_.parameters.size(); ++k) {
      const Parameter& p = kernel_.parameters[k];
      if (arguments_[k].is_array())
        given.push_back({p, frame_.array(arguments_[k], p.name, !p.is_const), nullptr});
      else
        given.push_back({p, std::nullopt, frame_.scalar(arguments_[k].dtype, p.name)});
    }
    extents_ = frame_.tuple(arguments_.back(), "extent");
    size_ = frame_.code.bind(product(extents_), "size");
    frame_.begin(kernel_.parameters, arguments_, kernel_.preamble);
    frame_.text.declare_number("n", size_);
    for (const Given& g : given) {
      if (!g.array)
        frame_.text.declare_number(g.parameter.name, g.number);
      else if (g.parameter.raw)
        frame_.text.declare_array(g.parameter.name, *g.array);
      else
        elements_.emplace_back(g.parameter.name, *g.array);
    }
    frame_.in_threads() ? threads() : loops();
    return frame_.finish(arguments_);
  }

 private:
  void element(const ExprRef& place, const std::vector<ExprRef>& index) {
    Translator& text = frame_.text;
    text.open_scope();
    text.declare_number("i", place);
    text.declare_indexer("_ind", size_, place);
    for (const auto& [name, array] : elements_) text.declare_element(name, array, frame_.code.bind(offset(index, array.strides), "at"));
    text.run_until_left([&] {
      text.statements(kernel_.loop_prep, true);
      text.open_scope();
      text.statements(kernel_.operation, true);
      text.close_scope();
    });
    text.run_until_left([&] { text.statements(kernel_.after_loop, true); });
    text.close_scope();
  }

  void threads() {
    Code& code = frame_.code;
    const ExprRef place = code.bind(frame_.ask("ctaid_x") * frame_.ask("ntid_x") + frame_.ask("tid_x"), "i");
    code.open();
    element(place, unravel(code, place, extents_));
    code.emit(ir::if_(ir::op(ScalarOp::lt, {place, size_}), code.close(), {}));
  }

  /// for unit in 0 .. units: for row in its rows: for j in 0 .. width, the last axis'; one axis: its elements are rows.
  void loops() {
    Code& code = frame_.code;
    const bool has_rows = extents_.size() > 1;
    const ExprRef width = has_rows ? extents_.back() : constant_i64(1);
    const ExprRef rows = has_rows ? code.bind(product({extents_.begin(), extents_.end() - 1}), "rows") : size_;
    const ExprRef share = code.bind(most(constant_i64(1), constant_i64(kPiece) / most(width, constant_i64(1))), "share");
    const ExprRef units = code.bind((rows + share - constant_i64(1)) / share, "units");
    const std::string unit = code.fresh("unit"), row = code.fresh(has_rows ? "row" : "i"), column = code.fresh("column");
    const ExprRef row_number = ir::variable(row, DType::i64), column_number = ir::variable(column, DType::i64);
    code.open();
    const ExprRef first = code.bind(ir::variable(unit, DType::i64) * share, "first");
    const ExprRef last = code.bind(least(first + share, rows), "last");
    code.open();
    if (has_rows) {
      std::vector<ExprRef> index = unravel(code, row_number, {extents_.begin(), extents_.end() - 1});
      index.push_back(column_number);
      code.open();
      element(code.bind(row_number * width + column_number, "i"), index);
      ir::Body inside = code.close();
      code.emit(ir::loop(column, constant_i64(0), width, ir::LoopKind::serial, std::move(inside)));
    } else {
      element(row_number, extents_.empty() ? std::vector<ExprRef>() : std::vector{row_number});
    }
    ir::Body body = code.close();
    code.emit(ir::loop(row, first, last, ir::LoopKind::serial, std::move(body)));
    body = code.close();
    code.emit(ir::loop(unit, constant_i64(0), units, ir::LoopKind::unit, std::move(body)));
  }

  const ElementwiseText& kernel_;
  const std::vector<Type>& arguments_;
  Frame frame_;
  std::vector<ExprRef> extents_;
  ExprRef size_;
  std::vector<std::pair<std::string, Array>> elements_;
};

}  // namespace

functions::Compiled compile_elementwise(const ElementwiseText& kernel, const std::vector<Type>& arguments, bool overlapping,
                                        const functions::Options& options) {
  return Elementwise(kernel, arguments, overlapping, options).run();
}

bool needs_threads(const SourceRef& text) { return text->text().find("atomic") != std::string::npos; }

}  // namespace gasell::c_kernels
