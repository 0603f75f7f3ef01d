// What stands in classes beside plain functions: properties, static and class methods; and how a member is bound to an object.
#pragma once

#include <string>

#include "runtime/session/value.h"

namespace gasell {

struct UserObject;

/// The member of a class as an attribute of `self`, or, where that is absent, of the class: functions become methods, a property's value is
/// computed.
Value bound_member(Interpreter& in, const Value& member, const Value& self, const Value& made_by);
/// A built-in function as a member of a class: it binds as the functions of scripts do, and takes the object first.
Value native_method(const NativeFunction& function);
/// Tells a member of a class its name there; only cached_property wants to know.
void name_member(const Value& member, const std::string& name);
/// functools.cached_property: computed once an object, then an attribute of its own.
const Type& cached_property_type();
/// Whether it goes before the object's own attribute of that name: properties, and descriptors with __set__ or __delete__.
bool is_property(const Value& member);
/// Functions, properties, static and class methods, and what has __get__.
bool is_descriptor(const Value& member);
/// Whether abc.abstractmethod has marked it.
bool is_abstract(Interpreter& in, const Value& member);
/// What `object` (or the exceptions) have of special methods, for super() and by name; null where they have none.
const NativeFunction* method_of_object(std::string_view name, bool exception);
/// Calls the property's setter, or with an absent value its deleter; AttributeError where there is none.
void set_property(Interpreter& in, const Value& property, const Value& self, std::string_view name, const Value& value);
/// Property, own member, member of the class; nullopt where there is none. Without __getattr__.
std::optional<Value> find_member(Interpreter& in, UserObject& object, const Value& self, std::string_view name);
/// del object.name as `object` itself does it, without __delattr__.
void delete_member(Interpreter& in, const Value& self, std::string_view name);
/// object.name = value as `object` itself does it, without __setattr__.
void set_member(Interpreter& in, const Value& self, std::string_view name, const Value& value);

}  // namespace gasell
