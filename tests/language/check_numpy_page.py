#!/usr/bin/env python3
"""Holds docs/numpy.md against what np, np.linalg, np.fft, np.random and arrays have in fact: every public name stands in one table of its section, and no other.

The sections np.linalg, np.fft, np.random and "Methods and attributes of arrays" are about those; all others are about np. Names that Gasell alone has stand in
"Gasell's own". Exit status 0 when the page is right.
"""

import argparse
import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OBJECTS = {"np.linalg": "np.linalg", "np.fft": "np.fft", "np.random": "np.random", "Methods and attributes of arrays": "np.arange(3)"}
OWN = "Gasell's own"


def names_on_page(text):
    """{section: [names]} from the first column of the tables."""
    found, section = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
        elif line.startswith("| `"):
            found.setdefault(section, []).extend(re.findall(r"`([^`]+)`", line.split("|")[1]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", required=True)
    options = parser.parse_args()
    sections = names_on_page((ROOT / "docs/numpy.md").read_text(encoding="utf-8"))
    script = "".join(f"print(dir({thing}))\n" for thing in ["np", *OBJECTS.values()])
    done = subprocess.run([options.gasell, "-c", script], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise SystemExit(done.stderr)
    listed = [ast.literal_eval(line) for line in done.stdout.splitlines()]
    own = set(sections.get(OWN, []))
    wrong = []
    for section, names in zip(["np", *OBJECTS], listed):
        on_page = [n for s, ns in sections.items() for n in ns if (s == section if section in OBJECTS else s not in OBJECTS and s != OWN)]
        there = {n for n in names if not n.startswith("__")} - own
        wrong += [f"{section}: {n} is missing on the page" for n in sorted(there - set(on_page))]
        wrong += [f"{section}: {n} is on the page, but not there" for n in sorted(set(on_page) - there)]
        wrong += [f"{section}: {n} is on the page twice" for n in sorted({n for n in on_page if on_page.count(n) > 1})]
    print("\n".join(wrong) or f"docs/numpy.md names all of {sum(map(len, listed))} names")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
