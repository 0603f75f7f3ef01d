// Texts of one column in one block: each once with codes, or all of them where many differ.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/engine.h"

namespace gasell::csv {

/// Memory under the budget for the texts of many blocks. Thread-safe.
class TextMemory {
 public:
  explicit TextMemory(Engine& engine) : engine_(engine) {}
  /// `bytes`, which stay until this goes.
  char* take(int64_t bytes);

 private:
  Engine& engine_;
  std::mutex mutex_;
  std::vector<HostStorageRef> taken_;
  char* at_ = nullptr;
  int64_t left_ = 0, size_ = 0;  // of the last memory taken
};

class TextPart {
 public:
  /// `capacity`: bytes that all texts together have at most.
  TextPart(int64_t capacity, bool plain);

  /// The code of a text; where all are kept, the number of those before it.
  int32_t add(std::string_view text);
  /// In place of a missing text where all are kept.
  void skip() {
    if (plain_) ends_.push_back(used_);
  }
  /// No more texts come: what there are move to where they take no more memory than they have to.
  void close(TextMemory& memory);
  int64_t size() const { return static_cast<int64_t>(ends().size()); }
  std::string_view operator[](int64_t i) const {
    const std::span<const uint32_t> to = ends();
    const uint32_t begin = i ? to[static_cast<size_t>(i) - 1] : 0;
    return {text() + begin, to[static_cast<size_t>(i)] - begin};
  }
  bool is_plain() const { return plain_; }
  /// True when so many of the texts so far differ that codes do not pay.
  bool should_be_plain(int64_t rows) const { return !plain_ && size() > 256 && size() > rows / 8; }
  /// Keeps all texts from now on; `codes` are those of the rows so far, -1 where missing.
  void make_plain(const int32_t* codes, int64_t rows);
  int64_t bytes() const { return used_; }
  const char* text() const { return closed_text_ ? closed_text_ : bytes_.get(); }
  std::span<const uint32_t> ends() const { return closed_text_ ? closed_ends_ : std::span<const uint32_t>(ends_); }

 private:
  struct Slot {
    uint32_t tag = 0;
    int32_t code = -1;
  };
  /// A text of those that are still added to.
  std::string_view open_text(int32_t i) const {
    const uint32_t begin = i ? ends_[static_cast<size_t>(i) - 1] : 0;
    return {bytes_.get() + begin, ends_[static_cast<size_t>(i)] - begin};
  }
  void append(std::string_view text);
  void grow();

  bool plain_;
  uint32_t used_ = 0;
  int64_t capacity_;
  std::unique_ptr<char[]> bytes_;
  std::vector<uint32_t> ends_;
  std::vector<Slot> slots_;  // open addressing, a power of two
  int32_t last_ = -1;        // the text that came last
  const char* closed_text_ = nullptr;
  std::span<const uint32_t> closed_ends_;
};

}  // namespace gasell::csv
