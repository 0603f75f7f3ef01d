// Entries of several sessions in one file.
#include "tools/editor/history.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "catch.h"

using namespace gasell::editor;

namespace {

/// A path for a file of its own, removed at the end.
class Place {
 public:
  Place()
      : folder_(std::filesystem::temp_directory_path() /
                ("gasell_history_" + std::to_string(::getpid()) + "_" + std::to_string(count_++))) {}
  ~Place() { std::filesystem::remove_all(folder_); }
  std::filesystem::path path() const { return folder_ / "sub" / "history"; }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(path()).rdbuf();
    return out.str();
  }

 private:
  static inline int count_ = 0;
  std::filesystem::path folder_;
};

using Entries = std::vector<std::string>;

}  // namespace

TEST_CASE("entries of several lines come back whole") {
  const Place place;
  const std::string block = "def f(x):\n    return '\\\\ ä'";
  {
    History history(place.path());
    history.add("x = 1");
    history.add(block);
    history.add(block);
    history.add(" \n");
  }
  CHECK(History(place.path()).entries() == Entries{"x = 1", block});
  CHECK(place.text() == "_HiStOrY_V2_\nx\\040=\\0401\ndef\\040f(x):\\012\\040\\040\\040\\040return\\040'\\134\\134\\040\\303\\244'\n");
}

TEST_CASE("sessions see what others enter") {
  const Place place;
  History one(place.path()), two(place.path());
  one.add("a");
  two.add("b");
  one.add("c");
  CHECK(one.entries() == Entries{"a", "b", "c"});
  two.refresh();
  CHECK(two.entries() == Entries{"a", "b", "c"});
  two.refresh();
  CHECK(two.entries().size() == 3);
}

TEST_CASE("a file that grew long is shortened, also under another session") {
  const Place place;
  History early(place.path());
  early.add("first");
  {
    std::ofstream file(place.path(), std::ios::app);
    for (int k = 0; k < 12000; ++k) file << "x" << k << "\n";
  }
  early.refresh();
  CHECK(early.entries().size() == 12001);
  const History late(place.path());
  CHECK(late.entries().size() == 5000);
  CHECK(late.entries().front() == "x7000");
  early.refresh();
  CHECK(early.entries().size() == 5000);
}

TEST_CASE("files that hold anything are read") {
  const Place place;
  std::filesystem::create_directories(place.path().parent_path());
  std::ofstream(place.path()) << "\\12\n\\\n\n\xff\\400\nlast without end";
  CHECK(History(place.path()).entries() == Entries{"\\12", "\\", std::string("\xff") + '\0', "last without end"});
  CHECK(History("/proc/nowhere/history").entries().empty());
}

TEST_CASE("entries are found by how they begin and by what they contain") {
  History history({});
  for (const char* entry : {"import re", "x = 1", "x = 22", "y = x"}) history.add(entry);
  CHECK(history.older(4, "x", "") == 2u);
  CHECK(history.older(4, "x", "x = 22") == 1u);
  CHECK(history.older(1, "x", "") == std::nullopt);
  CHECK(history.newer(0, "y", "") == 3u);
  CHECK(history.older_with(4, "= ") == 3u);
  CHECK(history.older_with(3, "re") == 0u);
  CHECK(history.newer_with(0, "x") == 1u);
  CHECK(history.rest_of("x =") == " 22");
  CHECK(history.rest_of("x = 22") == "");
  CHECK(history.rest_of(" ") == "");
}
