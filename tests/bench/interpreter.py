#!/usr/bin/env python3
"""Undecorated code of scripts, with no array in it, under Gasell's interpreter and under CPython.

usage: tests/bench/interpreter.py GASELL [PYTHON] [NAME…] [--runs N] [--rounds N]
PYTHON is the interpreter to compare with (default: the one that runs this). The same text, interpreter_programs.gsl, runs under both, each a
process of its own, in turns; of each program the fastest of all runs counts. Printed are milliseconds of processor time, which other work on
the machine disturbs little, and CPython's time over Gasell's: above 1 Gasell is faster.
"""

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = Path(__file__).with_name("interpreter_programs.gsl")


def run(command, runs, names):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "programs.gsl"
        path.write_text(f"RUNS = {runs}\nSELECTED = {names!r}\n" + PROGRAMS.read_text(encoding="utf-8"), encoding="utf-8")
        done = subprocess.run([command, str(path)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.strip()}")
    rows = (line.split("|", 2) for line in done.stdout.splitlines())
    return {name: (float(seconds), result) for name, seconds, result in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gasell")
    parser.add_argument("python", nargs="?", default=sys.executable)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    ours, theirs = {}, {}
    for _ in range(options.rounds):
        for command, best in ((options.gasell, ours), (options.python, theirs)):
            for name, row in run(command, options.runs, options.names).items():
                best[name] = min(best.get(name, row), row)
    print(f"{'program':<24}{'CPython ms':>12}{'Gasell ms':>12}{'ratio':>8}")
    wrong, ratios = 0, []
    for name, (seconds, result) in theirs.items():
        same = ours[name][1] == result
        wrong += not same
        ratios.append(seconds / ours[name][0])
        note = "" if same else f"  other results: {result} and {ours[name][1]}"
        print(f"{name:<24}{seconds * 1e3:>12.1f}{ours[name][0] * 1e3:>12.1f}{ratios[-1]:>8.2f}{note}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    print(f"{sum(r < 1 for r in ratios)} of {len(ratios)} below 1; geometric mean {mean:.2f}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
