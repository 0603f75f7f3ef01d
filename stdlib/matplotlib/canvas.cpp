// Drawing commands as pages: each is a tuple that opens with its name.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "lang/diagnostic.h"
#include "runtime/device/sandbox.h"
#include "runtime/io/atomic_file.h"
#include "runtime/pictures/plugin.h"
#include "runtime/session/types.h"
#include "stdlib/matplotlib/module.h"
#include "stdlib/matplotlib/numbers.h"
#include "stdlib/matplotlib/picture.h"

namespace gasell {
namespace {

using namespace matplotlib;
using Args = std::span<Value>;
using pictures::plugin;

/// A canvas of the plugin's, dropped where it is not finished.
class Page {
 public:
  Page(const std::string& format, double left, double lower, double width, double height, double dpi, const Numbers& background) {
    PictureProblem problem;
    if (plugin().open(format.c_str(), left, lower, width, height, dpi, background.data(), &canvas, &problem))
      raise("ValueError", problem.text);
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() {
    if (canvas) plugin().drop(canvas);
  }
  void finish(std::string& bytes, int64_t* width) {
    struct Found {
      std::string* bytes;
      int64_t* width;
    } found{&bytes, width};
    PictureProblem problem;
    const int failed = plugin().finish(
        std::exchange(canvas, nullptr),
        [](void* context, const void* data, int64_t size) {
          auto& to = *static_cast<Found*>(context);
          if (to.width) {
            std::copy_n(static_cast<const int64_t*>(data), 1, to.width);
            to.width = nullptr;
          } else {
            to.bytes->append(static_cast<const char*>(data), static_cast<size_t>(size));
          }
        },
        &found, &problem);
    if (failed) raise("RuntimeError", problem.text);
  }
  void* canvas = nullptr;
};

/// "MLCCCZ" as the kinds of points; None as nothing.
std::vector<uint8_t> points_of(Interpreter& in, const Value& v) {
  std::vector<uint8_t> points;
  if (v.is_none()) return points;
  for (const char letter : str(in, v))
    points.push_back(letter == 'M' ? kPictureMove : letter == 'L' ? kPictureLine : letter == 'C' ? kPictureCurve : kPictureClose);
  return points;
}

PicturePath path_of(const std::vector<uint8_t>& points, const Numbers& xs, const Numbers& ys) {
  int64_t count = std::min(xs.size(), ys.size());
  if (!points.empty()) count = std::min(count, static_cast<int64_t>(points.size()));
  return {points.empty() ? nullptr : points.data(), xs.data(), ys.data(), count};
}

class Drawing {
 public:
  Drawing(Interpreter& in, void* canvas, double least_width, std::vector<TerminalText>* texts)
      : in_(in), canvas_(canvas), least_width_(least_width), texts_(texts) {}

  void command(const std::vector<Value>& c) {
    const std::string name = str(in_, c[0]);
    if (name == "path") return path(c);
    if (name == "markers") return markers(c);
    if (name == "image") return image(c);
    if (name == "clip") return clip(c);
    if (name == "end") return plugin().end_clip(canvas_);
    text(c);
  }

  /// Of texts that a terminal shows: the page that their places are parts of.
  double left = 0, lower = 0, width = 1, height = 1;

 private:
  // ("path", points, xs, ys, fill, stroke, clip, snap, smooth); a stroke: (colour, width, dashes, offset, cap, join)
  void path(const std::vector<Value>& c) {
    const std::vector<uint8_t> points = points_of(in_, c[1]);
    const Numbers xs(in_, c[2]), ys(in_, c[3]), fill(in_, c[4]), clip(in_, c[6]);
    const PicturePath path = path_of(points, xs, ys);
    PicturePaint paint{fill.data(), nullptr, clip.data(), truth(in_, c[7]), truth(in_, c[8])};
    if (c[5].is_none()) return plugin().path(canvas_, &path, &paint);
    const std::vector<Value> parts = to_vector(in_, c[5]);
    const Numbers colour(in_, parts[0]), dashes(in_, parts[2]);
    const PictureStroke stroke{colour.data(),
                               std::max(to_double(in_, parts[1]), least_width_),
                               dashes.data(),
                               static_cast<int>(dashes.size()),
                               to_double(in_, parts[3]),
                               static_cast<int>(to_index(in_, parts[4])),
                               static_cast<int>(to_index(in_, parts[5]))};
    if (to_double(in_, parts[1]) > 0) paint.stroke = &stroke;
    plugin().path(canvas_, &path, &paint);
  }

