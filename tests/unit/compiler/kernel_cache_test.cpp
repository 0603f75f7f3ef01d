// The cache of kernels on disk: what is damaged or not ours is not used, and writers do not disturb each other.
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "catch.h"
#include "compiler/codegen/kernel_cache.h"
#include "unit/compiler/codegen_support.h"

using namespace gasell;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kLimit = 1 << 20;

struct Folder {
  fs::path path;
  fs::path kernels() const { return path / "kernels"; }
  fs::path entry(const std::string& key) const { return kernels() / (key + ".kernel"); }
  Folder() {
    std::string name = (fs::temp_directory_path() / "gasell_cache_test.XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::permissions(path, fs::perms::owner_all, ignored);
    fs::remove_all(path, ignored);
  }
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const fs::path& path, const std::string& content) { std::ofstream(path, std::ios::binary | std::ios::trunc) << content; }

/// Runs in a process of its own, as another user where this one is root; true when it succeeds.
template <class F>
bool in_child(bool as_other_user, F f) {
  const pid_t child = fork();
  if (child == 0) {
    if (as_other_user && geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    try {
      _exit(f() ? 0 : 1);
    } catch (...) {
      _exit(3);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("a kernel cache gives back what it was given, under its key alone") {
  const Folder folder;
  const KernelCache cache(true, folder.path / "cache", kLimit);
  CHECK(!cache.find("key"));
  cache.insert("key", std::string("some\0bytes", 10));
  CHECK(cache.find("key") == std::string("some\0bytes", 10));
  CHECK(!cache.find("other"));
  cache.insert("key", "newer");
  CHECK(cache.find("key") == "newer");
  cache.insert("empty", "");
  CHECK(cache.find("empty") == "");
  CHECK(cache.usage().entries == 2);
  CHECK(KernelCache(true, folder.path / "cache", kLimit).find("key") == "newer");
  CHECK(fs::status(folder.path / "cache" / "kernels").permissions() == fs::perms::owner_all);
  CHECK(!KernelCache(false, folder.path / "cache", kLimit).find("key"));
}

TEST_CASE("damaged entries count as absent, and are replaced") {
  const Folder folder;
  const KernelCache cache(true, folder.path, kLimit);
  const std::string content(1000, 'x');
  cache.insert("key", content);
  const std::string good = content_of(folder.entry("key"));
  REQUIRE(good.size() > content.size());
  for (size_t k = 0; k < good.size(); k += k < 40 ? 1 : 37) {  // a flipped bit anywhere
    std::string bad = good;
    bad[k] = static_cast<char>(bad[k] ^ 1);
    write(folder.entry("key"), bad);
    INFO("byte " << k);
    CHECK(!cache.find("key"));
  }
  for (const size_t length : {size_t{0}, size_t{1}, size_t{23}, size_t{24}, size_t{40}, good.size() - 1}) {
    write(folder.entry("key"), good.substr(0, length));
    INFO("length " << length);
    CHECK(!cache.find("key"));
  }
  write(folder.entry("key"), good + "x");
  CHECK(!cache.find("key"));
  write(folder.entry("renamed"), good);  // a whole entry, of another key
  CHECK(!cache.find("renamed"));
  cache.insert("key", content);
  CHECK(cache.find("key") == content);

  fs::remove(folder.entry("key"));
  fs::create_directory(folder.entry("key"));
  CHECK(!cache.find("key"));
  cache.insert("key", content);  // cannot be published, and says nothing
  CHECK(!cache.find("key"));
  for (const auto& entry : fs::directory_iterator(folder.kernels())) CHECK(!entry.path().filename().string().starts_with("tmp."));
}

TEST_CASE("entries that are no plain files of ours are not read") {
  const Folder folder;
  const KernelCache cache(true, folder.path, kLimit);
  cache.insert("key", "content");
  fs::rename(folder.entry("key"), folder.entry("elsewhere"));
  fs::create_symlink(folder.entry("elsewhere"), folder.entry("key"));
  CHECK(!cache.find("key"));
  fs::remove(folder.entry("key"));
  REQUIRE(mkfifo((folder.entry("key")).c_str(), 0600) == 0);
  CHECK(!cache.find("key"));  // and does not wait for a writer
}

TEST_CASE("folders that are not ours alone are not used") {
  const Folder folder;
  fs::permissions(folder.path, fs::perms::owner_all | fs::perms::others_write);
  const KernelCache open(true, folder.path, kLimit);
  CHECK(open.describe() == "off: " + folder.path.string() + " can be written by others");
  open.insert("key", "content");
  CHECK(fs::is_empty(folder.path));

  fs::permissions(folder.path, fs::perms::owner_all);
  write(folder.path / "file", "");
  CHECK(KernelCache(true, folder.path / "file", kLimit).describe() == "off: " + (folder.path / "file").string() + " is not a folder");
  CHECK(KernelCache(true, folder.path / "file" / "below", kLimit).describe().starts_with("off: "));
  fs::create_directory(folder.path / "real");
  fs::create_symlink(folder.path / "real", folder.path / "link");
  CHECK(KernelCache(true, folder.path / "link", kLimit).describe() == "off: " + (folder.path / "link").string() + " is not a folder");

  if (geteuid() == 0) {
    const fs::path foreign = folder.path / "foreign";
    fs::create_directory(foreign);
    REQUIRE(chown(foreign.c_str(), 65534, 65534) == 0);
    CHECK(KernelCache(true, foreign, kLimit).describe() == "off: " + foreign.string() + " belongs to another user");
  }
}

TEST_CASE("a folder that cannot be written serves readers, or is off") {
  const Folder folder;
  const fs::path mine = folder.path / "mine";
  fs::permissions(folder.path, fs::perms::owner_all | fs::perms::others_all);
  CHECK(in_child(true, [&] {
    KernelCache(true, mine, kLimit).insert("key", "content");
    fs::permissions(mine / "kernels", fs::perms::owner_read | fs::perms::owner_exec);
    const KernelCache cache(true, mine, kLimit);
    cache.insert("another", "content");
    const bool reads = cache.find("key") == "content" && !cache.find("another");
    fs::permissions(mine / "kernels", fs::perms::owner_all);
    return reads;
  }));
  fs::permissions(folder.path, fs::perms::owner_read | fs::perms::owner_exec);
  CHECK(in_child(true, [&] {
    const KernelCache cache(true, folder.path / "new", kLimit);
    cache.insert("key", "content");
    return cache.describe().starts_with("off: ") && !cache.find("key");
  }));
}

TEST_CASE("processes that write and read the same keys see whole entries") {
  const Folder folder;
  const int kRounds = 300;
  auto work = [&](char mine) {
    const KernelCache cache(true, folder.path, 200 << 10);  // so small that entries are thrown out at the same time
    for (int k = 0; k < kRounds; ++k) {
      const std::string key = "key" + std::to_string(k % 7);
      cache.insert(key, std::string(static_cast<size_t>(10000 + k * 50), mine));
      if (const auto found = cache.find(key)) {
        if (found->empty() || found->find_first_not_of(found->front()) != std::string::npos) return false;
        if (found->front() != 'a' && found->front() != 'b' && found->front() != 'c') return false;
      }
    }
    return true;
  };
  pid_t children[2];
  for (int k = 0; k < 2; ++k) {
    children[k] = fork();
    if (children[k] == 0) _exit(work(static_cast<char>('a' + k)) ? 0 : 1);
  }
  CHECK(work('c'));
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  for (const auto& entry : fs::directory_iterator(folder.kernels())) CHECK(!entry.path().filename().string().starts_with("tmp."));
}

TEST_CASE("the least recently used entries go first") {
  const Folder folder;
  const KernelCache writer(true, folder.path, 100 << 10);
  auto age = [&](const std::string& key, int hours) {
    fs::last_write_time(folder.entry(key), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  auto insert = [&](int k) { writer.insert("key" + std::to_string(k), std::string(10 << 10, 'x')); };
  for (int k = 0; k < 9; ++k) {
    insert(k);
    age("key" + std::to_string(k), 100 - k);
  }
  REQUIRE(writer.find("key3"));  // which makes it the youngest
  for (int k = 9; k < 12; ++k) insert(k);
  CHECK(writer.usage().bytes <= 110 << 10);  // it is looked after when an eighth was written
  CHECK(writer.find("key3"));
  CHECK(writer.find("key8"));
  CHECK(!writer.find("key0"));
  CHECK(!writer.find("key1"));
}

TEST_CASE("only entries are removed, whatever else the folder holds") {
  const Folder folder;
  const auto old = [&](const fs::path& path) {
    write(path, std::string(400 << 10, 'u'));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1000));
  };
  old(folder.path / "thesis.kernel");
  const KernelCache cache(true, folder.path, 100 << 10);
  old(folder.kernels() / "notes.txt");
  fs::create_symlink(folder.path / "thesis.kernel", folder.kernels() / "link.kernel");
  fs::create_directory(folder.kernels() / "folder.kernel");
  for (int k = 0; k < 30; ++k) cache.insert("key" + std::to_string(k), std::string(10 << 10, 'x'));
  CHECK(cache.usage().bytes <= 112 << 10);
  CHECK(cache.usage().entries >= 5);
  CHECK(fs::file_size(folder.path / "thesis.kernel") == 400 << 10);
  CHECK(fs::file_size(folder.kernels() / "notes.txt") == 400 << 10);
  CHECK(fs::is_symlink(folder.kernels() / "link.kernel"));
  CHECK(fs::is_directory(folder.kernels() / "folder.kernel"));
}

TEST_CASE("a sub-folder that is somebody else's is not used") {
  const Folder folder;
  fs::create_directory(folder.kernels());
  fs::permissions(folder.kernels(), fs::perms::owner_all);
  write(folder.entry("mine"), "u");
  const KernelCache cache(true, folder.path, kLimit);
  CHECK(cache.describe() == "off: " + folder.kernels().string() + " holds other files and no CACHEDIR.TAG");
  cache.insert("key", "content");
  CHECK(!cache.find("key"));
  write(folder.kernels() / "CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# another program's\n");
  CHECK(KernelCache(true, folder.path, kLimit).describe() == "off: " + (folder.kernels() / "CACHEDIR.TAG").string() + " is not Gasell's");
  CHECK(content_of(folder.entry("mine")) == "u");
}

TEST_CASE("a Jit compiles what its cache holds in a form it cannot use") {
  const Folder folder;
  const ir::Kernel kernel = ir::parse("kernel k(out r: f64) { r[0] = 2.5 }");
  auto run = [&] {
    Jit jit({.disk_cache = true, .cache_directory = folder.path});
    const HostKernel compiled = jit.compile(kernel);
    double r = 0;
    void* arrays[] = {&r};
    compiled.function(arrays, nullptr, 0, 1);
    CHECK(r == 2.5);
    return compiled.origin;
  };
  CHECK(run() == HostKernel::Origin::compiled);
  CHECK(run() == HostKernel::Origin::disk);
  fs::path entry;
  for (const auto& item : fs::directory_iterator(folder.kernels()))
    if (item.path().extension() == ".kernel") entry = item.path();
  const std::string key = entry.stem().string();
  for (const char* object : {"", "no object at all",
                             "\x7f"
                             "ELF\2\1\1"}) {
    KernelCache(true, folder.path, kLimit).insert(key, object);
    CHECK(run() == HostKernel::Origin::compiled);
    CHECK(run() == HostKernel::Origin::disk);
  }
}

TEST_CASE("what changes the code changes the key") {
  const Folder folder;
  auto compile = [&](const std::string& text, bool check) {
    Jit jit({.disk_cache = true, .cache_directory = folder.path, .check_bounds = check});
    return jit.compile(ir::parse(text)).origin;
  };
  using enum HostKernel::Origin;
  CHECK(compile("kernel k(out r: f64) { r[0] = 2.5 }", false) == compiled);
  CHECK(compile("kernel k(out r: f64) { r[0] = 2.25 }", false) == compiled);
  CHECK(compile("kernel k(out r: f64) { r[0] = -0.0 }", false) == compiled);
  CHECK(compile("kernel k(out r: f64) { r[0] = 0.0 }", false) == compiled);
  CHECK(compile("kernel k(out r: f32) { r[0] = 0.0f32 }", false) == compiled);
  CHECK(compile("kernel k(out r: f64) { r[0] = 2.5 }", true) == compiled);
  CHECK(compile("kernel k(out r: f64) { r[0] = 2.5 }", false) == disk);
  CHECK(compile("kernel k(out r: f64) { r[0] = 2.5 }", true) == disk);
}
