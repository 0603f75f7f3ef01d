// Pictures as terminals show them.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "runtime/session/str_text.h"
#include "stdlib/matplotlib/picture.h"

namespace gasell::matplotlib {
namespace {

struct Colour {
  int red = 0, green = 0, blue = 0;
  bool operator==(const Colour&) const = default;
};

struct Cell {
  std::string glyph = " ";
  Colour colour;
  bool is_coloured = false;
};

Colour pixel(const Picture& p, int64_t x, int64_t y) {
  const auto at = static_cast<size_t>(4 * (y * p.width + x));
  const auto part = [&](size_t k) { return static_cast<int>(static_cast<unsigned char>(p.bytes[at + k])); };
  const int opacity = part(3);
  const auto over_white = [&](size_t k) { return (part(k) * opacity + 255 * (255 - opacity)) / 255; };
  return {over_white(0), over_white(1), over_white(2)};
}

std::string utf8(uint32_t code) {
  std::string text;
  text += static_cast<char>(0xE0 | code >> 12);
  text += static_cast<char>(0x80 | (code >> 6 & 63));
  text += static_cast<char>(0x80 | (code & 63));
  return text;
}

int difference(const Colour& a, const Colour& b) {
  return std::abs(a.red - b.red) + std::abs(a.green - b.green) + std::abs(a.blue - b.blue);
}

/// The pixels of a character that are not the page's colour become its dots; their colour is their mean.
Cell cell_of(const Picture& p, int64_t column, int64_t row, const Colour& page) {
  static constexpr int kDots[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
  constexpr int kSeen = 90;
  uint32_t dots = 0;
  int count = 0;
  Colour sum;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 2; ++x) {
      if (column * 2 + x >= p.width || row * 4 + y >= p.height()) continue;
      const Colour c = pixel(p, column * 2 + x, row * 4 + y);
      if (difference(c, page) < kSeen) continue;
      dots |= static_cast<uint32_t>(kDots[y][x]);
      sum = {sum.red + c.red, sum.green + c.green, sum.blue + c.blue};
      ++count;
    }
  }
  if (count == 0) return {};
  return {dots == 255 ? "█" : utf8(0x2800 + dots), {sum.red / count, sum.green / count, sum.blue / count}, true};
}

std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> found;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    found.push_back(text.substr(i, end - i));
    i = end;
  }
  return found;
}

void place_text(std::vector<std::vector<Cell>>& cells, const TerminalText& t) {
  const std::vector<std::string> letters = characters(t.text);
  const auto rows = static_cast<int64_t>(cells.size()), columns = static_cast<int64_t>(cells[0].size()),
             length = static_cast<int64_t>(letters.size());
  const Colour colour{static_cast<int>(t.colour[0] * 255), static_cast<int>(t.colour[1] * 255), static_cast<int>(t.colour[2] * 255)};
  int64_t row = std::clamp<int64_t>(static_cast<int64_t>(std::floor(t.y * static_cast<double>(rows))), 0, rows - 1);
  int64_t column = std::llround(t.x * static_cast<double>(columns) - static_cast<double>(t.is_upright ? 1 : length) / 2);
  if (t.is_upright) {
    row = std::max<int64_t>(std::llround(t.y * static_cast<double>(rows) - static_cast<double>(length) / 2), 0);
    column = std::clamp<int64_t>(column, 0, columns - 1);
  } else {
    column = std::max<int64_t>(std::min(column, columns - length), 0);
  }
  for (const std::string& letter : letters) {
    if (row >= rows || column >= columns) return;
    cells[static_cast<size_t>(row)][static_cast<size_t>(column)] = {letter, colour, true};
    (t.is_upright ? row : column) += 1;
  }
}

std::string base64(const std::string& bytes) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kLetters[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string braille_text(const Picture& pixels, const std::vector<TerminalText>& texts, bool colours) {
  const int64_t columns = (pixels.width + 1) / 2, rows = (pixels.height() + 3) / 4;
  const Colour page = pixel(pixels, 0, 0);
  std::vector<std::vector<Cell>> cells(static_cast<size_t>(rows), std::vector<Cell>(static_cast<size_t>(columns)));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      cells[static_cast<size_t>(row)][static_cast<size_t>(column)] = cell_of(pixels, column, row, page);
  for (const TerminalText& text : texts) place_text(cells, text);
  std::string out;
  for (const std::vector<Cell>& line : cells) {
    size_t end = line.size();
    while (end > 0 && !line[end - 1].is_coloured) --end;
    const Cell* before = nullptr;
    for (size_t k = 0; k < end; ++k) {
      const Cell& cell = line[k];
      if (colours && cell.is_coloured && !(before && before->colour == cell.colour)) {
        // Black is what the terminal writes with: it may be dark itself.
        const bool is_plain = cell.colour.red + cell.colour.green + cell.colour.blue < 120;
        out += is_plain ? std::string("\x1b[39m")
                        : "\x1b[38;2;" + std::to_string(cell.colour.red) + ";" + std::to_string(cell.colour.green) + ";" +
                              std::to_string(cell.colour.blue) + "m";
        before = &cell;
      }
      out += cell.glyph;
    }
    if (before) out += "\x1b[0m";
    out += "\n";
  }
  if (!out.empty()) out.pop_back();
  return out;
}

std::string kitty_text(const Picture& png) {
  constexpr size_t kPart = 4096;
  const std::string text = base64(png.bytes);
  std::string out;
  for (size_t at = 0; at < text.size(); at += kPart) {
    const bool is_more = at + kPart < text.size();
    out += std::string("\x1b_G") + (at == 0 ? "a=T,f=100," : "") + "m=" + (is_more ? "1" : "0") + ";" + text.substr(at, kPart) + "\x1b\\";
  }
  return out;
}

std::string iterm_text(const Picture& png) {
  return "\x1b]1337;File=inline=1;size=" + std::to_string(png.bytes.size()) + ":" + base64(png.bytes) + "\a";
}

std::string sixel_text(const Picture& pixels) {
  // Colours of a cube of six steps each, which are a list of 216.
  const auto step = [](int part) { return (part * 5 + 127) / 255; };
  const auto index_of = [&](const Colour& c) { return step(c.red) * 36 + step(c.green) * 6 + step(c.blue); };
  std::string out = "\x1bPq\"1;1;" + std::to_string(pixels.width) + ";" + std::to_string(pixels.height());
  for (int k = 0; k < 216; ++k)
    out += "#" + std::to_string(k) + ";2;" + std::to_string(k / 36 * 20) + ";" + std::to_string(k / 6 % 6 * 20) + ";" +
           std::to_string(k % 6 * 20);
  for (int64_t top = 0; top < pixels.height(); top += 6) {
    std::map<int, std::string> bands;
    for (int64_t x = 0; x < pixels.width; ++x) {
      for (int64_t y = top; y < std::min(top + 6, pixels.height()); ++y) {
        std::string& band = bands[index_of(pixel(pixels, x, y))];
        if (band.empty()) band.assign(static_cast<size_t>(pixels.width), '\x3f');
        band[static_cast<size_t>(x)] = static_cast<char>(((band[static_cast<size_t>(x)] - 63) | 1 << (y - top)) + 63);
      }
    }
    for (const auto& [colour, band] : bands) out += "#" + std::to_string(colour) + band + "$";
    out += "-";
  }
  return out + "\x1b\\";
}

}  // namespace gasell::matplotlib
