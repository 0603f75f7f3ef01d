#include "tools/gasell/line_editor.h"

#include <fmt/format.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "tools/gasell/interrupt.h"

namespace gasell::cli {

namespace {

constexpr int kHistorySize = 5000;
constexpr size_t kShownCandidates = 60;

size_t common_prefix(const std::vector<std::string>& words) {
  size_t n = words.front().size();
  for (const std::string& word : words) {
    const auto [a, b] =
        std::mismatch(words.front().begin(), words.front().begin() + static_cast<std::ptrdiff_t>(std::min(n, word.size())), word.begin());
    n = static_cast<size_t>(a - words.front().begin());
  }
  return n;
}

}  // namespace

struct LineEditor::State {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::filesystem::path history_path;
  Completer completer;
  std::string prompt;
  bool interrupted = false;
  std::deque<std::string> pasted;  // whole lines that wait
  bool brackets = false;           // the terminal is asked to mark pastes
  std::string terminal;            // whose abilities are used; libedit keeps a pointer to it
  std::string rest;                // of a paste, behind its last line end: to be edited

  static State& of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<State*>(data);
  }
  static char* show_prompt(EditLine* editor) { return of(editor).prompt.data(); }

  /// False when Ctrl-C came before any input, also between the prompt and this wait: the signal is let through only while it waits.
  static bool wait_for_input() {
    sigset_t interrupt, around;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &around);
    bool asked = InterruptHandler::take();
    while (!asked) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (ppoll(&input, 1, nullptr, &around) >= 0 || errno != EINTR) break;
      asked = InterruptHandler::take();
    }
    pthread_sigmask(SIG_SETMASK, &around, nullptr);
    return !asked;
  }

  /// libedit retries a read that a signal ended, so Ctrl-C has to be noticed here: one character of UTF-8 from the terminal.
  static int read_character(EditLine* editor, wchar_t* out) {
    State& state = of(editor);
    const auto byte = [&](unsigned char& c) -> int {
      while (true) {
        if (!wait_for_input()) {
          state.interrupted = true;
          return -1;
        }
        const ssize_t n = ::read(STDIN_FILENO, &c, 1);
        if (n >= 0) return static_cast<int>(n);
        if (errno != EINTR) return -1;
      }
    };
    unsigned char c = 0;
    if (const int n = byte(c); n != 1) return n;
    int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    uint32_t code = more == 3 ? c & 0x07u : more == 2 ? c & 0x0fu : more == 1 ? c & 0x1fu : c;
    for (; more > 0; --more) {
      if (const int n = byte(c); n != 1) return n;
      code = code << 6 | (c & 0x3fu);
    }
    *out = static_cast<wchar_t>(code);
    return 1;
  }

  static unsigned char complete(EditLine* editor, int) {
    State& state = of(editor);
    const LineInfo* info = el_line(editor);
    const std::string_view before(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
    if (before.find_first_not_of(" \t") == std::string_view::npos) {
      el_insertstr(editor, "    ");  // at the start of a line Tab indents
      return CC_REFRESH;
    }
    const Completion found = state.completer(before);
    if (found.candidates.empty()) return CC_REFRESH_BEEP;
    const size_t shared = common_prefix(found.candidates);
    if (shared > found.replaces || found.candidates.size() == 1) {
      el_insertstr(editor, found.candidates.front().substr(found.replaces, shared - found.replaces).c_str());
      return CC_REFRESH;
    }
    std::string list = "\n";
    for (size_t i = 0; i < std::min(kShownCandidates, found.candidates.size()); ++i) list += (i ? "  " : "") + found.candidates[i];
    if (found.candidates.size() > kShownCandidates) list += fmt::format("  … {} more", found.candidates.size() - kShownCandidates);
    std::fputs((list + "\n").c_str(), stdout);
    std::fflush(stdout);
    return CC_REDISPLAY;
  }

  /// Bracketed paste: the terminal says where a paste begins (this is called) and ends. Its lines are not typed text: no Tab completes and
  /// no empty line ends a block.
  static unsigned char paste(EditLine* editor, int) {
    State& state = of(editor);
    static constexpr std::string_view kEnd = "\033[201~";
    std::string text;
    char c = 0;
    while (!text.ends_with(kEnd)) {
      const ssize_t n = ::read(STDIN_FILENO, &c, 1);
      if (n < 0 && errno == EINTR && !InterruptHandler::take()) continue;
      if (n != 1) return CC_REFRESH_BEEP;
      text += c;
    }
    text.resize(text.size() - kEnd.size());
    std::vector<std::string> lines{""};
    for (size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte == '\r' || byte == '\n') {
        if (byte == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
        lines.emplace_back();
      } else if (byte == '\t') {
        lines.back() += "    ";
      } else if (byte >= 0x20 && byte != 0x7f) {
        lines.back() += text[i];
      }
    }
    if (lines.size() == 1) {
      el_insertstr(editor, lines.front().c_str());
      return CC_REFRESH;
    }
    state.rest = lines.back();
    state.pasted.assign(lines.begin() + 1, lines.end() - 1);
    el_push(editor, (lines.front() + "\n").c_str());
    return CC_NORM;
  }

  /// A machine reached by ssh may not know the terminal ("xterm-kitty"), or know none (no terminfo at all). Then its family's abilities are
  /// used ("xterm"), or libedit's plain lines; without libedit's words about it.
  void open_editor(const char* name) {
    std::FILE* quiet = std::fopen("/dev/null", "w");
    editor = el_init("gasell", stdin, stdout, quiet ? quiet : stderr);
    terminal = name ? name : "dumb";
    while (el_set(editor, EL_TERMINAL, terminal.c_str()) != 0 && terminal != "dumb") {
      const size_t family = terminal.rfind('-');
      terminal = family == std::string::npos ? "dumb" : terminal.substr(0, family);
    }
    el_set(editor, EL_SETFP, 2, stderr);
    if (quiet) std::fclose(quiet);
  }

  void forget_paste() {
    pasted.clear();
    rest.clear();
  }

  void change_history(int operation, const char* text) {
    HistEvent event;
    ::history(history, &event, operation, text);
  }
};

