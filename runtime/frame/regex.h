// Python's regular expressions over UTF-8, through PCRE2 with its compiler. Patterns are translated where the two languages differ, and
// refused by Python's words where Python refuses them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gasell::frame {

/// As the constants of Python's module re.
inline constexpr int64_t kRegexIgnoreCase = 2, kRegexMultiline = 8, kRegexDotAll = 16, kRegexVerbose = 64, kRegexAscii = 256;

class Regex {
 public:
  /// Compiled once for each pattern and flags, kept for the life of the process. Throws Error("PatternError", "missing ), unterminated
  /// subpattern at position 0") and NotImplementedError for what PCRE2 cannot do.
  static std::shared_ptr<const Regex> compile(std::string_view pattern, int64_t flags = 0);
  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  /// Those given, and those that the pattern itself asks for.
  int64_t flags() const { return flags_; }
  /// Capturing groups without the whole match.
  int groups() const { return static_cast<int>(names_.size()) - 1; }
  /// The name of a group, from 1; empty where it has none.
  const std::string& name(int group) const { return names_[static_cast<size_t>(group)]; }
  std::optional<int> group_named(std::string_view name) const;

  /// A pattern's use by one thread.
  class Matcher {
   public:
    explicit Matcher(const Regex& regex);
    ~Matcher();
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;
    enum class Where : uint8_t { anywhere, at_start, whole };
    /// Looks for a match from byte `from` on; `not_empty_here`: an empty one at `from` does not count.
    bool find(std::string_view text, size_t from, Where where = Where::anywhere, bool not_empty_here = false);
    /// Of the last match: group 0 is the whole. npos where a group took no part.
    size_t begin(int group = 0) const;
    size_t end(int group = 0) const;
    std::optional<std::string_view> group(int group) const;
    /// Calls f() for each match, as re.finditer finds them, until it returns false.
    template <class F>
    void each(std::string_view text, F f) {
      size_t from = 0;
      bool empty_before = false;
      while (from <= text.size() && find(text, from, Where::anywhere, empty_before)) {
        if (!f()) return;
        from = end();
        empty_before = begin() == end();
      }
    }

   private:
    const Regex& regex_;
    std::string_view text_;
    void* data_;
    void* context_;
  };

 private:
  Regex(std::string_view pattern, int64_t flags);
  void* code_ = nullptr;
  int64_t flags_ = 0;
  std::vector<std::string> names_;
};

/// A replacement with Python's references: \1, \g<2>, \g<name>, \n.
class RegexTemplate {
 public:
  /// Throws Error("PatternError", "invalid group reference 3 at position 1").
  RegexTemplate(std::string_view text, const Regex& regex);
  /// `match`: a Matcher, or what else has group(number).
  template <class M>
  void expand(const M& match, std::string& out) const {
    for (const Part& part : parts_) {
      out += part.literal;
      if (part.group >= 0) out += match.group(part.group).value_or(std::string_view());
    }
  }

 private:
  struct Part {
    std::string literal;
    int group = -1;  // behind the literal
  };
  std::vector<Part> parts_;
};

/// Whether a pattern has no character that means something: then it is its own text.
bool is_plain_text(std::string_view pattern);

}  // namespace gasell::frame
