#include "runtime/session/set.h"

#include <algorithm>

#include "runtime/session/list_sequence.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

constexpr int64_t kDeleted = -1;  // no element has this hash
constexpr size_t kLinearProbes = 9;

thread_local std::vector<const Set*> shown;

/// The slots that CPython's set looks at for a hash, in order (its documented scheme: runs of neighbours, then a perturbed jump).
class Probe {
 public:
  Probe(int64_t hash, size_t mask) : mask_(mask), perturb_(static_cast<size_t>(hash)), start_(static_cast<size_t>(hash) & mask) {}
  size_t slot() const { return start_ + offset_; }
  void advance() {
    if (offset_ < kLinearProbes && start_ + kLinearProbes <= mask_) {
      ++offset_;
      return;
    }
    offset_ = 0;
    perturb_ >>= 5;
    start_ = (start_ * 5 + 1 + perturb_) & mask_;
  }

 private:
  size_t mask_, perturb_, start_, offset_ = 0;
};

bool is_free(const Set::Entry& e) { return e.item.is_absent() && e.hash != kDeleted; }

class SetIterator final : public Object {
 public:
  explicit SetIterator(const Value& set) : set_(set), size_(of().size()) {}
  const Type& type() const override {
    static const Type t{"set_iterator", "builtins", &object_type(), {}, {}};
    return t;
  }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter&) override {
    if (set_.is_none()) return {};
    if (of().size() != size_) {
      size_ = -1;
      raise("RuntimeError", "Set changed size during iteration");
    }
    const auto& table = of().table();
    while (at_ < table.size()) {
      const Set::Entry& entry = table[at_++];
      if (!entry.item.is_absent()) return entry.item;
    }
    set_ = Value();
    return {};
  }

 private:
  const Set& of() const { return static_cast<const Set&>(*set_.object()); }
  Value set_;
  int64_t size_;
  size_t at_ = 0;
};

}  // namespace

const Type& Set::type() const { return frozen_ ? frozenset_type() : set_type(); }

size_t Set::locate(Interpreter& in, const Value& item, int64_t hash) const {
  for (Probe probe(hash, table_.size() - 1);; probe.advance()) {
    const Entry& entry = table_[probe.slot()];
    if (is_free(entry)) return table_.size();
    if (entry.item.is_absent() || entry.hash != hash) continue;
    if (entry.item.same(item)) return probe.slot();
    uint64_t before = version_;
    Value held = entry.item;
    bool match = equal(in, held, item);
    if (version_ != before) return locate(in, item, hash);
    if (match) return probe.slot();
  }
}

void Set::insert_clean(std::vector<Entry>& table, Entry entry) const {
  Probe probe(entry.hash, table.size() - 1);
  while (!is_free(table[probe.slot()])) probe.advance();
  table[probe.slot()] = std::move(entry);
}

void Set::resize(size_t minimum) {
  size_t slots = 8;
  while (slots <= minimum) slots *= 2;
  std::vector<Entry> table(slots);
  for (Entry& entry : table_) {
    if (!entry.item.is_absent()) insert_clean(table, std::move(entry));
  }
  table_ = std::move(table);
  filled_ = static_cast<size_t>(used_);
}

void Set::insert(Interpreter& in, const Value& item, int64_t hash) {
  if (locate(in, item, hash) != table_.size()) return;
  // CPython remembers the last deleted entry that the search met.
  Entry* reused = nullptr;
  Probe probe(hash, table_.size() - 1);
  for (; !is_free(table_[probe.slot()]); probe.advance()) {
    Entry& entry = table_[probe.slot()];
    if (entry.item.is_absent()) reused = &entry;
  }
  ++used_;
  ++version_;
  if (reused) {
    *reused = {item, hash};
    return;
  }
  table_[probe.slot()] = {item, hash};
  ++filled_;
  if (filled_ * 5 >= (table_.size() - 1) * 3) resize(static_cast<size_t>(used_) * (used_ > 50000 ? 2 : 4));
}

void Set::insert(Interpreter& in, const Value& item) { insert(in, item, gasell::hash(in, item)); }

bool Set::remove(Interpreter& in, const Value& item) {
  size_t slot = locate(in, item, gasell::hash(in, item));
  if (slot == table_.size()) return false;
  Value removed = std::move(table_[slot].item);
  table_[slot] = {Value::absent(), kDeleted};
  --used_;
  ++version_;
  return true;
}

