// A page of cairo's, and what the plugin's files share of it.
#pragma once

#include <cairo.h>

#include <string>

#include "runtime/pictures/plugin_abi.h"

namespace gasell::plugin {

struct Canvas {
  cairo_surface_t* surface = nullptr;
  cairo_t* context = nullptr;
  std::string bytes;       // of a file, as it is written
  bool is_raster = false;  // pixels, not a document of paths
  bool is_png = false;
  double left = 0, lower = 0, width = 0, height = 0;  // points
  double dpi = 72;
  double scale = 1;  // of the surface: units a point

  Canvas() = default;
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  ~Canvas();
};

inline Canvas& canvas_of(void* canvas) { return *static_cast<Canvas*>(canvas); }

/// Keeps the context's state, and restricts painting to a rectangle where there is one.
class Clipped {
 public:
  Clipped(Canvas& canvas, const double* clip);
  Clipped(const Clipped&) = delete;
  Clipped& operator=(const Clipped&) = delete;
  ~Clipped() { cairo_restore(context_); }

 private:
  cairo_t* context_;
};

/// Lets the context think in points from the page's corner, upwards.
void use_points(cairo_t* context, double left, double lower, double height, double scale);
void set_colour(cairo_t* context, const double* colour);
/// Adds a path to the context's, scaled and moved.
void add_path(cairo_t* context, const PicturePath& path, double size = 1, double x = 0, double y = 0);
bool is_seen(const double* colour);

int open_canvas(const char* format, double left, double lower, double width, double height, double dpi, const double* background,
                void** canvas, PictureProblem* problem);
int finish_canvas(void* canvas, PictureFound found, void* context, PictureProblem* problem);
void drop_canvas(void* canvas);
void draw_path(void* canvas, const PicturePath* path, const PicturePaint* paint);
void begin_clip(void* canvas, const PicturePath* path);
void end_clip(void* canvas);
void draw_markers(void* canvas, const PictureMarkers* markers);
void draw_image(void* canvas, const PictureImage* image);
void draw_text(void* canvas, const PictureText* text, double x, double y, double angle, const double* colour, const double* clip);
void measure_text(const PictureText* text, double extents[3]);

}  // namespace gasell::plugin