LineEditor::LineEditor(std::filesystem::path history_path, Completer completer) : state_(std::make_unique<State>()) {
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");  // sources are UTF-8 whatever the locale says
  state_->completer = std::move(completer);
  state_->history_path = std::move(history_path);
  const char* terminal = std::getenv("TERM");
  state_->brackets = isatty(STDOUT_FILENO) && terminal && std::strcmp(terminal, "dumb") != 0;
  state_->open_editor(terminal);
  state_->history = ::history_init();
  HistEvent event;
  ::history(state_->history, &event, H_SETSIZE, kHistorySize);
  ::history(state_->history, &event, H_SETUNIQUE, 1);
  if (!state_->history_path.empty()) state_->change_history(H_LOAD, state_->history_path.c_str());
  el_set(state_->editor, EL_CLIENTDATA, state_.get());
  el_set(state_->editor, EL_PROMPT, &State::show_prompt);
  el_set(state_->editor, EL_EDITOR, "emacs");
  el_set(state_->editor, EL_HIST, ::history, state_->history);
  el_set(state_->editor, EL_GETCFN, &State::read_character);
  el_set(state_->editor, EL_ADDFN, "gasell-complete", "complete a name", &State::complete);
  el_set(state_->editor, EL_BIND, "\t", "gasell-complete", nullptr);
  el_set(state_->editor, EL_ADDFN, "gasell-paste", "take a paste", &State::paste);
  el_set(state_->editor, EL_BIND, "\033[200~", "gasell-paste", nullptr);
  el_set(state_->editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(state_->editor, EL_BIND, "\033[3~", "ed-delete-next-char", nullptr);
  el_source(state_->editor, nullptr);  // the user's ~/.editrc
}

LineEditor::~LineEditor() {
  if (!state_->history_path.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(state_->history_path.parent_path(), ignored);
    state_->change_history(H_SAVE, state_->history_path.c_str());
    chmod(state_->history_path.c_str(), S_IRUSR | S_IWUSR);  // entries may hold what is nobody else's business
  }
  history_end(state_->history);
  el_end(state_->editor);
}

LineEditor::Result LineEditor::read(const std::string& prompt, std::string& line) {
  state_->prompt = prompt;
  state_->interrupted = false;
  const bool stopped = InterruptHandler::take();
  if (!state_->pasted.empty() && !stopped) {
    line = std::move(state_->pasted.front());
    state_->pasted.pop_front();
    std::fputs((prompt + line + "\n").c_str(), stdout);
    std::fflush(stdout);
    return Result::line;
  }
  if (stopped) state_->forget_paste();
  el_set(state_->editor, EL_PREP_TERM, 1);  // before the prompt, or the terminal too echoes what is typed the moment it appears
  if (state_->brackets) std::fputs("\033[?2004h", stdout), std::fflush(stdout);
  if (!state_->rest.empty()) el_push(state_->editor, std::exchange(state_->rest, {}).c_str());
  int count = 0;
  const char* text = el_gets(state_->editor, &count);
  if (state_->brackets) std::fputs("\033[?2004l", stdout), std::fflush(stdout);
  if (state_->interrupted) {
    state_->forget_paste();
    el_reset(state_->editor);
    std::fputs("^C\n", stdout);
    std::fflush(stdout);
    return Result::interrupted;
  }
  if (!text || count <= 0) {
    std::fputs("\n", stdout);
    std::fflush(stdout);
    return Result::end;
  }
  line.assign(text, static_cast<size_t>(count));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  return Result::line;
}

const std::deque<std::string>& LineEditor::pasted() const { return state_->pasted; }

void LineEditor::remember(const std::string& line) {
  if (line.find_first_not_of(" \t") != std::string::npos) state_->change_history(H_ENTER, line.c_str());
}

}  // namespace gasell::cli