void Set::clear() {
  std::vector<Entry> table(8);
  table.swap(table_);
  used_ = 0;
  filled_ = 0;
  ++version_;
}

void Set::update(Interpreter& in, const Value& iterable) {
  if (const auto* other = iterable.as<Set>()) {
    if (other == this || other->used_ == 0) return;
    if ((filled_ + static_cast<size_t>(other->used_)) * 5 >= (table_.size() - 1) * 3) resize(static_cast<size_t>(used_ + other->used_) * 2);
    if (filled_ == 0 && table_.size() == other->table_.size() && other->filled_ == static_cast<size_t>(other->used_)) {
      table_ = other->table_;
      used_ = other->used_;
      filled_ = other->filled_;
      ++version_;
      return;
    }
    for (size_t i = 0; i < other->table_.size(); ++i) {
      Entry entry = other->table_[i];
      if (!entry.item.is_absent()) insert(in, entry.item, entry.hash);
    }
    return;
  }
  Value iterator = gasell::iterate(in, iterable);
  require_keys(in, iterator, used_, sizeof(Entry));
  while (std::optional<Value> v = gasell::next(in, iterator)) insert(in, *v);
}

std::vector<Value> Set::items() const {
  std::vector<Value> all;
  all.reserve(static_cast<size_t>(used_));
  for (const Entry& entry : table_) {
    if (!entry.item.is_absent()) all.push_back(entry.item);
  }
  return all;
}

std::string Set::repr(Interpreter& in) {
  if (used_ == 0) return type().name + "()";
  if (std::find(shown.begin(), shown.end(), this) != shown.end()) return type().name + "(...)";
  shown.push_back(this);
  struct Leave {
    ~Leave() { shown.pop_back(); }
  } leave;
  std::string text;
  for (const Value& v : items()) text += (text.empty() ? "" : ", ") + gasell::repr(in, v);
  return frozen_ ? "frozenset({" + text + "})" : "{" + text + "}";
}

int64_t Set::hash(Interpreter&) {
  if (!frozen_) raise("TypeError", "unhashable type: 'set'");
  uint64_t h = 0;  // the same for every order of the elements
  for (const Entry& entry : table_) {
    if (entry.item.is_absent()) continue;
    auto x = static_cast<uint64_t>(entry.hash);
    h ^= ((x ^ 89869747u) ^ (x << 16)) * 3644798167u;
  }
  h = (h ^ (static_cast<uint64_t>(used_ + 1) * 1927868237u)) * 69069u + 907133923u;
  return static_cast<int64_t>(h) == -1 ? 590923713 : static_cast<int64_t>(h);
}

std::optional<Value> Set::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  using Op = ast::CompareOp;
  auto* s = other.as<Set>();
  if (!s) return {};
  auto within = [&in](const Set& a, Set& b) {
    if (a.used_ > b.used_) return false;
    for (const Value& v : a.items()) {
      if (!b.contains(in, v)) return false;
    }
    return true;
  };
  switch (op) {
    case Op::eq: return Value::of(used_ == s->used_ && within(*this, *s));
    case Op::ne: return Value::of(used_ != s->used_ || !within(*this, *s));
    case Op::le: return Value::of(within(*this, *s));
    case Op::lt: return Value::of(used_ < s->used_ && within(*this, *s));
    case Op::ge: return Value::of(within(*s, *this));
    case Op::gt: return Value::of(s->used_ < used_ && within(*s, *this));
    default: return {};
  }
}

bool Set::contains(Interpreter& in, const Value& item) {
  if (const auto* s = item.as<Set>(); s && !s->frozen_) {  // CPython looks for an equal frozenset
    Value frozen = make_set(in, item, true);
    return contains(in, frozen);
  }
  return locate(in, item, gasell::hash(in, item)) != table_.size();
}

Value Set::iterate(Interpreter&) { return Value::make<SetIterator>(Value::of(this)); }

Value make_set(Interpreter& in, const Value& iterable, bool frozen) {
  Value made = Value::make<Set>(frozen);
  static_cast<Set&>(*made.object()).update(in, iterable);
  return made;
}

}  // namespace gasell
