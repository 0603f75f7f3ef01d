#include "compiler/functions/parameters.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "lang/parser.h"

namespace gasell::functions {

using namespace terms;
using Kind = Type::Kind;

namespace {

// ---- kinds ----
bool is_number(const Type& t) { return t.is_scalar(); }
bool is_text(const Type& t) { return t.kind == Kind::text; }
bool is_function(const Type& t) { return t.kind == Kind::function; }
bool has_axes(const Type& t) { return t.is_array() && t.rank > 0; }
bool is_point(const Type& t) { return t.is_array() && t.rank == 0; }
bool is_vector(const Type& t) { return t.is_array() && t.rank == 1; }
bool is_matrix(const Type& t) { return t.is_array() && t.rank == 2; }
bool is_sequence(const Type& t) { return t.is_tuple() || t.is_list(); }
bool is_values(const Type& t) { return t.is_array() || t.is_scalar() || is_sequence(t); }
bool is_whole_number(const Type& t) { return t.is_scalar() && is_whole(t.dtype); }
bool is_shape(const Type& t) {
  return is_whole_number(t) || (t.is_tuple() && std::all_of(t.items.begin(), t.items.end(), is_whole_number));
}
bool is_table(const Type& t, const char* text) { return t.is_table() && t.text == text; }

/// A kind of values: what a parameter's annotation calls it, and what messages do.
struct KindOfValue {
  std::string_view name;
  const char* words;
  bool (*holds)(const Type&);
};

constexpr KindOfValue kKinds[] = {
    {"any", "a value", [](const Type&) { return true; }},
    {"number", "a number", is_number},
    {"operand", "a number or an array", [](const Type& t) { return t.is_scalar() || t.is_array(); }},
    {"array", "an array", has_axes},
    {"point", "an array", is_point},  // one without axes
    {"vector", "a 1-d array", is_vector},
    {"matrix", "a 2-d array", is_matrix},
    {"array_like", "an array", [](const Type& t) { return has_axes(t) || is_sequence(t); }},
    {"out", "an array", [](const Type& t) { return t.is_array(); }},
    {"arrays", "a tuple of arrays", [](const Type& t) { return t.is_tuple(); }},
    {"values", "an array or numbers", is_values},
    {"shape", "an integer or a tuple of integers", is_shape},
    {"axis", "an axis", is_shape},
    {"text", "a string", is_text},
    {"tuple", "a tuple", [](const Type& t) { return t.is_tuple(); }},
    {"list", "a list", [](const Type& t) { return t.is_list(); }},
    {"dict", "a dict", [](const Type& t) { return is_table(t, "dict"); }},
    {"set", "a set", [](const Type& t) { return is_table(t, "set"); }},
    {"generator", "a random generator", [](const Type& t) { return t.kind == Kind::generator; }},
    {"function", "a function", is_function},
    {"dtype", "a dtype", [](const Type& t) { return is_function(t) || is_text(t); }},
    {"Unused", "a truth value", is_number},  // it says how the peer computes, not what (lang/parameter_rules.h)
    {"iterable", "something to iterate over",
     [](const Type& t) { return has_axes(t) || is_sequence(t) || t.is_table() || t.kind == Kind::range || t.kind == Kind::iterator; }},
};

const KindOfValue& kind_named(std::string_view name) {
  for (const KindOfValue& kind : kKinds)
    if (kind.name == name) return kind;
  throw std::logic_error("no kind of values: " + std::string(name));
}

/// What elements a kind is of: "array[int]".
struct KindOfElement {
  std::string_view name;
  const char* words;
  bool (*holds)(DType);
};
constexpr KindOfElement kElements[] = {
    {"int", "integers", is_whole},
    {"real", "real numbers", [](DType d) { return !is_complex(d); }},
    {"float", "floats or complex numbers", [](DType d) { return is_float(d) || is_complex(d); }},
};

const KindOfElement& elements_named(std::string_view name) {
  for (const KindOfElement& kind : kElements)
    if (kind.name == name) return kind;
  throw std::logic_error("no kind of elements: " + std::string(name));
}

/// Whether all numbers in a value are of a kind.
bool all_numbers(const Type& t, bool (*holds)(DType)) {
  if (t.is_scalar() || t.is_array()) return holds(t.dtype);
  return std::all_of(t.items.begin(), t.items.end(), [&](const Type& item) { return all_numbers(item, holds); });
}

/// An annotation: kinds with | between them.
bool fits(const ast::Expr& annotation, const Type& type) {
  if (const auto* either = std::get_if<ast::Binary>(&annotation.node)) return fits(*either->left, type) || fits(*either->right, type);
  if (std::holds_alternative<ast::NoneLiteral>(annotation.node)) return type.is_none();
  if (const auto* of = std::get_if<ast::Subscript>(&annotation.node))
    return fits(*of->value, type) && all_numbers(type, elements_named(std::get<ast::Name>(of->index->node).id).holds);
  const std::string& name = std::get<ast::Name>(annotation.node).id;
  if (name == "int") return is_whole_number(type);
  if (name == "real") return type.is_scalar() && !is_complex(type.dtype);
  return kind_named(name).holds(type);
}
bool fits(const ast::Parameter& p, const Type& type) {
  if (!p.annotation) return true;
  return fits(*p.annotation, type) ||
         (type.is_none() && p.default_value && std::holds_alternative<ast::NoneLiteral>(p.default_value->node));
}

/// Whether a kind is one of an annotation's.
bool names(const ast::Expr& annotation, std::string_view kind) {
  if (const auto* either = std::get_if<ast::Binary>(&annotation.node)) return names(*either->left, kind) || names(*either->right, kind);
  const auto* name = std::get_if<ast::Name>(&annotation.node);
  return name && name->id == kind;
}
/// An annotation without |, as messages call it.
std::string words_for(const ast::Expr& annotation) {
  if (std::holds_alternative<ast::NoneLiteral>(annotation.node)) return "None";
  if (const auto* of = std::get_if<ast::Subscript>(&annotation.node)) {
    const std::string elements = elements_named(std::get<ast::Name>(of->index->node).id).words;
    return names(*of->value, "values") ? elements : words_for(*of->value) + " of " + elements;
  }
  const std::string& name = std::get<ast::Name>(annotation.node).id;
  return name == "int" ? "an integer" : name == "real" ? "a real number" : kind_named(name).words;
}
/// The kinds of an annotation, each once.
void collect_words(const ast::Expr& annotation, std::vector<std::string>& words) {
  if (const auto* either = std::get_if<ast::Binary>(&annotation.node)) {
    collect_words(*either->left, words);
    collect_words(*either->right, words);
    return;
  }
  const std::string text = words_for(annotation);
  if (std::find(words.begin(), words.end(), text) == words.end()) words.push_back(text);
}
/// What helps where a value does not fit.
std::string hint_for(const ast::Expr& annotation, const Type& given, const std::string& function) {
  if (names(annotation, "arrays") && given.is_array()) return "several arrays are given as one tuple: " + function + "((a, b))";
  const bool whole = names(annotation, "int") || names(annotation, "shape");
  const bool numbers = given.is_scalar() || (given.is_tuple() && std::all_of(given.items.begin(), given.items.end(), is_number));
  return whole && numbers && all_numbers(given, [](DType d) { return !is_complex(d); }) ? "convert it with int(...)" : "";
}
std::string in_words(const ast::Expr& annotation) {
  std::vector<std::string> words;
  collect_words(annotation, words);
  std::string text = words[0];
  for (size_t k = 1; k < words.size(); ++k) text += (k + 1 == words.size() ? " or " : ", ") + words[k];
  return text;
}

/// What is written into lies in memory.
bool is_written(const ast::Parameter& p) { return p.annotation && names(*p.annotation, "out"); }

std::string counted(size_t n) { return std::to_string(n) + (n == 1 ? " argument" : " arguments"); }

// ---- calls ----
class Check {
 public:
  Check(Lowering& l, const CallSite& site) : l_(l), site_(site) {}

