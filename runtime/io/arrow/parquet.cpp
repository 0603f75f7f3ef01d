// Parquet files as columns that wait.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/io/arrow/conditions.h"
#include "runtime/io/arrow/parquet_scan.h"
#include "runtime/io/os_error.h"

namespace gasell::arrow {
namespace {

/// More files than this are opened for each read anew, so that a data set does not use up the process's descriptors.
constexpr size_t kHeldFiles = 128;
/// A file that says that its texts take more than this times the bytes that they have in it is not believed before they are read.
constexpr int64_t kMostExpansion = 1000;

}  // namespace

void ParquetScan::open(const std::vector<DataFile>& files, const remote::StorageOptions& storage) {
  files_.resize(files.size());
  const GasellArrow& library = plugin();
  const int hold = files.size() <= kHeldFiles;
  in_parallel(static_cast<int64_t>(files.size()), [&](int64_t task) {
    ParquetSource& opened = files_[static_cast<size_t>(task)];
    opened.path = files[static_cast<size_t>(task)].path;
    ArrowProblem problem{};
    ArrowParquetFile* file = nullptr;
    opened.elsewhere = remote_source(engine_, opened.path, storage);
    ArrowSource lent{};
    if (opened.elsewhere) lent = opened.elsewhere->lend();
    const int kind = library.parquet_open(opened.path.c_str(), opened.elsewhere ? &lent : nullptr, hold, &file, &problem);
    if (opened.elsewhere) opened.elsewhere->rethrow();
    check(kind, problem, opened.path);
    opened.file.reset(file);
    check(library.parquet_schema(file, opened.schema.get(), &problem), problem, opened.path);
    for (int64_t i = 0; i < opened.schema->n_children; ++i) opened.places.emplace(opened.schema->children[i]->name, i);
  });
}

size_t ParquetScan::place_of(const ParquetSource& file, const std::string& name) const {
  const auto found = file.places.find(name);
  if (found == file.places.end())
    throw Error("ValueError", in_quotes(file.path.string()) + " has no column " + in_quotes(name) + ", which " +
                                  in_quotes(files_[0].path.string()) + " has");
  return static_cast<size_t>(found->second);
}

/// Which row groups can have rows that are wanted.
void ParquetScan::choose(const std::vector<DataFile>& files, const ReadOptions& options) {
  const GasellArrow& library = plugin();
  Chunk chunk;
  for (size_t k = 0; k < files_.size(); ++k) {
    const ParquetSource& file = files_[k];
    const int64_t first = rows_;
    const int64_t groups = library.parquet_groups(file.file.get());
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t rows = library.parquet_group_rows(file.file.get(), g), end = added_rows(rows_, rows, file.path.string());
      const auto may = [&](const Condition& condition) {
        for (const auto& [name, value] : files[k].keys)
          if (name == condition.column) return may_meet(condition, value);
        const auto found = file.places.find(condition.column);
        if (found == file.places.end()) return true;
        const auto type = field_type(*file.schema->children[found->second]);
        if (!type) return true;
        ArrowProblem problem{};
        check(library.parquet_chunk(file.file.get(), g, found->second, &chunk, &problem), problem, file.path, condition.column);
        return may_meet(condition, *type, chunk, rows);
      };
      const bool wanted = options.any_of.empty() || std::any_of(options.any_of.begin(), options.any_of.end(),
                                                                [&](const auto& all) { return std::all_of(all.begin(), all.end(), may); });
      if (!wanted) {
        pruned_ = true;
        continue;
      }
      groups_.push_back({&file, g, rows_, rows});
      rows_ = end;
    }
    rows_of_file_.push_back(rows_ - first);
  }
}

