#!/usr/bin/env python3
"""Draws the scripts of examples/pictures into docs/gallery and writes docs/gallery.md: `tests/pictures/gallery.py [--gasell PROGRAM]`."""

import argparse
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HEAD = """# Gallery
What the scripts of [examples/pictures](../examples/pictures) draw; each runs under CPython with Matplotlib too. Names, options and differences: [pictures.md](pictures.md).
This page and its pictures are made by `tests/pictures/gallery.py`.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gasell", default=str(ROOT / "build/dev/bin/gasell"))
    gasell = str(Path(parser.parse_args().gasell).resolve())
    folder = ROOT / "docs" / "gallery"
    folder.mkdir(exist_ok=True)
    cells = []
    for script in sorted((ROOT / "examples" / "pictures").glob("*.gsl")):
        text = script.read_text(encoding="utf-8")
        with tempfile.NamedTemporaryFile("w", suffix=".gsl", encoding="utf-8") as copy:
            copy.write(text.replace(f'"{script.stem}.png")', f'"{script.stem}.png", dpi=50)'))
            copy.flush()
            subprocess.run([gasell, copy.name], cwd=folder, check=True)
        title = text.splitlines()[0].lstrip("# ")
        cells.append(f"![{title}](gallery/{script.stem}.png)<br>[{script.stem}](../examples/pictures/{script.name}): {title}")
    rows = [cells[k : k + 3] for k in range(0, len(cells), 3)]
    lines = ["| | | |", "|---|---|---|"] + ["| " + " | ".join(row + [""] * (3 - len(row))) + " |" for row in rows]
    (ROOT / "docs" / "gallery.md").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
