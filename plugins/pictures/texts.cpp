// Lines of text: pango finds the glyphs, in further fonts where one lacks them.
#include <pango/pangocairo.h>

#include <algorithm>
#include <numbers>

#include "plugins/pictures/canvas.h"

namespace gasell::plugin {
namespace {

PangoLayout* layout_of(cairo_t* context, const PictureText& text) {
  PangoLayout* layout = pango_cairo_create_layout(context);
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(pango_layout_get_context(layout), options);
  pango_context_set_round_glyph_positions(pango_layout_get_context(layout), FALSE);
  pango_layout_context_changed(layout);
  cairo_font_options_destroy(options);
  PangoFontDescription* font = pango_font_description_new();
  pango_font_description_set_family(font, text.family);
  pango_font_description_set_absolute_size(font, text.size * PANGO_SCALE);
  if (text.font & kPictureBold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
  if (text.font & kPictureItalic) pango_font_description_set_style(font, PANGO_STYLE_OBLIQUE);
  pango_layout_set_font_description(layout, font);
  pango_font_description_free(font);
  pango_layout_set_single_paragraph_mode(layout, TRUE);
  pango_layout_set_text(layout, text.text, -1);
  return layout;
}

}  // namespace

void draw_text(void* canvas, const PictureText* text, double x, double y, double angle, const double* colour, const double* clip) {
  Canvas& page = canvas_of(canvas);
  const Clipped clipped(page, clip);
  cairo_t* context = page.context;
  cairo_translate(context, x, y);
  cairo_rotate(context, angle * std::numbers::pi / 180);
  cairo_scale(context, 1, -1);
  set_colour(context, colour);
  PangoLayout* layout = layout_of(context, *text);
  cairo_move_to(context, 0, 0);
  pango_cairo_show_layout_line(context, pango_layout_get_line_readonly(layout, 0));
  g_object_unref(layout);
  cairo_new_path(context);
}

void measure_text(const PictureText* text, double extents[3]) {
  static cairo_t* const context = [] {
    cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t* made = cairo_create(surface);
    cairo_surface_destroy(surface);
    return made;
  }();
  PangoLayout* layout = layout_of(context, *text);
  PangoRectangle ink, logical;
  pango_layout_line_get_extents(pango_layout_get_line_readonly(layout, 0), &ink, &logical);
  extents[0] = static_cast<double>(logical.width) / PANGO_SCALE;
  extents[1] = std::max(0.0, -static_cast<double>(ink.y) / PANGO_SCALE);
  extents[2] = std::max(0.0, static_cast<double>(ink.y + ink.height) / PANGO_SCALE);
  g_object_unref(layout);
}

}  // namespace gasell::plugin
