"""Values on fresh random inputs: functions against the C library's, everything exact against the host, bit by bit."""

import array
import math
import os
import random
import re
import struct
from fractions import Fraction

from .common import Skipped, Wrong, shortened

ULPS = 2


def cbrt(x):
    """Python has none before 3.11: a step of Newton's in exact arithmetic."""
    root = math.copysign(abs(x) ** (1 / 3), x)
    return root - float((Fraction(root) ** 3 - Fraction(x)) / (3 * Fraction(root) ** 2)) if root else x


# Name, the range of the arguments, and the true function of doubles.
FUNCTIONS = [
    ("sqrt", 0, 1e30, math.sqrt), ("cbrt", -1e30, 1e30, cbrt), ("exp", -87, 88, math.exp), ("exp2", -126, 126, lambda x: 2.0**x),
    ("expm1", -40, 88, math.expm1), ("log", 0, 1e30, math.log), ("log2", 0, 1e30, math.log2), ("log10", 0, 1e30, math.log10), ("log1p", -0.999, 1e30, math.log1p),
    ("sin", -1e6, 1e6, math.sin), ("cos", -1e6, 1e6, math.cos), ("tan", -1e6, 1e6, math.tan), ("arcsin", -1, 1, math.asin), ("arccos", -1, 1, math.acos),
    ("arctan", -1e30, 1e30, math.atan), ("sinh", -88, 88, math.sinh), ("cosh", -88, 88, math.cosh), ("tanh", -40, 40, math.tanh), ("arcsinh", -1e18, 1e18, math.asinh),
    ("arccosh", 1, 1e18, math.acosh), ("arctanh", -0.99999, 0.99999, math.atanh),
]
PAIRS = [("power", 0.001, 1000, lambda x, y: x**y), ("hypot", -1e18, 1e18, math.hypot), ("arctan2", -1e18, 1e18, math.atan2)]
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, 1.0, -1.0, 0.5, 2.0, 1e-30, 700.0, -700.0]


