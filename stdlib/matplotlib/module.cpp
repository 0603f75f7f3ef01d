#include "stdlib/matplotlib/module.h"

#include "stdlib/library.h"
#include "stdlib/modules.h"

namespace gasell {

Value make_matplotlib(Interpreter&) {
  const Value module = Value::make<LibraryModule>("matplotlib");
  for (const char* name :
       {"pyplot", "axes",     "artist", "axis",   "cm",    "collections", "colorbar", "colors", "container", "contour", "dates",
        "figure", "gridspec", "image",  "legend", "lines", "patches",     "spines",   "style",  "text",      "ticker",  "transforms"})
    set_member(module, name, Value::make<LibraryModule>(std::string("matplotlib.") + name));
  return module;
}

Value make_cycler(Interpreter&) { return Value::make<LibraryModule>("cycler"); }

Value make_pyplot(Interpreter& in) { return get_attribute(in, in.import_module("matplotlib", nullptr), "pyplot"); }

Value make_matplotlib_natives(Interpreter&) {
  const Value module = Value::make<LibraryModule>("_matplotlib");
  static const std::vector<NativeFunction> kPictures = picture_functions(), kContours = contour_functions();
  for (const auto* functions : {&kPictures, &kContours})
    for (const NativeFunction& f : *functions) set_member(module, f.name, Value::make<Builtin>(f));
  return module;
}

}  // namespace gasell
