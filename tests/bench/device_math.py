#!/usr/bin/env python3
"""Measures the mathematical functions of GPUs: errors in units of the last place, and speed (docs/accuracy.md has the table).

    tests/bench/device_math.py --gasell build/release/bin/gasell
    tests/bench/device_math.py --gasell … sin pow               these functions only

It needs NumPy with an 80-bit long double (x86-64), whose functions are the truth. Samples are fresh ones each time: half uniform over the range, half with uniform
exponents. Special values (signed zeros, infinities, NaN, subnormal and huge numbers) are compared with NumPy's float64 functions. Ends with 1 if any error is above 2
units (of float32, 1), a special value differs or a GPU complains."""

import argparse
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)  # skipped
if np.finfo(np.longdouble).nmant < 63:
    sys.exit(77)

# name: (range of the first argument, of the second)
FUNCTIONS = {
    "cbrt": ((-1e30, 1e30),), "exp": ((-87, 88),), "exp2": ((-126, 127),), "expm1": ((-40, 88),),
    "log": ((0, 1e30),), "log2": ((0, 1e30),), "log10": ((0, 1e30),), "log1p": ((-0.999, 1e30),),
    "sin": ((-1e6, 1e6),), "cos": ((-1e6, 1e6),), "tan": ((-1e6, 1e6),),
    "arcsin": ((-1, 1),), "arccos": ((-1, 1),), "arctan": ((-1e30, 1e30),),
    "sinh": ((-88, 88),), "cosh": ((-88, 88),), "tanh": ((-40, 40),),
    "arcsinh": ((-1e18, 1e18),), "arccosh": ((1, 1e18),), "arctanh": ((-0.99999, 0.99999),),
    "power": ((1e-3, 1e3), (-12, 12)), "hypot": ((-1e18, 1e18), (-1e18, 1e18)), "arctan2": ((-1e18, 1e18), (-1e18, 1e18)),
    "fmod": ((-1e6, 1e6), (-1e3, 1e3)),
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, -1e-300, 1e-20, -1e-20, 700.0, -700.0, 709.7, -745.0,
           -746.0, 710.0, 1e5, -1e5, 1e15, 1e22, -1e22, 1e300, 1.7976931348623157e308, np.pi, np.pi / 2, 3 * np.pi / 2, 65536.0, 65535.99, 1e-8, 0.7071067811865476, 1.4142135623730951]

SCRIPT = """
import time
import numpy as np
def run(name, f, arity, n):
    for kind in ['float64', 'float32', 'special']:
        a = np.load(FOLDER + '/' + name + '.' + kind + '.0.npy')
        if arity == 2:
            b = np.load(FOLDER + '/' + name + '.' + kind + '.1.npy')
            np.save(FOLDER + '/' + name + '.' + kind + '.result.npy', f(a, b))
        else:
            np.save(FOLDER + '/' + name + '.' + kind + '.result.npy', f(a))
    for kind in ['float64', 'float32']:
        a = np.load(FOLDER + '/' + name + '.' + kind + '.0.npy')
        big = np.concatenate([a] * n).compute()
        if arity == 2:
            b = np.load(FOLDER + '/' + name + '.' + kind + '.1.npy')
            other = np.concatenate([b] * n).compute()
        best = 1e9
        for k in range(4):
            t = time.perf_counter()
            if arity == 2:
                r = f(big, other).compute()
            else:
                r = f(big).compute()
            best = min(best, time.perf_counter() - t)
        print(name, kind, best / big.size)
"""


