// dict: insertion-ordered hash table, and its views.
#pragma once

#include <string>
#include <vector>

#include "runtime/session/objects.h"

namespace gasell {

class Dict : public Object {
 public:
  struct Entry {
    int64_t hash;
    Value key;  // absent: the entry was deleted
    Value value;
  };

  Dict() = default;
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  bool truth(Interpreter&) override { return live_ != 0; }
  int64_t hash(Interpreter&) override;  // TypeError
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> in_place(Interpreter&, ast::BinaryOp, const Value&) override;
  int64_t length(Interpreter&) override { return live_; }
  bool contains(Interpreter&, const Value&) override;
  Value get_item(Interpreter&, const Value&) override;
  void set_item(Interpreter&, const Value&, const Value&) override;
  void delete_item(Interpreter&, const Value&) override;
  Value iterate(Interpreter&) override;

  int64_t size() const { return live_; }
  /// The value of a key, or null. The pointer holds until the dict changes. TypeError for an unhashable key.
  Value* find(Interpreter& in, const Value& key);
  /// The value of a string key, or null.
  Value* find(std::string_view key);
  void insert(Interpreter& in, const Value& key, Value value);
  /// Removes and returns; absent when there was none.
  Value take(Interpreter& in, const Value& key);
  void clear();
  /// dict.update: from a dict, or an iterable of pairs.
  void update(Interpreter& in, const Value& other);

  /// In order of insertion, deleted entries among them (key absent).
  const std::vector<Entry>& entries() const { return entries_; }
  /// Changes whenever keys are added or removed.
  uint64_t version() const { return version_; }

 private:
  int64_t locate(Interpreter& in, const Value& key, int64_t hash) const;  // entry, or -1
  void add(int64_t hash, Value key, Value value);
  void remove(int64_t entry);
  void rebuild(size_t slots);

  std::vector<Entry> entries_;
  std::vector<int32_t> index_;  // power of two slots: entry, kEmpty or kDeleted
  int64_t live_ = 0;
  size_t used_slots_ = 0;  // slots that are not empty
  uint64_t version_ = 0;
};
inline Value make_dict() { return Value::make<Dict>(); }

/// dict(...), with keyword arguments.
Value make_dict(Interpreter& in, const Arguments& arguments);

}  // namespace gasell
