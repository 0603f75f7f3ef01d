// Streams of Arrow's C interface as values, for tables that come from and go to other programs' memory.
#pragma once

#include "runtime/io/arrow/tables.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"

namespace gasell::pandas {

/// Natives of _frame take one and give one; its stream is moved out by who reads it.
class ArrowStream final : public Object {
 public:
  explicit ArrowStream(arrow::Stream s, arrow::Lender l = {}) : stream(std::move(s)), lender(std::move(l)) {}
  const Type& type() const override {
    static const Type t{"ArrowArrayStream", "builtins", &object_type()};
    return t;
  }
  arrow::Stream stream;
  arrow::Lender lender;
};

}  // namespace gasell::pandas
