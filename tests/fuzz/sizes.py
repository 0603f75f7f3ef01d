#!/usr/bin/env python3
"""Every function that makes an array, with sizes around 2**31, 2**32 and 2**60 to 2**64, zero and negative: an answer or an error in Python's words, never a signal, an
internal error or an answer that takes for ever.

    sizes.py                        all of them, with every size
    sizes.py --quick                few sizes
    sizes.py --only 'np.repeat'     the templates that this pattern finds

Runs beside little memory (--memory), so that what would fit a large machine is a MemoryError too. The closing line is `N passed, N failed`."""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LARGEST = 2**63 - 1
SIZES = ["-9223372036854775807 - 1", -(2**31), -1, 0, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**40, 2**60, 2**61 - 1, 2**61, 2**61 + 1, 2**62, LARGEST,
         f"np.uint64({LARGEST}) + np.uint64(1)", f"np.uint64({LARGEST}) * np.uint64(2) + np.uint64(1)", "1.8446744073709552e19"]
QUICK = [-1, 0, 2**32, 2**61, LARGEST, SIZES[-2]]
TIMEOUT_S = 20  # for all sizes of one template
# n is the size, a = np.arange(6.0), b = np.arange(6).astype("i1"), m = a.reshape(2, 3), g = np.random.default_rng(0), s = pd.Series(a), df = pd.DataFrame({"x": a, "k": b}).
SESSION = """
np.zeros(n)
np.zeros(n, "i1")
np.zeros((n, n))
np.zeros((n, 0))
np.zeros((0, n, n))
np.zeros((3, n), "c16")
np.ones(n, "i1") + 1.0
np.empty(n)
np.empty((n, n, n), "i1")
np.full(n, 1.5)
np.full((2, n), 1, "i1").astype("f8")
np.zeros_like(a, shape=(n,))
np.full_like(b, 1, shape=(n, n))
np.ones_like(b, shape=n, dtype="c16")
np.empty_like(a, shape=(n, 8))
np.arange(n)
np.arange(n, dtype="i1")
np.arange(float(n))
np.arange(0, n, 1)
np.arange(-n, n)
np.arange(n).astype("c16")
np.linspace(0, 1, n)
np.logspace(0, 1, n)
np.geomspace(1, 2, n)
np.eye(n)
np.eye(1, n)
np.eye(n, 1, dtype="i1")
np.identity(n)
np.tri(n)
np.tri(1, n)
np.vander(a, n)
np.indices((n,))
np.indices((n, n))
np.fromfunction(lambda i, j: i + j, (n, n))
np.diag(np.zeros(n, "i1"))
np.diag(a, n)
np.diagflat(a, n)
np.broadcast_to(1.0, n)
np.broadcast_to(b, (n, 6))
np.broadcast_to(b[:1], (n,)) + 1.0
np.broadcast_to(a, (n, n, 6))
np.zeros((n, 1), "i1") + np.zeros((1, n), "i1")
np.broadcast_arrays(np.zeros((n, 1), "i1"), np.zeros((1, n), "i1"))[0]
np.outer(np.zeros(n, "i1"), np.zeros(n, "i1"))
np.add.outer(np.zeros(n, "i1"), a)
np.multiply.outer(np.zeros(n, "i1"), np.zeros(n, "i1"))
np.subtract.outer(np.zeros((n, 2), "i1"), np.zeros((2, n), "i1"))
np.kron(np.zeros(n, "i1"), a)
np.kron(np.zeros((n, n), "i1"), np.zeros((n, n), "i1"))
np.repeat(b, n)
np.repeat(a, n)
np.repeat(a, [n, n, n, n, n, n])
np.repeat(m, n, axis=0)
np.repeat(m, n, axis=1)
a.repeat(n)
np.tile(a, n)
np.tile(b, n)
np.tile(a, (n, n))
np.tile(m, (n, 1, n))
np.concatenate([np.zeros(n, "i1")] * 3)
np.concatenate([np.zeros(n, "i1"), a])
np.concatenate([np.zeros((n, 2), "i1"), np.zeros((n, 3), "i1")], axis=1)
np.stack([np.zeros(n, "i1")] * 4)
np.vstack([np.zeros(n, "i1")] * 4)
np.hstack([np.zeros(n, "i1")] * 4)
np.dstack([np.zeros(n, "i1")] * 4)
np.column_stack([np.zeros(n, "i1")] * 4)
np.append(np.zeros(n, "i1"), np.zeros(n, "i1"))
np.insert(a, 0, np.zeros(n, "i1"))
np.insert(a, n, 1.0)
np.delete(a, n)
np.resize(a, n)
np.resize(b, (n, n))
np.pad(a, n)
np.pad(b, (0, n))
np.pad(b, (n, n), mode="edge")
np.pad(m, ((n, 0), (0, n)), mode="wrap")
np.bincount([1, 2], minlength=n)
np.bincount([1, n])
np.bincount(np.array([1, 2], "i1"), weights=[1.0, 2.0], minlength=n)
np.histogram(a, n)[0]
np.histogram(a, bins=n, range=(0, 1))[1]
np.histogram2d(a, a, n)[0]
np.histogram_bin_edges(a, n)
np.unravel_index(n, (n, n))
np.ravel_multi_index((1, 1), (n, n))
np.reshape(a, (n, -1))
np.reshape(a, (n, n))
np.reshape(np.zeros(0), (n, 0))
np.reshape(np.zeros(0), (0, n, n))
np.roll(a, n)
np.take(a, n, mode="wrap")
np.take(a, [n], mode="clip")
np.take(a, [n])
a[n]
a[:n]
a[n:]
a[::n]
a[-n:n]
a[np.array([n])]
np.diff(a, n=n)
np.cumsum(np.zeros(n, "i1"))
np.sort(np.zeros(n, "i1"))
np.argsort(np.zeros(n, "i1"))
np.unique(np.zeros(n, "i1"))
np.flip(np.zeros(n, "i1")).astype("f8")
np.convolve(a, np.zeros(n, "i1"))
np.meshgrid(np.zeros(n, "i1"), np.zeros(n, "i1"))[0]
np.ix_(np.zeros(n, "i1"), np.zeros(n, "i1"))[0]
np.expand_dims(np.zeros(n, "i1"), 0).astype("c16")
np.zeros((n, 2), "i1").T @ np.zeros((n, 2), "i1")
np.zeros((n, 2), "i1") @ np.zeros((2, n), "i1")
np.dot(np.zeros((n, 1), "i1"), np.zeros((1, n), "i1"))
np.einsum("i,j->ij", np.zeros(n, "i1"), np.zeros(n, "i1"))
np.tensordot(np.zeros(n, "i1"), np.zeros(n, "i1"), 0)
np.lib.stride_tricks.sliding_window_view(a, n)
np.packbits(np.zeros(n, "u1"))
np.unpackbits(np.zeros(n, "u1"))
np.unpackbits(np.zeros(1, "u1"), count=n)
np.array_split(a, n)[0]
np.split(a, [n])[0]
np.fromiter(range(3), "f8", count=n)
np.where(np.zeros(n, "i1"), 1.0, 2.0)
np.select([np.zeros(n, "i1") > 0], [1.0], 2.0)
np.choose(np.zeros(n, "i1"), [1.0, 2.0])
np.piecewise(np.zeros(n, "i1"), [np.zeros(n, "i1") > 0], [1, 2])
np.cross(np.zeros((n, 3), "i1"), np.zeros((n, 3), "i1"))
np.polyval(np.zeros(n, "i1"), a)
np.interp(np.zeros(n, "i1"), a, a)
np.zeros(n, "i1").view("f8")
np.hanning(n)
np.blackman(n)
np.kaiser(n, 1.0)
np.tril_indices(n)[0]
np.triu_indices(n)[0]
np.diag_indices(n)[0]
np.random.rand(n)
np.random.randn(n, n)
np.random.randint(0, 5, n)
np.random.permutation(n)
np.random.choice(n, 3)
np.random.choice(a, n)
g.random(n)
g.random((n, n))
g.random(n, dtype="f4")
g.standard_normal((n, 2))
g.integers(0, 5, n)
g.integers(0, 5, n, dtype="i1")
g.integers(n)
g.normal(0, 1, n)
g.uniform(0, 1, (n, 3))
g.exponential(1, n)
g.gamma(2, 1, n)
g.dirichlet([1, 2], n)
g.poisson(2, n)
g.binomial(5, .5, n)
g.multinomial(5, [.5, .5], n)
g.multivariate_normal([0, 0], [[1, 0], [0, 1]], n)
g.choice(a, n)
g.choice(n, 3, replace=False)
g.permutation(n)
g.bytes(n)
da.ones(n, chunks=10)
da.ones((n, n), chunks=n)
da.random.normal(size=n, chunks=n)
da.ones(10, chunks=n)
da.arange(n, chunks=10)
cp.zeros(n)
cp.zeros((n, n), "i1")
cp.arange(n, dtype="i1") + 1.0
range(n)[-1]
list(range(n))[:1]
np.array(range(n))
np.asarray(range(n), "i1")
np.sum(range(n))
[0] * n
(0,) * n
"ab" * n
bytes(n)
bytearray(n)
"".ljust(n)
"".zfill(n)
f"{1:{n}}"
"%*d" % (n, 1)
round(1.5, n)
pd.Series(0, index=range(n))
pd.Series(range(n))
pd.Series(np.zeros(n, "i1")).astype("f8")
pd.DataFrame(np.zeros((n, n), "i1"))
pd.DataFrame(np.zeros((n, 2), "i1")).astype("f8")
pd.DataFrame({"x": range(n)})
pd.DataFrame(index=range(n), columns=["a"])
pd.RangeIndex(n)
pd.RangeIndex(n).to_numpy()
pd.Index(range(n))
pd.date_range("2020-01-01", periods=n)
pd.timedelta_range("1D", periods=n)
s.repeat(n)
s.shift(n)
s.rolling(n).sum()
s.head(n)
s.tail(n)
s.nlargest(n)
s.sample(n, replace=True, random_state=0)
s.reindex(range(n))
s.diff(n)
s.pct_change(n)
pd.cut(s, n)
pd.qcut(s, n)
s.value_counts(bins=n)
pd.concat([pd.Series(np.zeros(n, "i1"))] * 3)
df.sample(n, replace=True, random_state=0)
df.reindex(range(n))
df.shift(n)
df.head(n)
df.nlargest(n, "x")
df.iloc[:n]
df.iloc[n:]
df.take([n])
df.loc[df.index.repeat(n)]
df.rolling(n).sum()
df.groupby("k").head(n)
df.groupby("k").nth(n)
df.groupby("k").shift(n)
df.merge(pd.DataFrame({"k": range(n)}), how="right")
pd.get_dummies(pd.Series(range(n)))
""".strip().splitlines()
# In compiled functions of n and a = np.arange(6.0).
COMPILED = """
np.zeros(n)
np.zeros((n, n))
np.zeros((n, n, n))
np.zeros((n, 0))
np.zeros((0, n, n))
np.empty(n)
np.empty((n, n), np.int8)
np.ones((n, n))
np.full(n, 1.5)
np.full((n, n), 1)
np.zeros_like(np.empty((n, 0)))
np.arange(n)
np.arange(0, n, 1)
np.arange(-n, n)
np.arange(float(n))
np.linspace(0, 1, n)
np.eye(n)
np.identity(n)
np.reshape(a, (n, n))
a.reshape((n, n))
a.reshape(n)
a.reshape((-1, n))
a.reshape((n, -1, n))
np.zeros(0).reshape((n, 0))
np.repeat(a, n)
a.repeat(n)
np.concatenate((np.zeros(n, np.int8), np.zeros(n, np.int8)))
np.outer(np.zeros(n, np.int8), np.zeros(n, np.int8))
np.kron(np.zeros(n), np.zeros(n))
np.broadcast_to(a, (n, 6))
np.zeros((n, 1)) + np.zeros((1, n))
np.bincount(np.array([1, 2]), minlength=n)
np.bincount(np.array([1, n]))
np.histogram(a, n)
np.vander(a, n)
np.tri(n)
np.diag(np.zeros(n))
np.hanning(n)
np.roll(a, n)
np.resize(a, n)
np.tile(a, n)
np.random.rand(n)
np.random.rand(n, n)
np.random.randint(0, 5, n)
np.random.normal(0, 1, n)
np.random.normal(0, 1, (n, n))
np.random.permutation(n)
np.random.choice(a, n)
np.array_split(a, n)[0]
np.indices((n, n))
a[n]
a[:n]
a[n:]
a[::n]
np.take(a, n)
np.expand_dims(np.zeros(n), 0)
[0] * n
[1.5] * n
list(range(n))
"ab" * n
[0 for _ in range(n)] if n < 2**31 else 0
np.empty((n,) + (2, 3))
np.zeros(n)[:, None] * np.zeros(n)
np.ascontiguousarray(np.zeros((n, n)).T)
np.dot(np.zeros((n, 1)), np.zeros((1, n)))
""".strip().splitlines()

