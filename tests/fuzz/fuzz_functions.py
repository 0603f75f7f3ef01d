#!/usr/bin/env python3
"""Random compiled functions, run under Gasell and under CPython; their output must be the same, line by line.

    fuzz_functions.py --runs 50 --seed 1 --peer .venv/bin/python3

A third of the functions computes with numbers in loops and branches, a third with views of arrays that share memory: beside Numba. Conditions compare what only
the call knows: which branches with constant conditions Numba types is its own affair. A third changes lists, dicts, sets and tuples (fuzz_containers.py): beside
CPython itself, which runs the functions as they are; Numba shares typed dicts and boxes lists in ways of its own. `--kind` chooses one. The closing line is
`N passed, N failed`; where the peer has no Numba, functions of containers alone are run.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz_containers import GASELL_PRELUDE, PEER_PRELUDE, Containers

ROOT = Path(__file__).resolve().parent.parent.parent
ARRAY_TYPES = ["np.int8", "np.int16", "np.int32", "np.int64", "np.float32", "np.float64"]
NUMBER_TYPES = ["np.int8", "np.int32", "np.uint8", "np.int64", "np.float32", "np.float64"]
PRELUDE = """import numpy as np
def show(f, *args):
    try:
        result = f(*args)
    except Exception as e:
        print(type(e).__name__)
        return
    for v in result:
        print(type(v).__name__, [v.tolist(), str(v.dtype), v.shape] if isinstance(v, np.ndarray) else "%.6g" % v)
    last = result[-1]
    if isinstance(last, np.ndarray) and last.size:
        last[...] = 77
