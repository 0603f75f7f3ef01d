// Values of HDF5 files on their way between scripts and the plugin.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/io/hdf5/plugin.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/types.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::h5py {

/// Something open. An object keeps its file open.
struct Open {
  explicit Open(int64_t opened, std::shared_ptr<const Open> in_file = nullptr) : id(opened), file(std::move(in_file)) {}
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  ~Open() { hdf5::plugin().close(id); }
  const int64_t id;
  const std::shared_ptr<const Open> file;
};
using OpenRef = std::shared_ptr<const Open>;

class Handle final : public Object {
 public:
  explicit Handle(OpenRef o) : open(std::move(o)) {}
  const Type& type() const override {
    static const Type type{"Handle", "_h5py", &object_type()};
    return type;
  }
  const OpenRef open;
};

inline const OpenRef& open_of(const Value& v) { return v.as<Handle>()->open; }
inline int64_t id_of(const Value& v) { return open_of(v)->id; }
/// The handle of what was opened through another.
inline Value opened(int64_t id, const OpenRef& through) {
  return Value::make<Handle>(std::make_shared<const Open>(id, through->file ? through->file : through));
}

/// What a function of the plugin finds.
struct Texts {
  std::vector<std::string> found;
  Hdf5Found collect() {
    return {[](void* context, const char* text, int64_t bytes) {
              static_cast<Texts*>(context)->found.emplace_back(text, static_cast<size_t>(bytes));
            },
            this};
  }
};
/// Texts as a list. UnicodeDecodeError for what is not UTF-8.
Value text_list(const std::vector<std::string>& texts);
/// A list of str: `texts` keeps what the pointers point to.
std::vector<const char*> text_pointers(Interpreter& in, const Value& list, std::vector<std::string>& texts);

Hdf5Type type_of_dtype(DType dtype);
/// (dtype, name): the dtype of numbers; None and "text" or "text of 5 bytes"; None and the name of what is foreign.
Value type_value(const Hdf5Type& type);
DType dtype_of(Interpreter& in, const Value& v);
/// None of a null dataspace.
Value shape_value(const Hdf5Shape& shape);
/// ValueError for more axes than files have.
Hdf5Shape to_hdf5_shape(Interpreter& in, const Value& v);

/// New memory for as many elements; where numbers are read into it.
HostStorageRef new_memory(MemoryBudget& budget, const graph::Shape& shape, DType dtype);
/// The array that it holds, in C order.
Value array_over(const HostStorageRef& memory, DType dtype, const graph::Shape& shape);

}  // namespace gasell::h5py
