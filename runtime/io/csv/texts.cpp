#include "runtime/io/csv/texts.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/device/device.h"
#include "runtime/io/csv/numbers.h"

namespace gasell::csv {
namespace {

constexpr size_t kFewSlots = 64;
/// Bytes that are taken of the budget at a time, from few to many.
constexpr int64_t kFewBytes = 4 << 10, kManyBytes = 64 << 20;

uint64_t load_4(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}

uint64_t hash_of(std::string_view text) {
  const char* const p = text.data();
  const size_t n = text.size();
  if (n > 16) return XXH3_64bits(p, n);
  uint64_t a = 0, b = 0;
  if (n >= 8) {
    a = load_8(p);
    b = load_8(p + n - 8);
  } else if (n >= 4) {
    a = load_4(p);
    b = load_4(p + n - 4);
  } else if (n > 0) {
    a = static_cast<uint8_t>(p[0]) | static_cast<uint64_t>(static_cast<uint8_t>(p[n / 2])) << 8 |
        static_cast<uint64_t>(static_cast<uint8_t>(p[n - 1])) << 16;
  }
  uint64_t h = (a ^ 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
  h = (h ^ (h >> 32) ^ b ^ (n << 56)) * 0x94d049bb133111ebU;
  return h ^ (h >> 29);
}

}  // namespace

char* TextMemory::take(int64_t bytes) {
  bytes = (bytes + 7) / 8 * 8;
  const std::lock_guard lock(mutex_);
  if (bytes > left_) {
    size_ = std::max(bytes, std::clamp(2 * size_, kFewBytes, kManyBytes));
    taken_.push_back(std::static_pointer_cast<HostStorage>(engine_.device().allocate(size_)));
    at_ = static_cast<char*>(taken_.back()->write());
    left_ = size_;
  }
  left_ -= bytes;
  return std::exchange(at_, at_ + bytes);
}

TextPart::TextPart(int64_t capacity, bool plain)
    : plain_(plain), capacity_(capacity), bytes_(new char[static_cast<size_t>(capacity) + 16]), slots_(plain ? 0 : kFewSlots) {}

void TextPart::append(std::string_view text) {
  std::memcpy(bytes_.get() + used_, text.data(), text.size());
  used_ += static_cast<uint32_t>(text.size());
  ends_.push_back(used_);
}

int32_t TextPart::add(std::string_view text) {
  if (plain_) {
    append(text);
    return static_cast<int32_t>(ends_.size()) - 1;
  }
  if (last_ >= 0 && open_text(last_) == text) return last_;
  const uint64_t hash = hash_of(text);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot].code >= 0; slot = (slot + 1) & (slots_.size() - 1))
    if (slots_[slot].tag == tag && open_text(slots_[slot].code) == text) return last_ = slots_[slot].code;
  last_ = static_cast<int32_t>(size());
  append(text);
  slots_[slot] = {tag, last_};
  if (ends_.size() * 2 > slots_.size()) grow();
  return last_;
}

void TextPart::grow() {
  slots_.assign(slots_.size() * 4, Slot{});
  for (int64_t i = 0; i < size(); ++i) {
    const uint64_t hash = hash_of(open_text(static_cast<int32_t>(i)));
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot].code >= 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {static_cast<uint32_t>(hash >> 32), static_cast<int32_t>(i)};
  }
}

void TextPart::close(TextMemory& memory) {
  const auto count = static_cast<int64_t>(ends_.size());
  char* const to = memory.take(count * static_cast<int64_t>(sizeof(uint32_t)) + used_);
  if (count) std::memcpy(to, ends_.data(), ends_.size() * sizeof(uint32_t));
  if (used_) std::memcpy(to + count * static_cast<int64_t>(sizeof(uint32_t)), bytes_.get(), used_);
  closed_ends_ = {reinterpret_cast<const uint32_t*>(to), static_cast<size_t>(count)};
  closed_text_ = to + count * static_cast<int64_t>(sizeof(uint32_t));
  bytes_ = nullptr;
  ends_ = std::vector<uint32_t>();  // not {}, which would keep their memory
  slots_ = std::vector<Slot>();
}

void TextPart::make_plain(const int32_t* codes, int64_t rows) {
  TextPart all(capacity_, true);
  all.ends_.reserve(static_cast<size_t>(rows) * 2);
  for (int64_t i = 0; i < rows; ++i) {
    if (codes[i] >= 0)
      all.append(open_text(codes[i]));
    else
      all.skip();
  }
  *this = std::move(all);
}

}  // namespace gasell::csv
