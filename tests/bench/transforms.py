#!/usr/bin/env python3
"""Times Fourier transforms: the same script under Gasell and under SciPy, each a process of its own.

  tests/bench/transforms.py --gasell build/release/bin/gasell --python PYTHON [--threads 2] [--runs 5] [NAMES…]
  tests/bench/transforms.py --gpu --peer-python PYTHON_WITH_CUPY

PYTHON is an interpreter with SciPy, whose transforms get workers=THREADS, as Gasell's do. With --gpu, PYTHON is one with CuPy, and Gasell computes on the GPU: data and results stay there.
Data is made by formulas, so both see the same numbers. Of each step the fastest of --runs counts, and the first run is shown for Gasell; a step ends when its result is in memory. Results
are compared by a sum over their absolute values that depends on their order before ratios are given.
"""

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import steps

SCRIPT = r'''
from time import @clock@ as clock

import @module@ as np

RUNS, NAMES, THREADS, ON_GPU = @settings@
if ON_GPU:
    from cupyx.scipy import fft

    more = {}
else:
    from scipy import fft

    more = {"workers": THREADS}

LONG = [("2**20", 2**20), ("2**24", 2**24), ("10**6", 10**6), ("1000003, a prime", 1000003), ("3*5*7-smooth 1157625", 1157625), ("215040 = 2**11 * 3 * 5 * 7", 215040)]
if ON_GPU:
    LONG.append(("2**26", 2**26))
SHAPES = [("2048**2", (2048, 2048), (0, 1)), ("1000 of 1024", (1000, 1024), (1,)), ("1024 columns of 1000", (1000, 1024), (0,)), ("20000 of 100", (20000, 100), (1,)), ("100 of 10007", (100, 10007), (1,))]
if ON_GPU:
    SHAPES += [("10000 of 10000", (10000, 10000), (1,)), ("8192**2", (8192, 8192), (0, 1))]


def made(shape, dtype):
    count = 1
    for n in shape:
        count *= n
    x = np.arange(count) * 0.6180339887498949 % 1.0 - 0.5
    if np.dtype(dtype).kind == "c":
        x = x + 1j * (np.arange(count) * 0.7548776662466927 % 1.0)
    return np.array(x.reshape(shape).astype(dtype))


STEPS = []
for label, n in LONG:
    STEPS.append(("1-D " + label, (n,), (0,)))
for label, shape, axes in SHAPES:
    STEPS.append((label, shape, axes))

if "@module@" == "cupy":
    finish = np.cuda.Device().synchronize
elif ON_GPU:  # Gasell's module of Numba's names
    from numba import cuda

    finish = cuda.synchronize
else:
    finish = lambda: None

for label, shape, axes in STEPS:
    for dtype in ("complex128", "complex64", "float64", "float32"):
        name = f"{label}, {dtype}"
        if NAMES and not any([part in name for part in NAMES]):
            continue
        x = made(shape, dtype)
        function = fft.fftn if dtype.startswith("c") else fft.rfftn

        def work():
            result = function(x, axes=axes, **more)
            if hasattr(result, "persist"):
                result = result.persist()
            finish()
            return result

        first = best = None
        finish()
        for k in range(RUNS + 1):
            start = clock()
            result = work()
            taken = clock() - start
            if k == 0:
                first = taken
            else:
                best = taken if best is None else min(best, taken)
        flat = np.abs(result).ravel().astype(np.float64)
        print(f"{name}|{first:.5f}|{best:.6f}|{float((flat * np.cos(np.arange(flat.size) % 977)).sum())!r}|{float(flat.sum())!r}", flush=True)
'''


def measured(command, script, env=None):
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed\n{done.stderr[-2000:]}")
    lines = [line.split("|") for line in done.stdout.splitlines() if line.count("|") == 4]
    return {name: tuple(float(v) for v in values) for name, *values in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="steps whose names contain one of these")
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--python", "--peer-python", default=sys.executable)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--gpu", action="store_true", help="beside CuPy, on a GPU")
    parser.add_argument("--without-libraries", action="store_true", help="with --gpu: Gasell without cuFFT")
    parser.add_argument("--processor-time", action="store_true", help="count one thread's processor time, on a machine that others use, too")
    options = parser.parse_args()
    if options.processor_time:
        options.threads = 1
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "transforms.gsl"
        text = SCRIPT.replace("@settings@", repr((options.runs, options.names, options.threads, options.gpu))[1:-1])
        text = text.replace("@clock@", "process_time" if options.processor_time else "perf_counter")
        script.write_text(text.replace("@module@", "numpy"), encoding="utf-8")
        ours = measured([options.gasell, *(["--device", "gpu"] if options.gpu else ["--device", "cpu", "--threads", str(options.threads)])], script, steps.environment(options.without_libraries))
        script.write_text(text.replace("@module@", "cupy" if options.gpu else "numpy"), encoding="utf-8")
        peer = measured([options.python, "-W", "ignore"], script)
    wrong, ratios = 0, []
    who = "CuPy" if options.gpu else "SciPy"
    print(f"| transform | {who}, ms | Gasell, ms | first, ms | {who} / Gasell |\n|---|---:|---:|---:|---:|")
    for name in [name for name in peer if name not in ours] + [name for name in ours if name not in peer]:
        wrong += 1
        print(f"| {name} | is not in both | | | |")
    for name, (_, seconds, ordered, total) in peer.items():
        if name not in ours:
            continue
        first, own, own_ordered, own_total = ours[name]
        allowed = (1e-4 if name.endswith(("complex64", "float32")) else 1e-10) * total
        same = abs(ordered - own_ordered) <= allowed and abs(total - own_total) <= allowed
        wrong += not same
        ratios.append(seconds / own)
        print(f"| {name} | {1e3 * seconds:.2f} | {1e3 * own:.2f} | {1e3 * first:.1f} | {seconds / own:.2f}{'' if same else f' WRONG: {own_ordered!r} for {ordered!r}'} |")
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} over {len(ratios)}, lowest {min(ratios):.2f}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
