// bytes and bytearray: finding, counting, splitting, joining, replacing.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/bytes.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/objects.h"
#include "runtime/session/text_search.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

const BytesLike& self_of(Args args) { return *args[0].as<BytesLike>(); }

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// What find() looks for: bytes, or an int that is one byte.
std::string part_of(Interpreter& in, const Value& v) {
  if (const auto* b = v.as<BytesLike>()) return b->value;
  if (v.is_int() || v.is_bool()) return std::string(1, byte_of(in, v));
  raise("TypeError", "argument should be integer or bytes-like object, not '" + type_of(v).name + "'");
}

/// The part [start, end) of self that args[2] and args[3] name; nullopt when start lies beyond the end.
struct Window {
  std::string_view bytes;
  int64_t start;
};
std::optional<Window> window(Interpreter& in, Args args) {
  const std::string_view s = self_of(args).value;
  const auto size = static_cast<int64_t>(s.size());
  const auto bound = [&](const Value& v, int64_t otherwise) {
    if (v.is_none()) return otherwise;
    const int64_t i = to_index(in, v);
    return i < 0 ? std::max<int64_t>(0, i + size) : i;
  };
  const int64_t start = bound(args[2], 0), end = std::min(size, bound(args[3], size));
  if (start > end) return {};
  return Window{s.substr(static_cast<size_t>(start), static_cast<size_t>(end - start)), start};
}

int64_t find(Interpreter& in, Args args, bool last) {
  const std::string part = part_of(in, args[1]);
  const auto w = window(in, args);
  if (!w) return -1;
  const size_t at = last ? w->bytes.rfind(part) : find_text(w->bytes, part);
  return at == w->bytes.npos ? -1 : w->start + static_cast<int64_t>(at);
}

Value found(int64_t at) {
  if (at < 0) raise("ValueError", "subsection not found");
  return Value::of(at);
}

Value count(Interpreter& in, Args args) {
  const std::string part = part_of(in, args[1]);
  const auto w = window(in, args);
  if (!w) return Value::of(0);
  if (part.empty()) return Value::of(static_cast<int64_t>(w->bytes.size()) + 1);
  int64_t n = 0;
  for (size_t at = 0; (at = find_text(w->bytes, part, at)) != w->bytes.npos; at += part.size()) ++n;
  return Value::of(n);
}

Value has_affix(Interpreter& in, Args args, const char* name, bool at_end) {
  std::vector<std::string_view> wanted;
  if (const auto* t = args[1].as<Tuple>()) {
    for (const Value& v : t->items) wanted.push_back(need_bytes(v));
  } else if (args[1].as<BytesLike>()) {
    wanted.push_back(need_bytes(args[1]));
  } else {
    raise("TypeError", fmt::format("{} first arg must be bytes or a tuple of bytes, not {}", name, type_of(args[1]).name));
  }
  const auto w = window(in, args);
  return Value::of(w && std::any_of(wanted.begin(), wanted.end(),
                                    [&](std::string_view a) { return at_end ? w->bytes.ends_with(a) : w->bytes.starts_with(a); }));
}

Value pieces(const BytesLike& self, const std::vector<std::string_view>& parts) {
  std::vector<Value> out;
  out.reserve(parts.size());
  for (const std::string_view p : parts) out.push_back(self.like(std::string(p)));
  return make_list(std::move(out));
}

