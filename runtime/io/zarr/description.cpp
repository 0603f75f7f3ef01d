// .zarray and zarr.json.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lang/diagnostic.h"
#include "runtime/device/sandbox.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/os_error.h"
#include "runtime/io/zarr/zarr.h"

namespace gasell::zarr {
namespace {

using Json = nlohmann::ordered_json;

/// Reads what a description says; errors name the file and the key.
class Reader {
 public:
  explicit Reader(std::filesystem::path path) : path_(std::move(path)) {
    require_readable(path_);
    std::ifstream file(path_);
    if (!file) throw os_error(errno, path_);
    json_ = Json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
    if (!json_.is_object()) refuse("it is no JSON object");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error("ValueError", fmt::format("{} describes no Zarr array: {}", in_quotes(path_.string()), why), {}, Blame::environment);
  }
  [[noreturn]] void limit(const std::string& what) const {
    throw Error("NotImplementedError", what + " is not in Gasell", {}, Blame::limitation);
  }

  const Json& root() const { return json_; }
  const Json& member(const Json& of, const char* key) const {
    if (!of.is_object() || !of.contains(key)) refuse(fmt::format("'{}' is missing", key));
    return of[key];
  }
  std::string text(const Json& of, const char* key) const {
    const Json& v = member(of, key);
    if (!v.is_string()) refuse(fmt::format("'{}' is no text", key));
    return v.get<std::string>();
  }
  std::vector<int64_t> extents(const Json& of, const char* key, int64_t least) const {
    const Json& v = member(of, key);
    std::vector<int64_t> numbers;
    if (!v.is_array()) refuse(fmt::format("'{}' is no list of numbers", key));
    for (const Json& n : v) {
      if (!n.is_number_integer() || n.get<int64_t>() < least) refuse(fmt::format("'{}' holds {}", key, n.dump()));
      numbers.push_back(n.get<int64_t>());
    }
    return numbers;
  }
  std::optional<int> level(const Json& of) const {
    if (!of.is_object() || !of.contains("level")) return std::nullopt;
    if (!of["level"].is_number_integer()) refuse("'level' is no number");
    return of["level"].get<int>();
  }

  double number(const Json& v) const {
    if (v.is_number()) return v.get<double>();
    if (v == "NaN") return std::nan("");
    if (v == "Infinity") return INFINITY;
    if (v == "-Infinity") return -INFINITY;
    refuse("'fill_value' is " + v.dump());
  }
  Scalar fill(const Json& v, DType dtype) const {
    if (v.is_null()) return Scalar::of_int(0).cast(dtype);
    if (v.is_boolean()) return Scalar::of_bool(v.get<bool>()).cast(dtype);
    if (v.is_number_unsigned()) {
      Scalar s = Scalar::of_int(static_cast<int64_t>(v.get<uint64_t>()));
      if (dtype == DType::u64) {
        s.type = DType::u64;
        return s;
      }
      return s.cast(dtype);
    }
    if (v.is_number_integer()) return Scalar::of_int(v.get<int64_t>()).cast(dtype);
    if (is_complex(dtype) && v.is_array() && v.size() == 2) return Scalar::of_complex({number(v[0]), number(v[1])}).cast(dtype);
    if (v.is_string() && v.get<std::string>().starts_with("0x")) limit("a Zarr array's fill value " + v.dump());
    if (!is_float(dtype) && !is_complex(dtype)) refuse("'fill_value' is " + v.dump());
    return Scalar::of_float(number(v)).cast(dtype);
  }

