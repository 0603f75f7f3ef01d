#include "tools/gasell/language_server/features.h"

#include <algorithm>
#include <filesystem>

#include "lang/characters.h"
#include "lang/parser.h"
#include "lang/tokens.h"
#include "runtime/session/script_path.h"
#include "tools/check/check.h"
#include "tools/check/syntax.h"
#include "tools/gasell/completion.h"
#include "tools/gasell/describe.h"
#include "tools/gasell/effect_free.h"
#include "tools/gasell/examples.h"
#include "tools/gasell/script.h"
#include "tools/gasell/signatures.h"

namespace gasell::cli::lsp {

using nlohmann::json;

namespace {

// Numbers of the protocol.
constexpr int kError = 1, kWarning = 2;
constexpr int kUnnecessary = 1;  // a tag: editors grey it out
enum CompletionKind : int { kMethod = 2, kFunction = 3, kVariable = 6, kClass = 7, kModule = 9, kKeyword = 14, kFile = 17, kText = 1 };
enum SymbolKind : int { kClassSymbol = 5, kMethodSymbol = 6, kFunctionSymbol = 12, kVariableSymbol = 13 };

constexpr size_t kMostCandidates = 1000;

json location(const std::string& uri, const LineIndex& lines, Span span) { return {{"uri", uri}, {"range", lines.range(span)}}; }

std::string code_block(const std::string& code) { return "```gasell\n" + code + "\n```"; }

/// The name at the cursor with what stands before its dots: "np.linalg.norm".
std::string_view expression_at(std::string_view text, size_t offset) {
  const std::vector<Token> tokens = scan_tokens(text);
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].kind == TokenKind::name && tokens[i].span.begin <= offset && offset <= tokens[i].span.end)
      return primary_before(text, tokens, i + 1);
  return {};
}

std::string line_of(const std::string& text, size_t offset) {
  const size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  const std::string line = text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

/// The file that a module is, when it is one of the user's.
std::optional<std::string> script_of_module(const Document& document, const std::string& name) {
  const auto file = find_script_path(name, ".gsl", std::make_shared<Source>(document.path(), ""));
  return file ? std::optional(std::filesystem::absolute(*file).lexically_normal().string()) : std::nullopt;
}

/// A name of another file's top level, or with an empty name the file's beginning; null where it has none.
json place_in_file(const std::string& file, const std::string& name) {
  const SourceRef source = read_file(file);
  const LineIndex lines(source->text());
  if (name.empty()) return location(uri_of_path(file), lines, {0, 0});
  for (const Occurrence& one : symbols_of(*parse_module(source)).occurrences)
    if (one.binds && !one.scope && one.name == name) return location(uri_of_path(file), lines, one.span);
  return nullptr;
}

/// Where an imported name is written, if that is a file of the user's.
json place_of_import(const Document& document, const std::string& module, const std::string& member) {
  if (const auto file = script_of_module(document, module)) return place_in_file(*file, member);
  const size_t dot = module.rfind('.');
  if (!member.empty() || dot == std::string::npos) return nullptr;
  const auto file = script_of_module(document, module.substr(0, dot));
  return file ? place_in_file(*file, module.substr(dot + 1)) : json(nullptr);
}

json symbol(const LineIndex& lines, const std::string& name, int kind, Span span, Span name_span) {
  return {{"name", name}, {"kind", kind}, {"range", lines.range(join(span, name_span))}, {"selectionRange", lines.range(name_span)}};
}

json symbol(const LineIndex& lines, const Definition& definition) {
  json out = symbol(lines, definition.name,
                    definition.is_class    ? kClassSymbol
                    : definition.is_method ? kMethodSymbol
                                           : kFunctionSymbol,
                    definition.span, definition.name_span);
  json children = json::array();
  for (const Definition& inner : definition.inside) children.push_back(symbol(lines, inner));
  if (!children.empty()) out["children"] = std::move(children);
  return out;
}

int completion_kind(Interpreter& interpreter, const Analysis& analysis, const std::string& candidate, bool is_attribute) {
  if (is_attribute) return kMethod;
  if (is_keyword(candidate)) return kKeyword;
  for (const Occurrence& one : analysis.symbols.occurrences)
    if (one.binds && one.name == candidate)
      return one.kind == Occurrence::Kind::function ? kFunction
             : one.kind == Occurrence::Kind::class_ ? kClass
             : one.kind == Occurrence::Kind::import ? kModule
                                                    : kVariable;
  if (candidate.ends_with("=") || name_length(candidate, 0) != candidate.size()) return candidate.ends_with("/") ? kFile : kText;
  return signature_of_expression(interpreter, candidate) ? kFunction : kVariable;
}

}  // namespace

void Analysis::update() {
  if (is_current()) return;
  const auto source = std::make_shared<Source>(document.path(), document.text);
  std::vector<Diagnostic> errors;
  ast::ModuleRef tree = check::parse_all(source, errors);
  is_whole = tree != nullptr;
  if (!tree) tree = check::parse_right_lines(source);
  if (!tree) return;
  module = std::move(tree);
  symbols = symbols_of(*module);
  parsed_text = document.text;
}

