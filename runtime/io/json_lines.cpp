#include "runtime/io/json_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/io/csv/column_reader.h"
#include "runtime/io/csv/text.h"
#include "runtime/io/csv/utf8.h"
#include "runtime/io/os_error.h"

namespace gasell {
namespace {

using csv::Kind;

constexpr int64_t kBlockBytes = 1 << 20;
constexpr int64_t kChunkBytes = 64 << 10;
constexpr size_t kReadable = 32;  // bytes behind a chunk
// What stands for values that are no texts, in fields that are read as CSV's are: no UTF-8 has these bytes.
constexpr std::string_view kMissing = "\xff",
                           kTrue =
                               "\xfe"
                               "1",
                           kFalse =
                               "\xfe"
                               "0";

enum class Token : uint8_t { null, boolean, number, text };

struct Value {
  Token token;
  std::string_view text;  // between the quotes, of texts
  bool escaped = false;
};

/// Why a line is no object of numbers, texts, booleans and nulls.
struct Wrong {
  const char* message;
  bool nested = false;
};

class LineParser {
 public:
  LineParser(const char* at, const char* end) : at_(at), end_(end) {}

  /// f(key, value) of each member of the object that the line is; false where the line is blank.
  template <class F>
  bool object(const F& f) {
    skip_blanks();
    if (at_ == end_) return false;
    if (*at_ != '{') throw Wrong{"Expected object or value"};
    ++at_;
    skip_blanks();
    if (take('}')) return finished();
    for (;;) {
      skip_blanks();
      if (!take('"')) throw Wrong{"Key name of object must be 'string' when decoding 'object'"};
      bool escaped = false;
      const std::string_view key = rest_of_text(escaped);
      skip_blanks();
      if (!take(':')) throw Wrong{"No ':' found when decoding object value"};
      skip_blanks();
      f(key, escaped, value());
      skip_blanks();
      if (take(',')) continue;
      if (!take('}')) throw Wrong{"Unexpected character found when decoding object value"};
      return finished();
    }
  }

 private:
  void skip_blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool finished() {
    skip_blanks();
    if (at_ != end_) throw Wrong{"Trailing data"};
    return true;
  }
  std::string_view rest_of_text(bool& escaped) {
    const char* const begin = at_;
    for (; at_ < end_ && *at_ != '"'; ++at_)
      if (*at_ == '\\') {
        escaped = true;
        if (++at_ == end_) break;
      }
    if (at_ == end_) throw Wrong{"Unmatched ''\"' when when decoding 'string'"};
    return {begin, static_cast<size_t>(at_++ - begin)};
  }
  bool word(std::string_view w) {
    if (static_cast<size_t>(end_ - at_) < w.size() || std::memcmp(at_, w.data(), w.size()) != 0) return false;
    at_ += w.size();
    return true;
  }
  Value value() {
    if (at_ == end_) throw Wrong{"Expected object or value"};
    switch (*at_) {
      case '"': {
        ++at_;
        Value v{Token::text, {}};
        v.text = rest_of_text(v.escaped);
        return v;
      }
      case 'n':
        if (word("null")) return {Token::null, {}};
        break;
      case 't':
        if (word("true")) return {Token::boolean, kTrue};
        break;
      case 'f':
        if (word("false")) return {Token::boolean, kFalse};
        break;
      case 'N':
        if (word("NaN")) return {Token::null, {}};
        break;
      case '{':
      case '[': throw Wrong{"objects and lists within the objects of a line are not in Gasell", true};
      default: {
        const char* const begin = at_;
        if (*at_ == '-') ++at_;
        if (word("Infinity")) return {Token::number, {begin, static_cast<size_t>(at_ - begin)}};
        const char* const digits = at_;
        while (at_ < end_ && ((*at_ >= '0' && *at_ <= '9') || *at_ == '.' || *at_ == 'e' || *at_ == 'E' || *at_ == '+' || *at_ == '-'))
          ++at_;
        if (at_ > digits && *digits >= '0' && *digits <= '9') return {Token::number, {begin, static_cast<size_t>(at_ - begin)}};
      }
    }
    throw Wrong{"Expected object or value"};
  }

