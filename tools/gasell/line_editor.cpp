#include "tools/gasell/line_editor.h"

#include <fmt/format.h>
#include <histedit.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <system_error>

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

  static State& of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<State*>(data);
  }
  static char* show_prompt(EditLine* editor) { return of(editor).prompt.data(); }

  /// libedit retries a read that a signal ended, so Ctrl-C has to be noticed here: one character of UTF-8 from the terminal.
  static int read_character(EditLine* editor, wchar_t* out) {
    State& state = of(editor);
    const auto byte = [&](unsigned char& c) -> int {
      while (true) {
        const ssize_t n = ::read(STDIN_FILENO, &c, 1);
        if (n >= 0) return static_cast<int>(n);
        if (errno != EINTR) return -1;
        if (InterruptHandler::take()) {
          state.interrupted = true;
          return -1;
        }
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
    fmt::print("{}\n", list);
    std::fflush(stdout);
    return CC_REDISPLAY;
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
  state_->editor = el_init("gasell", stdin, stdout, stderr);
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
  InterruptHandler::take();
  el_set(state_->editor, EL_PREP_TERM, 1);  // before the prompt, or the terminal too echoes what is typed the moment it appears
  int count = 0;
  const char* text = el_gets(state_->editor, &count);
  if (state_->interrupted) {
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

void LineEditor::remember(const std::string& line) {
  if (line.find_first_not_of(" \t") != std::string::npos) state_->change_history(H_ENTER, line.c_str());
}

}  // namespace gasell::cli
