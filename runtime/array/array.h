// The array of the language: a lazy value with NumPy's identity. Several arrays (views) may share one cell; a write through one is seen by
// all, and what was recorded before the write keeps the old data, because nodes are immutable and a write gives the cell a new one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compiler/graph/node.h"
#include "runtime/engine.h"

namespace gasell {

class Array {
 public:
  using Shape = graph::Shape;
  using Axes = std::vector<graph::ViewAxis>;
  /// All axes, from the one along which memory moves slowest.
  using AxisOrder = std::vector<int>;

  /// A new array of its own with this value.
  explicit Array(graph::NodeRef value);
  /// The same, with its memory in this order when somebody looks: its strides, views, addresses.
  static Array in_order(graph::NodeRef value, AxisOrder order);
  /// An array over existing memory, C-contiguous: writes go there (the embedding API's bind, np.load's mmap_mode).
  static Array over(HostStorageRef storage, DType dtype, Shape shape);

  DType dtype() const;
  const Shape& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t size() const;
  /// NumPy's strides, in elements of the memory the array has or would have.
  std::vector<int64_t> strides() const;
  bool is_view() const { return !steps_.empty(); }
  bool writable() const;
  /// Read-only for ever, and so are its views: a write would not reach what it shows (computed parts, a file's bytes), or too much of it
  /// (broadcast_to).
  bool is_fixed() const { return fixed_; }
  /// For this array and the views that are made of it from now on.
  void set_writable(bool writable) { read_only_ = !writable; }
  /// Whether it is the array whose memory it is, rather than a view.
  bool owns() const;
  /// The object that stands for the owning array, for all views of it; null where there is none (any more).
  const void* owner() const;
  void set_owner(const void* owner) const;
  /// The array that this one is a view of.
  Array whole() const;
  bool same_memory(const Array& other) const { return cell_ == other.cell_; }

  /// The value now.
  graph::NodeRef node() const;

  /// Basic slicing, transposition, broadcasting (the last gives an array that is read-only for ever). Shares the cell.
  Array view(Shape shape, Axes axes, bool fixed = false) const;
  /// The same memory read as elements of another dtype: NumPy's a.view(dtype). The last axis takes up the difference of sizes. Evaluates
  /// the array; from now on it stays in its memory, where writes to either show in the other. Throws ValueError as NumPy does, and
  /// NotImplementedError where elements would not begin at multiples of their size.
  Array view_as(Engine& engine, DType type) const;
  /// A view where NumPy's reshape gives one, else an array of its own.
  Array reshape(Shape shape) const;

  /// self[...] = value: broadcast to this shape and cast to this dtype (the caller has checked that the cast is allowed). Throws ValueError
  /// when read-only or when shapes do not fit. Give the node away where you can: a graph that somebody holds and that reads the memory
  /// written to costs a copy of that memory.
  void assign(Engine& engine, graph::NodeRef value);
  /// The same from another array, which is forced first where it reads the memory that is written. Assigning an array to itself does
  /// nothing.
  void assign(Engine& engine, const Array& value);

  /// Evaluates and keeps the result, so that later reads do not compute again. `host_reads`: as Engine::force has it.
  void force(Engine& engine, bool host_reads = false) const;

  /// The elements, forced, in C order, native: memory that stays valid while the returned object lives and the array is not written to.
  struct Elements {
    StorageRef keep_alive;
    const char* data;
    DType dtype;
    int64_t count;
    Scalar operator[](int64_t i) const { return Scalar::load(data + i * gasell::size_of(dtype), dtype); }
  };
  Elements elements(Engine& engine) const;
  /// The runs of elements from positions[i] on, counted in C order, become those of values, which have this dtype: of equal positions the
  /// last one counts. A run lies in the innermost axes that it fills. In place, unless somebody else reads the memory. Throws ValueError
  /// when read-only.
  void put(Engine& engine, std::span<const int64_t> positions, int64_t run, const Elements& values);
  /// What loops over elements read and write, one number an axis, within the extents: of arrays in the host's memory that are no views;
  /// else nothing (false), and the longer ways have to do it. The value has this dtype.
  std::optional<Scalar> element(std::span<const int64_t> at) const;
  bool set_element(Engine& engine, std::span<const int64_t> at, const Scalar& value);
  /// One element without forcing the whole where the value is lazy.
  Scalar item(Engine& engine, const std::vector<int64_t>& index) const;

  /// Where the elements are, for code that gets addresses. Addresses stay valid while `keep_alive` lives; they are the array's until it is
  /// written to by other means.
  struct Memory {
    StorageRef keep_alive;
    char* data = nullptr;                   // of element (0, 0, …)
    std::vector<int64_t> strides;           // in elements
    char *begin = nullptr, *end = nullptr;  // of the memory that element lies in
  };
  /// Of a settled array. What other devices hold of it is brought to the host; with `write`, it is valid there alone afterwards.
  Memory memory(bool write) const;
  /// As memory(), but what other devices hold stays with them: the host's bytes may be stale.
  Memory addresses() const;

  /// Of a settled array: gives it memory that no other array has, as before a write. Copies of arrays share memory until one of them is
  /// written.
  void isolate(Engine& engine) const { make_unique(engine); }
  /// Gives the array memory that no other array has, where it stays: later writes reach the same addresses, for others know them.
  void keep_place(Engine& engine) const;
  /// As memory(), but what other devices hold stays with them: element (0, 0, …) is `offset` elements into the storage.
  struct Place {
    std::shared_ptr<HostStorage> storage;
    int64_t offset = 0;
    std::vector<int64_t> strides;
  };
  Place place() const;

  /// What the user asked for with chunks=, for each axis: the extent of even chunks, or the extents of all of them. Empty: nothing was
  /// asked.
  using Chunks = std::vector<std::vector<int64_t>>;
  const Chunks& requested_chunks() const { return chunks_; }
  void set_requested_chunks(Chunks chunks) { chunks_ = std::move(chunks); }

 private:
  struct Cell;
  /// From the cell's value to this array.
  struct Step {
    Shape shape;
    std::optional<Axes> axes;   // empty: a reshape
    std::optional<DType> type;  // no reshape either, but view_as()
    bool operator==(const Step&) const = default;
  };
  struct Layout {
    std::vector<int64_t> strides;
    int64_t offset;
  };
  explicit Array(std::shared_ptr<Cell> cell);
  Layout layout() const;
  bool has_other_type() const;
  static graph::NodeRef copy(Engine& engine, const graph::NodeRef& node);
  /// Evaluates the cell, and moves it where its memory has another order than was asked for.
  void place_in_memory(Engine& engine) const;
  /// Copy on write: afterwards nothing but this cell reads the memory of its BufferNode. Views keep their strides.
  void make_unique(Engine& engine) const;
  friend void force_all(Engine& engine, const std::vector<Array>& arrays);
  friend void settle(Engine& engine, std::span<const Array* const> arrays, const std::vector<bool>& written);
  std::shared_ptr<Cell> cell_;
  std::vector<Step> steps_;
  Shape shape_;
  DType dtype_;
  Chunks chunks_;
  bool read_only_ = false, fixed_ = false;
};

/// Forces several arrays in one plan.
void force_all(Engine& engine, const std::vector<Array>& arrays);

/// Makes arrays ready for memory(), all that a call uses at once, for a copy on write moves an array: evaluates what is not (of a view:
/// what it is a view of), and gives those that are written memory which nobody else reads. Strides stay. Throws ValueError for a read-only
/// array that is written.
void settle(Engine& engine, std::span<const Array* const> arrays, const std::vector<bool>& written);

}  // namespace gasell