Interpreter& Analysis::interpreter() {
  static const ast::Module kNothing{std::make_shared<Source>("", ""), {}};
  return knowledge->of(module ? *module : kNothing);
}

json diagnostics(Analysis& analysis) {
  const Document& document = analysis.document;
  const LineIndex lines = document.lines();
  analysis.update();
  json found = json::array();
  for (const check::Finding& finding :
       check::check_source(analysis.knowledge->library(), std::make_shared<Source>(document.path(), document.text))) {
    const Diagnostic& wrong = finding.diagnostic;
    Span span = wrong.primary ? wrong.primary->span : Span{};
    if (span.end <= span.begin) span.end = std::min(span.begin + 1, static_cast<uint32_t>(document.text.size()));
    json entry = {{"range", lines.range(span)},
                  {"severity", finding.is_error ? kError : kWarning},
                  {"source", "gasell"},
                  {"code", finding.code},
                  {"message", wrong.message + (wrong.hint.empty() ? "" : "\nhint: " + wrong.hint)}};
    if (finding.code.starts_with("unused") || finding.code == "unreachable") entry["tags"] = {kUnnecessary};
    for (const Label& label : wrong.secondary)
      if (label.source && label.source->text() == document.text)
        entry["relatedInformation"].push_back({{"location", location(document.uri, lines, label.span)}, {"message", label.text}});
    found.push_back(std::move(entry));
  }
  return {{"uri", document.uri}, {"version", document.version}, {"diagnostics", std::move(found)}};
}

json hover(Analysis& analysis, size_t offset) {
  const std::string& text = analysis.document.text;
  const std::string_view expression = expression_at(text, offset);
  if (expression.empty()) return nullptr;
  Interpreter& interpreter = analysis.interpreter();
  std::string content;
  const Occurrence* one = analysis.is_current() ? analysis.symbols.at(offset) : nullptr;
  const bool is_inner = one && one->scope;  // a local, which the top level knows nothing of
  if (!is_inner) {
    if (const auto signature = signature_of_expression(interpreter, expression)) {
      content = code_block(signature->text()) + (signature->description.empty() ? "" : "\n" + signature->description);
      if (const std::optional<Value> value = effect_free_value(interpreter, expression))
        if (const Example example = example_of(interpreter, std::string(expression), *value); !example.text.empty())
          content += "\n\n" + code_block(std::string(example.text));
    } else if (const std::optional<Value> value = effect_free_value(interpreter, expression)) {
      content = code_block(describe(interpreter, *value));
    }
  }
  if (content.empty() && one)
    if (const Occurrence* bound = analysis.symbols.binding(*one)) content = code_block(line_of(text, bound->span.begin));
  if (content.empty()) return nullptr;
  const auto begin = static_cast<uint32_t>(expression.data() - text.data());
  return {{"contents", {{"kind", "markdown"}, {"value", content}}},
          {"range", analysis.document.lines().range({begin, begin + static_cast<uint32_t>(expression.size())})}};
}

json completion(Analysis& analysis, size_t offset) {
  const std::string& text = analysis.document.text;
  Interpreter& interpreter = analysis.interpreter();
  editor::Completion found = complete(interpreter, text, offset);
  const bool is_attribute = found.begin > 0 && text[found.begin - 1] == '.';
  const size_t word_end = found.begin + name_length(std::string_view(text).substr(0, offset), found.begin);
  const bool is_word = word_end == offset || found.begin == offset;
  std::vector<std::string> own;
  if (!is_attribute && is_word && found.closing.empty()) {
    const std::string prefix = text.substr(std::min(found.begin, offset), offset - std::min(found.begin, offset));
    for (const Occurrence& one : analysis.symbols.occurrences)
      if (one.binds && one.span.begin != found.begin) own.push_back(one.name);
    own = starting_with(std::move(own), prefix);
    std::erase_if(own, [&](const std::string& name) {
      return std::find(found.candidates.begin(), found.candidates.end(), name) != found.candidates.end();
    });
  }
  const LineIndex lines = analysis.document.lines();
  const json range = lines.range({static_cast<uint32_t>(std::min(found.begin, offset)), static_cast<uint32_t>(offset)});
  json items = json::array();
  const auto add = [&](const std::string& candidate) {
    if (items.size() >= kMostCandidates) return;
    items.push_back({{"label", candidate},
                     {"kind", completion_kind(interpreter, analysis, candidate, is_attribute)},
                     {"textEdit", {{"range", range}, {"newText", candidate + found.closing}}},
                     {"data", {{"uri", analysis.document.uri}, {"begin", found.begin}}}});
  };
  for (const std::string& candidate : own) add(candidate);
  for (const std::string& candidate : found.candidates) add(candidate);
  const bool more = own.size() + found.candidates.size() > kMostCandidates;
  return {{"isIncomplete", more}, {"items", std::move(items)}};
}

json resolve(Analysis& analysis, json item) {
  const auto begin = std::min(item.at("data").at("begin").get<size_t>(), analysis.document.text.size());
  const std::string detail = candidate_detail(analysis.interpreter(), analysis.document.text, begin, item.at("label").get<std::string>());
  if (!detail.empty()) {
    const size_t gap = detail.find(")  ");
    item["detail"] = gap == std::string::npos ? detail : detail.substr(0, gap + 1);
    if (gap != std::string::npos) item["documentation"] = detail.substr(gap + 3);
  }
  return item;
}

