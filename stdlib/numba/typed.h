// numba.typed: dicts and lists that say the types of what they hold. To scripts they are dicts and lists.
#pragma once

#include <optional>
#include <string>

#include "compiler/functions/type.h"
#include "runtime/session/dict.h"
#include "runtime/session/objects.h"

namespace gasell::numba {

class TypedDict final : public Dict {
 public:
  /// `entry`: a tuple (key, value), where it is known; else the first entry says it.
  explicit TypedDict(std::optional<functions::Type> entry = {}) : entry(std::move(entry)) {}
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  bool contains(Interpreter&, const Value&) override;
  Value get_item(Interpreter&, const Value&) override;
  void set_item(Interpreter&, const Value&, const Value&) override;
  void delete_item(Interpreter&, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override { return {}; }
  std::optional<Value> in_place(Interpreter&, ast::BinaryOp, const Value&) override { return {}; }

  /// A key or a value as it is kept here; TypingError where it cannot be.
  Value kept_key(Interpreter&, const Value&) const;
  Value kept_value(Interpreter&, const Value&) const;
  /// Inserts what a mapping or pairs have.
  void put_all(Interpreter&, const Value& other);

  std::optional<functions::Type> entry;
};

class TypedList final : public List {
 public:
  /// `item`: the type of the items, where it is known; else the first item says it.
  explicit TypedList(std::vector<Value> items, std::optional<functions::Type> item = {}) : List(std::move(items)), item(std::move(item)) {}
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  bool contains(Interpreter&, const Value&) override;
  Value get_item(Interpreter&, const Value&) override;
  void set_item(Interpreter&, const Value&, const Value&) override;
  std::optional<Value> in_place(Interpreter&, ast::BinaryOp, const Value&) override;

  /// An item as it is kept here; TypingError where it cannot be.
  Value kept(Interpreter&, const Value&);
  std::vector<Value> all_kept(Interpreter&, const Value& iterable);

  std::optional<functions::Type> item;
};

/// numba.typed.Dict or numba.typed.List.
class TypedClass final : public Object {
 public:
  explicit TypedClass(bool dict) : dict_(dict) {}
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  Value call(Interpreter&, Arguments) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;
  std::string path() const { return dict_ ? "numba.typed.Dict" : "numba.typed.List"; }

 private:
  bool dict_;
};

}  // namespace gasell::numba
