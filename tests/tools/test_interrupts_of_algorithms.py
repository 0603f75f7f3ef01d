#!/usr/bin/env python3
"""Ctrl-C within single operations that take seconds: sorts, selections, writes to places, products, transforms, of the session and of compiled functions.
Each ends within a second; what LAPACK computes in one call cannot be stopped and is not here.

    test_interrupts_of_algorithms.py --only 'sort|dot'     operations whose name matches
"""

import argparse
import os
import random
import re
import sys
import tempfile
import time

from support import INTERRUPT_LIMIT, environment
from test_interrupts import INTERRUPTED, Wrong, interrupted, running

# The latest moment of an interrupt, in seconds after the operation began.
LATEST = 1.0
NUMBERS = "import numpy as np\nr = np.random.default_rng(1)\nn = 20_000_000\n"
COMPILED = "from numba import njit\n@njit\ndef f(x):\n    return {0}\nf(np.ones({1}))\n"

# Name: what it needs, the operation.
OPERATIONS = {
    "sort": ("x = r.random(n)", "np.sort(x)"),
    "sort of few values": ("x = r.integers(0, 7, n)", "np.sort(x)"),
    "sort of complex numbers": ("x = r.random(n // 2) + 1j * r.random(n // 2)", "np.sort(x)"),
    "argsort": ("x = r.random(n)", "np.argsort(x)"),
    "lexsort": ("x = r.random(n); y = r.integers(0, 1000, n)", "np.lexsort((x, y))"),
    "partition": ("x = r.random(n)", "np.partition(x, [5, n // 2])"),
    "percentile": ("x = r.random(n)", "np.percentile(x, np.arange(100))"),
    "unique": ("x = r.integers(0, n, n)", "np.unique(x, return_inverse=True)"),
    "searchsorted": ("x = np.sort(r.random(n)); y = r.random(n)", "np.searchsorted(x, y)"),
    "isin": ("x = r.random(n); y = r.random(n // 10)", "np.isin(x, y)"),
    "histogram": ("x = r.random(n)", "np.histogram(x, 100)"),
    "bincount": ("x = r.integers(0, n, n)", "np.bincount(x)"),
    "cumsum": ("x = r.random((n // 20, 20))", "np.cumsum(x, axis=0).persist()"),
    "permutation": ("", "r.permutation(n)"),
    "take": ("x = r.random(n); i = r.integers(0, n, n)", "np.take(x, i)"),
    "masks": ("x = r.random(n); m = x > 0.5", "x[m]"),
    "places in two dimensions": ("x = r.random((4000, 5000)); i = r.integers(0, 4000, n); j = r.integers(0, 5000, n)", "x[i, j]"),
    "multiply.at": ("x = np.ones(n); i = r.integers(0, n, n)", "np.multiply.at(x, i, 1.5)"),
    "add.reduceat": ("x = r.random(n); i = np.arange(0, n, 7)", "np.add.reduceat(x, i)"),
    "convolve": ("x = r.random(n // 4); k = r.random(50000)", "np.convolve(x, k)"),
    "product": ("x = r.random((5000, 5000))", "(x @ x).persist()"),
    "product with the transposed": ("x = r.random((500000, 100))", "(x.T @ x).persist()"),
    "small products": ("x = r.random((500000, 6, 6))", "(x @ x).persist()"),
    "tall QR": ("x = r.random((500000, 60))", "np.linalg.qr(x)"),
    "determinants": ("x = r.random((200000, 8, 8))", "np.linalg.det(x)"),
    "transform": ("x = r.random(1 << 25)", "np.fft.fft(x)"),
    "compiled argsort": (COMPILED.format("np.argsort(x)", 9) + "x = r.random(n)", "f(x)"),
    "compiled sort": (COMPILED.format("np.sort(x)", 9) + "x = r.random(n)", "f(x)"),
    "compiled dot": (COMPILED.format("np.dot(x, x)", "(9, 9)") + "x = r.random((5000, 5000))", "f(x)"),
    "compiled power": (COMPILED.format("np.linalg.matrix_power(x, 20)", "(9, 9)") + "x = r.random((1500, 1500)) / 750", "f(x)"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression for names of operations")
    options = parser.parse_args()
    rng = random.Random(1)
    wrong, runs = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (needed, operation) in OPERATIONS.items():
            if not re.search(options.only, name):
                continue
            # What is asked for lazily is computed before the operation.
            stored = "".join(f"{x} = np.asarray({x}).persist()\n" for x in "xyijmk" if re.search(rf"\b{x} =", needed))
            text = f"{NUMBERS}{needed}\n{stored}print('there', flush=True)\nwhile True:\n    {operation}\n"
            runs += 1
            try:
                with running(text, environment(GASELL_TMPDIR=folder), folder) as process:
                    if (line := process.stdout.readline()) != "there\n":
                        raise Wrong(f"it did not begin: {line}{process.stderr.read()}")
                    time.sleep(rng.uniform(0, LATEST))
                    took, used = interrupted(process, INTERRUPTED)
                print(f"{name}: {took * 1000:.0f} ms, {used * 1000:.0f} ms of processor time", flush=True)
                if took > INTERRUPT_LIMIT and used > INTERRUPT_LIMIT * (os.cpu_count() or 1) / 2:
                    raise Wrong(f"it took {took:.2f} s to end, {used:.2f} s of processor time")
            except Wrong as problem:
                wrong += 1
                print(f"FAILED {name}: {problem}", flush=True)
    print(f"{runs} operations interrupted, {wrong} wrongly")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
