// CSV and JSON files as pandas' functions see them.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/io/csv/options.h"
#include "runtime/session/objects.h"

namespace gasell::pandas {

/// Says how bytes are read: the words of coding() in stdlib/_pandas/objects/encodings.gsl.
void set_coding(csv::CsvOptions& options, std::string_view encoding, std::string_view errors);

/// storage_options as the library's text passes them: pairs of names and texts.
remote::StorageOptions storage_options_of(Interpreter& in, const Value& pairs);

/// Natives of _frame.
std::vector<NativeFunction> csv_functions();
std::vector<NativeFunction> json_functions();

}  // namespace gasell::pandas
