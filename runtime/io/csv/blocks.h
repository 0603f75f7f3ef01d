// A CSV text cut into blocks of whole records that threads read side by side.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "runtime/io/csv/options.h"
#include "runtime/io/csv/text.h"

namespace gasell::csv {

struct Block {
  int64_t begin = 0, end = 0;  // bytes of the text; records of it begin and end there
  int64_t first_row = 0, rows = 0;
  int64_t first_line = 0;  // of the file, from 1, records over several lines counted as one
  bool plain = true;       // scan.h reads it: no blank lines, no quotes within fields, no single carriage returns
  bool carriage = false;   // there are carriage returns in it
  bool high = false;       // there are bytes above 127 in it
};

struct Blocks {
  std::vector<Block> blocks;
  int64_t rows = 0;
  bool is_cut = false;  // the text ends within quotes or behind an escape character
};

/// The records from `begin` on. `fields`: how many a record has at most where longer ones are left out (BadLines::skip or warn), else 0.
/// `rows`: of how many records the first ones are wanted; the result may have some more.
Blocks find_blocks(const Text& text, int64_t begin, int64_t first_line, const CsvOptions& options, int64_t fields,
                   std::optional<int64_t> rows, const std::atomic<bool>& interrupt);

}  // namespace gasell::csv