  const char* at_;
  const char* const end_;
};

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1; }

/// Adds a text with its escapes replaced.
void put_unescaped(std::string& to, std::string_view text) {
  const auto unit = [&](size_t at) -> int {
    int value = 0;
    for (size_t i = 0; i < 4; ++i) {
      const int digit = at + i < text.size() ? hex_digit(text[at + i]) : -1;
      if (digit < 0) throw Wrong{"Unexpected character in unicode escape sequence when decoding 'string'"};
      value = value * 16 + digit;
    }
    return value;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      to += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'n': to += '\n'; break;
      case 't': to += '\t'; break;
      case 'r': to += '\r'; break;
      case 'b': to += '\b'; break;
      case 'f': to += '\f'; break;
      case '"':
      case '\\':
      case '/': to += text[i]; break;
      case 'u': {
        auto c = static_cast<uint32_t>(unit(i + 1));
        i += 4;
        if (c >= 0xd800 && c < 0xdc00) {
          if (i + 2 >= text.size() || text[i + 1] != '\\' || text[i + 2] != 'u')
            throw Wrong{"Unpaired high surrogate when decoding 'string'"};
          const auto low = static_cast<uint32_t>(unit(i + 3));
          if (low < 0xdc00 || low > 0xdfff) throw Wrong{"Unpaired high surrogate when decoding 'string'"};
          c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
          i += 6;
        } else if (c >= 0xdc00 && c < 0xe000) {
          throw Wrong{"Unpaired low surrogate when decoding 'string'"};
        }
        csv::put_utf8(to, c);
        break;
      }
      default: throw Wrong{"Unrecognized escape sequence when decoding 'string'"};
    }
  }
}

struct Block {
  const char* begin;
  const char* end;
  int64_t first_line = 1, lines = 0;
  int64_t first_row = 0, rows = 0;
  std::vector<std::string> names;
  std::vector<uint8_t> tokens;  // which a name's values are, a bit each
};

/// Names to columns, by the place that a name had in the line before where it is still there.
class Places {
 public:
  explicit Places(std::vector<std::string>& names) : names_(names) {
    for (size_t i = 0; i < names.size(); ++i) known_.emplace(names[i], i);
  }
  size_t find(std::string_view key, bool escaped, size_t member) {
    if (!escaped && member < order_.size() && names_[order_[member]] == key) return order_[member];
    std::string name;
    if (escaped)
      put_unescaped(name, key);
    else
      name = key;
    const auto [entry, fresh] = known_.emplace(name, names_.size());
    if (fresh) names_.push_back(name);
    order_.resize(std::max(order_.size(), member + 1), entry->second);
    order_[member] = entry->second;
    return entry->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, size_t> known_;
  std::vector<size_t> order_;
};

[[noreturn]] void refuse(const csv::Text& text, const Wrong& wrong, int64_t line) {
  const std::string where = fmt::format("line {} of {}", line, text.shown.empty() ? "the text" : in_quotes(text.shown));
  if (wrong.nested) throw Error("NotImplementedError", wrong.message, where, Blame::limitation);
  throw Error("ValueError", wrong.message, where);
}

/// f(begin, end) of each line of a block.
template <class F>
void over_lines(const Block& block, const F& f) {
  for (const char* at = block.begin; at < block.end;) {
    const auto* feed = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(block.end - at)));
    const char* const end = feed ? feed : block.end;
    if (!f(at, end)) return;
    at = end + 1;
  }
}

class JsonReader {
 public:
  JsonReader(Engine& engine, std::vector<csv::Text> texts, std::optional<int64_t> rows)
      : engine_(engine), texts_(std::move(texts)), most_(rows) {}

