#include "lang/render.h"
#include "runtime/session/objects.h"
#include "tools/libgasell/handles.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

gasell_status status_of(const Diagnostic& diagnostic) {
  switch (diagnostic.blame) {
    case Blame::user: return GASELL_SCRIPT_ERROR;
    case Blame::environment: return GASELL_ENVIRONMENT;
    case Blame::limitation: return GASELL_LIMITATION;
    case Blame::internal: return GASELL_INTERNAL;
  }
  return GASELL_INTERNAL;
}

/// An exception object that left a call outside of evaluate (a conversion, a repr).
Diagnostic diagnostic_of(const Raised& raised, gasell_session* session) {
  Diagnostic d;
  const auto* exception = raised.value.as<Exception>();
  d.kind = type_of(raised.value).name;
  if (session) d.message = str(session->interpreter, raised.value);
  if (exception) d.hint = exception->hint;
  return d;
}

struct Description {
  gasell_status status;
  Diagnostic diagnostic;
  int exit_code = 0;
};

Description describe_current(gasell_session* session) {
  const auto plain = [](gasell_status status, Blame blame, const char* kind, std::string message) {
    return Description{status, Diagnostic{blame, kind, std::move(message), {}, {}, {}}};
  };
  try {
    throw;
  } catch (const InvalidArgument& e) {
    return plain(GASELL_INVALID_ARGUMENT, Blame::user, "InvalidArgument", e.message);
  } catch (const Error& e) {
    return {status_of(e.diagnostic()), e.diagnostic()};
  } catch (const Interrupted&) {
    return plain(GASELL_INTERRUPTED, Blame::user, "KeyboardInterrupt", "the computation was interrupted");
  } catch (const Interpreter::Exit& e) {
    Description d = plain(GASELL_EXIT, Blame::user, "SystemExit", std::to_string(e.code));
    d.exit_code = e.code;
    return d;
  } catch (const Raised& e) {
    return {GASELL_SCRIPT_ERROR, diagnostic_of(e, session)};
  } catch (const std::bad_alloc&) {
    return plain(GASELL_ENVIRONMENT, Blame::environment, "MemoryError", "the machine has no more memory to give");
  } catch (const std::exception& e) {
    return plain(GASELL_INTERNAL, Blame::internal, "InternalError", e.what());
  } catch (...) {
    return plain(GASELL_INTERNAL, Blame::internal, "InternalError", "an exception of unknown type");
  }
}

}  // namespace

namespace gasell::c_abi {

gasell_status report(gasell_error** error, gasell_session* session) noexcept {
  try {
    Description d = describe_current(session);
    if (error) {
      std::string rendered = render(d.diagnostic);
      *error = new gasell_error{d.status, std::move(d.diagnostic), std::move(rendered), d.exit_code};
    }
    return d.status;
  } catch (...) {
    return GASELL_INTERNAL;  // not even the description could be made
  }
}

}  // namespace gasell::c_abi

gasell_status gasell_error_describe(const gasell_error* error, gasell_error_info* info) noexcept {
  return guarded(nullptr, nullptr, [&] {
    require(error && info, "gasell_error_describe wants an error and an info");
    const Diagnostic& d = error->diagnostic;
    gasell_error_info out{};
    out.status = error->status;
    out.kind = d.kind.c_str();
    out.message = d.message.c_str();
    out.source = "";
    if (d.primary && d.primary->source) {
      const Source::Position position = d.primary->source->position(d.primary->span.begin);
      out.source = d.primary->source->name().c_str();
      out.line = position.line;
      out.column = position.column;
    }
    out.hint = d.hint.c_str();
    out.rendered = error->rendered.c_str();
    out.exit_code = error->exit_code;
    write_struct(*info, out);
  });
}

void gasell_error_free(gasell_error* error) noexcept { delete error; }
