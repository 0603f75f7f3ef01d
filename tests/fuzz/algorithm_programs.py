"""Random programs of sorts, scans, selections, searches and counts, for fuzz_numpy.py --programs.

A program takes an array through a chain of operations: of any dtype and shape, a view or not, in an adversarial order, with NaN, infinities and zeros of
both signs among floats. Each step's result is compared with NumPy's, long ones by some of their elements and by sums that no order of adding changes.
Where NumPy promises less than one result (a partition, equal elements of an unstable order), the program looks at what it promises.
"""

import random
import re

PROGRAMS_A_RUN = 150
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
LENGTHS = [0, 1, 2, 3, 7, 12, 12, 24, 24, 60, 100, 360, 1200, 6000, 40000, 140000]
ORDERS = "drawn few sorted reversed equal organ saw almost signs wide".split()
# What is made of a vector before the program begins.
VIEWS = """
x
x
x
x[::-1]
x[::2]
x[1::3]
x[None, :]
x[:, None]
x[len(x) // 2 :]
x[: len(x) // 12 * 12].reshape(-1, 4)
x[: len(x) // 12 * 12].reshape(4, -1)
x[: len(x) // 12 * 12].reshape(-1, 3).T
x[: len(x) // 12 * 12].reshape(2, -1, 3)
x[: len(x) // 12 * 12].reshape(3, 2, -1)[:, ::-1]
x[: len(x) // 12 * 12].reshape(-1, 4)[:, 1:]
x[: len(x) // 12 * 12].reshape(6, -1)[::2, ::-1]
np.broadcast_to(x[:9], (3,) + x[:9].shape)
np.array(x[:1])[0]
""".strip().splitlines()
# {a|b} is one of the choices; AXIS, SIDE and so on are choices that many share.
CHOICES = {
    "AXIS": "{-1|-1|-1|0|0|0|1|None|None}",
    "PLACE": "{-1|-1|-1|0|0|0|0|1}",
    "SOME": "{None|None|0|0|-1|-1|-1|1|(0, -1)}",
    "SIDE": "{left|right}",
    "BOOL": "{True|False}",
    "DISCRETE": "{inverted_cdf|averaged_inverted_cdf|closest_observation|lower|higher|nearest}",
    "METHOD": "{linear|linear|midpoint|hazen|weibull|median_unbiased|normal_unbiased|interpolated_inverted_cdf|DISCRETE}",
    "QUANTILE": "{0.5|0.3|0|1|[0.1, 0.7]|[[0.25, 0.5], [0.75, 1.0]]|np.float32(0.4)|np.array([0.2, 0.9], np.float32)|[]}",
    "SEED": "{1|2|3|4}",
    "MASK": "{x > 0|x <= 3|(x > 1) ^ (x < -2)|x == x|x != x|np.isfinite(x)|x.real % 3 == 0|~(x >= 2)|np.zeros(x.shape, bool)}",
    "BINS": "{10|3|1|64|[-2, 0, 1, 8]|[0, 5]|np.arange(-20, 20, 1.5)|'sturges'|'sqrt'|'rice'}",
    "OTHER": "{x.ravel()[::3]|x.ravel()[::-1][:5]|[0, 2, 2, 7]|x + 1|x.ravel()[:0]|np.array([-0.0, np.nan, 2.5])}",
}
OPERATIONS = """
np.sort(x, axis=AXIS) + 0
np.sort(x, axis=AXIS, kind='{stable|mergesort}')
np.argsort(x, axis=AXIS, kind='stable')
np.argsort(x, axis=AXIS, stable=True)
sorted_in_place(x, PLACE)
parted(x, {0|1|-1|2|[0, -1]|[1, 3]}, AXIS)
argparted(x, {0|1|-1|2|[0, -1]|[1, 3]}, AXIS)
np.lexsort((x, np.abs(x) > 2), axis=PLACE)
np.lexsort((x.ravel(), x.ravel()[::-1], x.ravel() > 1))
np.unique(x + 0)
np.unique(x + 0, return_index=BOOL, return_inverse=BOOL, return_counts=BOOL)
np.unique(x + 0, return_inverse=BOOL, return_counts=True, axis={None|0|-1})
np.unique(x + 0, return_index=BOOL, equal_nan=BOOL)
np.searchsorted(np.sort(x, axis=None), {x|x.ravel()[::-2]|2|np.float32(1.5)|x + 1}, side='SIDE')
np.searchsorted(x.ravel(), x, side='SIDE', sorter=np.argsort(x, axis=None, kind='stable'))
np.digitize(x, {[-3, 0, 2, 9]|[9, 2.5, -1]|[1]|np.arange(-5, 50, 0.5)}, right=BOOL)
np.{cumsum|nancumsum}(x, axis=AXIS)
np.{cumsum|cumprod}(x, axis=AXIS, dtype={np.float64|np.int64|np.complex128})
np.{cumprod|nancumprod}(np.sign(x.real), axis=AXIS)
np.cumulative_sum(x.ravel(), include_initial=BOOL)
np.{maximum|minimum}.accumulate(x + 0, axis=PLACE)
np.{add|multiply|maximum}.accumulate(x[..., :4] + 0, axis=PLACE)
np.{add|maximum|minimum|logical_or}.reduceat(x.real.ravel() + 0, {[0, 2, 1, 4]|[0]|[3, 3, 0]|np.arange(0, x.size, 7)})
x[MASK]
np.extract(MASK, x)
chosen(x, MASK)
written(x, MASK, {5|x.ravel()[::-1]|[1, 2]})
np.where(MASK, x, {x + 1|0|x[::-1]})
np.compress(np.arange(x.shape[0]) % 3 == 1, x, axis={0|None})
np.{flatnonzero|nonzero|argwhere|count_nonzero}({x|MASK})
np.count_nonzero(x, axis=SOME, keepdims=BOOL)
np.take(x, places(x.size, 9, SEED))
np.take(x, places(x.shape[-1], {5|40}, SEED), axis=-1, mode='{raise|wrap|clip}')
np.take(x, places(x.shape[0], {(2, 3)|300}, SEED), axis=0)
np.take(x, {[0, -1]|[[1, 0], [0, 0]]|7|[]}, axis=AXIS, mode='{raise|wrap|clip}')
np.take_along_axis(x, np.argsort(x, axis=PLACE, kind='stable'), axis=PLACE)
np.take_along_axis(x, np.argmax(x, axis=-1, keepdims=True), axis=-1)
put_along(x, PLACE)
np.choose(whole(x) % 3, [x.ravel(), x.ravel()[::-1], {7|1.5}])
np.choose(whole(x) % 5, [1, 2, 3], mode='{wrap|clip|raise}')
np.bincount(whole(x))
np.bincount(whole(x), minlength={0|50|100})
np.bincount(whole(x) % 9, weights={np.arange(x.size) / 4|reals(x)|whole(x) * 2})
np.histogram(reals(x), bins=BINS)
np.histogram(reals(x), bins=BINS, range={(-5, 9)|(0, 1)|None|(0, 1000)}, density=BOOL)
np.histogram(reals(x), bins={10|[-2, 0, 1, 8]}, weights={np.arange(x.size)|np.arange(x.size) / 4|np.arange(x.size) * 1j}, density=BOOL)
np.histogram_bin_edges(reals(x), bins={BINS|'auto'|'fd'|'doane'|'scott'|'stone'})
np.histogram2d(reals(x), reals(x)[::-1], bins={4|[3, 5]|[[-5, 0, 5], [0, 1, 90]]})
np.histogramdd((reals(x), whole(x)), bins={3|(2, 4)}, density=BOOL)
scattered(x, np.{add|subtract|maximum|minimum|logical_and}, SEED, {3|40|1000})
np.median(x, axis=SOME, keepdims=BOOL)
np.nanmedian(x, axis=SOME, keepdims=BOOL)
np.quantile(x.real + 0, QUANTILE, axis=SOME, method='METHOD', keepdims=BOOL)
np.nanquantile(x.real + 0, QUANTILE, axis={None|0|-1}, method='METHOD', keepdims=BOOL)
np.percentile(x.real + 0, {50|[10, 90, 33]|99.9|0}, axis=SOME, method='METHOD')
np.{quantile|nanquantile}(x.real, QUANTILE, axis={None|0|-1}, method='inverted_cdf', weights=weights_of(x))
into(x, np.{median|cumsum|nanmedian}, PLACE)
np.interp(x.real, {[0, 2, 5]|[-3, -3, 4]|[1]}, {[1, 4, 2]|[5]}, {|left=-1|period=3|right=9, left=0})
np.interp(np.sort(reals(x)), np.arange(20), np.arange(20)[::-1] * 2.0)
np.{convolve|correlate}(reals(x)[:300], {[1, 2]|[1, 0, -1, 2, 5]|reals(x)[:3]|[0.5, 1j]}, '{full|same|valid}')
np.{union1d|intersect1d|setdiff1d|setxor1d}(x + 0, OTHER) + 0
np.intersect1d(x + 0, OTHER, return_indices=True)
np.isin(x, OTHER, invert=BOOL)
np.diff(x, n={1|2}, axis=PLACE)
np.ediff1d(x)
np.trim_zeros(x.ravel(), '{fb|f|b}')
np.{argmax|argmin}(x, axis=AXIS)
np.sort(np.random.default_rng(SEED).{permutation|permuted}(x.ravel())) + 0
np.unique(np.random.default_rng(SEED).choice(x.size, x.size // 2, replace=False)).size
np.sort(x * 2, axis=None)[:10] + 0
np.sort(x, axis=None)[{-1|0|2}:] + 0
np.sort(x, axis=None)[{-5:|3:9|x.size // 3:x.size // 3 + 9|::-7}] + 0
x.ravel()[np.argsort(x, axis=None, kind='stable')[:3]]
np.argsort(x, axis=None, kind='stable')[{-4:|::-1|x.size // 2:x.size // 2 + 5}][:40]
parts_of({np.sort(x, axis=None)|np.argsort(x, axis=None, kind='stable')}, SEED)
np.cumsum(x, axis=0)[-1]
x[MASK].sum()
np.delete(x, {0|[0, 1]|slice(1, 3)}, axis={0|None})
np.insert(x, {0|1|[0, 1]}, 3, axis={0|None})
np.repeat(x, {2|whole(x) % 3}, axis=None)
np.repeat(x, {2|0|[2]}, axis=PLACE)
x[::-1]
x[..., ::2]
x.T
x.reshape(-1)
np.roll(x, 3)
np.abs(x)
x * 2
x.astype(np.{float32|float64|complex128})
""".strip().splitlines()

