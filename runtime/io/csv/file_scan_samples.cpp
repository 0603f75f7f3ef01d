#include "runtime/io/csv/file_scan.h"

#include <algorithm>

namespace gasell::csv {
namespace {

constexpr size_t kSampledBlocks = 24;
constexpr int kSampledRows = 100;
constexpr int kFewRows = 16;  // of the other blocks of large files

}  // namespace

ValueRules FileScan::rules_of(int64_t field) const {
  ValueRules rules;
  std::vector<std::string> missing;
  if (options_.find_missing) {
    if (options_.default_missing) missing = default_missing_texts();
    missing.insert(missing.end(), options_.missing.begin(), options_.missing.end());
    for (const auto& [key, texts] : options_.missing_of)
      if (find_column(layout_, key) == field) missing.insert(missing.end(), texts.begin(), texts.end());
  }
  rules.missing = MissingTexts(std::move(missing));
  rules.decimal = options_.decimal;
  rules.thousands = options_.thousands;
  rules.true_texts = options_.true_values;
  rules.false_texts = options_.false_values;
  return rules;
}

std::optional<WantedType> FileScan::type_of(int64_t field) const {
  for (const auto& [key, type] : options_.types)
    if (find_column(layout_, key) == field) return type;
  return options_.type;
}

/// Whether columns are read when they are used.
bool FileScan::reads_later() const {
  int64_t bytes = 0;
  for (const Text& text : texts_) bytes += text.end - text.begin;
  return bytes >= options_.later_from && options_.bad_lines == BadLines::error && !is_cut_;
}

/// Samples from all over the files say what the columns are.
void FileScan::look_at_samples() {
  for (const int64_t field : layout_.fields) {
    Known& known = columns_.emplace_back();
    known.field = field;
    known.rules = rules_of(field);
    known.wanted = type_of(field);
    known.missing = known.wanted && known.wanted->type.nullable;
  }
  std::vector<bool> is_date;
  for (const Known& known : columns_)
    is_date.push_back(std::any_of(options_.dates.begin(), options_.dates.end(),
                                  [&](const ColumnKey& key) { return find_column(layout_, key) == known.field; }));
  Fields fields;
  const size_t step = reads_later() ? 1 : std::max<size_t>(1, pieces_.size() / kSampledBlocks);
  for (size_t k = 0; k < pieces_.size(); k += step) {
    const char* at = pieces_[k].text->begin + pieces_[k].block.begin;
    const char* const end = pieces_[k].text->begin + pieces_[k].block.end;
    const int rows = k % std::max<size_t>(1, pieces_.size() / kSampledBlocks) == 0 ? kSampledRows : kFewRows;
    for (int row = 0; row < rows && row < pieces_[k].block.rows && at < end; ++row) {
      fields.clear();
      if (read_line(options_.dialect, at, end, fields) != Line::record) continue;
      if (fields.size() > layout_.stride() && !layout_.cut_long_records) continue;  // left out, or an error
      for (size_t i = 0; i < columns_.size(); ++i) {
        Known& known = columns_[i];
        const std::string_view text = known.field < fields.size() ? fields[known.field] : std::string_view();
        if (known.rules.missing.contains(text)) {
          known.missing = true;
          continue;
        }
        if (is_date[i]) {
          if (known.kind == Kind::datetime && !parse_date(text, known.dates)) known.kind = Kind::text;
          if (known.kind != Kind::nothing) continue;
          const auto format = options_.date_format.empty() ? guess_format(text, options_.day_first) : format_of(options_.date_format);
          known.kind = format ? Kind::datetime : Kind::text;
          if (format) known.dates = *format;
        } else if (known.kind != Kind::text) {
          const Kind found = kind_of(text, known.rules);
          known.kind = known.kind == Kind::u64 && found == Kind::i64 ? Kind::u64 : wider(known.kind, found);
        }
      }
    }
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    Known& known = columns_[i];
    if (!is_date[i] || known.kind != Kind::nothing) continue;
    known.kind = Kind::datetime;
    known.dates = options_.date_format.empty() ? free_format(options_.day_first) : format_of(options_.date_format);
  }
}

}  // namespace gasell::csv
