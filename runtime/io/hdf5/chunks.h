// Datasets in packed chunks, read on all cores.
#pragma once

#include "runtime/io/hdf5/plugin.h"

namespace gasell::hdf5 {

/// Reads the block of count[k] elements from start[k] on into memory in C order. The library takes one core; where a block lies in several
/// chunks that are packed with gzip, shuffled or both, and elements lie in them as in memory, the library gives the chunks' bytes and they
/// are unpacked here, several at a time. False: nothing was read, for it is no such block. OSError for chunks that are damaged.
bool read_chunks(int64_t dataset, const Hdf5Type& type, const int64_t* start, const int64_t* count, void* into);

}  // namespace gasell::hdf5
