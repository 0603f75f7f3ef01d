#include "runtime/frame/dictionary.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "lang/diagnostic.h"
#include "runtime/frame/number_texts.h"
#include "runtime/primitives/distant_rows.h"

namespace gasell::frame {
namespace {

uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

constexpr int64_t kMostTexts = INT32_MAX;

[[noreturn]] void refuse_more_texts() {
  throw Error("NotImplementedError", "a column of more than 2147483647 different texts is not in Gasell", "read the rows in parts");
}

}  // namespace

Dictionary::Dictionary(HostStorageRef offsets, HostStorageRef bytes, int64_t count, bool distinct)
    : offsets_(std::move(offsets)), bytes_(std::move(bytes)), count_(count), distinct_(distinct) {
  if (count > kMostTexts) refuse_more_texts();
  text_ = static_cast<const char*>(bytes_->read());
  offset_ = static_cast<const int64_t*>(offsets_->read());
}

Dictionary::Dictionary(std::function<std::shared_ptr<const Dictionary>()> make) : make_(std::move(make)) {}

void Dictionary::provide() const {
  const std::lock_guard lock(provide_mutex_);
  if (offset_) return;
  const std::shared_ptr<const Dictionary> made = make_();
  made->ready();
  offsets_ = made->offsets_;
  bytes_ = made->bytes_;
  text_ = made->text_;
  count_ = made->count_;
  distinct_ = made->distinct_;
  make_ = {};
  offset_.store(made->offset_, std::memory_order_release);
}

const Dictionary::Distinct& Dictionary::distinct(Engine& engine) const {
  std::call_once(distinct_once_, [&] {
    if (is_distinct()) return;
    NumberedTexts numbered = number_texts(engine, {this});
    distinct_texts_.dictionary = numbered.texts ? std::move(numbered.texts) : std::make_shared<Dictionary>(offsets_, bytes_, count_, true);
    distinct_texts_.codes = std::move(numbered.numbers);
  });
  return distinct_texts_;
}

std::optional<int32_t> Dictionary::find(std::string_view text) const {
  std::call_once(index_once_, [&] {
    index_.assign(std::bit_ceil(static_cast<size_t>(size()) * 2 + 1), -1);
    for (int64_t i = 0; i < size(); ++i) {
      size_t slot = hash_of((*this)[i]) & (index_.size() - 1);
      while (index_[slot] >= 0) slot = (slot + 1) & (index_.size() - 1);
      index_[slot] = static_cast<int32_t>(i);
    }
  });
  for (size_t slot = hash_of(text) & (index_.size() - 1); index_[slot] >= 0; slot = (slot + 1) & (index_.size() - 1))
    if ((*this)[index_[slot]] == text) return index_[slot];
  return {};
}

void DictionaryBuilder::add(std::string_view text) {
  bytes_.append(text);
  offsets_.push_back(static_cast<int64_t>(bytes_.size()));
}

DictionaryRef DictionaryBuilder::finish(bool distinct) {
  const auto over = [](auto container) {
    auto kept = std::make_shared<decltype(container)>(std::move(container));
    return external(kept->data(), static_cast<int64_t>(kept->size() * sizeof(*kept->data())), false, [kept] {});
  };
  const int64_t count = size();
  auto dictionary = std::make_shared<Dictionary>(over(std::move(offsets_)), over(std::move(bytes_)), count, distinct);
  offsets_ = {0};
  bytes_.clear();
  return dictionary;
}

DistinctTexts::DistinctTexts() : slots_(64, -1) {}

int32_t DistinctTexts::add(std::string_view text) {
  const uint64_t hash = hash_of(text);
  size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1))
    if (hashes_[static_cast<size_t>(slots_[slot])] == hash && texts_[slots_[slot]] == text) return slots_[slot];
  if (size() >= kMostTexts) refuse_more_texts();
  const auto code = static_cast<int32_t>(size());
  texts_.add(text);
  hashes_.push_back(hash);
  slots_[slot] = code;
  if (hashes_.size() * 2 > slots_.size()) grow();
  return code;
}

void DistinctTexts::grow() {
  slots_.assign(slots_.size() * 2, -1);
  for (size_t i = 0; i < hashes_.size(); ++i) {
    size_t slot = hashes_[i] & (slots_.size() - 1);
    while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<int32_t>(i);
  }
}

Column text_column(Engine& engine, DictionaryRef texts) {
  NewValues codes(engine, DType::i32, texts->size());
  std::iota(codes.as<int32_t>(), codes.as<int32_t>() + codes.count, 0);
  return {text_type(), codes.node(), nullptr, std::move(texts)};
}

namespace {

/// The column with codes[first + c] in place of each code c.
Column recode(Engine& engine, const Column& column, const Scratch<int32_t>& codes, int64_t first, DictionaryRef dictionary) {
  Column source = column;
  const ColumnData from = read(engine, source);
  NewValues values(engine, DType::i32, from.count);
  const int32_t* const old = from.as<int32_t>();
  const int32_t* const table = codes.data() + first;
  int32_t* const to = values.as<int32_t>();
  const int64_t size = column.dictionary->size();
  const bool distant = is_distant(engine, *codes.storage(), table, size * int64_t{sizeof(int32_t)});
  if (distant) DistantRows(engine, old, from.count, size, sizeof(int32_t)).gather(table, to, sizeof(int32_t));
  over_rows(engine, from.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = old[i] < 0 ? old[i] : distant ? to[i] : table[old[i]];
  });
  source.values = values.node();
  source.dictionary = std::move(dictionary);
  return source;
}

}  // namespace

Column with_distinct_texts(Engine& engine, const Column& column) {
  const Dictionary::Distinct& distinct = column.dictionary->distinct(engine);
  if (!distinct.dictionary) return column;
  if (distinct.codes) return recode(engine, column, distinct.codes, 0, distinct.dictionary);
  Column same = column;
  same.dictionary = distinct.dictionary;
  same.pending = nullptr;  // rows of what it comes from would have the other dictionary
  return same;
}

std::vector<Column> with_common_texts(Engine& engine, const std::vector<Column>& columns) {
  std::vector<Column> results;
  std::vector<const Dictionary*> different;
  for (const Column& c : columns) {
    results.push_back(with_distinct_texts(engine, c));
    const Dictionary* const own = results.back().dictionary.get();
    if (std::find(different.begin(), different.end(), own) == different.end()) different.push_back(own);
  }
  if (different.size() == 1) return results;
  const NumberedTexts numbered = number_texts(engine, different);
  for (Column& c : results) {
    int64_t first = 0;
    for (auto d = different.begin(); *d != c.dictionary.get(); ++d) first += (*d)->size();
    c = recode(engine, c, numbered.numbers, first, numbered.texts);
  }
  return results;
}

}  // namespace gasell::frame
