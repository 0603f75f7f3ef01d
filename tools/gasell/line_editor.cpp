#include "tools/gasell/line_editor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <histedit.h>
#include <poll.h>
#include <sys/file.h>
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
constexpr std::string_view kHistoryHead = "_HiStOrY_V2_\n";  // libedit's files begin so
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

/// A line as libedit's files have it.
std::string history_line(std::string_view line) {
  std::string text;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte > 0x20 && byte < 0x7f && c != '\\' ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return text + "\n";
}

/// The history's file, locked: several sessions share it. Closes itself.
class HistoryFile {
 public:
  explicit HistoryFile(const std::filesystem::path& path) {
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    descriptor_ =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);  // entries may be nobody else's business
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
  }
  ~HistoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  HistoryFile(const HistoryFile&) = delete;
  HistoryFile& operator=(const HistoryFile&) = delete;

  void append(std::string_view text) {
    if (descriptor_ < 0) return;
    const std::string whole = ::lseek(descriptor_, 0, SEEK_END) == 0 ? std::string(kHistoryHead) + std::string(text) : std::string(text);
    [[maybe_unused]] const ssize_t written = ::write(descriptor_, whole.data(), whole.size());
  }
  /// Leaves the newest entries alone in a file that has twice as many as are kept.
  void shorten() {
    std::string text;
    char part[65536];
    ::lseek(descriptor_, 0, SEEK_SET);
    for (ssize_t n; descriptor_ >= 0 && (n = ::read(descriptor_, part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(n));
    if (std::count(text.begin(), text.end(), '\n') <= 2 * kHistorySize) return;
    size_t begin = text.size() - 1;
    for (int k = 0; k < kHistorySize; ++k) begin = text.rfind('\n', begin - 1);
    text = std::string(kHistoryHead) + text.substr(begin + 1);
    if (::ftruncate(descriptor_, 0) != 0) return;
    [[maybe_unused]] const ssize_t written = ::write(descriptor_, text.data(), text.size());
  }

 private:
  int descriptor_;
};

}  // namespace

struct LineEditor::State {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::filesystem::path history_path;
  std::string newest;  // of the history
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

  /// False when Ctrl-C came before any input, also between the prompt and this wait.
  static bool wait_for_input() {
    while (!InterruptHandler::take()) {
      pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {InterruptHandler::wakeup_descriptor(), POLLIN, 0}};
      if (::poll(sources, 2, -1) < 0 && errno != EINTR) return true;
      if (sources[0].revents && !sources[1].revents) return true;
    }
    return false;
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
  if (!state_->history_path.empty()) HistoryFile(state_->history_path).shorten();
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
  if (line.find_first_not_of(" \t") == std::string::npos) return;
  state_->change_history(H_ENTER, line.c_str());
  if (state_->history_path.empty() || line == state_->newest) return;
  HistoryFile(state_->history_path).append(history_line(line));  // at once: a window may be closed at any moment
  state_->newest = line;
}

}  // namespace gasell::cli
