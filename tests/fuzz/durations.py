#!/usr/bin/env python3
"""Calls whose time could grow with a number instead of with the data: each answers at once or is refused in Python's words.

    durations.py                     all of them
    durations.py --only 'np.round'   the lines that this pattern finds
    durations.py --peer PYTHON       besides, what CPython with NumPy and pandas answers within the same limits (default: .venv of the repository)

Each line runs in a process of its own with a limit of time and of address space. An answer that differs from the peer's is an error too, where the peer has one.
The closing line is `N passed, N failed`."""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TIMEOUT_S = 5
PEER_TIMEOUT_S = 10  # its libraries take a second to load
SPACE = 8 << 30
# a = np.arange(6.0), i = np.arange(6), g = np.random.default_rng(0), s = pd.Series(a). A line is an expression that is shown, or statements before `; ` and one.
LINES = """
np.round(a, 2**31 - 1)
np.round(a + .25, -2**31)
np.round(a, 2**62)
np.round(a, -2**62)
np.round(i, 2**31 - 1)
np.round(i, -2**31)
np.round(i, -100)
np.round(i, -19)
a.round(2**62)
np.round(1.5, 2**62)
np.float64(1.5).round(-400)
np.around(a * 1e300, 300)
round(1.5, 10**9)
round(1.5, -10**9)
round(15, 10**9)
round(15, -10**9)
round(15, -30)
np.random.default_rng(0).gamma(np.inf)
np.isnan(g.gamma(np.nan))
g.gamma(-1.0)
g.gamma(1e300) > 0
g.standard_gamma(np.inf)
g.standard_gamma(1e308) > 0
np.isnan(g.beta(np.nan, 1))
g.beta(np.inf, 1)
g.beta(np.inf, np.inf)
g.beta(1e300, 1e300)
g.beta(1e-300, 1e-300) >= 0
g.binomial(2**62, .5) > 0
g.binomial(2**62, 1e-300)
g.binomial(2**62, 1.0)
g.binomial(10, np.nan)
g.binomial(10, np.inf)
g.binomial(2**70, .5)
g.negative_binomial(2**62, .5) > 0
g.negative_binomial(1e300, .5)
g.negative_binomial(np.inf, .5)
g.negative_binomial(1, 1e-300)
g.negative_binomial(np.nan, .5)
g.poisson(1e18) > 0
g.poisson(1e300)
g.poisson(np.inf)
g.poisson(np.nan)
g.poisson(9.2e18) > 0
g.geometric(1e-300) > 0
g.geometric(np.nan)
g.geometric(0.0)
g.geometric(1e-18) > 0
g.zipf(1.0)
g.zipf(1.0000001) > 0
g.zipf(np.nan)
g.zipf(np.inf)
g.zipf(1e300)
g.zipf(1 + 2**-52) > 0
g.logseries(1 - 2**-53) > 0
g.logseries(np.nan)
g.logseries(0.0)
g.logseries(1e-300)
g.hypergeometric(2**62, 2**62, 10)
g.hypergeometric(10**9 - 1, 10**9 - 1, 10**9) > 0
g.hypergeometric(10**8, 10**8, 10**8) > 0
g.hypergeometric(10, 10, 2**62)
g.multinomial(10**8, [.5, .5]).sum()
g.multinomial(2**62, [.2, .3, .5]).sum() == 2**62
g.multinomial(-1, [.5, .5])
g.multinomial(10, [np.nan, .5])
g.multivariate_hypergeometric([10**8, 10**8], 10**8).sum()
g.multivariate_hypergeometric([10**8, 10**8], 10**8, method="count").sum()
g.dirichlet([1e300, 1e300])
g.dirichlet([np.inf, 1])
g.vonmises(0, np.inf)
g.vonmises(0, 1e300)
g.vonmises(0, 1e-300) < 4
g.vonmises(np.inf, 1)
g.vonmises(1e300, 1) < 4
np.isnan(g.vonmises(0, np.nan))
g.wald(1e300, 1e-300) > 0
g.wald(np.inf, 1) >= 0
np.isnan(g.wald(np.nan, 1))
g.normal(np.inf, 1)
g.normal(0, np.inf)
np.isnan(g.normal(0, np.nan))
g.uniform(0, np.inf)
g.uniform(-1e308, 1e308)
np.isnan(g.exponential(np.nan))
g.exponential(np.inf)
g.pareto(1e-300)
g.pareto(np.inf)
g.power(1e-300)
g.power(np.inf)
g.weibull(1e-300) >= 0
g.weibull(np.inf)
g.rayleigh(np.inf)
g.chisquare(np.inf)
g.chisquare(1e-300)
g.noncentral_chisquare(1, np.inf)
g.noncentral_chisquare(1e300, 1e300)
np.isnan(g.noncentral_chisquare(np.nan, 1))
g.f(np.inf, np.inf)
g.standard_t(np.inf)
g.standard_t(1e-300) != 0
g.triangular(-np.inf, 0, np.inf)
g.laplace(0, np.inf) != 0
g.gumbel(0, np.inf) != 0
g.logistic(0, np.inf) != 0
g.lognormal(0, 1e300) >= 0
g.choice(10**9, 3, replace=False).size
g.choice(2**40, 3, replace=False).size
g.permutation(2**40)
np.random.seed(0); np.random.poisson(1e18) > 0
np.random.binomial(10**9, .5) > 0
np.random.seed(2**40)
np.random.seed(-1)
np.vander(a, 10**10)
np.vander(a, 2**62)
np.linspace(0, 1, 2**40)
np.linspace(0, 1, 2**62)
np.linspace(0, 1, 2**40)[1]
np.geomspace(1, 2, 2**40)
np.logspace(0, 1, 2**40)
np.arange(0, 1e18, 1e-9)
np.arange(0, 1e300, 1e-300)
np.arange(0, np.inf)
np.arange(0, 1, np.nan)
np.arange(2**62)
np.arange(0, 10, 0)
np.tri(10**6)
np.tri(10**9)
np.tri(3, 4, 2**62)
np.tri(3, 4, -2**62)
np.tri(2**40)
np.eye(3, k=2**62)
np.eye(3, k=-2**62)
np.triu(np.ones((3, 3)), 2**62)
np.tril(np.ones((3, 3)), -2**62)
np.diag(a, 10**6)
np.diag(a, 2**40)
np.kron(np.ones(10**6), np.ones(10**6))
np.kron(np.ones(10**5), np.ones(10**5)).shape
np.kron(np.ones((10**3, 10**3)), np.ones((10**3, 10**3)))
np.outer(np.ones(10**6), np.ones(10**6))
np.indices((10**6, 10**6))
np.roll(a, 2**62)
np.roll(a, -2**62)
np.roll(np.ones((2, 3)), (2**62, -2**62), (0, 1))
np.diff(a, n=10**9)
np.diff(a, n=2**62)
np.diff(a, n=-1)
np.ediff1d(a)
np.gradient(a, 1e-300)
np.pad(a, 10**12)
np.pad(a, 10**10, mode="wrap")
np.pad(a, 10**10, mode="reflect")
np.pad(a, 10**10, mode="symmetric")
np.pad(a, 10**10, mode="linear_ramp", end_values=1)
np.pad(np.ones(2), 10**6, mode="reflect").shape
np.pad(np.ones(1), 10**6, mode="wrap").shape
np.pad(np.ones(2), 10**7, mode="symmetric").shape
np.repeat(a, 10**10)
np.repeat(a, 2**62)
np.repeat(a, [10**12] * 6)
np.tile(a, 10**10)
np.tile(np.ones(1), (10**6, 10**6))
np.resize(a, 10**12)
np.insert(a, 0, 1)
np.bincount([10**12])
np.bincount([1], minlength=10**12)
np.histogram(a, bins=10**10)
np.histogram(a, bins=2**62)
np.histogram(a, 10**7)[0].sum()
np.histogram(a, bins=0)
np.histogram(a, bins=3, range=(0, np.inf))
np.histogram([1e308, -1e308], bins=3)
np.histogram_bin_edges(a, 10**12)
np.histogram_bin_edges([0, 1e-9, 2e-9, 1e9] * 4, "fd")
np.histogram_bin_edges([0.0] * 99 + [1e300], "auto")
np.histogram2d(a, a, 10**6)
np.digitize(a, np.arange(10**6)).sum()
np.array_split(a, 10**9)
np.array_split(a, 2**62)
np.split(a, 2**62)
np.power(3, 10**9)
np.power(3, 2**62)
np.power(np.int64(3), np.int64(2**62))
np.float_power(3, 2**62)
np.linalg.matrix_power(np.ones((2, 2)), 2**62)
np.linalg.matrix_power(np.eye(2), -2**62)
np.linalg.matrix_power(np.eye(2, dtype=int), 10**18)
np.left_shift(1, 2**62)
np.left_shift(i, 2**40)
np.right_shift(i, -1)
np.gcd(2**62, 3)
np.ldexp(1.0, 2**31 - 1)
np.ldexp(1.0, 2**62)
np.ldexp(1.0, -2**62)
np.cross(a[:3], a[3:])
np.convolve(a, np.ones(10**6)).shape
np.interp(1e300, [0, 1], [0, 1])
np.unwrap([0, 1e300])
np.unwrap([0, 1e18, -1e18]).shape
np.unwrap([0.0, np.inf, 1.0])
np.fmod(1e308, 1e-308)
np.remainder(1e308, 1e-308)
1e308 % 1e-308
1e308 // 1e-308
divmod(1e308, 1e-300)
np.floor_divide(1e308, 1e-308)
np.sin(1e308)
np.cos(2.0**1023)
np.tan(1e300)
np.sinc(1e300)
np.kaiser(3, 1e300)
np.hanning(10**12)
np.bartlett(2**62)
np.nextafter(0, 1e300)
np.spacing(1e308)
np.base_repr(2**62, 2)
np.base_repr(5, 2, 10**12)
np.binary_repr(5, 10**12)
np.array2string(a, precision=10**9)
np.array2string(a, max_line_width=2**62)
np.format_float_positional(1.5, precision=10**9)
np.format_float_positional(1.5, pad_left=10**9)
np.format_float_positional(1e300, precision=3)
np.format_float_scientific(1.5, precision=10**9)
np.poly(np.ones(10**3)).shape
np.polyint([1, 2, 3], 10**9)
np.roots([1e300, 1, 1])
np.rot90(np.ones((2, 3)), 2**62)
np.rot90(np.ones((2, 3)), -2**62).shape
np.rollaxis(np.ones((2, 3)), 2**62)
np.take(a, 2**62, mode="wrap")
np.take(a, -2**62, mode="wrap")
np.take(a, 2**62, mode="clip")
np.choose(2**62, [1, 2], mode="wrap")
np.unravel_index(2**62, (2**31, 2**32))
np.percentile(a, 1e300)
np.nanquantile(a, 2**62)
np.trapezoid(a, dx=1e300)
np.lib.stride_tricks.sliding_window_view(a, 2**62)
np.fromfunction(lambda k: k, (10**12,))
np.full(10**12, 1.5)
np.zeros((10**6, 10**6)).T.shape
np.broadcast_to(1.0, (2**20, 2**20)).shape
np.expand_dims(a, 2**62)
np.squeeze(a, 2**62)
np.busday_count("2020-01-01", "2020-02-01")
np.busday_offset("2020-01-01", 10**6)
np.busday_count("0001-01-01", "9999-01-01")
np.busday_count("-9999999-01-01", "9999999-01-01")
np.datetime64("2020-01-01") + np.timedelta64(2**62, "D")
np.datetime64(2**62, "Y")
np.arange("2020-01-01", "2020-02-01", dtype="M8[ns]").shape
np.arange("0001-01-01", "9999-01-01", dtype="M8[ms]")
np.timedelta64(2**62, "W") * 4
str(np.datetime64(2**62, "s"))
str(np.datetime64(2**62, "D"))
a[10**30]
a[::2**62]
a[2**62:]
a[::-2**62]
range(2**62)[5]
len(range(2**62))
len(range(2**70))
2**61 in range(2**62)
range(2**62).index(2**61)
range(2**62).count(2**61)
range(2**62) == range(0, 2**62, 1)
hash(range(2**62)) == hash(range(2**62))
any(range(2**62))
next(iter(range(2**62)))
list(zip(range(2**62), "ab"))
[0] * 2**40
[0] * 2**62
[0] * -2**62
[] * 2**62
(0,) * 2**40
() * 2**62
"x" * 2**40
"x" * 2**62
"" * 2**62
"ab" * -2**62
b"x" * 2**40
bytes(2**40)
bytearray(2**40)
x = [0]; x *= 2**40; len(x)
10**10**9
2**(2**62)
(-1)**(2**62)
pow(3, 2**62, 10**9 + 7)
1 << 10**9
1 << 2**62
0 << 2**62
1 >> 2**62
-1 >> 2**62
2.0**10**9
2.0**1e300
(-2)**.5
(1 + 1j)**10**9
int("9" * 10**6)
int("1" * 5000)
str(10**5000)
float("1" * 10**6)
float("0." + "0" * 10**6 + "1")
float("1e" + "9" * 1000)
f"{1.5:10000000000}"
f"{1.5:.10000000000f}"
f"{15:100000000000000000000d}"
f"{'x':10000000000}"
f"{1.5:.2147483648f}"
format(1.5, ".10000000000e")
"%10000000000d" % 1
"%.10000000000f" % 1.5
"%.2147483648f" % 1.5
"%*d" % (10**10, 1)
"%100000000000000000000d" % 1
"{:>10000000000}".format(1)
"x".zfill(10**10).__len__()
"x".zfill(2**62)
"x".ljust(2**62)
"x".rjust(10**12)
"x".center(2**62)
"x".ljust(10**30)
"\\t".expandtabs(2**40)
"\\t\\t".expandtabs(2**62)
"abc".split("b", 2**62)
"abc".find("c", -2**62, 2**62)
"abc".count("", -2**62, 2**62)
("a" * 10**6).count("a" * 10**5)
(10).to_bytes(2**40, "big")
(10).to_bytes(2**62, "big")
import math; math.factorial(10**7) > 0
import math; math.factorial(10**20)
import math; math.factorial(10**18)
import math; math.comb(10**9, 5 * 10**8)
import math; math.comb(5, 2**62)
import math; math.perm(10**9, 10**8)
import math; math.perm(5, 2**62)
import math; math.nextafter(0.0, 1.0, steps=2**62)
import math; math.nextafter(1.0, 2.0, steps=10**30)
import math; math.ldexp(1.0, 10**30)
import math; math.fmod(1e308, 1e-308)
import math; math.remainder(1e308, 1e-308)
import math; math.pow(10, 10**9)
import math; math.exp(10**9)
import math; math.fsum([1e308, -1e308])
import itertools; len(list(itertools.islice(itertools.repeat(0, 2**62), 3)))
import itertools; next(itertools.product("ab", repeat=50))
import itertools; list(itertools.combinations(range(5), 2**62))
import itertools; list(itertools.permutations(range(3), 2**40))
import itertools; next(itertools.combinations(range(100), 50))[:2]
import itertools; list(itertools.combinations_with_replacement("ab", 2**62))
import itertools; next(itertools.combinations_with_replacement("ab", 10**6))[:2]
import collections; collections.deque(range(3), maxlen=2**62)
import collections; d = collections.deque([1, 2, 3]); d.rotate(2**62); d
import collections; collections.deque([1]) * 2**40
import collections; collections.Counter(a=3).most_common(2**62)
import heapq; heapq.nlargest(2**62, [1, 2])
import datetime; datetime.timedelta(days=10**9)
import datetime; datetime.timedelta(seconds=1e300)
import datetime; datetime.datetime(2020, 1, 1) + datetime.timedelta(days=10**8)
import time; time.sleep(1e300)
import time; time.sleep(-1)
pd.date_range("2020-01-01", periods=2**40)[0]
pd.date_range("2020-01-01", periods=10**6, freq="YE")
pd.date_range("2020-01-01", periods=10**6, freq="B")
pd.date_range("2020-01-01", periods=3, freq=pd.Timedelta(2**62))
pd.timedelta_range("1D", periods=2**40)
pd.period_range("2020-01", periods=2**40, freq="M")
pd.Timedelta(2**62, "D")
pd.Timedelta(1e300, "s")
pd.Timedelta("1D") * 2**62
pd.Timedelta("1D") * 1e300
pd.Timestamp("2020-01-01") + pd.Timedelta(2**62)
pd.Timestamp("2020-01-01") + pd.offsets.BusinessDay(10**9)
pd.Timestamp("2020-01-01") + pd.DateOffset(months=10**9)
pd.Timestamp("2020-01-01") + pd.DateOffset(years=10**9)
pd.Timestamp("2020-01-01") - pd.offsets.BusinessDay(2**62)
pd.cut(s, 10**9).shape
pd.cut(s, 2**62)
pd.qcut(s, 10**9).shape
pd.qcut(s, 2**62, duplicates="drop")
s.rolling(2**62).sum()
s.rolling(2**62, min_periods=1).sum().tolist()
s.rolling(2**31, min_periods=2).mean().tolist()
s.rolling(10**9, min_periods=1, center=True).sum().tolist()
s.rolling(3, step=2**62).sum().tolist()
s.expanding(2**62).sum().tolist()
s.ewm(span=1e300).mean().tolist()
s.ewm(com=np.inf).mean().tolist()
s.ewm(halflife=1e-300).mean().tolist()
s.shift(2**62).tolist()
s.shift(-2**62).tolist()
s.shift(10**30)
s.diff(2**62).tolist()
s.diff(-2**62).tolist()
s.pct_change(2**62).tolist()
s.head(2**62).size
s.head(-2**62).size
s.tail(-2**62).size
s.nlargest(2**62).size
s.repeat(2**40)
s.round(2**31 - 1).tolist()
s.round(-2**31).tolist()
s.fillna(1, limit=2**62).tolist()
s.interpolate(limit=2**62).tolist()
s.value_counts(bins=10**9)
s.sample(2**40, replace=True, random_state=0)
pd.Series(["x"]).str.zfill(10**12)
pd.Series(["a b"]).str.split(n=2**62).tolist()
pd.Series(["x"]).str.wrap(2**62).tolist()
pd.DataFrame({"x": a}).shift(2**62).x.tolist()
pd.DataFrame({"x": a}).shift(2**62, axis=1).x.tolist()
pd.RangeIndex(2**62)[5]
pd.RangeIndex(2**62).sum()
pd.RangeIndex(2**62).get_loc(2**61)
2**61 in pd.RangeIndex(2**62)
pd.RangeIndex(2**62).tolist()
pd.Series(1, index=pd.RangeIndex(2**40))
pd.interval_range(0, 10**9)
pd.interval_range(0, 1, periods=2**40)
from numba import stencil; stencil(lambda x: x[10**8])(a)
from numba import stencil; stencil(lambda x: x[-10**8] + x[10**8])(np.ones((3, 4))[0])
from numba import stencil; stencil(lambda x: x[2**62])(a)
from numba import stencil; stencil(lambda x: x[2**31])(a)
from numba import stencil; stencil(lambda x: x[0, 10**8])(np.ones((3, 4)))
from numba import stencil; stencil(lambda x: x[1] + x[-1], neighborhood=((-10**8, 10**8),))(a)
from numba import njit; njit(lambda n: 3**n)(2**62)
from numba import njit; njit(lambda n: 3.0**n)(2**62)
from numba import njit; njit(lambda x, n: round(x, n))(1.5, 2**31 - 1)
from numba import njit; njit(lambda n: len(range(n)))(2**62)
from numba import njit; njit(lambda a, n: np.roll(a, n))(a, 2**62)
from numba import njit; njit(lambda n: "x" * n)(2**40)
from numba import njit; njit(lambda n: "x".zfill(n))(2**40)
from numba import njit; njit(lambda n: np.gcd(n, 3))(2**62)
from numba import njit; njit(lambda x: np.random.poisson(x) > 0)(1e18)
from numba import njit; njit(lambda n: np.random.binomial(n, .5) > 0)(10**9)
from numba import njit; njit(lambda x: np.random.zipf(x))(1.0)
from numba import njit; njit(lambda x: np.random.vonmises(0.0, x))(np.inf)
from numba import njit; njit(lambda x: np.random.geometric(x) > 0)(1e-300)
from numba import njit; njit(lambda x: np.random.logseries(x) > 0)(1 - 2**-53)
from numba import njit; njit(lambda n: np.random.negative_binomial(n, .5) > 0)(2**62)
from numba import njit; njit(lambda n: np.random.multinomial(n, np.array([.5, .5])).sum())(10**8)
""".strip().splitlines()
PRELUDE = "import numpy as np\na = np.arange(6.0); i = np.arange(6); g = np.random.default_rng(0)\n"
FRAMES = "import pandas as pd\ns = pd.Series(a)\n"
SHOWN = """
try:
{body}
    text = repr(shown)
    if len(text) > 300:
        text = f"{{len(text)}} characters"
    print("answer", text.replace(chr(10), " "), flush=True)
except Exception as e:
    print("raised", type(e).__name__, str(e).replace(chr(10), " ")[:200], flush=True)
"""


