#!/usr/bin/env python3
"""Times statements of a session, one by one: what loops over numbers and small arrays cost, values that are used again and again, masks and
indices, beside CPython with NumPy. One text for both, whose values are compared, too.

    tests/bench/session.py --gasell build/release/bin/gasell --python PYTHON [--results FILE]

PYTHON has NumPy 2. A time is the least of five rounds, of one turn of the loop."""

import argparse
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from harness import machine  # noqa: E402
from harness.report import duration, markdown_table, text_table  # noqa: E402

SETUP = """
import time
import numpy as np
x = np.linspace(1.0, 2.0, 400)
y = np.linspace(2.0, 3.0, 400)
m = np.linspace(0.0, 1.0, 160000).reshape(400, 400)
k = np.int64(3)
u = np.uint8(3)
items = [1] * 10
big = np.sin(np.arange(4000000) * 0.7)
mask = big > 0.5
index = np.nonzero(mask)[0]
table = big.reshape(1000, 4000)
rows = np.arange(1000) % 3 == 0
numbers = [float(big.sum()), int(mask.sum()), int(index.sum()), int(rows.sum())]
dear = np.exp(np.sin(big))
lazy = big + 1.0
"""

# title, turns of a round, one turn
CASES = [
    ("c = (c + i) & 0xffff, Python's int", 100000, "c = (c + i) & 0xffff", "c = 0"),
    ("f = f*0.5 + 1.0, Python's float", 100000, "f = f * 0.5 + 1.0", "f = 0.0"),
    ("items[3] = items[2] + 1", 100000, "items[3] = items[2] + 1", ""),
    ("c = (c + 5) & 255, np.int64", 100000, "c = (c + 5) & 255", "c = k"),
    ("c = (c >> 1) ^ 77, np.uint8", 100000, "c = (c >> 1) ^ 77", "c = u"),
    ("x[3] = x[2] + 1.0", 20000, "x[3] = x[2] + 1.0", ""),
    ("z = x + y; y[0] = z[1], 400 elements", 10000, "z = x + y; y[0] = z[1]", ""),
    ("y[1:-1] = 0.25*(x[:-2] + x[1:-1] + x[2:]), 400", 10000, "y[1:-1] = 0.25 * (x[:-2] + x[1:-1] + x[2:])", ""),
    ("m[:, 3] = 0.5*m[:, 1] + 0.25*m[:, 2], 400 rows", 10000, "m[:, 3] = 0.5 * m[:, 1] + 0.25 * m[:, 2]", ""),
    ("s = x @ y, 400", 10000, "s = x @ y", ""),
    ("s = x.sum(), 400", 10000, "s = x.sum()", ""),
    ("float((dear * i).sum()), dear = exp(sin(…)), 4e6", 4, "float((dear * i).sum())", ""),
    ("float(lazy[i:i + 5].sum()), lazy = big + 1, 4e6", 2000, "float(lazy[i:i + 5].sum())", ""),
    ("big[mask], a third of 4e6", 3, "r = big[mask]; r[-1]", ""),
    ("big[index], a third of 4e6", 3, "r = big[index]; r[-1]", ""),
    ("big[mask] = big[mask]", 3, "big[mask] = big[mask]; big[3]", ""),
    ("np.nonzero(mask)", 3, "r = np.nonzero(mask)[0]; r[-1]", ""),
    ("table[rows], a third of 1000 rows of 4000", 3, "r = table[rows]; r[-1, -1]", ""),
]


# What a turn leaves: the name it assigned and the arrays it wrote.
WRITTEN = ["float(x.sum())", "float(y.sum())", "float(m.sum())", "float(big.sum())", "float(sum(items))"]
TOLERANCE = 1e-12


def text():
    lines = [SETUP]
    for number, (_, turns, turn, before) in enumerate(CASES):
        parts = [part.strip() for part in turn.split(";")]
        body = "\n".join("        " + part for part in parts)
        name, equals, _ = parts[0].partition(" = ")
        left = name if equals and name.isidentifier() else "0"
        if left == "0" and not equals:  # an expression: its last value
            body, left = f"        left = {parts[0]}", "left"
        lines.append(f"def case{number}(n):\n    {before or 'pass'}\n    for i in range(n):\n{body}\n    return {left}\n")
        lines.append(f"best = 1e99\nfor _ in range(5):\n    start = time.perf_counter()\n    left = case{number}({turns})\n"
                     f"    best = min(best, time.perf_counter() - start)\n"
                     f"print('CASE', {number}, best / {turns}, float(np.sum(left)), {', '.join(WRITTEN)})\n")
    return "\n".join(lines)


def run(program, path):
    """Of each case: its time, and what it left."""
    out = subprocess.run([program, path], stdout=subprocess.PIPE, text=True, check=True).stdout
    cases = {}
    for line in out.splitlines():
        _, number, time, *left = line.split()
        cases[int(number)] = float(time), [float(value) for value in left]
    return cases


def check(ours, theirs):
    for number, (title, *_) in enumerate(CASES):
        mine, peers = ours[number][1], theirs[number][1]
        if len(mine) != len(peers) or not all(math.isclose(a, b, rel_tol=TOLERANCE) for a, b in zip(mine, peers)):
            sys.exit(f"{title}: {mine}, NumPy: {peers}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "session.gsl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text())
        gasell, numpy = run(options.gasell, path), run(options.python, path)
    check(gasell, numpy)
    header = ["statement", "gasell", "numpy", "numpy / gasell"]
    rows = []
    for number, (title, *_) in enumerate(CASES):
        ours, theirs = gasell[number][0], numpy[number][0]
        rows.append([title, duration(ours), duration(theirs), f"{theirs / ours:.2f}"])
    print(text_table(header, rows))
    if options.results:
        version = subprocess.run([options.gasell, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[0]
        facts = machine.facts(version)
        del facts["Python"]  # the one that runs this; the peer's is asked
        peer = "import sys, numpy; print(sys.version.split()[0], 'with NumPy', numpy.__version__)"
        facts["CPython"] = subprocess.run([options.python, "-c", peer], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        lines = ["# Statements of a session", "", "Made by `tests/bench/session.py`, which says what is timed and checked.", ""]
        lines += [f"- {key}: {value}" for key, value in facts.items()]
        with open(options.results, "w", encoding="utf-8") as file:
            file.write("\n".join([*lines, "", markdown_table(header, rows), ""]))


if __name__ == "__main__":
    main()
