// Functions of the program that take whatever scripts give them.
#include "runtime/functions/host_function.h"
#include "runtime/session/objects.h"
#include "tools/libgasell/handles.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

class Callable final : public functions::HostFunction {
 public:
  Callable(gasell_session& session, std::string name, gasell_callable callable, void* context)
      : session_(session), name_(std::move(name)), callable_(callable), context_(context) {}
  ~Callable() override {
    if (release_) release_(context_);
  }
  /// The value is made: from now on the context is released with it.
  void arm(gasell_release release) { release_ = release; }

  const functions::HostCall* call_of_numbers() const override { return nullptr; }
  std::string repr(Interpreter&) override { return "<host function " + name_ + ">"; }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "__name__") return make_str(name_);
    return Object::get_attribute(in, name);
  }

  Value call(Interpreter&, Arguments given) override {
    std::vector<gasell_value*> positional, keywords;
    std::vector<const char*> names;
    for (Value& value : given.positional) positional.push_back(new gasell_value{&session_, std::move(value), {}});
    for (auto& [name, value] : given.keywords) {
      names.push_back(name.c_str());
      keywords.push_back(new gasell_value{&session_, std::move(value), {}});
    }
    gasell_value* result = nullptr;
    gasell_failure failure;
    failure.kind[0] = failure.message[0] = '\0';
    int status = 0;
    {
      const BetweenTurns others_may(session_);
      status = callable_(context_, positional.data(), positional.size(), names.data(), keywords.data(), keywords.size(), &result, &failure);
    }
    const std::unique_ptr<gasell_value> owned(result);
    if (status != 0) {
      if (session_.engine.interrupted()) throw Interrupted();
      functions::HostFailure told;
      static_assert(sizeof told == sizeof failure, "C's failure is the runtime's");
      std::memcpy(&told, &failure, sizeof told);
      throw functions::error_of(told, name_);
    }
    if (!owned) return {};
    if (owned->session != &session_) raise("TypeError", name_ + "(): it returned a value of another session");
    return owned->value;
  }

 private:
  gasell_session& session_;
  const std::string name_;
  const gasell_callable callable_;
  void* const context_;
  gasell_release release_ = nullptr;
};

}  // namespace

gasell_status gasell_make_function(gasell_session* session, const char* name, gasell_callable callable, gasell_release release,
                                   void* context, gasell_value** value, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && name && callable && value, "gasell_make_function wants a session, a name, a callable and a place for the value");
    *value = nullptr;
    Value made = Value::make<Callable>(*session, name, callable, context);
    auto* const function = made.as<Callable>();
    *value = new gasell_value{session, std::move(made), {}};
    function->arm(release);
  });
}