  // ("clip", points, xs, ys), until ("end",)
  void clip(const std::vector<Value>& c) {
    const std::vector<uint8_t> points = points_of(in_, c[1]);
    const Numbers xs(in_, c[2]), ys(in_, c[3]);
    const PicturePath path = path_of(points, xs, ys);
    plugin().begin_clip(canvas_, &path);
  }

  // ("markers", points, shape's xs, ys, xs, ys, sizes, fills, edges, widths, clip)
  void markers(const std::vector<Value>& c) {
    const std::vector<uint8_t> points = points_of(in_, c[1]);
    const Numbers shape_x(in_, c[2]), shape_y(in_, c[3]), xs(in_, c[4]), ys(in_, c[5]), sizes(in_, c[6]), fills(in_, c[7]),
        edges(in_, c[8]), widths(in_, c[9]), clip(in_, c[10]);
    const PictureMarkers drawn{path_of(points, shape_x, shape_y),
                               xs.data(),
                               ys.data(),
                               std::min(xs.size(), ys.size()),
                               sizes.data(),
                               sizes.size(),
                               fills.data(),
                               fills.size() / 4,
                               edges.data(),
                               edges.size() / 4,
                               widths.data(),
                               widths.size(),
                               clip.data()};
    plugin().markers(canvas_, &drawn);
  }

  // ("image", pixels, left, lower, right, upper, smooth, clip)
  void image(const std::vector<Value>& c) {
    const Array pixels = numpy::as_array(in_, c[1]);
    const Array::Elements elements = pixels.elements(in_.engine());
    if (elements.dtype != DType::u8 || pixels.shape().size() != 3 || pixels.shape()[2] != 4)
      raise("TypeError", "pixels are an array of uint8 with four numbers each");
    const Numbers clip(in_, c[7]);
    const PictureImage drawn{reinterpret_cast<const uint8_t*>(elements.data),
                             pixels.shape()[1],
                             pixels.shape()[0],
                             to_double(in_, c[2]),
                             to_double(in_, c[3]),
                             to_double(in_, c[4]),
                             to_double(in_, c[5]),
                             truth(in_, c[6]),
                             clip.data()};
    plugin().image(canvas_, &drawn);
  }

  // ("text", text, x, y, size, angle, colour, family, font, clip)
  void text(const std::vector<Value>& c) {
    const std::string text = str(in_, c[1]), family = str(in_, c[7]);
    const double x = to_double(in_, c[2]), y = to_double(in_, c[3]), angle = to_double(in_, c[5]);
    const Numbers colour(in_, c[6]), clip(in_, c[9]);
    const PictureText drawn{text.c_str(), family.c_str(), to_double(in_, c[4]), static_cast<int>(to_index(in_, c[8]))};
    if (!texts_) return plugin().text(canvas_, &drawn, x, y, angle, colour.data(), clip.data());
    double extents[3];
    plugin().measure(&drawn, extents);
    const bool is_upright = angle > 45 && angle < 135;
    const double middle_x = is_upright ? x - extents[1] / 2 : x + extents[0] / 2,
                 middle_y = is_upright ? y + extents[0] / 2 : y + extents[1] / 2;
    texts_->push_back(
        {text, (middle_x - left) / width, 1 - (middle_y - lower) / height, is_upright, {colour[0], colour[1], colour[2], colour[3]}});
  }

