from harness.case import Case, prange
import numpy as np


def loop(a, b, c):
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = a[i] * b[i] + c[i]
    return out


case = Case(
    title="a*b + c on 1000 elements, f64",
    size=1000,
    inputs=lambda n, rng: {name: rng.random(n) for name in "abc"},
    expression="a*b + c",
    numexpr="a*b + c",
    numba=loop,
    inner=1000,
    note="one evaluation in a loop of them; the graph is built, simplified and looked up anew each time, about 2.5 µs whatever the size, where NumPy makes two calls; keeping a loop body's graph between turns would help",
)
