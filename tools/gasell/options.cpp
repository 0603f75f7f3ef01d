#include "tools/gasell/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "lang/diagnostic.h"
#include "runtime/device/parse_bytes.h"
#include "runtime/gpu/device_choice.h"
#include "runtime/session/script_path.h"
#include "tools/gasell/shell_completions.h"
#include "tools/version.h"

namespace gasell::cli {

namespace {

constexpr int kMostPort = 65535;
constexpr int64_t kMostColumns = 10'000;

constexpr const char* kFooter = R"(Without a script, Gasell reads from the terminal.

Environment: GASELL_THREADS, GASELL_MEMORY, GASELL_DEVICE, GASELL_FUSE=0, GASELL_CHUNK, GASELL_CACHE=0 stand for the options,
GASELL_PATH holds further folders for `import`, NO_COLOR switches colour off. docs/debugging.md explains how to look inside.
Exit status: 0, or 1 when the script fails, 2 when the command line is wrong, 130 when interrupted.)";

const std::map<std::string, Emit> kEmitNames = {{"ast", Emit::ast},   {"graph", Emit::graph},  {"loops", Emit::loops},
                                                {"llvm", Emit::llvm}, {"asm", Emit::assembly}, {"grid", Emit::grid},
                                                {"ptx", Emit::ptx}};

[[noreturn]] void usage_error(const std::string& message) { throw Finish{2, fmt::format("gasell: {}\nTry 'gasell --help'.\n", message)}; }

/// A number from 1 to `most`.
int64_t whole_number(std::string_view option, const std::string& text, int64_t most) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1 || number > most)
    usage_error(fmt::format("{} wants a whole number from 1 to {}, not '{}'", option, most, text));
  return number;
}

/// The file of a module that is run as a script, in the working directory or a folder of GASELL_PATH.
std::string module_file(const std::string& module) {
  for (const char* ending : {".gsl", "/__main__.gsl"})
    if (const auto found = find_script_path(module, ending, nullptr)) return found->string();
  throw Finish{1, fmt::format("gasell: No module named {}\n", module)};
}

/// CLI11's help with a usage line that knows of scripts (App::usage came after Debian 12's version).
std::string help_text(const CLI::App& app) {
  std::string text = app.help();
  const size_t begin = text.find("Usage:");
  if (begin != std::string::npos)
    text.replace(begin, text.find('\n', begin) - begin, "Usage: gasell [OPTIONS] [FILE.gsl | -c TEXT | -m NAME | -] [ARGUMENTS]");
  return text;
}

}  // namespace

std::optional<Emit> emit_named(const std::string& name) {
  const auto found = kEmitNames.find(name);
  return found == kEmitNames.end() ? std::nullopt : std::optional(found->second);
}

