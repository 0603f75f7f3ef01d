// The files of a data set.
#include <glob.h>

#include <algorithm>
#include <cerrno>

#include "lang/diagnostic.h"
#include "runtime/device/sandbox.h"
#include "runtime/io/arrow/tables.h"
#include "runtime/io/os_error.h"

namespace gasell::arrow {
namespace {

namespace fs = std::filesystem;

/// "%20" in the names of folders is a blank.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t k) { return k < text.size() && std::isxdigit(static_cast<unsigned char>(text[k])); };
    if (text[i] == '%' && digit(i + 1) && digit(i + 2)) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a comes before b, where runs of digits are compared as numbers.
bool naturally_before(std::string_view a, std::string_view b) {
  const auto take_number = [](std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
    const auto end = static_cast<size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
    const std::string_view digits = text.substr(0, end);
    text.remove_prefix(end);
    return digits;
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_number(a), y = take_number(b);
      if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
    } else {
      if (a.front() != b.front()) return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
      a.remove_prefix(1), b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

/// Whether a file or a folder of this name is left out.
bool is_hidden(std::string_view name) { return name.starts_with('.') || name.starts_with('_'); }

/// Adds what "year=2024" says, of a folder's name.
void add_key(const std::string& name, std::vector<std::pair<std::string, std::string>>& keys) {
  if (const size_t equals = name.find('='); equals != std::string::npos)
    keys.emplace_back(unescaped(name.substr(0, equals)), unescaped(name.substr(equals + 1)));
}

void collect(const fs::path& folder, const std::vector<std::pair<std::string, std::string>>& keys, std::vector<DataFile>& files) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) entries.push_back(*it);
  if (error) throw os_error(error.value(), folder);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.path() < b.path(); });
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (is_hidden(name)) continue;
    if (entry.is_directory(error)) {
      auto deeper = keys;
      add_key(name, deeper);
      collect(entry.path(), deeper, files);
    } else {
      files.push_back({entry.path(), keys});
    }
  }
}

Error no_files(const std::string& folder) {
  return Error("ValueError", "the folder " + in_quotes(folder) + " has no Parquet files", {}, Blame::environment);
}

/// The files of an address; a store's folders are parts of names.
std::vector<DataFile> files_elsewhere(const std::string& address, const remote::StorageOptions& storage) {
  std::vector<DataFile> files;
  if (address.find_first_of("*?[") != address.npos) {
    for (std::string& file : remote::files_of(address, storage)) files.push_back({std::move(file), {}});
    return files;
  }
  std::string folder = address;
  while (folder.ends_with('/')) folder.pop_back();
  const remote::Listed listed = remote::list(folder, storage);
  if (!listed.is_folder) {
    if (listed.files.empty()) throw os_error(ENOENT, address);
    return {{listed.files[0], {}}};
  }
  for (const std::string& file : listed.files) {
    DataFile found{file, {}};
    bool hidden = false;
    for (size_t at = folder.size() + 1; at < file.size();) {
      const size_t slash = file.find('/', at);
      const std::string name = file.substr(at, slash == file.npos ? file.npos : slash - at);
      hidden = hidden || is_hidden(name);
      if (slash == file.npos) break;
      add_key(name, found.keys);
      at = slash + 1;
    }
    if (!hidden) files.push_back(std::move(found));
  }
  if (files.empty()) throw no_files(address);
  return files;
}

}  // namespace

std::vector<DataFile> data_files(const std::string& path, bool natural_order, const remote::StorageOptions& storage) {
  require_plugins("reading files of Parquet");
  const bool elsewhere = remote::is_remote(path);
  if (!elsewhere) require_readable(path);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  std::vector<DataFile> files;
  if (elsewhere) {
    files = files_elsewhere(path, storage);
  } else if (fs::is_directory(status)) {
    collect(path, {}, files);
    if (files.empty()) throw no_files(path);
  } else if (!fs::exists(status) && path.find_first_of("*?[") != std::string::npos) {
    glob_t found{};
    const int result = glob(path.c_str(), 0, nullptr, &found);
    for (size_t i = 0; i < found.gl_pathc; ++i) files.push_back({found.gl_pathv[i], {}});
    globfree(&found);
    if (result != 0 || files.empty()) throw Error("FileNotFoundError", in_quotes(path) + " resolved to no files", {}, Blame::environment);
  } else {
    if (!fs::exists(status)) throw os_error(error ? error.value() : ENOENT, path);
    files.push_back({path, {}});
  }
  if (!elsewhere)
    for (const DataFile& file : files) require_readable(file.path);  // a link leads elsewhere
  if (natural_order)
    std::ranges::stable_sort(files,
                             [](const DataFile& a, const DataFile& b) { return naturally_before(a.path.native(), b.path.native()); });
  return files;
}

}  // namespace gasell::arrow
