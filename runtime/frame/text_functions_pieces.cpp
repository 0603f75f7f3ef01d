// What the functions of texts do to one text.
#include <fast_float/fast_float.h>
#include <utf8proc.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "lang/characters.h"
#include "lang/diagnostic.h"
#include "runtime/frame/text_functions.h"
#include "runtime/session/str_text.h"

namespace gasell::frame {
namespace {

std::string repeated(std::string_view text, int64_t count) {
  std::string out;
  for (int64_t i = 0; i < count; ++i) out += text;
  return out;
}

/// Spans of what is no white space.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = std::string_view::npos;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    if (is_space(c.value)) {
      if (begin != text.npos) words.push_back(text.substr(begin, i - begin));
      begin = text.npos;
    } else if (begin == text.npos) {
      begin = i;
    }
    i += static_cast<size_t>(c.length);
  }
  if (begin != text.npos) words.push_back(text.substr(begin));
  return words;
}

}  // namespace

std::pair<int64_t, int64_t> clipped_bounds(int64_t length, std::optional<int64_t> start, std::optional<int64_t> stop) {
  const auto clip = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + length : v, 0, length); };
  return {clip(start.value_or(0)), clip(stop.value_or(length))};
}

void slice_text(std::string_view text, std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step, std::string& out) {
  const bool ascii = is_ascii(text);
  if (step == 1) {
    const auto [from, to] = clipped_bounds(ascii ? static_cast<int64_t>(text.size()) : code_point_count(text), start, stop);
    if (from >= to) return;
    const size_t begin = ascii ? static_cast<size_t>(from) : byte_offset(text, from);
    const size_t end = ascii ? static_cast<size_t>(to) : begin + byte_offset(text.substr(begin), to - from);
    out += text.substr(begin, end - begin);
    return;
  }
  const std::u32string points = decode(text);
  const auto length = static_cast<int64_t>(points.size());
  std::u32string picked;
  if (step > 0) {
    const auto [from, to] = clipped_bounds(length, start, stop);
    for (int64_t i = from; i < to; i += step) picked += points[static_cast<size_t>(i)];
  } else {
    const auto clip = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + length : v, -1, length - 1); };
    const int64_t from = start ? clip(*start) : length - 1, to = stop ? clip(*stop) : -1;
    for (int64_t i = from; i > to; i += step) picked += points[static_cast<size_t>(i)];
  }
  out += encode(picked);
}

void pad_text(std::string_view text, int64_t width, Side side, std::string_view fill, std::string& out) {
  const int64_t missing = width - code_point_count(text);
  if (missing <= 0) {
    out += text;
    return;
  }
  const int64_t left = side == Side::left ? missing : side == Side::right ? 0 : missing / 2 + (missing & width & 1);
  out += repeated(fill, left);
  out += text;
  out += repeated(fill, missing - left);
}

std::string normalized_text(std::string_view text, std::string_view form) {
  int options = UTF8PROC_STABLE;
  if (form != "NFC" && form != "NFD" && form != "NFKC" && form != "NFKD") throw Error("ValueError", "invalid normalization form");
  options |= form.ends_with("C") ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form.size() == 4) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &made, static_cast<utf8proc_option_t>(options));
  if (size < 0) throw Error("ValueError", utf8proc_errmsg(size));
  std::string result(reinterpret_cast<const char*>(made), static_cast<size_t>(size));
  std::free(made);
  return result;
}

void zero_fill(std::string_view text, int64_t width, std::string& out) {
  const int64_t missing = width - code_point_count(text);
  if (missing > 0 && !text.empty() && (text[0] == '-' || text[0] == '+')) {
    out += text[0];
    text.remove_prefix(1);
  }
  if (missing > 0) out.append(static_cast<size_t>(missing), '0');
  out += text;
}

std::string_view strip_text(std::string_view text, Side side, const std::optional<std::u32string>& characters) {
  const auto goes = [&](char32_t c) { return characters ? characters->find(c) != std::u32string::npos : is_space(c); };
  if (side != Side::right) {
    while (!text.empty()) {
      const CodePoint c = decode_utf8(text, 0);
      if (!goes(c.value)) break;
      text.remove_prefix(static_cast<size_t>(c.length));
    }
  }
  if (side != Side::left) {
    while (!text.empty()) {
      size_t begin = text.size() - 1;
      while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
      if (!goes(decode_utf8(text, begin).value)) break;
      text = text.substr(0, begin);
    }
  }
  return text;
}

