// Lines and areas.
#include <algorithm>
#include <cmath>
#include <vector>

#include "plugins/pictures/canvas.h"

namespace gasell::plugin {
namespace {

/// A line of more points than this is drawn by what shows of it.
constexpr int64_t kLongLine = 16'384;
/// Columns are narrower than pixels, so that a dense line covers them.
constexpr int kColumnsAPixel = 4;

struct Points {
  std::vector<double> xs, ys;
  void add(double x, double y) {
    xs.push_back(x);
    ys.push_back(y);
  }
};

/// A long line by its first, least, largest and last point of each run that stays within a column: what is drawn is the same.
Points shown_points(const PicturePath& path, double column) {
  Points shown;
  int64_t i = 0;
  while (i < path.count) {
    if (!std::isfinite(path.xs[i]) || !std::isfinite(path.ys[i])) {
      shown.add(path.xs[i], path.ys[i]);
      ++i;
      continue;
    }
    const double at = std::floor(path.xs[i] / column);
    int64_t low = i, high = i, end = i + 1;
    for (; end < path.count && std::isfinite(path.ys[end]) && std::floor(path.xs[end] / column) == at; ++end) {
      if (path.ys[end] < path.ys[low]) low = end;
      if (path.ys[end] > path.ys[high]) high = end;
    }
    int64_t kept[4] = {i, std::min(low, high), std::max(low, high), end - 1};
    for (int k = 0; k < 4; ++k)
      if (k == 0 || kept[k] != kept[k - 1]) shown.add(path.xs[kept[k]], path.ys[kept[k]]);
    i = end;
  }
  return shown;
}

/// The middle of a pixel for lines of an odd width, the border between two for others.
double whole_pixel(double place, double width) {
  const double shift = static_cast<int64_t>(std::lround(width)) % 2 == 1 ? 0.5 : 0.0;
  return std::floor(place) + shift + (shift == 0.0 && place - std::floor(place) >= 0.5 ? 1.0 : 0.0);
}

bool is_rectilinear(const PicturePath& path) {
  if (path.count > 1024) return false;
  for (int64_t i = 0; i < path.count; ++i) {
    if (path.points && path.points[i] == kPictureCurve) return false;
    if (i == 0 || (path.points && (path.points[i] == kPictureMove || path.points[i] == kPictureClose))) continue;
    if (std::abs(path.xs[i] - path.xs[i - 1]) >= 1e-4 && std::abs(path.ys[i] - path.ys[i - 1]) >= 1e-4) return false;
  }
  return true;
}

/// Level and upright lines on whole pixels, so that they are sharp.
void snap_path(const Canvas& canvas, const PicturePath& path, double width, Points& snapped) {
  for (int64_t i = 0; i < path.count; ++i) {
    double x = path.xs[i], y = path.ys[i];
    cairo_user_to_device(canvas.context, &x, &y);
    x = whole_pixel(x, width);
    y = whole_pixel(y, width);
    cairo_device_to_user(canvas.context, &x, &y);
    snapped.add(x, y);
  }
}

void use_stroke(cairo_t* context, const PictureStroke& stroke) {
  static constexpr cairo_line_cap_t kCaps[] = {CAIRO_LINE_CAP_BUTT, CAIRO_LINE_CAP_ROUND, CAIRO_LINE_CAP_SQUARE};
  static constexpr cairo_line_join_t kJoins[] = {CAIRO_LINE_JOIN_MITER, CAIRO_LINE_JOIN_ROUND, CAIRO_LINE_JOIN_BEVEL};
  cairo_set_line_width(context, stroke.width);
  cairo_set_line_cap(context, kCaps[stroke.cap]);
  cairo_set_line_join(context, kJoins[stroke.join]);
  cairo_set_dash(context, stroke.dashes, stroke.dash_count, stroke.dash_offset);
  set_colour(context, stroke.colour);
}

}  // namespace

Clipped::Clipped(Canvas& canvas, const double* clip) : context_(canvas.context) {
  cairo_save(context_);
  if (!clip) return;
  double left = clip[0], lower = clip[1], right = clip[2], upper = clip[3];
  if (canvas.is_raster) {  // whole pixels: a clip that cuts through pixels blends
    cairo_user_to_device(context_, &left, &lower);
    cairo_user_to_device(context_, &right, &upper);
    left = std::round(left);
    right = std::round(right);
    lower = std::round(lower);
    upper = std::round(upper);
    cairo_device_to_user(context_, &left, &lower);
    cairo_device_to_user(context_, &right, &upper);
  }
  cairo_new_path(context_);
  cairo_rectangle(context_, left, lower, right - left, upper - lower);
  cairo_clip(context_);
}

void set_colour(cairo_t* context, const double* colour) { cairo_set_source_rgba(context, colour[0], colour[1], colour[2], colour[3]); }

bool is_seen(const double* colour) { return colour && colour[3] > 0; }

void add_path(cairo_t* context, const PicturePath& path, double size, double x, double y) {
  bool begins = true;
  for (int64_t i = 0; i < path.count; ++i) {
    const double px = path.xs[i] * size + x, py = path.ys[i] * size + y;
    const int kind = path.points ? static_cast<int>(path.points[i]) : static_cast<int>(kPictureLine);
    if (kind == kPictureClose) {
      cairo_close_path(context);
    } else if (!std::isfinite(px) || !std::isfinite(py)) {
      begins = true;
    } else if (begins || kind == kPictureMove) {
      cairo_move_to(context, px, py);
      begins = false;
    } else if (kind == kPictureCurve && i + 2 < path.count) {
      cairo_curve_to(context, px, py, path.xs[i + 1] * size + x, path.ys[i + 1] * size + y, path.xs[i + 2] * size + x,
                     path.ys[i + 2] * size + y);
      i += 2;
    } else {
      cairo_line_to(context, px, py);
    }
  }
}

void draw_path(void* canvas, const PicturePath* path, const PicturePaint* paint) {
  Canvas& page = canvas_of(canvas);
  const Clipped clipped(page, paint->clip);
  cairo_t* context = page.context;
  PicturePath drawn = *path;
  Points made;
  const bool filled = is_seen(paint->fill), stroked = paint->stroke && is_seen(paint->stroke->colour) && paint->stroke->width > 0;
  if (!path->points && path->count > kLongLine && !filled) {
    made = shown_points(*path, 72 / page.dpi / kColumnsAPixel);
  } else if (page.is_raster && paint->snap && is_rectilinear(*path)) {
    snap_path(page, *path, stroked ? paint->stroke->width * page.scale : 0, made);
  }
  if (!made.xs.empty()) {
    drawn.xs = made.xs.data();
    drawn.ys = made.ys.data();
    drawn.count = static_cast<int64_t>(made.xs.size());
  }
  cairo_set_antialias(context, paint->is_smooth ? CAIRO_ANTIALIAS_DEFAULT : CAIRO_ANTIALIAS_NONE);
  cairo_new_path(context);
  add_path(context, drawn);
  if (filled) {
    set_colour(context, paint->fill);
    cairo_fill_preserve(context);
  }
  if (stroked) {
    use_stroke(context, *paint->stroke);
    cairo_stroke_preserve(context);
  }
  cairo_new_path(context);
}

void begin_clip(void* canvas, const PicturePath* path) {
  cairo_t* context = canvas_of(canvas).context;
  cairo_save(context);
  cairo_new_path(context);
  add_path(context, *path);
  cairo_set_antialias(context, CAIRO_ANTIALIAS_DEFAULT);
  cairo_clip(context);
}

void end_clip(void* canvas) { cairo_restore(canvas_of(canvas).context); }

}  // namespace gasell::plugin
