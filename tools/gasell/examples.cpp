#include "tools/gasell/examples.h"

#include <algorithm>
#include <map>

#include "lang/parser.h"
#include "runtime/session/objects.h"
#include "stdlib/library.h"
#include "tools/gasell/signatures.h"

namespace gasell::cli {

namespace {

/// What stands below a heading: a description, where there is one, up to the first statement.
Example example_in(std::string_view text) {
  while (text.ends_with("\n\n")) text.remove_suffix(1);
  const size_t begin = text.starts_with(">>> ") ? 0 : std::min(text.find("\n>>> "), text.size() - 1) + 1;
  std::string_view description = text.substr(0, begin);
  while (description.ends_with('\n')) description.remove_suffix(1);
  return {description, text.substr(begin)};
}

/// A heading `## NAME NAME …` opens the example of these names, which ends before the next heading.
std::map<std::string_view, Example> read_examples() {
  constexpr std::string_view kHeading = "\n## ";
  std::map<std::string_view, Example> examples;
  for (const std::string_view text : example_texts()) {
    for (size_t at = text.find(kHeading); at != text.npos;) {
      const size_t names_end = text.find('\n', at + 1), next = text.find(kHeading, names_end);
      const Example example = example_in(text.substr(names_end + 1, next == text.npos ? text.npos : next - names_end));
      for (size_t begin = at + kHeading.size(); begin < names_end;) {
        const size_t end = std::min(text.find(' ', begin), names_end);
        examples.emplace(text.substr(begin, end - begin), example);
        begin = end + 1;
      }
      at = next;
    }
  }
  return examples;
}

/// "numpy" of the library's text "numpy/shapes.gsl".
std::string module_of_text(std::string_view path) {
  for (const LibraryFile& file : library_files())
    if (file.path == path) return std::string(file.module);
  return {};
}

/// Where the example of a value may be listed that was found by its bare name.
std::vector<std::string> names_of_value(Interpreter& interpreter, const Value& value) {
  if (auto* type = value.as<TypeObject>()) {
    const std::vector<std::string> owners = type->peer_owners();
    return {owners.begin(), owners.begin() + std::min<ptrdiff_t>(1, std::ssize(owners))};  // a base's example shows the base
  }
  if (const auto* builtin = value.as<Builtin>()) {
    const std::string& name = builtin->function.name;
    return {name, "numpy." + name, "math." + name};
  }
  if (const std::optional<FunctionText> text = function_text(interpreter, value))
    if (const std::string module = module_of_text(text->source->name()); !module.empty())
      if (const auto signature = call_signature(interpreter, value)) return {module + "." + signature->name};
  return {};
}

}  // namespace

Example example_listed(const std::vector<std::string>& names) {
  static const std::map<std::string_view, Example> examples = read_examples();
  for (const std::string& name : names)
    if (const auto found = examples.find(name); found != examples.end()) return found->second;
  return {};
}

std::vector<std::string> listed_names(const std::vector<std::string>& owners, const std::string& attribute) {
  std::vector<std::string> names;
  for (const std::string& owner : owners) {
    names.push_back(owner + "." + attribute);
    // pandas._libs.tslibs.timestamps.Timestamp is what scripts call pandas.Timestamp.
    const size_t first = owner.find('.'), last = owner.rfind('.');
    if (first != last) names.push_back(owner.substr(0, first) + owner.substr(last) + "." + attribute);
  }
  return names;
}

Example example_of(Interpreter& interpreter, const std::string& expression, const Value& value) {
  const auto parsed = [](const std::string& text) { return parse_module(std::make_shared<Source>("<documentation>", text)); };
  const ast::ModuleRef module = parsed(expression);
  const auto* statement = module->body.size() == 1 ? std::get_if<ast::ExprStmt>(&module->body[0]->node) : nullptr;
  if (!statement) return {};
  std::vector<std::string> names;
  if (const auto* attribute = std::get_if<ast::Attribute>(&statement->value->node)) {
    const Value owner = interpreter.evaluate(parsed(print(*attribute->value)));
    names = listed_names(owner.is_object() ? owner.object()->peer_owners() : peer_owners_of(type_of(owner)), attribute->name);
  }
  if (const auto* name = std::get_if<ast::Name>(&statement->value->node); name && !interpreter.global(name->id)) names = {name->id};
  std::ranges::copy(names_of_value(interpreter, value), std::back_inserter(names));
  return example_listed(names);
}

}  // namespace gasell::cli