int64_t find_text(std::string_view text, std::string_view part, bool from_right, int64_t start, std::optional<int64_t> stop) {
  const bool ascii = is_ascii(text);
  const int64_t length = ascii ? static_cast<int64_t>(text.size()) : code_point_count(text);
  if (start > length) return -1;
  const auto [from, to] = clipped_bounds(length, start, stop);
  if (from > to) return -1;
  const size_t begin = ascii ? static_cast<size_t>(from) : byte_offset(text, from);
  const size_t end = ascii ? static_cast<size_t>(to) : byte_offset(text, to);
  const std::string_view inside = text.substr(begin, end - begin);
  const size_t found = from_right ? inside.rfind(part) : inside.find(part);
  if (found == inside.npos) return -1;
  return from + (ascii ? static_cast<int64_t>(found) : code_point_count(inside.substr(0, found)));
}

void split_text(std::string_view text, const std::optional<std::string>& separator, int64_t most, bool from_right,
                std::vector<std::optional<std::string>>& parts) {
  const auto limit = most < 0 ? SIZE_MAX : static_cast<size_t>(most);
  if (!separator) {
    const std::vector<std::string_view> words = words_of(text);
    if (words.size() <= limit || words.empty()) {
      for (const std::string_view w : words) parts.emplace_back(w);
      return;
    }
    const char* const begin = text.data();
    if (from_right) {
      const std::string_view first = words[words.size() - limit - 1];
      parts.emplace_back(text.substr(0, static_cast<size_t>(first.data() + first.size() - begin)));
      for (size_t i = words.size() - limit; i < words.size(); ++i) parts.emplace_back(words[i]);
    } else {
      for (size_t i = 0; i < limit; ++i) parts.emplace_back(words[i]);
      parts.emplace_back(text.substr(static_cast<size_t>(words[limit].data() - begin)));
    }
    return;
  }
  const std::string& by = *separator;
  if (from_right) {
    std::vector<std::string_view> reversed;
    while (reversed.size() < limit) {
      const size_t at = text.rfind(by);
      if (at == text.npos) break;
      reversed.push_back(text.substr(at + by.size()));
      text = text.substr(0, at);
    }
    parts.emplace_back(text);
    for (auto i = reversed.rbegin(); i != reversed.rend(); ++i) parts.emplace_back(*i);
    return;
  }
  for (size_t splits = 0; splits < limit; ++splits) {
    const size_t at = text.find(by);
    if (at == text.npos) break;
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + by.size());
  }
  parts.emplace_back(text);
}

void split_text(std::string_view text, Regex::Matcher& match, int64_t most, int groups, std::vector<std::optional<std::string>>& parts) {
  size_t from = 0;
  int64_t splits = 0;
  match.each(text, [&] {
    if (most >= 0 && splits >= most) return false;
    parts.emplace_back(text.substr(from, match.begin() - from));
    for (int g = 1; g <= groups; ++g) {
      const auto group = match.group(g);
      parts.push_back(group ? std::optional<std::string>(*group) : std::nullopt);
    }
    from = match.end();
    ++splits;
    return true;
  });
  parts.emplace_back(text.substr(from));
}

void replace_text(std::string_view text, std::string_view old, std::string_view with, int64_t count, std::string& out) {
  int64_t left = count < 0 ? INT64_MAX : count;
  if (old.empty()) {
    for (size_t i = 0;;) {
      if (left-- > 0) out += with;
      if (i >= text.size()) return;
      const auto length = static_cast<size_t>(decode_utf8(text, i).length);
      out += text.substr(i, length);
      i += length;
    }
  }
  while (left-- > 0) {
    const size_t at = text.find(old);
    if (at == text.npos) break;
    out += text.substr(0, at);
    out += with;
    text.remove_prefix(at + old.size());
  }
  out += text;
}

void replace_matches(std::string_view text, Regex::Matcher& match, const RegexTemplate& with, int64_t count, std::string& out) {
  size_t from = 0;
  int64_t left = count < 0 ? INT64_MAX : count;
  match.each(text, [&] {
    if (left-- <= 0) return false;
    out += text.substr(from, match.begin() - from);
    with.expand(match, out);
    from = match.end();
    return true;
  });
  out += text.substr(from);
}

