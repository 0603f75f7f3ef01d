// Numbers, arrays, texts and objects as the program has them, and values of a session.
#pragma once

#include "tools/libgasell/handles.h"
#include "tools/libgasell/signature.h"

namespace gasell::c_abi {

/// An argument at an address, as gasell_function_call takes it. An array is one over the caller's memory.
Value to_value(gasell_session& session, const ParameterType& type, const void* address);

/// A value as what a signature says, at an address. Throws TypeError for what it is not, ValueError for another shape. A text or an object
/// is not written: it belongs to the caller.
void from_value(gasell_session& session, const Value& value, const ParameterType& type, void* address);

/// An array over memory of the program's with these strides in elements (null: C order): writes go there.
Array array_over(Engine& engine, void* data, DType dtype, int rank, const int64_t* shape, const int64_t* strides, bool writable,
                 std::function<void()> release);
/// What strides are, where C order is meant by null; and the element numbers between which elements lie.
std::vector<int64_t> strides_of(int rank, const int64_t* shape, const int64_t* strides);
std::pair<int64_t, int64_t> reach_of(const graph::Shape& shape, const std::vector<int64_t>& strides);
/// Checks what array_over takes.
void require_memory(const void* data, DType dtype, int rank, const int64_t* shape, const int64_t* strides);

}  // namespace gasell::c_abi
