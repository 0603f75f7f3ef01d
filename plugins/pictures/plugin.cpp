// The plugin's one symbol.
#include "plugins/pictures/canvas.h"

extern "C" __attribute__((visibility("default"))) const GasellPictures* gasell_pictures(int abi) {
  using namespace gasell::plugin;
  static const GasellPictures table = {
      GASELL_PICTURES_ABI, cairo_version_string(), open_canvas,   draw_path,   begin_clip, end_clip, draw_markers, draw_image,
      draw_text,           measure_text,           finish_canvas, drop_canvas,
  };
  return abi == GASELL_PICTURES_ABI ? &table : nullptr;
}
