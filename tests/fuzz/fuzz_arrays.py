#!/usr/bin/env python3
"""Random array programs, run under Gasell and under CPython + NumPy; their output must be the same, line by line.

    fuzz_arrays.py --runs 50 --seed 1 --peer .venv/bin/python3

Exact operations only (no transcendental functions, sums of small whole numbers), so that every line is compared exactly. The closing line is `N passed, N failed`.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "f4", "f8", "c16"]
SHAPES = ["(4,)", "(3, 4)", "(2, 3, 4)", "(1, 4)", "(3, 1)", "(4,)", "(3, 4)"]


def number(rng):
    return rng.choice(["0", "1", "2", "3", "-1", "7", "0.5", "-2.0", "True", "100"])


def leaf(rng):
    return rng.choice(["a", "b", "c", "d", "e"])


def index(rng):
    return rng.choice(["[::-1]", "[1:]", "[..., ::2]", "[..., ::-1]", "[-1]", "[0]", "[:2]", "[..., None]", "[None]", "[..., 1]", ".T", ".T[1:]", "[::2]"])


def expression(rng, depth):
    if depth == 0:
        return leaf(rng) if rng.random() < 0.8 else number(rng)
    sub = lambda: expression(rng, depth - 1)
    kind = rng.randrange(12)
    if kind < 5:
        return f"({sub()} {rng.choice(['+', '-', '*', '+', '*', '//', '%', '/', '&', '|', '^', '<', '>=', '==', '!='])} {sub()})"
    if kind == 5:
        return f"(-{sub()})"
    if kind == 6:
        return f"np.{rng.choice(['abs', 'square', 'sign', 'floor', 'negative', 'logical_not', 'isnan', 'ceil'])}({sub()})"
    if kind == 7:
        return f"np.where({sub()}, {sub()}, {sub()})"
    if kind == 8:
        return f"np.{rng.choice(['maximum', 'minimum', 'logical_and', 'add', 'fmax'])}({sub()}, {sub()})"
    if kind == 9:
        return f"({leaf(rng)}{index(rng)})"
    if kind == 10:
        return f"np.asarray({sub()}).astype('{rng.choice(['f8', 'i8', 'f4', 'i4', '?', 'u1'])}')" if rng.random() < 0.5 else f"np.clip({sub()}, 0, 3)"
    return f"np.asarray({sub()}).{rng.choice(['sum', 'max', 'min', 'prod', 'any', 'all', 'argmax', 'argmin', 'mean'])}({rng.choice(['', 'axis=0', 'axis=-1', 'keepdims=True', 'axis=1'])})"


def program(rng):
    lines = []
    for name in "abcde":
        t, shape = rng.choice(TYPES), rng.choice(SHAPES)
        lines.append(f"{name} = (np.arange({eval(shape.replace('(', '').replace(')', '').replace(', ', '*').rstrip(','))}) - {rng.randrange(0, 4)}).reshape({shape}).astype('{t}')")
    lines += ["def show(f):", "    try:", "        x = f()", "        print(x, np.asarray(x).dtype, np.asarray(x).shape)", "    except (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError) as error:",
              "        print(type(error).__name__ if type(error).__name__ in ('ValueError', 'IndexError', 'OverflowError') else 'TypeError')"]
    for statement in range(14):
        roll = rng.random()
        lines.append(f"print('statement {statement}')")
        if roll < 0.65:
            lines.append(f"show(lambda: {expression(rng, rng.randrange(1, 4))})")
        else:
            target = leaf(rng)
            place = target + rng.choice(["[1:]", "[...]", "[0]", "[::-1]", "[..., 0]", "[:-1]", "[..., 1:]"])
            lines += ["try:", f"    {place} {rng.choice(['=', '+=', '*=', '-=', '='])} {expression(rng, rng.randrange(0, 3))}", "except (TypeError, ValueError, IndexError, OverflowError) as error:", "    print('refused')",
                      f"print({target})"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", default=str(ROOT / ".venv/bin/python3"))
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = 0
    for i in range(options.runs):
        text = program(random.Random(f"{options.seed} {i}"))
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "random.gsl"
            script.write_text(text)
            runs = []
            for command in ([options.gasell, script], [options.peer, "-W", "ignore", "-c", f"import numpy as np\nexec(open({str(script)!r}).read())"]):
                done = subprocess.run(command, capture_output=True, text=True, timeout=120)
                runs.append(done.stdout.splitlines() + ([f"status {done.returncode}: {done.stderr[-300:]}"] if done.returncode else []))
        if runs[0] == runs[1]:
            continue
        failed += 1
        print(f"\nFAILED run {i} of seed {options.seed}")
        at = next((k for k, (a, b) in enumerate(zip(*runs)) if a != b), min(map(len, runs)))
        print(text)
        before = [line for line in runs[0][:at] if line.startswith("statement ")]
        if before:
            print(before[-1] + ":", text.split(f"print('{before[-1]}')\n")[1].split("\nprint('statement")[0])
        print("gasell:", *runs[0][max(0, at - 1):at + 3], "numpy:", *runs[1][max(0, at - 1):at + 3], sep="\n    ")
    print(f"{options.runs - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
