// Rows are found and columns gathered, after the rules: here it is chosen whether the host does it or GPUs.
#pragma once

#include "runtime/frame/rows.h"

namespace gasell::frame {

enum class Place : uint8_t { host, gpus };
/// Where columns are gathered: by array expressions on GPUs where the engine has some, since their memory is there.
Place place_of_gathers(Engine& engine);
/// Where an operator runs that moves so many bytes, and that the library has kernels for.
Place place_of_operator(Engine& engine, double bytes);

/// Of the memory, int64: what the expression says, after the rules; found once. Throws as order_rows() and Engine::force.
NodeRef numbers_of(Engine& engine, const RowsRef& rows);
/// The same when somebody reads them.
NodeRef numbers_later(Engine& engine, const RowsRef& rows);
/// Filters one upon the other as a mask over all rows of the memory; null where it costs more than rows do.
NodeRef mask_of_all(Engine& engine, const RowsRef& filter);
/// Whether all rows were put in the order already.
bool is_found(const Order& order);
/// Memory of the values of those rows of a column.
HostStorageRef gathered_values(Engine& engine, const Column& source, const RowsRef& rows);

}  // namespace gasell::frame
