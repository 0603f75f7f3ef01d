#!/usr/bin/env python3
"""Checks that an element's result depends on nothing but its argument: not on the array's length, its place, chunks, fusion, threads or device.

A script applies every elementary function to special and random values of every float and complex type, and compares the whole array's bits with
those of short copies, of single elements, and of compiled functions. It runs under several settings, and on simulated (or real) GPUs; the lines that
it prints, with a checksum of all bits for each function, must be the same.

    tests/fuzz/same_bits.py --gasell build/dev/bin/gasell [--device sim:2 --device gpu] [--count 20000]
"""
import argparse
import os
import subprocess
import sys
import tempfile

SCRIPT = '''
import math
import numpy as np
from numba import njit, vectorize

COUNT = @COUNT@
UNARY = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh",
         "arccosh", "arctanh", "cbrt", "sqrt", "square", "reciprocal", "absolute", "rint"]
BINARY = ["power", "hypot", "arctan2", "fmod", "remainder", "floor_divide", "divide", "logaddexp", "copysign"]
COMPLEX = ["exp", "log", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "sqrt", "square",
           "absolute"]
COMPLEX_BINARY = ["multiply", "divide", "power"]

tiny = {"float64": 5e-324, "float32": 1e-45}
least = {"float64": 2.2250738585072014e-308, "float32": 1.1754944e-38}
most = {"float64": 1.7976931348623157e308, "float32": 3.4028235e38}

def reals(dtype, seed):
    rng = np.random.default_rng(seed)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0, 10.0, 100.0, 1000.0, np.inf, -np.inf, np.nan, tiny[dtype], -tiny[dtype], least[dtype], -least[dtype],
               most[dtype], -most[dtype], 88.7, 89.5, -87.4, -104.5, 709.7, 710.5, -708.5, -746.5, 1e-8, 1e22, 131072.0, 1073741824.0, 3.1415927, 1.5707964]
    parts = [np.array(special), rng.uniform(-1, 1, COUNT), rng.uniform(-30, 30, COUNT), rng.uniform(-800, 800, COUNT),
             2.0 ** rng.uniform(-150, 150, COUNT) * (1 - 2 * rng.integers(0, 2, COUNT))]
    return np.concatenate(parts).astype(dtype)

def whole(y):
    """The bits as integers; every NaN is one."""
    if y.dtype.kind == "c":
        return np.concatenate([whole(y.real.copy()), whole(y.imag.copy())])
    return np.where(np.isnan(y), 0.0, y).astype(y.dtype).view("int64" if y.dtype.itemsize == 8 else "int32").astype("int64")

def checksum(y):
    bits = whole(y)
    return int((bits * (np.arange(len(bits)) * 2654435761 + 1)).sum())

def differ(a, b):
    return int((whole(a) != whole(b)).sum())

def places(n):
    return [(0, 1), (1, 2), (3, 5), (7, 7), (16, 9), (30, 15), (n - 23, 17), (n - 4, 4), (n // 2, 33), (n // 3, 3)]

def short_copies(f, operands, y):
    wrong = 0
    for start, length in places(len(y)):
        part = [x[start:start + length].copy() for x in operands]
        wrong += differ(y[start:start + length], f(*part))
        for k in range(min(length, 3)):
            wrong += differ(y[start + k:start + k + 1], np.array([f(*[x[start + k] for x in operands])]).astype(y.dtype))
    return wrong

def check(dtype, name, operands, compiled):
    f = getattr(np, name)
    y = f(*operands)
    wrong = short_copies(f, operands, y)
    backwards = f(*[x[::-1] for x in operands])[::-1]
    wrong += differ(y, backwards)
    if compiled is not None:
        wrong += differ(y, compiled[0](*operands)) + differ(y, compiled[1][dtype](*operands))
    print(dtype, name, wrong, checksum(y), checksum(f(*operands) * 1.0 + 0.0))

@DEFINITIONS@

for dtype in ("float64", "float32"):
    x, z = reals(dtype, 1), reals(dtype, 2)
    for name in UNARY:
        check(dtype, name, [x], COMPILED[name] if name in COMPILED else None)
    for name in BINARY:
        check(dtype, name, [x, np.roll(z, 7)], COMPILED[name] if name in COMPILED else None)
for dtype in ("complex128", "complex64"):
    part = "float64" if dtype == "complex128" else "float32"
    x, z = (reals(part, 3)[:COUNT] + 1j * np.roll(reals(part, 4), 3)[:COUNT]).astype(dtype), (reals(part, 5)[:COUNT] + 1j * reals(part, 6)[:COUNT]).astype(dtype)
    for name in COMPLEX:
        check(dtype, name, [x], None)
    for name in COMPLEX_BINARY:
        check(dtype, name, [x, z], None)
'''
COMPILED_UNARY = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh",
                  "arccosh", "arctanh", "cbrt", "sqrt"]
