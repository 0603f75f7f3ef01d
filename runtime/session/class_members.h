// What stands in classes beside plain functions: properties, static and class methods; and how a member is bound to an object.
#pragma once

#include <string>

#include "runtime/session/value.h"

namespace gasell {

/// The member of a class as an attribute of `self`, or, where that is absent, of the class: functions become methods, a property's value is
/// computed.
Value bound_member(Interpreter& in, const Value& member, const Value& self, const Value& made_by);
/// A built-in function as a member of a class: it binds as the functions of scripts do, and takes the object first.
Value native_method(const NativeFunction& function);
/// Tells a member of a class its name there; only cached_property wants to know.
void name_member(const Value& member, const std::string& name);
/// functools.cached_property: computed once an object, then an attribute of its own.
const Type& cached_property_type();
bool is_property(const Value& member);
/// Calls the property's setter, or with an absent value its deleter; AttributeError where there is none.
void set_property(Interpreter& in, const Value& property, const Value& self, std::string_view name, const Value& value);
/// object.name = value as `object` itself does it, without __setattr__.
void set_member(Interpreter& in, const Value& self, std::string_view name, const Value& value);

}  // namespace gasell
