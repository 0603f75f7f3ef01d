#include "tools/gasell/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "lang/diagnostic.h"
#include "lang/parser.h"
#include "runtime/device/trace.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/os_error.h"
#include "tools/gasell/dashboard/dashboard.h"
#include "tools/gasell/emit.h"
#include "tools/gasell/explain.h"
#include "tools/gasell/host.h"
#include "tools/gasell/terminal.h"

namespace gasell::cli {

namespace {

/// Throws Error: OSError and its like.
std::string read_all(std::FILE* file, const std::string& name) {
  std::string text;
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, n);
  if (std::ferror(file)) throw os_error(errno, name);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // a byte order mark is no part of the script
  return text;
}

/// What --profile and --trace ask for.
void report_trace(const Engine& engine, const Options& options) {
  if (options.profile) {
    flush_stdout();
    write_stderr(engine.trace().summary());
  }
  if (options.trace.empty()) return;
  try {
    if (options.trace.ends_with(".html")) {
      AtomicFile page(options.trace);
      page.write(page_of_trace(engine.trace()));
      page.commit();
    } else {
      engine.trace().write(options.trace);
    }
  } catch (const Error& e) {  // the script's own end is what counts
    write_stderr(fmt::format("gasell: cannot write the trace: {}\n", e.diagnostic().message));
  }
}

}  // namespace

SourceRef read_file(const std::string& name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"), &std::fclose);
  if (!file) throw os_error(errno, name);
  return std::make_shared<Source>(name, read_all(file.get(), name));
}

SourceRef read_script(const Options& options) {
  if (options.action == Action::run_text) return std::make_shared<Source>("<text>", options.script);
  try {
    if (options.action == Action::run_stdin) return std::make_shared<Source>("<stdin>", read_all(stdin, "<stdin>"));
    return read_file(options.script);
  } catch (const Error& e) {
    throw Finish{2, fmt::format("gasell: cannot read the script: {}\n", e.diagnostic().message)};
  }
}

int run_script(const Options& options) {
  const SourceRef source = read_script(options);
  if (options.emit == Emit::ast) return guarded(options, [&] { write_stdout(dump(*parse_module(source))); });
  return guarded(options, [&] {
    const ast::ModuleRef module = parse_module(source);  // before the engine: a syntax error is quick
    Host host(options, false);
    const bool emits = options.emit != Emit::nothing;
    std::shared_ptr<const int64_t> emitted;
    if (emits) {
      host.interpreter.write_out = [](std::string_view) {};  // the IR is the output
      emitted = emit_plans(host.engine, options);
    }
    Explanation explanation;
    if (options.explain) explanation.watch(host.engine);
    const auto finish = [&] {
      if (options.explain) {
        flush_stdout();
        write_stderr(explanation.text());
      }
      report_trace(host.engine, options);
    };
    try {
      host.interpreter.run(module);
    } catch (...) {
      finish();
      throw;
    }
    finish();
    if (emitted && *emitted == 0) write_stderr("gasell: there is nothing to emit, the script computed no array\n");
  });
}

std::vector<SourceRef> read_scripts(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<SourceRef> sources;
  try {
    for (const std::string& path : paths) {
      std::error_code error;
      if (path == "-") {
        sources.push_back(std::make_shared<Source>("<stdin>", read_all(stdin, "<stdin>")));
      } else if (!fs::is_directory(path, error)) {
        sources.push_back(read_file(path));
      } else {
        std::vector<std::string> files;
        for (auto entry = fs::recursive_directory_iterator(path, error); !error && entry != fs::recursive_directory_iterator();
             entry.increment(error))
          if (entry->path().extension() == ".gsl" && entry->is_regular_file(error)) files.push_back(entry->path().string());
        if (error) throw os_error(error.value(), path);
        std::sort(files.begin(), files.end());
        for (const std::string& file : files) sources.push_back(read_file(file));
      }
    }
  } catch (const Error& e) {
    throw Finish{2, fmt::format("gasell: cannot read the script: {}\n", e.diagnostic().message)};
  }
  return sources;
}

}  // namespace gasell::cli
