#!/usr/bin/env python3
"""Times questions to frames that lie on a GPU: a filter with a ratio and its mean by hour, group-bys into many groups, joins, sorts, windows of a thousand rows,
running sums; beside what one writes for them by hand with CuPy and PyTorch, and beside the time that the columns' bytes take at the speed of a copy in the
same run.

    tests/bench/gpu_frames.py --gasell build/release/bin/gasell [--device gpu:0] [--rows 100000000] [--groups 1000000] [--python PYTHON]

PYTHON has CuPy, or PyTorch, or both; without it there are no peers. All programs make the same columns by arithmetic, and what they answer is compared. A time is
the best of five calls with the wait for the end. CuPy and PyTorch know here that the keys are the numbers below the number of groups, and add floats in any
order; Gasell finds the former and gives the same bits every time. A sort's order is stable here and in PyTorch."""

import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness.report import duration, markdown_table, text_table  # noqa: E402

COLUMNS = """
i = xp.arange(n)
ns = resident(i * 7_654_321 % 30_000_000_000 * 1_000_000 + 1_262_304_000_000_000_000)
fare = resident(i * 40_503 % 1_000_003 / 20_000.06 + 1)
tip = resident(i * 7_919 % 999_983 / 99_998.3)
k = resident(i * 2_654_435_761 % 4_294_967_291 % m)
x = resident(i * 48_271 % 1_000_003 / 1_000_003 - 0.3)
v = resident(i * 69_621 % 201 - 100)
wide = resident(i * 2_862_933_555_777_941_757 + 3_037_000_493)
far = resident(k * 9_007_199_254_741 - 4_000_000_000_000_000_000)
j = xp.arange(m)
right_k = resident(j * 7_919 % (m + m // 10))
y = resident(j * 16_807 % 1_000_003 / 1_000_003)
"""
GASELL = """
import time
import numpy as xp
import pandas as pd
n, m = {n}, {m}
def resident(values):
    a = np.empty(len(values), values.dtype)
    a[:] = values
    return a
{columns}
rides = pd.DataFrame({{"time": pd.to_datetime(ns), "fare": fare, "tip": tip}})
left = pd.DataFrame({{"k": k, "x": x, "v": v, "far": far, "wide": wide}})
right = pd.DataFrame({{"k": right_k, "y": y}})
twice = pd.DataFrame({{"far": np.concatenate([right_k, right_k]) * 9_007_199_254_741 - 4_000_000_000_000_000_000, "y": np.concatenate([y, -0.5 * y])}})
def hour():
    d = rides[rides.fare > 5]
    return (d.tip / d.fare).groupby(d.time.dt.hour).mean()
def join():
    both = left.merge(right, on="k")
    return (both.x * both.y).sum()
def far_join():
    both = left.merge(twice, on="far")
    return (both.x * both.y).sum()
def ended(r):
    return float(r) if isinstance(r, (float, int, np.number)) else float(r[len(r) // 2]) if isinstance(r, np.ndarray) else float(r.iloc[3])
QUESTIONS = {{"hour": hour, "float sums": lambda: left.groupby("k").x.sum(), "integer sums": lambda: left.groupby("k").v.sum(),
             "means": lambda: left.groupby("k").x.mean(), "greatest": lambda: left.groupby("k").x.max(), "join": join,
             "rolling mean": lambda: left.x.rolling(1000).mean().iloc[n - 1], "rolling std": lambda: left.x.rolling(1000).std().iloc[n - 1],
             "rolling max": lambda: left.x.rolling(1000).max().iloc[n - 1], "cumsum": lambda: left.x.cumsum().iloc[n - 1],
             "ewm mean": lambda: left.x.ewm(alpha=0.01).mean().iloc[n - 1],
             "sort int64": lambda: resident(left.wide.sort_values().to_numpy()), "order float64": lambda: left.x.argsort().to_numpy(),
             "far keys": lambda: left.groupby("far").x.sum(), "medians": lambda: left.groupby("k").x.median(),
             "deviations": lambda: left.groupby("k").x.std(), "different": lambda: left.far.nunique(), "median": lambda: left.x.median(), "far join": far_join}}
def best(f, end, rounds=6):
    times, first = [], 0
    for r in range(rounds):
        start = time.perf_counter()
        answer = end(f())
        times.append(time.perf_counter() - start)
    return min(times[1:]), times[0], answer
copied = np.empty(n)
def copy():
    copied[:] = x + 0
    return copied
def tell(name, times):
    print("[", name, *times, sep="|")
tell("copy", best(copy, lambda a: float(a[3])))
for name, f in QUESTIONS.items():
    tell(name, best(f, ended))
"""
PEER = """
import json, time
n, m = {n}, {m}
{imports}
resident = lambda values: values
{columns}
def hour():
    chosen = fare > 5
    h = ns[chosen] // 3_600_000_000_000 % 24
    ratio = tip[chosen] / fare[chosen]
    return (xp.bincount(h, weights=ratio) / xp.bincount(h))[3]
def join():
    table = xp.full((m + m // 10,), -1, dtype=xp.int64)
    table[right_k] = xp.arange(m)
    match = table[k]
    found = match >= 0
    return (x[found] * y[match[found]]).sum()
def sort():
    sorted = xp.sort(wide)
    return sorted[n // 2] if {cupy} else sorted.values[n // 2]
def order():
    return (xp.argsort(x) if {cupy} else xp.argsort(x, stable=True))[n // 2]
def far_keys():
    keys, numbers = xp.unique(far, return_inverse=True)
    if {cupy}:
        return xp.bincount(numbers, weights=x)[3]
    return xp.zeros(len(keys), dtype=x.dtype, device="cuda").scatter_add_(0, numbers, x)[3]
def medians():
    if {cupy}:
        values = x[xp.lexsort(xp.stack([x, k]))]
    else:
        rows = xp.argsort(x, stable=True)
        values = x[rows[xp.argsort(k[rows], stable=True)]]
    sizes = xp.bincount(k, minlength=m)
    begins = xp.cumsum(sizes, 0) - sizes
    return ((values[begins + (sizes - 1) // 2] + values[begins + sizes // 2]) / 2)[3]
def deviations():
    means = all_sums(x) / xp.bincount(k, minlength=m)
    d = x - means[k]
    return (all_sums(d * d) / (xp.bincount(k, minlength=m) - 1))[3] ** 0.5
def all_sums(values):
    if {cupy}:
        return xp.bincount(k, weights=values, minlength=m)
    return xp.zeros(m, dtype=values.dtype, device="cuda").scatter_add_(0, k, values)
def greatest():
    if {cupy}:
        r = xp.full(m, -xp.inf)
        xp.maximum.at(r, k, x)
        return r[3]
    return xp.full((m,), -float("inf"), dtype=x.dtype).scatter_reduce_(0, k, x, "amax")[3]
def rolling_mean():
    total = xp.cumsum(x, 0)
    return ((total[1000:] - total[:-1000]) / 1000)[-1]
def rolling_std():
    total, squares = xp.cumsum(x, 0), xp.cumsum(x * x, 0)
    total, squares = total[1000:] - total[:-1000], squares[1000:] - squares[:-1000]
    return (((squares - total * total / 1000) / 999) ** 0.5)[-1]
def missing():
    raise NotImplementedError("none")
QUESTIONS = {{"hour": hour, "float sums": lambda: all_sums(x)[3], "integer sums": lambda: all_sums(v)[3], "means": lambda: all_sums(x)[3] / xp.bincount(k, minlength=m)[3],
             "greatest": greatest, "join": join, "sort int64": sort, "order float64": order, "far keys": far_keys, "medians": medians, "deviations": deviations,
             "different": lambda: len(xp.unique(far)), "median": lambda: xp.median(x) if {cupy} else (xp.kthvalue(x, n // 2).values + xp.kthvalue(x, n // 2 + 1).values) / 2,
             "rolling mean": rolling_mean, "rolling std": rolling_std, "rolling max": missing, "cumsum": lambda: xp.cumsum(x, 0)[-1],
             "ewm mean": missing, "far join": missing}}
results = {{}}
for name, f in QUESTIONS.items():
    try:
        times = []
        for r in range(6):
            wait()
            start = time.perf_counter()
            answer = float(f())
            wait()
            times.append(time.perf_counter() - start)
        results[name] = (min(times[1:]), times[0], answer)
    except Exception as error:
        results[name] = (None, None, repr(error)[:60])
print(json.dumps(results))
"""
IMPORTS = {
    "CuPy": "import cupy as xp\nwait = xp.cuda.runtime.deviceSynchronize",
    "PyTorch": "import torch as xp\nxp.set_default_device('cuda')\nxp.set_default_dtype(xp.float64)\nwait = xp.cuda.synchronize",
}
BYTES = {"hour": 24, "float sums": 16, "integer sums": 16, "means": 16, "greatest": 16, "join": 16, "sort int64": 16, "order float64": 16, "far keys": 16, "medians": 16,
         "deviations": 16, "different": 8, "median": 8, "far join": 16, "rolling mean": 16, "rolling std": 16, "rolling max": 16, "cumsum": 16,
         "ewm mean": 16}  # of columns, a row; with what is made a row
