#include "runtime/io/csv/layout.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "lang/diagnostic.h"
#include "runtime/io/csv/tokenizer.h"
#include "runtime/io/csv/utf8.h"
#include "runtime/io/os_error.h"

namespace gasell::csv {
namespace {

std::string list_text(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) text += (text.size() > 1 ? ", " : "") + in_quotes(name);
  return text + "]";
}

/// x, x.1, x.2 as pandas counts them; fields without a name are "Unnamed: 3".
std::vector<std::string> distinct_names(std::vector<std::string> names) {
  std::vector<size_t> order;
  for (const bool unnamed : {false, true})
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i].empty() == unnamed) order.push_back(i);
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i].empty()) names[i] = "Unnamed: " + std::to_string(i);
  std::unordered_map<std::string, int64_t> counts;
  std::unordered_multiset<std::string> present(names.begin(), names.end());
  for (const size_t i : order) {
    const std::string old = names[i];
    std::string name = old;
    int64_t count = counts[name];
    while (count > 0) {
      counts[old] = count + 1;
      name = old + "." + std::to_string(count);
      count = present.contains(name) ? count + 1 : counts[name];
    }
    present.erase(present.find(old));
    present.insert(name);
    names[i] = name;
    counts[name] = counts[name] + 1;
  }
  return names;
}

std::vector<int64_t> wanted_fields(const Layout& layout, const CsvOptions& options) {
  std::vector<int64_t> fields;
  for (int64_t i = 0; i < layout.index_columns; ++i) fields.push_back(i);
  const int64_t named = layout.stride() - layout.index_columns;
  if (!options.use) {
    for (int64_t i = 0; i < named; ++i) fields.push_back(layout.index_columns + i);
    return fields;
  }
  std::vector<std::string> unknown;
  std::vector<int64_t> beyond;
  for (const ColumnKey& key : *options.use) {
    if (key.position >= named)
      beyond.push_back(key.position);
    else if (find_column(layout, key) < 0)
      unknown.push_back(key.name);
    else
      fields.push_back(find_column(layout, key));
  }
  if (!unknown.empty())
    throw Error("ValueError", "Usecols do not match columns, columns expected but not found: " + list_text(unknown),
                "the columns are " + list_text(layout.names));
  if (!beyond.empty()) {
    std::string list;
    for (const int64_t position : beyond) list += (list.empty() ? "" : ", ") + std::to_string(position);
    throw Error("ParserError", "Defining usecols with out-of-bounds indices is not allowed. [" + list + "] are out of bounds.");
  }
  std::sort(fields.begin(), fields.end());
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  return fields;
}

}  // namespace

std::string shown_file(const Text& text) { return text.shown.empty() ? "the text" : in_quotes(text.shown); }

void refuse_cut(const Text& text, Line found, int64_t line) {
  if (found == Line::escaping)
    throw Error("ParserError", "Error tokenizing data. C error: EOF following escape character", "in " + shown_file(text));
  throw Error("ParserError", "Error tokenizing data. C error: EOF inside string starting at row " + std::to_string(line - 1),
              "in " + shown_file(text) + "; a quote opens and never closes; quoting=3 takes quotes as text");
}

int64_t find_column(const Layout& layout, const ColumnKey& key) {
  if (key.position >= 0) return key.position + layout.index_columns < layout.stride() ? key.position + layout.index_columns : -1;
  for (int64_t i = layout.index_columns; i < layout.stride(); ++i)
    if (layout.names[static_cast<size_t>(i)] == key.name) return i;
  return -1;
}

