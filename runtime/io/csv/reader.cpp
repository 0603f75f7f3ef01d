#include <glob.h>

#include <memory>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/device/sandbox.h"
#include "runtime/io/csv/csv.h"
#include "runtime/io/csv/file_scan.h"
#include "runtime/io/os_error.h"

namespace gasell::csv {

CsvTable read_csv(Engine& engine, const std::vector<std::filesystem::path>& paths, const CsvOptions& options,
                  const std::function<void(const std::string&)>& warn) {
  std::vector<Text> texts;
  for (const std::filesystem::path& path : paths) texts.push_back(open_text(engine, path, options));
  return std::make_shared<FileScan>(engine, std::move(texts), options, warn)->read();
}

CsvTable read_csv_text(Engine& engine, std::string_view text, const CsvOptions& options,
                       const std::function<void(const std::string&)>& warn) {
  CsvOptions at_once = options;
  at_once.later_from = INT64_MAX;
  return std::make_shared<FileScan>(engine, std::vector{text_of(text)}, at_once, warn)->read();
}

std::vector<std::filesystem::path> files_of(const std::string& pattern, const remote::StorageOptions& storage) {
  if (remote::is_remote(pattern)) {
    const std::vector<std::string> files = remote::files_of(pattern, storage);
    return {files.begin(), files.end()};
  }
  require_readable(pattern);
  if (pattern.find_first_of("*?[") == std::string::npos || std::filesystem::exists(pattern)) return {pattern};
  glob_t found{};
  const int result = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::filesystem::path> paths;
  for (size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  if (result != 0 || paths.empty()) throw Error("OSError", in_quotes(pattern) + " resolved to no files");
  return paths;
}

}  // namespace gasell::csv
