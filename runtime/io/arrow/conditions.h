// Conditions against what is known of rows before they are read.
#pragma once

#include "runtime/io/arrow/decode.h"
#include "runtime/io/arrow/plugin.h"
#include "runtime/io/arrow/tables.h"

namespace gasell::arrow {

/// False where no row between these bounds can meet the condition.
bool may_meet(const Condition& condition, const FieldType& type, const ArrowChunk& chunk, int64_t rows);
/// The same of a key's value, which is all that its rows have.
bool may_meet(const Condition& condition, const std::string& key);

}  // namespace gasell::arrow