Layout layout_of(const Text& text, const CsvOptions& options) {
  Layout layout;
  const char* at = text.begin;
  int64_t line = 1 + text.dropped_lines;
  Fields fields;
  Dialect lines = options.dialect;
  lines.skip_blank_lines = false;
  lines.comment = 0;
  for (int64_t i = 0; i < options.skip_rows && at < text.end; ++i, ++line) skip_line(lines, at, text.end);

  // Moves to the next record and reads it.
  const auto next_record = [&] {
    while (at < text.end) {
      fields.clear();
      const Line found = read_line(options.dialect, at, text.end, fields);
      ++line;
      if (found == Line::unclosed || found == Line::escaping) refuse_cut(text, found, line - 1);
      if (found == Line::record) return true;
    }
    return false;
  };
  const int64_t header = options.header ? *options.header : options.names ? -1 : 0;
  if (header < 0 && at == text.end && !options.names) throw Error("EmptyDataError", "No columns to parse from file");
  for (int64_t i = 0; i <= header; ++i) {
    if (next_record()) continue;
    if (i == 0 && !options.names) throw Error("EmptyDataError", "No columns to parse from file", "the file is empty");
    if (options.names) break;
    throw Error("ParserError", "Passed header=" + std::to_string(header) + " but only " + std::to_string(i) + " lines in file");
  }
  std::vector<std::string> names;
  if (header >= 0)
    for (int64_t i = 0; i < fields.size(); ++i) names.emplace_back(fields[i]);
  if (!text.checked) check_utf8(text.begin, at, text.origin(), shown_file(text), 1 + text.dropped_lines);
  layout.begin = at - text.begin;
  layout.first_line = line;

  // The first record says how many fields there are.
  const bool any = next_record();
  const int64_t record_fields = any ? fields.size() : 0;
  if (options.names) {
    names = *options.names;
    if (std::unordered_set<std::string>(names.begin(), names.end()).size() < names.size())
      throw Error("ValueError", "Duplicate names are not allowed.");
    // With usecols there may be as many names as columns that are used.
    if (options.use && any && names.size() == options.use->size() && record_fields > static_cast<int64_t>(names.size())) {
      std::vector<std::string> all(static_cast<size_t>(record_fields));
      std::vector<int64_t> positions;
      for (const ColumnKey& key : *options.use) positions.push_back(key.position);
      std::sort(positions.begin(), positions.end());
      if (positions.front() >= 0)
        for (size_t i = 0; i < positions.size(); ++i)
          if (positions[i] < record_fields) all[static_cast<size_t>(positions[i])] = names[i];
      names = all;
    }
  } else if (header < 0) {
    if (!any) throw Error("EmptyDataError", "No columns to parse from file", "the file is empty");
    for (int64_t i = 0; i < record_fields; ++i) names.push_back(std::to_string(i));
    layout.numbered = true;
  } else {
    names = distinct_names(std::move(names));
  }
  const auto named = static_cast<int64_t>(names.size());
  layout.cut_long_records = options.use.has_value();
  const int64_t more = std::max<int64_t>(0, record_fields - named);
  // Where all columns are wanted, what rows have more is too much; else it is the index, as it is for the whole table.
  const bool some = options.use && !options.names && static_cast<int64_t>(options.use->size()) < named;
  if (!options.no_index && (!options.use || some)) layout.index_columns = more;
  layout.names.assign(static_cast<size_t>(layout.index_columns), "");
  layout.names.insert(layout.names.end(), names.begin(), names.end());
  layout.fields = wanted_fields(layout, options);
  if (options.no_index) layout.names.resize(static_cast<size_t>(named + more));  // fields that nobody wants
  return layout;
}

char sniffed_separator(const Text& text, const CsvOptions& options) {
  constexpr std::array<char, 6> kCandidates = {',', '\t', ';', '|', ':', ' '};
  char best = ',';
  int64_t best_score = 0;
  for (const char candidate : kCandidates) {
    Dialect dialect = options.dialect;
    dialect.separator = candidate;
    const char* at = text.begin;
    int64_t count = -1, lines = 0;
    bool even = true;
    Fields fields;
    for (; at < text.end && lines < 50 && even; ++lines) {
      fields.clear();
      if (read_line(dialect, at, text.end, fields) != Line::record || lines < options.skip_rows) continue;
      if (count >= 0) even = fields.size() == count;
      count = fields.size();
    }
    const int64_t score = even ? count - 1 : 0;
    if (score > best_score) {
      best = candidate;
      best_score = score;
      if (candidate != ' ' && candidate != ':') continue;
    }
  }
  return best;
}

}  // namespace gasell::csv
