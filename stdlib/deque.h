// collections.deque.
#pragma once

#include "runtime/session/value.h"

namespace gasell {

const Type& deque_type();

}  // namespace gasell
