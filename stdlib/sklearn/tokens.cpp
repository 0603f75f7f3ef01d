#include "stdlib/sklearn/tokens.h"

#include <bit>
#include <cstring>
#include <functional>
#include <unordered_set>

#include "lang/diagnostic.h"
#include "runtime/frame/text_functions.h"
#include "runtime/session/str_text.h"
#include "runtime/session/types.h"
#include "stdlib/pandas/text_natives.h"

namespace gasell {
namespace {

using namespace frame;
using Args = std::span<Value>;
using pandas::text_argument;

constexpr int64_t kTextsATask = 256;

using Words = std::unordered_set<std::string>;
using Emit = std::function<void(std::string_view)>;

/// What a token is.
struct Analysis {
  std::shared_ptr<const Regex> pattern;  // of words
  bool lowercase;
  std::string analyzer;  // "word", "char", "char_wb"
  size_t low, high;      // n of n-grams
  Words stop_words;
};

/// The n-grams of words, joined by blanks: those of one word first.
void word_ngrams(const std::vector<std::string_view>& words, const Analysis& a, const Emit& emit) {
  std::string joined;
  for (size_t n = a.low; n <= std::min(a.high, words.size()); ++n) {
    for (size_t begin = 0; begin + n <= words.size(); ++begin) {
      if (n == 1) {
        emit(words[begin]);
        continue;
      }
      joined = words[begin];
      for (size_t k = 1; k < n; ++k) (joined += ' ') += words[begin + k];
      emit(joined);
    }
  }
}

/// Where each code point begins, and the end.
void code_points(std::string_view text, std::vector<size_t>& begins) {
  begins.clear();
  for (size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) begins.push_back(i);
  begins.push_back(text.size());
}

void char_ngrams(std::string_view text, const Analysis& a, std::vector<size_t>& begins, const Emit& emit) {
  code_points(text, begins);
  const size_t count = begins.size() - 1;
  for (size_t n = a.low; n <= std::min(a.high, count); ++n)
    for (size_t i = 0; i + n <= count; ++i) emit(text.substr(begins[i], begins[i + n] - begins[i]));
}

/// The n-grams of each word with a blank on both sides; a word that is shorter than n counts once.
void word_bound_ngrams(std::string_view text, const Analysis& a, std::vector<size_t>& begins, const Emit& emit) {
  std::vector<std::optional<std::string>> words;
  split_text(text, std::nullopt, -1, false, words);
  for (const auto& word : words) {
    const std::string padded = " " + *word + " ";
    code_points(padded, begins);
    const size_t count = begins.size() - 1;
    for (size_t n = a.low; n <= a.high; ++n) {
      const size_t length = std::min(n, count);
      for (size_t i = 0; i == 0 || i + n <= count; ++i) emit(std::string_view(padded).substr(begins[i], begins[i + length] - begins[i]));
      if (n >= count) break;
    }
  }
}

/// The tokens of texts [begin, end) of a dictionary: codes into a vocabulary of their own.
struct Tokens {
  DistinctTexts vocabulary;
  std::vector<int32_t> codes;
  std::vector<int64_t> ends;
};

void find_tokens(const Dictionary& texts, int64_t begin, int64_t end, const Analysis& a, Tokens& tokens) {
  std::optional<Regex::Matcher> match;
  if (a.pattern) match.emplace(*a.pattern);
  std::vector<std::string_view> words;
  std::vector<size_t> begins;
  const Emit emit = [&](std::string_view token) { tokens.codes.push_back(tokens.vocabulary.add(token)); };
  for (int64_t i = begin; i < end; ++i) {
    const std::string lowered = a.lowercase ? to_lower(texts[i]) : std::string();
    const std::string_view text = a.lowercase ? lowered : texts[i];
    if (a.analyzer == "char") {
      char_ngrams(text, a, begins, emit);
    } else if (a.analyzer == "char_wb") {
      word_bound_ngrams(text, a, begins, emit);
    } else {
      words.clear();
      match->each(text, [&] {
        const std::string_view word = match->group(a.pattern->groups() == 1 ? 1 : 0).value_or(std::string_view());
        if (a.stop_words.empty() || !a.stop_words.contains(std::string(word))) words.push_back(word);
        return true;
      });
      word_ngrams(words, a, emit);
    }
    tokens.ends.push_back(static_cast<int64_t>(tokens.codes.size()));
  }
}

/// tokens(column, pattern or None, lowercase, analyzer, low, high, stop_words)
Value tokens(Interpreter& in, Args args) {
  Engine& engine = in.engine();
  Analysis a{nullptr,
             truth(in, args[2]),
             text_argument(in, args[3]),
             static_cast<size_t>(to_index(in, args[4])),
             static_cast<size_t>(to_index(in, args[5])),
             {}};
  if (!args[1].is_none()) a.pattern = Regex::compile(text_argument(in, args[1]));
  if (a.pattern && a.pattern->groups() > 1)
    raise("ValueError", "More than 1 capturing group in token pattern. Only a single group should be captured.");
  for (const Value& word : to_vector(in, args[6])) a.stop_words.insert(text_argument(in, word));
  Column source = with_used_texts(engine, pandas::column_of(args[0]));
  const Dictionary& texts = *source.dictionary;
  const int64_t count = texts.size(), tasks = (count + kTextsATask - 1) / kTextsATask;
  std::vector<Tokens> parts(static_cast<size_t>(tasks));
  over_rows(
      engine, count,
      [&](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end; at += kTextsATask)
          find_tokens(texts, at, std::min(end, at + kTextsATask), a, parts[static_cast<size_t>(at / kTextsATask)]);
      },
      kTextsATask);
  const ColumnData rows = read(engine, source);
  NewValues indptr(engine, DType::i64, rows.count + 1);
  int64_t total = 0;
  indptr.as<int64_t>()[0] = 0;
  const auto part_of = [&](int32_t code) -> const Tokens& { return parts[static_cast<size_t>(code / kTextsATask)]; };
  const auto range_of = [&](int32_t code) {
    const Tokens& part = part_of(code);
    const auto own = static_cast<size_t>(code % kTextsATask);
    return std::pair(own ? part.ends[own - 1] : 0, part.ends[own]);
  };
  for (int64_t row = 0; row < rows.count; ++row) {
    const int32_t code = rows.as<int32_t>()[row];
    if (code < 0) raise("ValueError", "np.nan is an invalid document, expected byte or unicode string.");
    const auto [begin, end] = range_of(code);
    indptr.as<int64_t>()[row + 1] = total += end - begin;
  }
  // The vocabulary in the order in which rows have its tokens first.
  NewValues codes(engine, DType::i32, total);
  DistinctTexts vocabulary;
  std::vector<std::vector<int32_t>> known(parts.size());
  for (size_t k = 0; k < parts.size(); ++k) known[k].assign(static_cast<size_t>(parts[k].vocabulary.size()), -1);
  int32_t* out = codes.as<int32_t>();
  for (int64_t row = 0; row < rows.count; ++row) {
    const int32_t code = rows.as<int32_t>()[row];
    const Tokens& part = part_of(code);
    std::vector<int32_t>& places = known[static_cast<size_t>(code / kTextsATask)];
    const auto [begin, end] = range_of(code);
    for (int64_t at = begin; at < end; ++at) {
      const int32_t own = part.codes[static_cast<size_t>(at)];
      int32_t& place = places[static_cast<size_t>(own)];
      if (place < 0) place = vocabulary.add(part.vocabulary[own]);
      *out++ = place;
    }
  }
  return make_tuple(
      {numpy::wrap_array(indptr.node()), numpy::wrap_array(codes.node()), pandas::wrap_column(text_column(engine, vocabulary.finish()))});
}

/// MurmurHash3 for x86, 32 bits. Source: Appleby, https://github.com/aappleby/smhasher, in the public domain.
uint32_t murmurhash3(std::string_view key, uint32_t seed) {
  constexpr uint32_t kFirst = 0xcc9e2d51, kSecond = 0x1b873593;
  uint32_t hash = seed;
  const size_t blocks = key.size() / 4;
  for (size_t i = 0; i < blocks; ++i) {
    uint32_t block = 0;
    std::memcpy(&block, key.data() + 4 * i, 4);
    hash ^= std::rotl(block * kFirst, 15) * kSecond;
    hash = std::rotl(hash, 13) * 5 + 0xe6546b64;
  }
  uint32_t tail = 0;
  for (size_t i = key.size(); i > 4 * blocks; --i) tail = tail << 8 | static_cast<unsigned char>(key[i - 1]);
  if (key.size() % 4) hash ^= std::rotl(tail * kFirst, 15) * kSecond;
  hash ^= static_cast<uint32_t>(key.size());
  hash = (hash ^ hash >> 16) * 0x85ebca6b;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35;
  return hash ^ hash >> 16;
}

/// text_hashes(column, seed): of each text's UTF-8 as int32.
Value text_hashes(Interpreter& in, Args args) {
  Engine& engine = in.engine();
  Column source = with_used_texts(engine, pandas::column_of(args[0]));
  const auto seed = static_cast<uint32_t>(to_index(in, args[1]));
  const Dictionary& texts = *source.dictionary;
  std::vector<int32_t> hashes(static_cast<size_t>(texts.size()));
  over_rows(engine, texts.size(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) hashes[static_cast<size_t>(i)] = static_cast<int32_t>(murmurhash3(texts[i], seed));
  });
  return numpy::wrap_array(of_codes<int32_t>(engine, source, hashes, 0));
}

}  // namespace

const std::vector<NativeFunction>& token_functions() {
  static const std::vector<NativeFunction> functions = {
      {"tokens", "column, pattern, lowercase, analyzer, low, high, stop_words", tokens,
       "(where the tokens of each text begin, and the end; the place of each among the tokens that there are; these, as a column)."},
      {"text_hashes", "column, seed=0", text_hashes, "MurmurHash3 of each text, as int32."},
  };
  return functions;
}

}  // namespace gasell
