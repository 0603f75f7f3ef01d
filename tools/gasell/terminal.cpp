#include "tools/gasell/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "lang/render.h"
#include "runtime/session/interpreter.h"

namespace gasell::cli {

namespace {

void report(const Options& options, const Diagnostic& diagnostic) {
  const std::string text = options.json_errors ? render_json(diagnostic) : render(diagnostic, {.colour = wants_colour(STDERR_FILENO)});
  write_stderr(text.ends_with('\n') ? text : text + "\n");
}

/// An exception that is none of ours: a bug, shown without its C++ words unless asked for.
Diagnostic internal_error(const Options& options, const char* what) {
  Diagnostic d;
  d.blame = Blame::internal;
  d.kind = "InternalError";
  d.message = options.internal ? fmt::format("Gasell made a mistake: {}", what) : "Gasell made a mistake, your script did not";
  d.hint =
      options.internal ? "please report it with the script" : "run again with --internal for details, and please report it with the script";
  return d;
}

[[noreturn]] void output_failed() {
  const int error = errno;
  std::clearerr(stdout);
  if (error == EPIPE) throw OutputClosed{};
  throw Error("OSError", fmt::format("[Errno {}] {} while writing the output", error, std::strerror(error)), {}, Blame::environment);
}

}  // namespace

bool wants_colour(int file_descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(file_descriptor) && !(no_colour && *no_colour) && terminal && std::strcmp(terminal, "dumb") != 0;
}

void write_stdout(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_failed();
}

void flush_stdout() {
  // What compiled functions print is looked at here alone: a failed write of theirs left its mark, but not why.
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  if (errno == 0) errno = EIO;
  output_failed();
}

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void open_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF) open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int guarded(const Options& options, const std::function<void()>& work) {
  const auto flush_quietly = [] { std::fflush(stdout); };
  try {
    work();
    flush_stdout();
    return 0;
  } catch (const Error& e) {
    flush_quietly();
    report(options, e.diagnostic().blame == Blame::internal ? internal_error(options, e.what()) : e.diagnostic());
    return 1;
  } catch (const Interpreter::Exit& e) {
    flush_quietly();
    return e.code;
  } catch (const Interrupted&) {
    flush_quietly();
    write_stderr("KeyboardInterrupt\n");
    return 130;
  } catch (const OutputClosed&) {
    return 141;  // what a shell shows for a program that SIGPIPE ended
  } catch (const std::bad_alloc&) {
    flush_quietly();
    report(options,
           {Blame::environment, "MemoryError", "the machine has no more memory to give", {}, {}, "--memory bounds what arrays take"});
    return 1;
  } catch (const std::exception& e) {
    flush_quietly();
    report(options, internal_error(options, e.what()));
    return 1;
  }
}

}  // namespace gasell::cli
