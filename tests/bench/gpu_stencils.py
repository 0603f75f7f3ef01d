#!/usr/bin/env python3
"""Times stencils, prange loops and steps of iterations under Gasell on GPUs, beside the speed of a copy in the same run, and checks small ones
against the host.

    tests/bench/gpu_stencils.py --gasell build/release/bin/gasell --device gpu:0
    tests/bench/gpu_stencils.py --gasell build/release/bin/gasell --device gpu:0 --device gpu:0,1,2,3 steps

A time is the best of several with the wait for the end, after the first call; arrays lie on the GPU."""

import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from harness.report import duration, markdown_table, text_table  # noqa: E402

TEXT = """
import time
@stencil
def mean(a):
    return (a[-1,-1] + a[-1,0] + a[-1,1] + a[0,-1] + a[0,0] + a[0,1] + a[1,-1] + a[1,0] + a[1,1]) / 9
@stencil(dtype=np.int8)
def mean8(a):
    return (a[-1,-1] + a[-1,0] + a[-1,1] + a[0,-1] + a[0,0] + a[0,1] + a[1,-1] + a[1,0] + a[1,1]) // 9
@stencil
def heat(u):
    return u[0,0,0] + 0.1 * (u[-1,0,0] + u[1,0,0] + u[0,-1,0] + u[0,1,0] + u[0,0,-1] + u[0,0,1] - 6 * u[0,0,0])
@stencil
def jacobi(u):
    return 0.25 * (u[-1,0] + u[1,0] + u[0,-1] + u[0,1])
@njit(parallel=True)
def mean_loop(a, out):
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = (a[i-1,j-1] + a[i-1,j] + a[i-1,j+1] + a[i,j-1] + a[i,j] + a[i,j+1] + a[i+1,j-1] + a[i+1,j] + a[i+1,j+1]) / 9
    return out
@njit(parallel=True)
def mean8_loop(a, out):
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = (a[i-1,j-1] + a[i-1,j] + a[i-1,j+1] + a[i,j-1] + a[i,j] + a[i,j+1] + a[i+1,j-1] + a[i+1,j] + a[i+1,j+1]) // 9
    return out
@njit(parallel=True)
def heat_loop(u, out):
    for x in prange(1, u.shape[0] - 1):
        for y in range(1, u.shape[1] - 1):
            for z in range(1, u.shape[2] - 1):
                out[x,y,z] = u[x,y,z] + 0.1 * (u[x-1,y,z] + u[x+1,y,z] + u[x,y-1,z] + u[x,y+1,z] + u[x,y,z-1] + u[x,y,z+1] - 6 * u[x,y,z])
    return out
@njit(parallel=True)
def total(x):
    s = 0.0
    for i in prange(x.size):
        s += x[i]
    return s
@njit(parallel=True)
def expression(x, out):
    out[:] = x * 2 + 1
    return out
def floats(*shape):
    n = 1
    for s in shape:
        n *= s
    return (np.arange(n) * 0.6180339887498949 % 1.0).reshape(shape).persist()
def bytes_of(n):
    return (np.arange(n * n) % 101).astype(np.int8).reshape(n, n).persist()
def check(name, f, *args):
    with device("cpu"):
        wanted = f(*args)
        wanted = np.array(wanted)
    got = np.array(f(*args))
    print("CHECK", name, "same" if np.array_equal(got, wanted) else "close" if np.allclose(got, wanted, rtol=1e-13) else "DIFFERS")
def measure(name, moved, f, look, repeat=9):
    start = time.perf_counter()
    look(f())
    first = time.perf_counter() - start
    best = 1e99
    for k in range(repeat):
        start = time.perf_counter()
        look(f())
        best = min(best, time.perf_counter() - start)
    print("RESULT", name, moved, first, best)
corner = lambda r: r.persist()[5, 5]
"""
CASES = {
    "copy": """
x = floats(20000, 20000)
measure("x + 1, f64, 20000²", 6.4e9, lambda: x + 1.0, corner)
""",
    "mean": """
s = floats(301, 513)
check("mean", mean, s); check("mean8", mean8, bytes_of(300)); check("mean_loop", lambda a: mean_loop(a, np.zeros_like(a)), s)
check("mean8_loop", lambda a: mean8_loop(a, np.zeros_like(a)), bytes_of(300))
x = floats(20000, 20000)
measure("3x3 mean, f64, 20000², stencil", 6.4e9, lambda: mean(x), corner)
out = np.zeros_like(x).persist()
measure("3x3 mean, f64, 20000², prange", 6.4e9, lambda: mean_loop(x, out), lambda r: r[5, 5])
b = bytes_of(10000)
measure("3x3 mean, i8, 10000², stencil", 2e8, lambda: mean8(b), corner)
out8 = np.zeros_like(b).persist()
measure("3x3 mean, i8, 10000², prange", 2e8, lambda: mean8_loop(b, out8), lambda r: r[5, 5])
""",
    "heat": """
check("heat", heat, floats(20, 30, 70)); check("heat_loop", lambda a: heat_loop(a, np.zeros_like(a)), floats(20, 30, 70))
u = floats(768, 768, 768)
measure("7-point heat step, f64, 768³, stencil", 2 * 8 * 768.0**3, lambda: heat(u), lambda r: r.persist()[5, 5, 5])
v = np.zeros_like(u).persist()
measure("7-point heat step, f64, 768³, prange", 2 * 8 * 768.0**3, lambda: heat_loop(u, v), lambda r: r[5, 5, 5])
""",
    "sum": """
check("total", total, floats(100001)); check("expression", lambda a: expression(a, np.zeros_like(a)), floats(100001))
y = floats(400000000)
measure("s += x[i], 4e8 f64, prange", 3.2e9, lambda: total(y), lambda r: r)
z = np.zeros_like(y).persist()
measure("out[:] = x * 2 + 1, 4e8 f64", 6.4e9, lambda: expression(y, z), lambda r: r[5])
""",
    "steps": """
check("steps", lambda a: numba.stencil_iterate(jacobi, a, 20), floats(300, 400))
w = floats(16384, 16384)
measure("1000 steps, 5 points, f64, 16384²", 1000 * 2 * 8 * 16384.0**2, lambda: numba.stencil_iterate(jacobi, w, 1000), corner, 1)
del w
v = floats(32768, 32768)
measure("1000 steps, 5 points, f64, 32768²", 1000 * 2 * 8 * 32768.0**2, lambda: numba.stencil_iterate(jacobi, v, 1000), corner, 1)
""",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--device", action="append")
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    options = parser.parse_args()
    header = ["case", "device", "time", "GB/s", "of the copy", "first call"]
    rows, failed = [], False
    for device in options.device or ["gpu:0"]:
        copy = None
        for name, text in CASES.items():
            if options.cases and name not in options.cases and name != "copy":
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".gsl", delete=False) as file:
                file.write(TEXT + text)
            done = subprocess.run([options.gasell, "--device", device, file.name], capture_output=True, text=True, timeout=300)
            os.unlink(file.name)
            if done.returncode:
                print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
                failed = True
            for line in done.stdout.splitlines():
                if line.startswith("CHECK"):
                    print(device, line)
                    failed = failed or line.endswith("DIFFERS")
                if line.startswith("RESULT"):
                    title, moved, first, best = line[7:].rsplit(" ", 3)
                    speed = float(moved) / float(best)
                    copy = copy or speed
                    rows.append([title, device, duration(float(best)), f"{speed / 1e9:.0f}", f"{speed / copy:.0%}", duration(float(first))])
                    print(rows[-1], flush=True)
    print(text_table(header, rows))
    print(markdown_table(header, rows))
    return failed


if __name__ == "__main__":
    sys.exit(main())
