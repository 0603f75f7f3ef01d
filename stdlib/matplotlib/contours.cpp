// Lines and bands of equal values of a field that is known at the corners of a grid.
#include <array>
#include <cmath>
#include <deque>
#include <unordered_map>

#include "runtime/session/types.h"
#include "stdlib/matplotlib/module.h"
#include "stdlib/matplotlib/numbers.h"

namespace gasell {
namespace {

using namespace matplotlib;
using Args = std::span<Value>;

struct Field {
  Numbers xs, ys, zs;  // of each corner, in C order
  int64_t rows, columns;
  Field(Interpreter& in, Args args)
      : xs(in, args[0]), ys(in, args[1]), zs(in, args[2]), rows(to_index(in, args[3])), columns(to_index(in, args[4])) {}
};

struct Corner {
  double x, y, z;
};

Corner corner(const Field& f, int64_t row, int64_t column) {
  const int64_t at = row * f.columns + column;
  return {f.xs[at], f.ys[at], f.zs[at]};
}

Corner between(const Corner& a, const Corner& b, double level) {
  const double part = (level - a.z) / (b.z - a.z);
  return {a.x + part * (b.x - a.x), a.y + part * (b.y - a.y), level};
}

/// Pieces of lines by the edges of the grid that they end at, joined to lines.
class Lines {
 public:
  void add(int64_t from, const Corner& a, int64_t to, const Corner& b) {
    places_[from] = a;
    places_[to] = b;
    next_[from].push_back(to);
    next_[to].push_back(from);
  }

  Value joined(Interpreter& in) {
    std::vector<Value> lines;
    // Lines that end at the border first: from their ends; then closed ones.
    for (const bool is_closed : {false, true})
      for (auto& [edge, others] : next_)
        if (!others.empty() && (is_closed || others.size() == 1)) lines.push_back(followed(in, edge));
    return make_list(std::move(lines));
  }

 private:
  Value followed(Interpreter& in, int64_t edge) {
    std::vector<double> xs, ys;
    const auto keep = [&](int64_t at) {
      xs.push_back(places_[at].x);
      ys.push_back(places_[at].y);
    };
    keep(edge);
    while (!next_[edge].empty()) {
      const int64_t other = next_[edge].back();
      next_[edge].pop_back();
      std::erase(next_[other], edge);
      keep(other);
      edge = other;
    }
    return make_tuple({number_array(in, xs), number_array(in, ys)});
  }

