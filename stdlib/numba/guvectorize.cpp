// guvectorize: functions of small arrays, looped over the axes that the signature does not name.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/numba/generated.h"
#include "stdlib/numba/module.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;
using functions::Leaf;

/// "(m,n),(n)->(m)": the names of the core axes of every operand.
struct Layout {
  std::vector<std::vector<std::string>> inputs, outputs;
};

Layout parse_layout(const std::string& text) {
  Layout layout;
  auto* side = &layout.inputs;
  const auto wrong = [&]() { raise("ValueError", "bad token in signature \"" + text + "\"", "write it as in \"(m,n),(n)->(m)\""); };
  size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && text[at] == ' ') ++at;
  };
  for (skip(); at < text.size(); skip()) {
    if (text.compare(at, 2, "->") == 0 && side == &layout.inputs) {
      side = &layout.outputs;
      at += 2;
    } else if (text[at] == ',') {
      ++at;
    } else if (text[at] == '(') {
      const size_t end = text.find(')', at);
      if (end == text.npos) wrong();
      std::vector<std::string> names;
      std::string name;
      for (const char c : text.substr(at + 1, end - at - 1)) {
        if (c == ',')
          names.push_back(std::exchange(name, {}));
        else if (c != ' ')
          name += c;
      }
      if (!name.empty()) names.push_back(name);
      side->push_back(std::move(names));
      at = end + 1;
    } else {
      wrong();
    }
  }
  if (side == &layout.inputs) wrong();
  return layout;
}

const gasell::Type& gufunc_type() {
  static const gasell::Type t{"GUFunc", "numba.np.ufunc.gufunc", &object_type()};
  return t;
}

