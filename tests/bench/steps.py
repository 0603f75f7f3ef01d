"""Steps timed under Gasell and under NumPy, or on a GPU beside CuPy: the same script under both, each a process of its own. The benchmarks say the steps.

Of each step the fastest of --runs counts, and the first run is shown for Gasell; a step ends when its result is in memory (on a GPU: in the GPU's). Results are
compared by a sum that depends on the order of their elements before ratios are given.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = """
from time import @clock@ as clock
import @module@ as np

N, RUNS, NAMES, ON_GPU = @settings@
UNORDERED = ()
"""
LOOP = r'''
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
    start = clock()
    try:
        result = work()
        if hasattr(result, "persist"):
            result = result.persist()
        finish()
        first = clock() - start
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        print(f"{name}: {type(error).__name__}: {error}", flush=True)
        continue
    for _ in range(RUNS):
        finish()
        start = clock()
        result = work()
        if hasattr(result, "persist"):
            result = result.persist()
        finish()
        taken = clock() - start
        best = taken if best is None else min(best, taken)
    flat = np.asarray(result).ravel().astype(np.float64)
    if name in UNORDERED:
        flat = np.sort(flat)
    print(f"{name}|{first:.8f}|{best:.8f}|{float((flat * np.cos(np.arange(flat.size) % 977)).sum())!r}", flush=True)
'''


WITHOUT_LIBRARIES = {"GASELL_CUBLAS": "0", "GASELL_CUFFT": "0", "GASELL_CUSOLVER": "0"}
ONE_THREAD = {"GASELL_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def environment(without_libraries=False, one_thread=False):
    """Of a process: Gasell's with NVIDIA's libraries of mathematics, or with its own kernels and the host in their place; threads that wait take processor time, so
    where that is counted there is one."""
    return {**os.environ, **(WITHOUT_LIBRARIES if without_libraries else {}), **(ONE_THREAD if one_thread else {})}


def measured(command, script, env=None):
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed\n{done.stderr[-2000:]}")
    lines = [line.split("|") for line in done.stdout.splitlines() if line.count("|") == 3]
    for line in done.stdout.splitlines():
        if line.count("|") != 3:
            print(f"{command[0]}: {line}")
    return {name: (float(first), float(best), float(total)) for name, first, best, total in lines}


def in_ms(seconds):
    return f"{1e3 * seconds:.3f}" if seconds < 1e-3 else f"{1e3 * seconds:.2f}"


def main(description, data, elements, tolerance=1e-8):
    """`data`: the script's part that makes the data and STEPS, a dict of functions by name; those in UNORDERED give the same numbers in any order. Results may
    differ by `tolerance`, relative."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="steps whose names contain one of these")
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--elements", type=int, default=elements)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--gpu", action="store_true", help="beside CuPy, on a GPU")
    parser.add_argument("--without-libraries", action="store_true", help="with --gpu: Gasell without cuBLAS, cuFFT and cuSOLVER")
    parser.add_argument("--processor-time", action="store_true", help="count one thread's processor time, on a machine that others use, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "steps.gsl"
        text = (HEAD + data + LOOP).replace("@settings@", repr((options.elements, options.runs, options.names, options.gpu))[1:-1])
        text = text.replace("@clock@", "process_time" if options.processor_time else "perf_counter")
        script.write_text(text.replace("@module@", "numpy"), encoding="utf-8")
        ours = measured([options.gasell, *(["--device", "gpu"] if options.gpu else [])], script, environment(options.without_libraries, options.processor_time))
        script.write_text(text.replace("@module@", "cupy" if options.gpu else "numpy"), encoding="utf-8")
        peer = measured([options.python, "-W", "ignore"], script, environment(one_thread=options.processor_time))
    wrong, ratios = 0, []
    who = "CuPy" if options.gpu else "NumPy"
    print(f"| step | {who}, ms | Gasell, ms | first, ms | {who} / Gasell |\n|---|---:|---:|---:|---:|")
    for name in [name for name in peer if name not in ours] + [name for name in ours if name not in peer]:
        wrong += 1
        print(f"| {name} | is not in both | | | |")
    for name, (_, seconds, total) in peer.items():
        if name not in ours:
            continue
        first, own, own_total = ours[name]
        same = math.isclose(total, own_total, rel_tol=tolerance, abs_tol=1e-6)
        wrong += not same
        ratios.append(seconds / own)
        print(f"| {name} | {in_ms(seconds)} | {in_ms(own)} | {1e3 * first:.1f} | {seconds / own:.2f}{'' if same else f' WRONG: {own_total!r} for {total!r}'} |")
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} over {len(ratios)}")
    sys.exit(1 if wrong else 0)
