// cp.ReductionKernel.
#include <fmt/format.h>

#include <bit>
#include <map>

#include "compiler/c_kernels/reduction.h"
#include "runtime/session/types.h"
#include "stdlib/cupy/kernels.h"
#include "stdlib/numba/generated.h"

namespace gasell::cupy {
namespace {

using Args = std::span<Value>;
using c_kernels::ReductionForm;

/// How a reduction of so many elements to so many results is cut up: a function of the shape alone, so that results are the same wherever
/// they are computed.
struct Cut {
  int lanes = 1;
  int64_t length = 1, pieces = 1;
};

int lanes_for(int64_t elements) {
  const auto wide = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(elements, 1))));
  return static_cast<int>(std::clamp<int64_t>(wide / 8, 1, c_kernels::kThreads));
}

Cut cut(int64_t elements, int64_t results, bool columns) {
  constexpr int64_t kThreadsWanted = 1 << 17, kElementsALane = 32;
  Cut c;
  c.lanes = columns ? 1 : lanes_for(elements);
  const int64_t wanted = std::max<int64_t>(1, kThreadsWanted / (results * c.lanes));
  const int64_t sensible = std::max<int64_t>(1, elements / (c.lanes * kElementsALane));
  const int64_t pieces = std::min(wanted, sensible);
  c.length = std::max<int64_t>(1, (elements + pieces - 1) / pieces);
  c.length = (c.length + c.lanes - 1) / c.lanes * c.lanes;
  c.pieces = std::max<int64_t>(1, (elements + c.length - 1) / c.length);
  return c;
}

class ReductionKernel final : public Object {
 public:
  ReductionKernel(Interpreter& in, c_kernels::ReductionText text)
      : engine_(in.engine()), text_(std::make_shared<const c_kernels::ReductionText>(std::move(text))) {}
  const gasell::Type& type() const override { return reduction_kernel_type(); }
  const std::string& name() const { return text_->name; }

  Value call(Interpreter& in, Arguments args) override {
    const Value keep = Value::of(this);
    const std::vector<c_kernels::Parameter>& parameters = text_->parameters;
    const size_t inputs = text_->inputs;
    Value axis, out;
    bool keepdims = false;
    for (const auto& [name, value] : args.keywords) {
      if (name == "axis")
        axis = value;
      else if (name == "out")
        out = value;
      else if (name == "keepdims")
        keepdims = gasell::truth(in, value);
      else if (name != "stream")
        raise("TypeError", "Wrong arguments {'" + name + "': " + gasell::repr(in, value) + "}");
    }
    std::vector<Value> given = std::move(args.positional);
    if (given.size() != inputs && given.size() != parameters.size()) raise("TypeError", "Wrong number of arguments for " + name());
    if (!out.is_none()) {
      if (parameters.size() - inputs != 1)
        raise("NotImplementedError", "out= is of kernels with one output", "give the outputs behind the inputs");
      if (given.size() != inputs) raise("ValueError", "cannot specify 'out' as both a positional and keyword argument");
      given.push_back(out);
    }
    std::vector<Argument> arguments;
    for (const Value& v : given) arguments.push_back(to_argument(in, v));
    const graph::Shape shape = loop_shape(parameters, arguments, inputs, false);
    const std::vector<DType> types = parameter_types(parameters, inputs, arguments);
    const std::vector<int> reduced = numpy::to_axes(in, axis, static_cast<int>(shape.size()));
    std::vector<bool> is_reduced(shape.size(), false);
    for (const int k : reduced) is_reduced[static_cast<size_t>(k)] = true;
    graph::Shape shown, kept, gone;
    for (size_t k = 0; k < shape.size(); ++k) {
      (is_reduced[k] ? gone : kept).push_back(shape[k]);
      if (!is_reduced[k] || keepdims) shown.push_back(is_reduced[k] ? 1 : shape[k]);
    }
    for (size_t k = 0; k < parameters.size(); ++k)
      if (parameters[k].raw && !std::is_sorted(is_reduced.rbegin(), is_reduced.rend()))
        raise("NotImplementedError", "Illegal conditions: raw parameters need the reduced axes to be the first", "axis=0, or (0, 1)");
    std::vector<Value> results;
    for (size_t k = inputs; k < parameters.size(); ++k) {
      if (k >= arguments.size()) {
        if (parameters[k].raw) raise("ValueError", "Output array size is Undecided", "give the output");
        arguments.push_back({numba::new_array(in, types[k], shown), {}});
        results.push_back(Value::make<numpy::NdArray>(*arguments[k].array));
      } else {
        if (!parameters[k].raw && arguments[k].array->shape() != shown) raise("ValueError", "Out shape is mismatched");
        results.push_back(given[k]);
      }
    }
    const bool has_identity = text_->identity->text().find_first_not_of(" \t\n") != std::string::npos;
    if (graph::size_of(shown) == 0) return results.at(0);
    if (!has_identity && graph::size_of(shape) == 0)
      raise("ValueError", "zero-size array to reduction operation " + name() + " which has no identity");
    run(in, arguments, types, shape, is_reduced, kept, gone, shown);
    return results.at(0);
  }