  Interpreter& in_;
  void* canvas_;
  double least_width_;
  std::vector<TerminalText>* texts_;
};

/// render(commands, format, (left, lower, width, height), dpi, background): a Picture.
Value render(Interpreter& in, Args args) {
  const Numbers box(in, args[2]), background(in, args[4]);
  Page page(str(in, args[1]), box[0], box[1], box[2], box[3], to_double(in, args[3]), background);
  Drawing drawing(in, page.canvas, 0, nullptr);
  for (const Value& command : to_vector(in, args[0])) {
    poll(in);
    drawing.command(to_vector(in, command));
  }
  Value made = Value::make<Picture>();
  auto* picture = made.as<Picture>();
  page.finish(picture->bytes, str(in, args[1]) == "pixels" ? &picture->width : nullptr);
  return made;
}

/// braille(commands, (left, lower, width, height), columns, background, colours): the picture as characters.
Value braille(Interpreter& in, Args args) {
  const Numbers box(in, args[1]), background(in, args[3]);
  const double columns = to_double(in, args[2]), dpi = columns * 2 / box[2] * 72;
  Page page("pixels", box[0], box[1], box[2], box[3], dpi, background);
  std::vector<TerminalText> texts;
  Drawing drawing(in, page.canvas, 72 / dpi, &texts);
  drawing.left = box[0];
  drawing.lower = box[1];
  drawing.width = box[2];
  drawing.height = box[3];
  for (const Value& command : to_vector(in, args[0])) {
    poll(in);
    drawing.command(to_vector(in, command));
  }
  Picture pixels;
  page.finish(pixels.bytes, &pixels.width);
  return make_str(braille_text(pixels, texts, truth(in, args[4])));
}

/// measure(text, family, size, font): (advance, above, below).
Value measure(Interpreter& in, Args args) {
  const std::string text = str(in, args[0]), family = str(in, args[1]);
  const PictureText measured{text.c_str(), family.c_str(), to_double(in, args[2]), static_cast<int>(to_index(in, args[3]))};
  double extents[3];
  plugin().measure(&measured, extents);
  return make_tuple({Value::of(extents[0]), Value::of(extents[1]), Value::of(extents[2])});
}

Value write_picture(Interpreter& in, Args args) {
  AtomicFile file(str(in, args[1]));
  file.write(args[0].as<Picture>()->bytes);
  file.commit();
  return {};
}

Value picture_text(Interpreter&, Args args) { return make_str(args[0].as<Picture>()->bytes); }
Value picture_size(Interpreter&, Args args) {
  const auto* picture = args[0].as<Picture>();
  return make_tuple({Value::of(picture->width), Value::of(picture->height())});
}
Value kitty(Interpreter&, Args args) { return make_str(kitty_text(*args[0].as<Picture>())); }
Value iterm(Interpreter&, Args args) { return make_str(iterm_text(*args[0].as<Picture>())); }
Value sixel(Interpreter&, Args args) { return make_str(sixel_text(*args[0].as<Picture>())); }

/// The terminal's columns and rows, or None where the standard output is none.
Value terminal_size(Interpreter&, Args) {
  if (!isatty(STDOUT_FILENO)) return {};
  winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0)
    return make_tuple({Value::of(int64_t{80}), Value::of(int64_t{24})});
  return make_tuple({Value::of(int64_t{window.ws_col}), Value::of(int64_t{window.ws_row})});
}

Value environment(Interpreter& in, Args args) {
  const Sandbox* const sandbox = current_sandbox().get();
  if (sandbox && sandbox->rules().confined && !sandbox->rules().environment) return make_str("");
  const char* value = std::getenv(str(in, args[0]).c_str());
  return make_str(value ? value : "");
}

}  // namespace

std::vector<NativeFunction> picture_functions() {
  return {
      {"render", "commands, format, box, dpi, background, /", render, "Drawing commands as a page of a format."},
      {"braille", "commands, box, columns, background, colours, /", braille, "Drawing commands as characters."},
      {"measure", "text, family, size, font, /", measure, "How wide a line of text is, how far it reaches above and below its baseline."},
      {"write_picture", "picture, path, /", write_picture, "Writes the bytes of a page into a file."},
      {"picture_text", "picture, /", picture_text, "The bytes of a page that is text."},
      {"picture_size", "picture, /", picture_size, "Columns and rows of pixels."},
      {"kitty", "picture, /", kitty, "A PNG as Kitty's terminal shows it."},
      {"iterm", "picture, /", iterm, "A PNG as iTerm shows it."},
      {"sixel", "picture, /", sixel, "Pixels as terminals with Sixel graphics show them."},
      {"terminal_size", "", terminal_size, "(columns, rows) of the terminal, or None."},
      {"environment", "name, /", environment, "A variable of the environment, or ''."},
  };
}

}  // namespace gasell
