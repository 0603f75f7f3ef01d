from harness.case import Case, prange
import numpy as np


def loop(x):
    rows, columns = x.shape
    out = np.empty((rows - 2, columns - 2))
    for i in prange(1, rows - 1):
        for j in range(1, columns - 1):
            total = 0.0
            for a in range(-1, 2):
                for b in range(-1, 2):
                    total += x[i + a, j + b]
            out[i - 1, j - 1] = total / 9
    return out


case = Case(
    title="3x3 mean by slices, f64 5000x5000",
    size=5000,
    inputs=lambda n, rng: {"x": rng.random((n, n))},
    expression="(x[:-2, :-2] + x[:-2, 1:-1] + x[:-2, 2:] + x[1:-1, :-2] + x[1:-1, 1:-1] + x[1:-1, 2:]"
    " + x[2:, :-2] + x[2:, 1:-1] + x[2:, 2:])/9",
    numba=loop,
)
