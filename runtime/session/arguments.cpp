#include "runtime/session/arguments.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <deque>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>

#include "lang/render.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"

namespace gasell {
namespace {

using Kind = Signature::Kind;

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

/// Splits at the commas outside brackets and quotes.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (!trim(text.substr(begin)).empty()) parts.push_back(trim(text.substr(begin)));
  return parts;
}

/// The value of a literal default; absent where the text is no literal.
Value literal(std::string_view text) {
  if (text == "None") return Value();
  if (text == "True") return Value::of(true);
  if (text == "False") return Value::of(false);
  if (text == "()") return make_tuple({}).immortal();
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front()) {
    std::string decoded;
    for (size_t i = 1; i + 1 < text.size(); ++i) {
      if (text[i] == '\\' && i + 2 < text.size()) {
        char c = text[++i];
        decoded += c == 'n' ? '\n' : c == 't' ? '\t' : c;
      } else {
        decoded += text[i];
      }
    }
    return make_str(decoded).immortal();
  }
  const char* end = text.data() + text.size();
  int64_t i = 0;
  if (auto [stop, error] = std::from_chars(text.data(), end, i); error == std::errc() && stop == end) return Value::of(i);
  double d = 0;
  if (auto [stop, error] = std::from_chars(text.data(), end, d); error == std::errc() && stop == end) return Value::of(d);
  return Value::absent();
}

Signature parse(const NativeFunction& function) {
  Signature result;
  bool keyword_only = false;
  for (std::string_view part : split(function.signature)) {
    if (part == "/") {
      for (Signature::Parameter& p : result.parameters) p.kind = Kind::positional_only;
      continue;
    }
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    Signature::Parameter p{"", keyword_only ? Kind::keyword_only : Kind::positional_or_keyword, true};
    Value default_value = Value::absent();
    if (part.starts_with("**")) {
      p.kind = Kind::var_keyword;
      part.remove_prefix(2);
    } else if (part.starts_with("*")) {
      p.kind = Kind::var_positional;
      part.remove_prefix(1);
      keyword_only = true;
    } else if (size_t equals = part.find('='); equals != part.npos) {
      p.required = false;
      default_value = literal(trim(part.substr(equals + 1)));
      part = trim(part.substr(0, equals));
    }
    ParameterRule rule = ParameterRule::read;
    if (size_t colon = part.find(':'); colon != part.npos) {
      const auto known = parameter_rule(trim(part.substr(colon + 1)));
      if (!known) throw std::logic_error("bad rule in the signature of " + function.name + ": " + function.signature);
      rule = *known;
      part = trim(part.substr(0, colon));
    }
    if (part.empty()) throw std::logic_error("bad signature of " + function.name + ": " + function.signature);
    p.name = part;
    p.rule = rule;
    if (result.parameters.empty() && !result.names_self && p.name == "self") {
      result.names_self = true;
      continue;
    }
    result.parameters.push_back(std::move(p));
    result.defaults.push_back(std::move(default_value));
  }
  index_parameters(result);
  return result;
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += names.size() == 2 ? " and " : i + 1 == names.size() ? ", and " : ", ";
    text += "'" + names[i] + "'";
  }
  return text;
}

/// The words of functions written in C, which take positional arguments alone.
[[noreturn]] void raise_native_count(const NativeFunction& function, const Signature& s, const Value* self, size_t given) {
  size_t least = static_cast<size_t>(s.required_positional), most = static_cast<size_t>(s.positional);
  std::string name = (self ? type_of(*self).name + "." : "") + function.name;
  if (s.var_positional < 0 && most == 0) raise("TypeError", fmt::format("{}() takes no arguments ({} given)", name, given));
  if (s.var_positional < 0 && most == 1 && least == 1) {
    raise("TypeError", fmt::format("{}() takes exactly one argument ({} given)", name, given));
  }
  bool few = given < least;
  size_t bound = few ? least : most;
  const char* how = least == most && s.var_positional < 0 ? "" : few ? "at least " : "at most ";
  raise("TypeError", fmt::format("{} expected {}{} argument{}, got {}", function.name, how, bound, bound == 1 ? "" : "s", given));
}

/// Values of parameters on the stack, for the usual small number of them.
struct Slots {
  explicit Slots(size_t n) : count(n) {
    if (count > few.size()) many.resize(count);
  }
  std::span<Value> span() { return count > few.size() ? std::span<Value>(many) : std::span<Value>(few.data(), count); }

  size_t count;
  std::array<Value, 8> few;
  std::vector<Value> many;
};

}  // namespace

