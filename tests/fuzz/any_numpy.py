"""Calls of public functions of np, but for those LEFT_OUT, with arrays of every dtype that hold extreme values, for fuzz_numpy.py --any.

Most of them make no sense. Both may raise, whatever they say of it, and Gasell may refuse by name what it has not. Where one alone raises, and where
the answers differ by more than rounding, there must be a reason below: a row of docs/differences.md, or something that C or NumPy leaves open. A reason
is known by the texts of the call and of the answers, so that it may hide another difference of the same call; and where NumPy has no answer in the time
and memory that numpy_peer.py gives it, nothing is compared.
"""

import collections
import math
import random
import re
import subprocess

import numpy_peer
from fuzz_casts import INEXACT

CALLS_A_RUN = 300
DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint16", "uint64", "float32", "float64", "complex64", "complex128"]
SHAPES = [(), (0,), (1,), (4,), (2, 3), (3, 1), (0, 3), (2, 3, 2), (1, 4), (3, 3)]
EXTREME = {
    "b": ["True", "False"],
    "i": ["0", "1", "-1", "2", "7", "np.iinfo('{dtype}').min", "np.iinfo('{dtype}').max"],
    "u": ["0", "1", "2", "200", "np.iinfo('{dtype}').max"],
    "f": ["0.0", "-0.0", "1.0", "np.nan", "np.inf", "-np.inf", "5e-324", "1e30", "-2.5", "0.5", "3.0"],
    "c": ["0j", "1+2j", "complex(np.nan, 1)", "complex(np.inf, -0.0)", "-1-1j", "3+0j", "-0.0+1j"],
}
PLAIN = ["2", "0", "-1", "1.5", "True", "None", "[1, 2, 3]", "(2, 3)", "[[1.5, 2], [3, 4]]", "1j", "np.float32(1.5)", "np.int8(5)"]
OPTIONS = ["axis=0", "axis=-1", "axis=1", "axis=None", "keepdims=True", "dtype=np.float32", "dtype=np.int64", "axis=(0, 1)"]
# Files, settings, what calls functions or writes in place, memory that holds anything (np.empty, np.ndarray), and what differs by design.
LEFT_OUT = set(
    "save savetxt load loadtxt genfromtxt fromstring seterr set_printoptions printoptions errstate geterr get_printoptions vectorize piecewise fromfunction fromiter"
    " apply_along_axis apply_over_axes empty empty_like ndarray copyto put place putmask fill_diagonal put_along_axis shares_memory may_share_memory ndenumerate"
    " ndindex unique_values longlong ulonglong from_array rechunk compute persist array_repr array_str random linalg lib emath exceptions".split()
)


def extreme_array(rng):
    if rng.random() < 0.12:
        return rng.choice(PLAIN)
    shape, dtype = rng.choice(SHAPES), rng.choice(DTYPES)
    values = [rng.choice(EXTREME[dtype[0]]).format(dtype=dtype) for _ in range(math.prod(shape))]
    return f"np.array([{', '.join(values)}], np.{dtype}).reshape({shape})"


def any_call(rng, names):
    arguments = [extreme_array(rng) for _ in range(rng.choice([1, 1, 1, 2, 2, 3]))]
    if rng.random() < 0.25:
        arguments.append(rng.choice(OPTIONS))
    return f"np.{rng.choice(names)}({', '.join(arguments)})"


# ---- differences with a reason ----

RAISED = re.compile(r"^\w*(Error|Exception)\b")
SMALL = r"(?:True|np\.int8\(5\)|np\.array\(\[[^\]]*\], np\.(?:bool|int8|uint8)\)\.reshape\(\([^)]*\)\))"
ALIASES = "acos acosh asin asinh atan atanh atan2 pow".split()
# Functions of small integers with an array of another dtype for the result: NumPy computes them in float16.
IN_HALVES = re.compile(rf"np\.(?:{'|'.join(sorted(INEXACT) + ALIASES)})\({SMALL}(?:, .*)+\)$")
# The C language leaves open what a float that an integer cannot hold becomes.
TO_INTEGERS = re.compile(r"np\.(?:u?int\w*|u?byte|u?short|u?long|astype|as\w*array)\(|dtype=np\.int64|np\.int8\(5\)")
HELD_BY_NONE = re.compile(r"np\.nan|np\.inf|1e30|-2\.5|-1-1j")
# Sums, and what is made of them: they are rounded in another order.
SUMMED = re.compile(
    r"np\.(?:nan)?(?:sum|mean|var|std|average|trapezoid|cov|corrcoef|trace|norm|dot|inner|vdot|vecdot|matvec|vecmat|matmul|tensordot|einsum|convolve|correlate"
    r"|linalg\.\w+|histogram\w*|poly\w*|roots|percentile|quantile|median)\("
)
# Sums of products, whose zeros' signs and whose infinities' other parts depend on the order too.
MULTIPLIED = re.compile(
    r"np\.(?:nan)?(?:prod|dot|inner|vdot|vecdot|matvec|vecmat|matmul|tensordot|einsum|convolve|correlate|poly|polymul|cov|corrcoef|linalg\.\w+)\("
)


