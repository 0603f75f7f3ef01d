from harness.case import Case, prange
import numpy as np


def loop(x, y):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = (min(max(x[i] * 2.0 - 0.5, 0.0), 1.0) if x[i] > 0.3 else y[i]) * 3.0
    return out


case = Case(
    title="where(x > 0.3, clip(2x - 0.5, 0, 1), y)*3, f64",
    size=20_000_000,
    inputs=lambda n, rng: {name: rng.random(n) for name in "xy"},
    expression="np.where(x > 0.3, np.clip(x*2.0 - 0.5, 0.0, 1.0), y)*3.0",
    numexpr="where(x > 0.3, where(x*2.0 - 0.5 < 0.0, 0.0, where(x*2.0 - 0.5 > 1.0, 1.0, x*2.0 - 0.5)), y)*3.0",
    numba=loop,
)
