// Natives of files, groups and links.
#include "runtime/device/sandbox.h"
#include "runtime/session/types.h"
#include "stdlib/h5py/handles.h"
#include "stdlib/h5py/module.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using namespace h5py;
using Args = std::span<Value>;

/// None of what has no name.
const char* path_of(const Value& v) { return v.is_none() ? nullptr : v.as<Str>()->value.c_str(); }

Value open_file(Interpreter& in, Args args) {
  int64_t file = -1;
  require_plugins("files of HDF5");
  require_readable(path_of(args[0]));
  if (to_index(in, args[1]) > 0) require_writable(path_of(args[0]));
  hdf5::call(hdf5::plugin().file_open, path_of(args[0]), static_cast<int>(to_index(in, args[1])), &file);
  return Value::make<Handle>(std::make_shared<const Open>(file));
}

Value close_file(Interpreter&, Args args) {
  if (hdf5::plugin().is_open(id_of(args[0]))) hdf5::call(hdf5::plugin().file_close, id_of(args[0]));
  return {};
}

Value is_writable(Interpreter&, Args args) {
  int writable = 0;
  hdf5::call(hdf5::plugin().file_is_writable, id_of(args[0]), &writable);
  return Value::of(writable != 0);
}

Value flush(Interpreter&, Args args) {
  hdf5::call(hdf5::plugin().file_flush, id_of(args[0]));
  return {};
}

Value is_hdf5(Interpreter&, Args args) { return Value::of(hdf5::plugin().is_hdf5(path_of(args[0])) != 0); }

Value is_open(Interpreter&, Args args) { return Value::of(hdf5::plugin().is_open(id_of(args[0])) != 0); }

Value open_object(Interpreter&, Args args) {
  int64_t object = -1;
  int kind = 0;
  hdf5::call(hdf5::plugin().open, id_of(args[0]), path_of(args[1]), &object, &kind);
  return make_tuple({opened(object, open_of(args[0])), Value::of(kind)});
}

Value contains_object(Interpreter&, Args args) {
  int found = 0;
  hdf5::call(hdf5::plugin().contains, id_of(args[0]), path_of(args[1]), &found);
  return Value::of(found != 0);
}

Value name(Interpreter&, Args args) {
  if (!hdf5::plugin().is_open(id_of(args[0]))) return {};
  Texts texts;
  hdf5::call(hdf5::plugin().name, id_of(args[0]), texts.collect());
  return texts.found.empty() ? Value() : make_str(texts.found[0]);
}

Value identity(Interpreter&, Args args) {
  int64_t file = 0, place = 0;
  hdf5::call(hdf5::plugin().identity, id_of(args[0]), &file, &place);
  return make_tuple({Value::of(file), Value::of(place)});
}

Value children(Interpreter&, Args args) {
  Texts texts;
  hdf5::call(hdf5::plugin().children, id_of(args[0]), texts.collect());
  return text_list(texts.found);
}

Value visit(Interpreter&, Args args) {
  Texts texts;
  hdf5::call(hdf5::plugin().visit, id_of(args[0]), texts.collect());
  return text_list(texts.found);
}

Value create_group(Interpreter&, Args args) {
  int64_t group = -1;
  hdf5::call(hdf5::plugin().group_create, id_of(args[0]), path_of(args[1]), &group);
  return opened(group, open_of(args[0]));
}

Value unlink_object(Interpreter&, Args args) {
  hdf5::call(hdf5::plugin().unlink, id_of(args[0]), path_of(args[1]));
  return {};
}

Value link_object(Interpreter&, Args args) {
  hdf5::call(hdf5::plugin().link, id_of(args[0]), path_of(args[1]), id_of(args[2]));
  return {};
}

Value soft_link(Interpreter&, Args args) {
  hdf5::call(hdf5::plugin().soft_link, id_of(args[0]), path_of(args[1]), path_of(args[2]));
  return {};
}

Value move_object(Interpreter&, Args args) {
  hdf5::call(hdf5::plugin().move, id_of(args[0]), path_of(args[1]), path_of(args[2]));
  return {};
}

}  // namespace

Value make_h5py(Interpreter&) { return Value::make<LibraryModule>("h5py"); }

Value make_h5py_natives(Interpreter&) {
  static const std::vector<NativeFunction> kFiles = {
      {"open_file", "path, access, /", open_file, "A handle; access: 0 to read, 1 to change, 2 a new file, 3 in the place of another."},
      {"close_file", "file, /", close_file, "Closes a file and all that was opened through it."},
      {"is_writable", "file, /", is_writable, "Whether a file can be changed."},
      {"flush", "file, /", flush, "Writes what waits in memory."},
      {"is_hdf5", "path, /", is_hdf5, "Whether a file has the form."},
      {"is_open", "handle, /", is_open, "Whether a handle's file is open."},
      {"open_object", "parent, path, /", open_object, "A handle, and 0 of a group, 1 of a dataset, 2 of a named type."},
      {"contains_object", "parent, path, /", contains_object, "Whether there is an object at a path."},
      {"name", "handle, /", name, "The path by which it was opened, or None."},
      {"identity", "handle, /", identity, "Two numbers that are the same for the same object."},
      {"children", "group, /", children, "The names in a group."},
      {"visit", "group, /", visit, "The paths of all objects below a group."},
      {"create_group", "parent, path, /", create_group, "A handle of a new group."},
      {"unlink", "parent, path, /", unlink_object, "Takes a name from a group."},
      {"link", "parent, path, object, /", link_object, "A further name of an object."},
      {"soft_link", "parent, path, target, /", soft_link, "A name that stands for a path."},
      {"move", "parent, from_path, to_path, /", move_object, "Another name of an object."},
  };
  static const std::vector<NativeFunction> kDatasets = h5py_dataset_functions(), kAttributes = h5py_attribute_functions();
  const Value module = Value::make<LibraryModule>("_h5py");
  for (const auto* functions : {&kFiles, &kDatasets, &kAttributes})
    for (const NativeFunction& f : *functions) set_member(module, f.name, Value::make<Builtin>(f));
  return module;
}

}  // namespace gasell
