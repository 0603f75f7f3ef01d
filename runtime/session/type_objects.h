// Types whose value is more than a plain TypeObject: those that have constants (datetime.min).
#pragma once

#include "runtime/session/value.h"

namespace gasell {

/// What a call of a built-in type runs, and nothing else; null for other objects.
const NativeFunction* plain_constructor(const Object& object);
/// Makes a TypeObject the one of its type. Call it before anybody asks for type_object(type): where the type itself is made. Gives true.
bool register_type_object(const Type& type, const Value& object);

}  // namespace gasell
