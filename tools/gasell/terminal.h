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
/// Writes to stderr as far as that goes: what a full disk or a closed file does not take is lost, and the exit status alone tells.
void write_stderr(std::string_view text);

/// Holds the places of standard files that the caller closed, so that no file of a script takes the number and gets what is printed;
/// reading and writing fail there as before.
void open_standard_files();

/// The reader of our output has gone (`gasell … | head`): end without a word.
struct OutputClosed {};

}  // namespace gasell::cli
