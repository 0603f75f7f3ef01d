#include "tools/gasell/completion.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "lang/characters.h"
#include "lang/parser.h"
#include "lang/tokens.h"
#include "runtime/device/sandbox.h"
#include "runtime/session/arguments.h"
#include "runtime/session/builtins.h"
#include "runtime/session/dict.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/modules.h"
#include "tools/editor/highlight.h"
#include "tools/gasell/effect_free.h"
#include "tools/gasell/signatures.h"

namespace gasell::cli {

using editor::Completion;

namespace {

constexpr size_t kMostKeys = 5000;

std::vector<std::string> attributes_of(Interpreter& interpreter, const Value& value) {
  if (value.is_object()) return value.object()->attribute_names(interpreter);
  std::vector<std::string> names;
  for (const Type* type = &type_of(value); type; type = type->base) {
    for (const NativeFunction& method : type->methods) names.push_back(method.name);
    for (const Type::Property& property : type->properties) names.push_back(property.name);
  }
  return names;
}

/// Texts that the value can be indexed with: keys of a dict, columns of a frame, labels of a Series.
std::vector<std::string> keys_of(Interpreter& interpreter, const Value& value) {
  std::vector<std::string> keys;
  const auto add = [&](const Value& key) {
    if (const auto* text = key.as<Str>(); text && text->value.find_first_of("'\"\\\n") == std::string::npos) keys.push_back(text->value);
  };
  if (const auto* dict = value.as<Dict>()) {
    for (const Dict::Entry& entry : dict->entries())
      if (!entry.key.is_absent() && keys.size() < kMostKeys) add(entry.key);
    return keys;
  }
  if (!value.as<LibraryObject>()) return keys;
  for (const char* labels : {"columns", "index"}) {
    if (!has_attribute(interpreter, value, labels)) continue;
    const Value found = get_attribute(interpreter, value, labels);
    if (length(interpreter, found) > static_cast<int64_t>(kMostKeys)) return keys;
    for (const Value& key : to_vector(interpreter, found)) add(key);
    return keys;
  }
  return keys;
}

std::vector<std::string> module_names() {
  std::vector<std::string> names;
  for (const ModuleDefinition& module : known_modules().modules) names.push_back(module.name);
  if (!is_readable_in_sandbox(".")) return names;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(".", error); !error && entry != std::filesystem::directory_iterator();
       entry.increment(error))
    if (entry->path().extension() == ".gsl") names.push_back(entry->path().stem().string());
  return names;
}

/// The entry up to the cursor, and what stands there.
class Completer {
 public:
  Completer(Interpreter& interpreter, std::string_view text, size_t cursor)
      : interpreter_(interpreter), text_(text.substr(0, cursor)), tokens_(scan_tokens(text_)) {
    size_t begin = text_.size();
    if (!tokens_.empty() && tokens_.back().span.end == text_.size() &&
        (tokens_.back().kind == TokenKind::name || tokens_.back().kind == TokenKind::keyword)) {
      begin = tokens_.back().span.begin;
      count_ = tokens_.size() - 1;
    } else {
      count_ = tokens_.size();
    }
    word_begin_ = begin;
    word_ = text_.substr(begin);
  }

  Completion run() {
    if (!tokens_.empty() && tokens_.back().unfinished && tokens_.back().span.end == text_.size()) return in_string(tokens_.back());
    if (std::optional<Completion> found = of_import()) return *found;
    if (is_symbol(count_, ".")) return of_attribute();
    return of_name();
  }

 private:
  std::string_view text_of(size_t index) const {
    return text_.substr(tokens_[index].span.begin, tokens_[index].span.end - tokens_[index].span.begin);
  }
  /// Is the token before `count` this one?
  bool is_symbol(size_t count, std::string_view text) const { return count > 0 && text_of(count - 1) == text; }

  Completion in_string(const Token& literal) const {
    const size_t quote = text_.find_first_of("'\"", literal.span.begin);
    const std::string_view body = text_.substr(quote + 1);
    const size_t index = static_cast<size_t>(&literal - tokens_.data());
    const std::optional<size_t> open = editor::open_bracket(text_, tokens_, literal.span.begin);
    if (open && *open > 0) {
      std::vector<std::string> keys = keys_for(*open);
      if (!keys.empty()) {
        keys = starting_with(std::move(keys), body);
        const bool ends_item = text_[tokens_[*open].span.begin] == '[' && *open + 1 == index;
        return {quote + 1, std::move(keys), std::string(1, text_[quote]) + (ends_item ? "]" : "")};
      }
    }
    return complete_file(body, quote + 1);
  }

