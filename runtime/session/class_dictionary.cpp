#include "runtime/session/class.h"

#include <algorithm>

#include "runtime/session/dict.h"

namespace gasell {

namespace {
constexpr size_t kShort = 8;
constexpr size_t kFirst = 4;  // room made for the first member: most objects have few

}  // namespace

Members::Further& Members::further() {
  if (!further_) further_ = std::make_unique<Further>();
  return *further_;
}

Dict* Members::dict() const { return further_ && further_->in ? static_cast<Dict*>(further_->dict.object()) : nullptr; }

void Members::number() {
  if (further_) further_->index.clear();
  if (entries_.size() <= kShort) return;
  auto& index = further().index;
  for (size_t i = 0; i < entries_.size(); ++i) index.emplace(*entries_[i].first, i);
}

Value* Members::find_place(Name name, uint32_t& place) {
  if (entries_.size() > kShort || dict()) return find(*name);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].first != name) continue;
    place = static_cast<uint32_t>(i);
    return &entries_[i].second;
  }
  return nullptr;
}

Value* Members::find(std::string_view name) {
  if (entries_.size() <= kShort) {
    if (Dict* const members = dict()) return members->find(name);
    for (auto& [key, value] : entries_)
      if (*key == name) return &value;
    return nullptr;
  }
  const auto found = further_->index.find(name);
  return found == further_->index.end() ? nullptr : &entries_[found->second].second;
}

void Members::set(std::string_view name, Value value) {
  if (Value* known = find(name)) {
    *known = std::move(value);
  } else {
    add(intern(name), std::move(value));
  }
}

void Members::add(Name name, Value value) {
  if (Dict* const members = dict()) return members->insert(*further_->in, make_str(*name), std::move(value));
  if (entries_.empty()) entries_.reserve(kFirst);
  entries_.emplace_back(name, std::move(value));
  names_ |= bit_of(name);
  if (entries_.size() == kShort + 1) {
    number();
  } else if (entries_.size() > kShort) {
    further_->index.emplace(*name, entries_.size() - 1);
  }
}

bool Members::remove(std::string_view name) {
  if (Dict* const members = dict()) return !members->take(*further_->in, make_str(std::string(name))).is_absent();
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return *entry.first == name; });
  if (found == entries_.end()) return false;
  const Value kept = std::move(found->second);  // goes when the list is in order again
  entries_.erase(found);
  number();
  return true;
}

std::vector<std::pair<std::string, Value>> Members::entries() const {
  std::vector<std::pair<std::string, Value>> result;
  if (const Dict* const members = dict()) {
    for (const Dict::Entry& entry : members->entries())
      if (const auto* name = entry.key.as<Str>()) result.emplace_back(name->value, entry.value);
    return result;
  }
  result.reserve(entries_.size());
  for (const auto& [name, value] : entries_) result.emplace_back(*name, value);
  return result;
}

const Value& Members::as_dict(Interpreter& in) {
  if (dict()) return further_->dict;
  Value made = make_dict();
  for (auto& [name, value] : entries_) static_cast<Dict*>(made.object())->insert(in, make_str(*name), std::move(value));
  further().dict = std::move(made);
  further_->in = &in;
  entries_.clear();
  names_ = ~uint64_t{0};
  further_->index.clear();
  return further_->dict;
}

}  // namespace gasell
