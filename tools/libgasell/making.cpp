// Values of a session that the program makes, looks into and calls, without a name in the session.
#include "lang/large_stack.h"
#include "runtime/session/dict.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"
#include "tools/array_values.h"
#include "tools/libgasell/marshal.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

/// Puts what `make` gives into `value`.
template <class Make>
gasell_status making(gasell_session* session, gasell_value** value, gasell_error** error, Make&& make) noexcept {
  return guarded(error, session, [&] {
    require(session && value, "a value wants a session and a place for it");
    *value = nullptr;
    *value = new gasell_value{session, make(), {}};
  });
}

std::vector<Value> values_of(const gasell_session* session, gasell_value* const* given, size_t count) {
  require(given || count == 0, "the values are NULL");
  std::vector<Value> values;
  values.reserve(count);
  for (size_t k = 0; k < count; ++k) {
    require(given[k], "a value is NULL");
    require(given[k]->session == session, "the value belongs to another session");
    values.push_back(given[k]->value);
  }
  return values;
}

/// What `look` finds in the session: a property may run the session's code.
template <class Look>
Value looking(gasell_session& session, const Look& look) {
  Value found;
  run_on_large_stack([&] {
    try {
      found = look(session.interpreter);
    } catch (const Raised& raised) {
      throw error_from_exception(session.interpreter, raised.value);
    }
  });
  return found;
}

/// A callee whose last positional arguments are keywords: calls from outside of scripts are positional.
class KeywordCall final : public Object {
 public:
  KeywordCall(Value callee, std::vector<std::string> names) : callee_(std::move(callee)), names_(std::move(names)) {}
  const Type& type() const override {
    static const Type t{"keyword_call", "builtins", &object_type()};
    return t;
  }
  std::string repr(Interpreter& in) override { return gasell::repr(in, callee_); }
  Value call(Interpreter& in, Arguments arguments) override {
    const auto first = arguments.positional.end() - static_cast<std::ptrdiff_t>(names_.size());
    for (size_t k = 0; k < names_.size(); ++k) arguments.keywords.emplace_back(names_[k], first[static_cast<std::ptrdiff_t>(k)]);
    arguments.positional.erase(first, arguments.positional.end());
    if (!callee_.is_object()) raise("TypeError", "'" + type_of(callee_).name + "' object is not callable");
    return callee_.object()->call(in, std::move(arguments));
  }

 private:
  const Value callee_;
  const std::vector<std::string> names_;
};

}  // namespace

gasell_status gasell_make_none(gasell_session* session, gasell_value** value, gasell_error** error) noexcept {
  return making(session, value, error, [] { return Value(); });
}

gasell_status gasell_make_boolean(gasell_session* session, int number, gasell_value** value, gasell_error** error) noexcept {
  return making(session, value, error, [&] { return Value::of(number != 0); });
}

gasell_status gasell_make_integer(gasell_session* session, int64_t number, gasell_value** value, gasell_error** error) noexcept {
  return making(session, value, error, [&] { return Value::of(number); });
}

gasell_status gasell_make_float(gasell_session* session, double number, gasell_value** value, gasell_error** error) noexcept {
  return making(session, value, error, [&] { return Value::of(number); });
}

gasell_status gasell_make_complex(gasell_session* session, double real, double imaginary, gasell_value** value,
                                  gasell_error** error) noexcept {
  return making(session, value, error, [&] { return Value::make<Complex>(std::complex<double>(real, imaginary)); });
}

gasell_status gasell_make_string(gasell_session* session, const char* text, size_t length, gasell_value** value,
                                 gasell_error** error) noexcept {
  return making(session, value, error, [&] {
    require(text || length == 0, "the text is NULL");
    return make_str(std::string(text ? text : "", length));
  });
}

gasell_status gasell_make_sequence(gasell_session* session, int is_tuple, gasell_value* const* items, size_t count, gasell_value** value,
                                   gasell_error** error) noexcept {
  return making(session, value, error, [&] {
    std::vector<Value> values = values_of(session, items, count);
    return is_tuple ? make_tuple(std::move(values)) : make_list(std::move(values));
  });
}