  Value argument(const ast::Parameter& p, const Value& given, bool first) const {
    Value v = given;
    const Span at = v.span.end ? v.span : site_.span;
    if (fits(p, v.type)) return v.lazy && is_written(p) ? l_.materialise(v, at) : v;
    if (v.type.kind == Kind::optional && fits(p, v.type.items[0])) {
      l_.raise_if(negation(v.present), "TypeError", place(p, first) + ", and this is None", at);
      v = v.items[0];
      v.span = at;
      return v;
    }
    if (is_point(v.type) && fits(p, Type::of(v.type.dtype))) {
      v = scalar_value(l_.code().bind(l_.element(l_.materialise(v, at), {})));
      v.span = at;
      return v;
    }
    l_.fail(at, place(p, first) + ", and this is " + describe(v.type), hint_for(*p.annotation, v.type, site_.name));
  }

 private:
  std::string place(const ast::Parameter& p, bool first) const {
    const bool named = !first && p.kind != ast::Parameter::Kind::var_positional;
    return site_.name + " needs " + in_words(*p.annotation) + (named ? " as '" + p.name + "'" : "");
  }

  Lowering& l_;
  const CallSite& site_;
};

[[noreturn]] void refuse_count(Lowering& l, const CallSite& site, const std::vector<ast::Parameter>& parameters) {
  size_t least = 0, most = 0;
  for (const ast::Parameter& p : parameters) {
    if (p.kind == ast::Parameter::Kind::keyword_only) continue;
    ++most;
    least += !p.default_value;
  }
  l.fail(site.span, site.name + " takes " + (least == most ? "" : std::to_string(least) + " to ") + counted(most) + ", and " +
                        std::to_string(site.args.size()) + (site.args.size() == 1 ? " was given" : " were given"));
}

}  // namespace

CallSite checked(Lowering& l, const CallSite& site, const std::vector<ast::Parameter>& parameters) {
  using PK = ast::Parameter::Kind;
  CallSite result = site;
  const Check check(l, site);
  size_t place = 0;
  for (const ast::Parameter& p : parameters) {
    if (p.kind == PK::var_positional) {
      for (; place < result.args.size(); ++place) result.args[place] = check.argument(p, site.args[place], place == 0);
      continue;
    }
    if (p.kind != PK::keyword_only && place < site.args.size()) {
      result.args[place] = check.argument(p, site.args[place], place == 0);
      ++place;
      continue;
    }
    const auto named = std::find_if(result.keywords.begin(), result.keywords.end(), [&](const auto& k) { return k.first == p.name; });
    if (named == result.keywords.end()) {
      if (!p.default_value) l.fail(site.span, site.name + " misses the argument '" + p.name + "'");
      continue;
    }
    named->second = check.argument(p, named->second, false);
    if (p.default_value || p.kind == PK::keyword_only) continue;
    // The function looks for it in its place.
    site.asked->emplace(p.name);
    result.args.push_back(named->second);
    result.keywords.erase(named);
    ++place;
  }
  if (place < site.args.size()) refuse_count(l, site, parameters);
  return result;
}

CallSite checked(Lowering& l, const CallSite& site, std::string_view parameters) {
  static std::mutex mutex;
  static std::unordered_map<std::string_view, ast::ModuleRef> read;  // each once
  const ast::ModuleRef module = [&] {
    const std::lock_guard lock(mutex);
    ast::ModuleRef& known = read[parameters];
    if (!known) known = parse_module(std::make_shared<const Source>("parameters", "def f(" + std::string(parameters) + "):\n    pass\n"));
    return known;
  }();
  return checked(l, site, std::get<ast::FunctionDef>(module->body.at(0)->node).params);
}

// ---- tables ----

LibraryTable::LibraryTable(std::initializer_list<Row> rows) {
  for (const Row& row : rows) rows_.emplace(row.path, row);
}

LibraryFunction LibraryTable::find(std::string_view path) const {
  const auto known = rows_.find(path);
  if (known == rows_.end()) return nullptr;
  return [row = &known->second](Lowering& l, const CallSite& site) { return row->function(l, checked(l, site, row->parameters)); };
}

}  // namespace gasell::functions
