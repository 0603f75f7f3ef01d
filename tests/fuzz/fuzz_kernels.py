#!/usr/bin/env python3
"""Random cuda.jit kernels whose indices are now and then those of no element, on a simulated GPU and beside a model of threads, blocks and barriers.

    fuzz_kernels.py --runs 50 --seed 1

A wrong index ends its thread and nothing else: the arrays must hold what the other threads wrote, the launch must raise IndexError with the index, the axis, the
block and the thread of one of the wrong accesses, at its line, and the next launch must work. The kernels' texts are run here as Python, a generator a thread whose
`yield` is the barrier. Threads write to places of their own or at once (atomic), so that no order shows. A kernel that fails is printed. The closing
line is `N passed, N failed`.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parent.parent.parent
WILD = ["2**62", "-2**62", "2**31", "-2**31 - 1", "2**32", "10**15", "-10**9"]
CONFIGURATIONS = [{"GASELL_DEVICE": "sim:1"}, {"GASELL_DEVICE": "sim:1", "GASELL_CHECK": "1"}, {}]
HEAD = """from numba import cuda, int64
import numpy as np
"""


# ---- the model ----
class Array:
    """Of any rank; indices wrap once, as NumPy's."""

    def __init__(self, shape, items):
        self.shape, self.items = shape, items
        self.size = len(items)

    def place(self, index):
        place = 0
        for axis, (k, n) in enumerate(zip(index if isinstance(index, tuple) else (index,), self.shape)):
            if not -n <= k < n:
                raise IndexError(f"index {k} is out of bounds for axis {axis} with size {n}")
            place = place * n + k % n
        return place

    def __getitem__(self, index):
        return self.items[self.place(index)]

    def __setitem__(self, index, value):
        self.items[self.place(index)] = value


class Cuda:
    """What `cuda` is to the thread that runs."""

    def __init__(self):
        self.shared, self.local, self.atomic = self, SimpleNamespace(array=lambda n, dtype: Array((n,), [0] * n)), self

    def array(self, n, dtype):
        held = self.block.setdefault(self.made, Array((n,), [0] * n))
        self.made += 1
        return held

    def add(self, array, index, value):
        array[index] += value


def launch(name, text, threads, arrays):
    """The lines and messages of wrong indices; `arrays` become what the kernel leaves."""
    source = re.sub(r"cuda\.syncthreads\(\)", "yield", text) + "\n    if False: yield\n"
    cuda, wrong = Cuda(), set()
    scope = {"cuda": cuda, "int64": None, "np": None}
    exec(compile(source.replace("@cuda.jit(device=True)", "").replace("@cuda.jit", "").replace("from numba import cuda, int64", "").replace("import numpy as np", ""), name, "exec"), scope)
    (bx, by), (tx, ty) = threads
    for block in ((x, y) for y in range(by) for x in range(bx)):
        held, running = {}, []
        for thread in ((x, y) for y in range(ty) for x in range(tx)):
            here = SimpleNamespace(thread=thread, steps=scope["kernel"](*arrays))
            running.append(here)
        while running:
            for here in list(running):
                cuda.block, cuda.made = held, 0
                cuda.threadIdx, cuda.blockIdx = (SimpleNamespace(x=x, y=y) for x, y in (here.thread, block))
                cuda.blockDim = SimpleNamespace(x=tx, y=ty)
                place = block[0] * tx + here.thread[0], block[1] * ty + here.thread[1]
                cuda.grid = lambda axes, place=place: place[0] if axes == 1 else place
                try:
                    next(here.steps)
                except StopIteration:
                    running.remove(here)
                except IndexError as error:
                    running.remove(here)
                    line = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name][-1]
                    wrong.add((line, f"{error} (in block ({block[0]}, {block[1]}, 0) thread ({here.thread[0]}, {here.thread[1]}, 0))"))
    return wrong


