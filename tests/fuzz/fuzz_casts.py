#!/usr/bin/env python3
"""Every ufunc with every pair of dtypes, as call, reduce, accumulate, reduceat, outer and at, with dtype=, out= and casting=: what is accepted, values,
dtypes and the names of exceptions must be NumPy's.

    fuzz_casts.py --peer .venv/bin/python3          # the whole, some minutes
    fuzz_casts.py --share 20 --seed 1               # every 20th case
    fuzz_casts.py --only 'add|sign' --messages      # of some functions, with the words of exceptions

Numbers of float32 may differ in the sixth digit, of float64 in the ninth, of float16 in the third. The
closing line is `N passed, N failed`; without a peer nothing is run.
"""

import random
import re
import sys

import numpy_peer

UFUNCS = """
1 negative positive absolute fabs sign sqrt square reciprocal cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh
1 arcsinh arccosh arctanh degrees radians deg2rad rad2deg floor ceil trunc rint isnan isinf isfinite signbit logical_not invert conjugate bitwise_count
1 spacing frexp modf
2 add subtract multiply divide floor_divide remainder fmod power float_power maximum minimum fmax fmin hypot arctan2 copysign nextafter heaviside
2 logaddexp logaddexp2 ldexp gcd lcm equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or
2 bitwise_xor left_shift right_shift divmod
"""
INPUTS = {name: int(line[0]) for line in UFUNCS.strip().splitlines() for name in line.split()[1:]}
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
SOME = "bool int8 int64 uint8 uint64 float16 float32 float64 complex128".split()
NUMBERS = "True 1 -1 300 -300 2**40 1.5 np.nan 1j".split()
PAIRS = ((1, 2), (1.5, 1), (1, True), (1, 1j))
CASTINGS = "no equiv safe same_kind unsafe".split()
# Those whose reductions NumPy computes wrongly where it casts, and comparisons, which it combines with what happens to be in out.
UNFOLDED = "power float_power arctan2 equal not_equal less less_equal greater greater_equal ldexp".split()
# Whose zeros and NaN are no question of casts: of np.power.at NumPy takes the root of -0 where one exponent is 0.5, and that is -0.
OTHER_POWERS = re.compile(r"power.*(complex|1j)|at\(np\.power")
# Of zeros of both signs NumPy's loops of float16 and of .at take the first, its others and Gasell's the greater or the lesser.
EXTREMES_OF_ZEROS = re.compile(r"(?:maximum|minimum|fmax|fmin).*float16|^at\(np\.(?:maximum|minimum|fmax|fmin)")
CASES_A_RUN = 4000

HEAD = """
X = {}
Y = {}
for name in DTYPES:
    if name == "bool":
        X[name] = np.array([True, False, True, False])
        Y[name] = np.array([True, True, False, False])
    elif name[0] == "u":
        X[name] = np.array([7, 0, 100, 3], name)
        Y[name] = np.array([2, 1, 0, 3], name)
    elif name[0] == "i":
        X[name] = np.array([7, 0, 100, -3], name)
        Y[name] = np.array([2, 1, 0, 3], name)
    elif name[0] == "f":
        X[name] = np.array([7.5, -0.0, np.nan, -3], name)
        Y[name] = np.array([2, 0.5, 1, np.nan], name)
    else:
        X[name] = np.array([7.5 + 1j, 0, complex(np.nan, 1), -3 - 2j], name)
        Y[name] = np.array([2, 1j, complex(1, np.nan), -3 + 2j], name)
def at(f, a, *b):
    a = a.copy()
    f.at(a, [0, 1, 1], *b)
    return a
def into(f, dtype, *operands, **options):
    out = np.zeros(4, dtype)
    result = f(*operands, out=out, **options)
    return out
"""


