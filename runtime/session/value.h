// Values of the interpreted part of the language: Python's object model, small. Immediate values (None, bool, int, float) take no memory;
// everything else is a reference-counted Object whose virtual functions are Python's slots (__repr__, __getitem__, …).
//
// A session and its values belong to one thread at a time; reference counts are not atomic.
#pragma once

#include <array>
#include <atomic>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "lang/ast.h"
#include "lang/diagnostic.h"

namespace gasell {

class Interpreter;
class Object;
struct Type;

/// dynamic_cast<T*>(object), which is asked many times for each operation of a script. What it said of a type is kept.
template <class T>
T* object_as(Object* object);

class Value {
 public:
  /// `absent` is no value of the language: it marks an argument that was not given (missing()) and a variable that is not bound yet.
  enum class Tag : uint8_t { none, boolean, integer, floating, object, absent };

  Value() = default;  // None
  static Value of(bool v) {
    Value r;
    r.tag_ = Tag::boolean;
    r.i_ = v;
    return r;
  }
  static Value of(int64_t v) {
    Value r;
    r.tag_ = Tag::integer;
    r.i_ = v;
    return r;
  }
  static Value of(int v) { return of(static_cast<int64_t>(v)); }
  static Value of(double v) {
    Value r;
    r.tag_ = Tag::floating;
    r.d_ = v;
    return r;
  }
  static Value of(Object* v);  // takes a new reference
  static Value absent() {
    Value r;
    r.tag_ = Tag::absent;
    return r;
  }
  template <class T, class... A>
  static Value make(A&&... args) {
    return of(static_cast<Object*>(new T(std::forward<A>(args)...)));
  }

  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  Tag tag() const { return tag_; }
  bool is_none() const { return tag_ == Tag::none; }
  bool is_bool() const { return tag_ == Tag::boolean; }
  bool is_int() const { return tag_ == Tag::integer; }  // not bool
  bool is_float() const { return tag_ == Tag::floating; }
  bool is_object() const { return tag_ == Tag::object; }
  bool is_absent() const { return tag_ == Tag::absent; }
  int64_t as_int() const { return i_; }  // bool or int
  double as_float() const { return d_; }
  Object* object() const { return o_; }
  /// The object as a T, or null.
  template <class T>
  T* as() const {
    return tag_ == Tag::object ? object_as<T>(o_) : nullptr;
  }
  /// The object as a T where it is one itself, not of a class derived from T; or null.
  template <class T>
  T* exactly() const;
  /// Python's `is`. Immediate values of one type are the same when their bits are.
  bool same(const Value& other) const { return tag_ == other.tag_ && i_ == other.i_; }
  /// Keeps the object for the life of the process, outside reference counting: for values that several sessions share (built-in functions,
  /// types).
  const Value& immortal() const;

 private:
  Tag tag_ = Tag::none;
  union {
    int64_t i_ = 0;
    double d_;
    Object* o_;
  };
};

/// Arguments of a call, as written.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
};

/// A built-in function or method: `self` first for methods. `signature` is Python's spelling, e.g. "a, axis=None, *, keepdims=False": calls
/// are bound to it (TypeError as CPython words it), and the function receives one value a parameter in order, `missing()` where a parameter
/// without a written default value was left out or its default is not a literal; `*args` arrives as a tuple, `**kw` as a dict.
struct NativeFunction {
  std::string name;
  std::string signature;
  Value (*call)(Interpreter&, std::span<Value> args);
  std::string doc = {};                            // first line of help: what it does; shapes, dtypes, errors
  mutable const void* parsed_signature = nullptr;  // arguments.cpp's cache
};

/// A type as the script sees it. Built-in types are constants; names are looked up in `methods` and `properties`, then in `base`.
struct Type {
  std::string name;    // type(x).__name__
  std::string module;  // "builtins", "numpy"
  const Type* base = nullptr;
  std::vector<NativeFunction> methods = {};  // a signature need not name self
  struct Property {
    std::string name;
    Value (*get)(Interpreter&, const Value& self);
    void (*set)(Interpreter&, const Value& self, const Value& value);  // may be null
    std::string doc;
  };
  std::vector<Property> properties = {};
  /// type(x)(…): null where the type cannot be called.
  const NativeFunction* constructor = nullptr;
  /// Called on the type, without self: str.maketrans, float.fromhex, dict.fromkeys. Found on the type and on its instances.
  std::vector<NativeFunction> static_methods = {};
  /// A further base, for the rare class that has two (numpy's AxisError).
  const Type* second_base = nullptr;
  bool derives_from(const Type& other) const;
};

