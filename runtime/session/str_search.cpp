// str: finding, counting, splitting, joining, replacing.
#include <algorithm>

#include "runtime/session/dict.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/str.h"
#include "runtime/session/str_text.h"
#include "runtime/session/text_search.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

const Str& self_of(Args args) { return *args[0].as<Str>(); }

/// The part [start, end) of self that args[2] and args[3] name; nullopt when start lies beyond the end.
struct Window {
  std::string_view text;
  int64_t start;
};
std::optional<Window> window(Interpreter& in, Args args) {
  const Str& s = self_of(args);
  const int64_t size = s.size();
  // A start beyond the end finds nothing, not even the empty string: it must not be clipped.
  const auto bound = [&](const Value& v, int64_t otherwise) {
    if (v.is_none()) return otherwise;
    std::optional<int64_t> i;
    if (v.is_int() || v.is_bool()) {
      i = v.as_int();
    } else if (v.is_object()) {
      i = v.object()->to_index(in);
    }
    if (!i) raise("TypeError", "slice indices must be integers or None or have an __index__ method");
    return *i < 0 ? std::max<int64_t>(0, *i + size) : *i;
  };
  const int64_t start = bound(args[2], 0), end = std::min(size, bound(args[3], size));
  if (start > end) return std::nullopt;
  return Window{code_points(s, start, end), start};
}

/// The next place from `at` on of a text that is not empty. Long texts are searched and copied piece by piece, so that Ctrl-C is seen.
constexpr size_t kPiece = 1 << 24;
size_t find_in_pieces(Interpreter& in, std::string_view s, std::string_view sub, size_t at) {
  for (; at < s.size(); at += kPiece, poll_now(in)) {
    const size_t hit = find_text(s.substr(at, kPiece + sub.size() - 1), sub);
    if (hit != s.npos) return at + hit;
  }
  return s.npos;
}
void append_in_pieces(Interpreter& in, std::string& out, std::string_view s) {
  for (; s.size() > kPiece; s.remove_prefix(kPiece), poll_now(in)) out += s.substr(0, kPiece);
  out += s;
}

int64_t find(Interpreter& in, Args args, bool last) {
  const std::string_view sub = need_str(args[1], "must be str, not ");
  const auto w = window(in, args);
  if (!w) return -1;
  const size_t at = last || sub.empty() ? (last ? w->text.rfind(sub) : 0) : find_in_pieces(in, w->text, sub, 0);
  if (at == w->text.npos) return -1;
  return w->start + (self_of(args).ascii() ? static_cast<int64_t>(at) : code_point_count(w->text.substr(0, at)));
}

Value found(int64_t at) {
  if (at < 0) raise("ValueError", "substring not found");
  return Value::of(at);
}

int64_t count(Interpreter& in, std::string_view text, std::string_view sub) {
  if (sub.empty()) return code_point_count(text) + 1;
  int64_t n = 0;
  for (size_t at = 0; (at = find_in_pieces(in, text, sub, at)) != text.npos; at += sub.size()) {
    poll(in);
    ++n;
  }
  return n;
}

Value has_affix(Interpreter& in, Args args, const char* name, bool (*test)(std::string_view, std::string_view)) {
  const auto w = window(in, args);
  if (const auto* affix = args[1].as<Str>()) return Value::of(w && test(w->text, affix->value));
  const auto* several = args[1].as<Tuple>();
  if (!several) raise("TypeError", std::string(name) + " first arg must be str or a tuple of str, not " + type_of(args[1]).name);
  for (const Value& v : several->items) {
    const auto* affix = v.as<Str>();
    if (!affix) raise("TypeError", std::string("tuple for ") + name + " must only contain str, not " + type_of(v).name);
    if (w && test(w->text, affix->value)) return Value::of(true);
  }
  return Value::of(false);
}

/// A list of texts that grows.
class TextList {
 public:
  explicit TextList(Interpreter& in) : in_(in) {}
  void add(std::string_view part) {
    poll(in_);
    items_.push_back(make_str(std::string(part)));
  }
  Value done() { return make_list(std::move(items_)); }
  Value reversed() {
    std::reverse(items_.begin(), items_.end());
    return done();
  }

 private:
  Interpreter& in_;
  std::vector<Value> items_;
};

