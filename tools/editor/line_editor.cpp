#include "tools/editor/line_editor.h"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "tools/editor/editing.h"
#include "tools/editor/plain_row.h"
#include "tools/editor/screen.h"
#include "tools/editor/view.h"

namespace gasell::editor {

namespace {

constexpr int kEscapeWait = 50;  // milliseconds until a lone ESC is the key Escape
constexpr int kIdleWait = 350;   // until the syntax is looked at
constexpr size_t kPlainCandidates = 60;
constexpr std::string_view kBlockCursor = "\033[2 q", kBarCursor = "\033[6 q", kOwnCursor = "\033[0 q";  // vi's modes
constexpr std::string_view kPasteOn = "\033[?2004h", kPasteOff = "\033[?2004l";

}  // namespace

struct LineEditor::State {
  State(std::filesystem::path history_path, Services given, Interrupts interrupts)
      : services(std::move(given)),
        history(std::move(history_path)),
        editing(history, services),
        io(std::move(interrupts)),
        ability(terminal_ability()) {}

  /// Shows what is edited.
  void draw() {
    if (ability == Ability::none) return;
    const TerminalSize size = io.size();
    const View view = editing.view(size.columns, size.rows);
    if (ability == Ability::plain) return io.write(plain.draw(view, size.columns));
    io.write(screen.draw(compose(view, size.columns, size.rows, top), size.columns));
    if (!uses_vi) return;
    const std::string_view shape = editing.is_vi_normal() ? kBlockCursor : kBarCursor;
    if (shape != cursor) io.write(shape);
    cursor = shape;
  }

  /// Leaves on the screen what was entered, whole.
  void finish(std::string_view behind) {
    const TerminalSize size = io.size();
    View view = editing.final_view();
    if (ability == Ability::plain) return io.write(plain.finish(view, size.columns));
    std::string out;
    if (top > 0) {  // a text that is longer than the window is written once more from its beginning
      out = screen.draw({}, size.columns);
      top = 0;
    }
    const std::string text = std::string(view.text) + std::string(behind);
    view.text = text;
    view.styles.resize(text.size(), Style::plain);
    view.cursor = text.size();
    io.write(out + screen.finish(compose_whole(view, size.columns), size.columns));
  }

  /// Reads until the entry is there. The keys behind it stay for the next one.
  Result run() {
    if (ability == Ability::none) return run_unedited();
    io.enter();
    io.write(ability == Ability::full ? std::string(kPasteOn) + "\r" : "\r");
    const Result result = run_keys();
    if (ability == Ability::full) io.write(kPasteOff);
    if (!std::exchange(cursor, {}).empty()) io.write(kOwnCursor);
    io.leave();
    return result;
  }

  Result run_keys() {
    bool looked = false;  // at the syntax, since the last key
    std::string bytes;
    draw_if_quiet();
    while (true) {
      std::optional<Key> key = keys.next();
      if (!key) {
        const int patience = keys.unfinished() ? kEscapeWait : looked ? -1 : kIdleWait;
        switch (io.wait(patience, bytes)) {
          case TerminalIo::Event::bytes: keys.feed(bytes); continue;
          case TerminalIo::Event::interrupt: return interrupted();
          case TerminalIo::Event::end: return finish({}), Result::end;
          case TerminalIo::Event::resize:
            if (ability == Ability::full) io.write(screen.resized(io.size().columns));
            draw();
            continue;
          case TerminalIo::Event::timeout:
            if (!keys.unfinished()) {
              looked = true;
              if (editing.idle()) draw();
              continue;
            }
            key = keys.next(true);
            if (!key) continue;
        }
      }
      looked = false;
      if (const std::optional<Result> result = take(*key)) return *result;
    }
  }

  /// What follows a key; a result where the entry ends.
  std::optional<Result> take(const Key& key) {
    switch (editing.handle(key, keys.unfinished() || io.more_waits())) {
      case Editing::Outcome::accepted: return finish({}), Result::text;
      case Editing::Outcome::ended: return finish({}), Result::end;
      case Editing::Outcome::interrupted: return interrupted();
      case Editing::Outcome::suspended: suspend(); return std::nullopt;
      case Editing::Outcome::clears:
        if (ability == Ability::full) io.write(screen.cleared());
        break;
      case Editing::Outcome::edits_beside: edit(); return std::nullopt;
      case Editing::Outcome::beeps: io.write("\a"); break;
      case Editing::Outcome::goes_on: break;
    }
    if (ability == Ability::plain && editing.menu().is_open() && !editing.menu().has_choice()) show_candidates();
    draw_if_quiet();
    return std::nullopt;
  }

  /// Keys that come faster than they are drawn, as of a paste, are drawn together.
  void draw_if_quiet() {
    if (!keys.unfinished() && !io.more_waits()) draw();
  }

