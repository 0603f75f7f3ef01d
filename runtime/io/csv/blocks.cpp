#include "runtime/io/csv/blocks.h"

#include <algorithm>
#include <limits>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/io/csv/scan.h"
#include "runtime/io/csv/tokenizer.h"

namespace gasell::csv {
namespace {

constexpr int64_t kBlockBytes = 1 << 20;

void poll(const std::atomic<bool>& interrupt) {
  if (interrupt) throw Interrupted();
}

/// Pieces of `bytes` of [begin, end), with what is in them.
std::vector<PieceFacts> facts_of_pieces(const Text& text, int64_t begin, int64_t end, int64_t bytes, const Dialect& dialect,
                                        const std::atomic<bool>& interrupt) {
  std::vector<PieceFacts> facts(static_cast<size_t>((end - begin + bytes - 1) / bytes));
  in_parallel(static_cast<int64_t>(facts.size()), [&](int64_t k) {
    poll(interrupt);
    const int64_t from = begin + k * bytes, to = std::min(end, from + bytes);
    facts[static_cast<size_t>(k)] = scan_functions().facts(text.begin + from, text.begin + to, k ? text.begin[from - 1] : '\n', dialect);
    text.let_go(from, to);
  });
  return facts;
}

/// Blocks by the parity of quotes; nothing where that is not how the text is to be read.
bool blocks_by_parity(const Text& text, int64_t begin, int64_t end, int64_t bytes, const Dialect& dialect, Blocks& result,
                      const std::atomic<bool>& interrupt) {
  const std::vector<PieceFacts> facts = facts_of_pieces(text, begin, end, bytes, dialect, interrupt);
  bool quoted = false;
  for (size_t k = 0; k < facts.size(); ++k) {
    const PieceFacts& piece = facts[k];
    const int state = quoted;
    if (piece.stray[state] || (dialect.line_end && piece.carriage)) return false;
    quoted ^= piece.odd_quotes;
    const bool plain = !piece.blank[state] && !piece.lone_carriage[state];
    if (piece.lines[state] > 0) {
      Block block;
      block.begin = begin + static_cast<int64_t>(k) * bytes + piece.first_line[state];
      block.rows = piece.lines[state];
      block.plain = plain;
      block.carriage = piece.carriage;
      block.high = piece.high;
      if (!result.blocks.empty()) result.blocks.back().end = block.begin;
      result.blocks.push_back(block);
      // The last record of the block before reaches into this piece.
      if (result.blocks.size() > 1) {
        Block& before = result.blocks[result.blocks.size() - 2];
        before.carriage |= piece.carriage;
        before.high |= piece.high;
      }
    } else if (!result.blocks.empty()) {
      Block& block = result.blocks.back();
      block.plain &= plain;
      block.carriage |= piece.carriage;
      block.high |= piece.high;
    }
  }
  // A quote that never closes takes the rest of the file into one field, which has to be refused, with its place.
  if (quoted && text.begin + end == text.end) return false;
  if (!result.blocks.empty()) result.blocks.back().end = end;
  return true;
}

/// Blocks found a record at a time.
void blocks_by_reading(const Text& text, int64_t begin, int64_t end, int64_t bytes, const Dialect& dialect, Blocks& result,
                       const std::atomic<bool>& interrupt) {
  const char* at = text.begin + begin;
  while (at < text.begin + end) {
    poll(interrupt);
    Block block;
    block.begin = at - text.begin;
    block.plain = false;
    block.carriage = block.high = true;
    while (at < text.begin + end && at - text.begin < block.begin + bytes) {
      const Line found = skip_line(dialect, at, text.begin + end);
      result.is_cut = found == Line::unclosed || found == Line::escaping;
      ++block.rows;
    }
    block.end = at - text.begin;
    result.blocks.push_back(block);
  }
}

/// How many of the lines are records that are kept.
int64_t kept_records(const Text& text, const Block& block, const Dialect& dialect, int64_t fields) {
  const char* at = text.begin + block.begin;
  const char* const end = text.begin + block.end;
  int64_t count = 0;
  Fields read;
  while (at < end) {
    read.clear();
    if (fields == 0)
      count += skip_line(dialect, at, end) != Line::nothing;
    else
      count += read_line(dialect, at, end, read) != Line::nothing && read.size() <= fields;
  }
  return count;
}

Blocks blocks_of(const Text& text, int64_t begin, int64_t end, int64_t first_line, int64_t bytes, const CsvOptions& options, int64_t fields,
                 const std::atomic<bool>& interrupt) {
  const Dialect& dialect = options.dialect;
  Blocks result;
  if (begin == end) return result;
  if (!dialect.by_parity() || !blocks_by_parity(text, begin, end, bytes, dialect, result, interrupt)) {
    result.blocks.clear();
    blocks_by_reading(text, begin, end, bytes, dialect, result, interrupt);
  }
  int64_t line = first_line;
  for (Block& block : result.blocks) {
    block.first_line = line;
    line += block.rows;
  }
  in_parallel(static_cast<int64_t>(result.blocks.size()), [&](int64_t k) {
    Block& block = result.blocks[static_cast<size_t>(k)];
    if (block.plain && fields == 0) return;
    poll(interrupt);
    block.rows = kept_records(text, block, dialect, fields);
  });
  for (Block& block : result.blocks) {
    block.first_row = result.rows;
    result.rows += block.rows;
  }
  return result;
}

}  // namespace

Blocks find_blocks(const Text& text, int64_t begin, int64_t first_line, const CsvOptions& options, int64_t fields,
                   std::optional<int64_t> rows, const std::atomic<bool>& interrupt) {
  const int64_t end = text.end - text.begin;
  const int64_t bytes = options.block_bytes > 0 ? options.block_bytes : kBlockBytes;
  if (!rows) return blocks_of(text, begin, end, first_line, bytes, options, fields, interrupt);
  // The last record of what is looked at may be cut, so one more than wanted is looked for.
  for (int64_t length = std::min(bytes, end - begin);; length = std::min(2 * length, end - begin)) {
    Blocks found = blocks_of(text, begin, begin + length, first_line, bytes, options, fields, interrupt);
    if (begin + length == end || found.rows > *rows) return found;
  }
}

}  // namespace gasell::csv
