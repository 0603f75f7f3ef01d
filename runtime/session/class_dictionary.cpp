#include "runtime/session/class.h"

#include <algorithm>

#include "runtime/session/dict.h"

namespace gasell {

namespace {
constexpr size_t kShort = 8;
constexpr size_t kFirst = 4;  // room made for the first member: most objects have few

}  // namespace

void Members::number() {
  index_.clear();
  if (entries_.size() <= kShort) return;
  for (size_t i = 0; i < entries_.size(); ++i) index_.emplace(entries_[i].first, i);
}

Value* Members::find_place(std::string_view name, uint32_t& place) {
  if (in_ || entries_.size() > kShort) return find(name);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].first != name) continue;
    place = static_cast<uint32_t>(i);
    return &entries_[i].second;
  }
  return nullptr;
}

Value* Members::find(std::string_view name) {
  if (in_) return dict_.as<Dict>()->find(name);
  if (entries_.size() <= kShort) {
    for (auto& [key, value] : entries_)
      if (key == name) return &value;
    return nullptr;
  }
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

void Members::set(std::string_view name, Value value) {
  if (Value* known = find(name)) {
    *known = std::move(value);
    return;
  }
  if (in_) return dict_.as<Dict>()->insert(*in_, make_str(std::string(name)), std::move(value));
  if (entries_.empty()) entries_.reserve(kFirst);
  const bool moves = entries_.size() == entries_.capacity();
  entries_.emplace_back(std::string(name), std::move(value));
  if (moves || entries_.size() == kShort + 1)
    number();  // the index holds views of the names
  else if (entries_.size() > kShort)
    index_.emplace(entries_.back().first, entries_.size() - 1);
}

bool Members::remove(std::string_view name) {
  if (in_) return !dict_.as<Dict>()->take(*in_, make_str(std::string(name))).is_absent();
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == entries_.end()) return false;
  const Value kept = std::move(found->second);  // goes when the list is in order again
  entries_.erase(found);
  number();
  return true;
}

std::vector<std::pair<std::string, Value>> Members::entries() const {
  if (!in_) return entries_;
  std::vector<std::pair<std::string, Value>> result;
  for (const Dict::Entry& entry : dict_.as<Dict>()->entries())
    if (const auto* name = entry.key.as<Str>()) result.emplace_back(name->value, entry.value);
  return result;
}

const Value& Members::as_dict(Interpreter& in) {
  if (in_) return dict_;
  dict_ = make_dict();
  for (auto& [name, value] : entries_) dict_.as<Dict>()->insert(in, make_str(name), std::move(value));
  in_ = &in;
  entries_.clear();
  index_.clear();
  return dict_;
}

}  // namespace gasell