  JsonTable read() {
    for (const csv::Text& text : texts_) cut(text);
    in_parallel(static_cast<int64_t>(blocks_.size()), [&](int64_t k) { look(static_cast<size_t>(k)); });
    rethrow();
    JsonTable table;
    Places places(table.names);
    std::vector<uint8_t> tokens;
    int64_t line = 1;
    const csv::Text* text = nullptr;
    for (size_t k = 0; k < blocks_.size(); ++k) {
      Block& block = blocks_[k];
      if (text != owners_[k]) line = 1;
      text = owners_[k];
      block.first_line = line;
      line += block.lines;
      block.first_row = table.rows;
      if (most_) block.rows = std::min(block.rows, *most_ - table.rows);
      table.rows += block.rows;
      for (size_t i = 0; i < block.names.size(); ++i) {
        const size_t place = places.find(block.names[i], false, i);
        tokens.resize(std::max(tokens.size(), place + 1));
        tokens[place] |= block.tokens[i];
      }
    }
    make_readers(table, tokens);
    parts_.resize(blocks_.size());
    for (auto& parts : parts_) parts.resize(readers_.size());
    open_.assign(blocks_.size(), std::vector<bool>(readers_.size(), true));
    for (bool again = true; again;) {
      in_parallel(static_cast<int64_t>(blocks_.size()), [&](int64_t k) { fill(static_cast<size_t>(k), table.names); });
      rethrow();
      for (auto& reader : readers_) reader->restart();
      again = false;
      for (size_t k = 0; k < blocks_.size(); ++k)
        for (size_t i = 0; i < readers_.size(); ++i) {
          open_[k][i] = !readers_[i]->settle(blocks_[k].first_row, blocks_[k].rows, parts_[k][i]);
          again |= open_[k][i];
        }
    }
    std::vector<int64_t> first_rows;
    for (const Block& block : blocks_) first_rows.push_back(block.first_row);
    for (size_t i = 0; i < readers_.size(); ++i) {
      std::vector<csv::ColumnPart*> parts;
      for (auto& of_block : parts_) parts.push_back(&of_block[i]);
      table.columns.push_back(without_fractions(readers_[i]->finish(std::move(parts), first_rows)));
    }
    return table;
  }

 private:
  void cut(const csv::Text& text) {
    for (const char* at = text.begin; at < text.end;) {
      const char* end = text.end - at > kBlockBytes ? at + kBlockBytes : text.end;
      if (end < text.end) {
        const auto* feed = static_cast<const char*>(std::memchr(end, '\n', static_cast<size_t>(text.end - end)));
        end = feed ? feed + 1 : text.end;
      }
      blocks_.push_back({at, end});
      owners_.push_back(&text);
      at = end;
    }
  }

