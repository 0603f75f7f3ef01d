#include "tools/editor/terminal_io.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace gasell::editor {

namespace {

// A signal reaches any thread and nothing but globals: an eventfd wakes up the one that waits.
std::atomic<int> resize_wakeup{-1};

void on_resize(int) {
  const int before = errno;
  const uint64_t one = 1;
  if (const int fd = resize_wakeup.load(); fd >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
  }
  errno = before;
}

}  // namespace

Ability terminal_ability() {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return Ability::none;
  const char* name = std::getenv("TERM");
  return name && *name && std::string_view(name) != "dumb" ? Ability::full : Ability::plain;
}

TerminalIo::TerminalIo(Interrupts interrupts) : interrupts_(std::move(interrupts)) {
  resize_wakeup.store(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  struct sigaction action = {};
  action.sa_handler = on_resize;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGWINCH, &action, nullptr);
}

TerminalIo::~TerminalIo() {
  leave();
  signal(SIGWINCH, SIG_DFL);
  if (const int fd = resize_wakeup.exchange(-1); fd >= 0) ::close(fd);
}

void TerminalIo::enter() {
  if (entered_ || !isatty(STDIN_FILENO)) return;
  if (!knows_before_ && tcgetattr(STDIN_FILENO, &before_) != 0) return;
  knows_before_ = true;
  termios raw = before_;
  raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | IXON | ISTRIP | BRKINT);
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  raw.c_lflag |= ISIG;
  raw.c_cc[VSUSP] = raw.c_cc[VQUIT] = _POSIX_VDISABLE;
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  entered_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

void TerminalIo::leave() {
  if (std::exchange(entered_, false)) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

TerminalIo::Event TerminalIo::wait(int milliseconds, std::string& out) {
  out.clear();
  while (true) {
    if (interrupts_.take && interrupts_.take()) return Event::interrupt;
    pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {interrupts_.wakeup, POLLIN, 0}, {resize_wakeup.load(), POLLIN, 0}};
    const int ready = ::poll(sources, 3, milliseconds);
    if (ready == 0) return Event::timeout;
    if (ready < 0 && errno != EINTR) return Event::end;
    if (ready < 0 || sources[1].revents) continue;
    if (sources[2].revents) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t taken = ::read(sources[2].fd, &count, sizeof count);
      return Event::resize;
    }
    char part[65536];
    const ssize_t n = ::read(STDIN_FILENO, part, sizeof part);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return Event::end;
    out.assign(part, static_cast<size_t>(n));
    return Event::bytes;
  }
}

bool TerminalIo::more_waits() const {
  pollfd source = {STDIN_FILENO, POLLIN, 0};
  return ::poll(&source, 1, 0) > 0 && (source.revents & POLLIN);
}

void TerminalIo::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a terminal that has gone: the next read says so
    text.remove_prefix(static_cast<size_t>(n));
  }
}

TerminalSize TerminalIo::size() const {
  winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {};
  return {std::max<int>(window.ws_col, 2), std::max<int>(window.ws_row, 1)};
}

}  // namespace gasell::editor
