// Tables and arrays that change hands with other libraries: Arrow's C data and stream interfaces, DLPack.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "runtime/io/arrow/c_data.h"
#include "tools/libgasell/arrow_device_abi.h"
#include "tools/libgasell/dlpack_abi.h"

#include <gasell/gasell.hpp>

namespace {

/// A table of a host, as Arrow hands it over: integers, floats with one missing, texts.
struct HostTable {
  std::vector<int64_t> ids{1, 2, 3};
  std::vector<double> prices{1.5, 2.5, 3.5};
  std::vector<uint8_t> there{0b101};
  std::vector<int32_t> offsets{0, 3, 3, 8};
  std::string texts = "abcdéfg";
  const void* buffers[3][3] = {{nullptr, ids.data()}, {there.data(), prices.data()}, {nullptr, offsets.data(), texts.data()}};
  ArrowSchema columns_schema[3]{}, schema{};
  ArrowArray columns[3]{}, array{};
  ArrowSchema* schema_children[3] = {&columns_schema[0], &columns_schema[1], &columns_schema[2]};
  ArrowArray* children[3] = {&columns[0], &columns[1], &columns[2]};
  const void* none[1] = {nullptr};
  int schemas_released = 0, arrays_released = 0;

  HostTable() {
    const char* formats[] = {"l", "g", "u"};
    const char* names[] = {"id", "price", "name"};
    for (int k = 0; k < 3; ++k) {
      columns_schema[k].format = formats[k];
      columns_schema[k].name = names[k];
      columns_schema[k].flags = ARROW_FLAG_NULLABLE;
      columns[k].length = 3;
      columns[k].null_count = k == 1 ? 1 : 0;
      columns[k].n_buffers = k == 2 ? 3 : 2;
      columns[k].buffers = buffers[k];
    }
    schema.format = "+s";
    schema.n_children = array.n_children = 3;
    schema.children = schema_children;
    schema.private_data = array.private_data = this;
    schema.release = [](ArrowSchema* s) {
      ++static_cast<HostTable*>(s->private_data)->schemas_released;
      s->release = nullptr;
    };
    array.length = 3;
    array.n_buffers = 1;
    array.buffers = none;
    array.children = children;
    array.release = [](ArrowArray* a) {
      ++static_cast<HostTable*>(a->private_data)->arrays_released;
      a->release = nullptr;
    };
  }
};

}  // namespace

TEST_CASE("a table of Arrow becomes a frame, and a frame one of Arrow") {
  gasell::Engine engine;
  HostTable host;
  ArrowArrayStream stream{};
  {
    gasell::Session session(engine);
    session.bind_arrow("df", &host.schema, &host.array);
    CHECK(host.schema.release == nullptr);
    CHECK(host.array.release == nullptr);
    CHECK(session.evaluate("df").kind() == GASELL_KIND_FRAME);
    CHECK(session.evaluate("df['id'].sum()").as<int>() == 6);
    CHECK(session.evaluate("df['price'].isna().tolist()").text() == "[False, True, False]");
    CHECK(session.evaluate("df['name'].tolist()").text() == "['abc', '', 'défg']");
    // The integers lie where they lay.
    CHECK(session.evaluate("df['id'].to_numpy()").view<int64_t, 1>().data == host.ids.data());
    session.evaluate("df['id'] = df['id'] * 2");
    CHECK(host.ids[0] == 1);
    session.evaluate("out = df.assign(total=df['id'] * df['price'])").text();
    session.evaluate("out").arrow(&stream);
    CHECK_THROWS_AS(session.evaluate("3").arrow(&stream), gasell::Error);
    session.evaluate("out").arrow(&stream);
    CHECK(host.schemas_released == 1);
  }
  CHECK(host.arrays_released == 1);
  ArrowSchema schema{};
  ArrowArray array{}, end{};
  REQUIRE(stream.get_schema(&stream, &schema) == 0);
  REQUIRE(stream.get_next(&stream, &array) == 0);
  REQUIRE(stream.get_next(&stream, &end) == 0);
  CHECK(end.release == nullptr);
  REQUIRE(schema.n_children == 4);
  CHECK(std::string(schema.children[3]->name) == "total");
  CHECK(std::string(schema.children[0]->format) == "l");
  CHECK(array.length == 3);
  CHECK(static_cast<const int64_t*>(array.children[0]->buffers[1])[2] == 6);
  CHECK(array.children[3]->null_count == 1);
  CHECK(static_cast<const double*>(array.children[3]->buffers[1])[2] == 21.0);
  schema.release(&schema);
  array.release(&array);
  stream.release(&stream);
}

TEST_CASE("a part of a table is one of its rows") {
  gasell::Engine engine;
  gasell::Session session(engine);
  HostTable host;
  host.array.offset = 1;
  host.array.length = 2;
  session.bind_arrow("df", &host.schema, &host.array);
  CHECK(session.evaluate("df['id'].tolist()").text() == "[2, 3]");
  CHECK(session.evaluate("df['price'].isna().tolist()").text() == "[True, False]");
  CHECK(session.evaluate("df['name'].tolist()").text() == "['', 'défg']");
  HostTable wrong;
  wrong.array.length = 4;
  CHECK_THROWS_AS(session.bind_arrow("df", &wrong.schema, &wrong.array), gasell::Error);
  CHECK(wrong.arrays_released == 1);
}

