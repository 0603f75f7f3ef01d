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
#include "runtime/io/json_tokens.h"
#include "runtime/io/os_error.h"

namespace gasell {
namespace {

using csv::Kind;

constexpr int64_t kBlockBytes = 1 << 20;
constexpr int64_t kChunkBytes = 64 << 10;
constexpr size_t kReadable = 32;  // bytes behind a chunk
// What stands for a missing value in fields that are read as CSV's are: no UTF-8 has this byte.
constexpr std::string_view kMissing = "\xff";

struct Block {
  const char* begin;
  const char* end;
  std::vector<std::string_view> objects;  // of a list; else each line is one
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

[[noreturn]] void refuse(const csv::Text& text, const WrongJson& wrong, int64_t line) {
  const std::string where = fmt::format("line {} of {}", line, text.shown.empty() ? "the text" : in_quotes(text.shown));
  if (wrong.nested) throw Error("NotImplementedError", wrong.message, where, Blame::limitation);
  throw Error("ValueError", wrong.message, where);
}

/// f(begin, end) of each object of a block.
template <class F>
void over_objects(const Block& block, const F& f) {
  for (const std::string_view object : block.objects)
    if (!f(object.data(), object.data() + object.size())) return;
  if (!block.objects.empty()) return;
  for (const char* at = block.begin; at < block.end;) {
    const auto* feed = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(block.end - at)));
    const char* const end = feed ? feed : block.end;
    if (!f(at, end)) return;
    at = end + 1;
  }
}

/// Behind the object or list that opens at `at`.
const char* end_of_nested(const char* at, const char* end) {
  int64_t depth = 0;
  for (bool inside = false; at < end; ++at) {
    if (inside) {
      if (*at == '\\')
        ++at;
      else if (*at == '"')
        inside = false;
      continue;
    }
    if (*at == '"')
      inside = true;
    else if (*at == '{' || *at == '[')
      ++depth;
    else if ((*at == '}' || *at == ']') && --depth == 0)
      return at + 1;
  }
  throw WrongJson{"Unexpected character found when decoding object value"};
}

class JsonReader {
 public:
  JsonReader(Engine& engine, std::vector<csv::Text> texts, JsonForm form, std::optional<int64_t> rows)
      : engine_(engine), texts_(std::move(texts)), form_(form), most_(rows) {}

  JsonTable read() {
    for (const csv::Text& text : texts_) {
      if (form_ == JsonForm::lines)
        cut_lines(text);
      else
        cut_list(text);
    }
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
    table.truths_as_numbers = numbers_;
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
      if (readers_[i]->kind() == Kind::text) refuse_mixed(table.names[i], tokens[i]);
      table.columns.push_back(readers_[i]->finish(std::move(parts), first_rows));
    }
    return table;
  }

 private:
  void cut_lines(const csv::Text& text) {
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

  void cut_list(const csv::Text& text) {
    JsonCursor cursor(text.begin, text.end);
    const auto open = [&](const char* begin) {
      blocks_.push_back({begin, begin});
      owners_.push_back(&text);
    };
    try {
      cursor.skip_blanks();
      if (!cursor.take('[')) throw WrongJson{"Expected object or value"};
      cursor.skip_blanks();
      if (cursor.take(']')) {
        cursor.finished();
        return;
      }
      for (open(cursor.place());;) {
        cursor.skip_blanks();
        const char* const begin = cursor.place();
        if (begin == text.end || *begin != '{') throw WrongJson{"Expected object or value"};
        const char* const end = end_of_nested(begin, text.end);
        if (end - blocks_.back().begin > kBlockBytes && !blocks_.back().objects.empty()) open(begin);
        blocks_.back().objects.emplace_back(begin, static_cast<size_t>(end - begin));
        blocks_.back().end = end;
        cursor = JsonCursor(end, text.end);
        cursor.skip_blanks();
        if (cursor.take(',')) continue;
        if (!cursor.take(']')) throw WrongJson{"Unexpected character found when decoding array value (2)"};
        cursor.finished();
        return;
      }
    } catch (const WrongJson& wrong) {
      refuse(text, wrong, 1 + std::count(text.begin, cursor.place(), '\n'));
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
      if (!owners_[k]->checked) csv::check_utf8(block.begin, block.end, owners_[k]->origin(), owners_[k]->shown);
      Places places(block.names);
      over_objects(block, [&](const char* begin, const char* end) {
        ++block.lines;
        if (most_ && block.rows >= *most_) return false;
        try {
          size_t member = 0;
          block.rows += JsonCursor(begin, end).object([&](std::string_view key, bool escaped, const JsonToken& value) {
            const size_t place = places.find(key, escaped, member++);
            block.tokens.resize(std::max(block.tokens.size(), place + 1));
            block.tokens[place] |= static_cast<uint8_t>(1 << static_cast<int>(value.kind));
          });
        } catch (const WrongJson& wrong) {
          refuse(*owners_[k], wrong, line_of(k, begin));
        }
        return true;
      });
      block.tokens.resize(block.names.size());
    });
  }

