#include "runtime/io/atomic_file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "catch.h"
#include "lang/diagnostic.h"

using namespace gasell;
namespace fs = std::filesystem;

namespace {

constexpr int kNobody = 65534;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether f() is true in a process that permissions bind, which root's is not.
bool holds_for_a_user(const std::function<bool()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    bool answer = geteuid() != 0 || (setgid(kNobody) == 0 && setuid(kNobody) == 0);
    try {
      answer = answer && f();
    } catch (...) {
      answer = false;
    }
    _exit(answer ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A folder that takes no new files, with a file that everybody may write.
struct ClosedFolder {
  fs::path path = fs::temp_directory_path() / ("gasell-closed-" + std::to_string(getpid()));
  fs::path file = path / "t.txt";
  ClosedFolder() {
    fs::create_directories(path);
    std::ofstream(file) << "what was there, which is longer";
    chmod(file.c_str(), 0666);
    chmod(path.c_str(), 0555);
  }
  ~ClosedFolder() {
    chmod(path.c_str(), 0755);
    fs::remove_all(path);
  }
};

}  // namespace

TEST_CASE("files in folders that take no new ones are written in place") {
  const ClosedFolder folder;
  CHECK(holds_for_a_user([&] {
    AtomicFile file(folder.file);
    file.write("new ");
    file.write("text");
    file.commit();
    return content(folder.file) == "new text";
  }));
  CHECK(holds_for_a_user([&] {
    AtomicFile file(folder.file, AtomicFile::Access::anywhere);
    file.reserve(8);
    file.write_at(4, "end!");
    file.write_at(0, "the ");
    file.commit();
    return content(folder.file) == "the end!";
  }));
  // Nothing is done to it without commit().
  CHECK(holds_for_a_user([&] {
    {
      AtomicFile(folder.file).write("half");
    }
    return content(folder.file) == "the end!";
  }));
  CHECK(content(folder.file) == "the end!");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("files of other users in folders like /tmp are written in place") {
  const ClosedFolder folder;
  chmod(folder.path.c_str(), 01777);
  CHECK(holds_for_a_user([&] {
    AtomicFile file(folder.file);
    file.write("new");
    file.commit();
    return content(folder.file) == "new";
  }));
  CHECK(content(folder.file) == "new");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("files that are not there, or are closed, are refused in folders that take no new ones") {
  const ClosedFolder folder;
  chmod(folder.file.c_str(), 0444);
  const auto refused = [&](const fs::path& path) {
    return holds_for_a_user([&] {
      try {
        AtomicFile file(path);
        return false;
      } catch (const Error& error) {
        return error.diagnostic().kind == "PermissionError";
      }
    });
  };
  CHECK(refused(folder.file));
  CHECK(refused(folder.path / "other.txt"));
}
