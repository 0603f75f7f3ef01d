// What the plugin's files share: the library's lock and its error stack as the plain results of the ABI, handles that close themselves.
#pragma once

#include <hdf5.h>

#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "runtime/io/hdf5/plugin_abi.h"

namespace gasell::plugin {

/// What a function throws where the library fails: its last word is in the library's error stack, which becomes the text.
struct Failure {
  int kind;
  std::string text;
  int number = 0;
};

/// Of the call of the library that failed just now: "WHAT (the innermost reason)". Reasons that name an errno are failures of the system.
Failure failure(int kind, const std::string& what);
int report(Hdf5Problem* problem, const Failure& failure);

/// Holds the library's lock and keeps it from printing; one at a time, in every function of the table.
class Session {
 public:
  Session();

 private:
  std::lock_guard<std::mutex> lock_;
};

/// f() throws Failure.
template <class F>
int guarded(Hdf5Problem* problem, const F& f) {
  try {
    const Session session;
    f();
    return kHdf5Fine;
  } catch (const Failure& failure) {
    return report(problem, failure);
  } catch (const std::bad_alloc&) {
    return report(problem, {kHdf5Memory, "out of memory"});
  } catch (const std::exception& error) {
    return report(problem, {kHdf5Runtime, error.what()});
  }
}

/// A handle of the library, closed at the end.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  hid_t release() { return std::exchange(id_, -1); }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// `result` of a call of the library, where it is no failure.
template <class T>
T checked(T result, int kind, const char* what) {
  if (result < 0) throw failure(kind, what);
  return result;
}

/// Of what is closed: failure with this text.
void check_open(hid_t object, int kind, const char* text);

// ---- types (types.cpp) ----
Hdf5Type describe(hid_t type);
/// Of an element in memory, for reading and writing numbers.
Handle memory_type(const Hdf5Type& type);
/// Of an element in a file that is written: native numbers, booleans as an enumeration, complex numbers as pairs r and i, texts of any
/// length.
Handle file_type(const Hdf5Type& type);
Handle text_type();

// ---- dataspaces (spaces.cpp) ----
Hdf5Shape shape_of(hid_t space);
/// `most`: how far axes can grow, or null.
Handle space_of(const Hdf5Shape& shape, const int64_t* most = nullptr);
/// Selects in the space of a dataset; the number of elements.
int64_t select(hid_t space, const Hdf5Selection* selection);
/// A space in memory of that many elements.
Handle flat_space(int64_t count);
/// The same for what select() selected in a dataset's space. Blocks have their own axes in memory, too: the library then goes through both
/// by rows, and else by elements.
Handle memory_space(hid_t space, const Hdf5Selection* selection, int64_t count);

// ---- texts (texts.cpp) ----
/// Reads `count` texts of a dataset or an attribute: `read(type in memory, into)` is the library's call, `file_type` what it reads.
/// kHdf5Type where those are no texts.
void read_texts(hid_t file_type, int64_t count, const Hdf5Found& found, const std::function<void(hid_t, void*)>& read);

// ---- the functions of the table, by file ----
int file_open(const char* path, int access, int64_t* file, Hdf5Problem* problem);
int file_close(int64_t file, Hdf5Problem* problem);
int file_is_writable(int64_t file, int* writable, Hdf5Problem* problem);
int file_flush(int64_t file, Hdf5Problem* problem);
int is_hdf5(const char* path);

void close_object(int64_t object);
int is_open(int64_t object);
int open_object(int64_t parent, const char* path, int64_t* object, int* kind, Hdf5Problem* problem);
int contains(int64_t parent, const char* path, int* found, Hdf5Problem* problem);
int object_name(int64_t object, Hdf5Found found, Hdf5Problem* problem);
int identity(int64_t object, int64_t* file, int64_t* place, Hdf5Problem* problem);
int children(int64_t group, Hdf5Found found, Hdf5Problem* problem);
int visit(int64_t group, Hdf5Found found, Hdf5Problem* problem);
int group_create(int64_t parent, const char* path, int64_t* group, Hdf5Problem* problem);
int unlink_object(int64_t parent, const char* path, Hdf5Problem* problem);
int link_object(int64_t parent, const char* path, int64_t object, Hdf5Problem* problem);
int soft_link(int64_t parent, const char* path, const char* target, Hdf5Problem* problem);
int move_object(int64_t parent, const char* from, const char* to, Hdf5Problem* problem);
/// Closes what was opened through a file.
void close_objects(hid_t file);
/// Of links: groups in a path that are missing are made.
Handle link_creation();

int dataset_create(int64_t parent, const char* path, const Hdf5Type* type, const Hdf5Shape* shape, const Hdf5Storage* storage,
                   int64_t* dataset, Hdf5Problem* problem);
int dataset_describe(int64_t dataset, Hdf5Type* type, Hdf5Shape* shape, Hdf5Storage* storage, Hdf5Problem* problem);
int dataset_fill(int64_t dataset, const Hdf5Type* type, void* element, Hdf5Problem* problem);
int dataset_resize(int64_t dataset, const Hdf5Shape* shape, Hdf5Problem* problem);
int dataset_offset(int64_t dataset, const Hdf5Type* type, int64_t* offset, Hdf5Problem* problem);
int chunk_size(int64_t dataset, const int64_t* place, int64_t* bytes, Hdf5Problem* problem);
int chunk_read(int64_t dataset, const int64_t* place, void* into, int* skipped, Hdf5Problem* problem);
int dataset_read(int64_t dataset, const Hdf5Selection* selection, const Hdf5Type* type, void* into, Hdf5Problem* problem);
int dataset_write(int64_t dataset, const Hdf5Selection* selection, const Hdf5Type* type, const void* from, Hdf5Problem* problem);
int dataset_read_texts(int64_t dataset, const Hdf5Selection* selection, Hdf5Found found, Hdf5Problem* problem);
int dataset_write_texts(int64_t dataset, const Hdf5Selection* selection, const char* const* texts, int64_t count, Hdf5Problem* problem);

int attribute_names(int64_t object, Hdf5Found found, Hdf5Problem* problem);
int attribute_exists(int64_t object, const char* name, int* found, Hdf5Problem* problem);
int attribute_remove(int64_t object, const char* name, Hdf5Problem* problem);
int attribute_describe(int64_t object, const char* name, Hdf5Type* type, Hdf5Shape* shape, Hdf5Problem* problem);
int attribute_read(int64_t object, const char* name, const Hdf5Type* type, void* into, Hdf5Problem* problem);
int attribute_read_texts(int64_t object, const char* name, Hdf5Found found, Hdf5Problem* problem);
int attribute_write(int64_t object, const char* name, const Hdf5Type* type, const Hdf5Shape* shape, const void* from, Hdf5Problem* problem);
int attribute_write_texts(int64_t object, const char* name, const Hdf5Shape* shape, const char* const* texts, Hdf5Problem* problem);

}  // namespace gasell::plugin
