// set and frozenset. Iteration order is CPython's for elements whose hash is CPython's (numbers): the table probes and grows as CPython's
// does.
#pragma once

#include <vector>

#include "runtime/session/objects.h"

namespace gasell {

class Set : public Object {
 public:
  explicit Set(bool frozen = false) : frozen_(frozen), table_(8) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  bool truth(Interpreter&) override { return used_ != 0; }
  int64_t hash(Interpreter&) override;  // TypeError unless frozen
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> in_place(Interpreter&, ast::BinaryOp, const Value&) override;
  int64_t length(Interpreter&) override { return used_; }
  bool contains(Interpreter&, const Value&) override;
  Value iterate(Interpreter&) override;

  bool frozen() const { return frozen_; }
  int64_t size() const { return used_; }
  void insert(Interpreter& in, const Value& item);
  bool remove(Interpreter& in, const Value& item);  // false: was not there
  void clear();
  /// Adds every item of an iterable.
  void update(Interpreter& in, const Value& iterable);
  std::vector<Value> items() const;
  uint64_t version() const { return version_; }

  struct Entry {
    Value item = Value::absent();
    int64_t hash = 0;  // of an absent item: kDeleted, or 0 where nothing ever was
  };
  const std::vector<Entry>& table() const { return table_; }

 private:
  size_t locate(Interpreter& in, const Value& item, int64_t hash) const;  // table_.size() when not there
  void insert(Interpreter& in, const Value& item, int64_t hash);
  void insert_clean(std::vector<Entry>& table, Entry entry) const;
  void resize(size_t minimum);

  bool frozen_;
  std::vector<Entry> table_;
  int64_t used_ = 0;
  size_t filled_ = 0;  // used and deleted entries
  uint64_t version_ = 0;
};

/// set(iterable), frozenset(iterable).
Value make_set(Interpreter& in, const Value& iterable, bool frozen = false);

}  // namespace gasell
