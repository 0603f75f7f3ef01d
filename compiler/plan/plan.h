// From lazy graph to kernels: what is stored and why, and the loop IR that computes it.
//
//   force([(normal(…) + 1)[::2, ::2].sum()])   →   one kernel (the generator, the addition and the slice fused into the reduction) that
//   writes a
//                                                  partial result a work unit, and small kernels that combine them in a fixed tree.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/graph/node.h"
#include "compiler/ir/ir.h"
#include "compiler/plan/walk.h"

namespace gasell::plan {

/// Memory that the plan needs and the runtime provides: allocated before the first step that writes it, freed after the last that reads it.
class TemporaryStorage : public Storage {
 public:
  explicit TemporaryStorage(int64_t size) : bytes(size) {}
  const int64_t bytes;
};

struct Contraction;

struct Step {
  std::shared_ptr<const ir::Kernel> kernel;        // null: a product of matrices, which a library of linear algebra computes
  std::shared_ptr<const Contraction> contraction;  // of storages[0] and storages[1] into storages[2]
  std::vector<StorageRef> storages;                // one an array parameter
  std::vector<bool> written;                       // per array parameter
  std::vector<int64_t> byte_offsets;               // per array parameter
  std::vector<int64_t> scalars;                    // 64-bit slots, in parameter order
  int64_t units = 0;
  std::vector<Walk> walks;  // per array parameter; empty: not known
  int64_t together = 1;     // the walks describe whole multiples of so many units
  // For reports and progress.
  std::string stored_because;
  bool combines = false;  // a pass that combines the partial results of the step before
  size_t as_before = 0;   // so many steps before stands the same one, of another panel of the same product; 0: none
  double elements = 0, bytes_read = 0, bytes_written = 0, operations = 0;
};

struct Plan {
  std::vector<Step> steps;
  std::vector<graph::NodeRef> results;  // for each root a BufferNode, over a TemporaryStorage where it was computed
};

/// How finely work is cut into units. Results do not depend on it.
struct Grain {
  int64_t chunk = 0;         // elements a unit aims at; 0: by the two below
  int64_t units = 16;        // that keep the device busy
  int64_t elements = 16384;  // worth a unit of their own
  bool rolled = false;       // trees are loops over their levels, for devices that have no vectors and compile while somebody waits
};

struct PlanOptions {
  bool fuse = true;
  Grain grain;
  /// Whether a library of linear algebra is there: products of matrices are left to it. Asked where a plan has one; empty: no.
  std::function<bool()> library;
  int64_t memory = INT64_MAX;  // bytes that stored intermediates may take; beyond it they are computed again where needed
};

/// Where a root is to be written when the caller has the memory already.
struct Destination {
  StorageRef storage;
  std::vector<int64_t> strides;  // elements
  int64_t offset = 0;
};

/// `destinations` is empty or has one entry a root (null storage: a temporary).
Plan make_plan(const std::vector<graph::NodeRef>& roots, const PlanOptions& options, const std::vector<Destination>& destinations = {});

}  // namespace gasell::plan
