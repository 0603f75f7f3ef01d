#include "tools/gasell/format_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/io/atomic_file.h"
#include "tools/format/format.h"
#include "tools/gasell/script.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

int run_format(const Options& options) {
  int status = 0;
  for (const SourceRef& source : read_scripts(options.paths)) {
    const int result = guarded(options, [&] {
      const std::string text = format::format_text(source, options.line_length);
      const bool changes = text != source->text();
      if (options.only_checks || options.shows_diff) {
        if (changes) status = std::max(status, 1);
        if (options.shows_diff) write_stdout(format::unified_diff(source->name(), source->text(), text));
        if (changes && options.only_checks) write_stderr(fmt::format("{} would change\n", source->name()));
      } else if (source->name() == "<stdin>") {
        write_stdout(text);
      } else if (changes) {
        AtomicFile file(source->name());
        file.write(text);
        file.commit();
        write_stderr(fmt::format("{} formatted\n", source->name()));
      }
    });
    if (result > 1) return result;
    if (result != 0) status = result;
  }
  return status;
}

}  // namespace gasell::cli