size_t first_size(std::string_view s) { return static_cast<unsigned char>(s[0]) < 0x80 ? 1 : byte_offset(s, 1); }
size_t space_size(std::string_view s) {
  if (static_cast<unsigned char>(s[0]) < 0x80) return is_space(static_cast<unsigned char>(s[0])) ? 1 : 0;
  const size_t n = first_size(s);
  return is_space(decode(s.substr(0, n)).front()) ? n : 0;
}
size_t last_size(std::string_view s) {
  size_t n = 1;
  while (n < s.size() && (s[s.size() - n] & 0xC0) == 0x80) ++n;
  return n;
}
size_t space_size_at_end(std::string_view s) {
  const size_t n = last_size(s);
  return space_size(s.substr(s.size() - n)) == n ? n : 0;
}

std::string_view strip_spaces_left(std::string_view s) {
  while (!s.empty()) {
    const size_t n = space_size(s);
    if (n == 0) break;
    s.remove_prefix(n);
  }
  return s;
}
/// Bytes up to the first white space.
size_t word_size(std::string_view s) {
  size_t end = 0;
  while (end < s.size()) {
    const auto c = static_cast<unsigned char>(s[end]);
    if (c < 0x80 ? is_space(c) : space_size(s.substr(end)) != 0) break;
    end += c < 0x80 ? 1 : first_size(s.substr(end));
  }
  return end;
}
std::string_view strip_spaces_right(std::string_view s) {
  while (!s.empty()) {
    const size_t n = space_size_at_end(s);
    if (n == 0) break;
    s.remove_suffix(n);
  }
  return s;
}

Value split(Interpreter& in, Args args, bool from_right) {
  std::string_view s = self_of(args).value;
  int64_t left = to_index(in, args[2]);
  if (left < 0) left = INT64_MAX;
  TextList parts(in);
  if (args[1].is_none()) {
    if (!from_right) {
      for (s = strip_spaces_left(s); !s.empty(); s = strip_spaces_left(s)) {
        if (left-- == 0) {
          parts.add(s);
          break;
        }
        const size_t end = word_size(s);
        parts.add(s.substr(0, end));
        s.remove_prefix(end);
      }
      return parts.done();
    }
    for (s = strip_spaces_right(s); !s.empty(); s = strip_spaces_right(s)) {
      if (left-- == 0) {
        parts.add(s);
        break;
      }
      size_t begin = s.size();
      while (begin > 0 && space_size_at_end(s.substr(0, begin)) == 0) begin -= last_size(s.substr(0, begin));
      parts.add(s.substr(begin));
      s = s.substr(0, begin);
    }
    return parts.reversed();
  }
  const std::string_view sep = need_str(args[1], "must be str or None, not ");
  if (sep.empty()) raise("ValueError", "empty separator");
  if (!from_right) {
    for (size_t at; left-- > 0 && (at = find_text(s, sep)) != s.npos; s.remove_prefix(at + sep.size())) {
      poll(in);
      parts.add(s.substr(0, at));
    }
    parts.add(s);
    return parts.done();
  }
  for (size_t at; left-- > 0 && (at = s.rfind(sep)) != s.npos; s = s.substr(0, at)) parts.add(s.substr(at + sep.size()));
  parts.add(s);
  return parts.reversed();
}

Value partition(Args args, bool last) {
  const std::string_view s = self_of(args).value, sep = need_str(args[1], "must be str, not ");
  if (sep.empty()) raise("ValueError", "empty separator");
  const size_t at = last ? s.rfind(sep) : find_text(s, sep);
  const Value empty = make_str("");
  if (at == s.npos) return last ? make_tuple({empty, empty, args[0]}) : make_tuple({args[0], empty, empty});
  return make_tuple({make_str(std::string(s.substr(0, at))), args[1], make_str(std::string(s.substr(at + sep.size())))});
}

Value split_lines(Interpreter& in, Args args) {
  const std::string_view s = self_of(args).value;
  const bool keep = truth(in, args[1]);
  TextList parts(in);
  size_t start = 0;
  for (size_t at = 0; at < s.size();) {
    const size_t size = byte_offset(s.substr(at), 1);
    const char32_t c = size == 1 ? static_cast<unsigned char>(s[at]) : decode(s.substr(at, size)).front();
    const size_t line_end = at;
    at += size;
    if (!is_line_break(c)) continue;
    if (c == '\r' && at < s.size() && s[at] == '\n') ++at;
    parts.add(s.substr(start, (keep ? at : line_end) - start));
    start = at;
  }
  if (start < s.size()) parts.add(s.substr(start));
  return parts.done();
}