PRELUDE = """import numpy as np
a = np.arange(6.0); b = np.arange(6).astype("i1"); m = a.reshape(2, 3); g = np.random.default_rng(0)
"""
FRAMES = """import pandas as pd
s = pd.Series(a); df = pd.DataFrame({"x": a, "k": b})
"""
FORCED = """
def force(r):
    if isinstance(r, (list, tuple, str, bytes, range)):
        return len(r)
    if isinstance(r, np.ndarray):
        return (r.shape, r.dtype, np.array(r).ravel()[:1])
    return r if np.ndim(r) == 0 else len(r)
def attempt(n, f):
    try:
        force(f())
        return "fine"
    except Exception as e:
        return type(e).__name__ + ": " + str(e)
"""


def script_for(template, kind, sizes):
    text = PRELUDE + (FRAMES if "pd." in template or re.search(r"\b(s|df)\.", template) else "")
    if kind == "compiled":
        text += f"from numba import njit\n@njit\ndef f(n, a):\n    return {template}\n"
        text += FORCED.replace("force(f())", "force(f(n, a))").replace("attempt(n, f)", "attempt(n)")
        call = "attempt(n)"
    else:
        text += FORCED
        call = f"attempt(n, lambda: {template})"
    return text + f"for k, n in enumerate([{', '.join(map(str, sizes))}]):\n    print(k, {call}.replace(chr(10), ' ')[:200], flush=True)\n"


