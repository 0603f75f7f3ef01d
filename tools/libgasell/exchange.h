// Tables of Arrow as values of a session.
#pragma once

#include "runtime/io/arrow/tables.h"
#include "tools/libgasell/handles.h"

namespace gasell::c_abi {

/// A DataFrame of a stream; `lender` as arrow::read_stream takes it.
Value frame_of(gasell_session& session, arrow::Stream stream, arrow::Lender lender = {});
/// A stream of one array of records, which it takes over.
arrow::Stream stream_of(ArrowSchema& schema, ArrowArray& array);
/// A DataFrame or a Series, computed.
arrow::Stream stream_of_frame(gasell_value& value);

}  // namespace gasell::c_abi
