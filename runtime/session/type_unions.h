// What types are in annotations beside themselves: `int | None`, `list[int]`; and the view of a class's attributes.
#pragma once

#include <optional>

#include "runtime/session/class.h"

namespace gasell {

/// a | b where both are types, unions, aliases or None; nullopt otherwise.
std::optional<Value> type_union(const Value& a, const Value& b);
/// The members of a union as a tuple, or null.
const Value* union_members(const Value& v);
/// list[int] and the like of built-in types that take parameters; nullopt for others.
std::optional<Value> generic_alias(const Value& origin, const Value& index);
/// The type in front of the brackets of an alias, or null.
const Value* alias_origin(const Value& v);
/// A view of a dict that cannot be written through.
Value read_only(const Value& dict);
/// cls.__dict__: such a view of a copy.
Value class_dict(Interpreter& in, Class& c);

}  // namespace gasell
