#!/usr/bin/env python3
"""Faults of simulated GPUs at every k: a program gives the right answer or ends with a clean error; it never hangs, crashes, leaks or gives another answer.

    test_faults.py                        about 200 faults of a kind for each program of arrays, 4 for those of frames, which have thousands
    test_faults.py --most 1000 --seed 7   more, at other places
    test_faults.py --only 'sort|join'     programs whose name matches

Each program runs once without a fault; then with the k-th allocation short of memory, with a GPU lost at its k-th launch and its k-th copy, and with
the k-th call of a library refused, for every k, or, where there are many, for ks that are spread over all of them; and with all calls of libraries refused.
"""

import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

GASELL = os.environ["GASELL"]
MOST, MOST_OF_FRAMES = 200, 4
LIMIT_S, HANGS = 120, 124
BEYOND = 3  # faults that never come still must change nothing

ELEMENTWISE = """
import numpy as np
x = np.arange(100000.0)
y = np.sqrt(x) * 2 + 1
z = (y[1:] - y[:-1]) * x[1:]
print(y[:4], z.sum(), z.max())
a = np.zeros(1000)
a[::2] = y[:500]
a[7] = 5
print(a[:9], a.sum())
"""

REDUCTIONS = """
import numpy as np
m = np.random.default_rng(3).normal(10, 1, (700, 500))
total = m.sum()
rows, columns = m.sum(axis=1), m.mean(axis=0)
for step in range(4):
    m = m * 0.5 + columns
    total = total + m.sum()
print(total, rows[:3], columns[-3:], m.std(), m.max(axis=0)[:2], m.argmax())
"""

LIBRARIES = """
import numpy as np
n = 256
i = np.arange(n)
a = np.cos(np.outer(i, i) * 0.37) + n * np.eye(n)
f = np.fft.rfft2(a)
print(np.round(np.abs(f).sum(), 6), np.round(np.fft.irfft2(f, a.shape)[3, :4], 9))
print(np.round(np.abs(np.fft.fft(a.reshape(4, 128, 128), axis=1)).sum(), 6), np.round((a @ a).sum(), 6))
print(np.round(np.linalg.solve(a, a[0])[:4], 9), np.round(np.linalg.cholesky(a + a.T).sum(), 6), np.round(np.linalg.slogdet(a)[1], 9))
print(np.round(np.linalg.eigvalsh(a + a.T)[-3:], 7), np.round(np.linalg.svd(a, compute_uv=False)[:3], 7), np.round(np.abs(np.linalg.qr(a)[1]).sum(), 6))
"""

LARGER_THAN_MEMORY = """
import numpy as np
x = np.arange(400000.0)
np.cumsum(x)
y = x * 3 + 1
print(y.sum(), y[-2:])
w = np.concatenate([y[::2], x])
print(w.sum(), w[::-7].tolist()[:3], (w - w.mean()).std())
x[1:] = y[:-1]
print(x.sum())
"""

# What the kernels of frames do: each of these rows is on one of the GPUs, and every operator has something to do on each.
FRAME = """
import numpy as np
import pandas as pd
n = 9000
row = np.arange(n)
df = pd.DataFrame({"k": row * 7919 % 3001 * 10**14, "h": row * 31 % 24, "f": row * 31 % 701 / 8, "x": row % 97 / 16 - 2, "blank": np.where(row % 11 == 3, np.nan, row * 17 % 1009 / 4)})
def show(*results):
    for r in results:
        values = r.to_numpy().ravel()
        print(len(values), values[::997].tolist(), float(np.nansum(values)), str(r.index[-1]))
"""
SPLIT_SORT = """
show(df.sort_values("x", kind="stable"), df["k"].sort_values(ascending=False, kind="stable"), df.sort_values(["f", "blank"], ascending=[True, False], kind="stable"))
show(df["blank"].rank(), df["f"].nlargest(2000))
print(df["k"].nunique(), df["blank"].nunique(), int(df["f"].duplicated().sum()))
"""
TABLES_OF_KEYS = """
show(df.groupby("k")[["x", "f"]].sum(), df.groupby("f")["x"].std(), df.groupby(["h", "f"], as_index=False)["x"].max(), df.groupby("k")["blank"].count())
show(df["x"].value_counts().sort_index(), df.drop_duplicates(["h", "x"]), df[df["k"].isin(df["k"][::3] + 10**14)])
"""
JOINS = """
twice = pd.DataFrame({"k": np.arange(4000) % 2000 * 10**14, "y": np.arange(4000)})
once = pd.DataFrame({"h": np.arange(3, 40), "y": np.arange(37) * 2})
for how in "inner", "left", "outer":
    show(df.merge(twice, on="k", how=how))
show(df.merge(once, on="h"), df[["h", "x"]].merge(once, on="h", how="left"), df.merge(df[["k", "x", "h"]][::7], on=["k", "x"]))
"""
MEDIANS = """
print(df["blank"].median(), df["k"].median(), df["x"].quantile([0.1, 0.5, 0.9]).tolist(), df["f"].quantile(0.25))
show(df.groupby("h")[["x", "blank"]].median(), df.groupby("k")["f"].median(), df.groupby("h")["blank"].quantile(0.3))
"""
WINDOWS = """
show(df["x"].rolling(100).sum(), df["x"].rolling(3000, min_periods=1).max(), df["blank"].rolling(70, min_periods=5).count(), df["k"].cummax(), df["x"].expanding().min())
g = df.groupby("h")
show(g["x"].cumsum(), g.cumcount(), g["blank"].shift(2), g["x"].transform("max"), g["x"].rolling(5).max().reset_index(drop=True))
"""
GROUPS = """
d = df[df["x"] > 0]
show(d.groupby("h")["x"].sum(), d.groupby("h")[["f", "blank"]].agg("max"), d.groupby("h").size(), d.groupby("h")["f"].first(), df.groupby("h")["k"].nunique())
print(len(d), float(d["x"].sum()), d["blank"].max(), int(d["h"].iloc[-1]), d.describe().round(9).to_numpy().tolist())
"""