def script_for(line):
    *statements, expression = line.split("; ")
    frames = FRAMES if re.search(r"\b(pd|s)\.", line) else ""
    imports = [s for s in statements if s.startswith(("import ", "from "))]
    body = "\n".join("    " + s for s in [*(s for s in statements if s not in imports), "shown = " + expression])
    return PRELUDE + frames + "".join(s + "\n" for s in imports) + SHOWN.format(body=body)


def limits(space):
    def set_them():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if space:
            resource.setrlimit(resource.RLIMIT_AS, (space, space))

    return set_them


def run(command, text, seconds, space):
    """("answer" or "raised", what), or (what went wrong, the end of stderr)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "duration.gsl"
        path.write_text(text, encoding="utf-8")
        environment = {**os.environ, "GASELL_SPILL": "0", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        try:
            done = subprocess.run([*command, str(path)], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=seconds, env=environment,
                                  preexec_fn=limits(space))
        except subprocess.TimeoutExpired:
            return "time", f"more than {seconds} s"
        line = done.stdout.strip().split("\n")[-1]
        how, _, what = line.partition(" ")
        if done.returncode == 0 and how in ("answer", "raised"):
            return how, what
        refused = re.findall(r"\b(?:\w*Error|error): .*", done.stderr)
        if done.returncode == 1 and refused:
            return "raised", refused[-1].replace(": ", " ", 1)
        return f"status {done.returncode}", done.stderr.strip()[-300:]


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def check(line, gasell, peer, space):
    """What is wrong with a line, or an empty text."""
    text = script_for(line)
    how, what = run([gasell, "--threads", "2"], text, TIMEOUT_S, space)
    if how not in ("answer", "raised"):
        return f"ends with {how}: {what}"
    if how == "raised" and re.search("internal error|InternalError|SystemError", what):
        return what
    if not peer or "numba" in line:
        return ""
    theirs, wanted = run([peer], text, PEER_TIMEOUT_S, space)
    if theirs == "answer" and (how != "answer" or without_addresses(what) != without_addresses(wanted)):
        if how == "raised" and what.startswith("NotImplementedError"):
            return ""
        return f"{how} {what}\n      peer: {wanted}"
    if theirs == "raised" and how == "answer" and not wanted.startswith(("MemoryError", "_ArrayMemoryError")):
        return f"answers {what}\n      peer: raises {wanted}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", default=str(ROOT / ".venv/bin/python3"))
    parser.add_argument("--no-limit", action="store_true", help="no limit of address space, for sanitizers")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    peer = args.peer if args.peer and Path(args.peer).exists() else ""
    lines = [line for line in LINES if re.search(args.only, line)]
    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for line, wrong in zip(lines, pool.map(lambda line: check(line, args.gasell, peer, 0 if args.no_limit else SPACE), lines)):
            if wrong:
                failed += 1
                print(f"{line}\n      {wrong}", flush=True)
    print(f"{len(lines) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