  /// Runs f, and keeps the error of the first block that has one.
  void guarded(size_t k, const std::function<void()>& f) {
    if (k > failed_) return;
    if (engine_.interrupt_flag()) throw Interrupted();
    try {
      f();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (k > failed_) return;
      failed_ = k;
      failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  int64_t line_of(size_t k, const char* at) const { return 1 + std::count(owners_[k]->begin, at, '\n'); }

  /// Counts rows, collects names.
  void look(size_t k) {
    guarded(k, [&] {
      Block& block = blocks_[k];
      if (!owners_[k]->checked) csv::check_utf8(block.begin, block.end, owners_[k]->shown, 1);
      Places places(block.names);
      over_lines(block, [&](const char* begin, const char* end) {
        ++block.lines;
        if (most_ && block.rows >= *most_) return false;
        try {
          size_t member = 0;
          block.rows += LineParser(begin, end).object([&](std::string_view key, bool escaped, const Value& value) {
            const size_t place = places.find(key, escaped, member++);
            block.tokens.resize(std::max(block.tokens.size(), place + 1));
            block.tokens[place] |= static_cast<uint8_t>(1 << static_cast<int>(value.token));
          });
        } catch (const Wrong& wrong) {
          refuse(*owners_[k], wrong, line_of(k, begin));
        }
        return true;
      });
      block.tokens.resize(block.names.size());
    });
  }

  void make_readers(const JsonTable& table, const std::vector<uint8_t>& tokens) {
    const auto has = [](uint8_t bits, Token token) { return (bits >> static_cast<int>(token) & 1) != 0; };
    for (size_t i = 0; i < table.names.size(); ++i) {
      if (has(tokens[i], Token::boolean) && has(tokens[i], Token::text))
        throw Error("NotImplementedError", "column " + in_quotes(table.names[i]) + " holds booleans and texts",
                    "a column holds values of one type", Blame::limitation);
      csv::ValueRules rules;
      rules.missing = csv::MissingTexts({std::string(kMissing)});
      rules.boolean_words = false;
      rules.true_texts = {std::string(kTrue)};
      rules.false_texts = {std::string(kFalse)};
      numbers_.push_back(has(tokens[i], Token::boolean) && has(tokens[i], Token::number));
      readers_.push_back(
          std::make_unique<csv::ColumnReader>(engine_, table.rows, std::move(rules), Kind::nothing, std::nullopt, csv::DateFormat{}));
    }
  }

  void fill(size_t k, std::vector<std::string>& names) {
    if (std::none_of(open_[k].begin(), open_[k].end(), [](bool open) { return open; })) return;
    guarded(k, [&] {
      const Block& block = blocks_[k];
      std::vector<std::string> known = names;
      Places places(known);
      std::vector<Value> row(readers_.size());
      std::string text;
      std::vector<uint32_t> ends;
      int64_t rows = 0, done = 0;
      const auto flush = [&] {
        if (rows == 0) return;
        text.append(kReadable, '\0');
        csv::Chunk chunk{text.data(), ends.data() + 1, rows, static_cast<int64_t>(readers_.size())};
        for (size_t i = 0; i < readers_.size(); ++i)
          if (open_[k][i])
            readers_[i]->read(chunk, static_cast<int64_t>(i), block.first_row, 2 * (block.end - block.begin) + 64, block.rows,
                              block.first_row + done, parts_[k][i]);
        done += rows;
        rows = 0;
        text.clear();
        ends.assign(1, UINT32_MAX);
      };
      ends.assign(1, UINT32_MAX);
      over_lines(block, [&](const char* begin, const char* end) {
        if (done + rows == block.rows) return false;
        try {
          std::fill(row.begin(), row.end(), Value{Token::null, {}});
          size_t member = 0;
          const bool there = LineParser(begin, end).object([&](std::string_view key, bool escaped, const Value& value) {
            row[places.find(key, escaped, member++)] = value;
          });
          if (!there) return true;
          for (size_t i = 0; i < row.size(); ++i) {
            const Value& value = row[i];
            if (value.token == Token::null)
              text += kMissing;
            else if (value.token == Token::boolean && numbers_[i])
              text += value.text[1];
            else if (value.escaped)
              put_unescaped(text, value.text);
            else
              text += value.text;
            ends.push_back(static_cast<uint32_t>(text.size()));
            text += '\0';
          }
        } catch (const Wrong& wrong) {
          refuse(*owners_[k], wrong, line_of(k, begin));
        }
        ++rows;
        if (static_cast<int64_t>(text.size()) > kChunkBytes) flush();
        return true;
      });
      flush();
    });
  }

  /// pandas reads floats that are all integers as integers.
  frame::Column without_fractions(frame::Column column) {
    if (!column.type.is_number() || column.type.dtype != DType::f64) return column;
    const frame::ColumnData data = frame::read(engine_, column);
    const double* values = data.as<double>();
    constexpr double kMost = 9007199254740992;
    if (data.count == 0 || !std::all_of(values, values + data.count, [](double v) { return std::abs(v) <= kMost && v == std::floor(v); }))
      return column;
    frame::NewValues integers(engine_, DType::i64, data.count);
    std::copy(values, values + data.count, integers.as<int64_t>());
    return frame::number_column(integers.node());
  }

  Engine& engine_;
  const std::vector<csv::Text> texts_;
  const std::optional<int64_t> most_;
  std::vector<Block> blocks_;
  std::vector<const csv::Text*> owners_;
  std::vector<std::unique_ptr<csv::ColumnReader>> readers_;
  std::vector<bool> numbers_;  // booleans are numbers in this column
  std::vector<std::vector<csv::ColumnPart>> parts_;
  std::vector<std::vector<bool>> open_;
  std::mutex mutex_;
  std::atomic<size_t> failed_{SIZE_MAX};
  std::exception_ptr failure_;
};

}  // namespace

JsonTable read_json_lines(Engine& engine, const std::vector<std::filesystem::path>& paths, std::optional<int64_t> rows) {
  std::vector<csv::Text> texts;
  for (const std::filesystem::path& path : paths) texts.push_back(csv::open_text(engine, path, {}));
  return JsonReader(engine, std::move(texts), rows).read();
}

JsonTable read_json_lines_text(Engine& engine, std::string_view text, std::optional<int64_t> rows) {
  return JsonReader(engine, {csv::text_of(text)}, rows).read();
}

}  // namespace gasell
