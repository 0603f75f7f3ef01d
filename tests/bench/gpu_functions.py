#!/usr/bin/env python3
"""Times kernels of numba.cuda under Gasell on a GPU and under Numba-CUDA in the same run, one script for both, and checks that they compute the same.

    tests/bench/gpu_functions.py --gasell build/release/bin/gasell --peer python3

The peer is a Python with Numba-CUDA. Arrays lie on the GPU; a time is the best of several launches with the wait for their end, after the first call."""

import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from harness.report import duration, markdown_table, text_table  # noqa: E402

MEAN = """
@cuda.jit{options}
def kernel(x, out):
    {axes} = cuda.grid(2)
    n, m = x.shape
    if 1 <= i < n - 1 and 1 <= j < m - 1:
        out[i, j] = (x[i-1, j-1] + x[i-1, j] + x[i-1, j+1] +
                     x[i  , j-1] + x[i  , j] + x[i  , j+1] +
                     x[i+1, j-1] + x[i+1, j] + x[i+1, j+1]) {by} 9
n = {n}
x = {data}
out = np.zeros_like(x)
threads = (16, 16)
blocks = ((n + 15) // 16, (n + 15) // 16)
"""
MATMUL = """
@cuda.jit{options}
def kernel(x, out):
    a = cuda.shared.array((32, 32), dtype=float32)
    b = cuda.shared.array((32, 32), dtype=float32)
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    s = float32(0)
    for t in range(x.shape[0] // 32):
        a[ty, tx] = x[row, t * 32 + tx]
        b[ty, tx] = x[t * 32 + ty, col]
        cuda.syncthreads()
        for k in range(32):
            s += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    out[row, col] = s
n = 4096
x = (np.arange(n * n) % 7).astype(np.float32).reshape(n, n)
out = np.zeros_like(x)
threads = (32, 32)
blocks = (n // 32, n // 32)
"""
HISTOGRAM = """
@cuda.jit{options}
def kernel(x, out):
    for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(out, x[k], 1)
x = (np.arange(100000000) * 37 % 1009).astype(np.int32)
out = np.zeros(1009, dtype=np.int64)
threads = 256
blocks = 2048
"""
BYTES = "(np.arange(n * n) % 101).astype(np.int8).reshape(n, n)"
FLOATS = "(np.arange(n * n) * 0.6180339887498949 % 1.0).reshape(n, n)"

# name: (title, text, bytes read and written)
CASES = {
    "mean_i8": ("3x3 mean, i8, 10000², i, j = grid(2)", MEAN.replace("{axes}", "i, j").replace("{by}", "//").replace("{n}", "10000").replace("{data}", BYTES), 2e8),
    "mean_i8_xy": ("3x3 mean, i8, 10000², j, i = grid(2)", MEAN.replace("{axes}", "j, i").replace("{by}", "//").replace("{n}", "10000").replace("{data}", BYTES), 2e8),
    "mean_f64": ("3x3 mean, f64, 20000², i, j = grid(2)", MEAN.replace("{axes}", "i, j").replace("{by}", "/").replace("{n}", "20000").replace("{data}", FLOATS), 6.4e9),
    "mean_f64_xy": ("3x3 mean, f64, 20000², j, i = grid(2)", MEAN.replace("{axes}", "j, i").replace("{by}", "/").replace("{n}", "20000").replace("{data}", FLOATS), 6.4e9),
    "matmul": ("product in shared tiles, f32, 4096³", MATMUL, 0),
    "histogram": ("histogram with atomics, 1e8 in 1009 bins", HISTOGRAM, 4e8),
}
FRAME = """
import time
import numpy as np
from numba import cuda, float32
{text}
dx = cuda.to_device(x)
dout = cuda.to_device(out)
def launch():
    kernel[blocks, threads](dx, dout)
    cuda.synchronize()
start = time.perf_counter()
launch()
first = time.perf_counter() - start
host = dout.copy_to_host()
best = 1e99
for k in range(15):
    start = time.perf_counter()
    launch()
    best = min(best, time.perf_counter() - start)
flat = host.reshape(-1).astype(np.float64)
print("RESULT", first, best, float((flat * (np.arange(flat.size) % 13)).sum()))
"""


# Numba-CUDA asks for names that newer versions of NumPy have not.
PEER = """
import numpy
for name, other in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
    if not hasattr(numpy, name):
        setattr(numpy, name, getattr(numpy, other))
"""


def run(command, text, options, before=""):
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(before + FRAME.replace("{text}", text.replace("{options}", options)))
    done = subprocess.run([*command, file.name], capture_output=True, text=True, timeout=300)
    os.unlink(file.name)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT"):
            return [float(word) for word in line.split()[1:]]
    print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--device", default="gpu:0")
    parser.add_argument("--peer", default="python3")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    header = ["case", "gasell", "without boundscheck", "Numba-CUDA", "Numba / gasell", "% of 4.2 TB/s", "first call", "Numba's first", "check"]
    rows = []
    for name, (title, text, moved) in CASES.items():
        if options.cases and not any(word in name for word in options.cases):
            continue
        gasell = [options.gasell, "--device", options.device]
        ours = run(gasell, text, "")
        bare = run(gasell, text, "(boundscheck=False)")
        peer = run([options.peer], text, "", PEER) if options.peer != "none" else None
        show = lambda r, k: duration(r[k]) if r else ""
        same = "" if not ours or not peer else "same" if abs(ours[2] - peer[2]) <= 1e-9 * abs(peer[2]) else f"differs: {ours[2]} {peer[2]}"
        rows.append([title, show(ours, 1), show(bare, 1), show(peer, 1), f"{peer[1] / ours[1]:.2f}" if ours and peer else "",
                     f"{moved / ours[1] / 4.2e12:.0%}" if ours and moved else "", show(ours, 0), show(peer, 0), same])
        print(rows[-1], flush=True)
    print(text_table(header, rows))
    print(markdown_table(header, rows))


if __name__ == "__main__":
    main()
