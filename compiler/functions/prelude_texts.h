// The texts of prelude/*.gsl, made into code by embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace gasell::functions {

struct PreludeText {
  std::string_view name;    // "prelude/numpy_statistics.gsl"
  std::string_view module;  // "numpy": what stands before the first underscore of the file's name; empty for builtins
  std::string_view text;
};
std::span<const PreludeText> prelude_texts();

}  // namespace gasell::functions
