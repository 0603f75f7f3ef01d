// Rows of pixels on a page.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/pictures/canvas.h"

namespace gasell::plugin {
namespace {

/// `times`: each pixel becomes a square of so many. cairo wants colours multiplied by their opacity.
cairo_surface_t* surface_of(const PictureImage& image, int64_t times) {
  cairo_surface_t* surface =
      cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(image.width * times), static_cast<int>(image.height * times));
  if (cairo_surface_status(surface)) return surface;
  unsigned char* rows = cairo_image_surface_get_data(surface);
  const int64_t stride = cairo_image_surface_get_stride(surface);
  for (int64_t y = 0; y < image.height * times; ++y) {
    for (int64_t x = 0; x < image.width * times; ++x) {
      const uint8_t* from = image.pixels + 4 * (y / times * image.width + x / times);
      const uint32_t opacity = from[3];
      const auto part = [&](int k) { return (from[k] * opacity + 127) / 255; };
      const uint32_t word = opacity << 24 | part(0) << 16 | part(1) << 8 | part(2);
      std::memcpy(rows + y * stride + x * 4, &word, 4);
    }
  }
  cairo_surface_mark_dirty(surface);
  return surface;
}

}  // namespace

void draw_image(void* canvas, const PictureImage* image) {
  if (image->width < 1 || image->height < 1) return;
  Canvas& page = canvas_of(canvas);
  const Clipped clipped(page, image->clip);
  double left = image->left, lower = image->lower, right = image->right, upper = image->upper;
  cairo_user_to_device(page.context, &left, &lower);
  cairo_user_to_device(page.context, &right, &upper);
  if (page.is_raster) {
    left = std::round(left);
    right = std::round(right);
    lower = std::round(lower);
    upper = std::round(upper);
  }
  const double across = (right - left) / static_cast<double>(image->width), down = (lower - upper) / static_cast<double>(image->height);
  if (across == 0 || down == 0) return;
  // Programs that show documents blur what they enlarge: there the squares are drawn as squares.
  const double enlarged = std::max(std::abs(across), std::abs(down)) * (page.is_raster ? 1 : page.dpi / 72);
  const int64_t most = 4000 / std::max(image->width, image->height);
  const int64_t times =
      page.is_raster || image->is_smooth ? 1 : std::clamp<int64_t>(std::llround(std::ceil(2 * enlarged)), 1, std::max<int64_t>(most, 1));
  cairo_surface_t* surface = surface_of(*image, times);
  cairo_identity_matrix(page.context);
  cairo_translate(page.context, left, upper);
  cairo_scale(page.context, across / static_cast<double>(times), down / static_cast<double>(times));
  cairo_set_source_surface(page.context, surface, 0, 0);
  cairo_pattern_t* pattern = cairo_get_source(page.context);
  const bool is_reduced = std::abs(across) < 1 || std::abs(down) < 1;
  cairo_pattern_set_filter(pattern, image->is_smooth               ? CAIRO_FILTER_BILINEAR
                                    : is_reduced && page.is_raster ? CAIRO_FILTER_GOOD
                                                                   : CAIRO_FILTER_NEAREST);
  cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD);
  cairo_set_antialias(page.context, CAIRO_ANTIALIAS_NONE);
  cairo_rectangle(page.context, 0, 0, static_cast<double>(image->width * times), static_cast<double>(image->height * times));
  cairo_fill(page.context);
  cairo_surface_destroy(surface);
}

}  // namespace gasell::plugin
