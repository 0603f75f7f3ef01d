// The plugin gasell_hdf5.so, and its failures as exceptions.
#pragma once

#include <string>

#include "lang/diagnostic.h"
#include "runtime/io/hdf5/plugin_abi.h"

namespace gasell::hdf5 {

/// The plugin, opened at the first call. ImportError where it is not there, saying how to get it.
const GasellHdf5& plugin();
/// "HDF5 1.10.8", or why there is none.
std::string describe_plugin();

/// A failure of the plugin as the exception that h5py has for it.
Error failure(int kind, const Hdf5Problem& problem);
/// Calls a function of the plugin, whose last parameter is the problem.
template <class F, class... A>
void call(F function, A... arguments) {
  Hdf5Problem problem;
  if (const int kind = function(arguments..., &problem); kind != kHdf5Fine) throw failure(kind, problem);
}

}  // namespace gasell::hdf5