# ---- kernels ----
class Kernel:
    """Takes a, an array of one axis, c, of two, b, of indices that may be wild, total, which is added to, and out."""

    def __init__(self, rng):
        self.rng = rng
        self.flat = rng.random() < 0.6
        self.threads = ((rng.randint(1, 4), 1), (rng.choice([1, 5, 8, 33]), 1)) if self.flat else ((rng.randint(1, 3), rng.randint(1, 2)), (rng.randint(1, 6), rng.randint(1, 5)))
        (bx, by), (tx, ty) = self.threads
        self.block, self.count = tx * ty, bx * by * tx * ty
        self.names = ["i", "t", "v", "b[i]"]
        self.risk = rng.choice([0, 0.1, 0.3])

    def number(self, depth=0):
        rng, r = self.rng, self.rng.random()
        if depth > 1 or r < 0.4:
            return rng.choice([*self.names, str(rng.randint(-3, 9))])
        if r < 0.75:
            return f"({self.number(depth + 1)} {rng.choice('+-')} {self.number(depth + 1)})"
        return self.element()

    def index(self, n):
        """Within an axis of n elements, but for now and then."""
        rng = self.rng
        if rng.random() < self.risk:
            return rng.choice(["b[i]", f"t + {n - 1}", f"i - {n + 2}", f"{n}", f"{-n - 1}", "i * 4000000000 + b[i]", f"{self.number(2)} % 7 + {n - 3}"])
        return rng.choice([f"t % {n}", f"-1 - i % {n}", f"({self.number(1)}) % {n}", str(rng.randint(-n, n - 1))])

    def element(self):
        r = self.rng.random()
        if r < 0.3:
            return f"a[{self.index(7)}]"
        if r < 0.5:
            return f"c[{self.index(3)}, {self.index(5)}]"
        if r < 0.65:
            return f"m[{self.index(4)}]"
        if r < 0.85:
            return f"s[{self.index(self.block)}]"
        return f"pick(a, {self.index(7)})"

    def condition(self):
        return f"{self.number(1)} {self.rng.choice(['<', '>', '==', '!='])} {self.number(1)}"

    def block_of(self, indent, depth=0):
        rng, lines = self.rng, []
        for _ in range(rng.randint(1, 3)):
            r = rng.random()
            if r < 0.45 or depth > 1:
                lines.append(f"{indent}v = (v + {self.number()}) % 10007")
            elif r < 0.6:
                lines.append(f"{indent}cuda.atomic.add(total, {self.index(6)}, {rng.choice(['1', 'v', 't'])})")
            elif r < 0.7:
                lines.append(f"{indent}m[{self.index(4)}] = v")
            elif r < 0.85:
                lines += [f"{indent}if {self.condition()}:", *self.block_of(indent + "    ", depth + 1)]
            else:
                k = f"k{depth}"
                self.names.append(k)
                lines += [f"{indent}for {k} in range({rng.randint(1, 5)}):", *self.block_of(indent + "    ", depth + 1)]
                self.names.remove(k)
        return lines

    def text(self):
        rng = self.rng
        places = ["    i = cuda.grid(1)", "    t = cuda.threadIdx.x"] if self.flat else \
            ["    x, y = cuda.grid(2)", f"    i = x + y * {self.threads[0][0] * self.threads[1][0]}", "    t = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x"]
        lines = [*HEAD.splitlines(), "@cuda.jit(device=True)", "def pick(x, k):", "    return x[k]", "@cuda.jit", "def kernel(a, c, b, total, out):", *places,
                 f"    s = cuda.shared.array({self.block}, dtype=int64)", "    m = cuda.local.array(4, dtype=int64)", "    for k in range(4):", "        m[k] = k * i", "    v = 0", "    s[t] = i", "    cuda.syncthreads()",
                 *self.block_of("    ")]
        if rng.random() < 0.6:  # each thread has a place of its own, or none
            lines += ["    cuda.syncthreads()", f"    s[t + {rng.choice([-1, 0, 1]) if rng.random() < self.risk * 2 else 0}] = v", "    cuda.syncthreads()", *self.block_of("    ")]
        lines.append(f"    out[i + {rng.choice([1, 3]) if rng.random() < self.risk else 0}] = v")
        return "\n".join(lines)

    def arguments(self):
        rng = self.rng
        b = [eval(rng.choice(WILD)) if rng.random() < self.risk / 4 else rng.randint(0, 2) for _ in range(self.count)]
        values = lambda n: [rng.randint(0, 99) for _ in range(n)]
        a_size = rng.choice([7, 7, 7, 7, 6, 1, 0]) if self.risk else 7
        places = self.count + rng.choice([0, 0, 2])
        return [Array((a_size,), values(a_size)), Array((3, 5), values(15)), Array((self.count,), b), Array((6,), [0] * 6), Array((places,), [-1] * places)]


