#!/usr/bin/env python3
"""Random calls of np's functions, run under Gasell and under CPython + NumPy: values, dtypes, shapes and the names of exceptions must be the same.

    fuzz_numpy.py --runs 5 --seed 1 --peer .venv/bin/python3

Each run is a script of 300 calls made from the templates below. Numbers of float32 may differ in the sixth digit, of float64 in the ninth, of float16
in the third. The closing line is `N passed, N failed`; without a peer nothing is run.

    fuzz_numpy.py --any 30                     calls of any public function with arrays of every dtype that hold extreme values (any_numpy.py)
    fuzz_numpy.py --programs 20                programs of sorts, scans, selections, searches and counts (algorithm_programs.py)
    fuzz_numpy.py --selections 100000          selections of elements, read and written (selections.py)
"""

import math
import random
import re
import sys

import algorithm_programs
import any_numpy
import any_reasons
import numpy_peer
import selections
from any_numpy import CALLS_A_RUN, DTYPES, SHAPES

REAL = [t for t in DTYPES if not t.startswith("complex")]
# What a capital letter in a template becomes: shapes and dtypes to choose from.
ARRAYS = {
    "A": (SHAPES, DTYPES),
    "R": (SHAPES, REAL),
    "V": ([(4,)], DTYPES),
    "W": ([(4,), (1,)], DTYPES),
    "M": ([(2, 3), (3, 3)], DTYPES),
    "N": ([(2, 3)], DTYPES),
    "I": ([(2, 3)], ["int64"]),
    "B": (SHAPES, ["bool"]),
    "C": ([(2, 3)], ["bool"]),
    "D": ([(4,)], ["bool"]),
    "U": (SHAPES, ["uint8", "int64", "bool"]),
}
# {a|b} is one of the choices.
TEMPLATES = """
np.{cumsum|cumprod|nancumsum|nancumprod}(A, axis={None|0|-1|1})
np.sort(A, axis={None|0|-1|1})
np.argsort(A, axis={None|0|-1}, kind='stable')
np.unique(A)
np.unique(A, return_index=True, return_inverse=True, return_counts=True)
np.roll(A, {-5|-1|0|2|7}, axis={None|0|-1|1})
np.tile(A, {2|(2, 1)|(1, 2, 2)|0|()})
np.repeat(A, {2|0|[1, 2]|[2, 0, 1]}, axis={None|0|-1})
np.diff(A, n={0|1|2|3}, axis={0|-1|1})
np.{median|nanmedian|ptp}(A, axis={None|0|-1|2|(0, 1)}, keepdims={True|False})
np.percentile(R, {50|[10, 90]|33.3}, axis={None|0|-1|2})
np.quantile(R, {0.5|[0.1, 0.7]}, axis={None|0|-1}, method='{linear|lower|higher|nearest|midpoint|hazen|weibull}')
np.{nansum|nanprod|nanmean|nanvar|nanstd|nanmin|nanmax}(A, axis={None|0|-1|2|(0, 1)}, keepdims={True|False})
np.{nanargmin|nanargmax}(A, axis={None|0|-1})
np.{sum|prod|mean|var|std|min|max|any|all}(A, axis={None|0|-1|2|(0, 1)}, keepdims={True|False})
np.{sum|prod|any|all|mean|var}(N, axis={None|0|-1}, where=C)
np.{argmin|argmax|count_nonzero}(A, axis={None|0|-1|1})
np.{trace|diagonal|diag}(A, {-2|-1|0|1|2})
np.{tril|triu}(A, {-1|0|1})
np.{outer|kron|inner|vdot|dot|matmul}(A, A)
np.{dot|matmul|inner|tensordot}(N, {V|M|N})
np.{hstack|vstack|dstack|column_stack|concatenate|stack}((A, A))
np.append(A, A, axis={None|0})
np.{split|array_split}(A, {2|3|[1]|[1, 3]}, axis={0|-1})
np.searchsorted(np.sort(V), A, side='{left|right}')
np.{nonzero|argwhere|flatnonzero}(A)
np.take(A, {0|[0, -1]|[[1, 0]]|5|[]}, axis={None|0|-1}, mode='{raise|wrap|clip}')
np.compress({[True, False, True]|[0, 1]|[False]}, A, axis={None|0|-1})
np.{flip|fliplr|flipud|atleast_1d|atleast_2d|atleast_3d|squeeze|transpose|ravel|nan_to_num|isreal|iscomplex|real|imag|sign|square}(A)
np.rot90(A, {0|1|2|-1})
np.isclose(A, A)
(np.array_equal(A, A), np.array_equiv(A, A))
np.{isin|intersect1d|union1d|setdiff1d|setxor1d}(A, A)
np.{heaviside|gcd|lcm|copysign|maximum|minimum|fmax|fmin|hypot|bitwise_xor|left_shift|logical_xor}(A, A)
np.{modf|frexp|spacing|trunc|fix|bitwise_count|packbits}(A)
np.bincount(U)
np.digitize(R, {[0, 2, 5]|[5, 2, 0]|[1]})
np.interp(R, [0, 2, 5], [1, 4, 2])
np.{convolve|correlate}(W, W, '{full|same|valid}')
np.clip(A, {None|0|-1.5}, {3|2.5})
np.where(B, A, A)
np.select([D, D], [V, V], {0|1.5})
np.average(N, axis={None|0|-1}, weights={None|I})
np.gradient(M)
np.trapezoid({V|M}, axis={0|-1})
np.pad(A, {1|(1, 2)|0}, mode='{constant|edge|wrap|reflect|symmetric|maximum}')
np.insert(A, {0|1|-1|[0, 2]}, {9|[7, 8]}, axis={None|0|-1})
np.delete(A, {0|1|-1|[0, 1]|slice(0, 2)}, axis={None|0|-1})
np.resize(A, {3|(2, 2)|(3, 4)})
np.moveaxis(A, {0|1|-1}, {0|1|-1})
np.{add|subtract|multiply|maximum|minimum|logical_and|fmax}.reduce(A, axis={None|0|-1|1})
np.{add|subtract|multiply|maximum|minimum}.accumulate(A, axis={0|-1})
np.{add|subtract|maximum|less|logical_and}.outer(A, A)
np.extract(C, N)
np.take_along_axis(N, np.argsort(N, axis=1, kind='stable'), axis=1)
np.{polyadd|polysub|polymul}(W, V)
np.linalg.norm(A, axis={None|0|-1})
np.round(A, {0|1})
np.broadcast_to(A, {(2, 3)|(4,)|(2, 2, 3)})
np.meshgrid(V, W)
np.ediff1d(A)
np.einsum('{ij,kj->ik|ij,kj|ij,ij->j|ij,ij->}', N, N)
A.astype(np.{int8|int64|float32|complex128|bool}, casting='{safe|same_kind|unsafe}')
A[{...|0|-1|None|::-1|1:|[0]}]
np.apply_along_axis(np.sum, {0|-1}, {M|V})
np.tri({0|2|3}, {1|4}, {-1|0|2})
""".strip().splitlines()

