#!/usr/bin/env python3
"""Faults of simulated GPUs at every k: a program gives the right answer or ends with a clean error; it never hangs, crashes, leaks or gives another answer.

Three programs run once without a fault; then with the k-th allocation short of memory, and with a GPU lost at its k-th launch and its k-th copy, for
every k up to 200, or up to where the program has no more of them.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

GASELL = os.environ["GASELL"]
MOST = 200
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

LARGER_THAN_MEMORY = """
import numpy as np
x = np.arange(400000.0)
np.cumsum(x)
y = x * 3 + 1
print(y.sum(), y[-2:])
w = np.concatenate([y[::2], x])
print(w.sum(), np.sort(w[::-7])[:3], (w - w.mean()).std())
x[1:] = y[:-1]
print(x.sum())
"""

PROGRAMS = {
    "elementwise": (ELEMENTWISE, {"GASELL_DEVICE": "sim:2", "GASELL_SPLIT_FROM": "0"}),
    "reductions": (REDUCTIONS, {"GASELL_DEVICE": "sim:3", "GASELL_SPLIT_FROM": "100000"}),
    "larger than memory": (LARGER_THAN_MEMORY, {"GASELL_DEVICE": "sim:2", "GASELL_SIM_MEMORY": "2MiB"}),
}
FAULTS = ("oom@{}", "lost@launch:{}", "lost@copy:{}")
CLEAN_ERROR = re.compile(r"^(MemoryError|RuntimeError): .+", re.M)


def run(text, settings, cache, fault=""):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
    changes = {**settings, "GASELL_SIM_FAULT": fault, "XDG_CACHE_HOME": cache, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    return subprocess.run([GASELL, "-c", text], capture_output=True, text=True, timeout=60, env={**kept, **changes}, stdin=subprocess.DEVNULL)


def judge(done, right):
    """What is wrong with a run; None when nothing is."""
    if done.returncode == 0:
        return None if done.stdout == right else f"another answer: {done.stdout}"
    if done.returncode != 1:
        return f"status {done.returncode}"
    if not CLEAN_ERROR.search(done.stderr) or "internal" in done.stderr:
        return "no clean error"
    return None if right.startswith(done.stdout) else f"another answer before the error: {done.stdout}"


def main():
    wrong, runs, errors = [], 0, 0
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (text, settings) in PROGRAMS.items():
            host = run(text, {"GASELL_DEVICE": "cpu"}, cache)
            right = run(text, settings, cache, "count")
            if right.returncode or right.stdout != host.stdout:
                print(f"{name}: without a fault: status {right.returncode}\n{right.stdout}{right.stderr}not the host's\n{host.stdout}")
                return 1
            counts = [int(n) for n in re.findall(r"(\d+) (?:allocations|launches|copies)", right.stderr)]
            for fault, count in zip(FAULTS, counts, strict=True):
                ks = range(1, min(MOST, count + BEYOND) + 1)
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