gasell_status gasell_make_dict(gasell_session* session, gasell_value* const* keys, gasell_value* const* items, size_t count,
                               gasell_value** value, gasell_error** error) noexcept {
  return making(session, value, error, [&] {
    const std::vector<Value> names = values_of(session, keys, count), values = values_of(session, items, count);
    Value dict = make_dict();
    for (size_t k = 0; k < count; ++k) dict.as<Dict>()->insert(session->interpreter, names[k], values[k]);
    return dict;
  });
}

gasell_status gasell_make_slice(gasell_session* session, const gasell_value* start, const gasell_value* stop, const gasell_value* step,
                                gasell_value** value, gasell_error** error) noexcept {
  return making(session, value, error, [&] {
    const auto part = [&](const gasell_value* given) {
      if (!given) return Value();
      require(given->session == session, "the value belongs to another session");
      return given->value;
    };
    return Value::make<SliceObject>(part(start), part(stop), part(step));
  });
}

gasell_status gasell_make_view(gasell_session* session, void* data, gasell_dtype dtype, int rank, const int64_t* shape,
                               const int64_t* strides, unsigned flags, gasell_release release, void* context, gasell_value** value,
                               gasell_error** error) noexcept {
  const auto armed = std::make_shared<bool>(false);  // until there is a value, the memory is the caller's
  return making(session, value, error, [&] {
    require((flags & ~GASELL_WRITABLE) == 0, "unknown flags");
    const DType type = dtype_of(dtype);
    require_memory(data, type, rank, shape, strides);
    Value made =
        value_of(array_over(session->engine, data, type, rank, shape, strides, (flags & GASELL_WRITABLE) != 0, [armed, release, context] {
          if (*armed && release) release(context);
        }));
    *armed = true;
    return made;
  });
}

gasell_status gasell_value_share(const gasell_value* value, gasell_value** shared, gasell_error** error) noexcept {
  return making(value ? value->session : nullptr, shared, error, [&] { return value->value; });
}

gasell_status gasell_value_type(const gasell_value* value, const char** name, gasell_error** error) noexcept {
  return guarded(error, value ? value->session : nullptr, [&] {
    require(value && name, "gasell_value_type wants a value and a place for the name");
    *name = type_of(value->value).name.c_str();
  });
}

int gasell_value_has_dtype(const gasell_value* value) noexcept {
  return value && (scalar_dtype_of(value->value) || array_of(value->value)) ? 1 : 0;
}

gasell_status gasell_import_module(gasell_session* session, const char* name, gasell_value** module, gasell_error** error) noexcept {
  return making(session, module, error, [&] {
    require(name, "the name is NULL");
    return looking(*session, [&](Interpreter& in) { return in.import_module(name, nullptr); });
  });
}

gasell_status gasell_value_attribute(const gasell_value* value, const char* name, gasell_value** attribute, gasell_error** error) noexcept {
  return making(value ? value->session : nullptr, attribute, error, [&] {
    require(name, "the name is NULL");
    return looking(*value->session, [&](Interpreter& in) { return get_attribute(in, value->value, name); });
  });
}

gasell_status gasell_value_call(const gasell_value* callee, gasell_value* const* arguments, size_t count, const char* const* names,
                                gasell_value* const* keywords, size_t keyword_count, gasell_value** result, gasell_error** error) noexcept {
  gasell_session* const session = callee ? callee->session : nullptr;
  return making(session, result, error, [&] {
    std::vector<Value> values = values_of(session, arguments, count);
    if (keyword_count == 0) return session->interpreter.call(callee->value, std::move(values));
    require(names, "the names are NULL");
    for (Value& keyword : values_of(session, keywords, keyword_count)) values.push_back(std::move(keyword));
    const Value call = Value::make<KeywordCall>(callee->value, std::vector<std::string>(names, names + keyword_count));
    return session->interpreter.call(call, std::move(values));
  });
}
