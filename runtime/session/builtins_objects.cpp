// repr, isinstance, getattr, dir, hash and their like.
#include <algorithm>

#include "runtime/session/builtins.h"
#include "runtime/session/class.h"
#include "runtime/session/dict.h"
#include "runtime/session/function.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"
#include "runtime/session/str.h"
#include "runtime/session/str_text.h"
#include "runtime/session/type_unions.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

bool derives_from_one(const Type& type, const Value& classes, const char* message) {
  if (const auto* t = classes.as<TypeObject>()) return type.derives_from(t->described);
  if (const Value* members = union_members(classes)) return derives_from_one(type, *members, message);
  if (classes.is_none()) return type.derives_from(none_type());
  if (const auto* several = classes.as<Tuple>()) {
    return std::any_of(several->items.begin(), several->items.end(), [&](const Value& c) { return derives_from_one(type, c, message); });
  }
  raise("TypeError", message);
}

Value is_instance_of(Interpreter&, Args args) {
  return Value::of(derives_from_one(type_of(args[0]), args[1], "isinstance() arg 2 must be a type, a tuple of types, or a union"));
}

Value is_subclass(Interpreter&, Args args) {
  const auto* t = args[0].as<TypeObject>();
  if (!t) raise("TypeError", "issubclass() arg 1 must be a class");
  return Value::of(derives_from_one(t->described, args[1], "issubclass() arg 2 must be a class, a tuple of classes, or a union"));
}

std::string_view attribute_name(const Value& v) {
  if (const auto* s = v.as<Str>()) return s->value;
  raise("TypeError", "attribute name must be string, not '" + type_of(v).name + "'");
}

Value read_attribute(Interpreter& in, Args args) {
  const std::string_view name = attribute_name(args[1]);
  if (is_missing(args[2])) return get_attribute(in, args[0], name);
  try {
    return get_attribute(in, args[0], name);
  } catch (const Raised& e) {
    if (!is_instance(e.value, *exception_type("AttributeError"))) throw;
    return args[2];
  }
}

Value write_attribute(Interpreter& in, Args args) {
  set_attribute(in, args[0], attribute_name(args[1]), args[2]);
  return {};
}

Value ascii(Interpreter& in, Args args) {
  std::string out;
  for (const char32_t c : decode(repr(in, args[0]))) {
    std::string one;
    append_utf8(one, c);
    if (c < 0x80) {
      out += one;
    } else {
      const std::string quoted = str_repr(one, true);
      out += quoted.substr(1, quoted.size() - 2);
    }
  }
  return make_str(std::move(out));
}

Value code_of(Interpreter&, Args args) {
  const auto* s = args[0].as<Str>();
  if (!s) raise("TypeError", "ord() expected string of length 1, but " + type_of(args[0]).name + " found");
  if (s->size() != 1) raise("TypeError", "ord() expected a character, but string of length " + std::to_string(s->size()) + " found");
  return Value::of(static_cast<int64_t>(decode(s->value).front()));
}

Value character(Interpreter& in, Args args) {
  const int64_t code = to_index(in, args[0]);
  if (code < 0 || code > 0x10FFFF) raise("ValueError", "chr() arg not in range(0x110000)");
  std::string s;
  append_utf8(s, static_cast<char32_t>(code));
  return make_str(std::move(s));
}

Value formatted(Interpreter& in, Args args) {
  return make_str(format(in, args[0], need_str(args[1], "format() argument 2 must be str, not ")));
}

/// Immediate values are told apart by what they are, objects by where they stand.
Value identity(Interpreter&, Args args) {
  const Value& v = args[0];
  if (v.is_object()) return Value::of(static_cast<int64_t>(reinterpret_cast<uintptr_t>(v.object())));
  const auto tag = static_cast<int64_t>(v.tag()) + 1;
  return Value::of(static_cast<int64_t>((static_cast<uint64_t>(v.is_none() ? 0 : v.as_int()) * 0x9E3779B97F4A7C15U >> 8) * 8 +
                                        static_cast<uint64_t>(tag)));
}

