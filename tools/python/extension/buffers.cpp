#include "buffers.h"

#include <cstring>

namespace gasell::python {

namespace {

bool dtype_of(const char* format, Py_ssize_t itemsize, gasell_dtype& dtype) {
  if (!format) format = "B";
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  const bool is_complex = *format == 'Z';
  if (is_complex) ++format;
  if (!*format || format[1]) return false;
  const auto sized = [&](gasell_dtype one, gasell_dtype two, gasell_dtype four, gasell_dtype eight) {
    switch (itemsize) {
      case 1: dtype = one; return true;
      case 2: dtype = two; return true;
      case 4: dtype = four; return true;
      case 8: dtype = eight; return true;
      default: return false;
    }
  };
  switch (*format) {
    case '?': dtype = GASELL_BOOL; return itemsize == 1;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q': return sized(GASELL_I8, GASELL_I16, GASELL_I32, GASELL_I64);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q': return sized(GASELL_U8, GASELL_U16, GASELL_U32, GASELL_U64);
    case 'f': dtype = is_complex ? GASELL_C64 : GASELL_F32; return itemsize == (is_complex ? 8 : 4);
    case 'd': dtype = is_complex ? GASELL_C128 : GASELL_F64; return itemsize == (is_complex ? 16 : 8);
    default: return false;
  }
}

}  // namespace

bool describe_buffer(const Buffer& buffer, ArrayMemory& memory) {
  if (buffer.ndim > kMostAxes || buffer.suboffsets || !dtype_of(buffer.format, buffer.itemsize, memory.dtype)) return false;
  const Py_ssize_t alignment = memory.dtype >= GASELL_C64 ? buffer.itemsize / 2 : buffer.itemsize;
  if (reinterpret_cast<uintptr_t>(buffer.buf) % static_cast<uintptr_t>(alignment) != 0) return false;
  memory.contiguous = true;
  int64_t expected = 1;
  for (int k = buffer.ndim; k-- > 0;) {
    const auto axis = static_cast<size_t>(k);
    if (buffer.strides[k] % buffer.itemsize != 0) return false;
    memory.shape[axis] = buffer.shape[k];
    memory.strides[axis] = buffer.strides[k] / buffer.itemsize;
    if (buffer.shape[k] != 1 && memory.strides[axis] != expected) memory.contiguous = false;
    expected *= buffer.shape[k];
  }
  return true;
}

const char* format_of(gasell_dtype dtype) {
  static constexpr const char* kFormats[] = {"?", "b", "h", "i", "q", "B", "H", "I", "Q", "f", "d", "Zf", "Zd"};
  return dtype <= GASELL_C128 ? kFormats[dtype] : nullptr;
}

}  // namespace gasell::python
