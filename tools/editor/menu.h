// The list of what could complete a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/editor/services.h"
#include "tools/editor/view.h"

namespace gasell::editor {

class Menu {
 public:
  bool is_open() const { return !completion_.candidates.empty(); }
  /// `written`: what stands from the completion's beginning to the cursor.
  void open(Completion completion, std::string written);
  void close() { completion_ = {}; }

  /// The next candidate or the one before; all around.
  void step(int by);
  bool has_choice() const { return chosen_ >= 0; }
  /// What was chosen, or what had been written.
  std::string text() const { return has_choice() ? completion_.candidates[static_cast<size_t>(chosen_)] + completion_.closing : written_; }
  const std::string& written() const { return written_; }
  size_t begin() const { return completion_.begin; }
  const std::vector<std::string>& candidates() const { return completion_.candidates; }

  /// At most `rows` of them, the chosen one among them, each with what `services` tell of it; and what did not fit of that for the chosen
  /// one.
  std::vector<StyledLine> lines(const Services& services, std::string_view text, int columns, int rows) const;

 private:
  Completion completion_;
  std::string written_;
  int chosen_ = -1;
};

/// What all of `words`, at least one, begin with.
std::string common_prefix(const std::vector<std::string>& words);

}  // namespace gasell::editor
