#include <nlohmann/json.hpp>

#include "lang/render.h"
#include "runtime/functions/call.h"
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

/// A compiled function raised, in a call that was no session's.
Diagnostic diagnostic_of(const functions::SiteRaised& raised) {
  Diagnostic d;
  d.kind = raised.site.exception;
  d.message = raised.message;
  if (raised.site.source) d.primary = Label{raised.site.source, raised.site.span, ""};
  return d;
}

struct Place {
  std::string source;
  int line = 0, column = 0, end_line = 0, end_column = 0;
};

Place place_of(const Label& label) {
  if (!label.source) return {};
  const Source::Position begin = label.source->position(label.span.begin), end = label.source->position(label.span.end);
  return {label.source->name(), begin.line, begin.column, end.line, end.column};
}

void add_place(nlohmann::json& to, const Place& place) {
  to["source"] = place.source;
  to["line"] = place.line;
  to["column"] = place.column;
  to["end_line"] = place.end_line;
  to["end_column"] = place.end_column;
}

std::string json_of(gasell_status status, const Diagnostic& d, int exit_code) {
  nlohmann::json all{
      {"status", static_cast<int>(status)}, {"kind", d.kind}, {"message", d.message}, {"hint", d.hint}, {"exit_code", exit_code}};
  add_place(all, d.primary ? place_of(*d.primary) : Place{});
  nlohmann::json calls = nlohmann::json::array();
  for (const Label& label : d.secondary) {
    nlohmann::json call{{"text", label.text}};
    add_place(call, place_of(label));
    calls.push_back(std::move(call));
  }
  all["calls"] = std::move(calls);
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
  const auto ended = [&](Sandbox::End why) {
    switch (why) {
      case Sandbox::End::time: return plain(GASELL_LIMIT_EXCEEDED, Blame::user, "TimeoutError", "the call took longer than it may");
      case Sandbox::End::output:
        return plain(GASELL_LIMIT_EXCEEDED, Blame::user, "OutputLimitError", "the script printed more than it may");
      default: return plain(GASELL_INTERRUPTED, Blame::user, "KeyboardInterrupt", "the computation was interrupted");
    }
  };
  try {
    throw;
  } catch (const InvalidArgument& e) {
    return plain(GASELL_INVALID_ARGUMENT, Blame::user, "InvalidArgument", e.message);
  } catch (const Error& e) {
    return {status_of(e.diagnostic()), e.diagnostic()};
  } catch (const Sandbox::Ended& e) {
    return ended(e.why);
  } catch (const functions::SiteRaised& e) {
    return {GASELL_SCRIPT_ERROR, diagnostic_of(e)};
  } catch (const Interrupted&) {
    return ended(session ? session->sandbox->end() : Sandbox::End::asked);  // a kernel, and not the script, was what had to end
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
    if (session && (d.status == GASELL_LIMIT_EXCEEDED || d.status == GASELL_INTERRUPTED)) log_end_of_call(*session, d.diagnostic.message);
    if (error) {
      std::string rendered = render(d.diagnostic), json = json_of(d.status, d.diagnostic, d.exit_code);
      *error = new gasell_error{d.status, std::move(d.diagnostic), std::move(rendered), std::move(json), d.exit_code};
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
      const Place place = place_of(*d.primary);
      out.source = d.primary->source->name().c_str();
      out.line = place.line;
      out.column = place.column;
      out.end_line = place.end_line;
      out.end_column = place.end_column;
    }
    out.hint = d.hint.c_str();
    out.rendered = error->rendered.c_str();
    out.exit_code = error->exit_code;
    out.json = error->json.c_str();
    write_struct(*info, out);
  });
}

void gasell_error_free(gasell_error* error) noexcept { delete error; }