 private:
  /// Inputs with the reduced axes first; where they lie so that axes can be joined, as one axis reduced and one kept.
  void run(Interpreter& in, const std::vector<Argument>& arguments, const std::vector<DType>& types, const graph::Shape& shape,
           const std::vector<bool>& is_reduced, graph::Shape kept, graph::Shape gone, const graph::Shape& shown) {
    const std::vector<c_kernels::Parameter>& parameters = text_->parameters;
    const size_t rank = shape.size();
    const bool trailing = std::is_sorted(is_reduced.begin(), is_reduced.end()),
               leading = std::is_sorted(is_reduced.rbegin(), is_reduced.rend());
    bool joined = trailing || leading;
    for (size_t k = 0; k < arguments.size(); ++k)
      if (const auto& a = arguments[k].array; a && !parameters[k].raw)
        joined = joined && a->shape() == (k < text_->inputs ? shape : shown) && numba::type_of_array(*a).layout == functions::Layout::c;
    const int64_t elements = graph::size_of(gone), count = graph::size_of(kept);
    if (joined) {
      gone = {elements};
      kept = kept.empty() ? graph::Shape() : graph::Shape{count};
    }
    std::vector<Array> arrays;
    arrays.reserve(arguments.size() + 2);
    std::vector<functions::Type> leaf_types;
    std::vector<functions::Leaf> leaves;
    const auto add_array = [&](Array a) {
      arrays.push_back(std::move(a));
      leaf_types.push_back(numba::type_of_array(arrays.back()));
      leaves.push_back({{}, &arrays.back()});
    };
    graph::Shape turned = gone;
    turned.insert(turned.end(), kept.begin(), kept.end());
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (!arguments[k].array) {
        leaf_types.push_back(functions::Type::of(types[k]));
        leaves.push_back({arguments[k].number->cast(types[k]), nullptr});
        continue;
      }
      const Array& a = *arguments[k].array;
      if (parameters[k].raw)
        add_array(a);
      else if (k >= text_->inputs)
        add_array(joined || a.shape() == kept ? a.reshape(kept) : without_ones(a, is_reduced, kept));
      else if (joined && (leading || kept.empty()))
        add_array(a.reshape(turned));
      else if (joined)
        add_array(a.reshape({count, elements}).view(turned, {{1, 0, 1}, {0, 0, 1}}));
      else
        add_array(reduced_first(numba::broadcast(a, shape), is_reduced, turned));
    }
    const bool columns = rank > 0 && !is_reduced[rank - 1] && count >= 32;
    const Cut first = cut(elements, count, columns);
    const DType number = reduce_type(types);
    ReductionForm form{static_cast<int>(gone.size()), static_cast<int>(kept.size()), first.lanes, false, first.pieces == 1};
    const auto launch = [&](const Cut& c, int64_t of) {
      std::vector<functions::Type> all_types = leaf_types;
      std::vector<functions::Leaf> all = leaves;
      all_types.push_back(functions::Type::tuple_of(std::vector<functions::Type>(turned.size(), functions::Type::of(DType::i64))));
      for (const int64_t extent : turned) all.push_back({Scalar::of_int(extent), nullptr});
      for (const int64_t n : {of, count, c.length, c.pieces}) {
        all_types.push_back(functions::Type::of(DType::i64));
        all.push_back({Scalar::of_int(n), nullptr});
      }
      const int64_t items_a_block = c_kernels::kThreads / c.lanes;
      GridShape grid;
      grid.threads[0] = c_kernels::kThreads;
      grid.blocks[0] = (count * c.pieces + items_a_block - 1) / items_a_block;
      kernel(form).run(all_types, all, grid);
    };
    if (!form.last) add_array(numba::new_array(in, number, {first.pieces * count}));
    launch(first, elements);
    if (form.last) return;
    Cut second;
    second.lanes = count >= 64 ? 1 : lanes_for(first.pieces);
    second.length = first.pieces;
    form.lanes = second.lanes;
    form.of_pieces = form.last = true;
    launch(second, first.pieces);
  }

  static Array reduced_first(const Array& a, const std::vector<bool>& is_reduced, const graph::Shape& turned) {
    const int gone = static_cast<int>(std::count(is_reduced.begin(), is_reduced.end(), true));
    Array::Axes axes;
    int next_reduced = 0, next_kept = gone;
    for (const bool r : is_reduced) axes.push_back({r ? next_reduced++ : next_kept++, 0, 1});
    return a.view(turned, std::move(axes));
  }
  /// An output with axes of extent 1 where axes were reduced.
  static Array without_ones(const Array& a, const std::vector<bool>& is_reduced, const graph::Shape& kept) {
    Array::Axes axes;
    int next = 0;
    for (const bool r : is_reduced) axes.push_back(r ? graph::ViewAxis{-1, 0, 0} : graph::ViewAxis{next++, 0, 1});
    return a.view(kept, std::move(axes));
  }

  DType reduce_type(const std::vector<DType>& types) const {
    try {
      return c_kernels::reduction_type(*text_, types);
    } catch (const Error& error) {
      rethrow(error, text_->name);
    }
  }

  CKernel& kernel(const ReductionForm& form) {
    auto& made = kernels_[form];
    if (!made)
      made = std::make_unique<CKernel>(
          engine_, text_->name, false,
          [text = text_, form](const std::vector<functions::Type>& types, bool overlapping, const functions::Options& options) {
            return c_kernels::compile_reduction(*text, form, types, overlapping, options);
          });
    return *made;
  }

  Engine& engine_;
  const std::shared_ptr<const c_kernels::ReductionText> text_;
  std::map<ReductionForm, std::unique_ptr<CKernel>> kernels_;
};