Options parse_command_line(int argc, char** argv) {
  Options options;
  // What stands behind a module's name, or a script, is the script's own; a number behind --dashboard is its port.
  std::vector<std::string> words(argv + 1, argv + argc), of_module;
  for (size_t k = 0; k + 1 < words.size() && !words[k].starts_with("-c") && words[k] != "-" && !words[k].ends_with(".gsl"); ++k) {
    if (words[k] == "--dashboard" && words[k + 1].find_first_not_of("0123456789") == std::string::npos) {
      words[k] += "=" + words[k + 1];
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    }
    if (words[k] == "-m") {
      of_module.assign(words.begin() + static_cast<std::ptrdiff_t>(k) + 2, words.end());
      words.resize(k + 2);
      break;
    }
  }
  try {
    options.engine = EngineOptions::from_environment();
  } catch (const Error& e) {
    usage_error(e.diagnostic().hint.empty() ? e.diagnostic().message : fmt::format("{}; {}", e.diagnostic().message, e.diagnostic().hint));
  }
  options.engine.progress = isatty(STDERR_FILENO) != 0;

  CLI::App app{"Gasell: a small array language that is fused, compiled and run on every core.", "gasell"};
  app.footer(kFooter);
  app.prefix_command();
  std::string text, module, memory, device, emit, threads, chunk, dashboard;
  bool version = false, stays = false, no_fuse = false, no_cache = false;
  auto* text_option = app.add_option("-c", text, "Run this text")->type_name("TEXT");
  app.add_flag("-i", stays, "Stay in a session when the script has run");
  auto* module_option = app.add_option("-m", module, "Run this module as a script: NAME.gsl, or NAME/__main__.gsl")->type_name("NAME");
  auto* threads_option = app.add_option("--threads", threads, "Threads that compute (default: all cores)")->type_name("N");
  auto* memory_option =
      app.add_option("--memory", memory, "What arrays may take, e.g. 1GiB (default: three quarters of the machine's)")->type_name("SIZE");
  auto* device_option = app.add_option("--device", device, "auto, cpu, gpu, gpu:0,2 or sim:4")->type_name("DEVICE");
  app.add_flag("--no-fuse", no_fuse, "Make every operation a kernel of its own");
  auto* chunk_option = app.add_option("--chunk", chunk, "Elements a task works on, at most")->type_name("N");
  app.add_flag("--no-cache", no_cache, "Neither read nor write the kernel cache on disk");
  auto* emit_option =
      app.add_option("--emit", emit, "Print ast, graph, loops, llvm or asm of what the script computes, instead of its output")
          ->type_name("WHAT");
  auto* after_option = app.add_option("--after", options.after_pass, "With --emit=loops: the loops after this pass")->type_name("PASS");
  app.add_flag("--explain", options.explain, "Say which kernels ran, why their results are stored, and what they read, wrote and computed");
  app.add_option("--trace", options.trace,
                 "Write what ran when on which device, for Perfetto or chrome://tracing; as a page of its own to FILE.html")
      ->type_name("FILE.json");
  auto* dashboard_option =
      app.add_flag("--dashboard{free}", dashboard, "Show what runs in a browser on this machine: prints its address")->type_name("[=PORT]");
  app.add_flag("--profile", options.profile, "Say what kernels and copies took how long, and at which rate");
  app.add_flag("--sandbox", options.sandbox, "Let the script reach no file, no other machine and no variable of the environment");
  app.add_option("--allow", options.allow,
                 "With --sandbox: read:FOLDER, write:FOLDER, env, clock, network, plugins, unchecked, raw-code; may be repeated")
      ->type_name("WHAT")
      ->allow_extra_args(false);
  app.add_flag("--json-errors", options.json_errors, "Print errors as one JSON object a line");
  app.add_flag("--internal", options.internal, "Let errors show what the compiler underneath said");
  app.add_flag("--version", version, "Print the version");
  auto* doctor = app.add_subcommand("doctor", "Say what Gasell found on this machine");
  auto* check = app.add_subcommand("check", "Look for errors in scripts without running them");
  check->add_option("FILE", options.paths, "Scripts, folders, or - for standard input")->required()->type_name("");
  check->add_flag("--json", options.json_errors, "Print what is found as one JSON object a line");
  auto* format = app.add_subcommand("fmt", "Write scripts in the one style");
  format->add_option("FILE", options.paths, "Scripts, folders, or - for standard input")->required()->type_name("");
  format->add_flag("--check", options.only_checks, "Write nothing; exit status 1 where something would change");
  format->add_flag("--diff", options.shows_diff, "Write nothing; print what would change");
  std::string line_length;
  auto* length_option = format->add_option("--line-length", line_length, "Columns that a line may have (default: 120)")->type_name("N");
  auto* help = app.add_subcommand("help", "Say what names are: signatures, descriptions, examples");
  help->add_option("NAME", options.paths, "np.roll, DataFrame.merge, scipy.linalg.svd …")->required()->type_name("");
  help->add_flag("--json", options.json_errors, "Print one JSON object a name, with the members of modules and classes");
  auto* lsp = app.add_subcommand("lsp", "Serve an editor over standard input and output (Language Server Protocol)");
  lsp->add_flag_callback("--stdio", [] {}, "Standard input and output, which are used anyway");
  std::string shell;
  auto* completions = app.add_subcommand("completions", "Print what a shell needs to complete this command");
  completions->add_option("SHELL", shell, "bash, zsh or fish")->required()->type_name("");
  auto* manual = app.add_subcommand("man", "Print the manual page: gasell man | man -l -");

  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForHelp&) {
    throw Finish{0, help_text(app)};
  } catch (const CLI::ParseError& e) {
    usage_error(e.what());
  }
  if (version) throw Finish{0, fmt::format("Gasell {}\n", kVersion)};

  if (*dashboard_option) options.dashboard = dashboard == "free" ? 0 : static_cast<int>(whole_number("--dashboard", dashboard, kMostPort));
  if (*threads_option) options.engine.threads = static_cast<int>(whole_number("--threads", threads, 4096));
  if (*chunk_option) options.engine.chunk = whole_number("--chunk", chunk, int64_t{1} << 62);
  if (no_fuse) options.engine.fuse = false;
  if (no_cache) options.engine.cache = false;
  if (*device_option) options.engine.device = device;
  options.engine.trace = options.profile || !options.trace.empty();
  try {
    if (*memory_option) options.engine.memory = parse_bytes(memory);
    parse_device(options.engine.device);
  } catch (const Error& e) {
    usage_error(e.diagnostic().hint.empty() ? e.diagnostic().message : fmt::format("{}; {}", e.diagnostic().message, e.diagnostic().hint));
  }
  if (*emit_option) {
    const auto found = kEmitNames.find(emit);
    if (found == kEmitNames.end()) usage_error(fmt::format("--emit takes ast, graph, loops, llvm, asm, grid or ptx, not '{}'", emit));
    options.emit = found->second;
  }
  if (!options.allow.empty() && !options.sandbox) usage_error("--allow goes with --sandbox");
  if (*after_option && options.emit != Emit::loops) usage_error("--after goes with --emit=loops");

  if (*doctor || *check || *format || *help || *lsp || *completions || *manual) {
    const auto extra = app.remaining(true);
    if (!extra.empty()) usage_error(fmt::format("unexpected argument '{}'", extra[0]));
    if (*completions) throw Finish{0, shell_completions(app, shell)};
    if (*manual) throw Finish{0, manual_page(app, kFooter)};
    if (*length_option) options.line_length = static_cast<int>(whole_number("--line-length", line_length, kMostColumns));
    options.action = *doctor ? Action::doctor : *check ? Action::check : *lsp ? Action::lsp : *help ? Action::help : Action::format;
    return options;
  }
  options.arguments = app.remaining();
  if (*module_option) {
    options.arguments = std::move(of_module);
    options.action = stays ? Action::repl : Action::run_file;
    options.script = module_file(module);
    return options;
  }
  if (stays && (*text_option || options.arguments.empty() || options.arguments.front() == "-")) usage_error("-i wants a script");
  if (*text_option) {
    // Behind the text everything is the script's; before it an unknown option is a mistake.
    const char* const* const dash_c =
        std::find_if(argv, argv + argc, [](const char* word) { return std::string_view(word).starts_with("-c"); });
    for (const char* const* word = argv + 1; word < dash_c && !options.arguments.empty(); ++word)
      if (*word == options.arguments.front()) usage_error(fmt::format("unknown option '{}'", *word));
    options.action = Action::run_text;
    options.script = text;
    return options;
  }
  if (options.sandbox && (stays || (options.arguments.empty() && isatty(STDIN_FILENO)))) usage_error("--sandbox wants a script");
  if (options.arguments.empty()) {
    options.action = isatty(STDIN_FILENO) ? Action::repl : Action::run_stdin;
    return options;
  }
  const std::string first = options.arguments.front();
  options.arguments.erase(options.arguments.begin());
  if (first == "-") {
    options.action = Action::run_stdin;
  } else if (first.starts_with("-")) {
    usage_error(fmt::format("unknown option '{}'", first));
  } else {
    options.action = stays ? Action::repl : Action::run_file;
    options.script = first;
  }
  return options;
}

}  // namespace gasell::cli
