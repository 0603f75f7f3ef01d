// The texts that the codes of a column stand for, in the layout of Arrow's large_utf8.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/storage.h"
#include "runtime/frame/column.h"
#include "runtime/primitives/scratch.h"

namespace gasell::frame {

/// Text i is the bytes [offsets[i], offsets[i + 1]) of UTF-8.
class Dictionary {
 public:
  /// `offsets` holds count + 1 int64. `distinct`: no two texts are equal.
  Dictionary(HostStorageRef offsets, HostStorageRef bytes, int64_t count, bool distinct);
  /// Another's texts, which `make` gives when somebody first looks at them.
  explicit Dictionary(std::function<std::shared_ptr<const Dictionary>()> make);

  int64_t size() const {
    ready();
    return count_;
  }
  std::string_view operator[](int64_t code) const {
    const int64_t* const offset = ready();
    return {text_ + offset[code], static_cast<size_t>(offset[code + 1] - offset[code])};
  }
  bool is_distinct() const {
    ready();
    return distinct_;
  }
  const int64_t* offsets() const { return ready(); }
  const char* bytes() const {
    ready();
    return text_;
  }

  /// Same texts, each once, in the order of their first appearance; `codes[i]` is where text i went. Computed once, kept.
  struct Distinct {
    DictionaryRef dictionary;  // null: this dictionary is known to be distinct
    Scratch<int32_t> codes;    // none: each text stays where it is
  };
  const Distinct& distinct(Engine& engine) const;
  /// The place of each text in their sorted order (by code points, which is the order of UTF-8's bytes); equal texts have equal ranks.
  const std::vector<int32_t>& ranks(Engine& engine) const;
  /// The code of a text, or nothing. Of a distinct dictionary.
  std::optional<int32_t> find(std::string_view text) const;

 private:
  const int64_t* ready() const {
    const int64_t* const offset = offset_.load(std::memory_order_acquire);
    if (!offset) [[unlikely]] {
      provide();
      return offset_.load(std::memory_order_acquire);
    }
    return offset;
  }
  void provide() const;

  // Set once: at the beginning, or by provide().
  mutable HostStorageRef offsets_, bytes_;
  mutable const char* text_ = nullptr;
  mutable int64_t count_ = 0;
  mutable bool distinct_ = false;
  mutable std::atomic<const int64_t*> offset_{nullptr};
  mutable std::function<std::shared_ptr<const Dictionary>()> make_;
  mutable std::mutex provide_mutex_;
  mutable std::once_flag distinct_once_, ranks_once_, index_once_;
  mutable Distinct distinct_texts_;
  mutable std::vector<int32_t> ranks_;
  mutable std::vector<int32_t> index_;  // open addressing, a power of two; -1: free
};

/// Collects texts.
class DictionaryBuilder {
 public:
  void add(std::string_view text);
  int64_t size() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  std::string_view operator[](int64_t i) const { return std::string_view(bytes_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]); }
  /// What was collected; the builder is empty afterwards.
  DictionaryRef finish(bool distinct);

 private:
  std::vector<int64_t> offsets_ = {0};
  std::string bytes_;
};

/// Collects texts, each once: add() gives the code.
class DistinctTexts {
 public:
  DistinctTexts();
  int32_t add(std::string_view text);
  int64_t size() const { return texts_.size(); }
  std::string_view operator[](int64_t code) const { return texts_[code]; }
  DictionaryRef finish() { return texts_.finish(true); }

 private:
  void grow();
  DictionaryBuilder texts_;
  std::vector<uint64_t> hashes_;  // of the texts
  std::vector<int32_t> slots_;
};

/// A column of texts, none of them equal to another unless `distinct` is false: codes 0, 1, 2 …
Column text_column(Engine& engine, DictionaryRef texts);
/// The same texts over a dictionary that has each once. Throws NotImplementedError beyond 2**31 - 1 different ones.
Column with_distinct_texts(Engine& engine, const Column& column);
/// Columns of texts over one distinct dictionary, for comparing their codes.
std::vector<Column> with_common_texts(Engine& engine, const std::vector<Column>& columns);

}  // namespace gasell::frame
