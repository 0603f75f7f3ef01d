from harness.case import Case, prange
import numpy as np


def loop(a, b, c):
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = a[i] * b[i] + c[i]
    return out


case = Case(
    title="a*b + c, f64",
    size=20_000_000,
    inputs=lambda n, rng: {name: rng.random(n) for name in "abc"},
    expression="a*b + c",
    numexpr="a*b + c",
    numba=loop,
)
