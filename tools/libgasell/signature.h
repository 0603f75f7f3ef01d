// Signatures of functions that the program and scripts call each other by: "float64(float64[::1], const float64[:, :])".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/functions/type.h"

namespace gasell::c_abi {

struct ParameterType {
  enum class Kind : uint8_t { nothing, number, array, text, object, automatic } kind = Kind::nothing;
  functions::Type type = {};  // of numbers and arrays
};

struct CallSignature {
  ParameterType result;
  std::vector<ParameterType> parameters;
  /// The result is "auto": to be told by what the function, compiled for the parameters, returns.
  bool is_open() const { return result.kind == ParameterType::Kind::automatic; }
  /// Whether all that is handed over are numbers and arrays, and the result is a number, nothing or open.
  bool is_plain() const;
  /// Whether all that is handed over are numbers.
  bool is_of_numbers() const;
};

/// Throws InvalidArgument for what is none.
CallSignature parse_signature(std::string_view text);

}  // namespace gasell::c_abi
