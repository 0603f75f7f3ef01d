#include "runtime/frame/dictionary.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "lang/diagnostic.h"

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

const Dictionary::Distinct& Dictionary::distinct() const {
  std::call_once(distinct_once_, [&] {
    if (is_distinct()) return;
    DistinctTexts texts;
    distinct_texts_.codes.resize(static_cast<size_t>(size()));
    for (int64_t i = 0; i < size(); ++i) distinct_texts_.codes[static_cast<size_t>(i)] = texts.add((*this)[i]);
    distinct_texts_.dictionary = texts.finish();
  });
  return distinct_texts_;
}

const std::vector<int32_t>& Dictionary::ranks() const {
  std::call_once(ranks_once_, [&] {
    std::vector<int32_t> order(static_cast<size_t>(size()));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return (*this)[a] < (*this)[b]; });
    ranks_.resize(order.size());
    int32_t rank = -1;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || (*this)[order[i]] != (*this)[order[i - 1]]) ++rank;
      ranks_[static_cast<size_t>(order[i])] = rank;
    }
  });
  return ranks_;
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

/// The column with codes[c] in place of each code c.
Column recode(Engine& engine, const Column& column, const std::vector<int32_t>& codes, DictionaryRef dictionary) {
  Column source = column;
  const ColumnData from = read(engine, source);
  NewValues values(engine, DType::i32, from.count);
  const int32_t* old = from.as<int32_t>();
  int32_t* to = values.as<int32_t>();
  for (int64_t i = 0; i < from.count; ++i) to[i] = old[i] < 0 ? -1 : codes[static_cast<size_t>(old[i])];
  source.values = values.node();
  source.dictionary = std::move(dictionary);
  return source;
}

}  // namespace

Column with_distinct_texts(Engine& engine, const Column& column) {
  const Dictionary::Distinct& distinct = column.dictionary->distinct();
  return distinct.dictionary ? recode(engine, column, distinct.codes, distinct.dictionary) : column;
}

std::vector<Column> with_common_texts(Engine& engine, const std::vector<Column>& columns) {
  std::vector<Column> results;
  for (const Column& c : columns) results.push_back(with_distinct_texts(engine, c));
  if (std::all_of(results.begin(), results.end(), [&](const Column& c) { return c.dictionary == results[0].dictionary; })) return results;
  DistinctTexts texts;
  std::vector<std::vector<int32_t>> codes;
  for (const Column& c : results) {
    std::vector<int32_t>& to = codes.emplace_back(static_cast<size_t>(c.dictionary->size()));
    for (int64_t i = 0; i < c.dictionary->size(); ++i) to[static_cast<size_t>(i)] = texts.add((*c.dictionary)[i]);
  }
  const DictionaryRef common = texts.finish();
  for (size_t k = 0; k < results.size(); ++k) results[k] = recode(engine, results[k], codes[k], common);
  return results;
}

}  // namespace gasell::frame
