// The views and iterators of dicts: keys(), values(), items().
#pragma once

#include "runtime/session/dict.h"

namespace gasell {

enum class DictPart : uint8_t { keys, values, items };

Value make_dict_view(const Value& dict, DictPart part);
/// RuntimeError when keys come or go while it runs.
Value make_dict_iterator(const Value& dict, DictPart part, bool reversed = false);

}  // namespace gasell