COMPILED_BINARY = ["power", "hypot", "arctan2", "fmod"]
SETTINGS = {
    "as it is": {},
    "no small arrays": {"GASELL_SMALL": "0"},
    "fusion off": {"GASELL_FUSE": "0"},
    "chunks of 7": {"GASELL_CHUNK": "7"},
    "chunks of 1000, five threads": {"GASELL_CHUNK": "1000", "GASELL_THREADS": "5"},
    "one thread": {"GASELL_THREADS": "1"},
}


def definitions():
    """A loop and a ufunc of every function that compiled functions have."""
    lines, entries = [], []
    for name, arity in [(n, 1) for n in COMPILED_UNARY] + [(n, 2) for n in COMPILED_BINARY]:
        arrays, elements = ("x", "x[k]") if arity == 1 else ("x, y", "x[k], y[k]")
        lines += ["@njit", f"def loop_{name}({arrays}):", "    result = np.empty_like(x)", "    for k in range(len(x)):", f"        result[k] = np.{name}({elements})",
                  "    return result", "", ""]
        for dtype in ("float64", "float32"):  # a ufunc that has a loop of float64 takes that for float32
            lines += ["@vectorize", f"def each_{name}_{dtype}({arrays}):", f"    return np.{name}({arrays})", ""]
        entries.append(f'"{name}": (loop_{name}, {{"float64": each_{name}_float64, "float32": each_{name}_float32}})')
    return "\n".join(lines) + "\nCOMPILED = {" + ", ".join(entries) + "}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--device", action="append", default=[], help="beside the host: sim:2, gpu, …")
    parser.add_argument("--count", type=int, default=3000, help="random values of a kind")
    options = parser.parse_args()
    runs = [(name, "cpu", settings) for name, settings in SETTINGS.items()]
    runs += [(f"{device}, {name}", device, {**settings, "GASELL_SPLIT_FROM": "0"}) for device in options.device
             for name, settings in (("as it is", {}), ("chunks of 1000", {"GASELL_CHUNK": "1000"}))]
    failed, expected = 0, None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "same_bits.gsl")
        with open(path, "w", encoding="utf-8") as script:
            script.write(SCRIPT.replace("@COUNT@", str(options.count)).replace("@DEFINITIONS@", definitions()))
        for name, device, settings in runs:
            done = subprocess.run([options.gasell, "--device", device, path], capture_output=True, text=True, env={**os.environ, **settings})
            if done.returncode:
                print(f"FAILED {name}: {done.stderr}")
                failed += 1
                continue
            lines = done.stdout.splitlines()
            expected = expected or lines
            differing = [(a, b) for a, b in zip(expected, lines) if a != b]
            inside = [line for line in lines if line.split()[2] != "0"]
            for line in inside:
                print(f"FAILED {name}: {line}: differs within one run")
            for a, b in differing:
                print(f"FAILED {name}: {b} instead of {a}")
            failed += len(differing) + len(inside) + (len(lines) != len(expected))
            print(f"{name}: {len(lines)} functions, {len(inside) + len(differing)} differ")
    if failed:
        sys.exit(f"{failed} failed")


if __name__ == "__main__":
    main()
