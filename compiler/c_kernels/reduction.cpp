#include "compiler/c_kernels/reduction.h"

namespace gasell::c_kernels {

using functions::Type;
using ir::constant_i64;

namespace {

/// Elements that a core takes at a time, and results that it does together.
constexpr int64_t kPiece = 16384, kTogether = 256;

ExprRef both(ScalarOp op, ExprRef a, ExprRef b) { return ir::op(op, {std::move(a), std::move(b)}); }
ExprRef index_variable(const std::string& name) { return ir::variable(name, DType::i64); }

class Reduction {
 public:
  Reduction(const ReductionText& kernel, const ReductionForm& form, const std::vector<Type>& arguments, bool overlapping,
            const functions::Options& options)
      : kernel_(kernel),
        form_(form),
        arguments_(arguments),
        frame_(kernel.name, options, overlapping),
        code_(frame_.code),
        text_(frame_.text) {}

  functions::Compiled run() {
    std::vector<Array> arrays(kernel_.parameters.size());
    std::vector<ExprRef> numbers(kernel_.parameters.size());
    size_t next = 0;
    for (size_t k = 0; k < kernel_.parameters.size(); ++k, ++next) {
      const Parameter& p = kernel_.parameters[k];
      if (arguments_[k].is_array())
        arrays[k] = frame_.array(arguments_[k], p.name, !p.is_const);
      else
        numbers[k] = frame_.scalar(arguments_[k].dtype, p.name);
    }
    if (form_.of_pieces) read_ = frame_.array(arguments_[next++], "pieces", false);
    if (!form_.last) written_ = frame_.array(arguments_[next++], "pieces", true);
    const std::vector<ExprRef> extents = frame_.tuple(arguments_[next], "extent");
    reduced_.assign(extents.begin(), extents.begin() + form_.reduced);
    kept_.assign(extents.begin() + form_.reduced, extents.end());
    elements_ = frame_.scalar(DType::i64, "elements");
    results_ = frame_.scalar(DType::i64, "results");
    length_ = frame_.scalar(DType::i64, "length");
    pieces_ = frame_.scalar(DType::i64, "pieces");

    frame_.begin(kernel_.parameters, arguments_, kernel_.preamble);
    for (size_t k = 0; k < kernel_.parameters.size(); ++k) {
      const Parameter& p = kernel_.parameters[k];
      if (numbers[k])
        text_.declare_number(p.name, numbers[k]);
      else if (p.raw)
        text_.declare_array(p.name, arrays[k]);
      else
        (k < kernel_.inputs ? inputs_ : outputs_).emplace_back(p.name, arrays[k]);
    }
    text_.declare_indexer("_in_ind", code_.bind(product(extents), "all"), constant_i64(0));
    text_.declare_indexer("_out_ind", results_, constant_i64(0));
    type_ = text_.type_name(kernel_.reduce_type);
    items_ = code_.bind(results_ * pieces_, "items");
    if (frame_.in_threads())
      threads();
    else if (form_.lanes > 1)
      items();
    else
      columns();
    return frame_.finish(arguments_);
  }

 private:
  ExprRef identity() {
    if (kernel_.identity->text().find_first_not_of(" \t\n") == std::string::npos) return ir::constant(Scalar::of_int(0).cast(type_));
    return text_.expression(kernel_.identity, type_);
  }

  ExprRef reduce(const ExprRef& a, const ExprRef& b) {
    text_.open_scope();
    text_.declare_number("a", code_.bind(a, "a"));
    text_.declare_number("b", code_.bind(b, "b"));
    const ExprRef value = text_.expression(kernel_.reduce, type_);
    text_.close_scope();
    return value;
  }

  /// Element r of result o, mapped.
  ExprRef mapped(const ExprRef& r, const ExprRef& o, const std::vector<ExprRef>& kept_index) {
    if (form_.of_pieces) return ir::load(read_.memory, type_, r * results_ + o);
    text_.open_scope();
    const std::vector<ExprRef> index = unravel(code_, r, reduced_);
    for (const auto& [name, array] : inputs_) {
      const auto middle = array.strides.begin() + form_.reduced;
      const ExprRef at = offset(index, {array.strides.begin(), middle}) + offset(kept_index, {middle, array.strides.end()});
      text_.declare_element(name, array, code_.bind(at, "at"));
    }
    text_.declare_number("_J", r);
    text_.declare_number("_i", o);
    text_.declare_number("_j", code_.bind(r * results_ + o, "j"));
    const ExprRef value = text_.expression(kernel_.map, type_);
    text_.close_scope();
    return value;
  }