Value names(Interpreter& in, Args args) {
  std::vector<std::string> all;
  if (is_missing(args[0])) {
    all = in.global_names();
  } else {
    if (args[0].is_object()) all = args[0].object()->attribute_names(in);
    const auto* t = args[0].as<TypeObject>();
    for (const Type* type = t ? &t->described : &type_of(args[0]); type; type = type->base) {
      for (const auto* group : {&type->methods, &type->static_methods}) {
        for (const NativeFunction& f : *group) all.push_back(f.name);
      }
      for (const auto& p : type->properties) all.push_back(p.name);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<Value> out;
  for (std::string& n : all) out.push_back(make_str(std::move(n)));
  return make_list(std::move(out));
}

Value variables(Interpreter& in, Args args) {
  Value out = make_dict();
  auto& d = *out.as<Dict>();
  if (is_missing(args[0])) {
    for (const std::string& n : in.global_names()) d.insert(in, make_str(n), *in.global(n));
    return out;
  }
  if (user_object(args[0]) || args[0].as<Class>()) return get_attribute(in, args[0], "__dict__");
  const auto* m = args[0].as<Module>();
  if (!m) raise("TypeError", "vars() argument must have __dict__ attribute");
  for (const auto& [name, value] : m->members) d.insert(in, make_str(name), value);
  return out;
}

Value help(Interpreter& in, Args args) {
  if (is_missing(args[0])) {
    in.write_out("help(object) says what an object is; dir(object) lists its attributes.\n");
    return {};
  }
  std::string text;
  if (const auto* f = args[0].as<Builtin>())
    text = f->function.name + "(" + f->function.signature + ")\n    " + f->function.doc;
  else if (const auto* t = args[0].as<TypeObject>())
    text = "class " + t->described.name + (t->described.constructor ? "\n    " + t->described.constructor->doc : "");
  else
    text = repr(in, args[0]);
  in.write_out(text + "\n");
  return {};
}

}  // namespace

bool is_callable(Interpreter& in, const Value& v) {
  return v.is_object() && (v.as<Function>() || v.as<Builtin>() || v.as<TypeObject>() || type_of(v).name == "method_descriptor" ||
                           has_attribute(in, v, "__call__"));
}

std::vector<NativeFunction> object_functions() {
  return {
      {"repr", "obj, /", [](Interpreter& in, Args a) { return make_str(repr(in, a[0])); },
       "Text that shows the object as code would write it."},
      {"ascii", "obj, /", ascii, "As repr, with what is not ASCII escaped."},
      {"format", "value, format_spec='', /", formatted, "Text by a format spec."},
      {"chr", "i, /", character, "The character of a code point."},
      {"ord", "c, /", code_of, "The code point of a character."},
      {"hash", "obj, /", [](Interpreter& in, Args a) { return Value::of(hash(in, a[0])); }, "An int that equal objects share."},
      {"id", "obj, /", identity, "An int that no other living object has."},
      {"isinstance", "obj, class_or_tuple, /", is_instance_of, "Whether an object is of a type, or of one of several."},
      {"issubclass", "cls, class_or_tuple, /", is_subclass, "Whether a type derives from another, or from one of several."},
      {"callable", "obj, /", [](Interpreter& in, Args a) { return Value::of(is_callable(in, a[0])); }, "Whether an object can be called."},
      {"getattr", "object, name, default=missing, /", read_attribute, "An attribute by name; the default where there is none."},
      {"setattr", "obj, name, value, /", write_attribute, "Sets an attribute by name."},
      {"hasattr", "obj, name, /", [](Interpreter& in, Args a) { return Value::of(has_attribute(in, a[0], attribute_name(a[1]))); },
       "Whether there is an attribute of that name."},
      {"dir", "object=missing, /", names, "The names of the attributes; without argument those of the global variables."},
      {"vars", "object=missing, /", variables, "The members of a module; without argument the global variables."},
      {"globals", "",
       [](Interpreter& in, Args) {
         Value none[] = {missing()};
         return variables(in, none);
       },
       "A copy of the global variables, by name."},
      {"help", "object=missing", help, "Prints what an object is."},
  };
}

}  // namespace gasell