RUNNING = ("rolling mean", "rolling std", "cumsum", "ewm mean")


def run(command, text):
    """What a program printed, or why it failed."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else (done.stderr.strip().splitlines() or ["failed"])[-1:]


def gasell(options, device, rows, groups):
    """{question: (seconds, of the first call, answer)}"""
    printed = run([options.gasell, "--device", device, "-c", GASELL.format(columns=COLUMNS, n=rows, m=groups)], "")
    if isinstance(printed, list):
        sys.exit(f"gasell: {printed[0]}")
    fields = [line.split("|") for line in printed.splitlines() if line.startswith("[|")]
    return {name: tuple(float(t) for t in numbers) for _, name, *numbers in fields}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--device", default="gpu:0")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--groups", type=int, default=1_000_000)
    parser.add_argument("--python")
    options = parser.parse_args()
    ours = gasell(options, options.device, options.rows, options.groups)
    on_host, small = (gasell(options, device, options.rows // 50, options.groups // 50) for device in ("cpu", options.device))
    # Sums of windows and running ones are not rounded alike on the host, which adds one row after the other.
    near = {name: 1e-9 if name in RUNNING else 1e-12 for name in BYTES}
    differs = [name for name in BYTES if not abs(on_host[name][2] - small[name][2]) <= near[name] * abs(on_host[name][2])]
    print(f"a fiftieth of the rows, beside the host: {'differs: ' + ', '.join(differs) if differs else 'equal'}")
    peers = {}
    if options.python:
        for name, imports in IMPORTS.items():
            made = run([options.python, "-"], PEER.format(imports=imports, columns=COLUMNS, cupy=name == "CuPy", n=options.rows, m=options.groups))
            if isinstance(made, list):
                print(f"{name}: {made[0]}")
            else:
                peers[name] = json.loads(made.strip().splitlines()[-1])
    speed = 16 * options.rows / ours["copy"][0]
    lines = []
    for name, width in BYTES.items():
        seconds, first, answer = ours[name]
        line = [name, duration(first), duration(seconds), f"{100 * width * options.rows / speed / seconds:.0f} %"]
        for made in peers.values():
            theirs = made[name]
            same = theirs[0] is not None and abs(theirs[2] - answer) <= 1e-9 * max(abs(answer), 1)
            line += [theirs[2] if theirs[0] is None else duration(theirs[0]) + ("" if same else f", differs: {theirs[2]}"), f"{theirs[0] / seconds:.2f}" if theirs[0] else ""]
        lines.append(line)
    header = ["question", "first call", "Gasell", "of the copy's speed"]
    for name in peers:
        header += [name, f"{name} / Gasell"]
    print(f"{options.rows:,} rows, {options.groups:,} groups; a copy moves {speed / 1e12:.2f} TB/s")
    print(text_table(header, lines))
    print()
    print(markdown_table(header, lines))


if __name__ == "__main__":
    main()