void index_parameters(Signature& s) {
  s.positional = s.required_positional = 0;
  s.var_positional = s.var_keyword = -1;
  s.takes_keywords = s.ruled = false;
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    const Signature::Parameter& p = s.parameters[i];
    switch (p.kind) {
      case Kind::positional_only:
      case Kind::positional_or_keyword:
        ++s.positional;
        if (p.required) ++s.required_positional;
        break;
      case Kind::var_positional: s.var_positional = static_cast<int>(i); break;
      case Kind::var_keyword: s.var_keyword = static_cast<int>(i); break;
      case Kind::keyword_only: break;
    }
    if (p.kind != Kind::positional_only && p.kind != Kind::var_positional) s.takes_keywords = true;
    if (p.rule != ParameterRule::read && p.rule != ParameterRule::unused) s.ruled = true;
  }
}

namespace {

/// Whether a value is a literal default, in kind and value: False is not 0.
bool is_default(Interpreter& in, const Value& given, const Value& default_value) {
  if (given.same(default_value)) return true;
  return &type_of(given) == &type_of(default_value) && (given.as<Str>() || given.is_int() || given.is_float() || given.as<Tuple>()) &&
         equal(in, given, default_value);
}

}  // namespace

void check_rules(Interpreter& in, const Signature& s, std::string_view module, const std::string& name, std::span<const Value> given,
                 std::span<const Value> defaults) {
  const auto refuse = [&](const std::string& parameter, const Value& value) {
    const std::string owner = module.empty() ? "" : std::string(module) + ".";
    raise("NotImplementedError", fmt::format("{}{}({}={}) is not in Gasell", owner, name, parameter, repr(in, value)), "leave it out");
  };
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    const Signature::Parameter& p = s.parameters[i];
    if (p.rule == ParameterRule::read || p.rule == ParameterRule::unused || given[i].is_absent()) continue;
    if (p.kind == Kind::var_keyword) {
      for (const Dict::Entry& entry : given[i].as<Dict>()->entries())
        if (!entry.key.is_absent()) refuse(str(in, entry.key), entry.value);
      continue;
    }
    if (p.kind == Kind::var_positional) {
      const size_t extra = given[i].as<Tuple>()->items.size(), most = static_cast<size_t>(s.positional);
      if (extra) raise("TypeError", fmt::format("{}() takes {} positional arguments but {} were given", name, most, most + extra));
      continue;
    }
    if (is_default(in, given[i], defaults[i])) continue;
    if (p.rule == ParameterRule::rows) {
      const auto* word = given[i].as<Str>();
      if (word ? word->value == "index" || word->value == "rows" : given[i].is_none() || (given[i].is_int() && given[i].as_int() == 0))
        continue;
      const bool of_columns = word ? word->value == "columns" : given[i].is_int() && given[i].as_int() == 1;
      if (of_columns && module != "pandas.Series") refuse(p.name, given[i]);
      raise("ValueError", fmt::format("No axis named {} for object type {}", str(in, given[i]), module.substr(module.rfind('.') + 1)));
    }
    if (p.rule == ParameterRule::order) {
      const auto* order = given[i].as<Str>();
      if (given[i].is_none() ||
          (order && order->value.size() == 1 && std::string_view("CFAKcfak").find(order->value[0]) != std::string_view::npos))
        continue;
      if (!order) raise("TypeError", fmt::format("order must be str, not {}", type_of(given[i]).name));
      raise("ValueError", fmt::format("order must be one of 'C', 'F', 'A', or 'K' (got {})", repr(in, given[i])));
    }
    if (p.rule == ParameterRule::device) {
      if (given[i].is_none() || (given[i].as<Str>() && given[i].as<Str>()->value == "cpu")) continue;
      raise("ValueError", fmt::format("Device not understood. Only \"cpu\" is allowed, but received: {}", str(in, given[i])));
    }
    if (p.rule == ParameterRule::sort) {
      static constexpr std::string_view kKinds[] = {"quicksort", "mergesort", "heapsort", "stable", "quick", "merge", "heap"};
      const auto* kind = given[i].as<Str>();
      if (given[i].is_none() || (kind && std::find(std::begin(kKinds), std::end(kKinds), kind->value) != std::end(kKinds))) continue;
      raise("ValueError", fmt::format("sort kind must be one of 'quick', 'heap', or 'stable' (got {})", repr(in, given[i])));
    }
    refuse(p.name, given[i]);
  }
}