Value split(Interpreter& in, Args args, bool from_right) {
  std::string_view s = self_of(args).value;
  int64_t left = to_index(in, args[2]);
  if (left < 0) left = INT64_MAX;
  std::vector<std::string_view> parts;
  const auto strip = [&] {
    if (!from_right)
      while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
    else
      while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  };
  if (args[1].is_none()) {
    for (strip(); !s.empty(); strip()) {
      if (left-- == 0) {
        parts.push_back(s);
        break;
      }
      size_t size = 0;
      while (size < s.size() && !is_blank(from_right ? s[s.size() - 1 - size] : s[size])) ++size;
      parts.push_back(from_right ? s.substr(s.size() - size) : s.substr(0, size));
      from_right ? s.remove_suffix(size) : s.remove_prefix(size);
    }
  } else {
    const std::string_view sep = need_bytes(args[1]);
    if (sep.empty()) raise("ValueError", "empty separator");
    for (size_t at; left-- > 0 && (at = from_right ? s.rfind(sep) : find_text(s, sep)) != s.npos;) {
      parts.push_back(from_right ? s.substr(at + sep.size()) : s.substr(0, at));
      s = from_right ? s.substr(0, at) : s.substr(at + sep.size());
    }
    parts.push_back(s);
  }
  if (from_right) std::reverse(parts.begin(), parts.end());
  return pieces(self_of(args), parts);
}

Value split_lines(Interpreter& in, Args args) {
  const std::string_view s = self_of(args).value;
  const bool keep = truth(in, args[1]);
  std::vector<std::string_view> parts;
  for (size_t start = 0; start < s.size();) {
    const size_t line_end = std::min(s.find_first_of("\r\n", start), s.size());
    size_t next = std::min(line_end + 1, s.size());
    if (line_end < s.size() && s[line_end] == '\r' && next < s.size() && s[next] == '\n') ++next;
    parts.push_back(s.substr(start, (keep ? next : line_end) - start));
    start = next;
  }
  return pieces(self_of(args), parts);
}

Value partition(Args args, bool last) {
  const BytesLike& self = self_of(args);
  const std::string_view s = self.value, sep = need_bytes(args[1]);
  if (sep.empty()) raise("ValueError", "empty separator");
  const size_t at = last ? s.rfind(sep) : find_text(s, sep);
  const Value empty = self.like(""), whole = self.like(self.value);
  if (at == s.npos) return last ? make_tuple({empty, empty, whole}) : make_tuple({whole, empty, empty});
  return make_tuple(
      {self.like(std::string(s.substr(0, at))), self.like(std::string(sep)), self.like(std::string(s.substr(at + sep.size())))});
}

Value join(Interpreter& in, Args args) {
  const BytesLike& self = self_of(args);
  if (!args[1].is_object()) raise("TypeError", "can only join an iterable");
  std::string out;
  int64_t i = 0;
  const Value items = iterate(in, args[1]);
  while (const auto v = next(in, items)) {
    const auto* b = v->as<BytesLike>();
    if (!b) raise("TypeError", fmt::format("sequence item {}: expected a bytes-like object, {} found", i, type_of(*v).name));
    if (i++ > 0) out += self.value;
    out += b->value;
  }
  return self.like(std::move(out));
}

Value replace(Interpreter& in, Args args) {
  const BytesLike& self = self_of(args);
  const std::string_view s = self.value, old = need_bytes(args[1]), with = need_bytes(args[2]);
  int64_t left = to_index(in, args[3]);
  if (left < 0) left = INT64_MAX;
  std::string out;
  size_t at = 0;
  if (old.empty()) {
    for (; left-- > 0; ++at) {
      out += with;
      if (at == s.size()) break;
      out += s[at];
    }
    if (at < s.size()) out += s.substr(at);
    return self.like(std::move(out));
  }
  for (size_t hit; left-- > 0 && (hit = find_text(s, old, at)) != s.npos; at = hit + old.size()) {
    poll(in);
    out += s.substr(at, hit - at);
    out += with;
  }
  out += s.substr(at);
  return self.like(std::move(out));
}

Value strip(Args args, bool left, bool right) {
  std::string_view s = self_of(args).value;
  const std::string_view set = args[1].is_none() ? std::string_view(" \t\n\r\v\f") : need_bytes(args[1]);
  while (left && !s.empty() && set.find(s.front()) != set.npos) s.remove_prefix(1);
  while (right && !s.empty() && set.find(s.back()) != set.npos) s.remove_suffix(1);
  return self_of(args).like(std::string(s));
}

