// The generators of np.random, for compiled functions.
#pragma once

#include "runtime/session/value.h"

namespace gasell::functions {
class Pcg64;
}

namespace gasell::numpy {

/// What compiled functions draw from where they are given this np.random.Generator: a state of its own, which begins as NumPy's does for
/// the seed. Null: the value is no such generator.
functions::Pcg64* compiled_generator(const Value& v);

}  // namespace gasell::numpy