void bind_arguments(Interpreter& in, const Signature& s, const std::string& name, std::span<Value> positional,
                    std::span<const std::pair<std::string, Value>> keywords, std::span<Value> out) {
  for (size_t i = 0; i < s.parameters.size(); ++i) out[i] = Value::absent();
  size_t taken = std::min(positional.size(), static_cast<size_t>(s.positional));
  for (size_t i = 0; i < taken; ++i) out[i] = std::move(positional[i]);
  if (s.var_positional >= 0) {
    std::vector<Value> rest(std::make_move_iterator(positional.begin() + static_cast<ptrdiff_t>(taken)),
                            std::make_move_iterator(positional.end()));
    out[static_cast<size_t>(s.var_positional)] = make_tuple(std::move(rest));
  }
  Dict* extra = nullptr;
  if (s.var_keyword >= 0) {
    Value dict = make_dict();
    extra = dict.as<Dict>();
    out[static_cast<size_t>(s.var_keyword)] = std::move(dict);
  }
  std::vector<std::string> only_positional;
  size_t keyword_only_given = 0;
  for (const auto& [key, value] : keywords) {
    bool found = false;
    for (size_t i = 0; i < s.parameters.size(); ++i) {
      const Signature::Parameter& p = s.parameters[i];
      if (p.name != key || p.kind == Kind::var_positional || p.kind == Kind::var_keyword) continue;
      if (p.kind == Kind::positional_only) {
        if (!extra) only_positional.push_back(key);
        found = !extra;
        break;
      }
      if (!out[i].is_absent()) raise("TypeError", fmt::format("{}() got multiple values for argument '{}'", name, key));
      if (p.kind == Kind::keyword_only) ++keyword_only_given;
      out[i] = value;
      found = true;
      break;
    }
    if (found) continue;
    if (!extra) {
      std::vector<std::string> names;
      for (const Signature::Parameter& p : s.parameters)
        if (p.kind != Kind::positional_only) names.push_back(p.name);
      raise("TypeError", fmt::format("{}() got an unexpected keyword argument '{}'", name, key), near_hint(key, names));
    }
    if (extra->find(key)) raise("TypeError", fmt::format("{}() got multiple values for keyword argument '{}'", name, key));
    extra->insert(in, make_str(key), value);
  }
  if (!only_positional.empty()) {
    std::string names;
    for (const std::string& n : only_positional) names += (names.empty() ? "" : ", ") + n;
    raise("TypeError", fmt::format("{}() got some positional-only arguments passed as keyword arguments: '{}'", name, names));
  }
  if (s.var_positional < 0 && positional.size() > taken) {
    std::string expected = s.required_positional == s.positional
                               ? fmt::format("{} positional argument{}", s.positional, s.positional == 1 ? "" : "s")
                               : fmt::format("from {} to {} positional arguments", s.required_positional, s.positional);
    std::string given = fmt::format("{} {} given", positional.size(), positional.size() == 1 ? "was" : "were");
    if (keyword_only_given > 0) {
      given = fmt::format("{} positional argument{} (and {} keyword-only argument{}) were given", positional.size(),
                          positional.size() == 1 ? "" : "s", keyword_only_given, keyword_only_given == 1 ? "" : "s");
    }
    raise("TypeError", fmt::format("{}() takes {} but {}", name, expected, given));
  }
  std::vector<std::string> missing_positional, missing_keywords;
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    const Signature::Parameter& p = s.parameters[i];
    if (!p.required || !out[i].is_absent()) continue;
    (p.kind == Kind::keyword_only ? missing_keywords : missing_positional).push_back(p.name);
  }
  for (const auto& [names, what] : {std::pair(&missing_positional, "positional"), std::pair(&missing_keywords, "keyword-only")}) {
    if (names->empty()) continue;
    raise("TypeError", fmt::format("{}() missing {} required {} argument{}: {}", name, names->size(), what, names->size() == 1 ? "" : "s",
                                   join_names(*names)));
  }
}

const Signature& signature_of(const NativeFunction& function) {
  std::atomic_ref<const void*> cache(function.parsed_signature);
  if (const void* parsed = cache.load(std::memory_order_acquire)) return *static_cast<const Signature*>(parsed);
  static std::mutex mutex;
  static std::deque<Signature> signatures;
  std::lock_guard lock(mutex);
  signatures.push_back(parse(function));
  cache.store(&signatures.back(), std::memory_order_release);
  return signatures.back();
}

