#include "runtime/session/call_profile.h"

#include <algorithm>

#include "runtime/session/evaluator.h"

namespace gasell {

namespace {

int line_of(const FunctionCode& code) {
  if (code.definition)
    if (const auto* definition = std::get_if<ast::FunctionDef>(&code.definition->node))
      return code.source->position(definition->name_span.begin).line;
  return code.lambda ? code.source->position(code.lambda->span.begin).line : 1;
}

}  // namespace

void CallProfile::enter(const FunctionCode& code) {
  Entry& entry = entries_[&code];
  if (entry.row.calls++ == 0) {
    entry.row.name = code.qualified_name;
    entry.row.source = code.source;
    entry.row.line = line_of(code);
  }
  ++entry.active;
  calls_.push_back({&entry, Clock::now()});
}

void CallProfile::leave() {
  const Call call = calls_.back();
  calls_.pop_back();
  const double seconds = std::chrono::duration<double>(Clock::now() - call.begin).count();
  call.entry->row.own += seconds - call.inner;
  if (--call.entry->active == 0) call.entry->row.total += seconds;
  if (!calls_.empty()) calls_.back().inner += seconds;
}

std::vector<CallProfile::Row> CallProfile::rows() const {
  std::vector<Row> rows;
  for (const auto& [code, entry] : entries_) rows.push_back(entry.row);
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.own > b.own; });
  return rows;
}

}  // namespace gasell