Value translate(Interpreter&, Args args) {
  const std::string_view table = args[1].is_none() ? std::string_view() : need_bytes(args[1]),
                         drop = is_missing(args[2]) ? std::string_view() : need_bytes(args[2]);
  if (!args[1].is_none() && table.size() != 256) raise("ValueError", "translation table must be 256 characters long");
  std::string out;
  for (const char c : self_of(args).value)
    if (drop.find(c) == drop.npos) out += table.empty() ? c : table[static_cast<unsigned char>(c)];
  return self_of(args).like(std::move(out));
}

}  // namespace

std::vector<NativeFunction> bytes_search_methods() {
  constexpr const char* kWindow = "self, sub, start=None, end=None, /";
  return {
      {"find", kWindow, [](Interpreter& in, Args a) { return Value::of(find(in, a, false)); },
       "Lowest index of some bytes, -1 when there is none."},
      {"rfind", kWindow, [](Interpreter& in, Args a) { return Value::of(find(in, a, true)); },
       "Highest index of some bytes, -1 when there is none."},
      {"index", kWindow, [](Interpreter& in, Args a) { return found(find(in, a, false)); }, "As find; ValueError when there is none."},
      {"rindex", kWindow, [](Interpreter& in, Args a) { return found(find(in, a, true)); }, "As rfind; ValueError when there is none."},
      {"count", kWindow, count, "How often some bytes occur, without overlap."},
      {"startswith", "self, prefix, start=None, end=None, /", [](Interpreter& in, Args a) { return has_affix(in, a, "startswith", false); },
       "Whether it starts with a prefix, or one of a tuple of prefixes."},
      {"endswith", "self, suffix, start=None, end=None, /", [](Interpreter& in, Args a) { return has_affix(in, a, "endswith", true); },
       "Whether it ends with a suffix, or one of a tuple of suffixes."},
      {"split", "self, sep=None, maxsplit=-1", [](Interpreter& in, Args a) { return split(in, a, false); },
       "Parts between separators, as a list."},
      {"rsplit", "self, sep=None, maxsplit=-1", [](Interpreter& in, Args a) { return split(in, a, true); },
       "As split, counting maxsplit from the right."},
      {"splitlines", "self, keepends=False", split_lines, "Lines, as a list."},
      {"partition", "self, sep, /", [](Interpreter&, Args a) { return partition(a, false); },
       "(before, sep, after) of the first separator."},
      {"rpartition", "self, sep, /", [](Interpreter&, Args a) { return partition(a, true); },
       "(before, sep, after) of the last separator."},
      {"join", "self, iterable_of_bytes, /", join, "The bytes of an iterable with these between them."},
      {"replace", "self, old, new, count=-1, /", replace, "A copy with occurrences of old replaced by new."},
      {"strip", "self, bytes=None, /", [](Interpreter&, Args a) { return strip(a, true, true); },
       "Without blanks, or those bytes, at both ends."},
      {"lstrip", "self, bytes=None, /", [](Interpreter&, Args a) { return strip(a, true, false); }, "As strip, at the left end."},
      {"rstrip", "self, bytes=None, /", [](Interpreter&, Args a) { return strip(a, false, true); }, "As strip, at the right end."},
      {"removeprefix", "self, prefix, /",
       [](Interpreter&, Args a) {
         const std::string_view s = self_of(a).value, p = need_bytes(a[1]);
         return self_of(a).like(std::string(s.starts_with(p) ? s.substr(p.size()) : s));
       },
       "Without that prefix, where it is there."},
      {"removesuffix", "self, suffix, /",
       [](Interpreter&, Args a) {
         const std::string_view s = self_of(a).value, p = need_bytes(a[1]);
         return self_of(a).like(std::string(s.ends_with(p) ? s.substr(0, s.size() - p.size()) : s));
       },
       "Without that suffix, where it is there."},
      {"translate", "self, table, /, delete=missing", translate, "Each byte replaced through a table of 256, without those to delete."},
  };
}

}  // namespace gasell