ParquetField ParquetScan::field_of(const std::string& name, const PandasNote& note) {
  ParquetField field;
  field.name = name;
  const GasellArrow& library = plugin();
  const auto type_in = [&](const ParquetSource& file) -> const ArrowSchema& { return *file.schema->children[place_of(file, name)]; };
  const ArrowSchema& first = type_in(files_[0]);
  const auto type = field_type(first);
  if (!type)
    throw Error("NotImplementedError",
                in_quotes(files_[0].path.string()) + ": column " + in_quotes(name) + " is of type " + shown_type(first) +
                    ", which is not in Gasell's frames",
                "columns=[…] reads the others");
  field.type = *type;
  for (const ParquetSource& file : files_) {
    const auto other = field_type(type_in(file));
    const bool nothing = (other && other->form == FieldType::Form::nothing) || field.type.form == FieldType::Form::nothing;
    if (!other || (other->type != field.type.type && !(nothing && other->type.has_codes() && field.type.type.has_codes())) ||
        (other->scale != field.type.scale && other->form != field.type.form))
      throw Error("ValueError", "column " + in_quotes(name) + " is of type " + shown_type(first) + " in " +
                                    in_quotes(files_[0].path.string()) + " and of type " + shown_type(type_in(file)) + " in " +
                                    in_quotes(file.path.string()));
  }
  if (const auto noted = note.types.find(name); noted != note.types.end() && field.type.type.is_number() && !noted->second.empty())
    field.type.type.nullable = std::isupper(static_cast<unsigned char>(noted->second[0])) || noted->second == "boolean";
  Chunk chunk;
  std::vector<int64_t> text_sizes;
  for (const RowGroup& g : groups_) {
    ArrowProblem problem{};
    const auto place = static_cast<int64_t>(place_of(*g.file, name));
    check(library.parquet_chunk(g.file->file.get(), g.group, place, &chunk, &problem), problem, g.file->path, name);
    if (field.is_text()) field.coded.push_back(chunk.coded && field.type.form == FieldType::Form::texts);
    text_sizes.push_back(chunk.texts_size / kMostExpansion > chunk.bytes ? -1 : chunk.texts_size);
    field.has_validity |= !tells_missing(field.type) && chunk.nulls != 0;
  }
  if (field.type.form == FieldType::Form::texts) find_text_begins(field, text_sizes);
  return field;
}

void ParquetScan::find_text_begins(ParquetField& field, const std::vector<int64_t>& sizes) const {
  int64_t coded_rows = 0;
  for (size_t g = 0; g < groups_.size(); ++g) coded_rows += field.coded[g] ? groups_[g].rows : 0;
  if (coded_rows > rows_ / 4 || rows_ > INT32_MAX || std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; })) return;
  field.text_begins.assign(1, 0);
  for (const int64_t size : sizes) field.text_begins.push_back(field.text_begins.back() + size);
}

frame::Column ParquetScan::column(size_t k) {
  const ParquetField& field = fields_[k];
  const auto self = shared_from_this();
  const auto waiting = [&](DType dtype, HostStorageRef ParquetField::* part) {
    return graph::buffer(deferred(
                             rows_ * size_of(dtype), [self, k, part] { return self->fetch(k, part); }, [self, k] { self->announce(k); }),
                         dtype, {rows_}, {1}, 0);
  };
  frame::Column column{field.type.type, waiting(field.type.type.dtype, &ParquetField::values)};
  if (field.has_validity) column.validity = waiting(DType::boolean, &ParquetField::validity);
  if (field.is_text()) column.dictionary = std::make_shared<frame::Dictionary>([self, k] { return self->fetch(k, &ParquetField::texts); });
  if (column.type.logical == frame::Logical::category) {
    const frame::DictionaryRef texts = std::exchange(column.dictionary, nullptr);
    column.categories = std::make_shared<frame::Column>(frame::text_column(engine_, texts));
  }
  return column;
}

namespace {

/// How folders name a key that is missing.
constexpr const char* kNoKey = "__HIVE_DEFAULT_PARTITION__";

}  // namespace