class Generalised final : public Object {
 public:
  Generalised(Interpreter& in, Value function, functions::Options options, std::string signature)
      : function_(std::move(function)),
        signature_(std::move(signature)),
        layout_(parse_layout(signature_)),
        options_(options),
        compilation_(std::make_unique<Compilation>(Compilation{in})) {
    options_.python_errors = false;
    functions::Options inner = options_;
    inner.parallel = false;
    core_ = to_function(*compilation_, function_, inner);
    const size_t operands = layout_.inputs.size() + layout_.outputs.size();
    if (core_->defaults.size() != operands)
      raise("TypeError", fmt::format("the signature {} is of {} operands, the function {} takes {}", signature_, operands, core_->name,
                                     core_->defaults.size()));
  }
  const gasell::Type& type() const override { return gufunc_type(); }
  std::string repr(Interpreter&) override { return "<numba._GUFunc '" + core_->name + "'>"; }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "signature") return make_str(signature_);
    if (name == "nin") return Value::of(static_cast<int64_t>(layout_.inputs.size()));
    if (name == "nout") return Value::of(static_cast<int64_t>(layout_.outputs.size()));
    if (name == "py_func" || name == "__wrapped__") return function_;
    if (name == "__call__") return Value::of(this);
    if (name == "__name__" || name == "__doc__") return function_.object()->get_attribute(in, name);
    return Object::get_attribute(in, name);
  }

  /// To compiled functions: the loops around the function, for arrays of these types.
  functions::Outside outside() {
    auto function = std::make_shared<functions::Function>();
    function->name = core_->name;
    function->identity = this;
    function->for_types = [this, keep = Value::of(this)](const std::vector<functions::Type>& types, bool) { return inside(types); };
    return outside_function(std::move(function));
  }

  void declare(const Signature& signature) {
    if (signature.arguments.size() != core_->defaults.size())
      raise("TypeError",
            fmt::format("a signature of {} has {} types, not {}", core_->name, core_->defaults.size(), signature.arguments.size()));
    const auto rank_of = [&](size_t k) {
      return k < layout_.inputs.size() ? layout_.inputs[k].size() : layout_.outputs[k - layout_.inputs.size()].size();
    };
    for (size_t k = 0; k < signature.arguments.size(); ++k) {
      const functions::Type& t = signature.arguments[k];
      const size_t rank = rank_of(k);
      const bool fits =
          t.is_array() ? static_cast<size_t>(t.rank) == std::max<size_t>(rank, 1) : t.is_scalar() && rank == 0 && k < layout_.inputs.size();
      if (!fits) raise("TypeError", fmt::format("type and shape signature mismatch for arg #{}", k + 1));
    }
    if (!result_of(*core_, signature.arguments).is_none())
      raise("TypeError", "gufunc kernel must have void return type", "write into the last argument: out[i] = …");
    loops_.push_back(signature.arguments);
  }

  Value call(Interpreter& in, Arguments args) override {
    const Value keep = Value::of(this);
    const size_t nin = layout_.inputs.size(), nout = layout_.outputs.size();
    std::vector<Value> given = std::move(args.positional);
    for (auto& [name, value] : args.keywords) {
      if (name != "out" || given.size() != nin)
        raise("TypeError", fmt::format("{}() got an unexpected keyword argument '{}'", core_->name, name));
      if (const auto* t = value.as<Tuple>())
        given.insert(given.end(), t->items.begin(), t->items.end());
      else
        given.push_back(value);
    }
    const bool with_outputs = given.size() == nin + nout;
    if (!with_outputs && given.size() != nin)
      raise("TypeError",
            fmt::format("{}() takes from {} to {} positional arguments but {} were given", core_->name, nin, nin + nout, given.size()));
    if (loops_.empty() && !with_outputs)
      raise("TypeError",
            fmt::format(
                "Too few arguments for function '{}'. Note that the pattern `out = gufunc(Arg1, Arg2, ..., ArgN)` is not allowed. Use "
                "`gufunc(Arg1, Arg2, ..., ArgN, out) instead.",
                core_->name));
    std::vector<numpy::Operand> operands;
    for (size_t k = 0; k < nin; ++k) operands.push_back(numpy::operand(in, given[k]));
    const std::vector<functions::Type> types = choose(operands, given);

    // Extents of the core axes by name, and the shape that is looped over.
    std::map<std::string, int64_t> extents;
    std::vector<graph::Shape> loops;
    for (size_t k = 0; k < nin; ++k) {
      const auto& core = layout_.inputs[k];
      const graph::Shape& shape = operands[k].node->shape;
      if (shape.size() < core.size())
        raise("ValueError",
              fmt::format("{}: Input operand {} does not have enough dimensions (has {}, gufunc core with signature {} requires {})",
                          core_->name, k, shape.size(), signature_, core.size()));
      const size_t first = shape.size() - core.size();
      for (size_t c = 0; c < core.size(); ++c) {
        const auto [at, fresh] = extents.emplace(core[c], shape[first + c]);
        if (!fresh && at->second != shape[first + c])
          raise("ValueError",
                fmt::format(
                    "{}: Input operand {} has a mismatch in its core dimension {}, with gufunc signature {} (size {} is different from {})",
                    core_->name, k, c, signature_, shape[first + c], at->second));
      }
      loops.emplace_back(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(first));
    }
    std::vector<const numpy::NdArray*> outputs;
    for (size_t k = nin; with_outputs && k < given.size(); ++k) {
      const auto* array = given[k].as<numpy::NdArray>();
      if (!array && !(given[k].is_none() && !loops_.empty())) raise("TypeError", "return arrays must be of ArrayType");
      outputs.push_back(array);
      if (!array) continue;
      const auto& core = layout_.outputs[k - nin];
      const graph::Shape& shape = array->array.shape();
      if (shape.size() < core.size())
        raise("ValueError", fmt::format("{}: Output operand {} does not have enough dimensions", core_->name, k - nin));
      for (size_t c = 0; c < core.size(); ++c) extents.emplace(core[c], shape[shape.size() - core.size() + c]);
    }
    const graph::Shape loop = graph::broadcast_shapes(loops);
    const int rank = static_cast<int>(loop.size());

    std::vector<Array> arrays;
    arrays.reserve(nin + nout);
    std::vector<functions::Type> leaf_types;
    std::vector<Leaf> leaves;
    std::vector<bool> plain;  // a number that is the same in all iterations
    const auto add_array = [&](Array a) {
      arrays.push_back(std::move(a));
      leaf_types.push_back(type_of_array(arrays.back()));
      leaves.push_back({{}, &arrays.back()});
    };
    for (size_t k = 0; k < nin; ++k) {
      const numpy::Operand& o = operands[k];
      const DType dtype = types[k].dtype;
      const auto* array = given[k].as<numpy::NdArray>();
      Array a = array && array->array.dtype() == dtype ? array->array
                                                       : Array(o.weak ? numpy::cast_weak(o.node, dtype) : graph::cast(o.node, dtype));
      plain.push_back(types[k].is_scalar() && a.rank() == 0);
      if (plain.back()) {
        leaf_types.push_back(functions::Type::of(dtype));
        leaves.push_back({a.elements(in.engine())[0], nullptr});
        continue;
      }
      graph::Shape full = loop;
      for (const std::string& name : layout_.inputs[k]) full.push_back(extents.at(name));
      a = broadcast(a, full);
      if (types[k].is_array() && layout_.inputs[k].empty()) a = with_last_axis(a);
      add_array(std::move(a));
    }
    std::vector<Array> results;  // with the outputs' own shapes
    for (size_t k = 0; k < nout; ++k) {
      graph::Shape full = loop;
      for (const std::string& name : layout_.outputs[k]) {
        const auto at = extents.find(name);
        if (at == extents.end())
          raise("ValueError", fmt::format("{}: the extent of '{}' is not known from the inputs", core_->name, name),
                "pass an output array");
        full.push_back(at->second);
      }
      const DType dtype = types[nin + k].dtype;
      const Array* out = with_outputs && outputs[k] ? &outputs[k]->array : nullptr;
      if (!out)
        results.push_back(new_array(in, dtype, full));
      else if (out->shape() != full)
        results.emplace_back(graph::constant(Scalar::of_int(0).cast(dtype), full));
      else if (out->dtype() == dtype)
        results.push_back(*out);
      else  // what it holds may be read
        results.emplace_back(graph::cast(out->node(), dtype));
      add_array(layout_.outputs[k].empty() ? with_last_axis(results.back()) : results.back());
    }
    if (graph::size_of(loop) > 0) call_generated(dispatch(in, rank, plain, types), leaf_types, leaves);

    std::vector<Value> values;
    for (size_t k = 0; k < nout; ++k) {
      if (with_outputs && outputs[k]) {
        if (!outputs[k]->array.same_memory(results[k])) numpy::give(in, core_->name, results[k].node(), given[nin + k]);
        values.push_back(given[nin + k]);
      } else if (results[k].rank() == 0) {
        values.push_back(numpy::wrap_scalar(results[k].elements(in.engine())[0]));
      } else {
        values.push_back(Value::make<numpy::NdArray>(results[k]));
      }
    }
    return values.size() == 1 ? values[0] : make_tuple(std::move(values));
  }

 private:
  /// A number of an output is an array of one element to the function.
  static Array with_last_axis(const Array& a) {
    graph::Shape shape = a.shape();
    Array::Axes axes;
    for (int k = 0; k < a.rank(); ++k) axes.push_back({k, 0, 1});
    shape.push_back(1);
    return a.view(std::move(shape), std::move(axes));
  }

  /// The types of the function's operands: those of the first signature that takes the inputs without loss; without signatures those given.
  std::vector<functions::Type> choose(const std::vector<numpy::Operand>& operands, const std::vector<Value>& given) const {
    for (const std::vector<functions::Type>& types : loops_) {
      bool fits = true;
      for (size_t k = 0; k < operands.size(); ++k) {
        const numpy::Operand& o = operands[k];
        fits = fits &&
               (o.weak ? promote_weak(types[k].dtype, o.weak) == types[k].dtype : promote(o.node->dtype, types[k].dtype) == types[k].dtype);
      }
      if (fits) return types;
    }
    if (!loops_.empty())
      raise("TypeError", fmt::format("ufunc '{}' not supported for the input types, and the inputs could not be safely coerced to any "
                                     "supported types according to the casting rule ''safe''",
                                     core_->name));
    std::vector<functions::Type> types;
    const auto add = [&](DType dtype, size_t rank, bool output) {
      types.push_back(rank == 0 && !output
                          ? functions::Type::of(dtype)
                          : functions::Type::array_of(dtype, static_cast<int>(std::max<size_t>(rank, 1)), functions::Layout::any));
    };
    for (size_t k = 0; k < operands.size(); ++k) add(operands[k].node->dtype, layout_.inputs[k].size(), false);
    for (size_t k = operands.size(); k < given.size(); ++k) {
      const auto* array = given[k].as<numpy::NdArray>();
      if (!array) raise("TypeError", "return arrays must be of ArrayType");
      add(array->array.dtype(), layout_.outputs[k - operands.size()].size(), true);
    }
    return types;
  }

  /// The loops around the function for so many axes; `plain` inputs are numbers.
  functions::Dispatch& dispatch(Interpreter& in, int rank, const std::vector<bool>& plain, const std::vector<functions::Type>& types) {
    std::vector<bool> key = plain;
    for (const functions::Type& t : types) key.push_back(t.is_scalar());
    auto& made = dispatches_[{rank, key}];
    if (made) return *made;
    std::string text = "def gufunc(", call = "f(", index, indent = "    ";
    const size_t nin = layout_.inputs.size();
    for (int r = 0; r < rank; ++r) index += fmt::format("{}i{}", r ? ", " : "", r);
    for (size_t k = 0; k < types.size(); ++k) {
      text += fmt::format("{}a{}", k ? ", " : "", k);
      const bool indexed = rank > 0 && !(k < nin && plain[k]);
      call += fmt::format("{}a{}{}", k ? ", " : "", k, indexed ? "[" + index + "]" : "");
    }
    text += "):\n";
    for (int r = 0; r < rank; ++r) {
      text += indent + fmt::format("for i{} in {}(a{}.shape[{}]):\n", r, r == 0 && options_.parallel ? "prange" : "range", nin, r);
      indent += "    ";
    }
    text += indent + call + ")\n";
    functions::Options options = options_;
    options.unchecked_parallel = true;  // each iteration has outputs of its own
    made = std::make_unique<functions::Dispatch>(
        in.engine(),
        function_of_text("guvectorize", text, {{"f", outside_function(core_)}, {"prange", outside_path("numba.prange")}}, options));
    return *made;
  }

  /// The function that a compiled one calls with inputs and outputs of these types; null: it cannot be called with them.
  std::shared_ptr<const functions::Function> inside(const std::vector<functions::Type>& types) const {
    const size_t nin = layout_.inputs.size();
    if (types.size() != nin + layout_.outputs.size()) return nullptr;
    const auto core_of = [&](size_t k) -> const std::vector<std::string>& {
      return k < nin ? layout_.inputs[k] : layout_.outputs[k - nin];
    };
    std::vector<functions::Type> wanted;
    for (const auto& loop : loops_) {
      bool fits = true;
      for (size_t k = 0; k < types.size(); ++k)
        fits = fits && (k < nin ? promote(types[k].dtype, loop[k].dtype) == loop[k].dtype : types[k].dtype == loop[k].dtype);
      if (fits && wanted.empty()) wanted = loop;
    }
    if (!loops_.empty() && wanted.empty()) return nullptr;
    std::string text = "def gufunc(", shapes, prepare, call = "f(", index, indent = "    ";
    std::map<std::string, std::string> extents;
    size_t rank = 0;
    for (size_t k = 0; k < types.size(); ++k) {
      const size_t core = core_of(k).size();
      if (!types[k].is_array() && !(types[k].is_scalar() && core == 0 && k < nin)) return nullptr;
      if (types[k].is_array() && static_cast<size_t>(types[k].rank) < core) return nullptr;
      const size_t around = types[k].is_array() ? static_cast<size_t>(types[k].rank) - core : 0;
      if (k < nin) rank = std::max(rank, around);
      if (k >= nin && around != rank) return nullptr;
    }
    for (size_t r = 0; r < rank; ++r) index += fmt::format("{}i{}", r ? ", " : "", r);
    for (size_t k = 0; k < types.size(); ++k) {
      const auto& core = core_of(k);
      const size_t around = types[k].is_array() ? static_cast<size_t>(types[k].rank) - core.size() : 0;
      text += fmt::format("{}a{}", k ? ", " : "", k);
      for (size_t c = 0; c < core.size(); ++c) {
        const std::string extent = fmt::format("a{}.shape[{}]", k, around + c);
        const auto [first, fresh] = extents.emplace(core[c], extent);
        if (!fresh)
          prepare += fmt::format(
              "    if {} != {}:\n        raise ValueError('{}: operand {} has a mismatch in its core dimension {}, with gufunc signature "
              "{}')\n",
              extent, first->second, core_->name, k, c, signature_);
      }
      if (k < nin && types[k].is_array() && !wanted.empty() && types[k].dtype != wanted[k].dtype)
        prepare += fmt::format("    a{0} = a{0}.astype(dtype{0})\n", k);
      if (around > 0) shapes += fmt::format("{}a{}.shape[:{}]", shapes.empty() ? "" : ", ", k, around);
    }
    std::vector<functions::Outside> dtypes;
    std::map<std::string, functions::Outside> names{
        {"f", outside_function(core_)}, {"np", outside_path("numpy")}, {"prange", outside_path("numba.prange")}};
    for (size_t k = 0; k < wanted.size(); ++k)
      names.emplace(fmt::format("dtype{}", k), outside_path("numpy." + std::string(name_of(wanted[k].dtype))));
    if (rank > 0) prepare += "    shape = np.broadcast_shapes(" + shapes + ")\n";
    for (size_t k = 0; k < types.size(); ++k) {
      const auto& core = core_of(k);
      const size_t around = types[k].is_array() ? static_cast<size_t>(types[k].rank) - core.size() : 0;
      const bool as_array = core.empty() && (k >= nin || (!wanted.empty() && wanted[k].is_array()));
      if (rank > 0 && around > 0) {
        std::string tail;
        for (size_t c = 0; c < core.size(); ++c) tail += fmt::format("a{}.shape[{}], ", k, around + c);
        if (k < nin)
          prepare += fmt::format("    b{0} = np.broadcast_to(a{0}, shape{1})\n", k, tail.empty() ? "" : " + (" + tail + ")");
        else
          prepare += fmt::format("    b{} = a{}\n", k, k);
      }
      std::string item = around > 0 ? fmt::format("b{}", k) : fmt::format("a{}", k);
      if (as_array && types[k].is_array()) item = "np.expand_dims(" + item + ", -1)";
      if (around > 0)
        item += "[" + index + "]";
      else if (types[k].is_array() && core.empty() && !as_array)
        item += "[()]";
      call += (k ? ", " : "") + item;
    }
    text += "):\n" + prepare;
    for (size_t r = 0; r < rank; ++r) {
      text += indent + fmt::format("for i{} in {}(shape[{}]):\n", r, r == 0 && options_.parallel ? "prange" : "range", r);
      indent += "    ";
    }
    text += indent + call + ")\n";
    functions::Options options = options_;
    options.unchecked_parallel = true;  // each iteration has outputs of its own
    return function_of_text("guvectorize", text, std::move(names), options);
  }

  const Value function_;
  const std::string signature_;
  const Layout layout_;
  functions::Options options_;
  std::unique_ptr<Compilation> compilation_;
  std::shared_ptr<const functions::Function> core_;
  std::vector<std::vector<functions::Type>> loops_;
  std::map<std::pair<int, std::vector<bool>>, std::unique_ptr<functions::Dispatch>> dispatches_;
};

