#!/usr/bin/env python3
"""Times Gasell's own kernels for products of matrices on a GPU beside cuBLAS: the same script with GASELL_CUBLAS=0 and without, each a process of its own.

  tests/bench/tiled_products.py [--gasell build/dev/bin/gasell] [--device gpu:0] [--elements 8192] [--runs 5]

--elements is the extent of the largest matrix. Of each product the fastest of --runs counts, whose result stays on the GPU. Results are compared by a sum that depends on
the order of their elements before ratios are given. Exit status 1 where they differ.
"""

import argparse
import os
import subprocess
import sys

SCRIPT = r"""
import time

n, runs = N, RUNS


def matrix(rows, columns, dtype):
    return np.array(np.sin(np.arange(rows * columns) * 0.6180339887498949 % 97.0).reshape(rows, columns).astype(dtype))


def timed(name, a, b):
    products = a.shape[0] * a.shape[1] * b.shape[1]
    best = float("inf")
    for _ in range(runs + 1):
        start = time.perf_counter()
        p = (a @ b).persist()
        cp.cuda.Device().synchronize()
        best = min(best, time.perf_counter() - start)
    check = complex((p * (np.arange(p.shape[1]) % 7 - 3.0).astype(p.real.dtype)).sum())
    print(name, products, best, check.real, check.imag, sep="\t")


for dtype, extent in (("float32", n), ("float64", n), ("complex64", n // 2), ("complex128", n // 2)):
    a, b = matrix(extent, extent, dtype), matrix(extent, extent, dtype)
    timed(f"{dtype} {extent}", a, b)
    timed(f"{dtype} {extent}, left transposed", a.T, b)
    timed(f"{dtype} {extent}, right transposed", a, b.T)
tall = matrix(100 * n, 64, "float64")
timed("float64 of 64 columns with itself", tall.T, tall)
"""


def run(options, cublas):
    script = SCRIPT.replace("N, RUNS", f"{options.elements}, {options.runs}")
    changes = {} if cublas else {"GASELL_CUBLAS": "0"}
    done = subprocess.run([options.gasell, "--device", options.device, "-c", script], capture_output=True, text=True, env={**os.environ, **changes}, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {row[0]: [float(x) for x in row[1:]] for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default="build/dev/bin/gasell")
    parser.add_argument("--device", default="gpu:0")
    parser.add_argument("--elements", type=int, default=8192)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    library, own = run(options, True), run(options, False)
    print("| product | cuBLAS, ms | own, ms | own, G products/s | own / cuBLAS |\n|---|---:|---:|---:|---:|")
    wrong = False
    for name, (products, seconds, *check) in library.items():
        _, own_seconds, *own_check = own[name]
        scale = 1e-3 if "32" in name or "complex64" in name else 1e-9
        same = all(abs(x - y) <= scale * (products ** (2 / 3) + abs(x)) for x, y in zip(check, own_check))
        wrong = wrong or not same
        print(f"| {name} | {seconds * 1e3:.2f} | {own_seconds * 1e3:.2f} | {products / own_seconds / 1e9:.0f} | {own_seconds / seconds:.2f}{'' if same else ' DIFFERS'} |")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
