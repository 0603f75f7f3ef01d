// The structure of CSV text, 64 bytes at a time: quotes by a prefix exclusive-or of their bits, as in G. Langdale and D. Lemire, "Parsing
// Gigabytes of JSON per Second". The functions exist for AVX-512, AVX2 and what every x86-64, every AArch64 or any machine has; the best is
// chosen once.
#pragma once

#include <cstdint>

#include "runtime/io/csv/dialect.h"

namespace gasell::csv {

/// What is in a piece of a text, for both answers to the question whether it begins within quotes ([1]) or not ([0]).
struct PieceFacts {
  bool odd_quotes = false;
  int64_t lines[2] = {0, 0};               // that begin in it
  int64_t first_line[2] = {-1, -1};        // where the first of them begins, from the piece's beginning
  bool blank[2] = {false, false};          // a line of it begins with a blank, a tab or its end
  bool stray[2] = {false, false};          // a quote opens within a field
  bool lone_carriage[2] = {false, false};  // a carriage return outside quotes that no line feed follows
  bool carriage = false;                   // there are carriage returns
  bool high = false;                       // there are bytes above 127
};

struct ScanFunctions {
  /// A line begins behind a line feed, and behind a carriage return that no line feed follows. `before`: the byte before the piece ('\n' at
  /// the text's beginning).
  PieceFacts (*facts)(const char* begin, const char* end, char before, const Dialect& dialect);
  /// Writes where separators and line feeds outside quotes are, from `begin`, which is a record's beginning; `positions` has room for
  /// end - begin + kSlack of them. Returns how many there are; `lines`: how many of them are line feeds.
  int64_t (*fields)(const char* begin, const char* end, const Dialect& dialect, uint32_t* positions, int64_t& lines);
  const char* name;
};
inline constexpr int64_t kSlack = 64;

const ScanFunctions& scan_functions();
/// All that this machine can run, for tests.
const ScanFunctions* const* all_scan_functions();

namespace isa {
extern const ScanFunctions baseline;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
extern const ScanFunctions avx2, avx512;
#endif
}  // namespace isa

}  // namespace gasell::csv
