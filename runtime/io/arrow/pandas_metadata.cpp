#include "runtime/io/arrow/pandas_metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gasell::arrow {
namespace {

using Json = nlohmann::ordered_json;

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}
int64_t number_at(const Json& object, const char* key, int64_t otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

/// A column as pandas describes it.
Json described(Engine& engine, const frame::Column& column, const Json& name, const Json& field) {
  const std::string dtype = frame::dtype_name(engine, column);
  std::string pandas = dtype, numpy = dtype;
  Json more = nullptr;
  switch (column.type.logical) {
    case frame::Logical::text: pandas = "unicode"; break;
    case frame::Logical::category: {
      const int64_t count = column.categories->size();
      pandas = "categorical";
      numpy = count <= 127 ? "int8" : count <= 32767 ? "int16" : "int32";
      more = Json{{"num_categories", count}, {"ordered", column.type.ordered}};
      break;
    }
    case frame::Logical::datetime:
      pandas = column.type.zone.empty() ? "datetime" : "datetimetz";
      numpy = "datetime64[ns]";
      if (!column.type.zone.empty()) more = Json{{"timezone", column.type.zone}};
      break;
    case frame::Logical::period: break;
    case frame::Logical::timedelta: pandas = "timedelta"; break;
    case frame::Logical::number:
      std::transform(pandas.begin(), pandas.end(), pandas.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (pandas == "boolean") pandas = "bool";
      break;
  }
  return Json{{"name", name}, {"field_name", field}, {"pandas_type", pandas}, {"numpy_type", numpy}, {"metadata", more}};
}

}  // namespace

PandasNote read_pandas_note(const std::string& text) {
  PandasNote note;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return note;
  std::map<std::string, std::optional<std::string>> names;  // by the field
  if (const auto columns = json.find("columns"); columns != json.end() && columns->is_array())
    for (const Json& column : *columns) {
      if (!column.is_object()) continue;
      const std::string field = text_at(column, "field_name");
      note.types[field] = text_at(column, "numpy_type");
      const auto name = column.find("name");
      names[field] = name != column.end() && name->is_string() ? std::optional(name->get<std::string>()) : std::nullopt;
    }
  if (const auto indexes = json.find("column_indexes");
      indexes != json.end() && indexes->is_array() && indexes->size() == 1 && (*indexes)[0].is_object())
    note.integer_names = text_at((*indexes)[0], "pandas_type") == "int64";
  const auto index = json.find("index_columns");
  if (index == json.end() || !index->is_array()) return note;
  for (const Json& one : *index) {
    if (one.is_string()) {
      const auto field = one.get<std::string>();
      note.label_columns.push_back(field);
      note.labels.kind = RowLabels::Kind::column;
      note.labels.column = field;
      note.labels.name = names.contains(field) ? names[field] : field;
    } else if (one.is_object() && text_at(one, "kind") == "range") {
      note.labels.kind = RowLabels::Kind::range;
      note.labels.start = number_at(one, "start", 0);
      note.labels.stop = number_at(one, "stop", 0);
      note.labels.step = number_at(one, "step", 1);
      if (const auto name = one.find("name"); name != one.end() && name->is_string()) note.labels.name = name->get<std::string>();
    }
  }
  return note;
}

std::string write_pandas_note(Engine& engine, const Table& table) {
  const RowLabels& labels = table.labels;
  const Json label = labels.name ? Json(*labels.name) : Json(nullptr);
  Json index = Json::array(), columns = Json::array();
  if (labels.kind == RowLabels::Kind::range)
    index.push_back(Json{{"kind", "range"}, {"name", label}, {"start", labels.start}, {"stop", labels.stop}, {"step", labels.step}});
  for (size_t k = 0; k < table.columns.size(); ++k) {
    const std::string& name = table.names[k];
    const bool is_index = labels.kind == RowLabels::Kind::column && name == labels.column && k + 1 == table.columns.size();
    if (is_index) index.push_back(name);
    columns.push_back(described(engine, table.columns[k], is_index ? label : Json(name), name));
  }
  const Json names_are =
      table.integer_names
          ? Json{{"name", nullptr}, {"field_name", nullptr}, {"pandas_type", "int64"}, {"numpy_type", "int64"}, {"metadata", nullptr}}
          : Json{{"name", nullptr},
                 {"field_name", nullptr},
                 {"pandas_type", "unicode"},
                 {"numpy_type", "object"},
                 {"metadata", {{"encoding", "UTF-8"}}}};
  const Json note{{"index_columns", index},
                  {"column_indexes", Json::array({names_are})},
                  {"columns", columns},
                  {"creator", {{"library", "gasell"}, {"version", "0.1"}}},
                  {"pandas_version", "2.3.3"}};
  return note.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gasell::arrow