/// A key of the folders, as categories: int32 where all its values are such numbers, else texts.
frame::Column ParquetScan::key_column(const std::vector<DataFile>& files, const std::string& name) {
  std::vector<std::string> of_file;
  for (const DataFile& file : files)
    for (const auto& [key, value] : file.keys)
      if (key == name) of_file.push_back(value);
  std::vector<std::string> different = of_file;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  std::erase(different, kNoKey);
  std::vector<int32_t> numbers;
  for (const std::string& text : different) {
    int32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size()) numbers.push_back(number);
  }
  const bool all_numbers = numbers.size() == different.size();
  frame::Column categories;
  if (all_numbers) {
    std::sort(different.begin(), different.end(), [](const std::string& a, const std::string& b) { return std::stol(a) < std::stol(b); });
    std::sort(numbers.begin(), numbers.end());
    frame::NewValues values(engine_, DType::i32, static_cast<int64_t>(numbers.size()));
    std::copy(numbers.begin(), numbers.end(), values.as<int32_t>());
    categories = frame::number_column(values.node());
  } else {
    frame::DictionaryBuilder texts;
    for (const std::string& text : different) texts.add(text);
    categories = frame::text_column(engine_, texts.finish(true));
  }
  frame::NewValues codes(engine_, DType::i32, rows_);
  int32_t* to = codes.as<int32_t>();
  for (size_t k = 0; k < files.size(); ++k) {
    const auto code = of_file[k] == kNoKey ? -1 : std::find(different.begin(), different.end(), of_file[k]) - different.begin();
    to = std::fill_n(to, rows_of_file_[k], static_cast<int32_t>(code));
  }
  frame::Column column{{frame::Logical::category, DType::i32}, codes.node()};
  column.categories = std::make_shared<frame::Column>(std::move(categories));
  return column;
}

Table ParquetScan::table(const std::vector<DataFile>& files, const ReadOptions& options) {
  open(files, options.storage);
  const PandasNote note = read_pandas_note(metadata_value(*files_[0].schema, "pandas"));
  if (note.label_columns.size() > 1)
    throw Error("NotImplementedError", in_quotes(files_[0].path.string()) + " has an index of several levels, which is not in Gasell",
                "write it with reset_index()");
  choose(files, options);
  Table table;
  table.labels = note.labels;
  table.integer_names = note.integer_names;
  table.rows = rows_;
  table.pruned = pruned_;

  std::vector<std::string> keys;
  for (const auto& [name, value] : files[0].keys) keys.push_back(name);
  for (const DataFile& file : files) {
    std::vector<std::string> own;
    for (const auto& [name, value] : file.keys) own.push_back(name);
    if (own != keys)
      throw Error("ValueError",
                  "the folders of " + in_quotes(file.path.string()) + " and of " + in_quotes(files[0].path.string()) + " have other keys");
  }
  const auto is_key = [&](const std::string& name) { return std::find(keys.begin(), keys.end(), name) != keys.end(); };

  std::vector<std::string> wanted;
  if (options.columns) {
    for (const std::string& name : *options.columns) {
      if (!is_key(name) && !files_[0].places.contains(name))
        throw Error("ValueError", in_quotes(files_[0].path.string()) + " has no column " + in_quotes(name));
      if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
    }
    if (note.labels.kind == RowLabels::Kind::column && files_[0].places.contains(note.labels.column) &&
        std::find(wanted.begin(), wanted.end(), note.labels.column) == wanted.end())
      wanted.push_back(note.labels.column);
  } else {
    for (int64_t i = 0; i < files_[0].schema->n_children; ++i)
      if (const std::string name = files_[0].schema->children[i]->name; !is_key(name)) wanted.push_back(name);
    wanted.insert(wanted.end(), keys.begin(), keys.end());
  }
  if (note.labels.kind == RowLabels::Kind::column && !files_[0].places.contains(note.labels.column)) table.labels = {};
  if (note.labels.kind == RowLabels::Kind::range && (pruned_ || files_.size() > 1)) table.labels = {};

  for (const std::string& name : wanted)
    if (!is_key(name)) {
      fields_.push_back(field_of(name, note));
      fields_.back().announced = fields_.back().type.type.logical == frame::Logical::category;  // read in one pass below
    }
  size_t k = 0;
  for (const std::string& name : wanted) {
    table.names.push_back(name);
    table.columns.push_back(is_key(name) ? key_column(files, name) : column(k++));
  }
  return table;
}

Table read_parquet(Engine& engine, const std::vector<DataFile>& files, const ReadOptions& options) {
  return std::make_shared<ParquetScan>(engine)->table(files, options);
}

}  // namespace gasell::arrow
