"""A part of the suite under compute-sanitizer: programs that use each kind of kernel, small ones, with plain allocations so that it sees their borders."""

import glob
import os
import re
import shutil

from .common import Skipped, Wrong, shortened
from .corpus import language_suite

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
CLEAN = re.compile(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards")

PROGRAMS = {
    "elementwise": """
for dtype in ('float64', 'float32', 'int64', 'int32', 'uint8', 'bool', 'complex128'):
    x = (np.arange(10007) % 251).astype(dtype)
    y = x[::-1] + x
    print(dtype, y[:3], (y != x).sum(), np.where(y == x, y, x)[5:8])
x = np.arange(10007.0) / 10007
print(abs(np.sin(x) ** 2 + np.cos(x) ** 2 - 1).max() < 1e-15, abs(np.exp(np.log1p(x)) - x - 1).max() < 1e-14)
""",
    "reductions": """
m = (np.arange(300 * 257.0) % 1000).reshape(300, 257)
print(m.sum(), m.std(), m.argmax(), m.min(), m.any(), (m > 500).sum())
print(m.sum(axis=0)[:5], m.mean(axis=1)[-5:], m.max(axis=0)[::100], m.argmin(axis=1)[:5], m.T.sum(axis=0)[:3])
print(m.reshape(20, 15, 257).sum(axis=1)[3, :4], m.astype('float32').sum(), m.astype('int32').prod(axis=0)[:2], np.array([1.5]).sum())
""",
    "views and writes": """
a = np.zeros((211, 307))
a[1:-1, 1:-1] = np.arange(209 * 305.0).reshape(209, 305) % 97
for step in range(4):
    a[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) * 0.25
print(a.sum(), a[100, ::50], a.T[3, ::40])
b = np.concatenate([a[::2], a[::-3]])
b[:, ::7] = -1
b[3] += a[5]
print(b.shape, b.sum(), np.broadcast_to(b[0], (4, 307)).sum(axis=0)[:3])
""",
    "random numbers": """
r = np.random.default_rng(5)
print(r.random(5001).sum(), r.normal(10, 1, 5001).std(), r.integers(0, 100, 5001).sum())
print(da.random.RandomState(3).normal(10, 1, size=(1000, 1000))[::2, ::2].sum().compute())
""",
    "compiled functions": """
from numba import njit, prange, stencil, vectorize

@stencil
def mean(a):
    return (a[-1, -1] + a[-1, 0] + a[-1, 1] + a[0, -1] + a[0, 0] + a[0, 1] + a[1, -1] + a[1, 0] + a[1, 1]) // 9

@njit(parallel=True)
def smooth(a, steps):
    out = a.copy()
    for step in range(steps):
        for i in prange(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                out[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) * 0.25
        a, out = out, a
    return a

@njit(parallel=True)
def total(a):
    s = 0.0
    for i in prange(a.size):
        s += a.flat[i] if a.flat[i] > 0 else -1
    return s

@vectorize
def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

for dtype in ('int8', 'uint8', 'int64', 'float64'):
    print(dtype, mean((np.arange(203 * 517) % 251).astype(dtype).reshape(203, 517))[50, ::60])
print(smooth(np.arange(211 * 307.0).reshape(211, 307) % 97, 3)[100, ::50], total(np.arange(10007.0) % 13 - 6), collatz(np.arange(1, 5003)).sum())
""",
    "kernels of threads": """
from numba import cuda, float64, int64

@cuda.jit
def blocks(a, out, counts):
    tile = cuda.shared.array(128, float64)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t] = a[i] if i < a.size else 0.0
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]
    if i < a.size:
        cuda.atomic.add(counts, int(a[i]) % 7, 1)

a, out, counts = np.arange(10007.0) % 251, np.zeros(79), np.zeros(7, dtype=np.int64)
blocks[79, 128](a, out, counts)
print(out.sum() == a.sum(), out[::20], counts)
""",
    "algorithms": """
n = 20011
x = np.arange(n) * 0.6180339887498949 % 1.0
few = np.arange(n) * 7919 % 1000
for dtype in ('float64', 'float32', 'int64', 'int32', 'uint8'):
    v = (x * 200).astype(dtype)
    print(dtype, np.sort(v)[::4000], np.argsort(v, kind='stable')[::4000], np.unique(v)[:3], np.median(v), np.cumsum(v)[-1])
m = x[:20000].reshape(100, 200)
print(np.sort(m, axis=0)[50, ::50], np.sort(m)[50, ::50], np.argsort(m, axis=0)[50, ::50], np.cumsum(m, axis=0)[-1, ::50], np.cumprod(m + 0.5, axis=1)[3, ::50])
print(np.sort(x[:20000].reshape(2, 10000))[:, ::2000], np.maximum.accumulate(x)[::4000], np.minimum.accumulate(m, axis=0)[-1, ::50])
print(x[x > 0.5].sum() > 0, x[few][:3], np.nonzero(x > 0.99)[0][:4], np.searchsorted(np.sort(x), x)[:4], np.interp(x, [0, 0.5, 1], [0, 2, 3])[:3])
out = np.zeros(1000)
np.add.at(out, few, x)
print(np.bincount(few)[:4], np.bincount(few, x)[:3], out[:3], np.histogram(x, 17)[0], np.histogram(x, 5, weights=x)[0], np.unique(few, return_counts=True)[1][:4])
print(np.convolve(x, np.arange(11.0))[::5000], np.percentile(x, [5, 50, 95]), np.take(x, few)[:3], (m @ m.T)[3, ::40], np.einsum('bij,bjk->bik', m.reshape(4, 25, 200), m.reshape(4, 200, 25))[1, 2, :3])
""",
    "frames": """
n = 20011
df = pd.DataFrame({'k': np.arange(n) * 7919 % 313, 'g': (np.arange(n) * 31 % 11).astype('int8'), 'x': np.arange(n) % 97 * 0.5, 'y': np.arange(n) * 48271 % 65537})
print(df.groupby('k').x.sum().head(3), df.groupby(['g', 'k']).agg({'x': 'mean', 'y': 'max'}).tail(3), df.groupby('g').x.median())
print(df.sort_values(['y', 'k']).head(3), df.merge(pd.DataFrame({'k': np.arange(0, 313, 3), 'z': np.arange(105) * 2}), on='k').z.sum(), df.x.rolling(101).mean().tail(2), df.y.cumsum().iloc[-1], df.y.rank().head(3))
print(df[df.x > 40].k.value_counts().head(3), df.y.nunique(), df.x.quantile(0.3), df.drop_duplicates(['g', 'x']).shape)
""",
}


def sanitizer(target):
    named = target.options.sanitizer
    for path in [named] if named else [shutil.which("compute-sanitizer"), *sorted(glob.glob("/usr/local/cuda*/bin/compute-sanitizer")), "/usr/local/cuda/compute-sanitizer/compute-sanitizer"]:
        if path and os.path.exists(path):
            return path
    raise Skipped("compute-sanitizer is not found; --sanitizer PATH says where it is")


def check(target, tool):
    program = sanitizer(target)
    logs = os.path.join(target.folder, tool)
    os.makedirs(logs)
    command = [program, "--tool", tool, "--error-exitcode", "86", "--check-exit-code", "no", "--print-limit", "20", "--log-file", os.path.join(logs, "%p.log")]
    plain = {"GASELL_GPU_POOLS": "0"}
    problems = []
    for name, text in PROGRAMS.items():
        for device, changes in [(target.first(1), {}), (target.all, {"GASELL_SPLIT_FROM": "0"})][: min(2, len(target.gpus))]:
            status, out, err = target.run(text, device, prefix=command, timeout=200, **plain, **changes)
            if status or err or out != target.output(text, "cpu"):
                problems.append(f"    {name} on {device}: status {status}\n{shortened(out + err)}")
    try:
        passed = language_suite(target, f"GASELL_DEVICE={target.first(1)}", "GASELL_GPU_POOLS=0", prefix=" ".join(command), only=r"^arrays/(views|broadcasting)\.gsl" if target.quick else
                                r"^arrays/(views|broadcasting|reductions|promotion|assignment_numbers|selecting)\.gsl")
    except Wrong as wrong:
        problems.append(str(wrong))
        passed = ""
    found = sorted(glob.glob(os.path.join(logs, "*.log")))
    for path in found:
        with open(path, encoding="utf-8", errors="replace") as file:
            log = file.read()
        if not CLEAN.search(log):
            problems.append(shortened(log))
    if not found:
        problems.append("    it wrote no log")
    if problems:
        raise Wrong("\n".join(problems[:10]) + (f"\n    … {len(problems) - 10} problems more" if len(problems) > 10 else ""))
    return f"{len(found)} runs; language: {passed}"