Value join(Interpreter& in, Args args) {
  const std::string& sep = self_of(args).value;
  std::vector<Value> items;
  const auto* list = args[1].as<List>();
  if (!list) {
    Value iterator;
    try {
      iterator = iterate(in, args[1]);
    } catch (const Raised&) {
      raise("TypeError", "can only join an iterable");
    }
    require_items(in, iterator);
    while (auto v = next(in, iterator)) items.push_back(std::move(*v));
  }
  const std::vector<Value>& parts = list ? list->items : items;
  size_t size = parts.empty() ? 0 : sep.size() * (parts.size() - 1);
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto* s = parts[i].as<Str>();
    if (!s) raise("TypeError", "sequence item " + std::to_string(i) + ": expected str instance, " + type_of(parts[i]).name + " found");
    size += s->value.size();
  }
  std::string out;
  out.reserve(size);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) out += sep;
    out += static_cast<const Str*>(parts[i].object())->value;
  }
  return make_str(std::move(out));
}

Value replace(Interpreter& in, Args args) {
  const std::string_view s = self_of(args).value;
  const std::string_view old = need_str(args[1], "replace() argument 1 must be str, not "),
                         with = need_str(args[2], "replace() argument 2 must be str, not ");
  int64_t left = to_index(in, args[3]);
  if (left < 0) left = INT64_MAX;
  std::string out;
  size_t at = 0;
  if (old.empty()) {
    for (; left-- > 0; at += byte_offset(s.substr(at), 1)) {
      poll(in);
      out += with;
      if (at == s.size()) break;
      out += s.substr(at, byte_offset(s.substr(at), 1));
    }
    if (at < s.size()) append_in_pieces(in, out, s.substr(at));
    return make_str(std::move(out));
  }
  if (old.size() >= with.size()) out.reserve(s.size());
  for (size_t hit; left-- > 0 && (hit = find_in_pieces(in, s, old, at)) != s.npos; at = hit + old.size()) {
    poll(in);
    append_in_pieces(in, out, s.substr(at, hit - at));
    out += with;
  }
  append_in_pieces(in, out, s.substr(at));
  return make_str(std::move(out));
}

Value strip(Args args, const char* name, bool left, bool right) {
  std::string_view s = self_of(args).value;
  if (args[1].is_none()) {
    if (left) s = strip_spaces_left(s);
    if (right) s = strip_spaces_right(s);
    return make_str(std::string(s));
  }
  if (!args[1].as<Str>()) raise("TypeError", std::string(name) + " arg must be None or str");
  const std::u32string set = decode(args[1].as<Str>()->value), codes = decode(s);
  size_t begin = 0, end = codes.size();
  while (left && begin < end && set.find(codes[begin]) != set.npos) ++begin;
  while (right && end > begin && set.find(codes[end - 1]) != set.npos) --end;
  return make_str(encode(std::u32string_view(codes).substr(begin, end - begin)));
}

Value translate(Interpreter& in, Args args) {
  std::string out;
  for (const char32_t c : decode(self_of(args).value)) {
    Value mapped;
    try {
      mapped = get_item(in, args[1], Value::of(static_cast<int64_t>(c)));
    } catch (const Raised& e) {
      if (!is_instance(e.value, *exception_type("LookupError"))) throw;
      append_utf8(out, c);
      continue;
    }
    if (mapped.is_none()) continue;
    if (const auto* s = mapped.as<Str>()) {
      out += s->value;
    } else if (mapped.is_int()) {
      if (mapped.as_int() < 0 || mapped.as_int() > 0x10FFFF) raise("ValueError", "character mapping must be in range(0x110000)");
      append_utf8(out, static_cast<char32_t>(mapped.as_int()));
    } else {
      raise("TypeError", "character mapping must return integer, None or str");
    }
  }
  return make_str(std::move(out));
}

Value make_translation(Interpreter& in, Args args) {
  Value table = make_dict();
  auto& d = *table.as<Dict>();
  const auto code = [](char32_t c) { return Value::of(static_cast<int64_t>(c)); };
  if (is_missing(args[1])) {
    const auto* from = args[0].as<Dict>();
    if (!from) raise("TypeError", "if you give only one argument to maketrans it must be a dict");
    for (const auto& e : from->entries()) {
      if (e.key.is_absent()) continue;
      if (const auto* s = e.key.as<Str>()) {
        const std::u32string c = decode(s->value);
        if (c.size() != 1) raise("ValueError", "string keys in translate table must be of length 1");
        d.insert(in, code(c[0]), e.value);
      } else if (e.key.is_int()) {
        d.insert(in, e.key, e.value);
      } else {
        raise("TypeError", "keys in translate table must be strings or integers");
      }
    }
    return table;
  }
  if (!args[0].as<Str>()) raise("TypeError", "first maketrans argument must be a string if there is a second argument");
  const std::u32string from = decode(args[0].as<Str>()->value), to = decode(need_str(args[1], "maketrans() argument 2 must be str, not "));
  if (from.size() != to.size()) raise("ValueError", "the first two maketrans arguments must have equal length");
  for (size_t i = 0; i < from.size(); ++i) d.insert(in, code(from[i]), code(to[i]));
  if (!is_missing(args[2])) {
    for (const char32_t c : decode(need_str(args[2], "maketrans() argument 3 must be str, not "))) d.insert(in, code(c), Value());
  }
  return table;
}

