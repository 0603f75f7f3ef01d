#!/usr/bin/env python3
"""Draws the scripts of examples/pictures as PNG, SVG and PDF, and looks at what comes out.

A PNG has the figure's size in pixels, is not blank, and differs little from a small grey picture of it that is kept in thumbnails.json; an SVG and a PDF are
whole documents. `--record` writes the small pictures: look at the large ones before (compare.py puts them beside Matplotlib's).

Without the plugin of pictures nothing is checked, and that is said. Exit status: 0 when all is as it should be. The closing line is `N passed, N failed`."""

import argparse
import concurrent.futures
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
THUMBNAILS = HERE / "thumbnails.json"
COLUMNS, ROWS = 32, 24
MOST_DIFFERENCE = 2.5  # of 255, over the small picture: fonts of other versions move a label by a pixel


def pixels_of(data):
    """(width, height, rows of grey values) of a PNG of 8 bits a channel."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    raw, stride = zlib.decompress(packed), width * channels
    before, rows = bytearray(stride), []
    for y in range(height):
        method, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        if method:
            for i in range(stride):
                left = line[i - channels] if i >= channels else 0
                above, corner = before[i], before[i - channels] if i >= channels else 0
                if method == 4:
                    p = left + above - corner
                    pa, pb, pc = abs(p - left), abs(p - above), abs(p - corner)
                    guess = left if pa <= pb and pa <= pc else above if pb <= pc else corner
                else:
                    guess = (0, left, above, (left + above) // 2)[method]
                line[i] = (line[i] + guess) & 255
        before = line
        step = channels
        rows.append(bytes((line[i] + line[i + min(1, step - 1)] + line[i + min(2, step - 1)]) // 3 for i in range(0, stride, step)))
    return width, height, rows


def thumbnail(width, height, rows):
    """The means of a grid of parts."""
    small = []
    for r in range(ROWS):
        part = rows[r * height // ROWS : (r + 1) * height // ROWS]
        for c in range(COLUMNS):
            values = [v for row in part for v in row[c * width // COLUMNS : (c + 1) * width // COLUMNS]]
            small.append(sum(values) // len(values))
    return small


def draw(gasell, script, ending, folder):
    text = script.read_text(encoding="utf-8").replace(f'"{script.stem}.png"', f'"{script.stem}.{ending}"')
    copy = folder / f"{script.stem}_{ending}.gsl"
    copy.write_text(text, encoding="utf-8")
    done = subprocess.run([gasell, str(copy)], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise AssertionError(done.stderr)
    return (folder / f"{script.stem}.{ending}").read_bytes()


def check(gasell, script, recorded, folder):
    """(the small picture, what is wrong)."""
    try:
        width, height, rows = pixels_of(draw(gasell, script, "png", folder))
        small, wrong = thumbnail(width, height, rows), []
        if len({v for row in rows for v in row}) < 8:
            wrong.append("the picture is blank")
        if recorded and recorded["size"] != [width, height]:
            wrong.append(f"{width}x{height} pixels, not {recorded['size']}")
        elif recorded:
            known = list(bytes.fromhex(recorded["grey"]))
            difference = sum(abs(a - b) for a, b in zip(small, known)) / len(known)
            if difference > MOST_DIFFERENCE:
                wrong.append(f"differs by {difference:.2f} of 255 from the recorded picture")
        if script.stem != "many_points":  # its million points are one image in a document
            root = xml.etree.ElementTree.fromstring(draw(gasell, script, "svg", folder))
            if not root.tag.endswith("svg") or len(list(root.iter())) < 20:
                wrong.append("the SVG is empty")
        pdf = draw(gasell, script, "pdf", folder)
        if not pdf.startswith(b"%PDF") or b"%%EOF" not in pdf[-32:]:
            wrong.append("the PDF is not whole")
        return {"size": [width, height], "grey": bytes(small).hex()}, wrong
    except (AssertionError, OSError, xml.etree.ElementTree.ParseError) as error:
        return None, [str(error)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--filter", default="")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    gasell = str(Path(options.gasell).resolve())
    doctor = subprocess.run([gasell, "doctor"], capture_output=True, text=True).stdout
    if re.search(r"pictures\s+none", doctor):
        print("no plugin of pictures: nothing is checked\n0 passed, 0 failed")
        return 0
    scripts = [s for s in sorted((ROOT / "examples" / "pictures").glob("*.gsl")) if re.search(options.filter, s.stem)]
    recorded = json.loads(THUMBNAILS.read_text()) if THUMBNAILS.exists() and not options.record else {}
    failed, found = 0, {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for script, (small, wrong) in zip(scripts, pool.map(lambda s: check(gasell, s, recorded.get(s.stem), Path(folder)), scripts)):
            found[script.stem] = small
            if not options.record and script.stem not in recorded:
                wrong.append("no recorded picture: --record")
            for line in wrong:
                print(f"FAILED {script.stem}: {line}")
            failed += bool(wrong)
    if options.record:
        THUMBNAILS.write_text("{\n" + ",\n".join(f'  "{name}": {json.dumps(small)}' for name, small in sorted(found.items())) + "\n}\n")
    print(f"{len(scripts) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
