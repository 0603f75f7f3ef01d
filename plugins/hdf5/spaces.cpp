// Dataspaces: shapes, and what of a dataset is selected.
#include <algorithm>
#include <vector>

#include "plugins/hdf5/common.h"

namespace gasell::plugin {
namespace {

using Extents = std::vector<hsize_t>;

Extents extents_of(const int64_t* from, int rank) { return Extents(from, from + rank); }

/// The places along the listed axis, a run of neighbours at a time: as many hyperslabs as there are runs.
void select_listed(hid_t space, const Hdf5Selection& s, int rank) {
  Extents start = extents_of(s.start, rank), step = extents_of(s.step, rank), count = extents_of(s.count, rank);
  const auto axis = static_cast<size_t>(s.listed);
  checked(H5Sselect_none(space), kHdf5Value, "Unable to select");
  step[axis] = 1;
  for (int64_t k = 0; k < s.place_count;) {
    int64_t end = k + 1;
    while (end < s.place_count && s.places[end] == s.places[end - 1] + 1) ++end;
    start[axis] = static_cast<hsize_t>(s.places[k]);
    count[axis] = static_cast<hsize_t>(end - k);
    checked(H5Sselect_hyperslab(space, H5S_SELECT_OR, start.data(), step.data(), count.data(), nullptr), kHdf5Value, "Unable to select");
    k = end;
  }
}

}  // namespace

Hdf5Shape shape_of(hid_t space) {
  Hdf5Shape shape{};
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind == H5S_NULL) {
    shape.rank = -1;
    return shape;
  }
  hsize_t extents[H5S_MAX_RANK] = {};
  shape.rank = checked(H5Sget_simple_extent_dims(space, extents, nullptr), kHdf5Runtime, "Unable to get a shape");
  for (int k = 0; k < shape.rank; ++k) {
    if (extents[k] > static_cast<hsize_t>(INT64_MAX)) throw Failure{kHdf5Os, "an axis is longer than there are integers of 64 bits"};
    shape.extents[k] = static_cast<int64_t>(extents[k]);
  }
  return shape;
}

Handle space_of(const Hdf5Shape& shape, const int64_t* most) {
  if (shape.rank < 0) return Handle(H5Screate(H5S_NULL), H5Sclose);
  if (shape.rank == 0) return Handle(H5Screate(H5S_SCALAR), H5Sclose);
  const Extents extents = extents_of(shape.extents, shape.rank);
  Extents limits = extents;
  for (int k = 0; most && k < shape.rank; ++k) limits[static_cast<size_t>(k)] = most[k] < 0 ? H5S_UNLIMITED : static_cast<hsize_t>(most[k]);
  Handle space(H5Screate_simple(shape.rank, extents.data(), limits.data()), H5Sclose);
  checked<hid_t>(space, kHdf5Value, "Maxdims is smaller than dims");
  return space;
}

Handle flat_space(int64_t count) {
  const auto extent = static_cast<hsize_t>(count);
  return Handle(H5Screate_simple(1, &extent, nullptr), H5Sclose);
}

Handle memory_space(hid_t space, const Hdf5Selection* selection, int64_t count) {
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank <= 1 || count == 0 || (selection && (selection->points || selection->listed >= 0))) return flat_space(count);
  hsize_t extents[H5S_MAX_RANK] = {};
  if (selection)
    std::copy(selection->count, selection->count + rank, extents);
  else
    H5Sget_simple_extent_dims(space, extents, nullptr);
  return Handle(H5Screate_simple(rank, extents, nullptr), H5Sclose);
}

int64_t select(hid_t space, const Hdf5Selection* selection) {
  constexpr const char* kWhat = "Unable to select";
  const int rank = checked(H5Sget_simple_extent_ndims(space), kHdf5Runtime, "Unable to get a shape");
  if (selection && rank > 0) {
    const Hdf5Selection& s = *selection;
    if (s.points) {
      const Extents points(s.points, s.points + s.point_count * rank);
      if (s.point_count == 0)
        checked(H5Sselect_none(space), kHdf5Value, kWhat);
      else
        checked(H5Sselect_elements(space, H5S_SELECT_SET, static_cast<size_t>(s.point_count), points.data()), kHdf5Value, kWhat);
    } else if (s.listed >= 0) {
      select_listed(space, s, rank);
    } else if (std::find(s.count, s.count + rank, 0) != s.count + rank) {
      checked(H5Sselect_none(space), kHdf5Value, kWhat);
    } else {
      checked(H5Sselect_hyperslab(space, H5S_SELECT_SET, extents_of(s.start, rank).data(), extents_of(s.step, rank).data(),
                                  extents_of(s.count, rank).data(), nullptr),
              kHdf5Value, kWhat);
    }
    if (H5Sselect_valid(space) <= 0) throw failure(kHdf5Value, "Unable to select places outside of the dataset");
  }
  return checked(H5Sget_select_npoints(space), kHdf5Runtime, kWhat);
}

}  // namespace gasell::plugin
