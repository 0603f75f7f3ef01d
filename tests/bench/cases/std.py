from harness.case import Case
import numpy as np


def loop(x):
    return np.std(x)


case = Case(
    title="x.std(), f64",
    size=50_000_000,
    inputs=lambda n, rng: {"x": rng.normal(3, 2, n)},
    expression="x.std()",
    scalar=True,
    numexpr=None,
    numba=loop,
)
