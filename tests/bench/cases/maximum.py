from harness.case import Case, prange
import numpy as np


def loop(x):
    most = -np.inf
    for i in prange(x.size):
        most = max(most, x[i])
    return most


case = Case(
    title="x.max(), f64",
    size=50_000_000,
    inputs=lambda n, rng: {"x": rng.normal(3, 2, n)},
    expression="x.max()",
    scalar=True,
    numexpr="max(x)",
    numba=loop,
)
