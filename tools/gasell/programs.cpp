#include "tools/gasell/programs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lang/diagnostic.h"
#include "runtime/io/os_error.h"
#include "tools/gasell/terminal.h"

extern char** environ;

namespace gasell::cli {

namespace {

/// A shell with a command, its standard input or output joined to ours by `pipe_end` where that is given. The signals that we handle are as
/// they are for a fresh process.
pid_t start_shell(const std::string& command, const std::vector<std::string>& arguments, int stands_for, int pipe_end) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGPIPE, SIGXFSZ, SIGWINCH}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (pipe_end >= 0) posix_spawn_file_actions_adddup2(&actions, pipe_end, stands_for);
  std::vector<std::string> words{"sh", "-c", command, "sh"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t process = -1;
  const int error = posix_spawn(&process, "/bin/sh", &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw os_error(error, "/bin/sh");
  return process;
}

int status_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct Pipe {
  int ends[2] = {-1, -1};  // to read from, to write to
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw os_error(errno, "a pipe");
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close(int which) {
    ::close(ends[which]);
    ends[which] = -1;
  }
};

std::string editor_command(const std::string& editor) {
  if (!editor.empty()) return editor;
  for (const char* variable : {"VISUAL", "EDITOR"})
    if (const char* value = std::getenv(variable); value && *value) return value;
  return "vi";
}

}  // namespace

int run_shell(const std::string& command) {
  flush_stdout();
  return status_of(start_shell(command, {}, -1, -1));
}

std::string shell_output(const std::string& command, int& status) {
  flush_stdout();
  Pipe pipe;
  const pid_t process = start_shell(command, {}, STDOUT_FILENO, pipe.ends[1]);
  pipe.close(1);
  std::string text;
  char part[65536];
  for (ssize_t n; (n = ::read(pipe.ends[0], part, sizeof part)) != 0;) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0) text.append(part, static_cast<size_t>(n));
  }
  status = status_of(process);
  return text;
}

void edit_file(const std::string& path, const std::string& editor) {
  const std::string command = editor_command(editor);
  flush_stdout();
  const int status = status_of(start_shell(command + " \"$1\"", {path}, -1, -1));
  if (status != 0)
    throw Error("RuntimeError", fmt::format("the editor '{}' ended with status {}", command, status),
                "%config editor = NAME, or the variable EDITOR, choose another one", Blame::environment);
}

std::string edit_text(const std::string& text, const std::string& editor) {
  std::string path = (std::filesystem::temp_directory_path() / "gasell_XXXXXX.gsl").string();
  const int file = ::mkstemps(path.data(), 4);
  if (file < 0) throw os_error(errno, path);
  ::close(file);
  std::ofstream(path) << text;
  try {
    edit_file(path, editor);
  } catch (...) {
    std::filesystem::remove(path);
    throw;
  }
  std::ostringstream edited;
  edited << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return edited.str();
}

void page(std::string_view text, bool wanted) {
  winsize window = {};
  const bool is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0;
  const auto lines = std::count(text.begin(), text.end(), '\n');
  const char* pager = std::getenv("PAGER");
  const char* terminal = std::getenv("TERM");
  if (!wanted || !is_terminal || lines < window.ws_row || !terminal || std::strcmp(terminal, "dumb") == 0) return write_stdout(text);
  flush_stdout();
  Pipe pipe;
  const pid_t process =
      start_shell(pager && *pager ? pager : "command -v less >/dev/null && exec less -RFX || exec cat", {}, STDIN_FILENO, pipe.ends[0]);
  pipe.close(0);
  while (!text.empty()) {
    const ssize_t n = ::write(pipe.ends[1], text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // the pager was left
    text.remove_prefix(static_cast<size_t>(n));
  }
  pipe.close(1);
  status_of(process);
}

std::string clipboard_text() {
  struct Source {
    const char* wants;  // a variable of the environment
    const char* command;
  };
  for (const Source& source : {Source{"WAYLAND_DISPLAY", "wl-paste -n"}, Source{"DISPLAY", "xclip -selection clipboard -o"},
                               Source{"DISPLAY", "xsel -b -o"}, Source{"TMUX", "tmux save-buffer -"}}) {
    if (!std::getenv(source.wants)) continue;
    int status = 0;
    std::string text = shell_output(std::string(source.command) + " 2>/dev/null", status);
    if (status == 0) return text;
  }
  throw Error("RuntimeError", "no program here tells what was copied",
              "install wl-clipboard, xclip or xsel; or paste into the prompt: it is taken as a file would be", Blame::environment);
}

std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool within = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == quote) {
        quote = 0;
      } else {
        word += quote == '"' && c == '\\' && i + 1 < text.size() ? text[++i] : c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      within = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (within) words.push_back(std::move(word)), word.clear();
      within = false;
    } else {
      word += c == '\\' && i + 1 < text.size() ? text[++i] : c;
      within = true;
    }
  }
  if (quote) throw Error("ValueError", fmt::format("the quote {} has no end", quote));
  if (within) words.push_back(std::move(word));
  return words;
}

}  // namespace gasell::cli
