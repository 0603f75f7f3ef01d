// Text to bytes and back: the encodings that scripts name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/session/value.h"

namespace gasell {

/// text.encode(encoding, errors), of a UTF-8 text. UnicodeEncodeError, LookupError for an encoding or a way to treat errors that is not
/// there.
std::string encode_text(const Value& text, std::string_view encoding, std::string_view errors);
/// data.decode(encoding, errors) as UTF-8. UnicodeDecodeError, LookupError.
std::string decode_bytes(std::string_view data, std::string_view encoding, std::string_view errors);
/// Whether an encoding's name is known.
bool is_encoding(std::string_view name);

}  // namespace gasell
