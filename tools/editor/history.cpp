#include "tools/editor/history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace gasell::editor {

namespace {

constexpr size_t kKept = 5000;
constexpr std::string_view kHead = "_HiStOrY_V2_\n";  // files of libedit, which earlier versions wrote, begin so

bool is_octal(char c) { return c >= '0' && c <= '7'; }

std::string encoded(std::string_view entry) {
  std::string line;
  for (const char c : entry) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte > 0x20 && byte < 0x7f && c != '\\' ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return line + "\n";
}

std::string decoded(std::string_view line) {
  std::string entry;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 3 < line.size() && is_octal(line[i + 1]) && is_octal(line[i + 2]) && is_octal(line[i + 3])) {
      entry += static_cast<char>((line[i + 1] - '0') << 6 | (line[i + 2] - '0') << 3 | (line[i + 3] - '0'));
      i += 3;
    } else {
      entry += line[i];
    }
  }
  return entry;
}

/// The file, locked for as long as this lives.
class LockedFile {
 public:
  explicit LockedFile(const std::filesystem::path& path) {
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
  }
  ~LockedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  int64_t size() const { return descriptor_ < 0 ? 0 : std::max<int64_t>(::lseek(descriptor_, 0, SEEK_END), 0); }
  std::string read_from(int64_t offset) const {
    std::string text;
    char part[65536];
    if (descriptor_ < 0 || ::lseek(descriptor_, offset, SEEK_SET) < 0) return text;
    for (ssize_t n; (n = ::read(descriptor_, part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(n));
    return text;
  }
  void append(std::string_view text) const {
    if (descriptor_ < 0) return;
    const std::string whole = size() == 0 ? std::string(kHead) + std::string(text) : std::string(text);
    [[maybe_unused]] const ssize_t written = ::write(descriptor_, whole.data(), whole.size());
  }
  void rewrite(std::string_view text) const {
    if (descriptor_ < 0 || ::ftruncate(descriptor_, 0) != 0) return;
    append(text);
  }

 private:
  int descriptor_;
};

std::string_view without_head(std::string_view text) { return text.starts_with(kHead) ? text.substr(kHead.size()) : text; }

}  // namespace

History::History(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty()) return;
  const LockedFile file(path_);
  std::string text = file.read_from(0);
  const std::string_view lines = without_head(text);
  if (static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n')) > 2 * kKept) {
    size_t begin = lines.size() - 1;
    for (size_t k = 0; k < kKept; ++k) begin = lines.rfind('\n', begin - 1);
    text = lines.substr(begin + 1);
    file.rewrite(text);
  }
  take_lines(text);
  read_ = file.size();
}

void History::take_lines(std::string_view text) {
  text = without_head(text);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    append(decoded(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void History::append(std::string_view entry) {
  if (entry.empty() || (!entries_.empty() && entries_.back() == entry)) return;
  entries_.emplace_back(entry);
}

void History::add(std::string_view entry) {
  if (entry.find_first_not_of(" \t\n") == std::string_view::npos) return;
  refresh();
  if (!entries_.empty() && entries_.back() == entry) return;
  append(entry);
  if (path_.empty()) return;
  const LockedFile file(path_);
  const bool alone = file.size() == read_;
  file.append(encoded(entry));
  if (alone) read_ = file.size();  // otherwise refresh() finds it behind what another session has added meanwhile
}

void History::refresh() {
  if (path_.empty()) return;
  struct stat status = {};
  if (::stat(path_.c_str(), &status) != 0 || status.st_size == read_) return;
  const LockedFile file(path_);
  if (file.size() < read_) {  // another session has shortened it
    entries_.clear();
    read_ = 0;
  }
  take_lines(file.read_from(read_));
  read_ = file.size();
}

std::optional<size_t> History::older(size_t index, std::string_view prefix, std::string_view except) const {
  while (index-- > 0)
    if (entries_[index].starts_with(prefix) && entries_[index] != except) return index;
  return std::nullopt;
}

std::optional<size_t> History::newer(size_t index, std::string_view prefix, std::string_view except) const {
  while (++index < entries_.size())
    if (entries_[index].starts_with(prefix) && entries_[index] != except) return index;
  return std::nullopt;
}

std::optional<size_t> History::older_with(size_t index, std::string_view part) const {
  while (index-- > 0)
    if (entries_[index].find(part) != std::string::npos) return index;
  return std::nullopt;
}

std::optional<size_t> History::newer_with(size_t index, std::string_view part) const {
  while (++index < entries_.size())
    if (entries_[index].find(part) != std::string::npos) return index;
  return std::nullopt;
}

std::string_view History::rest_of(std::string_view text) const {
  if (text.find_first_not_of(" \n") == std::string_view::npos) return {};
  for (size_t index = entries_.size(); index-- > 0;)
    if (entries_[index].size() > text.size() && entries_[index].starts_with(text))
      return std::string_view(entries_[index]).substr(text.size());
  return {};
}

}  // namespace gasell::editor
