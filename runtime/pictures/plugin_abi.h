// What the core and the plugin gasell_pictures.so (plugins/pictures, over cairo and pango) say to each other. Plain C: no C++ object and no
// exception crosses.
//
// A canvas is a page that is drawn upon and then given back as a file's bytes or as pixels. Lengths and places are points (1/72 inch), y
// upwards from the page's lower edge; colours are four numbers of 0 to 1, red, green, blue and opacity. A function that can fail returns 0,
// or 1 with its text in PictureProblem.
#pragma once

#include <cstdint>

extern "C" {

#define GASELL_PICTURES_ABI 1

struct PictureProblem {
  char text[512];
};

/// One byte a point of a path. A curve has three points in a row: two that steer it and its end.
enum PicturePoint { kPictureMove = 0, kPictureLine, kPictureCurve, kPictureClose };
enum PictureCap { kPictureButt = 0, kPictureRound, kPictureProjecting };
enum PictureJoin { kPictureMiter = 0, kPictureRoundJoin, kPictureBevel };
enum PictureFont { kPictureBold = 1, kPictureItalic = 2 };

/// Without points' kinds (null) a path is a line through its points, interrupted where a number is not finite.
struct PicturePath {
  const uint8_t* points;
  const double* xs;
  const double* ys;
  int64_t count;
};

struct PictureStroke {
  const double* colour;
  double width;
  const double* dashes;  // lengths of lines and gaps
  int dash_count;
  double dash_offset;
  int cap, join;
};

/// How a path is painted: fill, stroke and clip may be null. `clip`: left, lower, right, upper. `snap`: lines that are level or upright are
/// moved to whole pixels. `is_smooth`: edges are blended with what is below.
struct PicturePaint {
  const double* fill;
  const struct PictureStroke* stroke;
  const double* clip;
  int snap, is_smooth;
};

/// One path at many places. Sizes scale the path; there are `count` of sizes, fills and edges, or one for all.
struct PictureMarkers {
  struct PicturePath shape;
  const double* xs;
  const double* ys;
  int64_t count;
  const double* sizes;
  int64_t size_count;
  const double* fills;  // four numbers each; an opacity of 0 is not painted
  int64_t fill_count;
  const double* edges;
  int64_t edge_count;
  const double* widths;
  int64_t width_count;
  const double* clip;
};

/// Rows of pixels from above, four bytes each: red, green, blue, opacity. The corners may be given in either order.
struct PictureImage {
  const uint8_t* pixels;
  int64_t width, height;
  double left, lower, right, upper;
  int is_smooth;  // between pixels
  const double* clip;
};

struct PictureText {
  const char* text;
  const char* family;
  double size;
  int font;
};

typedef void (*PictureFound)(void* context, const void* bytes, int64_t size);

struct GasellPictures {
  int abi;
  const char* version;
  /// format: "png", "svg", "pdf" or "pixels". The page begins at (left, lower) of what is drawn. A null background is transparent.
  int (*open)(const char* format, double left, double lower, double width, double height, double dpi, const double* background,
              void** canvas, struct PictureProblem* problem);
  void (*path)(void* canvas, const struct PicturePath* path, const struct PicturePaint* paint);
  /// Paints within a path alone until end_clip; such clips nest.
  void (*begin_clip)(void* canvas, const struct PicturePath* path);
  void (*end_clip)(void* canvas);
  void (*markers)(void* canvas, const struct PictureMarkers* markers);
  void (*image)(void* canvas, const struct PictureImage* image);
  /// A line of text that begins at a place of its baseline, turned by an angle in degrees.
  void (*text)(void* canvas, const struct PictureText* text, double x, double y, double angle, const double* colour, const double* clip);
  /// Of a line of text: its advance, and how far its ink reaches above and below the baseline.
  void (*measure)(const struct PictureText* text, double extents[3]);
  /// The file's bytes, or rows of pixels as in PictureImage after their count a row (int64_t). The canvas is gone afterwards.
  int (*finish)(void* canvas, PictureFound found, void* context, struct PictureProblem* problem);
  void (*drop)(void* canvas);
};

const struct GasellPictures* gasell_pictures(int abi);

}  // extern "C"