std::string wrap_text(std::string_view text, int64_t width) {
  // As textwrap does it: white space becomes blanks (tabs eight columns wide), then chunks of blanks and of words, which may break behind
  // hyphens, are put into lines.
  std::u32string expanded;
  int64_t column = 0;
  for (const char32_t c : decode(text)) {
    if (c == U'\t') {
      do expanded += U' ', ++column;
      while (column % 8 != 0);
      continue;
    }
    const bool line = c == U'\n' || c == U'\r';
    column = line ? 0 : column + 1;
    expanded += line || c == U'\v' || c == U'\f' ? U' ' : c;
  }
  std::vector<std::u32string> chunks;
  for (const char32_t c : expanded) {
    const bool blank = c == U' ';
    const auto letter = [](char32_t l) { return is_alpha(l) || l == U'_'; };
    if (chunks.empty() || (chunks.back()[0] == U' ') != blank) {
      chunks.emplace_back(1, c);
      continue;
    }
    std::u32string& last = chunks.back();
    const bool hyphen =
        last.size() > 2 && last.back() == U'-' && letter(last[last.size() - 2]) && letter(last[last.size() - 3]) && letter(c);
    if (!blank && hyphen)
      chunks.emplace_back(1, c);
    else
      last += c;
  }
  std::reverse(chunks.begin(), chunks.end());
  std::vector<std::u32string> lines;
  const auto most = static_cast<size_t>(std::max<int64_t>(width, 1));
  while (!chunks.empty()) {
    std::vector<std::u32string> line;
    size_t length = 0;
    if (chunks.back()[0] == U' ' && !lines.empty()) chunks.pop_back();
    while (!chunks.empty() && length + chunks.back().size() <= most) {
      length += chunks.back().size();
      line.push_back(std::move(chunks.back()));
      chunks.pop_back();
    }
    if (!chunks.empty() && chunks.back().size() > most) {
      const size_t room = std::max<size_t>(most - length, 1);
      line.push_back(chunks.back().substr(0, room));
      chunks.back().erase(0, room);
    }
    if (!line.empty() && line.back()[0] == U' ') line.pop_back();
    if (line.empty()) continue;
    std::u32string joined;
    for (const std::u32string& chunk : line) joined += chunk;
    lines.push_back(std::move(joined));
  }
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) out += (i ? "\n" : "") + encode(lines[i]);
  return out;
}

std::function<bool(std::string_view)> text_class(std::string_view name) {
  const auto all = [](bool (*is)(char32_t)) {
    return [is](std::string_view text) {
      for (size_t i = 0; i < text.size();) {
        const CodePoint c = decode_utf8(text, i);
        if (!is(c.value)) return false;
        i += static_cast<size_t>(c.length);
      }
      return !text.empty();
    };
  };
  if (name == "alpha") return all(&is_alpha);
  if (name == "digit") return all(&is_digit_like);
  if (name == "numeric") return all(&is_numeric);
  if (name == "decimal") return all(&is_decimal);
  if (name == "space") return all(&is_space);
  if (name == "alnum") return all([](char32_t c) { return is_alpha(c) || is_decimal(c) || is_digit_like(c) || is_numeric(c); });
  if (name == "upper" || name == "lower") {
    const bool upper = name == "upper";
    return [upper](std::string_view text) {
      bool any = false;
      for (const char32_t c : decode(text)) {
        if (is_title(c) || (upper ? is_lower(c) : is_upper(c))) return false;
        any |= upper ? is_upper(c) : is_lower(c);
      }
      return any;
    };
  }
  return [](std::string_view text) {  // title
    bool any = false, inside = false;
    for (const char32_t c : decode(text)) {
      if (is_upper(c) || is_title(c)) {
        if (inside) return false;
        inside = any = true;
      } else if (is_lower(c)) {
        if (!inside) return false;
      } else {
        inside = false;
      }
    }
    return any;
  };
}

std::optional<TextNumber> number_of_text(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  if (text.empty()) return {};
  const bool plus = text[0] == '+';
  const std::string_view number = plus ? text.substr(1) : text;
  if (number.empty() || (plus && number[0] == '-')) return {};
  const char* const end = number.data() + number.size();
  int64_t integer = 0;
  if (const auto whole = std::from_chars(number.data(), end, integer); whole.ec == std::errc() && whole.ptr == end)
    return TextNumber{true, integer, static_cast<double>(integer)};
  double real = 0;
  const auto parsed = fast_float::from_chars(number.data(), end, real);
  if (parsed.ec != std::errc() && parsed.ec != std::errc::result_out_of_range) return {};
  if (parsed.ptr != end) return {};
  // "nan" is no number here, "inf" and "infinity" are.
  if (real != real) return {};
  return TextNumber{false, 0, real};
}

}  // namespace gasell::frame