def largest(call):
    """The largest number of a call's arguments."""
    found = [2.0 ** (int(bits) - 1) for bits in re.findall(r"iinfo\('u?int(\d+)'\)", call)] + [1e30] * ("1e30" in call)
    return max(found, default=1.0)


def without_dust(text):
    """A text of complex numbers without imaginary parts that rounding alone may have left."""
    return re.sub(r"[-+]\d+\.?\d*e-(?:1[5-9]|[2-9]\d)j", "+0.j", re.sub(r"\s+", "", text))


def near(call, got, want):
    """Whether numbers differ by less than sums of such arguments, or of their squares, may be rounded."""
    pattern = numpy_peer.NUMBER
    got, want = without_dust(got), without_dust(want)
    if pattern.sub("#", re.sub(r"\s+", "", got)) != pattern.sub("#", re.sub(r"\s+", "", want)):
        return False
    pairs = zip(map(float, pattern.findall(got)), map(float, pattern.findall(want)))
    scale = largest(call)
    return all(x == y or (x != x and y != y) or abs(x - y) <= 1e-6 * max(scale, scale * scale * 1e-6) for x, y in pairs)


def without_signs(text):
    """A text of complex numbers without what the order of products decides."""
    text = re.sub(r"[-+]?(?:nan|inf)\s*[-+]\s*(?:nan|inf|[\d.e+-]+?)j", "#", re.sub(r"\s+", "", text))
    return re.sub(r"-(0\.?0*(?:e\+00)?)(?![\d.])", r"+\1", text).replace("+0", "0")


def by_order_of_products(call, got, want):
    return bool(MULTIPLIED.match(call)) and "j" in want and numpy_peer.same(without_signs(got), without_signs(want))


def reason(call, got, want):
    """Why the answers may differ, or None."""
    if got.startswith("NotImplementedError"):
        return "refused by name"
    if RAISED.match(got) and RAISED.match(want):
        return "both raise"
    if re.search("longdouble|float128|object|<U|timedelta64|datetime64", want):
        return "a dtype that is not there"
    if "unexpected keyword argument" in got or "takes no keyword arguments" in got:
        return "a parameter that is not there"
    if got.startswith("OverflowError") and "64 bits" in got:
        return "an int beyond 64 bits"
    if IN_HALVES.match(call):
        return "float16"
    if TO_INTEGERS.search(call) and HELD_BY_NONE.search(call):
        return "a cast that C leaves open"
    if got.startswith("LinAlgError SVD") and "np.inf" in call:
        return "a decomposition that may never end"
    if re.match(r"np\.linalg\.qr\(", call) and "inf" in call and "nan" in got and "nan" in want:
        return "a decomposition of infinities"
    if re.match(r"np\.(?:isin|intersect1d|setdiff1d|setxor1d)\(.*\), ", call) and not RAISED.match(got) and not RAISED.match(want):
        return "elements that are said to be unique"
    if got.startswith("AxisError axis -2147483648"):
        return "the least int32, which is no axis to NumPy"
    if re.match(r"np\.(?:argsort|(?:arg)?partition)\(", call) and not RAISED.match(got) and not RAISED.match(want):
        return "one order of several"
    if call.startswith("np.searchsorted(") and not RAISED.match(got) and not RAISED.match(want):
        return "a search in what is not sorted"
    if SUMMED.match(call) and largest(call) > 1e4 and near(call, got, want):
        return "the order of sums"
    if by_order_of_products(call, got, want):
        return "the order of products"
    if re.match(r"np\.(?:geom|log)space\(", call) and "j" in want and numpy_peer.same(without_dust(got), without_dust(want)):
        return "powers, rounded"
    return None


def public_names(options):
    text = "print(' '.join(dir(np)), ' '.join(['linalg.' + n for n in dir(np.linalg)]))"
    names = subprocess.run([options.gasell, "-c", text], capture_output=True, text=True).stdout.split()
    return [n for n in names if n not in LEFT_OUT and n.split(".")[-1][0].islower()]


def compare(options):
    """Shows the differences without a reason by function, and returns the status to exit with."""
    if numpy_peer.is_missing(options):
        return numpy_peer.NOT_RUN
    options.messages = True
    names = public_names(options)
    found, reasons = collections.defaultdict(list), collections.Counter()
    for k in range(options.any):
        rng = random.Random(f"any {options.seed} {k}")
        for case in numpy_peer.differences(options, [any_call(rng, names) for _ in range(CALLS_A_RUN)]):
            why = reason(*case)
            if why:
                reasons[why] += 1
            else:
                call, got, want = case
                what = "gasell raises" if RAISED.match(got) else "numpy raises" if RAISED.match(want) else "another value"
                found[what, call.split("(")[0]].append(case)
    for (what, name), cases in sorted(found.items()):
        call, got, want = min(cases, key=lambda case: len(case[0]))
        print(f"\nFAILED {what}: {name}, {len(cases)} times\n    {call}\n    numpy:  {want}\n    gasell: {got}")
    failed = sum(map(len, found.values()))
    total = options.any * CALLS_A_RUN
    print(f"seed {options.seed}: {total} calls; differences with a reason: {', '.join(f'{n} {why}' for why, n in reasons.most_common())}")
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0
