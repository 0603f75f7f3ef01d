#!/usr/bin/env python3
"""Times what is neither an elementwise function nor a reduction: sorting, selecting, searching, gathering, counting, running totals. The same script under Gasell
and under NumPy, each a process of its own.

  tests/bench/algorithms.py --gasell build/release/bin/gasell --python PYTHON [--elements 10000000] [--runs 3] [NAMES…]

PYTHON is an interpreter with NumPy; with --gpu, one with CuPy, and Gasell computes on the GPU: results stay there. Data is made by formulas, so both see the same numbers. Of each step the fastest of --runs counts, and the first run is shown
for Gasell; a step ends when its result is in memory. Results are compared by a sum that depends on the order of their elements before ratios are given.
"""

import steps

DATA = r'''
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


UNORDERED = ("permutation",)  # of which each library has its own
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
'''

if __name__ == "__main__":
    steps.main(__doc__, DATA, elements=10_000_000)