 private:
  std::filesystem::path path_;
  Json json_;
};

void check(const Reader& reader, const Description& d) {
  if (d.chunks.size() != d.shape.size())
    reader.refuse(fmt::format("the array has {} axes and its chunks {}", d.shape.size(), d.chunks.size()));
  graph::bytes_of(d.shape, d.dtype);
  graph::bytes_of(d.chunks, d.dtype);
}

Description read_second(const std::filesystem::path& folder) {
  const Reader reader(folder / ".zarray");
  const Json& root = reader.root();
  Description d{.folder = folder, .format = 2, .separator = "."};
  if (!root.contains("zarr_format") || root["zarr_format"] != 2) reader.refuse("'zarr_format' is not 2");
  d.shape = reader.extents(root, "shape", 0);
  d.chunks = reader.extents(root, "chunks", 1);
  if (!reader.member(root, "dtype").is_string()) reader.limit("a Zarr array of records");
  std::string name = reader.text(root, "dtype");
  if (name.size() < 3 || std::string("<>|").find(name[0]) == std::string::npos) reader.refuse("'dtype' is '" + name + "'");
  d.byte_swapped = name[0] == '>';
  const std::optional<DType> dtype = dtype_from_name(name.substr(1));
  if (!dtype) reader.limit("a Zarr array of dtype '" + name + "'");
  d.dtype = *dtype;
  d.fill = reader.fill(reader.member(root, "fill_value"), d.dtype);
  const std::string order = reader.text(root, "order");
  if (order != "C" && order != "F") reader.refuse("'order' is '" + order + "'");
  d.order.resize(d.shape.size());
  std::iota(d.order.begin(), d.order.end(), 0);
  if (order == "F") std::reverse(d.order.begin(), d.order.end());
  if (root.contains("dimension_separator")) d.separator = reader.text(root, "dimension_separator");
  if (d.separator != "." && d.separator != "/") reader.refuse("'dimension_separator' is '" + d.separator + "'");
  if (root.contains("filters") && !root["filters"].is_null())
    for (const Json& filter : root["filters"]) reader.limit("Zarr's filter '" + reader.text(filter, "id") + "'");
  if (const Json& compressor = reader.member(root, "compressor"); !compressor.is_null())
    d.codecs.push_back(codec_of(reader.text(compressor, "id"), reader.level(compressor)));
  check(reader, d);
  return d;
}

/// The codecs of format 3: from elements to elements, from elements to bytes, from bytes to bytes.
void read_codecs(const Reader& reader, Description& d) {
  const Json none = Json::object();
  bool bytes = false;
  const Json& codecs = reader.member(reader.root(), "codecs");
  if (!codecs.is_array()) reader.refuse("'codecs' is no list");
  for (const Json& codec : codecs) {
    const std::string name = reader.text(codec, "name");
    const Json& how = codec.contains("configuration") ? codec["configuration"] : none;
    if (name == "transpose" && !bytes) {
      const std::vector<int64_t> axes = reader.extents(how, "order", 0);
      std::vector<int> order;
      for (const int64_t a : axes)
        if (a < static_cast<int64_t>(d.order.size())) order.push_back(d.order[static_cast<size_t>(a)]);
      std::vector<int> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      if (sorted.size() != d.order.size() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        reader.refuse("'order' is no order of the axes");
      d.order = order;
    } else if (name == "bytes" && !bytes) {
      bytes = true;
      d.byte_swapped = how.contains("endian") && how["endian"] == "big";
    } else if (bytes) {
      d.codecs.push_back(codec_of(name, reader.level(how)));
    } else {
      (void)codec_of(name, std::nullopt);  // refuses sharding_indexed and the like by name
      reader.refuse("the codec 'bytes' is missing");
    }
  }
  if (!bytes) reader.refuse("the codec 'bytes' is missing");
}

Description read_third(const std::filesystem::path& folder) {
  const Reader reader(folder / "zarr.json");
  const Json& root = reader.root();
  Description d{.folder = folder};
  if (!root.contains("zarr_format") || root["zarr_format"] != 3) reader.refuse("'zarr_format' is not 3");
  d.shape = reader.extents(root, "shape", 0);
  d.order.resize(d.shape.size());
  std::iota(d.order.begin(), d.order.end(), 0);
  const Json& grid = reader.member(root, "chunk_grid");
  if (reader.text(grid, "name") != "regular") reader.limit("Zarr's chunk grid '" + reader.text(grid, "name") + "'");
  d.chunks = reader.extents(reader.member(grid, "configuration"), "chunk_shape", 1);
  if (!reader.member(root, "data_type").is_string()) reader.limit("a Zarr array of data type " + root["data_type"].dump());
  const std::string name = reader.text(root, "data_type");
  const std::optional<DType> dtype = dtype_from_name(name);
  if (!dtype) reader.limit("a Zarr array of data type '" + name + "'");
  d.dtype = *dtype;
  d.fill = reader.fill(reader.member(root, "fill_value"), d.dtype);
  const Json& keys = reader.member(root, "chunk_key_encoding");
  const std::string encoding = reader.text(keys, "name");
  if (encoding != "default" && encoding != "v2") reader.limit("Zarr's chunk_key_encoding '" + encoding + "'");
  d.prefix = encoding == "default" ? "c" : "";
  d.separator = encoding == "default" ? "/" : ".";
  if (keys.contains("configuration") && keys["configuration"].contains("separator"))
    d.separator = reader.text(keys["configuration"], "separator");
  if (d.separator != "." && d.separator != "/") reader.refuse("'separator' is '" + d.separator + "'");
  if (root.contains("storage_transformers") && !root["storage_transformers"].empty()) reader.limit("Zarr's storage transformers");
  read_codecs(reader, d);
  check(reader, d);
  return d;
}

bool is_there(const std::filesystem::path& path) {
  require_readable(path);
  std::error_code none;
  return std::filesystem::exists(path, none);
}

bool is_group_of_third(const std::filesystem::path& folder) {
  require_readable(folder / "zarr.json");
  std::ifstream file(folder / "zarr.json");
  const Json json = Json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
  return json.is_object() && json.contains("node_type") && json["node_type"] == "group";
}

bool holds_array(const std::filesystem::path& folder) {
  return is_there(folder / ".zarray") || (is_there(folder / "zarr.json") && !is_group_of_third(folder));
}

void write(const std::filesystem::path& path, const Json& json) {
  require_writable(path);
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  if (failed) throw os_error(failed.value(), path.parent_path());
  AtomicFile file(path);
  file.write(json.dump(2));
  file.commit();
}

Json fill_json(const Scalar& v) {
  if (v.type == DType::boolean) return v.i != 0;
  const auto real = [](double x) -> Json {
    if (std::isnan(x)) return "NaN";
    if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
    return x;
  };
  if (is_complex(v.type)) return Json::array({real(v.c.real()), real(v.c.imag())});
  if (is_float(v.type)) return real(v.c.real());
  if (v.type == DType::u64) return static_cast<uint64_t>(v.i);
  return v.i;
}

const char* name_of(const Codec& codec, int format) {
  switch (codec.kind) {
    case Codec::Kind::zlib: return format == 2 ? "zlib" : "numcodecs.zlib";
    case Codec::Kind::gzip: return "gzip";
    case Codec::Kind::crc32c: return "crc32c";
    case Codec::Kind::zstd: break;
  }
  return "zstd";
}

Json to_json(const Description& d) {
  Json json;
  if (d.format == 2) {
    const char kind = gasell::kind(d.dtype);
    json["shape"] = d.shape;
    json["chunks"] = d.chunks;
    json["dtype"] = fmt::format("{}{}{}", size_of(d.dtype) == 1 ? '|' : '<', kind, size_of(d.dtype));
    json["fill_value"] = fill_json(d.fill);
    json["order"] = "C";
    json["filters"] = nullptr;
    json["dimension_separator"] = d.separator;
    json["compressor"] = nullptr;
    for (const Codec& codec : d.codecs) json["compressor"] = {{"id", name_of(codec, 2)}, {"level", codec.level}};
    json["zarr_format"] = 2;
    return json;
  }
  json["shape"] = d.shape;
  json["data_type"] = std::string(gasell::name_of(d.dtype));
  json["chunk_grid"] = {{"name", "regular"}, {"configuration", {{"chunk_shape", d.chunks}}}};
  json["chunk_key_encoding"] = {{"name", "default"}, {"configuration", {{"separator", d.separator}}}};
  json["fill_value"] = fill_json(d.fill);
  Json bytes = {{"name", "bytes"}};
  if (size_of(d.dtype) > 1) bytes["configuration"] = {{"endian", "little"}};
  json["codecs"] = Json::array({bytes});
  for (const Codec& codec : d.codecs) {
    Json how = {{"level", codec.level}};
    if (codec.kind == Codec::Kind::zstd) how["checksum"] = false;
    Json entry = {{"name", name_of(codec, 3)}};
    if (codec.kind != Codec::Kind::crc32c) entry["configuration"] = how;
    json["codecs"].push_back(entry);
  }
  json["attributes"] = Json::object();
  json["zarr_format"] = 3;
  json["node_type"] = "array";
  json["storage_transformers"] = Json::array();
  return json;
}

}  // namespace

Description open(const std::filesystem::path& folder, const std::string& shown_store, const std::string& shown_path) {
  if (is_there(folder / "zarr.json") && !is_group_of_third(folder)) return read_third(folder);
  if (is_there(folder / ".zarray")) return read_second(folder);
  throw Error("ArrayNotFoundError", "No array found in store " + shown_store + " at path " + shown_path, {}, Blame::environment);
}

void create(const Description& d, const std::filesystem::path& store, const std::string& shown_path, bool overwrite) {
  const bool array = holds_array(d.folder);
  const bool group = is_there(d.folder / ".zgroup") || (is_there(d.folder / "zarr.json") && !array);
  if ((array || group) && !overwrite)
    throw Error(array ? "ContainsArrayError" : "ContainsGroupError",
                fmt::format("{} exists in store LocalStore('file://{}') at path '{}'.", array ? "An array" : "A group",
                            std::filesystem::absolute(store).lexically_normal().string(), shown_path));
  require_writable(d.folder);
  if (array || group) std::filesystem::remove_all(d.folder);
  for (std::filesystem::path above = d.folder; above != store && above.has_relative_path();) {
    above = above.parent_path();
    if (holds_array(above))
      throw Error("ContainsArrayError", "An array exists in store " + in_quotes(store.string()) + " above '" + shown_path + "'.");
    if (d.format == 2 && !is_there(above / ".zgroup")) {
      write(above / ".zgroup", {{"zarr_format", 2}});
      write(above / ".zattrs", Json::object());
    }
    if (d.format == 3 && !is_there(above / "zarr.json"))
      write(above / "zarr.json", {{"attributes", Json::object()}, {"zarr_format", 3}, {"node_type", "group"}});
  }
  write(d.folder / (d.format == 2 ? ".zarray" : "zarr.json"), to_json(d));
  if (d.format == 2) write(d.folder / ".zattrs", Json::object());
}

}  // namespace gasell::zarr
