#include "lang/parser.h"
#include "runtime/session/objects.h"
#include "stdlib/modules.h"
#include "tools/array_values.h"
#include "tools/libgasell/handles.h"

using namespace gasell;
using namespace gasell::c_abi;

gasell_session::gasell_session(gasell_engine& owner) : owner(owner), engine(owner.engine), interpreter(engine, known_modules()) {}
gasell_session::~gasell_session() = default;

gasell_status gasell_session_create(gasell_engine* engine, gasell_session** session, gasell_error** error) noexcept {
  return guarded(error, nullptr, [&] {
    require(engine && session, "gasell_session_create wants an engine and a place for the session");
    *session = nullptr;
    *session = new gasell_session(*engine);
  });
}

void gasell_session_free(gasell_session* session) noexcept { delete session; }

gasell_status gasell_session_set_output(gasell_session* session, gasell_write write, void* context, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session, "gasell_session_set_output wants a session");
    if (write) {
      session->interpreter.write_out = [write, context](std::string_view text) { write(context, text.data(), text.size()); };
    } else {
      session->interpreter.write_out = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    }
  });
}

gasell_status gasell_evaluate(gasell_session* session, const char* text, const char* source_name, gasell_value** result,
                              gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && text, "gasell_evaluate wants a session and a text");
    if (result) *result = nullptr;
    session->engine.clear_interrupt();
    const ast::ModuleRef module = parse_module(std::make_shared<Source>(source_name ? source_name : "<host>", text));
    if (!result) return session->interpreter.run(module);
    *result = new gasell_value{session, session->interpreter.evaluate(module), {}};
  });
}

gasell_status gasell_get_global(gasell_session* session, const char* name, gasell_value** result, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && name && result, "gasell_get_global wants a session, a name and a place for the value");
    *result = nullptr;
    const Value* value = session->interpreter.global(name);
    if (!value) throw Error("NameError", std::string("name '") + name + "' is not defined");
    *result = new gasell_value{session, *value, {}};
  });
}

// ---- giving values to a session ----

namespace {

void require_binding(gasell_session* session, const char* name) {
  require(session && name && *name, "a binding wants a session and a name");
}

gasell_status bind(gasell_session* session, const char* name, gasell_error** error, const std::function<Value()>& make) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    session->interpreter.set_global(name, make());
  });
}

}  // namespace

gasell_status gasell_bind_array(gasell_session* session, const char* name, void* data, gasell_dtype dtype, int rank, const int64_t* shape,
                                unsigned flags, gasell_release release, void* context, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    require(rank >= 0 && rank <= 64, "the rank must be 0 to 64");
    require(rank == 0 || shape, "an array with axes wants a shape");
    require((flags & ~GASELL_WRITABLE) == 0, "unknown flags");
    const DType type = dtype_of(dtype);
    Array::Shape extents(shape, shape + rank);
    int64_t bytes = size_of(type);
    for (int64_t extent : extents)
      require(extent >= 0 && !__builtin_mul_overflow(bytes, extent, &bytes), "an extent is negative, or the shape too large");
    require(data || bytes == 0, "the data pointer is NULL");
    const int alignment = kind(type) == 'c' ? size_of(type) / 2 : size_of(type);
    require(reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment) == 0, "the data pointer is not aligned to the element");
    // From the storage on, the memory is released with it; until the binding has succeeded, that must not reach the caller.
    const auto armed = std::make_shared<bool>(false);
    const HostStorageRef storage = external(data, bytes, flags & GASELL_WRITABLE, [armed, release, context] {
      if (*armed && release) release(context);
    });
    session->interpreter.set_global(name, value_of(Array::over(storage, type, std::move(extents))));
    *armed = true;
  });
}

gasell_status gasell_bind_boolean(gasell_session* session, const char* name, int value, gasell_error** error) noexcept {
  return bind(session, name, error, [&] { return Value::of(value != 0); });
}

gasell_status gasell_bind_integer(gasell_session* session, const char* name, int64_t value, gasell_error** error) noexcept {
  return bind(session, name, error, [&] { return Value::of(value); });
}

gasell_status gasell_bind_float(gasell_session* session, const char* name, double value, gasell_error** error) noexcept {
  return bind(session, name, error, [&] { return Value::of(value); });
}

gasell_status gasell_bind_string(gasell_session* session, const char* name, const char* text, size_t length,
                                 gasell_error** error) noexcept {
  return bind(session, name, error, [&] {
    require(text || length == 0, "the text is NULL");
    return make_str(std::string(text ? text : "", length));
  });
}

gasell_status gasell_bind_value(gasell_session* session, const char* name, const gasell_value* value, gasell_error** error) noexcept {
  return bind(session, name, error, [&] {
    require(value, "the value is NULL");
    require(value->session == session, "the value belongs to another session");
    return value->value;
  });
}
