#include <cmath>

#include "lang/parser.h"
#include "runtime/session/error_output.h"
#include "runtime/session/objects.h"
#include "stdlib/modules.h"
#include "tools/array_values.h"
#include "tools/libgasell/marshal.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

/// False: that is more than may be printed, and the call is ended.
bool count_output(gasell_session& session, size_t length) {
  const int64_t printed = session.printed += static_cast<int64_t>(length);
  if (session.most_output == 0 || printed <= session.most_output) return true;
  session.end(Sandbox::End::output);
  return false;
}

/// What scripts say beside their output: to the program, else in a sandbox to where the output goes, else to stderr.
void write_error_output(gasell_session& session, std::string_view text) {
  const std::lock_guard lock(session.error_mutex);
  if (!count_output(session, text.size())) {
    if (session.user.load() == std::this_thread::get_id()) throw Sandbox::Ended{Sandbox::End::output};
    return;  // one that works for the call, which ends
  }
  if (session.error_writer)
    session.error_writer(session.error_writer_context, text.data(), text.size());
  else if (session.sandbox->rules().confined)
    session.write(text);
  else
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

gasell_session::gasell_session(gasell_engine& owner, Sandbox::Rules rules)
    : owner(owner), engine(owner.engine), sandbox(std::make_shared<Sandbox>(std::move(rules))), interpreter(engine, known_modules()) {
  interpreter.confine(sandbox);
  interpreter.write_out = [this](std::string_view text) {
    if (!count_output(*this, text.size())) throw Sandbox::Ended{Sandbox::End::output};
    write(text);
  };
  sandbox->state<ErrorOutput>().write = [this](std::string_view text) { write_error_output(*this, text); };
}
gasell_session::~gasell_session() = default;

gasell_status gasell_session_create(gasell_engine* engine, gasell_session** session, gasell_error** error) noexcept {
  return gasell_session_create_with(engine, nullptr, session, error);
}

gasell_status gasell_session_create_with(gasell_engine* engine, const gasell_session_options* options, gasell_session** session,
                                         gasell_error** error) noexcept {
  return guarded(error, nullptr, [&] {
    require(engine && session, "gasell_session_create wants an engine and a place for the session");
    *session = nullptr;
    const gasell_session_options given = options ? read_struct(*options) : gasell_session_options{};
    require(given.memory >= 0 && given.output >= 0 && given.recursion >= 0, "limits must be 0 (none) or positive");
    require(given.seconds >= 0 && std::isfinite(given.seconds), "seconds must be 0 (no limit) or positive");
    require(given.recursion <= 100000, "recursion must be at most 100000");
    Sandbox::Rules rules;
    rules.confined = given.sandbox != 0;
    rules.memory = given.memory;
    require(!given.allow || given.sandbox, "what is allowed matters in a sandbox only");
    for (const char* const* each = given.allow; each && *each; ++each)
      if (!grant(rules, *each))
        throw InvalidArgument{std::string("\"") + *each +
                              "\" is nothing to allow: read:FOLDER, write:FOLDER, env, clock, network, plugins, unchecked, raw-code are"};
    auto made = std::make_unique<gasell_session>(*engine, std::move(rules));
    made->most_output = given.output;
    made->seconds = given.seconds;
    if (given.recursion) made->interpreter.set_recursion_limit(given.recursion);
    if (given.sandbox) made->interpreter.read_line = [](const std::string&) { return std::optional<std::string>(); };
    *session = made.release();
  });
}

void gasell_session_free(gasell_session* session) noexcept {
  if (session) free_session(session);
}

gasell_status gasell_session_set_seconds(gasell_session* session, double seconds, gasell_error** error) noexcept {
  return guarded(error, nullptr, [&] {
    require(session, "gasell_session_set_seconds wants a session");
    require(seconds >= 0 && std::isfinite(seconds), "seconds must be 0 (no limit) or positive");
    session->seconds = seconds;
  });
}

void gasell_session_interrupt(gasell_session* session) noexcept {
  if (session) session->end(Sandbox::End::asked);
}

void gasell_session_set_cancelled(gasell_session* session, int cancelled) noexcept {
  if (!session) return;
  session->cancelled = cancelled != 0;
  if (cancelled) session->end(Sandbox::End::asked);
}

gasell_status gasell_session_set_output(gasell_session* session, gasell_write write, void* context, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session, "gasell_session_set_output wants a session");
    session->writer = write;
    session->writer_context = context;
  });
}

gasell_status gasell_session_set_error_output(gasell_session* session, gasell_write write, void* context, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session, "gasell_session_set_error_output wants a session");
    const std::lock_guard lock(session->error_mutex);
    session->error_writer = write;
    session->error_writer_context = context;
  });
}

gasell_status gasell_session_set_input(gasell_session* session, gasell_read_line read, void* context, gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && read, "gasell_session_set_input wants a session and a reader");
    session->interpreter.read_line = [read, context](const std::string& prompt) -> std::optional<std::string> {
      std::string line(1 << 16, '\0');
      const int64_t length = read(context, prompt.c_str(), line.data(), static_cast<int64_t>(line.size()));
      if (length < 0) return {};
      line.resize(static_cast<size_t>(std::min<int64_t>(length, static_cast<int64_t>(line.size()))));
      return line;
    };
  });
}

gasell_status gasell_evaluate(gasell_session* session, const char* text, const char* source_name, gasell_value** result,
                              gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require(session && text, "gasell_evaluate wants a session and a text");
    if (result) *result = nullptr;
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

gasell_status bind(gasell_session* session, const char* name, gasell_error** error, const std::function<Value()>& make) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    session->interpreter.set_global(name, make());
  });
}

}  // namespace

gasell_status gasell_bind_view(gasell_session* session, const char* name, void* data, gasell_dtype dtype, int rank, const int64_t* shape,
                               const int64_t* strides, unsigned flags, gasell_release release, void* context,
                               gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    require((flags & ~GASELL_WRITABLE) == 0, "unknown flags");
    const DType type = dtype_of(dtype);
    require_memory(data, type, rank, shape, strides);
    // From the storage on, the memory is released with it; until the binding has succeeded, that must not reach the caller.
    const auto armed = std::make_shared<bool>(false);
    Array array = array_over(session->engine, data, type, rank, shape, strides, (flags & GASELL_WRITABLE) != 0, [armed, release, context] {
      if (*armed && release) release(context);
    });
    session->interpreter.set_global(name, value_of(std::move(array)));
    *armed = true;
  });
}

gasell_status gasell_bind_array(gasell_session* session, const char* name, void* data, gasell_dtype dtype, int rank, const int64_t* shape,
                                unsigned flags, gasell_release release, void* context, gasell_error** error) noexcept {
  return gasell_bind_view(session, name, data, dtype, rank, shape, nullptr, flags, release, context, error);
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

namespace gasell::c_abi {

void require_binding(gasell_session* session, const char* name) {
  require(session && name && *name, "a binding wants a session and a name");
}

}  // namespace gasell::c_abi
