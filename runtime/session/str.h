// Helpers of str's slots and methods, shared by the files that implement them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runtime/session/objects.h"

namespace gasell {

/// The text of an argument that has to be a str; TypeError "`what` … must be str, not int" otherwise, `message` up to the type's name.
std::string_view need_str(const Value& v, std::string_view message);

/// Code points [start, stop) as bytes.
std::string_view code_points(const Str& s, int64_t start, int64_t stop);

/// Methods by topic; str_type() joins them.
std::vector<NativeFunction> str_search_methods();
std::vector<NativeFunction> str_shape_methods();
std::vector<NativeFunction> str_case_methods();

/// '…'.format(…): fields by position, name, attribute and index; nested specs.
std::string format_fields(Interpreter& in, std::string_view text, std::span<const Value> positional, const Value& mapping);
/// '…' % values.
std::string format_percent(Interpreter& in, std::string_view text, const Value& values);

}  // namespace gasell