  std::unordered_map<int64_t, Corner> places_;
  std::unordered_map<int64_t, std::vector<int64_t>> next_;
};

/// contour_lines(xs, ys, zs, rows, columns, level): a list of (xs, ys).
Value contour_lines(Interpreter& in, Args args) {
  const Field f(in, args);
  const double level = to_double(in, args[5]);
  Lines lines;
  for (int64_t r = 0; r + 1 < f.rows; ++r) {
    poll(in);
    for (int64_t c = 0; c + 1 < f.columns; ++c) {
      const std::array<Corner, 4> corners = {corner(f, r, c), corner(f, r, c + 1), corner(f, r + 1, c + 1), corner(f, r + 1, c)};
      // An edge is named by its first corner: level ones are even, upright ones odd.
      const std::array<int64_t, 4> edges = {2 * (r * f.columns + c), 2 * (r * f.columns + c + 1) + 1, 2 * ((r + 1) * f.columns + c),
                                            2 * (r * f.columns + c) + 1};
      int cut[4], count = 0;
      bool is_known = true;
      double middle = 0;
      for (size_t k = 0; k < 4; ++k) {
        is_known = is_known && std::isfinite(corners[k].z);
        middle += corners[k].z / 4;
        if ((corners[k].z > level) != (corners[(k + 1) % 4].z > level)) cut[count++] = static_cast<int>(k);
      }
      if (!is_known || count == 0) continue;
      const auto join = [&](int a, int b) {
        const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
        lines.add(edges[i], between(corners[i], corners[(i + 1) % 4], level), edges[j], between(corners[j], corners[(j + 1) % 4], level));
      };
      if (count == 2) {
        join(cut[0], cut[1]);
      } else if ((middle > level) == (corners[0].z > level)) {  // the first corner's side goes through the middle
        join(0, 1);
        join(2, 3);
      } else {
        join(3, 0);
        join(1, 2);
      }
    }
  }
  return lines.joined(in);
}

using Polygon = std::vector<Corner>;

/// The part of a polygon whose values are above a level, or below.
Polygon cut_off(const Polygon& polygon, double level, bool above) {
  Polygon kept;
  for (size_t k = 0; k < polygon.size(); ++k) {
    const Corner &a = polygon[k], &b = polygon[(k + 1) % polygon.size()];
    const bool has_a = above ? a.z >= level : a.z <= level, has_b = above ? b.z >= level : b.z <= level;
    if (has_a) kept.push_back(a);
    if (has_a != has_b) kept.push_back(between(a, b, level));
  }
  return kept;
}

/// contour_band(xs, ys, zs, rows, columns, low, high): the area between two levels as (points, xs, ys), polygons that touch.
Value contour_band(Interpreter& in, Args args) {
  const Field f(in, args);
  const double low = to_double(in, args[5]), high = to_double(in, args[6]);
  std::string points;
  std::vector<double> xs, ys;
  const auto add = [&](const Polygon& polygon) {
    if (polygon.size() < 3) return;
    for (const Corner& p : polygon) {
      points += points.empty() || points.back() == 'Z' ? 'M' : 'L';
      xs.push_back(p.x);
      ys.push_back(p.y);
    }
    points += 'Z';
    xs.push_back(polygon[0].x);
    ys.push_back(polygon[0].y);
  };
  const auto inside = [&](double z) { return z >= low && z <= high; };
  for (int64_t r = 0; r + 1 < f.rows; ++r) {
    poll(in);
    for (int64_t c = 0; c + 1 < f.columns; ++c) {
      // Whole cells in a row of the grid are one polygon.
      int64_t end = c;
      while (end + 1 < f.columns && inside(corner(f, r, end).z) && inside(corner(f, r + 1, end).z) && inside(corner(f, r, end + 1).z) &&
             inside(corner(f, r + 1, end + 1).z))
        ++end;
      if (end > c) {
        Polygon strip;
        for (int64_t k = c; k <= end; ++k) strip.push_back(corner(f, r, k));
        for (int64_t k = end; k >= c; --k) strip.push_back(corner(f, r + 1, k));
        add(strip);
        c = end - 1;
        continue;
      }
      const Polygon cell = {corner(f, r, c), corner(f, r, c + 1), corner(f, r + 1, c + 1), corner(f, r + 1, c)};
      bool is_known = true;
      for (const Corner& p : cell) is_known = is_known && std::isfinite(p.z);
      if (!is_known) continue;
      const auto parted = [&](double level) {
        return (cell[0].z > level) == (cell[2].z > level) && (cell[1].z > level) == (cell[3].z > level) &&
               (cell[0].z > level) != (cell[1].z > level);
      };
      if (!parted(low) && !parted(high)) {
        add(cut_off(cut_off(cell, low, true), high, false));
        continue;
      }
      const Corner middle = {(cell[0].x + cell[1].x + cell[2].x + cell[3].x) / 4, (cell[0].y + cell[1].y + cell[2].y + cell[3].y) / 4,
                             (cell[0].z + cell[1].z + cell[2].z + cell[3].z) / 4};
      for (size_t k = 0; k < 4; ++k) add(cut_off(cut_off({cell[k], cell[(k + 1) % 4], middle}, low, true), high, false));
    }
  }
  return make_tuple({make_str(points), number_array(in, xs), number_array(in, ys)});
}

}  // namespace

std::vector<NativeFunction> contour_functions() {
  return {
      {"contour_lines", "xs, ys, zs, rows, columns, level, /", contour_lines, "The lines on which a field has a value."},
      {"contour_band", "xs, ys, zs, rows, columns, low, high, /", contour_band, "The area in which a field is between two values."},
  };
}

}  // namespace gasell
