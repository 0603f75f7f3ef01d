#!/usr/bin/env python3
"""Draws screens of the session into docs/screens, as SVG: `screens.py --gasell PATH [--check]`. The terminal is the one that test_session_screens.py looks at."""

import argparse
import html
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docs" / "screens"
TAB, ENTER, DOWN, CLEAR = "\t", "\r", "\x1b[B", "\x0c"
# Name: columns, rows, and what a person types.
SCREENS = {
    "start": (98, 9, ["x = np.linspace(0, 2, 1_000_001)", ENTER, "y = np.exp(-x) * np.sin(5 * x)", ENTER, "y[:4]", ENTER, "y.mean()", ENTER, "np.clip(y, 0,"]),
    "help": (92, 8, [CLEAR, "?np.clip", ENTER]),
    "completion": (92, 10, [CLEAR, "df = pd.DataFrame({'city': ['Bonn', 'Ulm'], 'sales': [120, 80]})", ENTER, "df.groupby('city').sales.s", TAB, DOWN, DOWN]),
    "mistake": (92, 13, [CLEAR, "prices = np.array([1.5, 2.5])", ENTER, "prices.men()", ENTER, "prices + np.ones(3)", ENTER]),
    "explain": (92, 11, [CLEAR, "x = np.arange(1_000_000.0)", ENTER, "%explain np.sqrt(x * x + 1).sum()", ENTER]),
}
COLOURS = ["#22272e", "#f47067", "#8ddb8c", "#dcbdfb", "#6cb6ff", "#dcbdfb", "#76e3ea", "#d1d7e0", "#768390", "#ff938a", "#8ddb8c", "#f69d50", "#6cb6ff", "#dcbdfb", "#96d0ff", "#ffffff"]
BACK, TEXT = "#161b22", "#d1d7e0"
CELL, LINE, SIZE = 8.4, 19, 14


def colour_of(number):
    if number < 16:
        return COLOURS[number]
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return f"#{level:02x}{level:02x}{level:02x}"
    parts = [(number - 16) // 36, (number - 16) // 6 % 6, (number - 16) % 6]
    return "#" + "".join(f"{0 if part == 0 else 55 + 40 * part:02x}" for part in parts)


def look(style):
    """Attributes of SVG's text, and the colour behind it, of an SGR's parameters."""
    attributes, fill, back = "", TEXT, None
    numbers = [int(n or 0) for n in style.split(";")] if style else []
    k = 0
    while k < len(numbers):
        n = numbers[k]
        if n in (38, 48) and numbers[k + 1 : k + 2] == [5]:
            if n == 38:
                fill = colour_of(numbers[k + 2])
            else:
                back = colour_of(numbers[k + 2])
            k += 2
        elif n == 1:
            attributes += ' font-weight="bold"'
        elif n == 3:
            attributes += ' font-style="italic"'
        elif n == 4:
            attributes += ' text-decoration="underline"'
        elif n == 7:
            fill, back = BACK, fill
        elif 30 <= n <= 37:
            fill = COLOURS[n - 30]
        elif 40 <= n <= 47:
            back = COLOURS[n - 40]
        elif 90 <= n <= 97:
            fill = COLOURS[n - 82]
        k += 1
    return f'{attributes} fill="{fill}"', back


def drawn(screen):
    """The screen as SVG, the cursor as a bar."""
    width, height = screen.columns * CELL + 24, screen.rows * LINE + 44
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="{SIZE}">',
        f'<rect width="100%" height="100%" rx="8" fill="{BACK}"/>',
        *(f'<circle cx="{18 + 18 * k}" cy="16" r="5.5" fill="{fill}"/>' for k, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))),
    ]
    for row in range(screen.rows):
        column = 0
        while column < screen.columns:
            style, begin = screen.styles[row][column], column
            while column < screen.columns and screen.styles[row][column] == style:
                column += 1
            text = "".join(screen.cells[row][begin:column])
            attributes, back = look(style)
            x, y = 12 + begin * CELL, 46 + row * LINE
            if back:
                out.append(f'<rect x="{x:g}" y="{y - 14:g}" width="{(column - begin) * CELL:g}" height="{LINE}" fill="{back}"/>')
            if text.strip():
                lead = len(text) - len(text.lstrip())
                shown = text.strip()
                out.append(f'<text x="{x + lead * CELL:g}" y="{y:g}" textLength="{len(shown) * CELL:g}" xml:space="preserve"{attributes}>{html.escape(shown)}</text>')
    out.append(f'<rect x="{12 + screen.column * CELL:g}" y="{32 + screen.row * LINE:g}" width="2" height="{LINE - 2}" fill="{TEXT}"/>')
    return "\n".join([*out, "</svg>"]) + "\n"


def session(columns, rows, keys):
    from screen import ScreenTerminal

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "init.gsl").write_text("%config theme = dark\n", encoding="utf-8")
        terminal = ScreenTerminal(columns=columns, rows=rows, cwd=folder, TERM="xterm-256color", GASELL_INIT=f"{folder}/init.gsl")
        try:
            terminal.until(lambda screen: screen.lines()[-1:] == [">>>"])
            for key in keys:
                terminal.press(key)
                terminal.settle(0.4 if key == ENTER or key is keys[-1] else 0.05)
            terminal.settle(1.0)
            return terminal.screen
        finally:
            terminal.end()


def words_of(svg):
    return re.sub(r"\d[\d.,]*", "#", "\n".join(html.unescape(text) for text in re.findall(r"<text[^>]*>(.*?)</text>", svg)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--check", action="store_true", help="compare the words of the screens, numbers aside, with those that stand there")
    options = parser.parse_args()
    os.environ["GASELL"] = str(Path(options.gasell).resolve())
    FOLDER.mkdir(exist_ok=True)
    status = 0
    for name, screen in SCREENS.items():
        svg = drawn(session(*screen))
        file = FOLDER / f"{name}.svg"
        if options.check:
            if words_of(svg) != words_of(file.read_text(encoding="utf-8")):
                print(f"{file.name} shows something else:\n{words_of(svg)}")
                status = 1
        else:
            file.write_text(svg, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