  /// What a text behind this bracket can be: a key of what is indexed, a column of the frame whose method is called.
  std::vector<std::string> keys_for(size_t open) const {
    const char bracket = text_[tokens_[open].span.begin];
    if (bracket == '{') return {};
    std::string_view owner = primary_before(text_, tokens_, open);
    if (owner.empty() && bracket == '[') {  // a list of columns: df[["a", …
      const std::optional<size_t> outer = editor::open_bracket(text_, tokens_, tokens_[open].span.begin);
      return outer && *outer > 0 ? keys_for(*outer) : std::vector<std::string>{};
    }
    if (bracket == '(') {
      const size_t dot = owner.rfind('.');
      if (dot == std::string_view::npos) return {};
      owner = owner.substr(0, dot);
    }
    const std::optional<Value> value = effect_free_value(interpreter_, owner);
    if (!value || (bracket == '(' && !value->as<LibraryObject>())) return {};
    return keys_of(interpreter_, *value);
  }

  std::optional<Completion> of_import() const {
    size_t begin = count_;  // of the statement
    while (begin > 0 && tokens_[begin - 1].kind != TokenKind::line_end && text_of(begin - 1) != ";") --begin;
    if (begin >= count_) return std::nullopt;
    const bool imports = text_of(begin) == "import", from = text_of(begin) == "from";
    if (!imports && !from) return std::nullopt;
    size_t import = begin + 1;
    while (from && import < count_ && text_of(import) != "import") ++import;
    if (from && import < count_) {
      const std::string module(text_.substr(tokens_[begin].span.end + 1, tokens_[import].span.begin - tokens_[begin].span.end - 2));
      return Completion{word_begin_, starting_with(names_of_module(module), word_)};
    }
    // A module's name, with dots: from the blank or comma before.
    const size_t start = text_.find_last_of(" ,") + 1;
    const std::string_view path = text_.substr(start);
    const size_t dot = path.rfind('.');
    std::vector<std::string> names =
        starting_with(dot == path.npos ? module_names() : parts_of_module(std::string(path.substr(0, dot))), path);
    if (from && tokens_.back().span.end < text_.size() && count_ > begin + 1) names = {"import "};
    return Completion{start, std::move(names)};
  }

  /// A module of the library by its path; nullopt for scripts, which a look-up must not run.
  std::optional<Value> library_module(const std::string& path) const {
    const std::string first = path.substr(0, path.find('.'));
    for (const ModuleDefinition& known : known_modules().modules) {
      if (known.name != first) continue;
      std::optional<Value> module = interpreter_.import_module(first, std::make_shared<Source>("<completion>", ""));
      for (size_t begin = first.size(); module && begin < path.size();) {
        const size_t end = std::min(path.find('.', begin + 1), path.size());
        module = module->object()->get_attribute(interpreter_, path.substr(begin + 1, end - begin - 1));
        if (module && !module->as<Module>()) module.reset();
        begin = end;
      }
      return module;
    }
    return std::nullopt;
  }

  std::vector<std::string> names_of_module(const std::string& path) const {
    const std::optional<Value> module = library_module(path);
    return module ? module->object()->attribute_names(interpreter_) : std::vector<std::string>{};
  }

  /// "scipy.fft", "scipy.linalg": the modules in one.
  std::vector<std::string> parts_of_module(const std::string& path) const {
    std::vector<std::string> parts;
    for (const LibraryFile& file : library_files()) {
      const std::string part(file.module.substr(0, file.module.find('.', std::min(path.size() + 1, file.module.size()))));
      if (part.starts_with(path + ".") && part[path.size() + 1] != '_' && library_module(part)) parts.push_back(part);
    }
    for (const ModuleDefinition& known : known_modules().modules)
      if (known.name.starts_with(path + ".")) parts.push_back(known.name);
    std::ranges::sort(parts);
    parts.erase(std::ranges::unique(parts).begin(), parts.end());
    return parts;
  }

  Completion of_attribute() const {
    const std::optional<Value> owner = effect_free_value(interpreter_, primary_before(text_, tokens_, count_ - 1));
    if (!owner) return {word_begin_, {}};
    std::vector<std::string> names = attributes_of(interpreter_, *owner);
    std::erase_if(names, [](const std::string& name) { return name_length(name, 0) != name.size(); });  // columns with blanks
    return {word_begin_, starting_with(std::move(names), word_)};
  }

