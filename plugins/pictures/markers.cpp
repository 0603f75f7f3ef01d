// One shape at many places.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "plugins/pictures/canvas.h"

namespace gasell::plugin {
namespace {

/// More markers than this are counted a pixel before they are drawn.
constexpr int64_t kManyMarkers = 50'000;

struct Marker {
  int64_t last;   // the place that is seen: later ones lie above
  int64_t count;  // how many stand on the same pixel
};

/// Many markers of one pixel become one of the opacity that they have together: n of the opacity a cover 1 - (1 - a)^n.
std::vector<Marker> by_pixel(const PictureMarkers& m, const Canvas& canvas) {
  std::vector<Marker> found;
  std::unordered_map<int64_t, size_t> at;
  const double scale = canvas.dpi / 72;
  for (int64_t i = 0; i < m.count; ++i) {
    if (!std::isfinite(m.xs[i]) || !std::isfinite(m.ys[i])) continue;
    const double column = std::floor((m.xs[i] - canvas.left) * scale), row = std::floor((m.ys[i] - canvas.lower) * scale);
    if (std::abs(column) > 1e6 || std::abs(row) > 1e6) continue;
    const int64_t pixel = static_cast<int64_t>(column) * 4'000'003 + static_cast<int64_t>(row);
    const auto [place, is_new] = at.emplace(pixel, found.size());
    if (is_new) {
      found.push_back({i, 1});
    } else {
      found[place->second].last = i;
      ++found[place->second].count;
    }
  }
  std::ranges::sort(found, {}, &Marker::last);
  return found;
}

void paint(cairo_t* context, const double* colour, int64_t count) {
  const double opacity = count == 1 ? colour[3] : 1 - std::pow(1 - colour[3], static_cast<double>(count));
  cairo_set_source_rgba(context, colour[0], colour[1], colour[2], opacity);
}

void draw_marker(cairo_t* context, const PictureMarkers& m, int64_t i, int64_t count) {
  const auto of = [&](const double* values, int64_t n) { return values + 4 * (n == 1 ? 0 : i); };
  const double size = m.sizes[m.size_count == 1 ? 0 : i];
  if (!std::isfinite(m.xs[i]) || !std::isfinite(m.ys[i]) || !std::isfinite(size)) return;
  cairo_new_path(context);
  add_path(context, m.shape, size, m.xs[i], m.ys[i]);
  if (m.fill_count > 0 && is_seen(of(m.fills, m.fill_count))) {
    paint(context, of(m.fills, m.fill_count), count);
    cairo_fill_preserve(context);
  }
  const double width = m.width_count > 0 ? m.widths[m.width_count == 1 ? 0 : i] : 0;
  if (m.edge_count > 0 && width > 0 && is_seen(of(m.edges, m.edge_count))) {
    cairo_set_line_width(context, width);
    paint(context, of(m.edges, m.edge_count), count);
    cairo_stroke(context);
  }
}

/// In a document many markers are an image of the page's resolution: each as a path would make files of gigabytes.
void draw_as_image(Canvas& page, const PictureMarkers& m, const std::vector<Marker>& markers) {
  const double scale = page.dpi / 72;
  cairo_surface_t* pixels = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(std::ceil(page.width * scale)),
                                                       static_cast<int>(std::ceil(page.height * scale)));
  cairo_t* context = cairo_create(pixels);
  use_points(context, page.left, page.lower, page.height, scale);
  for (const Marker& marker : markers) draw_marker(context, m, marker.last, marker.count);
  cairo_destroy(context);
  cairo_identity_matrix(page.context);
  cairo_scale(page.context, 1 / scale, 1 / scale);
  cairo_set_source_surface(page.context, pixels, 0, 0);
  cairo_paint(page.context);
  cairo_surface_destroy(pixels);
}

}  // namespace

void draw_markers(void* canvas, const PictureMarkers* markers) {
  Canvas& page = canvas_of(canvas);
  const Clipped clipped(page, markers->clip);
  cairo_set_antialias(page.context, CAIRO_ANTIALIAS_DEFAULT);
  cairo_set_line_join(page.context, CAIRO_LINE_JOIN_MITER);
  cairo_set_line_cap(page.context, CAIRO_LINE_CAP_BUTT);
  cairo_set_dash(page.context, nullptr, 0, 0);
  if (markers->count <= kManyMarkers) {
    for (int64_t i = 0; i < markers->count; ++i) draw_marker(page.context, *markers, i, 1);
    return;
  }
  const std::vector<Marker> seen = by_pixel(*markers, page);
  if (!page.is_raster) return draw_as_image(page, *markers, seen);
  for (const Marker& marker : seen) draw_marker(page.context, *markers, marker.last, marker.count);
}

}  // namespace gasell::plugin
