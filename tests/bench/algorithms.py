#!/usr/bin/env python3
"""Times what is neither an elementwise function nor a reduction: sorting, selecting, searching, gathering, counting, running totals. The same script under Gasell
and under NumPy, each a process of its own.

  tests/bench/algorithms.py --gasell build/release/bin/gasell --python PYTHON [--elements 10000000] [--runs 3] [NAMES…]

PYTHON is an interpreter with NumPy; with --gpu, one with CuPy, and Gasell computes on the GPU: results stay there. Data is made by formulas, so both see the same numbers. Of each step the fastest of --runs counts, and the first run is shown
for Gasell; a step ends when its result is in memory. Results are compared by a sum that depends on the order of their elements before ratios are given.
"""

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = r'''
import time
import @module@ as np

N, RUNS, NAMES, ON_GPU = @settings@
n = N
x = np.array(np.arange(n) * 0.6180339887498949 % 1.0)
f = x.astype(np.float32)
k = np.array((x * 2**40).astype(np.int64))
k32 = np.array((x * 2**31).astype(np.int32))
bins = np.array((x * 1e6).astype(np.int64))
few = np.array(bins % 1000)
index = np.array(np.arange(n) * 7919 % n)
spread = np.array((x * n).astype(np.int64))
table = np.sort(np.array(np.arange(100000) * 0.7548776662466927 % 1.0))
points = np.linspace(0, 1, 1000)
heights = np.array(np.sin(points * 10))
window = np.array(np.sin(np.arange(101) * 0.1))
mask = np.array(x > 0.5)
rows = np.array(x[: n // 1000 * 1000].reshape(-1, 1000))
small = np.array(x[: n // 256 * 256].reshape(-1, 16, 16)[: 100000])


def added():
    out = np.zeros(1000)
    np.add.at(out, few, x)
    return out


STEPS = {
    "sort f64": lambda: np.sort(x),
    "sort f32": lambda: np.sort(f),
    "sort i64": lambda: np.sort(k),
    "sort i32": lambda: np.sort(k32),
    "sort rows of 1000": lambda: np.sort(rows, axis=1),
    "sort columns of 1000": lambda: np.sort(rows, axis=0),
    "argsort f64": lambda: np.argsort(x, kind="stable"),
    "argsort i64": lambda: np.argsort(k, kind="stable"),
    "lexsort of 2 keys": lambda: np.lexsort((x, few)),
    "median": lambda: np.median(x),
    "percentile of 3": lambda: np.percentile(x, [10, 50, 99]),
    "median of rows of 1000": lambda: np.median(rows, axis=1),
    "median of columns of 1000": lambda: np.median(rows, axis=0),
    "partition": lambda: np.partition(x, n // 2)[n // 2],
    "unique, 1000 values": lambda: np.unique(few),
    "unique, 10**6 values": lambda: np.unique(bins),
    "unique with counts": lambda: np.unique(few, return_counts=True)[1],
    "isin, 1000 values": lambda: np.isin(bins, few[:1000]),
    "searchsorted in 10**5": lambda: np.searchsorted(table, x),
    "digitize, 1000 bins": lambda: np.digitize(x, points),
    "interp": lambda: np.interp(x, points, heights),
    "histogram, 100 bins": lambda: np.histogram(x, 100)[0],
    "bincount, 10**6 bins": lambda: np.bincount(bins),
    "bincount with weights": lambda: np.bincount(few, x),
    "add.at, 1000 places": added,
    "y[index]": lambda: x[spread],
    "take": lambda: np.take(x, index),
    "x[mask]": lambda: x[mask],
    "x[x > 0.5].sum()": lambda: x[x > 0.5].sum(),
    "nonzero": lambda: np.nonzero(x > 0.9)[0],
    "cumsum f64": lambda: np.cumsum(x),
    "cumsum i64": lambda: np.cumsum(few),
    "cumsum of columns": lambda: np.cumsum(rows, axis=0),
    "maximum.accumulate": lambda: np.maximum.accumulate(x),
    "convolve with 101": lambda: np.convolve(x, window),
    "100,000 products of 16x16": lambda: small @ small,
    "permutation": lambda: np.random.default_rng(1).permutation(n),
}

if "@module@" == "cupy":
    finish = np.cuda.Device().synchronize
elif ON_GPU:  # Gasell's module of Numba's names
    from numba import cuda

    finish = cuda.synchronize
else:
    finish = lambda: None

for name, work in STEPS.items():
    if NAMES and not any([part in name for part in NAMES]):
        continue
    first = best = None
    start = time.perf_counter()
    try:
        result = work()
        if hasattr(result, "persist"):
            result = result.persist()
        finish()
        first = time.perf_counter() - start
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        print(f"{name}: {type(error).__name__}: {error}", flush=True)
        continue
    for _ in range(RUNS):
        finish()
        start = time.perf_counter()
        result = work()
        if hasattr(result, "persist"):
            result = result.persist()
        finish()
        taken = time.perf_counter() - start
        best = taken if best is None else min(best, taken)
    flat = np.asarray(result).ravel().astype(np.float64)
    if name == "permutation":  # of which each library has its own: the same numbers
        flat = np.sort(flat)
    print(f"{name}|{first:.5f}|{best:.5f}|{float((flat * np.cos(np.arange(flat.size) % 977)).sum())!r}", flush=True)
'''


def measured(command, script):
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed\n{done.stderr[-2000:]}")
    lines = [line.split("|") for line in done.stdout.splitlines() if line.count("|") == 3]
    return {name: (float(first), float(best), float(total)) for name, first, best, total in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="steps whose names contain one of these")
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--elements", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--gpu", action="store_true", help="beside CuPy, on a GPU")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "algorithms.gsl"
        text = SCRIPT.replace("@settings@", repr((options.elements, options.runs, options.names, options.gpu))[1:-1])
        script.write_text(text.replace("@module@", "numpy"), encoding="utf-8")
        ours = measured([options.gasell, *(["--device", "gpu"] if options.gpu else [])], script)
        script.write_text(text.replace("@module@", "cupy" if options.gpu else "numpy"), encoding="utf-8")
        peer = measured([options.python, "-W", "ignore"], script)
    wrong, ratios = 0, []
    who = "CuPy" if options.gpu else "NumPy"
    print(f"| step | {who}, ms | Gasell, ms | first, ms | {who} / Gasell |\n|---|---:|---:|---:|---:|")
    for name in [name for name in peer if name not in ours] + [name for name in ours if name not in peer]:
        print(f"| {name} | is not in both | | | |")
    for name, (_, seconds, total) in peer.items():
        if name not in ours:
            continue
        first, own, own_total = ours[name]
        same = math.isclose(total, own_total, rel_tol=1e-8, abs_tol=1e-6)
        wrong += not same
        ratios.append(seconds / own)
        print(f"| {name} | {1e3 * seconds:.2f} | {1e3 * own:.2f} | {1e3 * first:.1f} | {seconds / own:.2f}{'' if same else f' WRONG: {own_total!r} for {total!r}'} |")
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} over {len(ratios)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
