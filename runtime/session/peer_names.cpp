#include "runtime/session/peer_names.h"

#include <map>
#include <mutex>

#include "runtime/session/objects.h"

namespace gasell {
namespace {

/// The rest of the line that opens with `opening`; a text's first line says what it is.
std::string_view line_after(std::string_view text, const std::string& opening) {
  const size_t begin = text.find("\n" + opening);
  if (begin == text.npos) return {};
  const std::string_view rest = text.substr(begin + 1 + opening.size());
  return rest.substr(0, rest.find('\n'));
}

/// NotImplementedError that is a further exception, too.
const Type& refusal_type(std::string_view missing) {
  static std::mutex mutex;
  static std::map<std::string, Type, std::less<>> types;
  std::lock_guard lock(mutex);
  auto found = types.find(missing);
  if (found == types.end()) {
    Type type{"NotImplementedError", "builtins", exception_type("NotImplementedError")};
    type.second_base = exception_type(missing);
    found = types.emplace(missing, std::move(type)).first;
  }
  return found->second;
}

}  // namespace

bool PeerNames::has(std::string_view owner, std::string_view name) const {
  const std::string list = std::string(line_after(names, std::string(owner) + ":")) + " ";
  return list.find(" " + std::string(name) + " ") != list.npos;
}

bool PeerNames::has_parts(std::string_view module) const {
  return line_after(names, "import:").find(" " + std::string(module) + ".") != std::string_view::npos;
}

std::string_view PeerNames::successor(std::string_view owner, std::string_view name) const {
  return line_after(former, std::string(owner) + "." + std::string(name) + " ");
}

void refuse_name(std::string_view missing, std::string message, std::string hint) {
  Value value = Value::make<Exception>(refusal_type(missing), std::vector<Value>{make_str(std::move(message))});
  auto& exception = static_cast<Exception&>(*value.object());
  exception.hint = std::move(hint);
  exception.blame = Blame::limitation;
  throw Raised(std::move(value));
}

}  // namespace gasell