Value construct(Interpreter& in, Args args) {
  const auto text = [&](size_t k) { return str(in, args[k]); };
  c_kernels::ReductionText made;
  made.name = text(6);
  require_name(made.name);
  try {
    made.parameters = c_kernels::parse_parameters(text(0), true);
    made.inputs = made.parameters.size();
    for (c_kernels::Parameter& p : c_kernels::parse_parameters(text(1), false)) made.parameters.push_back(std::move(p));
  } catch (const Error& e) {
    raise(e.diagnostic().kind, e.diagnostic().message, e.diagnostic().hint);
  }
  if (made.parameters.size() == made.inputs) raise("ValueError", "a reduction has an output: out_params is empty");
  made.map = text_of(made.name, "map", text(2));
  made.reduce = text_of(made.name, "reduce", text(3));
  made.post_map = text_of(made.name, "post_map", text(4));
  made.identity = text_of(made.name, "identity", args[5].is_none() ? "" : text(5));
  std::string type = args[7].is_none() ? made.parameters[made.inputs].type : text(7);
  // A dtype's name, where it is the output's, is none of C's.
  if (args[7].is_none() && made.parameters[made.inputs].dtype) type = c_kernels::c_name(*made.parameters[made.inputs].dtype);
  made.reduce_type = text_of(made.name, "reduce_type", type);
  made.preamble = text_of(made.name, "preamble", text(9));
  return Value::make<ReductionKernel>(in, std::move(made));
}

}  // namespace

const gasell::Type& reduction_kernel_type() {
  static const NativeFunction constructor{"ReductionKernel",
                                          "in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name='reduce_kernel', "
                                          "reduce_type=None, reduce_dims=True, preamble='', options=()",
                                          construct, "A kernel that reduces along axes, by expressions of C."};
  static const gasell::Type t = [] {
    gasell::Type made{"ReductionKernel", "cupy._core._reduction", &object_type()};
    made.properties = {
        {"name", [](Interpreter&, const Value& v) { return make_str(v.as<ReductionKernel>()->name()); }, nullptr, "its name"},
        {"__name__", [](Interpreter&, const Value& v) { return make_str(v.as<ReductionKernel>()->name()); }, nullptr, "its name"},
    };
    made.constructor = &constructor;
    return made;
  }();
  return t;
}

}  // namespace gasell::cupy