  Completion of_name() const {
    std::vector<std::string> names = interpreter_.global_names();
    for (const char* word : {"and",  "as",    "assert", "break", "continue", "def",  "del",  "elif",   "else", "except", "finally",
                             "for",  "from",  "global", "if",    "import",   "in",   "is",   "lambda", "not",  "or",     "nonlocal",
                             "pass", "raise", "return", "try",   "while",    "with", "True", "False",  "None"})
      names.emplace_back(word);
    for (const auto& [name, value] : builtins()) names.push_back(name);
    for (const ModuleDefinition& module : known_modules().modules) names.insert(names.end(), module.aliases.begin(), module.aliases.end());
    names = starting_with(std::move(names), word_);
    // The arguments of a call come first, and keys where an index begins.
    std::vector<std::string> first;
    const std::optional<size_t> open = editor::open_bracket(text_, tokens_, word_begin_);
    if (open && *open > 0 && text_[tokens_[*open].span.begin] == '(' && (is_symbol(count_, "(") || is_symbol(count_, ","))) {
      if (const auto signature = signature_of_expression(interpreter_, primary_before(text_, tokens_, *open)))
        for (const std::string& keyword : signature->keywords())
          if (keyword.starts_with(word_)) first.push_back(keyword + "=");
    }
    if (open && *open + 1 == count_ && word_.empty() && text_[tokens_[*open].span.begin] == '[')
      for (const std::string& key : keys_for(*open)) first.push_back("'" + key + "']");
    first.insert(first.end(), names.begin(), names.end());
    return {word_begin_, std::move(first)};
  }

  Interpreter& interpreter_;
  std::string_view text_;
  std::vector<Token> tokens_;
  size_t count_ = 0;  // tokens before the word that is completed
  size_t word_begin_ = 0;
  std::string_view word_;
};

}  // namespace

std::vector<std::string> starting_with(std::vector<std::string> words, std::string_view prefix) {
  std::erase_if(words,
                [&](const std::string& word) { return !word.starts_with(prefix) || (word.starts_with("_") && !prefix.starts_with("_")); });
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

Completion complete_file(std::string_view path, size_t begin) {
  const size_t slash = path.rfind('/');
  std::string folder(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
  const std::string_view prefix = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (const char* home = std::getenv("HOME"); home && folder.starts_with("~/")) folder.replace(0, 1, home);
  if (!is_readable_in_sandbox(folder.empty() ? "." : folder)) return {begin + path.size() - prefix.size(), {}};
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder.empty() ? "." : folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || (name.starts_with('.') && prefix.empty())) continue;
    std::error_code unknown;
    names.push_back(name + (entry->is_directory(unknown) ? "/" : ""));
  }
  std::sort(names.begin(), names.end());
  return {begin + path.size() - prefix.size(), std::move(names)};
}

Completion complete(Interpreter& interpreter, std::string_view text, size_t cursor) {
  try {
    return Completer(interpreter, text, cursor).run();
  } catch (const std::exception&) {
    return {cursor, {}};  // what is looked up may fail in any way
  }
}

std::string candidate_detail(Interpreter& interpreter, std::string_view text, size_t begin, const std::string& candidate) {
  try {
    if (name_length(candidate, 0) != candidate.size()) return {};
    const std::vector<Token> tokens = scan_tokens(text.substr(0, begin));
    std::optional<CallSignature> signature;
    if (!tokens.empty() && text[tokens.back().span.begin] == '.') {
      const std::optional<Value> owner = effect_free_value(interpreter, primary_before(text, tokens, tokens.size() - 1));
      if (!owner) return {};
      signature = member_signature(interpreter, *owner, candidate);
      if (!signature) {
        const Type::Property* property = find_property(type_of(*owner), candidate);
        return property ? first_line(property->doc) : "";
      }
    } else {
      if (is_keyword(candidate)) return {};
      signature = signature_of_expression(interpreter, candidate);
      if (!signature) {
        const std::optional<Value> value = effect_free_value(interpreter, candidate);
        return value ? type_of(*value).name : "";
      }
    }
    const std::string description = first_line(signature->description);
    return signature->text() + (description.empty() ? "" : "  " + description);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace gasell::cli
