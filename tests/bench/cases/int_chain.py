from harness.case import Case, prange
import numpy as np


def loop(a, b, c):
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = (a[i] * 3 + b[i] - c[i]) & 1023
    return out


case = Case(
    title="(a*3 + b - c) & 1023, i64",
    size=20_000_000,
    inputs=lambda n, rng: {name: rng.integers(-(10**6), 10**6, n) for name in "abc"},
    expression="(a*3 + b - c) & 1023",
    numexpr="(a*3 + b - c) & 1023",
    numba=loop,
    tolerance=0,
)