  /// What became of piece p of result o.
  void give(const ExprRef& p, const ExprRef& o, const ExprRef& value) {
    if (!form_.last) {
      text_.stored.insert(written_.memory);
      return code_.emit(ir::store(written_.memory, p * results_ + o, value));
    }
    text_.open_scope();
    const std::vector<ExprRef> index = unravel(code_, o, kept_);
    for (const auto& [name, array] : outputs_) text_.declare_element(name, array, code_.bind(offset(index, array.strides), "at"));
    text_.declare_number("a", code_.bind(value, "a"));
    text_.declare_number("_i", o);
    text_.run_until_left([&] { text_.statements(kernel_.post_map, true); });
    text_.close_scope();
  }

  std::pair<ExprRef, ExprRef> range_of(const ExprRef& p) {
    const ExprRef begin = code_.bind(p * length_, "begin");
    return {begin, code_.bind(both(ScalarOp::min, begin + length_, elements_), "end")};
  }

  template <class F>
  void for_each(const char* stem, const ExprRef& begin, const ExprRef& end, ir::LoopKind kind, const F& body) {
    const std::string name = code_.fresh(stem);
    code_.open();
    body(index_variable(name));
    ir::Body inside = code_.close();
    code_.emit(ir::loop(name, begin, end, kind, std::move(inside)));
  }

  void threads() {
    const int64_t lanes = form_.lanes;
    const ExprRef thread = code_.bind(frame_.ask("tid_x"), "thread");
    const ExprRef lane = code_.bind(thread % constant_i64(lanes), "lane");
    const ExprRef item = code_.bind(frame_.ask("ctaid_x") * constant_i64(kThreads / lanes) + thread / constant_i64(lanes), "item");
    const ExprRef p = code_.bind(item / results_, "p"), o = code_.bind(item - p * results_, "o");
    const ExprRef is_there = code_.bind(both(ScalarOp::lt, item, items_), "is_there");
    const std::string sum = code_.fresh("sum");
    code_.emit(ir::var(sum, identity()));
    const ExprRef so_far = ir::variable(sum, type_);
    code_.open();
    const auto [begin, end] = range_of(p);
    const std::vector<ExprRef> kept_index = form_.of_pieces ? std::vector<ExprRef>() : unravel(code_, o, kept_);
    const ExprRef count = code_.bind((end - begin - lane + constant_i64(lanes - 1)) / constant_i64(lanes), "count");
    for_each("k", constant_i64(0), count, ir::LoopKind::serial, [&, begin = begin](const ExprRef& k) {
      const ExprRef r = code_.bind(begin + lane + k * constant_i64(lanes), "r");
      code_.emit(ir::assign(sum, reduce(so_far, mapped(r, o, kept_index))));
    });
    ir::Body own = code_.close();
    code_.emit(ir::if_(is_there, std::move(own), {}));
    if (lanes == 1) {
      code_.open();
      give(p, o, so_far);
      ir::Body body = code_.close();
      code_.emit(ir::if_(is_there, std::move(body), {}));
      return;
    }
    const std::string shared = code_.fresh("shared");
    ir::Stmt memory = *ir::local_array(shared, type_, kThreads);
    memory.space = ir::Space::block;
    code_.emit(std::make_shared<const ir::Stmt>(std::move(memory)));
    code_.emit(ir::store(shared, thread, so_far));
    text_.sites.push_back({"", "the reduction", {}, kernel_.reduce, kernel_.name});
    const auto place = static_cast<int64_t>(text_.sites.size());
    for (int64_t step = lanes / 2; step > 0; step /= 2) {
      code_.emit(ir::simt("", DType::i64, "barrier", {}, place));
      code_.open();
      const ExprRef value = reduce(ir::load(shared, type_, thread), ir::load(shared, type_, thread + constant_i64(step)));
      code_.emit(ir::store(shared, thread, value));
      ir::Body body = code_.close();
      code_.emit(ir::if_(both(ScalarOp::lt, lane, constant_i64(step)), std::move(body), {}));
    }
    code_.open();
    give(p, o, ir::load(shared, type_, thread));
    ir::Body body = code_.close();
    code_.emit(ir::if_(both(ScalarOp::logical_and, is_there, both(ScalarOp::eq, lane, constant_i64(0))), std::move(body), {}));
  }

