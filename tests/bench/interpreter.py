#!/usr/bin/env python3
"""Undecorated code of scripts, with no array in it, under Gasell's interpreter and under CPython.

usage: tests/bench/interpreter.py GASELL [PYTHON] [NAME…] [--runs N]
PYTHON is the interpreter to compare with (default: the one that runs this). The same text runs under both, each a process of its own; of each
program the fastest of --runs counts. Printed are milliseconds and CPython's time over Gasell's: above 1 Gasell is faster.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = r'''
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def loop(n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            total += i
        else:
            total -= 1
    return total


def strings(n):
    parts = []
    for i in range(n):
        parts.append(str(i) + "x")
    return len("".join(parts).split("x"))


def f_strings(n):
    out = []
    for i in range(n):
        out.append(f"{i:5d}|{i * 2}")
    return len("".join(out))


def dict_counting(n):
    counts = {}
    for i in range(n):
        k = i % 1000
        counts[k] = counts.get(k, 0) + 1
    return len(counts)


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def add(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)


class Steps:
    def __init__(self):
        self.n = 0

    def step(self):
        self.n += 1


def objects(n):
    v, d = Vector(0.0, 0.0), Vector(1.0, 2.0)
    for i in range(n):
        v = v.add(d)
    return v.x


def operators_of_a_class(n):
    v, d = Vector(0, 0), Vector(1, 2)
    for i in range(n):
        v = v + d
    return v.y


def attributes(n):
    s = Steps()
    for i in range(n):
        s.step()
    return s.n


def sieve(n):
    flags = [True] * (n + 1)
    for i in range(2, int(n**0.5) + 1):
        if flags[i]:
            for j in range(i * i, n + 1, i):
                flags[j] = False
    return sum(flags)


def bodies(n):
    all_bodies = [[0.0, 0.0, 0.0, 0.0, 10.0], [1.0, 0.0, 0.0, 3.0, 1.0], [0.0, 2.0, -2.0, 0.0, 0.5]]
    for _ in range(n):
        for i in range(3):
            a = all_bodies[i]
            for j in range(i + 1, 3):
                b = all_bodies[j]
                dx = a[0] - b[0]
                dy = a[1] - b[1]
                d2 = dx * dx + dy * dy + 0.01
                m = 0.001 / (d2 * d2**0.5)
                a[2] -= dx * b[4] * m
                a[3] -= dy * b[4] * m
                b[2] += dx * a[4] * m
                b[3] += dy * a[4] * m
        for b in all_bodies:
            b[0] += 0.001 * b[2]
            b[1] += 0.001 * b[3]
    return all_bodies[0][0]


def count(n):
    i = 0
    while i < n:
        yield i
        i += 1


def generators(n):
    return sum(x for x in count(n))


def walk(k):
    if k:
        yield k
        yield from walk(k - 1)


def yield_from(n):
    return sum(sum(walk(100)) for _ in range(n))


def comprehension(n):
    return sum([x * x for x in range(n) if x % 2])


def sorting(n):
    return sorted(range(n), key=lambda x: (x * 7919) % 10007)[n // 2]


def exceptions(n):
    caught = 0
    for i in range(n):
        try:
            if i % 10 == 0:
                raise ValueError(i)
        except ValueError:
            caught += 1
    return caught


def matching(n):
    total = 0
    for i in range(n):
        match (i % 4, i):
            case (0, _):
                total += 1
            case (1, x) if x > 10:
                total += 2
            case (2, x):
                total += x
            case _:
                total -= 1
    return total


def closures(n):
    total = 0

    def add(x):
        nonlocal total
        total += x

    for i in range(n):
        add(i)
    return total


ALL = [
    (fib, 25), (loop, 500000), (strings, 100000), (f_strings, 50000), (dict_counting, 200000), (objects, 100000), (operators_of_a_class, 100000),
    (attributes, 200000), (sieve, 300000), (bodies, 10000), (generators, 300000), (yield_from, 30), (comprehension, 300000), (sorting, 50000),
    (exceptions, 100000), (matching, 100000), (closures, 200000),
]

import time

for program, n in ALL:
    best = None
    for _ in range(RUNS):
        start = time.perf_counter()
        result = program(n)
        taken = time.perf_counter() - start
        best = taken if best is None else min(best, taken)
    print(program.__name__, best, repr(result), sep="|")
'''


def run(command, runs):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "programs.gsl"
        path.write_text(f"RUNS = {runs}\n" + PROGRAMS, encoding="utf-8")
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
    options = parser.parse_args()
    ours, theirs = run(options.gasell, options.runs), run(options.python, options.runs)
    print(f"{'program':<24}{'CPython ms':>12}{'Gasell ms':>12}{'ratio':>8}")
    wrong = 0
    for name, (seconds, result) in theirs.items():
        if options.names and not any(part in name for part in options.names):
            continue
        same = ours[name][1] == result
        wrong += not same
        note = "" if same else f"  other results: {result} and {ours[name][1]}"
        print(f"{name:<24}{seconds * 1e3:>12.1f}{ours[name][0] * 1e3:>12.1f}{seconds / ours[name][0]:>8.2f}{note}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