VECTORS = """
import numpy as np
row = np.arange(9000)
x, k = row * 31 % 701 / 8 - 20, row * 7919 % 3001
print(np.sort(x)[::997], np.argsort(k)[::997], x[x > 30].sum(), k[row * 7 % 9000][::997])
print(np.searchsorted(np.sort(k), row[::3])[::499], np.bincount(k)[::499], np.nonzero(x > 60)[0][::99], np.unique(k).size)
"""

SPLIT = {"GASELL_DEVICE": "sim:2", "GASELL_SPLIT_FROM": "0"}
PROGRAMS = {
    "elementwise": (ELEMENTWISE, SPLIT),
    "reductions": (REDUCTIONS, {"GASELL_DEVICE": "sim:3", "GASELL_SPLIT_FROM": "100000"}),
    "libraries": (LIBRARIES, {"GASELL_DEVICE": "sim:2"}),
    "larger than memory": (LARGER_THAN_MEMORY, {"GASELL_DEVICE": "sim:2", "GASELL_SIM_MEMORY": "2MiB"}),
}
FRAMES = {
    "split sort": (FRAME + SPLIT_SORT, SPLIT),
    "tables of keys": (FRAME + TABLES_OF_KEYS, SPLIT),
    "joins": (FRAME + JOINS, SPLIT),
    "medians": (FRAME + MEDIANS, SPLIT),
    "windows": (FRAME + WINDOWS, SPLIT),
    "groups": (FRAME + GROUPS, SPLIT),
    "vectors": (VECTORS, SPLIT),
}
FAULTS = ("oom@{}", "lost@launch:{}", "lost@copy:{}", "refused@call:{}")
CLEAN_ERROR = re.compile(r"^(MemoryError|RuntimeError): .+", re.M)


def run(text, settings, cache, fault=""):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
    changes = {**settings, "GASELL_SIM_FAULT": fault, "XDG_CACHE_HOME": cache, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    try:
        return subprocess.run([GASELL, "-c", text], capture_output=True, text=True, timeout=LIMIT_S, env={**kept, **changes}, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess([], HANGS, "", "")


def judge(done, right):
    """What is wrong with a run; None when nothing is."""
    if done.returncode == 0:
        return None if done.stdout == right else f"another answer: {done.stdout}"
    if done.returncode == HANGS:
        return f"no end after {LIMIT_S} s"
    if done.returncode != 1:
        return f"status {done.returncode}"
    if not CLEAN_ERROR.search(done.stderr) or "internal" in done.stderr:
        return "no clean error"
    return None if right.startswith(done.stdout) else f"another answer before the error: {done.stdout}"


def chosen(rng, count, most):
    """Faults at every k and some beyond the last; or `most` of them, each in its own part of all of them."""
    if count + BEYOND <= most:
        return range(1, count + BEYOND + 1)
    return sorted({1 + int((part + rng.random()) * count / most) for part in range(most)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, help="faults of a kind for a program, at most")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", default="", help="a regular expression for names of programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    rng = random.Random(options.seed)
    wrong, runs, errors = [], 0, 0
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, (text, settings) in {**PROGRAMS, **FRAMES}.items():
            if not re.search(options.only, name):
                continue
            host = run(text, {"GASELL_DEVICE": "cpu"}, cache)
            right = run(text, settings, cache, "count")
            if right.returncode or right.stdout != host.stdout:
                print(f"{name}: without a fault: status {right.returncode}\n{right.stdout}{right.stderr}not the host's\n{host.stdout}{host.stderr}")
                return 1
            counts = [int(n) for n in re.findall(r"(\d+) (?:allocations|launches|copies|calls)", right.stderr)]
            if (done := run(text, settings, cache, "refused")).returncode or done.stdout != right.stdout:
                wrong.append(f"{name}, refused: {judge(done, right.stdout) or 'an error'}\n{done.stderr}")
            for fault, count in zip(FAULTS, counts, strict=True):
                ks = chosen(rng, count, options.most or (MOST if name in PROGRAMS else MOST_OF_FRAMES))
                for k, done in zip(ks, pool.map(lambda k: run(text, settings, cache, fault.format(k)), ks)):
                    runs += 1
                    errors += done.returncode == 1
                    if problem := judge(done, right.stdout):
                        wrong.append(f"{name}, {fault.format(k)}: {problem}\n{done.stderr}")
    print("\n".join(wrong[:20]))
    print(f"{runs} runs, {errors} of them ended with an error, {len(wrong)} were wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
