// The module h5py: HDF5 files. Its classes are texts over the natives of _h5py.
#pragma once

#include "runtime/session/interpreter.h"

namespace gasell {

Value make_h5py(Interpreter& in);
/// What the texts are made with: handles of files, groups and datasets, their contents as arrays and texts.
Value make_h5py_natives(Interpreter& in);
std::vector<NativeFunction> h5py_dataset_functions();
std::vector<NativeFunction> h5py_attribute_functions();

}  // namespace gasell
