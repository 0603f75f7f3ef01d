// Functions of the program around the language, called by their address (runtime/functions/host_function.h).
#include <charconv>

#include "compiler/functions/library.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;

namespace {

constexpr std::string_view kPrefix = "gasell.host ";

struct Host {
  std::string name;
  int64_t address = 0;
  std::optional<DType> result;  // nothing: None
  std::vector<DType> parameters;
};

std::string_view next_word(std::string_view& text) {
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

/// Of "gasell.host NAME ADDRESS RESULT PARAMETER …".
Host host_of(std::string_view text) {
  text.remove_prefix(kPrefix.size());
  Host host;
  host.name = next_word(text);
  const std::string_view address = next_word(text);
  std::from_chars(address.data(), address.data() + address.size(), host.address);
  if (const std::string_view result = next_word(text); result != "none") host.result = dtype_from_name(result);
  while (!text.empty()) host.parameters.push_back(*dtype_from_name(next_word(text)));
  return host;
}

Value call_host(Lowering& l, const CallSite& site, const Host& host) {
  if (l.program().options.cuda) l.unsupported(site.span, "a call of the program's function " + host.name + " in a kernel");
  if (!site.keywords.empty() || site.args.size() != host.parameters.size())
    l.fail(site.span, host.name + "() takes " + std::to_string(host.parameters.size()) + " numbers by position");
  const auto size = static_cast<int64_t>(std::max<size_t>(1, host.parameters.size()));
  const std::string integers = l.code().fresh("integers"), reals = l.code().fresh("reals");
  l.code().emit(ir::local_array(integers, DType::i64, size));
  l.code().emit(ir::local_array(reals, DType::f64, size));
  for (size_t k = 0; k < host.parameters.size(); ++k) {
    const DType type = host.parameters[k];
    const Type given = site.args[k].type;
    if (!given.is_scalar() || !takes_number(type, given.dtype))
      l.fail(site.span, "argument " + std::to_string(k + 1) + " of " + host.name + "() is " + describe(given) + "; it takes " +
                            std::string(name_of(type)));
    const ExprRef number = l.convert(site.args[k], Type::of(type)).scalar;
    const bool real = is_float(type);
    l.code().emit(
        ir::store(real ? reals : integers, constant_i64(static_cast<int64_t>(k)), ir::cast(number, real ? DType::f64 : DType::i64)));
  }
  const bool real = host.result && is_float(*host.result);
  const DType returned = real ? DType::f64 : DType::i64;
  const std::string result = l.code().fresh("given");
  l.code().emit(ir::call(result, returned, real ? "gasell_host_real" : "gasell_host_integer",
                         {ir::address("context"), constant_i64(host.address), ir::address(integers), ir::address(reals)}));
  l.raise_if(ir::op(ScalarOp::ne, {ir::load("error", DType::i64, constant_i64(0)), constant_i64(0)}), "RuntimeError",
             "the program's function " + host.name + " failed", site.span);
  if (!host.result) return none_value();
  return scalar_value(ir::cast(ir::variable(result, returned), *host.result));
}

}  // namespace

LibraryFunction host_function(const std::string& path) {
  if (!path.starts_with(kPrefix)) return nullptr;
  return [host = host_of(path)](Lowering& l, const CallSite& site) { return call_host(l, site, host); };
}

}  // namespace gasell::functions
