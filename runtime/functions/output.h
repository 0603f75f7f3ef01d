// Where print in compiled functions writes to.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/array/array.h"

namespace gasell::functions {

struct FunctionOutput {
  std::function<void(std::string_view)> write;
  std::function<std::string(const Array&)> text_of;  // str of an array
};

/// What calls of compiled functions on this thread print to; null: the standard output, where arrays have no text.
const FunctionOutput*& function_output();

/// Makes gasell_print_text(context, text), _int(context, x, is_unsigned), _float(context, x), _bool(context, x), _complex(context, re, im),
/// _array(context, address, dtype, rank, shape) and _end(context) known to compiled code: the parts of one line, which is written at its
/// end.
void register_print_functions();

}  // namespace gasell::functions