# What programs call. Both run it.
HEAD = '''
def drawn(n, seed, high):
    bits = (np.arange(n) + seed * 7919 + 1).astype(np.uint64) * np.uint64(0x1E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0x3F58476D1CE4E5B9)
    return ((bits ^ (bits >> np.uint64(32))) % np.uint64(high)).astype(np.int64)
def ordered(order, n, seed):
    k = np.arange(n)
    if order == "sorted":
        return k
    if order == "reversed":
        return n - 1 - k
    if order == "equal":
        return np.full(n, 7)
    if order == "organ":
        return np.minimum(k, n - 1 - k)
    if order == "saw":
        return k % 17
    if order == "almost":
        return np.where(drawn(n, seed, 50) == 0, drawn(n, seed + 1, 99), k)
    if order == "signs":
        return k * (1 - k % 2 * 2)
    return drawn(n, seed, {"few": 5, "drawn": 300}.get(order, 2**40))
def made(order, n, dtype, seed, special):
    whole = ordered(order, n, seed)
    if dtype == "bool":
        return whole % 3 == 0
    if dtype[0] in "iu":
        return (whole - (0 if dtype[0] == "u" else n // 5)).astype(dtype)
    x = (whole % 4096 - n // 5 % 100) / 4
    if dtype[0] == "c":
        return (specials(x, n, seed, special) + 1j * specials(ordered("few", n, seed + 1) - 2.0, n, seed + 3, special and seed % 2)).astype(dtype)
    return specials(x, n, seed, special).astype(dtype)
def specials(x, n, seed, special):
    if not special:
        return x
    which = drawn(n, seed + 9, 30)
    for k, value in enumerate((np.nan, -0.0, 0.0, np.inf, -np.inf)):
        x = np.where(which == k, value, x)
    return x
def parts_of(s, seed):
    if s.size == 0:
        return [s]
    at = drawn(5, seed, s.size)
    return [s[k] + 0 for k in at] + [s[k : k + 20][:9] + 0 for k in at[:2]] + [s[at] + 0]
def digest(r):
    if isinstance(r, (tuple, list)):
        return [digest(e) for e in r]
    if not isinstance(r, np.ndarray) or r.size <= 60:
        return r
    flat = r.ravel()
    facts = [str(r.dtype), r.shape, flat[:: flat.size // 20 | 1], flat[-3:]]
    for part in (flat.real, flat.imag) if r.dtype.kind == "c" else (flat,):
        wide = part.astype(np.float64)
        there = np.isfinite(wide)
        weighed = np.where(there, np.abs(wide), 0) * (np.arange(flat.size) % 97 + 1)
        facts += [float(weighed.sum()), int(np.isnan(wide).sum()), int((wide == np.inf).sum()), int(np.signbit(wide[wide == 0]).sum())]
    return facts
def steps(x, *functions):
    told = []
    for f in functions:
        try:
            x = f(x)
        except Exception as e:
            return told + [type(e).__name__]
        told.append(digest(x))
        x = np.asarray(x[0] if isinstance(x, tuple) else x[-1] if isinstance(x, list) else x)
    return told
def places(n, count, seed):
    shape = count if isinstance(count, tuple) else (count,)
    return (drawn(int(np.prod(shape)), seed, 2 * n) - n).reshape(shape) if n else np.zeros(shape, int)
def reals(x):
    flat = x.real.ravel()
    return np.where(np.isfinite(flat), flat, 3)
def whole(x):
    return np.clip(np.abs(reals(x)), 0, 1e9).astype(np.int64) & 63
def weights_of(x):
    return (drawn(x.size, 5, 7) / 4 + 0.25).reshape(x.shape)
def sorted_in_place(x, axis):
    y = np.array(x)
    y.sort(axis=axis)
    return y + 0
def parted(x, kth, axis, by_places=False):
    y = np.take_along_axis(x.ravel() if axis is None else x, np.argpartition(x, kth, axis), -1 if axis is None else axis) if by_places else np.partition(x, kth, axis)
    y = np.moveaxis(y, axis or 0 if axis != -1 else -1, -1) if y.ndim > 1 else y
    n = y.shape[-1]
    ends = sorted({k % n for k in ([kth] if isinstance(kth, int) else kth)})
    parts, begin = [], 0
    for k in ends:
        parts += [np.sort(y[..., begin:k], -1) + 0, y[..., k] + 0]
        begin = k + 1
    return parts + [np.sort(y[..., begin:], -1) + 0]
def argparted(x, kth, axis):
    return parted(x, kth, axis, True)
def chosen(x, mask):
    y = np.array(x)
    y[mask] = y[mask][::-1]
    return y
def written(x, mask, values):
    y = np.array(x)
    np.place(y, mask, values)
    return y
def put_along(x, axis):
    y = np.array(x)
    np.put_along_axis(y, np.argsort(x, axis=axis, kind="stable"), np.sort(x, axis=axis), axis)
    return y + 0
def scattered(x, f, seed, count):
    y = x.ravel() + x.dtype.type(0)
    f.at(y, places(y.size, count, seed), np.ones(count, y.dtype) if y.dtype.kind in "bu" else (np.arange(count) % 7 - 3).astype(y.dtype))
    return y
def into(x, f, axis):
    r = f(x, axis=axis)
    out = np.zeros(r.shape, r.dtype)
    return [f(x, axis=axis, out=out) is out, out]
'''


def filled(rng, text):
    """A template with its choices made."""
    text = re.sub(r"\b(?:[A-Z]{4,})\b", lambda m: filled(rng, CHOICES[m.group()]), text)
    while "{" in text:
        text = re.sub(r"\{([^{}]*)\}", lambda m: rng.choice(m.group(1).split("|")), text)
    return text


def program(rng):
    dtype, order, n = rng.choice(DTYPES), rng.choice(ORDERS), rng.choice(LENGTHS)
    source = f"made('{order}', {n}, '{dtype}', {rng.randrange(100)}, {rng.random() < 0.5})"
    functions = [rng.choice(VIEWS)] + [filled(rng, rng.choice(OPERATIONS)) for _ in range(rng.choice([1, 2, 2, 3, 4]))]
    return f"steps({source}, {', '.join('lambda x: ' + f for f in functions)})"


def scripts(options):
    for k in range(options.programs):
        rng = random.Random(f"programs {options.seed} {k}")
        yield [program(rng) for _ in range(PROGRAMS_A_RUN)]