namespace {

/// The arguments of a call as the function takes them.
class BoundArguments {
 public:
  BoundArguments(Interpreter& in, const NativeFunction& function, const Value* self, std::span<Value> positional,
                 std::span<const std::pair<std::string, Value>> keywords) {
    const Signature& s = signature_of(function);
    if (s.names_self && !self) {  // a method called as a plain function
      if (positional.empty()) raise("TypeError", fmt::format("unbound method {}() needs an argument", function.name));
      own_self_ = positional[0];
      self = &own_self_;
      positional = positional.subspan(1);
    }
    const size_t first = self ? 1 : 0;
    if (!first && keywords.empty() && !s.ruled && positional.size() == s.parameters.size() && s.fills_by_place(positional.size())) {
      all = positional;  // every parameter is given by its place
      return;
    }
    slots_.emplace(first + s.parameters.size());
    all = slots_->span();
    if (self) all[0] = *self;
    std::span<Value> out = all.subspan(first);
    if (!s.takes_keywords) {
      if (!keywords.empty())
        raise("TypeError", fmt::format("{}{}() takes no keyword arguments", self ? type_of(*self).name + "." : "", function.name));
      size_t given = positional.size();
      if (given < static_cast<size_t>(s.required_positional) || (given > static_cast<size_t>(s.positional) && s.var_positional < 0)) {
        raise_native_count(function, s, self, given);
      }
    }
    if (keywords.empty() && s.fills_by_place(positional.size())) {
      std::move(positional.begin(), positional.end(), out.begin());
      for (size_t i = positional.size(); i < out.size(); ++i) out[i] = s.defaults[i];
    } else {
      bind_arguments(in, s, function.name, positional, keywords, out);
      for (size_t i = 0; i < out.size(); ++i) {
        if (out[i].is_absent()) out[i] = s.defaults[i];
      }
    }
    if (s.ruled) check_rules(in, s, "", function.name, out, s.defaults);
  }
  BoundArguments(const BoundArguments&) = delete;
  BoundArguments& operator=(const BoundArguments&) = delete;

  std::span<Value> all;

 private:
  Value own_self_;
  std::optional<Slots> slots_;
};

/// What a function gave; throws the exception that it set on its way.
Value or_throw(Interpreter& in, Value given) {
  if (given.is_absent())
    if (Session& session = Evaluator::session(in); !session.raised.is_none()) throw_raised(session);
  return given;
}

/// Sets what is thrown on its way as session.raised.
Value attempt(Session& session, const auto& work) {
  try {
    return work();
  } catch (const Raised& raised) {
    session.raised = raised.value;
  } catch (const Error& error) {
    session.raised = exception_from_error(error);
  }
  return Value::absent();
}

}  // namespace

Value call_native(Interpreter& in, const NativeFunction& function, const Value* self, Arguments arguments) {
  return or_throw(in, function.call(in, BoundArguments(in, function, self, arguments.positional, arguments.keywords).all));
}

Value call_native(Interpreter& in, const NativeFunction& function, const Value* self, std::span<Value> positional) {
  return or_throw(in, function.call(in, BoundArguments(in, function, self, positional, {}).all));
}

Value fail(Interpreter& in, std::string_view exception, std::string message) {
  Evaluator::session(in).raised = Value::make<Exception>(*exception_type(exception), std::vector<Value>{make_str(std::move(message))});
  return Value::absent();
}

Value attempt_native(Session& session, const NativeFunction& function, const Value* self, std::span<Value> positional) {
  return attempt(session, [&] { return function.call(session.in, BoundArguments(session.in, function, self, positional, {}).all); });
}

Value attempt_bound(Session& session, const NativeFunction& function, std::span<Value> all) {
  return attempt(session, [&] { return function.call(session.in, all); });
}

const NativeFunction* find_method(const Type& type, std::string_view name) {
  for (const Type* t = &type; t; t = t->base) {
    for (const NativeFunction& f : t->methods) {
      if (f.name == name) return &f;
    }
  }
  return type.second_base ? find_method(*type.second_base, name) : nullptr;
}

const NativeFunction* find_static_method(const Type& type, std::string_view name) {
  for (const Type* t = &type; t; t = t->base) {
    for (const NativeFunction& f : t->static_methods) {
      if (f.name == name) return &f;
    }
  }
  return nullptr;
}

const Type::Property* find_property(const Type& type, std::string_view name) {
  for (const Type* t = &type; t; t = t->base) {
    for (const Type::Property& p : t->properties) {
      if (p.name == name) return &p;
    }
  }
  return nullptr;
}

}  // namespace gasell