def samples(generator, bounds, count, dtype):
    low, high = bounds
    uniform = generator.uniform(low, high, count // 2)
    smallest = -18.0 if low != -126 else -12.0
    exponents = 10 ** generator.uniform(smallest, np.log10(max(abs(low), abs(high))), count - count // 2)
    signed = exponents * np.where((generator.random(exponents.size) < 0.5) & (low < 0), -1, 1)
    signed = np.clip(signed + (low if low == 1 else 0), low, high)
    return generator.permutation(np.concatenate([uniform, signed])).astype(dtype)


def ulps(got, arguments, function, dtype):
    """The largest error in units of the last place of the true value, and where."""
    with np.errstate(all="ignore"):
        truth = getattr(np, function)(*[a.astype(np.longdouble) for a in arguments])
        rounded = truth.astype(dtype)
        unit = np.spacing(np.abs(rounded)).astype(np.longdouble)
        error = np.abs(got.astype(np.longdouble) - truth) / unit
        right = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        error[right] = np.fmin(0.5, error[right])  # also where both are infinite or NaN
        error[np.isnan(error)] = np.inf
    worst = int(np.argmax(error))
    return float(error[worst]), tuple(float(a[worst]) for a in arguments)


def wrong_specials(got, arguments, function):
    with np.errstate(all="ignore"):
        expected = getattr(np, function)(*arguments)
        # The spacing above the largest number is infinite: nothing would be far from it.
        near = np.isfinite(got) & np.isfinite(expected) & (expected != 0) & (np.abs(got - expected) <= 4 * np.spacing(np.abs(expected)))
    same = (np.isnan(got) & np.isnan(expected)) | ((got == expected) & (np.signbit(got) == np.signbit(expected))) | near
    return [(*[float(a[k]) for a in arguments], float(got[k]), float(expected[k])) for k in np.flatnonzero(~same)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--count", type=int, default=1 << 20, help="samples a function")
    parser.add_argument("--repeat", type=int, default=256, help="how often the samples are repeated in what is timed")
    options = parser.parse_args()
    generator = np.random.default_rng()
    names = [name for name in FUNCTIONS if not options.names or name in options.names]
    failed = False
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        inputs = {}
        for name in names:
            bounds = FUNCTIONS[name]
            for kind, dtype in (("float64", np.float64), ("float32", np.float32)):
                inputs[name, kind] = [samples(generator, b, options.count, dtype) for b in bounds]
            special = np.array(SPECIAL)
            inputs[name, "special"] = [special] if len(bounds) == 1 else [np.repeat(special, special.size), np.tile(special, special.size)]
        for (name, kind), arrays in inputs.items():
            for k, array in enumerate(arrays):
                np.save(f"{folder}/{name}.{kind}.{k}.npy", array)
        for name in names:
            script = f"FOLDER = {folder!r}\n{SCRIPT}run({name!r}, np.{name}, {len(FUNCTIONS[name])}, {options.repeat})\n"
            done = subprocess.run([options.gasell, "--device", options.device, "-c", script], capture_output=True, text=True)
            if done.stderr:  # an error, or a GPU that was lost
                print(f"{name}: {done.stderr}")
                failed = True
            for line in done.stdout.splitlines():
                _, kind, seconds = line.split()
                rows.setdefault(name, {})[kind, "speed"] = 1e-9 / float(seconds)
        for name, kind in inputs:
            got = np.load(f"{folder}/{name}.{kind}.result.npy")
            if kind == "special":
                bad = wrong_specials(got, inputs[name, kind], name)
                for entry in bad[:6]:
                    print(f"{name}{entry[:-2]} is {entry[-2]}, NumPy says {entry[-1]}")
                failed = failed or bool(bad)
                continue
            error, where = ulps(got, inputs[name, kind], name, np.dtype(kind))
            rows[name][kind, "ulp"] = error
            if error > (1 if kind == "float32" else 2):
                failed = True
                print(f"{name}{where} in {kind} is off by {error:.3g} units")
    print("| function | arguments | f64 ulp | f64 G/s | f32 ulp | f32 G/s |\n|---|---|---|---|---|---|")
    for name in names:
        row = rows[name]
        cells = [name, " and ".join(f"{low:g} … {high:g}" for low, high in FUNCTIONS[name])]
        cells += [f"{row[kind, what]:.{digits}f}" for kind in ("float64", "float32") for what, digits in (("ulp", 2), ("speed", 0))]
        print("| " + " | ".join(cells) + " |")
    return failed


if __name__ == "__main__":
    sys.exit(main())