def literal(array, rng):
    text = f"np.array({array.items}, np.int64)"
    if len(array.shape) > 1:
        return f"{text}.reshape({array.shape})"
    if array.size > 1 and rng.random() < 0.3:  # in memory with gaps, or the other way round
        return rng.choice([f"np.array({array.items[::-1]}, np.int64)[::-1]", f"np.repeat({text}, 2)[::2]"])
    return text


def program(rng):
    kernel = Kernel(rng)
    text, wants, wrong = kernel.text(), [], set()
    lines = [text]
    for k in range(4):
        arrays = kernel.arguments()
        lines.append("args = " + ", ".join(literal(x, rng) for x in arrays))
        (bx, by), (tx, ty) = kernel.threads
        call = f"kernel[({bx}, {by}), ({tx}, {ty})](*args)"
        wrong = launch("kernel.gsl", text, kernel.threads, arrays)
        if k < 3:
            lines += ["try:", f"    {call}", "    print('fine')", "except IndexError as e:", "    print(e)"]
            wants.append({message for _, message in wrong} or {"fine"})
        else:
            lines.append(call)
        if k < 3 or not wrong:
            lines.append("print([x.tolist() for x in args])")
            nested = lambda x: x.items if len(x.shape) == 1 else [x.items[r * 5:r * 5 + 5] for r in range(3)]
            wants.append({str([nested(x) for x in arrays])})
    return "\n".join(lines) + "\n", wants, wrong


def judge(done, wants, wrong, checked):
    """'' when all is as it should be. Where barriers are `checked`, a launch ends when one is left out, as by threads that end with an error."""
    if done.returncode != (1 if wrong else 0):
        return f"status {done.returncode}"
    said = done.stdout.splitlines()
    for k, want in enumerate(wants):
        if checked and k % 2 and "fine" not in wants[k - 1]:
            continue
        if k >= len(said) or said[k] not in want:
            return f"line {k} of the output is {said[k] if k < len(said) else 'missing'}, not one of {sorted(want)[:3]}"
    if wrong:
        line = re.match(r"kernel\.gsl:(\d+):\d+\n", done.stderr)
        message = re.search(r"^IndexError: (.*)", done.stderr, re.M)
        if not line or not message or (int(line[1]), message[1]) not in wrong:
            return f"the last launch does not tell one of {sorted(wrong)[:3]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = 0
    for i in range(options.runs):
        text, wants, wrong = program(random.Random(f"{options.seed} {i}"))
        settings = CONFIGURATIONS[i % len(CONFIGURATIONS)]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "kernel.gsl").write_text(text, encoding="utf-8")
            environment = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")} | settings
            done = subprocess.run([Path(options.gasell).resolve(), "kernel.gsl"], capture_output=True, text=True, timeout=300, cwd=folder, env=environment)
        told = judge(done, wants, wrong, "GASELL_CHECK" in settings)
        if told:
            failed += 1
            print(f"\nFAILED run {i} under {settings}: {told}\n{text}{done.stderr[-1500:]}")
    print(f"{options.runs - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
