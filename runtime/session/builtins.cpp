#include "runtime/session/builtins.h"

#include "runtime/session/class.h"

#include <algorithm>

#include "runtime/session/bytes.h"
#include "runtime/session/device_block.h"
#include "runtime/session/iterators.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

class SequenceIterator final : public Object {
 public:
  SequenceIterator(Value sequence, const Type& type) : sequence_(std::move(sequence)), type_(type) {}
  const Type& type() const override { return type_; }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter& in) override {
    if (sequence_.is_none()) return std::nullopt;
    if (const auto* list = sequence_.as<List>()) {
      if (at_ < list->items.size()) return list->items[at_++];
    } else if (const auto* tuple = sequence_.as<Tuple>()) {
      if (at_ < tuple->items.size()) return tuple->items[at_++];
    } else if (static_cast<int64_t>(at_) < gasell::length(in, sequence_)) {
      return gasell::get_item(in, sequence_, Value::of(static_cast<int64_t>(at_++)));
    }
    sequence_ = Value();  // an iterator that came to its end stays there, though the list grow
    return std::nullopt;
  }

 private:
  Value sequence_;
  size_t at_ = 0;
  const Type& type_;
};

}  // namespace

Value make_sequence_iterator(const Value& sequence, std::string_view type_name) {
  static const Type list = iterator_type_of("list_iterator"), tuple = iterator_type_of("tuple_iterator"),
                    other = iterator_type_of("iterator");
  return Value::make<SequenceIterator>(sequence, type_name == list.name ? list : type_name == tuple.name ? tuple : other);
}

const std::map<std::string, Value, std::less<>>& builtins() {
  static const auto table = [] {
    std::map<std::string, Value, std::less<>> t;
    static const std::vector<NativeFunction> groups[] = {number_functions(), sequence_functions(), object_functions(), io_functions(),
                                                         class_functions()};
    for (const auto& group : groups) {
      for (const NativeFunction& f : group) t.emplace(f.name, Value::make<Builtin>(f).immortal());
    }
    for (const Type* type :
         {&int_type(),           &float_type(),        &bool_type(),  &complex_type(),  &str_type(),       &tuple_type(),  &list_type(),
          &dict_type(),          &set_type(),          &range_type(), &slice_type(),    &frozenset_type(), &object_type(), &type_type(),
          &enumerate_type(),     &zip_type(),          &map_type(),   &filter_type(),   &reversed_type(),  &device_type(), &property_type(),
          &static_method_type(), &class_method_type(), &bytes_type(), &bytearray_type()}) {
      t.emplace(type->name, type_object(*type));
    }
    for (const Type* type : exception_types()) {
      if (type->module == "builtins") t.emplace(type->name, type_object(*type));
    }
    for (const char* alias : {"IOError", "EnvironmentError"}) t.emplace(alias, type_object(*exception_type("OSError")));
    t.emplace("Ellipsis", ellipsis());
    t.emplace("NotImplemented", not_implemented());
    return t;
  }();
  return table;
}

}  // namespace gasell