json signature_help(Analysis& analysis, size_t offset) {
  const std::optional<editor::CallHint> hint = call_hint(analysis.interpreter(), analysis.document.text, offset);
  if (!hint) return nullptr;
  json signature = {{"label", hint->text}, {"parameters", json::array()}};
  json out = {{"activeSignature", 0}};
  if (hint->emphasis.end > hint->emphasis.begin) {
    const std::string_view label = hint->text;
    const json place = {utf16_length(label.substr(0, hint->emphasis.begin)), utf16_length(label.substr(0, hint->emphasis.end))};
    signature["parameters"].push_back({{"label", place}});
    out["activeParameter"] = 0;
  }
  out["signatures"] = json::array({std::move(signature)});
  return out;
}

json definition(Analysis& analysis, size_t offset) {
  if (!analysis.is_current()) return nullptr;
  const Occurrence* one = analysis.symbols.at(offset);
  if (!one) {  // an attribute of a module of the user's: `helpers.load`
    const std::string_view expression = expression_at(analysis.document.text, offset);
    const size_t dot = expression.rfind('.');
    if (dot == std::string_view::npos) return nullptr;
    for (const Occurrence& import : analysis.symbols.occurrences)
      if (import.kind == Occurrence::Kind::import &&
          (import.name == expression.substr(0, dot) || import.module == expression.substr(0, dot)))
        return place_of_import(analysis.document, import.module, std::string(expression.substr(dot + 1)));
    return nullptr;
  }
  const Occurrence* bound = analysis.symbols.binding(*one);
  if (!bound) return nullptr;
  if (bound->kind == Occurrence::Kind::import)
    if (json place = place_of_import(analysis.document, bound->module, ""); !place.is_null()) return place;
  return location(analysis.document.uri, analysis.document.lines(), bound->span);
}

json references(Analysis& analysis, size_t offset, bool with_declaration) {
  json found = json::array();
  const Occurrence* one = analysis.is_current() ? analysis.symbols.at(offset) : nullptr;
  if (!one) return found;
  const LineIndex lines = analysis.document.lines();
  const Occurrence* bound = analysis.symbols.binding(*one);
  for (const Occurrence* other : analysis.symbols.same(*one))
    if (with_declaration || other != bound) found.push_back(location(analysis.document.uri, lines, other->span));
  return found;
}

json highlights(Analysis& analysis, size_t offset) {
  json found = json::array();
  const Occurrence* one = analysis.is_current() ? analysis.symbols.at(offset) : nullptr;
  if (!one) return found;
  const LineIndex lines = analysis.document.lines();
  constexpr int kRead = 2, kWrite = 3;
  for (const Occurrence* other : analysis.symbols.same(*one))
    found.push_back({{"range", lines.range(other->span)}, {"kind", other->binds ? kWrite : kRead}});
  return found;
}

json prepare_rename(Analysis& analysis, size_t offset) {
  const Occurrence* one = analysis.is_current() && analysis.is_whole ? analysis.symbols.at(offset) : nullptr;
  const Occurrence* bound = one ? analysis.symbols.binding(*one) : nullptr;
  if (!bound || bound->kind == Occurrence::Kind::import || bound->of_class) return nullptr;
  return {{"range", analysis.document.lines().range(one->span)}, {"placeholder", one->name}};
}

json rename(Analysis& analysis, size_t offset, const std::string& name) {
  if (prepare_rename(analysis, offset).is_null())
    throw Error("ValueError", analysis.is_whole ? "there is no name of this file here" : "the text is not right yet");
  if (name.empty() || name_length(name, 0) != name.size() || is_keyword(name)) throw Error("ValueError", "'" + name + "' is no name");
  const Occurrence* one = analysis.symbols.at(offset);
  if (analysis.symbols.binding(*one)->kind == Occurrence::Kind::parameter && analysis.symbols.keywords.contains(one->name))
    throw Error("ValueError", "'" + one->name + "' is given by its name in a call");
  const LineIndex lines = analysis.document.lines();
  json edits = json::array();
  for (const Occurrence& other : analysis.symbols.occurrences)
    if (other.name == name && other.scope == one->scope) throw Error("ValueError", "'" + name + "' is taken here");
  for (const Occurrence* other : analysis.symbols.same(*one)) edits.push_back({{"range", lines.range(other->span)}, {"newText", name}});
  return {{"changes", {{analysis.document.uri, std::move(edits)}}}};
}

json document_symbols(Analysis& analysis) {
  json found = json::array();
  if (!analysis.module) return found;
  const LineIndex lines(analysis.parsed_text);
  for (const Definition& definition : analysis.symbols.definitions) found.push_back(symbol(lines, definition));
  for (const Occurrence& variable : analysis.symbols.variables)
    found.push_back(symbol(lines, variable.name, kVariableSymbol, variable.span, variable.span));
  return found;
}

}  // namespace gasell::cli::lsp
