from harness.case import Case, prange
import numpy as np


def loop(x, y):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = np.sqrt(x[i] * x[i] + y[i] * y[i])
    return out


case = Case(
    title="sqrt(x*x + y*y), f64",
    size=20_000_000,
    inputs=lambda n, rng: {name: rng.random(n) for name in "xy"},
    expression="np.sqrt(x*x + y*y)",
    numexpr="sqrt(x*x + y*y)",
    numba=loop,
)
