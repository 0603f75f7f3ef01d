#include "runtime/session/dict.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/dict_views.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

constexpr int32_t kEmpty = -1, kDeleted = -2;

/// Dicts whose repr is under way, for the "{...}" of one that holds itself.
thread_local std::vector<const Dict*> shown;

}  // namespace

const Type& Dict::type() const { return dict_type(); }

// ---- the table: index_ holds entry numbers, probed as hash + i*(i+1)/2 ----

int64_t Dict::locate(Interpreter& in, const Value& key, int64_t hash) const {
  if (index_.empty()) return -1;
  size_t mask = index_.size() - 1, slot = static_cast<size_t>(hash ^ (hash >> 32)) & mask;
  for (size_t step = 1;; slot = (slot + step++) & mask) {
    int32_t e = index_[slot];
    if (e == kEmpty) return -1;
    if (e == kDeleted) continue;
    const Entry& entry = entries_[static_cast<size_t>(e)];
    if (entry.hash != hash) continue;
    if (entry.key.same(key)) return e;
    if (const auto *own = entry.key.exactly<Str>(), *text = own ? key.exactly<Str>() : nullptr; text) {
      if (own->value == text->value) return e;
      continue;
    }
    uint64_t before = version_;
    Value held = entry.key;  // == may run a script
    bool match = equal(in, held, key);
    if (version_ != before) return locate(in, key, hash);
    if (match) return e;
  }
}

void Dict::rebuild(size_t slots) {
  std::erase_if(entries_, [](const Entry& e) { return e.key.is_absent(); });
  index_.assign(slots, kEmpty);
  size_t mask = slots - 1;
  for (size_t e = 0; e < entries_.size(); ++e) {
    int64_t hash = entries_[e].hash;
    size_t slot = static_cast<size_t>(hash ^ (hash >> 32)) & mask;
    for (size_t step = 1; index_[slot] != kEmpty; slot = (slot + step++) & mask) {
    }
    index_[slot] = static_cast<int32_t>(e);
  }
  used_slots_ = entries_.size();
}

void Dict::add(int64_t hash, Value key, Value value) {
  if ((used_slots_ + 1) * 3 > index_.size() * 2) {
    size_t slots = 8;
    while (slots < static_cast<size_t>(live_ + 1) * 3) slots *= 2;
    if (slots > (size_t{1} << 31)) raise("MemoryError", "a dict with more than 2**30 keys");
    rebuild(slots);
  }
  size_t mask = index_.size() - 1, slot = static_cast<size_t>(hash ^ (hash >> 32)) & mask;
  for (size_t step = 1; index_[slot] >= 0; slot = (slot + step++) & mask) {
  }
  if (index_[slot] == kEmpty) ++used_slots_;
  index_[slot] = static_cast<int32_t>(entries_.size());
  entries_.push_back({hash, std::move(key), std::move(value)});
  ++live_;
  ++version_;
}

void Dict::remove(int64_t number) {
  Entry& entry = entries_[static_cast<size_t>(number)];
  size_t mask = index_.size() - 1, slot = static_cast<size_t>(entry.hash ^ (entry.hash >> 32)) & mask;
  for (size_t step = 1; index_[slot] != number; slot = (slot + step++) & mask) {
  }
  index_[slot] = kDeleted;
  --live_;
  ++version_;
  Value key = std::exchange(entry.key, Value::absent());  // destroyed last: its destructor may look at this dict
  Value value = std::exchange(entry.value, Value());
  // Entries at the end go at once, so that popitem() on a long dict does not walk over the dead.
  while (!entries_.empty() && entries_.back().key.is_absent()) entries_.pop_back();
}

Value* Dict::find(Interpreter& in, const Value& key) {
  int64_t e = locate(in, key, gasell::hash(in, key));
  return e < 0 ? nullptr : &entries_[static_cast<size_t>(e)].value;
}

Value* Dict::find(std::string_view key) {
  for (Entry& entry : entries_) {
    if (const auto* own = entry.key.exactly<Str>(); own && own->value == key) return &entry.value;
  }
  return nullptr;
}

void Dict::insert(Interpreter& in, const Value& key, Value value) {
  int64_t h = gasell::hash(in, key);
  int64_t e = locate(in, key, h);
  if (e >= 0) {
    std::swap(entries_[static_cast<size_t>(e)].value, value);
  } else {
    add(h, key, std::move(value));
  }
}

Value Dict::take(Interpreter& in, const Value& key) {
  int64_t e = locate(in, key, gasell::hash(in, key));
  if (e < 0) return Value::absent();
  Value value = entries_[static_cast<size_t>(e)].value;
  remove(e);
  return value;
}

