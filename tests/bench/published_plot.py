#!/usr/bin/env python3
"""Brings the figures of a results file of published.py into the script that draws them, examples/pictures/published_comparison.gsl.

  tests/bench/published_plot.py [RESULTS.md] [--check]

RESULTS.md is tests/bench/results/published-nvidia-h100.md unless said. Then `tests/pictures/gallery.py` draws docs/gallery/published_comparison.png. With --check nothing is written; exit
status 1 where the script has other figures.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "tests/bench/results/published-nvidia-h100.md"
SCRIPT = ROOT / "examples/pictures/published_comparison.gsl"
SHORT = {"standard deviation": "std"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    ratios = {}
    for name, size, ratio in re.findall(r"^\| ([^,|]+), (8|800) MB \|.*\| ([\d.]+) \|$", options.results.read_text(encoding="utf-8"), re.M):
        ratios.setdefault(SHORT.get(name, name), {})[size] = ratio
    if not ratios or any(len(both) != 2 for both in ratios.values()):
        sys.exit(f"{options.results}: no table of published.py at both sizes")
    lists = {
        "names": ", ".join(f'"{name}"' for name in ratios),
        "small": ", ".join(both["8"] for both in ratios.values()),
        "large": ", ".join(both["800"] for both in ratios.values()),
    }
    old = text = SCRIPT.read_text(encoding="utf-8")
    for name, items in lists.items():
        text, count = re.subn(rf"^{name} = \[.*\]$", lambda _, name=name, items=items: f"{name} = [{items}]", text, count=1, flags=re.M)
        if not count:
            sys.exit(f"{SCRIPT}: no list {name}")
    if options.check:
        sys.exit(1 if text != old else 0)
    SCRIPT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