  /// The host, one piece of a result after the other, its lanes in an array.
  void items() {
    const int64_t lanes = form_.lanes;
    const ExprRef share =
        code_.bind(both(ScalarOp::max, constant_i64(1), constant_i64(kPiece) / both(ScalarOp::max, length_, constant_i64(1))), "share");
    const ExprRef units = code_.bind((items_ + share - constant_i64(1)) / share, "units");
    const ExprRef wide = constant_i64(lanes), zero = constant_i64(0);
    for_each("unit", zero, units, ir::LoopKind::unit, [&](const ExprRef& unit) {
      const std::string sums = code_.fresh("sums");
      code_.emit(ir::local_array(sums, type_, lanes));
      const ExprRef first = code_.bind(unit * share, "first"), last = code_.bind(both(ScalarOp::min, first + share, items_), "last");
      for_each("item", first, last, ir::LoopKind::serial, [&](const ExprRef& item) {
        const ExprRef p = code_.bind(item / results_, "p"), o = code_.bind(item - p * results_, "o");
        const auto [begin, end] = range_of(p);
        const std::vector<ExprRef> kept_index = form_.of_pieces ? std::vector<ExprRef>() : unravel(code_, o, kept_);
        const ExprRef start = identity();
        for_each("l", zero, wide, ir::LoopKind::serial, [&](const ExprRef& l) { code_.emit(ir::store(sums, l, start)); });
        const auto take = [&](const ExprRef& base, const ExprRef& l) {
          const ExprRef value = mapped(code_.bind(base + l, "r"), o, kept_index);
          code_.emit(ir::store(sums, l, reduce(ir::load(sums, type_, l), value)));
        };
        const ExprRef rounds = code_.bind((end - begin) / wide, "rounds");
        for_each("round", zero, rounds, ir::LoopKind::serial, [&, begin = begin](const ExprRef& round) {
          const ExprRef base = code_.bind(begin + round * wide, "base");
          for_each("l", zero, wide, ir::LoopKind::serial, [&](const ExprRef& l) { take(base, l); });
        });
        const ExprRef rest = code_.bind(begin + rounds * wide, "rest");
        for_each("l", zero, end - rest, ir::LoopKind::serial, [&](const ExprRef& l) { take(rest, l); });
        for (int64_t step = lanes / 2; step > 0; step /= 2)
          for_each("l", zero, constant_i64(step), ir::LoopKind::serial, [&](const ExprRef& l) {
            code_.emit(ir::store(sums, l, reduce(ir::load(sums, type_, l), ir::load(sums, type_, l + constant_i64(step)))));
          });
        give(p, o, ir::load(sums, type_, zero));
      });
    });
  }

  /// The host, neighbouring results together: row by row of what they reduce.
  void columns() {
    const ExprRef wide = constant_i64(kTogether), zero = constant_i64(0);
    const ExprRef blocks = code_.bind((results_ + wide - constant_i64(1)) / wide, "blocks");
    for_each("unit", zero, code_.bind(blocks * pieces_, "units"), ir::LoopKind::unit, [&](const ExprRef& unit) {
      const ExprRef p = code_.bind(unit / blocks, "p");
      const ExprRef first = code_.bind((unit - p * blocks) * wide, "first");
      const ExprRef count = code_.bind(both(ScalarOp::min, wide, results_ - first), "count");
      const std::string sums = code_.fresh("sums");
      code_.emit(ir::local_array(sums, type_, kTogether));
      const ExprRef start = identity();
      for_each("k", zero, count, ir::LoopKind::serial, [&](const ExprRef& k) { code_.emit(ir::store(sums, k, start)); });
      const auto [begin, end] = range_of(p);
      for_each("r", begin, end, ir::LoopKind::serial, [&](const ExprRef& r) {
        for_each("k", zero, count, ir::LoopKind::serial, [&](const ExprRef& k) {
          const ExprRef o = code_.bind(first + k, "o");
          const ExprRef value = mapped(r, o, form_.of_pieces ? std::vector<ExprRef>() : unravel(code_, o, kept_));
          code_.emit(ir::store(sums, k, reduce(ir::load(sums, type_, k), value)));
        });
      });
      for_each("k", zero, count, ir::LoopKind::serial,
               [&](const ExprRef& k) { give(p, code_.bind(first + k, "o"), ir::load(sums, type_, k)); });
    });
  }

  const ReductionText& kernel_;
  const ReductionForm& form_;
  const std::vector<Type>& arguments_;
  Frame frame_;
  Code& code_;
  Translator& text_;
  Array read_, written_;
  std::vector<ExprRef> reduced_, kept_;
  ExprRef elements_, results_, length_, pieces_, items_;
  DType type_ = DType::f64;
  std::vector<std::pair<std::string, Array>> inputs_, outputs_;
};

}  // namespace

functions::Compiled compile_reduction(const ReductionText& kernel, const ReductionForm& form, const std::vector<Type>& arguments,
                                      bool overlapping, const functions::Options& options) {
  return Reduction(kernel, form, arguments, overlapping, options).run();
}

DType reduction_type(const ReductionText& kernel, const std::vector<DType>& types) {
  Code code;
  Translator text(code, true, false, kernel.name);
  for (size_t k = 0; k < types.size(); ++k)
    if (!kernel.parameters[k].dtype) text.declare_type(kernel.parameters[k].type, types[k]);
  text.preamble(kernel.preamble);
  return text.type_name(kernel.reduce_type);
}

}  // namespace gasell::c_kernels
