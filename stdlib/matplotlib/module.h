// The module matplotlib: pictures. Its classes and functions are texts over the natives of _matplotlib.
#pragma once

#include "runtime/session/interpreter.h"

namespace gasell {

Value make_matplotlib(Interpreter& in);
/// The module cycler.
Value make_cycler(Interpreter& in);
/// Its part pyplot.
Value make_pyplot(Interpreter& in);
/// What the texts are made with: pages, contours, and what the terminal can show.
Value make_matplotlib_natives(Interpreter& in);
std::vector<NativeFunction> picture_functions();
std::vector<NativeFunction> contour_functions();

}  // namespace gasell
