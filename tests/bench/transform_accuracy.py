#!/usr/bin/env python3
"""Measures how exact Fourier transforms are, Gasell's beside those of SciPy's pocketfft, against long double; prints the table of docs/accuracy.md.

  tests/bench/transform_accuracy.py [--gasell build/dev/bin/gasell] [--python PYTHON] [--device cpu] [--longest 1200000]

PYTHON is an interpreter with NumPy 2 and SciPy, whose long double has 64 bits or more. (NumPy's own names compute forward transforms of single precision in double.) Both transform the same random numbers (uniform in -1 … 1). An error is the root of the mean square of
the differences from the true transform, in units of the type's precision (2**-52, 2**-23) and of the root of the mean square of the transform. True are, up to 2048 elements, the sums
that define the transform, in long double, of roots of unity whose angles are reduced in integers; above, pocketfft's of long doubles, which is held to those sums where there
are both. Exit status 1 where Gasell's error is more than twice pocketfft's and more than one unit.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = [
    ("powers of two", [8, 64, 1024, 4096, 2**16, 2**20]),
    ("of 3, 5 and 7", [15, 105, 1575, 33075, 1157625]),
    ("others without large factors", [30, 1000, 10**5, 215040, 10**6]),
    ("primes", [13, 101, 509, 1021, 10007, 100003, 1000003]),
]
TRANSFORMS = [("complex128", "fft"), ("complex128", "ifft"), ("complex64", "fft"), ("float64", "rfft"), ("float64", "irfft"), ("float32", "rfft"), ("float32", "irfft")]

OURS = r"""
import sys

folder, lengths = sys.argv[1], [int(n) for n in sys.argv[2:]]
for n in lengths:
    for dtype, name in TRANSFORMS:
        x = np.load(f"{folder}/{dtype}-{name}-{n}.npy")
        r = np.fft.irfft(x, n) if name == "irfft" else {"fft": np.fft.fft, "ifft": np.fft.ifft, "rfft": np.fft.rfft}[name](x)
        np.save(f"{folder}/{dtype}-{name}-{n}-ours.npy", r)
"""

THEIRS = r"""
import sys
import numpy as np
from scipy import fft

folder, lengths = sys.argv[1], [int(n) for n in sys.argv[2:]]
random = np.random.default_rng(1)
assert np.finfo(np.longdouble).nmant >= 63, "long double has no more digits than double here"


def made(n, dtype, name):
    if name == "irfft":
        x = random.uniform(-1, 1, n // 2 + 1) + 1j * random.uniform(-1, 1, n // 2 + 1)
        x[0] = x[0].real
        if n % 2 == 0:
            x[-1] = x[-1].real
        return x.astype("complex64" if dtype == "float32" else "complex128")
    x = random.uniform(-1, 1, n)
    return (x + 1j * random.uniform(-1, 1, n)).astype(dtype) if dtype[0] == "c" else x.astype(dtype)


def sums(x, sign):
    n = len(x)
    angle = 8 * np.arctan(np.longdouble(1)) * np.arange(n) / n
    root = np.cos(angle) + np.clongdouble(1j * sign) * np.sin(angle)
    k = np.arange(n)
    return np.array([(x * root[k * j % n]).sum() for j in range(n)])


def true(x, n, name):
    wide = x.astype(np.clongdouble)
    if name == "irfft":
        whole = np.zeros(n, np.clongdouble)
        whole[: len(x)] = wide
        whole[n - np.arange(1, (n + 1) // 2)] = wide[1 : (n + 1) // 2].conj()
        wide = whole
    forward = name in ("fft", "rfft")
    by_transform = fft.fft(wide) if forward else fft.ifft(wide)
    if n <= 2048:
        result = sums(wide, -1 if forward else 1) / (1 if forward else n)
        apart = np.sqrt((np.abs(by_transform - result) ** 2).mean() / (np.abs(result) ** 2).mean())
        assert apart < 1e-18 * 8, (n, name, apart)
    else:
        result = by_transform
    return result.real if name == "irfft" else result[: n // 2 + 1] if name == "rfft" else result


def error(got, wanted, dtype):
    precision = np.finfo(dtype).eps
    return float(np.sqrt((np.abs(got - wanted) ** 2).mean() / (np.abs(wanted) ** 2).mean()) / precision)


for n in lengths:
    for dtype, name in TRANSFORMS:
        path = f"{folder}/{dtype}-{name}-{n}"
        if MAKING:
            np.save(path + ".npy", made(n, dtype, name))
            continue
        x, ours = np.load(path + ".npy"), np.load(path + "-ours.npy")
        theirs = fft.irfft(x, n) if name == "irfft" else getattr(fft, name)(x)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (n, name, ours.dtype, ours.shape)
        wanted = true(x, n, name)
        print(n, dtype, name, error(ours, wanted, dtype), error(theirs, wanted, dtype))
"""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:2]))} failed\n{done.stderr[-2000:]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default="build/dev/bin/gasell")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--longest", type=int, default=1200000)
    options = parser.parse_args()
    kinds = [(told, [n for n in lengths if n <= options.longest]) for told, lengths in KINDS]
    lengths = [str(n) for _, some in kinds for n in some]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "ours.gsl"
        script.write_text(OURS.replace("TRANSFORMS", repr(TRANSFORMS)), encoding="utf-8")
        theirs = [options.python, "-c", THEIRS.replace("TRANSFORMS", repr(TRANSFORMS))]
        run([theirs[0], "-c", theirs[2].replace("MAKING", "True"), folder, *lengths])
        run([options.gasell, "--device", options.device, str(script), folder, *lengths])
        rows = run([theirs[0], "-c", theirs[2].replace("MAKING", "False"), folder, *lengths])
    errors = {}
    for row in rows.splitlines():
        n, dtype, name, ours, theirs = row.split()
        errors[int(n), dtype, name] = float(ours), float(theirs)
    print("| n | " + " | ".join(f"{dtype} {name}" for dtype, name in TRANSFORMS) + " |\n|---|" + "---|" * len(TRANSFORMS))
    wrong = []
    for told, some in kinds:
        for n in some:
            cells = [errors[n, dtype, name] for dtype, name in TRANSFORMS]
            wrong += [f"{n} {dtype} {name}" for (dtype, name), (ours, theirs) in zip(TRANSFORMS, cells) if ours > max(2 * theirs, 1.0)]
            print(f"| {n}{f', {told}' if n == some[0] else ''} | " + " | ".join(f"{ours:.2f} ({theirs:.2f})" for ours, theirs in cells) + " |")
    if wrong:
        print("more than twice pocketfft's error: " + "; ".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
