from harness.case import Case, prange
import numpy as np


def loop(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        t = x[i]
        out[i] = (((0.5 * t + 1.5) * t - 2.0) * t + 0.25) * t - 1.0
    return out


case = Case(
    title="polynomial of degree 4, f64",
    size=20_000_000,
    inputs=lambda n, rng: {"x": rng.random(n)},
    expression="(((0.5*x + 1.5)*x - 2.0)*x + 0.25)*x - 1.0",
    numexpr="(((0.5*x + 1.5)*x - 2.0)*x + 0.25)*x - 1.0",
    numba=loop,
)