  Result interrupted() {
    keys = {};
    finish("^C");
    if (ability == Ability::plain) io.write("^C\n");
    return Result::interrupted;
  }

  void show_candidates() {
    const std::vector<std::string>& candidates = editing.menu().candidates();
    std::string list;
    for (size_t i = 0; i < std::min(kPlainCandidates, candidates.size()); ++i) list += (i ? "  " : "") + candidates[i];
    if (candidates.size() > kPlainCandidates) list += "  … and " + std::to_string(candidates.size() - kPlainCandidates) + " more";
    io.write(plain.show(list));
  }

  /// Something else has the terminal meanwhile.
  void give_terminal(const std::function<void()>& work) {
    finish({});
    if (ability == Ability::full) io.write(kPasteOff);
    io.leave();
    work();
    io.enter();
    if (ability == Ability::full) io.write(kPasteOn);
    draw();
  }
  void suspend() {
    give_terminal([] { ::raise(SIGTSTP); });
  }
  void edit() {
    if (!owner->edit_beside) return;
    give_terminal([&] { editing.replace_with(owner->edit_beside(editing.buffer().text())); });
  }

  /// From no terminal: lines as they come, until the entry is whole.
  Result run_unedited() {
    io.write(editing.final_view().prompt);
    while (true) {
      if (const size_t end = unread.find('\n'); end != std::string::npos) {
        const Result result = take_unedited(unread.substr(0, end));
        unread.erase(0, end + 1);
        if (result == Result::text) return result;
        io.write(editing.final_view().more_prompt);
        continue;
      }
      std::string bytes;
      switch (io.wait(-1, bytes)) {
        case TerminalIo::Event::bytes: unread += bytes; break;
        case TerminalIo::Event::interrupt: unread.clear(); return Result::interrupted;
        case TerminalIo::Event::end:
          if (unread.empty()) return io.write("\n"), Result::end;
          unread += "\n";
          break;
        default: break;
      }
    }
  }
  Result take_unedited(const std::string& line) {
    editing.handle({Key::Code::paste, line}, true);
    return editing.handle({Key::Code::enter}, true) == Editing::Outcome::accepted ? Result::text : Result::end;
  }

  Services services;
  History history;
  Editing editing;
  TerminalIo io;
  Ability ability;
  KeyDecoder keys;
  Screen screen;
  PlainRow plain;
  size_t top = 0;  // the first line that is shown of a text that is longer than the window
  std::string unread;
  std::string theme;
  bool uses_vi = false;
  std::string_view cursor;  // its shape, where vi's modes have set one
  LineEditor* owner = nullptr;
};

LineEditor::LineEditor(std::filesystem::path history_path, Services services, Interrupts interrupts)
    : state_(std::make_unique<State>(std::move(history_path), std::move(services), std::move(interrupts))) {
  state_->owner = this;
  set_theme(default_theme(std::getenv("COLORFGBG")));
}

LineEditor::~LineEditor() = default;

LineEditor::Result LineEditor::read_entry(const std::string& prompt, const std::string& more_prompt, const std::string& prefilled,
                                          std::string& entry) {
  state_->editing.begin(Mode::entry, prompt, more_prompt);
  if (!prefilled.empty()) state_->editing.prefill(prefilled);
  const Result result = state_->run();
  entry = state_->editing.result();
  if (result == Result::text) state_->history.add(entry);
  return result;
}

LineEditor::Result LineEditor::read_line(const std::string& prompt, std::string& line, const std::string& shown) {
  const size_t last = prompt.rfind('\n');
  if (last != std::string::npos) state_->io.write(prompt.substr(0, last + 1));
  const bool continues = last == std::string::npos && state_->ability != Ability::none;
  state_->editing.begin(Mode::line, continues ? shown + prompt : prompt.substr(last + 1), {});
  const Result result = state_->run();
  line = state_->editing.result();
  return result;
}

int LineEditor::columns() const { return state_->io.size().columns; }

void LineEditor::begin_row() {
  // As many blanks as there are columns end on the next row, unless the row was empty.
  if (state_->ability == Ability::full) state_->io.write(std::string(static_cast<size_t>(state_->io.size().columns), ' ') + "\r\033[K");
}

History& LineEditor::history() { return state_->history; }

bool LineEditor::set_theme(std::string_view name) {
  const int colours = colour_count(std::getenv("TERM"), std::getenv("COLORTERM"), std::getenv("NO_COLOR"));
  const std::optional<Theme> theme = Theme::named(name, colours);
  if (!theme) return false;
  state_->screen.set_theme(*theme);
  state_->theme = name;
  return true;
}

void LineEditor::use_vi(bool wanted) {
  state_->uses_vi = wanted;
  state_->editing.use_vi(wanted);
}

const std::string& LineEditor::theme() const { return state_->theme; }

}  // namespace gasell::editor
