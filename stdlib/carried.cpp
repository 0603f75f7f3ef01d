#include "stdlib/carried.h"

#include <cstring>

#include "runtime/session/packing.h"
#include "runtime/session/unpacking.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/numba/dispatcher.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/time_scalars.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/timestamp.h"
#include "stdlib/re/pattern.h"

namespace gasell {
namespace {

using numpy::NdArray;
using Parts = std::span<Value>;

/// Smaller arrays are copied: nobody has to count who reads them.
constexpr int64_t kSharedFrom = int64_t{1} << 20;

/// The elements of an array, in C order.
struct PackedArray final : Packed {
  Value unpack(Unpacking&) const override {
    Array made(graph::buffer(storage, dtype, shape, graph::contiguous_strides(shape), offset));
    made.set_requested_chunks(chunks);
    made.set_writable(writable);
    return Value::make<NdArray>(std::move(made));
  }
  StorageRef storage;
  DType dtype = DType::f64;
  graph::Shape shape;
  int64_t offset = 0;
  Array::Chunks chunks;
  bool writable = true;
};

Value pack_array(Packing& packing, Object& object) {
  Engine& engine = packing.in.engine();
  const Array& array = static_cast<NdArray&>(object).array;
  const Array::Elements elements = array.elements(engine);
  const int64_t bytes = elements.count * size_of(elements.dtype);
  Value made = packing.make<PackedArray>();
  auto& packed = static_cast<PackedArray&>(*made.object());
  packed.dtype = elements.dtype;
  packed.shape = array.shape();
  packed.chunks = array.requested_chunks();
  packed.writable = array.writable();
  const auto* host = dynamic_cast<const HostStorage*>(elements.keep_alive.get());
  if (bytes >= kSharedFrom && host && !host->is_shared()) {
    packed.storage = elements.keep_alive;
    packed.offset = (elements.data - static_cast<const char*>(host->host_memory())) / size_of(elements.dtype);
  } else {
    packed.storage = engine.device().allocate(bytes);
    if (bytes > 0) std::memcpy(static_cast<HostStorage&>(*packed.storage).write(), elements.data, static_cast<size_t>(bytes));
  }
  return made;
}

struct PackedScalar final : Packed {
  explicit PackedScalar(const Scalar& s) : scalar(s) {}
  Value unpack(Unpacking&) const override { return numpy::wrap_scalar(scalar); }
  const Scalar scalar;
};

/// Columns do not change; they are computed before others see them.
struct PackedColumn final : Packed {
  explicit PackedColumn(frame::Column c) : column(std::move(c)) {}
  Value unpack(Unpacking&) const override { return pandas::wrap_column(column); }
  const frame::Column column;
};

Value pack_column(Packing& packing, Object& object) {
  auto& column = static_cast<pandas::ColumnObject&>(object).column;
  frame::read(packing.in.engine(), column);
  frame::Column copy = column;
  copy.pending.reset();
  return packing.make<PackedColumn>(std::move(copy));
}

struct PackedObject final : Packed {
  Value unpack(Unpacking& to) const override {
    Value made = Value::make<LibraryObject>(to.value(made_by));
    for (const auto& [name, member] : members) made.as<LibraryObject>()->members[name] = to.value(member);
    return made;
  }
  Value made_by;
  std::vector<std::pair<std::string, Value>> members;
};

/// An array of texts holds numbers of a session's table: the texts themselves cross.
struct PackedTexts final : Packed {
  Value unpack(Unpacking& to) const override {
    Value made = Value::make<LibraryObject>(to.value(made_by));
    auto& members = made.as<LibraryObject>()->members;
    members["_dtype"] = to.value(dtype);
    members["_data"] = numpy::codes_of_texts(to.in, texts, shape);
    return made;
  }
  Value made_by, dtype;
  std::vector<std::string> texts;
  graph::Shape shape;
};

Value pack_texts(Packing& packing, LibraryObject& from) {
  Value made = packing.make<PackedTexts>();
  auto& packed = static_cast<PackedTexts&>(*made.object());
  packed.made_by = packing.pack(from.class_value());
  packed.dtype = packing.pack(from.members.at("_dtype"));
  const Value& codes = from.members.at("_data");
  packed.texts = numpy::texts_of_codes(packing.in, codes);
  packed.shape = codes.as<NdArray>()->array.shape();
  return made;
}

Value pack_library_object(Packing& packing, Object& object) {
  auto& from = static_cast<LibraryObject&>(object);
  if (from.class_value().as<LibraryClass>()->texts() == "_typed.TextArray") return pack_texts(packing, from);
  Value made = packing.make<PackedObject>();
  auto& packed = static_cast<PackedObject&>(*made.object());
  packed.made_by = packing.pack(from.class_value());
  auto* const tasks = std::exchange(packing.tasks, nullptr);  // a future among the members is no argument
  for (const auto& [name, member] : from.members) packed.members.emplace_back(name, packing.pack(member));
  packing.tasks = tasks;
  return made;
}

struct PackedDispatcher final : Packed {
  PackedDispatcher(Value f, functions::Options o) : function(std::move(f)), options(std::move(o)) {}
  Value unpack(Unpacking& to) const override { return Value::make<numba::Dispatcher>(to.in, to.value(function), options); }
  const Value function;
  const functions::Options options;
};

/// What was compiled stays; the engine finds its code again.
Value pack_dispatcher(Packing& packing, Object& object) {
  const auto& dispatcher = static_cast<numba::Dispatcher&>(object);
  if (dispatcher.is_declared()) packing.refuse(object);
  return packing.make<PackedDispatcher>(packing.pack(dispatcher.function()), dispatcher.options());
}

struct PackedMoment final : Packed {
  explicit PackedMoment(const pandas::Timestamp& t) : nanoseconds(t.nanoseconds), zone(t.zone) {}
  Value unpack(Unpacking&) const override { return Value::make<pandas::Timestamp>(nanoseconds, zone); }
  const int64_t nanoseconds;
  const frame::TimeZone* zone;
};

/// A value that a function of the C++ library makes, given in full by a few numbers.
struct PackedTime final : Packed {
  explicit PackedTime(std::function<Value()> m) : make(std::move(m)) {}
  Value unpack(Unpacking&) const override { return make(); }
  const std::function<Value()> make;
};

void register_carried_times() {
  using namespace datetime;
  register_carried(typeid(PlainDate), {.pack = [](Packing& packing, Object& o) {
                     return packing.make<PackedTime>([days = static_cast<PlainDate&>(o).days] { return date_value(days); });
                   }});
  register_carried(
      typeid(TimeOfDay), {.pack = [](Packing& packing, Object& o) {
        return packing.make<PackedTime>([micros = static_cast<TimeOfDay&>(o).micros] { return Value::make<TimeOfDay>(micros); });
      }});
  register_carried(typeid(DateTime), {.pack = [](Packing& packing, Object& o) {
                     return packing.make<PackedTime>([clock = static_cast<DateTime&>(o).clock] { return datetime_value(clock); });
                   }});
  register_carried(typeid(Duration), {.pack = [](Packing& packing, Object& o) {
                     return packing.make<PackedTime>([micros = static_cast<Duration&>(o).micros] { return duration_value(micros); });
                   }});
  register_carried(typeid(Zone), {.pack = [](Packing& packing, Object& o) {
                     return packing.make<PackedTime>([zone = &static_cast<Zone&>(o).zone] { return zone_value(zone); });
                   }});
}

void load_text(Interpreter& in, const std::string& path) {
  for (const LibraryFile& file : library_files())
    if ("<" + std::string(file.path) + ">" == path) in.library_module(std::string(file.path), file.text);
}

}  // namespace

void register_carried_library() {
  static const bool once = [] {
    set_library_loader(load_text);
    register_carried(typeid(NdArray), {.may_change = true, .pack = pack_array});
    register_carried(typeid(numpy::NumpyScalar), {.pack = [](Packing& packing, Object& o) {
                       return packing.make<PackedScalar>(static_cast<numpy::NumpyScalar&>(o).value(packing.in));
                     }});
    register_carried(typeid(numpy::DTypeObject),
                     {.pack = [](Packing&, Object& o) { return numpy::dtype_object(static_cast<numpy::DTypeObject&>(o).dtype); }});
    register_carried(typeid(numpy::TimeScalar), {.pack = [](Packing& packing, Object& o) {
                       const auto& t = static_cast<numpy::TimeScalar&>(o);
                       return packing.make<PackedTime>([moment = t.moment, count = t.count, unit = t.unit] {
                         return Value::make<numpy::TimeScalar>(moment, count, unit);
                       });
                     }});
    register_carried(typeid(pandas::ColumnObject), {.pack = pack_column});
    register_carried(typeid(pandas::Timestamp),
                     {.pack = [](Packing& packing, Object& o) { return packing.make<PackedMoment>(static_cast<pandas::Timestamp&>(o)); }});
    register_carried(
        typeid(pandas::Timedelta),
        {.parts = [](Interpreter&, Object& o) { return std::vector<Value>{Value::of(static_cast<pandas::Timedelta&>(o).nanoseconds)}; },
         .make = [](Interpreter&, Parts p) { return pandas::timedelta_value(p[0].as_int()); }});
    register_carried(typeid(LibraryObject), {.may_change = true, .pack = pack_library_object});
    register_carried(typeid(LibraryClass), {.pack = [](Packing& packing, Object& o) { return packing.named_in_library(o); }});
    register_carried(typeid(numba::Dispatcher), {.pack = pack_dispatcher});
    for (const Value* singleton : {&pandas::nat_value(), &pandas::na_value()})
      register_carried(typeid(*singleton->object()), {.pack = [](Packing&, Object& o) { return Value::of(&o); }});
    register_carried_methods();
    register_carried_functools();
    register_carried_collections();
    register_carried_deques();
    register_carried_named();
    register_carried_times();
    register_carried(typeid(re::Pattern), {.parts =
                                               [](Interpreter&, Object& o) {
                                                 const auto& pattern = static_cast<re::Pattern&>(o);
                                                 return std::vector<Value>{pattern.text, Value::of(pattern.given_flags)};
                                               },
                                           .make = [](Interpreter&, Parts p) { return Value::make<re::Pattern>(p[0], p[1].as_int()); }});
    return true;
  }();
  (void)once;
}

}  // namespace gasell