/// Anything that is not immediate. Defaults do what `object` does or raise Python's TypeError. A binary slot returns nullopt for
/// NotImplemented.
class Object {
 public:
  virtual ~Object() = default;
  static void* operator new(size_t size);  // object_memory.cpp
  static void operator delete(void* at, size_t size) noexcept;
  virtual const Type& type() const = 0;

  virtual std::string repr(Interpreter& in);
  virtual std::string str(Interpreter& in);  // default: repr
  virtual std::string format(Interpreter& in, std::string_view spec);
  virtual bool truth(Interpreter& in);  // default: length != 0 where there is one, else true
  virtual int64_t hash(Interpreter& in);
  virtual std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other);   // eq … ge; eq defaults to identity
  virtual std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other);     // self op other
  virtual std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other);  // other op self
  /// self op= other; nullopt: rebind to self op other.
  virtual std::optional<Value> in_place(Interpreter& in, ast::BinaryOp op, const Value& other);
  virtual Value unary(Interpreter& in, ast::UnaryOp op);  // neg, pos, invert
  virtual int64_t length(Interpreter& in);
  virtual bool contains(Interpreter& in, const Value& item);  // default: by iteration
  virtual Value get_item(Interpreter& in, const Value& index);
  virtual void set_item(Interpreter& in, const Value& index, const Value& value);
  virtual void delete_item(Interpreter& in, const Value& index);
  virtual Value iterate(Interpreter& in);              // an iterator
  virtual std::optional<Value> next(Interpreter& in);  // of an iterator: nullopt at the end
  /// Of an iterator: how many items are to come, where it knows that without making them (what CPython asks by __length_hint__).
  virtual std::optional<int64_t> items_left() const { return std::nullopt; }
  virtual Value call(Interpreter& in, Arguments args);
  /// nullopt: no such attribute. Default: properties and methods of type().
  virtual std::optional<Value> get_attribute(Interpreter& in, std::string_view name);
  virtual void set_attribute(Interpreter& in, std::string_view name, const Value& value);
  virtual std::vector<std::string> attribute_names(Interpreter& in);  // for completion and did-you-mean
  /// Under which names the peers' tables list the attributes (peer_names.h). Default: the type and its bases.
  virtual std::vector<std::string> peer_owners();
  virtual Value enter(Interpreter& in);                        // with
  virtual bool exit(Interpreter& in, const Value& exception);  // true: swallow
  /// int(x), float(x), complex(x), operator.index(x); nullopt: not convertible.
  virtual std::optional<Value> to_int(Interpreter& in);
  virtual std::optional<Value> to_float(Interpreter& in);
  virtual std::optional<Value> to_complex(Interpreter& in);
  virtual std::optional<int64_t> to_index(Interpreter& in);
  /// What to say where a write into this temporary is lost; nullopt: nothing. `name` is "[]" for x[i] = v, the attribute for x.name = v,
  /// the method's name and "()" for one that changes x.
  struct LostWrite {
    const Type* category;
    std::string message, hint;
  };
  virtual std::optional<LostWrite> lost_write(Interpreter& in, std::string_view name);
  /// Only one value refers to it: what a call gets so is a temporary of the expression.
  bool is_temporary() const { return references_ == 1; }

 private:
  friend class Value;
  static void destroy(Object* object);
  static void keep_for_ever(Object* object);
  int64_t references_ = 0;  // negative: immortal
};

[[gnu::always_inline]] inline const std::type_info& dynamic_type(const Object& object) { return typeid(object); }
template <class T>
T* object_as(Object* object) {
  if constexpr (std::is_base_of_v<Object, T>) {
    if (&dynamic_type(*object) == &typeid(T)) return static_cast<T*>(object);
    // By the address of the type's description, whose lowest bit is free for the answer.
    static std::array<std::atomic<uintptr_t>, 8> known;
    const auto type = reinterpret_cast<uintptr_t>(&dynamic_type(*object));
    std::atomic<uintptr_t>& place = known[(type >> 4) % known.size()];
    const uintptr_t found = place.load(std::memory_order_relaxed);
    if (found == type) return nullptr;
    if (found == (type | 1)) return static_cast<T*>(object);
    T* const result = dynamic_cast<T*>(object);
    place.store(type | (result ? 1 : 0), std::memory_order_relaxed);
    return result;
  } else {
    return dynamic_cast<T*>(object);  // it lies anywhere beside the Object
  }
}