def cases():
    """Every case, as the text of an expression."""
    for name, inputs in INPUTS.items():
        f = f"np.{name}"
        one_output = name not in ("frexp", "modf", "divmod")
        if inputs == 1:
            yield from (f"{f}(X['{a}'])" for a in DTYPES)
            yield from (f"{f}({number})" for number in NUMBERS)
            yield from (f"at({f}, X['{a}'])" for a in DTYPES if one_output)
        else:
            yield from (f"{f}(X['{a}'], Y['{b}'])" for a in DTYPES for b in DTYPES)
            yield from (f"{f}(X['{a}'], {number})" for a in DTYPES for number in NUMBERS)
            yield from (f"{f}({number}, Y['{a}'])" for a in DTYPES for number in NUMBERS)
            yield from (f"{f}(X['{a}'][0], {number})" for a in DTYPES for number in NUMBERS)
            yield from (f"{f}({m}, {n})" for m in NUMBERS for n in NUMBERS)
        operands = [(a, f"X['{a}']") if inputs == 1 else (a, f"X['{a}'], Y['{a}']") for a in DTYPES]
        if inputs == 2 and one_output:
            yield from (f"{f}.outer(X['{a}'], Y['{b}'])" for a in SOME for b in SOME)
            yield from (f"at({f}, X['{a}'], Y['{b}'][:3])" for a in SOME for b in SOME)
        if inputs == 2 and one_output and name not in UNFOLDED:
            for method in (f"{f}.reduce(", f"{f}.accumulate("):
                yield from (f"{method}X['{a}'])" for a in DTYPES)
                yield from (f"{method}X['{a}'][:0])" for a in DTYPES)
                yield from (f"{method}X['{a}'], dtype='{dtype}')" for a in SOME for dtype in SOME)
                outs = SOME if "reduce" in method else []
                if name.startswith("logaddexp"):  # NumPy begins with -inf as out holds it, which is no number of integers
                    outs = [dtype for dtype in outs if "int" not in dtype and dtype != "bool"]
                yield from (f"{method}X['{a}'], out=np.zeros((), '{dtype}'))" for a in SOME for dtype in outs)
            yield from (f"{f}.reduceat(X['{a}'], [0, 2])" for a in DTYPES)
        if not one_output:
            outs = [f"(np.zeros(4, '{a}'), np.zeros(4, '{b}'))" for a in SOME for b in SOME]
            exact = [(a, x) for a, x in operands if a in SOME]
            yield from (f"{f}({x}, out={out})" for a, x in exact for out in outs)
            yield from (f"{f}({x}, dtype='{dtype}', casting='{casting}')" for _, x in exact for dtype in SOME for casting in CASTINGS)
            continue
        yield from (f"{f}({x}, dtype='{dtype}')" for _, x in operands for dtype in DTYPES)
        yield from (f"into({f}, '{dtype}', {x})" for _, x in operands for dtype in DTYPES)
        for casting in CASTINGS:
            few = [x for a, x in operands if a in SOME]
            if inputs == 2:
                yield from (f"{f}(X['{a}'], {number}, casting='{casting}')" for a in SOME for number in ("1", "1.5", "1j", "True"))
                yield from (f"{f}({m}, {n}, dtype='{a}', casting='{casting}')" for a in SOME for m, n in PAIRS)
            yield from (f"{f}({x}, casting='{casting}')" for x in few)
            yield from (f"{f}({x}, dtype='{dtype}', casting='{casting}')" for x in few for dtype in SOME)
            yield from (f"into({f}, '{dtype}', {x}, casting='{casting}')" for x in few for dtype in SOME)


def by_signs_of_zeros(call, got, want):
    return bool(EXTREMES_OF_ZEROS.search(call)) and re.sub(r"[-\s]", "", got) == re.sub(r"[-\s]", "", want) and "0." in got


def main():
    parser = numpy_peer.parser(__doc__)
    parser.add_argument("--share", type=int, default=1, help="one case in so many; the seed says which")
    parser.add_argument("--only", default="", help="a pattern that the case must have")
    options = parser.parse_args()
    chosen = [c for c in cases() if re.search(options.only, c) and not OTHER_POWERS.search(c)]
    random.Random(options.seed).shuffle(chosen) if options.share > 1 else None
    chosen = chosen[:: options.share]
    scripts = (chosen[first : first + CASES_A_RUN] for first in range(0, len(chosen), CASES_A_RUN))
    return numpy_peer.compare(options, scripts, f"DTYPES = {DTYPES}" + HEAD, excused=by_signs_of_zeros)


if __name__ == "__main__":
    sys.exit(main())