void Dict::clear() {
  std::vector<Entry> entries;
  entries.swap(entries_);
  index_.clear();
  live_ = 0;
  used_slots_ = 0;
  ++version_;
}

void Dict::update(Interpreter& in, const Value& other) {
  if (auto* d = other.as<Dict>()) {
    for (size_t e = 0; e < d->entries_.size(); ++e) {
      Entry entry = d->entries_[e];
      if (!entry.key.is_absent()) insert(in, entry.key, std::move(entry.value));
    }
    return;
  }
  if (has_attribute(in, other, "keys")) {
    const Value keys = gasell::iterate(in, gasell::call(in, gasell::get_attribute(in, other, "keys"), {}));
    while (std::optional<Value> key = gasell::next(in, keys)) insert(in, *key, gasell::get_item(in, other, *key));
    return;
  }
  Value items = gasell::iterate(in, other);
  for (int64_t position = 0; std::optional<Value> item = gasell::next(in, items); ++position) {
    std::vector<Value> pair;
    try {
      pair = to_vector(in, *item);
    } catch (const Raised& raised) {
      if (!is_instance(raised.value, *exception_type("TypeError"))) throw;
      raise("TypeError", fmt::format("cannot convert dictionary update sequence element #{} to a sequence", position));
    }
    if (pair.size() != 2) {
      raise("ValueError", fmt::format("dictionary update sequence element #{} has length {}; 2 is required", position, pair.size()));
    }
    insert(in, pair[0], std::move(pair[1]));
  }
}

// ---- Python's slots ----

std::string Dict::repr(Interpreter& in) {
  if (std::find(shown.begin(), shown.end(), this) != shown.end()) return "{...}";
  shown.push_back(this);
  struct Leave {
    ~Leave() { shown.pop_back(); }
  } leave;
  std::string text = "{";
  for (size_t e = 0; e < entries_.size(); ++e) {
    Entry entry = entries_[e];
    if (entry.key.is_absent()) continue;
    if (text.size() > 1) text += ", ";
    text += gasell::repr(in, entry.key) + ": " + gasell::repr(in, entry.value);
  }
  return text + "}";
}

int64_t Dict::hash(Interpreter&) { raise("TypeError", "unhashable type: 'dict'"); }

std::optional<Value> Dict::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  auto* d = other.as<Dict>();
  if (!d || (op != ast::CompareOp::eq && op != ast::CompareOp::ne)) return {};
  bool same = live_ == d->live_;
  for (size_t e = 0; same && e < entries_.size(); ++e) {
    Entry entry = entries_[e];
    if (entry.key.is_absent()) continue;
    int64_t there = d->locate(in, entry.key, entry.hash);
    if (there < 0) {
      same = false;
    } else {
      Value held = d->entries_[static_cast<size_t>(there)].value;
      same = equal(in, entry.value, held);
    }
  }
  return Value::of(same == (op == ast::CompareOp::eq));
}

std::optional<Value> Dict::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::bit_or || !other.as<Dict>()) return {};
  Value merged = make_dict();
  auto* d = static_cast<Dict*>(merged.object());
  d->update(in, Value::of(this));
  d->update(in, other);
  return merged;
}

std::optional<Value> Dict::in_place(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::bit_or) return {};
  update(in, other);
  return Value::of(this);
}

bool Dict::contains(Interpreter& in, const Value& key) { return find(in, key) != nullptr; }

Value Dict::get_item(Interpreter& in, const Value& key) {
  if (const Value* value = find(in, key)) return *value;
  throw Raised(Value::make<Exception>(*exception_type("KeyError"), std::vector<Value>{key}));
}

void Dict::set_item(Interpreter& in, const Value& key, const Value& value) { insert(in, key, value); }

void Dict::delete_item(Interpreter& in, const Value& key) {
  if (take(in, key).is_absent()) throw Raised(Value::make<Exception>(*exception_type("KeyError"), std::vector<Value>{key}));
}

Value Dict::iterate(Interpreter&) { return make_dict_iterator(Value::of(this), DictPart::keys); }

Value make_dict(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() > 1) {
    raise("TypeError", fmt::format("dict expected at most 1 argument, got {}", arguments.positional.size()));
  }
  Value made = make_dict();
  auto* d = static_cast<Dict*>(made.object());
  for (const Value& v : arguments.positional) d->update(in, v);
  for (const auto& [name, value] : arguments.keywords) d->insert(in, make_str(name), value);
  return made;
}

}  // namespace gasell