/// Whether the object is a T itself, not of a class derived from T. A class has one description in the library, so its address tells; the
/// operator == of descriptions compares their names where the addresses differ.
template <class T>
[[gnu::always_inline]] inline bool is_exactly(const Object& object) {
  return &dynamic_type(object) == &typeid(T);
}
template <class T>
[[gnu::always_inline]] inline T* Value::exactly() const {
  return tag_ == Tag::object && is_exactly<T>(*o_) ? static_cast<T*>(o_) : nullptr;
}

inline Value Value::of(Object* v) {
  Value r;
  r.tag_ = Tag::object;
  r.o_ = v;
  if (v->references_ >= 0) ++v->references_;
  return r;
}
inline Value::Value(const Value& other) : tag_(other.tag_), i_(other.i_) {
  if (tag_ == Tag::object && o_->references_ >= 0) ++o_->references_;
}
inline Value::Value(Value&& other) noexcept : tag_(other.tag_), i_(other.i_) { other.tag_ = Tag::none; }
inline Value::~Value() {
  if (tag_ == Tag::object && o_->references_ > 0 && --o_->references_ == 0) Object::destroy(o_);
}
inline Value& Value::operator=(Value&& other) noexcept {
  std::swap(tag_, other.tag_);
  std::swap(i_, other.i_);
  return *this;
}
inline Value& Value::operator=(const Value& other) {
  Value copy(other);
  std::swap(tag_, copy.tag_);
  std::swap(i_, copy.i_);
  return *this;
}

/// A Python exception in flight. `value` is an Exception object (objects.h) of an exception type.
class Raised : public std::exception {
 public:
  explicit Raised(Value exception) : value(std::move(exception)) {}
  Value value;
  const char* what() const noexcept override { return "Python exception"; }
};

/// raise NAME(message), e.g. raise("ValueError", "…"). The interpreter adds the place.
[[noreturn]] void raise(std::string_view exception, std::string message, std::string hint = {});

/// The value that stands for an argument that was not given.
const Value& missing();
inline bool is_missing(const Value& v) { return v.is_absent(); }

// ---- Python's operations on any value (operations.cpp) ----
const Type& type_of(const Value& v);
std::vector<std::string> peer_owners_of(const Type& type);
std::string repr(Interpreter& in, const Value& v);
std::string str(Interpreter& in, const Value& v);
std::string format(Interpreter& in, const Value& v, std::string_view spec);
bool truth(Interpreter& in, const Value& v);
int64_t hash(Interpreter& in, const Value& v);
bool equal(Interpreter& in, const Value& a, const Value& b);
Value compare(Interpreter& in, ast::CompareOp op, const Value& a, const Value& b);
Value binary(Interpreter& in, ast::BinaryOp op, const Value& a, const Value& b);
Value in_place(Interpreter& in, ast::BinaryOp op, const Value& a, const Value& b);
Value unary(Interpreter& in, ast::UnaryOp op, const Value& v);
int64_t length(Interpreter& in, const Value& v);
Value get_item(Interpreter& in, const Value& v, const Value& index);
void set_item(Interpreter& in, const Value& v, const Value& index, const Value& value);
/// NotImplementedError for what a peer has, else AttributeError with a hint.
Value get_attribute(Interpreter& in, const Value& v, std::string_view name);
bool has_attribute(Interpreter& in, const Value& v, std::string_view name);
/// What get_attribute raises of names that a peer has or had; returns for others. `missing` is the error of a name that is not there.
void refuse_attribute(Interpreter& in, const Value& v, std::string_view name, std::string_view missing = "AttributeError");
Value call(Interpreter& in, const Value& callee, Arguments args);
Value iterate(Interpreter& in, const Value& v);
std::optional<Value> next(Interpreter& in, const Value& iterator);
/// Within what may go through many items without a statement of the script between them: throws Interrupted when the user asked for it.
void poll(Interpreter& in);
std::vector<Value> to_vector(Interpreter& in, const Value& iterable);
/// operator.index(v): TypeError "'float' object cannot be interpreted as an integer".
int64_t to_index(Interpreter& in, const Value& v);
double to_double(Interpreter& in, const Value& v);
bool is_instance(const Value& v, const Type& type);
/// `item in container`.
bool contains(Interpreter& in, const Value& container, const Value& item);
void set_attribute(Interpreter& in, const Value& v, std::string_view name, const Value& value);
void delete_item(Interpreter& in, const Value& v, const Value& index);

}  // namespace gasell