Value guvectorize(Interpreter& in, Args args) {
  Value types = args[0], layout = args[1];
  if (layout.is_none()) std::swap(types, layout);  // the layout alone
  const auto* text = layout.as<Str>();
  if (!text) raise("TypeError", "guvectorize() takes the layout of its operands, as in \"(n),()->(n)\"");
  const Value keywords = args[2];
  functions::Options options = take_options(in, keywords, {"target", "identity", "writable_args"});
  if (const Value* v = keywords.as<Dict>()->find("target")) options.parallel = str(in, *v) == "parallel";
  std::vector<Value> signatures;
  if (const auto* list = types.as<List>())
    signatures = list->items;
  else if (!types.is_none())
    signatures.push_back(types);
  return make_decorator("guvectorize", [options, signatures, layout = text->value](Interpreter& in, const Value& f) {
    Value made = Value::make<Generalised>(in, need_function(f, "guvectorize"), options, layout);
    for (const Value& s : signatures) made.as<Generalised>()->declare(to_signature(in, s));
    return made;
  });
}

}  // namespace

std::optional<functions::Outside> outside_of_gufunc(const Value& v) {
  auto* const g = v.as<Generalised>();
  return g ? std::optional(g->outside()) : std::nullopt;
}

std::vector<NativeFunction> guvectorize_functions() {
  return {{"guvectorize", "ftylist=None, signature=None, **kws", guvectorize, "Makes a generalised ufunc of a function of small arrays."}};
}

}  // namespace gasell::numba
