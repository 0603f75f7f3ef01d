from harness.case import Case, prange
import numpy as np


def loop(a, b, c):
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = (a[i] * b[i] + c[i]) * np.float32(2) - a[i]
    return out


case = Case(
    title="(a*b + c)*2 - a, f32",
    size=40_000_000,
    inputs=lambda n, rng: {name: rng.random(n, dtype=np.float32) for name in "abc"},
    expression="(a*b + c)*2 - a",
    numexpr="(a*b + c)*2 - a",
    numba=loop,
    tolerance=1e-6,
)
