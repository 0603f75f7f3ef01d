#!/usr/bin/env python3
"""Times stencils, prange loops and steps of iterations under Gasell on GPUs, beside the speed of a copy in the same run, and checks small ones
and parts of what was timed against the host.

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
    return (np.arange(n * n) * 7919 % 251 - 125).astype(np.int8).reshape(n, n).persist()
def check(name, f, *args):
    with device("cpu"):
        wanted = f(*args)
        wanted = np.array(wanted)
    got = np.array(f(*args))
    print("CHECK", name, "same" if np.array_equal(got, wanted) else "close" if np.allclose(got, wanted, rtol=1e-13) else "DIFFERS")
def check_bands(name, f, x, got, rows=40):
    # The first rows, some from the middle and the last, each computed from the rows around them alone: those at the ends of a band have
    # neighbours outside of it, where that is not the array's own end.
    n, same = x.shape[0], True
    for begin in (0, n // 2 - 7, n - rows):
        end = begin + rows
        with device("cpu"):
            wanted = np.array(f(np.array(x[begin:end])))
        low, high = 0 if begin == 0 else 1, rows if end == n else rows - 1
        same = same and np.array_equal(np.array(got[begin + low:begin + high]), wanted[low:high])
    print("CHECK", name, "same" if same else "DIFFERS")
def check_steps(name, f, x, got, steps, corner=64):
    # After so many steps a corner depends on no more than this of what was there before.
    part = corner + steps
    with device("cpu"):
        wanted = np.array(f(np.array(x[:part, :part])))[:corner, :corner]
    print("CHECK", name, "same" if np.array_equal(np.array(got[:corner, :corner]), wanted) else "DIFFERS")
def measure(name, moved, f, end, repeat=9):
    start = time.perf_counter()
    result = end(f())
    first = time.perf_counter() - start
    best = 1e99
    for k in range(repeat):
        result = None
        start = time.perf_counter()
        result = end(f())
        best = min(best, time.perf_counter() - start)
    print("RESULT", name, moved, first, best)
    return result
# What is recorded is computed, and waited for; a compiled function waits for its loops itself.
computed = lambda r: r.persist()
returned = lambda r: r
"""
CASES = {
    "copy": """
x = floats(20000, 20000)
measure("x + 1, f64, 20000²", 6.4e9, lambda: x + 1.0, computed)
""",
    "mean": """
s = floats(301, 513)
check("mean", mean, s); check("mean8", mean8, bytes_of(300)); check("mean_loop", lambda a: mean_loop(a, np.zeros_like(a)), s)
check("mean8_loop", lambda a: mean8_loop(a, np.zeros_like(a)), bytes_of(300))
x = floats(20000, 20000)
r = measure("3x3 mean, f64, 20000², stencil", 6.4e9, lambda: mean(x), computed)
check_bands("mean, f64, 20000²", mean, x, r)
del r
out = np.zeros_like(x).persist()
measure("3x3 mean, f64, 20000², prange", 6.4e9, lambda: mean_loop(x, out), returned)
check_bands("mean_loop, f64, 20000²", lambda a: mean_loop(a, np.zeros_like(a)), x, out)
for n in 10000, 10001, 9999:
    b = bytes_of(n)
    r = measure(f"3x3 mean, i8, {n}², stencil", 2 * b.size, lambda: mean8(b), computed)
    check_bands(f"mean8, i8, {n}²", mean8, b, r)
    out8 = np.zeros_like(b).persist()
    measure(f"3x3 mean, i8, {n}², prange", 2 * b.size, lambda: mean8_loop(b, out8), returned)
    check_bands(f"mean8_loop, i8, {n}²", lambda a: mean8_loop(a, np.zeros_like(a)), b, out8)
""",
    "heat": """
check("heat", heat, floats(20, 30, 70)); check("heat_loop", lambda a: heat_loop(a, np.zeros_like(a)), floats(20, 30, 70))
u = floats(768, 768, 768)
r = measure("7-point heat step, f64, 768³, stencil", 2 * 8 * 768.0**3, lambda: heat(u), computed)
check_bands("heat, f64, 768³", heat, u, r)
v = np.zeros_like(u).persist()
measure("7-point heat step, f64, 768³, prange", 2 * 8 * 768.0**3, lambda: heat_loop(u, v), returned)
check_bands("heat_loop, f64, 768³", lambda a: heat_loop(a, np.zeros_like(a)), u, v)
""",
    "sum": """
check("total", total, floats(100001)); check("expression", lambda a: expression(a, np.zeros_like(a)), floats(100001))
y = floats(400000000)
s = measure("s += x[i], 4e8 f64, prange", 3.2e9, lambda: total(y), returned)
print("CHECK total, 4e8", "close" if abs(s - float(y.sum())) < 1e-11 * s else "DIFFERS")
z = np.zeros_like(y).persist()
measure("out[:] = x * 2 + 1, 4e8 f64", 6.4e9, lambda: expression(y, z), returned)
print("CHECK expression, 4e8", "same" if bool((z == y * 2 + 1).all()) else "DIFFERS")
""",
    "steps": """
check("steps", lambda a: numba.stencil_iterate(jacobi, a, 20), floats(300, 400))
for n in 16384, 32768:
    w = floats(n, n)
    r = measure(f"1000 steps, 5 points, f64, {n}²", 1000 * 2 * 8 * float(n)**2, lambda: numba.stencil_iterate(jacobi, w, 1000), computed, 1)
    check_steps(f"1000 steps, {n}²", lambda a: numba.stencil_iterate(jacobi, a, 1000), w, r, 1000)
    del w, r
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
