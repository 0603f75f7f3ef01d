from harness.case import Case, prange
import numpy as np


def loop(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = np.exp(-x[i]) * np.log(x[i] + 1.0)
    return out


case = Case(
    title="exp(-x)*log(x + 1), f64",
    size=20_000_000,
    inputs=lambda n, rng: {"x": rng.random(n) * 5},
    expression="np.exp(-x)*np.log(x + 1.0)",
    numexpr="exp(-x)*log(x + 1.0)",
    numba=loop,
    tolerance=1e-11,
)
