// Calls of script functions whose arguments are put where the function has its parameters.
#pragma once

#include "runtime/session/evaluator.h"

namespace gasell {

/// attempt_function() where the function takes so many positional arguments as they come (FunctionCode::simple, fills_by_place()). `room`
/// is that of its locals and cells, and begins with the arguments.
Value attempt_in_place(Session& session, const Function& function, std::span<Value> room, size_t given);

/// Calls a function with `given` positional arguments, which `fill(span)` puts where it is told; false from that: an exception is on its
/// way. What the function raises is told as Node::attempt() does. Whoever calls keeps the function.
template <class Fill>
[[gnu::always_inline]] inline Value attempt_filled(Session& session, const Function& function, size_t given, const Fill& fill) {
  const FunctionCode& code = *function.code;
  const bool in_place = code.simple && code.signature.fills_by_place(given);
  StackValues values(session.stack, in_place ? static_cast<size_t>(code.local_count + code.cell_count) : given);
  if (!fill(values.span().first(given))) [[unlikely]]
    return Value::absent();
  return in_place ? attempt_in_place(session, function, values.span(), given) : attempt_function(session, function, values.span());
}

}  // namespace gasell
