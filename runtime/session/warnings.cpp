#include "runtime/session/warnings.h"

#include <cstdio>
#include <regex>

#include "lang/render.h"
#include "runtime/session/error_output.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

/// What `catch_warnings(record=True)` lists.
class WarningMessage final : public Object {
 public:
  WarningMessage(Value m, const Type& c, int l, std::string f) : message(std::move(m)), category(c), line(l), file(std::move(f)) {}
  const Type& type() const override {
    static const Type t{"WarningMessage", "warnings", &object_type()};
    return t;
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    if (name == "message") return message;
    if (name == "category") return type_object(category);
    if (name == "lineno") return Value::of(line);
    if (name == "filename") return make_str(file);
    return Object::get_attribute(in, name);
  }
  const Value message;
  const Type& category;
  const int line;
  const std::string file;
};

bool fits(const std::string& pattern, const std::string& text, bool any_case) {
  if (pattern.empty()) return true;
  const auto flags = any_case ? std::regex::ECMAScript | std::regex::icase : std::regex::ECMAScript;
  try {
    return std::regex_search(text, std::regex(pattern, flags), std::regex_constants::match_continuous);
  } catch (const std::regex_error&) {
    raise("NotImplementedError", "the pattern '" + pattern + "' of a filter of warnings is not in Gasell");
  }
}

bool is_of_script(const Frame& f) { return f.code.source && !(f.code.globals && f.code.globals->library); }

/// The innermost frame that is the script's own.
const Frame* script_frame(const Session& session) {
  const Frame* f = session.running;
  while (f && !is_of_script(*f)) f = f->outer;
  return f;
}

}  // namespace

Warnings::Warnings() {
  for (const char* name : {"ResourceWarning", "ImportWarning", "PendingDeprecationWarning"})
    filters.push_back({"ignore", "", exception_type(name), "", 0});
}

bool is_script_running(Interpreter& in) {
  const Frame* innermost = Evaluator::session(in).running;
  return innermost && is_of_script(*innermost);
}

void Warnings::add(Filter filter, bool behind) { filters.insert(behind ? filters.end() : filters.begin(), std::move(filter)); }

void warn(Interpreter& in, const Type& category, const std::string& message, const std::string& hint, bool with_place) {
  Session& session = Evaluator::session(in);
  Warnings& warnings = session.warnings;
  const Frame* frame = script_frame(session);
  const int line = frame ? frame->code.source->position(frame->at.begin).line : 0;
  std::string action = "default";
  for (const Warnings::Filter& filter : warnings.filters) {
    if (!category.derives_from(*filter.category) || (filter.line && filter.line != line)) continue;
    if (!fits(filter.message, message, true) || !fits(filter.module, "__main__", false)) continue;
    action = filter.action;
    break;
  }
  if (action == "ignore") return;
  if (action == "error") {
    Value exception = Value::make<Exception>(category, std::vector<Value>{make_str(message)});
    static_cast<Exception*>(exception.object())->hint = hint;
    throw Raised(std::move(exception));
  }
  if (action != "always") {
    const std::string where = action == "default" && frame ? frame->code.source->name() + ":" + std::to_string(line) : "";
    if (!warnings.shown.insert(action + "\n" + category.name + "\n" + where + "\n" + message).second) return;
  }
  if (auto* list = warnings.recorded.as<List>()) {
    Value exception = Value::make<Exception>(category, std::vector<Value>{make_str(message)});
    list->items.push_back(Value::make<WarningMessage>(std::move(exception), category, line, frame ? frame->code.source->name() : ""));
    return;
  }
  std::string text = category.name + ": " + message;
  if (with_place && frame) text = render({Blame::user, category.name, message, Label{frame->code.source, frame->at, ""}, {}, hint});
  if (!text.ends_with('\n')) text += '\n';
  write_error(text);
}

}  // namespace gasell
