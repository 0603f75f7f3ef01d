// What the terminal can do, and errors written to it.
#pragma once

#include <functional>
#include <string_view>

#include "lang/diagnostic.h"
#include "tools/gasell/options.h"

namespace gasell::cli {

/// Colour belongs on a terminal that wants it (not with NO_COLOR, not on a dumb one).
bool wants_colour(int file_descriptor);

/// Runs `work` and turns what it throws into a message on stderr and the command's exit status: 0, 1 (script failure), 130 (interrupt), the
/// code of SystemExit. Flushes stdout first, so that output and message keep their order.
int guarded(const Options& options, const std::function<void()>& work);

/// Writes to stdout; throws OutputClosed when the reader has gone, Error (OSError) when the disk is full.
void write_stdout(std::string_view text);
void flush_stdout();
/// The reader of our output has gone (`gasell … | head`): end without a word.
struct OutputClosed {};

}  // namespace gasell::cli