def literal(rng, dtype):
    if dtype == "bool":
        return rng.choice(["True", "False"])
    if dtype.startswith("uint"):
        return str(rng.randint(0, 9))
    if dtype.startswith("int"):
        return str(rng.randint(-9, 9))
    if dtype.startswith("float"):
        return "np.nan" if rng.random() < 0.06 else str(rng.randint(-40, 40) / 4)
    return f"({rng.randint(-4, 4)}{rng.randint(-4, 4):+}j)"


def array(rng, letter):
    shapes, dtypes = ARRAYS[letter]
    shape, dtype = rng.choice(shapes), rng.choice(dtypes)
    return f"np.array([{', '.join(literal(rng, dtype) for _ in range(math.prod(shape)))}], np.{dtype}).reshape({shape})"


def call(rng):
    text = re.sub(r"\{([^{}]*)\}", lambda m: rng.choice(m.group(1).split("|")), rng.choice(TEMPLATES))
    return re.sub(r"\b([A-Z])\b", lambda m: array(rng, m.group(1)), text)


def main():
    parser = numpy_peer.parser(__doc__)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--any", type=int, default=0, metavar="RUNS", help="calls of any function, as many scripts of them")
    parser.add_argument("--dtypes", default="", help="with --any: of arrays of these dtypes, as float16,int8")
    parser.add_argument("--programs", type=int, default=0, metavar="RUNS", help="programs of algorithms, as many scripts of them")
    parser.add_argument("--selections", type=int, default=0, metavar="COUNT", help="selections of elements")
    parser.add_argument("--exceptions", action="store_true", help="with --any: show calls that raise exceptions of another class than NumPy's, too")
    options = parser.parse_args()
    if options.any:
        return any_numpy.compare(options)
    for wanted, made in ((options.programs, algorithm_programs), (options.selections, selections)):
        if wanted:
            return numpy_peer.compare(options, made.scripts(options), made.HEAD)
    generators = [random.Random(f"{options.seed} {i}") for i in range(options.runs)]
    scripts = ([call(rng) for _ in range(CALLS_A_RUN)] for rng in generators)
    return numpy_peer.compare(options, scripts, excused=any_reasons.by_order_of_products)


if __name__ == "__main__":
    sys.exit(main())
