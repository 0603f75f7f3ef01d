// Random numbers: what the texts of prelude/ make np.random and the methods of generators of.
#include "compiler/functions/library.h"

namespace gasell::functions {

namespace {

/// Calls gasell_NAME, which gives a number of the type.
Value drawn_by(Lowering& l, const std::string& name, std::vector<ExprRef> args, DType type) {
  const std::string result = l.code().fresh("random");
  l.code().emit(ir::call(result, type, "gasell_" + name, std::move(args)));
  return scalar_value(ir::variable(result, type));
}

void refuse_in_kernels(Lowering& l, const CallSite& site) {
  if (l.program().options.cuda) l.unsupported(site.span, "np.random in a kernel", "give it the numbers in an array");
}

/// np.random itself: gasell.random_uniform() and the like (runtime/functions/random.h).
Value drawn(Lowering& l, const CallSite& site) {
  refuse_in_kernels(l, site);
  const std::string name = site.name.substr(site.name.find('.') + 1);
  return drawn_by(l, name, {}, DType::f64);
}
Value drawn_below(Lowering& l, const CallSite& site) {
  refuse_in_kernels(l, site);
  return drawn_by(l, "random_below", {l.index_number(site.args.at(0), "np.random")}, DType::i64);
}
Value seeded(Lowering& l, const CallSite& site) {
  refuse_in_kernels(l, site);
  l.code().emit(ir::call("", DType::i64, "gasell_random_seed", {l.index_number(site.args.at(0), "np.random.seed")}));
  return none_value();
}

/// The session's generators: gasell.generator_uniform(g) and the like (runtime/functions/generator.h). Each draw changes the generator, so
/// the iterations of a parallel loop cannot share one.
std::vector<ExprRef> generator_argument(Lowering& l, const CallSite& site) {
  const Value& g = site.args.at(0);
  if (l.program().accesses)
    l.fail(site.span, "the iterations of a prange loop cannot share a generator",
           "np.random has a stream of its own in each piece of the loop");
  return {ir::address(g.array->memory)};
}
Value drawn_from(Lowering& l, const CallSite& site) {
  return drawn_by(l, site.name.substr(site.name.find('.') + 1), generator_argument(l, site), DType::f64);
}
Value drawn_up_to(Lowering& l, const CallSite& site) {
  std::vector<ExprRef> args = generator_argument(l, site);
  args.push_back(l.index_number(site.args.at(1), "a random integer"));
  return drawn_by(l, site.name.substr(site.name.find('.') + 1), std::move(args), DType::i64);
}
/// gasell.generator_small_up_to(g, last, bits, rest): `rest` is an array of one element.
Value drawn_small_up_to(Lowering& l, const CallSite& site) {
  std::vector<ExprRef> args = generator_argument(l, site);
  for (size_t k = 1; k < 3; ++k) args.push_back(l.index_number(site.args.at(k), "a random integer"));
  const std::string& rest = site.args.at(3).array->memory;
  l.program().stored.insert(rest);
  args.push_back(ir::address(rest));
  return drawn_by(l, "generator_small_up_to", std::move(args), DType::i64);
}

}  // namespace

LibraryFunction random_function(const std::string& path) {
  static const LibraryTable kFunctions = {
      {"gasell.random_seed", kInner, seeded},
      {"gasell.random_uniform", kInner, drawn},
      {"gasell.random_normal", kInner, drawn},
      {"gasell.random_below", kInner, drawn_below},
      {"gasell.generator_uniform", kInner, drawn_from},
      {"gasell.generator_uniform32", kInner, drawn_from},
      {"gasell.generator_normal", kInner, drawn_from},
      {"gasell.generator_normal32", kInner, drawn_from},
      {"gasell.generator_exponential", kInner, drawn_from},
      {"gasell.generator_exponential32", kInner, drawn_from},
      {"gasell.generator_up_to", kInner, drawn_up_to},
      {"gasell.generator_masked_up_to", kInner, drawn_up_to},
      {"gasell.generator_small_up_to", kInner, drawn_small_up_to},
  };
  return kFunctions.find(path);
}

}  // namespace gasell::functions