TEST_CASE("streams of Arrow pass from session to session") {
  gasell::Engine engine;
  gasell::Session first(engine), second(engine);
  ArrowArrayStream stream{};
  first
      .evaluate(
          "pd.DataFrame({'t': pd.to_datetime(['2024-01-31', None]), 'c': pd.Series(['x', 'y']).astype('category'), 'b': [True, False]})")
      .arrow(&stream);
  second.bind_arrow("df", &stream);
  CHECK(stream.release == nullptr);
  CHECK(second.evaluate("[str(d) for d in df.dtypes]").text() == first.evaluate("['datetime64[ns]', 'category', 'bool']").text());
  CHECK(second.evaluate("df['t'].isna().tolist()").text() == "[False, True]");
  CHECK(second.evaluate("df['c'].tolist()").text() == "['x', 'y']");
  first.evaluate("pd.Series([1.5, 2.5], name='s')").arrow(&stream);
  second.bind_arrow("s", &stream);
  CHECK(second.evaluate("s['s'].sum()").as<double>() == 4.0);
}

TEST_CASE("tables pass through the memory of a GPU") {
  gasell::EngineOptions options;
  options.device = "sim:2";
  gasell::Engine engine(options);
  gasell::Session first(engine), second(engine);
  ArrowSchema schema{};
  ArrowDeviceArray array{};
  for (int device : {0, 1}) {
    first
        .evaluate(
            "pd.DataFrame({'v': np.arange(1000.0), 'n': pd.array([1, None, 3] + [4] * 997, dtype='Int64'), 's': ['text %d' % (i % 700) for "
            "i in "
            "range(1000)], 'b': np.arange(1000) % 3 == 0, 't': pd.date_range('2024', periods=1000), 'c': pd.Categorical(['x', 'y'] * "
            "500)}, index=pd.Index(np.arange(1000) * 2, name='key'))")
        .arrow_device(12, device, &schema, &array);
    REQUIRE(array.device_type == 12);
    CHECK(array.device_id == device);
    CHECK(array.sync_event == nullptr);
    const void* const values = array.array.children[0]->buffers[1];
    second.bind_arrow("df", &schema, &array);
    CHECK(schema.release == nullptr);
    CHECK(array.array.release == nullptr);
    CHECK(second.evaluate("[str(d) for d in df.dtypes]").text() == "['float64', 'Int64', 'object', 'bool', 'datetime64[ns]', 'category']");
    CHECK(second.evaluate("df.index.name, int(df.index[-1])").text() == "('key', 1998)");
    CHECK(second.evaluate("df['v'].sum()").as<double>() == 499500.0);
    CHECK(second.evaluate("int(df['n'].isna().sum()), int(df['n'].sum())").text() == "(1, 3992)");
    CHECK(second.evaluate("df['s'].iloc[699], int(df['b'].sum()), str(df['t'].iloc[31])").text() ==
          "('text 699', 334, '2024-02-01 00:00:00')");
    CHECK(second.evaluate("df['c'].iloc[:3].tolist(), int(df['c'].isna().sum())").text() == "(['x', 'y', 'x'], 0)");
    // The numbers lie where they lay.
    gasell_dtype dtype{};
    int rank = 0;
    gasell_view view{};
    const gasell::Value column = second.evaluate("df['v'].to_numpy()");
    REQUIRE(gasell_value_device_view(column.handle(), device, &dtype, &rank, &view, nullptr) == GASELL_OK);
    CHECK(view.data == values);
  }
  first.evaluate("pd.Series([1.5, 2.5], name='s')").arrow_device(1, 0, &schema, &array);
  CHECK(array.device_id == -1);
  second.bind_arrow("s", &schema, &array);
  CHECK(second.evaluate("s['s'].sum()").as<double>() == 4.0);
  CHECK_THROWS_AS(first.evaluate("pd.Series([1.5])").arrow_device(2, 0, &schema, &array), gasell::Error);
  CHECK_THROWS_AS(first.evaluate("pd.Series([1.5])").arrow_device(12, 7, &schema, &array), gasell::Error);
  CHECK_THROWS_AS(first.evaluate("3").arrow_device(1, 0, &schema, &array), gasell::Error);
  HostTable host;  // memory of the host's is none of a GPU's
  ArrowDeviceArray lies{};
  lies.array = host.array;
  lies.device_type = 12;
  CHECK_THROWS_AS(second.bind_arrow("wrong", &host.schema, &lies), gasell::Error);
  CHECK(host.arrays_released == 1);
}

TEST_CASE("tensors of DLPack are bound and given") {
  gasell::Engine engine;
  int deleted = 0;
  float data[6] = {0, 1, 2, 3, 4, 5};
  int64_t shape[2] = {3, 2}, strides[2] = {1, 3};
  DLManagedTensorVersioned tensor{};
  tensor.version = {1, 1};
  tensor.manager_ctx = &deleted;
  tensor.deleter = [](DLManagedTensorVersioned* t) { ++*static_cast<int*>(t->manager_ctx); };
  tensor.dl_tensor = {data, {1, 0}, 2, {2, 32, 1}, shape, strides, 0};
  DLManagedTensorVersioned* given = nullptr;
  {
    gasell::Session session(engine);
    session.bind_dlpack("t", &tensor);
    CHECK(session.evaluate("t.tolist()").text() == "[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]");
    session.evaluate("t[0, 1] = 30");
    CHECK(data[3] == 30.0F);
    tensor.dl_tensor.device.device_type = 2;
    CHECK_THROWS_AS(session.bind_dlpack("u", &tensor), gasell::Error);
    given = session.evaluate("(np.arange(6, dtype='int16').reshape(2, 3)).T").dlpack();
  }
  CHECK(deleted == 1);
  CHECK(given->dl_tensor.ndim == 2);
  CHECK(given->dl_tensor.shape[0] == 3);
  CHECK(given->dl_tensor.strides[0] == 1);
  CHECK(given->dl_tensor.dtype.bits == 16);
  CHECK(static_cast<const int16_t*>(given->dl_tensor.data)[given->dl_tensor.strides[1]] == 3);
  given->deleter(given);
}
