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
  /// `entry`: a tuple (key, value), where it is known.
  explicit TypedDict(std::optional<functions::Type> entry = {}) : entry(std::move(entry)) {}
  const gasell::Type& type() const override;
  const std::optional<functions::Type> entry;
};

class TypedList final : public List {
 public:
  explicit TypedList(std::vector<Value> items, std::optional<functions::Type> item = {}) : List(std::move(items)), item(std::move(item)) {}
  const gasell::Type& type() const override;
  const std::optional<functions::Type> item;
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