"""


class Numbers:
    """A function of two numbers, an array of four elements and a count."""

    def __init__(self, rng):
        self.rng = rng
        self.names = ["x", "y", "k", "n"]
        self.own = []

    def expression(self, depth=0):
        rng, inner = self.rng, lambda: self.expression(depth + 1)
        r = rng.random()
        if depth > 3 or r < 0.3:
            return rng.choice(self.names + [str(rng.randint(-4, 9)), f"{rng.uniform(-3, 3):.2f}"])
        if r < 0.6:
            return f"({inner()} {rng.choice('+-*')} {inner()})"
        if r < 0.66:
            return f"({inner()} {rng.choice(['//', '%', '/'])} {rng.choice(['3', '7', '2.5', '-4'])})"
        if r < 0.72:
            return f"({inner()} if {self.condition(depth + 1)} else {inner()})"
        if r < 0.78:
            return f"{rng.choice(['min', 'max'])}({inner()}, {inner()})"
        if r < 0.9:
            return f"{rng.choice(['abs', '-', 'int', 'float'])}({inner()})"
        return f"a[{rng.choice(['0', '-1', '2', 'k % 4', '(k + 1) % 4'])}]"

    def condition(self, depth=0):
        if depth > 2 or self.rng.random() < 0.7:
            return f"{self.rng.choice('xy')} {self.rng.choice(['<', '<=', '>', '>=', '==', '!='])} {self.expression(depth + 1)}"
        return f"({self.condition(depth + 1)} {self.rng.choice(['and', 'or'])} {self.condition(depth + 1)})"

    def block(self, indent, depth=0):
        rng, lines = self.rng, []
        for _ in range(rng.randint(1, 3)):
            r = rng.random()
            if r < 0.45:
                if depth == 0 and rng.random() < 0.5:
                    self.own.append(f"v{len(self.own)}")
                    lines.append(f"{indent}{self.own[-1]} = {self.expression()}")
                    self.names.append(self.own[-1])
                else:
                    lines.append(f"{indent}{rng.choice(self.own + ['x', 'y'])} = {self.expression()}")
            elif r < 0.6:
                lines.append(f"{indent}{rng.choice(self.own + ['x', 'y'])} {rng.choice('+-*')}= {self.expression(2)}")
            elif r < 0.75 and depth < 3:
                lines += [f"{indent}if {self.condition()}:", *self.block(indent + "    ", depth + 1)]
                if rng.random() < 0.5:
                    lines += [f"{indent}else:", *self.block(indent + "    ", depth + 1)]
            elif r < 0.88 and depth < 2:
                lines += [f"{indent}for k in range({rng.choice(['n', '3', '1, 5', '6, 0, -2'])}):", *self.block(indent + "    ", depth + 1)]
                if rng.random() < 0.3:
                    lines += [f"{indent}    if {self.condition()}:", f"{indent}        {rng.choice(['break', 'continue'])}"]
            else:
                lines.append(f"{indent}a[{rng.choice(['0', '1', '-1', 'k % 4'])}] = {self.expression()}")
        return lines

    def number(self):
        r = self.rng.random()
        return str(self.rng.randint(-5, 9)) if r < 0.4 else f"{self.rng.uniform(-4, 4):.3f}" if r < 0.7 else f"{self.rng.choice(NUMBER_TYPES)}({self.rng.randint(0, 9)})"

    def program(self):
        body = self.block("    ") + self.block("    ")
        lines = ["@njit(error_model='numpy')", "def f(x, y, a, n):", "    k = 0", *body, f"    return {', '.join(['x', 'y', *self.own, 'a'])}"]
        for _ in range(3):
            lines.append(f"show(f, {self.number()}, {self.number()}, np.arange(4).astype({self.rng.choice(ARRAY_TYPES)}), {self.rng.randint(0, 4)})")
        return lines


class Views:
    """A function of three arrays that may lie in one memory; it writes, makes views and copies, and returns some."""

    def __init__(self, rng):
        self.rng = rng
        self.arrays = [("a", 2), ("b", 2), ("c", 1)]
        self.made = []

    def slice(self):
        fixed = [":", "::-1", "::2", "1:", ":-1"]
        free = [f"{self.rng.randint(-5, 4)}:{self.rng.randint(-4, 6)}", f"{self.rng.randint(-6, 6)}:{self.rng.randint(-6, 6)}:{self.rng.choice([-2, -1, 2, 3])}"]
        return self.rng.choice(fixed * 2 + free)

    def view(self, name, rank):
        r = self.rng.random()
        if r < 0.25:
            return name, rank
        if rank == 1:
            return f"{name}[{self.slice()}]", 1
        if r < 0.4:
            return f"{name}.T", 2
        if r < 0.6:
            return f"{name}[{self.slice()}, {self.slice()}]", 2
        if r < 0.7:
            return f"{name}[{self.slice()}]", 2
        if r < 0.85:
            return f"{name}[{self.rng.choice(['0', '1', '-1'])}]", 1
        return f"{name}[{self.slice()}, {self.rng.choice(['0', '1', '-1'])}]", 1

    def add(self, rank):
        self.made.append(f"w{len(self.made)}")
        self.arrays.append((self.made[-1], rank))
        return self.made[-1]

    def statement(self):
        rng = self.rng
        name, rank = rng.choice(self.arrays)
        expression, result = self.view(name, rank)
        r = rng.random()
        if r < 0.25:
            return [f"    {self.add(result)} = {expression}"]
        if r < 0.45:
            target = expression if "[" in expression else expression + "[:]"
            return [f"    {target} {rng.choice(['', '+', '*', '-'])}= {rng.choice(['1', '2', '-3'])}"]
        if r < 0.6:
            line = f"{name}[i] = i + {name}[i]" if rank == 1 else f"{name}[i, {rng.choice(['0', '-1', '1'])}] = i * 2 + {name}[i, 0]"
            return [f"    for i in range({name}.shape[0]):", "        " + line]
        if r < 0.7:
            return [f"    s += ({expression}).sum()"]
        if r < 0.8:
            return [f"    {self.add(result)} = {expression} * {rng.choice(['2', '0.5'])} + {rng.choice(['1', 's'])}"]
        if r < 0.9:
            return [f"    {self.add(result)} = ({expression}).copy()"]
        return [f"    for v in {expression}:", f"        s += v{'' if result == 1 else '.sum()'}"]

    def program(self):
        rng = self.rng
        body = [line for _ in range(rng.randint(2, 6)) for line in self.statement()]
        returned = ", ".join(["s", *self.made[-3:], rng.choice("abc")])
        dtype = rng.choice(["np.int32", "np.int64", "np.float32", "np.float64"])
        a = rng.choice(["m", "m.T", "m[::2]", "m[:, ::-1]", "m[1:, 2:]", "m.copy()"])
        b = rng.choice(["m[:4, :4]", f"np.ones((4, 3), {dtype})", "m[:, 1:]", "m"])
        c = rng.choice(["m[0]", "m[:, 1]", f"np.arange(6).astype({dtype})", "m[::-1, 2]"])
        return ["@njit(boundscheck=True)", "def f(a, b, c):", "    s = 0.0", *body, f"    return {returned}", f"m = np.arange(30).reshape(5, 6).astype({dtype})", "recorded = m * 2",
                f"show(f, {a}, {b}, {c})", "print(m.tolist(), recorded.sum())"]


KINDS = {"numbers": Numbers, "views": Views, "containers": Containers}
NOT_RUN = 77  # what ctest shows as skipped


def output(command, text):
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "functions.gsl"
        script.write_text(text, encoding="utf-8")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GASELL_")}
        done = subprocess.run([*command, script], capture_output=True, text=True, cwd=folder, env=environment, timeout=600)
    answers, current = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("program "):
            current = answers.setdefault(int(line[8:]), [])
        elif current is not None:
            current.append(line)
    return answers, done.stderr if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", default=str(ROOT / ".venv/bin/python3"))
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS)
    options = parser.parse_args()
    if not Path(options.peer).exists():
        print("there is no Python with NumPy 2 in .venv (scripts/python_env.sh makes it): nothing is compared")
        return NOT_RUN
    has_numba = not subprocess.run([options.peer, "-c", "import numba"], capture_output=True).returncode
    kinds = [options.kind] if options.kind else list(KINDS) if has_numba else ["containers"]
    programs = []
    for run in range(options.runs):
        rng = random.Random(options.seed * 100003 + run)
        programs.append(KINDS[kinds[run % len(kinds)]](rng).program())
    text = "".join(f"print('program {i}')\n" + "\n".join(lines) + "\n" for i, lines in enumerate(programs))
    njit = "from numba import njit\n" if has_numba else ""
    got, stopped = output([str(Path(options.gasell).resolve())], PRELUDE + GASELL_PRELUDE + text)
    want, peer_stopped = output([options.peer, "-W", "ignore"], njit + PRELUDE + PEER_PRELUDE + text)
    if peer_stopped:
        print(peer_stopped)
    failed = [i for i in range(options.runs) if got.get(i) != want.get(i)]
    for i in failed[:5]:
        print(f"\nprogram {i}", *programs[i], "-- gasell", *got.get(i, [stopped]), "-- peer", *want.get(i, []), sep="\n    ")
    print(f"{options.runs - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
