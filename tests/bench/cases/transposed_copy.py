from harness.case import Case, prange
import numpy as np


def loop(x):
    out = np.empty((x.shape[1], x.shape[0]))
    for i in prange(x.shape[1]):
        for j in range(x.shape[0]):
            out[i, j] = x[j, i]
    return out


case = Case(
    title="transposed copy, f64 6000x5000",
    size=6000,
    inputs=lambda n, rng: {"x": rng.random((n, 5000))},
    expression="x.T.copy()",
    numba=loop,
    tolerance=0,
)
