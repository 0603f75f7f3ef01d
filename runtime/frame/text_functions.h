// Functions of columns of texts. Each different text is looked at once, on all cores; the results share the column's codes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/frame/column.h"
#include "runtime/frame/dictionary.h"
#include "runtime/frame/regex.h"

namespace gasell::frame {

/// The column over a dictionary without texts that no row has, where most of them are such; else itself.
Column with_used_texts(Engine& engine, const Column& column);

/// Writes f(text) to `out`; false: missing. Called from several threads.
using TextFunction = std::function<bool(std::string_view text, std::string& out)>;
/// A maker of functions, called once a task: for what keeps scratch memory.
using TextFunctionMaker = std::function<TextFunction()>;
Column map_texts(Engine& engine, const Column& column, const TextFunctionMaker& make);
Column map_texts(Engine& engine, const Column& column, const TextFunction& f);

/// A number of each text: i64, f64 or boolean. Missing texts (and results) are NaN in floats, and have no validity in the others.
using TextMeasure = std::function<std::optional<double>(std::string_view text)>;
using TextMeasureMaker = std::function<TextMeasure()>;
Column measure_texts(Engine& engine, const Column& column, DType dtype, const TextMeasureMaker& make);
Column measure_texts(Engine& engine, const Column& column, DType dtype, const TextMeasure& f);

/// Several texts of each text, as columns; the number of columns is the longest result's unless `columns` says it. nullopt: missing.
using TextParts = std::function<void(std::string_view text, std::vector<std::optional<std::string>>& parts)>;
std::vector<Column> split_texts(Engine& engine, const Column& column, const std::function<TextParts()>& make, int columns = -1);

/// What stands in each row for its code: table[code], or `missing` for -1.
template <class T>
NodeRef of_codes(Engine& engine, const Column& column, const std::vector<T>& table, T missing);

/// A plain column of texts that `f` writes, row by row and on several threads. false: missing.
Column make_texts(Engine& engine, int64_t rows, const std::function<bool(int64_t row, std::string& out)>& f);

/// Row by row, a text of the texts of several columns of the same length; `f` gets the codes' texts (nothing where missing). false:
/// missing.
using RowText = std::function<bool(const std::optional<std::string_view>* row, std::string& out)>;
Column combine_texts(Engine& engine, const std::vector<Column>& columns, const RowText& f);

// ---- comparisons: boolean array graphs; rows with missing texts are false (ne: true) ----
enum class TextOrder : uint8_t { eq, ne, lt, le, gt, ge };
NodeRef compare_texts(Engine& engine, const Column& column, TextOrder op, std::string_view with);
NodeRef compare_texts(Engine& engine, const Column& a, TextOrder op, const Column& b);

// ---- pieces of the functions, by code points ----
/// text[start:stop:step] as Python slices; nothing given: to the end.
void slice_text(std::string_view text, std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step, std::string& out);
/// Python's clipped bounds of [start:stop] in `length`.
std::pair<int64_t, int64_t> clipped_bounds(int64_t length, std::optional<int64_t> start, std::optional<int64_t> stop);
enum class Side : uint8_t { left, right, both };
/// Padded to `width` code points on a side (both: as pandas' center), with one code point.
void pad_text(std::string_view text, int64_t width, Side side, std::string_view fill, std::string& out);
/// unicodedata.normalize: NFC, NFD, NFKC or NFKD; ValueError for another form.
std::string normalized_text(std::string_view text, std::string_view form);
/// str.zfill.
void zero_fill(std::string_view text, int64_t width, std::string& out);
/// str.strip and its like; no characters given: white space.
std::string_view strip_text(std::string_view text, Side side, const std::optional<std::u32string>& characters);
/// The place of `part` in code points between start and stop, or -1.
int64_t find_text(std::string_view text, std::string_view part, bool from_right, int64_t start, std::optional<int64_t> stop);
/// str.split: no separator: at white space. `most` splits at most where it is not negative.
void split_text(std::string_view text, const std::optional<std::string>& separator, int64_t most, bool from_right,
                std::vector<std::optional<std::string>>& parts);
/// re.split of a match.
void split_text(std::string_view text, Regex::Matcher& match, int64_t most, int groups, std::vector<std::optional<std::string>>& parts);
/// text.replace(old, new, count), count negative: all.
void replace_text(std::string_view text, std::string_view old, std::string_view with, int64_t count, std::string& out);
/// re.sub.
void replace_matches(std::string_view text, Regex::Matcher& match, const RegexTemplate& with, int64_t count, std::string& out);
/// textwrap.fill(text, width), as str.wrap calls it.
std::string wrap_text(std::string_view text, int64_t width);
/// str.isalpha and its like: at least one code point, and all of them are so. Names without "is": "alpha", "digit", "alnum", "numeric",
/// "decimal", "space", "upper", "lower", "title".
std::function<bool(std::string_view)> text_class(std::string_view name);

/// A number of a text as Python's float() and int() read it, for to_numeric: nothing where it is none.
struct TextNumber {
  bool whole;
  int64_t integer;
  double real;
};
std::optional<TextNumber> number_of_text(std::string_view text);

}  // namespace gasell::frame
