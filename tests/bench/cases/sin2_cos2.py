from harness.case import Case, prange
import numpy as np


def loop(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = np.sin(x[i]) ** 2 + np.cos(x[i]) ** 2
    return out


case = Case(
    title="sin(x)**2 + cos(x)**2, f64",
    size=20_000_000,
    inputs=lambda n, rng: {"x": rng.normal(0, 10, n)},
    expression="np.sin(x)**2 + np.cos(x)**2",
    numexpr="sin(x)**2 + cos(x)**2",
    numba=loop,
)