bool starts_with(std::string_view s, std::string_view a) { return s.starts_with(a); }
bool ends_with(std::string_view s, std::string_view a) { return s.ends_with(a); }

}  // namespace

std::vector<NativeFunction> str_search_methods() {
  constexpr const char* kWindow = "self, sub, start=None, end=None, /";
  return {
      {"find", kWindow, [](Interpreter& in, Args a) { return Value::of(find(in, a, false)); },
       "Lowest index of a substring, -1 when there is none."},
      {"rfind", kWindow, [](Interpreter& in, Args a) { return Value::of(find(in, a, true)); },
       "Highest index of a substring, -1 when there is none."},
      {"index", kWindow, [](Interpreter& in, Args a) { return found(find(in, a, false)); }, "As find; ValueError when there is none."},
      {"rindex", kWindow, [](Interpreter& in, Args a) { return found(find(in, a, true)); }, "As rfind; ValueError when there is none."},
      {"count", kWindow,
       [](Interpreter& in, Args a) {
         const std::string_view sub = need_str(a[1], "must be str, not ");
         const auto w = window(in, a);
         return Value::of(w ? count(in, w->text, sub) : int64_t{0});
       },
       "How often a substring occurs, without overlap."},
      {"startswith", "self, prefix, start=None, end=None, /",
       [](Interpreter& in, Args a) { return has_affix(in, a, "startswith", starts_with); },
       "Whether it starts with a prefix, or one of a tuple of prefixes."},
      {"endswith", "self, suffix, start=None, end=None, /", [](Interpreter& in, Args a) { return has_affix(in, a, "endswith", ends_with); },
       "Whether it ends with a suffix, or one of a tuple of suffixes."},
      {"split", "self, sep=None, maxsplit=-1", [](Interpreter& in, Args a) { return split(in, a, false); },
       "Words between separators, as a list."},
      {"rsplit", "self, sep=None, maxsplit=-1", [](Interpreter& in, Args a) { return split(in, a, true); },
       "As split, counting maxsplit from the right."},
      {"splitlines", "self, keepends=False", split_lines, "Lines, as a list."},
      {"partition", "self, sep, /", [](Interpreter&, Args a) { return partition(a, false); },
       "(before, sep, after) of the first separator."},
      {"rpartition", "self, sep, /", [](Interpreter&, Args a) { return partition(a, true); },
       "(before, sep, after) of the last separator."},
      {"join", "self, iterable, /", join, "The strings of an iterable with this one between them."},
      {"replace", "self, old, new, count=-1, /", replace, "A copy with occurrences of old replaced by new."},
      {"strip", "self, chars=None, /", [](Interpreter&, Args a) { return strip(a, "strip", true, true); },
       "Without white space, or those characters, at both ends."},
      {"lstrip", "self, chars=None, /", [](Interpreter&, Args a) { return strip(a, "lstrip", true, false); }, "As strip, at the left end."},
      {"rstrip", "self, chars=None, /", [](Interpreter&, Args a) { return strip(a, "rstrip", false, true); },
       "As strip, at the right end."},
      {"removeprefix", "self, prefix, /",
       [](Interpreter&, Args a) {
         const std::string_view s = self_of(a).value, p = need_str(a[1], "removeprefix() argument must be str, not ");
         return s.starts_with(p) ? make_str(std::string(s.substr(p.size()))) : a[0];
       },
       "Without that prefix, where it is there."},
      {"removesuffix", "self, suffix, /",
       [](Interpreter&, Args a) {
         const std::string_view s = self_of(a).value, p = need_str(a[1], "removesuffix() argument must be str, not ");
         return s.ends_with(p) ? make_str(std::string(s.substr(0, s.size() - p.size()))) : a[0];
       },
       "Without that suffix, where it is there."},
      {"translate", "self, table, /", translate, "Each character replaced through a table of code points (str.maketrans)."},
      {"maketrans", "x, y=missing, z=missing, /", make_translation, "A table for translate."},
  };
}

}  // namespace gasell
