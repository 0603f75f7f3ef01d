from harness.case import Case
import numpy as np


def loop(x):
    return np.sum(x, axis=0)


case = Case(
    title="x.sum(axis=0), f64 8000x5000",
    size=5000,
    inputs=lambda n, rng: {"x": rng.random((8000, n))},
    expression="x.sum(axis=0)",
    numexpr="sum(x, axis=0)",
    numba=loop,
)
