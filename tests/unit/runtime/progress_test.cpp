#include "runtime/device/progress.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "catch.h"

using namespace gasell;

namespace {

/// stderr is a terminal of 60 columns while this lives; what was drawn can be read.
class FakeTerminal {
 public:
  FakeTerminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)), saved_(dup(STDERR_FILENO)) {
    REQUIRE(master_ >= 0);
    REQUIRE(grantpt(master_) == 0);
    REQUIRE(unlockpt(master_) == 0);
    const int slave = open(ptsname(master_), O_RDWR | O_NOCTTY);
    REQUIRE(slave >= 0);
    winsize size{24, 60, 0, 0};
    ioctl(slave, TIOCSWINSZ, &size);
    dup2(slave, STDERR_FILENO);
    close(slave);
  }
  ~FakeTerminal() {
    restore();
    close(master_);
  }
  std::string drawn() {
    std::string text(100'000, '\0');
    const ssize_t count = read(master_, text.data(), text.size());
    text.resize(count > 0 ? count : 0);
    return text;
  }
  void restore() {
    if (saved_ < 0) return;
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    saved_ = -1;
  }

 private:
  int master_, saved_;
};

}  // namespace

TEST_CASE("the progress line fits its terminal", "[progress]") {
  CHECK(progress_line(0.425, 12.34e9, 41.2, "B", 80) == " 42 % [#################-----------------------]  12.3 GB/s  0:42 left");
  CHECK(progress_line(0.5, 2.5e6, 3700, "elements", 60) == " 50 % [#########---------]  2.50 M elements/s  1:01:40 left");
  CHECK(progress_line(0.999, 950, 1, "elements", 40) == " 99 %  950 elements/s  0:01 left");
  CHECK(progress_line(1.0, 1, 1, "B", 10) == "100 %");
  CHECK(progress_line(0, 0, 1, "B", 4).empty());
  CHECK(progress_line(7, 0, 1, "B", 30) == "100 % [#####################]");
  for (int width = 0; width < 200; ++width)
    CHECK(static_cast<int>(progress_line(0.3, 1e12, 59.5, "elements", width).size()) < std::max(width, 1));
}

TEST_CASE("progress is drawn on a terminal after a second and erased at the end", "[progress]") {
  FakeTerminal terminal;
  std::string early, text, last;
  {
    Progress progress(true, 100, "B");
    for (int i = 0; i < 20; ++i) progress.advance(1);
    early = terminal.drawn();
    std::this_thread::sleep_for(std::chrono::milliseconds(1020));
    for (int i = 0; i < 1000; ++i) progress.advance(0.02);  // from here on: one drawing, the rest within 100 ms
    text = terminal.drawn();
  }
  last = terminal.drawn();
  terminal.restore();
  CHECK(early.empty());
  CHECK(text.rfind("\r 20 % [", 0) == 0);
  CHECK(text.find("B/s") != std::string::npos);
  CHECK(text.find("left") != std::string::npos);
  CHECK(text.find('\r', 1) == std::string::npos);
  CHECK(last == "\r\x1b[K");
}

TEST_CASE("progress counts from many threads and stays silent where it is not wanted", "[progress]") {
  FakeTerminal terminal;
  std::string text;
  {
    Progress silent(false, 4000, "elements");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) silent.advance(0.5);
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(silent.fraction() == Approx(0.5));
    std::this_thread::sleep_for(std::chrono::milliseconds(1020));
    silent.advance(1e9);
    CHECK(silent.fraction() == 1);
    CHECK(Progress(false, 0, "B").fraction() == 0);
    text = terminal.drawn();
  }
  CHECK(text.empty());
}