def limits(bytes_of_space):
    def set_them():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if bytes_of_space:
            resource.setrlimit(resource.RLIMIT_AS, (bytes_of_space, bytes_of_space))

    return set_them


def run(command, text, space):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sizes.gsl"
        path.write_text(text, encoding="utf-8")
        environment = {**os.environ, "GASELL_SPILL": "0", "OPENBLAS_NUM_THREADS": "1"}
        try:
            done = subprocess.run([*command, str(path)], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, env=environment,
                                  preexec_fn=limits(space))
            return done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            return "time", (late.stdout or b"").decode("utf-8", "replace"), (late.stderr or b"").decode("utf-8", "replace")


def lines_of(text):
    """{number of the size: what came out}"""
    found = {}
    for line in text.splitlines():
        number, _, rest = line.partition(" ")
        if re.fullmatch(r"\d+", number):
            found[int(number)] = rest
    return found


def check(template, kind, gasell, sizes, space):
    """What is wrong with a template: texts."""
    status, out, err = run([gasell, "--memory", "256MiB", "--threads", "2"], script_for(template, kind, sizes), space)
    found = lines_of(out)
    wrong = [f"n = {sizes[k]}: {text}" for k, text in found.items() if re.search("internal error|InternalError|SystemError|0x[0-9a-f]{6}", text)]
    missing = [n for k, n in enumerate(sizes) if k not in found]
    refused = status == 1 and kind == "compiled" and not found and re.search("TypingError|UnsupportedError|NotImplementedError", err)
    if missing and not refused:
        wrong.append(f"n = {missing[0]}: ends with {status}: {err.strip()[-300:]}")
    if "internal error" in err:
        wrong.append(err.strip()[-300:])
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", "build/dev/bin/gasell"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--no-limit", action="store_true", help="no limit of address space, which sanitizers need")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tasks = [(t, kind) for kind, templates in (("session", SESSION), ("compiled", COMPILED)) for t in templates if re.search(options.only, t)]
    sizes, space = QUICK if options.quick else SIZES, 0 if options.no_limit else 8 << 30
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for (template, kind), wrong in zip(tasks, pool.map(lambda task: check(*task, options.gasell, sizes, space), tasks)):
            failed += bool(wrong)
            for text in wrong:
                print(f"FAILED {kind}: {template}: {text}", flush=True)
    print(f"{len(tasks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