def numbers(rng, count, low, high):
    """Half of them uniform, half of them of any magnitude within the range."""
    uniform = [rng.uniform(low, high) for _ in range(count // 2)]
    exponents = (-40.0, math.log2(max(abs(low), abs(high))))
    sign = (lambda: rng.choice((-1, 1))) if low < 0 else (lambda: 1)
    other = [min(max(sign() * 2.0 ** rng.uniform(*exponents), low), high) for _ in range(count - count // 2)]
    return uniform + other


def write_npy(path, values, code):
    kind = {"d": "<f8", "f": "<f4"}[code]
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.array(code, values).tobytes())


def read_npy(path, code):
    """The numbers of a file that np.save wrote, of this type of module array."""
    with open(path, "rb") as file:
        data = file.read()
    values = array.array(code)
    values.frombytes(data[10 + struct.unpack("<H", data[8:10])[0] :])
    return values


def ordered(values, code):
    """Numbers as integers that count the representable ones in between."""
    bits = array.array({"d": "q", "f": "i"}[code])
    bits.frombytes(values.tobytes())
    low = -(1 << (63 if code == "d" else 31))
    return [b if b >= 0 else low - b for b in bits]


def functions(target):
    rng, count = random.Random(target.seed), 4000 if target.quick else 20000
    worst, wrong = (0, ""), []
    for code, dtype in (("d", "float64"), ("f", "float32")):
        lines, cases = [], []
        for name, low, high, truth in FUNCTIONS + PAIRS:
            pair = (name, low, high, truth) in PAIRS
            x = array.array(code, numbers(rng, count, low, high))
            y = array.array(code, numbers(rng, count, low if name != "power" else -10, high if name != "power" else 10)) if pair else None
            path = os.path.join(target.folder, f"{name}_{code}")
            write_npy(path + "_x.npy", x, code)
            if pair:
                write_npy(path + "_y.npy", y, code)
            arguments = "np.load({0!r} + '_x.npy')" + (", np.load({0!r} + '_y.npy')" if pair else "")
            lines.append(f"np.save({path!r} + '_' + where + '.npy', np.{name}({arguments.format(path)}))")
            cases.append((name, path, x, y, truth))
        target.output("where = 'gpu'\n" + "\n".join(lines), target.first(1), **target.poisoned)
        for name, path, x, y, truth in cases:
            right = array.array(code, (truth(*arguments) for arguments in (zip(x, y) if y else zip(x))))
            got = read_npy(path + "_gpu.npy", code)
            errors = [abs(a - b) for a, b in zip(ordered(got, code), ordered(right, code), strict=True)]
            at = max(range(len(errors)), key=errors.__getitem__)
            worst = max(worst, (errors[at], f"{name}, {dtype}"))
            if errors[at] > ULPS:
                wrong.append(f"    {name}({x[at]!r}{f', {y[at]!r}' if y else ''}) of {dtype} is {got[at]!r}, not {right[at]!r}: {errors[at]} units of the last place")
    wrong += special_values(target)
    if wrong:
        raise Wrong("\n".join(wrong))
    return f"{count} arguments each; at most {worst[0]} units of the last place ({worst[1]})"


def special_values(target):
    """What is NaN, infinite or a signed zero is so on the host, too."""
    text = "nan, inf = np.nan, np.inf\n"
    for dtype in ("float64", "float32"):
        text += f"x = np.array({SPECIAL!r}).astype('{dtype}')\n"
        for name, *_ in FUNCTIONS:
            text += f"y = np.{name}(x)\nprint('{name} {dtype}', np.isnan(y).tolist(), np.isinf(y).tolist(), (y == 0).tolist(), (np.signbit(y) & ~np.isnan(y)).tolist())\n"
        for name, *_ in PAIRS:
            text += (f"y = np.{name}(x[:, None], x[None, :])\n"
                     f"print('{name} {dtype}', np.isnan(y).tolist(), np.isinf(y).tolist(), (y == 0).tolist(), (np.signbit(y) & ~np.isnan(y)).tolist())\n")
    host, gpu = (target.run(text, device, **target.poisoned) for device in ("cpu", target.first(1)))
    if host[0] or gpu[0]:
        return [shortened((host if host[0] else gpu)[2])]
    return [f"    special values: {a[:200]}\n    on the host:    {b[:200]}" for a, b in zip(gpu[1].splitlines(), host[1].splitlines(), strict=True) if a != b]


EXACT_FLOATS = ["x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "np.sqrt(abs(x))", "np.floor(x)", "np.ceil(x)", "np.trunc(x)", "np.rint(x)", "-x", "abs(x)", "np.maximum(x, y)",
                "np.fmin(x, y)", "np.copysign(x, y)", "np.where(x < y, x, y)", "(x <= y) | (x != x)", "x * y + 1.5", "np.sign(x)", "np.clip(x, -2, 3)", "np.square(x) - y", "1 / x",
                "x.astype('float32').astype('float64')", "np.isfinite(x)", "(x[1:] + x[:-1]) / 2", "x[::-1] - y", "x[: x.size // 3 * 3 : 3] * y[1::3]", "(x % 100).astype('int32')"]
EXACT_INTEGERS = ["x + y", "x - y", "x * y", "x // y", "x % y", "x & y", "x | y", "x ^ y", "~x", "x < y", "x == y", "np.maximum(x, y)", "np.sign(x)", "x / 3", "x.astype('float32')",
                  "x.astype('float64') * 0.1", "x.astype('int8')", "x.astype('uint16')", "x.astype('bool')", "np.where(x > y, x, y)", "x[::-1] + y[::2].repeat(2)[:x.size]", "x >> 2", "x << 1"]
QUOTIENTS = ["x / y", "x / y[7]", "3 / y", "x / s[:, None]", "s / y[:, None]", "s / s[:, None]", "x // y", "(x * y).astype('float32') / y.astype('float32')"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def exact(target):
    """Every bit of every result, but for those of a NaN."""
    rng, n = random.Random(target.seed + 1), 10_000 if target.quick else 100_000
    text, cases = f"nan, inf = np.nan, np.inf\nr = np.random.default_rng({rng.randrange(2**31)})\n", []
    for dtype in ("float64", "float32", *INTEGERS):
        if dtype.startswith("float"):
            text += f"x = (r.normal(0, 1, {n}) * np.where(r.random({n}) < 0.3, 1e5, 1) / r.integers(1, 10**5, {n})).astype('{dtype}')\ny = (r.normal(0, 3, {n}) + 0.125).astype('{dtype}')\n"
        else:
            text += f"x = r.integers(0, 2**62, {n}).astype('{dtype}')\ny = r.integers(1, 2**40, {n}).astype('{dtype}') | 1\n"
        for expression in EXACT_FLOATS if dtype.startswith("float") else EXACT_INTEGERS:
            text += f"np.save(where + '{len(cases)}.npy', {expression})\n"
            cases.append((dtype, expression))
    for dtype, most in (("float64", 971), ("float32", 104)):  # of every magnitude: subnormal, near the largest, and quotients of both kinds
        text += f"powers = np.array([2.0**k for k in range({-29 - most}, {most})])\n"
        for name in "xy":
            text += f"{name} = ((r.integers(-(2**53), 2**53, {n}) >> r.integers(0, 53, {n})) * powers[r.integers(0, powers.size, {n})]).astype('{dtype}')\n"
        text += f"s = np.array({SPECIAL!r}).astype('{dtype}')\n"
        for expression in QUOTIENTS:
            text += f"np.save(where + '{len(cases)}.npy', {expression})\n"
            cases.append((dtype, expression))
    target.output("where = 'host_'\n" + text, "cpu")
    target.output("where = 'gpu_'\n" + text, target.first(1), **target.poisoned)
    wrong = []
    for k, (dtype, expression) in enumerate(cases):
        host, gpu = (os.path.join(target.folder, f"{where}{k}.npy") for where in ("host_", "gpu_"))
        with open(host, "rb") as one, open(gpu, "rb") as other:
            a, b = one.read(), other.read()
        if a == b:
            continue
        kind = re.search(rb"'descr': '[<|]([a-z]\d)'", a)[1].decode()
        code = {"f8": "d", "f4": "f", "i8": "q", "u8": "Q", "i4": "i", "u4": "I", "i2": "h", "u2": "H", "i1": "b", "u1": "B", "b1": "B"}[kind]
        x, y = read_npy(host, code), read_npy(gpu, code)
        differing = [i for i, (p, q) in enumerate(zip(x, y)) if p != q and (p == p or q == q) or p == q == 0 and math.copysign(1, p) != math.copysign(1, q)]
        if len(x) != len(y) or differing or a[:128] != b[:128]:
            wrong.append(f"    {expression} of {dtype}: {len(differing)} of {len(x)} differ, at first " + (f"{y[differing[0]]!r}, not {x[differing[0]]!r}" if differing else "the header"))
    if wrong:
        raise Wrong("\n".join(wrong))
    return f"{len(cases)} expressions of {n:,} elements"


def reductions(target):
    rng = random.Random(target.seed + 2)
    text = f"r = np.random.default_rng({rng.randrange(2**31)})\n"
    for k in range(6 if target.quick else 16):
        rank = rng.randrange(1, 4)
        shape = tuple(int(10 ** (rng.uniform(3, 6.3) / rank)) for _ in range(rank))
        dtype = rng.choice(["float64", "float64", "float32", "int64", "int32", "uint8", "bool", "complex128"])
        source = f"r.normal(1, 3, {shape})" if rng.random() < 0.5 else f"r.integers(0, 100, {shape})"
        text += f"a = ({source}).astype('{dtype}')" + (f" + 1j * r.normal(0, 1, {shape})" if dtype == "complex128" else "") + "\n"
        if rank > 1 and rng.random() < 0.4:
            text += "a = a.T\n" if rng.random() < 0.5 else "a = a[::2, 1:]\n"
        for axis in ("", *(f"axis={i}" for i in range(rank))):
            for f in ("sum", "mean", "any") if dtype in ("bool", "complex128") else ("sum", "mean", "max", "min", "argmax", "argmin", "std", "all"):
                text += f"b = a.{f}({axis})\nprint({k}, '{f} {axis}', " + ("repr(b)" if not axis else "b.ravel()[:3].tolist(), b.ravel()[-3:].tolist(), repr(b.sum())") + ")\n"
    compare(target, text)
    return f"{text.count('b = ')} reductions"


def compare(target, text):
    host = target.output(text, "cpu")
    got = target.output(text, target.first(1), **target.poisoned)
    wrong = [f"    {a[:160]}\n    on the host:  {b[:160]}" for a, b in zip(got.splitlines(), host.splitlines(), strict=True) if a != b]
    if wrong:
        raise Wrong("\n".join(wrong[:12]) + f"\n    {len(wrong)} lines differ")


def same_bits(target):
    """One text on one GPU, on two, on all: sums of numbers that round, functions that round, random numbers, writes to parts."""
    if len(target.gpus) == 1:
        raise Skipped("there is one GPU")
    n = 200_000 if not target.real else 3_000_000 if target.quick else 60_000_000
    text = f"""
r = np.random.default_rng({target.seed})
x, y = r.normal(10, 1, {n}), r.random({n})
z = np.exp(-y) * np.sin(x) + np.log(y + 1)
print(repr(x.sum()), repr(z.sum()), repr(z.std()), repr(z.mean()), z.argmax(), repr(z.max()))
m = z[:{n - n % 1000}].reshape(-1, 1000)
print(m.sum(axis=0)[::100].tolist(), m.mean(axis=1)[::{max(1, n // 20000)}].tolist())
for k in range(5):
    x[1:-1] = (z[:-2] + x[2:]) * 0.5
    z = z * 0.75 + x
print(repr(z.sum()), repr((x * z).sum()), z[::{n // 10}].tolist())
print(repr(da.random.RandomState({target.seed}).normal(10, 1, size=({n // 1000}, 5000))[::2, ::2].sum().compute()))
"""
    right = target.output(text, target.first(1), **target.poisoned)
    for count in sorted({2, len(target.gpus)}):
        target.same(text, target.first(count), right, GASELL_SPLIT_FROM="0", **target.poisoned)
    return f"1, {', '.join(str(c) for c in sorted({2, len(target.gpus)}))} GPUs"


def two_terabytes(target):
    n = 2000 if not target.real else 20000 if target.quick else 60000
    text = f"import dask.array as da\nx = da.random.RandomState({target.seed % 2**32}).normal(10, 1, size=({n}, {n}), chunks=(1000, 1000))\nprint((x + 1)[::2, ::2].sum().compute())\n"
    right = target.output(text, "cpu")
    for device in dict.fromkeys((target.first(1), target.all)):
        target.same(text, device, right)