  static bool has(uint8_t bits, JsonToken::Kind token) { return (bits >> static_cast<int>(token) & 1) != 0; }

  /// A column that became one of texts must have held no numbers: pandas keeps them as numbers among the texts.
  static void refuse_mixed(const std::string& name, uint8_t tokens) {
    if (!has(tokens, JsonToken::Kind::number)) return;
    throw Error("NotImplementedError",
                "column " + in_quotes(name) +
                    (has(tokens, JsonToken::Kind::text) ? " holds numbers and texts" : " holds negative integers and such from 2**63 on"),
                "a column holds values of one type", Blame::limitation);
  }

  void make_readers(const JsonTable& table, const std::vector<uint8_t>& tokens) {
    for (size_t i = 0; i < table.names.size(); ++i) {
      if (has(tokens[i], JsonToken::Kind::boolean) && has(tokens[i], JsonToken::Kind::text))
        throw Error("NotImplementedError", "column " + in_quotes(table.names[i]) + " holds booleans and texts",
                    "a column holds values of one type", Blame::limitation);
      csv::ValueRules rules;
      rules.missing = csv::MissingTexts({std::string(kMissing)});
      rules.boolean_words = false;
      rules.true_texts = {std::string(kJsonTrue)};
      rules.false_texts = {std::string(kJsonFalse)};
      numbers_.push_back(has(tokens[i], JsonToken::Kind::boolean) && has(tokens[i], JsonToken::Kind::number));
      // Texts that are numbers become such later, if at all; beside numbers they are taken for such here.
      const bool texts = has(tokens[i], JsonToken::Kind::text) && !has(tokens[i], JsonToken::Kind::number);
      readers_.push_back(std::make_unique<csv::ColumnReader>(engine_, table.rows, std::move(rules), texts ? Kind::text : Kind::nothing,
                                                             std::nullopt, csv::DateFormat{}));
    }
  }

  void fill(size_t k, std::vector<std::string>& names) {
    if (std::none_of(open_[k].begin(), open_[k].end(), [](bool open) { return open; })) return;
    guarded(k, [&] {
      const Block& block = blocks_[k];
      std::vector<std::string> known = names;
      Places places(known);
      std::vector<JsonToken> row(readers_.size());
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
      over_objects(block, [&](const char* begin, const char* end) {
        if (done + rows == block.rows) return false;
        try {
          std::fill(row.begin(), row.end(), JsonToken{JsonToken::Kind::null, {}});
          size_t member = 0;
          const bool there = JsonCursor(begin, end).object([&](std::string_view key, bool escaped, const JsonToken& value) {
            row[places.find(key, escaped, member++)] = value;
          });
          if (!there) return true;
          for (size_t i = 0; i < row.size(); ++i) {
            const JsonToken& value = row[i];
            if (value.kind == JsonToken::Kind::null)
              text += kMissing;
            else if (value.kind == JsonToken::Kind::boolean && numbers_[i])
              text += value.text[1];
            else if (value.escaped)
              put_unescaped(text, value.text);
            else
              text += value.text;
            ends.push_back(static_cast<uint32_t>(text.size()));
            text += '\0';
          }
        } catch (const WrongJson& wrong) {
          refuse(*owners_[k], wrong, line_of(k, begin));
        }
        ++rows;
        if (static_cast<int64_t>(text.size()) > kChunkBytes) flush();
        return true;
      });
      flush();
    });
  }

  Engine& engine_;
  const std::vector<csv::Text> texts_;
  const JsonForm form_;
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

JsonTable read_json(Engine& engine, const std::vector<std::filesystem::path>& paths, JsonForm form, std::optional<int64_t> rows,
                    const csv::CsvOptions& coding) {
  std::vector<csv::Text> texts;
  for (const std::filesystem::path& path : paths) texts.push_back(csv::open_text(engine, path, coding));
  return JsonReader(engine, std::move(texts), form, rows).read();
}

JsonTable read_json_text(Engine& engine, std::string_view text, JsonForm form, std::optional<int64_t> rows) {
  return JsonReader(engine, {csv::text_of(text)}, form, rows).read();
}

}  // namespace gasell
