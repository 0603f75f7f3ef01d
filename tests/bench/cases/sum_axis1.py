from harness.case import Case, prange
import numpy as np


def loop(x):
    out = np.empty(x.shape[0])
    for i in prange(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
        out[i] = total
    return out


case = Case(
    title="x.sum(axis=1), f64 8000x5000",
    size=8000,
    inputs=lambda n, rng: {"x": rng.random((n, 5000))},
    expression="x.sum(axis=1)",
    numexpr="sum(x, axis=1)",
    numba=loop,
)
