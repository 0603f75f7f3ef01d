// What jit and njit make of a function: it is compiled for the types of the arguments it is called with.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/functions/output.h"
#include "stdlib/numba/arguments.h"
#include "stdlib/numba/types.h"

namespace gasell::numba {

class Dispatcher final : public Object {
 public:
  Dispatcher(Interpreter& in, Value function, functions::Options options);
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  Value call(Interpreter&, Arguments) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;

  const Value& function() const { return function_; }
  const functions::Options& options() const { return options_; }

  /// Compiles for these types, and from then on calls are converted to one of the signatures given so.
  void declare(Interpreter& in, const Signature& signature);
  /// Compiles for further types.
  void compile(Interpreter& in, const std::vector<functions::Type>& types);
  /// The code for these types, compiled where it is not yet; and that for arrays that may overlap. For calls from outside of the session.
  functions::Dispatch::Entry& entry(Interpreter& in, const std::vector<functions::Type>& types);
  const functions::Specialisation& overlapping(functions::Dispatch::Entry& entry);
  /// Whether types that it was not compiled for are refused from now on.
  void declare_all(bool closed) { declared_ = closed; }
  bool is_declared() const { return declared_; }
  /// Forgets what was compiled, and compiles it again from the function as it is now.
  void recompile(Interpreter& in);

  /// The kernels made so far, by the types as Numba writes them.
  struct Known {
    std::vector<functions::Type> types;
    uint64_t omitted = 0;  // bit k: argument k was its default
    functions::Dispatch::Entry* entry = nullptr;
    std::optional<functions::Type> result;  // what a declared signature returns
  };
  const std::vector<Known>& known() const { return known_; }
  /// "(int64, omitted(default=2))", one text a parameter.
  std::vector<std::string> signature_texts(Interpreter& in, const Known& known) const;

 private:
  std::vector<Value> bind(Interpreter& in, Arguments& args, uint64_t& omitted) const;
  Known& find(std::span<const Value> values, CallArguments& arguments, uint64_t omitted);
  /// The kernel of the last call where these arguments are of its types; fills in their leaves.
  Known* find_again(std::span<const Value> values, uint64_t omitted, CallArguments& arguments);
  Known* match_declared(CallArguments& arguments);
  /// `omitted`: numbers that are their parameters' defaults are constants of the code, as in Numba.
  functions::Dispatch::Entry& entry_for(std::vector<functions::Type> types, uint64_t omitted);

  const Value function_;  // the script's
  const functions::Options options_;
  std::unique_ptr<Compilation> compilation_;
  std::unique_ptr<functions::Dispatch> dispatch_;
  std::map<size_t, std::shared_ptr<const functions::Outside>> defaults_;  // those that are constants, by parameters
  std::vector<Known> known_;
  size_t last_ = 0;  // of known_: the one called last
  CallArguments scratch_;
  const functions::FunctionOutput output_;  // of print in it
  bool declared_ = false;                   // signatures were given: no others are compiled
};

const gasell::Type& dispatcher_type();

/// Raises what the compiler said as Numba has it: what cannot be typed is a TypingError. The types it was compiled for stand at the
/// function's name.
[[noreturn]] void rethrow_typing(const Error& error, const functions::Function& function, const std::vector<functions::Type>& types);
/// Raises the exception that compiled code raised, with its place in the function.
[[noreturn]] void rethrow(const functions::SiteRaised& raised);

/// Whether Numba converts arguments of one type to another (add_as), and at which cost: integers wrap, floats lose digits.
bool can_convert(const functions::Type& from, const functions::Type& to, int& cost);
/// A type that was said, with the texts that an argument has: they are constants of the code.
functions::Type with_texts(functions::Type type, const functions::Type& given);

}  // namespace gasell::numba
