// Pages opened, and given back as files or pixels.
#include <cairo-pdf.h>
#include <cairo-svg.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "plugins/pictures/canvas.h"

namespace gasell::plugin {
namespace {

cairo_status_t append(void* bytes, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

int report(PictureProblem* problem, const char* text) {
  std::snprintf(problem->text, sizeof problem->text, "%s", text);
  return 1;
}

/// cairo keeps colours multiplied by their opacity, in words of the machine's byte order.
std::vector<uint8_t> plain_pixels(cairo_surface_t* surface) {
  cairo_surface_flush(surface);
  const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  const unsigned char* rows = cairo_image_surface_get_data(surface);
  std::vector<uint8_t> pixels(static_cast<size_t>(width) * static_cast<size_t>(height) * 4);
  uint8_t* to = pixels.data();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x, to += 4) {
      uint32_t word = 0;
      std::memcpy(&word, rows + static_cast<ptrdiff_t>(y) * stride + static_cast<ptrdiff_t>(x) * 4, 4);
      const uint32_t opacity = word >> 24;
      const auto plain = [&](uint32_t part) { return static_cast<uint8_t>(opacity == 0 ? 0 : (part * 255 + opacity / 2) / opacity); };
      to[0] = plain(word >> 16 & 255);
      to[1] = plain(word >> 8 & 255);
      to[2] = plain(word & 255);
      to[3] = static_cast<uint8_t>(opacity);
    }
  }
  return pixels;
}

}  // namespace

Canvas::~Canvas() {
  if (context) cairo_destroy(context);
  if (surface) cairo_surface_destroy(surface);
}

void use_points(cairo_t* context, double left, double lower, double height, double scale) {
  const cairo_matrix_t points = {scale, 0, 0, -scale, -left * scale, (lower + height) * scale};
  cairo_set_matrix(context, &points);
}

int open_canvas(const char* format, double left, double lower, double width, double height, double dpi, const double* background,
                void** canvas, PictureProblem* problem) {
  auto made = std::make_unique<Canvas>();
  const std::string wanted = format;
  made->is_png = wanted == "png";
  made->is_raster = made->is_png || wanted == "pixels";
  made->left = left;
  made->lower = lower;
  made->width = width;
  made->height = height;
  made->dpi = dpi;
  if (made->is_raster) {
    made->scale = dpi / 72;
    const double columns = std::round(width * made->scale), rows = std::round(height * made->scale);
    if (!(columns >= 1 && rows >= 1)) return report(problem, "a picture without pixels");
    if (columns > 32767 || rows > 32767) {
      std::snprintf(problem->text, sizeof problem->text,
                    "Image size of %.0fx%.0f pixels is too large. It must be less than 2^15 in each direction.", columns, rows);
      return 1;
    }
    made->surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(columns), static_cast<int>(rows));
  } else if (wanted == "svg") {
    made->surface = cairo_svg_surface_create_for_stream(append, &made->bytes, width, height);
  } else {
    made->surface = cairo_pdf_surface_create_for_stream(append, &made->bytes, width, height);
    cairo_pdf_surface_set_metadata(made->surface, CAIRO_PDF_METADATA_CREATOR, "Gasell");
  }
  made->context = cairo_create(made->surface);
  if (const cairo_status_t status = cairo_status(made->context)) return report(problem, cairo_status_to_string(status));
  if (background && background[3] > 0) {
    set_colour(made->context, background);
    cairo_paint(made->context);
  }
  use_points(made->context, left, lower, made->is_raster ? cairo_image_surface_get_height(made->surface) / made->scale : height,
             made->scale);
  *canvas = made.release();
  return 0;
}

int finish_canvas(void* canvas, PictureFound found, void* context, PictureProblem* problem) {
  const std::unique_ptr<Canvas> page(static_cast<Canvas*>(canvas));
  cairo_status_t status = cairo_status(page->context);
  if (status) return report(problem, cairo_status_to_string(status));
  if (page->is_raster && !page->is_png) {
    const std::vector<uint8_t> pixels = plain_pixels(page->surface);
    const int64_t width = cairo_image_surface_get_width(page->surface);
    found(context, &width, sizeof width);
    found(context, pixels.data(), static_cast<int64_t>(pixels.size()));
    return 0;
  }
  if (page->is_png) {
    status = cairo_surface_write_to_png_stream(page->surface, append, &page->bytes);
  } else {
    cairo_show_page(page->context);
    cairo_surface_finish(page->surface);
    status = cairo_surface_status(page->surface);
  }
  if (status) return report(problem, cairo_status_to_string(status));
  found(context, page->bytes.data(), static_cast<int64_t>(page->bytes.size()));
  return 0;
}

void drop_canvas(void* canvas) { delete static_cast<Canvas*>(canvas); }

}  // namespace gasell::plugin
