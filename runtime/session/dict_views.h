// The views and iterators of dicts: keys(), values(), items().
#pragma once

#include "runtime/session/dict.h"

namespace gasell {

enum class DictPart : uint8_t { keys, values, items };

Value make_dict_view(const Value& dict, DictPart part);
/// The dict of a view of all its items; null for others.
const Value* dict_of_items(const Value& v);
/// RuntimeError when keys come or go while it runs.
Value make_dict_iterator(const Value& dict, DictPart part, bool reversed = false);

}  // namespace gasell
